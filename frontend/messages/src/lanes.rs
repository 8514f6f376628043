//! Diagnose's sentences about the lanes of a recorded history.

use std::ops::Range;

use optimist_apiserver::apply::{ManagedFieldsOperation, Manager, Path};
use optimist_apiserver::environment::Timestamp;
use optimist_apiserver::object::text;
use optimist_client::visible;
use optimist_diagnose::audit::AuditEvent;
use optimist_diagnose::audit::recorded::{
    Compared, CoreAnswer, KnownObject, RecordedHistory, RecordedStep,
};
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::fight_remedy::FightRemedy;
use optimist_diagnose::lanes::{
    ClientLane, LaneClient, LaneRow, Pace, RecordedLanes, RowOutcome, VersionFate,
};
use optimist_diagnose::observed::{FieldChange, Fight, ObservedVersion};

use crate::diagnose::{asked, manager_name, names, owner, owner_beside};
use crate::edits::{field, value};
use crate::en;

/// The number of changes that a row names.
const NAMED: usize = 2;

/// A part of a text, in bytes, with the position of the step that it names.
pub type NamedStep = (Range<usize>, usize);

/// Returns where a text names these steps first, in the order of the text, and the steps that it does not name. Steps
/// are named from 1.
pub fn named_steps(text: &str, rows: &[usize]) -> (Vec<NamedStep>, Vec<usize>) {
    let (mut named, mut others): (Vec<NamedStep>, Vec<usize>) = (Vec::new(), Vec::new());
    for &row in rows {
        let name = en::recorded_link(&(row + 1));
        let mut places = text.match_indices(&name).map(|(at, _)| at..at + name.len());
        // `step 1` is no part of `step 12`.
        let place =
            places.find(|place| !text[place.end..].starts_with(|c: char| c.is_ascii_digit()));
        match place.filter(|_| !named.iter().any(|(_, known)| *known == row)) {
            Some(place) => named.push((place, row)),
            None => others.push(row),
        }
    }
    named.sort_by_key(|(place, _)| place.start);
    (named, others)
}

/// A lane: `helm · 6 writes`. The user is named where two lanes have the same manager.
pub fn lane(lane: &ClientLane, lanes: &RecordedLanes) -> String {
    let [client] = &lane.clients[..] else {
        return en::lane_writes(&en::lane_others(&lane.clients.len()), &lane.writes());
    };
    let name = lane_client(client, lanes);
    match client.writes {
        0 => en::lane_reads(&name),
        writes => en::lane_writes(&name, &writes),
    }
}

/// A client of a lane: its manager, and its user where another client has the same manager.
pub fn lane_client(client: &LaneClient, lanes: &RecordedLanes) -> String {
    let name = if lanes.names_user(&client.manager, &client.user) {
        en::lane_user(&client.manager, &client.user)
    } else {
        client.manager.clone()
    };
    visible(&name).into_owned()
}

/// A row in words, for the page and for those who hear it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowText {
    /// The time of day; empty if it is not known.
    pub time: String,
    /// The day, where it is another one than in the row before.
    pub day: String,
    /// The name of the client.
    pub who: String,
    /// The request; empty for a version.
    pub asked: String,
    /// The status code; empty for a version.
    pub answer: String,
    /// The change in the version; empty if it is not known.
    pub version: String,
    /// The changes, or the reason why there are none.
    pub what: String,
    /// The origin of the row: it was observed, with the core's answer.
    pub mark: String,
}

impl RowText {
    /// The row of a request.
    pub fn of_request(
        row: &LaneRow,
        step: &RecordedStep,
        event: &AuditEvent,
        changes: &[&FieldChange],
    ) -> Self {
        let answer = event
            .code
            .map_or_else(en::lane_no_code, |code| code.to_string());
        Self {
            time: clock(event.completed, true),
            day: String::new(),
            who: visible(&event.manager()).into_owned(),
            asked: visible(&asked(step, event)).into_owned(),
            answer,
            version: row.version.as_ref().map(version_fate).unwrap_or_default(),
            what: of_request(row, step, event, changes),
            mark: core_mark(&step.prediction),
        }
    }

