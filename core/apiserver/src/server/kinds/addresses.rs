//! Checks of IPAddress and ServiceCIDR besides their rows in `kinds.checks`
//! (`pkg/apis/networking/validation/validation.go`), and the fields of a ServiceCIDR that a write
//! of the status keeps.

use serde_json::{Value, json};

use super::checks::{Checked, FieldCheck};
use super::metadata::IMMUTABLE;
use super::{internal, ip, pod_parts};
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("service_ranges", service_ranges),
    ("service_ranges_kept", service_ranges_kept),
];

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// One range, or two of different families (`validateServiceCIDRSpec`).
fn service_ranges(ranges: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let all = items(ranges.value);
    if all.len() > 2 {
        let spec = &ranges.object["spec"];
        let shown = internal::field(ranges.object, &crate::field::ErrorPath::new("spec"), spec);
        let error = FieldError::invalid(ranges.path, spec, "may only hold up to 2 values");
        errors.push(error.shown_as(shown));
        return;
    }
    for (i, range) in all.iter().enumerate() {
        let text = range.as_str().unwrap_or_default();
        errors.extend(ip::check_exact_range(text, &ranges.path.index(i)));
    }
    let families = all.iter().filter_map(Value::as_str).map(ip::is_ipv6_range);
    let families: Vec<Option<bool>> = families.collect();
    if let [Some(first), Some(second)] = families[..]
        && first == second
    {
        let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and \
                      2001:db8::/64";
        errors.push(FieldError::invalid(ranges.path, ranges.value, detail));
    }
}

/// Ranges stay; a second one may come (`ValidateServiceCIDRUpdate`).
fn service_ranges_kept(ranges: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let now = items(ranges.value);
    let before = ranges.before().map_or(&[][..], items);
    if now.len() != before.len() && (before.len(), now.len()) != (1, 2) {
        // A list that is absent is shown as null.
        errors.push(FieldError::invalid(ranges.path, ranges.value, IMMUTABLE));
        return;
    }
    for (i, (now, before)) in now.iter().zip(before).enumerate() {
        if now != before {
            errors.push(FieldError::invalid(ranges.path.index(i), now, IMMUTABLE));
        }
    }
    if now.len() != before.len() {
        service_ranges(ranges, errors);
    }
}

/// A status is written with the stored spec and metadata (`serviceCIDRStatusStrategy`).
pub(super) fn keep_all_but_status(range: &mut Value, live: &Value) {
    range["spec"] = live.get("spec").cloned().unwrap_or_else(|| json!({}));
    pod_parts::keep_metadata(range, live);
}
