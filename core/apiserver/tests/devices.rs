//! What the kinds of devices refuse and fill in, by the source of v1.36.

use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

use crate::rare_kinds::{made, mistakes, refused, send};

const CLAIMS: &str = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
const CLASSES: &str = "/apis/resource.k8s.io/v1/deviceclasses";
const SLICES: &str = "/apis/resource.k8s.io/v1/resourceslices";

fn claim(devices: Value) -> Value {
    json!({"metadata": {"name": "x"}, "spec": {"devices": devices}})
}

fn request(name: &str) -> Value {
    json!({"name": name, "exactly": {"deviceClassName": "c"}})
}

#[test]
fn a_request_gets_one_device_if_it_does_not_say_how_many() {
    let mut server = ApiServer::default();
    let made = made(
        &mut server,
        CLAIMS,
        &claim(json!({"requests": [request("r")]})),
    );
    assert_eq!(
        made["spec"]["devices"]["requests"][0]["exactly"],
        json!({"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1})
    );
    let change = json!({"spec": {"devices": {"requests": [request("s")]}}});
    let answer = send(&mut server, "PATCH", &format!("{CLAIMS}/x"), &change);
    assert_eq!(
        mistakes(answer),
        [
            "spec: Invalid value: {\"Devices\":{\"Requests\":[{\"Name\":\"s\",\"Exactly\":\
             {\"DeviceClassName\":\"c\",\"Selectors\":null,\"AllocationMode\":\"ExactCount\",\
             \"Count\":1,\"AdminAccess\":null,\"Tolerations\":null,\"Capacity\":null},\
             \"FirstAvailable\":null}],\"Constraints\":null,\"Config\":null}}: field is immutable"
        ]
    );
}

#[test]
fn a_request_is_exact_or_has_alternatives() {
    let both = json!({"name": "b", "exactly": {"deviceClassName": "c"},
        "firstAvailable": [{"name": "a", "deviceClassName": "c"}]});
    let counted = json!({"name": "r", "exactly": {"deviceClassName": "",
        "allocationMode": "All", "count": 2, "selectors": [{}]}});
    let odd = json!({"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "c",
        "allocationMode": "Some", "tolerations": [
            {"operator": "Exists", "value": "v"}, {"operator": "Like", "effect": "Never"}]}]});
    let one = "exactly one of `exactly` or `firstAvailable` is required";
    assert_eq!(
        refused(CLAIMS, &claim(json!({"requests": [{"name": "n"}, both, counted, odd]}))),
        [
            format!("spec.devices.requests[0]: Required value: {one}"),
            format!(
                "spec.devices.requests[1]: Invalid value: null: {one}, but multiple fields are set"
            ),
            "spec.devices.requests[2].exactly.deviceClassName: Required value".to_owned(),
            "spec.devices.requests[2].exactly.selectors[0].cel: Required value".to_owned(),
            "spec.devices.requests[2].exactly.count: Invalid value: 2: must not be specified when \
             allocationMode is 'All'"
                .to_owned(),
            "spec.devices.requests[3].firstAvailable[0].allocationMode: Unsupported value: \
             \"Some\": supported values: \"All\", \"ExactCount\""
                .to_owned(),
            "spec.devices.requests[3].firstAvailable[0].tolerations[0].value: Invalid value: \"v\": \
             must be empty for operator `Exists`"
                .to_owned(),
            "spec.devices.requests[3].firstAvailable[0].tolerations[1].operator: Unsupported value: \
             \"Like\": supported values: \"Equal\", \"Exists\""
                .to_owned(),
            "spec.devices.requests[3].firstAvailable[0].tolerations[1].effect: Unsupported value: \
             \"Never\": supported values: \"NoExecute\", \"NoSchedule\", \"None\""
                .to_owned(),
            "spec.devices.requests[3]: Duplicate value: \"r\"".to_owned(),
        ]
    );
}

