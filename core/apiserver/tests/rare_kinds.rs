//! Refusals and defaults of kinds that few clients write and no recording shows, by the source of
//! v1.36.

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

pub(crate) fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let mut request = Request::builder().method(method).uri(path);
    if method == "PATCH" {
        request = request.header("content-type", "application/merge-patch+json");
    }
    let request = request.body(body.to_string().into_bytes()).unwrap();
    let response = server.handle(request);
    let body = serde_json::from_slice(response.body()).unwrap();
    (response.status().as_u16(), body)
}

pub(crate) fn made(server: &mut ApiServer, path: &str, body: &Value) -> Value {
    let (code, answer) = send(server, "POST", path, body);
    assert_eq!(code, 201, "{answer}");
    answer
}

/// The mistakes that an answer names, one after the other.
pub(crate) fn mistakes((code, answer): (u16, Value)) -> Vec<String> {
    assert_eq!(code, 422, "{answer}");
    let causes = answer["details"]["causes"].as_array().unwrap();
    let told = causes.iter().map(|cause| {
        let of = |member: &str| cause[member].as_str().unwrap();
        format!("{}: {}", of("field"), of("message"))
    });
    told.collect()
}

pub(crate) fn refused(path: &str, body: &Value) -> Vec<String> {
    mistakes(send(&mut ApiServer::default(), "POST", path, body))
}

const FLOWS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
const LEVELS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";

fn flow(name: &str, spec: Value) -> Value {
    json!({"metadata": {"name": name}, "spec": spec})
}

#[test]
fn a_flow_schema_names_a_level_and_rules_that_match_something() {
    let spec = json!({"priorityLevelConfiguration": {"name": "x"}});
    let made = made(&mut ApiServer::default(), FLOWS, &flow("x", spec));
    assert_eq!(made["spec"]["matchingPrecedence"], 1000);
    assert_eq!(
        refused(
            FLOWS,
            &flow(
                "x",
                json!({
                    "matchingPrecedence": 1, "priorityLevelConfiguration": {"name": ""},
                    "distinguisherMethod": {"type": "ByAge"}, "rules": [{"subjects": []}],
                })
            )
        ),
        [
            "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have \
             matchingPrecedence 1",
            "spec.distinguisherMethod.type: Unsupported value: {\"Type\":\"ByAge\"}: supported values: \
             \"ByNamespace\", \"ByUser\"",
            "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
            "spec.rules[0].subjects: Required value: subjects must contain at least one value",
            "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to \
             be non-empty",
        ]
    );
    let rule = json!({
        "subjects": [{"kind": "User", "group": {"name": "g"}}, {"kind": "Robot"},
            {"kind": "ServiceAccount", "serviceAccount": {"name": "*"}}],
        "resourceRules": [{"verbs": ["*", "get"], "apiGroups": ["*", "a"], "resources": []}],
        "nonResourceRules": [{"verbs": ["look"], "nonResourceURLs": ["a", "/b//c", "/d*", "/e/*"]}],
    });
    let spec = json!({"priorityLevelConfiguration": {"name": "x"}, "rules": [rule]});
    assert_eq!(
        refused(FLOWS, &flow("x", spec)),
        [
            "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is \
             'User'",
            "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not \
             'Group'",
            "spec.rules[0].subjects[1].kind: Unsupported value: \"Robot\": supported values: \
             \"Group\", \"ServiceAccount\", \"User\"",
            "spec.rules[0].subjects[2].serviceAccount.namespace: Required value: must specify \
             namespace for service account",
            "spec.rules[0].resourceRules[0].verbs: Invalid value: [\"*\",\"get\"]: if '*' is present, \
             must not specify other verbs",
            "spec.rules[0].resourceRules[0].apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is \
             present, must not specify other api groups",
            "spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at \
             least one resource",
            "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not \
             cluster scoped must supply at least one namespace",
            "spec.rules[0].nonResourceRules[0].verbs: Unsupported value: [\"look\"]: supported \
             values: \"create\", \"delete\", \"deletecollection\", \"get\", \"list\", \"patch\", \
             \"proxy\", \"update\", \"watch\"",
            "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: \"a\": must start \
             with slash",
            "spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: \"/b//c\": must not \
             contain double slash",
            "spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: \"/d*\": wildcard \
             can only do suffix matching",
        ]
    );
}

