//! The core behaves as the recorded server, as far as it has come.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use optimist_tests::conformance::{Exceptions, Outcome, Recording, display, load, replay};

/// What the core does not set out to do, and why.
const OUT_OF_SCOPE: &[(&str, &str)] = &[(
    "ssa_multi_version",
    "ownership across two versions of a kind needs conversion between them",
)];

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

#[test]
fn the_core_answers_every_recording_as_the_recorded_server_did() {
    let recordings = load(recordings()).unwrap();
    let in_scope = recordings.iter().filter(|recording| {
        let name = recording.name.as_str();
        OUT_OF_SCOPE.iter().all(|(excluded, _)| *excluded != name)
    });
    let differing: Vec<String> = in_scope
        .map(replay)
        .filter(|report| !matches!(report.outcome, Outcome::Passed { .. }))
        .map(|report| display::line(&report))
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn every_exception_is_about_a_step_that_exists() {
    let recordings = load(recordings()).unwrap();
    let by_name: HashMap<&str, &Recording> =
        recordings.iter().map(|r| (r.name.as_str(), r)).collect();
    assert_eq!(by_name.len(), recordings.len(), "names are unique");
    for exception in Exceptions::embedded().iter() {
        let steps = by_name
            .get(exception.sequence.as_str())
            .map(|recording| recording.steps.len());
        assert!(
            steps.is_some_and(|steps| exception.step < steps),
            "{exception:?}"
        );
        assert!(
            !exception.reason.is_empty() && !exception.pointers.is_empty(),
            "{exception:?}"
        );
    }
}
