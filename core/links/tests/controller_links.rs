//! Links of histories with a controller.

use optimist_client::Lost;
use optimist_controller::ClientRelease;
use optimist_controller::program::{ReadyProgram, ReadyProgramName, Switch};
use optimist_links::Session;
use optimist_simulation::{
    Action, ActorId, ControllerOperation as Do, ControllerProgram, ControllerStart, HistoryTree,
    Operation, Start, WIDGET, World,
};

fn tree(controller: ControllerStart) -> HistoryTree {
    let start = Start {
        controllers: [(ActorId::C, controller)].into(),
        ..Start::with(WIDGET)
    };
    HistoryTree::new(World::from_start(start.into()).unwrap().0)
}

/// A history in which the controller does everything that it can.
fn played(mut tree: HistoryTree) -> HistoryTree {
    tree.connect_controller(ActorId::C).unwrap();
    tree.run_controller(ActorId::C).unwrap();
    let fork = tree.current();
    for operation in [
        Do::Deliver(1),
        Do::Resync(0),
        Do::Step,
        Do::Restart,
        Do::ListBehind(0),
        Do::Connect(0),
        Do::DropWatch(1),
    ] {
        tree.act(Operation::Control(ActorId::C, operation));
    }
    tree.go(fork);
    tree.world_mut().look_at("ConfigMap", "web-child");
    tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
    tree.act(Operation::Control(ActorId::C, Do::Resync(0)))
        .unwrap();
    tree.run_controller(ActorId::C).unwrap();
    tree.act(Operation::Control(ActorId::C, Do::Wake)).unwrap();
    tree
}

/// A history in which a write of the controller loses its request, or its answer.
fn losing(lost: Lost, mut tree: HistoryTree) -> HistoryTree {
    tree.connect_controller(ActorId::C).unwrap();
    let losing = Operation::Control(ActorId::C, Do::StepLosing(lost));
    while tree.act(losing.clone()).is_none() {
        tree.act(Operation::Control(ActorId::C, Do::Step)).unwrap();
    }
    tree.run_controller(ActorId::C);
    tree
}

fn reopened(tree: &HistoryTree) -> HistoryTree {
    let text = Session::from_tree(tree).to_text();
    Session::parse(&text).unwrap().replay().finish().unwrap()
}

fn requests(tree: &HistoryTree) -> Vec<String> {
    let steps = (1..tree.len()).map(|node| tree.step(node).unwrap());
    let told = steps.map(|step| {
        format!(
            "{:?} {:?} {:?}",
            step.operation, step.exchange, step.controller
        )
    });
    told.collect()
}

#[test]
fn a_link_carries_a_history_with_a_ready_program_and_its_switches() {
    use Switch::DerivedName;
    let program = ReadyProgram::new(ReadyProgramName::ChildMaker).with([DerivedName]);
    let tree = played(tree(program.into()));
    let again = reopened(&tree);
    assert_eq!(again.world().start(), tree.world().start());
    assert_eq!(again.current_path(), tree.current_path());
    assert_eq!(requests(&again), requests(&tree));
    assert_eq!(
        format!("{:?}", again.world()),
        format!("{:?}", tree.world())
    );
}

