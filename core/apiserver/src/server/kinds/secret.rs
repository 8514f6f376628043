//! Checks of a Secret besides its rows in `kinds.checks` (`ValidateSecret` and
//! `ValidateSecretUpdate` of `pkg/apis/core/validation`), and its warnings
//! (`pkg/registry/core/secret/strategy.go`).

use serde_json::Value;

use super::certificates::{decoded, malformed_certificate};
use super::checks::{Checked, FieldCheck};
use super::config_map::{self, MAX_DATA};
use crate::go::base64;
use crate::go::pem::{self, PemBlock};
use crate::json;
use crate::object::{JsonMap, text};
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("secret_immutable", secret_immutable),
    ("secret_data", secret_data),
];

const SERVICE_ACCOUNT_TOKEN: &str = "kubernetes.io/service-account-token";
const SERVICE_ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const TLS: &str = "kubernetes.io/tls";
/// The labels of blocks of PEM: of a certificate, and the end of that of a key.
const CERTIFICATE: &str = "CERTIFICATE";
const PRIVATE_KEY: &str = "PRIVATE KEY";

/// The types that need keys. Each list is needed in full, or one key of it (`Any`).
const KEYS: [(&str, NeededKeys); 5] = [
    ("kubernetes.io/dockercfg", NeededKeys::Json(".dockercfg")),
    (
        "kubernetes.io/dockerconfigjson",
        NeededKeys::Json(".dockerconfigjson"),
    ),
    (
        "kubernetes.io/basic-auth",
        NeededKeys::Any(&["username", "password"]),
    ),
    (
        "kubernetes.io/ssh-auth",
        NeededKeys::Filled("ssh-privatekey"),
    ),
    (TLS, NeededKeys::All(&["tls.crt", "tls.key"])),
];

/// The keys that a type of secret needs.
#[derive(Clone, Copy)]
enum NeededKeys {
    /// This one, with a JSON object.
    Json(&'static str),
    /// At least one of these.
    Any(&'static [&'static str]),
    /// All of these.
    All(&'static [&'static str]),
    /// This one, and not empty.
    Filled(&'static str),
}

/// The data of an immutable secret stays.
fn secret_immutable(secret: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if let Some(live) = secret.live {
        let fields = &["immutable", "data"];
        errors.extend(config_map::immutable(secret.object, live, fields, ""));
    }
}

/// Checks the keys and the size of the data, and the keys that the type needs.
fn secret_data(secret: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let data = secret.object["data"].as_object();
    let mut size = 0;
    for (key, value) in data.into_iter().flat_map(JsonMap::iter) {
        errors.extend(config_map::key_errors("data", key));
        size += config_map::decoded_length(value);
    }
    if size > MAX_DATA {
        errors.push(FieldError::too_long("data", MAX_DATA));
    }
    let of_type = text(secret.object, "type");
    if of_type == SERVICE_ACCOUNT_TOKEN {
        let annotations = &secret.object["metadata"]["annotations"];
        if text(annotations, SERVICE_ACCOUNT_NAME).is_empty() {
            let field = format!("metadata.annotations[{SERVICE_ACCOUNT_NAME}]");
            errors.push(FieldError::required(field, ""));
        }
    }
    if let Some((_, needed)) = KEYS.iter().find(|(name, _)| *name == of_type) {
        needed_keys(*needed, data, errors);
    }
}

fn needed_keys(needed: NeededKeys, data: Option<&JsonMap>, errors: &mut Vec<FieldError>) {
    let has = |key: &&str| data.is_some_and(|data| data.contains_key(*key));
    let missing: Vec<&str> = match needed {
        NeededKeys::Any(keys) if keys.iter().any(has) => Vec::new(),
        NeededKeys::Any(keys) => keys.to_vec(),
        NeededKeys::All(keys) => keys.iter().copied().filter(|key| !has(key)).collect(),
        NeededKeys::Filled(key) => {
            let is_filled = data.is_some_and(|data| data.get(key).is_some_and(|it| it != ""));
            [key].into_iter().filter(|_| !is_filled).collect()
        }
        NeededKeys::Json(key) => [key].into_iter().filter(|key| !has(key)).collect(),
    };
    let fields = missing.iter().map(|key| format!("data[{key}]"));
    errors.extend(fields.map(|field| FieldError::required(field, "")));
    if let NeededKeys::Json(key) = needed
        && let Some(Value::String(encoded)) = data.and_then(|data| data.get(key))
        && let Some(message) = json::object_error(&base64::bytes(encoded))
    {
        let hidden = Value::from("<secret contents redacted>");
        errors.push(FieldError::invalid(
            format!("data[{key}]"),
            &hidden,
            message,
        ));
    }
}

/// Warns of a certificate and a key that `tls.X509KeyPair` cannot read (`warningsForSecret`). Of their content only the
/// outer form of the certificate is checked, and not whether they fit.
pub(super) fn warn(secret: &Value, _: Option<&Value>) -> Vec<String> {
    if text(secret, "type") != TLS {
        return Vec::new();
    }
    let [certificate, key] = ["tls.crt", "tls.key"].map(|key| decoded(&secret["data"][key]));
    pair_problem(&certificate, &key).into_iter().collect()
}

fn pair_problem(certificate: &str, key: &str) -> Option<String> {
    let blocks = pem::blocks(certificate);
    let Some(first) = blocks.iter().find(|block| block.label == CERTIFICATE) else {
        return Some(match labels(&blocks).as_slice() {
            [label] if label.ends_with(PRIVATE_KEY) => {
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM \
                 inputs may have been switched"
                    .to_owned()
            }
            labels => not_found("\"CERTIFICATE\" PEM block", "certificate", labels),
        });
    };
    let keys = labels(&pem::blocks(key));
    let is_key = |label: &&str| *label == PRIVATE_KEY || label.ends_with(" PRIVATE KEY");
    if keys.iter().any(is_key) {
        return malformed_certificate(&first.bytes).map(str::to_owned);
    }
    Some(match keys.as_slice() {
        [CERTIFICATE] => {
            "tls: found a certificate rather than a key in the PEM for the private key".to_owned()
        }
        labels => not_found(
            "PEM block with type ending in \"PRIVATE KEY\"",
            "key",
            labels,
        ),
    })
}

fn labels<'a>(blocks: &[PemBlock<'a>]) -> Vec<&'a str> {
    blocks.iter().map(|block| block.label).collect()
}

/// Says that no block of an input is a wanted one.
fn not_found(wanted: &str, input: &str, labels: &[&str]) -> String {
    if labels.is_empty() {
        return format!("tls: failed to find any PEM data in {input} input");
    }
    format!(
        "tls: failed to find {wanted} in {input} input after skipping PEM blocks of the following types: [{}]",
        labels.join(" ")
    )
}
