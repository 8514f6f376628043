//! The history of an object, from its versions. `fight.json` was recorded: helm and an operator
//! change the same fields in turn.

use std::sync::Arc;

use optimist_apiserver::apply::{LAST_APPLIED, ManagedFieldsOperation, Manager, Path, PathElement};
use optimist_apiserver::schema::builtin;
use optimist_apiserver::server::EventType;
use optimist_diagnose::observed::{
    FieldChange, ObservedVersion, ReadProblem, field_changes, fights, observed_versions,
    returning_fields,
};
use serde_json::{Value, json};

fn changes(versions: &[ObservedVersion]) -> Vec<FieldChange> {
    let root = builtin("Deployment").expect("it is known");
    field_changes(versions, root).expect("managedFields can be read")
}

fn fight() -> Vec<ObservedVersion> {
    observed_versions(include_str!("fight.json")).expect("it is a watch")
}

/// The versions in which a field changed, with the value and the manager.
fn changes_of(field: &str, changes: &[FieldChange]) -> Vec<(String, Value, String)> {
    let of_field = changes.iter().filter(|one| path(one) == field);
    of_field
        .map(|one| {
            let by = one.by.as_ref().map_or("", |by| &by.name);
            let value = one.after.clone().unwrap_or_default();
            (one.resource_version.clone(), value, by.to_owned())
        })
        .collect()
}

fn path(change: &FieldChange) -> String {
    change.field.to_string()
}

#[test]
fn a_watch_is_read_event_by_event() {
    let versions = fight();
    assert_eq!(versions.len(), 8);
    assert_eq!(versions[0].event, Some(EventType::Added));
    assert_eq!(versions[7].event, Some(EventType::Modified));
    assert_eq!(versions[7].object["metadata"]["resourceVersion"], "98");
}

#[test]
fn every_change_names_its_manager() {
    let changes = changes(&fight());
    let changed =
        |version: &str, value: Value, by: &str| (version.to_owned(), value, by.to_owned());
    assert_eq!(
        changes_of(".spec.replicas", &changes),
        [
            changed("91", json!(5), "web-operator"),
            changed("92", json!(2), "helm"),
            changed("93", json!(5), "web-operator"),
            changed("94", json!(2), "helm"),
            changed("96", json!(5), "web-operator"),
            changed("98", json!(2), "helm"),
        ]
    );
}

#[test]
fn without_owners_a_field_that_comes_back_to_an_earlier_value_is_found() {
    let mut versions = fight();
    assert_eq!(returning_fields(&changes(&versions)), []);
    for version in &mut versions {
        let metadata = Arc::make_mut(&mut version.object)["metadata"]
            .as_object_mut()
            .unwrap();
        metadata.remove("managedFields");
    }
    let changes = changes(&versions);
    assert_eq!(fights(&changes), []);
    let found = returning_fields(&changes).into_iter();
    let found = found.map(|one| (one.field.to_string(), one.changes, one.returns));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            (".spec.replicas".to_owned(), 6, 5),
            (
                ".spec.template.spec.containers[name=\"web\"].image".to_owned(),
                4,
                3
            ),
        ]
    );
}

#[test]
fn the_fields_that_are_fought_over_are_found_with_their_flips() {
    let fights = fights(&changes(&fight()));
    let found: Vec<_> = fights
        .iter()
        .map(|fight| {
            let managers = fight.managers.iter().map(|one| one.name.as_str());
            let managers = managers.collect::<Vec<_>>();
            (fight.field.to_string(), fight.flips, managers)
        })
        .collect();
    let both = vec!["helm", "web-operator"];
    let image = ".spec.template.spec.containers[name=\"web\"].image";
    assert_eq!(
        found,
        [
            (".spec.replicas".to_owned(), 6, both.clone()),
            (image.to_owned(), 4, both),
        ]
    );
}

