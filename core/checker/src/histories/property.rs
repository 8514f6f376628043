//! Properties of all histories of a search, and the shortest history that breaks one.
//!
//! A history is a list of moments: the start, and one after each step. What a condition sees of a
//! moment is the stored object. Two states are one in a search if only `resourceVersion` and
//! `generation` tell their objects apart, so a condition must not look at these.

use serde_json::Value;

use super::pool::PooledObjectId;
use super::{HistorySearch, SearchStatus, StateId, Transition, TransitionId, TransitionKind};
use crate::without_first::without_first;
use crate::{ObjectCondition, StoredObjects};

/// A property of every history.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryProperty<C> {
    /// No acknowledged edit is lost, as the ledger ([`optimist_ledger`]) defines it.
    NoEditLost,
    /// It comes to rest: from some moment on, no object changes.
    Settles,
    /// The condition holds at every moment.
    Always(C),
    /// It comes to rest, and the condition holds then.
    AtRest(C),
    /// Before the second one occurs for the first time, the first one has occurred: at an earlier
    /// moment.
    Before(Occurrence<C>, Occurrence<C>),
}

impl<C> HistoryProperty<C> {
    /// The same property with other conditions.
    pub fn map<D>(self, condition: impl Fn(C) -> D) -> HistoryProperty<D> {
        let occurrence = |occurrence| match occurrence {
            Occurrence::Reads(who) => Occurrence::Reads(who),
            Occurrence::Writes(who) => Occurrence::Writes(who),
            Occurrence::IsRefused(who) => Occurrence::IsRefused(who),
            Occurrence::Holds(holds) => Occurrence::Holds(condition(holds)),
        };
        match self {
            Self::NoEditLost => HistoryProperty::NoEditLost,
            Self::Settles => HistoryProperty::Settles,
            Self::Always(holds) => HistoryProperty::Always(condition(holds)),
            Self::AtRest(holds) => HistoryProperty::AtRest(condition(holds)),
            Self::Before(first, second) => {
                HistoryProperty::Before(occurrence(first), occurrence(second))
            }
        }
    }
}

/// Something that occurs at a moment of a history. A process is named by its position, or by its name in the
/// ledger.
#[derive(Clone, Debug, PartialEq)]
pub enum Occurrence<C> {
    /// A process reads the object: the answer to its GET has it, or a read of its own cache.
    Reads(usize),
    /// The server accepts a write of a process to the object.
    Writes(usize),
    /// The server refuses a write of a process to the object.
    IsRefused(usize),
    /// The condition holds.
    Holds(C),
}

/// The answer of a search about a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryAnswer {
    /// Every history has it, and some history has a step that could have broken it.
    Holds,
    /// Every history has it, and no history has a step that could have broken it.
    Untried,
    /// A shortest history that does not have it, up to the step that breaks it.
    Broken(Vec<TransitionId>),
    /// No history without it was found, and not all of them were searched.
    Unknown,
}

/// A condition, and whether it holds for each object of a search, once somebody has asked.
struct Looked<'a, C> {
    search: &'a HistorySearch,
    condition: &'a C,
    holds: Vec<Option<bool>>,
}

impl<'a, C: ObjectCondition> Looked<'a, C> {
    fn new(search: &'a HistorySearch, condition: &'a C) -> Self {
        Self {
            search,
            condition,
            holds: vec![None; search.memory.pool.objects.len() + 1],
        }
    }

    fn holds_in(&mut self, state: StateId) -> bool {
        let (stored, object) = self.search.object_in(state);
        let place = self.holds.get_mut(place_of(stored));
        let known = place.as_ref().and_then(|place| **place);
        let holds = known.unwrap_or_else(|| self.condition.holds(StoredObjects::One(object)));
        if let Some(place) = place {
            *place = Some(holds);
        }
        holds
    }

    /// Returns whether some state has another object than the start, for the eyes of the condition.
    fn is_changed(&self) -> bool {
        let (first, start) = self.search.object_in(0);
        let mut seen = vec![false; self.holds.len()];
        (1..self.search.states.len()).any(|state| {
            let (stored, object) = self.search.object_in(state);
            let Some(seen) = seen.get_mut(place_of(stored)).filter(|seen| !**seen) else {
                return false;
            };
            *seen = true;
            let [start, object] = [start, object].map(StoredObjects::One);
            stored != first && !self.condition.sees_same(start, object)
        })
    }
}

/// An occurrence, with what is known of its condition.
enum Watched<'a, C> {
    Step(TransitionKind, usize, bool),
    Object(Looked<'a, C>),
}

impl<'a, C: ObjectCondition> Watched<'a, C> {
    fn new(search: &'a HistorySearch, occurrence: &'a Occurrence<C>) -> Self {
        match occurrence {
            Occurrence::Reads(who) => Self::Step(TransitionKind::Read, *who, false),
            Occurrence::Writes(who) => Self::Step(TransitionKind::Write, *who, false),
            Occurrence::IsRefused(who) => Self::Step(TransitionKind::Write, *who, true),
            Occurrence::Holds(condition) => Self::Object(Looked::new(search, condition)),
        }
    }