#[test]
fn a_link_carries_several_controllers_and_the_steps_of_each() {
    let ready = |name| {
        let derived = [Switch::DerivedName];
        ControllerStart::from(ReadyProgram::new(name).with(derived))
    };
    let start = Start {
        controllers: [
            (ActorId::C, ready(ReadyProgramName::ChildMaker)),
            (ActorId::D, ready(ReadyProgramName::FieldOwner)),
            (ActorId::F, ready(ReadyProgramName::StatusWriter)),
        ]
        .into(),
        ..Start::with(WIDGET)
    };
    let mut tree = HistoryTree::new(World::from_start(start.into()).unwrap().0);
    for controller in [ActorId::D, ActorId::F] {
        tree.connect_controller(controller).unwrap();
        tree.run_controller(controller).unwrap();
        tree.act(Operation::Control(controller, Do::Deliver(0)))
            .unwrap();
    }
    // An editor has the place between two controllers.
    tree.act(Operation::Act(ActorId::E, Action::Get)).unwrap();
    let tree = played(tree);
    let again = reopened(&tree);
    assert_eq!(again.world().start(), tree.world().start());
    assert_eq!(requests(&again), requests(&tree));
    assert_eq!(
        format!("{:?}", again.world()),
        format!("{:?}", tree.world())
    );
    let names = [ActorId::C, ActorId::D, ActorId::E, ActorId::F]
        .map(|id| again.world().actor(id).name.to_string());
    assert_eq!(
        names,
        ["Controller C", "Controller D", "Editor E", "Controller F"]
    );
}

#[test]
fn a_controller_joins_a_history_whose_steps_stay() {
    let maker = ReadyProgram::new(ReadyProgramName::ChildMaker).with([Switch::DerivedName]);
    let tree = played(tree(maker.into()));
    let owner = ReadyProgram::new(ReadyProgramName::FieldOwner).into();
    let session = Session::from_tree(&tree);
    let joined = session.with_controller(ActorId::D, owner).unwrap();
    assert_eq!(requests(&joined), requests(&tree));
    assert_eq!(joined.current_path(), tree.current_path());
    let caches = joined.world().controller(ActorId::D).unwrap().caches();
    assert!(caches.iter().all(|cache| !cache.is_watching()));
}

#[test]
fn a_link_carries_a_program_that_is_written_out() {
    let mut program = ReadyProgram::new(ReadyProgramName::ChildMaker)
        .with([Switch::DerivedName])
        .program();
    program.name = "my-controller".to_owned();
    let tree = played(tree(ControllerStart {
        program: ControllerProgram::Written(program),
        namespace: Some("default".to_owned()),
        release: ClientRelease::V1_36,
    }));
    let again = reopened(&tree);
    assert_eq!(&*again.world().actor(ActorId::C).manager, "my-controller");
    assert_eq!(requests(&again), requests(&tree));
}

#[test]
fn a_link_from_before_the_streaming_list_replays_its_lists_and_watches() {
    let program = ReadyProgram::new(ReadyProgramName::ChildMaker).with([Switch::DerivedName]);
    let present = ControllerStart::from(program);
    let before = ControllerStart {
        release: ClientRelease::V1_34,
        ..present.clone()
    };
    // Such a link has no release.
    let json = serde_json::to_value(&before).unwrap();
    assert!(json.get("release").is_none(), "{json}");
    let again: ControllerStart = serde_json::from_value(json).unwrap();
    assert_eq!(again, before);
    let (before, present) = (played(tree(before)), played(tree(present)));
    assert_eq!(requests(&reopened(&before)), requests(&before));
    let lists = |tree: &HistoryTree| {
        let requests = requests(tree).into_iter();
        requests
            .filter(|step| step.contains("resourceVersion=0"))
            .count()
    };
    assert!(lists(&before) >= 2);
    assert_eq!(lists(&present), 0);
}

#[test]
fn a_link_carries_a_lost_request_and_a_lost_answer() {
    let start = || ControllerStart::from(ReadyProgram::new(ReadyProgramName::ChildMaker));
    for (lost, made) in [(Lost::Request, 0), (Lost::Answer, 1)] {
        let tree = losing(lost, tree(start()));
        let again = reopened(&tree);
        assert_eq!(requests(&again), requests(&tree));
        let node = (1..tree.len()).find(|node| {
            let operation = &tree.step(*node).unwrap().operation;
            *operation == Operation::Control(ActorId::C, Do::StepLosing(lost))
        });
        let (_, server) = node
            .map(|node| (node, tree.world_at(node).unwrap().server()))
            .unwrap();
        let children = server.store().range("/registry/configmaps/").count();
        assert_eq!(children, made, "{lost:?}");
    }
}
