//! A controller: its caches, its queue, its client, and one worker that runs its program
//! (`sigs.k8s.io/controller-runtime/pkg/internal/controller/controller.go`, with
//! `MaxConcurrentReconciles: 1`).

use std::fmt;
use std::time::Duration;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::ApiServer;
use optimist_client::{AnsweredRequest, Call, ListMode, Lost};
use serde_json::Value;

use crate::api_error::ApiError;
use crate::cache::{Cache, CacheStep, Notification};
use crate::client::{CachedObjects, Client};
use crate::handler::{Handler, owner_references};
use crate::own_writes::{ConsistencyStore, Expectations};
use crate::program::{Code, Context, Kind, Program, Run, StatementStep, Touched};
use crate::queue::{KeyPriority, ReconcileResult, WorkQueue};
use crate::report::{CacheReport, Handled, QueueReaction, WorkerReport};

/// A program watches a kind that the server does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKind(pub Kind);

impl fmt::Display for UnknownKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no matches for kind \"{}\" in version \"{}\"",
            self.0.kind, self.0.api_version
        )
    }
}

impl std::error::Error for UnknownKind {}

/// A controller. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Controller {
    code: Code,
    caches: Vec<Cache>,
    queue: WorkQueue,
    client: Client,
    expectations: Expectations,
    written: ConsistencyStore,
    run: Option<Run>,
    runs_once: bool,
}

impl Controller {
    /// A controller that has not started, for the objects of a namespace.
    ///
    /// # Errors
    /// If the program watches a kind that the server does not have.
    pub fn new(
        program: Program,
        server: &ApiServer,
        namespace: &str,
        list_mode: ListMode,
    ) -> Result<Self, UnknownKind> {
        let caches: Result<Vec<_>, _> = program
            .watches
            .iter()
            .map(|watched| {
                let kind = &watched.kind;
                let resource = server.resources().by_kind(&kind.api_version, &kind.kind);
                let resource = resource.ok_or_else(|| UnknownKind(kind.clone()))?;
                Ok(Cache::new(resource.clone(), namespace, list_mode))
            })
            .collect();
        Ok(Self {
            caches: caches?,
            queue: WorkQueue::default(),
            client: client_of(&program),
            expectations: Expectations::default(),
            written: ConsistencyStore::default(),
            run: None,
            runs_once: false,
            code: Code::new(program),
        })
    }

    /// A client without caches that runs its program once, for a key. It is at its first visible
    /// statement.
    pub fn once(program: Program, key: &str, server: &mut ApiServer) -> Self {
        let mut controller = Self {
            caches: Vec::new(),
            queue: WorkQueue::default(),
            client: client_of(&program),
            expectations: Expectations::default(),
            written: ConsistencyStore::default(),
            run: Some(Run::new(key)),
            runs_once: true,
            code: Code::new(program),
        };
        controller.step_to_visible(server);
        controller
    }

    /// Returns whether it runs its program once, and has no queue.
    pub fn runs_once(&self) -> bool {
        self.runs_once
    }

    /// Returns whether it will never do anything again.
    pub fn is_over(&self) -> bool {
        self.runs_once && self.run.is_none()
    }

    /// The same, with the queue of controller-runtime.
    pub fn with_priorities(self) -> Self {
        Self {
            queue: WorkQueue::prioritizing(),
            ..self
        }
    }

    /// Its program.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Its caches, in the order of the watched kinds.
    pub fn caches(&self) -> &[Cache] {
        &self.caches
    }

    /// Its queue.
    pub fn queue(&self) -> &WorkQueue {
        &self.queue
    }

    /// Its client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The event that it waits for.
    pub fn expectations(&self) -> &Expectations {
        &self.expectations
    }

    /// The versions that it wrote.
    pub fn written(&self) -> &ConsistencyStore {
        &self.written
    }

