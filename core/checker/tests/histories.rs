//! The counts of histories against a walk of a system that merges nothing: every order of its events,
//! by the server, the procedures and the ledger themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use http::Request;
use optimist_apiserver::server::ApiServer;
use optimist_checker::{
    Comparison, EditEffect, HistorySearch, LossRisk, PropertySearch, PropertySearchStatus,
    Question, ResponseCache, Safety, SearchStatus,
};
use optimist_client::{
    Editor, EditorPlan, IntendedChange, Intent, OnConflict, WorkingCopy, Write, WriteMethod,
};
use optimist_ledger::{Ledger, ObjectRef, RefusalKind, UpdateTracker, Verdict};
use optimist_system::{Event, Faults, System};
use serde_json::{Value, json};

fn server() -> (ApiServer, ObjectRef) {
    let mut server = ApiServer::default();
    let resource = server.resources().by_kind("v1", "ConfigMap");
    let resource = Arc::clone(resource.expect("it is built in"));
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "shared", "namespace": "default"},
        "data": {"a": "0", "b": "0", "c": "0"}});
    let request = Request::post(resource.path("default", "")).header("user-agent", "creator");
    let request = request.body(object.to_string().into_bytes()).unwrap();
    assert_eq!(server.handle(request).status(), 201);
    let object = ObjectRef::new(&resource, &object);
    (server, object)
}

/// A system of editors, each with a field, a value and a way of writing. They read the object first.
fn system(editors: &[(Option<&str>, &str, Write)]) -> (System, ObjectRef) {
    let (server, object) = server();
    let system = System::new(server, Ledger::default()).with_ledger();
    let blank = WorkingCopy::default();
    let plans = plans(editors, &object, &blank);
    let system = plans.fold(system, |system, plan| system.with(Editor::from(plan)));
    (system, object)
}

/// The same, of editors who have read the object.
fn informed(editors: &[(Option<&str>, &str, Write)]) -> (System, ObjectRef) {
    let (server, object) = server();
    let (_, stored) = server.store().get(object.key()).expect("it is stored");
    let (mut copy, mut updates) = (WorkingCopy::default(), UpdateTracker::new());
    copy.settle(Arc::clone(stored));
    (0..)
        .zip(editors)
        .for_each(|(who, _)| updates.read(who, stored));
    let ledger = Ledger::of_object(object.clone(), updates);
    let system = System::new(server, ledger).with_ledger();
    let plans = plans(editors, &object, &copy);
    let system = plans.fold(system, |system, plan| system.with(Editor::from(plan)));
    (system, object)
}

fn plans<'a>(
    editors: &'a [(Option<&str>, &str, Write)],
    object: &'a ObjectRef,
    copy: &'a WorkingCopy,
) -> impl Iterator<Item = EditorPlan> + 'a {
    let names = ["one", "two", "three", "four", "five", "six"];
    let named = editors.iter().zip(names);
    named.map(|((field, value, write), manager)| EditorPlan {
        object: object.clone(),
        manager: manager.into(),
        copy: copy.clone(),
        intent: Some(match field {
            Some(field) => {
                let value = Value::from(*value);
                let change = IntendedChange::at(&format!("/data/{field}"), Some(value));
                Intent::Change(vec![change])
            }
            None => Intent::Delete,
        }),
        write: write.clone(),
    })
}

/// The verdicts of all histories, by walking through each.
fn walk(system: &System, object: &ObjectRef, found: &mut BTreeMap<Verdict, u128>) {
    let events = system.enabled();
    if events.is_empty() {
        let stored = system.server().store().get(object.key());
        let stored = stored.map(|(_, object)| &**object);
        let ledger = system.ledger();
        let updates = ledger.updates(object.key()).cloned().unwrap_or_default();
        let verdict = updates.verdict(stored, &object.resource().root);
        *found.entry(verdict).or_default() += 1;
    }
    for event in events {
        let mut next = system.clone();
        next.perform(event).expect("it is possible");
        walk(&next, object, found);
    }
}

