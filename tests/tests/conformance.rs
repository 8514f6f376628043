//! The core behaves as the recorded server, as far as it has come.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use optimist_tests::conformance::{Exceptions, Outcome, Recording, display, load, replay};

/// The scenarios that the core is known to conform to; it must not fall back behind them.
const CONFORMING: &[&str] = &[];

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

#[test]
fn the_core_conforms_to_these_scenarios() {
    for name in CONFORMING {
        let file = recordings().join("scenarios").join(format!("{name}.json"));
        for recording in load(file).unwrap() {
            let report = replay(&recording);
            assert!(
                matches!(report.outcome, Outcome::Passed { .. }),
                "{}",
                display::line(&report)
            );
        }
    }
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
