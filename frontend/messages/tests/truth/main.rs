//! A sentence has a truth condition. Each message of the catalogue that claims something of a
//! history, an object or a command has a condition over data here, written from what the message
//! says and not from the code that chooses it; random histories check each sentence that is said.
//!
//! `OPTIMIST_TRUTH=N` runs N times as many histories as usual.

mod believing;
mod caption;
mod cards;
mod controlling;
mod counted;
mod diagnose;
mod edits_named;
mod exploring;
mod facts;
mod generate;
mod hearing;
mod inside;
mod judge;
mod labels;
mod lessons;
mod loading;
mod lost_answers;
mod moment;
mod one_more;
mod order_properties;
mod orders;
mod own_property;
mod panels;
mod property;
mod random;
mod said;
mod scripts;
mod sharing;
mod so_far;
mod steps;
mod tools;
mod watching;

use std::collections::{BTreeMap, BTreeSet};

use optimist_apiserver::apply::Owners;
use optimist_messages as messages;
use optimist_simulation::{ActorId, HistoryTree, NodeId, Step, World};

use caption::Condition;
use moment::Moment;
use random::Random;
use said::Said;

/// Prints a line past the test runner, which keeps what a passing test prints.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

/// Prints a line past the test runner.
fn tell(line: &str) {
    tell!("{line}");
}

/// Returns how many times as many histories as usual are tried.
fn times() -> u64 {
    std::env::var("OPTIMIST_TRUTH").map_or(1, |times| times.parse().expect("a number"))
}

/// The subject of a text.
#[derive(Clone, Copy)]
enum About {
    /// The current step.
    Here,
    /// The object that is shown.
    Shown,
    /// The copy of an editor, and what its apply would do.
    Copy(ActorId),
    /// The end of a branch of the tree.
    End(NodeId),
    /// The branch that begins with a node.
    Branch(NodeId),
}

/// Returns the page's sentences about a current step, each with its subject.
fn page(tree: &HistoryTree, right: ActorId) -> Vec<(About, String)> {
    let mut texts: Vec<(About, String)> = here(tree, right)
        .into_iter()
        .map(|text| (About::Here, text))
        .collect();
    let world = tree.world();
    texts.push((About::Shown, messages::last_write(tree)));
    texts.push((About::Shown, messages::connection(world)));
    let received = world.watcher().received().iter();
    texts.extend(received.map(|it| (About::Shown, messages::event(it))));
    let rules = messages::unevaluated_rules(&world.unevaluated_rules());
    texts.extend(rules.map(|text| (About::Shown, text)));
    texts.extend(cards_of(tree));
    texts.extend(panels::texts(tree, right));
    for ending in tree.endings().into_iter().flat_map(|all| all.endings) {
        let method = messages::ending_method(ending.method);
        texts.extend(method.map(|text| (About::Here, text)));
        if let Some((end, outcome)) = ending.tried {
            texts.push((About::End(end), messages::ending_outcome(outcome, world)));
        }
    }
    for at in [tree.parent(tree.current()), Some(tree.current())]
        .into_iter()
        .flatten()
    {
        if tree.branches(at).len() > 1 {
            let labels = messages::branch_labels(tree, at).into_iter();
            texts.extend(labels.map(|(node, text)| (About::Branch(node), text)));
            let more = tree.branches(at).iter();
            let more = more.filter_map(|&node| Some((node, messages::branch_more(tree, node)?)));
            texts.extend(more.map(|(node, text)| (About::Branch(node), text)));
        }
    }
    texts
}

/// Returns the sentences of the cards about the shown object.
fn cards_of(tree: &HistoryTree) -> Vec<(About, String)> {
    use messages::cards;
    let world = tree.world();
    let mut texts = vec![cards::stored_version(world), cards::compaction(world)];
    texts.extend(cards::no_owners(world));
    let trouble = cards::trouble(tree).into_iter();
    texts.extend(trouble.flat_map(|one| [one.text, one.title]));
    if let Some((_, object)) = world.stored() {
        let owners = Owners::read(object, &world.resource().root);
        texts.extend(owners.managers().iter().map(cards::manager));
    }
    let step = tree.step(tree.current());
    let three = tree.three_way(tree.current()).unwrap_or_default();
    let nothing = step.filter(|_| three.rows.is_empty());
    let nothing = nothing.map(|step| {
        let is_of_step = (step.before == 0) != (step.after == 0);
        (is_of_step, cards::no_difference(step, world))
    });
    let mut texts: Vec<(About, String)> =
        texts.into_iter().map(|text| (About::Shown, text)).collect();
    // What is new, or gone, is what the request named.
    texts.extend(nothing.map(|(is_of_step, text)| match is_of_step {
        true => (About::Here, text),
        false => (About::Shown, text),
    }));
    for editor in ActorId::EDITORS {
        let mut of_copy = cards::copy_version(world, editor).to_vec();
        of_copy.push(cards::copy_tab(world, editor));
        if world.stale_by(editor) > 0 {
            of_copy.push(cards::stale(world, editor));
        }
        // A rehearsal of a write takes its time.
        if tree.position().is_multiple_of(6) {
            of_copy.extend(cards::foresight(world, editor));
        }
        texts.extend(of_copy.into_iter().map(|text| (About::Copy(editor), text)));
    }
    texts
}

