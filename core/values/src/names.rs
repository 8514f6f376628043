//! The syntax of names, keys and values, and the messages for invalid ones
//! (`k8s.io/apimachinery/pkg/api/validate/content`, `pkg/util/validation`). Every function gives
//! the reasons against a value: none if it is fine.

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// A rule for names: the reasons against one.
pub type NameRule = fn(&str) -> Vec<String>;

/// A lowercase DNS subdomain (RFC 1123).
pub fn subdomain(value: &str) -> Vec<String> {
    let mut reasons = too_long(253, value);
    if !is_subdomain(value) {
        let what = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '-' or '.', and must start and end with an alphanumeric character";
        reasons.push(mismatch(what, SUBDOMAIN, &["example.com"]));
    }
    reasons
}

/// All names below a subdomain: `*.example.com`.
pub fn wildcard_subdomain(value: &str) -> Vec<String> {
    let mut reasons = too_long(253, value);
    if !value.strip_prefix("*.").is_some_and(is_subdomain) {
        let what = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS \
             subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end \
             with an alphanumeric character";
        let pattern = format!(r"\*\.{SUBDOMAIN}");
        reasons.push(mismatch(what, &pattern, &["*.example.com"]));
    }
    reasons
}

/// The reason of a condition.
pub fn condition_reason(value: &str) -> Vec<String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || "_,:".contains(c);
    let end = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = value.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && value.ends_with(end) && value.chars().all(inner) {
        return Vec::new();
    }
    let what = "a condition reason must start with alphabetic character, optionally followed by a \
         string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
    let pattern = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
    let examples = [
        "my_name",
        "MY_NAME",
        "MyName",
        "ReasonA,ReasonB",
        "ReasonA:ReasonB",
    ];
    vec![mismatch(what, pattern, &examples)]
}

/// A lowercase DNS subdomain whose labels may have underscores (RFC 1123, relaxed).
pub fn subdomain_with_underscore(value: &str) -> Vec<String> {
    const PATTERN: &str = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*";
    let mut reasons = too_long(253, value);
    let end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_label = |label: &str| {
        let label = label.strip_prefix('_').unwrap_or(label);
        let inner = |c: char| end(c) || c == '-' || c == '_';
        label.starts_with(end) && label.ends_with(end) && label.chars().all(inner)
    };
    if !value.split('.').all(is_label) {
        let what = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '_', '-' or '.', and must start and end with an alphanumeric character";
        reasons.push(mismatch(what, PATTERN, &["example.com"]));
    }
    reasons
}

/// A lowercase DNS label (RFC 1123).
pub fn label(value: &str) -> Vec<String> {
    let mut reasons = too_long(63, value);
    if is_label(value) {
        return reasons;
    }
    if is_subdomain(value) {
        reasons.push("must not contain dots".to_owned());
    } else {
        let what = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
             '-', and must start and end with an alphanumeric character";
        reasons.push(mismatch(what, LABEL, &["my-name", "123-abc"]));
    }
    reasons
}

/// A DNS label that starts with a letter (RFC 1035).
pub fn label_1035(value: &str) -> Vec<String> {
    let mut reasons = too_long(63, value);
    if !is_label(value) || value.starts_with(|c: char| c.is_ascii_digit()) {
        let what = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', \
             start with an alphabetic character, and end with an alphanumeric character";
        let pattern = "[a-z]([-a-z0-9]*[a-z0-9])?";
        reasons.push(mismatch(what, pattern, &["my-name", "abc-123"]));
    }
    reasons
}

