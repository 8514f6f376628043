//! A scenario: the start, the actors and their intents.

use std::sync::Arc;

use http::Request;
use serde_json::{Value, json};

use crate::verdict::{Ledger, UpdateTracker};
use crate::{ActorId, ByHand, ObjectRef, World};
use optimist_apiserver::apply::{ManagedFieldsOperation, Manager, Managers, Owned, Set, differing};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, Resource};
use optimist_client::{EditorPlan, Intent, Next, Subresource, Way, WorkingCopy, Write};
use optimist_system::{Faults, System};

/// A starting object and up to six actors.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The server before the first step.
    pub server: ApiServer,
    /// The kind of the object.
    pub resource: Arc<Resource>,
    /// The stored object before the first step.
    pub object: Arc<Value>,
    /// The plans of the actors that take part.
    pub plans: Vec<Plan>,
    /// All actors in the order of their indexes: those of the plans first, then the others, whose edits can be in
    /// the object from before.
    pub actors: [ActorId; 6],
    /// The request that set the owners, if the scenario sets them.
    pub settling: Option<ByHand>,
    /// The edits that are in the object, and who was shown them, by the index of the actor.
    pub updates: UpdateTracker<u8>,
    /// `true` if a request takes several steps: the server reads first, and compares and puts later.
    /// Other requests can come in between.
    pub micro_steps: bool,
    /// The number of times that each fault can happen. Of editors, only answers are lost.
    pub faults: Faults,
}

/// The plan of an actor: its intent and how it writes.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its field manager, which it also sends as User-Agent.
    pub manager: Arc<str>,
    /// The edit that it means to make.
    pub intent: Intent,
    /// `true` if it first reads the object. Otherwise it uses the starting object, which it has from
    /// a file or in its working copy.
    pub reads_first: bool,
    /// The subresource to which it writes, with every write method.
    pub subresource: Option<Subresource>,
    /// `true` if it owns the fields that it changes from the start, by an apply; of the others only
    /// those that do so too. `false` leaves the owners as they are stored.
    pub owns: bool,
    /// Its write method, and its reaction to a conflict. A deletion carries a precondition if the
    /// method sends the version.
    pub write: Write,
    /// Its own way of writing, for [`WriteMethod::Own`](optimist_client::WriteMethod::Own).
    pub own: Option<OwnWrite>,
    /// The tool that it is: it sends the requests of the tool's procedure, and `reads_first`,
    /// `subresource`, `owns`, `write` and `own` do not matter. `None` for an editor.
    pub tool: Option<Way>,
}

/// An actor's own way of writing, with the client that it has.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnWrite {
    /// The edit that it means to make; for a client that sends a manifest, the manifest.
    pub intent: Intent,
    /// Its write method.
    pub write: Write,
}

/// The index of an actor.
fn index(actors: &[ActorId], actor: ActorId) -> u8 {
    let at = actors.iter().position(|known| *known == actor);
    at.and_then(|at| u8::try_from(at).ok())
        .unwrap_or(actor as u8)
}

impl Plan {
    /// The write that it sends.
    pub fn sends(&self) -> Write {
        Write {
            subresource: self.subresource.or(self.write.subresource),
            ..self.write.clone()
        }
    }
}

impl Scenario {
    /// A scenario that starts with an object of a server.
    pub fn new(server: ApiServer, resource: Arc<Resource>, object: Arc<Value>) -> Self {
        Self {
            server,
            resource,
            object,
            plans: Vec::new(),
            actors: ActorId::ALL,
            settling: None,
            updates: UpdateTracker::new(),
            micro_steps: false,
            faults: Faults::default(),
        }
    }

    /// Makes a scenario that starts with the stored object of a world, and with the edits of the
    /// object in its ledger. Its clock does not move.
    pub fn from_world(world: &World) -> Self {
        Self::with_actors(world, ActorId::ALL)
    }

    /// Makes the same scenario, with the actors in another order.
    pub(super) fn with_actors(world: &World, actors: [ActorId; 6]) -> Self {
        let object = world.stored().map(|(_, object)| Arc::clone(object));
        Self {
            updates: world.updates().renamed(|actor| index(&actors, actor)),
            actors,
            ..Self::new(
                world.server().clone(),
                Arc::clone(world.resource()),
                object.unwrap_or_default(),
            )
        }
    }

