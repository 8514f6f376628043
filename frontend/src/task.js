// Runs the program once more, in a worker of the page, for work that takes long (`frontend/src/jobs.rs`).
// `cargo xtask dist` writes the name of the program here. All of its files are loaded before the worker
// hears anything, so that no call meets a function that is not there.
import init from "./{program}.js";

const file = (part) => new URL(`./{program}_${part}.wasm`, import.meta.url);

const load = async () => {
  const later = ["play", "rest"].map((part) => fetch(file(part)));
  let first = await init({ module_or_path: file("bg") });
  for (const part of later) {
    const { instance } = await WebAssembly.instantiate(await (await part).arrayBuffer(), { first });
    first = { ...first, ...instance.exports };
  }
  dispatchEvent(new Event("optimist-draw"));
};

// The page does the work itself if it hears this.
load().catch(() => postMessage(null));
