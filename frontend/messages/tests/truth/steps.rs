//! Conditions of the timeline: the rows, their pills and answers, and the branches.

use optimist_apiserver::object::Metadata;
use optimist_client::{Declares, Lost};
use optimist_simulation::{Action, ControllerOperation, Operation, Step, WatchAction};

use super::caption::{Condition, request_of};
use super::judge::leaves;
use super::moment::{Moment, actor_of, is_apply, sent_version, version};
use super::said::Said;

pub const WHO: &[(&str, Condition)] = &[
    ("watcher", |_, at| {
        Some(matches!(at.last()?.step.operation, Operation::Watch(_)))
    }),
    ("etcd", |_, at| {
        Some(matches!(
            at.last()?.step.operation,
            Operation::Compact { .. }
        ))
    }),
    ("clock", |_, at| {
        Some(matches!(at.last()?.step.operation, Operation::Wait(_)))
    }),
    ("announced_start", |_, at| Some(at.last().is_none())),
    ("announced_step", |said, at| {
        let (position, total) = (said.number("position")?, said.number("total")?);
        Some(
            position as usize == at.so_far.len()
                && total as usize == at.tree.current_path().len() - 1,
        )
    }),
    ("ask_object", |said, at| {
        let name = said.text("object");
        let name = name.rsplit(' ').next()?;
        Some(at.object.name() == name)
    }),
];

pub const LAST_WRITE: &[(&str, Condition)] = &[
    ("last_write_start", |_, at| {
        Some(at.changed_last().is_none() && at.stored().is_some())
    }),
    ("last_write_elsewhere", |_, at| {
        let step = at.changed_last()?.step;
        Some(matches!(
            step.operation,
            Operation::Act(_, Action::Request(_))
        ))
    }),
    ("last_write", |said, at| wrote_last(said, at, None, None)),
    ("last_write_deleted", |said, at| {
        wrote_last(said, at, said.number("before"), Some(0))
    }),
    ("last_write_created", |said, at| {
        wrote_last(said, at, Some(0), said.number("after"))
    }),
    ("last_write_stored", |said, at| {
        wrote_last(said, at, said.number("before"), said.number("after"))
    }),
];

fn wrote_last(
    said: &Said,
    at: &Moment<'_>,
    before: Option<u64>,
    after: Option<u64>,
) -> Option<bool> {
    let last = at.changed_last()?;
    let actor = at.named(&said.text("name"));
    let of = |object: Option<&serde_json::Value>| object.map_or(0, version);
    let versions = (of(at.object_in(last.before)), of(at.object_in(last.after)));
    let named = request_of(last.step)? == said.inner("request")?.name();
    Some(
        actor == actor_of(&last.step.operation)
            && named
            && before.is_none_or(|before| before == versions.0)
            && after.is_none_or(|after| after == versions.1),
    )
}

pub const PILLS: &[(&str, Condition)] = &[
    ("pill_deleted", |said, at| {
        Some(at.stored().is_none() && at.version_before() == said.number("before")?)
    }),
    ("pill_created", |said, at| {
        Some(at.stored_before().is_none() && at.version() == said.number("after")?)
    }),
    ("pill_stored", |said, at| {
        let versions = (said.number("before")?, said.number("after")?);
        Some(versions == (at.version_before(), at.version()))
    }),
    ("pill_unchanged", |said, at| {
        Some(at.accepted() && at.same_object() && at.version() == said.number("version")?)
    }),
    ("pill_differed", |said, at| {
        let carried = sent_version(at.exchange()?)? == said.text("sent");
        Some(carried && version(&at.addressed()?) == said.number("stored")? && at.wrote_nothing())
    }),
    ("pill_required", |said, at| {
        let none = sent_version(at.exchange()?).is_none();
        Some(none && version(&at.addressed()?) == said.number("stored")? && at.wrote_nothing())
    }),
    ("pill_owner", |_, at| {
        Some(is_apply(at.exchange()?) && at.exchange()?.code == 409)
    }),
    ("pill_test", |_, at| {
        let operations = at.exchange()?.sent.as_array()?;
        Some(operations.iter().any(|it| it["op"] == "test") && at.refused())
    }),
    ("pill_refused", |_, at| {
        Some(at.refused() && at.wrote_nothing())
    }),
];

