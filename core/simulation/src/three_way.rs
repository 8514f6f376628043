//! The object of a step three times: as its actor read it, as the actor wanted it, and as it is
//! stored.

use std::sync::Arc;

use optimist_apiserver::apply::Path;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::schema::Struct;
use optimist_client::{Edit, WorkingCopy};
use serde_json::Value;

use super::{Action, HistoryTree, NodeId, World};

/// A field in which the three objects differ.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreeWayRow {
    /// The place of the field.
    pub path: Path,
    /// The value that the actor read.
    pub read: Option<Value>,
    /// The value that the actor wanted.
    pub wanted: Option<Value>,
    /// The value that was stored when the request arrived.
    pub before: Option<Value>,
    /// The value that is stored after the step.
    pub stored: Option<Value>,
}

/// The fields in which the three objects of a step differ, without versions and times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreeWay {
    /// The resourceVersion that the actor had read; `None` if the request was not made from a
    /// working copy.
    pub read: Option<String>,
    /// The resourceVersion that is stored after the step; `None` if the object is deleted.
    pub stored: Option<String>,
    /// First the actor's changes, then those of others.
    pub rows: Vec<ThreeWayRow>,
}

impl HistoryTree {
    /// Compares the three objects of the step that led to a node; `None` at the root.
    pub fn three_way(&self, node: NodeId) -> Option<ThreeWay> {
        let step = self.step(node)?;
        let after = self.world_at(node)?;
        // Each world remembers which object it shows. Both are compared for the same one.
        let mut before = self.world_at(self.parent(node)?)?.clone();
        let subject = after.subject();
        before.look_at(&subject.resource().kind, subject.name());
        let by_hand = matches!(step.action(), Some(Action::Request(_)));
        let actor = step.actor().filter(|_| !by_hand);
        let copy = actor.map(|actor| before.copy(actor));
        let read = copy.and_then(|copy| copy.read().cloned());
        let wanted = copy.and_then(|copy| copy.edited().cloned());
        let root = &subject.resource().root;
        let stored = [stored(&before), stored(after)];
        Some(match copy.is_some_and(WorkingCopy::is_scale) {
            true => compare_replicas([read, wanted], stored, subject.resource().replicas_field()),
            false => compare([read, wanted], stored, root),
        })
    }
}

fn stored(world: &World) -> Option<Arc<Value>> {
    world.stored().map(|(_, object)| Arc::clone(object))
}

type Object = Option<Arc<Value>>;

fn version(object: &Object) -> Option<String> {
    Some(object.as_ref()?.resource_version().to_owned())
}

fn compare([read, wanted]: [Object; 2], [before, stored]: [Object; 2], root: &Struct) -> ThreeWay {
    let differ = |one: &Object, other: &Object| match (one, other) {
        (Some(one), Some(other)) => Edit::between(one, other, root),
        _ => Vec::new(),
    };
    let base = if read.is_some() { &read } else { &before };
    let all = differ(&read, &wanted)
        .into_iter()
        .chain(differ(base, &stored))
        .chain(differ(&before, &stored));
    let mut rows: Vec<ThreeWayRow> = Vec::new();
    for edit in all {
        let path = edit.path.clone();
        if rows.iter().any(|row| row.path == path) {
            continue;
        }
        let at = |object: &Object| path.find(object.as_deref()?).cloned();
        rows.push(ThreeWayRow {
            read: at(&read),
            wanted: at(&wanted),
            before: at(&before),
            stored: at(&stored),
            path,
        });
    }
    ThreeWay {
        read: version(&read),
        stored: version(&stored),
        rows,
    }
}

