//! The state of a history after a step: the server, its actors and its watchers.

mod control;
pub(crate) mod control_view;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use http::Request;
use serde_json::Value;

use super::start::{LoadError, Start};
use super::step::{Exchange, Step};
use super::verdict::{Edit, Intention, Ledger, UpdateTracker, Verdict};
use super::watcher::{WatchAction, Watcher};
use super::{Action, Actor, ActorId, ObjectRef, Operation};
use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, Resource};
use optimist_apiserver::storage::{Revision, Version};
use optimist_checker::Safety;
use optimist_client::{
    Declares, Editor, EditorPlan, Intent, OnConflict, Procedure, Reply, Strategy, Subresource,
    ValueChange, WorkingCopy, Write, changes, changes_by_item,
};
use optimist_system::{Process, ProcessId, System};

/// The server, the observed objects, the actors and the watchers. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct World {
    start: Arc<Start>,
    /// The server, the procedures that actors have begun and not ended, and the ledger. The number of a
    /// process is that of its actor.
    system: System<ActorId>,
    /// Each observed object with its watcher.
    subjects: Vec<(ObjectRef, Watcher)>,
    /// The index of the current object.
    subject: usize,
    actors: [Actor; ActorId::ALL.len()],
    /// The properties of ready programs that steps have broken, with the controllers that have them.
    pub(super) broken: Vec<(ActorId, Safety)>,
}

/// The edits of an object that nobody has written or read.
static NO_EDITS: UpdateTracker<ActorId> = UpdateTracker::new();

impl World {
    /// Creates a server that has just stored the manifests, actors that have not read them, and
    /// watchers that do not watch yet. Also returns the fields that were dropped because only the
    /// server sets them.
    ///
    /// # Errors
    /// If the text has no manifest of a known kind, or the server refuses an object.
    pub fn load(manifests: &str) -> Result<(Self, Vec<String>), LoadError> {
        Self::from_start(Arc::new(Start::with(manifests)))
    }

