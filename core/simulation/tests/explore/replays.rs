//! Replays histories of a search step by step in a world, and compares the results.

use optimist_client::{Preset, WriteMethod};
use optimist_links::Session;
use optimist_simulation::explore::{
    PRESETS, Plan, Scenario, Search, StateView, ThirdActor, TransitionKind, replayed,
};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
use serde_json::Value;

use super::setup::searched;

fn tree(manifest: &str) -> HistoryTree {
    HistoryTree::new(World::load(manifest).unwrap().0)
}

/// Returns the actors of the requests and the codes of their answers, in the order of the history.
fn answers(tree: &HistoryTree) -> Vec<(ActorId, u16)> {
    let steps = tree
        .current_path()
        .iter()
        .filter_map(|&node| tree.step(node));
    steps
        .filter_map(|step| Some((step.actor()?, step.exchange.as_ref()?.code)))
        .collect()
}

/// An object without the times at which it was created and its fields were written: the clock of a search
/// stands still.
fn content(object: Option<&Value>) -> Option<Value> {
    let mut object = object?.clone();
    let metadata = object["metadata"].as_object_mut()?;
    metadata.remove("managedFields");
    metadata.remove("creationTimestamp");
    Some(object)
}

fn without_uid(object: &mut Option<Value>) {
    let metadata = object
        .as_mut()
        .and_then(|it| it["metadata"].as_object_mut());
    if let Some(metadata) = metadata {
        metadata.remove("uid");
    }
}

fn assert_same(search: &Search, manifest: &str, name: &str) {
    let scenario = search.scenario();
    let blind = scenario.plans.iter().filter(|plan| !plan.reads_first);
    let before = usize::from(scenario.settling.is_some()) + blind.count();
    for end in search.ends() {
        let path = search.path_to(end.id);
        let mut tree = replayed(search, &path, path.len(), tree(manifest));
        let asked = path.iter().map(|id| search.edges()[*id]);
        let asked = asked
            .filter(|edge| is_answered(edge.what))
            .map(|edge| (scenario.actors[edge.actor], edge.code));
        let asked: Vec<_> = asked.collect();
        assert_eq!(answers(&tree)[before..], asked, "{name}");
        let stored = tree.world().stored().map(|(_, object)| object.as_ref());
        let found = end.stored().map(|object| object.as_ref());
        let (mut stored, mut found) = (content(stored), content(found));
        if scenario.plans.iter().any(|plan| plan.tool.is_some()) {
            // A creation that was refused takes a uid away in Play, and in a search it does not.
            without_uid(&mut stored);
            without_uid(&mut found);
        }
        assert_eq!(stored, found, "{name}");
        assert_eq!(tree.world().verdict(), end.verdict(), "{name}");
        assert_sent(search, &path, &tree, before, name);
        assert_replaced(search, end, &tree, name);
        assert_eq!(tree.position(), asked.len() + before);
        assert!(tree.go(0));
        assert_eq!(tree.position(), 0);
    }
}

/// Checks that a tree tells each edit that is replaced at an end as the search does: also whether a retry replaced it.
fn assert_replaced(search: &Search, end: StateView<'_>, tree: &HistoryTree, name: &str) {
    let scenario = search.scenario();
    let told = tree.world().updates().replaced();
    for replaced in end.replaced() {
        let [owner, by] = [replaced.owner, replaced.by].map(|it| scenario.actors[usize::from(it)]);
        let same = told.iter().any(|other| {
            (other.owner, other.by) == (owner, by)
                && other.edit.path == replaced.edit.path
                && other.retry == replaced.retry
        });
        assert!(same, "{name}: {replaced:?} in {told:?}");
    }
}

/// Returns whether a step is a request with its answer.
fn is_answered(step: TransitionKind) -> bool {
    use TransitionKind as Kind;
    matches!(step, Kind::Read | Kind::Write | Kind::DryRun)
}

/// Checks that the requests in a tree are those of a path, with their bodies and agents.
fn assert_sent(search: &Search, path: &[usize], tree: &HistoryTree, before: usize, name: &str) {
    let nodes = tree.current_path().iter();
    let steps = nodes.filter_map(|&node| tree.step(node)?.exchange.as_ref());
    let sent = steps.skip(before).map(|exchange| {
        let agent = exchange.manager.clone();
        (
            format!("{} {} {agent}", exchange.method, exchange.target),
            (*exchange.sent).clone(),
        )
    });
    let edges = path.iter().map(|id| search.edges()[*id]);
    let tools = search
        .scenario()
        .plans
        .iter()
        .map(|plan| plan.tool.is_some());
    let tools: Vec<bool> = tools.collect();
    let answered = edges.filter(|edge| is_answered(edge.what));
    for (edge, sent) in answered.zip(sent).filter(|(edge, _)| tools[edge.actor]) {
        let request = search.request(&edge).unwrap();
        let agent = request.headers()["user-agent"].to_str().unwrap();
        let line = format!("{} {} {agent}", request.method(), request.uri());
        let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
        assert_eq!(sent, (line, body), "{name}");
    }
}

