//! Explanations of writes that the server accepted.

use std::sync::Arc;

use serde_json::Value;

use super::{DeletionMark, Explanation, ExplanationKind, StepScene, Suggestion, VersionCheck};
use crate::RequestKind;
use crate::endings::write_as;
use crate::verdict::Edit;
use crate::{Action, ActorId, EndingOutcome, Operation, Step, World};
use optimist_apiserver::apply::Managers;
use optimist_apiserver::server::Fact;
use optimist_client::WriteMethod;

/// A write that made a version, or deleted the object.
pub(super) fn written(scene: StepScene<'_>) -> Explanation {
    let StepScene { step, me, them, .. } = scene;
    if let Some(loss) = step.losses.first().filter(|_| !step.asks_to_delete()) {
        let forced = step.is_forced() && has_taken(scene, &loss.edit);
        let kind = ExplanationKind::Lost {
            actor: me,
            loss: loss.clone(),
            request: step.request_kind(),
            forced,
        };
        let next = match step.request_kind() {
            _ if step.is_forced() => Suggestion::WithoutForce(me),
            // A create carries no version and no ownership to compare.
            RequestKind::Create => Suggestion::OtherOrder,
            _ if scene.tree.apply_keeps(|| apply_keeps(scene)) => Suggestion::CompareOrApply(me),
            _ => Suggestion::Compare(me),
        };
        return Explanation {
            results: step.edit_results(),
            ..Explanation::new(kind, next)
        };
    }
    let stale = scene.world().stale_by(them) > 0;
    let next = if scene.is_controller(them) {
        None
    } else if step.after == 0 && stale {
        Some(Suggestion::SendDeleted(them))
    } else if stale && scene.is_edited(them) {
        Some(Suggestion::SendStale(them))
    } else if stale {
        Some(Suggestion::ChangeStale(them))
    } else if scene.read_version(them).is_none() {
        Some(Suggestion::Get(them))
    } else {
        Some(Suggestion::OtherOrder)
    };
    let others = ActorId::ALL.into_iter().filter(|actor| *actor != me);
    let stale = others.filter(|actor| scene.world().stale_by(*actor) > 0);
    let stale = stale.map(|actor| {
        let version = scene.read_version(actor).unwrap_or_default();
        (actor, version.to_owned())
    });
    Explanation {
        results: step.edit_results(),
        stale: stale.collect(),
        kept: kept_edits(scene),
        ..Explanation::new(written_kind(scene), next)
    }
}

/// Returns whether the same edit, sent as an apply, would not have lost an edit. An apply is refused for the owner of
/// a field; a field that somebody removed has none.
fn apply_keeps(scene: StepScene<'_>) -> bool {
    let (Some(before), Some(write)) = (scene.world_before(), scene.step.write()) else {
        return false;
    };
    let apply = write_as(WriteMethod::Apply, write);
    let mut world = before.clone();
    let applied = world.act(Operation::Act(scene.me, Action::Send(apply)));
    applied.is_some_and(|step| step.losses.is_empty() && step.left_out.is_empty())
}

/// Returns whether an apply has made the field of an edit its own, which another manager owned before.
fn has_taken(scene: StepScene<'_>, edit: &Edit) -> bool {
    let write = scene
        .step
        .write()
        .and_then(|write| write.manager.as_deref());
    let applier = write.unwrap_or(&scene.world().actor(scene.me).manager);
    let is_owned = |world: &World, by_applier: bool| {
        let stored = world.stored();
        let managers = stored.map(|(_, object)| Managers::of_object(object));
        let managers = managers.unwrap_or_default();
        managers.iter().any(|owned| {
            let mut paths = owned.set.paths().into_iter();
            (owned.manager.name == applier) == by_applier
                && paths.any(|path| path.overlaps(&edit.path))
        })
    };
    let before = scene.world_before();
    before.is_some_and(|before| is_owned(before, false)) && is_owned(scene.world(), true)
}

/// The edits in the object, if those of at least two actors are and none was lost on the way.
fn kept_edits(scene: StepScene<'_>) -> Vec<Arc<Edit>> {
    let both = scene.tree.ending_outcome(scene.tree.current()) == Some(EndingOutcome::BothKept);
    let updates = scene.world().updates();
    let mut edits: Vec<Arc<Edit>> = Vec::new();
    for known in updates.kept_edits().iter().filter(|_| both) {
        // Several actors can mean the same.
        if !edits.contains(&known.edit) {
            edits.push(Arc::clone(&known.edit));
        }
    }
    edits.sort_by_key(|edit| edit.is_record_of_tool());
    edits
}