    /// The run of its worker; `None` if the worker waits for a key.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// Fills the caches and opens their watches, also after a restart or a lost watch. Adds the
    /// keys of the notifications to the queue.
    pub fn sync(&mut self, server: &mut ApiServer) {
        for index in 0..self.caches.len() {
            self.sync_cache(index, server);
        }
    }

    /// The same, of one cache.
    pub fn sync_cache(&mut self, index: usize, server: &mut ApiServer) {
        if let Some(cache) = self.caches.get_mut(index) {
            let notifications = cache.sync(server);
            self.enqueue(index, &notifications);
        }
    }

    /// [Connects](Cache::connect) a cache that has no open watch. `None` if its watch is open.
    pub fn connect(&mut self, index: usize, server: &mut ApiServer) -> Option<CacheReport> {
        let cache = self.caches.get_mut(index);
        let step = cache.filter(|cache| !cache.is_watching())?.connect(server);
        Some(self.report(index, step))
    }

    /// Delivers the next event of a cache, and reports it. `None` if there is none.
    pub fn deliver(&mut self, index: usize, server: &mut ApiServer) -> Option<CacheReport> {
        let step = self.caches.get_mut(index)?.deliver_step(server)?;
        Some(self.report(index, step))
    }

    fn report(&mut self, index: usize, step: CacheStep) -> CacheReport {
        CacheReport {
            progress: step.progress,
            handled: self.enqueue(index, &step.notifications),
        }
    }

    /// The last request of the controller with its answer, unless it was taken. A caller that takes
    /// it after each step gets every request.
    pub fn take_answered(&mut self) -> Option<Box<AnsweredRequest>> {
        let mut last = None;
        // Nothing is moved only to find nothing.
        for cache in self.caches.iter_mut().filter(|cache| cache.has_answered()) {
            last = cache.take_answered();
        }
        self.client.take_answered().or(last)
    }

    /// Drops the watch of a cache.
    pub fn drop_watch(&mut self, index: usize) {
        if let Some(cache) = self.caches.get_mut(index) {
            cache.drop_watch();
        }
    }

    /// Tells the handlers of every object of a cache again.
    pub fn resync(&mut self, index: usize) -> Vec<Handled> {
        let cache = self.caches.get(index);
        let notifications = cache.map_or_else(Vec::new, Cache::resync);
        self.enqueue(index, &notifications)
    }

    /// Ends the process in whatever state it is, and starts it again with empty memory: caches,
    /// queue, expectations, written versions and the run are lost. The caches are empty until
    /// they are [synced](Self::sync).
    pub fn restart(&mut self) {
        self.caches.iter_mut().for_each(Cache::restart);
        self.queue = self.queue.emptied();
        self.client = client_of(self.code.program());
        self.expectations = Expectations::default();
        self.written = ConsistencyStore::default();
        self.run = None;
    }

    /// Returns whether the worker can take a key: it waits for one, one is queued, and all caches have
    /// synced.
    pub fn can_take(&self) -> bool {
        self.run.is_none()
            && self.caches.iter().all(Cache::has_synced)
            && self.queue.queued().next().is_some()
    }

    /// Lets the worker take the next key. If the controller waits for its own versions and a cache
    /// does not have them, the run fails at once, and the key is queued again: then also returns the
    /// reaction of the queue.
    fn take_key(&mut self, server: &ApiServer) -> Option<(String, Option<QueueReaction>)> {
        if !self.can_take() {
            return None;
        }
        let key = self.queue.get()?;
        let waits = self.code.program().options.wait_for_own_version;
        if waits && !self.written.is_ready(&key, self.caches.iter()) {
            let now = server.environment().elapsed();
            let queue = self.queue.finish(&key, ReconcileResult::Error, now);
            return Some((key, Some(queue)));
        }
        self.run = Some(Run::new(&key));
        Some((key, None))
    }

    /// Returns whether the worker can perform a step: it has a run that does not wait for a cache.
    pub fn can_step(&self) -> bool {
        let waits = |run: &Run| run.waits(&self.code, &self.caches, &self.client);
        self.run.as_ref().is_some_and(|run| !waits(run))
    }