pub const ANSWERS: &[(&str, Condition)] = &[
    ("ask_restart", |_, at| {
        Some(at.last()?.step.operation == Operation::Compact { restart: true })
    }),
    ("ask_wait", waits),
    ("operation_wait", waits),
    ("answer_dry_run", |said, at| {
        let sent = at.exchange()?;
        let asked = sent.target.contains("dryRun=All") || sent.sent.get("dryRun").is_some();
        let status = said.text("status").starts_with(&sent.code.to_string());
        Some(status && asked && at.accepted() && at.wrote_nothing())
    }),
    ("answer_unchanged", |said, at| {
        Some(is_status(said, at)? && at.accepted() && at.same_object())
    }),
    ("answer_unchanged_brief", |said, at| {
        Some(at.exchange()?.code == said.number("code")? as u16 && at.same_object())
    }),
    ("answer_version", |said, at| {
        Some(is_status(said, at)? && answers_version(said, at)?)
    }),
    ("answer_brief", |said, at| {
        Some(at.exchange()?.code == said.number("code")? as u16 && answers_version(said, at)?)
    }),
    ("answer_not_received", |_, at| {
        let loses = |it| it == ControllerOperation::StepLosing(Lost::Answer);
        Some(controls(at, loses)? && at.exchange().is_some())
    }),
    ("answer_stream_error", |said, at| {
        let (sent, error) = (at.exchange()?, said.text("error"));
        let event = sent.received.as_array()?.last()?.clone();
        let code = event["object"]["code"].to_string();
        let ends = event["type"] == "ERROR" && error.starts_with(&code);
        Some(ends && said.text("status").starts_with(&sent.code.to_string()))
    }),
    ("answer_stream", |said, at| {
        let watches = at.exchange()?.target.contains("watch=true");
        let code = said
            .text("status")
            .starts_with(&at.exchange()?.code.to_string());
        Some(watches && at.exchange()?.code == 200 && code)
    }),
    ("answer_more", |said, at| {
        Some(
            said.text("status")
                .starts_with(&at.exchange()?.code.to_string()),
        )
    }),
    ("lost_short", loses),
    ("lost_short_more", |said, at| {
        let lost = at.judge().gone().iter().filter(|gone| !gone.shown).count();
        Some(loses(said, at)? && lost as u64 > said.number("more")?)
    }),
    ("spoken_refused", |said, at| {
        let message = at.exchange()?.received["message"].as_str();
        let message = message.or_else(|| at.stream_error()?["message"].as_str());
        Some(message? == said.text("message"))
    }),
    ("server_says", |said, at| {
        let message = at.exchange()?.received["message"].as_str();
        let message = message.or_else(|| at.stream_error()?["message"].as_str());
        Some(message? == said.text("message"))
    }),
    ("spoken_received", |said, at| {
        let event = said.inner("event")?;
        let kind = event.text("kind");
        let mut arrived = at.last()?.step.arrived.iter();
        Some(arrived.any(|it| it.event.event_type.to_string() == kind))
    }),
    ("spoken_more", |said, at| {
        let arrived = at.last()?.step.arrived.len() as u64;
        Some((1..arrived).contains(&said.number("count")?))
    }),
    ("event", |said, at| {
        let kind = said.text("kind");
        let received = at.world().watcher().received().iter();
        let mut received = received.chain(&at.last()?.step.arrived);
        Some(received.any(|it| {
            let version = said.inner("version").map(|version| version.text("version"));
            it.event.event_type.to_string() == kind
                && version.is_none_or(|version| it.event.object.resource_version() == version)
        }))
    }),
];

fn waits(said: &Said, at: &Moment<'_>) -> Option<bool> {
    Some(at.last()?.step.operation == Operation::Wait(said.number("seconds")? as u32))
}

/// Returns whether a status is that of the last answer.
fn is_status(said: &Said, at: &Moment<'_>) -> Option<bool> {
    let sent = at.exchange()?;
    let (code, reason) = (sent.code.to_string(), sent.received["reason"].as_str());
    let text = said.text("status");
    Some(text.starts_with(&code) && (sent.code < 400 || text.ends_with(reason?)))
}

/// Returns whether a version is the one that the last answer carries.
fn answers_version(said: &Said, at: &Moment<'_>) -> Option<bool> {
    let answered = at.exchange()?.received.resource_version();
    Some(answered == said.text("version"))
}

