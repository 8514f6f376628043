//! The three cards, whose rows stand beside each other and scroll together, and the narrow lanes.

use std::collections::BTreeMap;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use optimist_client::AlignedRows;
use optimist_simulation::ActorId;
use web_sys::Element;
use yew::{Html, Properties, component, html, use_effect_with, use_memo, use_node_ref};

use super::server_card::last_write;
use super::{controller_card, editor_card, narrow_lanes, server_card};
use crate::browser;
use crate::state::{StateHandle, aligned_rows, rows_of_changes};

/// The rows of all cards.
#[derive(Clone, PartialEq)]
pub(crate) struct CardRows {
    pub(crate) aligned: Rc<AlignedRows>,
    /// The number of characters for the notes beside values, by row: an earlier value, or the value
    /// in another card.
    pub(crate) changes: Rc<BTreeMap<String, usize>>,
}

#[derive(PartialEq, Properties)]
pub(crate) struct CardsProps {
    pub(crate) store: StateHandle,
}

#[component]
pub(crate) fn Cards(props: &CardsProps) -> Html {
    let store = &props.store;
    let aligned = use_memo(store.card_objects(), aligned_rows);
    let (marks, tone) = last_write(store);
    let edits = |editor| store.world().copy(editor).edits();
    let changed = [edits(ActorId::A), marks.clone(), edits(store.view.right)];
    let rows = CardRows {
        changes: Rc::new(rows_of_changes(&aligned, &changed)),
        aligned,
    };
    let cards = use_node_ref();
    use_effect_with(cards.clone(), |cards| {
        let listener = cards.cast::<Element>().map(|cards| {
            // Scrolling does not bubble.
            let options = EventListenerOptions {
                phase: EventListenerPhase::Capture,
                passive: true,
            };
            EventListener::new_with_options(&cards.clone(), "scroll", options, move |event| {
                browser::scroll_alike(&cards, ".card .yaml", event);
            })
        });
        move || drop(listener)
    });
    html! {
        <div class="cards" ref={cards}>
            { editor_card(store, ActorId::A, &rows) }
            { server_card(store, &rows, (marks, tone)) }
            { right(store, &rows) }
            { for narrow_lanes(store) }
        </div>
    }
}

/// The card of the right lane: an editor's or a controller's.
fn right(store: &StateHandle, rows: &CardRows) -> Html {
    let right = store.view.right;
    match store.world().controller(right) {
        Some(controller) => controller_card(store, (right, controller)),
        None => editor_card(store, right, rows),
    }
}