    /// Returns whether the worker's next step writes to the server.
    pub fn can_write(&self) -> bool {
        self.writes_next() && self.can_step()
    }

    /// Returns whether the statement that the worker performs next writes to the server.
    pub fn writes_next(&self) -> bool {
        let writes = |run: &Run| run.writes(&self.code);
        self.run.as_ref().is_some_and(writes)
    }

    /// Performs the next statement of the run. `None` if the worker has no run.
    fn step(&mut self, server: &mut ApiServer) -> Option<Stepped> {
        let run = self.run.as_mut()?;
        let options = self.code.program().options;
        let mut context = Context {
            server,
            caches: &mut self.caches,
            shares_objects: options.cached_objects == CachedObjects::Shared,
            client: &mut self.client,
            expectations: &mut self.expectations,
            written: &mut self.written,
        };
        let step = run.step(&self.code, &mut context);
        let (call, error) = (run.sent().cloned(), run.error().cloned());
        let mut queue = QueueReaction::default();
        if let StatementStep::Finished(result) = step {
            let now = server.environment().elapsed();
            if !self.runs_once {
                queue = self.queue.finish(run.key(), result, now);
            }
            self.run = None;
        }
        Some(Stepped {
            step,
            call,
            error,
            queue,
        })
    }

    /// Performs the statements up to the next one that touches more than the variables of the run.
    /// Returns their numbers.
    fn step_to_visible(&mut self, server: &mut ApiServer) -> Vec<usize> {
        let mut statements = Vec::new();
        // Loops in loops can be longer than anyone waits.
        while statements.len() < INVISIBLE_STEPS
            && let Some(run) = &self.run
            && !run.is_visible(&self.code)
        {
            let step = self.step(server).map(|stepped| stepped.step);
            if let Some(StatementStep::Performed { statement, .. }) = step {
                statements.push(statement);
            }
        }
        // The end of a client without a queue is nothing that others see.
        let is_over = |run: &Run| run.is_over(&self.code);
        if self.runs_once && self.run.as_ref().is_some_and(is_over) {
            self.run = None;
        }
        statements
    }

    /// Performs one step of the worker: it takes a key, or it performs the next statement that
    /// touches more than the variables of the run. The statements up to the next such statement
    /// are performed too. `None` if the worker waits for a key or for a cache.
    pub fn work_step(&mut self, server: &mut ApiServer) -> Option<WorkerReport> {
        let Some(run) = &self.run else {
            let (key, failed) = self.take_key(server)?;
            self.step_to_visible(server);
            return Some(match failed {
                Some(queue) => WorkerReport::NotReady { key, queue },
                None => WorkerReport::Taken { key },
            });
        };
        if !self.can_step() {
            return None;
        }
        let key = run.key().to_owned();
        let at = run.at();
        let statement = self.code.statement_at(at);
        let touched = match run.is_visible(&self.code) {
            true => self.code.touched(at),
            // The worker stops between statements about variables only where there are very many of them.
            false => Touched::Nothing,
        };
        let Stepped {
            step,
            call,
            error,
            queue,
        } = self.step(server)?;
        Some(match step {
            StatementStep::Waits => return None,
            StatementStep::Finished(result) => WorkerReport::Finished {
                key,
                statement,
                call,
                error,
                result,
                queue,
            },
            StatementStep::Performed { statement, .. } => {
                let mut statements = vec![statement];
                statements.extend(self.step_to_visible(server));
                WorkerReport::Performed {
                    key,
                    touched,
                    statements,
                    call,
                    error,
                }
            }
        })
    }

    /// Performs a step of the worker that writes to the server, and of which the network loses
    /// something. `None` if its next step does not write.
    pub fn work_step_losing(&mut self, server: &mut ApiServer, lost: Lost) -> Option<WorkerReport> {
        if !self.can_write() {
            return None;
        }
        self.client.set_loses(Some(lost));
        let report = self.work_step(server);
        self.client.set_loses(None);
        report
    }

