//! A state of a search, and the steps that are possible in it.

use std::time::Duration;

use optimist_apiserver::server::ApiServer;
use optimist_client::Begin;

use super::{Safety, SystemTransition, Wish};
use crate::client::Client;
use crate::controller::{Controller, UnknownKind};
use crate::own_writes::{ConsistencyStore, EXPECTATIONS_TIMEOUT, Expectations};
use crate::program::{Code, Context, Program, Run, StatementStep};

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
            start: SystemState {
                server,
                controllers,
                editors: Vec::new(),
                restarts: 0,
                timeouts: 0,
            },
            safety: Vec::new(),
            wishes: Vec::new(),
        })
    }

    /// Adds an editor: a program that runs once for a key, and reads from the server only.
    pub fn editor(mut self, program: Program, key: &str) -> Self {
        let mut editor = Editor {
            client: Client::new(&program.name),
            code: Code::new(program),
            run: Some(Run::new(key)),
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
}

/// An editor: a client with a program that it runs once.
#[derive(Clone, Debug)]
struct Editor {
    client: Client,
    code: Code,
    run: Option<Run>,
}

impl SystemState {
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
            (SystemTransition::Step(_), Some(controller)) => {
                controller.step(server);
                controller.step_to_visible(server);
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
            (SystemTransition::Edit(editor), _) => {
                if let Some(editor) = self.editors.get_mut(editor) {
                    editor.step(server);
                    editor.step_to_visible(server);
                }
            }
            (SystemTransition::ExpectationsRunOut, _) => {
                self.timeouts = self.timeouts.saturating_sub(1);
                let time = EXPECTATIONS_TIMEOUT + Duration::from_secs(1);
                server.environment_mut().advance(time);
            }
            (_, None) => {}
        }
        // A search has no use for the bytes of the requests, and keeps many states.
        for controller in &mut self.controllers {
            controller.take_answered();
        }
    }
}

impl Editor {
    fn step(&mut self, server: &mut ApiServer) {
        let Some(run) = &mut self.run else {
            return;
        };
        let mut context = Context {
            server,
            caches: &mut [],
            shares_objects: false,
            client: &mut self.client,
            expectations: &mut Expectations::default(),
            written: &mut ConsistencyStore::default(),
        };
        if let StatementStep::Finished(_) = run.step(&self.code, &mut context) {
            self.run = None;
        }
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
