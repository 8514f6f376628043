//! The keys of the page, which work wherever the keyboard is.

use optimist_messages::label;
use optimist_simulation::ActorId;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement, KeyboardEvent};

use crate::browser;
use crate::state::{
    DiagnoseMsg, Dialog, Lane, LearnMsg, Msg, Page, RequestMsg, SessionMsg, State, StepMove,
    ViewMsg,
};

/// A key, and its effect in words.
pub(crate) type KeyHelp = (&'static str, fn() -> String);

/// The keys, as the help lists them.
pub(crate) const KEYS: [KeyHelp; 9] = [
    ("← →", label::key_arrows),
    ("↑ ↓", label::key_lines),
    ("Home End", label::key_ends),
    ("a b c", label::key_actors),
    ("g", label::key_get),
    ("Enter", label::key_enter),
    ("Ctrl Enter", label::key_send),
    ("Esc", label::key_escape),
    ("?", label::key_help),
];

/// The keys of the line between the cards and the timeline.
pub(crate) const DIVIDER_KEYS: [KeyHelp; 3] = [
    ("↑ ↓", label::key_divider),
    ("Home End", label::key_divider_ends),
    ("Enter", label::key_divider_reset),
];

/// The keys of a lesson.
pub(crate) const LESSON_KEYS: [KeyHelp; 7] = [
    ("n p", label::key_lesson_steps),
    ("1 2 3", label::key_predict),
    ("l", label::key_return),
    ("h s", label::key_hint),
    ("o", label::key_orders),
    ("t", label::key_teach),
    ("PageDown", label::key_presenter),
];

/// The kind of element that has the keyboard, by the keys that it uses itself.
#[derive(Clone, Copy, PartialEq)]
enum Holder {
    Page,
    /// Enter and Space are its own.
    Control,
    /// Arrows, Home, End, Enter and Space are its own.
    Arrows,
    Text,
}

fn holder(event: &KeyboardEvent) -> Holder {
    let Some(element) = event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok())
    else {
        return Holder::Page;
    };
    match element.tag_name().to_ascii_lowercase().as_str() {
        "textarea" => Holder::Text,
        "select" => Holder::Arrows,
        "input" => match element
            .dyn_ref::<HtmlInputElement>()
            .map(HtmlInputElement::type_)
            .as_deref()
        {
            Some("checkbox") => Holder::Control,
            Some("radio" | "range") => Holder::Arrows,
            _ => Holder::Text,
        },
        "button" | "a" | "summary" => Holder::Control,
        _ => Holder::Page,
    }
}

/// The action of a key; `None` if the key has no action or belongs to the focused element.
pub(crate) fn message(state: &State, event: &KeyboardEvent) -> Option<Msg> {
    if event.default_prevented()
        || event.alt_key()
        || event.meta_key()
        || state.view.dialog.is_some()
    {
        return None;
    }
    let holder = holder(event);
    let key = event.key();
    // WCAG 2.1.4: keys that are letters, digits or punctuation can be switched off.
    if !state.view.letter_keys && !event.ctrl_key() && key != " " && key.chars().count() == 1 {
        return None;
    }
    if state.page == Page::Diagnose && matches!(holder, Holder::Page | Holder::Control) {
        // Only where a recorded history can be stepped through do they mean something.
        let to = match key.as_str() {
            "ArrowLeft" => Some(StepMove::Back),
            "ArrowRight" => Some(StepMove::Forward),
            _ => None,
        };
        if let Some(to) = to.filter(|_| state.diagnose.has_steps()) {
            return Some(DiagnoseMsg::MoveStep(to).into());
        }
    }
    if state.page != Page::Play && !state.learn.is_on_stage() {
        let help = key == "?" && holder != Holder::Text;
        return help.then(|| ViewMsg::Dialog(Some(Dialog::Help)).into());
    }
    if event.ctrl_key() {
        let sends = key == "Enter" && holder != Holder::Text;
        return sends.then(|| RequestMsg::Send(state.view.focus).into());
    }
    if holder == Holder::Text {
        return None;
    }
    if let Some(msg) = learning(state, holder, &key) {
        return Some(msg);
    }
    let arrows = holder != Holder::Arrows;
    Some(match key.as_str() {
        "ArrowLeft" if arrows => SessionMsg::Back.into(),
        "ArrowRight" if arrows => SessionMsg::Forward.into(),
        "Home" if arrows => SessionMsg::First.into(),
        "End" if arrows => SessionMsg::Last.into(),
        "Enter" if holder == Holder::Page => RequestMsg::Send(state.view.focus).into(),
        "Escape" if state.view.sheet => ViewMsg::Sheet(false).into(),
        "a" | "A" => work_as(ActorId::A),
        "b" | "B" => work_as(ActorId::B),
        "c" | "C" => work_as(ActorId::C),
        "g" | "G" => RequestMsg::Get(state.view.focus).into(),
        "?" => ViewMsg::Dialog(Some(Dialog::Help)).into(),
        _ => return None,
    })
}

/// Returns the message of a key for a lesson. While teaching, the arrows turn its pages.
fn learning(state: &State, holder: Holder, key: &str) -> Option<Msg> {
    if !state.learn.is_on_stage() {
        return None;
    }
    let teaching = state.learn.teaching && holder != Holder::Arrows;
    Some(Msg::Learn(match key {
        "n" | "N" | "PageDown" => LearnMsg::Forward,
        "p" | "P" | "PageUp" => LearnMsg::Back,
        "ArrowRight" if teaching => LearnMsg::Forward,
        " " if teaching && holder == Holder::Page => LearnMsg::Forward,
        "ArrowLeft" if teaching => LearnMsg::Back,
        "l" | "L" => LearnMsg::Resume,
        "t" | "T" => LearnMsg::Teach,
        "h" | "H" => LearnMsg::Hint,
        "s" | "S" => LearnMsg::Solve,
        "o" | "O" => LearnMsg::Search,
        key => {
            let number: usize = key.parse().ok()?;
            let course = state.learn.course.as_ref()?;
            let prediction = course.walk.step().prediction.as_ref()?;
            let choice = number.checked_sub(1)?;
            (choice < prediction.choices.len()).then_some(LearnMsg::Predict(choice))?
        }
    }))
}

fn work_as(editor: ActorId) -> Msg {
    let lane = Lane::Editor(editor);
    browser::focus_soon(format!("card-{}", lane.slug()));
    ViewMsg::Open(lane).into()
}
