//! The system: its state, the events that are possible, and the effect of each.

use std::sync::Arc;
use std::time::Duration;

use http::Request;

use optimist_apiserver::server::ApiServer;
use optimist_client::{AnsweredRequest, ListMode, Lost, Next, Procedure};
use optimist_controller::program::Program;
use optimist_controller::{Cache, Controller, EXPECTATIONS_TIMEOUT, UnknownKind};
use optimist_ledger::{Done, Intention, Ledger};

use super::{ControllerOperation, Event, Faults, Performed, Process, ProcessId};

/// The time that passes before a procedure sends a request, and before a worker takes a key.
pub(super) const TICK: Duration = Duration::from_secs(1);

/// An API server, the processes that use it, and a ledger that knows the processes by name. Cloning is
/// cheap.
#[derive(Clone, Debug)]
pub struct System<Name = ProcessId> {
    pub(super) server: ApiServer,
    pub(super) processes: Vec<Process>,
    /// The name of each process in the ledger.
    names: Arc<[Name]>,
    faults: Faults,
    /// The server before the last write, if a fault asks for it.
    pub(super) behind: Option<Arc<ApiServer>>,
    pub(super) ledger: Arc<Ledger<Name>>,
    keeps_ledger: bool,
}

impl System {
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
            let mut controller =
                Controller::new(program, &system.server, namespace, ListMode::List)?;
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

    /// Adds a client that runs a program once, for a key.
    pub fn with_run(mut self, program: Program, key: &str) -> Self {
        let controller = Controller::once(program, key, &mut self.server);
        self.with(controller)
    }
}

impl<Name: Copy + PartialEq> System<Name> {
    /// Makes a system without processes. Its ledger begins with the edits that are known by then.
    pub fn new(server: ApiServer, ledger: Ledger<Name>) -> Self {
        Self {
            server,
            processes: Vec::new(),
            names: Arc::default(),
            faults: Faults::default(),
            behind: None,
            ledger: Arc::new(ledger),
            keeps_ledger: false,
        }
    }

    /// Adds a process by its name in the ledger. Somebody who does several things at once is several
    /// processes of one name.
    pub fn with_named(mut self, name: Name, process: impl Into<Process>) -> Self {
        let names = self.names.iter().copied();
        self.names = names.chain([name]).collect();
        self.processes.push(process.into());
        self
    }

    /// Sets how often each fault can happen.
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// The same, with a ledger that records every event. A search that does not ask for the ledger
    /// is faster without it.
    pub fn with_ledger(mut self) -> Self {
        self.keeps_ledger = true;
        self
    }

    /// Returns whether the ledger records every event.
    pub fn keeps_ledger(&self) -> bool {
        self.keeps_ledger
    }

