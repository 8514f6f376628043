//! Checks of a ResourceSlice: the devices that a driver offers
//! (`validateResourceSliceSpec` of `pkg/apis/resource/validation/validation.go`,
//! `pkg/registry/resource/resourceslice/strategy.go`).

use serde_json::{Value, json};

use super::capacity_requests::request_policy;
use super::checks::{Checked, FieldCheck};
use super::devices::{
    EFFECTS, binding_conditions, each, each_once, named, pool_name, qualified_name, required_name,
};
use super::job_policies::too_many;
use super::label_selector::list;
use super::{internal, metadata, names, pod_scheduling, volumes};
use crate::field::ErrorPath;
use crate::object::{JsonMap, Metadata, text};
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[("resource_slice", slice)];

/// Fields of a feature that is off.
const LISTS: [&str; 4] = ["bools", "ints", "strings", "versions"];

/// `validateResourceSliceSpec`.
fn slice(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let path = spec.path;
    errors.extend(volumes::driver(
        text(spec.value, "driver"),
        &path.child("driver"),
    ));
    let pool = &spec.value["pool"];
    let pool_path = path.child("pool");
    pool_name(text(pool, "name"), pool_path.child("name"), errors);
    let number = |field: &str| pool[field].as_i64().unwrap_or(0);
    if number("resourceSliceCount") <= 0 {
        let value = number("resourceSliceCount").into();
        let field = pool_path.child("resourceSliceCount");
        errors.push(FieldError::invalid(
            field,
            &value,
            "must be greater than zero",
        ));
    }
    if number("generation") < 0 {
        let value = number("generation").into();
        let detail = "must be greater than or equal to zero";
        errors.push(FieldError::invalid(
            pool_path.child("generation"),
            &value,
            detail,
        ));
    }
    if let Some(before) = spec.before() {
        let mut keep = |now: &Value, before: &Value, field: ErrorPath<'_>| {
            if now != before {
                errors.push(FieldError::invalid(field, now, metadata::IMMUTABLE));
            }
        };
        keep(
            &pool["name"],
            &before["pool"]["name"],
            pool_path.child("name"),
        );
        for field in ["driver", "nodeName"] {
            keep(&spec.value[field], &before[field], path.child(field));
        }
    }
    nodes(spec, errors);
    if spec.value.get("sharedCounters").is_some() && spec.value.get("devices").is_some() {
        let detail = "only one of `sharedCounters` or `devices` is allowed";
        errors.push(FieldError::invalid(path, &"".into(), detail));
    }
    devices(spec, errors);
    counter_sets(spec, errors);
}

/// The nodes that a slice is for: said in one of four ways.
fn nodes(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let path = spec.path;
    let mut given = Vec::new();
    let detail = "must be either unset or set to a non-empty string";
    node_name(spec.value, path, detail, &mut given, errors);
    if let Some(selector) = spec.value.get("nodeSelector") {
        given.push("`nodeSelector`");
        let path = path.child("nodeSelector");
        errors.extend(pod_scheduling::node_selector(selector, &path));
        let terms = list(selector, "nodeSelectorTerms");
        if terms.len() != 1 {
            let path = path.child("nodeSelectorTerms");
            let terms = selector.get("nodeSelectorTerms").unwrap_or(&Value::Null);
            let shown = internal::field(spec.object, &path, terms);
            let detail = "must have exactly one node selector term";
            errors.push(FieldError::invalid(path, terms, detail).shown_as(shown));
        }
    }
    for (field, name) in [
        ("allNodes", "`allNodes`"),
        ("perDeviceNodeSelection", "`perDeviceNodeSelection`"),
    ] {
        set_to_true(spec.value, field, name, path, &mut given, errors);
    }
    let one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is \
               required";
    match given.len() {
        0 => errors.push(FieldError::required(path, one)),
        1 => {}
        _ => {
            let given = format!("{{{}}}", given.join(", "));
            let detail = format!("{one}, but multiple fields are set");
            errors.push(FieldError::invalid(path, &given.into(), detail));
        }
    }
}

