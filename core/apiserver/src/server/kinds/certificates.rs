//! Checks of a CertificateSigningRequest (`pkg/apis/certificates/validation/validation.go`), and
//! the rules of its subresources (`pkg/registry/certificates/certificates/strategy.go`).

use serde_json::{Value, json};

use super::checks::{self, Checked, FieldCheck};
use super::label_selector::list;
use super::names::{self, NameRule};
use super::{EmptiedBytes, Rules, StatusRules};
use crate::field::ErrorPath;
use crate::go::{self, base64, pem};
use crate::object::text;
use crate::server::user;
use crate::status::{FieldError, Problem};

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("certificate_request", request),
    ("usages", usages),
    ("signer", signer),
    ("expiration", expiration),
    ("csr_conditions", conditions),
    ("certificate", certificate),
    ("csr_conditions_kept", conditions_kept),
    ("csr_approval_kept", approval_kept),
    ("certificate_kept", certificate_kept),
    ("certificate_not_set", certificate_not_set),
];

/// Adds the rules of the strategies of a request and of its subresources.
pub(super) fn add_rules(rules: &mut Rules) {
    rules.restores = true;
    rules.emptied_bytes = Some(&EMPTIED);
    rules.prepare = prepare;
    rules.status = STATUS;
    rules.others = &[("approval", APPROVAL)];
    rules.timed = Some(note_times);
}

/// The signer may empty the certificate.
const EMPTIED: EmptiedBytes = EmptiedBytes {
    written_by: "status",
    parent: "/status",
    field: "certificate",
};

/// The rules by which `/status` writes a request.
const STATUS: StatusRules = StatusRules {
    prepare: |csr, live| {
        csr["spec"] = live["spec"].clone();
        // The conditions about the approval that are there already stay as they are.
        let before = list(&live["status"], "conditions").to_vec();
        if let Some(Value::Array(conditions)) = csr.pointer_mut("/status/conditions") {
            for condition in conditions {
                let kind = text(condition, "type").to_owned();
                if let Some(old) = before.iter().find(|old| text(old, "type") == kind)
                    && matches!(kind.as_str(), "Approved" | "Denied")
                {
                    *condition = old.clone();
                }
            }
        }
    },
    validate: |csr, live| checks::validate_through("status", csr, live).unwrap_or_default(),
};

/// The rules by which `/approval` writes it.
const APPROVAL: StatusRules = StatusRules {
    prepare: |csr, live| {
        csr["spec"] = live["spec"].clone();
        let conditions = csr["status"].get("conditions").cloned();
        csr["status"] = live["status"].clone();
        match (conditions, &mut csr["status"]) {
            (Some(conditions), status) => status["conditions"] = conditions,
            (None, Value::Object(status)) => {
                status.remove("conditions");
            }
            _ => {}
        }
    },
    validate: |csr, live| checks::validate_through("approval", csr, live).unwrap_or_default(),
};

/// A new request is of the user who sends it; nothing of the main resource changes later.
fn prepare(csr: &mut Value, live: Option<&Value>) {
    if let Some(live) = live {
        csr["spec"] = live["spec"].clone();
        csr["status"] = live["status"].clone();
        return;
    }
    let spec = &mut csr["spec"];
    spec["username"] = user::NAME.into();
    spec["uid"] = user::NAME.into();
    spec["groups"] = json!(user::GROUPS);
    if let Value::Object(spec) = spec {
        spec.remove("extra");
    }
    csr["status"] = json!({});
}

/// Sets the times of changed conditions (`populateConditionTimestamps`).
fn note_times(csr: &mut Value, live: &Value, now: &str) {
    let before = list(&live["status"], "conditions");
    let Some(Value::Array(conditions)) = csr["status"].get_mut("conditions") else {
        return;
    };
    for condition in conditions {
        let same = |old: &&Value| {
            ["type", "status"]
                .iter()
                .all(|field| text(old, field) == text(condition, field))
        };
        let unset = |condition: &Value, field: &str| condition[field].is_null();
        if unset(condition, "lastTransitionTime") {
            let old = before.iter().find(same);
            let old = old.map(|old| old["lastTransitionTime"].clone());
            let since = old.filter(|time| !time.is_null());
            condition["lastTransitionTime"] = since.unwrap_or_else(|| now.into());
        }
        if unset(condition, "lastUpdateTime") {
            condition["lastUpdateTime"] = now.into();
        }
    }
}

