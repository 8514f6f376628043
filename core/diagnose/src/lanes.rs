//! A recorded history in lanes: one lane for each client, one row for each request or version that
//! was observed, in the order of time.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use optimist_apiserver::apply::{Manager, Managers, Path};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::EventType;
use optimist_apiserver::status::causes;
use serde_json::Value;

use crate::audit::findings::Findings;
use crate::audit::recorded::{CoreAnswer, KnownObject, RecordedHistory, RecordedStep};
use crate::audit::{AuditEvent, AuditLog};
use crate::observed::{FieldChange, ObservedVersion, changes_at};

/// The most lanes of clients. If there are more clients, the last lane is for all that write less.
pub const MAX_LANES: usize = 4;

/// Lanes and rows. Rows have the positions of [`RecordedHistory::steps`], or of the versions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedLanes {
    /// The lanes of the clients: in the order of their first row, the shared one last.
    pub lanes: Vec<ClientLane>,
    /// The rows, oldest first.
    pub rows: Vec<LaneRow>,
}

/// A lane.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientLane {
    /// The clients of the lane: one, or all that share it, those with the most writes first.
    pub clients: Vec<LaneClient>,
}

/// A client: a manager, and the user that it was as far as that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneClient {
    /// The field manager of its writes. A program that only reads has the one that it would have.
    pub manager: String,
    /// The user; empty where only versions were observed.
    pub user: String,
    /// The number of its rows.
    pub rows: usize,
    /// The number of its rows that are writes.
    pub writes: usize,
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneRow {
    /// The lanes of those that did it, as positions in [`RecordedLanes::lanes`]. Empty if
    /// `managedFields` do not show who made a version; more than one if several wrote it.
    pub lanes: Vec<usize>,
    /// The time of the row, in microseconds since 1970-01-01T00:00:00Z. For a request, the time when its
    /// answer was complete; for a version, the time in `managedFields`, to the second.
    pub time: Option<u64>,
    /// The outcome of the request.
    pub outcome: RowOutcome,
    /// The change in the version of the object, as far as it was observed.
    pub version: Option<VersionFate>,
    /// The fields of the updates that it lost.
    pub lost: Vec<Path>,
    /// The core's judgement.
    pub mark: CoreMark,
}

impl LaneRow {
    /// Returns whether it lost an update.
    pub fn loses(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Returns whether a change of it is a lost update, or a part of one.
    pub fn is_lost(&self, change: &FieldChange) -> bool {
        self.lost.iter().any(|lost| lost.overlaps(&change.field))
    }
}

/// The pace at which a field changes: a number of changes, and the time from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The steps that changed the field.
    pub changes: usize,
    /// The time from the first to the last, in microseconds. Between versions it is known to the second.
    pub micros: u64,
}

/// The shortest time from which a pace is told, in microseconds.
const SHORTEST: u64 = 60_000_000;

impl Pace {
    /// The pace of the steps that changed a field, in their order. `None` if their times are not known or are
    /// within half a second, and of two changes: they need not go on.
    pub fn measure(lanes: &RecordedLanes, steps: &[usize]) -> Option<Self> {
        let mut steps = steps.to_vec();
        steps.dedup();
        let time = |step: Option<&usize>| lanes.rows.get(*step?)?.time;
        let begin = time(steps.first())?;
        let micros = time(steps.last())?.checked_sub(begin)?;
        (micros >= 500_000 && steps.len() > 2).then_some(Self {
            changes: steps.len(),
            micros,
        })
    }

    /// Returns about how many changes are made in an hour at this pace: no more than two digits of it are known. `None`
    /// of less than a minute, which says little of an hour.
    pub fn per_hour(self) -> Option<u64> {
        let changes = (self.changes as u64).saturating_sub(1);
        let exact = changes * 3_600_000_000 / self.micros.max(1);
        let unit = 10_u64.pow(exact.checked_ilog10().unwrap_or_default().saturating_sub(1));
        (self.micros >= SHORTEST).then_some((exact + unit / 2) / unit * unit)
    }
}

/// The outcome of a request, or the role of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOutcome {
    /// It was read; or the first version that was seen.
    Read,
    /// It was written.
    Written,
    /// The write was accepted and changed nothing; or the same version was seen again.
    Unchanged,
    /// The write was accepted as a dry run.
    DryRun,
    /// The request was refused.
    Refused,
    /// The log does not say.
    Unknown,
}

/// The change in the version of the object. All versions were observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionFate {
    /// The object was made.
    Created(String),
    /// The object was written.
    Stored {
        /// The version before.
        before: String,
        /// The version after.
        after: String,
    },
    /// The object kept its version.
    Kept(String),
    /// A write was refused: it carried another version than the stored one.
    Differed {
        /// The version that the write carried.
        sent: String,
        /// The stored version.
        stored: String,
    },
    /// An apply was refused: other managers own this many of its fields.
    OwnedByOthers(usize),
    /// The object was deleted. This was its version.
    Deleted(String),
}

