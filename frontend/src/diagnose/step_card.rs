//! The step of a recorded history that is selected: the observation, and the core's explanation.

use optimist_apiserver::object::text;
use optimist_client::visible;
use optimist_diagnose::audit::recorded::{CoreAnswer, Difference, RecordedStep};
use optimist_diagnose::lanes::{LaneRow, RowOutcome};
use optimist_diagnose::observed::FieldChange;
use optimist_messages::diagnose::{self as messages, written};
use optimist_messages::lanes::{change_short, observed, observed_version};
use optimist_messages::{fact, label};
use yew::{Html, classes, html};

use super::recorded::Recorded;
use crate::state::{AuditReplay, CaseReading, CaseSection, DiagnoseMsg, Sends, StateHandle};

/// The maximum number of changes and differences that are listed.
const MAX_LISTED: usize = 40;

/// Draws the card of a row.
pub(super) fn step_card(store: &StateHandle, history: &Recorded, at: usize) -> Html {
    let Some((row, said)) = history.row(at).zip(history.text(at)) else {
        return Html::default();
    };
    let tone = match row.outcome {
        RowOutcome::Refused => "is-refused",
        _ if row.loses() => "is-lossy",
        RowOutcome::Written => "is-written",
        _ => "",
    };
    let title = label::recorded_step_of(&(at + 1), &history.len());
    let parts = [&said.who, &said.asked, &said.answer, &said.version];
    let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    html! {
        <article class={classes!("step-card", tone)} aria-label={title.clone()}>
            <h3>{ title }{ " · " }<span class="step-what">{ parts.join(" · ") }</span></h3>
            {
                match history {
                    Recorded::Log(replay) => of_request(store, replay, history, at),
                    Recorded::Versions(reading) => of_version(store, reading, history, row, at),
                }
            }
            <div class="row-actions">
                <button
                    type="button"
                    class="button small to-owners"
                    onclick={store.sends(DiagnoseMsg::Section(CaseSection::Owners))}
                >
                    { label::owners_title() }
                </button>
                <button
                    type="button"
                    class="link"
                    onclick={store.sends(DiagnoseMsg::SelectStep(None))}
                >
                    { label::recorded_newest() }
                </button>
            </div>
        </article>
    }
}

/// Shows a version: its time, its changes, and the way to a branch.
fn of_version(
    store: &StateHandle,
    reading: &CaseReading,
    history: &Recorded,
    row: &LaneRow,
    at: usize,
) -> Html {
    html! {
        <>
            <p class="says">{ observed_version(row) }</p>
            { changes(&history.changes_of(at)) }
            if reading.case.object_at(at).is_some() && reading.installed.is_ok() {
                <div class="row-actions">
                    { branch(store, label::versions_branch_title()) }
                </div>
            }
        </>
    }
}

/// The button that leaves the recorded history at the selected step.
fn branch(store: &StateHandle, title: String) -> Html {
    html! {
        <button type="button" class="button small" {title} onclick={store.sends(DiagnoseMsg::Branch)}>
            { label::log_branch() }
        </button>
    }
}

/// Shows a request: its body and answer, the changes, and the explanation.
fn of_request(store: &StateHandle, replay: &AuditReplay, history: &Recorded, at: usize) -> Html {
    let Some(step) = replay.history.steps.get(at) else {
        return Html::default();
    };
    let Some(event) = replay.log.events.get(step.event) else {
        return Html::default();
    };
    let message = event.response.as_deref();
    let message = message.filter(|answer| text(answer, "kind") == "Status");
    let message = message.map_or("", |answer| text(answer, "message"));
    html! {
        <>
            <p class="says">{ observed(event) }</p>
            if !message.is_empty() {
                <p class="message">{ visible(message).into_owned() }</p>
            }
            { changes(&history.changes_of(at)) }
            { stands_out(store, replay, history, at) }
            { why(step) }
            <div class="row-actions">
                if step.before.is_some() && step.exchange().is_some() && !event.object.name.is_empty() {
                    <button
                        type="button"
                        class="button small"
                        onclick={store.sends(DiagnoseMsg::StepRecorded)}
                    >
                        { label::recorded_play() }
                    </button>
                }
                if step.after.is_some() {
                    { branch(store, label::log_branch_title()) }
                }
            </div>
        </>
    }
}