/// The text that a field has as bytes.
pub(super) fn decoded(encoded: &Value) -> String {
    let bytes = base64::bytes(encoded.as_str().unwrap_or_default());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Splits off the first element of some bytes of ASN.1: its tag, its content, and the bytes after
/// it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        short @ 0..=0x7f => (usize::from(*short), rest),
        long => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            let fold = |sum: usize, digit: &u8| sum.saturating_mul(256) + usize::from(*digit);
            (digits.iter().fold(0, fold), rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// Returns why bytes are no certificate by their outer form (`crypto/x509` parseCertificate).
pub(super) fn malformed_certificate(bytes: &[u8]) -> Option<&'static str> {
    let Some((SEQUENCE, content, _)) = element(bytes) else {
        return Some("x509: malformed certificate");
    };
    match element(content) {
        Some((SEQUENCE, ..)) => None,
        _ => Some("x509: malformed tbs certificate"),
    }
}

/// Returns whether bytes are one sequence of ASN.1 that begins with another one.
fn is_sequence(bytes: &[u8]) -> bool {
    let element = element(bytes);
    element.is_some_and(|(tag, content, rest)| {
        tag == SEQUENCE && rest.is_empty() && content.first() == Some(&SEQUENCE)
    })
}

const SEQUENCE: u8 = 0x30;
/// The ASN.1 identifier of the organization of a subject (2.5.4.10).
const ORGANIZATION: &[u8] = &[0x55, 4, 10];

/// Returns whether a request for a certificate names an organization of its subject.
pub(in crate::server) fn is_for_organization(csr: &Value, name: &str) -> bool {
    let request = decoded(&csr["spec"]["request"]);
    let blocks = pem::blocks(&request);
    let subject = blocks.first().and_then(|block| {
        let (_, request, _) = element(&block.bytes)?;
        let (_, info, _) = element(request)?;
        let (_, _version, info) = element(info)?;
        Some(element(info)?.1)
    });
    let mut parts = subject.unwrap_or_default();
    // A set for each part of the subject; in it, sequences of a name and a text
    while let Some((_, mut set, rest)) = element(parts) {
        parts = rest;
        while let Some((_, pair, rest)) = element(set) {
            set = rest;
            if let Some((_, ORGANIZATION, text)) = element(pair)
                && element(text).is_some_and(|(_, text, _)| text == name.as_bytes())
            {
                return true;
            }
        }
    }
    false
}

/// The request for a certificate is one in PEM (`validateCSR`).
fn request(request: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let text = decoded(request.value);
    let blocks = pem::blocks(&text);
    let detail = match blocks.first() {
        Some(block) if block.label == "CERTIFICATE REQUEST" => {
            if is_sequence(&block.bytes) {
                return;
            }
            "asn1: structure error: tags don't match"
        }
        _ => "PEM block type must be CERTIFICATE REQUEST",
    };
    // Go writes bytes into JSON as base64, as which they are here (`ErrorBody`).
    errors.push(FieldError::invalid(request.path, request.value, detail));
}

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

fn usages(usages: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = usages.value.as_array().map_or(&[][..], Vec::as_slice);
    if items.is_empty() {
        errors.push(FieldError::required(usages.path, ""));
    }
    for (i, usage) in items.iter().enumerate() {
        if !USAGES.contains(&usage.as_str().unwrap_or_default()) {
            let path = usages.path.index(i);
            errors.push(FieldError::not_supported(path, usage, &USAGES));
        }
    }
    for (i, usage) in items.iter().enumerate() {
        if items[..i].contains(usage) {
            errors.push(FieldError::duplicate(usages.path.index(i), usage));
        }
    }
}

/// `ValidateSignerName`: a domain, and a path below it.
fn signer(signer: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let name = signer.value.as_str().unwrap_or_default();
    let mut refuse = |value: &str, detail: String| {
        errors.push(FieldError::invalid(signer.path, &value.into(), detail));
    };
    if name == "kubernetes.io/legacy-unknown" {
        let detail = "the legacy signerName is not allowed via this API version";
        return refuse(name, detail.to_owned());
    }
    if name.is_empty() {
        return errors.push(FieldError::required(signer.path, ""));
    }
    let Some((domain, path)) = name.split_once('/').filter(|(_, rest)| !rest.contains('/')) else {
        let detail =
            "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return refuse(name, detail.to_owned());
    };
    if domain.len() > 253 {
        errors.push(FieldError::too_long(signer.path, 253));
    }
    wrong_label(signer.path, domain, names::label, errors);
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.push(FieldError::invalid(signer.path, &domain.into(), detail));
    }
    wrong_label(signer.path, path, names::subdomain, errors);
    const MOST: usize = 253 + 253 + 63 + 2;
    if name.len() > MOST {
        errors.push(FieldError::too_long(signer.path, MOST));
    }
}

/// Adds the errors of the first label of a dotted name that does not follow a rule.
fn wrong_label(path: &ErrorPath<'_>, dotted: &str, rule: NameRule, errors: &mut Vec<FieldError>) {
    let of_label = |label| (label, rule(label));
    let mut labels = dotted.split('.').map(of_label);
    if let Some((label, reasons)) = labels.find(|(_, reasons)| !reasons.is_empty()) {
        let label = go::quote(label);
        errors.extend(reasons.into_iter().map(|why| {
            let detail = format!("validating label {label}: {why}");
            FieldError::invalid(path, &dotted.into(), detail)
        }));
    }
}

