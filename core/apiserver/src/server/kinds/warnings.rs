//! Warnings for accepted objects (`WarningsOnCreate` and `WarningsOnUpdate` of
//! `pkg/registry/*/strategy.go`).

use serde_json::Value;

use super::label_selector::list;
use super::{device_slices, ip, names, networking, pod_warnings, secret};
use crate::field::ErrorPath;
use crate::object::{JsonMap, Metadata, text};
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
        "Endpoints" => endpoints,
        "NetworkPolicy" => network_policy,
        "Node" => node,
        "RuntimeClass" => runtime_class,
        "StorageClass" => class_of_storage,
        "DaemonSet" => |object, live| pods(object, live, false, "spec.template", false),
        "EndpointSlice" => endpoint_slice,
        "Ingress" => networking::warn,
        "Job" | "ReplicaSet" => |object, live| pods(object, live, true, "spec.template", false),
        "PersistentVolume" => volume,
        "PersistentVolumeClaim" => claim,
        "ReplicationController" => |object, live| pods(object, live, true, "spec.template", true),
        "ResourceSlice" => device_slices::warn,
        "Secret" => secret::warn,
        "ServiceAccount" => service_account,
        "StatefulSet" => stateful_set,
        _ => return None,
    })
}

/// Returns the warnings for the name and the template of a controller of pods. An update that changes no
/// field of the spec gives none.
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
    warnings.extend(many_indexes(object, path));
    // The template of a ReplicationController is named without its spec.
    let shown = if short { "template" } else { path };
    let shown = ErrorPath::new(shown);
    warnings.extend(pod_warnings::of(&template(object), Some(&shown)));
    warnings
}

/// A job has more indexes, and more of them at once, than its status can tell of (`WarningsForJobSpec`).
fn many_indexes(object: &Value, template: &str) -> Option<String> {
    const MOST_INDEXES: i64 = 100_000;
    const MOST_AT_ONCE: i64 = 10_000;
    let path = template.strip_suffix(".template")?;
    let spec = path.split('.').fold(object, |value, name| &value[name]);
    let above = |field: &str, most: i64| spec[field].as_i64().is_some_and(|count| count > most);
    let is_much = text(spec, "completionMode") == "Indexed"
        && above("completions", MOST_INDEXES)
        && above("parallelism", MOST_AT_ONCE);
    is_much.then(|| {
        format!(
            "{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism \
             higher than 10^4, Kubernetes might not be able to track completedIndexes when a big \
             number of indexes fail"
        )
    })
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

/// A part of a byte is asked for, or is the limit (`GetWarningsForPersistentVolumeClaimSpec`).
fn fraction(spec: &Value, path: &ErrorPath<'_>) -> Vec<String> {
    let of = |list: &str| {
        let asked = spec["resources"][list].get("storage")?;
        let shown = crate::go::quote(asked.as_str().unwrap_or_default());
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
    // A pod's flocker and quobyte are warned of, a volume's are not.
    let sources = pod_warnings::VOLUMES.iter();
    let old = sources.filter(|(kind, _)| !matches!(*kind, "flocker" | "quobyte"));
    for (kind, message) in old.filter(|(kind, _)| spec.get(kind).is_some()) {
        let shown = match *kind {
            "storageos" => "storageOS",
            kind => kind,
        };
        warnings.push(format!("{}: {message}", path.child(shown)));
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

/// Returns whether a controller of Kubernetes wrote the object: its addresses are not looked at.
fn is_managed(object: &Value, label: &str, by: &[&str]) -> bool {
    by.contains(&text(&object["metadata"]["labels"], label))
}

/// `endpointSliceStrategy`.
fn endpoint_slice(slice: &Value, _: Option<&Value>) -> Vec<String> {
    if text(slice, "addressType") == "FQDN" {
        return vec!["spec.addressType: FQDN endpoints are deprecated".to_owned()];
    }
    let controllers = [
        "endpointslice-controller.k8s.io",
        "endpointslicemirroring-controller.k8s.io",
    ];
    if is_managed(
        slice,
        "endpointslice.kubernetes.io/managed-by",
        &controllers,
    ) {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    for (i, endpoint) in list(slice, "endpoints").iter().enumerate() {
        for (j, address) in list(endpoint, "addresses").iter().enumerate() {
            let path = ErrorPath::new("endpoints");
            let (path, address) = (path.index(i), address.as_str().unwrap_or_default());
            warnings.extend(ip::warning(address, &path.item("addresses", j)));
        }
    }
    warnings
}

/// `endpointsStrategy`.
fn endpoints(endpoints: &Value, _: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    let label = "endpoints.kubernetes.io/managed-by";
    if is_managed(endpoints, label, &["endpoint-controller"]) {
        return warnings;
    }
    let path = ErrorPath::new("subsets");
    for (i, subset) in list(endpoints, "subsets").iter().enumerate() {
        let path = path.index(i);
        for field in ["addresses", "notReadyAddresses"] {
            for (j, address) in list(subset, field).iter().enumerate() {
                let path = path.item(field, j);
                warnings.extend(ip::warning(text(address, "ip"), &path.child("ip")));
            }
        }
    }
    warnings
}

/// `networkPolicyStrategy`.
fn network_policy(policy: &Value, _: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    let path = ErrorPath::new("spec");
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for (i, rule) in list(&policy["spec"], rules).iter().enumerate() {
            let path = path.item(rules, i);
            for (j, peer) in list(rule, peers).iter().enumerate() {
                let (block, path) = (&peer["ipBlock"], path.item(peers, j));
                let path = path.child("ipBlock");
                warnings.extend(ip::range_warnings(text(block, "cidr"), &path.child("cidr")));
                for (k, except) in list(block, "except").iter().enumerate() {
                    let range = except.as_str().unwrap_or_default();
                    warnings.extend(ip::range_warnings(range, &path.item("except", k)));
                }
            }
        }
    }
    warnings
}

/// `nodeStrategy`; its configuration is dropped before.
fn node(node: &Value, _: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    let (spec, path) = (&node["spec"], ErrorPath::new("spec"));
    if !text(spec, "externalID").is_empty() {
        let message = "this field is deprecated, and is unused by Kubernetes";
        warnings.push(format!("{}: {message}", path.child("externalID")));
    }
    for (i, range) in list(spec, "podCIDRs").iter().enumerate() {
        let range = range.as_str().unwrap_or_default();
        warnings.extend(ip::range_warnings(range, &path.item("podCIDRs", i)));
    }
    warnings
}

/// `GetWarningsForRuntimeClass`.
fn runtime_class(class: &Value, _: Option<&Value>) -> Vec<String> {
    let labels = class["scheduling"]["nodeSelector"].as_object();
    let old = labels.into_iter().flat_map(JsonMap::keys);
    old.filter_map(|label| pod_warnings::renamed_label(label))
        .map(|message| format!("scheduling.nodeSelector: {message}"))
        .collect()
}

/// `GetWarningsForStorageClass`.
fn class_of_storage(class: &Value, _: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    let path = ErrorPath::new("allowedTopologies");
    for (i, term) in list(class, "allowedTopologies").iter().enumerate() {
        let path = path.index(i);
        for (j, rule) in list(term, "matchLabelExpressions").iter().enumerate() {
            if let Some(message) = pod_warnings::renamed_label(text(rule, "key")) {
                let path = path.item("matchLabelExpressions", j);
                warnings.push(format!("{path}.key: {message}"));
            }
        }
    }
    warnings
}
