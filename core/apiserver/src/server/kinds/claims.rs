//! Checks of PersistentVolume and PersistentVolumeClaim besides their rows in `kinds.checks`
//! (`pkg/apis/core/validation`), and the work of their strategies.

use serde_json::{Value, json};

use super::checks::{self, Check, Checked};
use super::metadata::IMMUTABLE;
use super::{difference, internal, names, pod_scheduling, resources, volumes};
use crate::field::ErrorPath;
use crate::object::{JsonMap, Metadata, text};
use crate::schema::Quantity;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, Check)] = &[
    ("access_modes", access_modes),
    ("requested_storage", requested_storage),
    ("resize_statuses", resize_statuses),
    ("claim_source_group", claim_source_group),
    ("resource_amounts", resource_amounts),
    ("claimed_amounts", claimed_amounts),
    ("claim_kept", claim_kept),
    ("volume_capacity", volume_capacity),
    ("volume_nodes", volume_nodes),
    ("volume_source", volume_source),
    ("volume_class", volume_class),
    ("claim_sources_agree", claim_sources_agree),
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

/// A new volume or claim waits (`PrepareForCreate`).
pub(super) fn prepare(object: &mut Value, live: Option<&Value>) {
    if text(object, "kind") == "PersistentVolumeClaim" {
        name_source(
            &mut object["spec"],
            live.map_or(&Value::Null, |live| &live["spec"]),
        );
    }
    if live.is_some() {
        return;
    }
    object["status"] = json!({"phase": "Pending"});
    if text(object, "kind") == "PersistentVolume" {
        let now = object.meta_text("creationTimestamp").to_owned();
        object["status"]["lastPhaseTransitionTime"] = now.into();
    }
}

/// Fills in both fields for the source of a claim (`EnforceDataSourceBackwardsCompatibility`,
/// `NormalizeDataSources`); a value of the old field that is no source is dropped.
fn name_source(spec: &mut Value, live: &Value) {
    const OLD: &str = "dataSource";
    const NEW: &str = "dataSourceRef";
    let Value::Object(members) = spec else {
        return;
    };
    let known = |source: &Value| {
        let group = text(source, "apiGroup");
        match text(source, "kind") {
            "PersistentVolumeClaim" => group.is_empty(),
            "VolumeSnapshot" => group == "snapshot.storage.k8s.io",
            _ => false,
        }
    };
    // A source in another namespace is behind a gate that is off by default (`DropDisabledFields`).
    let elsewhere = |source: &Value| !text(source, "namespace").is_empty();
    if live.get(NEW).is_none() && members.get(NEW).is_some_and(elsewhere) {
        members.remove(NEW);
    }
    let was_used = live.get(OLD).is_some() || live.get(NEW).is_some();
    let is_old_only = !was_used && !members.contains_key(NEW);
    if is_old_only && members.get(OLD).is_some_and(|source| !known(source)) {
        members.remove(OLD);
    }
    match (members.get(OLD).cloned(), members.get(NEW).cloned()) {
        (Some(source), None) => {
            members.insert(NEW.to_owned(), source);
        }
        (None, Some(source)) if !elsewhere(&source) => {
            members.insert(OLD.to_owned(), source);
        }
        _ => {}
    }
}

/// `persistentvolumeStatusStrategy`.
pub(super) fn note_phase(volume: &mut Value, live: &Value, now: &str) {
    const SINCE: &str = "lastPhaseTransitionTime";
    let (status, before) = (&mut volume["status"], &live["status"]);
    let moved = text(status, "phase") != text(before, "phase");
    if moved && (status.get(SINCE).is_none() || status.get(SINCE) == before.get(SINCE)) {
        status[SINCE] = now.into();
    }
}

fn access_modes(modes: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const ALONE: &str = "ReadWriteOncePod";
    const SUPPORTED: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", ALONE];
    let all = modes.value.as_array().map_or(&[][..], Vec::as_slice);
    for mode in all {
        if !SUPPORTED.contains(&mode.as_str().unwrap_or_default()) {
            errors.push(FieldError::not_supported(modes.path, mode, &SUPPORTED));
        }
    }
    let others = &SUPPORTED[..3];
    let has_other = all
        .iter()
        .any(|mode| others.contains(&mode.as_str().unwrap_or_default()));
    if all.iter().any(|mode| mode == ALONE) && has_other {
        let detail = "may not use ReadWriteOncePod with other access modes";
        errors.push(FieldError::forbidden(modes.path, detail));
    }
}

/// The storage of a claim (`ValidatePersistentVolumeClaimSpec`).
fn requested_storage(resources: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let field = resources.path.key("storage");
    match resources.value.pointer("/requests/storage") {
        None => errors.push(FieldError::required(field, "")),
        Some(asked) => errors.extend(positive(asked, field)),
    }
}

fn positive(amount: &Value, field: impl Into<String>) -> Option<FieldError> {
    let quantity = Quantity::from(amount);
    let positive = !quantity.is_negative() && !quantity.is_zero();
    (!positive).then(|| FieldError::invalid(field, amount, "must be greater than zero"))
}

/// Of the resources that Kubernetes itself names, a claim has storage only
/// (`validatePersistentVolumeClaimResourceKey`).
fn claimed_resource(name: &str, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let reasons = names::qualified(name).into_iter();
    let errors: Vec<FieldError> = reasons
        .map(|why| FieldError::invalid(path, &name.into(), why))
        .collect();
    if errors.is_empty() && resources::is_native(name) && name != "storage" {
        return vec![FieldError::not_supported(path, &name.into(), &["storage"])];
    }
    errors
}

/// Resources that a claim can have, and their amounts.
fn claimed_amounts(amounts: &Checked<'_>, errors: &mut Vec<FieldError>) {
    for (name, amount) in amounts
        .value
        .as_object()
        .into_iter()
        .flat_map(JsonMap::iter)
    {
        let wrong = claimed_resource(name, amounts.path);
        if wrong.is_empty() {
            errors.extend(not_negative(name, amount, amounts.path));
        }
        errors.extend(wrong);
    }
}

/// Amounts that are not below zero, shown as whole numbers (`validateBasicResource`).
fn resource_amounts(amounts: &Checked<'_>, errors: &mut Vec<FieldError>) {
    for (name, amount) in amounts
        .value
        .as_object()
        .into_iter()
        .flat_map(JsonMap::iter)
    {
        errors.extend(not_negative(name, amount, amounts.path));
    }
}

fn not_negative(name: &str, amount: &Value, path: &ErrorPath<'_>) -> Option<FieldError> {
    let quantity = Quantity::from(amount);
    quantity.is_negative().then(|| {
        let detail = "must be a valid resource quantity";
        FieldError::invalid(path.key(name), &quantity.rounded_up().into(), detail)
    })
}

fn resize_statuses(statuses: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const SUPPORTED: [&str; 5] = [
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
        "NodeResizePending",
    ];
    for (name, status) in statuses
        .value
        .as_object()
        .into_iter()
        .flat_map(JsonMap::iter)
    {
        errors.extend(claimed_resource(name, statuses.path));
        if !SUPPORTED.contains(&status.as_str().unwrap_or_default()) {
            let (path, name) = (statuses.path, name.as_str().into());
            errors.push(FieldError::not_supported(path, &name, &SUPPORTED));
        }
    }
}

/// In the core group, the source of a claim is another claim (`validateDataSource`).
fn claim_source_group(source: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let kind = text(source.value, "kind");
    if text(source.value, "apiGroup").is_empty() && kind != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        errors.push(FieldError::invalid(source.path, &kind.into(), detail));
    }
}

