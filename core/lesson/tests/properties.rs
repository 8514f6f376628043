//! The language of properties: what a text means, by objects for which it holds and does not.

use optimist_lesson::{StoredCondition, WrittenProperty, parse_property};
use optimist_simulation::explore::{HistoryProperty, ObjectCondition, Occurrence};
use serde_json::json;

fn condition(text: &str) -> StoredCondition {
    match parse_property(&format!("always: {text}"), 3).expect(text) {
        HistoryProperty::Always(condition) => condition,
        other => panic!("{other:?}"),
    }
}

fn property(text: &str) -> WrittenProperty {
    parse_property(text, 3).expect(text)
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
        assert_eq!(condition.holds(Some(&web)), holds, "{text}");
        assert_eq!(
            condition.holds(None),
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
        assert!(condition.sees_same(Some(&one), Some(&image)), "{text}");
        assert!(!condition.sees_same(Some(&one), Some(&replicas)), "{text}");
        assert!(!condition.sees_same(Some(&one), None), "{text}");
    }
    assert!(condition("{exists: yes}").sees_same(Some(&one), Some(&replicas)));
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
        assert!(parse_property(&text, 2).is_err(), "{text}");
    }
    let text = "always: {stored: {status.observedGeneration: 1}}";
    assert!(parse_property(text, 2).is_ok());
}
