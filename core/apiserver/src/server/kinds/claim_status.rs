//! Checks of the status of a ResourceClaim: the devices that it got, who uses them, and what drivers tell of
//! them (`validateResourceClaimStatusUpdate` of `pkg/apis/resource/validation/validation.go`,
//! `resourceclaimStatusStrategy`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::checks::{Checked, FieldCheck};
use super::devices::{
    MOST, Requests, binding_conditions, configuration, each, each_once, named, pool_name,
    raw_object, request_named, requests, requests_named, tolerations,
};
use super::job_policies::too_many;
use super::label_selector::list;
use super::{conditions, internal, ip, metadata, names, pod_parts, pod_scheduling, volumes};
use crate::field::ErrorPath;
use crate::go;
use crate::object::text;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[("claim_status", claim_status)];

/// `validateResourceClaimStatusUpdate`.
fn claim_status(status: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const MOST_USERS: usize = 256;
    let users = list(status.value, "reservedFor");
    let users_field = status.path.child("reservedFor");
    each_once(
        users,
        MOST_USERS,
        &users_field,
        errors,
        |user| &user["uid"],
        |user, path, errors| {
            for field in ["resource", "name", "uid"] {
                if text(user, field).is_empty() {
                    errors.push(FieldError::required(path.child(field), ""));
                }
            }
        },
    );
    let allocation = status.value.get("allocation");
    let devices = list(status.value, "devices");
    each(
        devices,
        usize::MAX,
        &status.path.child("devices"),
        errors,
        |device, path, errors| {
            device_status(device, path, allocation, errors);
        },
    );
    let before = status.before().unwrap_or(&Value::Null);
    if !users.is_empty() && allocation.is_none() {
        let detail = "may not be specified when `allocated` is not set";
        errors.push(FieldError::forbidden(users_field, detail));
    } else if !status.object["metadata"]["deletionTimestamp"].is_null()
        && users
            .iter()
            .any(|user| !list(before, "reservedFor").contains(user))
    {
        let detail = "new entries may not be added while `deallocationRequested` or \
                      `deletionTimestamp` are set";
        errors.push(FieldError::forbidden(users_field, detail));
    }
    let Some(allocation) = allocation else {
        return;
    };
    let path = status.path.child("allocation");
    match before.get("allocation") {
        Some(before) if before == allocation => {}
        Some(_) => {
            let shown = internal::field(status.object, &path, allocation);
            let error = FieldError::invalid(path, allocation, metadata::IMMUTABLE);
            errors.push(error.shown_as(shown));
        }
        None => {
            let known = requests(&status.object["spec"]["devices"]);
            allocated(allocation, &path, &known, errors);
        }
    }
}

/// `validateAllocationResult`.
fn allocated(
    allocation: &Value,
    path: &ErrorPath<'_>,
    known: &Requests<'_>,
    errors: &mut Vec<FieldError>,
) {
    let devices = &allocation["devices"];
    let devices_path = path.child("devices");
    let results = list(devices, "results");
    each(
        results,
        MOST,
        &devices_path.child("results"),
        errors,
        |result, path, errors| {
            request_named(
                text(result, "request"),
                &path.child("request"),
                known,
                errors,
            );
            device_names(result, path, errors);
            binding_conditions(result, path, errors);
            tolerations(result, path, errors);
            if let Some(id) = result.get("shareID") {
                share_id(id, path.child("shareID"), errors);
            }
        },
    );
    let configs = list(devices, "config");
    each(
        configs,
        2 * MOST,
        &devices_path.child("config"),
        errors,
        |config, path, errors| {
            let field = path.child("source");
            match text(config, "source") {
                "FromClaim" | "FromClass" => {}
                "" => errors.push(FieldError::required(field, "")),
                other => {
                    let supported = ["FromClaim", "FromClass"];
                    errors.push(FieldError::not_supported(field, &other.into(), &supported));
                }
            }
            requests_named(config, path, known, errors);
            configuration(config, path, errors);
        },
    );
    if let Some(nodes) = allocation.get("nodeSelector") {
        let path = path.child("nodeSelector");
        errors.extend(pod_scheduling::node_selector(nodes, &path));
    }
}

/// A UUID in its usual form (`validateUID`).
fn share_id(id: &Value, path: ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let text = id.as_str().unwrap_or_default();
    if let Err(why) = uuid_of_any_form(text) {
        let detail = format!("error validating uid: {why}");
        errors.push(FieldError::invalid(path, id, detail));
    } else if text.len() != 36 || text != text.to_lowercase() {
        let detail = "uid must be in RFC 4122 normalized form, \
                      `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";
        errors.push(FieldError::invalid(path, id, detail));
    }
}

