//! The processes of a system.

use std::sync::Arc;

use optimist_client::{Editor, Procedure};
use optimist_controller::Controller;

/// The number of a process in its system and in the ledger.
pub type ProcessId = u8;

/// Whoever sends requests. Cloning is cheap.
#[derive(Clone, Debug)]
pub enum Process {
    /// It does nothing.
    Idle,
    /// A procedure, such as an editor: it does its work once.
    Procedure(Arc<Procedure>),
    /// A controller, or a program that runs once.
    Controller(Arc<Controller>),
}

impl Process {
    /// Returns whether it can still write.
    pub fn is_writer(&self) -> bool {
        match self {
            Self::Idle => false,
            Self::Procedure(procedure) => !procedure.is_done(),
            Self::Controller(controller) => !controller.is_over(),
        }
    }

    /// The procedure, if it is one.
    pub fn procedure(&self) -> Option<&Procedure> {
        match self {
            Self::Procedure(procedure) => Some(procedure),
            _ => None,
        }
    }

    /// A number that it has in common with its clones until they do something, as long as one of them
    /// is there.
    pub fn address(&self) -> usize {
        match self {
            Self::Idle => 0,
            Self::Procedure(procedure) => Arc::as_ptr(procedure) as usize,
            Self::Controller(controller) => Arc::as_ptr(controller) as usize,
        }
    }

    /// The controller, if it is one.
    pub fn controller(&self) -> Option<&Controller> {
        match self {
            Self::Controller(controller) => Some(controller),
            _ => None,
        }
    }
}

impl From<Editor> for Process {
    fn from(editor: Editor) -> Self {
        Procedure::from(editor).into()
    }
}

impl From<Procedure> for Process {
    fn from(procedure: Procedure) -> Self {
        Self::Procedure(Arc::new(procedure))
    }
}

impl From<Controller> for Process {
    fn from(controller: Controller) -> Self {
        Self::Controller(Arc::new(controller))
    }
}
