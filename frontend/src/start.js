// Opens the program, and says on the page when it is not whole or not alive. This is plain script,
// because it must work when the program does not.
//
// A release has the program in three files (`xtask/split`). The first one draws the page. What people do needs
// the second one, for *Play*, or the third one, and a call into a file that is not there traps. So the program hears of
// no event until the second is there, and then only of what people do in *Play*. All else is held, and happens once all
// files are there. A rare action in *Play* needs the third file: it traps, and the page opens with all files, and
// repeats what people did.
(() => {
  "use strict";

  let exported = null; // what the files that are there export
  let open = false; // whether all files are there
  let heard = null; // once *Play* is there, and until all files are: what the program has heard of
  let trap = null; // the error that the program cannot go on after
  let stopped = false; // whether the page says so
  let loading = false;
  let failed = false; // a file did not come
  let held = []; // what people did too early
  let dispatches = false; // whether the program hears of an event that was held, or that it hears again
  let repeats = false; // whether it hears again of what people did before a trap

  const part = (id) => document.getElementById(id);
  const show = (id, shown) => part(id)?.toggleAttribute("hidden", !shown);
  // The program puts the page in the place of this.
  const isDrawn = () => !part("loading");

  const isOurs = (key) => key.startsWith("optimist.");
  // Where the address or the browser says what to show, all files are needed to draw it.
  const isKept = () => {
    try {
      return [sessionStorage, localStorage].some((storage) => Object.keys(storage).some(isOurs));
    } catch {
      return false; // The browser forbids to keep anything.
    }
  };
  const together = Boolean(location.hash || location.search || history.state?.together || isKept());
  // Beside a running server, what others do is told at any time. Its element is below this script.
  const isLive = () => document.querySelector("meta[name=optimist-live]");

  // Where the later files are. Before it is split, the program is in one.
  const later = [...document.querySelectorAll("meta[name=optimist-part]")];
  const fetched = async (part, again = true) => {
    const { href } = location;
    try {
      // It must be all of the file, and of this very release.
      const answer = await fetch(part.content, { integrity: part.dataset.integrity });
      if (!answer.ok) throw new Error(`the server answers with ${answer.status}`);
      return await answer.arrayBuffer();
    } catch (error) {
      // A browser gives requests up when somebody types another fragment into the address. Which
      // error that is, is not specified.
      if (again && (location.href !== href || error.name === "AbortError")) return fetched(part, false);
      throw error;
    }
  };
  const early = new Map(together ? later.map((part) => [part, fetched(part)]) : []);
  for (const one of early.values()) one.catch(() => {}); // load() says so.

  const load = async () => {
    if (loading || open) return;
    loading = true;
    failed = false;
    say();
    try {
      while (later.length) {
        const asked = early.get(later[0]) ?? fetched(later[0]);
        early.delete(later[0]);
        const { instance } = await WebAssembly.instantiate(await asked, { first: exported });
        if (trap) {
          openAgain();
          return;
        }
        exported = { ...exported, ...instance.exports };
        later.shift();
        if (later.length && isDrawn() && !heard) {
          heard = [];
          Storage.prototype.setItem = noteAndSet;
          await replay();
        }
      }
      open = true;
      heard = null;
      Storage.prototype.setItem = setItem;
    } catch (error) {
      console.warn(`${later[0].content} was not loaded:`, error);
      failed = true;
      if (trap) announce();
      else if (!isDrawn()) sayNotLoaded(error);
    }
    loading = false;
    say();
    if (open) {
      if (!isDrawn()) draw();
      await repeat();
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
    exported = detail.wasm;
    open = !later.length;
    if (open || !(together || isLive())) draw();
    if (open) setTimeout(keep, 1000);
    else load();
  });

  // What the program hears of, as far as people do it.
  const ACTIONS = ["click", "change", "input", "keydown", "hashchange"];
  const HELD = [...ACTIONS, "focusin", "pointerenter", "resize"];
  const KEYS_OF_THE_BROWSER = ["Tab", "Shift", "Control", "Alt", "Meta", "CapsLock", "Escape"];
  const MOST_HELD = 100;
  const NOTED = [...ACTIONS, "focusin", "blur"];
  const MOST_HEARD = 500;
  const OPTIONS = "key code ctrlKey shiftKey altKey metaKey bubbles cancelable composed".split(" ");
  const PLAY = ".stage, .inspector, .transport, .caption .button";
  const NOT_PLAY = "a, form, .all-controls";
  const LEAVING = ["pagehide", "visibilitychange", "beforeunload"];
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
    held.push({ type, target, key, event });
    say();
  };

  const drawn = () => new Promise((done) => setTimeout(done));

  const dispatch = async (target, event) => {
    dispatches = true;
    target.dispatchEvent(event);
    dispatches = false;
    if (!isAction(event)) return;
    // Before the next event the page is drawn, and has moved the keyboard (`focus.rs`), as it would have been.
    await drawn();
    await drawn();
  };

  // Before all files are there, it ends at the first action that is not of Play.
  const replay = async () => {
    for (;;) {
      const index = held.findIndex((one) => open || isOfPlay(one) || isAction(one));
      if (index < 0 || !(open || isOfPlay(held[index]))) break;
      const [one] = held.splice(index, 1);
      const { type, target, event } = one;
      if (target instanceof Node && !target.isConnected) continue;
      note(one);
      await dispatch(target, new event.constructor(type, event));
    }
    say();
  };

  // What the page keeps before all files are there.
  const kept = [];
  const { setItem } = Storage.prototype;
  function noteAndSet(key, text) {
    setItem.call(this, key, text);
    kept.push([this, key]);
  }

  // Whether the second file has what this needs, as far as the build knows (`tests/src/bin/opening.rs`).
  const isOfPlay = ({ type, target, key }) => {
    if (!heard || trap || stopped || heard.length >= MOST_HEARD || /^(drag|drop|paste)/.test(type)) return false;
    if (LEAVING.includes(type)) return true;
    // Letters are keys of the page, except where people type.
    if (type === "keydown" && key?.trim().length === 1 && !target.matches("input, textarea")) return false;
    if (type === "keydown" && target === document.body) return true;
    return Boolean(target.closest?.(PLAY) && !target.closest(NOT_PLAY));
  };

  // An element is named by its place: the same actions make the same page.
  const placeOf = (node) =>
    node?.parentElement ? [...placeOf(node.parentElement), [...node.parentElement.children].indexOf(node)] : [];

  const noted = ({ type, target, event }) => ({
    type,
    of: event.constructor.name,
    name: target.localName,
    place: placeOf(target),
    value: target.value,
    options: Object.fromEntries(OPTIONS.map((name) => [name, event[name]])),
  });

  let clicked = null; // what was clicked last
  const note = (one) => {
    const { type, target } = one;
    if (!heard || !NOTED.includes(type)) return;
    // A click on a box or a choice, or on its label, changes it when it happens again too.
    const changes = type === "input" || type === "change";
    if (changes && /^(checkbox|radio)$/.test(target.type)) return;
    const before = clicked;
    if (type === "click") clicked = target;
    const isOfLabel = (label) => before !== target && label.contains(before);
    if (type === "click" && [...(target.labels ?? [])].some(isOfLabel)) return;
    // A field that loses the keyboard is done.
    if (type === "blur" && !target.matches?.("input, textarea")) return;
    heard.push(noted(one));
  };

  // Opens the page with all files, where what people did happens again.
  const openAgain = () => {
    const again = [...(heard ?? []), ...held.filter((one) => isAction(one) && one.target !== window).map(noted)];
    const { hash } = location;
    try {
      history.replaceState({ together: true, again, hash, session: keptSession() }, "", location.pathname);
    } catch {
      announce(); // It is too much for the browser.
      return;
    }
    // It began without anything that is kept. What another tab keeps stays.
    for (const [storage, key] of kept) storage.removeItem(key);
    location.reload();
  };

  const repeat = async () => {
    const { again, hash, session } = history.state ?? {};
    if (!again) return;
    history.replaceState({ together: true, session }, "");
    repeats = true;
    while (!isDrawn()) await drawn();
    for (const { type, of, name, place, value, options } of again) {
      // A field to type into comes in the place of its value.
      const isTyped = name && /^(keydown|input)$/.test(type);
      const find = () => {
        const node = place.reduce((node, index) => node?.children[index], document.documentElement);
        return isTyped && node?.localName !== name ? null : node;
      };
      for (let looks = 0; !find() && looks < 1000; looks++) await drawn();
      const target = find();
      // What comes after it would happen to something else. The page offers the session of before the trap.
      if (!target && isAction({ type })) return stop(`${type}: no such element`);
      if (type === "focusin") target?.focus();
      else if (type === "blur") target?.blur();
      else if (target) {
        if (type === "input" || type === "change") target.value = value;
        await dispatch(target, new globalThis[of](type, options));
      }
    }
    repeats = false;
    if (hash) location.hash = hash;
  };

  const gate = (event) => {
    const { type, target } = event;
    if (dispatches || (open && !(repeats && ACTIONS.includes(type)))) return;
    if (!held.some(isAction) && isOfPlay(event)) {
      note({ type, target, event });
      return;
    }
    event.stopImmediatePropagation();
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

  // Says how it is about the later files, if somebody waits for them or one did not come.
  const say = () => {
    const waits = held.some(isAction) || trap;
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

  const keptSession = () => {
    try {
      const { session } = history.state ?? {};
      return (repeats && session) || (sessionStorage.getItem("optimist.session") ?? session);
    } catch {
      return null; // The browser forbids to keep anything.
    }
  };

  const stop = (error) => {
    if (stopped || trap) return;
    trap = error ?? true;
    // The page opens again once the file is there that is on its way.
    if (loading && !together) say();
    else announce();
  };

  // Says that the program has stopped, and offers the session.
  const announce = () => {
    stopped = true;
    open = false;
    // Intervals are numbered with the timeouts.
    for (let timer = setTimeout(() => {}); timer > 0; timer--) clearTimeout(timer);
    say();
    part("stopped-message").textContent ||= trap.message ?? trap;
    const session = keptSession();
    // The text is safe in an address: it is made for links.
    if (session) part("stopped-session").href = `data:text/plain,${session}`;
    show("stopped-session", session);
    part("stopped").showModal();
  };

  // A trap, or what a function of the browser threw into the program; not what an extension did.
  const isOfTheProgram = (error) =>
    error instanceof WebAssembly.RuntimeError || /wasm-function/.test(error?.stack);
  const hear = (error, target) => {
    if (isOfTheProgram(error)) stop(error);
    else if (!exported && (error || target.localName === "script")) sayNotLoaded(error);
  };
  addEventListener("error", ({ error, target }) => hear(error, target), true);
  addEventListener("unhandledrejection", ({ reason, target }) => hear(reason, target));
})();
