//! Checks of a Node besides its rows in `kinds.checks` (`ValidateNode` and `ValidateNodeUpdate` of
//! `pkg/apis/core/validation`), and the additions to a new one.

use serde_json::{Value, json};

use super::checks::{Checked, FieldCheck};
use super::label_selector::list;
use super::resources::whole_amount;
use super::{Rules, internal, ip, names};
use crate::field::ErrorPath;
use crate::go;
use crate::object::{JsonMap, text};
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("taints", taints),
    ("node_amounts", node_amounts),
    ("pod_ranges", pod_ranges),
    ("node_addresses", node_addresses),
    ("node_kept", node_kept),
    ("node_swap", node_swap),
    ("node_features", node_features),
];

/// Adds the rules of the strategies of nodes, and of their admission plugins.
pub(super) fn add_rules(rules: &mut Rules) {
    rules.restores = true;
    rules.prepare = prepare;
    rules.status.prepare = |node, live| {
        node["spec"] = live["spec"].clone();
        // `nodeStatusStrategy.PrepareForUpdate`: the feature is gone.
        if live["status"].get("config").is_none()
            && let Value::Object(status) = &mut node["status"]
        {
            status.remove("config");
        }
    };
    rules.fill_on_reading = Some(allocatable);
    rules.allocate = |node, live, _| {
        taint_new(node, live);
        Ok(())
    };
}

/// An empty map is not stored, and a node that is read without what can be allocated has its capacity
/// (`SetDefaults_NodeStatus`).
fn allocatable(node: &Value) -> Option<Value> {
    let status = &node["status"];
    let capacity = status["capacity"].as_object()?;
    if capacity.is_empty() || status.get("allocatable").is_some() {
        return None;
    }
    let mut filled = node.clone();
    filled["status"]["allocatable"] = capacity.clone().into();
    Some(filled)
}

/// A new node takes no pods until it is ready (the admission plugin TaintNodesByCondition).
fn taint_new(node: &mut Value, live: Option<&Value>) {
    const NOT_READY: &str = "node.kubernetes.io/not-ready";
    if live.is_some() {
        return;
    }
    let is_not_ready =
        |taint: &Value| text(taint, "key") == NOT_READY && text(taint, "effect") == "NoSchedule";
    let mut taints = match node["spec"]["taints"].take() {
        Value::Array(taints) => taints,
        _ => Vec::new(),
    };
    if !taints.iter().any(is_not_ready) {
        taints.push(json!({"key": NOT_READY, "effect": "NoSchedule"}));
    }
    node["spec"]["taints"] = taints.into();
}

/// `nodeStrategy`: a new node keeps its status. The source of a configuration is a field of a feature
/// that is gone.
fn prepare(node: &mut Value, live: Option<&Value>) {
    if let Some(live) = live {
        node["status"] = live["status"].clone();
    }
    if live.is_none()
        && let Value::Object(status) = &mut node["status"]
    {
        status.remove("config");
    }
    let used = live.is_some_and(|live| live["spec"].get("configSource").is_some());
    if !used && let Value::Object(spec) = &mut node["spec"] {
        spec.remove("configSource");
    }
}

/// `validateNodeTaints`, whose path is not that of the field.
fn taints(taints: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let path = ErrorPath::new("metadata.taints");
    let items = taints.value.as_array().map_or(&[][..], Vec::as_slice);
    for (i, taint) in items.iter().enumerate() {
        let path = path.index(i);
        let (field, key) = (path.child("key"), text(taint, "key"));
        let reasons = names::qualified(key).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &key.into(), why)));
        let value = text(taint, "value");
        let reasons = names::label_value(value);
        if !reasons.is_empty() {
            let field = path.child("value");
            errors.push(FieldError::invalid(field, &value.into(), reasons.join(";")));
        }
        let (field, effect) = (path.child("effect"), text(taint, "effect"));
        let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        if effect.is_empty() {
            errors.push(FieldError::required(field, ""));
        } else if !effects.contains(&effect) {
            errors.push(FieldError::not_supported(field, &effect.into(), &effects));
        }
        let same = |other: &Value| text(other, "key") == key && text(other, "effect") == effect;
        if items[..i].iter().any(same) {
            let shown = internal::field(taints.object, &taints.path.index(i), taint);
            let mut error = FieldError::duplicate(path, taint).shown_as(shown);
            error.detail = "taints must be unique by key and effect pair".to_owned();
            errors.push(error);
        }
    }
}

