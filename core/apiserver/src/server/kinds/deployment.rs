//! Deployment (`pkg/registry/apps/deployment`, `pkg/apis/apps/validation`).

use serde_json::Value;

use super::metadata::{self, IMMUTABLE, negative};
use super::{Rules, StatusRules, label_selector, names, pod_disabled, pod_warnings, workloads};
use crate::field::ErrorPath;
use crate::object::{Metadata, text};
use crate::status::FieldError;

pub(super) const RULES: Rules = Rules {
    prepare: pod_disabled::drop_from_template,
    validate,
    warn,
    status: StatusRules {
        prepare: |_, _| {},
        validate: validate_status,
    },
    plain_replicas: true,
    ..Rules::NONE
};

fn validate(deployment: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = match live {
        None => metadata::builtin(deployment, names::subdomain),
        Some(live) => metadata::builtin_update(deployment, live),
    };
    let spec = &deployment["spec"];
    errors.extend(validate_spec(spec));
    if let Some(live) = live
        && live["spec"]["selector"] != spec["selector"]
    {
        let selector = &spec["selector"];
        errors.push(label_selector::invalid(
            "spec.selector",
            selector,
            IMMUTABLE,
        ));
    }
    errors
}

const SPEC: ErrorPath<'static> = ErrorPath::new("spec");
const STATUS: ErrorPath<'static> = ErrorPath::new("status");

/// `ValidateDeploymentSpec`.
fn validate_spec(spec: &Value) -> Vec<FieldError> {
    let mut errors = not_negative(spec, &SPEC, "replicas");
    errors.extend(workloads::selected_pods(spec, &SPEC));
    errors.extend(strategy(&spec["strategy"]));
    errors.extend(not_negative(spec, &SPEC, "minReadySeconds"));
    errors.extend(not_negative(spec, &SPEC, "revisionHistoryLimit"));
    errors.extend(not_negative(spec, &SPEC, "progressDeadlineSeconds"));
    if let Some(deadline) = spec["progressDeadlineSeconds"].as_i64()
        && deadline <= spec["minReadySeconds"].as_i64().unwrap_or(0)
    {
        let detail = "must be greater than minReadySeconds";
        let field = "spec.progressDeadlineSeconds";
        errors.push(FieldError::invalid(field, &deadline.into(), detail));
    }
    errors
}

/// `ValidateDeploymentStrategy`.
fn strategy(strategy: &Value) -> Vec<FieldError> {
    const ROLLING: &str = "spec.strategy.rollingUpdate";
    let rolling = strategy.get("rollingUpdate");
    match (text(strategy, "type"), rolling) {
        ("Recreate", Some(_)) => {
            let detail = "may not be specified when strategy `type` is 'Recreate'";
            vec![FieldError::forbidden(ROLLING, detail)]
        }
        ("Recreate", None) => Vec::new(),
        ("RollingUpdate", None) => {
            let detail = "this should be defaulted and never be nil";
            vec![FieldError::required(ROLLING, detail)]
        }
        ("RollingUpdate", Some(rolling)) => {
            let path = ErrorPath::new(ROLLING);
            let (unavailable, surge) = (&rolling["maxUnavailable"], &rolling["maxSurge"]);
            let field = path.child("maxUnavailable");
            let mut errors = share(unavailable, &field);
            errors.extend(share(surge, &path.child("maxSurge")));
            if amount(unavailable) == 0 && amount(surge) == 0 {
                let detail = "may not be 0 when `maxSurge` is 0";
                errors.push(FieldError::invalid(field, unavailable, detail));
            }
            errors.extend(at_most_all(unavailable, &field));
            errors
        }
        (other, rolling) => {
            // The value is an object of the internal type.
            let rolling = rolling.map_or("null".to_owned(), |rolling| {
                let of = |name: &str| rolling.get(name).cloned().unwrap_or_else(|| 0.into());
                let (unavailable, surge) = (of("maxUnavailable"), of("maxSurge"));
                format!("{{\"MaxUnavailable\":{unavailable},\"MaxSurge\":{surge}}}")
            });
            let kind = Value::from(other);
            let shown = format!("{{\"Type\":{kind},\"RollingUpdate\":{rolling}}}");
            let supported = ["Recreate", "RollingUpdate"];
            let error = FieldError::not_supported("spec.strategy", &kind, &supported);
            vec![error.shown_as(shown)]
        }
    }
}

/// A number of pods, or a percentage of them (`ValidatePositiveIntOrPercent`).
pub(super) fn share(value: &Value, field: &ErrorPath<'_>) -> Vec<FieldError> {
    match value {
        Value::String(_) if percent(value).is_none() => {
            let detail = "a valid percent string must be a numeric string followed by an ending '%' \
                 (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
            vec![FieldError::invalid(field, value, detail)]
        }
        value => match value.as_i64() {
            Some(number) if number < 0 => vec![negative(field, number)],
            _ => Vec::new(),
        },
    }
}