    /// Creates the world of a start. Its [`start`](Self::start) then has the objects as they were
    /// stored, without comments and without dropped fields. Links, files and scripts contain only
    /// these.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn from_start(start: Arc<Start>) -> Result<(Self, Vec<String>), LoadError> {
        let made = start.make()?;
        let controllers = start.make_controllers(&made.server, &made.subjects)?;
        let start = match made.manifests {
            Some(manifests) if manifests != start.manifests => Arc::new(Start {
                manifests,
                ..(*start).clone()
            }),
            _ => start,
        };
        let mut world = Self::with_subjects(made.server, made.subjects, start);
        let is_alone = controllers.len() == 1;
        for (id, controller) in controllers {
            let actor = world.actor_mut(id);
            actor.name = match is_alone {
                true => "Controller".into(),
                false => format!("Controller {}", id.letter()).into(),
            };
            actor.manager = controller.client().manager().into();
            world.system.set_process(id as ProcessId, controller);
        }
        Ok((world, made.dropped))
    }

    /// The world of a server that is there already, with one of its objects, which need not exist. Its
    /// start has no manifests, so no link can carry its history.
    pub fn on_server(server: ApiServer, subject: ObjectRef) -> Self {
        Self::with_subjects(server, vec![subject], Arc::default())
    }

    pub(super) fn with_subjects(
        server: ApiServer,
        subjects: Vec<ObjectRef>,
        start: Arc<Start>,
    ) -> Self {
        let observed = subjects.into_iter().map(|subject| {
            let watcher = Watcher::new(&subject);
            (subject, watcher)
        });
        let subjects: Vec<_> = observed.collect();
        let system = System::new(server, Ledger::default()).with_ledger();
        let idle = |system: System<_>, actor: &_| system.with_named(*actor, Process::Idle);
        Self {
            start,
            system: ActorId::ALL.iter().fold(system, idle),
            subject: subjects.len().saturating_sub(1),
            subjects,
            actors: ActorId::ALL.map(Actor::new),
            broken: Vec::new(),
        }
    }

    /// The start of the history.
    pub fn start(&self) -> &Arc<Start> {
        &self.start
    }

    /// The current object.
    pub fn subject(&self) -> &ObjectRef {
        // A start makes at least one object, and `subject` is a valid index.
        &self.subjects[self.subject].0
    }

    /// Every object of the start.
    pub fn subjects(&self) -> impl Iterator<Item = &ObjectRef> {
        self.subjects.iter().map(|(subject, _)| subject)
    }

    /// Selects another object of the start. `false` if no object has that kind and name.
    pub fn look_at(&mut self, kind: &str, name: &str) -> bool {
        let at = self
            .subjects()
            .position(|subject| subject.resource().kind == kind && subject.name() == name);
        if let Some(at) = at {
            self.subject = at;
        }
        at.is_some()
    }

    /// An actor.
    pub fn actor(&self, id: ActorId) -> &Actor {
        &self.actors[id as usize]
    }

    /// An actor, to change its working copies or its write method. These changes are not steps.
    pub fn actor_mut(&mut self, id: ActorId) -> &mut Actor {
        &mut self.actors[id as usize]
    }

    /// An actor's working copy of the object.
    pub fn copy(&self, id: ActorId) -> &WorkingCopy {
        self.actor(id).copy(self.subject())
    }

    /// An actor's working copy of the object, to edit it.
    pub fn copy_mut(&mut self, id: ActorId) -> &mut WorkingCopy {
        let subject = self.subject().clone();
        self.actor_mut(id).copy_mut(&subject)
    }

    /// The stored object and its version; `None` once it is deleted.
    pub fn stored(&self) -> Option<(Revision, &Arc<Value>)> {
        self.server().store().get(self.subject().key())
    }

    /// The watcher of the object.
    pub fn watcher(&self) -> &Watcher {
        &self.subjects[self.subject].1
    }

    /// The number of changes that the watcher missed while it had no connection.
    pub fn missed(&self) -> usize {
        let seen = self.watcher().last_version().parse();
        seen.map_or(0, |seen| self.revisions_after(seen).count())
    }

    /// Every revision at which the object changed, compacted or not, oldest first.
    pub fn revisions(&self) -> impl Iterator<Item = Revision> {
        self.revisions_after(0)
    }

    fn revisions_after(&self, revision: Revision) -> impl Iterator<Item = Revision> {
        let key = self.subject().key();
        self.server()
            .store()
            .log_after(revision)
            .filter(move |change| *change.key == *key)
            .map(|change| change.revision)
    }

    /// Every version of the object that etcd still has, oldest first.
    pub fn versions(&self) -> impl DoubleEndedIterator<Item = &Version> {
        self.server().store().history(self.subject().key())
    }

    /// Returns the number of versions by which an actor's copy is behind; 0 before its first read.
    pub fn stale_by(&self, id: ActorId) -> usize {
        let read = self.copy(id).resource_version();
        let Some(read) = read.and_then(|version| version.parse::<Revision>().ok()) else {
            return 0;
        };
        self.revisions_after(read).count()
    }

    /// The changes since an actor read the object, without versions and times.
    pub fn changed_since_read(&self, id: ActorId) -> Vec<ValueChange> {
        let (copy, stored) = (self.copy(id), self.stored());
        let (Some(read), Some((_, stored))) = (copy.read(), stored) else {
            return Vec::new();
        };
        let changed = match copy.is_scale() {
            true => changes(read, &self.resource().scale_of(stored)),
            false => changes_by_item(read, stored, &self.resource().root),
        };
        let changed = changed.into_iter();
        changed.filter(|change| !change.is_bookkeeping()).collect()
    }

    /// Returns whether an actor has an edit, and another actor has since changed the same object outside
    /// its status.
    pub fn is_overtaken(&self, id: ActorId) -> bool {
        let (copy, stored) = (self.copy(id), self.stored());
        let same = copy
            .read()
            .zip(stored)
            .is_some_and(|(read, (_, stored))| read.uid() == stored.uid());
        let mut changed = self.changed_since_read(id).into_iter();
        same && copy.is_edited() && changed.any(|change| !change.pointer.starts_with("/status"))
    }

    /// The kind of the object.
    pub fn resource(&self) -> &Arc<Resource> {
        self.subject().resource()
    }

    /// The validation rules of the kind that the server cannot evaluate on the stored object: it
    /// may accept what a real one refuses.
    pub fn unevaluated_rules(&self) -> Vec<String> {
        let stored = self.stored();
        stored.map_or_else(Vec::new, |(_, object)| {
            self.resource().unevaluated_rules(object)
        })
    }

    /// The API server.
    pub fn server(&self) -> &ApiServer {
        self.system.server()
    }

    /// The request that an action would send; `None` for a write before the first read.
    pub fn preview(&self, id: ActorId, action: &Action) -> Option<Request<Vec<u8>>> {
        action.request(self.actor(id), self.subject())
    }

    /// Returns an actor's next action to try its write again that met a conflict: it reads the object,
    /// or sends its edits. Others can write before. `None` if it has nothing to try again.
    pub fn next_attempt(&self, id: ActorId) -> Option<Action> {
        Action::next_of(self.retrying(id)?)
    }

    /// The process of an actor that tries to write the object again.
    fn retrying(&self, id: ActorId) -> Option<&Editor> {
        match self.system.procedure(id as ProcessId)? {
            Procedure::Editor(editor) => {
                Some(editor).filter(|editor| editor.plan().object == *self.subject())
            }
            Procedure::Tool(_) | Procedure::Single(_) => None,
        }
    }

    /// Lets the process of an actor go on after an action that was answered. A write that met a
    /// conflict begins one; whoever does something else gives it up.
    fn go_on(&mut self, id: ActorId, action: &Action, reply: &Reply) {
        let is_next = self.next_attempt(id).as_ref() == Some(action);
        let editor = match self.retrying(id).filter(|_| is_next) {
            Some(editor) => Some(editor.clone()),
            None => self.trying(id, action),
        };
        let process = editor.map_or(Process::Idle, |mut editor| {
            editor.wake();
            editor.answered(reply);
            match editor.is_done() {
                true => Process::Idle,
                false => editor.into(),
            }
        });
        self.system.set_process(id as ProcessId, process);
    }

    /// The process of an actor that has just begun an action and would try it again.
    fn trying(&self, id: ActorId, action: &Action) -> Option<Editor> {
        let on_conflict = action.on_conflict();
        let (intent, write) = match action {
            Action::Send(write) => (None, write.clone()),
            Action::DeleteRetrying(preconditions, _) => {
                let write = Write {
                    send_resource_version: preconditions.resource_version,
                    on_conflict,
                    ..Write::default()
                };
                (Some(Intent::Delete), write)
            }
            _ => return None,
        };
        let copy = self.copy(id);
        let tries = on_conflict != OnConflict::GiveUp && copy.read().is_some();
        tries.then(|| {
            Editor::from(EditorPlan {
                object: self.subject().clone(),
                manager: Arc::clone(&self.actor(id).manager),
                copy: copy.clone(),
                intent,
                write,
            })
        })
    }

    /// Performs an operation and delivers its events to the watchers. `None` if the operation is
    /// not possible now.
    pub fn act(&mut self, operation: Operation) -> Option<Step> {
        let revision = self.server().store().revision();
        let before = self.has_controllers().then(|| self.clone());
        let mut step = match operation {
            // A controller acts by its program.
            Operation::Act(id, _) if self.controller(id).is_some() => return None,
            Operation::Act(id, action) => self.request(id, action)?,
            Operation::Watch(action) => self.watch(action)?,
            Operation::Compact { restart } => self.compact(restart)?,
            Operation::Wait(seconds) => self.wait(seconds),
            Operation::Control(id, operation) => self.control(id, operation)?,
        };
        if let Some(before) = before {
            self.observe_new_objects(revision);
            self.note_broken(&before);
            if self.server().store().revision() != revision {
                self.system.set_behind(before.system.server().clone());
            }
        }
        for (i, (_, watcher)) in self.subjects.iter_mut().enumerate() {
            let arrived = watcher.poll(self.system.server());
            if i == self.subject {
                step.arrive(arrived);
            }
        }
        step.revision = self.server().store().revision();
        Some(step)
    }

    fn watch(&mut self, action: WatchAction) -> Option<Step> {
        let (_, watcher) = self.subjects.get_mut(self.subject)?;
        let exchange = watcher.act(self.system.server_mut(), &action)?;
        Some(self.aside(Operation::Watch(action), exchange))
    }

    fn compact(&mut self, restart: bool) -> Option<Step> {
        let compacted = self.system.compact(restart);
        compacted.then(|| self.aside(Operation::Compact { restart }, None))
    }

    fn wait(&mut self, seconds: u32) -> Step {
        self.system.wait(Duration::from_secs(seconds.into()));
        self.aside(Operation::Wait(seconds), None)
    }

    /// A step that does not concern the object.
    fn aside(&self, operation: Operation, exchange: Option<Exchange>) -> Step {
        let stored = self.stored().map(|(_, object)| &**object);
        let root = &self.resource().root;
        Step::new(operation, exchange, Vec::new(), (stored, stored), root)
    }

    /// Sends an actor's request and processes the answer.
    fn request(&mut self, id: ActorId, action: Action) -> Option<Step> {
        let request = self.preview(id, &action)?;
        let before = self.stored().map(|(_, object)| Arc::clone(object));
        let read = self.copy(id).resource_version();
        let read = read.and_then(|version| version.parse().ok());
        let edits = match action {
            Action::Send(_) | Action::Create => self.copy(id).edits(),
            _ => Vec::new(),
        };
        let (meant, declared) = match &action {
            Action::Send(write) if write.body.is_none() => {
                let copy = self.copy(id);
                let applies = write.strategy != Strategy::Update;
                let manifest = applies && write.declares == Declares::Manifest;
                let wanted = write.wanted(
                    self.resource(),
                    copy,
                    &self.actor(id).manager,
                    self.server().release(),
                );
                let meant = copy.read().zip(wanted.filter(|_| manifest));
                let meant = meant
                    .map(|(read, wanted)| changes_by_item(read, &wanted, &self.resource().root));
                (meant, copy.declared().to_vec())
            }
            _ => (None, Vec::new()),
        };
        let meant_edits = self.meant(id, &action);
        let subject = self.subject().clone();
        let intention = Intention {
            edits: meant_edits.as_deref(),
            retries: action.on_conflict().reads_again(),
            about: Some(&subject),
        };
        let (answered, done) = self.system.send(id as ProcessId, request, intention, None);
        let exchange = Exchange::from(&answered);
        let after = self.stored().map(|(_, object)| Arc::clone(object));
        let stored = (before.as_deref(), after.as_deref());
        self.go_on(id, &action, &Reply::from(&answered));
        if exchange.code < 400 {
            let copy = self.copy_mut(id);
            receive(copy, &action, &exchange.received, subject.resource());
        }
        let operation = Operation::Act(id, action);
        let mut step = Step::new(
            operation,
            Some(exchange),
            edits,
            stored,
            &subject.resource().root,
        );
        (step.read, step.meant, step.declared) = (read, meant, declared);
        step.has_done(done);
        Some(step)
    }

    /// The edits that an actor's write means to make; `None` for a request written by hand, which
    /// means whatever it changes.
    fn meant(&self, id: ActorId, action: &Action) -> Option<Vec<Arc<Edit>>> {
        let (copy, root) = (self.copy(id), &self.resource().root);
        let between = match action {
            Action::Get | Action::GetScale => None,
            Action::Delete(_) | Action::DeleteRetrying(..) => return Some(vec![Edit::deletion()]),
            Action::Send(Write { body: Some(_), .. }) | Action::Request(_) => return None,
            Action::Send(write) => {
                let manager = &self.actor(id).manager;
                return write.meant(self.resource(), copy, manager, self.server().release());
            }
            Action::Create => copy.read().zip(copy.edited()),
        };
        let edits = between.map(|(read, edited)| Edit::between(read, edited, root));
        Some(edits.unwrap_or_default())
    }

    /// The verdict of the object if the history ends here.
    pub fn verdict(&self) -> Verdict {
        let stored = self.stored().map(|(_, object)| object.as_ref());
        self.updates().verdict(stored, &self.resource().root)
    }

    /// Returns the edits of the object: kept, lost, replaced and refused.
    pub fn updates(&self) -> &UpdateTracker<ActorId> {
        let of_object = self.ledger().updates(self.subject().key());
        of_object.unwrap_or(&NO_EDITS)
    }

    /// The edits of every object.
    pub fn ledger(&self) -> &Ledger<ActorId> {
        self.system.ledger()
    }
}

