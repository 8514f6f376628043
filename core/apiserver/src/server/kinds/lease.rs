//! Lease (`pkg/registry/coordination/lease`, `pkg/apis/coordination/validation`).

use serde_json::Value;

use super::{Rules, metadata, names};
use crate::object::text;
use crate::status::FieldError;

/// The one strategy of coordinated leader election that Kubernetes defines.
const OLDEST: &str = "OldestEmulationVersion";

pub(super) const RULES: Rules = Rules {
    validate,
    ..Rules::NONE
};

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
    let strategy = spec.get("strategy").and_then(Value::as_str);
    if let Some(strategy) = strategy {
        // Upstream names the field twice (`ValidateCoordinatedLeaseStrategy`).
        let field = "spec.strategy.strategy";
        if strategy.contains('/') {
            let reasons = names::qualified(strategy).into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(field, &strategy.into(), why)));
        } else if strategy != OLDEST {
            let value = strategy.into();
            errors.push(FieldError::not_supported(field, &value, &[OLDEST]));
        }
    }
    if !text(spec, "preferredHolder").is_empty() && strategy.is_none_or(str::is_empty) {
        let detail = "may only be specified if `strategy` is defined";
        errors.push(FieldError::forbidden("spec.preferredHolder", detail));
    }
    errors
}
