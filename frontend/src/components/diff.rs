//! What the stored object lost and gained.

use optimist_client::{ValueChange, dotted, to_yaml, visible};
use optimist_simulation::{Outcome, Step};
use serde_json::Value;
use yew::{Html, html};

fn side(sign: &'static str, class: &'static str, value: &Value) -> Html {
    let text = match value {
        Value::Object(_) | Value::Array(_) => to_yaml(value),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    html! {
        <div class={class}>
            <span class="sign">{ sign }</span>
            <span class="unseen">{ if class == "lost" { "lost: " } else { "gained: " } }</span>
            <pre>{ visible(text.trim_end()).into_owned() }</pre>
        </div>
    }
}

fn change(change: &ValueChange) -> Html {
    html! {
        <li>
            <div class="place">{ dotted(&change.pointer) }</div>
            if let Some(before) = &change.before {
                { side("−", "lost", before) }
            }
            if let Some(after) = &change.after {
                { side("+", "gained", after) }
            }
        </li>
    }
}

/// The difference that a step made.
#[inline(never)] // not on the first screen
pub(crate) fn diff(step: &Step) -> Html {
    let empty = match step.outcome() {
        Outcome::Read => Some("A read changes nothing."),
        Outcome::Done => Some("The stored object is as it was."),
        Outcome::Refused => Some("Refused: the stored object is as it was."),
        Outcome::Unchanged => Some("The result equals what is stored: nothing was written."),
        Outcome::Written if step.effect.is_empty() => {
            Some("Only bookkeeping changed: the version, and who owns what.")
        }
        Outcome::Written => None,
    };
    html! {
        <>
            if let Some(empty) = empty {
                <div class="empty"><p>{ empty }</p></div>
            } else {
                <p class="muted">
                    { format!("Version {} compared with {}.", step.after, step.before) }
                </p>
                <ul class="diff">{ for step.effect.iter().map(change) }</ul>
            }
        </>
    }
}
