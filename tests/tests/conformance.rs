//! The core behaves as the recorded server, as far as it has come.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::LazyLock;

use optimist_tests::conformance::{Exceptions, Outcome, Recording, display, known, load, replay};

static RECORDINGS: LazyLock<Vec<Recording>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    load(folder).unwrap()
});

#[test]
fn the_core_answers_every_recording_as_the_recorded_server_did() {
    let mut failing: HashMap<&str, BTreeSet<String>> = HashMap::new();
    let mut surprises = Vec::new();
    for recording in RECORDINGS.iter() {
        let report = replay(recording);
        let passed = matches!(report.outcome, Outcome::Passed { .. });
        let listed = failing
            .entry(&recording.corpus)
            .or_insert_with(|| known::listed(&known::folder(), &recording.corpus).unwrap())
            .contains(&recording.name);
        match (passed, listed) {
            (false, false) => surprises.push(display::line(&report)),
            (true, true) => surprises.push(format!("passes, but is listed: {}", recording.name)),
            _ => {}
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn every_recording_that_is_listed_as_failing_exists() {
    for file in std::fs::read_dir(known::folder()).into_iter().flatten() {
        let file = file.unwrap().file_name().into_string().unwrap();
        let corpus = file.strip_suffix(".txt").unwrap();
        for name in known::listed(&known::folder(), corpus).unwrap() {
            let found = RECORDINGS
                .iter()
                .any(|recording| recording.corpus == corpus && recording.name == name);
            assert!(found, "{corpus}: {name}");
        }
    }
}

#[test]
fn every_exception_is_about_a_step_that_exists() {
    let by_name: HashMap<&str, &Recording> =
        RECORDINGS.iter().map(|r| (r.name.as_str(), r)).collect();
    assert_eq!(by_name.len(), RECORDINGS.len(), "names are unique");
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
