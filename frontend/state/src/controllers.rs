//! Controllers as actors: their examples, their steps, and a history with other switches.

use std::rc::Rc;

use optimist_code::ProgramLanguage;
use optimist_controller::program::{ReadyProgram, ReadyProgramName, Switch};
use optimist_links::Session;
use optimist_simulation::explore::ThirdActor;
use optimist_simulation::{
    ActorId, ControllerOperation, ControllerProgram, ControllerStart, HistoryTree, Operation,
    Start, WIDGET, World,
};

use crate::State;
use crate::effect::Effects;
use crate::orders::{OrdersSearch, OwnProperty};
use crate::session::SessionChange;
use crate::view::Lane;

/// The part of the controller's card that a narrow window shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllerPart {
    /// The program and its variables.
    Program,
    /// The cache, the events on their way and the queue.
    Memory,
}

/// The view of the controller's card.
#[derive(Clone, Debug)]
pub struct ControllerView {
    /// The language in which its program is displayed.
    pub language: ProgramLanguage,
    /// The part that a narrow window shows.
    pub part: ControllerPart,
    /// The search of every order from here.
    pub orders: Option<OrdersSearch>,
    /// The property that somebody wrote.
    pub own: OwnProperty,
    /// An actor that takes part in the search beside those that have edits.
    pub third: Option<ThirdActor>,
}

impl Default for ControllerView {
    fn default() -> Self {
        Self {
            language: ProgramLanguage::Go,
            part: ControllerPart::Program,
            orders: None,
            own: OwnProperty::default(),
            third: None,
        }
    }
}

/// A message about a controller. Without another word it is [the one that the page
/// shows](State::shown_controller).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerMsg {
    /// Begins a session with an example.
    Begin(ReadyProgramName),
    /// The same history with an example as one more controller.
    Add(ReadyProgramName),
    /// Shows the program in another language.
    Language(ProgramLanguage),
    /// Shows a part of the card where only one fits.
    Part(ControllerPart),
    /// Delivers the next event.
    Deliver,
    /// Delivers the next event of a cache.
    DeliverTo(usize),
    /// Drops every open watch.
    DropWatches,
    /// Opens every watch that is not open.
    Connect,
    /// Restarts the process.
    Restart,
    /// One step of the worker.
    Step,
    /// Steps to the end of the run.
    Run,
    /// Lets the time pass until the next waiting key.
    Wake,
    /// The same history with a switch turned.
    Switch(Switch),
    /// Searches every order from here.
    SearchOrders,
    /// Searches every order from here for a property that somebody wrote; an empty text removes it.
    CheckProperty(String),
    /// Lets one more actor take part in the search.
    Third(Option<ThirdActor>),
    /// Ends the search.
    CancelOrders,
    /// Opens the history that breaks a property, by the property's number.
    OpenOrder(usize),
}

/// The version of the first object of an example.
const FIRST_VERSION: u64 = 100;

impl State {
    /// The controller that the page shows: that of the right lane. If an editor has the right lane, the
    /// first one. `None` without a controller.
    pub fn shown_controller(&self) -> Option<ActorId> {
        let (world, right) = (self.world(), self.view.right);
        match world.controller(right) {
            Some(_) => Some(right),
            None => world.controllers().map(|(id, _)| id).next(),
        }
    }

    /// The program of [the controller that the page shows](Self::shown_controller).
    pub fn controller_program(&self) -> Option<&ControllerProgram> {
        let controllers = &self.world().start().controllers;
        Some(&controllers.get(&self.shown_controller()?)?.program)
    }

    /// The ready program of that controller, if it is one.
    pub fn ready_program(&self) -> Option<&ReadyProgram> {
        match self.controller_program()? {
            ControllerProgram::Ready(ready) => Some(ready),
            ControllerProgram::Written(_) => None,
        }
    }

    pub(crate) fn update_controller(&mut self, msg: ControllerMsg, fx: &mut Effects<'_>) {
        let change = match msg {
            ControllerMsg::Begin(name) => return self.begin_controller(name, fx),
            ControllerMsg::Add(name) => return self.add_controller(name, fx),
            ControllerMsg::Language(language) => {
                self.controller.language = language;
                return;
            }
            ControllerMsg::Part(part) => {
                self.controller.part = part;
                return;
            }
            ControllerMsg::Switch(switch) => return self.turn_switch(switch, fx),
            ControllerMsg::SearchOrders => return self.begin_orders(fx),
            ControllerMsg::CheckProperty(text) => return self.check_property(text, fx),
            ControllerMsg::Third(third) => return self.choose_third_of_orders(third, fx),
            ControllerMsg::CancelOrders => {
                self.controller.orders = None;
                return;
            }
            ControllerMsg::OpenOrder(property) => return self.open_order(property, fx),
            ControllerMsg::Deliver => {
                let shown = self.shown_controller();
                match shown.and_then(|id| self.world().next_delivery(id)) {
                    Some(delivery) => self.control(delivery),
                    None => SessionChange::Nothing,
                }
            }
            ControllerMsg::DeliverTo(cache) => self.control(ControllerOperation::Deliver(cache)),
            ControllerMsg::DropWatches => self.for_caches(true, ControllerOperation::DropWatch),
            ControllerMsg::Connect => self.connect(),
            ControllerMsg::Restart => self.control(ControllerOperation::Restart),
            ControllerMsg::Step => {
                self.after_due_key(|state| state.control(ControllerOperation::Step))
            }
            ControllerMsg::Wake => self.control(ControllerOperation::Wake),
            ControllerMsg::Run => self.after_due_key(|state| match state.shown_controller() {
                Some(id) => state.session.run_controller(id),
                None => SessionChange::Nothing,
            }),
        };
        self.follow(change);
    }

