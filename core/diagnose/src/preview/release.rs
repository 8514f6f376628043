//! Helm's words about an object that exists and is not of its release.

use optimist_apiserver::go;
use optimist_apiserver::object::Metadata;
use optimist_client::tracking::MANAGED_BY;
use serde_json::Value;

use super::row::{PreviewObject, PreviewRow};

/// The name of a release, and its namespace, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownRelease {
    pub(super) name: Option<String>,
    pub(super) namespace: Option<String>,
}

/// A row of an object that Helm would have to create, and that exists and does not belong to the release. Helm
/// compares by itself, before its first write (`helm.sh/helm/v4/pkg/action/upgrade.go performUpgrade`, v4.2). A name
/// that is not known has a placeholder.
pub(super) fn not_of_release(
    object: PreviewObject,
    stored: &Value,
    release: &KnownRelease,
) -> PreviewRow {
    let (kind, name) = (&object.kind, go::quote(&object.name));
    let namespace = go::quote(&object.namespace);
    let message = format!(
        "Unable to continue with update: {kind} {name} in namespace {namespace} exists and cannot be imported into the \
         current release: {}",
        ownership(stored, release)
    );
    PreviewRow::refused_by_tool(object, message)
}

/// Returns Helm's reasons (`helm.sh/helm/v4/pkg/action/validate.go checkOwnership`, v4.2; the same in v3.21).
fn ownership(stored: &Value, release: &KnownRelease) -> String {
    let name = release.name.as_deref().unwrap_or("RELEASE");
    let namespace = release.namespace.as_deref().unwrap_or("NAMESPACE");
    let required = [
        ("label", "labels", MANAGED_BY, "Helm"),
        (
            "annotation",
            "annotations",
            "meta.helm.sh/release-name",
            name,
        ),
        (
            "annotation",
            "annotations",
            "meta.helm.sh/release-namespace",
            namespace,
        ),
    ];
    let mut says = vec!["invalid ownership metadata".to_owned()];
    for (what, member, key, wanted) in required {
        let found = stored
            .metadata()
            .and_then(|it| it.get(member)?.get(key)?.as_str());
        let (key, quoted) = (go::quote(key), go::quote(wanted));
        match found {
            None => says.push(format!(
                "{what} validation error: missing key {key}: must be set to {quoted}"
            )),
            Some(found) if found != wanted => says.push(format!(
                "{what} validation error: key {key} must equal {quoted}: current value is {}",
                go::quote(found)
            )),
            Some(_) => {}
        }
    }
    says.join("; ")
}