    /// Returns the ledger of all writes and of everything that was shown. A system that does [not keep
    /// it](Self::keeps_ledger) has the one of its beginning.
    pub fn ledger(&self) -> &Ledger<Name> {
        &self.ledger
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

    /// The server without the last write, as an API server has it that is behind. `None` before the
    /// first write, and if no [list](Faults::lagging_lists) is answered by such a server.
    pub fn behind(&self) -> Option<&ApiServer> {
        self.behind
            .as_deref()
            .filter(|_| self.faults.lagging_lists > 0)
    }

    /// Sets the server without the last write. [`perform`](Self::perform) does it itself where a list can
    /// be answered by such a server.
    pub fn set_behind(&mut self, behind: ApiServer) {
        self.behind = Some(Arc::new(behind));
    }

    /// Returns the number of times that each fault can still happen.
    pub fn faults(&self) -> Faults {
        self.faults
    }

    /// The procedure with a number; `None` if that process is none.
    pub fn procedure(&self, process: ProcessId) -> Option<&Procedure> {
        self.processes.get(usize::from(process))?.procedure()
    }

    fn procedure_mut(&mut self, process: ProcessId) -> Option<&mut Procedure> {
        match self.processes.get_mut(usize::from(process))? {
            Process::Procedure(procedure) => Some(Arc::make_mut(procedure)),
            Process::Idle | Process::Controller(_) => None,
        }
    }

    /// Lets a process do something else from here on. `false` if there is no process of that number.
    pub fn set_process(&mut self, process: ProcessId, does: impl Into<Process>) -> bool {
        let known = self.processes.get_mut(usize::from(process));
        known.map(|known| *known = does.into()).is_some()
    }

    /// Returns the server, for changes that no process of the system makes.
    pub fn server_mut(&mut self) -> &mut ApiServer {
        &mut self.server
    }

    /// The processes that can still write, by their names in the ledger, in order.
    pub fn writers(&self) -> Vec<Name>
    where
        Name: Ord,
    {
        let named = self.names.iter().zip(&self.processes);
        let writers = named.filter(|(_, process)| process.is_writer());
        let mut writers: Vec<_> = writers.map(|(name, _)| *name).collect();
        writers.sort_unstable();
        writers.dedup();
        writers
    }

    /// The name of a process in the ledger.
    pub fn name(&self, process: ProcessId) -> Option<Name> {
        self.names.get(usize::from(process)).copied()
    }

    /// The events that are possible.
    pub fn enabled(&self) -> Vec<Event> {
        let mut enabled = Vec::with_capacity(8);
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
        for (cache, it) in (0..=u16::MAX).zip(controller.caches()) {
            if !it.is_watching() || it.is_behind(&self.server) {
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
            if controller.writes_next() {
                enabled.extend([Event::AnswerLost(process), Event::RequestLost(process)]);
            }
        }
        if controller.queue().next_ready().is_some() {
            enabled.push(Event::Wake(process));
        }
        if !controller.runs_once() {
            enabled.push(Event::Restart(process));
        }
        let lists = || controller.caches().iter().any(Cache::lists_first);
        if !controller.runs_once() && self.behind().is_some() && lists() {
            enabled.push(Event::RestartBehind(process));
        }
    }

    /// Performs an event. `None` if it is not possible: then nothing changes.
    pub fn perform(&mut self, event: Event) -> Option<Performed<Name>> {
        if self.faults.left(event).is_some_and(|left| *left == 0) {
            return None;
        }
        let before = self.lagging_server();
        let performed = match event {
            Event::Request(process) => self.request(process, None),
            Event::AnswerLost(process) => self.lose(process, Lost::Answer),
            Event::RequestLost(process) => self.lose(process, Lost::Request),
            Event::Deliver { process, cache } => self.deliver(process, cache.into()),
            Event::WatchBroken { process, cache } => {
                self.control(process, ControllerOperation::DropWatch(cache.into()))
            }
            Event::Take(process) => self.take_key(process),
            Event::Step(process) => self.step(process, None),
            Event::Wake(process) => self.control(process, ControllerOperation::Wake),
            Event::Restart(process) => self.restart(process),
            Event::RestartBehind(process) => self.restart_behind(process),
            Event::ExpectationsRunOut => {
                self.wait(EXPECTATIONS_TIMEOUT + TICK);
                Some(Performed::default())
            }
            Event::Compaction => self.end_watches(),
        }?;
        self.count(event, before);
        Some(performed)
    }

    /// Returns the next state, if `performed` is another system after the same event, and had the same
    /// server, the same process and the same ledger before it. `None` if more takes part in the event
    /// than [its process](Event::process).
    pub fn after(&self, event: Event, performed: &Self) -> Option<Self> {
        let process = usize::from(event.process()?);
        let mut next = Self {
            server: performed.server.clone(),
            processes: self.processes.clone(),
            names: Arc::clone(&self.names),
            faults: self.faults,
            behind: self.behind.clone(),
            ledger: Arc::clone(&performed.ledger),
            keeps_ledger: self.keeps_ledger,
        };
        *next.processes.get_mut(process)? = performed.processes.get(process)?.clone();
        next.count(event, self.lagging_server());
        Some(next)
    }

    /// The server as it is, if a list can be answered by one that is behind.
    fn lagging_server(&self) -> Option<ApiServer> {
        (self.faults.lagging_lists > 0).then(|| self.server.clone())
    }

    /// Counts a fault that has happened, and keeps the server before a write.
    fn count(&mut self, event: Event, before: Option<ApiServer>) {
        if let Some(left) = self.faults.left(event) {
            *left = left.saturating_sub(1);
        }
        let revision = self.server.store().revision();
        let wrote = |before: &ApiServer| before.store().revision() != revision;
        if before.as_ref().is_some_and(wrote) {
            self.behind = before.map(Arc::new);
        }
    }

    /// A process writes, and the network loses something.
    fn lose(&mut self, process: ProcessId, lost: Lost) -> Option<Performed<Name>> {
        match self.processes.get(usize::from(process))? {
            Process::Idle => None,
            Process::Procedure(procedure) if lost == Lost::Answer && procedure.writes_next() => {
                self.request(process, Some(lost))
            }
            Process::Procedure(_) => None,
            Process::Controller(_) => self.step(process, Some(lost)),
        }
    }

    /// A procedure sends its next request. One that waits has waited by then.
    fn request(&mut self, process: ProcessId, lost: Option<Lost>) -> Option<Performed<Name>> {
        let release = self.server.release();
        let procedure = self.procedure_mut(process)?;
        if procedure.is_done() {
            return None;
        }
        let wait = match procedure.next() {
            Next::Sleep(time) => time.saturating_sub(TICK),
            Next::Send(_) | Next::Done => Duration::ZERO,
        };
        procedure.wake();
        let Next::Send(request) = procedure.next() else {
            procedure.give_up();
            return Some(Performed::default());
        };
        let object = procedure.object().clone();
        let edits = procedure.meant(release);
        let intention = Intention {
            edits: edits.as_deref(),
            retries: procedure.repeats_edits(),
            about: Some(&object),
        };
        self.server.environment_mut().advance(wait);
        let (answered, done) = self.send(process, request, intention, lost);
        if lost.is_none() {
            self.procedure_mut(process)?.answered(&(&answered).into());
        }
        Some(Performed {
            answered: Some(Box::new(answered)),
            done,
            controller: None,
        })
    }

    /// Sends the request of a process after a second, with its intention. If the answer is lost,
    /// the ledger does not count it as shown to the process. The caller gives the answer to the
    /// process.
    pub fn send(
        &mut self,
        process: ProcessId,
        request: Request<Vec<u8>>,
        intention: Intention<'_>,
        lost: Option<Lost>,
    ) -> (AnsweredRequest, Done<Name>) {
        self.server.environment_mut().advance(TICK);
        let since = self.server.store().revision();
        let response = self.server.handle(request.clone());
        let answered = AnsweredRequest::new(request, response);
        let mut done = Done::default();
        if self.keeps_ledger
            && let Some(who) = self.name(process)
        {
            let (ledger, server) = (Arc::make_mut(&mut self.ledger), &self.server);
            let tell = match lost {
                None => Ledger::request,
                Some(_) => Ledger::unanswered,
            };
            done = tell(ledger, who, (&answered).into(), intention, server, since);
        }
        (answered, done)
    }

    /// Compacts etcd at its current revision, and restarts the API server if that is wanted. A restart closes every
    /// connection, so the controllers notice at once that their watches ended. `false` if neither was possible: then
    /// nothing changes.
    pub fn compact(&mut self, restart: bool) -> bool {
        let revision = self.server.store().revision();
        let compacted = self.server.compact(revision).is_ok();
        if restart {
            self.server.restart();
            for controller in self.controllers_mut() {
                (0..controller.caches().len()).for_each(|cache| controller.drop_watch(cache));
            }
        }
        restart || compacted
    }

    /// Compacts etcd and restarts the API server.
    fn end_watches(&mut self) -> Option<Performed<Name>> {
        let store = self.server.store();
        (store.compacted() < store.revision()).then_some(())?;
        self.compact(true);
        Some(Performed::default())
    }
}