    fn control(&mut self, operation: ControllerOperation) -> SessionChange {
        match self.shown_controller() {
            Some(id) => self.session.operate(Operation::Control(id, operation)),
            None => SessionChange::Nothing,
        }
    }

    /// Queues a key whose time has come, and then does something. No time passes before.
    fn after_due_key(&mut self, act: impl FnOnce(&mut Self) -> SessionChange) -> SessionChange {
        let shown = self.shown_controller();
        let queued = match shown.is_some_and(|id| self.world().has_due_key(id)) {
            true => self.control(ControllerOperation::Wake),
            false => SessionChange::Nothing,
        };
        match act(self) {
            SessionChange::Nothing => queued,
            change => change,
        }
    }

    /// Does something with every cache whose watch is open, or is not.
    fn for_caches(
        &mut self,
        watching: bool,
        operation: impl Fn(usize) -> ControllerOperation,
    ) -> SessionChange {
        let shown = self.shown_controller();
        let standings = shown.map(|id| self.world().cache_standings(id));
        let standings = standings.unwrap_or_default().into_iter().enumerate();
        let caches: Vec<usize> = standings
            .filter(|(_, cache)| cache.is_watching == watching)
            .map(|(index, _)| index)
            .collect();
        self.several(caches.into_iter().map(operation))
    }

    fn several(
        &mut self,
        operations: impl IntoIterator<Item = ControllerOperation>,
    ) -> SessionChange {
        let mut change = SessionChange::Nothing;
        for operation in operations {
            if self.control(operation) == SessionChange::Nothing {
                break;
            }
            change = SessionChange::Stepped;
        }
        change
    }

    /// Opens every watch: a list and a watch each.
    fn connect(&mut self) -> SessionChange {
        let mut change = SessionChange::Nothing;
        // A list that the server refuses is repeated once.
        for _ in 0..3 {
            match self.for_caches(false, ControllerOperation::Connect) {
                SessionChange::Nothing => break,
                stepped => change = stepped,
            }
        }
        change
    }

    fn begin_controller(&mut self, name: ReadyProgramName, fx: &mut Effects<'_>) {
        let start = Start {
            manifests: WIDGET.to_owned(),
            version: Some(FIRST_VERSION),
            release: self.world().server().release(),
            controllers: [(ActorId::C, ReadyProgram::new(name).into())].into(),
            ..Start::default()
        };
        let Ok((world, _)) = World::from_start(start.into()) else {
            // The manifests are part of this program, and its tests load them.
            return;
        };
        let mut tree = HistoryTree::new(world);
        tree.connect_controller(ActorId::C);
        self.archive_shown(true, fx);
        self.controller.own = OwnProperty::default();
        self.controller.third = None;
        self.view.show_all_controls(fx);
        self.show_controller(tree, ActorId::C);
    }

    fn add_controller(&mut self, name: ReadyProgramName, fx: &mut Effects<'_>) {
        let Some(actor) = self.next_actor() else {
            return;
        };
        let session = Session::from_tree(&self.session.tree);
        let added = session.with_controller(actor, ReadyProgram::new(name).into());
        if let Ok(mut tree) = added {
            tree.connect_controller(actor);
            self.archive_shown(true, fx);
            self.show_controller(tree, actor);
        }
    }

    /// Shows a session with a controller in the right lane.
    pub(crate) fn show_controller(&mut self, tree: HistoryTree, controller: ActorId) {
        self.enter(Rc::new(tree));
        self.view.dialog = None;
        self.view.show(controller);
        self.view.lane = Lane::Editor(controller);
        self.view.focus = ActorId::A;
    }

    fn turn_switch(&mut self, switch: Switch, fx: &mut Effects<'_>) {
        let Some(ready) = self.ready_program() else {
            return;
        };
        let mut ready = ready.clone();
        if !ready.switches.remove(&switch) {
            ready.switches.insert(switch);
        }
        let Some(shown) = self.shown_controller() else {
            return;
        };
        let Some(start) = self.world().start().controllers.get(&shown).cloned() else {
            return;
        };
        let start = ControllerStart {
            program: ControllerProgram::Ready(ready),
            ..start
        };
        let session = Session::from_tree(&self.session.tree);
        if let Ok(tree) = session.with_controller(shown, start) {
            self.archive_shown(true, fx);
            self.show_controller(tree, shown);
        }
    }
}
