//! Checks that pods and their templates share (`ValidatePodTemplateSpec` and `ValidatePodSpec` of
//! `pkg/apis/core/validation`). Rules that no feature of the default set reaches are left out.

use std::collections::BTreeSet;

use serde_json::Value;

use super::label_selector::list;
use super::{
    containers, ephemeral_containers, metadata, names, pod_annotations, pod_host, pod_profiles,
    pod_resources, pod_scheduling, pod_windows, resources, volumes,
};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

/// Checks a template.
pub(super) fn validate(template: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = metadata_errors(template, path);
    let (spec, given) = (&template["spec"], &template["metadata"]["annotations"]);
    errors.extend(spec_errors(spec, &path.child("spec"), None));
    errors.extend(pod_profiles::agree(given, spec, &path.child("spec")));
    if !list(spec, "ephemeralContainers").is_empty() {
        let detail = "ephemeral containers not allowed in pod template";
        let field = path.child("spec.ephemeralContainers");
        errors.push(FieldError::forbidden(field, detail));
    }
    errors
}

/// Checks the labels and the annotations of a template.
pub(super) fn metadata_errors(template: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let meta = &template["metadata"];
    let mut errors = metadata::labels(meta.get("labels"), &path.child("labels"));
    let path = path.child("annotations");
    errors.extend(metadata::annotations(meta.get("annotations"), &path));
    let (given, spec) = (&meta["annotations"], &template["spec"]);
    errors.extend(pod_annotations::validate(given, spec, &path));
    errors
}

/// Checks the spec of a pod, or of a template. The order of the errors is upstream's.
pub(super) fn spec_errors(
    spec: &Value,
    path: &ErrorPath<'_>,
    pod: Option<&Value>,
) -> Vec<FieldError> {
    let mut errors = containers_errors(spec, path, pod);
    errors.extend(placement_errors(spec, path));
    errors.extend(identity_errors(spec, path));
    errors
}

/// The volumes and containers, and how they run.
fn containers_errors(spec: &Value, path: &ErrorPath<'_>, pod: Option<&Value>) -> Vec<FieldError> {
    let field = |name: &'static str| path.child(name);
    let (known, mut errors) = volumes::validate(list(spec, "volumes"), pod, &field("volumes"));
    errors.extend(pod_resources::claims(spec, pod, &field("resourceClaims")));
    let of_pod = pod.is_some();
    let grace = spec["terminationGracePeriodSeconds"].as_i64().unwrap_or(0);
    let pod = containers::PodContext {
        volumes: known,
        grace,
        restarts: text(spec, "restartPolicy"),
        host_users: spec["hostUsers"] != false,
        claims: pod_resources::claim_names(spec),
    };
    let (regular, init) = (list(spec, "containers"), list(spec, "initContainers"));
    errors.extend(containers::regular(regular, &pod, &field("containers")));
    let path_of_init = field("initContainers");
    errors.extend(containers::init(init, regular, &pod, &path_of_init));
    let ephemeral = list(spec, "ephemeralContainers");
    if !ephemeral.is_empty() {
        let others: Vec<&Value> = regular.iter().chain(init).collect();
        let path = field("ephemeralContainers");
        errors.extend(ephemeral_containers::validate(
            ephemeral, &others, &pod, &path,
        ));
    }
    errors.extend(pod_resources::validate(spec, path));
    if spec["hostNetwork"] == true {
        errors.extend(host_ports_of_the_host(spec, path, of_pod));
    }
    let name = "restartPolicy";
    let policies = ["Always", "OnFailure", "Never"];
    errors.extend(one_of(spec, &field(name), name, &policies));
    let name = "dnsPolicy";
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    errors.extend(one_of(spec, &field(name), name, &policies));
    errors
}

