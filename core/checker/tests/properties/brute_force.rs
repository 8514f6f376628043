//! The search against a brute force that merges no states which differ in anything: it walks
//! through every run of small scenarios, without fingerprints and without components.

use std::collections::HashSet;

use optimist_checker::{Goal, Question, Safety, Settling};
use optimist_controller::Source;
use optimist_controller::program::{ChildMaker, ControllerOptions, StatusWriter};
use optimist_system::{Process, System};

use crate::start::{KEY, config_map, editor, searched, system, widget};

/// The results of all runs together.
#[derive(Debug, Default, PartialEq)]
struct Found {
    second_child: bool,
    rests_as_wished: bool,
    rests_wrong: bool,
    /// Some run has more steps than any run of a scenario that settles.
    goes_on: bool,
    /// The largest number of versions that a run made.
    most_versions: u64,
}

const LONGEST: usize = 60;

/// Everything of a state, versions, times and uids included, as text.
pub fn exactly(state: &System) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    let store = state.server().store();
    for (key, revision, object) in store.range("/registry/") {
        let _ = writeln!(text, "{key} {revision} {object}");
    }
    let _ = writeln!(
        text,
        "{:?} {}",
        state.server().environment(),
        store.revision()
    );
    for controller in state.controllers() {
        for cache in controller.caches() {
            let _ = writeln!(text, "{} {:?}", cache.version(), cache.objects());
        }
        let _ = writeln!(text, "{:?} {:?}", controller.queue(), controller.run());
        let _ = writeln!(
            text,
            "{:?} {:?}",
            controller.expectations(),
            controller.written()
        );
        let _ = writeln!(text, "{:?}", controller.client());
    }
    let editors: Vec<_> = state.processes().iter().map(Process::procedure).collect();
    let _ = writeln!(
        text,
        "{editors:?} {:?} {:?}",
        state.faults(),
        state.enabled()
    );
    text
}

/// The number of versions of all objects that a run has made so far.
fn versions(start: &System, now: &System) -> u64 {
    now.server().store().revision() - start.server().store().revision()
}

fn walk(
    start: &System,
    state: &System,
    goal: &Goal,
    depth: usize,
    seen: &mut HashSet<String>,
    found: &mut Found,
) {
    if depth > LONGEST {
        found.goes_on = true;
        return;
    }
    found.most_versions = found.most_versions.max(versions(start, state));
    if !seen.insert(exactly(state)) {
        return;
    }
    let children = state
        .server()
        .store()
        .range("/registry/configmaps/")
        .count();
    found.second_child |= children > 1;
    let steps = state.enabled();
    if steps.iter().all(|step| step.is_fault()) {
        match goal.is_true(state.server()) {
            true => found.rests_as_wished = true,
            false => found.rests_wrong = true,
        }
    }
    for step in steps {
        let mut next = state.clone();
        next.perform(step);
        walk(start, &next, goal, depth + 1, seen, found);
    }
}

fn agree(what: &str, question: &Question, goal: &Goal) -> Settling {
    let mut found = Found::default();
    let start = question.start();
    walk(start, start, goal, 0, &mut HashSet::new(), &mut found);
    let search = searched(question);
    assert_eq!(
        !search.violations().is_empty(),
        found.second_child,
        "{what}"
    );
    let settling = search.settling().expect("it is done");
    match search.most_versions() {
        Some(most) => assert_eq!(
            (most, found.goes_on),
            (found.most_versions, false),
            "{what}"
        ),
        // A run that goes on and writes has no largest number.
        None => assert!(found.goes_on && found.most_versions > 5, "{what} {found:?}"),
    }
    match settling {
        Settling::Settles => assert!(!found.rests_wrong && !found.goes_on, "{what} {found:?}"),
        Settling::RestsWrong { .. } => assert!(found.rests_wrong && !found.goes_on, "{what}"),
        Settling::NeverRests(_) => assert!(found.goes_on, "{what}"),
    }
    settling
}

#[test]
fn child_makers_have_the_verdicts_of_brute_force() {
    let options = [
        ControllerOptions::default(),
        ControllerOptions {
            read_your_own_writes: true,
            ..ControllerOptions::default()
        },
    ];
    let mut wrong = 0;
    for options in options {
        for (generated_name, list_from, expectations) in [
            (true, Source::Cache, false),
            (true, Source::Cache, true),
            (true, Source::Server, false),
            (false, Source::Cache, false),
        ] {
            let maker = ChildMaker {
                parent: widget(),
                child: config_map(),
                generated_name,
                list_from,
                expectations,
                ignore_already_exists: true,
                options,
            };
            let goal = Goal::Count(1, config_map());
            let question = Question::new(system(maker.program()).with_run(editor(2), KEY))
                .always(Safety::AtMost(1, config_map()))
                .at_rest(goal.clone());
            let settling = agree(&format!("{maker:?}"), &question, &goal);
            wrong += usize::from(settling != Settling::Settles);
        }
    }
    assert_eq!(wrong, 1, "only the one without any protection");
}

#[test]
fn a_status_writer_with_a_clock_goes_on_in_both() {
    let mut verdicts = Vec::new();
    for (clock, generation_changed) in [(true, false), (true, true), (false, false)] {
        let writer = StatusWriter {
            kind: widget(),
            clock,
            compare: false,
            generation_changed,
            in_place: false,
        };
        let goal = Goal::Count(0, config_map());
        let question = Question::new(system(writer.program())).at_rest(goal.clone());
        let settling = agree(&format!("{writer:?}"), &question, &goal);
        verdicts.push(matches!(settling, Settling::NeverRests(_)));
    }
    assert_eq!(verdicts, [true, false, false]);
}