/// `ValidatePersistentVolumeClaimUpdate`, after the claim itself.
fn claim_kept(claim: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let Some(live) = claim.live else {
        return;
    };
    let (mut shown, mut before) = (claim.object["spec"].clone(), live["spec"].clone());
    if text(&before, "volumeName").is_empty() {
        copy_member(&mut before, &shown, "volumeName");
    }
    let mut annotations = [claim.object, live].map(|object| {
        object["metadata"]["annotations"].get("volume.beta.kubernetes.io/storage-class")
    });
    let of_class = |spec: &Value| spec.get("storageClassName").cloned();
    let upgraded = annotations[1].is_some()
        && of_class(&before).is_none()
        && of_class(&shown).as_ref() == annotations[1]
        && annotations[0].is_none_or(|class| Some(class) == annotations[1]);
    if upgraded || (annotations[1].is_none() && of_class(&before).is_none()) {
        copy_member(&mut shown, &before, "storageClassName");
    }
    if !upgraded && annotations[0] != annotations[1] {
        let field = "metadata.annotations.volume.beta.kubernetes.io/storage-class";
        let empty = Value::from("");
        let value = annotations[0].take().unwrap_or(&empty);
        errors.push(FieldError::invalid(field, value, IMMUTABLE));
    }
    let sizes = [&shown, &before].map(|spec| spec.pointer("/resources/requests/storage").cloned());
    if text(&claim.object["status"], "phase") == "Bound" {
        if let Some(Value::Object(requests)) = shown.pointer_mut("/resources/requests")
            && let Some(size) = sizes[1].clone()
        {
            requests.insert("storage".to_owned(), size);
        }
        if shown.get("volumeAttributesClassName").is_some() {
            copy_member(&mut shown, &before, "volumeAttributesClassName");
        }
    }
    if shown != before {
        let [before, after] =
            [&before, &shown].map(|spec| internal::pretty(claim.object, "spec", spec));
        let detail = format!(
            "spec is immutable after creation except resources.requests and \
             volumeAttributesClassName for bound claims\n{}",
            difference::unified(&before, &after)
        );
        errors.push(FieldError::forbidden("spec", detail));
    }
    let amount = |value: Option<&Value>| Quantity::from(value.unwrap_or(&Value::Null));
    let [size, size_before] = [amount(sizes[0].as_ref()), amount(sizes[1].as_ref())];
    if size < size_before && size <= amount(live.pointer("/status/capacity/storage")) {
        let field = "spec.resources.requests.storage";
        let detail = "field can not be less than status.capacity";
        errors.push(FieldError::forbidden(field, detail));
    }
    errors.extend(claim_modes_kept(claim.object, live));
}

