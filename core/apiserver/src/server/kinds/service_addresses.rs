//! The addresses of a Service (`ValidateServiceClusterIPsRelatedFields` and the checks of their
//! changes, `pkg/apis/core/validation`).

use serde_json::Value;

use super::ip;
use super::label_selector::list;
use super::service::{is_headless, needs_cluster_ip};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

const IPS: ErrorPath<'static> = ErrorPath::new("spec.clusterIPs");

/// `ValidateServiceClusterIPsRelatedFields`: addresses, their families and the policy; `live` is
/// the stored Service on update.
pub(super) fn cluster_ips(service: &Value, live: Option<&Value>) -> Vec<FieldError> {
    if !needs_cluster_ip(service) {
        return Vec::new();
    }
    let spec = &service["spec"];
    let (ips, all) = (list(spec, "clusterIPs"), &spec["clusterIPs"]);
    let invalid = |detail: &str| FieldError::invalid(IPS, all, detail);
    let mut errors = Vec::new();
    match (text(spec, "clusterIP"), ips.first()) {
        ("", Some(_)) => errors.push(invalid("must be empty when `clusterIP` is not specified")),
        ("", None) => {}
        (_, None) => errors.push(FieldError::required(IPS, "")),
        (one, Some(first)) if first != one => {
            errors.push(invalid("first value must match `clusterIP`"));
        }
        _ => {}
    }
    errors.extend(families(spec));
    let old = live.map_or(&[][..], |live| list(&live["spec"], "clusterIPs"));
    let mut broken = false;
    for (i, ip) in ips.iter().enumerate() {
        let error = if i == 0 && ip == "None" {
            (ips.len() > 1).then(|| invalid("'None' must be the first and only value"))
        } else {
            ip::check(ip, &IPS.index(i), old)
        };
        broken |= error.is_some();
        errors.extend(error);
    }
    if ips.len() > 2 {
        errors.push(invalid("may only hold up to 2 values"));
    }
    if broken {
        return errors;
    }
    if ips.len() > 1 && ips.iter().all(is_v6) == ips.iter().any(is_v6) {
        errors.push(invalid(
            "may specify no more than one IP for each IP family",
        ));
    }
    if !is_headless(service) {
        errors.extend(addresses_of_families(ips, list(spec, "ipFamilies")));
    }
    errors
}

fn is_v6(ip: &Value) -> bool {
    ip.as_str().is_some_and(|ip| ip.contains(':'))
}

/// Each address must be of the family at its place.
fn addresses_of_families(ips: &[Value], families: &[Value]) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, (ip, family)) in ips.iter().zip(families).enumerate() {
        let family = family.as_str().unwrap_or_default();
        let wrong = match family {
            "IPv4" => is_v6(ip),
            "IPv6" => !is_v6(ip),
            _ => false,
        };
        if wrong {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{i}]`");
            errors.push(FieldError::invalid(IPS.index(i), ip, detail));
        }
    }
    errors
}

/// The families and the policy by themselves.
fn families(spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let families = list(spec, "ipFamilies");
    for (i, family) in families.iter().enumerate() {
        let path = ErrorPath::new("spec.ipFamilies");
        let field = path.index(i);
        if family != "IPv4" && family != "IPv6" {
            let supported = ["IPv4", "IPv6"];
            errors.push(FieldError::not_supported(field, family, &supported));
        }
        if families[..i].contains(family) {
            errors.push(FieldError::duplicate(field, family));
        }
    }
    if let Some(policy) = spec.get("ipFamilyPolicy") {
        let supported = ["PreferDualStack", "RequireDualStack", "SingleStack"];
        if !supported.iter().any(|known| policy == known) {
            let field = "spec.ipFamilyPolicy";
            errors.push(FieldError::not_supported(field, policy, &supported));
        }
    }
    errors
}

/// Refuses changes to allocated values (`validateUpgradeDowngradeClusterIPs`, `...IPFamilies`).
pub(super) fn allocated_values_kept(service: &Value, live: &Value) -> Vec<FieldError> {
    if !needs_cluster_ip(service) || !needs_cluster_ip(live) {
        return Vec::new();
    }
    let (spec, before) = (&service["spec"], &live["spec"]);
    let mut errors = Vec::new();
    if !(is_headless(service) && is_headless(live)) {
        errors.extend(kept_addresses(spec, before));
    }
    let stay = !is_headless(service) && !is_headless(live);
    if stay {
        errors.extend(kept_families(spec, before));
    }
    if spec["ipFamilyPolicy"] == "SingleStack" {
        return errors;
    }
    // Who gives up the second address or family says so.
    let is_released = |field: &str| {
        let (now, then) = (list(spec, field), list(before, field));
        now.len() == 1 && now.len() < then.len()
    };
    let released = [
        ("clusterIP", is_released("clusterIPs")),
        ("ipFamily", stay && is_released("ipFamilies")),
    ];
    for (what, _) in released.into_iter().filter(|(_, released)| *released) {
        let detail = format!("must be set to 'SingleStack' when releasing the secondary {what}");
        let field = "spec.ipFamilyPolicy";
        errors.push(FieldError::invalid(field, &spec["ipFamilyPolicy"], detail));
    }
    errors
}

const CHANGED: &str = "may not change once set";

/// Returns the error for a list of a Service; messages show an empty one as null.
fn wrong_list(field: &str, list: &[Value], detail: &str) -> FieldError {
    let shown = match list {
        [] => Value::Null,
        list => list.into(),
    };
    FieldError::invalid(field, &shown, detail)
}

/// Refuses changes to allocated addresses.
fn kept_addresses(spec: &Value, before: &Value) -> Vec<FieldError> {
    let (ips, old) = (list(spec, "clusterIPs"), list(before, "clusterIPs"));
    let first = "spec.clusterIPs[0]";
    if ips.len() == old.len() {
        let pairs = ips.iter().zip(old).enumerate();
        let changed = pairs.filter(|(_, (a, b))| a != b);
        return changed
            .map(|(i, _)| wrong_list(&IPS.index(i).to_string(), ips, CHANGED))
            .collect();
    }
    if ips.is_empty() {
        return vec![wrong_list(first, ips, "primary clusterIP can not be unset")];
    }
    let differs = !old.is_empty() && ips[0] != old[0];
    let error = differs.then(|| wrong_list(first, ips, CHANGED));
    error.into_iter().collect()
}

/// Refuses changes to allocated families.
fn kept_families(spec: &Value, before: &Value) -> Vec<FieldError> {
    let (families, old) = (list(spec, "ipFamilies"), list(before, "ipFamilies"));
    let (ips, first) = (list(spec, "clusterIPs"), "spec.ipFamilies[0]");
    let mut errors = Vec::new();
    if families.len() == old.len() {
        let changed = families.iter().zip(old).filter(|(a, b)| a != b);
        errors.extend(changed.map(|_| wrong_list(first, families, CHANGED)));
        return errors;
    }
    if families.len() < old.len() && ips.is_empty() {
        let detail = "primary ipFamily can not be unset";
        errors.push(wrong_list(first, families, detail));
    }
    // Upstream shows the addresses here.
    let firsts = families.first().zip(old.first());
    if firsts.is_some_and(|(a, b)| a != b) {
        errors.push(wrong_list(first, ips, CHANGED));
    }
    errors
}
