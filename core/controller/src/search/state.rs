//! A state of a search, and the steps that are possible in it.

use std::sync::Arc;
use std::time::Duration;

use imbl::Vector;
use serde_json::Value;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::storage::Revision;
use optimist_client::Begin;

use super::{Safety, SystemTransition, Wish};
use crate::call::ClientCall;
use crate::client::Client;
use crate::controller::{Controller, UnknownKind};
use crate::own_writes::{ConsistencyStore, EXPECTATIONS_TIMEOUT, Expectations};
use crate::program::{Code, Context, Program, Run, StatementStep, Variable};

/// What is searched.
#[derive(Clone, Debug)]
pub struct SystemScenario {
    pub(super) start: SystemState,
    pub(super) safety: Vec<Safety>,
    pub(super) wishes: Vec<Wish>,
}

impl SystemScenario {
    /// A scenario with the objects of a server, and controllers that have just listed them.
    ///
    /// # Errors
    /// If a program watches a kind that the server does not have.
    pub fn new(
        server: ApiServer,
        namespace: &str,
        programs: impl IntoIterator<Item = Program>,
    ) -> Result<Self, UnknownKind> {
        let mut server = server;
        let mut controllers = Vec::new();
        for program in programs {
            let mut controller = Controller::new(program, &server, namespace, Begin::List)?;
            controller.sync(&mut server);
            controllers.push(controller);
        }
        Ok(Self {
            start: SystemState::new(server, controllers),
            safety: Vec::new(),
            wishes: Vec::new(),
        })
    }

    /// A scenario that begins with controllers as they are, in the middle of whatever they do.
    pub fn of(server: ApiServer, controllers: Vec<Controller>) -> Self {
        Self {
            start: SystemState::new(server, controllers),
            safety: Vec::new(),
            wishes: Vec::new(),
        }
    }

    /// Adds an editor: a program that runs once for a key, and reads from the server only.
    pub fn editor(self, program: Program, key: &str) -> Self {
        self.editor_with(program, key, [])
    }

    /// Adds an editor that has read objects: the variables that it begins with.
    pub fn editor_with(
        mut self,
        program: Program,
        key: &str,
        variables: impl IntoIterator<Item = (String, Arc<Value>)>,
    ) -> Self {
        let mut run = Run::new(key);
        for (name, object) in variables {
            run.put(&name, object);
        }
        let mut editor = Editor {
            client: Client::new(&program.name),
            code: Code::new(program),
            run: Some(run),
        };
        editor.step_to_visible(&mut self.start.server);
        self.start.editors.push(editor);
        self
    }

    /// Lets controllers restart up to this number of times, all together.
    pub fn restarts(mut self, most: u8) -> Self {
        self.start.restarts = most;
        self
    }

    /// Lets expectations run out up to this number of times.
    pub fn expectations_run_out(mut self, most: u8) -> Self {
        self.start.timeouts = most;
        self
    }

    /// Adds a property that must hold always.
    pub fn always(mut self, property: Safety) -> Self {
        self.start.notes_writers |= property == Safety::NoEditLost;
        self.safety.push(property);
        self
    }

    /// Adds a property that must hold at rest.
    pub fn at_rest(mut self, wish: Wish) -> Self {
        self.wishes.push(wish);
        self
    }

    /// The state at the start.
    pub fn start(&self) -> &SystemState {
        &self.start
    }
}

/// A state: the server, the controllers and the editors. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct SystemState {
    server: ApiServer,
    controllers: Vec<Controller>,
    editors: Vec<Editor>,
    pub(super) restarts: u8,
    pub(super) timeouts: u8,
    /// The last step's request and who sent it.
    last: Option<(Writer, ClientCall)>,
    /// Whether the writers of the latest revisions are noted.
    notes_writers: bool,
    /// Who made the revisions after the oldest version that a process may still go by.
    writers: Vector<(Revision, Writer)>,
}

/// A process that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Writer {
    Controller(usize),
    Editor(usize),
}

/// An editor: a client with a program that it runs once.
#[derive(Clone, Debug)]
struct Editor {
    client: Client,
    code: Code,
    run: Option<Run>,
}

impl SystemState {
    fn new(server: ApiServer, controllers: Vec<Controller>) -> Self {
        Self {
            server,
            controllers,
            editors: Vec::new(),
            restarts: 0,
            timeouts: 0,
            last: None,
            notes_writers: false,
            writers: Vector::new(),
        }
    }

    /// The request of the step that led here and who sent it, if the step sent one.
    pub(super) fn last(&self) -> Option<&(Writer, ClientCall)> {
        self.last.as_ref()
    }

    /// Who made the latest revisions.
    pub(super) fn writers(&self) -> impl Iterator<Item = (Revision, Writer)> {
        self.writers.iter().copied()
    }

    /// Notes who made a revision, and forgets the revisions that every process has seen.
    fn note_writer(&mut self, revision: Revision) {
        if !self.notes_writers {
            return;
        }
        let now = self.server.store().revision();
        if let (Some((writer, _)), true) = (&self.last, now > revision) {
            self.writers.push_back((now, *writer));
        }
        let caches = self.controllers.iter().flat_map(Controller::caches);
        let cached = caches.filter_map(|cache| cache.version().parse::<Revision>().ok());
        let runs = self.controllers.iter().map(Controller::run);
        let runs = runs.chain(self.editors()).flatten();
        let read = runs.flat_map(Run::variables).flat_map(|(_, variable)| {
            let objects = match variable {
                Variable::Object { object, .. } => std::slice::from_ref(object),
                Variable::List { objects, .. } => objects.as_slice(),
            };
            let versions = objects
                .iter()
                .map(|object| object.resource_version().parse());
            versions.filter_map(Result::ok)
        });
        let oldest = cached.chain(read).min().unwrap_or(now);
        self.writers.retain(|(revision, _)| *revision > oldest);
    }