/// The rule for all names: a segment of a URL path.
pub fn path_segment(value: &str) -> Vec<String> {
    if matches!(value, "." | "..") {
        return vec![format!("may not be '{value}'")];
    }
    ["/", "%"]
        .into_iter()
        .filter(|part| value.contains(part))
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

/// The key of a label or annotation, a finalizer, a resource: `example.com/MyName`.
pub fn qualified(value: &str) -> Vec<String> {
    let what = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
         with an alphanumeric character";
    let what = |before: &str| {
        let examples = ["MyName", "my.name", "123-abc"];
        mismatch(&format!("{before}{what}"), KEY, &examples)
    };
    let mut reasons = Vec::new();
    let parts: Vec<&str> = value.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        ["", name] => {
            reasons.push("prefix part must be non-empty".to_owned());
            *name
        }
        [prefix, name] => {
            let of_prefix = subdomain(prefix).into_iter();
            let of_prefix = of_prefix.map(|why| why.replace("253 characters", "253 bytes"));
            reasons.extend(of_prefix.map(|why| format!("prefix part {why}")));
            *name
        }
        _ => {
            let suffix =
                " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![what("a valid label key ") + suffix];
        }
    };
    if name.is_empty() {
        reasons.push("name part must be non-empty".to_owned());
    } else {
        let too_long = longer_than(63, name);
        reasons.extend(too_long.iter().map(|why| format!("name part {why}")));
    }
    if name.is_empty() || !is_key(name) {
        reasons.push(what("name part "));
    }
    reasons
}

/// The value of a label.
pub fn label_value(value: &str) -> Vec<String> {
    let mut reasons = longer_than(63, value);
    if !value.is_empty() && !is_key(value) {
        let what = "a valid label must be an empty string or consist of alphanumeric characters, \
             '-', '_' or '.', and must start and end with an alphanumeric character";
        let pattern = format!("({KEY})?");
        reasons.push(mismatch(what, &pattern, &["MyValue", "my_value", "12345"]));
    }
    reasons
}

/// A key in a ConfigMap, which becomes a file name.
pub fn config_key(value: &str) -> Vec<String> {
    let mut reasons = too_long(253, value);
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if value.is_empty() || !value.chars().all(allowed) {
        let what = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        let examples = ["key.name", "KEY_NAME", "key-name"];
        reasons.push(mismatch(what, "[-._a-zA-Z0-9]+", &examples));
    }
    match value {
        "." => reasons.push("must not be '.'".to_owned()),
        ".." => reasons.push("must not be '..'".to_owned()),
        _ if value.starts_with("..") => reasons.push("must not start with '..'".to_owned()),
        _ => {}
    }
    reasons
}

/// The name of an environment variable: anything printable but `=`
/// (`IsRelaxedEnvVarName`; the strict form went away with v1.32).
pub fn env_var(value: &str) -> Vec<String> {
    if value.is_empty() {
        return vec!["environment variable name must be non-empty".to_owned()];
    }
    if value.chars().all(|c| matches!(c, ' '..='~') && c != '=') {
        return Vec::new();
    }
    let what = "a valid environment variable name must consist only of printable ASCII characters \
         other than '='";
    vec![what.to_owned()]
}

/// The name of a container's port (`IsValidPortName`).
pub fn port_name(value: &str) -> Vec<String> {
    const MAX_LENGTH: usize = 15;
    let mut reasons = Vec::new();
    if value.len() > MAX_LENGTH {
        reasons.push(format!("must be no more than {MAX_LENGTH} characters"));
    }
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let mut unless = |fine: bool, why: &str| {
        if !fine {
            reasons.push(why.to_owned());
        }
    };
    unless(
        !value.is_empty() && value.chars().all(allowed),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    unless(
        value.chars().any(|c| c.is_ascii_lowercase()),
        "must contain at least one letter (a-z)",
    );
    unless(
        !value.contains("--"),
        "must not contain consecutive hyphens",
    );
    unless(
        !value.starts_with('-') && !value.ends_with('-'),
        "must not begin or end with a hyphen",
    );
    reasons
}

/// The name of an HTTP header.
pub fn http_header(value: &str) -> Vec<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !value.is_empty() && value.chars().all(allowed) {
        return Vec::new();
    }
    let what = "a valid HTTP header must consist of alphanumeric characters or '-'";
    vec![mismatch(what, "[-A-Za-z0-9]+", &["X-Header-Name"])]
}

