//! The language of properties: what a text means, by objects for which it holds and does not.

use optimist_client::{IntendedChange, Intent};
use optimist_controller::program::{ReadyProgram, ReadyProgramName};
use optimist_lesson::{
    PropertyErrorKind, StoredCondition, WrittenProperty, example_controller_properties,
    example_properties, parse_controller_property, parse_property,
};
use optimist_simulation::explore::{
    HistoryProperty, ObjectCondition, Occurrence, PRESETS, Plan, Scenario,
    StoredObjects::{self, One},
    ThirdActor,
};
use optimist_simulation::{ActorId, NGINX, Start, WIDGET, World};
use serde_json::{Value, json};

fn condition(text: &str) -> StoredCondition {
    match parse_property(&format!("always: {text}"), &ActorId::ALL[..3]).expect(text) {
        HistoryProperty::Always(condition) => condition,
        other => panic!("{other:?}"),
    }
}

fn property(text: &str) -> WrittenProperty {
    parse_property(text, &ActorId::ALL[..3]).expect(text)
}

#[test]
fn a_condition_is_that_of_a_lesson() {
    let web = json!({
        "metadata": {"labels": {"team": "a"}, "finalizers": ["keep"]},
        "spec": {"replicas": 3, "containers": [{"name": "nginx", "image": "a"}]},
        "status": {"replicas": 3},
    });
    for (text, holds, of_deleted) in [
        ("{stored: {spec.replicas: 3}}", true, false),
        ("{stored: {spec.replicas: '3'}}", false, false),
        ("{stored: {spec.replicas: ~}}", false, true),
        ("{stored: {spec.paused: ~}}", true, true),
        ("{stored: {spec.replicas: at most 3}}", true, false),
        ("{stored: {spec.replicas: at most 2}}", false, false),
        ("{stored: {spec.replicas: at least 3}}", true, false),
        ("{stored: {spec.replicas: at least 4}}", false, false),
        ("{stored: {spec.paused: at most 3}}", false, false),
        (
            "{stored: {'spec.containers[name=nginx].image': a}}",
            true,
            false,
        ),
        (
            "{stored: {spec.replicas: 3, metadata.labels.team: b}}",
            false,
            false,
        ),
        ("{same: [spec.replicas, status.replicas]}", true, false),
        ("{same: [spec.paused, status.paused]}", false, false),
        ("{contains: {metadata.finalizers: keep}}", true, false),
        ("{contains: {metadata.finalizers: go}}", false, false),
        ("{exists: yes}", true, false),
        ("{exists: no}", false, true),
        (
            "{not: {exists: no, stored: {spec.replicas: 3}}}",
            true,
            true,
        ),
        (
            "{any: [{exists: no}, {stored: {spec.replicas: 3}}]}",
            true,
            true,
        ),
        (
            "{all: [{exists: yes}, {stored: {spec.replicas: 4}}]}",
            false,
            false,
        ),
    ] {
        let condition = condition(text);
        assert_eq!(condition.holds(One(Some(&web))), holds, "{text}");
        assert_eq!(
            condition.holds(One(None)),
            of_deleted,
            "{text} of a deleted object"
        );
    }
}

#[test]
fn a_condition_sees_only_what_it_names() {
    let object =
        |replicas: u8, image: &str| json!({"spec": {"replicas": replicas, "image": image}});
    let (one, image, replicas) = (object(3, "a"), object(3, "b"), object(4, "a"));
    for text in [
        "{stored: {spec.replicas: at most 9}}",
        "{not: {same: [spec.replicas, spec.other]}}",
        "{any: [{exists: yes}, {stored: {spec.replicas: 1}}]}",
    ] {
        let condition = condition(text);
        assert!(
            condition.sees_same(One(Some(&one)), One(Some(&image))),
            "{text}"
        );
        assert!(
            !condition.sees_same(One(Some(&one)), One(Some(&replicas))),
            "{text}"
        );
        assert!(!condition.sees_same(One(Some(&one)), One(None)), "{text}");
    }
    assert!(condition("{exists: yes}").sees_same(One(Some(&one)), One(Some(&replicas))));
}

#[test]
fn each_form_of_a_property_is_read() {
    assert_eq!(property("never: lost edit"), HistoryProperty::NoEditLost);
    assert_eq!(
        property("never:\n- lost edit\n"),
        HistoryProperty::NoEditLost
    );
    let five = condition("{stored: {spec.replicas: 5}}");
    assert_eq!(
        property("never: {stored: {spec.replicas: 5}}"),
        HistoryProperty::Always(StoredCondition::Not(Box::new(five.clone())))
    );
    assert_eq!(
        property("at rest:\n  stored: {spec.replicas: 5}"),
        HistoryProperty::AtRest(five.clone())
    );
    assert_eq!(
        property("before: [B is refused, {stored: {spec.replicas: 5}}]"),
        HistoryProperty::Before(Occurrence::IsRefused(1), Occurrence::Holds(five))
    );
}

