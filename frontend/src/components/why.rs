//! Why the server answered as it did: the facts that it noted where it decided.

use optimist_core::sim::{Outcome, Step};
use yew::{Html, classes, html};

use super::watch;

/// The facts of a step, or the server's own words where it noted none.
fn facts(step: &Step) -> Vec<String> {
    if step.actor().is_none() {
        return watch::words::why(step);
    }
    let facts: Vec<String> = step.facts().iter().map(ToString::to_string).collect();
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
pub(crate) fn why(step: &Step) -> Html {
    html! {
        <section class={classes!("why", tone(step.outcome()))} aria-label="Why">
            <h3>{ "Why" }</h3>
            { for facts(step).iter().map(|fact| html! { <p>{ fact }</p> }) }
        </section>
    }
}
