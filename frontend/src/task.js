// Runs the program once more, in a worker of the page, for work that takes long (`frontend/src/jobs.rs`).
// `cargo xtask dist` writes the name of the program here. Both of its files are loaded before the worker
// hears anything, so that no call meets a function that is not there.
import init from "./{program}.js";

const load = async () => {
  const whole = fetch(new URL("./{program}_rest.wasm", import.meta.url));
  const first = await init({ module_or_path: new URL("./{program}_bg.wasm", import.meta.url) });
  await WebAssembly.instantiate(await (await whole).arrayBuffer(), { first });
  dispatchEvent(new Event("optimist-draw"));
};

// The page does the work itself if it hears this.
load().catch(() => postMessage(null));
