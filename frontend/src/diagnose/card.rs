//! The card of one input: its kind, and the facts in it.

use std::rc::Rc;

use optimist_client::visible;
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::input::{Input, NotDetected};
use optimist_diagnose::message::ReportedError;
use optimist_diagnose::scene::GivenParts;
use optimist_messages::{diagnose as messages, label};
use serde_json::Value;
use yew::{Html, Properties, classes, component, html};

use super::sign::sign;
use crate::components::icon::{Icon, icon};
use crate::state::{DiagnoseMsg, Dispatcher, InputItem, Sends};

/// The number of characters that are displayed of a text that is not recognized.
const SHOWN: usize = 400;

/// The longest text that is typed again, in bytes.
const MAX_TYPED: usize = 200_000;

/// The maximum number of errors of one text that are listed.
const MAX_LISTED: usize = 6;

/// One input, compared by its address: it never changes.
#[derive(Clone)]
pub(super) struct SharedItem(Rc<InputItem>);

impl From<&Rc<InputItem>> for SharedItem {
    fn from(shared: &Rc<InputItem>) -> Self {
        Self(Rc::clone(shared))
    }
}

impl PartialEq for SharedItem {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct CardProps {
    pub(super) item: SharedItem,
    pub(super) sender: Dispatcher,
    /// The parts that people have added to error messages.
    pub(super) given: GivenParts,
}

/// The card of a thing. It is drawn once: a large object takes long to read.
#[component]
pub(super) fn Card(props: &CardProps) -> Html {
    let (item, sender) = (&*props.item.0, &props.sender);
    let (title, details) = match &item.content {
        Ok(input) => detected(input, &props.given),
        Err(why) => (label::card_unknown(), undetected(sender, item, why)),
    };
    let title = if item.live {
        label::card_served()
    } else {
        visible(&title).into_owned()
    };
    let class = match &item.content {
        Ok(Input::Errors(_)) => Some("error"),
        Ok(_) => None,
        Err(_) => Some("unknown"),
    };
    html! {
        <li class={classes!("case-card", class)}>
            { sign(&item.content) }
            <div>
                <h3>{ title.clone() }</h3>
                { details }
            </div>
            <button
                type="button"
                class="icon-button small"
                aria-label={label::diagnose_remove(&title)}
                onclick={sender.sends(DiagnoseMsg::Remove(item.id))}
            >
                { icon(Icon::Cross) }
            </button>
        </li>
    }
}

/// Returns the kind of an input, and the facts that were read from it.
fn detected(input: &Input, given: &GivenParts) -> (String, Html) {
    let named = |object: &Value| ObjectId::from_object(object).to_string();
    let says = |text: String| html! { <p>{ text }</p> };
    match input {
        Input::Live(object) => (named(object), live(object)),
        Input::Manifest(object) => (named(object), says(label::card_manifest())),
        Input::Definition(object) => (named(object), says(label::card_definition())),
        // Each has a card of its own.
        Input::Several(_) => Default::default(),
        Input::Versions { versions, end } => (
            messages::versions_title(versions),
            says(messages::versions_says(versions, end)),
        ),
        Input::AuditLog(log) => (
            label::card_audit(),
            says(label::card_audit_lines(&log.lines().count())),
        ),
        Input::Errors(errors) => of_errors(errors, given),
    }
}

fn live(object: &Value) -> Html {
    let (says, unreadable) = messages::live_says(object);
    let last = says.len().saturating_sub(1);
    html! {
        { for says.into_iter().enumerate().map(|(at, text)| html! {
            <p class={classes!((unreadable && at == last).then_some("refused"))}>{ text }</p>
        }) }
    }
}

fn of_errors(errors: &[ReportedError], given: &GivenParts) -> (String, Html) {
    if let [one] = errors {
        return (messages::errors_title(errors), about(one, given));
    }
    let listed = errors.iter().take(MAX_LISTED).map(|one| {
        html! {
            <li>
                <p>{ messages::error_title(&one.error) }</p>
                { about(one, given) }
            </li>
        }
    });
    let more = errors.len().saturating_sub(MAX_LISTED);
    let list = html! {
        <ul>
            { for listed }
            if more > 0 {
                <li>{ label::more_endings(&more) }</li>
            }
        </ul>
    };
    (messages::errors_title(errors), list)
}

/// Shows the object of an error, its tool, its fields and managers, and the parts that neither the message nor people say.
fn about(one: &ReportedError, given: &GivenParts) -> Html {
    let values = messages::error_values(&one.error);
    let missing = messages::error_missing(&given.completed(one));
    html! {
        <>
            <p>{ visible(&messages::error_facts(one)).into_owned() }</p>
            if !values.is_empty() {
                <p>{ visible(&values).into_owned() }</p>
            }
            if !missing.is_empty() {
                <p class="missing">{ missing }</p>
            }
            if let Some(advice) = messages::error_advice(one) {
                <p>{ advice }</p>
            }
        </>
    }
}

fn undetected(sender: &Dispatcher, item: &InputItem, why: &NotDetected) -> Html {
    let why = messages::not_detected(why);
    let begin: String = item.text.trim().chars().take(SHOWN).collect();
    // A longer text is slow in a text area.
    let typed = item.text.len() <= MAX_TYPED;
    html! {
        <>
            <p>{ visible(&why).into_owned() }</p>
            <details>
                <summary>{ label::card_text() }</summary>
                <pre>{ visible(&begin).into_owned() }</pre>
            </details>
            if typed {
                <button
                    type="button"
                    class="button small"
                    onclick={sender.sends(DiagnoseMsg::Correct(item.id))}
                >
                    { label::card_correct() }
                </button>
            }
        </>
    }
}
