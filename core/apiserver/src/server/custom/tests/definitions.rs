//! Definitions as objects: what they must fulfil, how they come to be served, how they go.

use super::*;
use crate::server::EventType;

const WIDGETS_DEFINED: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
const MERGE: &str = "application/merge-patch+json";

fn open() -> Value {
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn conditions(definition: &Value) -> Vec<(String, String, String)> {
    let all = definition["status"]["conditions"].as_array();
    let text = |condition: &Value, field: &str| condition[field].as_str().unwrap().to_owned();
    all.into_iter()
        .flatten()
        .map(|it| (text(it, "type"), text(it, "status"), text(it, "reason")))
        .collect()
}

fn condition(ty: &str, status: &str, reason: &str) -> (String, String, String) {
    (ty.to_owned(), status.to_owned(), reason.to_owned())
}

#[test]
fn a_definition_is_established_by_the_server_a_moment_after_it_was_created() {
    let mut server = Server(ApiServer::default());
    let definition = definition(&open(), &json!({}));
    let Answered(code, made, _) = server.send(Method::POST, DEFINITIONS, "", definition);
    assert_eq!(code, 201);
    assert_eq!(made["status"]["conditions"], Value::Null);
    assert_eq!(made["status"]["storedVersions"], json!(["v1"]));
    assert_eq!(made["spec"]["names"]["listKind"], "WidgetList");
    let Answered(_, found, _) = server.send(Method::GET, WIDGETS_DEFINED, "", Value::Null);
    assert_eq!(
        conditions(&found),
        [
            condition("NamesAccepted", "True", "NoConflicts"),
            condition("Established", "True", "InitialNamesAccepted"),
        ]
    );
    assert_eq!(found["metadata"]["generation"], 1);
    let version = |object: &Value| -> u64 {
        let version = object["metadata"]["resourceVersion"].as_str().unwrap();
        version.parse().unwrap()
    };
    assert_eq!(version(&found), version(&made) + 2);
    let managers = found["metadata"]["managedFields"].as_array().unwrap();
    let server_itself = managers.iter().find(|it| it["manager"] == "kube-apiserver");
    assert_eq!(server_itself.unwrap()["subresource"], "status");
}

#[test]
fn a_deleted_definition_takes_its_objects_along_and_watchers_hear_it() {
    let mut server = Server::defining(&open(), &json!({}));
    assert_eq!(server.create(json!({})).0, 201);
    let watch = Request::get(format!("{WIDGETS}?watch=true")).body(Vec::new());
    let mut watch = server.0.watch(&watch.unwrap()).unwrap();
    let definitions = Request::get(format!("{DEFINITIONS}?watch=true")).body(Vec::new());
    let mut of_definitions = server.0.watch(&definitions.unwrap()).unwrap();
    watch.poll(&server.0);
    of_definitions.poll(&server.0);
    let Answered(code, marked, _) = server.send(Method::DELETE, WIDGETS_DEFINED, "", Value::Null);
    assert_eq!(code, 200);
    assert_eq!(
        marked["metadata"]["finalizers"],
        json!(["customresourcecleanup.apiextensions.k8s.io"])
    );
    let pending = condition("Terminating", "True", "InstanceDeletionPending");
    assert_eq!(conditions(&marked).last(), Some(&pending));
    let heard: Vec<EventType> = watch.poll(&server.0).iter().map(|e| e.event_type).collect();
    assert_eq!(heard, [EventType::Deleted]);
    assert!(!watch.is_open());
    let heard = of_definitions.poll(&server.0);
    let heard: Vec<EventType> = heard.iter().map(|event| event.event_type).collect();
    assert_eq!(
        heard,
        [EventType::Modified, EventType::Modified, EventType::Deleted]
    );
    let gone = |server: &mut Server, path| server.send(Method::GET, path, "", Value::Null).0;
    assert_eq!(gone(&mut server, W), 404);
    assert_eq!(gone(&mut server, WIDGETS_DEFINED), 404);
}

#[test]
fn a_deleted_definition_waits_for_objects_with_finalizers_and_lets_none_be_made() {
    let mut server = Server::defining(&open(), &json!({}));
    let held = json!({"metadata": {"name": "w", "finalizers": ["example.com/a"]}});
    assert_eq!(server.create(held).0, 201);
    server.send(Method::DELETE, WIDGETS_DEFINED, "", Value::Null);
    let Answered(code, waits, _) = server.send(Method::GET, WIDGETS_DEFINED, "", Value::Null);
    assert_eq!(code, 200);
    let waiting = condition("Terminating", "True", "InstanceDeletionInProgress");
    assert_eq!(conditions(&waits).last(), Some(&waiting));
    assert!(server.get()["metadata"]["deletionTimestamp"].is_string());
    let Answered(code, refused, _) = server.create(json!({"metadata": {"name": "x"}}));
    assert_eq!(code, 403);
    assert_eq!(
        message(&refused),
        "widgets.example.com \"x\" is forbidden: create not allowed while custom resource \
         definition is terminating"
    );
    let free = json!({"metadata": {"finalizers": null}});
    assert_eq!(server.merge(W, free).0, 200);
    let Answered(code, ..) = server.send(Method::GET, WIDGETS_DEFINED, "", Value::Null);
    assert_eq!(code, 404);
}

#[test]
fn names_in_use_are_not_accepted_until_they_are_free() {
    let mut server = Server::defining(&open(), &json!({}));
    let mut second = definition(&open(), &json!({}));
    second["metadata"]["name"] = "others.example.com".into();
    second["spec"]["names"] = json!({"plural": "others", "singular": "other", "kind": "Widget"});
    assert_eq!(server.send(Method::POST, DEFINITIONS, "", second).0, 201);
    let other = format!("{DEFINITIONS}/others.example.com");
    let Answered(_, found, _) = server.send(Method::GET, &other, "", Value::Null);
    assert_eq!(
        conditions(&found),
        [
            condition("NamesAccepted", "False", "ListKindConflict"),
            condition("Established", "False", "NotAccepted"),
        ]
    );
    let others = "/apis/example.com/v1/namespaces/default/others";
    assert_eq!(server.send(Method::GET, others, "", Value::Null).0, 404);
    server.send(Method::DELETE, WIDGETS_DEFINED, "", Value::Null);
    assert_eq!(server.send(Method::GET, others, "", Value::Null).0, 200);
}

#[test]
fn the_status_of_a_definition_is_written_by_itself() {
    let mut server = Server::defining(&open(), &json!({}));
    let status = format!("{WIDGETS_DEFINED}/status");
    let change = json!({
        "metadata": {"labels": {"a": "b"}},
        "spec": {"scope": "Cluster"},
        "status": {"storedVersions": ["v1", "v0"]},
    });
    let Answered(code, written, _) = server.send(Method::PATCH, &status, MERGE, change);
    assert_eq!(code, 200, "{written}");
    assert_eq!(written["spec"]["scope"], "Namespaced");
    assert_eq!(written["status"]["storedVersions"], json!(["v1", "v0"]));
    assert_eq!(written["metadata"]["labels"]["a"], "b");
    assert_eq!(written["metadata"]["generation"], 1);
    // The main resource does not write the status.
    let change = json!({"status": {"storedVersions": []}, "metadata": {"labels": {"a": "c"}}});
    let Answered(code, refused, _) = server.send(Method::PATCH, WIDGETS_DEFINED, MERGE, change);
    assert_eq!(code, 422);
    assert!(message(&refused).contains("status.storedVersions[1]: Invalid value: \"v0\": missing"));
}

#[test]
fn what_storage_and_paths_depend_on_does_not_change() {
    let mut server = Server::defining(&open(), &json!({}));
    let change = json!({"spec": {"scope": "Cluster", "names": {"kind": "Gadget"}}});
    let Answered(code, refused, _) = server.send(Method::PATCH, WIDGETS_DEFINED, MERGE, change);
    assert_eq!(code, 422);
    assert_eq!(
        message(&refused),
        "CustomResourceDefinition.apiextensions.k8s.io \"widgets.example.com\" is invalid: \
         [spec.scope: Invalid value: \"Cluster\": field is immutable, \
         spec.names.kind: Invalid value: \"Gadget\": field is immutable]"
    );
}

/// Changes a sound definition at a pointer, and gives the fields and messages of the refusal.
fn mistakes(pointer: &str, value: Value) -> Vec<String> {
    let spec = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let mut definition = definition(&spec, &json!({"status": {}}));
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    definition.pointer_mut(parent).unwrap()[name] = value;
    let mut server = Server(ApiServer::default());
    let Answered(code, body, _) = server.send(Method::POST, DEFINITIONS, "", definition);
    assert_eq!(code, 422, "{pointer}: {body}");
    let causes = body["details"]["causes"].as_array().unwrap();
    causes
        .iter()
        .map(|cause| {
            let text = |field: &str| cause[field].as_str().unwrap().to_owned();
            format!("{}: {}", text("field"), text("message"))
        })
        .collect()
}

const SCHEMA: &str = "/spec/versions/0/schema/openAPIV3Schema";

#[test]
fn names_and_versions_of_a_definition_are_checked() {
    for (pointer, value, expected) in [
        (
            "/metadata/name",
            json!("widget.example.com"),
            "metadata.name: Invalid value: \"widget.example.com\": must be spec.names.plural+\".\"+spec.group",
        ),
        (
            "/spec/scope",
            json!("Global"),
            "spec.scope: Unsupported value: \"Global\": supported values: \"Cluster\", \"Namespaced\"",
        ),
        (
            "/spec/names/listKind",
            json!("Widget"),
            "spec.names.listKind: Invalid value: \"Widget\": kind and listKind may not be the same",
        ),
        (
            "/spec/versions/0/storage",
            json!(false),
            "spec.versions: Invalid value: [{\"Name\":\"v1\",\"Served\":true,\"Storage\":false,\
             \"Deprecated\":false,\"DeprecationWarning\":null,\"Schema\":null,\
             \"Subresources\":null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}]: \
             must have exactly one version marked as storage version",
        ),
        (
            "/spec/versions/0/deprecationWarning",
            json!("old"),
            "spec.versions[0].deprecationWarning: Invalid value: \"old\": can only be set for deprecated versions",
        ),
        (
            "/spec/versions/0/schema",
            Value::Null,
            "spec.versions[0].schema.openAPIV3Schema: Required value",
        ),
        (
            "/spec/versions/0/subresources/scale",
            json!({"specReplicasPath": ".status.n", "statusReplicasPath": ".status.n"}),
            "spec.subresources.scale.specReplicasPath: Invalid value: \".status.n\": should be a json path under .spec",
        ),
        (
            "/spec/versions/0/additionalPrinterColumns",
            json!([{"name": "N", "type": "int", "jsonPath": ".spec"}]),
            "spec.additionalPrinterColumns[0].type: Invalid value: \"int\": must be one of boolean,date,integer,number,string",
        ),
        (
            "/spec/versions/0/selectableFields",
            json!([{"jsonPath": ".spec.b"}]),
            "spec.selectableFields[0].jsonPath: Invalid value: \".spec.b\": is an invalid path: does not refer to a valid field",
        ),
        (
            "/spec/conversion",
            json!({"strategy": "Webhook"}),
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
        ),
        (
            "/spec/preserveUnknownFields",
            json!(true),
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set \
             x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        ),
    ] {
        let found = mistakes(pointer, value);
        assert!(
            found.iter().any(|it| it == expected),
            "{pointer}: {found:#?}"
        );
    }
}

#[test]
fn a_schema_is_structural() {
    const AT: &str = "spec.validation.openAPIV3Schema";
    for (pointer, value, expected) in [
        (
            "/type",
            Value::Null,
            ".type: Required value: must not be empty at the root",
        ),
        (
            "/properties/spec",
            json!({"properties": {"a": {"type": "string"}}}),
            ".properties[spec].type: Required value: must not be empty for specified object fields",
        ),
        (
            "/properties/spec",
            json!({"type": "array"}),
            ".properties[spec].items: Required value: must be specified",
        ),
        (
            "/properties/spec",
            json!({"type": "object", "anyOf": [{"properties": {"b": {"type": "string"}}}]}),
            ".properties[spec].anyOf[0].properties[b].type: Forbidden: must be empty to be structural",
        ),
        (
            "/anyOf",
            json!([{"properties": {"spec": {"properties": {"b": {"minLength": 1}}}}}]),
            ".properties[spec].properties[b]: Required value: because it is defined in \
             spec.validation.openAPIV3Schema.anyOf[0].properties[spec].properties[b]",
        ),
        (
            "/properties/metadata",
            json!({"type": "object", "properties": {"labels": {"type": "object"}}}),
            ".properties[metadata]: Forbidden: must not specify anything other than name and \
             generateName, but metadata is implicitly specified",
        ),
        (
            "/properties/spec",
            json!({"type": "string", "pattern": "(a"}),
            ".properties[spec].pattern: Invalid value: \"(a\": must be a valid regular expression, \
             but isn't: error parsing regexp: missing closing ): `(a`",
        ),
        (
            "/properties/spec",
            json!({"type": "object", "default": {"b": 1}}),
            ".properties[spec].default: Invalid value: {\"b\":1}: must not have unknown fields",
        ),
        (
            "/properties/spec",
            json!({"type": "integer", "default": "x"}),
            ".properties[spec].default: Invalid value: \"string\":  in body must be of type \
             integer: \"string\"",
        ),
        (
            "/properties/spec",
            json!({"type": "integer", "default": 1, "x-kubernetes-validations": [
                {"rule": "self > 1", "message": "more"}]}),
            ".properties[spec].default: Invalid value: 1: more",
        ),
        (
            "/properties/spec",
            json!({"type": "integer", "default": 1, "x-kubernetes-validations": [
                {"rule": "oldSelf.hasValue()", "optionalOldSelf": true, "message": "not new"}]}),
            ".properties[spec].default: Invalid value: 1: not new",
        ),
        (
            "/properties/spec",
            json!({"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object",
                "properties": {"k": {"type": "string"}}}, "x-kubernetes-list-map-keys": ["k"]}),
            ".properties[spec].items.properties[k].default: Required value: this property is in \
             x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
        (
            "/properties/spec",
            json!({"type": "object", "uniqueItems": true}),
            ".properties[spec].uniqueItems: Forbidden: uniqueItems cannot be set to true since the \
             runtime complexity becomes quadratic",
        ),
        (
            "/properties/spec",
            json!({"type": "object", "x-kubernetes-validations": [{"rule": "true\n", "reason": "No"}]}),
            ".properties[spec].x-kubernetes-validations[0].reason: Unsupported value: \"No\": \
             supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", \
             \"FieldValueInvalid\", \"FieldValueRequired\"",
        ),
        (
            "/properties/spec",
            json!({"type": "nothing"}),
            ".properties[spec].type: Unsupported value: \"nothing\": supported values: \"array\", \
             \"boolean\", \"integer\", \"number\", \"object\", \"string\"",
        ),
    ] {
        let found = mistakes(&format!("{SCHEMA}{pointer}"), value);
        let expected = format!("{AT}{expected}");
        assert!(found.contains(&expected), "{expected}\n{found:#?}");
    }
    let either = json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]});
    Server::defining(&either, &json!({}));
}

