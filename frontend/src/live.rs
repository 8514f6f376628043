//! The requests to a running `optimist serve`, as they come: the page that it serves names their stream.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{EventSource, MessageEvent};
use yew::{hook, use_effect_with};

use crate::browser;
use crate::state::{DiagnoseMsg, Page, Sends, StateHandle};

/// The time that requests are collected before they are shown, in milliseconds: a burst is read once.
const COLLECTING: u32 = 250;

/// Opens the stream at the address in `<meta name="optimist-live">`.
fn stream() -> Option<EventSource> {
    let document = browser::document()?;
    let named = document
        .query_selector("meta[name='optimist-live']")
        .ok()??;
    let stream = EventSource::new(&named.get_attribute("content")?);
    stream.ok()
}

/// Diagnose shows the requests. A page that was opened without an address begins there.
#[hook]
pub(crate) fn use_live(store: &StateHandle) {
    let dispatcher = store.dispatcher();
    use_effect_with((), move |()| {
        let stream = stream();
        let listener = stream.as_ref().map(|stream| {
            if browser::fragment().is_empty() {
                browser::go(Page::Diagnose.fragment());
            }
            let lines = Rc::new(RefCell::new(String::new()));
            EventListener::new(stream, "message", move |event| {
                let text = event.dyn_ref::<MessageEvent>();
                let Some(text) = text.and_then(|event| event.data().as_string()) else {
                    return;
                };
                let is_first = lines.borrow().is_empty();
                lines.borrow_mut().push_str(&text);
                lines.borrow_mut().push('\n');
                if is_first {
                    let (lines, dispatcher) = (Rc::clone(&lines), dispatcher.clone());
                    let tell = move || dispatcher.send(DiagnoseMsg::Observe(lines.take()));
                    Timeout::new(COLLECTING, tell).forget();
                }
            })
        });
        move || {
            drop(listener);
            if let Some(stream) = stream {
                stream.close();
            }
        }
    });
}
