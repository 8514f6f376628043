//! Optimist's page: it draws what the core says and passes on what people do. It holds no
//! semantics of Kubernetes; whatever a server or a client would say is asked of the crates in `core`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod app;
mod browser;
mod components;
mod explore;
mod keyboard;
mod learn;
mod panic;
mod rest;
mod state;
mod words;

use web_sys::Element;
use yew::AppHandle;

pub use app::App;

/// Mounts the page where `index.html` has a place for it.
pub fn start() {
    panic::tell_on_the_page();
    rest::load_at_first_use();
    let body = || Some(browser::document()?.body()?.into());
    if let Some(place) = browser::element("app").or_else(body) {
        mount(place);
    }
}

/// Mounts the page in an element.
pub fn mount(place: Element) -> AppHandle<App> {
    yew::Renderer::<App>::with_root(place).render()
}
