//! The warnings for a pod or template (`pkg/api/pod/warnings.go`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::label_selector::list;
use super::{ip, names, pod_profiles};
use crate::field::ErrorPath;
use crate::go;
use crate::object::text;
use crate::schema::Quantity;

mod overlaps;
mod ports;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// The annotation that once named the seccomp profile of a pod.
const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
/// The beginning of those that named the ones of containers.
const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";

/// Annotations that do nothing any more.
const ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

/// Labels of nodes that have another name by now.
const NODE_LABELS: [(&str, &str); 8] = [
    (
        "beta.kubernetes.io/arch",
        "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
    ),
    (
        "beta.kubernetes.io/os",
        "deprecated since v1.14; use \"kubernetes.io/os\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    (
        "node-role.kubernetes.io/master",
        "use \"node-role.kubernetes.io/control-plane\" instead",
    ),
];

/// Kinds of volume that are on their way out, or gone.
pub(super) const VOLUMES: [(&str, &str); 9] = [
    (
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    (
        "gitRepo",
        "deprecated in v1.11, and disabled by default in v1.33+",
    ),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// The warnings for a pod, or for a template with its path.
pub(super) fn for_template(template: &Value, template_path: Option<&ErrorPath<'_>>) -> Vec<String> {
    let member = |name| template_path.map_or(ErrorPath::new(name), |path| path.child(name));
    let (path, path_of_annotations) = (&member("spec"), &member("metadata.annotations"));
    let spec = &template["spec"];
    let annotations = &template["metadata"]["annotations"];
    let mut warnings = Vec::new();
    nodes(spec, path, &mut warnings);
    spreads(spec, path, &mut warnings);
    for (annotation, message) in ANNOTATIONS {
        if annotations.get(annotation).is_some() {
            let field = path_of_annotations.key(annotation);
            warnings.push(format!("{field}: {message}"));
        }
    }
    volumes(spec, path, &mut warnings);
    overlaps::add_warnings(list(spec, "volumes"), &mut warnings);
    repeated(spec, "hostAliases", "ip", path, &mut warnings);
    repeated(spec, "imagePullSecrets", "name", path, &mut warnings);
    for (i, secret) in list(spec, "imagePullSecrets").iter().enumerate() {
        if text(secret, "name").is_empty() {
            warnings.push(format!(
                "{path}.imagePullSecrets[{i}].name: invalid empty name \"\""
            ));
        }
    }
    let of_overhead = |resource| fraction(&spec["overhead"], resource, &path.child("overhead"));
    warnings.extend(BYTES.into_iter().filter_map(of_overhead));
    let of_annotations = (annotations, path_of_annotations);
    replaced_seccomp(spec, SECCOMP_OF_POD, of_annotations, &mut warnings);
    let containers = containers(spec, path);
    for container in &containers {
        let value = container.value;
        let name = format!("{SECCOMP_OF_CONTAINER}{}", text(value, "name"));
        replaced_seccomp(value, &name, of_annotations, &mut warnings);
        if template_path.is_some() {
            let of_pod = &spec["securityContext"]["appArmorProfile"];
            let old = pod_profiles::deprecated(annotations, value, of_pod, path_of_annotations);
            warnings.extend(old);
        }
        of_container(value, &container.path, &mut warnings);
    }
    ports::clashes(&containers, &mut warnings);
    ports::equal_names(&containers, &mut warnings);
    if spec["terminationGracePeriodSeconds"].as_i64().unwrap_or(0) < 0 {
        warnings.push(format!(
            "{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid \
             and will be treated as 1"
        ));
    }
    neighbours(spec, path, &mut warnings);
    addresses(spec, path, &mut warnings);
    warnings
}

/// Kinds of volume that should not be used.
fn volumes(spec: &Value, path: &ErrorPath<'_>, warnings: &mut Vec<String>) {
    for (i, volume) in list(spec, "volumes").iter().enumerate() {
        for (kind, message) in VOLUMES {
            if volume.get(kind).is_some() {
                let volume = path.item("volumes", i);
                warnings.push(format!(
                    "{}: {message}",
                    volume.child(kind_in_warnings(kind))
                ));
            }
        }
        if let Some(template) = volume["ephemeral"].get("volumeClaimTemplate") {
            let volume = path.item("volumes", i);
            let path = volume.child("ephemeral.volumeClaimTemplate.spec");
            warnings.extend(fractional_storage(&template["spec"], &path));
        }
    }
}

/// The name of a kind of volume, as a warning has it.
pub(super) fn kind_in_warnings(kind: &str) -> &str {
    match kind {
        "storageos" => "storageOS",
        kind => kind,
    }
}

/// A part of a byte is asked for, or is the limit (`GetWarningsForPersistentVolumeClaimSpec`).
pub(super) fn fractional_storage(claim: &Value, path: &ErrorPath<'_>) -> Vec<String> {
    let of = |list: &str| {
        let asked = claim["resources"][list].get("storage")?;
        let shown = go::quote(asked.as_str().unwrap_or_default());
        let whole = Quantity::from(asked).is_whole();
        (!whole).then(|| {
            format!(
                "{path}.resources.{list}[storage]: fractional byte value {shown} is invalid, must be \
                 an integer"
            )
        })
    };
    ["requests", "limits"].into_iter().filter_map(of).collect()
}

/// The warnings for a container by itself.
fn of_container(container: &Value, path: &ErrorPath<'_>, warnings: &mut Vec<String>) {
    let resources = path.child("resources");
    for resource in BYTES {
        for list in ["limits", "requests"] {
            let amounts = &container["resources"][list];
            warnings.extend(fraction(amounts, resource, &resources.child(list)));
        }
    }
    hidden_variables(container, path, warnings);
}

/// A profile of a pod or of a container that an annotation names and no field does (`api.SeccompPodAnnotationKey`).
fn replaced_seccomp(
    profiled: &Value,
    name: &str,
    (annotations, path): (&Value, &ErrorPath<'_>),
    warnings: &mut Vec<String>,
) {
    let field = profiled["securityContext"].get("seccompProfile");
    if field.is_none() && annotations.get(name).is_some() {
        warnings.push(format!(
            "{path}[{name}]: non-functional in v1.27+; use the \
             \"seccompProfile\" field instead"
        ));
    }
}

/// Labels by which nodes are chosen.
fn nodes(spec: &Value, path: &ErrorPath<'_>, warnings: &mut Vec<String>) {
    for (label, message) in NODE_LABELS {
        if spec["nodeSelector"].get(label).is_some() {
            let selector = path.child("nodeSelector");
            warnings.push(format!("{}: {message}", selector.key(label)));
        }
    }
    let affinity = &spec["affinity"]["nodeAffinity"];
    let path = path.child("affinity.nodeAffinity");
    let required = &affinity[REQUIRED];
    for (i, term) in list(required, "nodeSelectorTerms").iter().enumerate() {
        let selector = path.child(REQUIRED);
        let path = selector.item("nodeSelectorTerms", i);
        node_term(term, false, &path, warnings);
    }
    for (i, term) in list(affinity, PREFERRED).iter().enumerate() {
        let item = path.item(PREFERRED, i);
        let path = item.child("preference");
        node_term(&term["preference"], true, &path, warnings);
    }
}

/// `GetWarningsForNodeSelectorTerm` of `pkg/api/node/util.go`.
pub(super) fn node_term(
    term: &Value,
    with_values: bool,
    path: &ErrorPath<'_>,
    warnings: &mut Vec<String>,
) {
    for (i, rule) in list(term, "matchExpressions").iter().enumerate() {
        let path = path.item("matchExpressions", i);
        let key = text(rule, "key");
        if let Some(message) = renamed_label(key) {
            warnings.push(format!("{path}.key: {key} is {message}"));
        }
        let values = list(rule, "values").iter().filter(|_| with_values);
        for (j, value) in values.enumerate() {
            let value = value.as_str().unwrap_or_default();
            let reasons = names::label_value(value).into_iter();
            warnings.extend(
                reasons.map(|why| format!("{path}.values[{j}]: {value} is invalid, {why}")),
            );
        }
    }
}

pub(super) fn renamed_label(label: &str) -> Option<&'static str> {
    let found = NODE_LABELS.iter().find(|(name, _)| *name == label);
    found.map(|(_, message)| *message)
}

/// Warns of the constraints that spread pods over nodes.
fn spreads(spec: &Value, path: &ErrorPath<'_>, warnings: &mut Vec<String>) {
    for (i, constraint) in list(spec, "topologySpreadConstraints").iter().enumerate() {
        let path = path.item("topologySpreadConstraints", i);
        let key = text(constraint, "topologyKey");
        if let Some(message) = renamed_label(key) {
            warnings.push(format!("{path}.topologyKey: {key} is {message}"));
        }
        selects_nothing(constraint, &path, warnings);
    }
}

/// Pods near which a pod is to run, or not.
fn neighbours(spec: &Value, path: &ErrorPath<'_>, warnings: &mut Vec<String>) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let affinity = &spec["affinity"][kind];
        let affinity_path = path.child("affinity");
        let path = affinity_path.child(kind);
        for (i, term) in list(affinity, REQUIRED).iter().enumerate() {
            selects_nothing(term, &path.item(REQUIRED, i), warnings);
        }
        for (i, term) in list(affinity, PREFERRED).iter().enumerate() {
            let item = path.item(PREFERRED, i);
            let path = item.child("podAffinityTerm");
            selects_nothing(&term["podAffinityTerm"], &path, warnings);
        }
    }
}

/// An absent selector selects no pod, and an empty selector selects all pods.
fn selects_nothing(owner: &Value, path: &ErrorPath<'_>, warnings: &mut Vec<String>) {
    if owner.get("labelSelector").is_none() {
        warnings.push(format!(
            "{path}.labelSelector: a null labelSelector results in matching no pod"
        ));
    }
}

/// Addresses in forms that are accepted no longer.
fn addresses(spec: &Value, path: &ErrorPath<'_>, warnings: &mut Vec<String>) {
    let servers = list(&spec["dnsConfig"], "nameservers").iter().enumerate();
    warnings.extend(servers.filter_map(|(i, server)| {
        let field = path.item("dnsConfig.nameservers", i);
        ip::warning(server.as_str()?, &field)
    }));
    let aliases = list(spec, "hostAliases").iter().enumerate();
    warnings.extend(aliases.filter_map(|(i, alias)| {
        ip::warning(text(alias, "ip"), &path.item("hostAliases", i).child("ip"))
    }));
}

/// A container, and its path.
struct LocatedContainer<'a> {
    value: &'a Value,
    path: ErrorPath<'a>,
}