/// Checks the rules that choose the pod's node, and its settings on the host.
fn placement_errors(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let field = |name: &'static str| path.child(name);
    let mut errors = metadata::labels(spec.get("nodeSelector"), &field("nodeSelector"));
    errors.extend(pod_host::security(spec, &field("securityContext")));
    errors.extend(pod_scheduling::affinity(
        &spec["affinity"],
        &field("affinity"),
    ));
    errors.extend(pod_host::dns(spec, &field("dnsConfig")));
    for (i, gate) in list(spec, "readinessGates").iter().enumerate() {
        let condition = text(gate, "conditionType");
        let item = path.item("readinessGates", i);
        let field = item.child("conditionType");
        let reasons = names::qualified(condition).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &condition.into(), why)));
    }
    errors.extend(gates(spec, &field("schedulingGates")));
    errors.extend(pod_scheduling::spread(
        list(spec, "topologySpreadConstraints"),
        &field("topologySpreadConstraints"),
    ));
    errors.extend(pod_windows::host_processes(spec, path));
    errors.extend(pod_host::own_users(spec, path));
    errors.extend(pod_host::hostname(spec, &field("hostnameOverride")));
    errors
}

/// The names and limits of the pod.
fn identity_errors(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let field = |name: &'static str| path.child(name);
    let mut errors = Vec::new();
    for name in ["serviceAccountName", "nodeName"] {
        errors.extend(named(spec, &field(name), name, names::subdomain));
    }
    if let Some(seconds) = spec["activeDeadlineSeconds"].as_i64() {
        let reasons = names::in_range(seconds, 1, i64::from(i32::MAX)).into_iter();
        let field = field("activeDeadlineSeconds");
        errors.extend(reasons.map(|why| FieldError::invalid(field, &seconds.into(), why)));
    }
    for name in ["hostname", "subdomain"] {
        errors.extend(named(spec, &field(name), name, names::label));
    }
    errors.extend(tolerations(
        list(spec, "tolerations"),
        &field("tolerations"),
    ));
    errors.extend(pod_host::aliases(
        list(spec, "hostAliases"),
        &field("hostAliases"),
    ));
    let name = "priorityClassName";
    errors.extend(named(spec, &field(name), name, names::subdomain));
    // A name that is given is checked, also where it is empty.
    if let Some(class) = spec.get("runtimeClassName") {
        let reasons = names::subdomain(class.as_str().unwrap_or_default()).into_iter();
        let field = field("runtimeClassName");
        errors.extend(reasons.map(|why| FieldError::invalid(field, class, why)));
    }
    if spec.get("preemptionPolicy").is_some() {
        let policies = ["PreemptLowerPriority", "Never"];
        let name = "preemptionPolicy";
        errors.extend(one_of(spec, &field(name), name, &policies));
    }
    if let Some(overhead) = spec.get("overhead") {
        let limits = serde_json::json!({"limits": overhead});
        errors.extend(resources::validate(&limits, &field("overhead")));
    }
    match pod_host::system(&spec["os"], &field("os")) {
        Some(error) => errors.push(error),
        None => errors.extend(pod_windows::not_of_system(spec, path)),
    }
    errors.extend(files_in_volumes(spec, path));
    errors
}

/// `validateFileKeyRefVolumes`: a variable that is read from a file is in a volume of the pod.
fn files_in_volumes(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (kind, i, container) in pod_profiles::containers(spec) {
        for (j, variable) in list(container, "env").iter().enumerate() {
            let Some(file) = variable["valueFrom"].get("fileKeyRef") else {
                continue;
            };
            let name = text(file, "volumeName");
            let mut volumes = list(spec, "volumes").iter().rev();
            let volume = volumes.find(|volume| text(volume, "name") == name);
            let item = path.item(kind, i);
            let variable = item.item("env", j);
            let field = variable.child("valueFrom.fileKeyRef.volumeName");
            match volume {
                None => {
                    let problem = crate::status::Problem::NotFound;
                    errors.push(FieldError::with_value(problem, field, &name.into(), ""));
                }
                Some(volume) if volume.get("emptyDir").is_none() => {
                    let detail = "referenced volume must be of type emptyDir";
                    errors.push(FieldError::invalid(field, &name.into(), detail));
                }
                Some(_) => {}
            }
        }
    }
    errors
}

/// A field that contains a name, if it is set.
fn named(spec: &Value, path: &ErrorPath<'_>, name: &str, rule: names::NameRule) -> Vec<FieldError> {
    let value = text(spec, name);
    if value.is_empty() {
        return Vec::new();
    }
    let reasons = rule(value).into_iter();
    reasons
        .map(|why| FieldError::invalid(path, &value.into(), why))
        .collect()
}