#[test]
fn a_place_that_tells_no_states_apart_cannot_be_asked() {
    for path in [
        "metadata.resourceVersion",
        "metadata.generation",
        "metadata",
    ] {
        let text = format!("always: {{stored: {{{path}: 1}}}}");
        assert!(parse_property(&text, &ActorId::ALL[..2]).is_err(), "{text}");
    }
    let text = "always: {stored: {status.observedGeneration: 1}}";
    assert!(parse_property(text, &ActorId::ALL[..2]).is_ok());
}

/// The examples of a scenario in which nothing is masked.
fn examples(scenario: &Scenario) -> Vec<String> {
    example_properties(scenario, Value::clone)
}

/// One who edits an object, by JSON pointers.
fn edits(manifest: &str, changes: &[(&str, Value)]) -> Scenario {
    let mut scenario = Scenario::from_world(&World::load(manifest).expect("it loads").0);
    let changes = changes.iter();
    let changes = changes.map(|(at, value)| IntendedChange::at(at, Some(value.clone())));
    scenario.plans = vec![Plan::new("a", Intent::Change(changes.collect()))];
    scenario
}

#[test]
fn the_examples_of_a_pair_are_properties_about_what_it_changes() {
    for ready in PRESETS {
        let thirds = ThirdActor::all();
        let thirds = thirds.map(Some);
        for third in thirds.chain([None]) {
            let mut scenario = ready.scenario().unwrap();
            let third = third.map(|third| third.plan(&scenario));
            scenario.plans.extend(third);
            let edited = scenario.plans.iter();
            let edited = edited.map(|plan| plan.intent.done_on(&scenario.object));
            let edited: Vec<Value> = edited.collect();
            let texts = examples(&scenario);
            assert!(texts.len() >= 3, "{}: {texts:?}", ready.slug);
            for text in &texts {
                let property =
                    parse_property(text, &ActorId::ALL[..scenario.plans.len()]).expect(text);
                if let HistoryProperty::AtRest(condition) = &property {
                    assert!(!condition.holds(One(Some(&scenario.object))), "{text}");
                    assert!(
                        edited.iter().any(|it| condition.holds(One(Some(it)))),
                        "{text}"
                    );
                }
                if let HistoryProperty::Always(condition) = &property {
                    assert!(condition.holds(One(Some(&scenario.object))), "{text}");
                    assert!(
                        edited.iter().all(|it| condition.holds(One(Some(it)))),
                        "{text}"
                    );
                }
            }
        }
    }
    let scenario = |slug: &str| {
        PRESETS
            .iter()
            .find(|it| it.slug == slug)
            .unwrap()
            .scenario()
    };
    assert_eq!(
        examples(&scenario("different-fields").unwrap()),
        [
            "never: [lost edit]",
            "always: {stored: {spec.replicas: at most 5}}",
            "at rest: {stored: {spec.replicas: 5}}",
            "before: [A writes, B reads]",
        ]
    );
}

#[test]
fn the_examples_of_a_kind_without_replicas_name_its_own_fields() {
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {mode: slow}\n";
    for (place, value, wanted) in [
        (
            "/data/mode",
            json!("fast"),
            "at rest: {stored: {data.mode: fast}}",
        ),
        (
            "/data/mode",
            json!("5"),
            "at rest: {stored: {data.mode: \"5\"}}",
        ),
        (
            "/data/app.conf",
            json!("a, b"),
            "at rest: {stored: {'data[\"app.conf\"]': \"a, b\"}}",
        ),
        (
            "/metadata/labels",
            json!({"example.com/team": "a"}),
            "at rest: {stored: {'metadata.labels[\"example.com/team\"]': a}}",
        ),
        (
            "/metadata/finalizers",
            json!(["example.com/keep"]),
            "at rest: {contains: {metadata.finalizers: example.com/keep}}",
        ),
    ] {
        let texts = examples(&edits(config, &[(place, value)]));
        let wanted = ["never: [lost edit]", wanted, "before: [A writes, B reads]"];
        assert_eq!(texts, wanted);
    }
    // What is not shown is in no example.
    let secret = edits(
        config,
        &[("/data/mode", json!("fast")), ("/data/other", json!("x"))],
    );
    let masked = |object: &Value| {
        let mut object = object.clone();
        object["data"]["mode"] = "•".into();
        object
    };
    assert_eq!(
        example_properties(&secret, masked)[1],
        "at rest: {stored: {data.other: x}}"
    );
}

/// A session with a controller that makes a ConfigMap for each Widget.
fn with_controller() -> World {
    let start = Start {
        controllers: [(
            ActorId::C,
            ReadyProgram::new(ReadyProgramName::ChildMaker).into(),
        )]
        .into(),
        ..Start::with(WIDGET)
    };
    World::from_start(start.into()).expect("it loads").0
}