#[test]
fn a_priority_level_has_the_members_of_its_type_and_numbers_that_fit() {
    let limited = |limited: Value| flow("x", json!({"type": "Limited", "limited": limited}));
    let queue = json!({"limitResponse": {"type": "Queue", "queuing": {}}});
    let made = made(&mut ApiServer::default(), LEVELS, &limited(queue));
    assert_eq!(
        made["spec"]["limited"],
        json!({
            "nominalConcurrencyShares": 30, "lendablePercent": 0,
            "limitResponse": {"type": "Queue",
                "queuing": {"queues": 64, "handSize": 8, "queueLengthLimit": 50}},
        })
    );
    let queuing = json!({"queues": 512, "handSize": 8, "queueLengthLimit": -1});
    let response = json!({"type": "Queue", "queuing": queuing});
    let shares = json!({"nominalConcurrencyShares": -1, "lendablePercent": 101,
        "borrowingLimitPercent": -1, "limitResponse": response});
    assert_eq!(
        refused(LEVELS, &limited(shares)),
        [
            "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
            "spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive",
            "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of \
             deckSize 512 and handSize 8 should not be greater than 60",
            "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
            "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a \
             non-negative integer",
        ]
    );
    assert_eq!(
        refused(LEVELS, &flow("x", json!({"type": "Limited", "exempt": {}}))),
        [
            "spec.exempt: Forbidden: must be nil if the type is Limited",
            "spec.limited: Required value: must not be empty when type is Limited",
        ]
    );
    let renamed = json!({"type": "Exempt", "exempt": {"lendablePercent": 5}});
    assert_eq!(
        refused(LEVELS, &flow("x", renamed.clone())),
        [
            "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"
        ]
    );
    assert_eq!(
        send(
            &mut ApiServer::default(),
            "POST",
            LEVELS,
            &flow("exempt", renamed)
        )
        .0,
        201
    );
    let reject = json!({"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}});
    assert_eq!(
        refused(LEVELS, &flow("catch-all", reject)),
        [
            "spec: Invalid value: {\"Type\":\"Limited\",\"Limited\":{\"NominalConcurrencyShares\":30,\
             \"LimitResponse\":{\"Type\":\"Reject\",\"Queuing\":null},\"LendablePercent\":0,\
             \"BorrowingLimitPercent\":null},\"Exempt\":null}: spec of 'catch-all' must equal the \
             fixed value"
        ]
    );
}

#[test]
fn a_status_of_flow_control_has_each_condition_once() {
    let mut server = ApiServer::default();
    let spec = json!({"priorityLevelConfiguration": {"name": "x"}});
    made(&mut server, FLOWS, &flow("x", spec));
    let status = json!({"status": {"conditions": [{"type": "A"}, {"type": "A"}, {}]}});
    let answer = send(&mut server, "PATCH", &format!("{FLOWS}/x/status"), &status);
    assert_eq!(
        mistakes(answer),
        [
            "status.conditions[1].type: Duplicate value: \"A\"",
            "status.conditions[2].type: Required value",
        ]
    );
}

#[test]
fn a_revision_of_a_controller_keeps_its_data() {
    let path = "/apis/apps/v1/namespaces/default/controllerrevisions";
    let revision = |data: Value, revision: i64| json!({"metadata": {"name": "x"}, "data": data, "revision": revision});
    assert_eq!(
        refused(path, &revision(Value::Null, -1)),
        [
            "revision: Invalid value: -1: must be greater than or equal to 0",
            "data: Required value: data is mandatory",
        ]
    );
    assert_eq!(
        refused(path, &revision(json!([1]), 1)),
        ["data: Required value: data must be a valid JSON object"]
    );
    let mut server = ApiServer::default();
    let mut live = made(&mut server, path, &revision(json!({"b": 1, "a": {}}), 1));
    let owned = &live["metadata"]["managedFields"][0]["fieldsV1"];
    assert_eq!(owned, &json!({"f:data": {}, "f:revision": {}}));
    live["revision"] = 2.into();
    assert_eq!(send(&mut server, "PUT", &format!("{path}/x"), &live).0, 200);
    let change = json!({"data": {"b": 2}});
    let answer = send(&mut server, "PATCH", &format!("{path}/x"), &change);
    assert_eq!(
        mistakes(answer),
        ["data: Invalid value: {\"a\":{},\"b\":2}: field is immutable"]
    );
}

#[test]
fn an_address_is_named_by_itself_and_says_whose_it_is() {
    let path = "/apis/networking.k8s.io/v1/ipaddresses";
    let address = |name: &str, parent: Value| json!({"metadata": {"name": name}, "spec": {"parentRef": parent}});
    assert_eq!(
        refused(path, &address("2001:DB8::1", json!({"resource": "a/b"}))),
        [
            "metadata.name: Invalid value: \"2001:DB8::1\": must be in canonical form \
             (\"2001:db8::1\")",
            "spec.parentRef.resource: Invalid value: \"a/b\": may not contain '/'",
            "spec.parentRef.name: Required value",
        ]
    );
    assert_eq!(
        refused(path, &address("x", Value::Null)),
        [
            "metadata.name: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or \
             2001:db8::ffff)",
            "spec.parentRef: Required value",
        ]
    );
    let mut server = ApiServer::default();
    let parent = json!({"resource": "services", "namespace": "n", "name": "s"});
    made(&mut server, path, &address("10.0.0.7", parent));
    let other = json!({"spec": {"parentRef": {"name": "t"}}});
    let answer = send(&mut server, "PATCH", &format!("{path}/10.0.0.7"), &other);
    assert_eq!(
        mistakes(answer),
        [
            "spec.parentRef: Invalid value: {\"Group\":\"\",\"Resource\":\"services\",\
             \"Namespace\":\"n\",\"Name\":\"t\"}: field is immutable"
        ]
    );
}

#[test]
fn ranges_of_services_are_exact_and_stay() {
    let path = "/apis/networking.k8s.io/v1/servicecidrs";
    let ranges = |ranges: Value| json!({"metadata": {"name": "x"}, "spec": {"cidrs": ranges}});
    assert_eq!(
        refused(path, &ranges(json!([]))),
        ["spec.cidrs: Required value: at least one CIDR required"]
    );
    assert_eq!(
        refused(path, &ranges(json!(["10.1.0.0/16", "10.2.0.1/16"]))),
        [
            "spec.cidrs[1]: Invalid value: \"10.2.0.1/16\": must not have bits set beyond the prefix \
             length",
            "spec.cidrs: Invalid value: [\"10.1.0.0/16\",\"10.2.0.1/16\"]: may specify no more than \
             one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
        ]
    );
    assert_eq!(
        refused(path, &ranges(json!(["a", "b", "c"]))),
        [
            "spec.cidrs: Invalid value: {\"CIDRs\":[\"a\",\"b\",\"c\"]}: may only hold up to 2 values"
        ]
    );
    let mut server = ApiServer::default();
    made(&mut server, path, &ranges(json!(["10.1.0.0/16"])));
    let object = format!("{path}/x");
    let mut change = |ranges: Value| {
        let body = json!({"spec": {"cidrs": ranges}});
        send(&mut server, "PATCH", &object, &body)
    };
    assert_eq!(
        mistakes(change(json!(["10.2.0.0/16"]))),
        ["spec.cidrs[0]: Invalid value: \"10.2.0.0/16\": field is immutable"]
    );
    assert_eq!(
        mistakes(change(json!(["10.1.0.0/16", "2001:DB8::/64"]))),
        [
            "spec.cidrs[1]: Invalid value: \"2001:DB8::/64\": must be in canonical form \
             (\"2001:db8::/64\")"
        ]
    );
    assert_eq!(change(json!(["10.1.0.0/16", "2001:db8::/64"])).0, 200);
    assert_eq!(
        mistakes(change(json!(["10.1.0.0/16"]))),
        ["spec.cidrs: Invalid value: [\"10.1.0.0/16\"]: field is immutable"]
    );
    let status = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"cidrs": ["1.0.0.0/8"]},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "R",
            "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}});
    let (code, written) = send(&mut server, "PATCH", &format!("{object}/status"), &status);
    assert_eq!(code, 200, "{written}");
    assert_eq!(
        written["spec"]["cidrs"],
        json!(["10.1.0.0/16", "2001:db8::/64"])
    );
    assert_eq!(written["metadata"].get("labels"), None);
    assert_eq!(written["status"]["conditions"][0]["type"], "Ready");
}

#[test]
fn an_attachment_names_one_volume_and_stays() {
    let path = "/apis/storage.k8s.io/v1/volumeattachments";
    let attachment = |spec: Value| json!({"metadata": {"name": "x"}, "spec": spec});
    let nothing = json!({"attacher": "", "nodeName": "N", "source": {}});
    let found = refused(path, &attachment(nothing));
    assert_eq!(found[0], "spec.attacher: Required value");
    assert_eq!(
        found[1],
        "spec.source: Required value: must specify exactly one of inlineVolumeSpec and \
         persistentVolumeName"
    );
    assert!(found[2].starts_with("spec.nodeName: Invalid value: \"N\": a lowercase RFC 1123"));
    let inline = json!({"attacher": "d", "nodeName": "n", "source": {"inlineVolumeSpec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Delete", "hostPath": {"path": "/a"},
        "storageClassName": "s"}}});
    let within = "spec.source.inlineVolumeSpec.";
    let told = |text: &str| format!("{within}{text} in the context of inline volumes");
    assert_eq!(
        refused(path, &attachment(inline)),
        [
            told("capacity: Forbidden: may not be specified"),
            told("csi: Required value: has to be specified"),
            told("persistentVolumeReclaimPolicy: Forbidden: may only be Retain"),
            told("storageClassName: Forbidden: may not be specified"),
        ]
    );
    let mut server = ApiServer::default();
    let spec = json!({"attacher": "d.example.com", "nodeName": "n",
        "source": {"persistentVolumeName": "v"}});
    let live = made(&mut server, path, &attachment(spec));
    let mut moved = live;
    moved["spec"]["nodeName"] = "m".into();
    let answer = send(&mut server, "PUT", &format!("{path}/x"), &moved);
    assert_eq!(
        mistakes(answer),
        [
            "spec: Invalid value: {\"Attacher\":\"d.example.com\",\"Source\":\
             {\"PersistentVolumeName\":\"v\",\"InlineVolumeSpec\":null},\"NodeName\":\"m\"}: field is \
             immutable"
        ]
    );
    let status = json!({"status": {"attached": true, "attachError": {"errorCode": -1}}});
    let answer = send(&mut server, "PATCH", &format!("{path}/x/status"), &status);
    let wrong = "status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, \
                 inclusive";
    assert_eq!(mistakes(answer), [wrong, wrong]);
}