/// A field with an enumeration of values.
pub(super) fn one_of(
    owner: &Value,
    path: &ErrorPath<'_>,
    name: &str,
    supported: &[&str],
) -> Option<FieldError> {
    match text(owner, name) {
        "" => Some(FieldError::required(path, "")),
        value if supported.contains(&value) => None,
        value => Some(FieldError::not_supported(path, &value.into(), supported)),
    }
}

/// On the network of its host a container has the ports of the host (`validatePodHostNetworkDeps`).
fn host_ports_of_the_host(spec: &Value, path: &ErrorPath<'_>, of_pod: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, container) in list(spec, "containers").iter().enumerate() {
        for (j, port) in list(container, "ports").iter().enumerate() {
            let host = port["hostPort"].as_i64().unwrap_or(0);
            if (of_pod || host != 0) && Some(host) != port["containerPort"].as_i64() {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                let item = path.item("containers", i);
                let port_path = item.item("ports", j);
                let field = port_path.child("hostPort");
                errors.push(FieldError::invalid(field, &host.into(), detail));
            }
        }
    }
    errors
}

fn gates(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, gate) in list(spec, "schedulingGates").iter().enumerate() {
        let name = text(gate, "name");
        let field = path.index(i);
        let reasons = names::qualified(name).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(field, &name.into()));
        }
    }
    errors
}

/// `ValidateTolerations`.
pub(super) fn tolerations(tolerations: &[Value], path: &ErrorPath<'_>) -> Vec<FieldError> {
    let tolerations = tolerations.iter().enumerate();
    let errors = tolerations.map(|(i, toleration)| tolerates(toleration, &path.index(i)));
    errors.flatten().collect()
}

/// Checks one toleration.
fn tolerates(toleration: &Value, item: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let field = |name: &'static str| item.child(name);
    let (key, operator) = (text(toleration, "key"), text(toleration, "operator"));
    let effect = text(toleration, "effect");
    if !key.is_empty() {
        let reasons = names::qualified(key).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field("key"), &key.into(), why)));
    } else if operator != "Exists" {
        let detail = "operator must be Exists when `key` is empty, which means \"match all \
             values and all keys\"";
        errors.push(FieldError::invalid(
            field("operator"),
            &operator.into(),
            detail,
        ));
    }
    if toleration.get("tolerationSeconds").is_some() && effect != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.push(FieldError::invalid(field("effect"), &effect.into(), detail));
    }
    errors.extend(compares(
        operator,
        text(toleration, "value"),
        field("operator"),
    ));
    let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    if !effect.is_empty() && !effects.contains(&effect) {
        let effect = effect.into();
        errors.push(FieldError::not_supported(
            field("effect"),
            &effect,
            &effects,
        ));
    }
    errors
}

