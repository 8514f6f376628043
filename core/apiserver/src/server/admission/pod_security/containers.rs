//! The checks that look at containers only.

use std::collections::BTreeSet;

use serde_json::Value;

use super::checks::{Pod, Violation, named, plural, quoted};
use crate::object::text;
use crate::server::kinds::label_selector::list;

/// A container of a pod.
#[derive(Clone, Copy)]
pub(super) struct CheckedContainer<'a>(&'a Value);

impl<'a> CheckedContainer<'a> {
    pub(super) fn name(self) -> &'a str {
        text(self.0, "name")
    }

    /// Its security context.
    pub(super) fn context(self) -> &'a Value {
        &self.0["securityContext"]
    }
}

/// All containers of a pod.
pub(super) fn all(spec: &Value) -> impl Iterator<Item = CheckedContainer<'_>> {
    let kinds = ["initContainers", "containers", "ephemeralContainers"];
    let containers = kinds.into_iter().flat_map(|kind| list(spec, kind));
    containers.map(CheckedContainer)
}

/// The names of the containers of which this is true.
fn names_of<'a>(pod: &Pod<'a>, is: impl FnMut(&CheckedContainer<'a>) -> bool) -> Vec<&'a str> {
    all(pod.spec)
        .filter(is)
        .map(CheckedContainer::name)
        .collect()
}

/// The texts of a list in the capabilities of a container.
fn capabilities_of<'a>(
    container: &CheckedContainer<'a>,
    field: &str,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let names = list(&container.context()["capabilities"], field).iter();
    names.map(|name| name.as_str().unwrap_or_default())
}

/// The containers that add other capabilities, and these.
fn adding<'a>(pod: &Pod<'a>, allowed: &[&str]) -> (Vec<&'a str>, BTreeSet<&'a str>) {
    let mut added = BTreeSet::new();
    let names = names_of(pod, |container| {
        let others = capabilities_of(container, "add").filter(|name| !allowed.contains(name));
        let others: Vec<&str> = others.collect();
        added.extend(&others);
        !others.is_empty()
    });
    (names, added)
}

fn must_not_add(containers: &[&str], added: BTreeSet<&str>) -> String {
    format!(
        "{} must not include {} in securityContext.capabilities.add",
        named(containers),
        quoted(added)
    )
}

pub(super) fn capabilities(pod: &Pod<'_>) -> Option<Violation> {
    let (containers, added) = adding(
        pod,
        &[
            "AUDIT_WRITE",
            "CHOWN",
            "DAC_OVERRIDE",
            "FOWNER",
            "FSETID",
            "KILL",
            "MKNOD",
            "NET_BIND_SERVICE",
            "SETFCAP",
            "SETGID",
            "SETPCAP",
            "SETUID",
            "SYS_CHROOT",
        ],
    );
    (!containers.is_empty()).then(|| Violation {
        reason: "non-default capabilities",
        detail: must_not_add(&containers, added),
    })
}

pub(super) fn capabilities_dropped(pod: &Pod<'_>) -> Option<Violation> {
    if pod.is_of_windows() {
        return None;
    }
    let keeping = names_of(pod, |container| {
        !capabilities_of(container, "drop").any(|name| name == "ALL")
    });
    let (containers, added) = adding(pod, &["NET_BIND_SERVICE"]);
    let mut details = Vec::new();
    if !keeping.is_empty() {
        let keeping = named(&keeping);
        details.push(format!(
            "{keeping} must set securityContext.capabilities.drop=[\"ALL\"]"
        ));
    }
    if !containers.is_empty() {
        details.push(must_not_add(&containers, added));
    }
    (!details.is_empty()).then(|| Violation {
        reason: "unrestricted capabilities",
        detail: details.join("; "),
    })
}

pub(super) fn host_ports(pod: &Pod<'_>) -> Option<Violation> {
    let mut ports = BTreeSet::new();
    let containers = names_of(pod, |container| {
        let used = list(container.0, "ports")
            .iter()
            .map(|port| &port["hostPort"]);
        let used = used.filter(|port| !port.is_null() && **port != 0);
        let used: Vec<String> = used.map(ToString::to_string).collect();
        let uses = !used.is_empty();
        ports.extend(used);
        uses
    });
    (!containers.is_empty()).then(|| Violation {
        reason: "hostPort",
        detail: format!(
            "{} {} {} {}",
            named(&containers),
            plural("uses", "use", containers.len()),
            plural("hostPort", "hostPorts", ports.len()),
            ports.into_iter().collect::<Vec<_>>().join(", ")
        ),
    })
}

/// A probe or a handler asks the pod itself, no other host. The names of the containers are sorted here.
pub(super) fn hosts_of_probes(pod: &Pod<'_>) -> Option<Violation> {
    let mut hosts = BTreeSet::new();
    let containers = names_of(pod, |container| {
        let lifecycle = &container.0["lifecycle"];
        let actions = [
            &container.0["livenessProbe"],
            &container.0["readinessProbe"],
            &container.0["startupProbe"],
            &lifecycle["postStart"],
            &lifecycle["preStop"],
        ];
        let asked = actions
            .into_iter()
            .flat_map(|action| ["httpGet", "tcpSocket"].map(|way| text(&action[way], "host")));
        let asked: Vec<&str> = asked.filter(|host| !host.is_empty()).collect();
        hosts.extend(&asked);
        !asked.is_empty()
    });
    let containers: BTreeSet<&str> = containers.into_iter().collect();
    let containers: Vec<&str> = containers.into_iter().collect();
    (!containers.is_empty()).then(|| Violation {
        reason: "probe or lifecycle host",
        detail: format!(
            "{} {} {} {}",
            named(&containers),
            plural("uses", "use", containers.len()),
            plural(
                "probe or lifecycle host",
                "probe or lifecycle hosts",
                hosts.len()
            ),
            quoted(hosts)
        ),
    })
}

pub(super) fn privileged(pod: &Pod<'_>) -> Option<Violation> {
    let containers = names_of(pod, |container| container.context()["privileged"] == true);
    (!containers.is_empty()).then(|| Violation {
        reason: "privileged",
        detail: format!(
            "{} must not set securityContext.privileged=true",
            named(&containers)
        ),
    })
}

pub(super) fn proc_mount(pod: &Pod<'_>) -> Option<Violation> {
    let mut mounts = BTreeSet::new();
    let containers = names_of(pod, |container| {
        let mount = container.context()["procMount"].as_str();
        let other = mount.filter(|mount| *mount != "Default");
        mounts.extend(other);
        other.is_some()
    });
    (!containers.is_empty()).then(|| Violation {
        reason: "procMount",
        detail: format!(
            "{} must not set securityContext.procMount to {}",
            named(&containers),
            quoted(mounts)
        ),
    })
}

pub(super) fn escalation(pod: &Pod<'_>) -> Option<Violation> {
    if pod.is_of_windows() {
        return None;
    }
    let containers = names_of(pod, |container| {
        container.context()["allowPrivilegeEscalation"] != false
    });
    (!containers.is_empty()).then(|| Violation {
        reason: "allowPrivilegeEscalation != false",
        detail: format!(
            "{} must set securityContext.allowPrivilegeEscalation=false",
            named(&containers)
        ),
    })
}
