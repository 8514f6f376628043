//! Compares the objects that controllers have with those of the server.

use std::cmp::Ordering;
use std::sync::Arc;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{EventType, Resource, key_of};
use optimist_apiserver::storage::{Change, Revision};
use optimist_controller::program::{Code, Statement, Variable};
use optimist_controller::{Cache, Controller, WorkerReport, compare_versions, controller_of};
use serde_json::Value;

use super::World;
use crate::controller::EventOnTheWay;
use crate::{ActorId, ControllerEvent, ControllerOperation, HistoryTree, NodeId};

/// A variable of a run, beside the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunValue {
    /// The name of the variable.
    pub name: String,
    /// Its content.
    pub value: RunValueContent,
}

/// The content of a variable of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunValueContent {
    /// An object.
    Object {
        /// Its kind.
        kind: String,
        /// Its name; empty before the server has given it one.
        name: String,
        /// Its version; empty if the server has not stored it.
        version: String,
        /// The version that the server has now; `None` if it has no such object.
        server: Option<Revision>,
        /// `true` if it was changed here: its content is not what the server stored as its version.
        is_changed: bool,
    },
    /// A list.
    List {
        /// The names of its objects.
        names: Vec<String>,
        /// The number of objects that the same list would have on the server now; `None` if it is
        /// not known.
        server: Option<usize>,
    },
}

/// An event that the server sent to the controller, and whether it has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventArrow {
    /// The event.
    pub event: EventOnTheWay,
    /// `true` if the cache has it.
    pub has_arrived: bool,
}

/// The state of a cache beside the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheStanding {
    /// The kind of its objects.
    pub kind: String,
    /// Its version; empty before its first list.
    pub version: String,
    /// The number of changes of its kind that it does not have.
    pub behind: usize,
    /// `true` if its watch is open.
    pub is_watching: bool,
    /// Its objects: name and version.
    pub objects: Vec<(String, String)>,
    /// The names of those that were changed here: their content is not what the server stored as their version.
    pub changed: Vec<String>,
}

/// An object of the server, for a list of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its version; `None` if it is deleted.
    pub version: Option<Revision>,
    /// The name of its controller; empty if it has none.
    pub owner: String,
}

impl CacheStanding {
    /// Returns whether an object in it is newer than the last event of its watch: a program that changes the cached
    /// object in place has the answer to its write decoded into that object.
    pub fn is_ahead(&self, name: &str) -> bool {
        let object = self.objects.iter().find(|(known, _)| known == name);
        object.is_some_and(|(_, version)| {
            compare_versions(version, &self.version) == Some(Ordering::Greater)
        })
    }
}

impl World {
    /// Returns the state of each cache of a controller beside the server.
    pub fn cache_standings(&self, id: ActorId) -> Vec<CacheStanding> {
        let caches = self.controller(id).map_or(&[][..], Controller::caches);
        let standing = |cache: &Cache| CacheStanding {
            kind: cache.resource().kind.clone(),
            version: cache.version().to_owned(),
            behind: cache.behind(self.server()),
            is_watching: cache.is_watching(),
            changed: (cache.objects().iter())
                .filter(|(_, object)| self.is_changed_here(object))
                .map(|(_, object)| object.name().to_owned())
                .collect(),
            objects: cache
                .objects()
                .iter()
                .map(|(_, object)| {
                    (
                        object.name().to_owned(),
                        object.resource_version().to_owned(),
                    )
                })
                .collect(),
        };
        caches.iter().map(standing).collect()
    }

    /// The variables of the present run of a controller, beside the server.
    pub fn run_values(&self, id: ActorId) -> Vec<RunValue> {
        let Some(controller) = self.controller(id) else {
            return Vec::new();
        };
        let Some(run) = controller.run() else {
            return Vec::new();
        };
        let value = |(name, variable): (&str, &Variable)| RunValue {
            name: name.to_owned(),
            value: match variable {
                Variable::Object { object, .. } => self.object_value(object),
                Variable::List { objects, .. } => RunValueContent::List {
                    names: objects.iter().map(|one| one.name().to_owned()).collect(),
                    server: self.listed_on_server(controller, name),
                },
            },
        };
        run.variables().map(value).collect()
    }

