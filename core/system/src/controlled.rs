//! The operations of controllers in a system. An event is one operation or several.

use std::sync::Arc;
use std::time::Duration;

use optimist_apiserver::server::ApiServer;
use optimist_apiserver::storage::Revision;
use optimist_client::{AnsweredRequest, Lost};
use optimist_controller::{Controller, WorkerReport};
use optimist_ledger::Done;

use super::system::TICK;
use super::{ControllerEvent, ControllerOperation, Performed, Process, ProcessId, System};

impl<Name: Copy + PartialEq> System<Name> {
    /// Performs an operation of a controller. `None` if it is not possible now: then nothing
    /// changes.
    pub fn control(
        &mut self,
        process: ProcessId,
        operation: ControllerOperation,
    ) -> Option<Performed<Name>> {
        let lost = match operation {
            ControllerOperation::StepLosing(lost) => Some(lost),
            _ => None,
        };
        let since = self.server().store().revision();
        let behind = self.behind.clone();
        let (controller, server) = self.controller_mut(process)?;
        let event = match operation {
            ControllerOperation::ListBehind(cache) => list_behind(controller, &*behind?, cache)?,
            _ => performed(controller, server, operation)?,
        };
        let answered = controller.take_answered();
        let mut performed = Performed {
            answered,
            ..Performed::default()
        };
        if let ControllerEvent::Worker(report) = &event
            && self.keeps_ledger()
        {
            let answered = performed.answered.as_deref();
            performed.done = self.record_step(process, report, answered, (since, lost));
        }
        performed.controller = Some(event);
        Some(performed)
    }

    /// Tells the ledger the objects that a step of a worker read, and its write.
    fn record_step(
        &mut self,
        process: ProcessId,
        report: &WorkerReport,
        answered: Option<&AnsweredRequest>,
        (since, lost): (Revision, Option<Lost>),
    ) -> Done<Name> {
        let Some(who) = self.name(process) else {
            return Done::default();
        };
        let Some(Process::Controller(controller)) = self.processes.get(usize::from(process)) else {
            return Done::default();
        };
        let answered = answered.filter(|_| report.call().is_some());
        let (noted, moment) = ((report, answered.map(Into::into)), (&self.server, since));
        let ledger = Arc::make_mut(&mut self.ledger);
        controller.record_step(ledger, who, noted, moment, lost)
    }

    /// The next event of a cache. A cache without a watch lists and watches first.
    pub(super) fn deliver(&mut self, process: ProcessId, cache: usize) -> Option<Performed<Name>> {
        let (controller, server) = self.controller_mut(process)?;
        controller.caches().get(cache)?;
        controller.sync_cache(cache, server);
        let answered = controller.take_answered();
        let delivered = self.control(process, ControllerOperation::Deliver(cache));
        let mut performed = delivered.unwrap_or_default();
        performed.answered = performed.answered.or(answered);
        Some(performed)
    }

    /// The worker takes the next key.
    pub(super) fn take_key(&mut self, process: ProcessId) -> Option<Performed<Name>> {
        let (controller, _) = self.controller_mut(process)?;
        controller.can_take().then_some(())?;
        self.control(process, ControllerOperation::Step)
    }

    /// The worker performs the next visible statement.
    pub(super) fn step(
        &mut self,
        process: ProcessId,
        lost: Option<Lost>,
    ) -> Option<Performed<Name>> {
        let (controller, _) = self.controller_mut(process)?;
        controller.run()?;
        let step = lost.map_or(ControllerOperation::Step, ControllerOperation::StepLosing);
        self.control(process, step)
    }

    /// The process starts again, and its caches list at once.
    pub(super) fn restart(&mut self, process: ProcessId) -> Option<Performed<Name>> {
        let mut performed = self.control(process, ControllerOperation::Restart)?;
        let (controller, server) = self.controller_mut(process)?;
        controller.sync(server);
        performed.answered = controller.take_answered();
        Some(performed)
    }

