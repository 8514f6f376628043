//! Probes and lifecycle hooks of containers (`validateProbe`, `validateLifecycle` and
//! `validateHandler` of `pkg/apis/core/validation`).

use serde_json::Value;

use super::containers::PodContext;
use super::label_selector::list;
use super::metadata::negative;
use super::names;
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

/// Hooks and probes of a container that stays.
pub(super) fn life(
    container: &Value,
    pod: &PodContext<'_>,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for hook in ["postStart", "preStop"] {
        if let Some(handler) = container["lifecycle"].get(hook) {
            let lifecycle = path.child("lifecycle");
            let path = lifecycle.child(hook);
            errors.extend(self::handler(handler, pod.grace, &path));
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.get(name) else {
            continue;
        };
        let path = path.child(name);
        errors.extend(self::probe(probe, pod.grace, &path));
        if name == "readinessProbe" {
            if let Some(seconds) = probe.get("terminationGracePeriodSeconds") {
                let field = path.child("terminationGracePeriodSeconds");
                let detail = "must not be set for readinessProbes";
                errors.push(FieldError::invalid(field, seconds, detail));
            }
        } else if probe["successThreshold"] != 1 {
            let field = path.child("successThreshold");
            let threshold = probe["successThreshold"].as_i64().unwrap_or(0).into();
            errors.push(FieldError::invalid(field, &threshold, "must be 1"));
        }
    }
    errors
}

fn probe(probe: &Value, grace: i64, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = handler(probe, grace, path);
    for name in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        let number = probe.get(name).and_then(Value::as_i64).unwrap_or(0);
        if number < 0 {
            errors.push(negative(path.child(name), number));
        }
    }
    let name = "terminationGracePeriodSeconds";
    if let Some(seconds) = probe.get(name).and_then(Value::as_i64)
        && seconds <= 0
    {
        let field = path.child(name);
        let detail = "must be greater than 0";
        errors.push(FieldError::invalid(field, &seconds.into(), detail));
    }
    errors
}

/// Checks that a probe or hook has exactly one action (`validateHandler`).
fn handler(handler: &Value, grace: i64, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut found = false;
    for name in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let Some(action) = handler.get(name) else {
            continue;
        };
        let path = path.child(name);
        if found {
            let detail = "may not specify more than 1 handler type";
            errors.push(FieldError::forbidden(path, detail));
            continue;
        }
        found = true;
        match name {
            "exec" if list(action, "command").is_empty() => {
                errors.push(FieldError::required(path.child("command"), ""));
            }
            "httpGet" => errors.extend(http_get(action, &path)),
            "tcpSocket" | "grpc" => {
                errors.extend(port_or_name(&action["port"], &path.child("port")))
            }
            "sleep" => {
                let seconds = action["seconds"].as_i64().unwrap_or(0);
                // Zero has been fine since v1.33.
                if seconds < 0 || seconds > grace {
                    let detail = format!(
                        "must be non-negative and less than terminationGracePeriodSeconds ({grace})"
                    );
                    errors.push(FieldError::invalid(path, &seconds.into(), detail));
                }
            }
            _ => {}
        }
    }
    if !found {
        errors.push(FieldError::required(path, "must specify a handler type"));
    }
    errors
}

fn http_get(action: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if text(action, "path").is_empty() {
        errors.push(FieldError::required(path.child("path"), ""));
    }
    errors.extend(port_or_name(&action["port"], &path.child("port")));
    let scheme = text(action, "scheme");
    let schemes = ["HTTP", "HTTPS"];
    if !schemes.contains(&scheme) {
        let field = path.child("scheme");
        errors.push(FieldError::not_supported(field, &scheme.into(), &schemes));
    }
    for header in list(action, "httpHeaders") {
        let name = text(header, "name");
        let reasons = names::http_header(name).into_iter();
        let field = path.child("httpHeaders");
        errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
    }
    errors
}

/// A port by number or by name (`ValidatePortNumOrName`).
pub(super) fn port_or_name(port: &Value, field: &ErrorPath<'_>) -> Vec<FieldError> {
    let reasons = match port {
        Value::String(name) => names::port_name(name),
        number => names::port_number(number.as_i64().unwrap_or(0)),
    };
    let reasons = reasons.into_iter();
    reasons
        .map(|why| FieldError::invalid(field, port, why))
        .collect()
}