    fn object_value(&self, object: &Arc<Value>) -> RunValueContent {
        let key = self.kind_of(object).map(|kind| key_of(kind, object));
        let stored = key.and_then(|key| self.server().store().get(&key));
        RunValueContent::Object {
            kind: optimist_apiserver::object::text(object, "kind").to_owned(),
            name: object.name().to_owned(),
            version: object.resource_version().to_owned(),
            server: stored.map(|(revision, _)| revision),
            is_changed: self.is_changed_here(object),
        }
    }

    /// The kind of an object; `None` if the server does not serve it.
    fn kind_of(&self, object: &Value) -> Option<&Arc<Resource>> {
        let text = |field: &str| optimist_apiserver::object::text(object, field);
        let resources = self.server().resources();
        resources.by_kind(text("apiVersion"), text("kind"))
    }

    /// Returns whether the content of an object is not what the server stored as its version. `false` if
    /// the server does not know that version.
    fn is_changed_here(&self, object: &Value) -> bool {
        let version: Option<Revision> = object.resource_version().parse().ok();
        let (Some(version), Some(kind)) = (version, self.kind_of(object)) else {
            return false;
        };
        let key = key_of(kind, object);
        let mut history = self.server().store().history(&key);
        let stored = history.find(|stored| stored.revision == version);
        stored
            .and_then(|stored| stored.object.as_ref())
            .is_some_and(|stored| *self.server().read_back(kind, stored) != *object)
    }

    /// Returns the number of objects that the list of a variable would have on the server now.
    fn listed_on_server(&self, controller: &Controller, name: &str) -> Option<usize> {
        let (kind, owner) = list_of(&controller.code().program().body, name)?;
        let mut caches = controller.caches().iter();
        let cache = caches.find(|cache| cache.resource().kind == kind)?;
        let uid = owner.map(|owner| {
            let mut variables = controller.run().into_iter().flat_map(|run| run.variables());
            let found = variables.find(|(name, _)| *name == owner);
            match found {
                Some((_, Variable::Object { object, .. })) => object.uid().to_owned(),
                _ => String::new(),
            }
        });
        let prefix = cache.prefix();
        let objects = self.server().store().range(prefix);
        let owned = objects.filter(|(_, _, object)| {
            uid.as_ref().is_none_or(|uid| {
                let owner = controller_of(object).and_then(|owner| owner.get("uid"));
                owner.and_then(Value::as_str) == Some(uid)
            })
        });
        Some(owned.count())
    }

    /// The next event that reaches a cache of a controller, as an operation; the oldest of all caches
    /// first. `None` if no event is on its way to an open watch.
    pub fn next_delivery(&self, id: ActorId) -> Option<ControllerOperation> {
        let caches = self.controller(id)?.caches().iter().enumerate();
        let open = caches.filter(|(_, cache)| cache.is_watching());
        let first = open.filter_map(|(index, _)| {
            let event = self.events_on_the_way(id, index).into_iter().next()?;
            Some((event.revision, index))
        });
        first
            .min()
            .map(|(_, index)| ControllerOperation::Deliver(index))
    }

    /// Every object of the session, with its version and owner.
    pub fn stored_rows(&self) -> Vec<StoredRow> {
        let row = |subject: &crate::ObjectRef| {
            let stored = self.server().store().get(subject.key());
            let owner = stored.and_then(|(_, object)| {
                let owner = controller_of(object)?.get("name")?.as_str()?;
                Some(owner.to_owned())
            });
            StoredRow {
                kind: subject.resource().kind.clone(),
                name: subject.name().to_owned(),
                version: stored.map(|(revision, _)| revision),
                owner: owner.unwrap_or_default(),
            }
        };
        self.subjects().map(row).collect()
    }

    /// The number of the statement that a controller's run performs next; the number of all
    /// statements at the end of the program. `None` without a run.
    pub fn current_statement(&self, id: ActorId) -> Option<usize> {
        let controller = self.controller(id)?;
        let (code, run) = (controller.code(), controller.run()?);
        Some(
            code.statement_at(run.at())
                .unwrap_or_else(|| statements(code)),
        )
    }
}

/// The part of a step in a run of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPart {
    /// The number of the run, from 1.
    pub number: usize,
    /// `true` if it is the first step of the run.
    pub is_first: bool,
}