#[test]
fn a_history_with_a_tool_is_shown_request_by_request() {
    for ready in PRESETS {
        for third in Plan::TOOLS.map(ThirdActor::Tool) {
            let all = [
                WriteMethod::Update,
                WriteMethod::Merge,
                WriteMethod::UpdateReadAgain,
                WriteMethod::ApplyOwned,
            ];
            // The retries have many orders: three tools have them.
            let ways = match third {
                ThirdActor::Tool(
                    Preset::KubectlApply | Preset::KubectlApplyServerSide | Preset::Autoscaler,
                ) => &all[..],
                _ => &all[..1],
            };
            for way in ways.iter().copied() {
                let mut scenario = ready.scenario().unwrap();
                scenario.plans.push(third.plan(&scenario));
                let scenario = scenario.in_ways(&[way], 2).unwrap();
                let name = format!("{}, {}, {}", ready.slug, third.slug(), way.slug());
                assert_same(&searched(scenario), ready.manifest, &name);
            }
        }
    }
}

/// Its copy, its edits and what comes next are then told as those of any actor.
#[test]
fn an_autoscaler_sends_from_its_working_copy_and_is_in_the_middle_of_its_retry() {
    let ready = PRESETS.iter().find(|it| it.slug == "same-field").unwrap();
    let mut scenario = ready.scenario().unwrap();
    let third = ThirdActor::Tool(Preset::Autoscaler);
    scenario.plans.push(third.plan(&scenario));
    let scenario = scenario
        .in_ways(&[WriteMethod::UpdateReadAgain], 2)
        .unwrap();
    let search = searched(scenario);
    let mut conflicts = 0;
    for end in search.ends() {
        let path = search.path_to(end.id);
        let tree = replayed(&search, &path, path.len(), tree(ready.manifest));
        for &node in tree.current_path() {
            let (Some(step), Some(world)) = (tree.step(node), tree.world_at(node)) else {
                continue;
            };
            let sent = step
                .exchange
                .as_ref()
                .map(|it| (it.method.as_str(), it.code));
            if step.actor() == Some(ActorId::C) && sent == Some(("GET", 200)) {
                let edited = world.copy(ActorId::C).edited();
                let wanted = edited.map(|it| &it["spec"]["replicas"]);
                assert_eq!(wanted, Some(&4.into()));
                let target = &step.exchange.as_ref().unwrap().target;
                assert!(
                    target.ends_with("/scale"),
                    "it never reads the object: {target}"
                );
                assert_eq!(world.stale_by(ActorId::C), 0, "its copy is the Scale");
            }
            let (Some(ActorId::C), Some(("PUT", code))) = (step.actor(), sent) else {
                continue;
            };
            let Operation::Act(_, Action::Send(write)) = &step.operation else {
                panic!("{:?}", step.operation);
            };
            assert!(write.on_conflict.reads_again());
            if code == 200 {
                assert_eq!(world.stale_by(ActorId::C), 0, "the answer is a Scale again");
                assert!(world.changed_since_read(ActorId::C).is_empty());
            }
            let again = (code == 409).then_some(Action::GetScale);
            assert_eq!(world.next_attempt(ActorId::C), again);
            conflicts += usize::from(code == 409);
        }
    }
    assert!(conflicts > 0);
}

#[test]
fn every_end_of_every_ready_pair_is_reached_again_with_the_same_answers() {
    for ready in PRESETS {
        for (at, way) in WriteMethod::MATRIX
            .into_iter()
            .chain(WriteMethod::MORE)
            .enumerate()
        {
            for blind in [false, true]
                .into_iter()
                .filter(|blind| at % 4 == 0 || !blind)
            {
                let mut scenario = ready.scenario().unwrap();
                for plan in &mut scenario.plans {
                    plan.reads_first = !blind;
                }
                let scenario = scenario.in_ways(&[way], 3).unwrap();
                let name = format!("{}, {}, blind: {blind}", ready.slug, way.slug());
                assert_same(&searched(scenario), ready.manifest, &name);
            }
        }
    }
}

