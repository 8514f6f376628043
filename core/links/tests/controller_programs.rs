//! Programs that are put together at random: no history of theirs panics, and a link carries it.

use optimist_controller::program::{Program, ReadyProgram, ReadyProgramName, Statement};
use optimist_links::Session;
use optimist_simulation::{
    Action, ActorId, ControllerOperation as Do, ControllerProgram, ControllerStart, HistoryTree,
    Operation, Start, WIDGET, World,
};
use proptest::prelude::*;

/// Every statement of the ready programs, those in blocks as well.
fn statements() -> Vec<Statement> {
    fn collect(body: &[Statement], all: &mut Vec<Statement>) {
        for statement in body {
            all.push(statement.clone());
            match statement {
                Statement::If {
                    then, otherwise, ..
                } => {
                    collect(then, all);
                    collect(otherwise, all);
                }
                Statement::ForEach { body, .. } => collect(body, all),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    for name in ReadyProgramName::ALL {
        collect(&ReadyProgram::new(name).program().body, &mut all);
    }
    all
}

/// Statements of any programs in any order, some of them in loops over whatever is there.
fn program(picks: &[(u16, bool)], like: usize) -> Program {
    let all = statements();
    let body = picks.iter().map(|(pick, in_loop)| {
        let statement = all[usize::from(*pick) % all.len()].clone();
        match in_loop {
            false => statement,
            true => Statement::ForEach {
                item: "child".to_owned(),
                of: "children".to_owned(),
                body: vec![statement],
            },
        }
    });
    Program {
        body: body.collect(),
        ..ReadyProgram::new(ReadyProgramName::ALL[like]).program()
    }
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        8 => Just(Operation::Control(ActorId::C, Do::Step)),
        3 => (0_usize..3).prop_map(|cache| Operation::Control(ActorId::C, Do::Deliver(cache))),
        2 => (0_usize..3).prop_map(|cache| Operation::Control(ActorId::C, Do::Connect(cache))),
        1 => (0_usize..3).prop_map(|cache| Operation::Control(ActorId::C, Do::DropWatch(cache))),
        1 => (0_usize..3).prop_map(|cache| Operation::Control(ActorId::C, Do::Resync(cache))),
        1 => Just(Operation::Control(ActorId::C, Do::Restart)),
        1 => Just(Operation::Control(ActorId::C, Do::Wake)),
        1 => Just(Operation::Wait(400)),
        1 => any::<bool>().prop_map(|restart| Operation::Compact { restart }),
        1 => Just(Operation::Act(ActorId::A, Action::Get)),
        1 => Just(Operation::Act(ActorId::A, Action::Delete(Default::default()))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_program_panics_and_a_link_replays_what_it_did(
        picks in prop::collection::vec((any::<u16>(), prop::bool::weighted(0.2)), 0..12),
        like in 0..ReadyProgramName::ALL.len(),
        operations in prop::collection::vec(operation(), 0..40),
    ) {
        let start = Start {
            controllers: [(ActorId::C, ControllerStart::new(ControllerProgram::Written(program(
                &picks, like,
            ))))].into(),
            ..Start::with(WIDGET)
        };
        let mut tree = HistoryTree::new(World::from_start(start.into()).unwrap().0);
        tree.connect_controller(ActorId::C);
        for operation in operations {
            tree.act(operation);
        }
        tree.run_controller(ActorId::C);
        let text = Session::from_tree(&tree).to_text();
        let again = Session::parse(&text).unwrap().replay().finish().unwrap();
        prop_assert_eq!(format!("{:?}", again.world()), format!("{:?}", tree.world()));
    }
}
