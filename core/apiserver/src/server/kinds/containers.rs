//! Containers of a pod (`validateContainers` and `validateInitContainers` of
//! `pkg/apis/core/validation`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::label_selector::list;
use super::pod_template::one_of;
use super::{
    container_restarts, environment, internal, names, pod_profiles, pod_resources, pod_windows,
    probes, resources, volume_mounts, volumes,
};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

/// The parts of a pod to which its containers refer.
pub(super) struct PodContext<'a> {
    /// Its sound volumes by name.
    pub(super) volumes: BTreeMap<&'a str, &'a Value>,
    /// The seconds that the pod has to stop.
    pub(super) grace: i64,
    /// Its restart policy.
    pub(super) restarts: &'a str,
    /// `true` if the pod has the user namespace of its host.
    pub(super) host_users: bool,
    /// The names of its resource claims.
    pub(super) claims: BTreeSet<&'a str>,
}

/// The containers that run side by side: at least one.
pub(super) fn regular(
    containers: &[Value],
    pod: &PodContext<'_>,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    if containers.is_empty() {
        return vec![FieldError::required(path, "")];
    }
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, container) in containers.iter().enumerate() {
        let path = path.index(i);
        errors.extend(common(container, pod, &path));
        let name = text(container, "name");
        if !seen.insert(name) {
            let field = path.child("name");
            errors.push(FieldError::duplicate(field, &name.into()));
        }
        errors.extend(probes::life(container, pod, &path));
        errors.extend(container_restarts::validate(container, &path));
    }
    errors.extend(host_ports(containers, path));
    errors
}

/// The containers that run before the others, one by one or, as sidecars, along with them.
pub(super) fn init(
    containers: &[Value],
    others: &[Value],
    pod: &PodContext<'_>,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen: BTreeSet<&str> = others.iter().map(|other| text(other, "name")).collect();
    for (i, container) in containers.iter().enumerate() {
        let whole = path;
        let path = path.index(i);
        errors.extend(common(container, pod, &path));
        errors.extend(container_restarts::validate(container, &path));
        let name = text(container, "name");
        // `validateInitContainers` compares an empty name with the other containers only, not with earlier ones of these.
        if seen.contains(name) {
            let field = path.child("name");
            errors.push(FieldError::duplicate(field, &name.into()));
        } else if !name.is_empty() {
            seen.insert(name);
        }
        errors.extend(host_ports(std::slice::from_ref(container), whole));
        if text(container, "restartPolicy") == "Always" {
            errors.extend(probes::life(container, pod, &path));
            continue;
        }
        for field in [
            "lifecycle",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
        ] {
            if container.get(field).is_some() {
                let detail = "may not be set for init containers without restartPolicy=Always";
                errors.push(FieldError::forbidden(path.child(field), detail));
            }
        }
        let policies = list(container, "resizePolicy").iter().enumerate();
        for (j, policy) in policies.map(|(j, it)| (j, &it["restartPolicy"])) {
            if policy == "RestartContainer" {
                let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                let field = path.item("resizePolicy", j);
                errors.push(FieldError::invalid(
                    field.child("restartPolicy"),
                    policy,
                    detail,
                ));
            }
        }
    }
    errors
}

/// `validateContainerCommon`.
pub(super) fn common(
    container: &Value,
    pod: &PodContext<'_>,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let field = |name: &'static str| path.child(name);
    let mut errors = Vec::new();
    let name = text(container, "name");
    if name.is_empty() {
        errors.push(FieldError::required(field("name"), ""));
    } else {
        let reasons = names::label(name).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field("name"), &name.into(), why)));
    }
    if text(container, "image").is_empty() {
        errors.push(FieldError::required(field("image"), ""));
    }
    let policy = "terminationMessagePolicy";
    let policies = ["File", "FallbackToLogsOnError"];
    errors.extend(one_of(container, &field(policy), policy, &policies));
    errors.extend(ports(list(container, "ports"), &field("ports")));
    errors.extend(environment::variables(
        list(container, "env"),
        &field("env"),
    ));
    errors.extend(environment::sources(
        list(container, "envFrom"),
        &field("envFrom"),
    ));
    errors.extend(volume_mounts::validate(
        container,
        pod,
        &field("volumeMounts"),
    ));
    errors.extend(volumes::devices(
        container,
        &pod.volumes,
        &field("volumeDevices"),
    ));
    let policy = "imagePullPolicy";
    let policies = ["Always", "IfNotPresent", "Never"];
    errors.extend(one_of(container, &field(policy), policy, &policies));
    errors.extend(resources::validate(
        &container["resources"],
        &field("resources"),
    ));
    let claims = list(&container["resources"], "claims");
    errors.extend(pod_resources::claims_of_container(
        claims,
        &pod.claims,
        &field("resources").child("claims"),
    ));
    errors.extend(resizing(container, pod, &field("resizePolicy")));
    errors.extend(security(
        &container["securityContext"],
        pod.host_users,
        &field("securityContext"),
    ));
    errors
}