/// The core's judgement of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreMark {
    /// It gives the same answer.
    Same,
    /// It gives another answer.
    Differs,
    /// It was not run.
    NotRun,
    /// Only a version was observed, and no request: there is nothing to run.
    NoRequest,
}

/// The clients as they are found, by manager and user.
#[derive(Debug, Default)]
struct Clients {
    all: Vec<LaneClient>,
    known: BTreeMap<(String, String), usize>,
}

impl Clients {
    /// Counts a row of a client. The client's number.
    fn count(&mut self, manager: &str, user: &str, writes: bool) -> usize {
        let key = (manager.to_owned(), user.to_owned());
        let at = *self.known.entry(key).or_insert_with(|| {
            self.all.push(LaneClient {
                manager: manager.to_owned(),
                user: user.to_owned(),
                rows: 0,
                writes: 0,
            });
            self.all.len() - 1
        });
        self.all[at].rows += 1;
        self.all[at].writes += usize::from(writes);
        at
    }

    /// The lanes, and the lane of each client.
    fn lanes(self) -> (Vec<ClientLane>, Vec<usize>) {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        // Stable: else in the order of their first row.
        order.sort_by_key(|at| Reverse((self.all[*at].writes, self.all[*at].rows)));
        let shared = if order.len() > MAX_LANES {
            order.split_off(MAX_LANES - 1)
        } else {
            Vec::new()
        };
        order.sort_unstable();
        let mut of_client = vec![order.len(); self.all.len()];
        for (lane, at) in order.iter().enumerate() {
            of_client[*at] = lane;
        }
        let own = order.iter().map(|at| vec![self.all[*at].clone()]);
        let others: Vec<LaneClient> = shared.iter().map(|at| self.all[*at].clone()).collect();
        let others = Some(others).filter(|others| !others.is_empty());
        let lanes = own.chain(others).map(|clients| ClientLane { clients });
        (lanes.collect(), of_client)
    }
}

impl ClientLane {
    /// Returns whether several clients share it.
    pub fn is_shared(&self) -> bool {
        self.clients.len() > 1
    }

    /// Returns the number of its rows that are writes.
    pub fn writes(&self) -> usize {
        self.clients.iter().map(|client| client.writes).sum()
    }
}

impl RecordedLanes {
    fn new(clients: Clients, of_rows: Vec<Vec<usize>>, mut rows: Vec<LaneRow>) -> Self {
        let (lanes, of_client) = clients.lanes();
        for (row, clients) in rows.iter_mut().zip(of_rows) {
            row.lanes = clients.into_iter().map(|at| of_client[at]).collect();
            row.lanes.sort_unstable();
            row.lanes.dedup();
        }
        Self { lanes, rows }
    }

    /// Returns whether a manager has to be named with this user, because another user writes as the same manager.
    pub fn names_user(&self, manager: &str, user: &str) -> bool {
        let mut all = self.lanes.iter().flat_map(|lane| &lane.clients);
        !user.is_empty() && all.any(|other| other.manager == manager && other.user != user)
    }

    /// The requests of a log to one object.
    pub fn of_log(history: &RecordedHistory, log: &AuditLog, findings: &Findings) -> Self {
        let mut losses: Vec<Vec<Path>> = vec![Vec::new(); history.steps.len()];
        for finding in &findings.lost {
            if let Some(of_step) = losses.get_mut(finding.lost) {
                of_step.push(finding.field.clone());
            }
        }
        let mut clients = Clients::default();
        let (mut of_rows, mut rows) = (Vec::new(), Vec::new());
        for (step, lost) in history.steps.iter().zip(losses) {
            let event = &log.events[step.event];
            of_rows.push(vec![clients.count(
                &event.manager(),
                &event.user,
                event.is_write(),
            )]);
            rows.push(LaneRow {
                lanes: Vec::new(),
                time: Some(event.completed),
                outcome: outcome(step, event),
                version: fate(step, event),
                lost,
                mark: match &step.prediction {
                    CoreAnswer::Same { .. } => CoreMark::Same,
                    CoreAnswer::Other { .. } => CoreMark::Differs,
                    CoreAnswer::NotRun(_) => CoreMark::NotRun,
                },
            });
        }
        Self::new(clients, of_rows, rows)
    }

