//! An independent judge: it enumerates every history of a few small clients over
//! `ApiServer::handle`, and derives the verdicts from the definition. The counts of the search and
//! the verdicts of a session with the same steps must be equal.
//!
//! The clients ([`client`]), the intents ([`pairs`]) and the definition ([`verdict`]) share no code
//! with the code that they judge. This file compares the two.

mod client;
mod pairs;
mod verdict;

use std::collections::BTreeMap;

use client::{Actor, Kind, OnConflict, WriteMethod};
use optimist_client::{Intent, Write};
use optimist_simulation::explore::{Plan, Scenario, Search, SearchStatus};
use optimist_simulation::verdict::{RefusalKind, Verdict};
use optimist_simulation::{Action, ActorId, Operation, Preconditions, World};
use pairs::{Doing, PAIRS, Pair, Through};
use verdict::{Event, Kept, judge};

/// The number of attempts of clients that retry.
const TRIES: u8 = 3;

/// The number of histories with each verdict.
type Counts = BTreeMap<&'static str, u128>;

fn write(way: WriteMethod) -> Write {
    use optimist_client::{OnConflict as Then, Strategy};
    Write {
        send_resource_version: way.versioned,
        test_values: way.tests,
        force: way.force,
        on_conflict: match way.on_conflict {
            OnConflict::GiveUp => Then::GiveUp,
            OnConflict::ReadAgain => Then::ReadAgain(TRIES),
            OnConflict::Resend => Then::Resend(TRIES),
        },
        ..Write::usual(match way.kind {
            Kind::Put => Strategy::Update,
            Kind::Merge => Strategy::MergePatch,
            Kind::Strategic => Strategy::StrategicMergePatch,
            Kind::Json => Strategy::JsonPatch,
            Kind::Apply => Strategy::Apply,
        })
    }
}

/// The same actors as the search has them.
fn scenario(
    world: &World,
    doings: &[Doing],
    ways: &[WriteMethod],
    reads_first: bool,
) -> Option<Scenario> {
    use optimist_client::Subresource;
    let mut scenario = Scenario::from_world(world);
    for (at, (doing, way)) in doings.iter().zip(ways).enumerate() {
        let intent = if doing.through == Through::Delete {
            Intent::Delete
        } else {
            let mut edited = scenario.object.as_ref().clone();
            doing.make(&mut edited);
            Intent::between(&scenario.object, &edited, &scenario.resource.root)
        };
        scenario.plans.push(Plan {
            subresource: (doing.through == Through::Status).then_some(Subresource::Status),
            reads_first,
            write: write(*way),
            owns: way.owns,
            ..Plan::new(client::MANAGERS[at], intent)
        });
    }
    scenario.with_owners().ok()
}

fn name(verdict: Verdict, refusal: Option<RefusalKind>) -> &'static str {
    match (verdict, refusal) {
        (Verdict::Lost, _) => "lost",
        (Verdict::Refused, Some(RefusalKind::Conflict)) => "conflict",
        (Verdict::Refused, Some(RefusalKind::Gone)) => "gone",
        (Verdict::Refused, _) => "not possible",
        (Verdict::LeftOut, _) => "left out",
        (Verdict::Replaced, _) => "replaced",
        (Verdict::InObject, _) => "in the object",
    }
}

fn searched(scenario: &Scenario) -> Counts {
    let mut search = Search::new(scenario.clone(), 1_000_000);
    assert_eq!(search.run(), SearchStatus::Done);
    let mut counts = Counts::new();
    for end in search.ends() {
        let name = name(end.verdict(), end.refusal());
        *counts.entry(name).or_default() += end.histories();
    }
    let tally = search.tally();
    assert_eq!(tally.total(), counts.values().sum());
    counts
}

/// A history as it is: the judge's actors and events, and the same in a session.
#[derive(Clone)]
struct History {
    actors: Vec<Actor>,
    server: client::Server,
    events: Vec<Event>,
    world: World,
}

/// The input of a comparison, and its result.
struct Comparison<'a> {
    doings: &'a [Doing],
    ways: &'a [WriteMethod],
    plans: &'a [Plan],
    counts: Counts,
    told: String,
    wrong: Vec<String>,
}

