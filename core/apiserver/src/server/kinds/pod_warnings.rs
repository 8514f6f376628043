//! What deserves a warning in a pod or template (`pkg/api/pod/warnings.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::label_selector::list;
use crate::go;
use crate::object::text;
use crate::schema::Quantity;
use crate::server::warnings::MOST_WARNINGS;

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
const NODE_LABELS: [(&str, &str); 5] = [
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
];

/// Kinds of volume that are on their way out, or gone.
const VOLUMES: [(&str, &str); 9] = [
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

/// The warnings for a pod or template; `path` leads to it and ends in a dot where it is not empty.
pub(super) fn of(template: &Value, path: &str) -> Vec<String> {
    let spec = &template["spec"];
    let mut warnings = Vec::new();
    for (label, message) in NODE_LABELS {
        if spec["nodeSelector"].get(label).is_some() {
            warnings.push(format!("{path}spec.nodeSelector[{label}]: {message}"));
        }
    }
    selects_nothing(spec, path, &mut warnings);
    for (annotation, message) in ANNOTATIONS {
        if template["metadata"]["annotations"]
            .get(annotation)
            .is_some()
        {
            warnings.push(format!(
                "{path}metadata.annotations[{annotation}]: {message}"
            ));
        }
    }
    for (i, volume) in list(spec, "volumes").iter().enumerate() {
        for (kind, message) in VOLUMES {
            if volume.get(kind).is_some() {
                warnings.push(format!("{path}spec.volumes[{i}].{kind}: {message}"));
            }
        }
        if let Some(projected) = volume.get("projected")
            && list(projected, "sources").is_empty()
        {
            let name = go::quote(text(volume, "name"));
            warnings.push(format!("volume {name} (Projected) has no sources provided"));
        }
    }
    repeated(spec, "hostAliases", "ip", path, &mut warnings);
    repeated(spec, "imagePullSecrets", "name", path, &mut warnings);
    for (i, secret) in list(spec, "imagePullSecrets").iter().enumerate() {
        if text(secret, "name").is_empty() {
            warnings.push(format!(
                "{path}spec.imagePullSecrets[{i}].name: invalid empty name \"\""
            ));
        }
    }
    let containers = containers(spec, path);
    for (container, path) in &containers {
        fractions(container, path, &mut warnings);
        hidden_variables(container, path, &mut warnings);
    }
    equal_ports(&containers, &mut warnings);
    equal_port_names(&containers, &mut warnings);
    if spec["terminationGracePeriodSeconds"].as_i64().unwrap_or(0) < 0 {
        warnings.push(format!(
            "{path}spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid \
             and will be treated as 1"
        ));
    }
    warnings
}

/// All containers with their paths, in the order in which upstream visits them.
fn containers<'a>(spec: &'a Value, path: &str) -> Vec<(&'a Value, String)> {
    ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .flat_map(|kind| {
            let containers = list(spec, kind).iter().enumerate();
            containers.map(move |(i, container)| (container, format!("{path}spec.{kind}[{i}]")))
        })
        .collect()
}

/// A selector that is not there selects no pod, though an empty one selects all.
fn selects_nothing(spec: &Value, path: &str, warnings: &mut Vec<String>) {
    let mut check = |owner: &Value, path: String| {
        if owner.get("labelSelector").is_none() {
            warnings.push(format!(
                "{path}.labelSelector: a null labelSelector results in matching no pod"
            ));
        }
    };
    for (i, constraint) in list(spec, "topologySpreadConstraints").iter().enumerate() {
        let path = format!("{path}spec.topologySpreadConstraints[{i}]");
        check(constraint, path);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let affinity = &spec["affinity"][kind];
        let path = format!("{path}spec.affinity.{kind}");
        let name = "requiredDuringSchedulingIgnoredDuringExecution";
        for (i, term) in list(affinity, name).iter().enumerate() {
            check(term, format!("{path}.{name}[{i}]"));
        }
        let name = "preferredDuringSchedulingIgnoredDuringExecution";
        for (i, term) in list(affinity, name).iter().enumerate() {
            let path = format!("{path}.{name}[{i}].podAffinityTerm");
            check(&term["podAffinityTerm"], path);
        }
    }
}

