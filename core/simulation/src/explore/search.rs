//! The search of every history of a scenario.

use std::ops::Deref;

use optimist_checker::{HistorySearch, ResponseCache, SearchStatus};

use super::Scenario;
use crate::ObjectRef;

/// A search of a scenario. Its results are those of its [`HistorySearch`]. The caller decides when
/// it works and for how many states.
#[derive(Clone, Debug)]
pub struct Search {
    scenario: Scenario,
    histories: HistorySearch,
}

impl Search {
    /// A search with a maximum number of states.
    pub fn new(scenario: Scenario, most_states: usize) -> Self {
        Self::with_memory(scenario, most_states, ResponseCache::default())
    }

    /// The same, with the memory of another search that started with the same object.
    pub fn with_memory(scenario: Scenario, most_states: usize, memory: ResponseCache) -> Self {
        let object = ObjectRef::new(&scenario.resource, &scenario.object);
        let (start, micro_steps) = (scenario.system(), scenario.micro_steps);
        Self {
            histories: HistorySearch::new(&start, object, micro_steps, most_states, memory),
            scenario,
        }
    }

    /// Explores up to this number of states.
    pub fn advance(&mut self, states: usize) -> SearchStatus {
        self.histories.advance(states)
    }

    /// Explores all states.
    pub fn run(&mut self) -> SearchStatus {
        self.histories.run()
    }

    /// Takes the memory, for the [next search](Self::with_memory). What this one has found can be looked at
    /// as before. A search that can still go on keeps it, and gives an empty one.
    pub fn take_memory(&mut self) -> ResponseCache {
        self.histories.take_memory()
    }

    /// Returns the scenario that is searched.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}

impl Deref for Search {
    type Target = HistorySearch;

    fn deref(&self) -> &HistorySearch {
        &self.histories
    }
}
