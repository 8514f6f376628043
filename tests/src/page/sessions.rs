//! Sessions that several programs open in the page.

use optimist_client::edit_scalar;
use optimist_controller::program::{ReadyProgram, ReadyProgramName};
use optimist_links::Session;
use optimist_simulation::{
    Action, ActorId, ControllerStart, HistoryTree, Operation, Start, WIDGET, World,
};

/// A session with a controller, and with an editor whose edit is still to be sent, as the text of its link.
///
/// # Panics
/// If the session cannot be made.
pub fn session_to_search() -> String {
    let start = Start {
        manifests: WIDGET.to_owned(),
        version: Some(100),
        controllers: [(
            ActorId::C,
            ControllerStart::from(ReadyProgram::new(ReadyProgramName::ChildMaker)),
        )]
        .into(),
        ..Start::default()
    };
    let mut tree = HistoryTree::new(World::from_start(start.into()).expect("it loads").0);
    tree.connect_controller(ActorId::C);
    tree.act(Operation::Act(ActorId::A, Action::Get));
    let copy = tree.world_mut().copy_mut(ActorId::A);
    let edited = copy.edited();
    let edited = edited.and_then(|object| edit_scalar(object, "/spec/size", "2").ok());
    copy.edit(edited.expect("it was read"));
    Session::from_tree(&tree).to_text()
}
