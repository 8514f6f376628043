//! Objects of another kind than the one that is served, and the errors of decoding them
//! (`k8s.io/apimachinery/pkg/runtime`: `serializer/json`, `scheme.go`, `converter.go`).

mod older_scales;

use std::sync::Arc;

use serde_json::Value;

use self::older_scales::OLDER_SCALES;
use crate::go;
use crate::json::Node;
use crate::object::{GroupVersion, text};
use crate::schema::kinds::kinds;
use crate::schema::{self, Struct, builtin};
use crate::server::{RequestInfo, Resource, scale};

/// The types among which the kind of a body is looked for (`runtime.Scheme`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Scheme {
    /// Those of the built-in kinds.
    Builtin,
    /// Those of the scales of custom resources (`k8s.io/client-go/scale/util.go` NewScaleConverter).
    Scales,
}

impl Scheme {
    /// The types for the body of a request.
    pub(in crate::server) fn of_request(info: &RequestInfo) -> Self {
        match scale::is_foreign(info) {
            true => Self::Scales,
            false => Self::Builtin,
        }
    }

    /// The place of it in upstream's source, which messages name.
    fn place(self, resource: &Resource) -> &'static str {
        match (self, resource.group_version.group.as_str()) {
            (Self::Scales, _) => "k8s.io/client-go/scale/util.go:146",
            (_, "apiregistration.k8s.io") => {
                "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28"
            }
            _ => "pkg/api/legacyscheme/scheme.go:30",
        }
    }

    /// Returns whether it has a kind.
    fn has(self, version: &GroupVersion, kind: &str) -> bool {
        let version_text = version.to_string();
        let has_version =
            || version_text == "autoscaling/v1" || OLDER_SCALES.contains(&version_text.as_str());
        registered(version, kind)
            && (self == Self::Builtin || UNVERSIONED.contains(&kind) || has_version())
    }

    /// The package to which an object is converted.
    fn package(self, resource: &Resource) -> &str {
        if self == Self::Scales {
            return &resource.group_version.version;
        }
        match resource.group_version.group.split('.').next() {
            None | Some("" | "events") => "core",
            Some(group) => group,
        }
    }
}

/// The error of decoding an object into a built-in kind if its `apiVersion` or `kind` do not allow
/// that. Both fields are optional.
pub(in crate::server) fn mistake(
    resource: &Resource,
    scheme: Scheme,
    object: &Value,
) -> Option<String> {
    if let Some(error) = uninterpretable(object) {
        return Some(error);
    }
    let version = match text(object, "apiVersion") {
        "" => resource.group_version.clone(),
        version => GroupVersion::parse(version)?,
    };
    let kind = match text(object, "kind") {
        "" => &resource.kind,
        kind => kind,
    };
    if kind == resource.kind && version == resource.group_version {
        return None;
    }
    undecodable_as(&version, kind, object).or_else(|| other_kind(resource, scheme, &version, kind))
}

/// The same for the result of a patch, which is decoded into the internal type: without a version, it is looked
/// for in the internal one (`gvkWithDefaults` of `serializer/json`).
pub(in crate::server) fn mistake_of_patch(
    resource: &Resource,
    scheme: Scheme,
    object: &Value,
) -> Option<String> {
    let error = mistake(resource, scheme, object)?;
    let kind = text(object, "kind");
    let unversioned = scheme == Scheme::Builtin
        && text(object, "apiVersion").is_empty()
        && uninterpretable(object).is_none();
    let own = !UNVERSIONED.contains(&kind) && !META.contains(&kind);
    if !unversioned || !own || kind.is_empty() || kind == resource.kind {
        return Some(error);
    }
    if registered(&resource.group_version, kind) {
        let package = scheme.package(resource);
        let to = &resource.kind;
        return Some(format!(
            "converting ({package}.{kind}) to ({package}.{to}): unknown conversion"
        ));
    }
    Some(format!(
        "no kind {} is registered for the internal version of group {} in scheme \"{}\"",
        go::quote(kind),
        go::quote(&resource.group_version.group),
        scheme.place(resource),
    ))
}

/// The error of decoding an object of another kind into its own type, which comes before its conversion
/// (`Decode` of `serializer/versioning`).
fn undecodable_as(version: &GroupVersion, kind: &str, object: &Value) -> Option<String> {
    if kind == "Scale" && OLDER_SCALES.contains(&version.to_string().as_str()) {
        return older_scales::undecodable(&version.version, object);
    }
    schema::decode(Node::from(object.clone()), root(version, kind)?).err()
}

