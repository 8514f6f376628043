//! The warnings for the ports of a pod (`warningsForPodSpecAndMeta` and
//! `warningsForDuplicatePort` of `pkg/api/pod/warnings.go`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::{LocatedContainer, list};
use crate::field::ErrorPath;
use crate::go;
use crate::object::text;
use crate::server::warnings::MAX_WARNINGS;

/// Containers share the network of their pod, so equal ports clash.
pub(super) fn clashes(containers: &[LocatedContainer<'_>], warnings: &mut Vec<String>) {
    /// Its path, and the address and the port of the host.
    type HostPort<'a> = (ErrorPath<'a>, &'a str, i64);
    let mut all: BTreeMap<(i64, &str), Vec<HostPort<'_>>> = BTreeMap::new();
    for container in containers {
        for (i, port) in list(container.value, "ports").iter().enumerate() {
            let path = container.path.item("ports", i);
            let number = |name: &str| port.get(name).and_then(Value::as_i64).unwrap_or(0);
            let (address, host) = (text(port, "hostIP"), number("hostPort"));
            let key = (number("containerPort"), text(port, "protocol"));
            if !address.is_empty() && host == 0 {
                let (name, (number, protocol)) = (text(port, "name"), key);
                warnings.push(format!(
                    "{path}: hostIP set without hostPort: {{Name:{name} HostPort:0 \
                     ContainerPort:{number} Protocol:{protocol} HostIP:{address}}}"
                ));
            }
            let others = all.entry(key).or_default();
            for (other_path, other_address, other_host) in others.iter() {
                // Each with each: what cannot be sent is not looked for.
                if warnings.len() > MAX_WARNINGS {
                    return;
                }
                // Numbers first: they differ in most pairs.
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

/// Of equal names only the first is ever found. Upstream looks at all containers.
pub(super) fn equal_names(containers: &[LocatedContainer<'_>], warnings: &mut Vec<String>) {
    let mut first: BTreeMap<&str, ErrorPath<'_>> = BTreeMap::new();
    for container in containers {
        for (i, port) in list(container.value, "ports").iter().enumerate() {
            let name = text(port, "name");
            if name.is_empty() {
                continue;
            }
            let path = container.path.item("ports", i);
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
    use super::super::for_template;
    use serde_json::json;

    #[test]
    fn equal_ports_and_names_of_two_containers_are_warned_of() {
        let port = json!({"name": "web", "containerPort": 80, "protocol": "TCP"});
        let containers = json!([{"ports": [port]}, {"ports": [port]}]);
        assert_eq!(
            for_template(&json!({"spec": {"containers": containers}}), None),
            [
                "spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]",
                "spec.containers[1].ports[0]: duplicate port name \"web\" with \
                 spec.containers[0].ports[0], services and probes that select ports by name will use \
                 spec.containers[0].ports[0]",
            ]
        );
    }
}
