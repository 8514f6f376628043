//! A state of a search, and the steps that are possible in it.

use std::time::Duration;

use http::Method;
use serde_json::Value;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, Facts};
use optimist_client::{AnsweredRequest, Begin};
use optimist_ledger::{Answered, Done, Intention, Ledger};

use super::editor::{CopyEditor, EditorPlan};
use super::script::Script;
use super::{Safety, SystemTransition, Wish};
use crate::controller::{Controller, UnknownKind};
use crate::own_writes::EXPECTATIONS_TIMEOUT;
use crate::program::Program;

/// The number of a process in the ledger.
pub type ProcessId = u8;

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
        Ok(Self::of(server, (0..).zip(controllers), Ledger::default()))
    }

    /// A scenario that begins with controllers as they are, in the middle of whatever they do, and
    /// with what the ledger knows by then. Each controller has its number in the ledger.
    pub fn of(
        server: ApiServer,
        controllers: impl IntoIterator<Item = (ProcessId, Controller)>,
        ledger: Ledger<ProcessId>,
    ) -> Self {
        let (processes, controllers) = controllers.into_iter().unzip();
        Self {
            start: SystemState {
                server,
                controllers,
                processes,
                editors: Vec::new(),
                restarts: 0,
                timeouts: 0,
                keeps_ledger: false,
                ledger,
                lost: false,
                contested: false,
            },
            safety: Vec::new(),
            wishes: Vec::new(),
        }
    }

    /// Adds an editor that is a program: it runs once for a key, and reads from the server only.
    pub fn editor(mut self, program: Program, key: &str) -> Self {
        let start = &mut self.start;
        let process = start.controllers.len() + start.editors.len();
        let editor = Script::new(program, key, &mut start.server);
        let process = ProcessId::try_from(process).unwrap_or(ProcessId::MAX);
        start
            .editors
            .push((process, Editor::Script(Box::new(editor))));
        self
    }

    /// Adds an editor with a working copy, by its number in the ledger.
    pub fn editor_with_copy(mut self, process: ProcessId, plan: EditorPlan) -> Self {
        let editor = Editor::Copy(CopyEditor::new(plan));
        self.start.editors.push((process, editor));
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
        self.start.keeps_ledger |= property == Safety::NoEditLost;
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

/// A state: the server, the controllers, the editors and the ledger. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct SystemState {
    server: ApiServer,
    controllers: Vec<Controller>,
    /// The number of each controller in the ledger.
    processes: Vec<ProcessId>,
    editors: Vec<(ProcessId, Editor)>,
    pub(super) restarts: u8,
    pub(super) timeouts: u8,
    /// Whether somebody asks for the ledger.
    keeps_ledger: bool,
    ledger: Ledger<ProcessId>,
    /// Whether the last step lost an edit of another process.
    lost: bool,
    /// Whether the last step's write was to an object that had an edit of another process.
    contested: bool,
}

/// An editor: what it does, it does once.
#[derive(Clone, Debug)]
pub(super) enum Editor {
    Script(Box<Script>),
    Copy(CopyEditor),
}

impl SystemState {
    /// Who wrote what and was shown what, if a property asks for it.
    pub fn ledger(&self) -> Option<&Ledger<ProcessId>> {
        self.keeps_ledger.then_some(&self.ledger)
    }

    /// Whether the step that led here lost an edit of another process. Known only if a property
    /// asks for it.
    pub fn has_lost_an_edit(&self) -> bool {
        self.lost
    }

    /// Whether the step that led here wrote to an object that had an edit of another process, or
    /// was refused to.
    pub(super) fn is_contested(&self) -> bool {
        self.contested
    }

    /// The processes that can still write.
    pub(super) fn writers(&self) -> Vec<ProcessId> {
        let editors = self.editors.iter().filter(|(_, editor)| !editor.is_done());
        let editors = editors.map(|(process, _)| *process);
        let mut writers: Vec<_> = self.processes.iter().copied().chain(editors).collect();
        writers.sort_unstable();
        writers.dedup();
        writers
    }

    /// The server.
    pub fn server(&self) -> &ApiServer {
        &self.server
    }

    /// The controllers.
    pub fn controllers(&self) -> &[Controller] {
        &self.controllers
    }

    /// The editors.
    pub(super) fn editors(&self) -> impl Iterator<Item = &Editor> {
        self.editors.iter().map(|(_, editor)| editor)
    }

    /// Where each editor is, as text for a comparison: two editors that differ in anything differ.
    pub fn editors_text(&self) -> String {
        format!("{:?}", self.editors)
    }