/// Returns the strict errors of an object of this version and kind, by its own type; `None` if it has none here.
pub(in crate::server) fn strict_errors(
    resource: &Resource,
    node: &Node,
    version: &GroupVersion,
    kind: &str,
) -> Option<Vec<String>> {
    // Only the types of served versions are here.
    if current(version) != version.to_string() {
        return None;
    }
    let kind = if kind.is_empty() {
        &resource.kind
    } else {
        kind
    };
    let decoded = schema::decode(node.clone(), root(version, kind)?).ok()?;
    Some(decoded.strict_errors)
}

/// The type of a registered kind.
fn root(version: &GroupVersion, kind: &str) -> Option<&'static Arc<Struct>> {
    let current = current(version);
    let mut all = kinds().iter();
    if let Some(facts) = all.find(|facts| facts.kind == kind && facts.api_version == current) {
        return facts.root();
    }
    // The older types are other ones.
    let is_own = current == version.to_string() && registered(version, kind);
    (is_own && kind != "Scale" || UNVERSIONED.contains(&kind))
        .then(|| schema::requested(kind))
        .flatten()
        .or_else(|| {
            (is_own && current == "autoscaling/v1")
                .then(|| builtin(kind))
                .flatten()
        })
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
fn other_kind(
    resource: &Resource,
    scheme: Scheme,
    version: &GroupVersion,
    kind: &str,
) -> Option<String> {
    if kind == resource.kind && *version == resource.group_version {
        return None;
    }
    if !scheme.has(version, kind) {
        return Some(format!(
            "no kind {} is registered for version {} in scheme \"{}\"",
            go::quote(kind),
            go::quote(&version.to_string()),
            scheme.place(resource),
        ));
    }
    // Older versions of a kind convert to it.
    let own = scheme == Scheme::Builtin && kind == resource.kind;
    if own && converts(version, kind, &resource.group_version) {
        return None;
    }
    // The types of these are in one package for all versions.
    let from = if UNVERSIONED.contains(&kind) || META.contains(&kind) {
        "v1"
    } else {
        &version.version
    };
    Some(format!(
        "converting ({from}.{kind}) to ({}.{}): unknown conversion",
        scheme.package(resource),
        resource.kind
    ))
}

