//! The system: its state, the events that are possible, and what each does.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use serde_json::Value;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, Facts};
use optimist_apiserver::storage::Revision;
use optimist_client::{AnsweredRequest, Begin, Next, Reply};
use optimist_controller::program::Program;
use optimist_controller::{Controller, EXPECTATIONS_TIMEOUT, Lost, UnknownKind, WorkerReport};
use optimist_ledger::{Answered, Done, Intention, Ledger};

use super::{Event, Faults, Performed, Process, ProcessId};

/// How long passes before a procedure sends a request, and before a worker takes a key.
const TICK: Duration = Duration::from_secs(1);

/// An API server, the processes that use it, and a ledger. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct System {
    server: ApiServer,
    processes: Vec<Process>,
    /// The name of each process in the ledger.
    names: Vec<ProcessId>,
    faults: Faults,
    ledger: Ledger<ProcessId>,
    keeps_ledger: bool,
}

impl System {
    /// A system without processes. Its ledger begins with what is known by then.
    pub fn new(server: ApiServer, ledger: Ledger<ProcessId>) -> Self {
        Self {
            server,
            processes: Vec::new(),
            names: Vec::new(),
            faults: Faults::default(),
            ledger,
            keeps_ledger: false,
        }
    }

    /// A system with controllers that have just listed the objects of a server.
    ///
    /// # Errors
    /// If a program watches a kind that the server does not have.
    pub fn with_programs(
        server: ApiServer,
        namespace: &str,
        programs: impl IntoIterator<Item = Program>,
    ) -> Result<Self, UnknownKind> {
        let mut system = Self::new(server, Ledger::default());
        for program in programs {
            let mut controller = Controller::new(program, &system.server, namespace, Begin::List)?;
            controller.sync(&mut system.server);
            system = system.with(controller);
        }
        Ok(system)
    }

    /// Adds a process. Its number is the number of those before it.
    pub fn with(self, process: impl Into<Process>) -> Self {
        let name = ProcessId::try_from(self.processes.len()).unwrap_or(ProcessId::MAX);
        self.with_named(name, process)
    }

    /// The same, of somebody who does several things: in the ledger, it has the name of another process.
    pub fn with_named(mut self, name: ProcessId, process: impl Into<Process>) -> Self {
        self.names.push(name);
        self.processes.push(process.into());
        self
    }

    /// Adds a client that runs a program once, for a key.
    pub fn with_run(mut self, program: Program, key: &str) -> Self {
        let controller = Controller::once(program, key, &mut self.server);
        self.with(controller)
    }

    /// Sets how often each fault can happen.
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// The same, with a ledger that is told of every event. A search that does not ask for it is
    /// faster without.
    pub fn with_ledger(mut self) -> Self {
        self.keeps_ledger = true;
        self
    }

    /// Whether the ledger is told of every event.
    pub fn keeps_ledger(&self) -> bool {
        self.keeps_ledger
    }

    /// Who wrote what and was shown what, if the system keeps it.
    pub fn ledger(&self) -> Option<&Ledger<ProcessId>> {
        self.keeps_ledger.then_some(&self.ledger)
    }

    /// The server.
    pub fn server(&self) -> &ApiServer {
        &self.server
    }