/// Updates a working copy after a successful request.
fn receive(copy: &mut WorkingCopy, action: &Action, received: &Arc<Value>, resource: &Resource) {
    let root = &resource.root;
    match action {
        Action::Get | Action::GetScale => copy.refresh(Arc::clone(received), root),
        // Nothing was stored, so the edits are still unsent.
        Action::Send(Write { dry_run: true, .. }) => {}
        // The answer is a Scale and not the object, so only the replicas are known.
        Action::Send(Write {
            subresource: Some(Subresource::Scale),
            ..
        }) => copy.settle_scale(received),
        // It writes only the status. Other edits are still unsent.
        Action::Send(Write {
            subresource: Some(Subresource::Status),
            ..
        }) => copy.settle_status(Arc::clone(received), root),
        Action::Send(_) | Action::Create if keeps_status(resource) => {
            copy.settle_all_but_status(Arc::clone(received), root);
        }
        Action::Send(_) | Action::Create => copy.settle(Arc::clone(received)),
        Action::Delete(_) | Action::DeleteRetrying(..) | Action::Request(_) => {}
    }
}

/// Returns whether a write to the main resource does not change the status.
fn keeps_status(resource: &Resource) -> bool {
    let status = Path(vec![PathElement::Field("status".to_owned())]);
    let main = resource.endpoint("");
    main.is_some_and(|main| main.reset_fields.contains(&status))
}
