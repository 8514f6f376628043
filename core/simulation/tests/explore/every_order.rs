//! Random scenarios: every order by brute force, and verdicts from the object after every step. The
//! test uses neither the states nor the edits of the search.
//!
//! If the object already had the value of an edit, an actor that was shown the object since then
//! was shown the edit, not only since it was written.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Request;
use optimist_apiserver::server::{ApiServer, key_of};
use optimist_client::{
    Intent, OnConflict, Strategy as WriteMethod, WorkingCopy, Write, is_conflict,
};
use optimist_simulation::explore::{Plan, Scenario, Tally};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::setup::{MANAGERS, deployment, searched, set, widget};

/// Every value of an object by its path. List items are identified by their names if they have
/// names, and texts in lists by their value.
pub(super) type Leaves = BTreeMap<String, Value>;

fn leaves(object: Option<&Value>) -> Leaves {
    fn collect(value: &Value, place: &str, into: &mut Leaves) {
        let named = |items: &[Value]| items.iter().all(|item| item["name"].is_string());
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (name, value) in members {
                    collect(value, &format!("{place}.{name}"), into);
                }
            }
            Value::Array(items) if !items.is_empty() && named(items) => {
                for item in items {
                    collect(item, &format!("{place}[{}]", item["name"]), into);
                }
            }
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_string) => {
                for item in items {
                    into.insert(format!("{place}[={item}]"), true.into());
                }
            }
            leaf => drop(into.insert(place.to_owned(), leaf.clone())),
        }
    }
    let mut found = Leaves::new();
    if let Some(object) = object {
        found.insert("exists".to_owned(), true.into());
        collect(object, "", &mut found);
    }
    let own = [
        ".metadata.managedFields",
        ".metadata.resourceVersion",
        ".metadata.generation",
    ];
    found.retain(|place, _| !own.iter().any(|own| place.starts_with(own)));
    found
}

/// The events of a history.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Shown(usize),
    /// A read is refused: the object is gone.
    NotShown(usize),
    /// A write is refused, with a status code.
    Refused(usize, u16),
    /// The writer, the intended values, and the object that was stored.
    Wrote(usize, BTreeMap<String, Option<Value>>, Leaves),
}

/// The verdict of a history. Its first events show the object to the actors that do not read first.
pub(super) fn judge(start: &Leaves, events: &[Event]) -> Tally {
    let one = |tally: fn(&mut Tally) -> &mut u128| {
        let mut one = Tally::default();
        *tally(&mut one) = 1;
        one
    };
    // The object after every step.
    let mut stored = vec![start.clone()];
    for event in events {
        stored.push(match event {
            Event::Wrote(_, _, after) => after.clone(),
            _ => stored.last().unwrap().clone(),
        });
    }
    // Who reads that the object is gone was shown its deletion.
    let shown = |who: usize, from: usize, to: usize| {
        events[from..to].iter().any(|event| match event {
            Event::Shown(reader) | Event::NotShown(reader) | Event::Wrote(reader, ..) => {
                *reader == who
            }
            Event::Refused(..) => false,
        })
    };
    let mut left_out = false;
    for (at, event) in events.iter().enumerate() {
        let Event::Wrote(owner, wanted, after) = event else {
            continue;
        };
        for (place, value) in wanted {
            // In a deleted object, only its deletion holds.
            let holds = |leaves: &Leaves| {
                leaves.get(place) == value.as_ref()
                    && (place == "exists" || leaves.contains_key("exists"))
            };
            if !holds(after) {
                left_out = true;
                continue;
            }
            let changed = (at + 1..events.len()).find(|i| !holds(&stored[i + 1]));
            let Some(changed) = changed else { continue };
            let Event::Wrote(culprit, ..) = &events[changed] else {
                unreachable!("only writes change the object");
            };
            // The first event since which the edit held without interruption until it was written.
            let held = (0..at).rev().take_while(|i| holds(&stored[i + 1]));
            let since = held.last().unwrap_or(at);
            if culprit != owner && !shown(*culprit, since, changed) {
                return one(|tally| &mut tally.lost);
            }
        }
    }
    let last_word = |who: usize| {
        events.iter().rev().find_map(|event| match event {
            Event::Refused(refused, _) | Event::NotShown(refused) if *refused == who => Some(false),
            Event::Wrote(writer, ..) if *writer == who => Some(true),
            _ => None,
        })
    };
    if (0..3).any(|who| last_word(who) == Some(false)) {
        one(|tally| &mut tally.refused)
    } else if left_out {
        one(|tally| &mut tally.left_out)
    } else {
        one(|tally| &mut tally.in_object)
    }
}