impl Comparison<'_> {
    fn every_order(&mut self, history: &History) {
        let mut ended = true;
        for who in 0..history.actors.len() {
            if history.actors[who].is_done() {
                continue;
            }
            ended = false;
            let mut next = history.clone();
            self.step(&mut next, who);
            self.every_order(&next);
        }
        if !ended {
            return;
        }
        let verdict = judge(&history.events);
        *self.counts.entry(verdict).or_default() += 1;
        let world = &history.world;
        let played = name(world.verdict(), world.updates().refusal());
        if played != verdict && self.wrong.len() < 3 {
            let steps: Vec<String> = history.events.iter().map(Event::to_string).collect();
            let steps = steps.join(", ");
            let told = &self.told;
            self.wrong.push(format!(
                "{told}: {steps}: judged {verdict}, played {played}"
            ));
        }
    }

    /// The judge's client takes a step, and the session the same one.
    fn step(&self, history: &mut History, who: usize) {
        let (doing, way) = (&self.doings[who], self.ways[who]);
        let (id, plan) = (ActorId::ALL[who], &self.plans[who]);
        let reads = history.actors[who].reads();
        let again = history.actors[who].copy.is_some();
        let event = history.actors[who].step(doing, way, &mut history.server, who);
        let code = event.code;
        history.events.push(event);
        let world = &mut history.world;
        let action = match (reads, doing.through) {
            (true, _) => Action::Get,
            (false, Through::Delete) => Action::Delete(Preconditions {
                uid: false,
                resource_version: way.versioned,
            }),
            _ => Action::Send(plan.sends()),
        };
        let step = world.act(Operation::Act(id, action)).unwrap();
        let played = step.exchange.as_ref().unwrap().code;
        assert_eq!(played, code, "{}: {} {}", self.told, who, step.headline());
        // Who reads again has its edits redone by the session itself.
        if reads && !again && code == 200 {
            let copy = world.copy_mut(id);
            let read = copy.read().unwrap().clone();
            plan.intent.edit(copy, &read);
        }
    }
}

/// Compares all histories of some actors, and returns the differences.
fn compare(pair: &Pair, doings: &[Doing], ways: &[WriteMethod], reads_first: bool) -> Vec<String> {
    let world = World::load(&pair.manifest()).unwrap().0;
    let Some(scenario) = scenario(&world, doings, ways, reads_first) else {
        return vec![format!("{}: cannot begin so", pair.name)];
    };
    let ways_told: Vec<&str> = ways.iter().map(|way| way.name).collect();
    let told = format!("{} by {}", pair.name, ways_told.join(" and "));
    let start = client::Server {
        api: scenario.server.clone(),
        path: pair.path(),
    };
    let first = start.stored().unwrap();
    let mut world = world;
    if let Some(settling) = &scenario.settling {
        world.act(Operation::Act(
            ActorId::C,
            Action::Request(settling.clone()),
        ));
    }
    let mut events = Vec::new();
    for (at, plan) in scenario.plans.iter().enumerate() {
        let id = ActorId::ALL[at];
        world.actor_mut(id).manager = plan.manager.clone();
        if !reads_first {
            world.act(Operation::Act(id, Action::Get));
            plan.intent.edit(world.copy_mut(id), &first);
            events.push(Event::shown(at, &first));
        }
    }
    let actor = |way: &WriteMethod| Actor::new(*way, TRIES, (!reads_first).then(|| first.clone()));
    let history = History {
        actors: ways.iter().map(actor).collect(),
        server: start,
        events,
        world,
    };
    let mut comparison = Comparison {
        doings,
        ways,
        plans: &scenario.plans,
        counts: Counts::new(),
        told,
        wrong: Vec::new(),
    };
    comparison.every_order(&history);
    let mut wrong = comparison.wrong;
    let searched = searched(&scenario);
    if searched != comparison.counts {
        wrong.push(format!(
            "{}: judged {:?}, searched {searched:?}",
            comparison.told, comparison.counts
        ));
    }
    wrong
}

/// Two editors: one in `alike` combinations with the same write method, and one in `mixed`
/// combinations with different ones.
fn two(alike: usize, mixed: usize) -> Vec<String> {
    let ways = WriteMethod::all();
    let mut wrong = Vec::new();
    let mut at = 0;
    let mut alike_at = 0;
    for pair in &PAIRS {
        for a in &ways {
            for b in &ways {
                at += 1;
                if a.name != b.name {
                    if at % mixed == 0 && a.owns == b.owns {
                        wrong.extend(compare(pair, &pair.doings(), &[*a, *b], true));
                    }
                    continue;
                }
                alike_at += 1;
                if alike_at % alike == 0 {
                    wrong.extend(compare(pair, &pair.doings(), &[*a, *b], true));
                }
                if (alike_at + 1) % (3 * alike) == 0 {
                    wrong.extend(compare(pair, &pair.doings(), &[*a, *b], false));
                }
            }
        }
    }
    wrong
}

/// The write methods that send one request and own nothing before.
fn single_attempts() -> Vec<WriteMethod> {
    let mut ways = WriteMethod::all();
    ways.retain(|way| !way.owns && way.on_conflict == OnConflict::GiveUp);
    ways
}

/// Three editors: one in `every` combinations of write methods.
fn three(every: usize) -> Vec<String> {
    let ways = single_attempts();
    let mut wrong = Vec::new();
    let mut at = 0;
    for pair in &PAIRS {
        for third in pairs::THIRDS {
            for a in &ways {
                for b in &ways {
                    for c in &ways {
                        at += 1;
                        if at % every != 0 {
                            continue;
                        }
                        let [first, second] = pair.doings();
                        let doings = [first, second, third()];
                        wrong.extend(compare(pair, &doings, &[*a, *b, *c], true));
                    }
                }
            }
        }
    }
    wrong
}