/// `ValidateNodeResources`; here a resource is named like a field.
fn node_amounts(amounts: &Checked<'_>, errors: &mut Vec<FieldError>) {
    for (name, amount) in amounts
        .value
        .as_object()
        .into_iter()
        .flat_map(JsonMap::iter)
    {
        errors.extend(whole_amount(name, amount, &amounts.path.child(name)));
    }
}

/// Space for swapping, if there is some (`validateNodeSwapStatus`, whose path is not that of the field).
fn node_swap(swap: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if let Some(capacity) = swap.value["capacity"].as_i64().filter(|it| *it <= 0) {
        let field = "metadata.nodeSwapStatus.capacity";
        let detail = "must be greater than zero";
        errors.push(FieldError::invalid(field, &capacity.into(), detail));
    }
}

/// Names as in Go, with parts: `MyFeature/myPart`.
fn is_feature(name: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.split('/').all(is_part)
}

/// The features that a node declares: in order, and each once (`validateNodeDeclaredFeatures`).
fn node_features(features: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const MOST: usize = 253;
    let items = features.value.as_array().map_or(&[][..], Vec::as_slice);
    for (i, feature) in items.iter().enumerate() {
        let name = feature.as_str().unwrap_or_default();
        let shown = go::quote(name);
        let mut refuse = |i: usize, value: &Value, detail: String| {
            errors.push(FieldError::invalid(features.path.index(i), value, detail));
        };
        if name.len() > MOST {
            let detail =
                format!("invalid feature name {shown}: must be no more than {MOST} characters");
            refuse(i, feature, detail);
        } else if !is_feature(name) {
            let detail = format!(
                "invalid feature name {shown}: must start with an UpperCamelCase segment, with \
                 subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and \
                 contain only alphanumeric characters and slashes"
            );
            refuse(i, feature, detail);
        }
        let Some(next) = items.get(i + 1) else {
            continue;
        };
        match next.as_str().unwrap_or_default() {
            after if after == name => {
                errors.push(FieldError::duplicate(features.path.index(i + 1), next));
            }
            after if after < name => {
                refuse(i + 1, next, "list must be sorted alphabetically".to_owned());
            }
            _ => {}
        }
    }
}

/// The ranges of the addresses of pods: one of each family.
fn pod_ranges(ranges: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = ranges.value.as_array().map_or(&[][..], Vec::as_slice);
    let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
    for (i, range) in texts.iter().enumerate() {
        errors.extend(ip::check_range(range, &ranges.path.index(i), &[]));
    }
    if texts.len() > 1 {
        let unread = texts.iter().position(|range| !ip::is_range(range));
        if let Some(i) = unread {
            let detail = format!(
                "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{i}]: <nil> \
                 (invalid CIDR address: {})",
                texts[i]
            );
            errors.push(FieldError::internal(ranges.path, detail));
        }
        let v6 = texts.iter().filter(|range| range.contains(':')).count();
        if texts.len() > 2 || v6 != 1 || unread.is_some() {
            let detail = "may specify no more than one CIDR for each IP family";
            errors.push(FieldError::invalid(ranges.path, ranges.value, detail));
        }
    }
}

/// No address of a node is listed twice.
fn node_addresses(addresses: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = addresses.value.as_array().map_or(&[][..], Vec::as_slice);
    for (i, address) in items.iter().enumerate() {
        if items[..i].contains(address) {
            let path = addresses.path.index(i);
            let shown = internal::field(addresses.object, &path, address);
            errors.push(FieldError::duplicate(path, address).shown_as(shown));
        }
    }
}

/// Refuses changes to fields that are set only once (`ValidateNodeUpdate`).
fn node_kept(node: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let Some(live) = node.live else {
        return;
    };
    let (spec, before) = (&node.object["spec"], &live["spec"]);
    let (ranges, old) = (list(spec, "podCIDRs"), list(before, "podCIDRs"));
    let changes = match ranges.len() == old.len() {
        true => ranges.iter().zip(old).filter(|(a, b)| a != b).count(),
        false => 1,
    };
    for _ in 0..changes {
        if !old.is_empty() {
            let detail = "node updates may not change podCIDR except from \"\" to valid";
            errors.push(FieldError::forbidden("spec.podCIDRs", detail));
        }
    }
    let id = text(before, "providerID");
    if !id.is_empty() && id != text(spec, "providerID") {
        let detail = "node updates may not change providerID except from \"\" to valid";
        errors.push(FieldError::forbidden("spec.providerID", detail));
    }
    if text(spec, "externalID") != text(before, "externalID") {
        let detail = "may not be updated";
        errors.push(FieldError::forbidden("spec.externalID", detail));
    }
}