fn repeated(spec: &Value, field: &str, key: &str, path: &str, warnings: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (i, item) in list(spec, field).iter().enumerate() {
        let value = text(item, key);
        if !seen.insert(value) {
            let value = go::quote(value);
            warnings.push(format!(
                "{path}spec.{field}[{i}].{key}: duplicate {key} {value}"
            ));
        }
    }
}

/// Nobody can have half a byte.
fn fractions(container: &Value, path: &str, warnings: &mut Vec<String>) {
    for resource in ["memory", "ephemeral-storage"] {
        for list in ["limits", "requests"] {
            let Some(value) = container["resources"][list].get(resource) else {
                continue;
            };
            if !Quantity::from(value).is_whole() {
                let value = go::quote(value.as_str().unwrap_or_default());
                warnings.push(format!(
                    "{path}.resources.{list}[{resource}]: fractional byte value {value} is invalid, \
                     must be an integer"
                ));
            }
        }
    }
}

/// A variable that is set again without referring to what it was.
fn hidden_variables(container: &Value, path: &str, warnings: &mut Vec<String>) {
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

/// Containers share the network of their pod, so equal ports clash.
fn equal_ports(containers: &[(&Value, String)], warnings: &mut Vec<String>) {
    /// Where it is, and the address and the port of the host.
    type HostPort<'a> = (String, &'a str, i64);
    let mut all: BTreeMap<(i64, &str), Vec<HostPort<'_>>> = BTreeMap::new();
    for (container, path) in containers {
        for (i, port) in list(container, "ports").iter().enumerate() {
            let path = format!("{path}.ports[{i}]");
            let number = |name: &str| port.get(name).and_then(Value::as_i64).unwrap_or(0);
            let (address, host) = (text(port, "hostIP"), number("hostPort"));
            let key = (number("containerPort"), text(port, "protocol"));
            let others = all.entry(key).or_default();
            for (other_path, other_address, other_host) in others.iter() {
                // Each with each: what cannot be sent is not looked for.
                if warnings.len() > MOST_WARNINGS {
                    return;
                }
                // Numbers first: most pairs are told apart by them.
                let kind = if host != *other_host {
                    if host != 0 && *other_host != 0 {
                        continue;
                    }
                    "overlapping"
                } else if address == *other_address {
                    "duplicate"
                } else if host == 0 {
                    "overlapping"
                } else if address.is_empty() != other_address.is_empty() {
                    "dangerously ambiguous"
                } else {
                    continue;
                };
                warnings.push(format!("{path}: {kind} port definition with {other_path}"));
            }
            others.push((path, address, host));
        }
    }
}

/// Of equal names in containers that run side by side only the first is ever found.
fn equal_port_names(containers: &[(&Value, String)], warnings: &mut Vec<String>) {
    let mut first: BTreeMap<&str, String> = BTreeMap::new();
    for (container, path) in containers {
        let comes_and_goes =
            path.contains("initContainers[") && text(container, "restartPolicy") != "Always";
        if comes_and_goes || path.contains("ephemeralContainers[") {
            continue;
        }
        for (i, port) in list(container, "ports").iter().enumerate() {
            let name = text(port, "name");
            if name.is_empty() {
                continue;
            }
            let path = format!("{path}.ports[{i}]");
            if let Some(other) = first.get(name) {
                let name = go::quote(name);
                warnings.push(format!(
                    "{path}: duplicate port name {name} with {other}, services and probes that \
                     select ports by name will use {other}"
                ));
            } else {
                first.insert(name, path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_ports_and_names_of_two_containers_are_warned_of() {
        let port = json!({"name": "web", "containerPort": 80, "protocol": "TCP"});
        let containers = json!([{"ports": [port]}, {"ports": [port]}]);
        assert_eq!(
            of(&json!({"spec": {"containers": containers}}), ""),
            [
                "spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]",
                "spec.containers[1].ports[0]: duplicate port name \"web\" with \
                 spec.containers[0].ports[0], services and probes that select ports by name will use \
                 spec.containers[0].ports[0]",
            ]
        );
    }

    #[test]
    fn a_variable_may_build_on_itself_but_not_hide_itself() {
        let warned = |value: &str| {
            let env = json!([{"name": "A", "value": "1"}, {"name": "A", "value": value}]);
            !of(&json!({"spec": {"containers": [{"env": env}]}}), "").is_empty()
        };
        assert!(warned("2"));
        assert!(warned("$(A)"));
        assert!(!warned("$(A)2"));
    }
}
