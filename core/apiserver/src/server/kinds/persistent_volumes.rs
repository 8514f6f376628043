//! Checks of PersistentVolume besides its rows in `kinds.checks` (`pkg/apis/core/validation`), and
//! the work of its strategy for the status.

use serde_json::Value;

use super::checks::{self, Checked, FieldCheck};
use super::claims::{positive, resource_amounts};
use super::metadata::IMMUTABLE;
use super::{difference, internal, pod_scheduling, volumes};
use crate::field::ErrorPath;
use crate::object::{JsonMap, text};
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("volume_capacity", volume_capacity),
    ("volume_nodes", volume_nodes),
    ("volume_source", volume_source),
    ("volume_class", volume_class),
    ("mount_options", mount_options),
    ("volume_source_kept", volume_source_kept),
];

/// The sources of a volume, in the order in which they are looked at.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

/// `persistentvolumeStatusStrategy`.
pub(super) fn note_phase(volume: &mut Value, live: &Value, now: &str) {
    const SINCE: &str = "lastPhaseTransitionTime";
    let (status, before) = (&mut volume["status"], &live["status"]);
    let moved = text(status, "phase") != text(before, "phase");
    if moved && (status.get(SINCE).is_none() || status.get(SINCE) == before.get(SINCE)) {
        status[SINCE] = now.into();
    } else if !moved
        && status.get(SINCE).is_none()
        && let Some(since) = before.get(SINCE)
    {
        status[SINCE] = since.clone();
    }
}

/// `ValidatePersistentVolumeSpec`: a volume has storage, and no other capacity.
fn volume_capacity(capacity: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let amounts = capacity.value.as_object();
    let only_storage = amounts.is_some_and(|it| it.len() == 1 && it.contains_key("storage"));
    if !only_storage {
        let supported = ["storage"];
        let value = capacity.value;
        errors.push(FieldError::not_supported(capacity.path, value, &supported));
    }
    resource_amounts(capacity, errors);
    for (name, amount) in amounts.into_iter().flat_map(JsonMap::iter) {
        errors.extend(positive(amount, capacity.path.key(name)));
    }
}

/// `validateVolumeNodeAffinity`.
fn volume_nodes(affinity: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let path = affinity.path.child("required");
    match affinity.value.get("required") {
        None => {
            let detail = "must specify required node constraints";
            errors.push(FieldError::required(path, detail));
        }
        Some(required) => errors.extend(pod_scheduling::node_selector(required, &path)),
    }
}

/// A volume has one source.
fn volume_source(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let given = SOURCES.iter().filter(|name| spec.value.get(name).is_some());
    let mut count = 0;
    for name in given {
        count += 1;
        let path = spec.path.child(name);
        // Upstream does not count the sources before this one.
        if count > 1 && *name != "flexVolume" {
            let detail = "may not specify more than 1 volume type";
            let shown = if *name == "cephfs" { "cephFS" } else { name };
            errors.push(FieldError::forbidden(spec.path.child(shown), detail));
            continue;
        }
        let source = &spec.value[name];
        let block = format!("persistent-volume/{name}");
        if *name == "local" {
            errors.extend(local(spec, &path));
        } else if checks::has(&block) {
            errors.extend(checks::of_type(&block, source, &path, spec.object));
        } else {
            let path = spec.path.child(volumes::source_in_messages(name));
            errors.extend(volumes::of_kind(name, source, &path));
        }
    }
    if count == 0 {
        let detail = "must specify a volume type";
        errors.push(FieldError::required(spec.path, detail));
    }
    let policy = text(spec.value, "persistentVolumeReclaimPolicy");
    let host = text(&spec.value["hostPath"], "path");
    let is_root =
        host.starts_with('/') && host.split('/').all(|part| matches!(part, "" | "." | ".."));
    if policy == "Recycle" && is_root {
        let field = spec.path.child("persistentVolumeReclaimPolicy");
        let detail = "may not be 'recycle' for a hostPath mount of '/'";
        errors.push(FieldError::forbidden(field, detail));
    }
}

/// Sources that know the annotation for options of mounting (`checkMountOption` of
/// `pkg/volume/validation/pv_validation.go`).
const MOUNTED_WITH_OPTIONS: [&str; 13] = [
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "iscsi",
    "cinder",
    "cephfs",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
];

