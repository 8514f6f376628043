//! Warnings for accepted objects (`WarningsOnCreate` and `WarningsOnUpdate` of
//! `pkg/registry/*/strategy.go`).

use serde_json::Value;

use super::label_selector::list;
use super::{Notices, device_slices, ip, names, networking, pod_warnings, quotas, secret};
use crate::field::ErrorPath;
use crate::object::{JsonMap, Metadata, text};

/// The warnings for an object; the stored one is given on update.
type Warn = fn(&Value, Option<&Value>) -> Vec<String>;

const STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// The warnings of a kind; `None` if it has none.
pub(super) fn for_kind(kind: &str) -> Option<Warn> {
    Some(match kind {
        "CronJob" => |object, live| pods(object, live, true, "spec.jobTemplate.spec.template"),
        "Endpoints" => endpoints,
        "NetworkPolicy" => network_policy,
        "Node" => node,
        "RuntimeClass" => runtime_class,
        "StorageClass" => class_of_storage,
        "CSIDriver" => driver_of_storage,
        "CSIStorageCapacity" => capacity_of_storage,
        "DaemonSet" => daemon_set,
        "EndpointSlice" => endpoint_slice,
        "Ingress" => networking::warn,
        "Job" | "ReplicaSet" => |object, live| pods(object, live, true, "spec.template"),
        "PersistentVolume" => volume,
        "PersistentVolumeClaim" => claim,
        "PodTemplate" => |object, live| pods(object, live, false, "template"),
        "ReplicationController" => replication_controller,
        "ResourceQuota" => quotas::warn,
        "ResourceSlice" => device_slices::warn,
        "Secret" => secret::warn,
        "ServiceAccount" => service_account,
        "StatefulSet" => stateful_set,
        "MutatingAdmissionPolicy"
        | "MutatingAdmissionPolicyBinding"
        | "MutatingWebhookConfiguration"
        | "ValidatingAdmissionPolicy"
        | "ValidatingAdmissionPolicyBinding"
        | "ValidatingWebhookConfiguration" => |object, _| static_name(object).into_iter().collect(),
        _ => return None,
    })
}

/// The warnings for a written status with a load balancer.
pub(super) const OF_BALANCERS: Notices = Notices {
    status: balancer_addresses,
    ..Notices::NONE
};

/// The addresses of the load balancer of a Service or an Ingress (`serviceStatusStrategy`,
/// `ingressStatusStrategy`).
fn balancer_addresses(object: &Value) -> Vec<String> {
    let path = ErrorPath::new("status.loadBalancer");
    let all = list(&object["status"]["loadBalancer"], "ingress").iter();
    let warning = |(i, ingress)| ip::warning(text(ingress, "ip"), &path.item("ingress", i));
    all.enumerate().filter_map(warning).collect()
}

/// Tokens that a driver gets among the attributes of a volume (`csiDriverStrategy`).
fn driver_of_storage(driver: &Value, live: Option<&Value>) -> Vec<String> {
    let tokens = |driver: &Value| list(&driver["spec"], "tokenRequests").to_vec();
    let given = tokens(driver);
    let changed = live.is_none_or(|live| tokens(live) != given);
    let said = driver["spec"].get("serviceAccountTokenInSecrets").is_some();
    if given.is_empty() || said || !changed {
        return Vec::new();
    }
    vec![
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to \
         prevent possible logging of tokens in volume attributes"
            .to_owned(),
    ]
}

/// Names that only the files of a server may have (`WarningsForStaticSuffix`).
fn static_name(object: &Value) -> Option<String> {
    object.name().ends_with(".static.k8s.io").then(|| {
        "metadata.name: names ending with \".static.k8s.io\" are reserved for static manifest-based \
         configurations and cannot be managed via the API"
            .to_owned()
    })
}

/// Returns the warnings for the name and the template of a controller of pods. An update that changes no
/// field of the spec gives none.
fn pods(object: &Value, live: Option<&Value>, named: bool, path: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    match live {
        Some(live) if live.generation() == object.generation() => return warnings,
        Some(_) => {}
        None if named => warnings.extend(long_name(object)),
        None => {}
    }
    warnings.extend(many_indexes(object, path));
    warnings.extend(of_template(object, path));
    warnings
}

fn of_template(object: &Value, path: &str) -> Vec<String> {
    let template = path.split('.').fold(object, |value, name| &value[name]);
    pod_warnings::for_template(template, Some(&ErrorPath::new(path)))
}

/// A name that is no name of a host.
fn long_name(object: &Value) -> Option<String> {
    let reasons = names::label(object.name());
    (!reasons.is_empty()).then(|| {
        format!(
            "metadata.name: this is used in Pod names and hostnames, which can result in \
             surprising behavior; a DNS label is recommended: [{}]",
            reasons.join(" ")
        )
    })
}

/// `daemonSetStrategy`: an update of other fields than the template gives none.
fn daemon_set(set: &Value, live: Option<&Value>) -> Vec<String> {
    let template = |set: &Value| set["spec"]["template"].clone();
    match live {
        Some(live) if template(live) == template(set) => Vec::new(),
        _ => of_template(set, "spec.template"),
    }
}

/// `rcStrategy`: upstream warns of the stored template when an update changes the spec.
fn replication_controller(controller: &Value, live: Option<&Value>) -> Vec<String> {
    match live {
        None => pods(controller, None, true, "spec.template"),
        Some(live) if live.generation() == controller.generation() => Vec::new(),
        Some(live) => of_template(live, "spec.template"),
    }
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

/// `statefulSetStrategy`. The path of a template of a claim has another form in an update.
fn stateful_set(set: &Value, live: Option<&Value>) -> Vec<String> {
    let mut warnings = pods(set, live, false, "spec.template");
    let claims = list(&set["spec"], "volumeClaimTemplates").iter();
    for (i, claim) in claims.enumerate() {
        let path = ErrorPath::new("spec");
        let path = path.item("volumeClaimTemplates", i);
        let path = match live {
            None => path,
            Some(_) => path.child("Spec"),
        };
        warnings.extend(pod_warnings::fractional_storage(&claim["spec"], &path));
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
    let path = ErrorPath::new("spec");
    warnings.extend(pod_warnings::fractional_storage(&claim["spec"], &path));
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
        let field = path.child(pod_warnings::kind_in_warnings(kind));
        warnings.push(format!("{field}: {message}"));
    }
    warnings
}

/// `serviceAccountStrategy`.
fn service_account(account: &Value, live: Option<&Value>) -> Vec<String> {
    const ENFORCE: &str = "kubernetes.io/enforce-mountable-secrets";
    let has = |object: &Value| object["metadata"]["annotations"].get(ENFORCE).is_some();
    if !has(account) || live.is_some_and(has) {
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
fn endpoint_slice(slice: &Value, live: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    if live.is_none() && text(slice, "addressType") == "FQDN" {
        warnings.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
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
        return warnings;
    }
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

/// `GetWarningsForCSIStorageCapacity`: labels of nodes that have another name by now.
fn capacity_of_storage(capacity: &Value, _: Option<&Value>) -> Vec<String> {
    let (selector, path) = (&capacity["nodeTopology"], ErrorPath::new("nodeTopology"));
    let mut warnings = Vec::new();
    pod_warnings::node_term(selector, false, &path, &mut warnings);
    let labels = selector["matchLabels"].as_object();
    for label in labels.into_iter().flat_map(JsonMap::keys) {
        if let Some(message) = pod_warnings::renamed_label(label) {
            warnings.push(format!("{path}.matchLabels.{label}: {message}"));
        }
    }
    warnings
}
