//! Cells of bindings, admission policies, signing requests and API services.

use serde_json::Value;

use super::{condition, human_duration, items};
use crate::environment::Timestamp;
use crate::object::text;

/// The users of a binding (`rbac.SubjectsStrings`).
pub(super) fn users(binding: &Value, _: Timestamp) -> Value {
    subjects(binding, "User")
}

/// The groups of a binding.
pub(super) fn groups(binding: &Value, _: Timestamp) -> Value {
    subjects(binding, "Group")
}

/// The service accounts of a binding.
pub(super) fn service_accounts(binding: &Value, _: Timestamp) -> Value {
    subjects(binding, "ServiceAccount")
}

fn subjects(binding: &Value, kind: &str) -> Value {
    let subjects = items(&binding["subjects"]).filter(|subject| text(subject, "kind") == kind);
    let names = subjects.map(|subject| match kind {
        "ServiceAccount" => format!("{}/{}", text(subject, "namespace"), text(subject, "name")),
        _ => text(subject, "name").to_owned(),
    });
    names.collect::<Vec<_>>().join(", ").into()
}

/// The kind of the parameters of an admission policy.
pub(super) fn param_kind(policy: &Value, _: Timestamp) -> Value {
    match policy["spec"].get("paramKind") {
        Some(kind @ Value::Object(_)) => {
            format!("{}/{}", text(kind, "apiVersion"), text(kind, "kind")).into()
        }
        _ => "<unset>".into(),
    }
}

/// The parameters of the binding of an admission policy.
pub(super) fn param_ref(binding: &Value, _: Timestamp) -> Value {
    let params = &binding["spec"]["paramRef"];
    match (text(params, "name"), text(params, "namespace")) {
        ("", _) => match params.get("selector") {
            Some(selector @ Value::Object(_)) => go_selector(selector).into(),
            _ => "<unset>".into(),
        },
        (name, "") => format!("*/{name}").into(),
        (name, namespace) => format!("{namespace}/{name}").into(),
    }
}

/// A label selector as Go prints the struct (`LabelSelector.String`).
fn go_selector(selector: &Value) -> String {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let mut labels: Vec<(&String, &Value)> = labels.collect();
    labels.sort_unstable_by_key(|(key, _)| *key);
    let labels = labels
        .iter()
        .map(|(key, value)| format!("{key}: {},", value.as_str().unwrap_or_default()));
    let expressions = items(&selector["matchExpressions"]).map(|expression| {
        let values: Vec<&str> = items(&expression["values"])
            .filter_map(Value::as_str)
            .collect();
        format!(
            "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
            text(expression, "key"),
            text(expression, "operator"),
            values.join(" ")
        )
    });
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{}}},MatchExpressions:[]LabelSelectorRequirement{{{}}},}}",
        labels.collect::<String>(),
        expressions.collect::<String>()
    )
}

/// Returns the requested validity of a signing request's certificate.
pub(super) fn requested_duration(request: &Value, _: Timestamp) -> Value {
    match request["spec"]["expirationSeconds"].as_i64() {
        Some(seconds) => human_duration(seconds).into(),
        None => "<none>".into(),
    }
}

/// Returns the state of a signing request (`extractCSRStatus`).
pub(super) fn signing_condition(request: &Value, _: Timestamp) -> Value {
    let has = |ty| condition(request, ty).is_some();
    let mut shown = if has("Denied") {
        "Denied"
    } else if has("Approved") {
        "Approved"
    } else {
        "Pending"
    }
    .to_owned();
    if has("Failed") {
        shown.push_str(",Failed");
    }
    if !text(&request["status"], "certificate").is_empty() {
        shown.push_str(",Issued");
    }
    shown.into()
}

/// The service behind an APIService (`ConvertToTable` of kube-aggregator's registry).
pub(super) fn api_service(api: &Value, _: Timestamp) -> Value {
    match api["spec"].get("service") {
        Some(service @ Value::Object(_)) => {
            format!("{}/{}", text(service, "namespace"), text(service, "name")).into()
        }
        _ => "Local".into(),
    }
}

/// Returns whether an API service is available.
pub(super) fn api_available(api: &Value, _: Timestamp) -> Value {
    let Some(available) = condition(api, "Available") else {
        return "Unknown".into();
    };
    match (text(available, "status"), text(available, "reason")) {
        ("True", _) => "True".into(),
        (status, "") => status.into(),
        (status, reason) => format!("{status} ({reason})").into(),
    }
}