/// Four editors who have read, each of whom writes once: 24 orders. With their reads, there would be 2,520.
fn four(every: usize) -> Vec<String> {
    let ways = single_attempts();
    let mut wrong = Vec::new();
    let mut at = 0;
    for pair in &PAIRS {
        for fourth in pairs::FOURTHS {
            for way in &ways {
                for other in &ways {
                    at += 1;
                    if at % every != 0 {
                        continue;
                    }
                    let [first, second] = pair.doings();
                    let doings = [first, second, pairs::THIRDS[1](), fourth()];
                    let ways = [*way, *other, *way, *other];
                    wrong.extend(compare(pair, &doings, &ways, false));
                }
            }
        }
    }
    wrong
}

/// Three editors, of whom each owns what it changes: a request by the third one's lane sets that.
fn three_owners() -> Vec<String> {
    let ways = WriteMethod::all();
    let owns = ways.into_iter().find(|way| way.owns).unwrap();
    let wants = |pair: &&Pair| pair.doings().iter().any(|it| it.through == Through::Delete);
    let mut wrong = Vec::new();
    for pair in PAIRS.iter().filter(wants) {
        let [first, second] = pair.doings();
        let doings = [first, second, pairs::THIRDS[1]()];
        wrong.extend(compare(pair, &doings, &[owns; 3], true));
    }
    wrong
}

fn assert_none(wrong: &[String]) {
    let shown: Vec<&str> = wrong.iter().take(40).map(String::as_str).collect();
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        shown.join("\n")
    );
}

#[test]
fn two_editors_who_write_alike_and_some_who_do_not() {
    assert_none(&two(5, 263));
}

#[test]
fn three_editors_now_and_then() {
    assert_none(&three(9973));
}

#[test]
fn four_editors_now_and_then() {
    assert_none(&four(499));
}

#[test]
fn the_request_that_sets_the_owners_is_nobodys_write() {
    assert_none(&three_owners());
}

/// `cargo test --release -p optimist-simulation --test judge -- --ignored`
#[test]
#[ignore = "takes minutes; docs/testing.md says how"]
fn every_mix_of_two_ways() {
    assert_none(&two(1, 1));
}

/// Compares one in 97 combinations of write methods, or one in `OPTIMIST_JUDGE_EVERY`. 1 tests all
/// combinations, which takes hours.
#[test]
#[ignore = "takes minutes; docs/testing.md says how"]
fn three_editors_in_many_ways() {
    let every = std::env::var("OPTIMIST_JUDGE_EVERY").map_or(97, |every| every.parse().unwrap());
    assert_none(&three(every));
}

#[test]
fn the_judge_finds_what_the_definition_says() {
    use serde_json::json;
    let object = |replicas: i64| json!({"spec": {"replicas": replicas}});
    let set = |to: i64| vec![(pairs::place("spec.replicas"), Some(json!(to)))];
    let write = |who: usize, to: i64, before: i64| {
        Event::wrote(who, set(to), Some(object(before)), Some(object(to)), false)
    };
    let (start, five) = (object(3), object(5));
    let both = [Event::shown(0, &start), Event::shown(1, &start)];
    let history = |more: &[Event]| judge(&[&both[..], more].concat());
    assert_eq!(history(&[write(0, 5, 3)]), Kept::IN_OBJECT);
    assert_eq!(history(&[write(0, 5, 3), write(1, 2, 5)]), Kept::LOST);
    let read = [write(0, 5, 3), Event::shown(1, &five), write(1, 2, 5)];
    assert_eq!(history(&read), Kept::REPLACED);
    // The edit already held: who was shown it then was shown B's too.
    let deleted = Event::wrote(2, vec![(Vec::new(), None)], Some(five.clone()), None, false);
    let shown = [
        write(0, 5, 3),
        Event::shown(2, &five),
        write(1, 5, 5),
        deleted.clone(),
    ];
    assert_eq!(history(&shown), Kept::REPLACED);
    assert_eq!(history(&[write(0, 5, 3), deleted.clone()]), Kept::LOST);
    // A 404 shows the deletion to the actor that got it, and to no other.
    let created = Event::wrote(0, Vec::new(), None, Some(start.clone()), true);
    let not_found = |who| Event::refused(who, 404);
    assert_eq!(history(&[deleted.clone(), created.clone()]), Kept::LOST);
    let told = [deleted.clone(), not_found(0), created.clone()];
    assert_eq!(history(&told), Kept::REPLACED);
    assert_eq!(history(&[deleted, not_found(1), created]), Kept::LOST);
    let refused = [write(0, 5, 3), Event::refused(1, 409)];
    assert_eq!(history(&refused), "conflict");
}
