//! Two answers to one question: a search and *Play* perform the same random histories in lockstep,
//! begun from random prefixes, and agree after every step on what is stored, who was shown what and
//! what was lost.
//!
//! A run compares some histories. For more:
//! `OPTIMIST_LOCKSTEP=5000 cargo test --release -p optimist-simulation --test all lockstep`.

use std::collections::BTreeMap;
use std::io::Write as _;

use optimist_checker::Safety;
use optimist_client::{Declares, OnConflict, Strategy as Send, Write, WriteMethod};
use optimist_controller::Controller;
use optimist_controller::program::{ReadyProgramName, Switch};
use optimist_ledger::{Ledger, UpdateTracker};
use optimist_simulation::explore::{
    ControllerQuestion, ControllerReplay, ControllerSearch, Plan, Scenario, Search, SearchStatus,
    ThirdActor, TransitionId, replayed,
};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{
    Action, ActorId, ControllerOperation as Do, HistoryTree, Operation, Preconditions, World,
};
use optimist_system::{Event, Faults, Performed, System};
use serde_json::{Value, json};

use crate::widget;

/// Returns how many histories a test compares.
fn histories(usual: u64) -> u64 {
    let asked = std::env::var("OPTIMIST_LOCKSTEP");
    asked.map_or(usual, |number| number.parse().expect("a number"))
}

/// Writes a count past the test runner, which keeps what a passing test prints: `cargo xtask test` ends
/// with it.
fn tell(what: &str, count: &str) {
    let _ = writeln!(std::io::stdout(), "counted: {what}: {count}");
}

/// Choices that follow from a number (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % most.max(1) as u64) as usize
    }

    fn choose<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn editor(&mut self) -> ActorId {
        self.choose(&ActorId::EDITORS)
    }

    /// A way of writing, of those that a custom resource takes and some that it does not.
    fn write(&mut self) -> Write {
        let mut write = Write::usual(self.choose(&Send::ALL));
        if self.below(3) == 0 {
            write.send_resource_version = !write.send_resource_version;
        }
        write.force = self.below(2) == 0;
        if self.below(4) == 0 {
            write.declares = Declares::Manifest;
        }
        write.dry_run = self.below(8) == 0;
        if write.strategy == Send::MergePatch && self.below(3) == 0 {
            write.body = Some(r#"{"metadata": {"annotations": {"seen": "by hand"}}}"#.to_owned());
        }
        write.on_conflict = self.choose(&[
            OnConflict::GiveUp,
            OnConflict::GiveUp,
            OnConflict::ReadAgain(3),
            OnConflict::Resend(2),
        ]);
        write
    }

    /// Changes an object in one place.
    fn change(&mut self, object: &mut Value) {
        let texts = ["red", "blue", "2024-05-06T07:08:09Z"];
        match self.below(6) {
            0 => object["spec"]["size"] = json!(self.below(4)),
            1 => object["spec"]["color"] = json!(self.choose(&texts)),
            2 => {
                if let Some(spec) = object["spec"].as_object_mut() {
                    spec.remove("color");
                }
            }
            3 => object["metadata"]["annotations"]["seen"] = json!(self.choose(&texts)),
            4 => object["metadata"]["finalizers"] = json!(["example.com/other"]),
            _ => object["metadata"]["labels"] = json!({"a": self.choose(&texts)}),
        }
    }
}

fn edit(tree: &mut HistoryTree, random: &mut Random, editor: ActorId) {
    let write = random.write();
    let world = tree.world_mut();
    world.actor_mut(editor).set_write(write);
    let copy = world.copy_mut(editor);
    if let Some(edited) = copy.edited() {
        let mut object = (**edited).clone();
        random.change(&mut object);
        copy.edit(object);
    }
}