/// A port number.
pub fn port_number(value: i64) -> Vec<String> {
    in_range(value, 1, 65_535)
}

/// A number between two, both included.
pub fn in_range(value: i64, least: i64, most: i64) -> Vec<String> {
    if (least..=most).contains(&value) {
        Vec::new()
    } else {
        vec![format!("must be between {least} and {most}, inclusive")]
    }
}

/// `MaxLenError` of `pkg/util/validation`; that of `content`, for keys and values of labels, says bytes.
fn too_long(most: usize, value: &str) -> Vec<String> {
    let reasons = longer_than(most, value).into_iter();
    reasons
        .map(|why| why.replace("bytes", "characters"))
        .collect()
}

fn longer_than(most: usize, value: &str) -> Vec<String> {
    if value.len() > most {
        vec![format!("must be no more than {most} bytes")]
    } else {
        Vec::new()
    }
}

/// Checks a name as languages write it (`IsCIdentifier`).
pub fn identifier(value: &str) -> Vec<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let starts_fine = !value.starts_with(|first: char| first.is_ascii_digit());
    if !value.is_empty() && starts_fine && value.bytes().all(allowed) {
        return Vec::new();
    }
    let what = "a valid C identifier must start with alphabetic character or '_', followed by a \
                string of alphanumeric characters or '_'";
    let examples = ["my_name", "MY_NAME", "MyName"];
    vec![mismatch(what, "[A-Za-z_][A-Za-z0-9_]*", &examples)]
}

/// Says the form that a value must have, and the pattern that it was tried against; two examples and
/// more come out with the upstream's comma before `or`.
fn mismatch(what: &str, pattern: &str, examples: &[&str]) -> String {
    let quoted: Vec<String> = examples.iter().map(|e| format!("'{e}', ")).collect();
    let examples = quoted.join(" or ");
    format!("{what} (e.g. {examples}regex used for validation is '{pattern}')")
}

fn is_label(value: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    !value.is_empty()
        && value.bytes().all(allowed)
        && !value.starts_with('-')
        && !value.ends_with('-')
}

fn is_subdomain(value: &str) -> bool {
    value.split('.').all(is_label)
}

fn is_key(value: &str) -> bool {
    let end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    value.chars().all(allowed) && end(value.chars().next()) && end(value.chars().last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_api_knows_are_fine() {
        assert!(subdomain("a.b-c.0").is_empty());
        assert!(label("0-a").is_empty());
        assert!(label_1035("a-0").is_empty());
        assert!(qualified("example.com/My_name.1").is_empty());
        assert!(label_value("").is_empty() && label_value("v1.0_x").is_empty());
        assert!(config_key(".hidden").is_empty());
        assert!(env_var("1 my-var").is_empty());
        assert!(port_name("http2").is_empty());
    }

    #[test]
    fn each_reason_against_a_name_is_given() {
        assert_eq!(label("a.b"), ["must not contain dots"]);
        assert_eq!(label_1035("0a").len(), 1);
        assert_eq!(
            qualified(""),
            [
                "name part must be non-empty",
                "name part must consist of alphanumeric characters, '-', '_' or '.', and must start \
                 and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', \
                 regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ]
        );
        assert_eq!(qualified("/x"), ["prefix part must be non-empty"]);
        assert!(qualified("a/b/c")[0].ends_with("(e.g. 'example.com/MyName')"));
        assert_eq!(config_key(".."), ["must not be '..'"]);
        assert_eq!(config_key("..a"), ["must not start with '..'"]);
        assert_eq!(port_name("-80--").len(), 3);
        assert_eq!(
            subdomain(&"a".repeat(254)),
            ["must be no more than 253 characters"]
        );
    }
}