fn loses(said: &Said, at: &Moment<'_>) -> Option<bool> {
    let owner = at.named(&said.text("owner"))?;
    let mut gone = at.judge().gone();
    gone.retain(|it| super::edits_named::is_edit(said, "edit", &it.place, it.value.as_ref()));
    Some(gone.iter().any(|gone| gone.owner == owner && !gone.shown) && at.accepted())
}

pub const HEADLINES: &[(&str, Condition)] = &[
    ("headline_if", |said, at| {
        Some(sent_version(at.exchange()?)? == said.text("version"))
    }),
    ("headline_force", |_, at| {
        let query = at.exchange()?.target.split_once('?')?.1;
        let force = query.split('&').find_map(|it| it.strip_prefix("force="))?;
        Some(is_apply(at.exchange()?) && !["0", "false", "False"].contains(&force))
    }),
    ("headline_by_hand", |_, at| {
        Some(at.last()?.step.write()?.body.is_some())
    }),
    ("headline_manifest", |_, at| {
        Some(at.last()?.step.write()?.declares == Declares::Manifest)
    }),
    ("headline_no_change", |_, at| {
        let sent = &at.exchange()?.sent;
        let read = leaves(at.last()?.before.copy(at.actor()?).read()?);
        if let Some(operations) = sent.as_array() {
            return Some(operations.iter().all(|operation| operation["op"] == "test"));
        }
        if sent["kind"] == "Scale" {
            let replicas = &sent["spec"]["replicas"];
            return Some(replicas.is_null() || read.values().any(|value| value == replicas));
        }
        Some(
            leaves(sent)
                .iter()
                .all(|(place, value)| read.get(place) == Some(value)),
        )
    }),
    ("headline_declared", |said, at| {
        let body = at.exchange()?.sent.to_string();
        Some(
            said.text("fields")
                .split(", ")
                .all(|field| body.contains(field.split(' ').next_back().unwrap_or(field))),
        )
    }),
    ("operation_watch_from", |said, at| {
        let asked = format!("resourceVersion={}", said.text("version"));
        let sent = at.exchange()?;
        Some(sent.target.contains(&asked) && sent.target.contains("watch=true"))
    }),
    ("operation_drop", |_, at| {
        Some(watches(at, |action| *action == WatchAction::Drop))
    }),
    ("operation_compact", |_, at| {
        Some(at.last()?.step.operation == Operation::Compact { restart: false })
    }),
    ("operation_restart", |_, at| {
        Some(at.last()?.step.operation == Operation::Compact { restart: true })
    }),
    ("controller_connects", |_, at| {
        use ControllerOperation::{Connect, ListBehind};
        controls(at, |it| matches!(it, Connect(_) | ListBehind(_)))
    }),
    ("controller_delivers", |_, at| {
        controls(at, |it| matches!(it, ControllerOperation::Deliver(_)))
    }),
    ("controller_loses_answer", |_, at| {
        let of_worker = |it| it == ControllerOperation::StepLosing(Lost::Answer);
        Some(controls(at, of_worker)? && at.exchange().is_some())
    }),
    ("controller_loses_request", |_, at| {
        let of_worker = |it| it == ControllerOperation::StepLosing(Lost::Request);
        Some(controls(at, of_worker)? && at.exchange().is_none() && at.wrote_nothing())
    }),
    ("controller_drops", |_, at| {
        controls(at, |it| matches!(it, ControllerOperation::DropWatch(_)))
    }),
    ("controller_resyncs", |_, at| {
        controls(at, |it| matches!(it, ControllerOperation::Resync(_)))
    }),
    ("controller_restarts", |_, at| {
        controls(at, |it| matches!(it, ControllerOperation::Restart))
    }),
    ("controller_wakes", |_, at| {
        controls(at, |it| matches!(it, ControllerOperation::Wake))
    }),
];

fn watches(at: &Moment<'_>, is: impl Fn(&WatchAction) -> bool) -> bool {
    at.last().is_some_and(|last| match &last.step.operation {
        Operation::Watch(action) => is(action),
        _ => false,
    })
}

fn controls(at: &Moment<'_>, is: impl Fn(ControllerOperation) -> bool) -> Option<bool> {
    match at.last()?.step.operation {
        Operation::Control(_, operation) => Some(is(operation)),
        _ => Some(false),
    }
}