/// Gives a map the member that another one has, or none.
fn copy_member(to: &mut Value, from: &Value, field: &str) {
    if let Value::Object(members) = to {
        match from.get(field) {
            Some(value) => members.insert(field.to_owned(), value.clone()),
            None => members.remove(field),
        };
    }
}

/// Refuses changes to the mode of a claim's volume, and the loss of its class of attributes.
fn claim_modes_kept(claim: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mode = |object: &'_ Value| object["spec"]["volumeMode"].clone();
    if mode(claim) != mode(live) {
        errors.push(FieldError::invalid("volumeMode", &mode(claim), IMMUTABLE));
    }
    let class = |object: &'_ Value| object["spec"].get("volumeAttributesClassName").cloned();
    let lost = match class(claim) {
        None => "nil",
        Some(class) if class == "" => "an empty string",
        Some(_) => return errors,
    };
    if class(live).is_some_and(|class| class != "") || lost == "nil" && class(live).is_some() {
        let field = "spec.volumeAttributesClassName";
        let detail = format!("update from non-nil value to {lost} is forbidden");
        errors.push(FieldError::forbidden(field, detail));
    }
    errors
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
            let path = spec.path.child(volumes::shown(name));
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

/// Only a volume of a CSI driver has attributes of a class.
fn volume_class(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let classed = spec.value.get("volumeAttributesClassName").is_some();
    if classed && spec.value.get("csi").is_none() {
        let detail = "has to be specified when using volumeAttributesClassName";
        errors.push(FieldError::required(spec.path.child("csi"), detail));
    }
}

/// `ValidatePersistentVolumeClaimSpec`: checks that the two fields for the source of a volume
/// agree.
fn claim_sources_agree(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (old, new) = (&spec.value["dataSource"], &spec.value["dataSourceRef"]);
    let same = |field: &str| old.get(field) == new.get(field);
    if old.is_object() && new.is_object() && !["apiGroup", "kind", "name"].into_iter().all(same) {
        // Upstream gives the path of the field for its value: a struct that shows nothing.
        let error = FieldError::invalid(spec.path, &Value::Null, "must match dataSourceRef");
        errors.push(error.shown("{}".to_owned()));
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
    for field in ["volumeMode", "nodeAffinity"] {
        let (before, after) = (live["spec"].get(field), &volume.object["spec"][field]);
        let may_be_set = field == "nodeAffinity" && before.is_none();
        if !may_be_set && before.unwrap_or(&Value::Null) != after {
            let path = crate::field::ErrorPath::new("spec");
            let shown = internal::field(volume.object, &path.child(field), after);
            errors.push(FieldError::invalid(field, after, IMMUTABLE).shown(shown));
        }
    }
    let class = "volumeAttributesClassName";
    if live["spec"].get(class).is_some() && volume.object["spec"].get(class).is_none() {
        let detail = "update from non-nil value to nil is forbidden";
        let path = crate::field::ErrorPath::new("spec");
        errors.push(FieldError::forbidden(path.child(class), detail));
    }
}
