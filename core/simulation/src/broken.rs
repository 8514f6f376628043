//! Finds the broken properties of a ready program.

use optimist_apiserver::server::ApiServer;
use optimist_checker::{Goal, Safety};
use optimist_controller::program::Kind;

use crate::explore::ready_properties;
use crate::{ActorId, World};

/// A property of a controller's program that does not hold at a moment of a history. Lost edits are
/// in the [ledger](World::ledger).
#[derive(Clone, Debug, PartialEq)]
pub enum BrokenProperty {
    /// The controller or somebody else made more objects of a kind than the program wants.
    TooMany {
        /// The kind.
        kind: Kind,
        /// The number of objects.
        found: usize,
        /// The most objects that the program wants.
        most: usize,
    },
    /// An object of a kind was deleted although its owner lived.
    DeletedWhileOwnerLives(Kind),
    /// Nothing more happens by itself, and this is not true.
    AtRest(Goal),
}

impl World {
    /// Returns the properties of a controller's program: those that must always hold, and those
    /// that must hold once nothing more happens by itself. `None` without a ready program, or if
    /// its properties do not fit the objects.
    pub fn goals(&self, id: ActorId) -> Option<(Vec<Safety>, Vec<Goal>)> {
        ready_properties(self, id)
    }

    /// Returns the properties of a controller's program that are broken at this moment. Empty without a
    /// ready program, or if its properties do not fit the objects.
    pub fn broken_properties(&self, id: ActorId) -> Vec<BrokenProperty> {
        let own = self.broken.iter().filter(|(broken, _)| *broken == id);
        let steps = own.filter_map(|(_, safety)| match safety {
            Safety::AtMost(most, kind) => {
                let found = objects_of(self.server(), kind);
                (found > *most).then(|| BrokenProperty::TooMany {
                    kind: kind.clone(),
                    found,
                    most: *most,
                })
            }
            Safety::NotDeletedWhileOwnerLives(kind) => {
                Some(BrokenProperty::DeletedWhileOwnerLives(kind.clone()))
            }
            Safety::KeepsFinalizer(..) | Safety::NoEditLost => None,
        });
        let mut broken: Vec<_> = steps.collect();
        let goals = ready_properties(self, id).filter(|_| self.is_at_rest());
        let goals = goals.into_iter().flat_map(|(_, goals)| goals);
        let wrong = goals.filter(|goal| !goal.is_true(self.server()));
        broken.extend(wrong.map(BrokenProperty::AtRest));
        broken
    }

    /// Returns whether nothing more happens by itself: every event has arrived, and no key is left.
    fn is_at_rest(&self) -> bool {
        self.system(&[])
            .is_some_and(|system| system.enabled().is_empty())
    }

    /// Notes the properties that a step broke. `before` is the world before it.
    pub(super) fn note_broken(&mut self, before: &World) {
        let controllers = before.controllers().filter_map(|(id, _)| {
            let (always, _) = ready_properties(before, id)?;
            Some(always.into_iter().map(move |safety| (id, safety)))
        });
        for broken in controllers.flatten() {
            let (_, safety) = &broken;
            // What was so before, this step did not do.
            let grew = match safety {
                Safety::AtMost(_, kind) => {
                    objects_of(self.server(), kind) > objects_of(before.server(), kind)
                }
                _ => true,
            };
            if grew && !safety.holds_between(before.server(), self.server()) {
                self.broken.retain(|known| *known != broken);
                self.broken.push(broken);
            }
        }
    }
}

fn objects_of(server: &ApiServer, kind: &Kind) -> usize {
    let resource = server.resources().by_kind(&kind.api_version, &kind.kind);
    resource.map_or(0, |resource| {
        let prefix = format!("{}/", resource.storage_prefix);
        server.store().range(&prefix).count()
    })
}
