//! Checks of the kinds of `storage.k8s.io` besides their rows in `kinds.checks`
//! (`pkg/apis/storage/validation/validation.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::checks::{self, Checked, FieldCheck};
use super::label_selector::list;
use super::metadata::{self, IMMUTABLE};
use super::{internal, names, volumes};
use crate::field::ErrorPath;
use crate::object::{JsonMap, text};
use crate::schema::Quantity;
use crate::status::{FieldError, Problem};

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("provisioner", provisioner),
    ("storage_parameters", parameters),
    ("topologies", topologies),
    ("token_requests", token_requests),
    ("lifecycle_modes", lifecycle_modes),
    ("update_period", |seconds, errors| {
        if seconds.value.as_i64().is_some_and(|seconds| seconds < 10) {
            let detail = "must be greater than or equal to 10 seconds";
            errors.push(FieldError::invalid(seconds.path, seconds.value, detail));
        }
    }),
    ("same_attach_required", same_attach_required),
    ("class_attributes", class_attributes),
    ("attachment", attachment),
    ("reclaim_policy_inline", |policy, errors| {
        if *policy.value != "Retain" {
            let detail = "may only be Retain in the context of inline volumes";
            errors.push(FieldError::forbidden(policy.path, detail));
        }
    }),
    ("volume_mode_inline", |mode, errors| {
        if *mode.value != "Filesystem" {
            let detail = "may not specify volumeMode other than Filesystem in the context of inline \
                          volumes";
            errors.push(FieldError::forbidden(mode.path, detail));
        }
    }),
    ("attachment_metadata", |metadata, errors| {
        const MAX_SIZE: usize = 256 * 1024;
        let members = metadata.value.as_object().into_iter().flatten();
        let sizes = members.map(|(key, value)| key.len() + value.as_str().map_or(0, str::len));
        if sizes.sum::<usize>() > MAX_SIZE {
            errors.push(FieldError::too_long(metadata.path, MAX_SIZE));
        }
    }),
    ("error_code", |code, errors| {
        if code.value.as_i64().is_some_and(|code| code < 0) {
            let detail = format!("must be between 0 and {}, inclusive", i32::MAX);
            errors.push(FieldError::invalid(code.path, code.value, detail));
        }
    }),
    ("node_drivers", node_drivers),
    ("node_drivers_kept", node_drivers_kept),
    ("tokens_in_secrets", tokens_in_secrets),
    ("not_negative_amount", |amount, errors| {
        if Quantity::from(amount.value).is_negative() {
            errors.push(metadata::negative_text(amount.path, amount.value));
        }
    }),
];

/// The most parameters of a class, and their size in bytes.
const MAX_PARAMETERS: usize = 512;
const MAX_PARAMETERS_SIZE: usize = 256 * 1024;

/// A qualified name in any case, which messages show in lower case (`validateProvisioner`).
fn provisioner(name: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let Some(text) = name.value.as_str().filter(|text| !text.is_empty()) else {
        return;
    };
    let text = text.to_lowercase();
    let reasons = names::qualified(&text).into_iter();
    let shown = Value::from(text);
    errors.extend(reasons.map(|why| FieldError::invalid(name.path, &shown, why)));
}