impl HistoryTree {
    /// Of each position of the current history, to which run of a controller its step belongs.
    pub fn run_parts(&self, id: ActorId) -> Vec<Option<RunPart>> {
        let mut number = 0;
        let part = |node: &NodeId| {
            let step = self.step(*node)?;
            let event = step
                .controller
                .as_deref()
                .filter(|_| step.actor() == Some(id))?;
            let ControllerEvent::Worker(report) = event else {
                return None;
            };
            let begins = matches!(
                report,
                WorkerReport::Taken { .. } | WorkerReport::NotReady { .. }
            );
            number += usize::from(begins);
            Some(RunPart {
                number,
                is_first: begins,
            })
        };
        self.current_path().iter().map(part).collect()
    }

    /// The events of the changes of a step, for a controller that watched before: on their way, or delivered since. A
    /// change that the controller got with a list has none.
    pub fn event_arrows(&self, id: ActorId, node: NodeId) -> Vec<EventArrow> {
        let parent = self.parent(node).and_then(|parent| self.world_at(parent));
        let (Some(before), Some(after), Some(now)) =
            (parent, self.world_at(node), self.world().controller(id))
        else {
            return Vec::new();
        };
        let watched = before.controller(id).map_or(&[][..], Controller::caches);
        let store = after.server().store();
        let until = store.revision();
        let log = store.log_after(before.server().store().revision());
        let changes = log.take_while(|change| change.revision <= until);
        let arrow = |change: &Change| {
            let of = |cache: &&Cache| change.key.starts_with(cache.prefix());
            watched.iter().find(of).filter(|it| it.has_synced())?;
            let cache = now.caches().iter().find(of)?;
            let has_arrived = self.is_delivered(id, node, change);
            let version: Revision = cache.version().parse().unwrap_or_default();
            (has_arrived || version < change.revision).then_some(())?;
            Some(EventArrow {
                event: event_of(change, cache)?,
                has_arrived,
            })
        };
        changes.filter_map(arrow).collect()
    }

    /// Returns whether the event of a change has reached a controller between a step and the current one.
    fn is_delivered(&self, id: ActorId, from: NodeId, change: &Change) -> bool {
        let until = self.current_path().iter().take(self.position() + 1);
        let mut since = until.skip_while(|node| **node != from);
        since.any(|node| {
            let step = self.step(*node).filter(|step| step.actor() == Some(id));
            let Some(ControllerEvent::Delivered { report, .. }) =
                step.and_then(|step| step.controller.as_deref())
            else {
                return false;
            };
            report.handled.iter().any(|handled| {
                let object = handled.notification.object();
                object.resource_version() == change.revision.to_string()
            })
        })
    }

    /// The number of a controller's last run at the current step; 0 before the first.
    pub fn run_number(&self, id: ActorId) -> usize {
        let parts = self.run_parts(id);
        let until = parts.iter().take(self.position() + 1).rev();
        until.flatten().next().map_or(0, |part| part.number)
    }
}

/// Returns the number of statements in a program.
fn statements(code: &Code) -> usize {
    let numbers = (0..).map_while(|at| code.statement_at(at));
    numbers.max().map_or(0, |last| last + 1)
}

/// The kind and the owner of the list that a variable has.
fn list_of<'a>(body: &'a [Statement], name: &str) -> Option<(&'a str, Option<&'a str>)> {
    body.iter().find_map(|statement| match statement {
        Statement::List {
            into,
            kind,
            controlled_by,
            ..
        } if into == name => Some((kind.kind.as_str(), controlled_by.as_deref())),
        Statement::If {
            then, otherwise, ..
        } => list_of(then, name).or_else(|| list_of(otherwise, name)),
        Statement::ForEach { body, .. } => list_of(body, name),
        _ => None,
    })
}

/// The event of a change.
fn event_of(change: &Change, cache: &Cache) -> Option<EventOnTheWay> {
    let object = change.after.as_ref().or(change.before.as_ref())?;
    Some(EventOnTheWay {
        revision: change.revision,
        event_type: match (&change.before, &change.after) {
            (None, _) => EventType::Added,
            (_, None) => EventType::Deleted,
            _ => EventType::Modified,
        },
        kind: cache.resource().kind.clone(),
        name: object.name().to_owned(),
    })
}
