//! Explanations of reads.

use super::{Explanation, ExplanationKind, StepScene, Suggestion};
use crate::{Action, ActorId};

/// `right` is the actor whose lane is shown beside that of A.
pub(super) fn explain(scene: StepScene<'_>, right: ActorId) -> Explanation {
    let StepScene {
        tree,
        step,
        me,
        them,
    } = scene;
    if matches!(step.action(), Some(Action::Request(_))) && !scene.is_about_the_object() {
        return Explanation::new(ExplanationKind::OtherObject { actor: me }, None);
    }
    let before = tree.parent(tree.current()).and_then(|id| tree.world_at(id));
    let was_edited = before.is_some_and(|world| world.copy(me).is_edited());
    let redone = was_edited && scene.is_edited(me);
    let version = step.after;
    let mine = scene.read_version(me);
    let shown_in_lane = me == ActorId::A || me == right;
    if shown_in_lane && mine.is_some() && mine == scene.read_version(them) {
        let next = if redone {
            Suggestion::SendRedone(me, version)
        } else if scene.is_edited(me) && scene.is_edited(them) {
            Suggestion::SendBoth(right)
        } else {
            Suggestion::ChangeBoth(right)
        };
        return Explanation::new(ExplanationKind::BothRead { version }, next);
    }
    let next = if redone {
        Suggestion::SendAgain(me)
    } else if scene.read_version(them).is_none() && !scene.is_controller(them) {
        Suggestion::GetToo(them)
    } else if scene.is_edited(me) {
        Suggestion::Send(me)
    } else {
        Suggestion::Change(me)
    };
    let kind = ExplanationKind::Read {
        actor: me,
        version,
        redone,
    };
    Explanation::new(kind, next)
}
