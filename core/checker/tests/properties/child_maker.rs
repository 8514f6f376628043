use optimist_checker::{Goal, PropertySearch, Question, Safety, Settling};
use optimist_controller::Source;
use optimist_controller::program::{ChildMaker, ControllerOptions};
use optimist_system::{Event, Faults};

use crate::start::{KEY, config_map, editor, holds, is_violated, replay, searched, system, widget};

/// The program with every flaw: a generated name, a cached list, no memory of its own writes.
pub fn flawed() -> ChildMaker {
    ChildMaker {
        parent: widget(),
        child: config_map(),
        generated_name: true,
        list_from: Source::Cache,
        expectations: false,
        ignore_already_exists: false,
        options: ControllerOptions::default(),
    }
}

/// One widget, one child wished, and an editor whose change wakes the controller once more.
fn one_child(maker: &ChildMaker) -> Question {
    Question::new(system(maker.program()).with_run(editor(2), KEY))
        .always(Safety::AtMost(1, config_map()))
        .at_rest(Goal::Count(1, config_map()))
}

#[test]
fn a_generated_name_and_a_stale_list_make_a_second_child() {
    // argo-rollouts#243; kuberay#715; cluster-api#13649; scylla-operator#2492
    let question = one_child(&flawed());
    let search = searched(&question);
    let (_, path) = &search.violations()[0];
    let states = replay(&question, path);
    let children = |at: usize| {
        let store = states[at].server().store();
        store.range("/registry/configmaps/").count()
    };
    assert_eq!(children(path.len()), 2);
    assert_eq!(children(path.len() - 1), 1);
    // The shortest way: one run makes the child, the edit arrives, the child's event does not, and
    // the next run makes the second child.
    assert!(!path.contains(&Event::Deliver {
        process: 0,
        cache: 1
    }));
    assert_eq!(
        path.iter().filter(|step| **step == Event::Take(0)).count(),
        2,
        "{path:?}"
    );
    let settling = search.settling();
    assert!(
        matches!(settling, Some(Settling::RestsWrong { .. })),
        "{settling:?}"
    );
}

#[test]
fn one_child_stays_one_child_with_a_name_from_the_parent() {
    let maker = ChildMaker {
        generated_name: false,
        ..flawed()
    };
    let question = one_child(&maker).with_faults(Faults {
        restarts: 1,
        ..Faults::default()
    });
    assert!(holds(&question));
}

#[test]
fn a_name_from_the_parent_makes_already_exists_an_error_unless_it_is_expected() {
    // controller-runtime#343, #1543, #245; operator-sdk#3790
    let fails = |ignore_already_exists: bool| {
        let maker = ChildMaker {
            generated_name: false,
            ignore_already_exists,
            ..flawed()
        };
        let question = one_child(&maker);
        let mut states = vec![question.start().clone()];
        let mut failed = false;
        // All states, without a limit on what is the same: the scenario is small.
        while let Some(state) = states.pop() {
            for step in state.enabled() {
                let mut next = state.clone();
                next.perform(step);
                let queue = next.controllers().next().unwrap().queue();
                failed |= queue.num_requeues(KEY) > 0;
                if !failed {
                    states.push(next);
                }
            }
        }
        failed
    };
    assert!(fails(false));
    assert!(!fails(true));
}

#[test]
fn a_live_list_expectations_own_versions_and_own_writes_each_prevent_the_second_child() {
    let live = ChildMaker {
        list_from: Source::Server,
        ..flawed()
    };
    let expecting = ChildMaker {
        expectations: true,
        ..flawed()
    };
    let with = |options: ControllerOptions| ChildMaker {
        options,
        ..flawed()
    };
    let own_version = with(ControllerOptions {
        wait_for_own_version: true,
        ..ControllerOptions::default()
    });
    let own_writes = with(ControllerOptions {
        read_your_own_writes: true,
        ..ControllerOptions::default()
    });
    for maker in [live, expecting, own_version, own_writes] {
        let question = one_child(&maker).with_faults(Faults {
            restarts: 1,
            ..Faults::default()
        });
        assert!(holds(&question), "{maker:?}");
    }
}

#[test]
fn expectations_run_out_after_five_minutes_and_the_own_version_does_not() {
    // kubernetes#129795
    let expecting = ChildMaker {
        expectations: true,
        ..flawed()
    };
    let question = one_child(&expecting).with_faults(Faults {
        timeouts: 1,
        ..Faults::default()
    });
    assert!(is_violated(&question));
    let waiting = ChildMaker {
        options: ControllerOptions {
            wait_for_own_version: true,
            ..ControllerOptions::default()
        },
        ..expecting
    };
    let question = one_child(&waiting).with_faults(Faults {
        timeouts: 1,
        ..Faults::default()
    });
    assert!(!is_violated(&question));
}

#[test]
fn a_search_says_when_there_are_too_many_states() {
    let mut search = PropertySearch::new(one_child(&flawed()), 5);
    search.run();
    assert_eq!(search.settling(), None);
}