    /// Versions of one object, with the changes between them.
    pub fn of_versions(versions: &[ObservedVersion], changes: &[(usize, FieldChange)]) -> Self {
        let mut clients = Clients::default();
        let (mut of_rows, mut rows) = (Vec::new(), Vec::new());
        for (at, version) in versions.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| versions.get(at));
            let writers = writers(changes_at(changes, at));
            let mut counted: Vec<usize> = Vec::new();
            let mut named: Vec<&str> = Vec::new();
            for writer in &writers {
                if !named.contains(&writer.name.as_str()) {
                    named.push(&writer.name);
                    counted.push(clients.count(&writer.name, "", true));
                }
            }
            of_rows.push(counted);
            rows.push(LaneRow {
                lanes: Vec::new(),
                time: time(&version.object, &writers),
                outcome: version_outcome(before, version),
                version: version_fate(before, version),
                lost: Vec::new(),
                mark: CoreMark::NoRequest,
            });
        }
        Self::new(clients, of_rows, rows)
    }
}

/// The managers of the changes, in the order of their first one.
pub fn writers(changes: &[(usize, FieldChange)]) -> Vec<&Manager> {
    let mut found: Vec<&Manager> = Vec::new();
    for manager in changes.iter().filter_map(|(_, change)| change.by.as_ref()) {
        if !found.contains(&manager) {
            found.push(manager);
        }
    }
    found
}

fn outcome(step: &RecordedStep, event: &AuditEvent) -> RowOutcome {
    match event.code {
        None => RowOutcome::Unknown,
        Some(300..) => RowOutcome::Refused,
        Some(_) if !event.is_write() => RowOutcome::Read,
        Some(_) if event.is_dry_run() => RowOutcome::DryRun,
        Some(_) if step.changed() == Some(false) => RowOutcome::Unchanged,
        Some(_) => RowOutcome::Written,
    }
}

/// Returns the change in the version, by the versions that the log has.
fn fate(step: &RecordedStep, event: &AuditEvent) -> Option<VersionFate> {
    let (before, after) = (step.version_before(), step.version_after());
    match outcome(step, event) {
        RowOutcome::Refused => refused(event, before),
        RowOutcome::Unchanged => after.map(|after| VersionFate::Kept(after.to_owned())),
        RowOutcome::Written if step.known_after == KnownObject::Absent => {
            before.map(|before| VersionFate::Deleted(before.to_owned()))
        }
        RowOutcome::Written if event.code == Some(201) && step.before.is_none() => {
            after.map(|after| VersionFate::Created(after.to_owned()))
        }
        RowOutcome::Written => before
            .zip(after)
            .map(|(before, after)| VersionFate::Stored {
                before: before.to_owned(),
                after: after.to_owned(),
            }),
        RowOutcome::Read | RowOutcome::DryRun | RowOutcome::Unknown => None,
    }
}

/// Returns the cause of a 409: the versions, or the owners that the answer names.
fn refused(event: &AuditEvent, stored: Option<&str>) -> Option<VersionFate> {
    if event.code != Some(409) {
        return None;
    }
    let causes = event.response.as_deref().into_iter().flat_map(causes);
    let owned = causes.filter(|cause| text(cause, "reason") == "FieldManagerConflict");
    match owned.count() {
        0 => {}
        count => return Some(VersionFate::OwnedByOthers(count)),
    }
    let sent = event.request.as_deref()?.resource_version();
    let stored = stored?;
    (!sent.is_empty() && sent != stored).then(|| VersionFate::Differed {
        sent: sent.to_owned(),
        stored: stored.to_owned(),
    })
}

fn is_same_object(before: &Value, after: &Value) -> bool {
    before.uid() == after.uid()
}

fn version_outcome(before: Option<&ObservedVersion>, version: &ObservedVersion) -> RowOutcome {
    let Some(before) = before else {
        return RowOutcome::Read;
    };
    let (old, new) = (&before.object, &version.object);
    let deleted = version.event == Some(EventType::Deleted);
    if !deleted && is_same_object(old, new) && old.resource_version() == new.resource_version() {
        RowOutcome::Unchanged
    } else {
        RowOutcome::Written
    }
}

fn version_fate(
    before: Option<&ObservedVersion>,
    version: &ObservedVersion,
) -> Option<VersionFate> {
    let own = version.object.resource_version().to_owned();
    if own.is_empty() {
        return None;
    }
    if version.event == Some(EventType::Deleted) {
        return Some(VersionFate::Deleted(own));
    }
    let before = before.filter(|before| is_same_object(&before.object, &version.object));
    let Some(before) = before else {
        // An event of a watch says ADDED for an object that was there before the watch, too.
        return Some(VersionFate::Kept(own));
    };
    let before = before.object.resource_version().to_owned();
    Some(if before == own {
        VersionFate::Kept(own)
    } else {
        VersionFate::Stored { before, after: own }
    })
}

/// Returns the time when the newest entry of these managers changed, in microseconds.
fn time(object: &Value, writers: &[&Manager]) -> Option<u64> {
    let managers = Managers::read(object).ok()?;
    let times = writers
        .iter()
        .filter_map(|writer| managers.get(writer)?.time);
    times.map(|time| time.seconds * 1_000_000).max()
}