#[derive(Clone)]
pub(super) struct Actor {
    pub(super) copy: Option<Arc<Value>>,
    attempts: u8,
    pub(super) reads: bool,
    pub(super) done: bool,
}

#[derive(Clone)]
pub(super) struct Run {
    pub(super) server: ApiServer,
    pub(super) actors: Vec<Actor>,
    pub(super) events: Vec<Event>,
}

pub(super) fn stored(scenario: &Scenario, server: &ApiServer) -> Leaves {
    let key = key_of(&scenario.resource, &scenario.object);
    leaves(server.store().get(&key).map(|(_, object)| object.as_ref()))
}

impl Run {
    /// The object now.
    pub(super) fn stored(&self, scenario: &Scenario) -> Leaves {
        stored(scenario, &self.server)
    }
}

pub(super) fn step(scenario: &Scenario, run: &mut Run, who: usize) {
    let plan = &scenario.plans[who];
    if let Some(way) = plan.tool {
        return super::tools::step(scenario, run, who, way);
    }
    let actor = &mut run.actors[who];
    let path = scenario.resource.path(
        "default",
        scenario.object["metadata"]["name"].as_str().unwrap(),
    );
    if actor.reads {
        let response = run
            .server
            .handle(Request::get(path).body(Vec::new()).unwrap());
        if response.status() == 200 {
            actor.copy = Some(Arc::new(serde_json::from_slice(response.body()).unwrap()));
            actor.reads = false;
            run.events.push(Event::Shown(who));
        } else {
            actor.done = true;
            run.events.push(Event::NotShown(who));
        }
        return;
    }
    let copy = actor.copy.clone().unwrap();
    let mut wanted = BTreeMap::new();
    let request = if plan.intent == Intent::Delete {
        wanted.insert("exists".to_owned(), None);
        let body = match plan.write.send_resource_version {
            true => {
                json!({"preconditions": {"resourceVersion": copy["metadata"]["resourceVersion"]}})
                    .to_string()
                    .into_bytes()
            }
            false => Vec::new(),
        };
        let request = Request::delete(path).header("content-type", "application/json");
        request.body(body).unwrap()
    } else {
        let edited = plan.intent.done_on(&copy);
        let (before, after) = (leaves(Some(&copy)), leaves(Some(&edited)));
        for place in before.keys().chain(after.keys()) {
            if before.get(place) != after.get(place) {
                wanted.insert(place.clone(), after.get(place).cloned());
            }
        }
        let mut working = WorkingCopy::default();
        working.settle(Arc::clone(&copy));
        // An apply also declares the fields that already have the intended value.
        plan.intent.edit(&mut working, &copy);
        let write = plan.sends();
        let request = write.request(&scenario.resource, &working, &plan.manager);
        request.unwrap()
    };
    let response = run.server.handle(request);
    actor.done = true;
    if response.status().is_success() {
        let after = stored(scenario, &run.server);
        run.events.push(Event::Wrote(who, wanted, after));
        return;
    }
    run.events
        .push(Event::Refused(who, response.status().as_u16()));
    if is_conflict(&response) && actor.attempts > 0 && plan.write.on_conflict != OnConflict::GiveUp
    {
        actor.attempts -= 1;
        actor.done = false;
        actor.reads = matches!(plan.write.on_conflict, OnConflict::ReadAgain(_));
    }
}