fn here(tree: &HistoryTree, right: ActorId) -> Vec<String> {
    let world = tree.world();
    let caption = messages::caption(&tree.explain(right), world);
    let mut texts = vec![caption.title];
    texts.extend(caption.text);
    texts.extend(caption.next);
    texts.extend(messages::first_steps(tree).map(|(text, _)| text));
    texts.push(messages::announcement(tree));
    if let Some(step) = tree.step(tree.current()) {
        texts.extend(of_step(step, world));
    }
    texts.extend(controller(tree));
    texts
}

fn of_step(step: &Step, world: &World) -> Vec<String> {
    let mut texts = vec![
        messages::actor(&step.operation, world),
        messages::ask(step, world),
        messages::answer_brief(step, world),
        messages::summary(step, world),
        messages::row_sentence(step, world, messages::answer(step, world), &[]),
    ];
    texts.extend(messages::pill(step));
    texts.extend(messages::facts(step));
    texts.extend(step.reason().map(messages::reason));
    texts.extend(step.message().map(messages::server_says));
    texts.extend(
        step.edit_results()
            .iter()
            .map(|result| messages::edit_result(result, world)),
    );
    texts
}

/// The card of the controller that a moment is about.
fn controller(tree: &HistoryTree) -> Vec<String> {
    use messages::controller_card as card;
    let world = tree.world();
    let id = moment::controller_of(tree);
    let Some((id, controller)) = id.and_then(|id| Some((id, world.controller(id)?))) else {
        return Vec::new();
    };
    let mut texts = vec![
        card::cache_chip(&world.cache_standings(id)).0,
        card::cache_chip_of_kind(&world.cache_standings(id)).0,
        card::queue_chip(controller.queue()),
    ];
    for cache in world.cache_standings(id) {
        let version = |(name, version): &(String, String)| {
            (cache.changed.contains(name)).then(|| card::cached_version(&cache, name, version))
        };
        texts.extend(cache.objects.iter().filter_map(version));
    }
    let now = world.server().environment().elapsed();
    texts.extend(card::queue_lines(controller.queue(), now));
    let misfits = [world.goals_misfit(id), world.orders_misfit(id)];
    texts.extend(misfits.iter().flatten().map(messages::orders::misfit));
    for value in world.run_values(id) {
        let (has, beside) = card::run_value(&value);
        texts.extend([has, beside]);
    }
    for cache in 0..controller.caches().len() {
        texts.extend(world.events_on_the_way(id, cache).iter().map(card::arrow));
    }
    texts
}

/// The conditions of Play.
fn conditions() -> BTreeMap<&'static str, Condition> {
    use {caption as c, steps as s};
    let all = [
        c::READS,
        c::WRITES,
        c::REFUSALS,
        c::NEXT,
        c::EDITS,
        watching::WATCH,
        s::WHO,
        s::LAST_WRITE,
        s::PILLS,
        s::ANSWERS,
        s::HEADLINES,
        s::ENDINGS,
        s::BRANCHES,
        facts::FACTS,
        controlling::STEPS,
        controlling::CARD,
        exploring::SEARCH,
        cards::CARDS,
        panels::PANELS,
    ];
    all.concat().into_iter().collect()
}

/// The tree as it is at what a text is about.
fn moved(tree: &HistoryTree, about: About) -> Option<HistoryTree> {
    let node = match about {
        About::Here | About::Shown | About::Copy(_) => return None,
        About::End(node) => node,
        About::Branch(node) => tree.end_of(node),
    };
    let mut tree = tree.clone();
    tree.go(node);
    Some(tree)
}

/// A sentence that is false.
struct False {
    said: Said,
    history: Vec<u64>,
}

#[derive(Default)]
struct Found {
    said: BTreeMap<&'static str, usize>,
    unknown: BTreeMap<&'static str, usize>,
    wrong: BTreeMap<&'static str, False>,
}

