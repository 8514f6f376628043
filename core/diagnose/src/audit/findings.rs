//! Findings in a recorded history: fights, lost updates, conflicts and the reactions of clients to
//! them, writes that changed nothing, hot loops.

use std::sync::Arc;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::patch::names_version;
use serde_json::Value;

pub use super::lost_updates::LostUpdateFinding;
use super::lost_updates::LostUpdateSearch;
use super::recorded::{RecordedHistory, RecordedStep};
use super::{AuditEvent, AuditLog};
use crate::case::{Case, InstallProgress, Installed, ObjectId, PartialInstall};
use crate::fight_remedy::RemedyRun;
use crate::observed::{FieldChange, Fight, changes_at, fights_of_each};

/// The findings in a history. Steps are positions in [`RecordedHistory::steps`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Every change of a field with the step that made it, in their order.
    pub changes: Vec<(usize, FieldChange)>,
    /// The fields that managers set in turn, the most flips first.
    pub fights: Vec<Fight>,
    /// The lost updates.
    pub lost: Vec<LostUpdateFinding>,
    /// `true` if the log has no read of anything, as the policies of many clusters want it. It does not show then which
    /// client knew what it replaced, so no update is said to be lost.
    pub without_reads: bool,
    /// The conflicts (409).
    pub conflicts: Vec<RecordedConflict>,
    /// The steps of accepted writes that changed nothing.
    pub unchanged: Vec<usize>,
    /// The same request, sent again and again.
    pub loops: Vec<HotLoop>,
}

/// A conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedConflict {
    /// The step that was refused.
    pub step: usize,
    /// The client's reaction.
    pub reaction: Reaction,
    /// The step of its next write; `None` if there is none.
    pub next: Option<usize>,
}

/// The reaction of a client to a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reaction {
    /// It read the object, and wrote again.
    ReadAgain,
    /// It sent the same request again.
    SentAgain,
    /// It applied with force.
    Forced,
    /// It wrote without the version that was refused.
    WithoutVersion,
    /// It wrote something else, and the log has no read of it in between.
    WroteOtherwise,
    /// It wrote again, and the log has no read of it in between, and not both bodies (level Metadata).
    WroteAgain,
    /// It wrote no more.
    GaveUp,
}

/// The same request, sent again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotLoop {
    /// The client, as a position in [`RecordedHistory::clients`].
    pub client: usize,
    /// The steps.
    pub steps: Vec<usize>,
    /// The number of them that changed the object; `None` if the log does not show it of each.
    pub changes: Option<usize>,
    /// The time from the first to the last, in microseconds.
    pub lasted: u64,
}

/// The fewest requests that are a loop.
pub const MIN_REPEATS: usize = 5;

/// The most different requests that are followed at the same time.
const MAX_OPEN: usize = 100;

/// The longest pause between two requests of a loop, in microseconds.
pub const MAX_PAUSE: u64 = 10_000_000;

impl Findings {
    /// Searches a history of a log for findings.
    pub fn search(history: &RecordedHistory, log: &AuditLog) -> Self {
        let mut partial = PartialFindings::default();
        while partial.advance(history, log) {}
        partial.findings
    }

    /// Searches like [`search`](Self::search), without the ways out of the fights.
    pub(crate) fn without_remedies(history: &RecordedHistory, log: &AuditLog) -> Self {
        let mut partial = PartialFindings::default();
        while !matches!(partial.part, FindingsPart::Fit(_)) && partial.advance(history, log) {}
        partial.findings
    }

    /// The changes of a step.
    pub fn changes_of(&self, step: usize) -> &[(usize, FieldChange)] {
        changes_at(&self.changes, step)
    }

    fn only_changes(&self) -> Vec<FieldChange> {
        let changes = self.changes.iter();
        changes.map(|(_, change)| change.clone()).collect()
    }
}

/// Findings that are searched for in parts, each short enough for a page.
#[derive(Debug, Default)]
pub struct PartialFindings {
    /// The findings so far.
    pub findings: Findings,
    part: FindingsPart,
}