    /// The steps that are possible.
    pub fn enabled(&self) -> Vec<SystemTransition> {
        let mut enabled = Vec::new();
        for (index, editor) in self.editors().enumerate() {
            if !editor.is_done() {
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
        (self.lost, self.contested) = (false, false);
        self.perform_step(transition);
        // A search has no use for the bytes of the requests, and keeps many states.
        for controller in &mut self.controllers {
            controller.take_answered();
        }
    }

    /// Performs a step of a controller's worker, and tells the ledger.
    fn work(&mut self, index: usize) {
        let Some(controller) = self.controllers.get_mut(index) else {
            return;
        };
        let since = self.server.store().revision();
        let report = controller.work_step(&mut self.server);
        let Some(report) = report.filter(|_| self.keeps_ledger) else {
            return;
        };
        let answered = report.call().and_then(|_| controller.take_answered());
        let who = self.processes.get(index).copied().unwrap_or_default();
        let (controller, ledger, server) = (&*controller, &mut self.ledger, &self.server);
        let done = with_parts(answered.as_ref(), |answered| {
            controller.note(ledger, who, (&report, answered), server, since)
        });
        self.has_done(&done);
    }

    /// Lets an editor send its next request, and tells the ledger.
    fn edit(&mut self, index: usize) {
        let Some((who, editor)) = self.editors.get_mut(index) else {
            return;
        };
        let since = self.server.store().revision();
        let sent = match editor {
            Editor::Copy(editor) => {
                // As in a session: two requests of editors never see the same time.
                self.server
                    .environment_mut()
                    .advance(Duration::from_secs(1));
                editor.step(&mut self.server)
            }
            Editor::Script(script) => script.step(&mut self.server),
        };
        let (ledger, server) = (&mut self.ledger, &self.server);
        if let Some(sent) = sent.filter(|_| self.keeps_ledger) {
            let intention = Intention {
                edits: sent.edits.as_deref(),
                ..editor.intention()
            };
            let done = with_parts(Some(&sent.answered), |answered| {
                let done = answered.map(|it| ledger.request(*who, it, intention, server, since));
                done.unwrap_or_default()
            });
            self.has_done(&done);
        }
        if let Some((_, Editor::Script(script))) = self.editors.get_mut(index) {
            script.step_to_visible(&mut self.server);
        }
    }

    fn has_done(&mut self, done: &Done<ProcessId>) {
        (self.lost, self.contested) = (!done.losses.is_empty(), done.contested);
    }

    fn perform_step(&mut self, transition: SystemTransition) {
        let server = &mut self.server;
        let controller = match transition {
            SystemTransition::Deliver { controller, .. }
            | SystemTransition::Take(controller)
            | SystemTransition::Wake(controller)
            | SystemTransition::Restart(controller) => self.controllers.get_mut(controller),
            SystemTransition::Step(index) => return self.work(index),
            SystemTransition::Edit(index) => return self.edit(index),
            SystemTransition::ExpectationsRunOut => None,
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
            (SystemTransition::ExpectationsRunOut, _) => {
                self.timeouts = self.timeouts.saturating_sub(1);
                let time = EXPECTATIONS_TIMEOUT + Duration::from_secs(1);
                server.environment_mut().advance(time);
                let now = server.environment().elapsed();
                for controller in &mut self.controllers {
                    controller.advance_to(now);
                }
            }
            _ => {}
        }
    }
}

impl Editor {
    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Script(script) => script.run().is_none(),
            Self::Copy(editor) => editor.is_done(),
        }
    }

    /// What its writes are for, but for the edits.
    fn intention(&self) -> Intention<'_> {
        match self {
            Self::Script(_) => Intention::default(),
            Self::Copy(editor) => editor.intention(),
        }
    }
}

/// Gives a request with its answer to a function, as the ledger reads it.
fn with_parts<R>(
    answered: Option<&AnsweredRequest>,
    read: impl FnOnce(Option<Answered<'_>>) -> R,
) -> R {
    let Some(AnsweredRequest { request, response }) = answered else {
        return read(None);
    };
    let sent: Value = match *request.method() == Method::POST {
        true => serde_json::from_slice(request.body()).unwrap_or_default(),
        false => Value::Null,
    };
    let received = serde_json::from_slice(response.body()).unwrap_or_default();
    let facts = response.extensions().get::<Facts>();
    read(Some(Answered {
        method: request.method(),
        target: &request.uri().to_string(),
        sent_name: sent.name(),
        code: response.status().as_u16(),
        received: &received,
        facts: facts.map_or(&[][..], |facts| &facts.0),
    }))
}
