use optimist_apiserver::object::Metadata;
use optimist_checker::{FieldOf, Goal, NeverRests, Question, Settling};
use optimist_controller::program::StatusWriter;

use crate::start::{KEY, editor, replay, settling, system, widget};

fn writer() -> StatusWriter {
    StatusWriter {
        kind: widget(),
        clock: false,
        compare: false,
        generation_changed: false,
        in_place: false,
    }
}

/// At rest, the status must be of the newest generation.
fn observed(writer: &StatusWriter) -> Question {
    let field = |field: &str| FieldOf {
        kind: widget(),
        name: "web".to_owned(),
        field: field.to_owned(),
    };
    Question::new(system(writer.program()).with_run(editor(2), KEY)).at_rest(Goal::Same(
        field("/metadata/generation"),
        field("/status/observedGeneration"),
    ))
}

#[test]
fn a_status_with_a_clock_wakes_its_own_writer_for_ever() {
    // kubeflow/notebooks#1343; konflux-ci#5874; kubernetes-sigs/application#123
    for compare in [false, true] {
        let question = observed(&StatusWriter {
            clock: true,
            compare,
            ..writer()
        });
        let Settling::NeverRests(NeverRests { path, repeated }) = settling(&question) else {
            panic!("it never rests");
        };
        // The repeated steps can be repeated, and write each time.
        let mut run = path.clone();
        let mut versions = Vec::new();
        for _ in 0..3 {
            run.extend(&repeated);
            let states = replay(&question, &run);
            let store = states.last().unwrap().server().store();
            let (_, object) = store
                .get("/registry/demo.example.com/widgets/default/web")
                .unwrap();
            versions.push((store.revision(), object.generation()));
        }
        assert!(versions[0].0 < versions[1].0 && versions[1].0 < versions[2].0);
        assert_eq!(versions[0].1, versions[2].1, "only the status changes");
    }
}

#[test]
fn a_status_that_follows_from_the_object_settles_and_so_does_a_predicate() {
    assert_eq!(
        settling(&observed(&writer())),
        Settling::Settles,
        "a fixed point"
    );
    for (clock, compare, generation_changed) in [
        (false, true, false),
        (true, false, true),
        (true, true, true),
    ] {
        let writer = StatusWriter {
            clock,
            compare,
            generation_changed,
            ..writer()
        };
        assert_eq!(
            settling(&observed(&writer)),
            Settling::Settles,
            "{writer:?}"
        );
    }
}

#[test]
fn a_cached_object_that_is_changed_in_place_is_never_written() {
    // kubernetes#27687; volcano#5683
    let in_place = StatusWriter {
        in_place: true,
        compare: true,
        ..writer()
    };
    let verdict = settling(&observed(&in_place));
    assert!(
        matches!(verdict, Settling::RestsWrong { .. }),
        "{verdict:?}"
    );
    let copied = StatusWriter {
        in_place: false,
        ..in_place
    };
    assert_eq!(settling(&observed(&copied)), Settling::Settles);
}
