//! The requests to a running `optimist serve`, as they come: the page that it serves names their stream, and where it
//! takes requests of the page, if it does.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, Event, EventSource, MessageEvent};
use yew::{hook, use_effect_with};

use crate::browser;
use crate::fetch::fetch;
use crate::state::{
    DiagnoseMsg, Dispatcher, LiveEditMsg, LiveEvent, LiveRequest, Page, Sends, StateHandle,
};

/// The time that requests are collected before they are shown, in milliseconds: a burst is read once.
const COLLECTING: u32 = 250;

/// The element of the head that tells of the server: `<meta name="optimist-live">`.
fn stream_element() -> Option<Element> {
    let document = browser::document()?;
    document.query_selector("meta[name='optimist-live']").ok()?
}

/// Opens the stream of the requests.
fn stream() -> Option<EventSource> {
    let stream = EventSource::new(&stream_element()?.get_attribute("content")?);
    stream.ok()
}

/// Says where the server takes requests of the page, if it does.
fn writes() -> Option<LiveEvent> {
    let told = stream_element()?;
    Some(LiveEvent::Writes {
        server: told.get_attribute("data-server")?,
        place: told.get_attribute("data-requests")?,
    })
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
            if let Some(writes) = writes() {
                dispatcher.send(DiagnoseMsg::Observe(writes));
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

/// Sends the request of the editor of the running server that waits.
#[hook]
pub(crate) fn use_live_requests(store: &StateHandle) {
    let editor = store.diagnose.live.editor.as_ref();
    let waiting = editor.and_then(|editor| {
        let waiting = editor.waiting.clone()?;
        Some((editor.place.clone(), waiting))
    });
    let number = waiting.as_ref().map(|(_, waiting)| waiting.number);
    let dispatcher = store.dispatcher();
    use_effect_with(number, move |_| {
        if let Some((place, waiting)) = waiting {
            spawn_local(async move {
                let answer = answer(&place, &waiting).await.ok();
                let answered = LiveEditMsg::Answered(waiting.number, answer);
                dispatcher.send(DiagnoseMsg::EditLive(answered));
            });
        }
    });
}

/// Sends a request to the port of the page: the code and the body of the answer.
async fn answer(place: &str, waiting: &LiveRequest) -> Result<(u16, String), JsValue> {
    let request = &waiting.request;
    let body = request.carries_body().then_some(&*request.body);
    let content_type = body.map(|_| ("Content-Type", &*request.content_type));
    let client = ("Optimist-Client", &*waiting.client);
    let answer = fetch(
        &format!("{place}{}", request.target),
        &[("method", &request.method), ("cache", "no-store")],
        [client].into_iter().chain(content_type),
        body,
    )
    .await?;
    Ok((answer.code, answer.body))
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