#[test]
fn one_change_that_is_taken_back_is_a_correction_and_no_more() {
    let versions = fight();
    let of_first = |count: usize| {
        let fights = fights(&changes(&versions[..count]));
        let replicas = fights
            .into_iter()
            .find(|it| it.field.to_string() == ".spec.replicas");
        replicas.map(|fight| (fight.flips, fight.is_correction()))
    };
    let found: Vec<_> = (2..=versions.len()).filter_map(of_first).collect();
    assert_eq!(found.first(), Some(&(2, true)), "{found:?}");
    assert!(
        found
            .iter()
            .all(|(flips, corrects)| *corrects == (*flips == 2)),
        "{found:?}"
    );
}

#[test]
fn one_manager_that_changes_its_own_field_fights_with_none() {
    let mut versions = fight();
    // Only what helm stored: 89, 92, 94, 98.
    let mut at = 0;
    versions.retain(|_| {
        at += 1;
        [1, 3, 5, 8].contains(&at)
    });
    for (i, version) in versions.iter_mut().enumerate() {
        Arc::make_mut(&mut version.object)["spec"]["replicas"] = json!(i);
    }
    let changes = changes(&versions);
    assert_eq!(changes_of(".spec.replicas", &changes).len(), 3);
    assert_eq!(fights(&changes), []);
}

#[test]
fn an_object_of_another_uid_is_compared_with_none() {
    let mut versions = fight();
    versions.truncate(2);
    Arc::make_mut(&mut versions[1].object)["metadata"]["uid"] = json!("another");
    assert_eq!(changes(&versions), []);
}

#[test]
fn a_list_is_several_versions_and_a_bookmark_is_none() {
    let object = &fight()[0].object;
    let list = json!({"kind": "List", "items": [**object, **object]});
    let bookmark = json!({"type": "BOOKMARK", "object": {"metadata": {}}});
    let text = format!("{list}\n{bookmark}\n{object}");
    let versions = observed_versions(&text).expect("it is read");
    assert_eq!(versions.len(), 3);
    assert!(versions.iter().all(|version| version.event.is_none()));
}

#[test]
fn what_is_no_version_is_named_with_its_place() {
    let object = "{\"metadata\": {}}\n";
    for (bad, line, problem) in [
        ("3", 2, Some(ReadProblem::NoObject)),
        ("\n\n{\"a\": 1}", 4, Some(ReadProblem::NoObject)),
        ("{\"items\": [1]}", 2, Some(ReadProblem::NoObject)),
        (
            "{\"type\": \"ERROR\", \"object\": {}}",
            2,
            Some(ReadProblem::Event("ERROR".to_owned())),
        ),
        ("{\"a\":\n]", 3, None),
    ] {
        let error = observed_versions(&format!("{object}{bad}")).expect_err(bad);
        assert_eq!((error.document, error.line), (2, line), "{bad}: {error}");
        match problem {
            Some(problem) => assert_eq!(error.problem, problem, "{bad}"),
            None => assert!(matches!(error.problem, ReadProblem::Syntax(_)), "{bad}"),
        }
    }
}

#[test]
fn nobody_fights_over_the_annotation_of_client_side_apply() {
    let field = |name: &str| {
        let names = ["metadata", "annotations", name];
        Path(names.map(|it| PathElement::Field(it.to_owned())).to_vec())
    };
    let change = |name: &str, (by, before): (&str, &str), value: &str| {
        let manager = |name: &str| Manager::new(name, ManagedFieldsOperation::Update, "v1", "");
        FieldChange {
            field: field(name),
            before: Some(json!("")),
            after: Some(json!(value)),
            by: Some(manager(by)),
            owner_before: Some(manager(before)),
            resource_version: "5".into(),
        }
    };
    let of = |name: &str| {
        fights(&[
            change(name, ("b", "a"), "1"),
            change(name, ("a", "b"), "2"),
            change(name, ("b", "a"), "1"),
        ])
    };
    assert_eq!(of("team").len(), 1);
    assert_eq!(of(LAST_APPLIED), []);
}
