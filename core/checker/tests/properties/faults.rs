//! Faults: what they break, that what is broken stays broken with more of them, and that the ledger
//! knows whose write it was that nobody was told of.

use std::sync::Arc;

use optimist_checker::{Goal, PropertySearch, PropertySearchStatus, Question, Safety, Settling};
use optimist_client::{Editor, EditorPlan, IntendedChange, Intent, WorkingCopy, WriteMethod};
use optimist_controller::Source;
use optimist_controller::program::{ChildMaker, ControllerOptions};
use optimist_ledger::{Ledger, ObjectRef};
use optimist_system::{Event, Faults, Process, System};
use serde_json::{Value, json};

use crate::child_maker::flawed;
use crate::start::{KEY, config_map, editor, server, system, widget};

const STORED: &str = "/registry/demo.example.com/widgets/default/web";

/// An editor of the widget, which reads it first.
fn sets(field: &str, value: Value, method: WriteMethod) -> Editor {
    let server = server();
    let (_, object) = server.store().get(STORED).expect("it is stored");
    let kind = widget();
    let resource = server.resources().by_kind(&kind.api_version, &kind.kind);
    EditorPlan {
        object: ObjectRef::new(resource.expect("it is defined"), object),
        manager: Arc::from(format!("sets{}", field.replace('/', "-"))),
        copy: WorkingCopy::default(),
        intent: Some(Intent::Change(vec![IntendedChange::at(field, Some(value))])),
        write: method.write(3),
    }
    .into()
}

fn two_editors(method: WriteMethod) -> System {
    System::new(server(), Ledger::default())
        .with_ledger()
        .with(sets("/spec/size", json!(2), method))
        .with(sets("/spec/size", json!(3), method))
}

fn lost_answers(number: u8) -> Faults {
    Faults {
        lost_answers: number,
        ..Faults::default()
    }
}

/// Returns whether the properties of a question hold: those that hold always, and that every run
/// settles.
fn held(question: &Question) -> (bool, bool) {
    let mut search = PropertySearch::new(question.clone(), 200_000);
    assert_eq!(search.run(), PropertySearchStatus::Done);
    let settles = search.settling() == Some(Settling::Settles);
    (search.violations().is_empty(), settles)
}

fn perform(system: &mut System, events: &[Event]) {
    for event in events {
        assert!(system.enabled().contains(event), "{event:?}");
        assert!(system.perform(*event).is_some(), "{event:?}");
    }
}

#[test]
fn an_editor_whose_answer_was_lost_meets_its_own_write_and_nothing_is_lost() {
    let start = two_editors(WriteMethod::UpdateReadAgain).with_faults(lost_answers(1));
    let mut system = start;
    perform(&mut system, &[Event::Request(0), Event::AnswerLost(0)]);
    let stored = |system: &System| Arc::clone(system.server().store().get(STORED).unwrap().1);
    assert_eq!(stored(&system)["spec"]["size"], 2);
    let updates = |system: &System| system.ledger().updates(STORED).unwrap().clone();
    assert!(
        updates(&system).kept_edits().is_empty(),
        "nobody was promised anything"
    );
    assert!(!system.enabled().contains(&Event::AnswerLost(0)), "once");

    let conflict = system.perform(Event::Request(0)).unwrap();
    let code = conflict.answered.unwrap().response.status();
    assert_eq!(code, 409, "of its own write");
    perform(&mut system, &[Event::Request(0), Event::Request(0)]);
    assert!(!system.processes()[0].is_writer(), "it is done");
    let acknowledged = updates(&system).kept_edits().len();
    assert_eq!(acknowledged, 1, "it read its own edit: it is told now");
    let performed = system.perform(Event::Request(1)).unwrap();
    assert!(performed.done.losses.is_empty());
}

#[test]
fn a_write_that_nobody_was_told_of_can_still_lose_the_edit_of_another() {
    let mut system = System::new(server(), Ledger::default())
        .with_ledger()
        .with(sets("/spec/size", json!(2), WriteMethod::Merge))
        .with(sets("/spec/size", json!(3), WriteMethod::Merge))
        .with_faults(lost_answers(1));
    let both_read = [Event::Request(0), Event::Request(1)];
    perform(&mut system, &both_read);
    perform(&mut system, &[Event::Request(0)]);
    let performed = system.perform(Event::AnswerLost(1)).unwrap();
    let [loss] = performed.done.losses.as_slice() else {
        panic!("{:?}", performed.done);
    };
    assert_eq!((loss.owner, loss.culprit), (0, 1));
}

#[test]
fn more_lost_answers_never_make_a_broken_property_hold() {
    let mut broken = 0;
    for method in WriteMethod::MATRIX {
        let answers: Vec<(bool, bool)> = (0..3)
            .map(|number| {
                let question = Question::new(two_editors(method))
                    .with_faults(lost_answers(number))
                    .always(Safety::NoEditLost);
                held(&question)
            })
            .collect();
        for pair in answers.windows(2) {
            assert!(pair[0].0 || !pair[1].0, "{method:?} {answers:?}");
            assert!(pair[0].1 || !pair[1].1, "{method:?} {answers:?}");
        }
        broken += usize::from(!answers[2].0);
    }
    assert!(broken > 0, "blind updates lose edits");
}