/// A volume of another source has no such annotation.
fn mount_options(volume: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const ANNOTATION: &str = "volume.beta.kubernetes.io/mount-options";
    let (spec, meta) = (&volume.object["spec"], &volume.object["metadata"]);
    let knows = MOUNTED_WITH_OPTIONS
        .iter()
        .any(|name| spec.get(name).is_some());
    if !knows && meta["annotations"].get(ANNOTATION).is_some() {
        let field = format!("metadata.annotations.{ANNOTATION}");
        let detail = "may not specify mount options for this volume type";
        errors.push(FieldError::forbidden(field, detail));
    }
}

/// Only a volume of a CSI driver has attributes of a class.
fn volume_class(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let classed = spec.value.get("volumeAttributesClassName").is_some();
    if classed && spec.value.get("csi").is_none() {
        let detail = "has to be specified when using volumeAttributesClassName";
        errors.push(FieldError::required(spec.path.child("csi"), detail));
    }
}

/// A directory of a node, and therefore of certain nodes (`validateLocalVolumeSource`).
fn local(spec: &Checked<'_>, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let source = &spec.value["local"];
    let mut errors = volumes::required(source, path, &["path"]);
    errors.extend(volumes::no_backsteps(
        text(source, "path"),
        &path.child("path"),
    ));
    if spec.value.get("nodeAffinity").is_none() {
        let detail = "Local volume requires node affinity";
        errors.push(FieldError::required(
            spec.path.child("nodeAffinity"),
            detail,
        ));
    }
    errors
}

/// `ValidatePersistentVolumeUpdate`, after the volume itself.
fn volume_source_kept(volume: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let Some(live) = volume.live else {
        return;
    };
    let source = |object: &Value| -> Value {
        let members = SOURCES.iter();
        let given =
            members.filter_map(|name| Some(((*name).to_owned(), object["spec"].get(name)?)));
        given.map(|(name, source)| (name, source.clone())).collect()
    };
    let [before, mut after] = [source(live), source(volume.object)];
    // The secret for growing a volume can be named later.
    let secret = "controllerExpandSecretRef";
    if before["csi"].is_object()
        && before["csi"].get(secret).is_none()
        && let Some(Value::Object(csi)) = after.get_mut("csi")
    {
        csi.remove(secret);
    }
    if before != after {
        let [before, after] =
            [before, after].map(|source| internal::volume_source(volume.object, &source));
        let detail = format!(
            "spec.persistentvolumesource is immutable after creation\n{}",
            difference::unified(&before, &after)
        );
        errors.push(FieldError::forbidden("spec.persistentvolumesource", detail));
    }
    let path = ErrorPath::new("spec");
    let mut refuse = |field: &'static str, detail: &str| {
        let after = &volume.object["spec"][field];
        let shown = internal::field(volume.object, &path.child(field), after);
        errors.push(FieldError::invalid(field, after, detail).shown_as(shown));
    };
    if live["spec"]["volumeMode"] != volume.object["spec"]["volumeMode"] {
        refuse("volumeMode", IMMUTABLE);
    }
    let affinity = |object: &Value| object["spec"].get("nodeAffinity").cloned();
    if let Some(before) = affinity(live) {
        let after = affinity(volume.object).unwrap_or(Value::Null);
        if with_new_labels(before, &after) != after {
            let detail = format!("{IMMUTABLE}, except for updating from beta label to GA");
            refuse("nodeAffinity", &detail);
        }
    }
    let class = "volumeAttributesClassName";
    if live["spec"].get(class).is_some() && volume.object["spec"].get(class).is_none() {
        let detail = "update from non-nil value to nil is forbidden";
        errors.push(FieldError::forbidden(path.child(class), detail));
    }
}

/// Labels of nodes, and the names that they have got since (`betaToGALabel`).
const NEW_LABELS: [(&str, &str); 5] = [
    (
        "failure-domain.beta.kubernetes.io/zone",
        "topology.kubernetes.io/zone",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/region",
    ),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    (
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
    ),
];

/// The affinity of a volume, with the new name of each label that the other one names so
/// (`getMaskNodeSelectorLabelChangeEqualities`).
fn with_new_labels(mut affinity: Value, other: &Value) -> Value {
    let terms = affinity.pointer_mut("/required/nodeSelectorTerms");
    for (i, term) in terms
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .enumerate()
    {
        for part in ["matchExpressions", "matchFields"] {
            let rules = term.get_mut(part).and_then(Value::as_array_mut);
            for (j, rule) in rules.into_iter().flatten().enumerate() {
                let key = other.pointer(&format!("/required/nodeSelectorTerms/{i}/{part}/{j}/key"));
                let key = key.and_then(Value::as_str).unwrap_or_default();
                if NEW_LABELS.contains(&(text(rule, "key"), key)) {
                    rule["key"] = key.into();
                }
            }
        }
    }
    affinity
}