/// All containers, in the order in which upstream visits them.
fn containers<'a>(spec: &'a Value, path: &'a ErrorPath<'a>) -> Vec<LocatedContainer<'a>> {
    ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(|kind| {
            let containers = list(spec, kind).iter().enumerate();
            containers.map(move |(i, value)| LocatedContainer {
                value,
                path: path.item(kind, i),
            })
        })
        .collect()
}

fn repeated(
    spec: &Value,
    field: &str,
    key: &str,
    path: &ErrorPath<'_>,
    warnings: &mut Vec<String>,
) {
    let mut seen = BTreeSet::new();
    for (i, item) in list(spec, field).iter().enumerate() {
        let value = text(item, key);
        if !seen.insert(value) {
            let value = go::quote(value);
            warnings.push(format!(
                "{path}.{field}[{i}].{key}: duplicate {key} {value}"
            ));
        }
    }
}

/// Resources that are counted in bytes.
const BYTES: [&str; 2] = ["memory", "ephemeral-storage"];

/// Half a byte is no amount.
fn fraction(amounts: &Value, resource: &str, path: &ErrorPath<'_>) -> Option<String> {
    let value = amounts.get(resource)?;
    let shown = go::quote(value.as_str().unwrap_or_default());
    (!Quantity::from(value).is_whole()).then(|| {
        format!("{path}[{resource}]: fractional byte value {shown} is invalid, must be an integer")
    })
}