fn expiration(seconds: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if seconds.value.as_i64().is_some_and(|seconds| seconds < 600) {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.push(FieldError::invalid(seconds.path, seconds.value, detail));
    }
}

/// `validateConditions`.
fn conditions(conditions: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = conditions.value.as_array().map_or(&[][..], Vec::as_slice);
    let kind = |condition: &Value| text(condition, "type").to_owned();
    for (i, condition) in items.iter().enumerate() {
        let path = conditions.path.index(i);
        if kind(condition).is_empty() {
            errors.push(FieldError::required(path.child("type"), ""));
        }
        let supported: &[&str] = match kind(condition).as_str() {
            "Approved" | "Denied" | "Failed" => &["True"],
            _ => &["False", "True", "Unknown"],
        };
        let (field, status) = (path.child("status"), text(condition, "status"));
        if status.is_empty() {
            errors.push(FieldError::required(field, ""));
        } else if !supported.contains(&status) {
            errors.push(FieldError::not_supported(field, &status.into(), supported));
        }
        let other = match kind(condition).as_str() {
            "Approved" => "Denied",
            "Denied" => "Approved",
            _ => "",
        };
        let earlier = &items[..i];
        if !other.is_empty() && earlier.iter().any(|it| kind(it) == other) {
            let detail = "Approved and Denied conditions are mutually exclusive";
            let value = kind(condition).into();
            errors.push(FieldError::invalid(conditions.path, &value, detail));
        }
        if earlier.iter().any(|it| kind(it) == kind(condition)) {
            let value = kind(condition).into();
            errors.push(FieldError::duplicate(path.child("type"), &value));
        }
    }
}

/// `validateCertificate`; of a certificate itself only the outer form is checked.
fn certificate(certificate: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if certificate.is_zero() || certificate.before() == Some(certificate.value) {
        return;
    }
    let text = decoded(certificate.value);
    let blocks = pem::blocks(&text);
    let mut problems = blocks.iter().filter_map(|block| {
        if block.label != "CERTIFICATE" {
            let label = go::quote(block.label);
            return Some(format!(
                "only CERTIFICATE PEM blocks are allowed, found {label}"
            ));
        }
        if block.has_headers {
            return Some("no PEM block headers are permitted".to_owned());
        }
        (!is_sequence(&block.bytes)).then(|| "x509: malformed certificate".to_owned())
    });
    let none = || {
        let detail = "must contain at least one CERTIFICATE PEM block";
        blocks.is_empty().then(|| detail.to_owned())
    };
    if let Some(detail) = problems.next().or_else(none) {
        let shown = "<certificate data>".into();
        errors.push(FieldError::invalid(certificate.path, &shown, detail));
    }
}

fn of_kind<'a>(object: &'a Value, kind: &str) -> Vec<&'a Value> {
    let conditions = list(&object["status"], "conditions").iter();
    conditions.filter(|it| text(it, "type") == kind).collect()
}

/// Conditions about the outcome are not removed (`validateCertificateSigningRequestUpdate`).
fn conditions_kept(csr: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let Some(live) = csr.live else {
        return;
    };
    for kind in ["Approved", "Denied", "Failed"] {
        if of_kind(csr.object, kind).len() < of_kind(live, kind).len() {
            refuse(kind, "remove", errors);
        }
    }
}

/// Only `/approval` approves and denies.
fn approval_kept(csr: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let Some(live) = csr.live else {
        return;
    };
    for kind in ["Approved", "Denied"] {
        let (new, old) = (of_kind(csr.object, kind), of_kind(live, kind));
        if new.len() > old.len() {
            refuse(kind, "add", errors);
        } else if new.len() == old.len() && new != old {
            refuse(kind, "modify", errors);
        }
    }
}

fn refuse(kind: &str, what: &str, errors: &mut Vec<FieldError>) {
    let path = ErrorPath::new("status.conditions");
    let detail = format!(
        "updates may not {what} a condition of type {}",
        go::quote(kind)
    );
    errors.push(FieldError::without_value(Problem::Forbidden, path, detail));
}

fn certificate_kept(certificate: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let before = certificate.before();
    if before.is_some_and(|before| !before.is_null() && before != "" && before != certificate.value)
    {
        let detail = "updates may not modify existing certificate content";
        errors.push(FieldError::forbidden(certificate.path, detail));
    }
}

fn certificate_not_set(certificate: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if certificate
        .before()
        .is_some_and(|before| before != certificate.value)
    {
        let detail = "updates may not set certificate content";
        errors.push(FieldError::forbidden(certificate.path, detail));
    }
}