    /// Runs until the worker waits: for a key, or for a cache.
    pub fn work(&mut self, server: &mut ApiServer) {
        // A program is finite, but its keys are not.
        let mut steps = 0..WORK_STEPS;
        while steps.next().is_some() && self.work_step(server).is_some() {}
    }

    /// Adds the waiting keys whose time has come by now, as `Environment::elapsed` gives it.
    pub fn advance_to(&mut self, now: Duration) {
        self.queue.advance(now);
    }

    /// Adds the keys of notifications to the queue.
    fn enqueue(&mut self, index: usize, notifications: &[Notification]) -> Vec<Handled> {
        let code = self.code.clone();
        let Some(watched) = code.program().watches.get(index) else {
            return Vec::new();
        };
        let mut handled = Vec::new();
        for notification in notifications {
            let keys = match &watched.handler {
                Handler::Dependents { api_version, kind } => {
                    self.dependents(notification.object(), api_version, kind)
                }
                handler => handler.keys(notification),
            };
            if matches!(watched.handler, Handler::Owner { .. }) {
                self.observe(notification, &keys);
            }
            let mut predicates = watched.predicates.iter();
            let dropped_by = predicates.find(|predicate| !predicate.passes(notification));
            let keys = if dropped_by.is_some() {
                Vec::new()
            } else {
                keys
            };
            let added = keys.into_iter().map(|key| {
                let addition = self.queue.add(&key, priority(notification));
                (key, addition)
            });
            handled.push(Handled {
                notification: notification.clone(),
                keys: added.collect(),
                dropped_by: dropped_by.cloned(),
            });
        }
        handled
    }

    /// The keys of the objects of a kind in the cache that have an object as an owner.
    fn dependents(&self, owner: &Value, api_version: &str, kind: &str) -> Vec<String> {
        let of_kind = |cache: &&Cache| {
            let resource = cache.resource();
            resource.kind == kind && resource.group_version.to_string() == api_version
        };
        let objects = self
            .caches
            .iter()
            .filter(of_kind)
            .flat_map(|cache| cache.objects().iter());
        let owned = objects.filter(|(_, object)| {
            owner_references(object).any(|reference| text(reference, "uid") == owner.uid())
        });
        owned.map(|(key, _)| key.to_string()).collect()
    }

    /// Counts the expected writes. A child that is about to go when it is first seen counts as
    /// deleted (`ReplicaSetController.addPod`).
    fn observe(&mut self, notification: &Notification, owners: &[String]) {
        for owner in owners {
            match notification {
                Notification::Added { object, .. } => {
                    if object.meta_text("deletionTimestamp").is_empty() {
                        self.expectations.creation_observed(owner);
                    } else {
                        self.expectations.deletion_observed(owner);
                    }
                }
                Notification::Deleted { .. } => self.expectations.deletion_observed(owner),
                Notification::Updated { .. } => {}
            }
        }
    }
}

/// The priority of the keys of a notification (`sigs.k8s.io/controller-runtime/pkg/handler`,
/// `addToQueueCreate` and `addToQueueUpdate`).
fn priority(notification: &Notification) -> KeyPriority {
    match notification {
        Notification::Added { initial: true, .. } => KeyPriority::Low,
        Notification::Updated { old, new } if old.resource_version() == new.resource_version() => {
            KeyPriority::Low
        }
        _ => KeyPriority::Usual,
    }
}

/// A performed statement, with the parts that a finished run does not keep.
struct Stepped {
    step: StatementStep,
    call: Option<Call>,
    error: Option<ApiError>,
    queue: QueueReaction,
}

/// More statements than a program of a lesson performs between two that others can see.
const INVISIBLE_STEPS: usize = 1_000;

/// More steps than a worker needs for a few keys.
const WORK_STEPS: usize = 10_000;

fn client_of(program: &Program) -> Client {
    let client = Client::new(&program.name);
    match program.options.read_your_own_writes {
        true => client.reading_own_writes(),
        false => client,
    }
}