/// The fields that changed.
fn changes(changes: &[&FieldChange]) -> Html {
    if changes.is_empty() {
        return Html::default();
    }
    let more = changes.len().saturating_sub(MAX_LISTED);
    html! {
        <>
            <h4>{ label::recorded_changes() }</h4>
            <ul class="step-changes">
                { for changes.iter().take(MAX_LISTED).map(|change| html! {
                    <li title={visible(&change.field.to_string()).into_owned()}>
                        <code>{ change_short(change) }</code>
                    </li>
                }) }
            </ul>
            if more > 0 {
                <p class="says">{ label::happened_more(&more) }</p>
            }
        </>
    }
}

/// Draws the findings about the step.
fn stands_out(store: &StateHandle, replay: &AuditReplay, history: &Recorded, at: usize) -> Html {
    let sender = store.dispatcher();
    let who = |step: usize| messages::sender(&replay.history, &replay.lanes, step);
    let lost = replay.findings.lost.iter();
    let lost = lost.filter(|one| one.lost == at || one.written == at);
    let conflicts = replay
        .findings
        .conflicts
        .iter()
        .filter(|one| one.step == at);
    html! {
        <>
            { for lost.take(MAX_LISTED).map(|one| {
                let other = if one.lost == at { one.written } else { one.lost };
                let says = messages::lost_update(one, &who(one.written), &who(one.lost));
                html! {
                    <p class="lost">{ history.sentence(&says, &[other], &sender) }</p>
                }
            }) }
            { for conflicts.map(|one| {
                let says = messages::recorded_conflict(one, &who(one.step));
                html! { <p>{ history.sentence(&says, one.next.as_slice(), &sender) }</p> }
            }) }
        </>
    }
}

/// Shows the core's explanation: its facts if it gives the same answer, else the differences
/// between the answers.
fn why(step: &RecordedStep) -> Html {
    let (_, says) = messages::prediction(&step.prediction);
    let says = visible(&says).into_owned();
    let body = match &step.prediction {
        CoreAnswer::Same { exchange, .. } => {
            let refused = exchange.code >= 300;
            let facts = exchange.facts.iter();
            let facts = facts.filter(|fact| !refused || fact.refuses());
            html! {
                <>
                    { for facts.map(|one| html! { <p>{ visible(&fact(one)).into_owned() }</p> }) }
                    <p class="says">{ says }</p>
                </>
            }
        }
        CoreAnswer::Other { differences, .. } => difference_table(differences),
        CoreAnswer::NotRun(_) => html! { <p>{ says }</p> },
    };
    html! {
        <section class="why" aria-label={label::why()}>
            <h4>{ label::why() }</h4>
            { body }
        </section>
    }
}

fn difference_table(differences: &[Difference]) -> Html {
    let more = differences.len().saturating_sub(MAX_LISTED);
    html! {
        <>
            <p>{ label::recorded_differs() }</p>
            <table class="case-table">
                <thead>
                    <tr>
                        <th scope="col">{ label::recorded_place() }</th>
                        <th scope="col">{ label::recorded_there() }</th>
                        <th scope="col">{ label::recorded_here() }</th>
                    </tr>
                </thead>
                <tbody>
                    { for differences.iter().take(MAX_LISTED).map(|one| html! {
                        <tr>
                            <th scope="row" class="code">
                                {
                                    match one.pointer.as_str() {
                                        "" => label::audit_code(),
                                        pointer => visible(pointer).into_owned(),
                                    }
                                }
                            </th>
                            <td class="code">{ written(one.recorded.as_ref()) }</td>
                            <td class="code">{ written(one.core.as_ref()) }</td>
                        </tr>
                    }) }
                </tbody>
            </table>
            if more > 0 {
                <p class="says">{ label::audit_more(&more) }</p>
            }
        </>
    }
}
