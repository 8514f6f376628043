//! The request behind an arrow, while the pointer or the keyboard is on it.

use optimist_messages::label;
use optimist_simulation::{NodeId, Operation, Step};
use serde_json::Value;
use wasm_bindgen::JsCast;
use web_sys::{Element, EventTarget};
use yew::{Html, classes, html};

use super::wire::request_line;
use crate::browser;
use crate::state::State;

/// The style of this part alone.
const STYLE: &str = include_str!("../style/peek.css");

/// The maximum number of changes of an object that are listed.
const NAMED: usize = 6;

/// An arrow that is pointed at, and where its row is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pointed {
    node: NodeId,
    /// From the top of the window, in CSS pixels.
    at: i32,
    /// `true` if there is more room above the row than below it.
    upwards: bool,
    /// The height of the room up to the edge of the window, in CSS pixels: the history alone can have too little.
    room: i32,
    /// The middle of the history, from the left of the window, and half of its width, in CSS pixels.
    middle: [i32; 2],
}

impl Pointed {
    /// Finds the step at which an event in the timeline points.
    pub(crate) fn at(target: Option<EventTarget>, keyboard: bool) -> Option<Self> {
        let target = target?.dyn_into::<Element>().ok()?;
        let button = target.closest(".step-button").ok()??;
        // A click puts the keyboard there as well, which does not ask for this.
        if keyboard && !button.matches(":focus-visible").unwrap_or(false) {
            return None;
        }
        let row = button.parent_element()?;
        let around = row.closest(".timeline").ok()??.get_bounding_client_rect();
        let window = browser::height();
        let here = row.get_bounding_client_rect();
        let (over, under) = (here.top(), window - here.bottom());
        let upwards = over > under;
        let at = if upwards {
            over + 8.0
        } else {
            here.bottom() - 8.0
        };
        let half = around.width() / 2.0;
        Some(Self {
            node: row.id().strip_prefix("step-")?.parse().ok()?,
            at: at as i32,
            upwards,
            room: over.max(under) as i32,
            middle: [(around.left() + half) as i32, half as i32],
        })
    }
}

/// Draws the request in few lines.
pub(crate) fn peek(state: &State, pointed: &Pointed) -> Html {
    let step = state.session.tree.step(pointed.node);
    let Some((step, exchange)) = step.and_then(|step| Some((step, step.exchange.as_ref()?))) else {
        return Html::default();
    };
    browser::adopt_style(STYLE);
    let slug = super::step_row::slug(step);
    let [middle, half] = pointed.middle;
    let style = format!(
        "--at:{}px;--room:{}px;--middle:{middle}px;--half:{half}px",
        pointed.at, pointed.room
    );
    let class = classes!("peek", slug, pointed.upwards.then_some("upwards"));
    html! {
        <div {class} role="tooltip" {style}>
            { request_line(exchange.method.as_str(), &exchange.target, &exchange.content_type, slug) }
            // A real controller or watcher sends the name and version of its program, which nobody knows here.
            if step.controller.is_none() && !matches!(step.operation, Operation::Watch(_)) {
                <p class="muted">{ format!("User-Agent: {}", exchange.manager) }</p>
            }
            { carried(step, &exchange.sent) }
        </div>
    }
}

/// Shows the content of a request: a patch as it was sent, of a whole object its changes, of a
/// manifest its intended edits.
fn carried(step: &Step, sent: &Value) -> Html {
    if *sent == Value::Null {
        return html! { <p>{ label::no_body() }</p> };
    }
    let whole = sent.get("kind").is_some() && step.is_send() && !step.edits.is_empty();
    if !whole {
        return html! { <p class="sent">{ sent.to_string() }</p> };
    }
    let version = sent.pointer("/metadata/resourceVersion");
    let version = match version.and_then(Value::as_str) {
        Some(version) => format!("resourceVersion: \"{version}\""),
        None => label::no_version(),
    };
    let edits = step.meant_changes();
    let more = edits.len().saturating_sub(NAMED);
    html! {
        <>
            <p>{ if step.meant.is_some() { label::whole_manifest() } else { label::whole_object() } }</p>
            <p class="sent">{ version }</p>
            { for edits.iter().take(NAMED).map(|change| html! { <p class="sent">{ change.to_string() }</p> }) }
            if more > 0 {
                <p>{ label::and_more(&more) }</p>
            }
        </>
    }
}
