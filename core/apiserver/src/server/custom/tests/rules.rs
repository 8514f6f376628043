//! Validation rules: which of them a definition may have, and what they do to objects.

use http::{Method, Request};
use serde_json::{Value, json};

use super::{Answered, DEFINITIONS, Server, WIDGETS, definition, message, with_kind};
use crate::server::{ApiServer, Fact, Facts};

/// Returns the errors of a definition with this spec.
fn refused(spec: &Value) -> Vec<String> {
    let mut server = Server(ApiServer::default());
    let definition = definition(spec, &json!({}));
    let Answered(code, body, _) = server.send(Method::POST, DEFINITIONS, "", definition);
    assert_eq!(code, 422, "{body}");
    let causes = body["details"]["causes"].as_array().unwrap();
    let shown = causes.iter().map(|cause| {
        let field = cause["field"].as_str().unwrap();
        let field = field
            .rsplit_once("properties[spec].")
            .map_or(field, |it| it.1);
        format!("{field}: {}", cause["message"].as_str().unwrap())
    });
    shown.collect()
}

fn with_rule(mut schema: Value, rule: Value) -> Value {
    schema["x-kubernetes-validations"] = json!([rule]);
    schema
}

#[test]
fn a_rule_that_does_not_compile_is_refused_with_its_place() {
    let spec = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let found = refused(&with_rule(spec, json!({"rule": "self.m > 1"})));
    assert_eq!(
        found,
        [
            "x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":\"self.m \\u003e 1\",\
          \"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\
          \"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:5: undefined field \
          'm'\n | self.m > 1\n | ....^"
        ]
    );
    let number = || json!({"type": "integer"});
    for (rule, expected) in [
        (
            json!({"rule": "self + 1"}),
            "cel expression must evaluate to a bool",
        ),
        (
            json!({"rule": "self > 1", "messageExpression": "1"}),
            "messageExpression must evaluate to a string",
        ),
        (
            json!({"rule": "self > 1", "optionalOldSelf": true}),
            "may not be set if oldSelf is not used in rule",
        ),
        (
            json!({"rule": "self > 1", "fieldPath": ".n"}),
            "must be a valid path",
        ),
    ] {
        let found = refused(&with_rule(number(), rule));
        assert!(found[0].ends_with(expected), "{found:?}");
    }
}

#[test]
fn a_rule_that_may_cost_too_much_is_refused() {
    let rule = json!({"rule": "self.all(x, self.all(y, x == y))"});
    let list = json!({"type": "array", "items": {"type": "string"}});
    let found = refused(&with_rule(list, rule.clone()));
    let advice = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where \
         arrays, maps, and strings are declared)";
    let field = "x-kubernetes-validations[0].rule: Forbidden:";
    assert_eq!(
        found[0],
        format!("{field} estimated rule cost exceeds budget by factor of more than 100x {advice}")
    );
    let total = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 \
         schema";
    assert_eq!(found[1], format!("{field} {total}"));
    assert!(found[2].contains("estimated rule cost total for entire OpenAPIv3 schema exceeds"));

    let item = json!({"type": "string", "maxLength": 10});
    let bounded = json!({"type": "array", "maxItems": 10, "items": item});
    Server::defining(&with_rule(bounded, rule), &json!({}));
}

#[test]
fn the_stored_value_is_known_only_where_items_can_be_told_apart() {
    let rule = json!({"rule": "self >= oldSelf"});
    let item = with_rule(json!({"type": "integer"}), rule.clone());
    let found = refused(&json!({"type": "array", "items": item}));
    assert!(
        found[0]
            .contains("oldSelf cannot be used on the uncorrelatable portion of the schema within"),
        "{found:?}"
    );
    let item = json!({"type": "object", "required": ["k"], "properties": {
        "k": {"type": "string"}, "v": with_rule(json!({"type": "integer"}), rule),
    }});
    let keyed = json!({"type": "array", "items": item,
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]});
    Server::defining(&keyed, &json!({}));
}

#[test]
fn what_has_not_changed_is_warned_of_also_below_what_has() {
    let spec = json!({"type": "object", "properties": {
        "n": with_rule(json!({"type": "integer"}), json!({"rule": "self > 1", "message": "too small"})),
        "m": {"type": "integer"},
    }});
    let mut lenient = spec.clone();
    lenient["properties"]["n"]["x-kubernetes-validations"] = json!([]);
    let mut server = Server::defining(&lenient, &json!({}));
    assert_eq!(server.create(json!({"spec": {"n": 1}})).0, 201);
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let pointer = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    let patch = json!([{"op": "replace", "path": pointer, "value": spec}]);
    let media = "application/json-patch+json";
    assert_eq!(server.send(Method::PATCH, &path, media, patch).0, 200);
    let widget = format!("{WIDGETS}/w");
    let Answered(code, _, warnings) = server.merge(&widget, json!({"spec": {"m": 2}}));
    assert_eq!(code, 200);
    assert_eq!(warnings, ["spec.n: Invalid value: 1: too small"]);
    let Answered(code, body, _) = server.merge(&widget, json!({"spec": {"n": 0}}));
    assert_eq!(code, 422);
    assert!(
        message(&body).ends_with("spec.n: Invalid value: 0: too small"),
        "{body}"
    );
}

#[test]
fn a_rule_that_cannot_be_evaluated_here_is_a_fact_of_the_definition_and_of_each_write() {
    let facts = |server: &mut ApiServer, path: &str, body: Value| {
        let request = Request::post(path).header("content-type", "application/json");
        let request = request.body(body.to_string().into_bytes()).unwrap();
        let response = server.handle(request);
        assert_eq!(
            response.status(),
            201,
            "{}",
            String::from_utf8_lossy(response.body())
        );
        let facts = response.extensions().get::<Facts>().unwrap();
        let rules = facts.0.iter().filter_map(|fact| match fact {
            Fact::RuleNotEvaluated(rule) => Some(rule.clone()),
            _ => None,
        });
        rules.collect::<Vec<String>>()
    };
    // Deeper than this server follows, though not than a real one does.
    let deep = format!("self {}> 1", "+ 1 ".repeat(150));
    // The table of time zones is not here.
    let zone = "timestamp('2024-01-01T00:00:00Z').getHours('Europe/Berlin') == self";
    let rules = json!([{"rule": deep}, {"rule": zone}]);
    let spec = json!({"type": "integer", "x-kubernetes-validations": rules});
    let mut server = ApiServer::default();
    let definition = definition(&spec, &json!({}));
    assert_eq!(
        facts(&mut server, DEFINITIONS, definition),
        std::slice::from_ref(&deep)
    );
    let widget = with_kind(json!({"spec": 1}));
    assert_eq!(facts(&mut server, WIDGETS, widget), [deep, zone.to_owned()]);
}
