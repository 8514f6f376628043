//! Why the server answered as it did: the facts that it noted where it decided.

use optimist_client::visible;
use optimist_simulation::{Outcome, Step};
use yew::{Html, classes, html};

use super::watch;
use crate::state::StateHandle;
use crate::words;

/// The facts of a step, or the server's own words where it noted none.
fn facts(step: &Step) -> Vec<String> {
    if step.actor().is_none() {
        return watch::words::why(step);
    }
    let refused = step.outcome() == Outcome::Refused;
    let facts = step
        .facts()
        .iter()
        .filter(|fact| !refused || fact.refuses());
    let facts: Vec<String> = facts.map(ToString::to_string).collect();
    if !facts.is_empty() {
        return facts;
    }
    let message = step
        .message()
        .map(|message| format!("The server says: {message}"));
    message.into_iter().collect()
}

/// The tone of an outcome.
pub(crate) fn tone(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Read | Outcome::Unchanged | Outcome::Done => "plain",
        Outcome::Written => "ok",
        Outcome::Refused => "refused",
    }
}

/// The card that says why.
#[inline(never)] // not on the first screen
pub(crate) fn why(store: &StateHandle, step: &Step) -> Html {
    let lost = !step.losses.is_empty();
    let tone = if lost { "lost" } else { tone(step.outcome()) };
    html! {
        <section class={classes!("why", tone)} aria-label="Why">
            <h3>{ "Why" }</h3>
            { for step.losses.iter().map(|loss| html! { <p>{ words::loss(store, step, loss) }</p> }) }
            { for words::replaced(store, step).map(|replaced| html! { <p>{ replaced }</p> }) }
            { for words::left_out(step).map(|left| html! { <p>{ left }</p> }) }
            { for facts(step).iter().map(|fact| html! { <p>{ visible(fact).into_owned() }</p> }) }
        </section>
    }
}
