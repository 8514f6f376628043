//! Checks of PersistentVolumeClaim besides its rows in `kinds.checks`
//! (`pkg/apis/core/validation`), and what the strategies of claims and volumes prepare.

use serde_json::{Value, json};

use super::checks::{self, Checked, FieldCheck};
use super::metadata::IMMUTABLE;
use super::{difference, internal, names, resources};
use crate::field::ErrorPath;
use crate::object::{JsonMap, Metadata, text};
use crate::schema::Quantity;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("access_modes", access_modes),
    ("requested_storage", requested_storage),
    ("resize_statuses", resize_statuses),
    ("claim_source_group", claim_source_group),
    ("claim_source_group_name", claim_source_group_name),
    ("resource_amounts", resource_amounts),
    ("claimed_amounts", claimed_amounts),
    ("claim_kept", claim_kept),
    ("claim_sources_agree", claim_sources_agree),
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

pub(super) fn positive(amount: &Value, field: impl Into<String>) -> Option<FieldError> {
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
pub(super) fn resource_amounts(amounts: &Checked<'_>, errors: &mut Vec<FieldError>) {
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

/// The group of a source, which may be odd where the stored claim names one, too
/// (`allowInvalidAPIGroupInDataSourceOrRef`).
fn claim_source_group_name(group: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let had_one = group.live.is_some_and(|live| {
        let mut sources = ["dataSource", "dataSourceRef"].into_iter();
        sources.any(|source| !live["spec"][source]["apiGroup"].is_null())
    });
    if !had_one {
        let reasons = names::subdomain(group.value.as_str().unwrap_or_default());
        let reasons = reasons.into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(group.path, group.value, why)));
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
        copy_member(&mut shown, &before, "volumeAttributesClassName");
    }
    if !same_specs(&shown, &before) {
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

/// The maps in the spec of a claim. Its other members without members are structs.
const MAPS: [&str; 3] = [
    "/resources/limits",
    "/resources/requests",
    "/selector/matchLabels",
];

/// Compares two specs as `apiequality.Semantic.DeepEqual`: an empty map is one that is not there.
fn same_specs(one: &Value, other: &Value) -> bool {
    let comparable = |spec: &Value| {
        let mut spec = spec.clone();
        for (parent, name) in MAPS.iter().filter_map(|path| path.rsplit_once('/')) {
            if let Some(Value::Object(parent)) = spec.pointer_mut(parent)
                && parent
                    .get(name)
                    .and_then(Value::as_object)
                    .is_some_and(JsonMap::is_empty)
            {
                parent.remove(name);
            }
        }
        spec
    };
    one == other || checks::same_in_go(&comparable(one), &comparable(other))
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
    // A class whose attributes a volume has got is not taken away.
    let class = |object: &'_ Value| object["spec"].get("volumeAttributesClassName").cloned();
    let applied = live["status"].get("currentVolumeAttributesClassName");
    let lost = match class(claim) {
        None => "nil",
        Some(class) if class == "" => "empty string",
        Some(_) => return errors,
    };
    if class(claim) != class(live) && applied.is_some() {
        let field = "spec.volumeAttributesClassName";
        let detail = format!(
            "update to {lost} is forbidden when status.currentVolumeAttributesClassName is not nil"
        );
        errors.push(FieldError::forbidden(field, detail));
    }
    errors
}

/// `ValidatePersistentVolumeClaimSpec`: checks that the two fields for the source of a volume
/// agree.
fn claim_sources_agree(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (old, new) = (&spec.value["dataSource"], &spec.value["dataSourceRef"]);
    let same = |field: &str| old.get(field) == new.get(field);
    let elsewhere = !text(new, "namespace").is_empty();
    let detail = match elsewhere {
        true => "may not be specified when dataSourceRef.namespace is specified",
        false => "must match dataSourceRef",
    };
    let agree = !elsewhere && ["apiGroup", "kind", "name"].into_iter().all(same);
    if old.is_object() && new.is_object() && !agree {
        // Upstream gives the path of the field for its value: a struct that shows nothing.
        let error = FieldError::invalid(spec.path, &Value::Null, detail);
        errors.push(error.shown_as("{}".to_owned()));
    }
}
