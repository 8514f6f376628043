//! Optimist's page: it draws the decisions of the core and passes on the actions of people. It
//! holds no semantics of Kubernetes; it calls the crates in `core` for everything that a server or
//! a client does.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod app;
mod browser;
mod components;
mod diagnose;
mod embedding;
mod explore;
mod fetch;
mod focus;
mod hooks;
mod jobs;
mod keyboard;
mod learn;
mod live;
mod names;
mod panic;
mod saved_page;
mod scheduler;
mod state;

use gloo_events::EventListener;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, EventTarget};
use yew::AppHandle;

pub use app::App;

/// The event that `start.js` dispatches once enough of the program is loaded to draw the page, and
/// `task.js` once all of it is loaded in a worker.
const DRAW: &str = "optimist-draw";

/// Waits until the page may be drawn, and mounts it where `index.html` has a place for it. In a worker,
/// it waits for jobs instead.
pub fn start() {
    panic::tell_on_the_page();
    // A worker runs these lines with the first file alone, so they are the same as in a page.
    if let Ok(global) = js_sys::global().dyn_into::<EventTarget>() {
        EventListener::once(&global, DRAW, |_| {
            if browser::window().is_none() {
                return jobs::serve();
            }
            let Some(place) = browser::element("app") else {
                return;
            };
            match browser::language() {
                None => {
                    mount(place);
                }
                Some(_) => spawn_local(async move {
                    mount_in_language(place).await;
                }),
            }
        })
        .forget();
    }
}

/// Loads the catalogue of a language; where it cannot be loaded, the page stays English.
async fn speak(language: &str) {
    let catalogue = browser::fetched(&format!("messages/{language}.txt")).await;
    if let Ok(catalogue) = catalogue {
        optimist_messages::choose(&catalogue);
    }
}

/// Mounts the page in an element, in the language that the address asks for.
pub async fn mount_in_language(place: Element) -> AppHandle<App> {
    if let Some(language) = browser::language() {
        speak(&language).await;
    }
    mount(place)
}

/// Mounts the page in an element.
pub fn mount(place: Element) -> AppHandle<App> {
    yew::Renderer::<App>::with_root(place).render()
}
