//! What an audit log shows: what stands out, and every request with the core beside it.

use optimist_apiserver::apply::Manager;
use optimist_apiserver::environment::Timestamp;
use optimist_apiserver::object::Metadata;
use optimist_client::visible;
use optimist_diagnose::audit::recorded::{CoreAnswer, RecordedStep};
use optimist_diagnose::audit::{AuditEvent, AuditLog};
use optimist_diagnose::observed::Fight;
use optimist_messages::diagnose::{self as messages, written};
use optimist_messages::{field, label};
use yew::{Event, Html, classes, html};

use super::history::{marked, of_fight};
use crate::components::more::chosen;
use crate::state::{AuditReplay, AuditRun, DiagnoseMsg, Sends, StateHandle};

/// How many requests are drawn.
const MAX_STEPS: usize = 400;

/// How many findings of one kind are listed.
const MAX_LISTED: usize = 40;

/// Draws a log.
pub(super) fn audit(store: &StateHandle, run: &AuditRun) -> Html {
    html! {
        <section class="history" aria-label={label::audit_title()}>
            <h2>{ label::audit_title() }</h2>
            { progress(store, run) }
            { objects(store, run) }
            if run.cancelled {
                <p class="says">{ label::audit_cancelled() }</p>
            }
            if let Some(replay) = &run.replay {
                { replayed(replay) }
            }
        </section>
    }
}

fn progress(store: &StateHandle, run: &AuditRun) -> Html {
    let Some((done, total)) = run.progress() else {
        return Html::default();
    };
    let percent = done * 100 / total.max(1);
    let says = if run.is_reading() {
        label::audit_reading(&percent)
    } else {
        label::audit_replaying(&done, &total)
    };
    html! {
        <div class="progress">
            <progress value={done.to_string()} max={total.to_string()} aria-label={label::audit_title()} />
            <span>{ says }</span>
            <button
                type="button"
                class="button small"
                onclick={store.sends(DiagnoseMsg::CancelAudit)}
            >
                { label::search_cancel() }
            </button>
        </div>
    }
}

/// Which object of the log is looked at.
fn objects(store: &StateHandle, run: &AuditRun) -> Html {
    if run.objects.is_empty() {
        return match run.progress() {
            None => html! { <p class="says">{ label::audit_no_object() }</p> },
            Some(_) => Html::default(),
        };
    }
    let onchange = store.on(|event: Event| DiagnoseMsg::ChooseAudited(chosen(&event)));
    html! {
        <label class="field">
            <span>{ label::audit_object() }</span>
            <select aria-label={label::audit_object()} {onchange}>
                { for run.objects.iter().enumerate().map(|(i, (object, writes))| html! {
                    <option selected={i == run.chosen}>
                        { visible(&label::audit_writes(&messages::audited(object), writes)).into_owned() }
                    </option>
                }) }
            </select>
        </label>
    }
}

fn replayed(replay: &AuditReplay) -> Html {
    let (same, other, not_run) = replay.history.counts();
    let log = &replay.log;
    html! {
        <>
            <p class="says">{ label::audit_counts(&same, &other, &not_run) }</p>
            if log.cut {
                <p class="says">{ label::audit_cut() }</p>
            }
            if log.skipped > 0 {
                <p class="says">{ skipped(log) }</p>
            }
            if replay.history.schemaless {
                <p class="says">{ label::audit_schemaless() }</p>
            }
            { findings(replay) }
            { steps(replay) }
        </>
    }
}

fn skipped(log: &AuditLog) -> String {
    let first = log.problems.first().map(ToString::to_string);
    let first = first.unwrap_or_default();
    visible(&label::audit_skipped(&log.skipped, &first)).into_owned()
}

/// The managers of the writes, in the order of their first one.
fn managers(replay: &AuditReplay) -> Vec<&Manager> {
    let mut managers: Vec<&Manager> = Vec::new();
    for manager in replay
        .history
        .steps
        .iter()
        .filter_map(|it| it.manager.as_ref())
    {
        if !managers.contains(&manager) {
            managers.push(manager);
        }
    }
    managers
}

