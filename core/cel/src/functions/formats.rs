//! Formats by name (`k8s.io/apiserver/pkg/cel/library/format.go`, v1.36).

use optimist_values::formats::matches;
use optimist_values::names;

/// Each name, and how long its regular expression counts as (`MaxRegexSize`).
const FORMATS: [(&str, u64); 13] = [
    ("dns1123Label", 30),
    ("dns1123Subdomain", 60),
    ("dns1035Label", 30),
    ("qualifiedName", 60),
    ("dns1123LabelPrefix", 30),
    ("dns1123SubdomainPrefix", 60),
    ("dns1035LabelPrefix", 30),
    ("labelValue", 40),
    ("uri", 1141),
    ("uuid", 90),
    ("byte", 84),
    ("date", 143),
    ("datetime", 143),
];

/// The format of a name.
pub(super) fn named(name: &str) -> Option<&'static str> {
    let found = FORMATS.iter().find(|(known, _)| *known == name);
    found.map(|(name, _)| *name)
}

/// Returns the length that the cost assumes for the format's regular expression.
pub(crate) fn cost(name: &str) -> u64 {
    let found = FORMATS.iter().find(|(known, _)| *known == name);
    found.map_or(1, |(_, size)| *size)
}

/// Returns the problems of a text that should be of a format.
pub(super) fn problems(name: &str, text: &str) -> Vec<String> {
    let unless = |format: &str, problem: &str| match matches(format, text) {
        Some(false) => vec![problem.to_owned()],
        _ => Vec::new(),
    };
    match name {
        "dns1123Label" => names::label(text),
        "dns1123LabelPrefix" => names::label(&prefix(text)),
        "dns1123Subdomain" => names::subdomain(text),
        "dns1123SubdomainPrefix" => names::subdomain(&prefix(text)),
        "dns1035Label" => names::label_1035(text),
        "dns1035LabelPrefix" => names::label_1035(&prefix(text)),
        "qualifiedName" => names::qualified(text),
        "labelValue" => names::label_value(text),
        "uri" => match matches("uri", text) {
            Some(true) => Vec::new(),
            _ if text.is_empty() => vec!["parse \"\": empty url".to_owned()],
            _ => {
                let shown = optimist_encoding::go::quote(text);
                vec![format!("parse {shown}: invalid URI for request")]
            }
        },
        "uuid" => unless("uuid", "does not match the UUID format"),
        "byte" => unless("byte", "invalid base64"),
        "date" => unless("date", "invalid date"),
        "datetime" => unless("datetime", "invalid datetime"),
        _ => Vec::new(),
    }
}

/// The beginning of a name may end with a dash (`maskTrailingDash`).
fn prefix(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let mut chars = rest.chars();
            chars.next_back();
            format!("{}a", chars.as_str())
        }
        _ => text.to_owned(),
    }
}