    /// The row of a version. `before` is the one before it.
    pub fn of_version(
        row: &LaneRow,
        version: &ObservedVersion,
        before: Option<&ObservedVersion>,
        changes: &[&FieldChange],
    ) -> Self {
        let mut writers: Vec<String> = Vec::new();
        for manager in changes.iter().filter_map(|change| change.by.as_ref()) {
            let name = owner(manager);
            if !writers.contains(&name) {
                writers.push(name);
            }
        }
        let who = match writers.is_empty() {
            false => names(&writers),
            true if changes.is_empty() => String::new(),
            true => en::lane_unknown_writer(),
        };
        let uid = |of: &ObservedVersion| text(&of.object["metadata"], "uid").to_owned();
        let is_other = before.is_some_and(|before| uid(before) != uid(version));
        let what = match (&row.version, row.outcome) {
            (Some(VersionFate::Deleted(_)), _) => en::lane_deleted(),
            _ if is_other => en::lane_other_object(),
            (_, RowOutcome::Read) => en::lane_first_version(),
            (_, RowOutcome::Unchanged) => en::lane_same_version(),
            _ if changes.is_empty() => en::lane_no_field(),
            _ => changed(changes),
        };
        Self {
            time: row.time.map(|time| clock(time, false)).unwrap_or_default(),
            who: visible(&who).into_owned(),
            version: row.version.as_ref().map(version_fate).unwrap_or_default(),
            what,
            mark: en::lane_no_request(),
            ..Self::default()
        }
    }
}

fn of_request(
    row: &LaneRow,
    step: &RecordedStep,
    event: &AuditEvent,
    changes: &[&FieldChange],
) -> String {
    match row.outcome {
        RowOutcome::Unknown | RowOutcome::Read => String::new(),
        RowOutcome::Unchanged => en::lane_unchanged(),
        RowOutcome::DryRun => en::lane_dry_run(),
        RowOutcome::Refused => match &row.version {
            Some(VersionFate::OwnedByOthers(count)) => en::lane_owned(count),
            _ => {
                let reason = event.response.as_deref();
                visible(reason.map_or("", |answer| text(answer, "reason"))).into_owned()
            }
        },
        RowOutcome::Written if row.loses() => lost(row, changes),
        RowOutcome::Written if !changes.is_empty() => changed(changes),
        RowOutcome::Written if step.known_after == KnownObject::Absent => en::lane_deleted(),
        RowOutcome::Written if event.code == Some(201) => en::lane_created(),
        RowOutcome::Written => String::new(),
    }
}

/// Says which updates a row lost, before its other changes.
fn lost(row: &LaneRow, changes: &[&FieldChange]) -> String {
    let (lost, others): (Vec<_>, Vec<_>) = changes.iter().partition(|change| row.is_lost(change));
    match (lost.is_empty(), others.is_empty()) {
        (true, _) => {
            let fields: Vec<String> = row.lost.iter().map(field).collect();
            en::lane_lost(&fields.join(", "))
        }
        (false, true) => en::lane_lost(&changed(&lost)),
        (false, false) => en::lane_lost_beside(&changed(&lost), &changed(&others)),
    }
}

/// Shows the change in the version: `89 → 91`, `89 ≠ 91`.
pub fn version_fate(fate: &VersionFate) -> String {
    let text = match fate {
        VersionFate::Created(after) => en::pill_created(after),
        VersionFate::Stored { before, after } => en::pill_stored(before, after),
        VersionFate::Kept(version) => en::pill_unchanged(version),
        VersionFate::Differed { sent, stored } => en::pill_differed(sent, stored),
        VersionFate::OwnedByOthers(_) => en::pill_owner(),
        VersionFate::Deleted(before) => en::pill_deleted(before),
    };
    visible(&text).into_owned()
}

/// Says that a request was observed, and the core's answer to it.
fn core_mark(prediction: &CoreAnswer) -> String {
    match prediction {
        CoreAnswer::Same { compared, .. } => match compared {
            Compared::Answer => en::lane_same(),
            Compared::Code => en::lane_same_code(),
        },
        CoreAnswer::Other { .. } => en::lane_differs(),
        CoreAnswer::NotRun(_) => en::lane_not_run(),
    }
}

/// The first changes: `replicas 2 → 5, image nginx:1 → nginx:2 and 3 more`.
fn changed(changes: &[&FieldChange]) -> String {
    let named = changes
        .iter()
        .take(NAMED)
        .map(|change| change_short(change));
    let named: Vec<String> = named.collect();
    match changes.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => en::lane_more(&named.join(", "), &more),
    }
}

/// A change: `replicas 2 → 5`.
pub fn change_short(change: &FieldChange) -> String {
    let name = field(&change.field);
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => {
            en::lane_changed(&name, &value(Some(before)), &value(Some(after)))
        }
        (None, Some(after)) => en::lane_set(&name, &value(Some(after))),
        (_, None) => en::lane_removed(&name),
    }
}

/// Says the former value of a changed line, and who changed it.
pub fn was(change: &FieldChange) -> String {
    let who = change
        .by
        .as_ref()
        .map(|by: &Manager| visible(&owner(by)).into_owned());
    match (&change.before, who) {
        (Some(before), Some(who)) => en::recorded_was_by(&value(Some(before)), &who),
        (Some(before), None) => en::recorded_was(&value(Some(before))),
        (None, Some(who)) => en::recorded_new_by(&who),
        (None, None) => en::recorded_new(),
    }
}

