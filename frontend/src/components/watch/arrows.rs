//! Watching in the timeline: events leave the server's lane for the eye beside it.

use std::sync::Arc;

use optimist_apiserver::server::EventType;
use optimist_simulation::Received;
use yew::{Html, classes, html};

use crate::components::icon::{Icon, icon};

/// More events than this in one step are counted, not drawn.
const DRAWN: usize = 3;

/// The data that a row needs to draw the events of its step.
#[derive(Clone, PartialEq)]
pub(crate) struct EventArrows {
    /// Their words, and whether they are errors.
    drawn: Vec<(String, bool)>,
    more: usize,
}

/// The number of lines for a number of events.
pub(crate) fn lines(events: usize) -> usize {
    events.min(DRAWN + 1)
}

impl EventArrows {
    pub(crate) fn new(arrived: &[Arc<Received>]) -> Self {
        let drawn = arrived.iter().take(DRAWN).map(|received| {
            let is_error = received.event.event_type == EventType::Error;
            (optimist_messages::event(received), is_error)
        });
        Self {
            drawn: drawn.collect(),
            more: arrived.len().saturating_sub(DRAWN),
        }
    }

    /// Returns the number of lines that they take.
    pub(crate) fn lines(&self) -> usize {
        lines(self.drawn.len() + self.more)
    }

    /// The words of the arrows, in order.
    pub(crate) fn texts(&self) -> Vec<String> {
        let drawn = self.drawn.iter().map(|(text, _)| text.clone());
        drawn.chain(self.more_words()).collect()
    }

    fn more_words(&self) -> Option<String> {
        (self.more > 0).then(|| optimist_messages::label::events_more(&self.more))
    }

    /// Draws the arrows. The sentence of the step has their meaning.
    pub(crate) fn draw(&self) -> Html {
        html! {
            <span class="heard" aria-hidden="true">
                { for self.drawn.iter().map(|(text, is_error)| html! {
                    <span class={classes!("heard-event", is_error.then_some("refused"))}>
                        <svg width="46" height="10">
                            <line x1="0" y1="5" x2="40" y2="5" />
                            <path d="M46 5 37 .5v9z" />
                        </svg>
                        { icon(Icon::Eye) }
                        <span>{ text.clone() }</span>
                    </span>
                }) }
                if let Some(more) = self.more_words() {
                    <span class="heard-event more">{ more }</span>
                }
            </span>
        }
    }
}

/// Returns the texts in [`sent`].
pub(crate) fn sent_texts(events: &[(String, bool)]) -> Vec<String> {
    let texts = events.iter().map(|(text, has_arrived)| match has_arrived {
        true => text.clone(),
        false => format!("{text} {}", optimist_messages::label::event_on_the_way()),
    });
    texts.collect()
}

/// The events of a step for a controller: arrows from the server's lane. Those that have arrived end
/// at the controller's lane, the others at a circle before it.
pub(crate) fn sent(events: &[(String, bool)]) -> Html {
    html! {
        <span class="sent" aria-hidden="true">
            { for events.iter().map(|(text, has_arrived)| html! {
                <span class={classes!("sent-event", (!has_arrived).then_some("on-the-way"))}>
                    <i />
                    // With spaces, or words of two elements would be one word.
                    <span>{ format!(" {text} ") }</span>
                    <i />
                    <b />
                    if !has_arrived {
                        <em>{ optimist_messages::label::event_on_the_way() }</em>
                    }
                </span>
            }) }
        </span>
    }
}
