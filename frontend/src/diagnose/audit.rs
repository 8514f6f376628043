//! The content of an audit log: its findings, and every request with the core's answer beside it.

use std::rc::Rc;

use optimist_client::visible;
use optimist_diagnose::audit::AuditLog;
use optimist_messages::diagnose as messages;
use optimist_messages::label;
use yew::{Event, Html, classes, html};

use super::history::{headlines, of_fight, steps};
use super::live_editor::live_editor;
use super::recorded::Recorded;
use crate::components::more::chosen;
use crate::state::{AuditReplay, AuditRun, DiagnoseMsg, Dispatcher, Sends, StateHandle};

/// The maximum number of findings of one kind that are listed.
const MAX_LISTED: usize = 40;

/// Draws a log, or the place of the requests to a running server that has had none yet. Both have one form: who
/// types in the editor when the first request comes goes on.
pub(super) fn audit(store: &StateHandle, run: Option<&AuditRun>) -> Html {
    let title = match run {
        Some(_) => label::audit_title(),
        None => label::card_served(),
    };
    html! {
        <section class="history" aria-label={title.clone()}>
            <h2>{ title }</h2>
            { served(store) }
            { live_editor(store) }
            if let Some(run) = run {
                { requests(store, run) }
            }
        </section>
    }
}

/// Draws the requests of a log.
fn requests(store: &StateHandle, run: &AuditRun) -> Html {
    html! {
        <>
            { progress(store, run) }
            { objects(store, run) }
            if run.cancelled {
                <p class="says">{ label::audit_cancelled() }</p>
            }
            if let Some(replay) = &run.replay {
                { replayed(store, replay) }
            }
        </>
    }
}

/// Says which part of the log of a running server is here.
fn served(store: &StateHandle) -> Html {
    let case = &store.diagnose;
    if case.awaits_requests() && case.audit.is_none() {
        return html! { <p class="says" role="status">{ label::live_none() }</p> };
    }
    if !case.items.iter().any(|item| item.live) {
        return Html::default();
    }
    html! {
        <>
            if case.live.restarted {
                <p class="says" role="status">{ label::audit_restarted() }</p>
            }
            if case.live.is_cut {
                <p class="says">{ label::audit_live_cut() }</p>
            }
        </>
    }
}

fn progress(store: &StateHandle, run: &AuditRun) -> Html {
    // While a log grows, what is known of it stays in sight.
    if run.replay.is_some() || !run.is_running() {
        return Html::default();
    }
    let progress = run.job().and_then(|job| store.jobs.progress(job));
    let (done, total) = progress.unwrap_or((0, 1));
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

/// Draws the choice of the log's object.
fn objects(store: &StateHandle, run: &AuditRun) -> Html {
    if run.objects.is_empty() {
        return match run.is_running() {
            true => Html::default(),
            false => html! { <p class="says">{ label::audit_no_object() }</p> },
        };
    }
    let onchange = store.on(|event: Event| DiagnoseMsg::ChooseAudited(chosen(&event)));
    html! {
        <label class="field">
            <span>{ label::audit_object() }</span>
            <select aria-label={label::audit_object()} {onchange}>
                { for run.objects.iter().enumerate().map(|(i, (object, writes))| html! {
                    <option selected={i == run.chosen}>
                        { messages::audited_writes(object, *writes) }
                    </option>
                }) }
            </select>
        </label>
    }
}

fn replayed(store: &StateHandle, replay: &Rc<AuditReplay>) -> Html {
    let recorded = Recorded::Log(Rc::clone(replay));
    let log = &replay.log;
    html! {
        <>
            { headlines(&replay.findings.fights) }
            { counts(replay) }
            if log.cut {
                <p class="says">{ label::audit_cut() }</p>
            }
            if log.skipped > 0 {
                <p class="says">{ skipped(log) }</p>
            }
            if replay.history.schemaless {
                <p class="says">{ label::audit_schemaless() }</p>
            }
            { steps(store, &recorded) }
            { findings(store, &recorded, replay) }
        </>
    }
}

fn skipped(log: &AuditLog) -> String {
    let first = log.problems.first().map(ToString::to_string);
    let first = first.unwrap_or_default();
    visible(&label::audit_skipped(&log.skipped, &first)).into_owned()
}

/// Counts the lost updates and the conflicts.
fn counts(replay: &AuditReplay) -> Html {
    let (lost, conflicts) = (replay.findings.lost.len(), replay.findings.conflicts.len());
    if lost + conflicts == 0 {
        return Html::default();
    }
    html! {
        <p class="counts">
            if lost > 0 {
                <span class="chip lost">{ label::count_lost(&lost) }</span>
            }
            if conflicts > 0 {
                <span class="chip refused">{ label::count_conflicts(&conflicts) }</span>
            }
        </p>
    }
}

fn findings(store: &StateHandle, recorded: &Recorded, replay: &AuditReplay) -> Html {
    let found = &replay.findings;
    let sender = store.dispatcher();
    let who = |step: usize| messages::sender(&replay.history, &replay.lanes, step);
    let lost = found.lost.iter().map(|one| {
        let says = messages::lost_update(one, &who(one.written), &who(one.lost));
        (says, vec![one.written, one.lost])
    });
    let loops = found.loops.iter().map(|hot| {
        let first = hot.steps.first().copied().unwrap_or_default();
        (messages::hot_loop(hot, &who(first)), vec![first])
    });
    let conflicts = found.conflicts.iter().map(|one| {
        let says = messages::recorded_conflict(one, &who(one.step));
        (
            says,
            [Some(one.step), one.next].into_iter().flatten().collect(),
        )
    });
    let listed = |title: String, class, all| listed(&sender, recorded, &title, class, all);
    let nothing = found.fights.is_empty()
        && found.lost.is_empty()
        && found.loops.is_empty()
        && found.conflicts.is_empty();
    html! {
        <>
            if nothing {
                <p class="says">{ label::audit_nothing() }</p>
            }
            if found.without_reads {
                <p class="says">{ label::audit_no_reads() }</p>
            }
            { for found.fights.iter().map(|fight| of_fight(&sender, recorded, fight)) }
            { listed(label::audit_lost_title(), "lost", lost.collect()) }
            { listed(label::audit_loops_title(), "", loops.collect()) }
            { listed(label::audit_conflicts_title(), "", conflicts.collect()) }
            if !found.unchanged.is_empty() {
                <p class="says">{ label::audit_unchanged(&found.unchanged.len()) }</p>
            }
        </>
    }
}

/// Findings of one kind. The steps that they name are links.
fn listed(
    sender: &Dispatcher,
    recorded: &Recorded,
    title: &str,
    class: &'static str,
    all: Vec<(String, Vec<usize>)>,
) -> Html {
    if all.is_empty() {
        return Html::default();
    }
    let more = all.len().saturating_sub(MAX_LISTED);
    html! {
        <div class={classes!("findings", class)}>
            <h3>{ title.to_owned() }</h3>
            <ul>
                { for all.iter().take(MAX_LISTED).map(|(says, steps)| html! {
                    <li>{ recorded.sentence(says, steps, sender) }</li>
                }) }
            </ul>
            if more > 0 {
                <p class="says">{ label::audit_more(&more) }</p>
            }
        </div>
    }
}
