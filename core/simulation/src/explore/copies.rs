//! A scenario of the edits that actors have in their working copies.

use std::sync::Arc;

use super::{OwnWrite, Plan, Scenario};
use crate::{ActorId, World};
use optimist_apiserver::apply::{Path, PathElement};
use optimist_client::{
    Declares, IntendedChange, Intent, Subresource, WorkingCopy, Write, is_last_applied,
};

impl Scenario {
    /// The edits of the working copies of a world: those of both editors, and of the other actors that have any,
    /// from the object that is stored there. `None` if there is no object, or an editor has not read it.
    pub fn of_copies(world: &World) -> Option<Self> {
        world.stored()?;
        let takes_part = |id: ActorId| ActorId::EDITORS.contains(&id) || world.copy(id).is_edited();
        let mut actors = ActorId::ALL;
        // Stable: the order of the letters stays.
        actors.sort_by_key(|id| !takes_part(*id));
        let mut scenario = Self::with_actors(world, actors);
        let acting = actors.into_iter().filter(|id| takes_part(*id));
        let plans = acting.map(|id| Plan::of_copy(world, id));
        scenario.plans = plans.collect::<Option<_>>()?;
        Some(scenario)
    }
}

impl Plan {
    /// The plan of an actor whose edits are in its working copy.
    fn of_copy(world: &World, id: ActorId) -> Option<Self> {
        let (actor, copy) = (world.actor(id), world.copy(id));
        let root = &world.resource().root;
        let write = actor.write();
        let (intent, own) = match copy.edited().filter(|_| sends_a_manifest(&write)) {
            Some(manifest) => (
                meant_by_manifest(world, copy, (&write, &actor.manager))?,
                Intent::Manifest(Arc::clone(manifest)),
            ),
            None => {
                let intent = Intent::from_copy(copy, root)?;
                (intent.clone(), intent)
            }
        };
        let subresource = match write.subresource {
            // A Scale has nothing but the replicas.
            Some(Subresource::Scale) if !is_of_replicas(&intent) => None,
            subresource => subresource,
        };
        Some(Self {
            subresource,
            own: Some(OwnWrite { intent: own, write }),
            ..Self::new(&actor.manager, intent)
        })
    }
}

/// Returns whether the typed text is a manifest: it does not touch the fields that it leaves out.
fn sends_a_manifest(write: &Write) -> bool {
    let applies = write.strategy == optimist_client::Strategy::Apply;
    write.declares == Declares::Manifest
        && write.subresource.is_none()
        && (applies || write.applies_in_the_client())
}

/// The changes that a manifest means to make in the object that was read.
fn meant_by_manifest(
    world: &World,
    copy: &WorkingCopy,
    (write, manager): (&Write, &str),
) -> Option<Intent> {
    let release = world.server().release();
    let wanted = write.wanted(world.resource(), copy, manager, release)?;
    let intent = Intent::between(copy.read()?, &wanted, &world.resource().root);
    let Intent::Change(mut changes) = intent else {
        return None;
    };
    // Only client-side apply writes this annotation.
    changes.retain(|change| !is_last_applied(&change.path));
    Some(Intent::Change(changes))
}

/// Returns whether it means to change nothing but the replicas.
pub(super) fn is_of_replicas(intent: &Intent) -> bool {
    let is = |change: &IntendedChange| {
        names(&change.path).is_some_and(|names| names == ["spec", "replicas"])
    };
    matches!(intent, Intent::Change(changes) if changes.iter().all(is))
}

/// The names on a path; `None` if it leads through a list.
fn names(path: &Path) -> Option<Vec<&str>> {
    let names = path.0.iter().map(|element| match element {
        PathElement::Field(name) => Some(name.as_str()),
        _ => None,
    });
    names.collect()
}
