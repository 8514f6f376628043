//! Writes the findings of an audit log.

use optimist_apiserver::environment::Timestamp;
use optimist_diagnose::audit::findings::Findings;
use optimist_diagnose::audit::recorded::{CoreAnswer, RecordedStep};
use optimist_diagnose::lanes::Pace;
use optimist_exports::markdown;
use optimist_messages::{diagnose as messages, field, label};
use optimist_state::AuditReplay;

use crate::document::{CaseDocument, head};
use crate::history::{fight, values};

/// The most requests that are listed.
const MAX_STEPS: usize = 400;

/// The most findings of one kind that are listed.
const MAX_LISTED: usize = 40;

pub(crate) fn log(out: &mut CaseDocument, replay: &AuditReplay) {
    out.heading(3, &label::audit_title());
    out.says(&messages::audited(&replay.history.object));
    let (same, other, not_run) = replay.history.counts();
    out.says(&label::audit_counts(&same, &other, &not_run));
    let log = &replay.log;
    let others = log
        .objects()
        .into_iter()
        .filter(|(object, writes)| *writes > 0 && !object.is(&replay.history.object));
    match others.count() {
        0 => {}
        others => out.says(&label::audit_others(&others)),
    }
    if log.cut {
        out.says(&label::audit_cut());
    }
    if log.skipped > 0 {
        let first = log.problems.first().map(ToString::to_string);
        out.says(&label::audit_skipped(
            &log.skipped,
            &first.unwrap_or_default(),
        ));
    }
    if replay.history.schemaless {
        out.says(&label::audit_schemaless());
    }
    findings(out, replay);
    steps(out, replay);
}

fn findings(out: &mut CaseDocument, replay: &AuditReplay) {
    let found = &replay.findings;
    let who = |step: usize| messages::sender(&replay.history, &replay.lanes, step);
    if nothing(found) {
        out.says(&label::audit_nothing());
    }
    if found.without_reads {
        out.says(&label::audit_no_reads());
    }
    for one in &found.fights {
        let steps = found.changes.iter();
        let steps = steps.filter(|(_, change)| change.field == one.field);
        let steps: Vec<usize> = steps.map(|(step, _)| *step).collect();
        let first = steps.first().map_or(0, |at| at + 1);
        let last = steps.last().map_or(first, |at| at + 1);
        let pace = Pace::measure(&replay.lanes, &steps);
        // The log does not have the version of each step.
        fight(
            out,
            one,
            &label::fight_steps(&one.flips, &first, &last),
            pace,
        );
    }
    let lost = found.lost.iter();
    let lost = lost.map(|one| messages::lost_update(one, &who(one.written), &who(one.lost)));
    listed(out, &label::audit_lost_title(), lost.collect());
    let loops = found.loops.iter().map(|hot| {
        let first = hot.steps.first().copied().unwrap_or_default();
        messages::hot_loop(hot, &who(first))
    });
    listed(out, &label::audit_loops_title(), loops.collect());
    let conflicts = found.conflicts.iter();
    let conflicts = conflicts.map(|one| messages::recorded_conflict(one, &who(one.step)));
    listed(out, &label::audit_conflicts_title(), conflicts.collect());
    if !found.unchanged.is_empty() {
        out.says(&label::audit_unchanged(&found.unchanged.len()));
    }
}

fn nothing(found: &Findings) -> bool {
    found.fights.is_empty()
        && found.lost.is_empty()
        && found.loops.is_empty()
        && found.conflicts.is_empty()
}

fn listed(out: &mut CaseDocument, title: &str, all: Vec<String>) {
    if all.is_empty() {
        return;
    }
    out.heading(4, title);
    for one in all.iter().take(MAX_LISTED) {
        out.bullet(one);
    }
    out.end();
    let more = all.len().saturating_sub(MAX_LISTED);
    if more > 0 {
        out.says(&label::audit_more(&more));
    }
}

/// Every request, oldest first.
fn steps(out: &mut CaseDocument, replay: &AuditReplay) {
    let all = &replay.history.steps;
    let mut table = head(&[
        String::new(),
        label::happened_time(),
        label::happened_who(),
        label::report_request(),
        label::ways_answer(),
        label::happened_value(),
        label::report_here(),
    ]);
    for (at, step) in all.iter().enumerate().take(MAX_STEPS) {
        table.push_str(&markdown::row(&row(replay, at, step)));
    }
    let mut inner = CaseDocument::default();
    inner.block(&table);
    let more = all.len().saturating_sub(MAX_STEPS);
    if more > 0 {
        inner.says(&label::audit_more(&more));
    }
    out.folded(&label::audit_steps(&all.len()), inner);
}

/// The cells of a request.
fn row(replay: &AuditReplay, at: usize, step: &RecordedStep) -> Vec<String> {
    let Some(event) = replay.log.events.get(step.event) else {
        return Vec::new();
    };
    let changes = replay.findings.changes.iter().filter(|(of, _)| *of == at);
    let changes =
        changes.map(|(_, change)| format!("{}: {}", field(&change.field), values(change)));
    let changes: Vec<String> = changes.collect();
    let code = event.code;
    let code = code.map_or_else(label::ways_nothing_sent, |code| code.to_string());
    let (word, says) = messages::prediction(&step.prediction);
    let here = match &step.prediction {
        CoreAnswer::Same { .. } => word,
        _ => format!("{word}. {says}"),
    };
    let received = Timestamp {
        seconds: event.received / 1_000_000,
    };
    vec![
        (at + 1).to_string(),
        received.to_string(),
        markdown::text(&messages::sender(&replay.history, &replay.lanes, at)),
        markdown::text(&messages::asked(step, event)),
        code,
        markdown::text(&changes.join("; ")),
        markdown::text(&here),
    ]
}