/// An actor reads and has an edit that it has not sent.
fn edits(tree: &mut HistoryTree, actor: ActorId, pointer: &str, value: Value) {
    tree.act(Operation::Act(actor, Action::Get)).unwrap();
    let copy = tree.world_mut().copy_mut(actor);
    let mut object = (**copy.edited().unwrap()).clone();
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[last] = value;
    copy.edit(object);
}

#[test]
fn the_edits_of_up_to_six_actors_of_play_are_searched_under_their_letters() {
    use ActorId::{A, B, C, D, E, F};
    for (further, wrote_before) in [
        (&[D][..], Some(C)),
        (&[C, E][..], Some(D)),
        (&[D, F][..], None),
    ] {
        let mut start = tree(NGINX);
        if let Some(actor) = wrote_before {
            edits(&mut start, actor, "/spec/replicas", 4.into());
            let write = start.world().actor(actor).write();
            start
                .act(Operation::Act(actor, Action::Send(write)))
                .unwrap();
        }
        edits(&mut start, A, "/spec/replicas", 5.into());
        edits(&mut start, B, "/spec/paused", true.into());
        for (at, actor) in further.iter().enumerate() {
            let pointer = ["/spec/minReadySeconds", "/spec/replicas"][at];
            edits(&mut start, *actor, pointer, 7.into());
        }
        let mut scenario = Scenario::of_copies(start.world()).expect("all have read");
        let acting: Vec<ActorId> = scenario.acting().map(|(actor, _)| actor).collect();
        assert_eq!(acting, [&[A, B][..], further].concat());
        for plan in &mut scenario.plans {
            plan.reads_first = false;
        }
        let search = searched(scenario.in_ways(&[WriteMethod::Update], 1).unwrap());
        let factorial: u128 = (1..=acting.len() as u128).product();
        assert_eq!(search.tally().total(), factorial, "each writes once");
        for end in search.ends() {
            let path = search.path_to(end.id);
            let before = start.current_path().len() - 1;
            let shown = replayed(&search, &path, path.len(), start.clone());
            let who: Vec<ActorId> = answers(&shown)[before..].iter().map(|it| it.0).collect();
            let expected = path.iter().map(|id| acting[search.edges()[*id].actor]);
            let sent = &who[who.len() - path.len()..];
            assert_eq!(sent, expected.collect::<Vec<_>>());
            assert_eq!(shown.world().verdict(), end.verdict(), "{further:?}");
        }
        // Without the others, what was written before is still of who wrote it.
        let alone = Scenario::of_copies(start.world()).unwrap().of_editors();
        let search = searched(alone.in_ways(&[WriteMethod::Update], 1).unwrap());
        for end in search.ends() {
            let path = search.path_to(end.id);
            let shown = replayed(&search, &path, path.len(), start.clone());
            assert_eq!(shown.world().verdict(), end.verdict());
        }
    }
}

#[test]
fn a_history_with_steps_inside_requests_is_shown_request_by_request() {
    let ready = &PRESETS[0];
    let mut scenario = ready.scenario().unwrap();
    scenario.micro_steps = true;
    let search = searched(scenario.in_ways(&[WriteMethod::Merge], 1).unwrap());
    assert_same(&search, ready.manifest, "inside");
}

#[test]
fn it_stands_at_the_deciding_step_and_leaves_what_was_done_before() {
    let mut begun = tree(NGINX);
    begun.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
    begun.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
    begun.go(0);
    let ready = PRESETS.iter().find(|ready| ready.slug == "same-field");
    let scenario = ready.unwrap().scenario().unwrap();
    let search = searched(scenario.in_ways(&[WriteMethod::Update], 1).unwrap());
    let path = search.path_to(search.shortest(Verdict::Lost).unwrap());
    let tree = replayed(&search, &path, 3, begun);
    assert_eq!(tree.position(), 3);
    assert_eq!(
        tree.current_path().len(),
        5,
        "the last step is still to come"
    );
    assert_eq!(tree.branches(0).len(), 2, "what was there is a branch");
}

#[test]
fn a_link_carries_an_opened_history_whole() {
    for ready in PRESETS {
        for way in WriteMethod::MATRIX {
            let scenario = ready.scenario().unwrap();
            let scenario = scenario.in_ways(&[way], 2).unwrap();
            let search = searched(scenario);
            let end = search.ends().last().unwrap();
            let path = search.path_to(end.id);
            let opened = replayed(&search, &path, 1, tree(ready.manifest));
            let text = Session::from_tree(&opened).to_text();
            let again = Session::parse(&text).unwrap().replay().finish().unwrap();
            assert_eq!(answers(&again), answers(&opened), "{}", way.slug());
            assert_eq!(again.position(), opened.position());
        }
    }
}
