//! Searches every order of the same edits, and checks the verdicts.

mod every_order;
mod loss_groups;
mod lost_answers;
mod properties;
mod replays;
mod setup;
mod tools;

use optimist_client::{Intent, OnConflict, Strategy, WriteMethod};
use optimist_simulation::explore::{
    EditEffect, LossGroups, LossRisk, PRESETS, Scenario, Search, SearchStatus, ThirdActor,
    TransitionKind,
};
use optimist_simulation::verdict::{RefusalKind, Verdict};
use serde_json::json;
use setup::{Means, deployment, owned, searched, set, widget, with};

const CONTAINERS: &str = "/spec/template/spec/containers/-";

/// A changes the replicas, B the image.
fn replicas_and_image() -> (Scenario, Vec<Intent>) {
    let scenario = deployment();
    let intents = vec![
        set(&scenario, "/spec/replicas", 5),
        set(
            &scenario,
            "/spec/template/spec/containers/0/image",
            "nginx:1.25",
        ),
    ];
    (scenario, intents)
}

/// A changes the replicas, B the status, which the server leaves out of a write of the object.
fn replicas_and_status() -> (Scenario, Vec<Intent>) {
    let scenario = deployment();
    let intents = vec![
        set(&scenario, "/spec/replicas", 5),
        set(
            &scenario,
            "/status",
            json!({"replicas": 3, "readyReplicas": 3}),
        ),
    ];
    (scenario, intents)
}

/// Each actor adds its own container.
fn two_containers() -> (Scenario, Vec<Intent>) {
    let scenario = deployment();
    let container = |name: &str| json!({"name": name, "image": "busybox"});
    let intents = vec![
        set(&scenario, CONTAINERS, container("sidecar")),
        set(&scenario, CONTAINERS, container("proxy")),
    ];
    (scenario, intents)
}

fn outcomes((scenario, intents): (Scenario, Vec<Intent>), way: &Means) -> Search {
    searched(with(scenario, way, intents))
}

/// The number of histories that keep both edits or replace one knowingly, that end with a refusal,
/// and that lose an edit.
fn counts(search: &Search) -> (u128, u128, u128) {
    let tally = search.tally();
    assert_eq!(
        tally.total(),
        tally.without_loss() + tally.refused + tally.lost
    );
    (tally.without_loss(), tally.refused, tally.lost)
}

fn update() -> Means {
    Means::by(Strategy::Update)
}

fn merge_patch() -> Means {
    Means::by(Strategy::MergePatch)
}

fn apply() -> Means {
    Means::by(Strategy::Apply)
}