/// The conditions of sentences about the outcome of a branch: the moment is its end.
pub const BRANCHES: &[(&str, Condition)] = &[
    ("branch_lost", |_, at| {
        Some(at.branch().iter().any(|step| wrote(step)))
    }),
    ("branch_refused", |said, at| {
        let steps = at.branch();
        Some(code(steps[telling(&steps)?])? == said.number("code")?)
    }),
    ("branch_refused_stored", |said, at| {
        let steps = at.branch();
        let first = telling(&steps)?;
        let actor = actor_of(&steps[first].operation);
        let later = &steps[first + 1..];
        let stored = later
            .iter()
            .any(|step| actor_of(&step.operation) == actor && wrote(step));
        Some(code(steps[first])? == said.number("code")? && stored)
    }),
    ("branch_stored", |_, at| {
        let steps = at.branch();
        Some(wrote(steps[telling(&steps)?]))
    }),
    ("branch_unchanged", |_, at| {
        let steps = at.branch();
        let first = steps[telling(&steps)?];
        Some(code(first)? < 300 && first.before == first.after)
    }),
    ("branch_more", |said, at| {
        Some(at.branch().len() as u64 == said.number("steps")? + 1)
    }),
    ("branch_read", |_, at| {
        Some(at.branch().iter().any(|step| step.exchange.is_some()))
    }),
    ("branch_quiet", |_, at| {
        Some(at.branch().iter().all(|step| step.exchange.is_none()))
    }),
    ("branch_of_actor", |said, at| {
        let actor = actor_of(&at.branch().first()?.operation)?;
        Some(at.named(&said.text("actor"))? == actor)
    }),
];

/// The code of a step: of its stream, if that began with an error.
fn code(step: &Step) -> Option<u64> {
    let watches = matches!(step.operation, Operation::Watch(_));
    let mut arrived = step.arrived.iter().filter(|_| watches);
    let error = arrived.find_map(|it| it.event.object["code"].as_u64());
    error.or(Some(step.exchange.as_ref()?.code.into()))
}

fn wrote(step: &Step) -> bool {
    code(step).is_some_and(|code| code < 300) && step.before != step.after
}

/// Returns whether a step is a write, or was refused.
fn is_telling(step: &Step) -> bool {
    let Some(sent) = &step.exchange else {
        return false;
    };
    code(step).is_some_and(|code| code >= 400)
        || (sent.method != "GET" && actor_of(&step.operation).is_some())
}

/// The place of the step that tells a branch apart: of a dry run that was accepted only if no other one follows.
fn telling(steps: &[&Step]) -> Option<usize> {
    let was_tried = |step: &Step| {
        let sent = step.exchange.as_ref();
        sent.is_some_and(|sent| {
            let asked = sent.target.contains("dryRun=All") || sent.sent.get("dryRun").is_some();
            asked && sent.code < 400
        })
    };
    let mut all = (0..steps.len()).filter(|at| is_telling(steps[*at]));
    let stored = all.clone().find(|at| !was_tried(steps[*at]));
    stored.or_else(|| all.next())
}

/// The conditions of sentences about the outcome of an edit that was sent in another way: the
/// moment is the end of that ending.
pub const ENDINGS: &[(&str, Condition)] = &[
    ("outcome_lost", |_, at| {
        Some(at.judge().gone().iter().any(|gone| !gone.shown))
    }),
    ("outcome_refused", |said, at| {
        Some(at.refused() && at.exchange()?.code == said.number("code")? as u16)
    }),
    ("outcome_replaced", |said, at| {
        let owner = at.named(&said.text("owner"))?;
        Some(at.judge().gone().iter().any(|gone| gone.owner == owner))
    }),
    ("outcome_left_out", |_, at| {
        let stored = at.stored()?;
        let mut edits = at.last()?.step.edits.iter();
        Some(
            at.accepted() && edits.any(|edit| stored.pointer(&edit.pointer) != edit.after.as_ref()),
        )
    }),
    ("outcome_both_kept", |_, at| {
        Some(at.accepted() && at.judge().gone().iter().all(|gone| gone.shown))
    }),
    ("outcome_stored", |_, at| {
        Some(at.accepted() && at.judge().gone().iter().all(|gone| gone.shown))
    }),
];