/// Returns the false ones of the page's sentences about a current step.
fn check(
    tree: &HistoryTree,
    right: ActorId,
    conditions: &BTreeMap<&'static str, Condition>,
    found: &mut Found,
) -> Vec<Said> {
    let mut wrong = Vec::new();
    for (about, text) in page(tree, right) {
        let moved = moved(tree, about);
        let mut moment = Moment::current(moved.as_ref().unwrap_or(tree), right);
        if matches!(about, About::Shown | About::Copy(_)) {
            moment.object = tree.world().subject().clone();
        }
        if let About::Copy(editor) = about {
            moment.right = editor;
        }
        if let About::Branch(node) = about {
            let path = moment.tree.current_path();
            moment.branch = path.iter().position(|&at| at == node).unwrap_or_default();
        }
        for said in said::all(&said::parts(&text)) {
            let name = said.name();
            *found.said.entry(name).or_default() += 1;
            let Some(condition) = conditions.get(name) else {
                *found.unknown.entry(name).or_default() += 1;
                continue;
            };
            if condition(said, &moment) != Some(true) {
                wrong.push(said.clone());
            }
        }
    }
    wrong
}

/// Plays a history, and checks what is said at each of its steps.
fn play(history: &[u64], conditions: &BTreeMap<&'static str, Condition>, found: &mut Found) {
    let mut tree = generate::begin(history[0]);
    for position in 0..history.len() {
        if position > 0 && generate::act(&mut tree, history[position]).is_none() {
            continue;
        }
        let right = if history[position].is_multiple_of(5) {
            ActorId::C
        } else {
            ActorId::B
        };
        for said in check(&tree, right, conditions, found) {
            let known = found.wrong.get(said.name());
            if known.is_none_or(|known| known.history.len() > position + 1) {
                let history = history[..=position].to_vec();
                found.wrong.insert(said.name(), False { said, history });
            }
        }
    }
}

/// Plays the histories that are written down. What is false in them, by message.
fn play_scripts(
    conditions: &BTreeMap<&'static str, Condition>,
    found: &mut Found,
) -> BTreeMap<&'static str, String> {
    let mut wrong = BTreeMap::new();
    scripts::each(&mut |tree| {
        for said in check(tree, ActorId::B, conditions, found) {
            wrong
                .entry(said.name())
                .or_insert_with(|| format!("“{}”\n{}", said.english(), told_tree(tree)));
        }
    });
    wrong
}

/// A history in words.
fn told(history: &[u64]) -> String {
    let mut tree = generate::begin(history[0]);
    for seed in &history[1..] {
        generate::act(&mut tree, *seed);
    }
    told_tree(&tree)
}

fn told_tree(tree: &HistoryTree) -> String {
    messages::choose("");
    let mut text = String::new();
    let here = tree.current();
    let nodes: Vec<usize> = (1..tree.len()).collect();
    for node in nodes {
        let step = tree.step(node).expect("a step");
        let from = tree.parent(node).unwrap_or_default();
        let mark = if node == here { "*" } else { " " };
        let sent = step.exchange.as_ref().map(|sent| {
            format!("{} {} {}", sent.method, sent.target, sent.sent)
                .chars()
                .take(230)
                .collect::<String>()
        });
        text.push_str(&format!(
            "   {mark} {node} (after {from}) {} | {} -> {}  {}\n",
            messages::summary(step, tree.world()),
            step.before,
            step.after,
            sent.unwrap_or_default(),
        ));
    }
    let actor = |id: ActorId| {
        let copy = tree.world().copy(id);
        format!(
            "{}: {:?} edits {:?}",
            id.letter(),
            copy.resource_version(),
            copy.edits()
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        )
    };
    text.push_str(&format!(
        "     {} {} {}\n",
        actor(ActorId::A),
        actor(ActorId::B),
        actor(ActorId::C)
    ));
    said::by_name();
    text
}

/// Leaves seeds out of a history as long as the message is false.
fn shrunk(
    name: &str,
    mut history: Vec<u64>,
    conditions: &BTreeMap<&'static str, Condition>,
) -> False {
    let fails = |history: &[u64]| {
        let mut found = Found::default();
        play(history, conditions, &mut found);
        found.wrong.remove(name)
    };
    let mut size = history.len() / 2;
    while size > 0 {
        let mut from = 1;
        while from + size <= history.len() {
            let mut shorter = history.clone();
            shorter.drain(from..from + size);
            match fails(&shorter) {
                Some(failed) => history = failed.history,
                None => from += size,
            }
        }
        size /= 2;
    }
    fails(&history).expect("the same history")
}