fn node_name(
    owner: &Value,
    path: &ErrorPath<'_>,
    empty: &str,
    given: &mut Vec<&'static str>,
    errors: &mut Vec<FieldError>,
) {
    let Some(name) = owner.get("nodeName") else {
        return;
    };
    let field = path.child("nodeName");
    if name == "" {
        errors.push(FieldError::invalid(field, name, empty));
    } else {
        given.push("`nodeName`");
        named(
            names::subdomain,
            name.as_str().unwrap_or_default(),
            field,
            errors,
        );
    }
}

fn set_to_true(
    owner: &Value,
    field: &'static str,
    name: &'static str,
    path: &ErrorPath<'_>,
    given: &mut Vec<&'static str>,
    errors: &mut Vec<FieldError>,
) {
    match owner.get(field) {
        None => {}
        Some(Value::Bool(true)) => given.push(name),
        Some(value) => {
            let detail = "must be either unset or set to true";
            errors.push(FieldError::invalid(path.child(field), value, detail));
        }
    }
}

fn devices(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const MOST: usize = 128;
    const MOST_WITH_MORE: usize = 64;
    let devices = list(spec.value, "devices");
    let has_more = devices.iter().any(|device| {
        let has = |field: &str| !list(device, field).is_empty();
        let mut attributes = device["attributes"].as_object().into_iter().flatten();
        let has_lists = attributes.any(|(_, it)| LISTS.iter().any(|field| it.get(field).is_some()));
        has("taints") || has("consumesCounters") || has_lists
    });
    let most = if has_more { MOST_WITH_MORE } else { MOST };
    let by_device = spec.value["perDeviceNodeSelection"] == true;
    let before = spec.before().map_or(&[][..], |it| list(it, "devices"));
    let path = spec.path.child("devices");
    each_once(
        devices,
        most,
        &path,
        errors,
        |device| &device["name"],
        |device, path, errors| {
            let before = before.iter().find(|it| it["name"] == device["name"]);
            self::device(device, before, path, errors);
            nodes_of_device(device, by_device, path, errors);
            binding_conditions(device, path, errors);
        },
    );
}

/// `validateDevice`.
fn device(
    device: &Value,
    before: Option<&Value>,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    const MOST: usize = 32;
    const MOST_TAINTS: usize = 16;
    const MOST_CONSUMED: usize = 2;
    named(
        names::label,
        text(device, "name"),
        path.child("name"),
        errors,
    );
    let members = |field: &str| {
        device[field]
            .as_object()
            .into_iter()
            .flat_map(JsonMap::iter)
    };
    let count = members("attributes").count() + members("capacity").count();
    if count > MOST {
        let detail =
            format!("the total number of attributes and capacities must not exceed {MOST}");
        errors.push(FieldError::invalid(path, &count.into(), detail));
    }
    let field = path.child("attributes");
    for (name, value) in members("attributes") {
        qualified_name(name, &field, errors);
        attribute(value, &field.key(name), errors);
    }
    let is_shared = device["allowMultipleAllocations"] == true;
    let field = path.child("capacity");
    for (name, value) in members("capacity") {
        qualified_name(name, &field, errors);
        capacity(value, is_shared, &field.key(name), errors);
    }
    if before.is_none_or(|before| before["taints"] != device["taints"]) {
        let taints = list(device, "taints");
        each(taints, MOST_TAINTS, &path.child("taints"), errors, taint);
    }
    let consumed = list(device, "consumesCounters");
    let field = path.child("consumesCounters");
    each_once(
        consumed,
        MOST_CONSUMED,
        &field,
        errors,
        |it| &it["counterSet"],
        |set, path, errors| {
            counters(set, "counterSet", path, errors);
        },
    );
}

/// Only a shared device has a policy for requests (`validateMultiAllocatableDeviceCapacity`,
/// `validateSingleAllocatableDeviceCapacity`).
fn capacity(capacity: &Value, is_shared: bool, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let path = path.child("requestPolicy");
    match capacity.get("requestPolicy") {
        None => {}
        Some(_) if !is_shared => {
            let detail = "allowMultipleAllocations must be true";
            errors.push(FieldError::forbidden(path, detail));
        }
        Some(policy) => request_policy(&capacity["value"], policy, &path, errors),
    }
}