/// A maker of one child, and an editor who wakes it once more.
fn one_child(generated_name: bool, faults: Faults) -> Question {
    let maker = ChildMaker {
        parent: widget(),
        child: config_map(),
        generated_name,
        list_from: Source::Server,
        expectations: false,
        ignore_already_exists: true,
        options: ControllerOptions::default(),
    };
    Question::new(system(maker.program()).with_run(editor(2), KEY))
        .with_faults(faults)
        .always(Safety::AtMost(1, config_map()))
        .at_rest(Goal::Count(1, config_map()))
}

#[test]
fn a_controller_settles_whatever_the_network_loses_if_the_name_follows_from_the_parent() {
    let each = [
        lost_answers(1),
        Faults {
            lost_requests: 1,
            ..Faults::default()
        },
        Faults {
            broken_watches: 1,
            ..Faults::default()
        },
        Faults {
            compactions: 1,
            ..Faults::default()
        },
    ];
    for faults in each {
        assert_eq!(held(&one_child(false, faults)), (true, true), "{faults:?}");
    }
}

#[test]
fn a_fault_that_is_not_switched_on_does_not_happen() {
    let mut system = system_of_one(Faults::default());
    let faults = |system: &System| system.enabled().iter().any(|event| event.is_fault());
    assert!(!faults(&system));
    for event in [
        Event::AnswerLost(0),
        Event::RequestLost(0),
        Event::Restart(0),
        Event::Compaction,
        Event::ExpectationsRunOut,
    ] {
        assert!(system.perform(event).is_none(), "{event:?}");
    }
    let compactions = Faults {
        compactions: 1,
        ..Faults::default()
    };
    assert!(faults(&system_of_one(compactions)));
}

fn system_of_one(faults: Faults) -> System {
    one_child(true, faults).start().clone()
}

#[test]
fn several_processes_can_be_one_person_in_the_ledger() {
    let again = sets("/spec/size", json!(5), WriteMethod::Update);
    let mut system = System::new(server(), Ledger::default())
        .with_ledger()
        .with(sets("/spec/size", json!(2), WriteMethod::Update))
        .with(Process::Idle)
        .with_named(0, again);
    perform(&mut system, &[Event::Request(0), Event::Request(2)]);
    perform(&mut system, &[Event::Request(0)]);
    let performed = system.perform(Event::Request(2)).unwrap();
    assert!(performed.done.losses.is_empty(), "they are its own edits");
    assert!(system.writers().is_empty());
}

/// A maker of one child that looks for it in its cache alone, and gives it a generated name.
fn child_of_the_cache(faults: Faults) -> Question {
    Question::new(system(flawed().program()))
        .with_faults(faults)
        .always(Safety::AtMost(1, config_map()))
}

#[test]
fn a_first_list_from_a_server_that_is_behind_makes_what_is_there_already() {
    // kubernetes#59848
    let restart = Faults {
        restarts: 1,
        ..Faults::default()
    };
    assert!(
        held(&child_of_the_cache(restart)).0,
        "it lists what it made"
    );
    let behind = Faults {
        lagging_lists: 1,
        ..Faults::default()
    };
    let mut search = PropertySearch::new(child_of_the_cache(behind), 200_000);
    assert_eq!(search.run(), PropertySearchStatus::Done);
    let [(_, path)] = search.violations() else {
        panic!("{:?}", search.violations());
    };
    assert!(path.contains(&Event::RestartBehind(0)), "{path:?}");
    let mut system = search.start().clone();
    let first = system.enabled();
    assert!(
        !first.contains(&Event::RestartBehind(0)),
        "nothing is written"
    );
    for event in path {
        system.perform(*event).unwrap();
    }
    let made = system.server().store().range("/registry/configmaps/");
    assert_eq!(made.count(), 2);
}

#[test]
fn more_of_any_fault_never_makes_a_broken_property_hold() {
    let each: [fn(u8) -> Faults; 6] = [
        |restarts| Faults {
            restarts,
            ..Faults::default()
        },
        |lagging_lists| Faults {
            lagging_lists,
            ..Faults::default()
        },
        |timeouts| Faults {
            timeouts,
            ..Faults::default()
        },
        |lost_requests| Faults {
            lost_requests,
            ..Faults::default()
        },
        |broken_watches| Faults {
            broken_watches,
            ..Faults::default()
        },
        |compactions| Faults {
            compactions,
            ..Faults::default()
        },
    ];
    let mut broken = Vec::new();
    for (kind, faults) in each.into_iter().enumerate() {
        let answers: Vec<bool> = (0..3)
            .map(|number| held(&child_of_the_cache(faults(number))).0)
            .collect();
        assert!(
            answers.is_sorted_by(|less, more| less >= more),
            "{kind} {answers:?}"
        );
        broken.extend((!answers[2]).then_some(kind));
    }
    assert_eq!(broken, [1], "only a list from a server that is behind");
}
