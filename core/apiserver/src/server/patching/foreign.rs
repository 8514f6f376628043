//! Objects of another kind than the one that is served, and the errors of decoding them
//! (`k8s.io/apimachinery/pkg/runtime`: `serializer/json`, `scheme.go`, `converter.go`).

use serde_json::Value;

use crate::go;
use crate::object::{GroupVersion, text};
use crate::server::Resource;

/// The error of decoding an object into a built-in kind if its `apiVersion` or `kind` do not allow
/// that. Both fields are optional.
pub(in crate::server) fn mistake(resource: &Resource, object: &Value) -> Option<String> {
    if let Some(error) = uninterpretable(object) {
        return Some(error);
    }
    let version = match text(object, "apiVersion") {
        "" => resource.group_version.clone(),
        version => GroupVersion::parse(version)?,
    };
    match text(object, "kind") {
        "" => other_kind(resource, &version, &resource.kind),
        kind => other_kind(resource, &version, kind),
    }
}

/// The error of reading only `apiVersion` and `kind` of an object (`SimpleMetaFactory`).
pub(in crate::server) fn uninterpretable(object: &Value) -> Option<String> {
    let interpreted = |error: &str| {
        Some(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {error}"
        ))
    };
    let Value::Object(members) = object else {
        let kind = go::json_kind(object);
        return interpreted(&format!(
            "{kind} into Go value of type struct {{ APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
        ));
    };
    for field in ["apiVersion", "kind"] {
        if let Some(value) = members.get(field)
            && !matches!(value, Value::Null | Value::String(_))
        {
            let kind = go::json_kind(value);
            return interpreted(&format!(
                "{kind} into Go struct field .{field} of type string"
            ));
        }
    }
    let version = text(object, "apiVersion");
    match GroupVersion::parse(version) {
        None => Some(format!("unexpected GroupVersion string: {version}")),
        Some(_) => None,
    }
}

/// The error of decoding an object of this version and kind into a built-in kind, if there is one.
pub(in crate::server) fn other_kind(
    resource: &Resource,
    version: &GroupVersion,
    kind: &str,
) -> Option<String> {
    if kind == resource.kind && *version == resource.group_version {
        return None;
    }
    if !registered(version, kind) {
        let scheme = match resource.group_version.group.as_str() {
            "apiregistration.k8s.io" => "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28",
            _ => "pkg/api/legacyscheme/scheme.go:30",
        };
        return Some(format!(
            "no kind {} is registered for version {} in scheme \"{scheme}\"",
            go::quote(kind),
            go::quote(&version.to_string()),
        ));
    }
    // Older versions of a kind convert to it.
    let own_group = group_of(version) == group_of(&resource.group_version);
    if kind == resource.kind && own_group {
        return None;
    }
    let package = match resource.group_version.group.split('.').next() {
        None | Some("") => "core",
        Some(group) => group,
    };
    Some(format!(
        "converting ({}.{kind}) to ({package}.{}): unknown conversion",
        version.version, resource.kind
    ))
}

/// Returns the group that has a group's kinds today: `extensions` became `apps` for the kinds of
/// both.
fn group_of(version: &GroupVersion) -> &str {
    match version.group.as_str() {
        "extensions" => "apps",
        group => group,
    }
}

/// The top-level members as strict errors: without a version, an object is decoded into the server's
/// internal type, whose fields have no names in JSON, and nothing of it is left.
pub(super) fn unknown_to_internal(object: &Value) -> Vec<String> {
    let members = object.as_object().into_iter().flatten();
    members
        .filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind"))
        .map(|(name, _)| format!("unknown field {}", go::quote(name)))
        .collect()
}

/// Returns whether a kind of the groups that are served here is registered with the real server.
fn registered(version: &GroupVersion, kind: &str) -> bool {
    const META: [&str; 7] = [
        "CreateOptions",
        "DeleteOptions",
        "GetOptions",
        "ListOptions",
        "PatchOptions",
        "UpdateOptions",
        "WatchEvent",
    ];
    let kinds: &[&str] = match (version.group.as_str(), version.version.as_str()) {
        ("", "v1") => &[
            "Binding",
            "ComponentStatus",
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "Namespace",
            "Node",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Pod",
            "PodAttachOptions",
            "PodExecOptions",
            "PodLogOptions",
            "PodPortForwardOptions",
            "PodProxyOptions",
            "PodStatusResult",
            "PodTemplate",
            "RangeAllocation",
            "ReplicationController",
            "ResourceQuota",
            "Secret",
            "SerializedReference",
            "Service",
            "ServiceAccount",
        ],
        ("apps", "v1" | "v1beta2") => &[
            "ControllerRevision",
            "DaemonSet",
            "Deployment",
            "ReplicaSet",
            "StatefulSet",
        ],
        ("apps", "v1beta1") => &["ControllerRevision", "Deployment", "StatefulSet"],
        ("extensions", "v1beta1") => &["DaemonSet", "Deployment", "ReplicaSet"],
        ("autoscaling", "v1") => &["HorizontalPodAutoscaler", "Scale"],
        ("autoscaling", "v2") => &["HorizontalPodAutoscaler"],
        ("coordination.k8s.io", "v1") => &["Lease"],
        ("events.k8s.io", "v1" | "v1beta1") => &["Event"],
        ("policy", "v1") => &["Eviction", "PodDisruptionBudget"],
        ("batch", "v1") => &["CronJob", "Job"],
        _ => return false,
    };
    let single = kind.strip_suffix("List").unwrap_or(kind);
    kinds.contains(&kind) || kinds.contains(&single) || META.contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Resources;
    use serde_json::json;

    fn said(object: Value) -> Option<String> {
        let resources = Resources::builtin();
        let deployments = resources.by_path("apps", "v1", "deployments").unwrap();
        mistake(deployments, &object)
    }

    #[test]
    fn kinds_that_are_registered_do_not_convert_and_others_are_unknown() {
        for (version, kind, error) in [
            (
                "apps/v1",
                "ReplicaSet",
                "converting (v1.ReplicaSet) to (apps.Deployment): unknown conversion",
            ),
            (
                "v1",
                "Pod",
                "converting (v1.Pod) to (apps.Deployment): unknown conversion",
            ),
            (
                "apps/v2",
                "Deployment",
                "no kind \"Deployment\" is registered for version \"apps/v2\" in scheme \
                 \"pkg/api/legacyscheme/scheme.go:30\"",
            ),
            (
                "a/b/c",
                "Deployment",
                "unexpected GroupVersion string: a/b/c",
            ),
        ] {
            let object = json!({"apiVersion": version, "kind": kind});
            assert_eq!(said(object).as_deref(), Some(error));
        }
        assert_eq!(said(json!({"apiVersion": "apps/v1", "kind": ""})), None);
        assert_eq!(said(json!({"kind": "Deployment"})), None);
        assert_eq!(
            said(json!({"apiVersion": "apps/v1beta1", "kind": "Deployment"})),
            None
        );
    }

    #[test]
    fn what_names_no_kind_is_not_parsed() {
        assert_eq!(
            said(json!([])).as_deref(),
            Some(
                "couldn't get version/kind; json parse error: json: cannot unmarshal array into \
                 Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; \
                 Kind string \"json:\\\"kind,omitempty\\\"\" }"
            )
        );
        assert_eq!(
            said(json!({"apiVersion": "apps/v1", "kind": 5})).as_deref(),
            Some(
                "couldn't get version/kind; json parse error: json: cannot unmarshal number into \
                 Go struct field .kind of type string"
            )
        );
    }
}