    /// The processes, by number.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The processes with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (ProcessId, &Process)> {
        (0..).zip(&self.processes)
    }

    /// The controllers.
    pub fn controllers(&self) -> impl Iterator<Item = &Controller> {
        self.processes.iter().filter_map(Process::controller)
    }

    /// The controller with a number; `None` if that process is none.
    pub fn controller(&self, process: ProcessId) -> Option<&Controller> {
        self.processes.get(usize::from(process))?.controller()
    }

    /// How often each fault can still happen.
    pub fn faults(&self) -> Faults {
        self.faults
    }

    /// The processes that can still write, by their names in the ledger, in order.
    pub fn writers(&self) -> Vec<ProcessId> {
        let named = self.names.iter().zip(&self.processes);
        let writers = named.filter(|(_, process)| process.is_writer());
        let mut writers: Vec<_> = writers.map(|(name, _)| *name).collect();
        writers.sort_unstable();
        writers.dedup();
        writers
    }

    /// The name of a process in the ledger.
    fn name(&self, process: ProcessId) -> ProcessId {
        let name = self.names.get(usize::from(process));
        name.copied().unwrap_or(process)
    }

    /// The events that are possible.
    pub fn enabled(&self) -> Vec<Event> {
        let mut enabled = Vec::new();
        for (id, process) in self.numbered() {
            match process {
                Process::Idle => {}
                Process::Procedure(procedure) if procedure.is_done() => {}
                Process::Procedure(procedure) => {
                    enabled.push(Event::Request(id));
                    if procedure.writes_next() {
                        enabled.push(Event::AnswerLost(id));
                    }
                }
                Process::Controller(controller) => {
                    self.enabled_of(id, controller, &mut enabled);
                }
            }
        }
        let expects =
            |controller: &Controller| controller.expectations().pending().next().is_some();
        if self.controllers().any(expects) {
            enabled.push(Event::ExpectationsRunOut);
        }
        let store = self.server.store();
        if store.compacted() < store.revision() && self.controllers().next().is_some() {
            enabled.push(Event::Compaction);
        }
        let mut faults = self.faults;
        enabled.retain(|event| faults.left(*event).is_none_or(|left| *left > 0));
        enabled
    }

    fn enabled_of(&self, process: ProcessId, controller: &Controller, enabled: &mut Vec<Event>) {
        for (cache, it) in controller.caches().iter().enumerate() {
            if !it.is_watching() || it.behind(&self.server) > 0 {
                enabled.push(Event::Deliver { process, cache });
            }
            if it.is_watching() {
                enabled.push(Event::WatchBroken { process, cache });
            }
        }
        if controller.can_take() {
            enabled.push(Event::Take(process));
        }
        if controller.can_step() {
            enabled.push(Event::Step(process));
        }
        if controller.can_write() {
            enabled.extend([Event::AnswerLost(process), Event::RequestLost(process)]);
        }
        if controller.queue().next_ready().is_some() {
            enabled.push(Event::Wake(process));
        }
        if !controller.runs_once() {
            enabled.push(Event::Restart(process));
        }
    }

    /// Performs an event. `None` if it is not possible: then nothing changes.
    pub fn perform(&mut self, event: Event) -> Option<Performed> {
        if self.faults.left(event).is_some_and(|left| *left == 0) {
            return None;
        }
        let performed = match event {
            Event::Request(process) => self.request(process, None),
            Event::AnswerLost(process) => self.lose(process, Lost::Answer),
            Event::RequestLost(process) => self.lose(process, Lost::Request),
            Event::Deliver { process, cache } => self.deliver(process, cache),
            Event::WatchBroken { process, cache } => self.break_watch(process, cache),
            Event::Take(process) => self.take(process),
            Event::Step(process) => self.step(process, None),
            Event::Wake(process) => self.wake(process),
            Event::Restart(process) => self.restart(process),
            Event::ExpectationsRunOut => Some(self.run_out()),
            Event::Compaction => self.compact(),
        }?;
        if let Some(left) = self.faults.left(event) {
            *left -= 1;
        }
        Some(performed)
    }

    /// A process writes, and the network loses something.
    fn lose(&mut self, process: ProcessId, lost: Lost) -> Option<Performed> {
        match self.processes.get(usize::from(process))? {
            Process::Idle => None,
            Process::Procedure(procedure) if lost == Lost::Answer && procedure.writes_next() => {
                self.request(process, Some(lost))
            }
            Process::Procedure(_) => None,
            Process::Controller(_) => self.step(process, Some(lost)),
        }
    }

    /// A controller to change, and the server.
    fn controller_mut(&mut self, process: ProcessId) -> Option<(&mut Controller, &mut ApiServer)> {
        match self.processes.get_mut(usize::from(process))? {
            Process::Controller(controller) => Some((Arc::make_mut(controller), &mut self.server)),
            _ => None,
        }
    }

    /// A procedure sends its next request. One that waits has waited by then.
    fn request(&mut self, process: ProcessId, lost: Option<Lost>) -> Option<Performed> {
        let who = self.name(process);
        let process = self.processes.get_mut(usize::from(process))?;
        let Process::Procedure(procedure) = process else {
            return None;
        };
        if procedure.is_done() {
            return None;
        }
        procedure.wake();
        let Next::Send(request) = procedure.next() else {
            procedure.give_up();
            return Some(Performed::default());
        };
        let object = procedure.object().clone();
        let edits = procedure.meant(self.server.release());
        let intention = Intention {
            edits: edits.as_deref(),
            retries: procedure.repeats_edits(),
            about: Some(&object),
        };
        self.server.environment_mut().advance(TICK);
        let since = self.server.store().revision();
        let response = self.server.handle(request.clone());
        if lost.is_none() {
            procedure.answered(&Reply::from(&response));
        }
        let answered = AnsweredRequest { request, response };
        let mut performed = Performed::default();
        if self.keeps_ledger {
            let (ledger, server) = (&mut self.ledger, &self.server);
            performed.done = with_parts(&answered, |answered| match lost {
                None => ledger.request(who, answered, intention, server, since),
                Some(_) => ledger.unanswered(who, answered, intention, server, since),
            });
        }
        performed.answered = Some(answered);
        Some(performed)
    }

    fn deliver(&mut self, process: ProcessId, cache: usize) -> Option<Performed> {
        let (controller, server) = self.controller_mut(process)?;
        controller.caches().get(cache)?;
        controller.sync_cache(cache, server);
        controller.deliver(cache, server);
        Some(Performed::of(controller.take_answered()))
    }

    fn take(&mut self, process: ProcessId) -> Option<Performed> {
        let (controller, server) = self.controller_mut(process)?;
        if !controller.can_take() {
            return None;
        }
        server.environment_mut().advance(TICK);
        controller.take(server)?;
        controller.step_to_visible(server);
        Some(Performed::of(controller.take_answered()))
    }

    /// The worker of a controller performs the next visible statement.
    fn step(&mut self, who: ProcessId, lost: Option<Lost>) -> Option<Performed> {
        let since = self.server.store().revision();
        let (controller, server) = self.controller_mut(who)?;
        controller.run()?;
        let report = match lost {
            None => controller.work_step(server)?,
            Some(lost) => controller.work_step_losing(server, lost)?,
        };
        let answered = controller.take_answered();
        let mut performed = Performed::default();
        if self.keeps_ledger {
            performed.done = self.note(who, &report, answered.as_ref(), (since, lost));
        }
        performed.answered = answered;
        Some(performed)
    }

    /// Tells the ledger what a step of a worker read and wrote.
    fn note(
        &mut self,
        process: ProcessId,
        report: &WorkerReport,
        answered: Option<&AnsweredRequest>,
        (since, lost): (Revision, Option<Lost>),
    ) -> Done<ProcessId> {
        let who = self.name(process);
        let Some(Process::Controller(controller)) = self.processes.get(usize::from(process)) else {
            return Done::default();
        };
        let (ledger, server) = (&mut self.ledger, &self.server);
        let answered = answered.filter(|_| report.call().is_some());
        let Some(answered) = answered else {
            return controller.note(ledger, who, (report, None), (server, since), lost);
        };
        with_parts(answered, |answered| {
            controller.note(ledger, who, (report, Some(answered)), (server, since), lost)
        })
    }

    fn wake(&mut self, process: ProcessId) -> Option<Performed> {
        let (controller, server) = self.controller_mut(process)?;
        let ready = controller.queue().next_ready()?;
        let wait = ready.saturating_sub(server.environment().elapsed());
        server.environment_mut().advance(wait);
        controller.advance_to(ready);
        Some(Performed::default())
    }

    fn restart(&mut self, process: ProcessId) -> Option<Performed> {
        let (controller, server) = self.controller_mut(process)?;
        controller.restart();
        controller.sync(server);
        Some(Performed::of(controller.take_answered()))
    }

    fn break_watch(&mut self, process: ProcessId, cache: usize) -> Option<Performed> {
        let (controller, _) = self.controller_mut(process)?;
        if !controller.caches().get(cache)?.is_watching() {
            return None;
        }
        controller.drop_watch(cache);
        Some(Performed::default())
    }

    /// The controllers, to change.
    fn controllers_mut(&mut self) -> impl Iterator<Item = &mut Controller> {
        self.processes
            .iter_mut()
            .filter_map(|process| match process {
                Process::Controller(controller) => Some(Arc::make_mut(controller)),
                _ => None,
            })
    }

    fn compact(&mut self) -> Option<Performed> {
        self.server.compact(self.server.store().revision()).ok()?;
        self.server.restart();
        for controller in self.controllers_mut() {
            (0..controller.caches().len()).for_each(|cache| controller.drop_watch(cache));
        }
        Some(Performed::default())
    }

    fn run_out(&mut self) -> Performed {
        self.server
            .environment_mut()
            .advance(EXPECTATIONS_TIMEOUT + TICK);
        let now = self.server.environment().elapsed();
        for controller in self.controllers_mut() {
            controller.advance_to(now);
        }
        Performed::default()
    }
}

impl Performed {
    fn of(answered: Option<AnsweredRequest>) -> Self {
        Self {
            answered,
            ..Self::default()
        }
    }
}

/// Gives a request with its answer to a function, as the ledger reads it.
fn with_parts<R>(answered: &AnsweredRequest, read: impl FnOnce(Answered<'_>) -> R) -> R {
    let AnsweredRequest { request, response } = answered;
    let sent: Value = match *request.method() == Method::POST {
        true => serde_json::from_slice(request.body()).unwrap_or_default(),
        false => Value::Null,
    };
    let received = serde_json::from_slice(response.body()).unwrap_or_default();
    let facts = response.extensions().get::<Facts>();
    read(Answered {
        method: request.method(),
        target: &request.uri().to_string(),
        sent_name: sent.name(),
        code: response.status().as_u16(),
        received: &received,
        facts: facts.map_or(&[][..], |facts| &facts.0),
    })
}