#[test]
fn a_property_of_a_controller_counts_objects_and_asks_whether_it_rests() {
    let world = with_controller();
    let property = |text: &str| parse_controller_property(text, &world, None).expect(text);
    let stored = || StoredObjects::All(world.server(), world.subject());
    for (text, holds) in [
        ("always: {objects: {Widget: 1}}", true),
        ("never: [more than 1 Widget]", true),
        ("never: [more than 0 Widget]", false),
        ("always: {objects: {ConfigMap: at least 1}}", false),
        ("always: {objects: {ConfigMap: at most 0, Widget: 1}}", true),
        ("always: {stored: {spec.size: 1}, exists: yes}", true),
        (
            "always: {same: [metadata.generation, status.observedGeneration]}",
            false,
        ),
    ] {
        let HistoryProperty::Always(condition) = property(text) else {
            panic!("{text}");
        };
        assert_eq!(condition.holds(stored()), holds, "{text}");
    }
    assert!(matches!(property("settles: yes"), HistoryProperty::Settles));
    assert!(matches!(
        property("before: [C reads, A writes]"),
        HistoryProperty::Before(Occurrence::Reads(2), Occurrence::Writes(0))
    ));
    // Two editors have one object, and always come to rest.
    for text in ["settles: yes", "always: {objects: {Widget: 1}}"] {
        assert!(parse_property(text, &ActorId::ALL[..3]).is_err(), "{text}");
    }
}

#[test]
fn an_actor_whose_requests_no_search_varies_is_not_known() {
    let world = with_controller();
    for text in ["before: [D reads, A writes]", "before: [A writes, F reads]"] {
        for read in [
            parse_property(text, &ActorId::ALL[..3]).err(),
            parse_controller_property(text, &world, None).err(),
        ] {
            let kind = read.map(|error| error.kind);
            assert!(
                matches!(kind, Some(PropertyErrorKind::Occurrence(_))),
                "{text}: {kind:?}"
            );
        }
    }
}

#[test]
fn what_tells_no_states_of_a_controller_apart_cannot_be_asked() {
    let world = with_controller();
    for text in [
        "always: {stored: {metadata.generation: 1}}",
        "always: {stored: {status.observedGeneration: at most 2}}",
        "always: {stored: {status: {observedGeneration: 2}}}",
        "always: {stored: {status.seen: '2026-01-01T00:00:00Z'}}",
        "always: {stored: {metadata.uid: 9b1a6f1e-0000-4000-8000-000000000001}}",
        "always: {contains: {status.times: '2026-01-01T00:00:00Z'}}",
        "always: {same: [metadata.resourceVersion, status.seen]}",
        "always: {same: [spec.size, status.observedGeneration]}",
    ] {
        assert!(
            parse_controller_property(text, &world, None).is_err(),
            "{text}"
        );
    }
}

#[test]
fn the_examples_of_a_controller_are_properties() {
    let examples = example_controller_properties(&with_controller(), Value::clone);
    assert_eq!(
        examples,
        [
            "never: [more than 1 ConfigMap]",
            "at rest: {objects: {ConfigMap: 1}}",
            "always: {stored: {spec.size: at most 1}}",
            "settles: yes",
            "never: [lost edit]",
            "before: [C reads, A writes]",
        ]
    );
}

#[test]
fn a_field_that_the_schema_of_the_kind_does_not_have_cannot_be_asked() {
    let world = with_controller();
    let of_deployment = World::load(NGINX).unwrap().0;
    let unknown = |world: &World, path: &str| {
        let text = format!("always: {{stored: {{'{path}': 1}}}}");
        match parse_controller_property(&text, world, None).map_err(|error| error.kind) {
            Err(PropertyErrorKind::NoSuchField { kind, path, known }) => {
                Some(format!("{kind} {path} ({known})"))
            }
            Err(other) => panic!("{path}: {other:?}"),
            Ok(_) => None,
        }
    };
    for (path, said) in [
        ("spec.sizze", "Widget spec.sizze (colour, size)"),
        ("spec.sizze.more", "Widget spec.sizze (colour, size)"),
        ("spec.size.more", "Widget spec.size.more ()"),
        ("spec[0]", "Widget spec[0] (colour, size)"),
        (
            "spce",
            "Widget spce (apiVersion, kind, metadata, spec, status)",
        ),
    ] {
        assert_eq!(unknown(&world, path).as_deref(), Some(said), "{path}");
    }
    let status = "status.preserves[0].unknown.fields";
    let label = r#"metadata.labels["example.com/app"]"#;
    for path in [
        "spec.size",
        status,
        label,
        "metadata.ownerReferences[name=a].uid",
    ] {
        assert_eq!(unknown(&world, path), None, "{path}");
    }
    let containers = "spec.template.spec.containers";
    let image = unknown(&of_deployment, &format!("{containers}.image"));
    assert_eq!(image, Some(format!("Deployment {containers}.image ()")));
    let imagge = unknown(&of_deployment, &format!("{containers}[name=nginx].imagge"));
    assert!(imagge.is_some_and(|said| said.contains("(name, image, command, ")));
    let image = unknown(&of_deployment, &format!("{containers}[name=nginx].image"));
    assert_eq!(image, None);
    for text in [
        "always: {same: [spec.sizze, spec.size]}",
        "always: {contains: {spec.sizze: a}}",
        "before: [A writes, {not: {stored: {spec.sizze: 1}}}]",
    ] {
        assert!(
            parse_controller_property(text, &world, None).is_err(),
            "{text}"
        );
    }
}