/// At most all pods (`IsNotMoreThan100Percent`).
pub(super) fn at_most_all(value: &Value, field: &ErrorPath<'_>) -> Option<FieldError> {
    let detail = "must not be greater than 100%";
    let too_many = percent(value).is_some_and(|percent| percent > 100);
    too_many.then(|| FieldError::invalid(field, value, detail))
}

fn percent(value: &Value) -> Option<i64> {
    let digits = value.as_str()?.strip_suffix('%')?;
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(i64::MAX))
}

/// The number, either of pods or of percent; a text of digits counts, too (`getIntOrPercentValue`).
pub(super) fn amount(value: &Value) -> i64 {
    let number = value.as_i64();
    let digits = || value.as_str().and_then(|text| text.parse().ok());
    percent(value).or(number).or_else(digits).unwrap_or(0)
}

/// `ValidateDeploymentStatusUpdate`.
fn validate_status(deployment: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = metadata::builtin_update(deployment, live);
    let status = &deployment["status"];
    for field in [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ] {
        errors.extend(not_negative(status, &STATUS, field));
    }
    let count = |status: &Value, field| status.get(field).and_then(Value::as_i64).unwrap_or(0);
    let mut limit = |field, most, what: &str| {
        let number = count(status, field);
        if number > count(status, most) {
            let detail = format!("cannot be greater than {what}");
            let field = STATUS.child(field);
            errors.push(FieldError::invalid(field, &number.into(), detail));
        }
    };
    limit("updatedReplicas", "replicas", "status.replicas");
    limit("readyReplicas", "replicas", "status.replicas");
    limit("availableReplicas", "replicas", "status.replicas");
    limit("availableReplicas", "readyReplicas", "readyReplicas");
    let collisions = count(status, "collisionCount");
    let before = live["status"]["collisionCount"].as_i64();
    if before.is_some_and(|before| !status["collisionCount"].is_i64() || collisions < before) {
        let field = "status.collisionCount";
        let detail = "cannot be decremented";
        errors.push(FieldError::invalid(field, &collisions.into(), detail));
    }
    errors
}

fn not_negative(value: &Value, path: &ErrorPath<'_>, field: &str) -> Vec<FieldError> {
    match value.get(field).and_then(Value::as_i64) {
        Some(number) if number < 0 => vec![negative(path.child(field), number)],
        _ => Vec::new(),
    }
}

fn warn(deployment: &Value, live: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    match live {
        Some(live) if live.generation() == deployment.generation() => return warnings,
        Some(_) => {}
        None => {
            let reasons = names::label(deployment.name());
            if !reasons.is_empty() {
                warnings.push(format!(
                    "metadata.name: this is used in Pod names and hostnames, which can result in \
                     surprising behavior; a DNS label is recommended: [{}]",
                    reasons.join(" ")
                ));
            }
        }
    }
    let template = &deployment["spec"]["template"];
    warnings.extend(pod_warnings::for_template(
        template,
        Some(&SPEC.child("template")),
    ));
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(errors: &[FieldError]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_share_of_pods_is_a_number_or_a_percentage() {
        let rolling = |unavailable: Value, surge: Value| {
            texts(&strategy(&json!({
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": unavailable, "maxSurge": surge},
            })))
        };
        assert!(rolling(json!("25%"), json!(1)).is_empty());
        assert_eq!(rolling(json!("x"), json!(1)).len(), 1);
        assert_eq!(
            rolling(json!(0), json!("0%")),
            [
                "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: \
                 may not be 0 when `maxSurge` is 0"
            ]
        );
        assert_eq!(
            rolling(json!("101%"), json!(1)),
            [
                "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"101%\": \
                 must not be greater than 100%"
            ]
        );
    }

    #[test]
    fn the_deadline_is_later_than_the_time_to_get_ready() {
        let spec = json!({"minReadySeconds": 600, "progressDeadlineSeconds": 600});
        let said = texts(&validate_spec(&spec));
        let expected = "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than \
             minReadySeconds";
        assert!(said.contains(&expected.to_owned()), "{said:?}");
    }

    #[test]
    fn no_more_replicas_are_reported_than_there_are() {
        let live = json!({"metadata": {"resourceVersion": "1"}});
        let mut deployment = live.clone();
        deployment["status"] = json!({"replicas": 1, "availableReplicas": 1});
        assert_eq!(
            texts(&validate_status(&deployment, &live)),
            ["status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas"]
        );
    }
}
