//! The requests to a running `optimist serve`, as they come: the page that it serves names their stream.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{Event, EventSource, MessageEvent};
use yew::{hook, use_effect_with};

use crate::browser;
use crate::state::{DiagnoseMsg, Dispatcher, LiveEvent, Page, Sends, StateHandle};

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
        let listeners = stream.as_ref().map(|stream| {
            if browser::fragment().is_empty() {
                browser::go(Page::Diagnose.fragment());
            }
            listen(stream, dispatcher)
        });
        move || {
            drop(listeners);
            if let Some(stream) = stream {
                stream.close();
            }
        }
    });
}

/// Passes on what the stream says: the lines collected, the rest after the lines before it.
fn listen(stream: &EventSource, dispatcher: Dispatcher) -> [EventListener; 3] {
    let lines = Rc::new(RefCell::new(String::new()));
    let send = move |event| dispatcher.send(DiagnoseMsg::Observe(event));
    let says = |name: &'static str, says: fn(String) -> LiveEvent| {
        let (lines, send) = (Rc::clone(&lines), send.clone());
        EventListener::new(stream, name, move |event| {
            send(LiveEvent::Lines(lines.take()));
            send(says(data(event)));
        })
    };
    let run = says("run", LiveEvent::Run);
    let gone = says("gone", |_| LiveEvent::Cut);
    let message = EventListener::new(stream, "message", move |event| {
        let is_first = lines.borrow().is_empty();
        lines.borrow_mut().push_str(&data(event));
        lines.borrow_mut().push('\n');
        if is_first {
            let (lines, send) = (Rc::clone(&lines), send.clone());
            let tell = move || send(LiveEvent::Lines(lines.take()));
            Timeout::new(COLLECTING, tell).forget();
        }
    });
    [run, gone, message]
}

/// The text of an event of a stream.
fn data(event: &Event) -> String {
    let text = event.dyn_ref::<MessageEvent>();
    let text = text.and_then(|event| event.data().as_string());
    text.unwrap_or_default()
}