#[test]
fn constraints_and_configurations_name_requests_of_the_claim() {
    let devices = json!({
        "requests": [request("r")],
        "constraints": [{"requests": ["r", "s"], "matchAttribute": "a/b/c"},
            {"matchAttribute": "model"}, {}],
        "config": [{}, {"opaque": {"driver": "d", "parameters": [1]}}],
    });
    let name = "must be the name of a request in the claim or the name of a request and a \
                subrequest separated by '/'";
    assert_eq!(
        refused(CLAIMS, &claim(devices)),
        [
            format!("spec.devices.constraints[0].requests[1]: Invalid value: \"s\": {name}"),
            "spec.devices.constraints[1].matchAttribute: Invalid value: \"model\": a fully \
             qualified name must be a domain and a name separated by a slash"
                .to_owned(),
            "spec.devices.constraints[2]: Required value: exactly one of \"matchAttribute\" or \
             \"distinctAttribute\" is required, but multiple fields are set"
                .to_owned(),
            "spec.devices.config[0].opaque: Required value".to_owned(),
            "spec.devices.config[1].opaque.parameters: Invalid value: \"<value omitted>\": must be a \
             valid JSON object"
                .to_owned(),
        ]
    );
    let many: Vec<Value> = (0..33).map(|i| request(&format!("r{i}"))).collect();
    assert_eq!(
        refused(CLAIMS, &claim(json!({"requests": many}))),
        ["spec.devices.requests: Too many: 33: must have at most 32 items"]
    );
}

#[test]
fn a_claim_is_reserved_after_it_got_devices_and_keeps_them() {
    let mut server = ApiServer::default();
    made(
        &mut server,
        CLAIMS,
        &claim(json!({"requests": [request("r")]})),
    );
    let path = format!("{CLAIMS}/x/status");
    let users = json!([{"resource": "pods", "name": "p", "uid": "u"}]);
    let status = json!({"status": {"reservedFor": users}});
    assert_eq!(
        mistakes(send(&mut server, "PATCH", &path, &status)),
        ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"]
    );
    let device = json!({"driver": "d.example.com", "pool": "p", "device": "gpu-0"});
    let result = |request: &str| {
        let mut result = device.clone();
        result["request"] = request.into();
        json!({"devices": {"results": [result]}})
    };
    let status = json!({"status": {"allocation": result("s")}});
    assert_eq!(
        mistakes(send(&mut server, "PATCH", &path, &status)).len(),
        1
    );
    let status = json!({"metadata": {"labels": {"a": "b"}}, "status": {
        "allocation": result("r"), "reservedFor": users, "devices": [device]}});
    let (code, claim) = send(&mut server, "PATCH", &path, &status);
    assert_eq!(code, 200, "{claim}");
    assert_eq!(claim["metadata"].get("labels"), None);
    let other = json!({"status": {"allocation": {"allocationTimestamp": "2026-01-01T00:00:00Z"}}});
    let found = mistakes(send(&mut server, "PATCH", &path, &other));
    assert!(found[0].starts_with("status.allocation: Invalid value: {\"Devices\":"));
    assert!(found[0].ends_with(": field is immutable"));
    let gone = json!({"status": {"allocation": null, "reservedFor": null}});
    let (code, claim) = send(&mut server, "PATCH", &path, &gone);
    assert_eq!(code, 200, "{claim}");
    assert_eq!(claim["status"].get("devices"), None);
}

#[test]
fn a_class_of_devices_may_stand_for_an_extended_resource() {
    let class = |spec: Value| json!({"metadata": {"name": "x"}, "spec": spec});
    assert_eq!(
        refused(CLASSES, &class(json!({"extendedResourceName": "cpu"}))),
        [
            "spec.extendedResourceName: Invalid value: \"cpu\": must be a valid extended resource name"
        ]
    );
    let fine = class(json!({"extendedResourceName": "example.com/gpu"}));
    let made = made(&mut ApiServer::default(), CLASSES, &fine);
    assert_eq!(made["metadata"]["generation"], 1);
}

