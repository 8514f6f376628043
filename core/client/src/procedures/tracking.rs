//! The metadata that delivery tools add to every manifest that they write. By it they recognize their
//! objects later; the rendered manifests do not have it.

use crate::Preset;
use crate::client_side_upgrade::owns;
use optimist_apiserver::apply::{ManagedFieldsOperation, is_entry_of};
use optimist_apiserver::object::{Metadata, map_mut, text};
use serde_json::Value;

/// The label in which most charts name themselves, with their version.
pub const CHART: &str = "helm.sh/chart";
/// The label by which a tool knows its own objects.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const RELEASE_NAME: &str = "meta.helm.sh/release-name";
const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";
const KUSTOMIZATION_NAME: &str = "kustomize.toolkit.fluxcd.io/name";
const KUSTOMIZATION_NAMESPACE: &str = "kustomize.toolkit.fluxcd.io/namespace";
const HELM_RELEASE_NAME: &str = "helm.toolkit.fluxcd.io/name";
const HELM_RELEASE_NAMESPACE: &str = "helm.toolkit.fluxcd.io/namespace";
const TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";
const INSTALLATION_ID: &str = "argocd.argoproj.io/installation-id";

/// The delivery tools to which an object belongs, by its metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveredBy {
    /// Name and namespace of the Helm release (`setMetadataVisitor` in
    /// `helm.sh/helm/v4/pkg/action/validate.go`, v4.2).
    pub release: Option<(String, String)>,
    /// Name and namespace of Flux's HelmRelease, which runs Helm
    /// (`fluxcd/helm-controller/internal/postrender/origin_labels.go`).
    pub helm_release: Option<(String, String)>,
    /// The Argo CD Application, as its command line names it: `NAME` or `NAMESPACE/NAME`
    /// (`argo-cd/util/argo/resource_tracking.go ParseAppInstanceValue`, v3.5).
    pub application: Option<String>,
    /// Name and namespace of the Flux Kustomization (`SetOwnerLabels` in `fluxcd/pkg/ssa/manager.go`,
    /// v0.76).
    pub kustomization: Option<(String, String)>,
}

impl DeliveredBy {
    /// Reads the metadata of objects. The first object that says something is believed.
    pub fn from_objects(objects: &[&Value]) -> Self {
        let pair = |of: &str, names: [&str; 2]| {
            objects.iter().find_map(|object| {
                let [name, namespace] = names.map(|name| entry(object, of, name));
                Some((name?.to_owned(), namespace.unwrap_or_default().to_owned()))
            })
        };
        Self {
            release: pair("annotations", [RELEASE_NAME, RELEASE_NAMESPACE]),
            helm_release: pair("labels", [HELM_RELEASE_NAME, HELM_RELEASE_NAMESPACE]),
            application: objects.iter().find_map(|object| application(object)),
            kustomization: pair("labels", [KUSTOMIZATION_NAME, KUSTOMIZATION_NAMESPACE]),
        }
    }
}

/// Returns whether Helm takes an object that it did not write for one of its release (`checkOwnership` in
/// `helm.sh/helm/v4/pkg/action/validate.go`, v4.2; v3 has the same). If the release is not known, any is taken.
pub fn is_of_release(object: &Value, release: Option<&(String, String)>) -> bool {
    let own = DeliveredBy::from_objects(&[object]).release;
    entry(object, "labels", MANAGED_BY) == Some("Helm")
        && own.is_some_and(|own| match release {
            Some(release) => own == *release,
            None => !own.1.is_empty(),
        })
}

/// Returns whether a label or annotation names the tool to which the object belongs: the tool's writes
/// depend on it.
pub fn is_read_by_tools(name: &str) -> bool {
    [
        RELEASE_NAME,
        RELEASE_NAMESPACE,
        KUSTOMIZATION_NAME,
        KUSTOMIZATION_NAMESPACE,
        TRACKING_ID,
        INSTALLATION_ID,
    ]
    .contains(&name)
}

fn entry<'a>(object: &'a Value, of: &str, name: &str) -> Option<&'a str> {
    let value = object.metadata()?.get(of)?.get(name)?.as_str()?;
    (!value.is_empty()).then_some(value)
}

/// The annotation with the options of Argo CD for one object.
pub const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";

/// Returns whether a label or an annotation has this word, among others with commas between them.
pub fn says(object: &Value, name: &str, word: &str) -> bool {
    ["labels", "annotations"].iter().any(|of| {
        let said = object
            .metadata()
            .and_then(|meta| meta.get(*of)?.get(name)?.as_str());
        said.is_some_and(|said| {
            said.split(',')
                .any(|it| it.trim().eq_ignore_ascii_case(word))
        })
    })
}

/// `web:apps/Deployment:shop/web`, in other namespaces `team_web:apps/Deployment:shop/web`. A copy of an
/// object has the id of the original: then the application is not known.
fn application(object: &Value) -> Option<String> {
    let id = entry(object, "annotations", TRACKING_ID)?;
    let (application, itself) = id.split_once(':')?;
    let (kind, name) = itself.split_once(':')?;
    let kind = kind.rsplit('/').next()?;
    let name = name.rsplit('/').next()?;
    let is_own = kind == text(object, "kind") && name == object.name();
    (is_own && !application.is_empty()).then(|| application.replacen('_', "/", 1))
}

/// The manager by which Helm writes an object: the base name of the program that runs it, if the program
/// names none (`helm.sh/helm/v4/pkg/kube/client.go getManagedFieldsManager`, v4.2), so `helm`,
/// `helm-controller` or `terraform-provider-helm_v3.1.0`. It owns the annotations of the release.
pub fn helm_manager(live: &Value) -> Option<String> {
    let annotation = ["metadata", "annotations", RELEASE_NAME];
    let is_owner =
        |entry: &&Value| text(entry, "manager").contains("helm") && owns(entry, &annotation);
    let owner = live.managed_entries().iter().find(is_owner)?;
    Some(text(owner, "manager").to_owned())
}