/// `validateResizePolicy`; upstream names the list, not the item.
fn resizing(container: &Value, pod: &PodContext<'_>, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, policy) in list(container, "resizePolicy").iter().enumerate() {
        let resource = text(policy, "resourceName");
        if !seen.insert(resource) {
            let field = path.index(i);
            errors.push(FieldError::duplicate(field, &resource.into()));
        }
        errors.extend(one_of(policy, path, "resourceName", &["cpu", "memory"]));
        let policies = ["NotRequired", "RestartContainer"];
        errors.extend(one_of(policy, path, "restartPolicy", &policies));
        let restart = text(policy, "restartPolicy");
        if pod.restarts == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.push(FieldError::invalid(path, &restart.into(), detail));
        }
    }
    errors
}

/// `ValidateSecurityContext` of one container.
fn security(context: &Value, host_users: bool, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = users(context, path);
    let mounts = ["Default", "Unmasked"];
    if let Some(mount) = context.get("procMount")
        && !mounts.iter().any(|known| mount == known)
    {
        let field = path.child("procMount");
        errors.push(FieldError::not_supported(field, mount, &mounts));
    }
    if host_users && context["procMount"] == "Unmasked" {
        let field = path.child("procMount");
        let detail = "`hostUsers` must be false to use `Unmasked`";
        errors.push(FieldError::invalid(field, &"Unmasked".into(), detail));
    }
    errors.extend(seccomp(context, path));
    errors.extend(escalation(context, path));
    errors.extend(pod_windows::options(context, path));
    errors.extend(pod_profiles::app_armor(context, path));
    errors
}

/// `validateSeccompProfileField`.
pub(super) fn seccomp(context: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let Some(profile) = context.get("seccompProfile") else {
        return Vec::new();
    };
    let path = path.child("seccompProfile");
    let field = |name: &'static str| path.child(name);
    let mut errors = Vec::new();
    let kind = text(profile, "type");
    let kinds = ["Localhost", "RuntimeDefault", "Unconfined"];
    if kind.is_empty() {
        let detail = "type is required when seccompProfile is set";
        errors.push(FieldError::required(field("type"), detail));
    } else if !kinds.contains(&kind) {
        errors.push(FieldError::not_supported(
            field("type"),
            &kind.into(),
            &kinds,
        ));
    }
    match (kind, profile.get("localhostProfile")) {
        ("Localhost", None) => {
            let detail = "must be set when seccomp type is Localhost";
            errors.push(FieldError::required(field("localhostProfile"), detail));
        }
        ("Localhost", Some(file)) => errors.extend(volumes::descending(
            file.as_str().unwrap_or_default(),
            &field("localhostProfile"),
        )),
        (_, Some(_)) => {
            let detail = "can only be set when seccomp type is Localhost";
            let shown = internal::compact("SeccompProfile", profile);
            let error = FieldError::invalid(field("localhostProfile"), profile, detail);
            errors.push(error.shown_as(shown));
        }
        (_, None) => {}
    }
    errors
}

/// `validateContainerPorts`.
fn ports(ports: &[Value], path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, port) in ports.iter().enumerate() {
        let item = path.index(i);
        let field = |name: &'static str| item.child(name);
        let name = text(port, "name");
        if !name.is_empty() {
            let reasons = names::port_name(name);
            if reasons.is_empty() && !seen.insert(name) {
                errors.push(FieldError::duplicate(field("name"), &name.into()));
            }
            let reasons = reasons.into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(field("name"), &name.into(), why)));
        }
        let number = |name: &str| port.get(name).and_then(Value::as_i64).unwrap_or(0);
        if number("containerPort") == 0 {
            errors.push(FieldError::required(field("containerPort"), ""));
        }
        for name in ["containerPort", "hostPort"] {
            let number = number(name);
            if number != 0 {
                let reasons = names::port_number(number).into_iter();
                errors.extend(
                    reasons.map(|why| FieldError::invalid(field(name), &number.into(), why)),
                );
            }
        }
        let protocols = ["SCTP", "TCP", "UDP"];
        errors.extend(one_of(port, &field("protocol"), "protocol", &protocols));
    }
    errors
}

