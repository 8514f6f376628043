//! The release site in a real browser: a server for it, and a driver that clicks and types.

mod api;
mod browser;
mod engine;
mod process;
mod sessions;
mod site;

pub use browser::{Browser, Element};
pub use engine::Engine;
pub use sessions::session_to_search;
pub use site::{Fault, Site, dist};

/// A script that makes a wasm, `failing`, with two functions: `trap` is unreachable, `deep` calls itself.
/// It is made in the page's own realm, because Firefox runs the scripts of tests in another one.
pub const FAILING: &str = "
    const bytes = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 3, 2, 0, 0,
        7, 15, 2, 4, 116, 114, 97, 112, 0, 0, 4, 100, 101, 101, 112, 0, 1,
        10, 10, 2, 3, 0, 0, 11, 4, 0, 16, 1, 11];
    const module = new window.WebAssembly.Module(new Uint8Array(bytes));
    const failing = new window.WebAssembly.Instance(module).exports;";