/// Returns whether Helm owns fields of an object by Update, as its client-side apply leaves them.
pub fn helm_updates(live: &Value) -> bool {
    let manager = helm_manager(live).unwrap_or_else(|| "helm".to_owned());
    let mut entries = live.managed_entries().iter();
    entries.any(|entry| is_entry_of(entry, &manager, ManagedFieldsOperation::Update, ""))
}

/// Returns whether the newest entry of Helm in an object is of an apply: its last release was applied server-side.
pub fn helm_applied_last(live: &Value) -> bool {
    let manager = helm_manager(live).unwrap_or_else(|| "helm".to_owned());
    let newest = |operation| {
        let entries = live.managed_entries().iter();
        let own = entries.filter(|entry| is_entry_of(entry, &manager, operation, ""));
        own.map(|entry| text(entry, "time")).max()
    };
    // A time without a fraction, in UTC: the order of the texts is that of the times.
    let applied = newest(ManagedFieldsOperation::Apply);
    applied.is_some() && applied > newest(ManagedFieldsOperation::Update)
}

/// Returns a manifest with the additions of the tool. Additions that are not known are left out.
pub fn tracked(preset: Preset, mut manifest: Value, live: &Value) -> Value {
    let by = DeliveredBy::from_objects(&[live, &manifest]);
    match preset {
        Preset::Helm3 | Preset::Helm4 => {
            if let Some((name, namespace)) = by.release {
                put(&mut manifest, "labels", MANAGED_BY, "Helm");
                put(&mut manifest, "annotations", RELEASE_NAME, &name);
                put(&mut manifest, "annotations", RELEASE_NAMESPACE, &namespace);
            }
            if let Some((name, namespace)) = by.helm_release {
                put(&mut manifest, "labels", HELM_RELEASE_NAME, &name);
                put(&mut manifest, "labels", HELM_RELEASE_NAMESPACE, &namespace);
            }
        }
        Preset::Flux => {
            if let Some((name, namespace)) = by.kustomization {
                put(&mut manifest, "labels", KUSTOMIZATION_NAME, &name);
                put(&mut manifest, "labels", KUSTOMIZATION_NAMESPACE, &namespace);
            }
        }
        Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => {
            for name in [TRACKING_ID, INSTALLATION_ID] {
                let known = entry(live, "annotations", name).map(str::to_owned);
                if let Some(value) = known.filter(|_| by.application.is_some()) {
                    put(&mut manifest, "annotations", name, &value);
                }
            }
        }
        _ => {}
    }
    manifest
}

/// Returns whether an object says that the tool delivered it.
pub fn is_delivered(preset: Preset, object: &Value) -> bool {
    let none = Value::Null;
    tracks(preset) && is_known(preset, &none, object)
}

fn tracks(preset: Preset) -> bool {
    matches!(
        preset,
        Preset::Helm3
            | Preset::Helm4
            | Preset::Flux
            | Preset::ArgoCdClientSide
            | Preset::ArgoCdServerSide
    )
}

/// Returns the manifest of a new object with the tool's additions, as another object of the same delivery
/// has them. Argo CD's id names the object itself (`BuildAppInstanceValue` in
/// `argo-cd/util/argo/resource_tracking.go`, v3.5).
pub fn tracked_as(preset: Preset, manifest: Value, sibling: &Value) -> Value {
    let application = entry(sibling, "annotations", TRACKING_ID);
    let application = application.and_then(|id| id.split_once(':'));
    let mut manifest = tracked(preset, manifest, sibling);
    if let Some((application, _)) = application.filter(|_| preset.is_argo_cd()) {
        let version = text(&manifest, "apiVersion");
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let id = format!(
            "{application}:{group}/{}:{}/{}",
            text(&manifest, "kind"),
            manifest.namespace(),
            manifest.name()
        );
        put(&mut manifest, "annotations", TRACKING_ID, &id);
    }
    manifest
}

/// Returns whether the tool's additions to manifests are known.
pub fn is_known(preset: Preset, manifest: &Value, live: &Value) -> bool {
    let by = DeliveredBy::from_objects(&[live, manifest]);
    match preset {
        Preset::Helm3 | Preset::Helm4 => by.release.is_some(),
        Preset::Flux => by.kustomization.is_some(),
        Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => by.application.is_some(),
        _ => true,
    }
}

fn put(manifest: &mut Value, of: &str, name: &str, value: &str) {
    let metadata = manifest.metadata_mut();
    let entries = metadata.entry(of).or_insert(Value::Null);
    map_mut(entries).insert(name.to_owned(), value.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_metadata_says_to_which_tools_an_object_belongs() {
        let object = json!({"kind": "Deployment", "metadata": {"name": "web",
            "annotations": {RELEASE_NAME: "shop", RELEASE_NAMESPACE: "live",
                TRACKING_ID: "team_shop:apps/Deployment:live/web"},
            "labels": {KUSTOMIZATION_NAME: "apps", KUSTOMIZATION_NAMESPACE: "flux-system"}}});
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        let expected = DeliveredBy {
            release: pair("shop", "live"),
            helm_release: None,
            application: Some("team/shop".to_owned()),
            kustomization: pair("apps", "flux-system"),
        };
        assert_eq!(DeliveredBy::from_objects(&[&object]), expected);
        let mut copy = object;
        copy["metadata"]["name"] = "copy".into();
        assert_eq!(DeliveredBy::from_objects(&[&copy]).application, None);
        assert_eq!(
            DeliveredBy::from_objects(&[&json!({})]),
            DeliveredBy::default()
        );
    }
}