fn slice(devices: Value) -> Value {
    json!({"metadata": {"name": "x"}, "spec": {
        "driver": "d.example.com", "nodeName": "n", "devices": devices,
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}})
}

#[test]
fn a_slice_is_for_certain_nodes_and_a_pool() {
    let nothing = json!({"metadata": {"name": "x"}, "spec": {"driver": "",
        "pool": {"name": "a//b", "generation": -1, "resourceSliceCount": 0},
        "nodeName": "", "allNodes": false}});
    let found = refused(SLICES, &nothing);
    let starts = [
        "spec.driver: Required value",
        "spec.pool.name: Invalid value: \"\": a lowercase RFC 1123 subdomain",
        "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
        "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
        "spec.nodeName: Invalid value: \"\": must be either unset or set to a non-empty string",
        "spec.allNodes: Invalid value: false: must be either unset or set to true",
        "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, \
         `perDeviceNodeSelection` is required",
    ];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    for (found, start) in found.iter().zip(starts) {
        assert!(found.starts_with(start), "{found}");
    }
    let mut server = ApiServer::default();
    made(&mut server, SLICES, &slice(json!([])));
    let change = json!({"spec": {"nodeName": "m", "allNodes": true}});
    assert_eq!(
        mistakes(send(&mut server, "PATCH", &format!("{SLICES}/x"), &change)),
        [
            "spec.nodeName: Invalid value: \"m\": field is immutable",
            "spec: Invalid value: \"{`nodeName`, `allNodes`}\": exactly one of `nodeName`, \
             `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields \
             are set",
        ]
    );
}

#[test]
fn a_device_has_one_value_for_each_attribute() {
    let device = json!({"name": "d", "nodeName": "n", "attributes": {
        "two": {"int": 1, "bool": true}, "v": {"version": "1.02.0"}, "1x": {"string": "a"}}});
    assert_eq!(
        refused(SLICES, &slice(json!([device]))),
        [
            "spec.devices[0].attributes: Invalid value: \"1x\": a valid C identifier must start \
             with alphabetic character or '_', followed by a string of alphanumeric characters or \
             '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is \
             '[A-Za-z_][A-Za-z0-9_]*')",
            "spec.devices[0].attributes[two]: Invalid value: {\"IntValue\":1,\"BoolValue\":true,\
             \"StringValue\":null,\"VersionValue\":null,\"IntValues\":null,\"BoolValues\":null,\
             \"StringValues\":null,\"VersionValues\":null}: exactly one value must be specified",
            "spec.devices[0].attributes[v].version: Invalid value: \"1.02.0\": must be a string \
             compatible with semver.org spec 2.0.0",
            "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can \
             only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
        ]
    );
    let listed = json!({"name": "d", "attributes": {"a": {"int": 1, "ints": [1, 2]}}});
    let made = made(&mut ApiServer::default(), SLICES, &slice(json!([listed])));
    assert_eq!(
        made["spec"]["devices"][0]["attributes"]["a"],
        json!({"int": 1})
    );
}

