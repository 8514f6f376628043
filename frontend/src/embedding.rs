//! The messages between the page and the page around it, as `docs/embedding.md` describes them.
//!
//! The page takes part only if the address names the origin around it (`?embed&parent=https://example.com`).
//! It sends nothing to another origin, and hears no other one.

use gloo_events::EventListener;
use js_sys::{JSON, Reflect, decode_uri_component};
use optimist_messages::label;
use serde_json::{Value, json};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::MessageEvent;
use yew::{Callback, Html, hook, html, use_effect_with, use_state};

use crate::state::{DiagnoseMsg, Page, Sends, SessionMsg, StateHandle};
use crate::{browser, learn};

/// The version of the protocol. A message of another version is ignored.
const VERSION: u64 = 1;

/// The most characters of a case. Diagnose reads larger files, which people choose by themselves.
const MAX_CASE: usize = 4 * 1024 * 1024;

/// A message of the page around.
enum PageMessage {
    /// Goes to a step of the history.
    Step(usize),
    /// Offers a text for Diagnose. The reader decides about it.
    Case(String),
}

/// Returns the origin of the page around, if the address names it (`?embed&parent=https://example.com`).
fn origin_around() -> Option<String> {
    let query = browser::window()?.location().search().ok()?;
    let mut pairs = query.trim_start_matches('?').split('&');
    let named = pairs.find_map(|pair| pair.strip_prefix("parent="))?;
    let origin = decode_uri_component(named).ok()?.as_string()?;
    // Not `*`: what is sent is for one page.
    let is_origin = origin.starts_with("https://") || origin.starts_with("http://");
    (browser::is_embedded() && is_origin).then_some(origin)
}

/// Returns the height in which nothing of an embedded page scrolls: its height, and what is out of sight.
fn wanted_height() -> i32 {
    let inside = browser::window().and_then(|window| window.inner_height().ok());
    let inside = inside.and_then(|height| height.as_f64()).unwrap_or(0.0) as i32;
    let body = browser::document().and_then(|document| document.body());
    let hidden = |selector: &str| {
        let parts = body
            .iter()
            .flat_map(|body| browser::all_within(body, selector));
        let hidden = parts.map(|part| part.scroll_height() - part.client_height());
        hidden.max().unwrap_or(0).max(0)
    };
    inside + hidden(".caption, .lesson, .lesson-body, .case-part") + hidden(".timeline")
}

/// Sends a message to the page around.
fn send(parent: &str, message: &Value) {
    let window = browser::window();
    let around = window.and_then(|window| window.parent().ok().flatten());
    if let (Some(around), Ok(message)) = (around, JSON::parse(&message.to_string())) {
        // An origin that is none is refused; then there is nobody to tell.
        let _ = around.post_message(&message, parent);
    }
}

/// Reads a message; `None` if it is not of the page around, or not of this protocol.
fn received(parent: &str, event: &MessageEvent) -> Option<PageMessage> {
    let around = browser::window()?.parent().ok()??;
    let around: &JsValue = around.as_ref();
    let is_around = event.source().is_some_and(|source| &*source == around);
    if event.origin() != parent || !is_around {
        return None;
    }
    let data = event.data();
    let part = |name: &str| Reflect::get(&data, &JsValue::from_str(name)).ok();
    if part("optimist")?.as_f64()? != VERSION as f64 {
        return None;
    }
    match part("type")?.as_string()?.as_str() {
        "go" => Some(PageMessage::Step(part("step")?.as_f64()?.max(0.0) as usize)),
        "case" => {
            let text = part("text")?.as_string()?;
            (text.len() <= MAX_CASE).then_some(PageMessage::Case(text))
        }
        _ => None,
    }
}

/// The position that the page around receives.
#[derive(Clone, PartialEq)]
struct Reported {
    page: Page,
    step: usize,
    steps: usize,
    lesson: Option<String>,
    is_solved: bool,
    /// Why what the address names is not shown.
    problem: Option<String>,
}

impl Reported {
    fn new(store: &StateHandle) -> Self {
        let tree = &store.session.tree;
        let course = store.learn.course.as_ref();
        let course = course.filter(|_| store.page == Page::Learn);
        let of_lesson = store.learn.problem.as_ref().map(learn::problem);
        Self {
            page: store.page,
            step: tree.position(),
            steps: tree.current_path().len() - 1,
            lesson: course.map(|course| course.name.clone()),
            is_solved: course.is_some_and(|course| course.walk.finished()),
            problem: of_lesson.or_else(|| store.share.opening.problem.clone()),
        }
    }

    fn send_to(&self, parent: &str) {
        let place = json!({
            "optimist": VERSION, "type": "step", "page": self.page.slug(),
            "step": self.step, "of": self.steps,
        });
        send(parent, &place);
        if self.is_solved {
            let lesson = &self.lesson;
            let goal = json!({"optimist": VERSION, "type": "goal", "lesson": lesson});
            send(parent, &goal);
        }
        if let Some(problem) = &self.problem {
            let error = json!({"optimist": VERSION, "type": "error", "message": problem});
            send(parent, &error);
        }
    }
}

/// Tells the page around about steps, goals and what does not open, and listens to it. Returns the question whether a case that
/// it offers is opened.
#[hook]
pub(crate) fn use_embedding(store: &StateHandle) -> Html {
    let offered = use_state(|| None::<String>);
    let dispatcher = store.dispatcher();
    let offer = offered.setter();
    use_effect_with((), move |()| {
        let parent = origin_around();
        let listener = parent.zip(browser::window()).map(|(parent, window)| {
            send(&parent, &json!({"optimist": VERSION, "type": "ready"}));
            EventListener::new(&window, "message", move |event| {
                let event = event.dyn_ref::<MessageEvent>();
                match event.and_then(|event| received(&parent, event)) {
                    Some(PageMessage::Step(step)) => dispatcher.send(SessionMsg::Seek(step)),
                    Some(PageMessage::Case(text)) => offer.set(Some(text)),
                    None => {}
                }
            })
        });
        move || drop(listener)
    });
    // Nobody asks for it but a page around.
    let reported = origin_around().map(|parent| (parent, Reported::new(store)));
    use_effect_with(reported, |reported| {
        if let Some((parent, now)) = reported {
            now.send_to(parent);
        }
    });
    use_effect_with(store.changes(), |_| {
        if let Some(parent) = origin_around() {
            let height = wanted_height();
            send(
                &parent,
                &json!({"optimist": VERSION, "type": "height", "height": height}),
            );
        }
    });
    let text = (*offered).clone();
    let answered = offered.setter();
    let leave = Callback::from(move |()| answered.set(None));
    text.map(|text| question(store, text, &leave))
        .unwrap_or_default()
}

/// Asks whether a case of the page around is opened.
fn question(store: &StateHandle, text: String, leave: &Callback<()>) -> Html {
    let origin = origin_around().unwrap_or_default();
    let kilobytes = text.len().div_ceil(1024);
    let open = {
        let (dispatcher, leave) = (store.dispatcher(), leave.clone());
        Callback::from(move |_| {
            leave.emit(());
            browser::go(Page::Diagnose.fragment());
            dispatcher.send(DiagnoseMsg::Bring(text.clone()));
        })
    };
    html! {
        <p class="notice offered-case" role="status">
            { label::offered_case(&origin, &kilobytes) }
            <button type="button" class="button small primary" onclick={open}>
                { label::offered_case_open() }
            </button>
            <button type="button" class="button small" onclick={leave.reform(|_| ())}>
                { label::offered_case_leave() }
            </button>
        </p>
    }
}
