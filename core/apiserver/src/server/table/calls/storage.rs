//! Cells of volumes, claims, their classes, and claims of devices.

use serde_json::Value;

use super::items;
use crate::environment::Timestamp;
use crate::object::{Metadata, text};

/// The access modes and how they are shown, in order (`helper.GetAccessModesAsString`).
const ACCESS_MODES: [(&str, &str); 4] = [
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
];

/// Returns the access modes of a volume.
pub(super) fn volume_access_modes(volume: &Value, _: Timestamp) -> Value {
    access_modes(&volume["spec"]["accessModes"])
}

/// Returns the access modes of a claim's volume; nothing before it has one.
pub(super) fn claim_access_modes(claim: &Value, _: Timestamp) -> Value {
    match text(&claim["spec"], "volumeName") {
        "" => "".into(),
        _ => access_modes(&claim["status"]["accessModes"]),
    }
}

/// Returns the size of a claim's volume; nothing before it has one.
pub(super) fn claim_capacity(claim: &Value, _: Timestamp) -> Value {
    match text(&claim["spec"], "volumeName") {
        "" => "".into(),
        _ => claim["status"]["capacity"]["storage"]
            .as_str()
            .unwrap_or("0")
            .into(),
    }
}

fn access_modes(modes: &Value) -> Value {
    let given = |mode: &str| items(modes).any(|given| given == mode);
    let known = ACCESS_MODES.iter().filter(|(mode, _)| given(mode));
    let shown: Vec<&str> = known.map(|(_, shown)| *shown).collect();
    shown.join(",").into()
}

/// The phase of a volume or claim.
pub(super) fn volume_phase(object: &Value, _: Timestamp) -> Value {
    match object.meta_text("deletionTimestamp") {
        "" => text(&object["status"], "phase").into(),
        _ => "Terminating".into(),
    }
}

/// The claim that a volume is bound to.
pub(super) fn volume_claim(volume: &Value, _: Timestamp) -> Value {
    match volume["spec"].get("claimRef") {
        Some(claim @ Value::Object(_)) => {
            format!("{}/{}", text(claim, "namespace"), text(claim, "name")).into()
        }
        _ => "".into(),
    }
}

/// The storage class of a volume or claim (`helper.GetPersistentVolumeClass`).
pub(super) fn volume_class(object: &Value, _: Timestamp) -> Value {
    let before = object.annotation("volume.beta.kubernetes.io/storage-class");
    before
        .unwrap_or_else(|| text(&object["spec"], "storageClassName"))
        .into()
}

/// The name of a StorageClass, and whether it is the default one.
pub(super) fn storage_class_name(class: &Value, _: Timestamp) -> Value {
    name_of_class(
        class,
        &[
            "storageclass.kubernetes.io/is-default-class",
            "storageclass.beta.kubernetes.io/is-default-class",
        ],
    )
}

/// The name of a VolumeAttributesClass, and whether it is the default one.
pub(super) fn attributes_class_name(class: &Value, _: Timestamp) -> Value {
    let default = "volumeattributesclass.alpha.kubernetes.io/is-default-class";
    name_of_class(class, &[default])
}

/// The name of an IngressClass, and whether it is the default one.
pub(super) fn ingress_class_name(class: &Value, _: Timestamp) -> Value {
    name_of_class(class, &["ingressclass.kubernetes.io/is-default-class"])
}

fn name_of_class(class: &Value, defaults: &[&str]) -> Value {
    let mut defaults = defaults.iter().map(|name| class.annotation(name));
    if defaults.any(|value| value == Some("true")) {
        format!("{} (default)", class.name()).into()
    } else {
        class.name().into()
    }
}

/// Returns the state of a ResourceClaim (`resourceClaimState`).
pub(super) fn claim_state(claim: &Value, _: Timestamp) -> Value {
    let is_deleted = !claim.meta_text("deletionTimestamp").is_empty();
    let status = &claim["status"];
    let is_allocated = status.get("allocation").is_some_and(Value::is_object);
    let states = [
        (is_deleted, "deleted"),
        (!is_allocated && !is_deleted, "pending"),
        (is_allocated, "allocated"),
        (
            is_allocated && items(&status["reservedFor"]).next().is_some(),
            "reserved",
        ),
    ];
    let states = states.iter().filter(|(holds, _)| *holds);
    let states: Vec<&str> = states.map(|(_, state)| *state).collect();
    states.join(",").into()
}