#[test]
fn a_capacity_is_shared_by_steps_or_by_values() {
    let shared = |policy: Value, is_shared: bool| {
        let capacity = json!({"memory": {"value": "8Gi", "requestPolicy": policy}});
        slice(json!([{"name": "d", "capacity": capacity, "allowMultipleAllocations": is_shared}]))
    };
    let values = json!({"default": "3Gi", "validValues": ["4Gi", "2Gi", "16Gi"]});
    let path = "spec.devices[0].capacity[memory].requestPolicy";
    assert_eq!(
        refused(SLICES, &shared(values.clone(), false)),
        [format!(
            "{path}: Forbidden: allowMultipleAllocations must be true"
        )]
    );
    assert_eq!(
        refused(SLICES, &shared(values, true)),
        [
            format!(
                "{path}.validValues[1]: Invalid value: \"2Gi\": values must be sorted in ascending \
                 order"
            ),
            format!(
                "{path}.validValues[2]: Invalid value: \"16Gi\": option is larger than capacity \
                 value: 8Gi"
            ),
            format!(
                "{path}.validValues: Invalid value: \"3Gi\": default value is not valid according \
                 to the requestPolicy"
            ),
        ]
    );
    let range =
        json!({"default": "3Gi", "validRange": {"min": "1Gi", "max": "9Gi", "step": "4Gi"}});
    assert_eq!(
        refused(SLICES, &shared(range, true)),
        [
            format!(
                "{path}.validRange.max: Invalid value: \"9Gi\": max is larger than capacity value: 8Gi"
            ),
            format!(
                "{path}.validRange.step: Invalid value: \"3Gi\": value is not a multiple of a given \
                 step (4Gi) from (1Gi)"
            ),
        ]
    );
}

#[test]
fn slices_are_selected_by_node_and_driver() {
    let mut server = ApiServer::default();
    made(&mut server, SLICES, &slice(json!([])));
    let mut count = |selector: &str| {
        let path = format!("{SLICES}?fieldSelector={selector}");
        let (_, answer) = send(&mut server, "GET", &path, &Value::Null);
        answer["items"].as_array().map(Vec::len)
    };
    assert_eq!(count("spec.nodeName%3Dn"), Some(1));
    assert_eq!(count("spec.driver%3Dother"), Some(0));
    assert_eq!(count("spec.pool%3Dp"), None);
}

/// `validateCELSelector`.
#[test]
fn a_selector_of_devices_is_an_expression_about_a_device() {
    let class = |expression: &str| {
        json!({"metadata": {"name": "x"},
            "spec": {"selectors": [{"cel": {"expression": expression}}]}})
    };
    let field = "spec.selectors[0].cel.expression: Invalid value:";
    for (expression, why) in [
        (
            "1.5",
            "must evaluate to bool or the unknown type, not double",
        ),
        (
            "x",
            "compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n \
             | x\n | ^",
        ),
        (
            "",
            "compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting \
             {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, \
             STRING, BYTES, IDENTIFIER}",
        ),
    ] {
        let told = refused(CLASSES, &class(expression));
        assert_eq!(told, [format!("{field} \"{expression}\": {why}")]);
    }
    let known = "device.driver == 'd' && device.attributes['d'].model == 'm'";
    made(&mut ApiServer::default(), CLASSES, &class(known));
}

/// `ValidateResourceClaimUpdate`, and `ReturnDeletedObject` of the store.
#[test]
fn a_claim_that_changes_is_refused_for_that_alone_and_shown_when_it_is_deleted() {
    let mut server = ApiServer::default();
    made(
        &mut server,
        CLAIMS,
        &claim(json!({"requests": [request("r")]})),
    );
    let path = format!("{CLAIMS}/x");
    let change = json!({"spec": {"devices": {"requests": [request("A B")]}}});
    let told = mistakes(send(&mut server, "PATCH", &path, &change));
    assert!(
        matches!(&told[..], [one] if one.ends_with("field is immutable")),
        "{told:?}"
    );
    let (code, deleted) = send(&mut server, "DELETE", &path, &json!({}));
    assert_eq!((code, &deleted["kind"]), (200, &"ResourceClaim".into()));
}

/// `ValidateTemplateObjectMeta`.
#[test]
fn the_metadata_of_a_template_of_claims_has_labels_and_annotations_only() {
    let path = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates";
    let template = json!({"metadata": {"name": "x"}, "spec": {
        "metadata": {"name": "n", "uid": "u", "labels": {"a": "b"}}, "spec": {}}});
    assert_eq!(
        refused(path, &template),
        [
            "spec.metadata.name: Forbidden: cannot be set",
            "spec.metadata.uID: Forbidden: cannot be set",
        ]
    );
}
