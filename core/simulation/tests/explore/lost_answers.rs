//! The fate of the edits when an answer is lost, by the final object alone.

use optimist_client::{ChangeKind, Intent, WriteMethod};
use optimist_simulation::explore::{PRESETS, Scenario};
use optimist_simulation::verdict::Verdict;
use serde_json::Value;

use super::setup::searched;

/// Returns whether an object has what an actor wanted to do to it.
fn is_done(intent: &Intent, stored: Option<&Value>) -> bool {
    match (intent, stored) {
        (Intent::Delete, stored) => stored.is_none(),
        (_, None) => false,
        (Intent::Manifest(manifest), Some(stored)) => says(stored, manifest),
        (Intent::Change(changes), Some(stored)) => {
            let mut changes = changes.iter();
            changes.all(|change| match (&change.how, change.path.find(stored)) {
                (ChangeKind::Set(wanted), Some(found)) => says(found, wanted),
                (ChangeKind::Remove(_), None) => true,
                (ChangeKind::Set(_), None) | (ChangeKind::Remove(_), Some(_)) => false,
            })
        }
    }
}

/// Returns whether a value says all that another one does: the server fills it up.
fn says(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(name, wanted)| found.get(name).is_some_and(|found| says(found, wanted))),
        (found, wanted) => found == wanted,
    }
}

fn losing_one_answer(scenario: Scenario, way: WriteMethod) -> Scenario {
    let mut scenario = scenario.in_ways(&[way], 3).unwrap();
    scenario.faults.lost_answers = 1;
    scenario
}

#[test]
fn where_all_edits_are_said_to_be_in_the_object_each_one_is() {
    let mut ends = [0; 2];
    for preset in &PRESETS {
        for way in WriteMethod::MATRIX.into_iter().chain(WriteMethod::MORE) {
            let search = searched(losing_one_answer(preset.scenario().unwrap(), way));
            for end in search.ends() {
                let stored = end.stored().map(|object| &**object);
                let mut plans = search.scenario().plans.iter();
                let all = plans.all(|plan| is_done(&plan.intent, stored));
                let told = || format!("{} by {}: {:?}", preset.slug, way.slug(), end.verdict());
                match end.verdict() {
                    Verdict::InObject => assert!(all, "{}", told()),
                    Verdict::Lost | Verdict::Replaced | Verdict::LeftOut => {
                        assert!(!all, "{}", told());
                    }
                    Verdict::Refused => {}
                }
                ends[usize::from(all)] += 1;
            }
        }
    }
    assert!(ends[0] > 100 && ends[1] > 100, "{ends:?}");
}
