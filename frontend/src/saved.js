// The first script of a saved page (`xtask/src/saved_page.rs`). The files of the release are in the
// page itself, and nothing is asked of a network. What the page keeps has a place of its own, so
// that sessions of the same browser are not touched.
(() => {
  "use strict";

  const said = (name) => document.querySelector(`meta[name=optimist-${name}]`)?.content ?? "";

  // The files are behind this script.
  const whole = new Promise((done) => addEventListener("DOMContentLoaded", done, { once: true }));

  // Two characters are 13 bits, the highest digit first, and one at the end is 6 (`saved_page.rs` of the state).
  const digit = (code) => (code === 126 ? 25 : code - 35);
  const decoded = (text) => {
    const last = text.length - (text.length % 2);
    const bytes = new Uint8Array(Math.floor((last * 6.5 + (text.length - last) * 6) / 8));
    let bits = 0;
    let count = 0;
    let to = 0;
    for (let from = 0; from < text.length; from += 2) {
      const first = digit(text.charCodeAt(from));
      if (from < last) {
        bits = (bits << 13) | (first * 91 + digit(text.charCodeAt(from + 1)));
        count += 13;
      } else {
        bits = (bits << 6) | first;
        count += 6;
      }
      for (; count >= 8; bits &= (1 << count) - 1) {
        count -= 8;
        bytes[to++] = bits >>> count;
      }
    }
    return bytes;
  };

  const TYPES = { wasm: "application/wasm", html: "text/html" };

  const part = (name) => {
    const parts = [...document.querySelectorAll("script[data-file]")];
    const part = parts.find(({ dataset }) => dataset.file === name);
    const content = part && new Blob([decoded(part.textContent)]).stream();
    return part?.dataset.coding === "gzip" ? content.pipeThrough(new DecompressionStream("gzip")) : content;
  };

  // The texts are one part: together they are smaller.
  let texts;
  const file = async (name) => {
    await whole;
    let content = part(name);
    if (!content) {
      texts ??= new Response(part("texts") ?? "{}").json();
      content = (await texts)[name];
    }
    if (content === undefined) throw new TypeError(`${name} is not in this page`);
    const type = TYPES[name.split(".").at(-1)] ?? "text/plain";
    return new Response(content, { headers: { "Content-Type": `${type}` } });
  };
  globalThis.fetch = (address) => file(String(address).replace(/^\.\//, ""));

  // Both storages, inside the one that ends with the tab, under names of this file.
  let tab = null;
  try {
    tab = sessionStorage;
  } catch {
    // The browser forbids to keep anything, and the page says so.
  }
  const apart = (area) => {
    const ours = `saved ${location.pathname} ${area} `;
    const keys = () => Object.keys(tab).filter((key) => key.startsWith(ours));
    return {
      get length() {
        return keys().length;
      },
      key: (index) => keys()[index]?.slice(ours.length) ?? null,
      getItem: (key) => tab.getItem(ours + key),
      setItem: (key, value) => tab.setItem(ours + key, value),
      removeItem: (key) => tab.removeItem(ours + key),
    };
  };
  for (const area of tab ? ["sessionStorage", "localStorage"] : []) {
    Object.defineProperty(globalThis, area, { value: apart(area) });
  }

  // The page opens what was saved; after a reload, what was there before. An address with a session
  // asks for that one.
  const shown = said("shown");
  const fragment = shown.slice(shown.indexOf("#"));
  const again = performance.getEntriesByType("navigation")[0]?.type !== "navigate";
  if (!location.hash.includes("?s=") && !(tab && again && location.hash)) {
    try {
      history.replaceState(null, "", shown);
    } catch {
      // A browser may forbid another query.
      location.replace(fragment);
    }
  }
  whole.then(() => {
    document.getElementById("saved-again")?.setAttribute("href", fragment);
  });

  // A file beside the page is in the page too.
  addEventListener("click", async (event) => {
    const link = event.target.closest?.("a[href='licences.html']");
    if (!link) return;
    event.preventDefault();
    link.href = URL.createObjectURL(await (await file("licences.html")).blob());
    link.click();
  });
})();
