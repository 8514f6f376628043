//! Lease (`pkg/registry/coordination/lease`, `pkg/apis/coordination/validation`).

use serde_json::Value;

use super::{Rules, metadata, names};
use crate::status::FieldError;

pub(super) const RULES: Rules = Rules {
    prepare,
    validate,
    ..Rules::NONE
};

/// Coordinated leader election is behind a gate that is off by default: its fields are dropped.
fn prepare(lease: &mut Value, _: Option<&Value>) {
    if let Some(spec) = lease.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("strategy");
        spec.remove("preferredHolder");
    }
}

fn validate(lease: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = match live {
        None => metadata::of_any_kind(lease, names::subdomain),
        Some(live) => metadata::update_of_any_kind(lease, live),
    };
    let spec = &lease["spec"];
    if let Some(seconds) = spec["leaseDurationSeconds"].as_i64()
        && seconds <= 0
    {
        let detail = "must be greater than 0";
        let field = "spec.leaseDurationSeconds";
        errors.push(FieldError::invalid(field, &seconds.into(), detail));
    }
    if let Some(transitions) = spec["leaseTransitions"].as_i64()
        && transitions < 0
    {
        errors.push(metadata::negative("spec.leaseTransitions", transitions));
    }
    errors
}