/// The next part of a search for findings, with the changes of the findings alone.
#[derive(Debug, Default)]
enum FindingsPart {
    #[default]
    Fights,
    Lost(Vec<FieldChange>, Box<LostUpdateSearch>),
    Others(Vec<FieldChange>),
    /// The newest version of the object is to be put on a server, where the ways out of the fights are run.
    Fit(Vec<FieldChange>),
    Install(Vec<FieldChange>, Box<PartialInstall>),
    Remedies(Vec<FieldChange>, Box<Installed>, Box<RemedyRun>),
    Done,
}

impl PartialFindings {
    /// Searches the next part, with the same history at each call. Returns whether there is more.
    pub fn advance(&mut self, history: &RecordedHistory, log: &AuditLog) -> bool {
        let (steps, found) = (&history.steps, &mut self.findings);
        self.part = match std::mem::take(&mut self.part) {
            FindingsPart::Fights => {
                for (at, step) in steps.iter().enumerate() {
                    let changes = step.changes.iter().map(|change| (at, change.clone()));
                    found.changes.extend(changes);
                }
                let objects = history.objects();
                found.fights = fights_of_each(&found.changes, |step| objects[step]);
                found.without_reads = !has_reads(log);
                let changes = found.only_changes();
                match found.without_reads {
                    true => FindingsPart::Others(changes),
                    false => FindingsPart::Lost(changes, Box::new(LostUpdateSearch::new(history))),
                }
            }
            FindingsPart::Lost(changes, mut search) => {
                match search.advance(history, log, &mut found.lost) {
                    true => FindingsPart::Lost(changes, search),
                    false => FindingsPart::Others(changes),
                }
            }
            FindingsPart::Others(changes) => {
                found.conflicts = conflicts(steps, log);
                found.unchanged = unchanged(steps, log);
                found.loops = loops(steps, log);
                match found.fights.is_empty() {
                    true => FindingsPart::Done,
                    false => FindingsPart::Fit(changes),
                }
            }
            FindingsPart::Fit(changes) => match fit_newest(steps) {
                Some(begun) => FindingsPart::Install(changes, Box::new(begun)),
                None => FindingsPart::Done,
            },
            FindingsPart::Install(changes, begun) => match begun.advance() {
                Ok(InstallProgress::More(more)) => FindingsPart::Install(changes, more),
                Ok(InstallProgress::Done(on)) => {
                    FindingsPart::Remedies(changes, on, Box::default())
                }
                Err(_) => FindingsPart::Done,
            },
            FindingsPart::Remedies(changes, on, mut run) => {
                match run.advance(&mut found.fights, &changes, &on.world) {
                    true => FindingsPart::Remedies(changes, on, run),
                    false => FindingsPart::Done,
                }
            }
            FindingsPart::Done => FindingsPart::Done,
        };
        !matches!(self.part, FindingsPart::Done)
    }
}

/// Makes the newest version of the object ready for a server of its own.
fn fit_newest(steps: &[Arc<RecordedStep>]) -> Option<PartialInstall> {
    let newest = steps.iter().rev().find_map(|step| step.after.as_deref())?;
    let mut case = Case::blank(ObjectId::from_object(newest));
    case.live = Some(newest.clone());
    case.begin_install().ok()
}

/// The steps of accepted writes that changed nothing.
fn unchanged(steps: &[Arc<RecordedStep>], log: &AuditLog) -> Vec<usize> {
    let unchanged = steps.iter().enumerate().filter(|(_, step)| {
        let event = &log.events[step.event];
        event.is_accepted()
            && event.is_write()
            && !event.is_dry_run()
            && step.changed() == Some(false)
    });
    unchanged.map(|(at, _)| at).collect()
}

/// Returns whether a log has reads, of any object.
fn has_reads(log: &AuditLog) -> bool {
    let mut verbs = log.events.iter().map(|event| event.verb.as_str());
    verbs.any(|verb| matches!(verb, "get" | "list" | "watch"))
}

/// Returns whether a write names the version that it is based on.
fn carries_version(event: &AuditEvent) -> bool {
    event.request.as_deref().is_some_and(names_version)
}