    fn occurs_at_start(&mut self) -> bool {
        match self {
            Self::Step(..) => false,
            Self::Object(looked) => looked.holds_in(0),
        }
    }

    fn occurs_after(&mut self, step: &Transition) -> bool {
        match self {
            Self::Step(kind, who, refused) => {
                (step.what, step.actor) == (*kind, *who) && (step.code >= 400) == *refused
            }
            Self::Object(looked) => looked.holds_in(step.to),
        }
    }
}

fn place_of(stored: Option<PooledObjectId>) -> usize {
    stored.map_or(0, |stored| 1 + stored as usize)
}

impl HistorySearch {
    /// Returns what the search has found about a property so far. It looks at each state and each step
    /// once, and performs none.
    pub fn judge<C: ObjectCondition>(&self, property: &HistoryProperty<C>) -> HistoryAnswer {
        let (broken, is_tried) = match property {
            HistoryProperty::NoEditLost => (self.first_loss(), self.has_contested_write()),
            // A process sends a limited number of requests.
            HistoryProperty::Settles => (None, !self.edges.is_empty()),
            HistoryProperty::Always(condition) => {
                let mut looked = Looked::new(self, condition);
                let broken = (0..self.states.len()).find(|state| !looked.holds_in(*state));
                let broken = broken.map(|state| self.path_to(state));
                (broken, looked.is_changed())
            }
            HistoryProperty::AtRest(condition) => {
                let mut looked = Looked::new(self, condition);
                let mut ends = self.ends().map(|end| end.id);
                let broken = ends.find(|end| !looked.holds_in(*end));
                let broken = broken.map(|end| self.path_to(end));
                (broken, looked.is_changed())
            }
            HistoryProperty::Before(first, second) => {
                let second = Watched::new(self, second);
                self.order_of(Watched::new(self, first), second)
            }
        };
        match broken {
            Some(path) => HistoryAnswer::Broken(path),
            None if self.status != SearchStatus::Done => HistoryAnswer::Unknown,
            None if is_tried => HistoryAnswer::Holds,
            None => HistoryAnswer::Untried,
        }
    }

    fn object_in(&self, state: StateId) -> (Option<PooledObjectId>, Option<&Value>) {
        let server = self.states.get(state).map(|node| node.global.server);
        let stored = server.and_then(|server| self.memory.pool.stored_id(server));
        let object = stored.and_then(|stored| self.memory.pool.objects.get(stored as usize));
        (stored, object.map(|known| &*known.object))
    }

    fn first_loss(&self) -> Option<Vec<TransitionId>> {
        let loses = |edge: &Transition| edge.effect == super::EditEffect::Loses;
        let first = self.edges.iter().position(loses)?;
        Some(self.path_by(first))
    }

    /// A shortest history that ends with a step.
    fn path_by(&self, last: TransitionId) -> Vec<TransitionId> {
        let from = self.edges.get(last).map_or(0, |edge| edge.from);
        let mut path = self.path_to(from);
        path.push(last);
        path
    }

    /// Returns whether some accepted write came to an object with an edit of another process.
    fn has_contested_write(&self) -> bool {
        self.edges.iter().any(|edge| {
            let before = self.states.get(edge.from).map(|node| node.global);
            let who = self.who.get(edge.actor);
            edge.what == TransitionKind::Write
                && (1..400).contains(&edge.code)
                && before.zip(who).is_some_and(|(state, who)| {
                    self.ledgers.get(state.ledger).has_edit_of_other(*who)
                })
        })
    }

    /// Finds a shortest history in which the second occurs and the first has not occurred before.
    /// Returns also whether the second occurs in some history.
    fn order_of<C: ObjectCondition>(
        &self,
        mut first: Watched<'_, C>,
        mut second: Watched<'_, C>,
    ) -> (Option<Vec<TransitionId>>, bool) {
        if second.occurs_at_start() {
            return (Some(Vec::new()), true);
        }
        let is_tried = self.edges.iter().any(|edge| second.occurs_after(edge));
        if first.occurs_at_start() {
            return (None, is_tried);
        }
        let steps = |state: StateId| {
            let edges = self.view(state).into_iter().flat_map(|view| view.edges());
            edges.filter_map(|id| Some((id, self.edges.get(id)?.to)))
        };
        let occurs = |watched: &mut Watched<'_, C>, id: TransitionId| {
            let edge = self.edges.get(id);
            edge.is_some_and(|edge| watched.occurs_after(edge))
        };
        let path = without_first(
            self.states.len(),
            steps,
            |id| occurs(&mut first, id),
            |id| occurs(&mut second, id),
        );
        (path, is_tried)
    }
}
