//! The search of every order of a controller's steps and an editor's request, from the current step.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_checker::{Goal, PropertySearchStatus, Safety};
use optimist_simulation::explore::{ControllerQuestion, ControllerSearch, PropertyAnswer};
use optimist_simulation::{ActorId, HistoryTree};

use crate::State;
use crate::effect::Effects;

/// The search stops after this many states.
const MOST_STATES: usize = 20_000;

/// A search of every order, of a moment of a session.
#[derive(Clone, Debug)]
pub struct OrdersSearch {
    /// The session at the moment from which it searches.
    tree: Rc<HistoryTree>,
    search: Rc<RefCell<ControllerSearch>>,
    /// The number of states at which it next asks whether it knows enough.
    next_look: usize,
    /// The result; `None` while the search is running.
    pub found: Option<Rc<OrdersFinding>>,
}

/// The result of a search of every order.
#[derive(Clone, Debug, PartialEq)]
pub struct OrdersFinding {
    /// The number of states.
    pub states: usize,
    /// `true` if the search visited all states.
    pub complete: bool,
    /// The editors that send their edits in the orders.
    pub editors: Vec<ActorId>,
    /// The maximum number of restarts of the controller in an order.
    pub restarts: u8,
    /// Each property, and its answer.
    pub properties: Vec<(OrderProperty, PropertyAnswer)>,
}

/// A property of every order.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderProperty {
    /// Something that must hold for every step.
    Safety(Safety),
    /// Every order comes to rest, and these goals hold then.
    Settles(Vec<Goal>),
}

impl OrdersSearch {
    /// The number of states so far.
    pub fn states(&self) -> usize {
        self.search.borrow().states()
    }

    /// Works a little. Returns the finding once enough is known: everything is searched, or every
    /// property is broken.
    fn advance(&mut self) -> Option<OrdersFinding> {
        let mut search = self.search.borrow_mut();
        let status = search.advance(4);
        let over = status != PropertySearchStatus::Running;
        if !over && search.states() < self.next_look {
            return None;
        }
        // Each look goes through all states.
        self.next_look = search.states() * 2;
        let answers = search.answers();
        let is_broken = |answer: &PropertyAnswer| matches!(answer, PropertyAnswer::Broken(_));
        if !over && !answers.iter().all(is_broken) {
            return None;
        }
        let question = search.question();
        let safety = question.always.iter().cloned().map(OrderProperty::Safety);
        Some(OrdersFinding {
            states: search.states(),
            complete: status == PropertySearchStatus::Done,
            editors: question.editors.iter().map(|(actor, _)| *actor).collect(),
            restarts: question.faults.restarts,
            properties: safety
                .chain([OrderProperty::Settles(question.at_rest.clone())])
                .zip(answers)
                .collect(),
        })
    }
}

impl State {
    /// Returns whether every order can be searched from here.
    pub fn can_search_orders(&self) -> bool {
        ControllerQuestion::of_ready_program(self.world()).is_some()
    }

    /// Returns the search from here, at work or over. Results from another moment do not count
    /// here.
    pub fn orders(&self) -> Option<&OrdersSearch> {
        let orders = self.controller.orders.as_ref();
        orders.filter(|orders| Rc::ptr_eq(&orders.tree, &self.session.tree))
    }

    pub(crate) fn is_searching_orders(&self) -> bool {
        self.orders().is_some_and(|orders| orders.found.is_none())
    }

    pub(crate) fn begin_orders(&mut self) {
        let world = self.world();
        let question = ControllerQuestion::of_ready_program(world);
        let search =
            question.and_then(|question| ControllerSearch::new(world, question, MOST_STATES));
        self.controller.orders = search.map(|search| OrdersSearch {
            tree: Rc::clone(&self.session.tree),
            search: Rc::new(RefCell::new(search)),
            next_look: 100,
            found: None,
        });
    }

    /// Goes on with the search for one slice. One of another moment ends.
    pub(crate) fn search_orders_further(&mut self, fx: &mut Effects<'_>) {
        if self.orders().is_none() {
            self.controller.orders = None;
        }
        if let Some(orders) = &mut self.controller.orders
            && orders.found.is_none()
        {
            orders.found = fx.slice(|| orders.advance()).map(Rc::new);
        }
    }

    /// Opens the history that breaks a property as a session of its own, at its last step.
    pub(crate) fn open_order(&mut self, property: usize, fx: &mut Effects<'_>) {
        let Some(orders) = self.orders().cloned() else {
            return;
        };
        let found = orders.found.as_deref();
        let answer = found.and_then(|found| found.properties.get(property));
        let Some((_, PropertyAnswer::Broken(witness))) = answer else {
            return;
        };
        let mut tree = HistoryTree::clone(&orders.tree);
        let replayed = orders.search.borrow().replay(&mut tree, &witness.run());
        if replayed.is_some() {
            self.archive_shown(true, fx);
            self.show_controller(tree);
        }
    }
}