/// A device has one value for each attribute (`validateDeviceAttribute`).
fn attribute(attribute: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    const MAX: usize = 64;
    let given = ["bool", "int", "string", "version"]
        .into_iter()
        .chain(LISTS);
    let is_given = |field: &&str| attribute.get(field).is_some_and(|it| *it != json!([]));
    let given = given.filter(is_given).count();
    let mut text = |value: &Value, path: ErrorPath<'_>, is_version: bool| {
        let text = value.as_str().unwrap_or_default();
        if is_version && !is_semantic_version(text) {
            let detail = "must be a string compatible with semver.org spec 2.0.0";
            errors.push(FieldError::invalid(path, value, detail));
        }
        if text.len() > MAX {
            errors.push(FieldError::too_long(path, MAX));
        }
    };
    for (field, is_version) in [("string", false), ("version", true)] {
        if let Some(value) = attribute.get(field) {
            text(value, path.child(field), is_version);
        }
    }
    let detail = "exactly one value must be specified";
    match given {
        0 => errors.push(FieldError::invalid(path, &"".into(), detail)),
        1 => {}
        _ => {
            let error = FieldError::invalid(path, attribute, detail);
            errors.push(error.shown_as(shown_inside(attribute)));
        }
    }
}

/// An attribute in the form in which the server holds it.
fn shown_inside(attribute: &Value) -> String {
    let members = [
        "int", "bool", "string", "version", "ints", "bools", "strings", "versions",
    ];
    let members = members.map(|field| {
        let (kind, several) = match field.strip_suffix('s') {
            Some(kind) => (kind, "s"),
            None => (field, ""),
        };
        let (first, rest) = kind.split_at(1);
        let first = first.to_uppercase();
        format!("\"{first}{rest}Value{several}\":{}", attribute[field])
    });
    format!("{{{}}}", members.join(","))
}

/// Returns whether a text is a version as semver.org has them (`semverRe`).
fn is_semantic_version(text: &str) -> bool {
    let is_number = |part: &str| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        digits && (part == "0" || !part.starts_with('0'))
    };
    let is_word = |part: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !part.is_empty() && part.bytes().all(allowed)
    };
    let (text, build) = match text.split_once('+') {
        Some((text, build)) => (text, Some(build)),
        None => (text, None),
    };
    let (numbers, release) = match text.split_once('-') {
        Some((numbers, release)) => (numbers, Some(release)),
        None => (text, None),
    };
    let is_release = |part: &str| {
        is_word(part) && (is_number(part) || !part.bytes().all(|b| b.is_ascii_digit()))
    };
    numbers.split('.').count() == 3
        && numbers.split('.').all(is_number)
        && release.is_none_or(|release| release.split('.').all(is_release))
        && build.is_none_or(|build| build.split('.').all(is_word))
}

/// `validateDeviceTaint`.
fn taint(taint: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    named(
        names::qualified,
        text(taint, "key"),
        path.child("key"),
        errors,
    );
    let value = text(taint, "value");
    if !value.is_empty() {
        named(names::label_value, value, path.child("value"), errors);
    }
    let effect = text(taint, "effect");
    let field = path.child("effect");
    if effect.is_empty() {
        errors.push(FieldError::required(field, ""));
    } else if !EFFECTS.contains(&effect) {
        errors.push(FieldError::not_supported(field, &effect.into(), &EFFECTS));
    }
}

/// Counters of a set, or those that a device takes of one (`validateCounterSet`,
/// `validateDeviceCounterConsumption`).
fn counters(
    set: &Value,
    name_field: &'static str,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    const MOST: usize = 32;
    required_name(
        names::label,
        text(set, name_field),
        path.child(name_field),
        errors,
    );
    let field = path.child("counters");
    let counters: Vec<&str> = set["counters"]
        .as_object()
        .into_iter()
        .flat_map(JsonMap::iter)
        .map(|(name, _)| name.as_str())
        .collect();
    if counters.is_empty() {
        errors.push(FieldError::required(field, ""));
        return;
    }
    let placeholder = vec![Value::Null; counters.len()];
    if let Some(error) = too_many(&field, &placeholder, MOST) {
        errors.push(error);
        return;
    }
    for counter in counters {
        named(names::label, counter, field, errors);
    }
}