fn findings(replay: &AuditReplay) -> Html {
    let found = &replay.findings;
    let managers = managers(replay);
    let changes: Vec<_> = found
        .changes
        .iter()
        .map(|(_, change)| change.clone())
        .collect();
    let lost = found.lost.iter().map(|one| {
        messages::lost_update(
            one,
            &messages::sender(&replay.history, one.written),
            &messages::sender(&replay.history, one.lost),
        )
    });
    let loops = found.loops.iter().map(|hot| {
        let first = hot.steps.first().copied().unwrap_or_default();
        messages::hot_loop(hot, &messages::sender(&replay.history, first))
    });
    let conflicts = found
        .conflicts
        .iter()
        .map(|one| messages::recorded_conflict(one, &messages::sender(&replay.history, one.step)));
    let nothing = found.fights.is_empty()
        && found.lost.is_empty()
        && found.loops.is_empty()
        && found.conflicts.is_empty();
    html! {
        <>
            if nothing {
                <p class="says">{ label::audit_nothing() }</p>
            }
            { for found.fights.iter().map(|fight| {
                of_fight(&changes, begins(replay, fight).as_ref(), &managers, fight)
            }) }
            { listed(&label::audit_lost_title(), "lost", lost.collect()) }
            { listed(&label::audit_loops_title(), "", loops.collect()) }
            { listed(&label::audit_conflicts_title(), "", conflicts.collect()) }
            if !found.unchanged.is_empty() {
                <p class="says">{ label::audit_unchanged(&found.unchanged.len()) }</p>
            }
        </>
    }
}

/// The version before the first change of a field.
fn begins(replay: &AuditReplay, fight: &Fight) -> Option<String> {
    let mut changes = replay.findings.changes.iter();
    let (at, _) = changes.find(|(_, change)| change.field == fight.field)?;
    let before = replay.history.steps.get(*at)?.before.as_deref()?;
    Some(before.resource_version().to_owned())
}

fn listed(title: &str, class: &'static str, all: Vec<String>) -> Html {
    if all.is_empty() {
        return Html::default();
    }
    let more = all.len().saturating_sub(MAX_LISTED);
    html! {
        <div class={classes!("findings", class)}>
            <h3>{ title.to_owned() }</h3>
            <ul>
                { for all.iter().take(MAX_LISTED).map(|one| html! {
                    <li>{ visible(one).into_owned() }</li>
                }) }
            </ul>
            if more > 0 {
                <p class="says">{ label::audit_more(&more) }</p>
            }
        </div>
    }
}

/// Every request, oldest first.
fn steps(replay: &AuditReplay) -> Html {
    let all = &replay.history.steps;
    let managers = managers(replay);
    let more = all.len().saturating_sub(MAX_STEPS);
    let rows = all.iter().enumerate().take(MAX_STEPS);
    let rows = rows.filter_map(|(at, step)| {
        let event = replay.log.events.get(step.event)?;
        Some(row(replay, &managers, at, step, event))
    });
    html! {
        <details open={true}>
            <summary>{ label::audit_steps(&all.len()) }</summary>
            <ol class="recorded">{ for rows }</ol>
            if more > 0 {
                <p class="says">{ label::audit_more(&more) }</p>
            }
        </details>
    }
}

fn row(
    replay: &AuditReplay,
    managers: &[&Manager],
    at: usize,
    step: &RecordedStep,
    event: &AuditEvent,
) -> Html {
    let refused = event.code.is_some_and(|code| code >= 300);
    let (word, says) = messages::prediction(&step.prediction);
    let class = match &step.prediction {
        CoreAnswer::Same { .. } => "ok",
        CoreAnswer::Other { .. } => "refused",
        CoreAnswer::NotRun(_) => "muted",
    };
    let changed = replay.findings.changes.iter().filter(|(of, _)| *of == at);
    let version = step.after.as_deref();
    let version = version.map(|it| it.resource_version().to_owned());
    html! {
        <li class={classes!(refused.then_some("is-refused"))}>
            <span class="number">{ at + 1 }</span>
            <div>
                <p>
                    {
                        match &step.manager {
                            Some(manager) => marked(managers, Some(manager)),
                            None => html! { <span class="by">{ visible(&messages::sender(&replay.history, at)).into_owned() }</span> },
                        }
                    }
                    { " " }{ visible(&messages::asked(step, event)).into_owned() }{ " → " }
                    <b class={if refused { "refused" } else { "ok" }}>
                        { event.code.map_or_else(label::ways_nothing_sent, |code| code.to_string()) }
                    </b>
                    if let Some(version) = version.filter(|_| event.is_write() && !refused) {
                        { " · " }{ version }
                    }
                </p>
                { for changed.map(|(_, change)| html! {
                    <p class="code">
                        { field(&change.field) }{ ": " }
                        { written(change.before.as_ref()) }{ " → " }{ written(change.after.as_ref()) }
                    </p>
                }) }
                <p class="says">
                    <time>{ time(event.received) }</time>
                    { " · " }
                    <span {class} title={visible(&says).into_owned()}>{ word }</span>
                    if !matches!(step.prediction, CoreAnswer::Same { .. }) {
                        { ". " }{ visible(&says).into_owned() }
                    }
                </p>
            </div>
        </li>
    }
}

/// A time of the log, to the second.
fn time(micros: u64) -> String {
    Timestamp {
        seconds: micros / 1_000_000,
    }
    .to_string()
}
