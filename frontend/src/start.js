// Opens the program, and says on the page when it is not whole or not alive. This is plain script,
// because it must work when the program does not.
//
// A release has the program in two files (`xtask/split`). The first one draws the page. Whatever
// people do may need the second one, and a call into a file that is not there traps. So until both
// are there the program hears of no event. What people do is held, and happens afterwards.
(() => {
  "use strict";

  let first = null; // what the first file exports
  let open = false; // whether the program hears events
  let stopped = false;
  let loading = false;
  let failed = false; // the second file did not come
  let held = []; // what people did too early

  const part = (id) => document.getElementById(id);
  const show = (id, shown) => part(id)?.toggleAttribute("hidden", !shown);
  // The program puts the page in the place of this.
  const isDrawn = () => !part("loading");

  // Where the address or the browser says what to show, both files are needed to draw it.
  const isKept = () => {
    const ours = (storage) => Object.keys(storage).some((key) => key.startsWith("optimist."));
    try {
      return ours(sessionStorage) || ours(localStorage);
    } catch {
      return false; // The browser forbids to keep anything.
    }
  };
  const together = Boolean(location.hash || location.search || history.state?.together || isKept());
  // Beside a running server, what others do is told at any time. Its element is below this script.
  const isLive = () => document.querySelector("meta[name=optimist-live]");

  // Where the second file is. Before it is split, the program is in one.
  const second = document.querySelector("meta[name=optimist-rest]");
  const fetched = async (again = true) => {
    const { href } = location;
    try {
      // It must be all of the file, and of this very release.
      const answer = await fetch(second.content, { integrity: second.dataset.integrity });
      if (!answer.ok) throw new Error(`the server answers with ${answer.status}`);
      return await answer.arrayBuffer();
    } catch (error) {
      // A browser gives requests up when somebody types another fragment into the address. Which
      // error that is, is not specified.
      if (again && (location.href !== href || error.name === "AbortError")) return fetched(false);
      throw error;
    }
  };
  let early = together && second ? fetched() : null;
  early?.catch(() => {}); // load() says so.

  const load = async () => {
    if (loading || open) return;
    loading = true;
    failed = false;
    say();
    try {
      await WebAssembly.instantiate(await (early ?? fetched()), { first });
      open = true;
    } catch (error) {
      console.warn(`${second.content} was not loaded:`, error);
      failed = true;
      if (!isDrawn()) sayNotLoaded(error);
    }
    loading = false;
    early = null;
    say();
    if (open) {
      if (!isDrawn()) draw();
      await replay();
      setTimeout(keep, 1000);
    }
  };

  // Has the browser keep the site, to open it without a network (`worker.js`). Only a release has a
  // worker, and only a page of its own registers it: a frame is a part of another site.
  const keep = async () => {
    const worker = document.querySelector("meta[name=optimist-worker]")?.content;
    if (!worker || top !== self) return;
    try {
      // The policy of the page allows one such text, and this is it.
      const createScriptURL = () => worker;
      const policy = globalThis.trustedTypes?.createPolicy("optimist-worker", { createScriptURL });
      const url = policy?.createScriptURL("") ?? worker;
      const workers = navigator.serviceWorker;
      const registration = await workers.register(url, { updateViaCache: "none" });
      // A newer release waits. It replaces the one that this page came from only if people say so.
      const tell = () => show("newer", Boolean(registration.waiting && workers.controller && !stopped));
      const follow = () => registration.installing?.addEventListener("statechange", tell);
      registration.addEventListener("updatefound", follow);
      part("newer-later").addEventListener("click", () => show("newer", false));
      part("newer-open").addEventListener("click", () => {
        workers.addEventListener("controllerchange", () => location.reload());
        registration.waiting?.postMessage("activate");
        if (!registration.waiting) location.reload();
      });
      follow();
      tell();
    } catch {
      // The browser, the frame or the address (`file:`) allows no worker. The page works without it.
    }
  };

  const draw = () => dispatchEvent(new Event("optimist-draw"));

  addEventListener("TrunkApplicationStarted", ({ detail }) => {
    first = detail.wasm;
    open = !second;
    if (open || !(together || isLive())) draw();
    if (open) setTimeout(keep, 1000);
    else load();
  });

  // What the program hears of, as far as people do it.
  const ACTIONS = ["click", "change", "input", "keydown", "hashchange"];
  const HELD = [...ACTIONS, "focusin", "pointerenter", "resize"];
  const KEYS_OF_THE_BROWSER = ["Tab", "Shift", "Control", "Alt", "Meta", "CapsLock", "Escape"];
  const MOST_HELD = 100;
  const isAction = ({ type }) => ACTIONS.includes(type);

  const hold = (event) => {
    const { type, target, key } = event;
    if (!HELD.includes(type) || event.repeat || KEYS_OF_THE_BROWSER.includes(key)) return;
    if (type === "click") {
      // The browser follows a link by itself; that the address changed is held.
      if (target.closest?.("a[href]")) return;
      event.preventDefault();
    }
    const last = held.at(-1);
    // Who presses twice, because nothing happens, means it once.
    if (last?.type === type && last.target === target && last.event.key === key) return;
    if (held.length >= MOST_HELD) {
      const least = held.findIndex((one) => !isAction(one));
      if (least < 0) return;
      held.splice(least, 1);
    }
    held.push({ type, target, event });
    say();
  };

  const replay = async () => {
    for (const { type, target, event } of held.splice(0)) {
      if (target instanceof Node && !target.isConnected) continue;
      target.dispatchEvent(new event.constructor(type, event));
      // The page is drawn before the next one, as it would have been.
      if (isAction(event)) await new Promise((drawn) => setTimeout(drawn));
    }
  };

  const gate = (event) => {
    if (open) return;
    event.stopImmediatePropagation();
    const { type, target } = event;
    const within = (selector) => target.closest?.(selector);
    if (type === "click" && within(".reload")) location.reload();
    else if (type === "click" && within("#rest-again")) load();
    // Nothing closes the notice: what is behind it does not work.
    else if (stopped && type === "cancel") event.preventDefault();
    else if (stopped && type === "close") part("stopped").showModal();
    else if (!stopped && !within("#rest, #loading")) hold(event);
  };
  const handlers = [window, HTMLElement.prototype].flatMap(Object.getOwnPropertyNames);
  const kinds = handlers.filter((name) => /^on[a-z]+$/.test(name)).map((name) => name.slice(2));
  const NOT_OF_PEOPLE = ["error", "load", "unhandledrejection", "rejectionhandled"];
  // A frame needs a permission to hear these, and the program does not.
  const OF_SENSORS = /^device/;
  for (const kind of new Set([...kinds, "focusin", "focusout"])) {
    const passive = kind !== "click" && kind !== "cancel";
    if (NOT_OF_PEOPLE.includes(kind) || OF_SENSORS.test(kind)) continue;
    addEventListener(kind, gate, { capture: true, passive });
  }

  // Says how it is about the second file, if somebody waits for it or it did not come.
  const say = () => {
    const waits = held.some(isAction);
    show("rest", isDrawn() && !open && !stopped && (failed || waits));
    show("rest-coming", !failed);
    show("rest-failed", failed);
    show("rest-held", waits);
    show("rest-buttons", failed);
  };

  const sayNotLoaded = (error) => {
    show("loading-words", false);
    show("not-loaded", true);
    part("not-loaded-why").textContent = error?.message ?? "";
  };

  const stop = (error) => {
    if (stopped) return;
    if (second && !open && !together) {
      // To draw this page more is needed than the first file: once again, with both.
      history.replaceState({ together: true }, "");
      location.reload();
      return;
    }
    stopped = true;
    open = false;
    // Intervals are numbered with the timeouts.
    for (let timer = setTimeout(() => {}); timer > 0; timer--) clearTimeout(timer);
    say();
    part("stopped-message").textContent ||= error.message ?? error;
    try {
      const session = sessionStorage.getItem("optimist.session");
      // The text is safe in an address: it is made for links.
      if (session) part("stopped-session").href = `data:text/plain,${session}`;
      show("stopped-session", session);
    } catch {
      // The browser forbids to keep anything.
    }
    part("stopped").showModal();
  };

  // A trap, or what a function of the browser threw into the program; not what an extension did.
  const isOfTheProgram = (error) =>
    error instanceof WebAssembly.RuntimeError || /wasm-function/.test(error?.stack);
  const hear = (error, target) => {
    if (isOfTheProgram(error)) stop(error);
    else if (!first && (error || target.localName === "script")) sayNotLoaded(error);
  };
  addEventListener("error", ({ error, target }) => hear(error, target), true);
  addEventListener("unhandledrejection", ({ reason, target }) => hear(reason, target));
})();