    /// Returns the scenario with the edits of Editor A and Editor B alone.
    pub fn of_editors(mut self) -> Self {
        self.plans.truncate(ActorId::EDITORS.len());
        let before = std::mem::replace(&mut self.actors, ActorId::ALL);
        let actor = |index: u8| before.get(usize::from(index)).copied();
        self.updates = self
            .updates
            .renamed(|index| actor(index).map_or(index, |actor| actor as u8));
        self
    }

    /// The actors that take part, with their plans.
    pub fn acting(&self) -> impl Iterator<Item = (ActorId, &Plan)> {
        self.actors.iter().copied().zip(&self.plans)
    }

    /// Sets the owners of the fields that the actors change, by a request that sets managedFields.
    ///
    /// # Errors
    /// The server's message, if it refuses the request.
    pub fn with_owners(mut self) -> Result<Self, String> {
        let settled = |plan: &&Plan| plan.owns && plan.tool().is_none();
        if !self.plans.iter().any(|plan| settled(&plan)) {
            return Ok(self);
        }
        let mut managers = Managers::read(&self.object)?;
        let changes = self.plans.iter().filter(settled);
        let changes: Vec<(&Plan, Set)> = changes
            .map(|plan| (plan, self.set_of_changes(&plan.intent)))
            .collect();
        managers.retain(|owned| {
            for (_, set) in &changes {
                owned.set = owned.set.recursive_difference(set);
            }
            !owned.set.is_empty()
        });
        for (plan, set) in changes {
            if !set.is_empty() {
                let subresource = plan.sends().subresource.map_or("", Subresource::name);
                managers.insert(Owned {
                    manager: Manager::new(
                        &plan.manager,
                        ManagedFieldsOperation::Apply,
                        "",
                        subresource,
                    ),
                    api_version: self.resource.group_version.to_string(),
                    set,
                    time: Some(self.server.environment().now()),
                });
            }
        }
        let mut body = json!({"metadata": {"resourceVersion": self.object.resource_version()}});
        body.set_meta(
            "managedFields",
            managers.encode().unwrap_or_else(|| json!([{}])),
        );
        let settling = ByHand {
            method: "PATCH".to_owned(),
            target: self.path(),
            content_type: "application/merge-patch+json".to_owned(),
            body: body.to_string(),
        };
        let request = settling.request("kubectl");
        let request = request.ok_or_else(|| "The object has no path.".to_owned())?;
        let response = self.server.handle(request);
        let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        if !response.status().is_success() {
            return Err(optimist_apiserver::object::text(&answer, "message").to_owned());
        }
        self.object = Arc::new(answer);
        self.settling = Some(settling);
        Ok(self)
    }

    /// The fields of the starting object that an intent changes.
    fn set_of_changes(&self, intent: &Intent) -> Set {
        let edited = intent.done_on(&self.object);
        let mut set = Set::default();
        for path in differing(&self.object, &edited, &self.resource.root) {
            if path.find(&self.object).is_some() {
                set.insert(&path);
            }
        }
        set
    }

    fn path(&self) -> String {
        self.resource
            .path(self.object.namespace(), self.object.name())
    }

    /// The request of an actor that has read an object; `None` if it cannot write that object.
    pub fn request(&self, plan: &Plan, read: &Arc<Value>) -> Option<Request<Vec<u8>>> {
        match self.procedure(plan, Some(read)).next() {
            Next::Send(request) => Some(request),
            Next::Sleep(_) | Next::Done => None,
        }
    }

    /// The editor of a plan, which has read an object or reads first.
    pub(super) fn editor(&self, plan: &Plan, read: Option<&Arc<Value>>) -> EditorPlan {
        let mut copy = WorkingCopy::default();
        if let Some(read) = read {
            copy.settle(Arc::clone(read));
        }
        EditorPlan {
            object: ObjectRef::new(&self.resource, &self.object),
            manager: Arc::clone(&plan.manager),
            copy,
            intent: Some(plan.intent.clone()),
            write: plan.sends(),
        }
    }

    /// Returns the system of its server, its actors and its ledger: those that do not read first
    /// were shown the starting object.
    pub(super) fn system(&self) -> System {
        let mut updates = self.updates.clone();
        for (who, plan) in (0..).zip(&self.plans) {
            if !plan.begins_with_read() {
                updates.read(who, &self.object);
            }
        }
        let object = ObjectRef::new(&self.resource, &self.object);
        let ledger = Ledger::of_object(object, updates);
        let system = System::new(self.server.clone(), ledger).with_ledger();
        let system = system.with_faults(self.faults);
        let procedures = self.procedures().into_iter();
        procedures.fold(system, System::with)
    }
}