/// Introduces the steps of an audit log, with the number of steps for which the core gives the same
/// answer.
pub fn steps_of_log(history: &RecordedHistory) -> String {
    let (same, other, not_run) = history.counts();
    let counts = en::audit_counts(&same, &other, &not_run);
    format!("{} {counts}", en::lanes_of_log())
}

/// Says the times at which a request arrived and was answered, and its sender.
pub fn observed(event: &AuditEvent) -> String {
    let answered = clock(event.completed, true);
    let when = match event.received == event.completed {
        true => en::recorded_answered(&answered),
        false => en::recorded_observed(&clock(event.received, true), &answered),
    };
    let who = en::recorded_sender(&event.user, &event.agent);
    visible(&format!("{when} {who}")).into_owned()
}

/// Says the time of a version, by the entries of its owners, and that nobody saw the request.
pub fn observed_version(row: &LaneRow) -> String {
    let when = match row.time {
        Some(time) => en::recorded_changed_at(&format!("{} {}", day(time), clock(time, false))),
        None => en::recorded_no_time(),
    };
    format!("{when} {}", en::recorded_no_request())
}

/// The object at a row: `Step 4: Deployment live/web, version 91, as it was then.`
pub fn step_title(
    row: usize,
    known: KnownObject,
    id: Option<&ObjectId>,
    version: Option<&str>,
) -> String {
    let step = row + 1;
    match (known, id, version) {
        (KnownObject::Recorded, Some(id), Some(version)) => {
            en::recorded_object(&step, id, &version)
        }
        (KnownObject::Recorded | KnownObject::Computed { .. }, Some(id), _) => {
            en::recorded_object_computed(&step, id)
        }
        (KnownObject::Absent, ..) => en::recorded_object_absent(&step),
        _ => en::recorded_object_unknown(&step),
    }
}

/// A time of day, `06:05:11.638`: of microseconds since 1970.
pub fn clock(micros: u64, fraction: bool) -> String {
    let whole = moment(micros);
    let time = whole.get(11..19).unwrap_or_default().to_owned();
    if fraction {
        format!("{time}.{:03}", micros % 1_000_000 / 1000)
    } else {
        time
    }
}

/// A day, `2026-11-22`: of microseconds since 1970.
pub fn day(micros: u64) -> String {
    moment(micros).get(..10).unwrap_or_default().to_owned()
}

fn moment(micros: u64) -> String {
    let seconds = micros / 1_000_000;
    Timestamp { seconds }.to_string()
}

/// Says which managers fight over a field, or that one of them took back what the other wrote.
pub fn fight_title(fight: &Fight) -> String {
    let names = fight.managers.iter();
    let names: Vec<String> = names.map(|it| owner_beside(it, &fight.managers)).collect();
    match names.as_slice() {
        [corrects, other] if fight.is_correction() => {
            en::happened_correction(other, &fight.field, corrects)
        }
        names => en::happened_fight(&crate::diagnose::names(names), &fight.field),
    }
}

/// Says the pace at which a field changes.
pub fn fight_pace(field: &Path, pace: Pace) -> String {
    let tenths = (pace.micros + 50_000) / 100_000;
    match pace.per_hour() {
        Some(hour) => {
            let seconds = (pace.micros + 500_000) / 1_000_000;
            en::fight_pace(field, &pace.changes, &seconds, &hour)
        }
        None if tenths.is_multiple_of(10) => en::fight_span(field, &pace.changes, &(tenths / 10)),
        None => {
            let seconds = format!("{}.{}", tenths / 10, tenths % 10);
            en::fight_span(field, &pace.changes, &seconds)
        }
    }
}

/// Says the way in which each manager of a fight writes the field.
pub fn fight_writers(fight: &Fight) -> String {
    let ways = fight.managers.iter().map(|manager| {
        match (manager.operation, manager.subresource.as_str()) {
            (ManagedFieldsOperation::Apply, _) => en::fight_applies(&manager_name(&manager.name)),
            (ManagedFieldsOperation::Update, "") => en::fight_updates(&manager_name(&manager.name)),
            (ManagedFieldsOperation::Update, subresource) => {
                en::fight_updates_through(&manager_name(&manager.name), &subresource)
            }
        }
    });
    ways.collect::<Vec<String>>().join(" ")
}

/// Says a way out that ended a fight when it was run.
pub fn fight_remedy(remedy: &FightRemedy) -> String {
    // What they do follows their names, too.
    let left = remedy.others.iter().map(|other| match other.operation {
        ManagedFieldsOperation::Apply => en::fight_left_out(&owner(other)),
        ManagedFieldsOperation::Update => en::fight_not_set(&owner(other)),
    });
    let keeper = &owner_beside(&remedy.keeper, &remedy.others);
    let gap = remedy.has_gap.then(|| en::fight_gap(keeper));
    let says = [en::fight_left(keeper)].into_iter().chain(left);
    says.chain(gap).collect::<Vec<String>>().join(" ")
}
