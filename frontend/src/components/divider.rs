//! The line between the cards and the timeline, which moves.

use optimist_messages::label;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::{Callback, Html, KeyboardEvent, PointerEvent, TargetCast, html};

use crate::state::{CARDS, CARDS_AT_FIRST, Sends, StateHandle, ViewMsg};

/// The distance that a key moves the divider, in percent of the height of both parts.
const STEP: u8 = 4;

/// Draws the line.
pub(crate) fn divider(store: &StateHandle) -> Html {
    let height = store.view.cards.unwrap_or(CARDS_AT_FIRST);
    let dispatcher = store.dispatcher();
    let onpointerup = Callback::from(move |event: PointerEvent| {
        if let Some((_, height)) = dragged(&event) {
            dispatcher.send(ViewMsg::Cards(Some(height)));
        }
    });
    html! {
        <div
            class="divider"
            role="separator"
            tabindex="0"
            aria-label={label::divider()}
            aria-orientation="horizontal"
            aria-controls="history"
            aria-valuemin={CARDS.start().to_string()}
            aria-valuemax={CARDS.end().to_string()}
            aria-valuenow={height.to_string()}
            title={label::divider()}
            onkeydown={keys(store, height)}
            onpointerdown={Callback::from(capture_pointer)}
            onpointermove={Callback::from(drag)}
            {onpointerup}
            ondblclick={store.sends(ViewMsg::Cards(None))}
        />
    }
}

fn keys(store: &StateHandle, height: u8) -> Callback<KeyboardEvent> {
    let dispatcher = store.dispatcher();
    Callback::from(move |event: KeyboardEvent| {
        let wanted = match event.key().as_str() {
            "ArrowUp" => Some(height.saturating_sub(STEP)),
            "ArrowDown" => Some(height.saturating_add(STEP)),
            "Home" => Some(*CARDS.start()),
            "End" => Some(*CARDS.end()),
            "Enter" => None,
            _ => return,
        };
        event.prevent_default();
        dispatcher.send(ViewMsg::Cards(wanted));
    })
}

/// Captures the pointer, so that it stays with the line until it lets go.
fn capture_pointer(event: PointerEvent) {
    if let Some(line) = event.target_dyn_into::<Element>() {
        // It fails only for a pointer that is gone.
        let _ = line.set_pointer_capture(event.pointer_id());
    }
}

/// While it moves, only the style follows: the page is drawn once, at the end.
fn drag(event: PointerEvent) {
    if let Some((stage, height)) = dragged(&event) {
        // Only an invalid name could fail here.
        let _ = stage.style().set_property("--cards", &format!("{height}%"));
    }
}

/// Returns the element around the divider and the height of the cards at the pointer, in percent.
fn dragged(event: &PointerEvent) -> Option<(HtmlElement, u8)> {
    let line = event.target_dyn_into::<Element>()?;
    if !line.has_pointer_capture(event.pointer_id()) {
        return None;
    }
    let stage = line.parent_element()?.dyn_into::<HtmlElement>().ok()?;
    let around = stage.get_bounding_client_rect();
    let cards = stage.query_selector(".cards").ok()??;
    let above = cards.get_bounding_client_rect().top();
    let share = (f64::from(event.client_y()) - above) / around.height().max(1.0);
    let height = (share * 100.0).round().clamp(0.0, 100.0) as u8;
    Some((stage, height.clamp(*CARDS.start(), *CARDS.end())))
}
