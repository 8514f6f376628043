// Keeps the files of a release in the browser, so that the page opens without a network.
// `cargo xtask dist` replaces the two constants below.
//
// The files of one release are one set: all of them are kept, checked by their hashes, or none. A
// newer release waits until the page asks for it (`start.js`). This worker answers only for files of
// the site, never for any other address of the host.
"use strict";

/* What all files and this worker are together. */
const RELEASE = "{release}";
/* The hash of each file, by its address from the page. */
const FILES = {};

const OURS = `optimist ${registration.scope} `;
const KEPT = OURS + RELEASE;
const address = (file) => new URL(file, registration.scope).href;
const PAGE = address("./");
const known = new Set(Object.keys(FILES).map(address));

// A name with a fingerprint always has the same content. It was loaded a moment ago.
const isProgram = (url) => /^optimist-[^/]*\.(js|wasm|html)$/.test(url.slice(PAGE.length)) && url.startsWith(PAGE);

const fetched = async (url, integrity, cache) => {
  const answer = await fetch(url, { integrity, cache });
  if (!answer.ok || answer.redirected) throw new Error(`${url}: ${answer.status}`);
  return answer;
};

// What was kept before, also by the worker that is active, is never taken away for a failure.
const keep = async () => {
  const isNew = !(await caches.has(KEPT));
  const cache = await caches.open(KEPT);
  const one = async ([file, integrity]) => {
    const url = address(file);
    const anew = () => fetched(url, integrity, "reload");
    const answer = isProgram(url) ? fetched(url, integrity, "force-cache").catch(anew) : anew();
    await cache.put(url, await answer);
  };
  try {
    await Promise.all(Object.entries(FILES).map(one));
  } catch (error) {
    if (isNew) await caches.delete(KEPT);
    throw error;
  }
};

const ours = async () => (await caches.keys()).filter((name) => name.startsWith(OURS));

// A page that is open may still need a file of the release before this one.
const forget = async () => {
  const old = (await ours()).filter((name) => name !== KEPT);
  await Promise.all(old.slice(0, -1).map((name) => caches.delete(name)));
};

const find = async (url) => {
  for (const name of [KEPT, ...(await ours())]) {
    const found = await (await caches.open(name)).match(url, { ignoreVary: true });
    if (found || !isProgram(url)) return found;
  }
};

addEventListener("install", (event) => event.waitUntil(keep()));
addEventListener("activate", (event) => event.waitUntil(forget()));
addEventListener("message", ({ data }) => data === "activate" && skipWaiting());
addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  url.hash = "";
  if (request.mode === "navigate") url.search = "";
  const file = url.href === address("index.html") ? PAGE : url.href;
  if (request.method !== "GET" || !(known.has(file) || isProgram(file))) return;
  event.respondWith(find(file).then((found) => found ?? fetch(request)));
});