/// Hears the events of every order, one by one.
pub(super) fn every_order(scenario: &Scenario, run: &Run, hear: &mut dyn FnMut(&[Event])) {
    let mut ended = true;
    for who in 0..run.actors.len() {
        if !run.actors[who].done {
            ended = false;
            let mut next = run.clone();
            step(scenario, &mut next, who);
            every_order(scenario, &next, hear);
        }
    }
    if ended {
        hear(&run.events);
    }
}

/// The start of a scenario. Its first events show the object to those who do not read first.
pub(super) fn begin(scenario: &Scenario) -> Run {
    let reads = |plan: &Plan| {
        plan.tool
            .map_or(plan.reads_first, super::tools::reads_first)
    };
    let blind = |(who, plan): (usize, &Plan)| (!reads(plan)).then_some(Event::Shown(who));
    let events = scenario.plans.iter().enumerate().filter_map(blind);
    let events = events.collect();
    let actors = scenario.plans.iter().map(|plan| Actor {
        copy: (!reads(plan)).then(|| Arc::clone(&scenario.object)),
        attempts: match plan.write.on_conflict {
            OnConflict::GiveUp => 0,
            OnConflict::ReadAgain(n) | OnConflict::Resend(n) => n - 1,
        },
        reads: reads(plan),
        done: false,
    });
    Run {
        server: scenario.server.clone(),
        actors: actors.collect(),
        events,
    }
}

pub(super) fn by_brute_force(scenario: &Scenario) -> Tally {
    let start = stored(scenario, &scenario.server);
    let mut total = Tally::default();
    every_order(scenario, &begin(scenario), &mut |events| {
        let verdict = judge(&start, events);
        total.in_object += verdict.in_object;
        total.left_out += verdict.left_out;
        total.refused += verdict.refused;
        total.lost += verdict.lost;
    });
    total
}

fn on_deployment(scenario: &Scenario, which: usize) -> Intent {
    let container = |name: &str, image: &str| json!({"name": name, "image": image});
    let containers = "/spec/template/spec/containers/-";
    match which {
        0 => set(scenario, "/spec/replicas", 5),
        1 => set(scenario, "/spec/replicas", 7),
        2 => set(
            scenario,
            "/spec/template/spec/containers/0/image",
            "nginx:2",
        ),
        3 => set(scenario, containers, container("x", "x:1")),
        4 => set(scenario, containers, container("y", "y:1")),
        5 => set(scenario, containers, container("x", "x:2")),
        6 => set(scenario, "/spec/template/spec/containers/0/args/-", "-v"),
        7 => set(scenario, "/spec/template/spec/containers/0/args/-", "-w"),
        8 => set(
            scenario,
            "/spec/template/spec/containers/0/args",
            Value::Null,
        ),
        9 => set(scenario, "/metadata/labels", json!({"team": "a"})),
        10 => set(scenario, "/status", json!({"replicas": 2})),
        _ => Intent::Delete,
    }
}

fn on_widget(scenario: &Scenario, which: usize) -> Intent {
    match which % 6 {
        0 => set(scenario, "/spec/size", 2),
        1 => set(scenario, "/spec/size", 3),
        2 => set(scenario, "/spec/colour", Value::Null),
        3 => set(scenario, "/spec/tags/-", "x"),
        4 => set(scenario, "/spec/tags/-", "y"),
        _ => Intent::Delete,
    }
}

#[derive(Clone, Debug)]
pub(super) struct Choice {
    intent: usize,
    reads_first: bool,
    write: Write,
}

pub(super) fn choice(attempts: u8) -> impl Strategy<Value = Choice> {
    let write = (
        prop::sample::select(WriteMethod::ALL.to_vec()),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    );
    let on_conflict = prop_oneof![
        2 => Just(OnConflict::GiveUp),
        2 => Just(OnConflict::ReadAgain(attempts)),
        1 => Just(OnConflict::Resend(attempts)),
    ];
    (0usize..12, prop::bool::weighted(0.8), write, on_conflict).prop_map(
        |(
            intent,
            reads_first,
            (strategy, send_resource_version, force, test_values),
            on_conflict,
        )| Choice {
            intent,
            reads_first,
            write: Write {
                strategy,
                send_resource_version,
                force,
                test_values,
                on_conflict,
                ..Write::default()
            },
        },
    )
}