#[test]
fn lists_are_of_the_kind_that_the_definition_names_for_them() {
    let mut server = Server(ApiServer::default());
    let mut definition = definition(&open(), &json!({}));
    definition["spec"]["names"]["listKind"] = json!("Collection");
    let Answered(code, body, _) = server.send(Method::POST, DEFINITIONS, "", definition);
    assert_eq!(code, 201, "{body}");
    server.create(json!({}));
    let Answered(_, list, _) = server.send(Method::GET, WIDGETS, "", Value::Null);
    assert_eq!(list["kind"], "Collection");
    assert_eq!(list["items"][0]["kind"], "Widget");
}

#[test]
fn the_schema_that_clients_read_has_the_descriptions_of_the_definition() {
    let spec = json!({"type": "object", "description": "What is wanted.",
        "properties": {"size": {"type": "integer", "description": "How many."}}});
    let mut server = Server::defining(&spec, &json!({}));
    let path = "/openapi/v3/apis/example.com/v1";
    let Answered(_, document, _) = server.send(Method::GET, path, "", Value::Null);
    let schemas = &document["components"]["schemas"];
    // Without the table of protobuf messages a type has its short name.
    let (widget, meta) = match cfg!(feature = "protobuf") {
        true => (
            "com.example.v1.Widget",
            "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
        ),
        false => ("Widget", "ObjectMeta"),
    };
    let widget = &schemas[widget];
    assert_eq!(widget["properties"]["spec"], spec);
    assert_eq!(widget["properties"]["kind"]["type"], "string");
    let metadata = &widget["properties"]["metadata"]["allOf"][0]["$ref"];
    assert_eq!(metadata, &format!("#/components/schemas/{meta}"));
    assert!(schemas[meta].is_object());
    let kinds = &widget["x-kubernetes-group-version-kind"];
    assert_eq!(kinds[0]["kind"], "Widget");
}
