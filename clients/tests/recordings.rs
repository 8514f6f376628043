//! The recordings, where `serde_json` keeps the order of keys: a dependent's tree may turn that on,
//! and answers are the same.

use std::path::Path;

use optimist_recordings::{Outcome, display, known, load, replay};
use serde_json::Value;

/// The whole run is the one of the crate of the recordings; here one in so many is enough.
const EVERY: usize = 8;

#[test]
fn the_order_of_keys_is_kept_in_this_tree() {
    let kept: Value = serde_json::from_str(r#"{"b": 1, "a": 2}"#).unwrap();
    assert_eq!(kept.to_string(), r#"{"b":1,"a":2}"#);
}

#[test]
fn the_core_answers_as_the_recorded_server_did() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance");
    let recordings = load(folder).unwrap();
    let mut failed = Vec::new();
    for recording in recordings.iter().step_by(EVERY) {
        let listed = known::listed(&known::folder(), &recording.corpus).unwrap();
        let report = replay(recording);
        let passed = matches!(report.outcome, Outcome::Passed { .. });
        if !passed && !listed.contains(&recording.name) {
            failed.push(display::line(&report));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
