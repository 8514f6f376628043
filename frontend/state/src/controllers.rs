//! A controller as the third actor: its examples, its steps, and its history with other switches.

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

/// A message about a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerMsg {
    /// Begins a session with an example.
    Begin(ReadyProgramName),
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
    /// The program of the controller; `None` without a controller.
    pub fn controller_program(&self) -> Option<&ControllerProgram> {
        let controller = self.world().start().controller.as_ref()?;
        Some(&controller.program)
    }

    /// The ready program of the controller, if it is one.
    pub fn ready_program(&self) -> Option<&ReadyProgram> {
        match self.controller_program()? {
            ControllerProgram::Ready(ready) => Some(ready),
            ControllerProgram::Written(_) => None,
        }
    }

    pub(crate) fn update_controller(&mut self, msg: ControllerMsg, fx: &mut Effects<'_>) {
        let change = match msg {
            ControllerMsg::Begin(name) => return self.begin_controller(name, fx),
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
            ControllerMsg::Deliver => match self.world().next_delivery() {
                Some(delivery) => self.session.operate(Operation::Control(delivery)),
                None => SessionChange::Nothing,
            },
            ControllerMsg::DeliverTo(cache) => self.control(ControllerOperation::Deliver(cache)),
            ControllerMsg::DropWatches => self.for_caches(true, ControllerOperation::DropWatch),
            ControllerMsg::Connect => self.connect(),
            ControllerMsg::Restart => self.control(ControllerOperation::Restart),
            ControllerMsg::Step => self.control(ControllerOperation::Step),
            ControllerMsg::Wake => self.control(ControllerOperation::Wake),
            ControllerMsg::Run => self.run_controller(),
        };
        self.follow(change);
    }

    fn control(&mut self, operation: ControllerOperation) -> SessionChange {
        self.session.operate(Operation::Control(operation))
    }

    /// Does something with every cache whose watch is open, or is not.
    fn for_caches(
        &mut self,
        watching: bool,
        operation: impl Fn(usize) -> ControllerOperation,
    ) -> SessionChange {
        let standings = self.world().cache_standings().into_iter().enumerate();
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

    /// Steps until the run is over, or waits for a cache.
    fn run_controller(&mut self) -> SessionChange {
        let mut change = SessionChange::Nothing;
        for _ in 0..MOST_STEPS {
            if self.control(ControllerOperation::Step) == SessionChange::Nothing {
                break;
            }
            change = SessionChange::Stepped;
            let run = self.world().controller().and_then(|it| it.run());
            if run.is_none() {
                break;
            }
        }
        change
    }

    fn begin_controller(&mut self, name: ReadyProgramName, fx: &mut Effects<'_>) {
        let start = Start {
            manifests: WIDGET.to_owned(),
            version: Some(FIRST_VERSION),
            release: self.world().server().release(),
            controller: Some(ControllerStart::from(ReadyProgram::new(name))),
            ..Start::default()
        };
        let Ok((world, _)) = World::from_start(start.into()) else {
            // The manifests are part of this program, and its tests load them.
            return;
        };
        let mut tree = HistoryTree::new(world);
        tree.connect_controller();
        self.archive_shown(true, fx);
        self.controller.own = OwnProperty::default();
        self.controller.third = None;
        self.view.show_all_controls(fx);
        self.show_controller(tree);
    }

    /// Shows a session whose third actor is a controller.
    pub(crate) fn show_controller(&mut self, tree: HistoryTree) {
        self.enter(Rc::new(tree));
        self.view.dialog = None;
        self.view.right = ActorId::C;
        self.view.lane = Lane::Editor(ActorId::C);
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
        let Some(start) = self.world().start().controller.clone() else {
            return;
        };
        let start = ControllerStart {
            program: ControllerProgram::Ready(ready),
            ..start
        };
        let session = Session::from_tree(&self.session.tree);
        if let Ok(tree) = session.with_controller(start) {
            self.archive_shown(true, fx);
            self.show_controller(tree);
        }
    }
}

/// More steps than a run of a sensible program has.
const MOST_STEPS: usize = 500;
