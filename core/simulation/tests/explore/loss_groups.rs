//! The group of each way of writing of each ready pair, by brute force: every order is performed, and
//! the group follows from the answers and from the object after every step.

use optimist_client::WriteMethod;
use optimist_simulation::explore::{LossRisk, PRESETS, Scenario, Tally, ThirdActor};

use super::every_order::{Event, begin, every_order, judge, stored};
use super::setup::{Means, searched, with};
use super::{apply, merge_patch, same_annotation};

/// The group of a scenario, by the meaning of its name.
fn by_brute_force(scenario: &Scenario) -> LossRisk {
    let start = stored(scenario, &scenario.server);
    let (mut lost, mut stored_all) = (false, false);
    let mut answers = vec![Vec::new(); scenario.plans.len()];
    every_order(scenario, &begin(scenario), &mut |events| {
        let Tally {
            in_object,
            lost: loses,
            ..
        } = judge(&start, events);
        lost |= loses > 0;
        stored_all |= in_object > 0;
        for event in events {
            match event {
                Event::Refused(who, code) => answers[*who].push(*code),
                Event::Wrote(who, ..) => answers[*who].push(200),
                Event::Shown(_) | Event::NotShown(_) => {}
            }
        }
    });
    let not_possible = |codes: &Vec<u16>| {
        !codes.is_empty()
            && codes
                .iter()
                .all(|code| *code >= 400 && ![404, 409, 410].contains(code))
    };
    if lost {
        LossRisk::Possible
    } else if answers.iter().any(not_possible) {
        LossRisk::Impossible
    } else if stored_all {
        LossRisk::Never
    } else {
        LossRisk::NeverStored
    }
}

/// Checks every way of writing of a pair, and returns the number of ways in each group.
fn check(name: &str, scenario: &Scenario, tries: u8) -> [usize; 4] {
    let mut found = [0; 4];
    for way in WriteMethod::MATRIX.into_iter().chain(WriteMethod::MORE) {
        let scenario = scenario.clone().in_ways(&[way], tries).unwrap();
        let wanted = by_brute_force(&scenario);
        let risk = searched(scenario).loss_risk();
        assert_eq!(risk, wanted, "{name}: {}", way.slug());
        found[match wanted {
            LossRisk::Never => 0,
            LossRisk::NeverStored => 1,
            LossRisk::Possible => 2,
            LossRisk::Impossible | LossRisk::Unknown => 3,
        }] += 1;
    }
    found
}

/// The scenario, in which actors read first or do not.
fn reading(mut scenario: Scenario, reads_first: bool) -> Scenario {
    for plan in &mut scenario.plans {
        plan.reads_first = reads_first;
    }
    scenario
}

#[test]
fn each_way_of_each_ready_pair_stands_in_the_group_that_its_orders_say() {
    let mut found = [0; 4];
    for ready in PRESETS {
        for reads_first in [false, true] {
            let scenario = reading(ready.scenario().unwrap(), reads_first);
            let name = format!("{}, reads first: {reads_first}", ready.slug);
            let groups = check(&name, &scenario, 3);
            for (sum, count) in found.iter_mut().zip(groups) {
                *sum += count;
            }
        }
    }
    assert!(found[..3].iter().all(|count| *count > 20), "{found:?}");
}

#[test]
fn each_way_of_each_ready_pair_with_a_third_actor_does_too() {
    for ready in PRESETS {
        for third in ThirdActor::EDITORS {
            let mut scenario = ready.scenario().unwrap();
            scenario.plans.push(third.plan(&scenario));
            let name = format!("{} and {}", ready.slug, third.slug());
            check(&name, &reading(scenario.clone(), false), 1);
            for plan in &mut scenario.plans[1..] {
                plan.reads_first = false;
            }
            check(&name, &scenario, 1);
        }
    }
}

#[test]
fn a_way_that_stores_no_edit_or_not_every_edit_is_no_way_that_never_loses_one() {
    let preset = &PRESETS[0];
    let refused = preset.scenario().unwrap();
    let refused = refused.in_ways(&[WriteMethod::Apply], 1).unwrap();
    let search = searched(refused);
    assert_eq!(search.tally().refused, search.tally().total());
    assert_eq!(search.loss_risk(), LossRisk::NeverStored);
    // The first of the two is stored, and the second is refused in every order.
    let (scenario, intents) = same_annotation();
    let search = searched(with(scenario, &apply(), intents));
    assert_eq!(search.loss_risk(), LossRisk::NeverStored);
    // The server leaves the status out, whoever comes first.
    let (scenario, intents) = super::replicas_and_status();
    let search = searched(with(scenario, &merge_patch(), intents));
    assert_eq!(search.loss_risk(), LossRisk::NeverStored);
    let one_order = Means::by(optimist_client::Strategy::Update).versioned();
    let (scenario, intents) = super::replicas_and_image();
    let search = searched(with(scenario, &one_order, intents));
    assert!(search.tally().refused > search.tally().in_object);
    assert_eq!(search.loss_risk(), LossRisk::Never);
}