fn written_kind(scene: StepScene<'_>) -> ExplanationKind {
    let StepScene {
        step, me: actor, ..
    } = scene;
    let (before, after) = (step.before, step.after);
    let deletes = step.asks_to_delete();
    if after == 0 {
        return ExplanationKind::Deleted {
            actor,
            version: before,
            by_finalizer: !deletes,
        };
    }
    if deletes {
        let stored = scene.world().stored().map(|(_, object)| object.as_ref());
        let metadata = stored.map_or(&Value::Null, |object| &object["metadata"]);
        return ExplanationKind::Terminating {
            actor,
            version: after,
            mark: mark(scene, metadata),
            finalizers: metadata["finalizers"]
                .as_array()
                .is_some_and(|all| !all.is_empty()),
            grace: metadata["deletionGracePeriodSeconds"]
                .as_i64()
                .unwrap_or_default(),
        };
    }
    if before == 0 {
        return ExplanationKind::Created {
            actor,
            version: after,
        };
    }
    ExplanationKind::Stored {
        actor,
        before,
        after,
        request: step.request_kind(),
        check: version_check(step),
    }
}

/// Returns whether the object was marked for deletion before the step.
/// Compares the mark of an object for its deletion with the one that it had before.
fn mark(scene: StepScene<'_>, metadata: &Value) -> DeletionMark {
    let before = scene.world_before().and_then(World::stored);
    let before = before.map_or(&Value::Null, |(_, object)| &object["metadata"]);
    let grace = |metadata: &Value| metadata["deletionGracePeriodSeconds"].as_i64();
    match before.get("deletionTimestamp") {
        None => DeletionMark::New,
        Some(_) if grace(metadata) < grace(before) => DeletionMark::Sooner,
        Some(_) => DeletionMark::OfFinalizers,
    }
}

fn version_check(step: &Step) -> VersionCheck {
    let mut checks = step.facts().iter().filter_map(|fact| match fact {
        Fact::VersionNotSent(_) | Fact::VersionTakenOver(_) => Some(VersionCheck::NotSent),
        Fact::VersionMatched(_) => Some(VersionCheck::Matched),
        _ => None,
    });
    checks.next().unwrap_or(VersionCheck::Unknown)
}

/// A write that was accepted, after which the object that is shown is as it was.
pub(super) fn unchanged(scene: StepScene<'_>) -> Explanation {
    let StepScene {
        step, me: actor, ..
    } = scene;
    if !step.left_out.is_empty() {
        return Explanation {
            results: step.edit_results(),
            ..Explanation::new(ExplanationKind::NotApplied, Suggestion::ChangeOther(actor))
        };
    }
    let version = step.after;
    let unchanged = |fact: &Fact| matches!(fact, Fact::Unchanged(_));
    let facts = step.facts();
    let kind = if facts.contains(&Fact::DryRun) {
        return Explanation::new(ExplanationKind::DryRun, None);
    } else if matches!(step.action(), Some(Action::Request(_))) && !scene.is_about_the_object() {
        return Explanation::new(ExplanationKind::OtherObject { actor }, None);
    } else if let Some(kind) = written_before_it_was_shown(scene) {
        return Explanation::new(kind, None);
    } else if step.asks_to_delete() && facts.iter().any(unchanged) {
        return Explanation::new(ExplanationKind::StillTerminating { version }, None);
    } else {
        ExplanationKind::Unchanged { actor, version }
    };
    Explanation::new(kind, Suggestion::ChangeAgain(actor))
}

/// Explains a request that wrote to the object which is shown now, but was sent while another
/// object was shown: the versions of its step are those of the other object.
fn written_before_it_was_shown(scene: StepScene<'_>) -> Option<ExplanationKind> {
    let StepScene {
        step, me: actor, ..
    } = scene;
    let written = |fact: &Fact| match fact {
        Fact::Created(version) => Some(ExplanationKind::Created {
            actor,
            version: *version,
        }),
        Fact::Stored { before, after } => Some(ExplanationKind::Stored {
            actor,
            before: *before,
            after: *after,
            request: step.request_kind(),
            check: version_check(step),
        }),
        _ => None,
    };
    step.facts().iter().find_map(written)
}

impl StepScene<'_> {
    /// Returns whether the request was sent to the object that is shown, or to one of its subresources.
    pub(super) fn is_about_the_object(self) -> bool {
        let path = self.world().subject().path();
        let target = self.step.exchange.as_ref().map(|sent| sent.target.as_str());
        let target = target.and_then(|target| target.split('?').next());
        let rest = target.and_then(|target| target.strip_prefix(path.as_str()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}
