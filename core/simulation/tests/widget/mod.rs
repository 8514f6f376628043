//! A widget with ready programs for its controllers.

use optimist_controller::program::{ReadyProgram, ReadyProgramName, Switch};
use optimist_simulation::{ActorId, HistoryTree, Start, WIDGET, World};

/// A history in which a program is connected to a widget, with these switches on. It is C; `more` programs
/// are D, E and F.
pub fn tree(
    name: ReadyProgramName,
    switches: &[Switch],
    more: &[(ReadyProgramName, Vec<Switch>)],
) -> HistoryTree {
    let mut programs = vec![(name, switches.to_vec())];
    programs.extend_from_slice(more);
    let actors = ActorId::ALL.into_iter().skip(ActorId::EDITORS.len());
    let controllers = actors
        .zip(programs)
        .map(|(actor, (name, switches))| (actor, ReadyProgram::new(name).with(switches).into()));
    let start = Start {
        controllers: controllers.collect(),
        ..Start::with(WIDGET)
    };
    let (world, _) = World::from_start(start.into()).unwrap();
    let controllers: Vec<ActorId> = world.controllers().map(|(id, _)| id).collect();
    let mut tree = HistoryTree::new(world);
    for controller in controllers {
        tree.connect_controller(controller).unwrap();
    }
    tree
}
