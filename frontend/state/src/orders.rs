//! The search of every order of the controllers' steps and the requests of other actors, from the current step.

use std::rc::Rc;

use optimist_checker::{Goal, PropertySearchStatus, Safety};
use optimist_lesson::{PropertyError, parse_controller_property};
use optimist_links::Session;
use optimist_simulation::explore::{
    AnyCondition, ControllerQuestion, ControllerSearch, HistoryProperty, PropertyAnswer, ThirdActor,
};
use optimist_simulation::{ActorId, HistoryTree, Step, World};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::State;
use crate::effect::Effects;
use crate::jobs::{JobId, JobRequest, JobResult, Work};

/// The search stops after this many states.
pub(crate) const MOST_STATES: usize = 20_000;

/// The most characters of a property.
const MOST_CHARACTERS: usize = 2_000;

/// A search of every order, of a moment of a session.
#[derive(Clone, Debug)]
pub struct OrdersSearch {
    request: OrdersRequest,
    /// The search as a job.
    pub job: JobId,
    /// The result; `None` while the search is running.
    pub found: Option<Rc<OrdersFinding>>,
}

/// The moment whose orders are to be searched. As data, it is the text of a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OrdersRequest {
    #[serde(serialize_with = "to_link", deserialize_with = "from_link")]
    tree: Rc<HistoryTree>,
    /// The property that somebody wrote; empty: none.
    property: String,
    /// One more actor than those that have edits.
    third: Option<ThirdActor>,
}

impl OrdersRequest {
    /// The question of its moment, with the property that somebody wrote if there is one. `None` if nothing can be asked.
    fn question(&self) -> Option<ControllerQuestion> {
        question(self.tree.world(), &self.property, self.third)
    }
}

fn question(
    world: &World,
    property: &str,
    third: Option<ThirdActor>,
) -> Option<ControllerQuestion> {
    let question = match property {
        "" => ControllerQuestion::of_ready_program(world),
        text => {
            let property = parse_property(text, world, third).ok()?;
            ControllerQuestion::with_own(world, property)
        }
    };
    match third {
        Some(third) => question?.with_third(world, third),
        None => question,
    }
}

/// Reads a property. It can name the third actor if there is one.
fn parse_property(
    text: &str,
    world: &World,
    third: Option<ThirdActor>,
) -> Result<HistoryProperty<AnyCondition>, PropertyError> {
    let one_more = third.and_then(|_| world.one_more());
    parse_controller_property(text, world, one_more)
}

/// A property that somebody wrote, of every order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnProperty {
    /// Its text; empty: none.
    pub text: String,
    /// The mistake in its text.
    pub error: Option<PropertyError>,
}

fn to_link<S: Serializer>(tree: &HistoryTree, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&Session::from_tree(tree).to_text())
}

fn from_link<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rc<HistoryTree>, D::Error> {
    let session = Session::parse(&String::deserialize(deserializer)?);
    let tree = session.and_then(|session| session.replay().finish());
    tree.map(Rc::new).map_err(D::Error::custom)
}

/// The result of a search of every order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OrdersFinding {
    /// The number of states.
    pub states: usize,
    /// `true` if the search visited all states.
    pub complete: bool,
    /// The number of steps up to which every history is searched. `None` if all of them are.
    pub explored_steps: Option<usize>,
    /// The number of controllers.
    pub controllers: usize,
    /// The editors that send their edits in the orders.
    pub editors: Vec<ActorId>,
    /// One more actor, and what it does.
    pub third: Option<(ActorId, ThirdActor)>,
    /// The maximum number of restarts of the controller in an order.
    pub restarts: u8,
    /// Each property, and its answer.
    pub properties: Vec<(OrderProperty, PropertyAnswer)>,
}

/// A property of every order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum OrderProperty {
    /// Something that must hold for every step.
    Safety(Safety),
    /// Every order comes to rest, and these goals hold then.
    Settles(Vec<Goal>),
    /// The property that somebody wrote: its text.
    Own(String),
}

/// The search, in parts.
pub(crate) struct OrdersWork {
    /// `None` if the moment has no ready program.
    search: Option<ControllerSearch>,
    /// The property that somebody wrote; empty: none.
    property: String,
    third: Option<ThirdActor>,
    /// The number of states at which it next asks whether it knows enough.
    next_look: usize,
}

impl OrdersWork {
    pub(crate) fn new(request: OrdersRequest) -> Self {
        let (world, question) = (request.tree.world(), request.question());
        Self {
            search: question
                .and_then(|question| ControllerSearch::new(world, question, MOST_STATES)),
            property: request.property,
            third: request.third,
            next_look: 100,
        }
    }