#[test]
fn attributes_of_volumes_have_a_driver_and_stay() {
    let path = "/apis/storage.k8s.io/v1/volumeattributesclasses";
    let class = |driver: &str, parameters: Value| json!({"metadata": {"name": "x"}, "driverName": driver, "parameters": parameters});
    assert_eq!(
        refused(path, &class("", json!({}))),
        [
            "driverName: Required value",
            "parameters: Required value: must contain at least one key/value pair",
        ]
    );
    let mut server = ApiServer::default();
    let made = made(&mut server, path, &class("d", json!({"a": "1"})));
    let protected = json!(["kubernetes.io/vac-protection"]);
    assert_eq!(made["metadata"]["finalizers"], protected);
    let change = json!({"driverName": "e", "parameters": {"a": "2"}});
    assert_eq!(
        mistakes(send(&mut server, "PATCH", &format!("{path}/x"), &change)),
        [
            "driverName: Forbidden: updates to driverName are forbidden.",
            "parameters: Forbidden: updates to parameters are forbidden.",
        ]
    );
}

/// `csiDriverStrategy`.
#[test]
fn a_driver_of_volumes_counts_its_changes_and_is_warned_of_its_tokens() {
    let path = "/apis/storage.k8s.io/v1/csidrivers";
    let driver = json!({"metadata": {"name": "x"}, "spec": {}});
    let mut server = ApiServer::default();
    let new = made(&mut server, path, &driver);
    assert_eq!(new["metadata"].get("generation"), None);
    let path = format!("{path}/x");
    let change = json!({"spec": {"tokenRequests": [{"audience": "a"}]}});
    let (_, changed) = send(&mut server, "PATCH", &path, &change);
    assert_eq!(changed["metadata"]["generation"], 1);
    let (code, deleted) = send(&mut server, "DELETE", &path, &json!({}));
    assert_eq!((code, &deleted["kind"]), (200, &"CSIDriver".into()));
}

