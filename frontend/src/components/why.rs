//! Why the server answered as it did: the facts that it noted where it decided.

use optimist_client::visible;
use optimist_messages as messages;
use optimist_simulation::{Outcome, Step};
use yew::{Html, classes, html};

use crate::state::StateHandle;

/// The facts of a step, or the server's own words where it noted none.
fn facts(step: &Step) -> Vec<String> {
    if step.actor().is_none() {
        let message = step.message().map(messages::server_says);
        let why = message.or_else(|| step.reason().map(messages::reason));
        return why.into_iter().collect();
    }
    let refused = step.outcome() == Outcome::Refused;
    let facts = step
        .facts()
        .iter()
        .filter(|fact| !refused || fact.refuses());
    let facts: Vec<String> = facts.map(messages::fact).collect();
    if !facts.is_empty() {
        return facts;
    }
    let message = step.message().map(messages::server_says);
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
            { for step.edit_results().iter().map(|result| html! {
                <p>{ messages::edit_result(result, store.world()) }</p>
            }) }
            { for facts(step).iter().map(|fact| html! { <p>{ visible(fact).into_owned() }</p> }) }
        </section>
    }
}