/// Something that happens before a search begins. What is not possible does not happen.
fn happen(tree: &mut HistoryTree, random: &mut Random) {
    let editor = random.editor();
    let operation = match random.below(12) {
        0..=1 => Operation::Act(editor, Action::Get),
        2..=4 => {
            edit(tree, random, editor);
            let write = tree.world().actor(editor).write();
            Operation::Act(editor, Action::Send(write))
        }
        5 if random.below(4) == 0 => {
            Operation::Act(editor, Action::Delete(Preconditions::default()))
        }
        kind => {
            let controllers = tree.world().controllers().map(|(id, _)| id);
            let controllers: Vec<ActorId> = controllers.collect();
            if controllers.is_empty() {
                return;
            }
            let operation = match kind {
                5..=8 => Do::Step,
                9..=10 => Do::Deliver(random.below(2)),
                _ => random.choose(&[Do::Wake, Do::Resync(0), Do::DropWatch(0)]),
            };
            Operation::Control(random.choose(&controllers), operation)
        }
    };
    tree.act(operation);
}

/// A history up to a moment, at which some editors have an edit that they have not sent.
fn prefix(random: &mut Random, mut tree: HistoryTree, editors: &[ActorId]) -> HistoryTree {
    for _ in 0..random.below(14) {
        happen(&mut tree, random);
    }
    for editor in editors {
        if random.below(3) > 0 {
            if tree.world().copy(*editor).read().is_none() || random.below(3) == 0 {
                tree.act(Operation::Act(*editor, Action::Get));
            }
            edit(&mut tree, random, *editor);
        }
    }
    tree
}

fn tracked(updates: &UpdateTracker<u8>) -> Vec<String> {
    let kept = updates.kept_edits().iter().map(|known| {
        let (edit, mut readers) = (&known.edit, known.readers.clone());
        readers.sort_unstable();
        format!("{} wrote {edit:?}, shown to {readers:?}", known.owner)
    });
    let shown = updates.shown_versions();
    let shown = shown.map(|(who, version, changed)| format!("{who} saw {version} {changed:?}"));
    let mut all: Vec<String> = kept.chain(shown).collect();
    all.sort();
    all
}

fn ledger(ledger: &Ledger<u8>) -> BTreeMap<String, Vec<String>> {
    let objects = ledger.objects();
    let objects = objects.map(|(key, updates)| (key.to_owned(), tracked(updates)));
    objects.filter(|(_, tracked)| !tracked.is_empty()).collect()
}

/// The state on which a search and *Play* must agree.
#[derive(Debug, PartialEq)]
struct Agreed {
    stored: Vec<(String, Value)>,
    ledger: BTreeMap<String, Vec<String>>,
    lost: bool,
    /// Of each controller.
    caches: Vec<Vec<String>>,
    runs: Vec<Option<usize>>,
}

fn caches(controller: &Controller) -> Vec<String> {
    let caches = controller.caches().iter();
    caches.map(|cache| cache.version().to_owned()).collect()
}

fn run(controller: &Controller) -> Option<usize> {
    controller.run().map(|run| run.at())
}

fn stored(server: &optimist_apiserver::server::ApiServer) -> Vec<(String, Value)> {
    let objects = server.store().range("/registry/");
    objects
        .map(|(key, _, object)| (key.to_string(), Value::clone(object)))
        .collect()
}

fn searched(state: &System, performed: &Performed) -> Agreed {
    Agreed {
        stored: stored(state.server()),
        ledger: ledger(state.ledger()),
        lost: !performed.done.losses.is_empty(),
        caches: state.controllers().map(caches).collect(),
        runs: state.controllers().map(run).collect(),
    }
}

fn played(world: &World, lost: bool) -> Agreed {
    let controllers = || world.controllers().map(|(_, controller)| controller);
    Agreed {
        stored: stored(world.server()),
        ledger: ledger(&world.ledger().renamed(|actor| actor as u8)),
        lost,
        caches: controllers().map(caches).collect(),
        runs: controllers().map(run).collect(),
    }
}