fn counter_sets(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const MOST: usize = 8;
    let sets = list(spec.value, "sharedCounters");
    let path = spec.path.child("sharedCounters");
    each_once(
        sets,
        MOST,
        &path,
        errors,
        |set| &set["name"],
        |set, path, errors| {
            counters(set, "name", path, errors);
        },
    );
}

/// A device says its nodes if and only if the slice leaves it to the devices.
fn nodes_of_device(
    device: &Value,
    by_device: bool,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    if !by_device {
        let fields = ["nodeName", "nodeSelector", "allNodes"];
        if fields.iter().any(|field| device.get(field).is_some()) {
            let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if \
                          `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
            errors.push(FieldError::invalid(path, &Value::Null, detail));
        }
        return;
    }
    let mut given = Vec::new();
    node_name(device, path, "must not be empty", &mut given, errors);
    if let Some(selector) = device.get("nodeSelector") {
        given.push("`nodeSelector`");
        let path = path.child("nodeSelector");
        errors.extend(pod_scheduling::node_selector(selector, &path));
    }
    set_to_true(device, "allNodes", "`allNodes`", path, &mut given, errors);
    let one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when \
               `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    match given.len() {
        0 => errors.push(FieldError::required(path, one)),
        1 => {}
        _ => {
            let given = format!("{{{}}}", given.join(", "));
            errors.push(FieldError::invalid(path, &given.into(), one));
        }
    }
}

/// A taint that does not say when it was added was added now (`SetDefaults_DeviceTaint`).
pub(super) fn note_taints(slice: &mut Value, _: &Value, now: &str) {
    let devices = slice.pointer_mut("/spec/devices");
    let devices = devices.and_then(Value::as_array_mut).into_iter().flatten();
    let taints = devices.filter_map(|device| device.get_mut("taints")?.as_array_mut());
    for taint in taints.flatten().filter_map(Value::as_object_mut) {
        if taint.get("timeAdded").is_none_or(Value::is_null) {
            taint.insert("timeAdded".to_owned(), now.into());
        }
    }
}

/// Drops the fields of features that are off, unless the stored slice has them (`dropDisabledFields`).
pub(super) fn prepare(slice: &mut Value, live: Option<&Value>) {
    if live.is_none() {
        let now = slice.meta_text("creationTimestamp").to_owned();
        note_taints(slice, &Value::Null, &now);
    }
    const MAPPINGS: &str = "nodeAllocatableResourceMappings";
    let devices = |slice: &'_ Value| list(&slice["spec"], "devices").to_vec();
    let before = live.map(devices).unwrap_or_default();
    let has_mappings = before.iter().any(|device| device.get(MAPPINGS).is_some());
    let has_lists = before.iter().any(|device| {
        let mut attributes = device["attributes"].as_object().into_iter().flatten();
        attributes.any(|(_, it)| LISTS.iter().any(|field| it.get(field).is_some()))
    });
    let Some(Value::Array(devices)) = slice.pointer_mut("/spec/devices") else {
        return;
    };
    for device in devices.iter_mut().filter_map(Value::as_object_mut) {
        if !has_mappings {
            device.remove(MAPPINGS);
        }
        let Some(Value::Object(attributes)) = device.get_mut("attributes") else {
            continue;
        };
        if !has_lists {
            for attribute in attributes.values_mut().filter_map(Value::as_object_mut) {
                attribute.retain(|field, _| !LISTS.contains(&field.as_str()));
            }
        }
    }
}

/// Warns of a driver whose name has capitals.
pub(super) fn warn(slice: &Value, _: Option<&Value>) -> Vec<String> {
    let driver = text(&slice["spec"], "driver");
    let has_capitals = driver != driver.to_lowercase();
    let warning = || {
        let driver = crate::go::quote(driver);
        format!(
            "spec.driver: driver names should be lowercase; {driver} contains uppercase characters"
        )
    };
    has_capitals.then(warning).into_iter().collect()
}