    /// Works a little. Returns the finding once enough is known: everything is searched, or every
    /// property is broken.
    fn advance_search(&mut self) -> Option<OrdersFinding> {
        let Some(search) = &mut self.search else {
            return Some(OrdersFinding::default());
        };
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
        let mut editors: Vec<ActorId> = question.actors.iter().map(|(actor, _)| *actor).collect();
        // It is the last one of them.
        let third = self.third.and_then(|third| Some((editors.pop()?, third)));
        let safety = question.always.iter().cloned().map(OrderProperty::Safety);
        let settles = question
            .settles
            .then(|| OrderProperty::Settles(question.at_rest.clone()));
        let own = question
            .own
            .as_ref()
            .map(|_| OrderProperty::Own(self.property.clone()));
        Some(OrdersFinding {
            states: search.states(),
            complete: status == PropertySearchStatus::Done,
            controllers: search.start().controllers().count(),
            editors,
            third,
            restarts: question.faults.restarts,
            explored_steps: search.explored_steps(),
            properties: safety.chain(settles).chain(own).zip(answers).collect(),
        })
    }
}

impl Work for OrdersWork {
    fn advance(&mut self) -> Option<JobResult> {
        self.advance_search().map(JobResult::Orders)
    }

    fn progress(&self) -> (usize, usize) {
        let states = self.search.as_ref().map(ControllerSearch::states);
        (states.unwrap_or_default(), MOST_STATES)
    }
}

/// The actors that can take part beside the controller of a world.
pub fn thirds_beside_controller(world: &World) -> Vec<ThirdActor> {
    let thirds = ThirdActor::all().filter(|third| takes_part(world, *third));
    thirds.collect()
}

fn takes_part(world: &World, third: ThirdActor) -> bool {
    let question = ControllerQuestion::default();
    world.has_controllers() && question.with_third(world, third).is_some()
}

impl State {
    /// Returns whether every order can be searched from here.
    pub fn can_search_orders(&self) -> bool {
        self.orders_request().question().is_some()
    }

    fn orders_request(&self) -> OrdersRequest {
        OrdersRequest {
            tree: Rc::clone(&self.session.tree),
            property: self.controller.own.text.clone(),
            third: self.third_of_orders(),
        }
    }

    /// The task of one more actor in the search from here; `None` for none.
    pub fn third_of_orders(&self) -> Option<ThirdActor> {
        let third = self.controller.third?;
        takes_part(self.world(), third).then_some(third)
    }

    /// Selects what one more actor does. What was searched is searched again.
    pub(crate) fn choose_third_of_orders(
        &mut self,
        third: Option<ThirdActor>,
        fx: &mut Effects<'_>,
    ) {
        let searched = self.orders().is_some();
        (self.controller.third, self.controller.orders) = (third, None);
        let text = std::mem::take(&mut self.controller.own.text);
        self.take_property(&text);
        if searched && self.controller.own.error.is_none() {
            self.begin_orders(fx);
        }
    }

    /// Returns whether a property that somebody writes can be asked from here.
    pub fn can_write_property(&self) -> bool {
        self.world().has_controllers()
    }

    /// Searches every order for a property that somebody wrote, or says what is wrong in its text.
    pub(crate) fn check_property(&mut self, text: String, fx: &mut Effects<'_>) {
        self.take_property(&text);
        // What was found stays beside a text that cannot be read.
        if self.controller.own.error.is_some() {
            return;
        }
        self.controller.orders = None;
        if !self.controller.own.text.is_empty() {
            self.begin_orders(fx);
        }
    }

    /// Takes the text of a property, without a search.
    pub(crate) fn take_property(&mut self, text: &str) {
        let text: String = text.trim().chars().take(MOST_CHARACTERS).collect();
        let read = parse_property(&text, self.world(), self.third_of_orders());
        self.controller.own = OwnProperty {
            error: read.err().filter(|_| !text.is_empty()),
            text,
        };
    }

    /// Returns the search from here, at work or over. Results from another moment do not count
    /// here.
    pub fn orders(&self) -> Option<&OrdersSearch> {
        let orders = self.controller.orders.as_ref();
        orders.filter(|orders| Rc::ptr_eq(&orders.request.tree, &self.session.tree))
    }

    /// The number of states that a search from here has so far.
    pub fn orders_states(&self) -> usize {
        let progress = self.orders().and_then(|it| self.jobs.progress(it.job));
        progress.map_or(0, |(states, _)| states)
    }

    pub(crate) fn begin_orders(&mut self, fx: &mut Effects<'_>) {
        let request = self.orders_request();
        if request.question().is_some() {
            self.controller.orders = Some(OrdersSearch {
                job: self.jobs.start(JobRequest::Orders(request.clone()), fx),
                request,
                found: None,
            });
        }
    }

    pub(crate) fn orders_found(&mut self, job: JobId, found: OrdersFinding) {
        let orders = self.controller.orders.as_mut();
        if let Some(orders) = orders.filter(|orders| orders.job == job) {
            orders.found = Some(Rc::new(found));
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
        let mut tree = HistoryTree::clone(&orders.request.tree);
        let question = orders.request.question();
        let replayed = question.and_then(|it| it.replay_witness(&mut tree, witness));
        // The last step is the one that breaks it.
        let acted = tree.step(tree.current()).and_then(Step::actor);
        let acted = acted.filter(|id| tree.world().controller(*id).is_some());
        if let (Some(_), Some(shown)) = (replayed, acted.or(self.shown_controller())) {
            self.archive_shown(true, fx);
            self.show_controller(tree, shown);
        }
    }
}
