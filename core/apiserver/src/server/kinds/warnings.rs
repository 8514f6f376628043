//! Warnings for accepted objects (`WarningsOnCreate` and `WarningsOnUpdate` of
//! `pkg/registry/*/strategy.go`).

use serde_json::Value;

use super::label_selector::list;
use super::{names, networking, pod_warnings, secret};
use crate::field::ErrorPath;
use crate::object::{Metadata, text};
use crate::schema::Quantity;

/// The warnings for an object; the stored one is given on update.
type Warn = fn(&Value, Option<&Value>) -> Vec<String>;

const STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// The warnings of a kind; `None` if it has none.
pub(super) fn of(kind: &str) -> Option<Warn> {
    Some(match kind {
        "CronJob" => {
            |object, live| pods(object, live, true, "spec.jobTemplate.spec.template", false)
        }
        "DaemonSet" => |object, live| pods(object, live, false, "spec.template", false),
        "EndpointSlice" => endpoint_slice,
        "Ingress" => networking::warn,
        "Job" | "ReplicaSet" => |object, live| pods(object, live, true, "spec.template", false),
        "PersistentVolume" => volume,
        "PersistentVolumeClaim" => claim,
        "ReplicationController" => |object, live| pods(object, live, true, "spec.template", true),
        "Secret" => secret::warn,
        "ServiceAccount" => service_account,
        "StatefulSet" => stateful_set,
        _ => return None,
    })
}

/// What the name and the template of a controller of pods ask for. An update that changes no field
/// of the spec gives none.
fn pods(object: &Value, live: Option<&Value>, named: bool, path: &str, short: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    let template = |object: &'_ Value| {
        let names = path.split('.');
        names.fold(object.clone(), |value, name| value[name].clone())
    };
    match live {
        Some(live) if live.generation() == object.generation() => return warnings,
        Some(_) => {}
        None if named => {
            let reasons = names::label(object.name());
            if !reasons.is_empty() {
                warnings.push(format!(
                    "metadata.name: this is used in Pod names and hostnames, which can result in \
                     surprising behavior; a DNS label is recommended: [{}]",
                    reasons.join(" ")
                ));
            }
        }
        None => {}
    }
    // The template of a ReplicationController is named without its spec.
    let shown = if short { "template" } else { path };
    let shown = ErrorPath::new(shown);
    warnings.extend(pod_warnings::of(&template(object), Some(&shown)));
    warnings
}

/// `statefulSetStrategy`.
fn stateful_set(set: &Value, live: Option<&Value>) -> Vec<String> {
    let mut warnings = pods(set, live, false, "spec.template", false);
    let changed = live.is_none_or(|live| live.generation() != set.generation());
    let claims = list(&set["spec"], "volumeClaimTemplates").iter();
    for (i, claim) in claims.enumerate().filter(|_| changed) {
        let path = ErrorPath::new("spec");
        let path = path.item("volumeClaimTemplates", i);
        warnings.extend(fraction(&claim["spec"], &path));
    }
    if set["spec"]["revisionHistoryLimit"]
        .as_i64()
        .is_some_and(|limit| limit < 0)
    {
        warnings.push(
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value \
             >= 0 is recommended"
                .to_owned(),
        );
    }
    warnings
}

/// `GetWarningsForPersistentVolumeClaim`.
fn claim(claim: &Value, _: Option<&Value>) -> Vec<String> {
    let mut warnings: Vec<String> = storage_class(claim).into_iter().collect();
    warnings.extend(fraction(&claim["spec"], &ErrorPath::new("spec")));
    warnings
}

fn storage_class(object: &Value) -> Option<String> {
    annotation(
        object,
        STORAGE_CLASS,
        "deprecated since v1.8; use \"storageClassName\" attribute instead",
    )
}

fn annotation(object: &Value, name: &str, message: &str) -> Option<String> {
    object["metadata"]["annotations"].get(name)?;
    Some(format!("metadata.annotations[{name}]: {message}"))
}

/// A part of a byte is asked for.
fn fraction(spec: &Value, path: &ErrorPath<'_>) -> Option<String> {
    let asked = spec.pointer("/resources/requests/storage")?;
    let shown = crate::go::quote(asked.as_str().unwrap_or_default());
    let whole = Quantity::from(asked).is_whole();
    (!whole).then(|| {
        format!(
            "{path}.resources.requests[storage]: fractional byte value {shown} is invalid, must be \
             an integer"
        )
    })
}

/// `GetWarningsForPersistentVolume`.
fn volume(volume: &Value, _: Option<&Value>) -> Vec<String> {
    let mut warnings: Vec<String> = storage_class(volume).into_iter().collect();
    warnings.extend(annotation(
        volume,
        "volume.beta.kubernetes.io/mount-options",
        "deprecated since v1.31; use \"mountOptions\" attribute instead",
    ));
    let spec = &volume["spec"];
    let path = ErrorPath::new("spec");
    if text(spec, "persistentVolumeReclaimPolicy") == "Recycle" {
        warnings.push(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, \
             the recommended approach is to use dynamic provisioning."
                .to_owned(),
        );
    }
    let selector = path.child("nodeAffinity.required");
    let terms = list(&spec["nodeAffinity"]["required"], "nodeSelectorTerms");
    for (i, term) in terms.iter().enumerate() {
        let path = selector.item("nodeSelectorTerms", i);
        pod_warnings::node_term(term, false, &path, &mut warnings);
    }
    let mut sources = pod_warnings::VOLUMES.iter();
    if let Some((kind, message)) = sources.find(|(kind, _)| spec.get(kind).is_some()) {
        warnings.push(format!("{}: {message}", path.child(kind)));
    }
    warnings
}

/// `serviceAccountStrategy`.
fn service_account(account: &Value, live: Option<&Value>) -> Vec<String> {
    const ENFORCE: &str = "kubernetes.io/enforce-mountable-secrets";
    let is_new = |object: &Value| text(&object["metadata"]["annotations"], ENFORCE) == "true";
    if !is_new(account) || live.is_some_and(is_new) {
        return Vec::new();
    }
    let message =
        "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
    annotation(account, ENFORCE, message).into_iter().collect()
}

/// `endpointSliceStrategy`.
fn endpoint_slice(slice: &Value, _: Option<&Value>) -> Vec<String> {
    if text(slice, "addressType") == "FQDN" {
        return vec!["spec.addressType: FQDN endpoints are deprecated".to_owned()];
    }
    let mut warnings = Vec::new();
    for (i, endpoint) in list(slice, "endpoints").iter().enumerate() {
        for (j, address) in list(endpoint, "addresses").iter().enumerate() {
            let path = ErrorPath::new("endpoints");
            let (path, address) = (path.index(i), address.as_str().unwrap_or_default());
            warnings.extend(super::ip::warning(address, &path.item("addresses", j)));
        }
    }
    warnings
}