/// Messages that were found false and whose cause is being mended elsewhere: a history that says one
/// is told, and does not fail the run.
const BEING_MENDED: &[&str] = &[];

/// The number of histories that are played, times `OPTIMIST_TRUTH`.
const HISTORIES: u64 = 80;

#[test]
fn what_play_says_is_true() {
    said::by_name();
    let conditions = conditions();
    let times = times();
    let mut found = Found::default();
    let written = play_scripts(&conditions, &mut found);
    for number in 0..times * HISTORIES {
        let mut random = Random::new(number);
        let history: Vec<u64> = (0..10 + random.below(25)).map(|_| random.next()).collect();
        play(&history, &conditions, &mut found);
    }
    let unsaid: Vec<&str> = conditions
        .keys()
        .filter(|name| !found.said.contains_key(*name))
        .filter(|name| exploring::SEARCH.iter().all(|(of, _)| of != *name))
        .copied()
        .collect();
    let checked: usize = found.said.values().sum::<usize>() - found.unknown.values().sum::<usize>();
    tell!(
        "counted: truth of Play: {checked} sentences of {} messages checked in {} histories; {} messages \
         were not said: {}",
        found
            .said
            .keys()
            .filter(|name| conditions.contains_key(*name))
            .count(),
        times * HISTORIES,
        unsaid.len(),
        unsaid.join(", "),
    );
    let open = open();
    let unknown: Vec<_> = found
        .unknown
        .keys()
        .filter(|name| open.contains(*name))
        .collect();
    tell!("said without a condition: {unknown:?}");
    let mut failed = Vec::new();
    for (name, text) in written {
        tell!("FALSE {name}: {text}");
        failed.push(name);
    }
    for (name, one) in std::mem::take(&mut found.wrong) {
        let one = shrunk(name, one.history, &conditions);
        tell!(
            "FALSE {name}: “{}”\n{}",
            one.said.english(),
            told(&one.history)
        );
        if !BEING_MENDED.contains(&name) {
            failed.push(name);
        }
    }
    assert_eq!(
        failed, [""; 0],
        "these messages are false in the histories above"
    );
    assert_eq!(
        hearing::unheard(&unsaid),
        [""; 0],
        "these messages were never said, so their conditions were never tried: add a script that says them"
    );
}

/// The number of scenarios that are searched, times `OPTIMIST_TRUTH`.
const SCENARIOS: u64 = 60;

#[test]
fn what_explore_says_is_true() {
    said::by_name();
    let conditions = conditions();
    let times = times();
    let (mut heard, mut wrong) = (BTreeMap::<&str, usize>::new(), BTreeMap::new());
    for seed in 0..times * SCENARIOS {
        exploring::search(seed, &mut |tree, text| {
            let mut moment = Moment::current(tree, ActorId::B);
            moment.object = tree.world().subject().clone();
            for said in said::all(&said::parts(text)) {
                let Some(condition) = conditions.get(said.name()) else {
                    continue;
                };
                *heard.entry(said.name()).or_default() += 1;
                if condition(said, &moment) != Some(true) {
                    wrong.entry(said.name()).or_insert_with(|| {
                        format!("“{}”, scenario {seed}\n{}", said.english(), told_tree(tree))
                    });
                }
            }
        });
    }
    tell!(
        "counted: truth of Explore: {} sentences of {} messages checked in {} scenarios",
        heard.values().sum::<usize>(),
        heard.len(),
        times * SCENARIOS,
    );
    for (name, text) in &wrong {
        tell!("FALSE {name}: {text}");
    }
    let wrong: Vec<&&str> = wrong.keys().collect();
    assert_eq!(
        wrong, [&""; 0],
        "these messages are false in the histories above"
    );
}

/// The number of scenarios that are counted, times `OPTIMIST_TRUTH`.
const COUNTED: u64 = 24;

#[test]
fn what_explore_counts_is_true() {
    said::by_name();
    let mut hearing = hearing::Hearing::default();
    counted::three(&mut hearing).expect("its orders are counted");
    counted::left_out(&mut hearing).expect("its orders are counted");
    counted::answers(&mut hearing).expect("their orders are counted");
    lost_answers::hear(&mut hearing).expect("their answers are lost");
    counted::compared(&mut hearing).expect("their orders are counted");
    let mut counted = 0;
    for seed in 0..times() * COUNTED {
        counted += usize::from(counted::count(seed, &mut hearing).is_some());
    }
    hearing.conclude("counts", &format!("{counted} scenarios"), &counted::names());
}