/// `validateParameters`.
fn parameters(parameters: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let members = parameters.value.as_object();
    if members.is_some_and(|members| members.len() > MAX_PARAMETERS) {
        let detail = format!("may not be more than {MAX_PARAMETERS} bytes");
        let problem = Problem::TooLong;
        errors.push(FieldError::without_value(problem, parameters.path, detail));
        return;
    }
    let mut size = 0;
    for (key, value) in members.into_iter().flat_map(JsonMap::iter) {
        if key.is_empty() {
            let detail = "field can not be empty.";
            errors.push(FieldError::invalid(parameters.path, &"".into(), detail));
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > MAX_PARAMETERS_SIZE {
        errors.push(FieldError::too_long(parameters.path, MAX_PARAMETERS_SIZE));
    }
}

/// Checks the driver of a class and its attributes (`ValidateVolumeAttributesClass`).
fn class_attributes(class: &Checked<'_>, errors: &mut Vec<FieldError>) {
    for (field, check, missing) in [
        ("driverName", provisioner as FieldCheck, ""),
        (
            "parameters",
            parameters,
            "must contain at least one key/value pair",
        ),
    ] {
        let checked = Checked {
            value: &class.value[field],
            path: &ErrorPath::new(field),
            ..*class
        };
        check(&checked, errors);
        if checked.is_zero() {
            errors.push(FieldError::required(field, missing));
        }
    }
}

/// Checks which volume is attached to which node (`validateVolumeAttachmentSpec`).
fn attachment(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    errors.extend(volumes::driver(
        text(spec.value, "attacher"),
        &spec.path.child("attacher"),
    ));
    let source = &spec.value["source"];
    let path = spec.path.child("source");
    let volume = source.get("persistentVolumeName");
    let volume_field = path.child("persistentVolumeName");
    let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (volume, source.get("inlineVolumeSpec")) {
        (None, None) => errors.push(FieldError::required(path, detail)),
        (Some(_), Some(_)) => errors.push(FieldError::forbidden(path, detail)),
        (Some(name), None) if name == "" => {
            let detail = "must specify non empty persistentVolumeName";
            errors.push(FieldError::required(volume_field, detail));
        }
        (Some(_), None) => {}
        (None, Some(inline)) => {
            let path = path.child("inlineVolumeSpec");
            errors.extend(checks::of_type(
                "InlineVolumeSpec",
                inline,
                &path,
                spec.object,
            ));
        }
    }
    let node = text(spec.value, "nodeName");
    let reasons = names::subdomain(node).into_iter();
    let field = spec.path.child("nodeName");
    errors.extend(reasons.map(|why| FieldError::invalid(field, &node.into(), why)));
    if let Some(name) = volume {
        let reasons = names::subdomain(name.as_str().unwrap_or_default()).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(volume_field, name, why)));
    }
}

/// Checks the topologies in which a class can make volumes (`validateAllowedTopologies`).
fn topologies(terms: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = terms.value.as_array().map_or(&[][..], Vec::as_slice);
    let mut seen: Vec<BTreeMap<&str, BTreeSet<&str>>> = Vec::new();
    for (i, term) in items.iter().enumerate() {
        let term_path = terms.path.index(i);
        let path = term_path.child("matchLabelExpressions");
        let mut values = BTreeMap::new();
        for (j, requirement) in list(term, "matchLabelExpressions").iter().enumerate() {
            let path = path.index(j);
            let own = topology(requirement, &path, errors);
            let key = text(requirement, "key");
            if values.insert(key, own).is_some() {
                errors.push(FieldError::duplicate(path.child("key"), &key.into()));
            }
        }
        // Upstream compares also with as many terms that ask for nothing as there are terms.
        let empty = if values.is_empty() { items.len() } else { 0 };
        let equal = seen.iter().filter(|other| **other == values).count() + empty;
        errors.extend((0..equal).map(|_| FieldError::duplicate(path, &"".into())));
        seen.push(values);
    }
}

/// `validateTopologySelectorLabelRequirement`; gives the values.
fn topology<'a>(
    requirement: &'a Value,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) -> BTreeSet<&'a str> {
    let values = list(requirement, "values");
    let field = path.child("values");
    if values.is_empty() {
        errors.push(FieldError::required(field, ""));
    }
    for (i, value) in values.iter().enumerate() {
        if values[..i].contains(value) {
            errors.push(FieldError::duplicate(field.index(i), value));
        }
    }
    let key = text(requirement, "key");
    let reasons = names::qualified(key).into_iter();
    let field = path.child("key");
    errors.extend(reasons.map(|why| FieldError::invalid(field, &key.into(), why)));
    values.iter().filter_map(Value::as_str).collect()
}

/// Tokens for a driver: one for each audience, for ten minutes or more (`validateTokenRequests`).
fn token_requests(requests: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = requests.value.as_array().map_or(&[][..], Vec::as_slice);
    for (i, request) in items.iter().enumerate() {
        let path = requests.path.index(i);
        let audience = text(request, "audience");
        if items[..i].iter().any(|it| text(it, "audience") == audience) {
            let field = path.child("audience");
            errors.push(FieldError::duplicate(field, &audience.into()));
            continue;
        }
        let field = path.child("expirationSeconds");
        let detail = match request["expirationSeconds"].as_i64() {
            Some(seconds) if seconds < 600 => "may not specify a duration less than 10 minutes",
            Some(seconds) if seconds > 1 << 32 => {
                "may not specify a duration larger than 2^32 seconds"
            }
            _ => continue,
        };
        let value = &request["expirationSeconds"];
        errors.push(FieldError::invalid(field, value, detail));
    }
}