/// Checks the operator of a toleration, and the value that it compares.
fn compares(operator: &str, value: &str, field: ErrorPath<'_>) -> Option<FieldError> {
    match operator {
        "Equal" | "" => {
            let reasons = names::label_value(value);
            let detail = reasons.join(";");
            (!reasons.is_empty()).then(|| FieldError::invalid(field, &value.into(), detail))
        }
        "Exists" => {
            let detail = "value must be empty when `operator` is 'Exists'";
            (!value.is_empty()).then(|| FieldError::invalid(field, &value.into(), detail))
        }
        other => {
            // Comparisons are alpha (`TaintTolerationComparisonOperators`), and named only then.
            let known = ["Equal", "Exists", "Lt", "Gt"];
            let count = if matches!(other, "Lt" | "Gt") { 4 } else { 2 };
            let other = other.into();
            Some(FieldError::not_supported(field, &other, &known[..count]))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The errors of a sound template with these members of its spec.
    fn errors(spec: Value) -> Vec<String> {
        let container = json!({"name": "c", "image": "i", "terminationMessagePolicy": "File",
            "imagePullPolicy": "Always"});
        let mut template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {
            "containers": [container], "restartPolicy": "Always", "dnsPolicy": "ClusterFirst",
            "terminationGracePeriodSeconds": 30, "securityContext": {}}});
        for (name, value) in spec.as_object().unwrap() {
            match value {
                Value::Object(members) if name == "container" => {
                    for (name, value) in members {
                        template["spec"]["containers"][0][name] = value.clone();
                    }
                }
                value => template["spec"][name] = value.clone(),
            }
        }
        let errors = validate(&template, &ErrorPath::new("t"));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_part_of_a_spec_has_its_rules() {
        for (spec, expected) in [
            (json!({}), None),
            (
                json!({"restartPolicy": "X"}),
                Some(
                    "t.spec.restartPolicy: Unsupported value: \"X\": supported values: \
                     \"Always\", \"OnFailure\", \"Never\"",
                ),
            ),
            (
                json!({"dnsPolicy": ""}),
                Some("t.spec.dnsPolicy: Required value"),
            ),
            (json!({"preemptionPolicy": "Never"}), None),
            (
                json!({"preemptionPolicy": "X"}),
                Some(
                    "t.spec.preemptionPolicy: Unsupported value: \"X\": supported values: \
                     \"PreemptLowerPriority\", \"Never\"",
                ),
            ),
            (json!({"activeDeadlineSeconds": 1}), None),
            (
                json!({"activeDeadlineSeconds": 0}),
                Some(
                    "t.spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and \
                     2147483647, inclusive",
                ),
            ),
            (json!({"schedulingGates": [{"name": "a"}]}), None),
            (
                json!({"schedulingGates": [{"name": "a"}, {"name": "a"}]}),
                Some("t.spec.schedulingGates[1]: Duplicate value: \"a\""),
            ),
            (
                json!({"ephemeralContainers": [{"name": "e", "image": "i",
                    "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}]}),
                Some(
                    "t.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in \
                     pod template",
                ),
            ),
            (
                json!({"containers": []}),
                Some("t.spec.containers: Required value"),
            ),
            (
                json!({"os": {"name": "plan9"}}),
                Some(
                    "t.spec.os: Unsupported value: \"plan9\": supported values: \"linux\", \
                     \"windows\"",
                ),
            ),
        ] {
            let found = errors(spec.clone());
            assert_eq!(found, Vec::from_iter(expected), "{spec}");
        }
    }

    #[test]
    fn a_template_on_the_network_of_its_host_has_the_ports_of_the_host() {
        let spec = |host: i64| {
            json!({"hostNetwork": true, "container": {"ports": [
                {"containerPort": 80, "hostPort": host, "protocol": "TCP"},
            ]}})
        };
        assert!(errors(spec(80)).is_empty());
        // A template that leaves the port out is given it later; a pod must have it.
        assert!(errors(spec(0)).is_empty());
        assert_eq!(
            errors(spec(8080)),
            [
                "t.spec.containers[0].ports[0].hostPort: Invalid value: 8080: must match \
                 `containerPort` when `hostNetwork` is true"
            ]
        );
    }

    #[test]
    fn a_toleration_matches_what_its_operator_says() {
        let path = ErrorPath::new("t");
        for (toleration, expected) in [
            (json!({"operator": "Exists"}), None),
            (json!({"key": "a", "operator": "Equal", "value": "b"}), None),
            (json!({"key": "a", "value": "b"}), None),
            (
                json!({"operator": "Equal", "value": "b"}),
                Some(
                    "t[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` \
                     is empty, which means \"match all values and all keys\"",
                ),
            ),
            (
                json!({"key": "a", "operator": "Exists", "value": "b"}),
                Some(
                    "t[0].operator: Invalid value: \"b\": value must be empty when `operator` is \
                     'Exists'",
                ),
            ),
            (
                json!({"key": "a", "operator": "In"}),
                Some(
                    "t[0].operator: Unsupported value: \"In\": supported values: \"Equal\", \
                     \"Exists\"",
                ),
            ),
            (
                json!({"key": "a", "effect": "NoExecute", "tolerationSeconds": 5}),
                None,
            ),
            (
                json!({"key": "a", "effect": "NoSchedule", "tolerationSeconds": 5}),
                Some(
                    "t[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when \
                     `tolerationSeconds` is set",
                ),
            ),
            (
                json!({"key": "a", "effect": "Never"}),
                Some(
                    "t[0].effect: Unsupported value: \"Never\": supported values: \
                     \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"",
                ),
            ),
        ] {
            let found = tolerations(std::slice::from_ref(&toleration), &path);
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found, Vec::from_iter(expected), "{toleration}");
        }
    }
}
