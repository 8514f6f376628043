//! Ways to end a fight over a field, each run on a server.

use std::sync::Arc;

use optimist_apiserver::apply::{ManagedFieldsOperation, Manager, Path};
use optimist_apiserver::server::ApiServer;
use optimist_client::{WorkingCopy, Write};
use optimist_simulation::World;
use serde_json::Value;

use crate::observed::{FieldChange, Fight};
use crate::ways::concurrent_writer::write_of;

/// A way to end a fight: the field is left to one of its managers. The others leave it out of what they apply, or do not
/// set it any more. On a server the fight was over then: the same managers wrote again, and the field did not change.
#[derive(Clone, Debug, PartialEq)]
pub struct FightRemedy {
    /// The manager to whom the field is left.
    pub keeper: Manager,
    /// The others.
    pub others: Vec<Manager>,
    /// `true` if the field has another value, or none, from the write that leaves it out until the keeper writes again.
    pub has_gap: bool,
}

/// The most fights whose ways out are run.
const MOST_FIGHTS: usize = 10;

/// The rounds of writes after which a fight that goes on has shown itself.
const ROUNDS: usize = 3;

/// Finds the ways out of fights, and puts them into the fights. `world`: one with the newest version of the object. A way
/// out that does not end the fight on the server is left out, and so are all if the server does not show the fight.
pub fn run_remedies(fights: &mut [Fight], changes: &[FieldChange], world: &World) {
    for fight in fights.iter_mut().take(MOST_FIGHTS) {
        let writers = fight.managers.iter();
        let writers = writers.map(|it| Writer::new(world, it, &fight.field, changes));
        let writers: Option<Vec<Writer>> = writers.collect();
        let writers = writers.unwrap_or_default();
        fight.remedies = remedies(world, &fight.field, &writers);
    }
}

fn remedies(world: &World, field: &Path, writers: &[Writer]) -> Vec<FightRemedy> {
    if writers.is_empty() || !fights_on(world, field, writers) {
        return Vec::new();
    }
    let keepers = (0..writers.len()).filter_map(|keeper| {
        let has_gap = ends(world, field, writers, keeper)?;
        let others = writers.iter().enumerate().filter(|(at, _)| *at != keeper);
        Some(FightRemedy {
            keeper: writers[keeper].manager.clone(),
            others: others.map(|(_, it)| it.manager.clone()).collect(),
            has_gap,
        })
    });
    keepers.collect()
}

/// Returns whether the writes of the managers change the field in each round.
fn fights_on(world: &World, field: &Path, writers: &[Writer]) -> bool {
    let mut server = world.server().clone();
    // The first round can begin with the manager that wrote last.
    (0..ROUNDS).all(|round| {
        let changed = writers.iter().map(|writer| {
            let before = value(&server, world, field);
            writer.write(world, &mut server) && value(&server, world, field) != before
        });
        // Each one has to write.
        let changed = changed.filter(|it| *it).count();
        round == 0 || changed == writers.len()
    })
}

/// Runs a way out. Returns whether there is a gap; `None` if the fight goes on, or a write is refused.
fn ends(world: &World, field: &Path, writers: &[Writer], keeper: usize) -> Option<bool> {
    let mut server = world.server().clone();
    let kept = &writers[keeper];
    let mut has_gap = false;
    for round in 0..ROUNDS {
        for (_, writer) in writers.iter().enumerate().filter(|(at, _)| *at != keeper) {
            let before = value(&server, world, field);
            writer.leave(world, &mut server).then_some(())?;
            let after = value(&server, world, field);
            let is_other = after.as_ref() != kept.value.as_ref();
            has_gap |= round == 0 && after != before && is_other;
            if round > 0 && is_other {
                return None;
            }
        }
        kept.write(world, &mut server).then_some(())?;
        if value(&server, world, field).as_ref() != kept.value.as_ref() {
            return None;
        }
    }
    Some(has_gap)
}

fn value(server: &ApiServer, world: &World, field: &Path) -> Option<Value> {
    let (_, object) = server.store().get(world.subject().key())?;
    field.find(object).cloned()
}

/// A manager of a fight, with its way of writing.
struct Writer {
    manager: Manager,
    write: Write,
    field: Path,
    /// The value that it writes; `None` if it removes the field.
    value: Option<Value>,
}

impl Writer {
    /// Reads what a manager writes: its last change of the field. `None` if its way of writing is not known.
    fn new(
        world: &World,
        manager: &Manager,
        field: &Path,
        changes: &[FieldChange],
    ) -> Option<Self> {
        let mut write = write_of(manager, world.resource())?;
        // An apply that changes a value of another manager has force.
        write.force = manager.operation == ManagedFieldsOperation::Apply;
        write.send_resource_version = false;
        let mut own = changes.iter().filter(|it| it.field == *field);
        let value = match own.clone().rfind(|it| it.by.as_ref() == Some(manager)) {
            Some(change) => change.after.clone(),
            None => own.next()?.before.clone(),
        };
        Some(Self {
            manager: manager.clone(),
            write,
            field: field.clone(),
            value,
        })
    }

    /// Writes as before. Returns whether the server accepted it.
    fn write(&self, world: &World, server: &mut ApiServer) -> bool {
        self.send(world, server, self.value.clone())
    }

    /// Writes without the field: an apply leaves it out, and an Update does not change it.
    fn leave(&self, world: &World, server: &mut ApiServer) -> bool {
        self.manager.operation != ManagedFieldsOperation::Apply || self.send(world, server, None)
    }

    fn send(&self, world: &World, server: &mut ApiServer, value: Option<Value>) -> bool {
        let Some((_, stored)) = server.store().get(world.subject().key()) else {
            return false;
        };
        let mut copy = WorkingCopy::default();
        let mut object = (**stored).clone();
        copy.settle(Arc::clone(stored));
        match value {
            Some(value) => {
                self.field.put(&mut object, value);
                copy.declare(self.field.clone());
            }
            None => self.field.remove(&mut object),
        }
        copy.edit(object);
        let name = self.manager.name.as_str();
        let request = self.write.request(world.resource(), &copy, name);
        request.is_some_and(|request| server.handle(request).status().is_success())
    }
}