/// Warns of a variable that is set again without referring to its earlier value.
fn hidden_variables(container: &Value, path: &ErrorPath<'_>, warnings: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (i, variable) in list(container, "env").iter().enumerate() {
        let (name, value) = (text(variable, "name"), text(variable, "value"));
        let reference = format!("$({name})");
        let hides = variable.get("valueFrom").is_some()
            || value == reference
            || !value.contains(&reference);
        if !seen.insert(name) && hides {
            let name = go::quote(name);
            warnings.push(format!(
                "{path}.env[{i}]: hides previous definition of {name}, which may be dropped when \
                 using apply"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn warnings_come_in_the_order_of_upstream() {
        let pod = json!({
            "metadata": {"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "x"}},
            "spec": {
                "affinity": {
                    "nodeAffinity": {PREFERRED: [{"preference": {"matchExpressions": [
                        {"key": "beta.kubernetes.io/os", "values": ["a b"]},
                    ]}}]},
                    "podAffinity": {REQUIRED: [{"topologyKey": "z"}]},
                },
                "overhead": {"memory": "100m"},
                "containers": [{"ports": [{"containerPort": 80, "hostIP": "::1"}]}],
                "dnsConfig": {"nameservers": ["010.0.0.1"]},
            },
        });
        let said = for_template(&pod, None);
        let begins = [
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]\
             .preference.matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14",
            "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]\
             .preference.matchExpressions[0].values[0]: a b is invalid, a valid label must",
            "spec.overhead[memory]: fractional byte value \"100m\" is invalid",
            "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional",
            "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 \
             ContainerPort:80 Protocol: HostIP:::1}",
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]\
             .labelSelector: a null labelSelector",
            "spec.dnsConfig.nameservers[0]: ",
        ];
        assert_eq!(said.len(), begins.len(), "{said:?}");
        for (text, begin) in said.iter().zip(begins) {
            assert!(text.starts_with(begin), "{text}");
        }
    }

    #[test]
    fn a_variable_may_build_on_itself_but_not_hide_itself() {
        let warned = |value: &str| {
            let env = json!([{"name": "A", "value": "1"}, {"name": "A", "value": value}]);
            !for_template(&json!({"spec": {"containers": [{"env": env}]}}), None).is_empty()
        };
        assert!(warned("2"));
        assert!(warned("$(A)"));
        assert!(!warned("$(A)2"));
    }
}