    /// The server.
    pub fn server(&self) -> &ApiServer {
        &self.server
    }

    /// The controllers.
    pub fn controllers(&self) -> &[Controller] {
        &self.controllers
    }

    /// The run of each editor; `None` for an editor that is done.
    pub fn editors(&self) -> impl Iterator<Item = Option<&Run>> {
        self.editors.iter().map(|editor| editor.run.as_ref())
    }

    /// The steps that are possible.
    pub fn enabled(&self) -> Vec<SystemTransition> {
        let mut enabled = Vec::new();
        for (index, editor) in self.editors.iter().enumerate() {
            if editor.run.is_some() {
                enabled.push(SystemTransition::Edit(index));
            }
        }
        for (index, controller) in self.controllers.iter().enumerate() {
            let caches = controller.caches().iter().enumerate();
            enabled.extend(
                caches
                    .filter(|(_, cache)| !cache.is_watching() || cache.behind(&self.server) > 0)
                    .map(|(cache, _)| SystemTransition::Deliver {
                        controller: index,
                        cache,
                    }),
            );
            if controller.can_take() {
                enabled.push(SystemTransition::Take(index));
            }
            if controller.can_step() {
                enabled.push(SystemTransition::Step(index));
            }
            if controller.queue().next_ready().is_some() {
                enabled.push(SystemTransition::Wake(index));
            }
            if self.restarts > 0 {
                enabled.push(SystemTransition::Restart(index));
            }
        }
        let mut controllers = self.controllers.iter();
        if self.timeouts > 0
            && controllers.any(|controller| controller.expectations().pending().next().is_some())
        {
            enabled.push(SystemTransition::ExpectationsRunOut);
        }
        enabled
    }

    /// Performs a step. A step that is not possible changes nothing.
    pub fn perform(&mut self, transition: SystemTransition) {
        let revision = self.server.store().revision();
        self.last = None;
        self.perform_step(transition);
        // A search has no use for the bytes of the requests, and keeps many states.
        for controller in &mut self.controllers {
            controller.take_answered();
        }
        self.note_writer(revision);
    }

    fn perform_step(&mut self, transition: SystemTransition) {
        let server = &mut self.server;
        let controller = match transition {
            SystemTransition::Deliver { controller, .. }
            | SystemTransition::Take(controller)
            | SystemTransition::Step(controller)
            | SystemTransition::Wake(controller)
            | SystemTransition::Restart(controller) => self.controllers.get_mut(controller),
            SystemTransition::Edit(_) | SystemTransition::ExpectationsRunOut => None,
        };
        match (transition, controller) {
            (SystemTransition::Deliver { cache, .. }, Some(controller)) => {
                controller.sync_cache(cache, server);
                controller.deliver(cache, server);
            }
            (SystemTransition::Take(_), Some(controller)) => {
                // Two runs never see the same time.
                server.environment_mut().advance(Duration::from_secs(1));
                controller.take(server);
                controller.step_to_visible(server);
            }
            (SystemTransition::Step(index), Some(controller)) => {
                let report = controller.work_step(server);
                let call = report.as_ref().and_then(|report| report.call());
                self.last = call.map(|call| (Writer::Controller(index), call.clone()));
            }
            (SystemTransition::Wake(_), Some(controller)) => {
                if let Some(ready) = controller.queue().next_ready() {
                    let wait = ready.saturating_sub(server.environment().elapsed());
                    server.environment_mut().advance(wait);
                    controller.advance_to(ready);
                }
            }
            (SystemTransition::Restart(_), Some(controller)) => {
                self.restarts = self.restarts.saturating_sub(1);
                controller.restart();
                controller.sync(server);
            }
            (SystemTransition::Edit(index), _) => {
                if let Some(editor) = self.editors.get_mut(index) {
                    let sent = editor.step(server);
                    self.last = sent.map(|call| (Writer::Editor(index), call));
                    editor.step_to_visible(server);
                }
            }
            (SystemTransition::ExpectationsRunOut, _) => {
                self.timeouts = self.timeouts.saturating_sub(1);
                let time = EXPECTATIONS_TIMEOUT + Duration::from_secs(1);
                server.environment_mut().advance(time);
                let now = server.environment().elapsed();
                for controller in &mut self.controllers {
                    controller.advance_to(now);
                }
            }
            (_, None) => {}
        }
    }
}

impl Editor {
    /// Performs a statement, and returns its request.
    fn step(&mut self, server: &mut ApiServer) -> Option<ClientCall> {
        let run = self.run.as_mut()?;
        let mut context = Context {
            server,
            caches: &mut [],
            shares_objects: false,
            client: &mut self.client,
            expectations: &mut Expectations::default(),
            written: &mut ConsistencyStore::default(),
        };
        let step = run.step(&self.code, &mut context);
        let sent = run.sent().cloned();
        self.client.take_answered();
        if let StatementStep::Finished(_) = step {
            self.run = None;
        }
        sent
    }

    fn step_to_visible(&mut self, server: &mut ApiServer) {
        while let Some(run) = &self.run
            && !run.is_visible(&self.code)
        {
            self.step(server);
        }
        // The end of an editor is nothing that others see.
        if self.run.as_ref().is_some_and(|run| run.is_over(&self.code)) {
            self.run = None;
        }
    }
}
