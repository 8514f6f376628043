//! The options of a client after "the object has been modified".

use optimist_messages::{diagnose as messages, label};
use yew::{Html, classes, html};

use super::messages::{command, instruction};
use crate::state::{DiagnoseMsg, NextOutcome, NextRun, Sends, StateHandle};

/// Draws each next write.
pub(super) fn next_writes(store: &StateHandle, run: &NextRun) -> Html {
    html! {
        <section class="ways-out" aria-label={label::next_title()}>
            <h2>{ label::next_title() }</h2>
            <p class="says">{ label::next_says() }</p>
            { for run.done.iter().map(|one| next_write(store, one)) }
            if run.is_running() {
                <p class="says progress" role="status">{ label::next_running() }</p>
            }
        </section>
    }
}

fn next_write(store: &StateHandle, one: &NextOutcome) -> Html {
    let attempt = &one.attempt;
    let (title, says) = messages::next_write(attempt.method).unwrap_or_default();
    let (card, says_class) = match attempt.code {
        _ if attempt.settles() => (Some("settles"), "ok"),
        code if code >= 300 => (None, "refused"),
        _ => (Some("loses"), "lost"),
    };
    html! {
        <article class={classes!("way-out", card)}>
            <h3>{ title.clone() }</h3>
            <p>{ says }</p>
            <p class={says_class}>{ messages::next_outcome(attempt) }</p>
            { for one.commands.iter().map(instruction) }
            if let Some(go) = one.go.clone() {
                <details>
                    <summary>{ label::next_go() }</summary>
                    { command(go) }
                </details>
            }
            <div class="row-actions">
                <button
                    type="button"
                    class="button"
                    aria-label={label::ways_step_through(&title)}
                    onclick={store.sends(DiagnoseMsg::StepNext(attempt.method))}
                >
                    { label::ways_step() }
                </button>
            </div>
        </article>
    }
}