/// Returns whether a kind of one version converts to the same kind of another: they have one internal type.
fn converts(from: &GroupVersion, kind: &str, to: &GroupVersion) -> bool {
    let (from, to) = (from.group.as_str(), to.group.as_str());
    let shared = match kind {
        "Event" => ["", "events.k8s.io"].as_slice(),
        "Scale" => &["apps", "autoscaling", "extensions"],
        "Ingress" | "NetworkPolicy" => &["extensions", "networking.k8s.io"],
        _ => &["apps", "extensions"],
    };
    from == to || [from, to].iter().all(|group| shared.contains(group))
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

/// The error of decoding an object into the options of a request, if there is one. A body of options
/// without a version has that of `meta.k8s.io`, whose other kinds do not convert
/// (`apimachinery/pkg/apis/meta/internalversion/scheme`); any version has the options themselves.
pub(in crate::server) fn other_options(
    version: Option<&str>,
    kind: &str,
    options: &str,
) -> Option<String> {
    const OWN: &str = "meta.k8s.io/v1";
    let version = version.unwrap_or(OWN);
    if kind == options {
        return None;
    }
    let views = [
        "PartialObjectMetadata",
        "PartialObjectMetadataList",
        "Table",
    ];
    let is_known = version == OWN && (META.contains(&kind) || views.contains(&kind));
    Some(if is_known || UNVERSIONED.contains(&kind) {
        format!("converting (v1.{kind}) to (v1.{options}): unknown conversion")
    } else {
        format!(
            "no kind {} is registered for version {} in scheme \
             \"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\"",
            go::quote(kind),
            go::quote(version)
        )
    })
}

/// Kinds that every group version has (`AddToGroupVersion` of `apimachinery/pkg/apis/meta/v1`).
const META: [&str; 7] = [
    "CreateOptions",
    "DeleteOptions",
    "GetOptions",
    "ListOptions",
    "PatchOptions",
    "UpdateOptions",
    "WatchEvent",
];

/// Kinds of no version: they are registered under all of them (`Scheme.New`).
const UNVERSIONED: [&str; 5] = [
    "APIGroup",
    "APIGroupList",
    "APIResourceList",
    "APIVersions",
    "Status",
];

/// Returns whether a kind is registered with the real server.
fn registered(version: &GroupVersion, kind: &str) -> bool {
    if UNVERSIONED.contains(&kind) {
        return true;
    }
    let (api_version, current) = (version.to_string(), current(version));
    let single = kind.strip_suffix("List").unwrap_or(kind);
    let mut has_kinds = others(&api_version).next().is_some();
    let mut is_known = META.contains(&kind) || others(&api_version).any(|other| other == kind);
    for facts in kinds().iter().filter(|facts| facts.api_version == current) {
        has_kinds = true;
        is_known |= facts.kind == single;
    }
    has_kinds && is_known
}

/// The served version that has the kinds of an earlier one, or the version itself.
fn current(version: &GroupVersion) -> String {
    const EARLIER: [&str; 15] = [
        "admissionregistration.k8s.io/v1alpha1",
        "admissionregistration.k8s.io/v1beta1",
        "apps/v1beta1",
        "apps/v1beta2",
        "certificates.k8s.io/v1beta1",
        "coordination.k8s.io/v1beta1",
        "discovery.k8s.io/v1beta1",
        "events.k8s.io/v1beta1",
        "node.k8s.io/v1beta1",
        "policy/v1beta1",
        "rbac.authorization.k8s.io/v1alpha1",
        "rbac.authorization.k8s.io/v1beta1",
        "resource.k8s.io/v1beta1",
        "scheduling.k8s.io/v1beta1",
        "storage.k8s.io/v1beta1",
    ];
    let name = version.to_string();
    if EARLIER.contains(&name.as_str()) || version.group.starts_with("flowcontrol.") {
        return format!("{}/v1", version.group);
    }
    name
}

/// The kinds of a version that have no objects of their own, or no list, or that are served in no version.
fn others(api_version: &str) -> impl Iterator<Item = &'static str> {
    let kinds = match api_version {
        "v1" => {
            "Binding ComponentStatus ComponentStatusList List NodeProxyOptions PodAttachOptions \
             PodExecOptions PodLogOptions PodPortForwardOptions PodProxyOptions PodStatusResult \
             RangeAllocation SerializedReference ServiceProxyOptions"
        }
        "apps/v1beta1" | "apps/v1beta2" => "Scale",
        "extensions/v1beta1" => {
            "DaemonSet DaemonSetList Deployment DeploymentList Ingress IngressList NetworkPolicy \
             NetworkPolicyList ReplicaSet ReplicaSetList Scale"
        }
        "authentication.k8s.io/v1" => "SelfSubjectReview TokenRequest TokenReview",
        "authorization.k8s.io/v1" => {
            "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview \
             SubjectAccessReview"
        }
        "autoscaling/v1" => "Scale",
        "batch/v1beta1" => "CronJob CronJobList",
        "networking.k8s.io/v1beta1" => "Ingress IngressList IngressClass IngressClassList",
        "policy/v1" | "policy/v1beta1" => "Eviction",
        _ => "",
    };
    kinds.split_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Resources;
    use serde_json::json;

    fn said(object: Value) -> Option<String> {
        let resources = Resources::builtin();
        let deployments = resources.by_path("apps", "v1", "deployments").unwrap();
        mistake(deployments, Scheme::Builtin, &object)
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
                "v1",
                "Status",
                "converting (v1.Status) to (apps.Deployment): unknown conversion",
            ),
            (
                "apps/v1beta2",
                "DeleteOptions",
                "converting (v1.DeleteOptions) to (apps.Deployment): unknown conversion",
            ),
            (
                "rbac.authorization.k8s.io/v1beta1",
                "RoleList",
                "converting (v1beta1.RoleList) to (apps.Deployment): unknown conversion",
            ),
            (
                "batch/v1beta1",
                "Job",
                "no kind \"Job\" is registered for version \"batch/v1beta1\" in scheme \
                 \"pkg/api/legacyscheme/scheme.go:30\"",
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
    fn a_status_is_decoded_as_one_before_it_does_not_convert() {
        let error =
            "json: cannot unmarshal object into Go struct field Status.status of type string";
        let object = json!({"apiVersion": "v1", "kind": "Status", "status": {}});
        assert_eq!(said(object).as_deref(), Some(error));
    }

    #[test]
    fn the_scale_of_a_custom_resource_has_types_of_its_own() {
        let scale = scale::resource().unwrap();
        for (version, kind, error) in [
            (
                "apps/v1",
                "Deployment",
                "no kind \"Deployment\" is registered for version \"apps/v1\" in scheme \
                 \"k8s.io/client-go/scale/util.go:146\"",
            ),
            (
                "extensions/v1beta1",
                "Scale",
                "converting (v1beta1.Scale) to (v1.Scale): unknown conversion",
            ),
        ] {
            let object = json!({"apiVersion": version, "kind": kind});
            let found = mistake(scale, Scheme::Scales, &object);
            assert_eq!(found.as_deref(), Some(error));
        }
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
