//! A controller as an actor of a history.

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::EventType;
use optimist_client::{Strategy, Write, edit_scalar};
use optimist_controller::program::{ReadyProgram, ReadyProgramName, Switch};
use optimist_controller::{ClientRelease, KeyAddition, ReconcileResult, WorkerReport};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{
    Action, ActorId, ControllerEvent, ControllerOperation as Do, HistoryTree, Operation, Outcome,
    RunValue, RunValueContent, Start, Step, Suggestion, WIDGET, World,
};
use proptest::prelude::{Just, ProptestConfig, prop, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Strategy as _;
use serde_json::json;

fn start(name: ReadyProgramName, switches: &[Switch]) -> Start {
    let program = ReadyProgram::new(name).with(switches.iter().copied());
    Start {
        controllers: [(ActorId::C, program.into())].into(),
        ..Start::with(WIDGET)
    }
}

fn tree(name: ReadyProgramName, switches: &[Switch]) -> HistoryTree {
    let (world, _) = World::from_start(start(name, switches).into()).unwrap();
    HistoryTree::new(world)
}

fn control(tree: &mut HistoryTree, operation: Do) -> Step {
    let node = tree.act(Operation::Control(ActorId::C, operation));
    let node = node.unwrap_or_else(|| panic!("{operation:?} is not possible"));
    tree.step(node).unwrap().clone()
}

fn event(step: &Step) -> &ControllerEvent {
    step.controller
        .as_deref()
        .expect("a step of the controller")
}

fn edit(tree: &mut HistoryTree, editor: ActorId, pointer: &str, text: &str) -> Outcome {
    tree.act(Operation::Act(editor, Action::Get)).unwrap();
    write(tree, editor, pointer, text, Write::default())
}

fn write(
    tree: &mut HistoryTree,
    editor: ActorId,
    pointer: &str,
    text: &str,
    write: Write,
) -> Outcome {
    let copy = tree.world_mut().copy_mut(editor);
    let object = edit_scalar(copy.edited().unwrap(), pointer, text).unwrap();
    copy.edit(object);
    let send = Operation::Act(editor, Action::Send(write));
    let node = tree.act(send).unwrap();
    tree.step(node).unwrap().outcome()
}

fn names(tree: &HistoryTree) -> Vec<String> {
    let subjects = tree.world().subjects();
    subjects
        .map(|subject| subject.resource().kind.clone())
        .collect()
}

/// The same controller with the libraries of a release.
fn with_libraries(name: ReadyProgramName, release: ClientRelease) -> World {
    let mut start = start(name, &[]);
    start.controllers.get_mut(&ActorId::C).unwrap().release = release;
    World::from_start(start.into()).unwrap().0
}

#[test]
fn the_watches_of_the_caches_begin_with_the_objects_and_are_steps_with_their_requests() {
    let mut tree = tree(ReadyProgramName::ChildMaker, &[]);
    let first = control(&mut tree, Do::Connect(0));
    assert!(first.is_stream());
    assert_eq!(
        (first.actor(), first.outcome()),
        (Some(ActorId::C), Outcome::Read)
    );
    let request = first.exchange.as_ref().unwrap();
    // client-go/tools/cache/reflector.go watchList: without a version, the newest state.
    let (path, query) = request.target.split_once('?').unwrap();
    assert!(path.ends_with("/widgets"));
    for pair in [
        "watch=true",
        "sendInitialEvents=true",
        "resourceVersionMatch=NotOlderThan",
        "allowWatchBookmarks=true",
    ] {
        assert!(query.split('&').any(|one| one == pair), "{query}");
    }
    assert!(!query.contains("resourceVersion="), "{query}");
    let events = &request.received;
    assert_eq!(events[0]["type"], "ADDED");
    assert_eq!(events[0]["object"]["metadata"]["name"], "web");
    assert_eq!(events[1]["type"], "BOOKMARK");
    let annotations = &events[1]["object"]["metadata"]["annotations"];
    assert_eq!(annotations["k8s.io/initial-events-end"], "true");
    assert_eq!(events.as_array().map(Vec::len), Some(2));
    let ControllerEvent::Connected { cache: 0, report } = event(&first) else {
        panic!("{first:?}")
    };
    let queued = [("default/web".to_owned(), KeyAddition::Queued)];
    assert_eq!(report.handled[0].keys, queued);
    assert_eq!(
        tree.act(Operation::Control(ActorId::C, Do::Connect(0))),
        None,
        "it watches"
    );
    let nodes = tree.len();
    tree.connect_controller(ActorId::C).unwrap();
    assert_eq!(tree.len(), nodes + 1, "the other cache watches");
    assert!(tree.connect_controller(ActorId::C).is_none());
}

#[test]
fn with_the_libraries_of_an_old_history_each_cache_lists_and_then_watches() {
    let world = with_libraries(ReadyProgramName::ChildMaker, ClientRelease::V1_34);
    let mut tree = HistoryTree::new(world);
    let first = control(&mut tree, Do::Connect(0));
    let list = first.exchange.as_ref().unwrap();
    assert_eq!(list.received["items"][0]["metadata"]["name"], "web");
    assert!(!first.is_stream());
    let second = control(&mut tree, Do::Connect(0));
    assert!(second.is_stream() && second.exchange.is_some());
    let nodes = tree.len();
    tree.connect_controller(ActorId::C).unwrap();
    assert_eq!(tree.len(), nodes + 2, "the other cache lists and watches");
}

#[test]
fn after_a_restart_only_a_first_list_can_come_from_a_server_that_is_behind() {
    for (release, made) in [(ClientRelease::V1_34, 2), (ClientRelease::V1_36, 1)] {
        let mut tree = HistoryTree::new(with_libraries(ReadyProgramName::ChildMaker, release));
        tree.connect_controller(ActorId::C).unwrap();
        tree.run_controller(ActorId::C).unwrap();
        let lists = release == ClientRelease::V1_34;
        assert_eq!(
            tree.restart_behind(ActorId::C).is_some(),
            lists,
            "{release:?}"
        );
        if lists {
            let caches = tree.world().cache_standings(ActorId::C);
            let behind = caches.iter().map(|it| it.behind);
            assert_eq!(
                behind.collect::<Vec<_>>(),
                [0, 1],
                "the child is on its way"
            );
            assert!(
                tree.connect_controller(ActorId::C).is_none(),
                "the watches are open"
            );
            assert!(
                tree.act(Operation::Control(ActorId::C, Do::ListBehind(1)))
                    .is_none()
            );
        }
        tree.connect_controller(ActorId::C);
        tree.run_controller(ActorId::C).unwrap();
        let stored = tree.world().server().store();
        assert_eq!(stored.range("/registry/configmaps/").count(), made);
    }
}

#[test]
fn an_event_ends_the_wait_of_a_key_unless_the_queue_is_that_of_client_go() {
    for (release, waits) in [(ClientRelease::V1_34, 1), (ClientRelease::V1_36, 0)] {
        let world = with_libraries(ReadyProgramName::FieldOwner, release);
        let mut tree = HistoryTree::new(world);
        tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
        tree.connect_controller(ActorId::C).unwrap();
        tree.world_mut().look_at("Widget", "web");
        // The Widget is gone when the controller writes: its run fails, and the key waits.
        let delete = Action::Delete(optimist_simulation::Preconditions::default());
        tree.act(Operation::Act(ActorId::A, delete)).unwrap();
        tree.run_controller(ActorId::C).unwrap();
        let waiting = |tree: &HistoryTree| {
            tree.world()
                .controller(ActorId::C)
                .unwrap()
                .queue()
                .waiting()
                .len()
        };
        assert_eq!(waiting(&tree), 1);
        control(&mut tree, Do::Deliver(0));
        assert_eq!(waiting(&tree), waits, "{release:?}");
        let queue = tree.world().controller(ActorId::C).unwrap().queue().clone();
        assert_eq!(queue.queued().count(), 1);
    }
}

#[test]
fn a_generated_name_and_a_cache_that_is_behind_make_a_second_child() {
    let mut tree = tree(ReadyProgramName::ChildMaker, &[]);
    // Before a watch is open, no event is on its way.
    assert_eq!(tree.world().events_on_the_way(ActorId::C, 0), []);
    tree.connect_controller(ActorId::C).unwrap();
    tree.run_controller(ActorId::C).unwrap();
    assert_eq!(
        names(&tree),
        ["Widget", "ConfigMap"],
        "an editor can open the child"
    );
    let on_the_way = tree.world().events_on_the_way(ActorId::C, 1);
    assert_eq!(on_the_way.len(), 1);
    assert_eq!(on_the_way[0].event_type, EventType::Added);
    assert_eq!(
        edit(&mut tree, ActorId::A, "/spec/size", "2"),
        Outcome::Written
    );
    let delivered = control(&mut tree, Do::Deliver(0));
    assert!(delivered.exchange.is_none() && delivered.outcome() == Outcome::Done);
    tree.run_controller(ActorId::C).unwrap();
    assert_eq!(names(&tree), ["Widget", "ConfigMap", "ConfigMap"]);
    let behind = |tree: &HistoryTree| {
        let world = tree.world();
        world.controller(ActorId::C).unwrap().caches()[1].behind(world.server())
    };
    assert_eq!(behind(&tree), 2);
    control(&mut tree, Do::Deliver(1));
    assert_eq!(behind(&tree), 1);
}

#[test]
fn the_end_of_a_run_says_its_result_and_what_the_queue_did() {
    use Switch::DerivedName;
    let mut tree = tree(ReadyProgramName::ChildMaker, &[DerivedName]);
    tree.connect_controller(ActorId::C).unwrap();
    tree.run_controller(ActorId::C).unwrap();
    edit(&mut tree, ActorId::A, "/spec/size", "2");
    control(&mut tree, Do::Deliver(0));
    let last = tree.run_controller(ActorId::C).unwrap();
    let step = tree.step(last).unwrap();
    assert_eq!(step.status_line(), "409 AlreadyExists");
    let ControllerEvent::Worker(WorkerReport::Finished { result, queue, .. }) = event(step) else {
        panic!("{step:?}")
    };
    assert_eq!(*result, ReconcileResult::Error);
    assert_eq!(queue.after, Some(std::time::Duration::from_millis(5)));
    assert_eq!(queue.failures, 1);
    control(&mut tree, Do::Wake);
    assert!(tree.world().controller(ActorId::C).unwrap().can_take());
}

#[test]
fn a_run_that_waits_for_its_own_version_is_queued_again() {
    let mut tree = tree(ReadyProgramName::ChildMaker, &[Switch::WaitForOwnVersion]);
    tree.connect_controller(ActorId::C).unwrap();
    tree.run_controller(ActorId::C).unwrap();
    edit(&mut tree, ActorId::A, "/spec/size", "2");
    control(&mut tree, Do::Deliver(0));
    let step = control(&mut tree, Do::Step);
    let ControllerEvent::Worker(WorkerReport::NotReady { key, queue }) = event(&step) else {
        panic!("{step:?}")
    };
    assert_eq!((key.as_str(), queue.failures), ("default/web", 1));
}

#[test]
fn a_restart_forgets_and_a_dropped_watch_loses_what_is_on_its_way() {
    let mut tree = tree(ReadyProgramName::ChildMaker, &[]);
    tree.connect_controller(ActorId::C).unwrap();
    edit(&mut tree, ActorId::A, "/spec/size", "2");
    let step = control(&mut tree, Do::DropWatch(0));
    let lost = ControllerEvent::WatchDropped {
        cache: 0,
        on_the_way: 1,
    };
    assert_eq!(event(&step), &lost);
    assert_eq!(
        tree.act(Operation::Control(ActorId::C, Do::Deliver(0))),
        None
    );
    control(&mut tree, Do::Restart);
    let controller = tree.world().controller(ActorId::C).unwrap();
    assert_eq!(controller.queue().queued().count(), 0);
    assert_eq!(controller.caches()[0].version(), "");
    tree.connect_controller(ActorId::C).unwrap();
    assert!(tree.world().controller(ActorId::C).unwrap().can_take());
}

#[test]
fn a_restart_of_the_server_closes_the_watch_and_the_next_one_brings_an_error_alone() {
    let mut tree = tree(ReadyProgramName::StatusWriter, &[]);
    tree.connect_controller(ActorId::C).unwrap();
    assert_eq!(
        edit(&mut tree, ActorId::A, "/spec/size", "2"),
        Outcome::Written
    );
    let on_the_way = |tree: &HistoryTree| {
        let events = tree.world().events_on_the_way(ActorId::C, 0);
        let event = |it: &optimist_simulation::EventOnTheWay| (it.event_type, it.name.clone());
        events.iter().map(event).collect::<Vec<_>>()
    };
    let written = tree.current();
    let name = tree.world().subject().name().to_owned();
    assert_eq!(on_the_way(&tree), [(EventType::Modified, name)]);
    tree.act(Operation::Compact { restart: true }).unwrap();
    let closed = &tree.world().cache_standings(ActorId::C)[0];
    assert!(!closed.is_watching && closed.behind == 1);
    let error = [(EventType::Error, "410".to_owned())];
    assert_eq!(on_the_way(&tree), error);
    let connected = control(&mut tree, Do::Connect(0));
    let first = &connected.exchange.as_ref().unwrap().received[0];
    assert_eq!(
        (&first["type"], &first["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
    assert_eq!(on_the_way(&tree), error);
    control(&mut tree, Do::Deliver(0));
    // Next is a list, so no event is on its way.
    assert_eq!(on_the_way(&tree), []);
    tree.connect_controller(ActorId::C).unwrap();
    assert_eq!(tree.world().cache_standings(ActorId::C)[0].behind, 0);
    // The list brought the change; its event never came.
    assert_eq!(tree.event_arrows(ActorId::C, written), []);
}

#[test]
fn an_event_is_drawn_as_arrived_only_for_the_controller_that_it_reached() {
    let mut tree = tree(ReadyProgramName::StatusWriter, &[]);
    tree.connect_controller(ActorId::C).unwrap();
    assert_eq!(
        edit(&mut tree, ActorId::A, "/spec/size", "2"),
        Outcome::Written
    );
    let written = tree.current();
    let arrived = |tree: &HistoryTree, id: ActorId| {
        let arrows = tree.event_arrows(id, written);
        arrows.iter().map(|it| it.has_arrived).collect::<Vec<_>>()
    };
    assert_eq!(arrived(&tree, ActorId::C), [false]);
    control(&mut tree, Do::Deliver(0));
    assert_eq!(arrived(&tree, ActorId::C), [true]);
    assert!(arrived(&tree, ActorId::D).is_empty());
}

#[test]
fn the_third_lane_is_the_controllers() {
    let mut tree = tree(ReadyProgramName::ChildMaker, &[]);
    assert_eq!(tree.act(Operation::Act(ActorId::C, Action::Get)), None);
    assert_eq!(&*tree.world().actor(ActorId::C).manager, "child-maker");
    let (mut without, _) = World::load(WIDGET).unwrap();
    assert!(
        without
            .act(Operation::Control(ActorId::C, Do::Step))
            .is_none()
    );
    assert!(
        without
            .act(Operation::Act(ActorId::C, Action::Get))
            .is_some()
    );
}

/// The finalizer keeper has cached the object, A adds a finalizer, and the controller patches.
fn patched(switches: &[Switch]) -> HistoryTree {
    let mut tree = tree(ReadyProgramName::FinalizerKeeper, switches);
    tree.connect_controller(ActorId::C).unwrap();
    tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
    let copy = tree.world_mut().copy_mut(ActorId::A);
    let mut object = (**copy.edited().unwrap()).clone();
    object.set_meta("finalizers", serde_json::json!(["example.com/other"]));
    copy.edit(object);
    let send = Action::Send(Write::usual(Strategy::MergePatch));
    tree.act(Operation::Act(ActorId::A, send)).unwrap();
    tree.run_controller(ActorId::C).unwrap();
    tree
}

#[test]
fn a_write_from_a_stale_cache_loses_the_edit_that_the_cache_had_not_seen() {
    // kubermatic#6759; java-operator-sdk#1248
    let tree = patched(&[]);
    assert_eq!(tree.world().verdict(), Verdict::Lost);
    let losses = tree.world().updates().losses();
    assert_eq!(
        (losses[0].owner, losses[0].culprit),
        (ActorId::A, ActorId::C)
    );
    let with_lock = patched(&[Switch::OptimisticLock]);
    assert_eq!(with_lock.world().updates().losses(), []);
    assert_eq!(with_lock.world().verdict(), Verdict::Refused);
}

#[test]
fn what_the_cache_has_seen_is_replaced_knowingly_and_a_later_good_run_is_no_refusal() {
    let mut tree = tree(ReadyProgramName::FieldOwner, &[Switch::OptimisticLock]);
    tree.connect_controller(ActorId::C).unwrap();
    control(&mut tree, Do::Step);
    edit(&mut tree, ActorId::A, "/spec/size", "7");
    tree.run_controller(ActorId::C).unwrap();
    assert_eq!(tree.world().verdict(), Verdict::Refused);
    control(&mut tree, Do::Deliver(0));
    while tree.run_controller(ActorId::C).is_some() {}
    assert_eq!(tree.world().stored().unwrap().1["spec"]["size"], 3);
    assert_eq!(tree.world().updates().losses(), []);
    assert_eq!(tree.world().verdict(), Verdict::Replaced);
}

#[test]
fn a_history_with_a_controller_goes_back_and_forth_and_equals_a_replay() {
    let mut tree = tree(ReadyProgramName::ChildMaker, &[]);
    tree.connect_controller(ActorId::C).unwrap();
    tree.run_controller(ActorId::C).unwrap();
    edit(&mut tree, ActorId::B, "/spec/size", "4");
    control(&mut tree, Do::Deliver(0));
    let end = tree.run_controller(ActorId::C).unwrap();
    let seen = |tree: &HistoryTree| format!("{:?}", tree.world());
    let there = seen(&tree);
    while tree.back() {}
    assert_eq!(
        tree.world().controller(ActorId::C).unwrap().caches()[0].version(),
        ""
    );
    while tree.forward() {}
    assert_eq!((tree.current(), seen(&tree)), (end, there));
    // Another choice is a branch.
    tree.go(end - 2);
    control(&mut tree, Do::Restart);
    assert!(tree.ends().len() == 2 && tree.exists(end));
}

#[derive(Clone, Debug)]
enum Happening {
    Control(Do),
    /// An editor sets the size.
    Edit(u8),
}

fn happening() -> impl proptest::strategy::Strategy<Value = Happening> {
    prop_oneof![
        6 => Just(Happening::Control(Do::Step)),
        3 => (0_usize..2).prop_map(|cache| Happening::Control(Do::Deliver(cache))),
        2 => (0_usize..2).prop_map(|cache| Happening::Control(Do::Connect(cache))),
        1 => (0_usize..2).prop_map(|cache| Happening::Control(Do::DropWatch(cache))),
        1 => (0_usize..2).prop_map(|cache| Happening::Control(Do::Resync(cache))),
        1 => Just(Happening::Control(Do::Restart)),
        1 => Just(Happening::Control(Do::Wake)),
        2 => (0_u8..9).prop_map(Happening::Edit),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_controller_in_a_world_does_what_it_does_alone(
        program in 0..ReadyProgramName::ALL.len(),
        present in prop::bool::ANY,
        happenings in prop::collection::vec(happening(), 1..40),
    ) {
        let name = ReadyProgramName::ALL[program];
        let release = if present { ClientRelease::V1_36 } else { ClientRelease::V1_34 };
        let world = with_libraries(name, release);
        let mut server = world.server().clone();
        let program = ReadyProgram::new(name).program();
        let mut lone = release.controller(program, &server, "default").unwrap();
        let mut tree = HistoryTree::new(world);
        let mut requests = (Vec::new(), Vec::new());
        let second = std::time::Duration::from_secs(1);
        for happening in happenings {
            match happening {
                Happening::Edit(size) => {
                    edit(&mut tree, ActorId::A, "/spec/size", &size.to_string());
                    let line = tree.current_path();
                    let steps = [line[tree.position() - 1], line[tree.position()]];
                    for node in steps {
                        let exchange = tree.step(node).unwrap().exchange.clone().unwrap();
                        server.environment_mut().advance(second);
                        let request = http::Request::builder()
                            .method(exchange.method)
                            .uri(exchange.target)
                            .header("user-agent", exchange.manager)
                            .header("content-type", exchange.content_type)
                            .body(match &*exchange.sent {
                                serde_json::Value::Null => Vec::new(),
                                sent => sent.to_string().into_bytes(),
                            });
                        server.handle(request.unwrap());
                    }
                }
                Happening::Control(operation) => {
                    let node = tree.act(Operation::Control(ActorId::C, operation));
                    if let Some(exchange) = node.and_then(|node| tree.step(node)?.exchange.clone()) {
                        requests.0.push((exchange.method, exchange.target, exchange.code));
                    }
                    match operation {
                        Do::Connect(cache) => drop(lone.connect(cache, &mut server)),
                        Do::Deliver(cache) => drop(lone.deliver(cache, &mut server)),
                        Do::DropWatch(cache) if cache < lone.caches().len() => lone.drop_watch(cache),
                        Do::Resync(cache) if cache < lone.caches().len() => drop(lone.resync(cache)),
                        Do::Restart => lone.restart(),
                        Do::Wake => {
                            if let Some(ready) = lone.queue().next_ready() {
                                let now = server.environment().elapsed();
                                server.environment_mut().advance(ready.saturating_sub(now));
                                lone.advance_to(ready);
                            }
                        }
                        Do::Step => {
                            if !lone.can_step() && lone.can_take() {
                                server.environment_mut().advance(second);
                            }
                            lone.work_step(&mut server);
                        }
                        _ => {}
                    }
                    if let Some(answered) = lone.take_answered() {
                        let request = answered.request;
                        let code = answered.response.status().as_u16();
                        requests.1.push((request.method().clone(), request.uri().to_string(), code));
                    }
                }
            }
            prop_assert_eq!(&requests.0, &requests.1);
        }
        let world = tree.world();
        prop_assert_eq!(world.server().store().revision(), server.store().revision());
        prop_assert_eq!(world.controller(ActorId::C).unwrap().queue(), lone.queue());
    }
}

#[test]
fn nothing_is_suggested_that_a_person_would_do_on_the_card_of_a_controller() {
    let mut tree = tree(ReadyProgramName::FinalizerKeeper, &[]);
    tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
    let next = tree.explain(ActorId::C).next;
    assert_eq!(next, Some(Suggestion::Change(ActorId::A)));
    assert_eq!(
        tree.explain(ActorId::B).next,
        Some(Suggestion::GetToo(ActorId::B))
    );
    let tree = patched(&[]);
    let sent = tree.current_path()[1..].iter().rev();
    let mut sent = sent.filter_map(|node| {
        let mut tree = tree.clone();
        tree.go(*node);
        let by_a = matches!(
            tree.step(*node)?.operation,
            Operation::Act(ActorId::A, Action::Send(_))
        );
        by_a.then(|| tree.explain(ActorId::C).next)
    });
    assert_eq!(sent.next(), Some(None));
}

/// Of the variables and of the caches, whether an object was changed here, and its name.
fn changed_here(tree: &HistoryTree) -> (bool, Vec<String>) {
    let is_changed = |of: &RunValue| matches!(of.value, RunValueContent::Object { is_changed, .. } if is_changed);
    let values = tree.world().run_values(ActorId::C);
    let standings = tree.world().cache_standings(ActorId::C).into_iter();
    let cached = standings.flat_map(|cache| cache.changed).collect();
    (values.iter().any(is_changed), cached)
}

#[test]
fn an_object_that_a_program_changed_is_not_as_the_server_stored_it() {
    for in_place in [true, false] {
        let switches: &[Switch] = if in_place { &[] } else { &[Switch::DeepCopy] };
        let mut tree = tree(ReadyProgramName::Annotator, switches);
        tree.connect_controller(ActorId::C).unwrap();
        let step = Operation::Control(ActorId::C, Do::Step);
        let mut seen = Vec::new();
        while tree.act(step.clone()).is_some() {
            seen.push(changed_here(&tree));
        }
        let web = vec!["web".to_owned()];
        let expected = if in_place { web } else { Vec::new() };
        assert!(seen.contains(&(true, expected)), "{in_place}: {seen:?}");
        assert_eq!(seen[0], (false, Vec::new()), "what was only read");
        // The answer to the empty patch is decoded into that very object, and lacks the annotation.
        let (_, cached) = seen.last().unwrap();
        assert_eq!(!cached.is_empty(), in_place, "{seen:?}");
    }
}