/// A place of tokens needs tokens (`validateServiceAccountTokenInSecrets`).
fn tokens_in_secrets(place: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if list(&place.object["spec"], "tokenRequests").is_empty() {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        errors.push(FieldError::invalid(place.path, place.value, detail));
    }
}

/// Drops a field of a driver whose feature, `VolumeLimitScaling`, is off (`csiDriverStrategy.PrepareForCreate`,
/// `PrepareForUpdate`).
pub(super) fn drop_from_driver(driver: &mut Value, live: Option<&Value>) {
    const FIELD: &str = "preventPodSchedulingIfMissing";
    let is_kept = live.is_some_and(|live| live["spec"].get(FIELD).is_some());
    if !is_kept && let Some(Value::Object(spec)) = driver.get_mut("spec") {
        spec.remove(FIELD);
    }
}

/// `validateVolumeLifecycleModes`, which names the list and not its item.
fn lifecycle_modes(modes: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const SUPPORTED: [&str; 2] = ["Persistent", "Ephemeral"];
    let items = modes.value.as_array().into_iter().flatten();
    let odd = items.filter(|mode| !SUPPORTED.contains(&mode.as_str().unwrap_or_default()));
    errors.extend(odd.map(|mode| FieldError::not_supported(modes.path, mode, &SUPPORTED)));
}

/// Upstream writes the field in another way.
fn same_attach_required(required: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if required
        .before()
        .is_some_and(|before| before != required.value)
    {
        let field = "spec.attachedRequired";
        errors.push(FieldError::invalid(field, required.value, IMMUTABLE));
    }
}

/// `validateCSINodeDrivers`.
fn node_drivers(drivers: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const MOST_BYTES: usize = 256;
    let items = drivers.value.as_array().map_or(&[][..], Vec::as_slice);
    for (i, driver) in items.iter().enumerate() {
        let path = drivers.path.index(i);
        let (name, id) = (text(driver, "name"), text(driver, "nodeID"));
        errors.extend(volumes::driver(name, &path.child("name")));
        let field = path.child("nodeID");
        if id.is_empty() {
            errors.push(FieldError::required(field, ""));
        }
        if id.len() > MOST_BYTES {
            let detail = format!("must be {MOST_BYTES} characters or less");
            errors.push(FieldError::invalid(field, &id.into(), detail));
        }
        let count = driver["allocatable"]["count"].as_i64();
        if let Some(count) = count.filter(|count| *count < 0) {
            errors.push(metadata::negative(path.child("allocatable.count"), count));
        }
        if items[..i].iter().any(|it| text(it, "name") == name) {
            let field = path.child("name");
            errors.push(FieldError::duplicate(field, &name.into()));
        }
        let keys = list(driver, "topologyKeys");
        for (j, key) in keys.iter().enumerate() {
            let written = key.as_str().unwrap_or_default();
            if written.is_empty() {
                errors.push(FieldError::required(path, ""));
            }
            if keys[..j].contains(key) {
                errors.push(FieldError::duplicate(path, key));
            }
            let reasons = names::qualified(written).into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(path, key, why)));
        }
    }
}

/// A driver of a node stays as it is while it is there, but for the volumes that it can have
/// (`ValidateCSINodeUpdate`).
fn node_drivers_kept(drivers: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let before = drivers.before().and_then(Value::as_array);
    let items = drivers.value.as_array().map_or(&[][..], Vec::as_slice);
    let kept = |driver: &Value| {
        let mut driver = driver.clone();
        if let Value::Object(members) = &mut driver {
            members.remove("allocatable");
        }
        driver
    };
    for old in before.into_iter().flatten() {
        for (i, driver) in items.iter().enumerate() {
            let driver = kept(driver);
            if text(&driver, "name") == text(old, "name") && driver != kept(old) {
                let shown = internal::field(drivers.object, &drivers.path.index(i), &driver);
                let error = FieldError::invalid(drivers.path, &driver, IMMUTABLE);
                errors.push(error.shown_as(shown));
            }
        }
    }
}
