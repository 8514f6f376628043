//! A widget with a ready program for its controller.

use optimist_controller::program::{ReadyProgram, ReadyProgramName, Switch};
use optimist_simulation::{HistoryTree, Start, WIDGET, World};

/// A history in which a program is connected to a widget, with these switches on.
pub fn tree(name: ReadyProgramName, switches: &[Switch]) -> HistoryTree {
    let program = ReadyProgram::new(name).with(switches.iter().copied());
    let start = Start {
        controller: Some(program.into()),
        ..Start::with(WIDGET)
    };
    let mut tree = HistoryTree::new(World::from_start(start.into()).unwrap().0);
    tree.connect_controller().unwrap();
    tree
}