/// The lost edits of a search: the owner, the edit, the culprit, and whether it was a blind
/// overwrite.
fn losses(search: &Search) -> Vec<(u8, String, u8, bool)> {
    let mut found: Vec<_> = search
        .ends()
        .flat_map(|end| end.losses().to_vec())
        .map(|loss| {
            (
                loss.owner,
                format!("{}={:?}", loss.edit.path, loss.edit.value),
                loss.culprit,
                loss.blind,
            )
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn updates_without_a_version_lose_an_edit_wherever_both_read_before_the_first_wrote() {
    let search = outcomes(replicas_and_image(), &update());
    assert_eq!(counts(&search), (2, 0, 4));
    let image = ".spec.template.spec.containers[name=\"nginx\"].image";
    assert_eq!(
        losses(&search),
        [
            (0, ".spec.replicas=Some(Number(5))".to_owned(), 1, false),
            (1, format!("{image}=Some(String(\"nginx:1.25\"))"), 0, false),
        ]
    );
}

#[test]
fn updates_with_a_version_are_refused_instead_and_lose_nothing() {
    let search = outcomes(replicas_and_image(), &update().versioned());
    assert_eq!(counts(&search), (2, 4, 0));
}

#[test]
fn reading_again_after_a_conflict_keeps_every_edit() {
    let way = update().versioned().then(OnConflict::ReadAgain(2));
    let search = outcomes(replicas_and_image(), &way);
    assert_eq!(counts(&search), (6, 0, 0));
    assert!(search.edges().iter().any(|edge| edge.code == 409));
}

#[test]
fn a_retry_adds_its_member_to_an_atomic_map_and_its_item_to_a_list_without_keys() {
    let selects = |name: &str| json!({name: "x"});
    let way = update().versioned().then(OnConflict::ReadAgain(2));
    let scenario = deployment();
    let selector = "/spec/template/spec/nodeSelector";
    let intents = vec![
        set(&scenario, selector, selects("disk")),
        set(&scenario, selector, selects("zone")),
    ];
    let search = outcomes((scenario, intents), &way);
    assert_eq!(counts(&search), (6, 0, 0));
    for end in search.ends() {
        let stored = end.stored().unwrap();
        let both = json!({"disk": "x", "zone": "x"});
        assert_eq!(stored.pointer(selector), Some(&both));
    }
    let scenario = deployment();
    let args = "/spec/template/spec/containers/0/args";
    let intents = vec![
        set(&scenario, args, json!(["--loud"])),
        set(&scenario, &format!("{args}/-"), "--debug"),
    ];
    let search = outcomes((scenario, intents), &way);
    assert_eq!(counts(&search), (6, 0, 0));
}

#[test]
fn sending_the_same_again_stays_refused() {
    let way = update().versioned().then(OnConflict::Resend(3));
    let search = outcomes(replicas_and_image(), &way);
    assert_eq!(search.tally().lost, 0);
    assert_eq!(search.tally().without_loss(), 2, "one after the other");
    let conflicts = search.edges().iter().filter(|edge| edge.code == 409);
    assert!(
        conflicts
            .clone()
            .any(|edge| edge.effect == EditEffect::Refused)
    );
    for end in search
        .ends()
        .filter(|end| end.verdict() != Verdict::InObject)
    {
        assert_eq!(end.refused().len(), 1);
    }
}

#[test]
fn patches_that_name_only_what_they_change_keep_each_other() {
    for strategy in [
        Strategy::MergePatch,
        Strategy::StrategicMergePatch,
        Strategy::JsonPatch,
    ] {
        let search = outcomes(replicas_and_image(), &Means::by(strategy));
        assert_eq!(counts(&search), (6, 0, 0), "{strategy:?}");
    }
}

#[test]
fn a_merge_patch_replaces_lists_so_items_are_kept_only_if_one_read_after_the_other_wrote() {
    assert_eq!(
        counts(&outcomes(two_containers(), &merge_patch())),
        (2, 0, 4)
    );
    let strategic = Means::by(Strategy::StrategicMergePatch);
    assert_eq!(counts(&outcomes(two_containers(), &strategic)), (6, 0, 0));
    let scenario = widget();
    let tags = vec![
        set(&scenario, "/spec/tags/-", "from-a"),
        set(&scenario, "/spec/tags/-", "from-b"),
    ];
    let search = outcomes((scenario, tags), &merge_patch());
    assert_eq!(counts(&search), (2, 0, 4));
    assert_eq!(
        losses(&search),
        [
            (
                0,
                ".spec.tags[=\"from-a\"]=Some(String(\"from-a\"))".to_owned(),
                1,
                false
            ),
            (
                1,
                ".spec.tags[=\"from-b\"]=Some(String(\"from-b\"))".to_owned(),
                0,
                false
            ),
        ]
    );
}

#[test]
fn managers_that_apply_what_they_alone_own_keep_each_other() {
    let (scenario, intents) = replicas_and_image();
    for way in [apply(), apply().blind()] {
        let scenario = owned(with(scenario.clone(), &way, intents.clone()));
        let search = searched(scenario);
        assert_eq!(search.tally().without_loss(), search.tally().total());
    }
}

/// Both set an annotation that is not there yet.
fn same_annotation() -> (Scenario, Vec<Intent>) {
    let scenario = deployment();
    let note = |value: &str| set(&scenario, "/metadata/annotations", json!({"note": value}));
    let intents = vec![note("from A"), note("from B")];
    (scenario, intents)
}

#[test]
fn the_second_apply_of_a_field_without_an_owner_is_refused() {
    for way in [apply(), apply().blind()] {
        let search = outcomes(same_annotation(), &way);
        let histories = if way.reads_first { 6 } else { 2 };
        assert_eq!(counts(&search), (0, histories, 0));
        for end in search.ends() {
            assert_eq!(end.refused().len(), 1);
        }
    }
}

#[test]
fn a_forced_apply_is_a_blind_overwrite_unless_it_read_the_other_first() {
    let search = outcomes(same_annotation(), &apply().forced().blind());
    assert_eq!(counts(&search), (0, 0, 2));
    assert!(losses(&search).iter().all(|(.., blind)| *blind));
    let search = outcomes(same_annotation(), &apply().forced());
    assert_eq!(counts(&search), (2, 0, 4));
    assert!(losses(&search).iter().all(|(.., blind)| *blind));
}

#[test]
fn an_apply_of_what_the_creator_owns_is_refused_for_both() {
    let search = outcomes(replicas_and_image(), &apply());
    assert_eq!(counts(&search), (0, 6, 0));
    for end in search.ends() {
        assert_eq!(end.refused().len(), 2);
    }
}

#[test]
fn a_custom_resource_takes_no_update_without_a_version() {
    let scenario = widget();
    let intents = vec![
        set(&scenario, "/spec/size", 2),
        set(&scenario, "/spec/colour", "blue"),
    ];
    let search = outcomes((scenario, intents), &update());
    assert_eq!(counts(&search), (0, 6, 0));
    let writes = search
        .edges()
        .iter()
        .filter(|edge| edge.what == TransitionKind::Write);
    assert!(writes.clone().all(|edge| edge.code == 422));
    assert!(search.ends().all(|end| end.refused().len() == 2));
}

#[test]
fn the_same_value_from_both_is_no_loss() {
    let scenario = deployment();
    let five = set(&scenario, "/spec/replicas", 5);
    let search = outcomes(
        (scenario.clone(), vec![five.clone(), five.clone()]),
        &update(),
    );
    assert_eq!(counts(&search), (6, 0, 0));
    let way = update().versioned();
    let search = outcomes((scenario, vec![five.clone(), five]), &way);
    assert_eq!(
        counts(&search),
        (2, 4, 0),
        "versions are compared, not fields"
    );
}

#[test]
fn who_deletes_what_another_edited_unread_loses_the_edit_and_an_apply_brings_it_back() {
    let scenario = deployment();
    let intents = vec![set(&scenario, "/spec/replicas", 5), Intent::Delete];
    let search = outcomes((scenario.clone(), intents.clone()), &merge_patch());
    // If B deletes before A writes: 404. If A writes before B reads: B knew. Otherwise: lost.
    assert_eq!(counts(&search), (1, 3, 2));
    let search = outcomes(
        (scenario.clone(), intents.clone()),
        &merge_patch().versioned(),
    );
    assert_eq!(counts(&search), (1, 5, 0));

    let scenario = widget();
    let intents = vec![set(&scenario, "/spec/size", 2), Intent::Delete];
    let search = outcomes((scenario, intents), &apply().forced().blind());
    assert_eq!(counts(&search), (0, 0, 2));
    assert!(
        losses(&search)
            .iter()
            .any(|(owner, edit, culprit, _)| { (*owner, *culprit) == (1, 0) && edit == "=None" }),
        "an apply makes the deleted object anew: {:?}",
        losses(&search)
    );
}

#[test]
fn what_the_server_leaves_out_is_no_kept_edit() {
    let search = outcomes(replicas_and_status(), &merge_patch());
    assert_eq!(
        search.tally().left_out,
        6,
        "the status has an address of its own"
    );
}

#[test]
fn the_shortest_way_to_lose_an_update_is_shown_or_said_not_to_be() {
    let search = outcomes(replicas_and_image(), &update());
    let end = search.shortest(Verdict::Lost).unwrap();
    let path = search.path_to(end);
    let steps: Vec<(usize, TransitionKind)> = path
        .iter()
        .map(|id| (search.edges()[*id].actor, search.edges()[*id].what))
        .collect();
    assert_eq!(path.len(), 4);
    assert_eq!(search.deciding(&path), 4);
    let reads = steps
        .iter()
        .position(|(_, what)| *what == TransitionKind::Write)
        .unwrap();
    assert_eq!(reads, 2, "both read before the first writes: {steps:?}");
    let search = outcomes(replicas_and_image(), &update().versioned());
    assert_eq!(search.shortest(Verdict::Lost), None);
    let end = search.shortest(Verdict::Refused).unwrap();
    let path = search.path_through(search.edges()[search.path_to(end)[2]].to);
    assert_eq!(path.len(), 4);
    assert_eq!(search.edges()[path[3]].code, 409);
}

#[test]
fn what_comes_after_a_state_adds_up_to_what_comes_of_all() {
    let way = update().versioned().then(OnConflict::ReadAgain(3));
    let search = outcomes(replicas_and_image(), &way);
    let outlook = search.outlook();
    assert_eq!(outlook[0], search.tally());
    let through: u128 = (0..search.states())
        .filter_map(|id| search.view(id))
        .filter(|moment| moment.depth() == 2)
        .map(|moment| moment.histories() * outlook[moment.id].total())
        .sum();
    assert_eq!(
        through,
        search.tally().total(),
        "every history has a second step"
    );
}

#[test]
fn a_million_histories_are_counted_in_a_few_states() {
    let scenario = deployment();
    let intents = vec![
        set(&scenario, "/spec/replicas", 5),
        set(&scenario, "/spec/paused", true),
        set(&scenario, "/spec/minReadySeconds", 3),
    ];
    // If three actors resend the same body, two of them are refused at the end.
    let way = update().versioned().then(OnConflict::Resend(11));
    let mut scenario = with(scenario, &way, intents);
    let search = searched(scenario.clone());
    assert_eq!(search.tally().total(), 12_698_730);
    assert!(search.states() < 1_000, "{}", search.states());

    scenario.micro_steps = true;
    let search = searched(scenario.clone());
    let all = search.tally().total();
    assert!(all > 1_000_000_000_000_000, "{all}");
    assert!(search.states() < 10_000, "{}", search.states());

    let mut search = Search::new(scenario, 50);
    assert_eq!(search.run(), SearchStatus::TooManyStates);
    assert!(search.states() < 60);
}

/// The risk of each way of writing, by what its histories end with: the matrix above counts them, and
/// [`every_order`] compares such counts with a brute force.
#[test]
fn the_ways_that_lose_an_edit_are_told_from_those_that_never_do() {
    let scenario = widget();
    let intents = vec![
        set(&scenario, "/spec/size", 2),
        set(&scenario, "/spec/colour", "blue"),
    ];
    let risk = |way: &Means| outcomes((scenario.clone(), intents.clone()), way).loss_risk();
    let strategic = Means::by(Strategy::StrategicMergePatch);
    let tests = Means {
        write: WriteMethod::JsonTests.write(1),
        reads_first: false,
    };
    let ways = [
        (update(), LossRisk::Impossible),
        (strategic.clone(), LossRisk::Impossible),
        (update().versioned(), LossRisk::Never),
        (merge_patch(), LossRisk::Never),
        (tests, LossRisk::Never),
    ];
    for (way, wanted) in &ways {
        assert_eq!(risk(way), *wanted, "{way:?}");
    }
    // A deletion is possible with every method, and the edit is still not.
    let deletes = vec![intents[0].clone(), Intent::Delete];
    let search = outcomes((scenario.clone(), deletes), &strategic);
    assert_eq!(search.loss_risk(), LossRisk::Impossible);
    let same = vec![
        set(&scenario, "/spec/size", 2),
        set(&scenario, "/spec/size", 3),
    ];
    let search = outcomes((scenario.clone(), same.clone()), &merge_patch());
    assert_eq!(search.loss_risk(), LossRisk::Possible);
    let mut begun = Search::new(with(scenario, &merge_patch(), same), 1000);
    begun.advance(2);
    assert_eq!(begun.loss_risk(), LossRisk::Unknown);
    begun.run();
    assert_eq!(begun.loss_risk(), LossRisk::Possible);
    let risks = [
        LossRisk::Never,
        LossRisk::NeverStored,
        LossRisk::Possible,
        LossRisk::Unknown,
        LossRisk::Impossible,
    ];
    let groups: LossGroups = risks.into_iter().enumerate().collect();
    assert_eq!(
        (&groups.never[..], &groups.never_stored[..]),
        (&[0][..], &[1][..])
    );
    assert_eq!(
        (&groups.possible[..], &groups.unknown[..]),
        (&[2][..], &[3][..])
    );
    assert_eq!(groups.impossible, [4]);
    assert_eq!((groups.ways(), groups.without_loss()), (4, 2));
}

#[test]
fn it_works_in_slices_and_says_how_far_it_is() {
    let (scenario, intents) = replicas_and_image();
    let mut search = Search::new(with(scenario, &update(), intents), 1000);
    let mut slices = 0;
    while search.advance(1) == SearchStatus::Running {
        slices += 1;
        assert!(search.tally().total() <= 6);
    }
    assert_eq!(slices + 1, search.states(), "each slice looks at one state");
    assert_eq!(search.tally().total(), 6);
}

#[test]
fn inside_a_request_the_server_retries_a_patch_and_refuses_a_stale_update() {
    let micro = |way: &Means| {
        let (scenario, intents) = replicas_and_image();
        let mut scenario = with(scenario, way, intents);
        scenario.micro_steps = true;
        searched(scenario)
    };
    let again = |search: &Search| {
        let edges = search.edges().iter();
        edges
            .filter(|edge| edge.what == TransitionKind::ServerReadsAgain)
            .count()
    };
    let patch = micro(&merge_patch());
    assert_eq!(patch.tally().without_loss(), patch.tally().total());
    assert!(
        again(&patch) > 0,
        "another put came in between: the patch is applied anew"
    );
    assert!(patch.edges().iter().all(|edge| edge.code < 400));

    let versioned = micro(&update().versioned());
    assert_eq!(versioned.tally().lost, 0);
    assert!(versioned.edges().iter().any(|edge| edge.code == 409));
    let blind = micro(&update());
    assert!(
        blind.tally().lost > 0,
        "an Update without a version is put over whatever is there"
    );
    assert!(again(&blind) > 0);
}

/// Counts the endings of each way of writing for each ready pair: histories with both edits in the
/// object, with one replaced knowingly, refused as a conflict, as not possible or because the
/// object is gone, lost.
#[test]
fn the_matrix_of_every_ready_pair() {
    let mut found = String::new();
    for ready in PRESETS {
        found += &format!("{}\n", ready.slug);
        for way in WriteMethod::MATRIX {
            let scenario = ready.scenario().unwrap().in_ways(&[way], 4).unwrap();
            let tally = searched(scenario).tally();
            assert_eq!(tally.left_out, 0);
            let (kept, replaced, lost) = (tally.in_object, tally.replaced, tally.lost);
            let [conflict, impossible, gone] = [
                RefusalKind::Conflict,
                RefusalKind::NotPossible,
                RefusalKind::Gone,
            ]
            .map(|kind| tally.refused_by(kind));
            assert_eq!(conflict + impossible + gone, tally.refused);
            let name = way.slug();
            found +=
                &format!("  {name:32} {kept} {replaced} {conflict} {impossible} {gone} {lost}\n");
        }
    }
    assert_eq!(found, include_str!("matrix.txt"), "{found}");
}

#[test]
fn who_applies_a_value_that_is_there_already_owns_it_too() {
    let scenario = deployment();
    let intents = vec![set(&scenario, "/spec/replicas", 5); 2];
    let search = outcomes((scenario, intents), &apply().forced());
    for end in search.ends() {
        let object = end.stored().unwrap();
        let managed = object["metadata"]["managedFields"].as_array().unwrap();
        for manager in ["editor-a", "editor-b"] {
            let owns = managed.iter().any(|entry| {
                entry["manager"] == manager
                    && entry["fieldsV1"]["f:spec"].get("f:replicas").is_some()
            });
            assert!(owns, "{manager}: {managed:?}");
        }
    }
}

#[test]
fn a_retry_that_sets_the_same_field_replaces_and_is_called_one() {
    let scenario = deployment();
    let intents = vec![
        set(&scenario, "/spec/replicas", 5),
        set(&scenario, "/spec/replicas", 2),
    ];
    let way = update().versioned().then(OnConflict::ReadAgain(3));
    let search = outcomes((scenario, intents), &way);
    let tally = search.tally();
    assert_eq!((tally.in_object, tally.replaced, tally.total()), (0, 6, 6));
    let retries = search
        .ends()
        .filter(|end| end.replaced().any(|it| it.retry));
    assert_eq!(retries.map(|end| end.histories()).sum::<u128>(), 4);
}

#[test]
fn an_edit_that_already_held_was_shown_to_who_was_shown_it() {
    let ready = PRESETS
        .iter()
        .find(|ready| ready.slug == "same-value")
        .unwrap();
    let (merge, delete) = (WriteMethod::Merge, WriteMethod::MergeVersioned);
    let mut scenario = ready.scenario().unwrap();
    scenario.plans.push(ThirdActor::Deletes.plan(&scenario));
    let scenario = scenario.in_ways(&[merge, merge, delete], 1).unwrap();
    // The delete carries the version that the actor was shown.
    assert_eq!(searched(scenario).tally().lost, 0);
}

#[test]
fn a_field_that_was_removed_and_one_that_was_set_count_alike_when_the_object_is_deleted_unread() {
    let lost = |value: serde_json::Value| {
        let scenario = deployment();
        let args = "/spec/template/spec/containers/0/args";
        let intents = vec![set(&scenario, args, value), Intent::Delete];
        outcomes((scenario, intents), &merge_patch()).tally().lost
    };
    assert_eq!(lost(serde_json::Value::Null), lost(json!(["-v"])));
    assert!(lost(serde_json::Value::Null) > 0);
}

#[test]
fn what_was_absent_is_added_to_by_both_and_nothing_is_lost_that_is_there() {
    let volume = |name: &str| json!([{"name": name, "emptyDir": {}}]);
    let pairs = [
        (
            "/spec/template/spec/volumes",
            volume("cache"),
            volume("logs"),
        ),
        (
            "/metadata/annotations",
            json!({"a": "1"}),
            json!({"b": "2"}),
        ),
        ("/metadata/finalizers", json!(["x.io/a"]), json!(["x.io/b"])),
        (
            "/spec/template/spec/containers/0/env",
            json!([{"name": "A"}]),
            json!([{"name": "B"}]),
        ),
    ];
    let retry = update().versioned().then(OnConflict::ReadAgain(3));
    let strategic = Means::by(Strategy::StrategicMergePatch);
    for (pointer, a, b) in pairs {
        for way in [&retry, &strategic, &apply()] {
            let scenario = deployment();
            let intents = vec![
                set(&scenario, pointer, a.clone()),
                set(&scenario, pointer, b.clone()),
            ];
            let scenario = with(scenario, way, intents);
            let search = searched(scenario);
            for end in search.ends() {
                let verdict = end.verdict();
                assert_eq!(
                    verdict,
                    Verdict::InObject,
                    "{pointer} {way:?} {:?}",
                    end.refused()
                );
            }
            assert_eq!(
                search.tally().in_object,
                search.tally().total(),
                "{pointer} {way:?}"
            );
            let merged = |object: &serde_json::Value| {
                let found = object.pointer(pointer).unwrap();
                found
                    .as_array()
                    .map_or_else(|| found.as_object().unwrap().len(), Vec::len)
            };
            for end in search.ends() {
                assert!(merged(end.stored().unwrap()) >= 2, "{pointer} {way:?}");
            }
        }
    }
}
