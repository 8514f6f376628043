//! The values of scalars.

use saphyr_parser::{ScalarStyle, Tag};
use serde_json::Number;

use crate::go;
use crate::json::Node;

/// Reads a scalar by its style and its tag.
///
/// # Errors
/// If its text is not of the type that its tag names, in go-yaml's words.
pub(super) fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Node, String> {
    let tag = tag.map(|tag| [tag.handle.as_str(), tag.suffix.as_str()].concat());
    let name = tag
        .as_deref()
        .map(|tag| tag.strip_prefix(CORE_SCHEMA).unwrap_or(""));
    match name {
        None if style == ScalarStyle::Plain => Ok(resolve(text)),
        // The form of the text does not count where a tag names the type.
        Some("timestamp") => Ok(resolve(text)),
        Some(wanted @ ("bool" | "int" | "float" | "null")) => {
            let found = resolve(text);
            match type_of(&found, text) {
                ty if ty == wanted || ty == "int" && wanted == "float" => Ok(found),
                ty => Err(format!("cannot decode !!{ty} `{text}` as a !!{wanted}")),
            }
        }
        Some("binary") => {
            let bytes = go::base64::decoded(text);
            let bytes = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            Ok(Node::String(bytes.unwrap_or_else(|| text.to_owned())))
        }
        _ => Ok(Node::String(text.to_owned())),
    }
}

/// The type to which a text was resolved (`resolve.go`).
fn type_of(found: &Node, text: &str) -> &'static str {
    match found {
        Node::Null => "null",
        Node::Bool(_) => "bool",
        Node::Number(_) if integer(text).is_some() => "int",
        Node::Number(_) => "float",
        _ if endless(text).is_some() => "float",
        _ => "str",
    }
}

/// A float that JSON does not have, as Go names it.
pub(super) fn endless(text: &str) -> Option<&'static str> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some("+Inf"),
        "-.inf" | "-.Inf" | "-.INF" => Some("-Inf"),
        ".nan" | ".NaN" | ".NAN" => Some("NaN"),
        _ => None,
    }
}

/// The beginning of the tags that YAML itself has.
const CORE_SCHEMA: &str = "tag:yaml.org,2002:";

/// A value as it is once it was written as JSON: `2.0` is written as `2`, which is an integer when it
/// is read again (`sigs.k8s.io/yaml` converts to JSON first).
pub(super) fn as_in_json(node: Node) -> Node {
    match node {
        Node::Number(number) => Node::Number(go::integer(&number).unwrap_or(number)),
        Node::Array(items) => Node::Array(items.into_iter().map(as_in_json).collect()),
        Node::Object(members) => {
            let members = members.into_iter();
            Node::Object(
                members
                    .map(|(key, value)| (key, as_in_json(value)))
                    .collect(),
            )
        }
        other => other,
    }
}

/// Resolves a plain scalar by the rules of YAML 1.1 (`go.yaml.in/yaml/v2`, `resolve.go`).
pub fn resolve(text: &str) -> Node {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Node::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Node::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Node::Bool(false);
        }
        _ => {}
    }
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    if !numeric {
        return Node::String(text.to_owned());
    }
    integer(text)
        .or_else(|| float(text))
        .map_or_else(|| Node::String(text.to_owned()), Node::Number)
}

fn integer(text: &str) -> Option<Number> {
    let plain = text.replace('_', "");
    let (negative, digits) = match plain.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b', ..] => (2, &digits[2..]),
        [b'0', b'o', ..] => (8, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    let value = if negative { -value } else { value };
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(value), _) => Some(value.into()),
        (_, Ok(value)) => Some(value.into()),
        _ => None,
    }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, as go-yaml has it (`resolve.go`), read as
/// JSON: that needs a digit on both sides of the point, and no others in front.
fn float(text: &str) -> Option<Number> {
    let plain = text.replace('_', "");
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.strip_prefix('+').unwrap_or(exponent)),
        None => (digits, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
    let power = exponent.strip_prefix('-').unwrap_or(exponent);
    let shaped = all_digits(whole) && all_digits(fraction) && all_digits(power);
    if !shaped || power.is_empty() || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    // The nearest number: that of serde_json can be its neighbour.
    let number: f64 = format!("{sign}{whole}.{fraction}e{exponent}")
        .parse()
        .ok()?;
    Number::from_f64(number)
}
