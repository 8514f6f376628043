//! The operations of controllers in a world.

use std::sync::Arc;

use super::World;
use crate::controller::EventOnTheWay;
use crate::step::Exchange;
use crate::watcher::Watcher;
use crate::{ActorId, ControllerEvent, ControllerOperation, ObjectRef, Operation, Step};
use optimist_apiserver::object::text;
use optimist_apiserver::server::{Resource, WatchEvent};
use optimist_apiserver::storage::{Change, Revision};
use optimist_client::{AnsweredRequest, changes};
use optimist_controller::{Controller, change_of};
use optimist_system::ProcessId;
use serde_json::{Value, json};

impl World {
    /// The controller that an actor is; `None` for an editor or a tool.
    pub fn controller(&self, id: ActorId) -> Option<&Controller> {
        self.system.controller(id as ProcessId)
    }

    /// The actors that are controllers.
    pub fn controllers(&self) -> impl Iterator<Item = (ActorId, &Controller)> {
        let actors = ActorId::ALL.into_iter();
        actors.filter_map(|id| Some((id, self.controller(id)?)))
    }

    /// The actors that are no controllers: editors and tools.
    pub fn editors_and_tools(&self) -> impl Iterator<Item = ActorId> {
        let actors = ActorId::ALL.into_iter();
        actors.filter(|id| self.controller(*id).is_none())
    }

    /// Returns whether a controller does nothing, and the time of a waiting key has come: the key is queued before
    /// the next step, and nobody waits for it.
    pub fn has_due_key(&self, id: ActorId) -> bool {
        let now = self.server().environment().elapsed();
        self.controller(id).is_some_and(|controller| {
            let is_idle = controller.run().is_none() && !controller.can_take();
            let ready = controller.queue().next_ready();
            is_idle && ready.is_some_and(|ready| ready <= now)
        })
    }

    /// Returns whether an actor is a controller.
    pub fn has_controllers(&self) -> bool {
        self.controllers().next().is_some()
    }

    /// The events that have not reached a cache of a controller, in their order. They arrive one by one if the watch of
    /// the cache is open; of a closed watch, the next one brings them. None is on its way to a cache that lists next.
    pub fn events_on_the_way(&self, id: ActorId, cache: usize) -> Vec<EventOnTheWay> {
        let caches = self.controller(id).map(Controller::caches);
        let Some(cache) = caches.and_then(|caches| caches.get(cache)) else {
            return Vec::new();
        };
        let kind = &cache.resource().kind;
        let events = cache.upcoming_events(self.server());
        let events = events.iter().map(|event| EventOnTheWay::new(event, kind));
        events.collect()
    }

    /// Performs an operation of a controller. `None` if it is not possible now.
    pub(super) fn control(&mut self, id: ActorId, operation: ControllerOperation) -> Option<Step> {
        let revision = self.server().store().revision();
        let performed = self.system.control(id as ProcessId, operation)?;
        let event = performed.controller?;
        let exchange = performed.answered.as_deref().map(|answered| {
            let mut exchange = Exchange::from(answered);
            // A reflector takes the events from the connection, and not from the answer.
            if let Some(events) = self.first_events(answered) {
                exchange.received = Arc::new(Value::Array(events));
            }
            exchange
        });
        self.observe_new_objects(revision);
        let mut step = self.step_of(
            Operation::Control(id, operation),
            exchange,
            revision,
            &event,
        );
        step.has_done(performed.done);
        step.controller = Some(Arc::new(event));
        Some(step)
    }

    /// The events that the server sends at once when it opens the watch of a request. `None` if it is none, or was
    /// refused.
    fn first_events(&self, answered: &AnsweredRequest) -> Option<Vec<Value>> {
        answered.response.status().is_success().then_some(())?;
        let mut watch = self.server().watch(&answered.request).ok()?;
        let events = watch.poll(self.server());
        let event = |event: &WatchEvent| {
            json!({
                "type": event.event_type.as_str(),
                "object": *event.object,
            })
        };
        Some(events.iter().map(event).collect())
    }

    /// Lets the editors see the objects that were created after a revision.
    pub(super) fn observe_new_objects(&mut self, revision: Revision) {
        let log = self.server().store().log_after(revision);
        let created: Vec<_> = log
            .filter(|change| change.before.is_none())
            .filter_map(|change| change.after.clone())
            .collect();
        for object in created {
            let Some(resource) = self.resource_of(&object) else {
                continue;
            };
            let subject = ObjectRef::new(resource, &object);
            if self.subjects().all(|known| *known != subject) {
                let watcher = Watcher::new(&subject);
                self.subjects.push((subject, watcher));
            }
        }
    }

    /// The step, with the versions of the object that its request is about.
    fn step_of(
        &self,
        operation: Operation,
        exchange: Option<Exchange>,
        revision: Revision,
        event: &ControllerEvent,
    ) -> Step {
        let ControllerEvent::Worker(report) = event else {
            return self.aside(operation, exchange);
        };
        let changed = self.changed_since(revision).map(|change| {
            let before = change.before.as_deref();
            (before, change.after.as_deref())
        });
        let addressed = exchange.as_ref().and_then(|exchange| {
            let subject = self.addressed_by(exchange)?;
            let stored = self.server().store().get(self.subjects[subject].0.key());
            stored.map(|(_, object)| (Some(&**object), Some(&**object)))
        });
        let stored = changed.or(addressed).unwrap_or_default();
        let change = report
            .call()
            .and_then(|call| change_of(call, self.server()));
        let edits = change.map_or_else(Vec::new, |[base, object]| changes(&base, &object));
        // A controller also writes objects of other kinds than the one that is shown.
        let object = stored.1.or(stored.0);
        let resource = object.and_then(|object| self.resource_of(object));
        let root = &resource.unwrap_or(self.resource()).root;
        Step::new(operation, exchange, edits, stored, root)
    }

    /// The kind of a stored object, if the server still has it.
    fn resource_of(&self, object: &Value) -> Option<&Arc<Resource>> {
        let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
        self.server().resources().by_kind(api_version, kind)
    }

    fn changed_since(&self, revision: Revision) -> Option<&Change> {
        self.server().store().log_after(revision).next()
    }

    /// The index of the object that a request is about.
    fn addressed_by(&self, exchange: &Exchange) -> Option<usize> {
        let mut subjects = self.subjects();
        subjects.position(|subject| exchange.addresses(subject))
    }
}
