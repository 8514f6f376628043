//! Checks of the configurations of admission webhooks besides their rows in `kinds.checks`
//! (`pkg/apis/admissionregistration/validation/validation.go`,
//! `k8s.io/apiserver/pkg/util/webhook/validation.go`). Conditions in CEL are not compiled.

use std::collections::BTreeSet;

use serde_json::Value;

use super::checks::{Checked, FieldCheck};
use super::label_selector::list;
use super::names;
use crate::field::ErrorPath;
use crate::go;
use crate::object::text;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("webhooks", webhooks),
    ("fully_qualified", fully_qualified),
    ("timeout", timeout),
    ("client_config", client_config),
    ("review_versions", review_versions),
    ("webhook_rule", webhook_rule),
];

/// The webhooks of a configuration; no two have one name (`validateValidatingWebhookConfiguration`,
/// `validateMutatingWebhookConfiguration`).
fn webhooks(all: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let of = match text(all.object, "kind") {
        "MutatingWebhookConfiguration" => "MutatingWebhook",
        _ => "ValidatingWebhook",
    };
    let mut known = BTreeSet::new();
    for (i, webhook) in list(all.object, "webhooks").iter().enumerate() {
        let path = all.path.index(i);
        all.part(webhook, &path).is_a(of, errors);
        let name = text(webhook, "name");
        if !name.is_empty() && !known.insert(name) {
            errors.push(FieldError::duplicate(path.child("name"), &name.into()));
        }
    }
}

/// A domain with three labels or more (`IsFullyQualifiedName`).
fn fully_qualified(name: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let written = name.value.as_str().unwrap_or_default();
    if written.is_empty() {
        return;
    }
    let reasons = names::subdomain(written);
    if !reasons.is_empty() {
        let reasons = reasons.into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(name.path, name.value, why)));
    } else if written.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        errors.push(FieldError::invalid(name.path, name.value, detail));
    }
}

fn timeout(seconds: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if seconds
        .value
        .as_i64()
        .is_some_and(|n| !(1..=30).contains(&n))
    {
        let detail = "the timeout value must be between 1 and 30 seconds";
        errors.push(FieldError::invalid(seconds.path, seconds.value, detail));
    }
}

/// Checks the address of the webhook: a URL or a service.
fn client_config(config: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (url, service) = (config.value.get("url"), config.value.get("service"));
    match (url, service) {
        (Some(_), None) => config.child("url", |url| webhook_url(url, errors)),
        (None, Some(_)) => config.child("service", |service| webhook_service(service, errors)),
        _ => {
            let detail = "exactly one of url or service is required";
            errors.push(FieldError::required(config.path, detail));
        }
    }
}

/// Checks the client of a definition's conversion (`validateCustomResourceConversion` of
/// `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`).
pub(in crate::server) fn conversion_client(
    client: &Value,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let config = Checked {
        value: client,
        stored: None,
        path,
        object: client,
        live: None,
    };
    client_config(&config, &mut errors);
    errors
}