pub(super) fn scenario(choices: &[Choice], custom: bool, owns: bool) -> Scenario {
    let mut scenario = if custom { widget() } else { deployment() };
    let intent = if custom { on_widget } else { on_deployment };
    scenario.plans = choices
        .iter()
        .zip(MANAGERS)
        .map(|(choice, manager)| Plan {
            reads_first: choice.reads_first,
            owns,
            write: choice.write.clone(),
            ..Plan::new(manager, intent(&scenario, choice.intent))
        })
        .collect();
    scenario.with_owners().unwrap()
}

/// Removes the difference that the brute force does not see: a replaced edit counts as kept.
pub(super) fn coarse(tally: Tally) -> Tally {
    Tally {
        in_object: tally.without_loss(),
        left_out: tally.left_out,
        refused: tally.refused,
        lost: tally.lost,
        ..Tally::default()
    }
}

/// The write method of an actor below.
fn by(strategy: WriteMethod, intent: usize, reads_first: bool) -> Choice {
    Choice {
        intent,
        reads_first,
        write: Write {
            strategy,
            send_resource_version: false,
            on_conflict: OnConflict::GiveUp,
            ..Write::default()
        },
    }
}

/// A adds the tag `y` without reading, C does so too on condition of the first version, and B reads
/// and deletes.
///
/// Every write is accepted only where C writes first, then A, and then B deletes. A's patch changes
/// nothing there, and whoever was shown C's tag was shown A's: B was, if it read after C wrote.
#[test]
fn an_edit_that_already_held_was_shown_to_whoever_was_shown_it_before() {
    let mut choices = [
        by(WriteMethod::MergePatch, 4, false),
        by(WriteMethod::Update, 5, true),
        by(WriteMethod::Update, 10, false),
    ];
    choices[2].write.send_resource_version = true;
    let scenario = scenario(&choices, true, false);
    let brute = by_brute_force(&scenario);
    let searched = searched(scenario).tally();
    assert_eq!((brute.in_object, brute.lost, brute.refused), (2, 4, 6));
    assert_eq!(coarse(searched), brute);
    assert_eq!((searched.in_object, searched.replaced), (0, 2));
}

/// All actors set the replicas to 5: A applies, B updates what it read, C updates blindly.
///
/// If A reads the 5 that somebody wrote already, its apply makes a new version all the same, for A
/// owns the field then; and B's version may be old by that.
#[test]
fn an_apply_of_what_is_there_already_makes_a_version_that_others_have_not_read() {
    let mut choices = [
        by(WriteMethod::Apply, 0, true),
        by(WriteMethod::Update, 0, true),
        by(WriteMethod::Update, 0, false),
    ];
    choices[1].write.send_resource_version = true;
    let scenario = scenario(&choices, false, false);
    let brute = by_brute_force(&scenario);
    assert_eq!((brute.in_object, brute.refused, brute.lost), (13, 17, 0));
    assert_eq!(coarse(searched(scenario).tally()), brute);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn two_who_may_try_again(
        choices in prop::collection::vec(choice(2), 2),
        custom in any::<bool>(),
        owns in any::<bool>(),
    ) {
        let scenario = scenario(&choices, custom, owns);
        let brute = by_brute_force(&scenario);
        prop_assert_eq!(coarse(searched(scenario).tally()), brute);
    }

    #[test]
    fn three_of_whom_each_tries_once(
        choices in prop::collection::vec(choice(1), 3),
        custom in any::<bool>(),
        owns in any::<bool>(),
    ) {
        let scenario = scenario(&choices, custom, owns);
        let brute = by_brute_force(&scenario);
        prop_assert_eq!(coarse(searched(scenario).tally()), brute);
    }
}