/// The same by the search.
fn counted(system: &System, object: &ObjectRef) -> BTreeMap<Verdict, u128> {
    let memory = ResponseCache::default();
    let mut search = HistorySearch::new(system, object.clone(), false, 1_000_000, memory);
    assert_eq!(search.run(), SearchStatus::Done);
    let tally = search.tally();
    let all = Verdict::ALL.into_iter();
    let all = all.map(|verdict| (verdict, tally.histories_with(verdict)));
    all.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn a_search_that_is_over_hands_its_memory_on_and_shows_what_it_has_found() {
    let write = || WriteMethod::UpdateReadAgain.write(2);
    let (system, object) = system(&[(Some("a"), "1", write()), (Some("b"), "2", write())]);
    let search = |memory| HistorySearch::new(&system, object.clone(), false, 10_000, memory);
    let shown = |search: &HistorySearch| {
        let states = (0..search.states()).filter_map(|id| search.view(id));
        let states = states.map(|state| {
            let copies =
                [0, 1].map(|process| state.copy(process).map(|(it, same)| (it.clone(), same)));
            (state.stored().cloned(), copies)
        });
        states.collect::<Vec<_>>()
    };
    let mut first = search(ResponseCache::default());
    first.advance(1);
    let _ = first.take_memory();
    assert_eq!(
        first.run(),
        SearchStatus::Done,
        "it kept its memory to go on"
    );
    let found = shown(&first);
    let memory = first.take_memory();
    assert_eq!(shown(&first), found);
    let mut second = search(memory);
    second.run();
    assert_eq!(shown(&second), found);
    assert_eq!(second.tally(), first.tally());
}

fn agree(editors: &[(Option<&str>, &str, Write)]) -> BTreeMap<Verdict, u128> {
    let (system, object) = system(editors);
    agree_on(&system, &object)
}

fn agree_on(system: &System, object: &ObjectRef) -> BTreeMap<Verdict, u128> {
    let mut walked = BTreeMap::new();
    walk(system, object, &mut walked);
    assert_eq!(counted(system, object), walked, "{:?}", system.processes());
    walked
}

#[test]
fn two_editors_end_as_a_walk_of_the_system_says() {
    let mut verdicts: BTreeMap<Verdict, u128> = BTreeMap::new();
    for a in WriteMethod::MATRIX {
        for b in [
            WriteMethod::Update,
            WriteMethod::UpdateReadAgain,
            WriteMethod::ApplyForced,
        ] {
            for field in [Some("a"), Some("b"), None] {
                let editors = [(Some("a"), "1", a.write(2)), (field, "2", b.write(2))];
                for (verdict, count) in agree(&editors) {
                    *verdicts.entry(verdict).or_default() += count;
                }
            }
        }
    }
    let seen = |verdict| verdicts.contains_key(&verdict);
    assert!(
        seen(Verdict::Lost) && seen(Verdict::Refused) && seen(Verdict::InObject),
        "{verdicts:?}"
    );
}

#[test]
fn three_editors_with_retries_end_as_a_walk_of_the_system_says() {
    let update = |on_conflict| Write {
        on_conflict,
        ..Write::default()
    };
    let again = update(OnConflict::ReadAgain(2));
    let resend = update(OnConflict::Resend(2));
    let blind = WriteMethod::Merge.write(1);
    let ways = [[&again, &resend, &blind], [&blind, &resend, &blind]];
    for ways in ways {
        for fields in [["a", "b", "c"], ["a", "a", "b"]] {
            let editors: Vec<_> = (fields.iter().zip(["1", "2", "3"]).zip(ways))
                .map(|((field, value), way)| (Some(*field), value, way.clone()))
                .collect();
            agree(&editors);
        }
    }
}

#[test]
fn the_names_of_fields_values_and_the_order_of_the_processes_do_not_count() {
    let ways = [
        WriteMethod::UpdateReadAgain,
        WriteMethod::Merge,
        WriteMethod::Update,
    ];
    let ends = |order: [usize; 3], fields: [&str; 3], values: [&str; 3]| {
        let editors = order.map(|i| (Some(fields[i]), values[i], ways[i].write(3)));
        let (system, object) = system(&editors);
        counted(&system, &object)
    };
    let usual = ends([0, 1, 2], ["a", "a", "b"], ["1", "2", "3"]);
    for order in [[0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 2, 0]] {
        assert_eq!(ends(order, ["a", "a", "b"], ["1", "2", "3"]), usual);
    }
    let renamed = ends(
        [0, 1, 2],
        ["c", "c", "a"],
        ["x", "2024-05-06T07:08:09Z", "z"],
    );
    assert_eq!(renamed, usual);
}

#[test]
fn an_answer_that_is_lost_can_be_any_and_its_writer_sends_again() {
    let mut lost = 0;
    for a in WriteMethod::MATRIX {
        for b in [WriteMethod::UpdateReadAgain, WriteMethod::Merge] {
            let editors = [(Some("a"), "1", a.write(2)), (Some("a"), "2", b.write(2))];
            let (usual, object) = system(&editors);
            let histories = |found: BTreeMap<Verdict, u128>| found.values().sum::<u128>();
            let without = histories(counted(&usual, &object));
            let faults = Faults {
                lost_answers: 1,
                ..Faults::default()
            };
            let found = agree_on(&usual.with_faults(faults), &object);
            lost += found.get(&Verdict::Lost).unwrap_or(&0);
            assert!(histories(found) > without, "{a:?} {b:?}");
        }
    }
    assert!(
        lost > 0,
        "a write can lose an edit although its answer is lost"
    );
}

#[test]
fn six_editors_who_set_a_field_back_and_forth_end_as_a_walk_of_the_system_says() {
    let (merge, apply, update) = (
        WriteMethod::Merge.write(1),
        WriteMethod::ApplyForced.write(1),
        WriteMethod::Update.write(1),
    );
    // An apply also sets what is so already.
    let set = |value, write: &Write| (Some("a"), value, write.clone());
    let other = |field, write: &Write| (Some(field), "1", write.clone());
    let all = [
        [
            set("1", &merge),
            set("0", &apply),
            set("0", &apply),
            set("9", &merge),
            other("b", &merge),
            other("c", &update),
        ],
        [
            set("1", &apply),
            set("0", &apply),
            set("1", &apply),
            set("0", &apply),
            set("1", &merge),
            set("2", &update),
        ],
    ];
    for editors in all {
        let (system, object) = informed(&editors);
        let found = agree_on(&system, &object);
        assert_eq!(found.values().sum::<u128>(), 720, "each writes once");
    }
}

#[test]
fn a_search_that_is_stopped_before_every_end_tells_of_the_edit_that_is_lost_already() {
    let all = |way: WriteMethod| -> Vec<_> {
        let fields = ["a", "b", "c", "d", "e", "f"].into_iter().map(Some);
        fields.map(|field| (field, "1", way.write(1))).collect()
    };
    for (way, loses) in [(WriteMethod::Update, true), (WriteMethod::Merge, false)] {
        let (system, object) = system(&all(way));
        let memory = ResponseCache::default();
        let mut search = HistorySearch::new(&system, object.clone(), false, 3000, memory);
        assert_eq!(search.run(), SearchStatus::TooManyStates);
        assert_eq!(search.tally().total(), 0, "no order has an end yet");
        let risk = match loses {
            true => LossRisk::Possible,
            false => LossRisk::Unknown,
        };
        assert_eq!(search.loss_risk(), risk);
        let state = search.shortest(Verdict::Lost);
        assert_eq!(state.is_some(), loses);
        let Some(state) = state else { continue };
        assert_eq!(search.view(state).unwrap().losses().len(), 1);
        // Two read, both write, and the second one did not know.
        let mut walked = system.clone();
        for edge in search.path_to(state) {
            assert_ne!(verdict(&walked, &object), Verdict::Lost);
            let process = search.edges()[edge].actor as u8;
            walked.perform(Event::Request(process)).unwrap();
        }
        assert_eq!(verdict(&walked, &object), Verdict::Lost);
        assert_eq!(search.path_to(state).len(), 4);
    }
}

#[test]
fn a_step_loses_the_edits_that_it_loses_in_the_history_to_it() {
    let all = [("a", "1"), ("b", "1"), ("a", "2"), ("b", "2")];
    let all = all.map(|(field, value)| (Some(field), value, WriteMethod::Merge.write(1)));
    let (system, object) = system(&all);
    let memory = ResponseCache::default();
    let mut search = HistorySearch::new(&system, object, false, 10_000, memory);
    assert_eq!(search.run(), SearchStatus::Done);
    let losing = search.edges().iter();
    let losing = losing.filter(|edge| edge.effect == EditEffect::Loses);
    let mut most = 0;
    for edge in losing {
        let mut walked = system.clone();
        for edge in search.path_to(edge.from) {
            let process = search.edges()[edge].actor as u8;
            walked.perform(Event::Request(process)).unwrap();
        }
        let performed = walked.perform(Event::Request(edge.actor as u8)).unwrap();
        let lost = performed.done.losses.iter().map(|loss| format!("{loss:?}"));
        let said = search.losses_of(edge);
        let said = said.iter().map(|loss| format!("{loss:?}"));
        let [lost, said] = [BTreeSet::from_iter(lost), BTreeSet::from_iter(said)];
        assert_eq!(said, lost);
        most = most.max(search.view(edge.to).unwrap().losses().len());
    }
    assert_eq!(most, 2, "some history loses two edits, in either order");
}

#[test]
fn counts_and_the_search_of_properties_agree_on_whether_an_edit_can_be_lost() {
    let mut answers = [0; 2];
    for a in WriteMethod::MATRIX {
        for (b, field) in [
            (WriteMethod::Update, "b"),
            (WriteMethod::UpdateReadAgain, "a"),
            (WriteMethod::ApplyForced, "a"),
        ] {
            let editors = [(Some("a"), "1", a.write(2)), (Some(field), "2", b.write(2))];
            let (start, object) = system(&editors);
            for lost_answers in 0..2 {
                let start = start.clone().with_faults(Faults {
                    lost_answers,
                    ..Faults::default()
                });
                let is_lost = counted(&start, &object).contains_key(&Verdict::Lost);
                let question = Question::new(start).always(Safety::NoEditLost);
                let mut search = PropertySearch::new(question, 100_000);
                assert_eq!(search.run(), PropertySearchStatus::Done);
                let is_broken = !search.violations().is_empty();
                assert_eq!(is_broken, is_lost, "{a:?} {b:?} {lost_answers}");
                answers[usize::from(is_lost)] += 1;
            }
        }
    }
    assert!(answers[0] > 0 && answers[1] > 0, "{answers:?}");
}

/// The process of an event of a procedure.
fn process_of(event: Event) -> u8 {
    match event {
        Event::Request(process) | Event::AnswerLost(process) => process,
        other => panic!("{other:?} is none of a procedure"),
    }
}

fn verdict(system: &System, object: &ObjectRef) -> Verdict {
    outcome(system, object).0
}

/// The verdict, and the kind of the refusal if it is one.
fn outcome(system: &System, object: &ObjectRef) -> (Verdict, Option<RefusalKind>) {
    let stored = system.server().store().get(object.key());
    let ledger = system.ledger();
    let updates = ledger.updates(object.key()).cloned().unwrap_or_default();
    let stored = stored.map(|(_, object)| &**object);
    let verdict = updates.verdict(stored, &object.resource().root);
    let refusal = updates.refusal().filter(|_| verdict == Verdict::Refused);
    (verdict, refusal)
}

/// The number of steps of a shortest order that ends differently in two systems, by walking through
/// every order of both at once.
fn walk_both(one: &System, two: &System, object: &ObjectRef) -> Option<usize> {
    let (of_one, of_two) = (one.enabled(), two.enabled());
    if of_one.is_empty() && of_two.is_empty() {
        return (outcome(one, object) != outcome(two, object)).then_some(0);
    }
    let mut events = of_one.clone();
    events.extend(of_two.iter().filter(|event| !of_one.contains(event)));
    let mut shortest = None;
    for event in events {
        let is_done = |enabled: &[Event]| {
            let mut processes = enabled.iter().map(|event| process_of(*event));
            !processes.any(|process| process == process_of(event))
        };
        let (mut one, mut two) = (one.clone(), two.clone());
        let mut possible = true;
        for (system, enabled) in [(&mut one, &of_one), (&mut two, &of_two)] {
            match enabled.contains(&event) {
                true => drop(system.perform(event)),
                false => possible &= is_done(enabled),
            }
        }
        let rest = possible.then(|| walk_both(&one, &two, object)).flatten();
        let found = rest.map(|rest| rest + 1);
        shortest = match (shortest, found) {
            (Some(known), Some(found)) => Some(std::cmp::min::<usize>(known, found)),
            (known, found) => known.or(found),
        };
    }
    shortest
}

#[test]
fn the_shortest_order_that_ends_differently_is_that_of_a_walk_of_both() {
    let ways = [
        WriteMethod::Update,
        WriteMethod::UpdateVersioned,
        WriteMethod::UpdateReadAgain,
        WriteMethod::JsonTests,
    ];
    let mut told = [0, 0];
    for fields in [["a", "b"], ["a", "a"]] {
        for lost_answers in [0, 1] {
            let searched = |way: WriteMethod| {
                let write = way.write(2);
                let editors = [
                    (Some(fields[0]), "1", write.clone()),
                    (Some(fields[1]), "2", write),
                ];
                let (system, object) = system(&editors);
                let system = system.with_faults(Faults {
                    lost_answers,
                    ..Faults::default()
                });
                let memory = ResponseCache::default();
                let mut search = HistorySearch::new(&system, object.clone(), false, 10_000, memory);
                search.run();
                (system, object, search)
            };
            let all = ways.map(searched);
            for (i, (one, object, first)) in all.iter().enumerate() {
                for (two, _, second) in &all[..i] {
                    let walked = walk_both(one, two, object);
                    match first.compare(second, 100_000) {
                        Comparison::Differs(steps) => {
                            assert_eq!(Some(steps.len()), walked);
                            told[0] += 1;
                        }
                        other => {
                            assert_eq!((other, walked), (Comparison::Same, None));
                            told[1] += 1;
                        }
                    }
                    assert_eq!(first.compare(second, 1), Comparison::Unknown);
                }
            }
        }
    }
    assert!(told.iter().all(|count| *count > 0), "{told:?}");
}