/// `ValidateWebhookURL`.
fn webhook_url(url: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const FORM: &str = "; desired format: https://host[/path]";
    let written = url.value.as_str().unwrap_or_default();
    if let Some(why) = unusable(written) {
        let quoted = go::quote(written);
        let detail = format!("url must be a valid URL: parse {quoted}: {why}{FORM}");
        errors.push(FieldError::required(url.path, detail));
        return;
    }
    let (rest, fragment) = written.split_once('#').unwrap_or((written, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = rest.split_once("://").unwrap_or(("", rest));
    let mut refuse = |part: &str, detail: String| {
        errors.push(FieldError::invalid(url.path, &part.into(), detail));
    };
    if scheme != "https" {
        refuse(
            scheme,
            format!("'https' is the only allowed URL scheme{FORM}"),
        );
    }
    let authority = rest.split('/').next().unwrap_or_default();
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    if host.is_empty() || scheme.is_empty() {
        refuse("", format!("host must be specified{FORM}"));
    }
    if let Some(user) = user {
        refuse(
            user,
            "user information is not permitted in the URL".to_owned(),
        );
    }
    if !fragment.is_empty() {
        refuse(
            fragment,
            "fragments are not permitted in the URL".to_owned(),
        );
    }
    if !query.is_empty() {
        refuse(
            query,
            "query parameters are not permitted in the URL".to_owned(),
        );
    }
}

/// Returns the reason why Go does not parse a URL: a control character, no scheme before the colon, or an
/// impossible host or port (`net/url`, `parse` and `parseHost`).
fn unusable(url: &str) -> Option<String> {
    if url.contains(|c: char| c.is_ascii_control()) {
        return Some("net/url: invalid control character in URL".to_owned());
    }
    if url.starts_with(':') {
        return Some("missing protocol scheme".to_owned());
    }
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    if let Some(odd) = host.chars().find(|c| " \"<>^`{}|\\".contains(*c)) {
        let odd = go::quote(&odd.to_string());
        return Some(format!("invalid character {odd} in host name"));
    }
    let after_address = host.rsplit_once(']').map_or(host, |(_, port)| port);
    let (_, port) = after_address.rsplit_once(':')?;
    (!port.chars().all(|c| c.is_ascii_digit()))
        .then(|| format!("invalid port {} after host", go::quote(&format!(":{port}"))))
}

/// `ValidateWebhookService`, which takes the name for the namespace and the namespace for the name.
fn webhook_service(service: &Checked<'_>, errors: &mut Vec<FieldError>) {
    for (missing, named) in [("namespace", "name"), ("name", "namespace")] {
        if text(service.value, missing).is_empty() {
            errors.push(FieldError::required(service.path.child(named), ""));
        }
    }
    if let Some(port) = service.value["port"].as_i64() {
        let reasons = names::port_number(port);
        if !reasons.is_empty() {
            let detail = format!("port is not valid: {}", reasons.join(","));
            let field = service.path.child("port");
            errors.push(FieldError::invalid(field, &port.into(), detail));
        }
    }
    service_path(text(service.value, "path"), service, errors);
}

/// A path of names, each a domain.
fn service_path(path: &str, service: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let field = service.path.child("path");
    let mut refuse = |detail: String| {
        errors.push(FieldError::invalid(field, &path.into(), detail));
    };
    if matches!(path, "" | "/") {
        return;
    }
    if path == "//" {
        return refuse("segment[0] may not be empty".to_owned());
    }
    if !path.starts_with('/') {
        refuse("must start with a '/'".to_owned());
    }
    // Whatever the first character is, it is passed over.
    let rest: String = path.chars().skip(1).collect();
    let rest = rest.strip_suffix('/').unwrap_or(&rest);
    for (i, segment) in rest.split('/').enumerate() {
        if segment.is_empty() {
            refuse(format!("segment[{i}] may not be empty"));
            continue;
        }
        for why in names::subdomain(segment) {
            refuse(format!("segment[{i}]: {why}"));
        }
    }
}

/// The versions of the request that the webhook understands.
fn review_versions(versions: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = versions.value.as_array().map_or(&[][..], Vec::as_slice);
    if items.is_empty() {
        let detail = "must specify one of v1, v1beta1";
        errors.push(FieldError::required(versions.path, detail));
        return;
    }
    for (i, item) in items.iter().enumerate() {
        let path = versions.path.index(i);
        if items[..i].contains(item) {
            errors.push(FieldError::invalid(path, item, "duplicate version"));
            continue;
        }
        let reasons = names::label_1035(item.as_str().unwrap_or_default()).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(path, item, why)));
    }
    if !items.iter().any(|item| item == "v1" || item == "v1beta1") {
        let detail = "must include at least one of v1, v1beta1";
        errors.push(FieldError::invalid(versions.path, versions.value, detail));
    }
}

/// `validateRuleWithOperations`.
fn webhook_rule(rule: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    let fields = [
        ("operations", "operations"),
        ("apiGroups", "API groups"),
        ("apiVersions", "API versions"),
        ("resources", "resources"),
    ];
    for (field, what) in fields {
        let items = list(rule.value, field);
        let path = rule.path.child(field);
        if items.is_empty() {
            errors.push(FieldError::required(path, ""));
        }
        if field != "resources" && items.len() > 1 && items.iter().any(|item| item == "*") {
            let detail = format!("if '*' is present, must not specify other {what}");
            errors.push(FieldError::invalid(path, &rule.value[field], detail));
        }
        for (i, item) in items.iter().enumerate() {
            let path = path.index(i);
            let known = item.as_str().is_some_and(|item| OPERATIONS.contains(&item));
            if field == "operations" && !known {
                errors.push(FieldError::not_supported(path, item, &OPERATIONS));
            } else if matches!(field, "apiVersions" | "resources") && item == "" {
                errors.push(FieldError::required(path, ""));
            }
        }
    }
    wildcards(rule, errors);
    if let Some(scope) = rule.value.get("scope").and_then(Value::as_str) {
        let supported = ["*", "Cluster", "Namespaced"];
        if !supported.contains(&scope) {
            let path = rule.path.child("scope");
            errors.push(FieldError::not_supported(path, &scope.into(), &supported));
        }
    }
}

/// A resource is not listed twice, by a `*` and by its name (`validateResources`).
fn wildcards(rule: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = list(rule.value, "resources");
    let path = rule.path.child("resources");
    let (mut all_below, mut all_above) = (Vec::new(), Vec::new());
    // Only the last one without a subresource counts.
    let mut plain = false;
    for (i, item) in items.iter().enumerate() {
        let written = item.as_str().unwrap_or_default();
        let Some((resource, subresource)) = written.split_once('/') else {
            if !written.is_empty() {
                plain = written != "*";
            }
            continue;
        };
        let mut refuse = |present: String| {
            let detail = format!("if '{present}' is present, must not specify {written}");
            errors.push(FieldError::invalid(path.index(i), item, detail));
        };
        if all_below.contains(&resource) {
            refuse(format!("{resource}/*"));
        }
        if all_above.contains(&subresource) {
            refuse(format!("*/{subresource}"));
        }
        if subresource == "*" {
            all_below.push(resource);
        }
        if resource == "*" {
            all_above.push(subresource);
        }
    }
    let has = |wanted: &str| items.iter().any(|item| item == wanted);
    let value = &rule.value["resources"];
    if items.len() > 1 && has("*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        errors.push(FieldError::invalid(path, value, detail));
    }
    if has("*") && plain {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.push(FieldError::invalid(path, value, detail));
    }
}
