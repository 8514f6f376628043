//! A preview of a write, before it is sent.

use super::{Action, ActorId, Operation, Step, World};
use optimist_apiserver::apply::{Manager, Managers, Path, Set};
use optimist_client::Write;

/// A write that was tried on a copy of the world.
#[derive(Clone, Debug)]
pub struct DryRunPreview {
    /// The step that it would be.
    pub step: Step,
    /// The fields that it would take from others, and from whom.
    pub taken: Vec<(Manager, Path)>,
}

impl World {
    /// Tries a write without doing it. `None` if there is nothing to send yet.
    pub fn preview_write(&self, id: ActorId, write: Write) -> Option<DryRunPreview> {
        let mut copy = self.clone();
        let before = copy.owners();
        let named = write.manager.clone();
        let applier = named.unwrap_or_else(|| self.actor(id).manager.to_string());
        let step = copy.act(Operation::Act(id, Action::Send(write)))?;
        let after = copy.owners();
        let mut taken = Vec::new();
        for owned in before.iter() {
            let kept = after.get(&owned.manager).map(|owned| &owned.set);
            let lost = owned.set.difference(kept.unwrap_or(&Set::default()));
            // What is gone from the object was not taken by anyone.
            let there = |path: &Path| {
                let stored = copy.stored();
                stored.is_some_and(|(_, object)| path.find(object).is_some())
            };
            let manager = &owned.manager;
            let own = manager.name == applier;
            let paths = lost.paths().into_iter().filter(|path| !own && there(path));
            taken.extend(paths.map(|path| (manager.clone(), path)));
        }
        Some(DryRunPreview { step, taken })
    }

    fn owners(&self) -> Managers {
        let stored = self.stored();
        stored.map_or_else(Managers::default, |(_, object)| Managers::of_object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HistoryTree, NGINX};
    use optimist_client::{Strategy, edit_scalar, remove_at};

    fn ready() -> HistoryTree {
        let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
        tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
        tree
    }

    fn edit(tree: &mut HistoryTree, edit: impl Fn(&serde_json::Value) -> serde_json::Value) {
        let edited = edit(tree.world().copy(ActorId::A).edited().unwrap());
        tree.world_mut().copy_mut(ActorId::A).edit(edited);
    }

    #[test]
    fn an_editor_that_applies_under_another_name_takes_from_its_own() {
        let mut tree = ready();
        let replicas = |tree: &mut HistoryTree, number: &str| {
            edit(tree, |object| {
                edit_scalar(object, "/spec/replicas", number).unwrap()
            });
        };
        replicas(&mut tree, "5");
        let update = Write::usual(Strategy::Update);
        tree.act(Operation::Act(ActorId::A, Action::Send(update)));
        replicas(&mut tree, "6");
        let taken = |manager: Option<&str>| {
            let write = Write {
                force: true,
                manager: manager.map(str::to_owned),
                ..Write::usual(Strategy::Apply)
            };
            let preview = tree.world().preview_write(ActorId::A, write).unwrap();
            let paths = preview.taken.iter().map(|(_, path)| path.to_string());
            paths.collect::<Vec<_>>()
        };
        assert_eq!(taken(None), [""; 0]);
        assert_eq!(taken(Some("other")), [".spec.replicas"]);
    }

    #[test]
    fn a_forced_apply_says_beforehand_what_it_would_take_and_does_nothing() {
        let mut tree = ready();
        edit(&mut tree, |object| {
            edit_scalar(object, "/spec/replicas", "5").unwrap()
        });
        let write = |force| Write {
            force,
            ..Write::usual(Strategy::Apply)
        };
        let refused = tree
            .world()
            .preview_write(ActorId::A, write(false))
            .unwrap();
        assert_eq!(refused.step.status_line(), "409 Conflict");
        assert!(refused.taken.is_empty());
        let forced = tree.world().preview_write(ActorId::A, write(true)).unwrap();
        let taken: Vec<String> = forced
            .taken
            .iter()
            .map(|(manager, path)| format!("{path} from {}", manager.name))
            .collect();
        assert_eq!(taken, [".spec.replicas from kubectl-create"]);
        assert_eq!(tree.world().stored().unwrap().0, 100);
    }

    #[test]
    fn leaving_a_field_out_says_beforehand_that_it_will_be_gone() {
        let mut tree = ready();
        edit(&mut tree, |object| {
            let mut object = object.clone();
            object["metadata"]["labels"]["team"] = "web".into();
            object
        });
        let apply = Write::usual(Strategy::Apply);
        let send = Operation::Act(ActorId::A, Action::Send(apply.clone()));
        tree.act(send).unwrap();
        edit(&mut tree, |object| {
            remove_at(object, "/metadata/labels/team").unwrap()
        });
        let preview = tree.world().preview_write(ActorId::A, apply).unwrap();
        let gone: Vec<&str> = preview
            .step
            .effect
            .iter()
            .filter(|change| change.after.is_none())
            .map(|change| change.pointer.as_str())
            .collect();
        assert_eq!(gone, ["/metadata/labels/team"]);
    }
}