/// Returns the parts that only one of two has.
fn difference(search: &Agreed, play: &Agreed) -> String {
    let (search, play) = (format!("{search:#?}"), format!("{play:#?}"));
    let only = |a: &str, b: &str| -> Vec<String> {
        let lines = a
            .lines()
            .filter(|line| !b.lines().any(|other| other == *line));
        lines.map(str::to_owned).collect()
    };
    let (in_search, in_play) = (only(&search, &play), only(&play, &search));
    format!("only searched: {in_search:#?}, only played: {in_play:#?}")
}

/// Compares one history of one or two controllers and editors. Returns the number of its steps.
fn compare_controlled(seed: u64) -> usize {
    let random = &mut Random(seed);
    let programs: Vec<(ReadyProgramName, Vec<Switch>)> = (0..=random.below(2))
        .map(|_| {
            let name = random.choose(&ReadyProgramName::ALL);
            let switches = name.switches().iter().copied();
            (name, switches.filter(|_| random.below(2) == 0).collect())
        })
        .collect();
    let (name, switches) = &programs[0];
    let tree = widget::tree(*name, switches, &programs[1..]);
    let mut tree = prefix(random, tree, &ActorId::EDITORS);
    let pending = ActorId::EDITORS.into_iter();
    let question = ControllerQuestion {
        actors: pending.filter_map(|id| tree.world().pending(id)).collect(),
        faults: Faults {
            restarts: 1,
            timeouts: 1,
            broken_watches: 1,
            compactions: 1,
            lost_answers: 1,
            lost_requests: 1,
            lagging_lists: 1,
        },
        always: vec![Safety::NoEditLost],
        ..ControllerQuestion::default()
    };
    let thirds: Vec<ThirdActor> = ThirdActor::all().collect();
    let with_third = match random.below(3) {
        0 => None,
        _ => question
            .clone()
            .with_third(tree.world(), random.choose(&thirds)),
    };
    let question = with_third.unwrap_or(question);
    let search = ControllerSearch::new(tree.world(), question, 1).expect("it has a controller");
    let (mut state, mut replay) = (
        search.start().clone(),
        ControllerReplay::new(search.question()),
    );
    let mut told = Vec::new();
    for _ in 0..30 {
        let mut enabled = state.enabled();
        // In Play, no answer to an editor is lost.
        enabled.retain(|event| match event {
            Event::AnswerLost(process) => state.controller(*process).is_some(),
            _ => true,
        });
        if enabled.is_empty() {
            break;
        }
        let transition = random.choose(&enabled);
        told.push(transition);
        let performed = state.perform(transition).expect("it is possible");
        let before = tree.position();
        let done = replay.perform(&mut tree, transition);
        assert_eq!(done, Some(()), "seed {seed} {programs:?} {told:?}");
        let nodes = &tree.current_path()[before + 1..=tree.position()];
        let lost = nodes.iter().any(|node| {
            let step = tree.step(*node);
            step.is_some_and(|step| !step.losses.is_empty())
        });
        let (search, play) = (searched(&state, &performed), played(tree.world(), lost));
        assert!(
            search == play,
            "seed {seed} {programs:?} {told:?} {}",
            difference(&search, &play)
        );
    }
    told.len()
}

#[test]
fn a_search_of_controllers_and_play_agree_after_every_step() {
    let histories = histories(150);
    let steps: usize = (0..histories).map(compare_controlled).sum();
    tell(
        "lockstep of controllers",
        &format!("{histories} histories, {steps} steps compared"),
    );
    assert!(steps as u64 > histories * 5, "{steps}");
}