#[test]
fn what_explore_says_of_ones_own_property_is_true() {
    said::by_name();
    let mut hearing = hearing::Hearing::default();
    property::wrong(&mut hearing);
    property::fixed(&mut hearing).expect("their orders are performed");
    property::three(&mut hearing).expect("their orders are performed");
    let mut judged = 0;
    for seed in 0..times() * COUNTED {
        judged += usize::from(property::judge(seed, &mut hearing).is_some());
    }
    hearing.conclude(
        "properties",
        &format!("{judged} scenarios"),
        &property::names(),
    );
}

/// The number of moments of controllers that are searched, times `OPTIMIST_TRUTH`.
const CONTROLLERS: u64 = 30;

#[test]
fn what_a_search_of_controllers_says_is_true() {
    said::by_name();
    let mut hearing = hearing::Hearing::default();
    let mut searched = 0;
    orders::fixed(&mut hearing);
    for seed in 0..times() * CONTROLLERS {
        searched += usize::from(orders::search(seed, &mut hearing).is_some());
    }
    let names: Vec<&'static str> = orders::ORDERS.iter().map(|(name, _)| *name).collect();
    hearing.conclude("controllers", &format!("{searched} searches"), &names);
}

/// The number of scenarios that are looked into, times `OPTIMIST_TRUTH`.
const LOOKED_INTO: u64 = 24;

#[test]
fn what_explore_says_of_pairs_and_inside_requests_is_true() {
    said::by_name();
    let mut hearing = hearing::Hearing::default();
    inside::pairs(&mut hearing);
    tools::each(&mut hearing);
    let mut looked = 0;
    for seed in 0..times() * LOOKED_INTO {
        looked += usize::from(inside::steps(seed, &mut hearing).is_some());
    }
    let names: Vec<&'static str> = inside::names().into_iter().chain(tools::names()).collect();
    hearing.conclude("pairs and requests", &format!("{looked} scenarios"), &names);
}

#[test]
fn what_is_said_of_files_of_lessons_and_of_shared_cases_is_true() {
    said::by_name();
    let mut hearing = hearing::Hearing::default();
    loading::each(&mut hearing);
    sharing::each(&mut hearing);
    lessons::each(&mut hearing);
    hearing.conclude("files, lessons and sharing", "all of them", &small());
}

/// The names of the messages of files, lessons and shared cases.
fn small() -> Vec<&'static str> {
    let mut all = lessons::names();
    // A refusal is said of pasted objects too.
    all.extend(loading::LOADING.iter().map(|(name, _)| name));
    all.extend(sharing::SHARED.iter().map(|(name, _)| name));
    all
}

/// The messages that claim something and have no condition yet.
fn open() -> BTreeSet<&'static str> {
    let open = labels::WITHOUT
        .iter()
        .filter(|(class, _)| *class == labels::Class::Open);
    open.flat_map(|(_, names)| names.iter().copied()).collect()
}

#[test]
fn every_message_has_a_condition_or_a_reason_to_have_none() {
    let conditions = conditions();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let without = labels::WITHOUT
        .iter()
        .flat_map(|(_, names)| names.iter().copied());
    let conditioned: BTreeSet<&str> = conditions
        .keys()
        .copied()
        .chain(diagnose::names())
        .chain(orders::ORDERS.iter().map(|(name, _)| *name))
        .chain(counted::names())
        .chain(property::names())
        .chain(inside::names())
        .chain(tools::names())
        .chain(small())
        .collect();
    for name in conditioned.iter().copied().chain(without) {
        *places.entry(name).or_default() += 1;
    }
    let all: BTreeSet<&str> = messages::catalogue().map(|message| message.name).collect();
    let missing: Vec<&&str> = all
        .iter()
        .filter(|name| !places.contains_key(*name))
        .collect();
    let unknown: Vec<&&str> = places.keys().filter(|name| !all.contains(*name)).collect();
    let twice: Vec<&&str> = places
        .iter()
        .filter(|(_, count)| **count > 1)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        missing, [&""; 0],
        "a new message has a condition here, or a place in labels.rs"
    );
    assert_eq!((unknown, twice), (Vec::new(), Vec::new()));
    let open = open().len();
    tell!(
        "counted: truth conditions: {} messages, {} have a condition, {} claim nothing of a history, {open} \
         are without a condition so far",
        all.len(),
        conditioned.len(),
        all.len() - conditioned.len() - open,
    );
    assert_eq!(open, labels::MOST_OPEN, "claims have no condition");
}
