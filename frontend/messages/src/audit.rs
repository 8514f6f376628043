//! Diagnose's sentences about a recorded history.

use optimist_apiserver::apply::ManagedFieldsOperation;
use optimist_client::visible;
use optimist_diagnose::audit::findings::{HotLoop, LostUpdateFinding, Reaction, RecordedConflict};
use optimist_diagnose::audit::recorded::{
    Compared, CoreAnswer, NotRun, RecordedHistory, RecordedStep,
};
use optimist_diagnose::audit::{AuditEvent, AuditedObject};
use optimist_diagnose::lanes::RecordedLanes;

use crate::diagnose::owner;
use crate::edits::{field, value};
use crate::en;

/// `deployments fight/shop`.
pub fn audited(object: &AuditedObject) -> String {
    let group = if object.group.is_empty() {
        String::new()
    } else {
        format!(".{}", object.group)
    };
    let slash = if object.namespace.is_empty() { "" } else { "/" };
    format!(
        "{}{group} {}{slash}{}",
        object.resource, object.namespace, object.name
    )
}

/// An object of a log, and how many writes of it the log has.
pub fn audited_writes(object: &AuditedObject, writes: usize) -> String {
    visible(&en::audit_writes(&audited(object), &writes)).into_owned()
}

/// Names the sender of a step: the manager of a write, with its user where the lanes name it, else the program and
/// its user.
pub fn sender(history: &RecordedHistory, lanes: &RecordedLanes, step: usize) -> String {
    let step = history.steps.get(step);
    let manager = step.and_then(|step| step.manager.as_ref());
    let client = step.and_then(|step| history.clients.get(step.client));
    let user = client.map_or("", |client| client.user.as_str());
    let program = || {
        let program = client?.agent.split('/').next().unwrap_or_default();
        Some(match (program, user) {
            (program, "") => program.to_owned(),
            ("", user) => user.to_owned(),
            (program, user) => en::lane_user(&program, &user),
        })
    };
    match manager {
        Some(manager) if lanes.names_user(&manager.name, user) => {
            en::lane_user(&owner(manager), &user)
        }
        Some(manager) => owner(manager),
        None => program().unwrap_or_default(),
    }
}

/// Names the request: `apply, force`, `update /scale`.
pub fn asked(step: &RecordedStep, event: &AuditEvent) -> String {
    let applies = step
        .manager
        .as_ref()
        .is_some_and(|manager| manager.operation == ManagedFieldsOperation::Apply);
    let mut text = if applies {
        en::audit_apply()
    } else {
        event.verb.clone()
    };
    if !event.object.subresource.is_empty() {
        text = format!("{text} /{}", event.object.subresource);
    }
    if event.query("force").as_deref() == Some("true") {
        text = en::audit_forced(&text);
    }
    if event.is_dry_run() {
        text = en::audit_dry_run(&text);
    }
    text
}

/// Says the core's answer to a step, in a word or two, and in a sentence.
pub fn prediction(prediction: &CoreAnswer) -> (String, String) {
    match prediction {
        CoreAnswer::Same {
            compared,
            patch_types,
            ..
        } => {
            let mut says = match compared {
                Compared::Answer => en::audit_same_answer(),
                Compared::Code => en::audit_same_code(),
            };
            if patch_types.len() > 1 {
                says = format!("{says} {}", en::audit_patch_types(&patch_types.len()));
            }
            (en::audit_same(), says)
        }
        CoreAnswer::Other { differences, .. } => {
            let named = differences.iter().take(3).map(|one| {
                let place = if one.pointer.is_empty() {
                    en::audit_code()
                } else {
                    one.pointer.clone()
                };
                let (recorded, core) = (value(one.recorded.as_ref()), value(one.core.as_ref()));
                en::audit_difference(&place, &recorded, &core)
            });
            let named: Vec<String> = named.collect();
            (en::audit_other(), en::audit_differs(&named.join("; ")))
        }
        CoreAnswer::NotRun(why) => (
            en::audit_not_run(),
            match why {
                NotRun::UnknownState => en::audit_unknown_state(),
                NotRun::NoBody => en::audit_no_body(),
                NotRun::NoAnswer => en::audit_no_answer(),
                NotRun::Verb => en::audit_verb(),
                NotRun::MissingWrite => en::audit_missing_write(),
                NotRun::OtherVersion => en::audit_other_version(),
                NotRun::OtherReason => en::audit_other_reason(),
                NotRun::UnknownOwners => en::audit_unknown_owners(),
            },
        ),
    }
}

/// Says that an update was lost: steps are counted from 1.
pub fn lost_update(lost: &LostUpdateFinding, writer: &str, loser: &str) -> String {
    let says = en::audit_lost(
        &writer,
        &field(&lost.field),
        &value(Some(&lost.value)),
        &(lost.written + 1),
        &loser,
        &(lost.lost + 1),
    );
    if lost.may_have_watched {
        format!("{says} {}", en::audit_lost_watch(&loser))
    } else {
        says
    }
}

/// Says the client's reaction to a conflict: steps are counted from 1.
pub fn recorded_conflict(conflict: &RecordedConflict, who: &str) -> String {
    let step = conflict.step + 1;
    let gave_up = || en::audit_gave_up(&step, &who);
    let Some(next) = conflict.next.map(|next| next + 1) else {
        return gave_up();
    };
    match conflict.reaction {
        Reaction::ReadAgain => en::audit_read_again(&step, &who, &next),
        Reaction::SentAgain => en::audit_sent_again(&step, &who, &next),
        Reaction::Forced => en::audit_then_forced(&step, &who, &next),
        Reaction::WithoutVersion => en::audit_without_version(&step, &who, &next),
        Reaction::WroteOtherwise => en::audit_wrote_otherwise(&step, &who, &next),
        Reaction::WroteAgain => en::audit_wrote_again(&step, &who, &next),
        Reaction::GaveUp => gave_up(),
    }
}

/// The same request again and again.
pub fn hot_loop(hot: &HotLoop, who: &str) -> String {
    let seconds = format!(
        "{}.{}",
        hot.lasted / 1_000_000,
        hot.lasted % 1_000_000 / 100_000
    );
    let first = hot.steps.first().map_or(0, |step| step + 1);
    let says = en::audit_loop(&who, &hot.steps.len(), &seconds, &first);
    match hot.changes {
        Some(changes) => format!("{says} {}", en::audit_loop_changes(&changes)),
        None => says,
    }
}
