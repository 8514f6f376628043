//! A property of every history that somebody asks of a [`PropertySearch`](super::PropertySearch): what of
//! each state and each step it looks at, and the shortest history that breaks it.

use http::Method;
use optimist_apiserver::server::ApiServer;
use optimist_client::Procedure;
use optimist_ledger::ObjectRef;
use optimist_system::{ControllerEvent, Event, Performed, System};

use super::state_graph::{Edge, StateGraph};
use super::without_first::without_first;
use super::{AnyCondition, HistoryProperty, Occurrence, StoredObjects};

/// A property, and the object that it is about.
#[derive(Clone, Debug)]
pub(super) struct AskedProperty {
    pub(super) property: HistoryProperty<AnyCondition>,
    pub(super) object: ObjectRef,
}

/// The part of a step at which a property looks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Occurred {
    /// The first of two occurrences has occurred.
    first: bool,
    /// The second one has.
    second: bool,
    /// An edit was lost.
    loses: bool,
    /// Somebody wrote to an object with an edit of another process.
    contested: bool,
}

impl AskedProperty {
    /// The condition that it has for every state, or for those at rest.
    fn condition(&self) -> Option<&AnyCondition> {
        match &self.property {
            HistoryProperty::Always(condition) | HistoryProperty::AtRest(condition) => {
                Some(condition)
            }
            _ => None,
        }
    }

    fn stored<'a>(&'a self, server: &'a ApiServer) -> StoredObjects<'a> {
        StoredObjects::All(server, &self.object)
    }

    /// Returns whether its condition holds in a state. A property without one accepts each.
    pub(super) fn holds_in(&self, server: &ApiServer) -> bool {
        let condition = self.condition();
        condition.is_none_or(|condition| condition.holds(self.stored(server)))
    }

    /// Returns whether its condition sees another state than the start.
    pub(super) fn is_changed(&self, start: &ApiServer, server: &ApiServer) -> bool {
        let [start, now] = [start, server].map(|server| self.stored(server));
        self.condition()
            .is_some_and(|condition| !condition.sees_same(start, now))
    }

    /// Returns what it looks at in a step between two states.
    pub(super) fn occurred(
        &self,
        event: Event,
        (before, after): (&System, &System),
        performed: &Performed,
    ) -> Occurred {
        let mut occurred = Occurred::default();
        match &self.property {
            HistoryProperty::NoEditLost => {
                occurred.loses = !performed.done.losses.is_empty();
                occurred.contested = performed.done.contested;
            }
            HistoryProperty::Before(first, second) => {
                let step = StepOfProcess::new(&self.object, event, (before, after), performed);
                let occurs = |occurrence: &Occurrence<AnyCondition>| match occurrence {
                    Occurrence::Reads(who) => step.is_by(*who) && step.reads,
                    Occurrence::Writes(who) => step.is_by(*who) && step.writes == Some(true),
                    Occurrence::IsRefused(who) => step.is_by(*who) && step.writes == Some(false),
                    Occurrence::Holds(condition) => condition.holds(self.stored(after.server())),
                };
                (occurred.first, occurred.second) = (occurs(first), occurs(second));
            }
            _ => {}
        }
        occurred
    }

    /// Finds a history that breaks it at some step, among the states and steps that are known. The number
    /// of steps is the smallest one among these. Settling is judged elsewhere.
    pub(super) fn broken_by(&self, start: &ApiServer, graph: &StateGraph) -> Option<Vec<Event>> {
        match &self.property {
            HistoryProperty::NoEditLost => first_step(graph, |edge| edge.occurred.loses),
            HistoryProperty::Always(_) => {
                let broken = graph.nodes().iter().position(|node| !node.asked_holds);
                broken.map(|state| graph.path(state))
            }
            HistoryProperty::Before(first, second) => {
                let at_start = |occurrence: &Occurrence<AnyCondition>| match occurrence {
                    Occurrence::Holds(condition) => condition.holds(self.stored(start)),
                    _ => false,
                };
                match (at_start(second), at_start(first)) {
                    (true, _) => Some(Vec::new()),
                    (false, true) => None,
                    (false, false) => second_without_first(graph),
                }
            }
            HistoryProperty::Settles | HistoryProperty::AtRest(_) => None,
        }
    }

    /// Returns whether some step could have broken it.
    pub(super) fn is_tried(&self, graph: &StateGraph) -> bool {
        let some = |is: fn(&Edge) -> bool| graph.all_edges().iter().any(is);
        match &self.property {
            HistoryProperty::NoEditLost => some(|edge| edge.occurred.contested),
            HistoryProperty::Before(..) => some(|edge| edge.occurred.second),
            HistoryProperty::Settles => some(|_| true),
            HistoryProperty::Always(_) | HistoryProperty::AtRest(_) => {
                graph.nodes().iter().any(|node| node.is_changed)
            }
        }
    }
}

/// The effect of a process on an object in a step.
struct StepOfProcess {
    /// The name of the process in the ledger.
    who: Option<usize>,
    reads: bool,
    /// `true` if a write was accepted. `None` without a write.
    writes: Option<bool>,
}

impl StepOfProcess {
    fn new(
        object: &ObjectRef,
        event: Event,
        (before, after): (&System, &System),
        performed: &Performed,
    ) -> Self {
        let process = event.process();
        let who = process.and_then(|process| before.name(process));
        let mut step = Self {
            who: who.map(usize::from),
            reads: false,
            writes: None,
        };
        // A cache that lists or watches is not yet a read of a process.
        let worker = match &performed.controller {
            Some(ControllerEvent::Worker(report)) => Some(report),
            Some(_) => return step,
            None if matches!(event, Event::Request(_) | Event::AnswerLost(_)) => None,
            None => return step,
        };
        let controller = process.and_then(|process| after.controller(process));
        if let Some((report, controller)) = worker.zip(controller) {
            let mut read = controller.read_by(report).iter();
            step.reads = read.any(|shown| StoredObjects::is_about(object, shown));
        }
        let Some(answered) = &performed.answered else {
            return step;
        };
        let procedure = process.and_then(|process| before.procedure(process));
        if procedure.is_some_and(Procedure::dry_runs_next) {
            return step;
        }
        let (method, target) = (answered.request.method(), answered.target());
        let sent_name = match *method == Method::POST {
            true => optimist_apiserver::object::Metadata::name(&**answered.sent()),
            false => "",
        };
        if object.is_addressed_by(method, target, sent_name) {
            let is_accepted = answered.response.status().as_u16() < 400;
            match *method == Method::GET {
                true => step.reads |= worker.is_none() && is_accepted,
                false => step.writes = Some(is_accepted),
            }
        }
        step
    }

    fn is_by(&self, who: usize) -> bool {
        self.who == Some(who)
    }
}

/// A history that ends with the first step of a kind, by the order in which states were found.
fn first_step(graph: &StateGraph, is: impl Fn(&Edge) -> bool) -> Option<Vec<Event>> {
    (0..graph.len()).find_map(|state| {
        let edge = graph.edges(state).iter().find(|edge| is(edge))?;
        let mut path = graph.path(state);
        path.push(edge.event);
        Some(path)
    })
}

/// A shortest history in which the second of two occurrences occurs without the first.
fn second_without_first(graph: &StateGraph) -> Option<Vec<Event>> {
    let steps = |state: usize| graph.edges(state).iter().map(|edge| (edge, edge.to()));
    let path = without_first(
        graph.len(),
        steps,
        |edge| edge.occurred.first,
        |edge| edge.occurred.second,
    )?;
    Some(path.into_iter().map(|edge| edge.event).collect())
}
