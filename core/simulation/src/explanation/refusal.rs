//! Explanations of refusals.

use super::{Explanation, ExplanationKind, RefusalReason, StepScene, Suggestion};
use crate::{Action, ActorId, Outcome};
use optimist_apiserver::server::Fact;
use optimist_client::Strategy;

pub(super) fn explain(scene: StepScene<'_>, right: ActorId) -> Explanation {
    let actor = scene.me;
    let again = if scene.is_edited(actor) {
        Suggestion::GetAndSendAgain(actor)
    } else {
        Suggestion::GetToSee(actor)
    };
    if let Some(kind) = conflict(scene, right).or_else(|| failed_test(scene)) {
        return Explanation::new(kind, again);
    }
    let mut facts = scene.step.facts().iter();
    if facts.any(|fact| matches!(fact, Fact::OwnedByOther { .. })) {
        // With force, an apply of an old version is refused for its version.
        let sent = scene.step.exchange.as_ref();
        let sent = sent.and_then(|exchange| exchange.precondition());
        let is_old = sent.is_some_and(|sent| sent != scene.step.after.to_string());
        let next = match scene.step.action() {
            _ if is_old => again,
            Some(Action::Request(_)) => Suggestion::ForceRequest(actor),
            _ => Suggestion::Force(actor),
        };
        let own_updates = are_own_updates(scene).then_some(actor);
        return Explanation::new(ExplanationKind::OwnedByOther { own_updates }, next);
    }
    let by_hand = matches!(scene.step.action(), Some(Action::Request(_)));
    let code = scene.step.exchange.as_ref().map(|exchange| exchange.code);
    if code == Some(404) && scene.step.after == 0 && (!by_hand || scene.is_about_the_object()) {
        return Explanation::new(ExplanationKind::NotFound, Suggestion::Create);
    }
    let reason = reason(scene);
    let next = match (scene.step.action(), &reason) {
        _ if by_hand && !scene.is_about_the_object() => Suggestion::Fix(actor),
        (_, RefusalReason::UidDiffered) => again,
        (_, RefusalReason::AlreadyExists) => Suggestion::GetToSee(actor),
        (Some(Action::Send(_)), RefusalReason::VersionRequired) => Suggestion::Compare(actor),
        (Some(Action::Send(write)), RefusalReason::UnsupportedMediaType { .. })
            if write.strategy == Strategy::StrategicMergePatch =>
        {
            Suggestion::MergePatch(actor)
        }
        _ => Suggestion::Fix(actor),
    };
    let ends_watch = scene.step.is_stream();
    let kind = ExplanationKind::Refused {
        actor,
        reason,
        ends_watch,
    };
    Explanation::new(kind, next)
}

/// Returns whether the conflicts of an apply are all with its own manager, as which it wrote in another way.
fn are_own_updates(scene: StepScene<'_>) -> bool {
    let Some(exchange) = &scene.step.exchange else {
        return false;
    };
    let mut owners = scene.step.facts().iter().filter_map(|fact| match fact {
        Fact::OwnedByOther { manager, .. } => Some(manager),
        _ => None,
    });
    let own = format!("\"{}\" ", exchange.field_manager());
    owners.all(|owner| owner.starts_with(&own))
}

fn reason(scene: StepScene<'_>) -> RefusalReason {
    for fact in scene.step.facts().iter() {
        match fact {
            Fact::UidDiffered { stored, .. } if stored.is_some() => {
                return RefusalReason::UidDiffered;
            }
            Fact::VersionRequired(_) => return RefusalReason::VersionRequired,
            _ => {}
        }
    }
    let Some(exchange) = &scene.step.exchange else {
        return RefusalReason::Other;
    };
    match exchange.received["reason"].as_str() {
        Some("AlreadyExists") if exchange.method == http::Method::POST => {
            RefusalReason::AlreadyExists
        }
        Some("UnsupportedMediaType") => RefusalReason::UnsupportedMediaType {
            content_type: exchange.content_type.to_string(),
        },
        _ if exchange.method == http::Method::GET => RefusalReason::OfRead,
        _ => RefusalReason::Other,
    }
}

/// The write carried another version than the stored one.
fn conflict(scene: StepScene<'_>, right: ActorId) -> Option<ExplanationKind> {
    let differed = scene.step.facts().iter().find_map(|fact| match fact {
        Fact::VersionDiffered { sent, stored } => Some((*sent, *stored)),
        _ => None,
    });
    let (sent, stored) = differed?;
    let copy = scene.read_version(scene.me);
    Some(ExplanationKind::Conflict {
        actor: scene.me,
        sent,
        stored,
        both_read: scene.both_read(sent, right) && !scene.replaced_by_me(sent),
        from_copy: copy.is_some_and(|copy| copy == sent.to_string()),
    })
}

/// A `test` of a JSON patch found another value.
fn failed_test(scene: StepScene<'_>) -> Option<ExplanationKind> {
    let failed = scene.step.facts().iter().find_map(|fact| match fact {
        Fact::OperationFailed(failed) => Some(failed),
        _ => None,
    })?;
    let (wanted, found) = failed.differed.clone()?;
    let exchange = scene.step.exchange.as_ref();
    Some(ExplanationKind::TestFailed {
        path: failed.path.clone(),
        wanted,
        found,
        names_version: exchange.is_some_and(|exchange| exchange.names_version()),
    })
}

impl StepScene<'_> {
    /// Returns whether the actor itself made the version that came after another one.
    fn replaced_by_me(self, version: u64) -> bool {
        let mut so_far = self.tree.current_path()[..=self.tree.position()].iter();
        so_far.any(|&node| {
            self.tree.step(node).is_some_and(|step| {
                step.actor() == Some(self.me) && step.before == version && step.after != version
            })
        })
    }

    /// Returns whether the actors of both lanes read a version in this history.
    fn both_read(self, version: u64, right: ActorId) -> bool {
        let tree = self.tree;
        let so_far = &tree.current_path()[..=tree.position()];
        [ActorId::A, right].into_iter().all(|editor| {
            so_far.iter().any(|&node| {
                tree.step(node).is_some_and(|step| {
                    step.actor() == Some(editor)
                        && step.after == version
                        && step.outcome() == Outcome::Read
                })
            })
        })
    }
}