/// A UUID, also with a prefix, in braces or without hyphens (`uuid.Validate` of `github.com/google/uuid`).
fn uuid_of_any_form(text: &str) -> Result<(), String> {
    const PREFIX: &str = "urn:uuid:";
    let invalid = || Err("invalid UUID format".to_owned());
    let is_hex = |text: &[u8]| text.iter().all(u8::is_ascii_hexdigit);
    let bytes = text.as_bytes();
    let standard = match bytes.len() {
        36 => bytes,
        45 => {
            let (prefix, rest) = bytes.split_at(PREFIX.len());
            if !prefix.eq_ignore_ascii_case(PREFIX.as_bytes()) {
                let shown = go::quote(&String::from_utf8_lossy(prefix));
                return Err(format!("invalid urn prefix: {shown}"));
            }
            rest
        }
        38 => match bytes {
            [b'{', inner @ .., b'}'] => inner,
            _ => return Err("invalid bracketed UUID format".to_owned()),
        },
        32 if is_hex(bytes) => return Ok(()),
        32 => return invalid(),
        length => return Err(format!("invalid UUID length: {length}")),
    };
    let mut groups = standard.split(|byte| *byte == b'-');
    let fits = |length| {
        let group = groups.next();
        group.is_some_and(|group| group.len() == length && is_hex(group))
    };
    if [8, 4, 4, 4, 12].into_iter().all(fits) {
        Ok(())
    } else {
        invalid()
    }
}

/// Checks the three names of a device: its driver, its pool and its own.
fn device_names(device: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    errors.extend(volumes::driver(
        text(device, "driver"),
        &path.child("driver"),
    ));
    pool_name(text(device, "pool"), path.child("pool"), errors);
    named(
        names::label,
        text(device, "device"),
        path.child("device"),
        errors,
    );
}

/// Returns what tells devices apart.
fn identity(device: &Value) -> [&Value; 4] {
    ["driver", "pool", "device", "shareID"].map(|field| &device[field])
}

/// `validateDeviceStatus`.
fn device_status(
    device: &Value,
    path: &ErrorPath<'_>,
    allocation: Option<&Value>,
    errors: &mut Vec<FieldError>,
) {
    const MOST_CONDITIONS: usize = 8;
    device_names(device, path, errors);
    if let Some(id) = device.get("shareID") {
        share_id(id, path.child("shareID"), errors);
    }
    let results = allocation.map_or(&[][..], |it| list(&it["devices"], "results"));
    if !results.iter().any(|it| identity(it) == identity(device)) {
        let [driver, pool, name, share] = ["driver", "pool", "device", "shareID"]
            .map(|field| go::json(&text(device, field).into()));
        let shown = format!(
            "{{\"Driver\":{driver},\"Pool\":{pool},\"Device\":{name},\"ShareID\":{share}}}"
        );
        let detail = "must be an allocated device in the claim";
        let error = FieldError::invalid(path, &Value::Null, detail);
        errors.push(error.shown_as(shown));
    }
    let told = list(device, "conditions");
    let field = path.child("conditions");
    errors.extend(too_many(&field, told, MOST_CONDITIONS));
    errors.extend(conditions::validate(told, &field));
    if let Some(data) = device.get("data") {
        raw_object(data, path.child("data"), errors);
    }
    if let Some(network) = device.get("networkData") {
        network_data(network, &path.child("networkData"), errors);
    }
}

/// `validateNetworkDeviceData`.
fn network_data(network: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    const MOST_ADDRESSES: usize = 16;
    for (field, max) in [("interfaceName", 256), ("hardwareAddress", 128)] {
        if text(network, field).len() > max {
            errors.push(FieldError::too_long(path.child(field), max));
        }
    }
    let addresses = list(network, "ips");
    let field = path.child("ips");
    each_once(
        addresses,
        MOST_ADDRESSES,
        &field,
        errors,
        |ip| ip,
        |address, path, errors| {
            let text = address.as_str().unwrap_or_default();
            errors.extend(ip::check_interface_address(text, path));
        },
    );
}

/// Drops what drivers tell of devices that are no longer allocated, and restores what a status does not
/// change (`resourceclaimStatusStrategy`).
pub(super) fn prepare_status(claim: &mut Value, live: &Value) {
    pod_parts::keep_metadata(claim, live);
    let allocated = |claim: &'_ Value| -> BTreeSet<[String; 3]> {
        let devices = list(&claim["status"]["allocation"]["devices"], "results").iter();
        devices.map(told_apart).collect()
    };
    let (now, before) = (allocated(claim), allocated(live));
    let Some(Value::Object(status)) = claim.get_mut("status") else {
        return;
    };
    let Some(Value::Array(devices)) = status.get_mut("devices") else {
        return;
    };
    devices.retain(|device| {
        let device = told_apart(device);
        now.contains(&device) || !before.contains(&device)
    });
    if devices.is_empty() {
        status.remove("devices");
    }
}

/// The driver, the pool and the name of a device.
fn told_apart(device: &Value) -> [String; 3] {
    ["driver", "pool", "device"].map(|field| text(device, field).to_owned())
}
