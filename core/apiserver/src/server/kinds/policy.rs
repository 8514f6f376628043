//! Checks of a PodDisruptionBudget besides its rows in `kinds.checks`
//! (`pkg/apis/policy/validation/validation.go`).

use serde_json::Value;

use super::checks::{Checked, FieldCheck};
use crate::json;
use crate::server::wire;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[("one_budget", one_budget)];

/// A budget is a minimum or a maximum. The message shows the Go struct.
fn one_budget(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let member = |name: &str| spec.value.get(name);
    if member("minAvailable").is_none() || member("maxUnavailable").is_none() {
        return;
    }
    let written = |name: &str| member(name).map_or("null".to_owned(), json::sorted_text);
    let selector = match member("selector") {
        Some(selector) => wire::of_type("LabelSelector", selector),
        None => "null".to_owned(),
    };
    let shown = format!(
        "{{\"MinAvailable\":{},\"Selector\":{selector},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
        written("minAvailable"),
        written("maxUnavailable"),
        written("unhealthyPodEvictionPolicy")
    );
    let detail = "minAvailable and maxUnavailable cannot be both set";
    let error = FieldError::invalid(spec.path, &Value::Null, detail);
    errors.push(error.shown_as(shown));
}