/// Finds the conflicts, with what the same user did next as the same manager. What it read with the same program counts,
/// too, unless the program writes as several managers: a read has none, so it can be anyone's.
fn conflicts(steps: &[Arc<RecordedStep>], log: &AuditLog) -> Vec<RecordedConflict> {
    let mut found = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let event = &log.events[step.event];
        if event.code != Some(409) || !event.is_write() {
            continue;
        }
        let is_shared = steps.iter().any(|other| {
            let event_of_other = &log.events[other.event];
            let writes_as_another = event_of_other.manager() != event.manager();
            other.client == step.client && event_of_other.is_write() && writes_as_another
        });
        let after = steps.iter().enumerate().skip(at + 1);
        let own = after.filter(|(_, other)| {
            let later = &log.events[other.event];
            let reads_as_same = !is_shared && !later.is_write() && other.client == step.client;
            reads_as_same || later.user == event.user && later.manager() == event.manager()
        });
        let mut read = false;
        let mut next = None;
        for (later, other) in own {
            let other = &log.events[other.event];
            if other.is_write() {
                next = Some((later, other));
                break;
            }
            read |= other.verb == "get" || other.verb == "list";
        }
        let reaction = match next {
            None => Reaction::GaveUp,
            Some((_, other)) if forces(other) && !forces(event) => Reaction::Forced,
            Some(_) if read => Reaction::ReadAgain,
            Some((_, other)) if !(event.has_request() && other.has_request()) => {
                Reaction::WroteAgain
            }
            Some((_, other)) if other.uri == event.uri && other.request == event.request => {
                Reaction::SentAgain
            }
            Some((_, other)) if carries_version(event) && !carries_version(other) => {
                Reaction::WithoutVersion
            }
            Some(_) => Reaction::WroteOtherwise,
        };
        found.push(RecordedConflict {
            step: at,
            reaction,
            next: next.map(|(later, _)| later),
        });
    }
    found
}

fn forces(event: &AuditEvent) -> bool {
    event.query("force").as_deref() == Some("true")
}

fn loops(steps: &[Arc<RecordedStep>], log: &AuditLog) -> Vec<HotLoop> {
    let mut open: Vec<(usize, &AuditEvent, Value, HotLoop)> = Vec::new();
    let mut found = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let event = &log.events[step.event];
        if !event.is_write() || !event.has_request() {
            continue;
        }
        let body = without_version(event);
        let known = open.iter().position(|(client, last, known, _)| {
            *client == step.client
                && last.verb == event.verb
                && last.uri == event.uri
                && *known == body
                && event.received.saturating_sub(last.received) <= MAX_PAUSE
        });
        let refused = event.code.is_some_and(|code| (400..500).contains(&code));
        let changed = if refused { Some(false) } else { step.changed() }.map(usize::from);
        match known {
            Some(known) => {
                let (_, last, _, hot) = &mut open[known];
                hot.lasted += event.received.saturating_sub(last.received);
                hot.steps.push(at);
                hot.changes = hot.changes.zip(changed).map(|(known, one)| known + one);
                *last = event;
            }
            None => {
                if open.len() == MAX_OPEN {
                    found.push(open.remove(0).3);
                }
                let hot = HotLoop {
                    client: step.client,
                    steps: vec![at],
                    changes: changed,
                    lasted: 0,
                };
                open.push((step.client, event, body, hot));
            }
        }
    }
    found.extend(open.into_iter().map(|(.., hot)| hot));
    found.retain(|hot| hot.steps.len() >= MIN_REPEATS);
    found.sort_by_key(|hot| std::cmp::Reverse(hot.steps.len()));
    found
}

/// The body of a request without the version that it is based on.
fn without_version(event: &AuditEvent) -> Value {
    let mut body = event.request.as_deref().cloned().unwrap_or_default();
    if body.get("metadata").is_some_and(Value::is_object) {
        for field in ["resourceVersion", "managedFields", "generation"] {
            body.metadata_mut().remove(field);
        }
    }
    body
}