/// The verdict of the steps after a position, by what *Play* noted in them.
fn verdict_since(tree: &HistoryTree, position: usize) -> Verdict {
    let world = tree.world();
    let (stored, root) = (
        world.stored().map(|(_, object)| &**object),
        &world.resource().root,
    );
    let nodes = &tree.current_path()[position + 1..=tree.position()];
    let steps = || nodes.iter().filter_map(|node| tree.step(*node));
    let acted = |who: &ActorId| steps().any(|step| step.actor() == Some(*who));
    let mut refused = world.updates().who_was_refused().iter();
    let mut replaced = steps().flat_map(|step| &step.replaced);
    if steps().any(|step| !step.losses.is_empty()) {
        Verdict::Lost
    } else if refused.any(|(who, _)| acted(who)) {
        Verdict::Refused
    } else if steps().any(|step| !step.left_out.is_empty()) {
        Verdict::LeftOut
    } else if replaced.any(|replaced| !replaced.edit.holds_in(stored, root)) {
        Verdict::Replaced
    } else {
        Verdict::InObject
    }
}

/// A random way through a search to an end.
fn way(search: &Search, random: &mut Random) -> (Vec<TransitionId>, Verdict) {
    let (mut path, mut at) = (Vec::new(), 0);
    loop {
        let state = search.view(at).expect("it was explored");
        let edges: Vec<TransitionId> = state.edges().collect();
        if edges.is_empty() {
            return (path, state.verdict());
        }
        let edge = random.choose(&edges);
        path.push(edge);
        at = search.edges()[edge].to;
    }
}

/// Compares some histories of one start of editors. Returns their number.
fn compare_editors(seed: u64) -> usize {
    let random = &mut Random(seed ^ 0xed17);
    let tree = HistoryTree::new(World::load(optimist_simulation::NGINX).unwrap().0);
    let tree = match random.below(2) {
        0 => tree,
        _ => HistoryTree::new(World::load(optimist_simulation::WIDGET).unwrap().0),
    };
    let tree = prefix(random, tree, &ActorId::EDITORS);
    let Some(mut scenario) = Scenario::of_copies(tree.world()) else {
        return 0;
    };
    let ways = [&WriteMethod::MATRIX[..], &WriteMethod::MORE].concat();
    if random.below(2) == 0 {
        let own = scenario.in_ways(&[WriteMethod::Own], 1);
        scenario = own.expect("no owners are set");
    } else {
        for plan in &mut scenario.plans {
            plan.write = random.choose(&ways).write(2);
        }
    }
    for plan in &mut scenario.plans {
        if random.below(3) == 0 {
            *plan = plan.clone().by_tool(random.choose(&Plan::TOOLS));
        }
    }
    // A tool that cannot carry the edit is not searched.
    let Ok(mut scenario) = scenario.in_ways(&[], 1) else {
        return 0;
    };
    scenario.micro_steps = random.below(3) == 0;
    let mut search = Search::new(scenario, 4_000);
    if search.run() != SearchStatus::Done {
        return 0;
    }
    for _ in 0..6 {
        let (path, verdict) = way(&search, random);
        let begin = tree.position();
        let replayed = replayed(&search, &path, path.len(), tree.clone());
        let codes = path.iter().map(|edge| search.edges()[*edge].code);
        let codes: Vec<u16> = codes.filter(|code| *code > 0).collect();
        let nodes = &replayed.current_path()[begin + 1..=replayed.position()];
        let exchanges = nodes
            .iter()
            .filter_map(|node| replayed.step(*node)?.exchange.as_ref());
        let played: Vec<u16> = exchanges.map(|exchange| exchange.code).collect();
        assert_eq!(codes, played, "seed {seed}");
        assert_eq!(
            verdict,
            verdict_since(&replayed, begin),
            "seed {seed} {codes:?}"
        );
    }
    6
}

#[test]
fn a_search_of_editors_and_play_agree_on_every_ending() {
    let starts = histories(120);
    let histories: usize = (0..starts).map(compare_editors).sum();
    tell(
        "lockstep of editors",
        &format!("{histories} histories from {starts} starts compared"),
    );
    assert!(histories as u64 > starts, "{histories}");
}