/// `ValidateMutatingAdmissionPolicy` and `ValidateMutatingAdmissionPolicyBinding`.
#[test]
fn a_policy_that_changes_objects_says_what_it_changes_and_how() {
    let path = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
    let policy = |spec: Value| json!({"metadata": {"name": "x"}, "spec": spec});
    assert_eq!(
        refused(path, &policy(json!({}))),
        [
            "spec.matchConstraints: Required value",
            "spec.mutations: Required value: mutations must contain at least one item",
            "spec.reinvocationPolicy: Required value",
        ]
    );
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"],
        "operations": ["DELETE"]});
    let mutations = json!([
        {"patchType": "JSONPatch", "jsonPatch": {"expression": "object.spec"}},
        {"patchType": "JSONPatch", "applyConfiguration": {"expression": "1"}},
        {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "true"}},
        {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}},
        {"patchType": "Merge"},
        {},
    ]);
    let spec = json!({"reinvocationPolicy": "Always", "mutations": mutations,
        "matchConstraints": {"resourceRules": [rule]}});
    assert_eq!(
        refused(path, &policy(spec)),
        [
            "spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": \
             supported values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\"",
            "spec.mutations[0].jsonPatch.expression: Invalid value: \"object.spec\": must evaluate \
             to list(JSONPatch) but got dyn",
            "spec.mutations[1].jsonPatch: Required value: must be specified when patchType is \
             JSONPatch",
            "spec.mutations[1].applyConfiguration: Invalid value: \"{applyConfiguration}\": must \
             not be specified when patchType is JSONPatch",
            "spec.mutations[2].applyConfiguration.expression: Invalid value: \"true\": must evaluate \
             to Object but got bool",
            "spec.mutations[4].patchType: Unsupported value: \"Merge\": supported values: \
             \"ApplyConfiguration\", \"JSONPatch\"",
            "spec.mutations[5].patchType: Required value",
            "spec.reinvocationPolicy: Unsupported value: \"Always\": supported values: \
             \"IfNeeded\", \"Never\"",
        ]
    );
    let path = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings";
    assert_eq!(
        refused(path, &policy(json!({"paramRef": {"name": "x"}}))),
        [
            "spec.policyName: Required value",
            "spec.paramRef.parameterNotFoundAction: Required value",
        ]
    );
}
