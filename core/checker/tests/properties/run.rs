//! Programs that are stepped by hand.

use optimist_client::{Call, ListMode};
use optimist_controller::program::{
    BoolExpression, ControllerOptions, Expression, Program, Statement,
};
use optimist_controller::{Controller, Handler, ReconcileResult, Source, WorkerReport};
use serde_json::json;

use crate::start::{KEY, config_map, server, widget};

fn program(body: Vec<Statement>) -> Program {
    Program {
        name: "demo".to_owned(),
        watches: vec![optimist_controller::program::WatchedKind {
            kind: widget(),
            handler: Handler::Object,
            predicates: Vec::new(),
        }],
        options: ControllerOptions::default(),
        body,
    }
}

fn create(name: &str) -> [Statement; 2] {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"generateName": name}});
    [
        Statement::New {
            into: "made".to_owned(),
            object,
            owner: None,
        },
        Statement::Create {
            object: "made".to_owned(),
            on_error: Vec::new(),
        },
    ]
}

fn list(into: &str) -> Statement {
    Statement::List {
        into: into.to_owned(),
        kind: config_map(),
        controlled_by: None,
        from: Source::Server,
    }
}

/// The numbers of the statements in the order in which they run from the first request on, and the result.
fn run(body: Vec<Statement>) -> (Vec<usize>, Option<ReconcileResult>, Vec<Call>, usize) {
    let mut server = server();
    let mut controller =
        Controller::new(program(body), &server, "default", ListMode::List).unwrap();
    controller.sync(&mut server);
    let (mut statements, mut calls, mut finished) = (Vec::new(), Vec::new(), None);
    while finished.is_none()
        && let Some(report) = controller.work_step(&mut server)
    {
        calls.extend(report.call().cloned());
        match report {
            WorkerReport::Taken { key } => assert_eq!(key, KEY),
            WorkerReport::NotReady { .. } => panic!("it waits for nothing"),
            WorkerReport::Performed {
                statements: more, ..
            } => statements.extend(more),
            WorkerReport::Finished { result, .. } => finished = Some(result),
        }
    }
    let made = server.store().range("/registry/configmaps/").count();
    (statements, finished, calls, made)
}

#[test]
fn a_loop_goes_through_the_list_that_there_was_when_it_began() {
    let mut body = Vec::new();
    body.extend(create("first-"));
    body.extend(create("first-"));
    body.push(list("all"));
    let mut each = create("more-").to_vec();
    each.push(list("all"));
    body.push(Statement::ForEach {
        item: "one".to_owned(),
        of: "all".to_owned(),
        body: each,
    });
    let (_, result, _, made) = run(body);
    assert_eq!(result, Some(ReconcileResult::Done));
    assert_eq!(made, 4);
}

#[test]
fn one_of_the_two_blocks_runs_and_each_request_is_one_step() {
    let count = || Expression::Count("all".to_owned());
    let body = |expected: i64| {
        vec![
            list("all"),
            Statement::If {
                condition: BoolExpression::Equal(count(), Expression::Value(expected.into())),
                then: vec![Statement::Return(ReconcileResult::RequeueAfter(5))],
                otherwise: create("made-").to_vec(),
            },
            list("all"),
        ]
    };
    let (statements, result, calls, made) = run(body(0));
    assert_eq!(result, Some(ReconcileResult::RequeueAfter(5)));
    assert_eq!((statements, calls.len(), made), (vec![0, 1], 1, 0));
    let (statements, result, calls, made) = run(body(1));
    assert_eq!(result, Some(ReconcileResult::Done));
    assert_eq!((statements, calls.len(), made), (vec![0, 1, 3, 4, 5], 3, 1));
}

#[test]
fn a_statement_about_a_variable_without_an_object_is_an_error_and_no_panic() {
    let update = Statement::Update {
        object: "nothing".to_owned(),
        status: false,
        on_error: Vec::new(),
    };
    let (statements, result, calls, _) = run(vec![update]);
    assert_eq!((statements.len(), calls.len()), (0, 0));
    assert_eq!(result, Some(ReconcileResult::Error));
}

#[test]
fn each_request_is_reported_by_the_step_that_sent_it_and_by_no_other() {
    let mut server = server();
    let program = program(create("one-").to_vec());
    let mut controller = Controller::new(program, &server, "default", ListMode::List).unwrap();
    controller.sync(&mut server);
    let reports: Vec<_> = std::iter::from_fn(|| controller.work_step(&mut server)).collect();
    let calls = reports.iter().filter_map(WorkerReport::call).count();
    let last = reports.last().expect("it ran");
    assert!(
        matches!(last, WorkerReport::Finished { error: None, .. }),
        "{last:?}"
    );
    assert_eq!((calls, last.call()), (1, None));
}

#[test]
fn a_program_that_copies_an_object_into_itself_ends_with_an_error_before_it_fills_the_memory() {
    let new = Statement::New {
        into: "made".to_owned(),
        object: json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
        owner: None,
    };
    let double = || Statement::Set {
        of: "made".to_owned(),
        field: "/data".to_owned(),
        to: Expression::Field("made".to_owned(), String::new()),
    };
    let twice = || Statement::Set {
        of: "made".to_owned(),
        field: "/text".to_owned(),
        to: Expression::Text("{made/text}{made/text}{name}".to_owned()),
    };
    let other = || Statement::Set {
        of: "made".to_owned(),
        field: "/more".to_owned(),
        to: Expression::Field("made".to_owned(), String::new()),
    };
    let mut body = vec![new];
    body.extend((0..60).flat_map(|_| [double(), twice(), other()]));
    let mut server = server();
    let mut controller =
        Controller::new(program(body), &server, "default", ListMode::List).unwrap();
    controller.sync(&mut server);
    // Without a request, the run is over when the key is taken. After an error, the key waits.
    let taken = controller.work_step(&mut server);
    assert!(matches!(taken, Some(WorkerReport::Taken { .. })));
    assert!(controller.run().is_none() && controller.queue().next_ready().is_some());
}

#[test]
fn a_name_that_no_header_can_have_and_a_very_long_program_are_refused() {
    use optimist_controller::program::ProgramProblem::{Name, TooLong};
    for name in ["", "a b", "a\n", "a&force=true", "ä", &"a".repeat(129)] {
        let program = Program {
            name: name.to_owned(),
            ..program(Vec::new())
        };
        assert_eq!(program.check(), Err(Name), "{name:?}");
    }
    let long = program((0..2_000).flat_map(|_| create("long-")).collect());
    assert_eq!(long.check(), Err(TooLong));
    assert_eq!(program(create("short-").into()).check(), Ok(()));
}