/// Compares a Scale that was read and edited with the stored object: they have the replicas in common.
fn compare_replicas(copy: [Object; 2], stored: [Object; 2], path: Path) -> ThreeWay {
    let [(read, copied), (wanted, _)] = copy.map(|scale| {
        let replicas = scale
            .as_deref()
            .and_then(|scale| scale.pointer("/spec/replicas"));
        (replicas.cloned(), version(&scale))
    });
    let [(before, _), (after, stored)] = stored.map(|object| {
        let replicas = object.as_deref().and_then(|object| path.find(object));
        (replicas.cloned(), version(&object))
    });
    let differs = [&wanted, &before, &after]
        .iter()
        .any(|other| **other != read);
    let row = ThreeWayRow {
        path,
        read,
        wanted,
        before,
        stored: after,
    };
    ThreeWay {
        read: copied,
        stored,
        rows: differs.then_some(row).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ActorId, NGINX, Operation};
    use optimist_apiserver::patch::MERGE_PATCH;
    use optimist_client::{OnConflict, Preset, Write, edit_scalar};
    use serde_json::json;

    fn act(tree: &mut HistoryTree, editor: ActorId, action: Action) -> NodeId {
        tree.act(Operation::Act(editor, action)).unwrap()
    }

    fn edit(tree: &mut HistoryTree, editor: ActorId, pointer: &str, text: &str) {
        let copy = tree.world_mut().copy_mut(editor);
        let edited = edit_scalar(copy.edited().unwrap(), pointer, text).unwrap();
        copy.edit(edited);
    }

    /// Both have read replicas 3. A has stored 5, and B wants 2.
    fn b_is_stale() -> HistoryTree {
        let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
        for editor in ActorId::EDITORS {
            act(&mut tree, editor, Action::Get);
        }
        edit(&mut tree, ActorId::A, "/spec/replicas", "5");
        act(&mut tree, ActorId::A, Action::Send(Write::default()));
        edit(&mut tree, ActorId::B, "/spec/replicas", "2");
        tree
    }

    /// The only row, as read, wanted, stored before and stored after.
    fn replicas(three: &ThreeWay) -> [Option<Value>; 4] {
        let [row] = three.rows.as_slice() else {
            panic!("{three:?}");
        };
        assert_eq!(row.path.to_string(), ".spec.replicas");
        [&row.read, &row.wanted, &row.before, &row.stored].map(Clone::clone)
    }

    #[test]
    fn a_refused_write_shows_what_was_read_what_was_wanted_and_what_is_stored() {
        let mut tree = b_is_stale();
        let node = act(&mut tree, ActorId::B, Action::Send(Write::default()));
        let three = tree.three_way(node).unwrap();
        assert_eq!(
            (three.read.as_deref(), three.stored.as_deref()),
            (Some("100"), Some("101"))
        );
        assert_eq!(
            replicas(&three),
            [3, 2, 5, 5].map(|value| Some(json!(value)))
        );
    }

    #[test]
    fn a_blind_write_shows_the_value_that_it_took_away() {
        let mut tree = b_is_stale();
        let blind = Write {
            send_resource_version: false,
            ..Write::default()
        };
        let node = act(&mut tree, ActorId::B, Action::Send(blind));
        let three = tree.three_way(node).unwrap();
        assert_eq!(
            replicas(&three),
            [3, 2, 5, 2].map(|value| Some(json!(value)))
        );
    }

    #[test]
    fn a_second_read_shows_what_others_changed_and_a_first_read_shows_nothing() {
        let mut tree = b_is_stale();
        let node = act(&mut tree, ActorId::B, Action::Get);
        let three = tree.three_way(node).unwrap();
        assert_eq!(
            replicas(&three),
            [3, 2, 5, 5].map(|value| Some(json!(value)))
        );
        assert!(tree.three_way(1).unwrap().rows.is_empty());
        assert!(tree.three_way(0).is_none());
    }

    #[test]
    fn a_request_by_hand_has_no_copy_to_compare_with() {
        let mut tree = b_is_stale();
        let path = tree.world().subject().path();
        let by_hand = crate::ByHand {
            method: "PATCH".to_owned(),
            target: path,
            content_type: MERGE_PATCH.to_owned(),
            body: json!({"spec": {"replicas": 7}}).to_string(),
        };
        let node = act(&mut tree, ActorId::B, Action::Request(by_hand));
        let three = tree.three_way(node).unwrap();
        assert_eq!(three.read, None);
        let [before, after] = [5, 7].map(|value| Some(json!(value)));
        assert_eq!(replicas(&three), [None, None, before, after]);
    }

    #[test]
    fn the_scale_that_an_autoscaler_read_is_compared_by_its_replicas_alone() {
        let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
        let hpa = ActorId::B;
        assert!(tree.world_mut().become_tool(hpa, Preset::Autoscaler));
        act(&mut tree, hpa, Action::GetScale);
        act(&mut tree, ActorId::A, Action::Get);
        edit(&mut tree, ActorId::A, "/spec/replicas", "5");
        act(&mut tree, ActorId::A, Action::Send(Write::default()));
        edit(&mut tree, hpa, "/spec/replicas", "2");
        let write = Write {
            on_conflict: OnConflict::GiveUp,
            ..tree.world().actor(hpa).write()
        };
        let node = act(&mut tree, hpa, Action::Send(write));
        let three = tree.three_way(node).unwrap();
        assert_eq!(
            replicas(&three),
            [3, 2, 5, 5].map(|value| Some(json!(value)))
        );
    }
}
