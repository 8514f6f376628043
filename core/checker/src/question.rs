//! The question about a system: the properties to check.

use optimist_ledger::ObjectRef;
use optimist_system::{Faults, System};

use super::asked_property::AskedProperty;
use super::{AnyCondition, Goal, HistoryProperty, Safety};

/// A system, and what must hold in every history from it.
#[derive(Clone, Debug)]
pub struct Question {
    pub(super) start: System,
    pub(super) always: Vec<Safety>,
    pub(super) at_rest: Vec<Goal>,
    pub(super) asked: Option<AskedProperty>,
}

impl Question {
    /// A question about every history from a system.
    pub fn new(start: System) -> Self {
        Self {
            start,
            always: Vec::new(),
            at_rest: Vec::new(),
            asked: None,
        }
    }

    /// Adds a property that must hold always.
    pub fn always(mut self, property: Safety) -> Self {
        if property == Safety::NoEditLost {
            self.start = self.start.with_ledger();
        }
        self.always.push(property);
        self
    }

    /// Adds a property that must hold at rest.
    pub fn at_rest(mut self, goal: Goal) -> Self {
        self.at_rest.push(goal);
        self
    }

    /// Asks for a property of every history. Its conditions, and what a process reads and writes, are
    /// about one object.
    pub fn history(mut self, property: HistoryProperty<AnyCondition>, object: ObjectRef) -> Self {
        if matches!(property, HistoryProperty::NoEditLost) {
            self.start = self.start.with_ledger();
        }
        self.asked = Some(AskedProperty { property, object });
        self
    }

    /// Sets how often each fault can happen.
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.start = self.start.with_faults(faults);
        self
    }

    /// The system from which the histories begin.
    pub fn start(&self) -> &System {
        &self.start
    }
}