/// No two containers take the same port of their host (`checkHostPortConflicts`).
fn host_ports(containers: &[Value], path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut taken = BTreeSet::new();
    for (i, container) in containers.iter().enumerate() {
        for (j, port) in list(container, "ports").iter().enumerate() {
            let number = port["hostPort"].as_i64().unwrap_or(0);
            let (protocol, address) = (text(port, "protocol"), text(port, "hostIP"));
            let place = format!("{protocol}/{address}/{number}");
            if number != 0 && !taken.insert(place.clone()) {
                let item = path.index(i);
                let port_path = item.item("ports", j);
                let field = port_path.child("hostPort");
                errors.push(FieldError::duplicate(field, &place.into()));
            }
        }
    }
    errors
}

/// The user and group of processes.
pub(super) fn users(context: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for name in ["runAsUser", "runAsGroup"] {
        if let Some(id) = context.get(name).and_then(Value::as_i64) {
            let reasons = names::in_range(id, 0, i64::from(i32::MAX)).into_iter();
            let field = path.child(name);
            errors.extend(reasons.map(|why| FieldError::invalid(field, &id.into(), why)));
        }
    }
    errors
}

/// Refuses `allowPrivilegeEscalation: false` beside settings that give more rights.
fn escalation(context: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if context["allowPrivilegeEscalation"] != false {
        return errors;
    }
    let mut wrong = |other: &str| {
        let detail = format!("cannot set `allowPrivilegeEscalation` to false and {other}");
        let shown = internal::compact("SecurityContext", context);
        errors.push(FieldError::invalid(path, &Value::Null, detail).shown_as(shown));
    };
    if context["privileged"] == true {
        wrong("`privileged` to true");
    }
    let added = list(&context["capabilities"], "add").iter();
    for _ in added.filter(|capability| **capability == "CAP_SYS_ADMIN") {
        wrong("`capabilities.Add` CAP_SYS_ADMIN");
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(container: &Value) -> Vec<String> {
        let mut container = container.clone();
        for (field, value) in [
            ("name", "a"),
            ("image", "i"),
            ("terminationMessagePolicy", "File"),
            ("imagePullPolicy", "Always"),
        ] {
            container[field] = value.into();
        }
        let pod = PodContext {
            volumes: BTreeMap::new(),
            grace: 30,
            restarts: "Always",
            host_users: true,
            claims: BTreeSet::new(),
        };
        let errors = regular(&[container], &pod, &ErrorPath::new("c"));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rights_are_not_given_and_taken_at_once() {
        let context = |context: Value| {
            let errors = security(&context, true, &ErrorPath::new("s"));
            errors.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let both = json!({"allowPrivilegeEscalation": false, "privileged": true});
        let said = context(both);
        assert_eq!(said.len(), 1);
        assert!(
            said[0].starts_with("s: Invalid value: {\"Capabilities\":null,\"Privileged\":true,")
        );
        let admin = json!({"add": ["CAP_SYS_ADMIN"]});
        let said = context(json!({"allowPrivilegeEscalation": false, "capabilities": admin}));
        assert!(said[0].ends_with("to false and `capabilities.Add` CAP_SYS_ADMIN"));
        let said = context(json!({"procMount": "Unmasked"}));
        assert_eq!(
            said,
            [
                "s.procMount: Invalid value: \"Unmasked\": `hostUsers` must be false to use `Unmasked`"
            ]
        );
    }

    #[test]
    fn a_mount_names_a_volume_and_a_path_of_its_own() {
        let container =
            json!({"volumeMounts": [{"name": "gone", "mountPath": "/a"}, {"mountPath": "/a"}]});
        assert_eq!(
            texts(&container),
            [
                "c[0].volumeMounts[0].name: Not found: \"gone\"",
                "c[0].volumeMounts[1].name: Required value",
                "c[0].volumeMounts[1].name: Not found: \"\"",
                "c[0].volumeMounts[1].mountPath: Invalid value: \"/a\": must be unique",
            ]
        );
    }

    #[test]
    fn a_probe_does_exactly_one_thing() {
        assert_eq!(
            texts(&json!({"livenessProbe": {"successThreshold": 1}})),
            ["c[0].livenessProbe: Required value: must specify a handler type"]
        );
        let both = json!({"tcpSocket": {"port": 0}, "exec": {"command": ["a"]}});
        assert_eq!(
            texts(&json!({"readinessProbe": both})),
            ["c[0].readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"]
        );
    }

    #[test]
    fn port_names_are_unique_and_numbers_in_range() {
        let ports = json!([
            {"name": "a", "containerPort": 70000, "protocol": "TCP"},
            {"name": "a", "protocol": "ICMP"},
        ]);
        assert_eq!(
            texts(&json!({"ports": ports})),
            [
                "c[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
                "c[0].ports[1].name: Duplicate value: \"a\"",
                "c[0].ports[1].containerPort: Required value",
                "c[0].ports[1].protocol: Unsupported value: \"ICMP\": supported values: \"SCTP\", \"TCP\", \"UDP\"",
            ]
        );
    }
}
