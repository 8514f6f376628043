//! Runs the options of a client after "the object has been modified", one after the other.

use std::collections::VecDeque;
use std::rc::Rc;

use optimist_client::WriteMethod;
use optimist_diagnose::case::Installed;
use optimist_diagnose::modified::{NEXT, NextAttempt, attempt};
use optimist_diagnose::ways::Instruction;
use optimist_simulation::HistoryTree;

use super::reading::CaseReading;

/// The options of a client whose Update was refused, and the rest of the work.
#[derive(Clone, Debug)]
pub struct NextRun {
    installed: Rc<Installed>,
    /// The subresource that the refused write went to.
    subresource: Option<String>,
    left: VecDeque<WriteMethod>,
    /// The results so far.
    pub done: Vec<Rc<NextOutcome>>,
}

/// The result of an option.
#[derive(Clone, Debug)]
pub struct NextOutcome {
    /// The write.
    pub attempt: NextAttempt,
    /// The way with kubectl, command by command.
    pub commands: Vec<Instruction>,
    /// Its code in Go.
    pub go: Option<String>,
}

impl NextRun {
    /// The run for an object; `None` if no error message says that a client has to
    /// repeat its change.
    pub(super) fn start(reading: &CaseReading) -> Option<Self> {
        let mut errors = reading.case.errors.iter();
        let refused = errors.find(|error| error.is_for_redo())?;
        let installed = reading.installed.as_ref().ok()?;
        installed.object()?;
        Some(Self {
            installed: Rc::new(installed.clone()),
            subresource: refused.object.subresource.clone(),
            left: NEXT.into(),
            done: Vec::new(),
        })
    }

    /// Returns whether an option is left to run.
    pub fn is_running(&self) -> bool {
        !self.left.is_empty()
    }

    /// Runs the next one. Something if that was the last one.
    pub(super) fn advance(&mut self) -> Option<()> {
        let method = self.left.pop_front()?;
        if let Some(attempt) = attempt(&self.installed, method) {
            self.done.push(Rc::new(NextOutcome {
                commands: attempt.commands(self.subresource.as_deref()),
                go: attempt.go(),
                attempt,
            }));
        }
        self.left.is_empty().then_some(())
    }

    /// The history of a next write, for Play.
    pub(super) fn history(&self, method: WriteMethod) -> Option<HistoryTree> {
        let found = self.done.iter().find(|one| one.attempt.method == method)?;
        Some(found.attempt.history.clone())
    }
}