    /// The process starts again, and a server that is behind answers the first lists of its caches. A
    /// cache that begins with a watch gets the present objects, as such a watch waits for them.
    pub(super) fn restart_behind(&mut self, process: ProcessId) -> Option<Performed<Name>> {
        let mut behind = self.behind()?.clone();
        let mut performed = self.control(process, ControllerOperation::Restart)?;
        let (controller, server) = self.controller_mut(process)?;
        for cache in 0..controller.caches().len() {
            let lists = controller.caches().get(cache)?.lists_first();
            controller.sync_cache(cache, if lists { &mut behind } else { server });
        }
        performed.answered = controller.take_answered();
        Some(performed)
    }

    /// Lets time pass. Waiting keys whose time has come are added to their queues.
    pub fn wait(&mut self, time: Duration) {
        self.server_mut().environment_mut().advance(time);
        let now = self.server().environment().elapsed();
        for controller in self.controllers_mut() {
            controller.advance_to(now);
        }
    }

    /// A controller to change, and the server.
    fn controller_mut(&mut self, process: ProcessId) -> Option<(&mut Controller, &mut ApiServer)> {
        match self.processes.get_mut(usize::from(process))? {
            Process::Controller(controller) => Some((Arc::make_mut(controller), &mut self.server)),
            _ => None,
        }
    }

    /// The controllers, to change.
    pub(super) fn controllers_mut(&mut self) -> impl Iterator<Item = &mut Controller> {
        self.processes
            .iter_mut()
            .filter_map(|process| match process {
                Process::Controller(controller) => Some(Arc::make_mut(controller)),
                _ => None,
            })
    }
}

/// A cache sends its first list to a server that is behind. `None` if it has listed already, or begins
/// with a watch: such a watch waits until the server has everything that was stored before.
fn list_behind(
    controller: &mut Controller,
    behind: &ApiServer,
    cache: usize,
) -> Option<ControllerEvent> {
    let lists = controller.caches().get(cache)?;
    if !lists.lists_first() || lists.has_synced() {
        return None;
    }
    let report = controller.connect(cache, &mut behind.clone())?;
    Some(ControllerEvent::Connected { cache, report })
}

/// Performs an operation. `None` if it is not possible.
fn performed(
    controller: &mut Controller,
    server: &mut ApiServer,
    operation: ControllerOperation,
) -> Option<ControllerEvent> {
    Some(match operation {
        ControllerOperation::Connect(cache) => {
            let report = controller.connect(cache, server)?;
            ControllerEvent::Connected { cache, report }
        }
        // Another server answers.
        ControllerOperation::ListBehind(_) => return None,
        ControllerOperation::Deliver(cache) => {
            let report = controller.deliver(cache, server)?;
            ControllerEvent::Delivered { cache, report }
        }
        ControllerOperation::Step => {
            if controller.can_take() {
                server.environment_mut().advance(TICK);
            }
            ControllerEvent::Worker(controller.work_step(server)?)
        }
        ControllerOperation::StepLosing(lost) => {
            ControllerEvent::Worker(controller.work_step_losing(server, lost)?)
        }
        ControllerOperation::DropWatch(cache) => {
            let dropped = controller.caches().get(cache)?;
            if !dropped.is_watching() {
                return None;
            }
            let on_the_way = dropped.behind(server);
            controller.drop_watch(cache);
            ControllerEvent::WatchDropped { cache, on_the_way }
        }
        ControllerOperation::Resync(cache) => {
            if !controller.caches().get(cache)?.has_synced() {
                return None;
            }
            let handled = controller.resync(cache);
            ControllerEvent::Resynced { cache, handled }
        }
        ControllerOperation::Restart => {
            controller.restart();
            ControllerEvent::Restarted
        }
        ControllerOperation::Wake => {
            let ready = controller.queue().next_ready()?;
            let after = ready.saturating_sub(server.environment().elapsed());
            server.environment_mut().advance(after);
            controller.advance_to(ready);
            ControllerEvent::Woken { after }
        }
    })
}
