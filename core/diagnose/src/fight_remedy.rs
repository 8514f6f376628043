//! Ways to end a fight over a field, each run on a server.

use std::sync::Arc;

use optimist_apiserver::apply::{ManagedFieldsOperation, Manager, Path};
use optimist_apiserver::object::Metadata;
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

/// A search for the ways out of fights, which it puts into the fights. It is run in parts: a part is one write of a
/// manager. A way out that does not end the fight on the server is left out, and so are all if the server does not show
/// the fight. If the object came without its owners, no way out is run in which an apply leaves the field out.
#[derive(Debug, Default)]
pub struct RemedyRun {
    /// The position of the fight whose ways out are run.
    fight: usize,
    writers: Vec<FightWriter>,
    trial: Option<Trial>,
}

impl RemedyRun {
    /// Runs the next part, with the same arguments at each call. `world`: one with the newest version of the object.
    /// Returns whether there is more.
    pub fn advance(
        &mut self,
        fights: &mut [Fight],
        changes: &[FieldChange],
        world: &World,
    ) -> bool {
        let Some(fight) = fights.iter_mut().take(MOST_FIGHTS).nth(self.fight) else {
            return false;
        };
        let next = match self.trial.take() {
            None => {
                let writers = fight.managers.iter();
                let writers = writers.map(|it| FightWriter::new(world, it, &fight.field, changes));
                self.writers = writers.collect::<Option<_>>().unwrap_or_default();
                fight.remedies.clear();
                (!self.writers.is_empty()).then(|| Trial::new(world, None))
            }
            Some(mut trial) => match trial.advance(world, &fight.field, &self.writers) {
                None => Some(trial),
                Some(ended) => {
                    if let (Some(keeper), true) = (trial.keeper, ended) {
                        fight.remedies.push(self.remedy(keeper, trial.has_gap));
                    }
                    self.keeper_after(&trial, ended, world)
                        .map(|keeper| Trial::new(world, Some(keeper)))
                }
            },
        };
        if next.is_none() {
            self.fight += 1;
        }
        self.trial = next;
        true
    }

    /// The keeper of the trial after one that has ended. There is none if the server did not show the fight.
    fn keeper_after(&self, trial: &Trial, ended: bool, world: &World) -> Option<usize> {
        let next = match trial.keeper {
            Some(keeper) => keeper + 1,
            None => ended.then_some(0)?,
        };
        (next..self.writers.len()).find(|keeper| self.can_try(*keeper, world))
    }

    /// Returns whether the server can show what happens when the others leave the field to a keeper. An apply that
    /// leaves a field out removes it if nobody else owns it. So nothing is known of it on an object that came without
    /// its owners.
    fn can_try(&self, keeper: usize, world: &World) -> bool {
        let stored = world.stored();
        let has_owners = stored.is_some_and(|(_, object)| object.managed_fields().is_some());
        let mut others = self.writers.iter().enumerate();
        has_owners
            || others.all(|(at, it)| {
                at == keeper || it.manager.operation != ManagedFieldsOperation::Apply
            })
    }

    fn remedy(&self, keeper: usize, has_gap: bool) -> FightRemedy {
        let others = self.writers.iter().enumerate();
        let others = others.filter(|(at, _)| *at != keeper);
        FightRemedy {
            keeper: self.writers[keeper].manager.clone(),
            others: others.map(|(_, it)| it.manager.clone()).collect(),
            has_gap,
        }
    }
}

/// A run of the writes on a server of its own.
#[derive(Debug)]
struct Trial {
    /// The manager to whom the field is left; `None` in the fight itself.
    keeper: Option<usize>,
    server: ApiServer,
    round: usize,
    /// The number of writes in this round.
    turn: usize,
    /// The number of them that changed the field.
    changed: usize,
    has_gap: bool,
}

impl Trial {
    fn new(world: &World, keeper: Option<usize>) -> Self {
        Self {
            keeper,
            server: world.server().clone(),
            round: 0,
            turn: 0,
            changed: 0,
            has_gap: false,
        }
    }

    /// Does the next write. Once it has ended: whether the fight showed itself or, with a keeper, whether it was over.
    fn advance(&mut self, world: &World, field: &Path, writers: &[FightWriter]) -> Option<bool> {
        let is_as_expected = match self.keeper {
            None => {
                self.fight_on(world, field, &writers[self.turn]);
                // The first round can begin with the manager that wrote last. After it each one has to write.
                self.round == 0 || self.changed == self.turn + 1
            }
            Some(keeper) => self.leave(world, field, writers, keeper),
        };
        if !is_as_expected {
            return Some(false);
        }
        self.turn += 1;
        if self.turn == writers.len() {
            (self.round, self.turn, self.changed) = (self.round + 1, 0, 0);
        }
        (self.round == ROUNDS).then_some(true)
    }

    /// Lets a manager write as in the fight.
    fn fight_on(&mut self, world: &World, field: &Path, writer: &FightWriter) {
        let before = value(&self.server, world, field);
        let accepted = writer.write(world, &mut self.server);
        let changes = accepted && value(&self.server, world, field) != before;
        self.changed += usize::from(changes);
    }

    /// Does the next write of a way out: first those of the others, then that of the keeper. Returns whether the fight
    /// may be over.
    fn leave(
        &mut self,
        world: &World,
        field: &Path,
        writers: &[FightWriter],
        keeper: usize,
    ) -> bool {
        let kept = &writers[keeper];
        let is_kept = |server: &ApiServer| value(server, world, field) == kept.value;
        let mut others = writers.iter().enumerate().filter(|(at, _)| *at != keeper);
        let Some((_, other)) = others.nth(self.turn) else {
            return kept.write(world, &mut self.server) && is_kept(&self.server);
        };
        let before = value(&self.server, world, field);
        if !other.leave(world, &mut self.server) {
            return false;
        }
        let is_other = !is_kept(&self.server);
        let changes = value(&self.server, world, field) != before;
        self.has_gap |= self.round == 0 && changes && is_other;
        self.round == 0 || !is_other
    }
}

fn value(server: &ApiServer, world: &World, field: &Path) -> Option<Value> {
    let (_, object) = server.store().get(world.subject().key())?;
    field.find(object).cloned()
}

/// A manager of a fight, with its way of writing.
#[derive(Debug)]
struct FightWriter {
    manager: Manager,
    write: Write,
    field: Path,
    /// The value that it writes; `None` if it removes the field.
    value: Option<Value>,
}

impl FightWriter {
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
