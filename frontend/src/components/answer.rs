//! The answer of the server and its reason, above the details of the request.

use optimist_client::visible;
use optimist_messages::{self as messages, label};
use optimist_simulation::{EditResult, Exchange, Outcome, Step};
use yew::{Html, classes, html};

use super::icon::{Icon, icon};
use crate::state::StateHandle;

/// The tone of an outcome.
pub(crate) fn tone(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Read | Outcome::Unchanged | Outcome::Done => "plain",
        Outcome::Written => "ok",
        Outcome::Refused => "refused",
    }
}

/// The answer of a step, and under it why the server gave it.
pub(crate) fn answer(store: &StateHandle, step: &Step) -> Html {
    let tone = match step.losses.is_empty() {
        true => tone(step.outcome()),
        false => "lost",
    };
    let why = why(store, step);
    html! {
        <>
            if let Some(exchange) = &step.exchange {
                <section class={classes!("answer-head", tone)} aria-label={label::answer()}>
                    <p>
                        <b class="status-line">
                            { step.status_line() }
                            if step.outcome() == Outcome::Refused {
                                { icon(Icon::Cross) }
                            }
                        </b>
                        { " " }
                        <code class="muted">{ request_of(exchange) }</code>
                    </p>
                    if let Some(message) = step.message() {
                        <p class="message">{ visible(message).into_owned() }</p>
                    }
                </section>
            }
            if !why.is_empty() {
                <section class="why" aria-label={label::why()}>
                    <h3>{ label::why() }</h3>
                    { for why.iter().map(|text| html! { <p>{ visible(text).into_owned() }</p> }) }
                </section>
            }
        </>
    }
}

/// `PUT …/nginx-deployment`: the whole path is with the request.
fn request_of(exchange: &Exchange) -> String {
    let path = exchange.target.split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path.rsplitn(3, '/').collect();
    let short = match parts.as_slice() {
        [subresource @ ("status" | "scale"), name, _] => format!("…/{name}/{subresource}"),
        [name, ..] => format!("…/{name}"),
        [] => String::new(),
    };
    format!("{} {}", exchange.method, visible(&short))
}

/// Returns the facts that the server noted for its decision, and the effects on edits that the
/// caption leaves out: it names one lost update only, and a lesson has other things to tell.
fn why(store: &StateHandle, step: &Step) -> Vec<String> {
    let taught = store.learn.learning().is_some();
    let results = step.edit_results().into_iter().enumerate();
    let untold = results
        .filter(|(i, result)| taught || (*i > 0 && matches!(result, EditResult::Lost { .. })));
    let untold = untold.map(|(_, result)| messages::edit_result(&result, store.world()));
    untold.chain(facts(step)).collect()
}

fn facts(step: &Step) -> Vec<String> {
    if step.actor().is_none() {
        return step.reason().map(messages::reason).into_iter().collect();
    }
    messages::facts(step)
}
