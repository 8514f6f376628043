//! The three copies of the object that the cards show, aligned.

use std::sync::Arc;

use optimist_apiserver::server::Resource;
use optimist_client::AlignedRows;
use optimist_simulation::{ActorId, World};
use serde_json::Value;

use crate::State;

/// What the cards show, from left to right.
#[derive(Clone, Debug)]
pub struct CardObjects {
    objects: [Option<Arc<Value>>; 3],
    resource: Arc<Resource>,
}

impl PartialEq for CardObjects {
    /// Whether they are the same objects, without looking into them.
    fn eq(&self, other: &Self) -> bool {
        let mut both = self.objects.iter().zip(&other.objects);
        let same = both.all(|both| match both {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        });
        same && Arc::ptr_eq(&self.resource, &other.resource)
    }
}

impl CardObjects {
    pub(crate) fn of(world: &World, right: ActorId) -> Self {
        let edited = |actor: ActorId| world.copy(actor).edited().cloned();
        Self {
            objects: [
                edited(ActorId::A),
                world.stored().map(|(_, object)| Arc::clone(object)),
                edited(right),
            ],
            resource: Arc::clone(world.resource()),
        }
    }
}

/// The rows of the cards.
pub fn aligned_rows(cards: &CardObjects) -> AlignedRows {
    let [left, stored, right] = &cards.objects;
    let copies = [left.as_deref(), stored.as_deref(), right.as_deref()];
    AlignedRows::of(copies, &cards.resource.root)
}

impl State {
    /// What the cards show.
    pub fn card_objects(&self) -> CardObjects {
        CardObjects::of(self.world(), self.view.right)
    }
}
