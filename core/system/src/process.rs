//! The processes of a system.

use std::sync::Arc;

use optimist_controller::Controller;

use super::Editor;

/// The number of a process in its system and in the ledger.
pub type ProcessId = u8;

/// Whoever sends requests. Cloning is cheap.
#[derive(Clone, Debug)]
pub enum Process {
    /// It does nothing.
    Idle,
    /// An editor, which does once what it means to do.
    Editor(Editor),
    /// A controller, or a program that runs once.
    Controller(Arc<Controller>),
}

impl Process {
    /// Whether it can still write.
    pub fn is_writer(&self) -> bool {
        match self {
            Self::Idle => false,
            Self::Editor(editor) => !editor.is_done(),
            Self::Controller(controller) => !controller.is_over(),
        }
    }

    /// The editor, if it is one.
    pub fn editor(&self) -> Option<&Editor> {
        match self {
            Self::Editor(editor) => Some(editor),
            _ => None,
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
        Self::Editor(editor)
    }
}

impl From<Controller> for Process {
    fn from(controller: Controller) -> Self {
        Self::Controller(Arc::new(controller))
    }
}
