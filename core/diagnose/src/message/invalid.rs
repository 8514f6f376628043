//! The message about an invalid object.

use super::PrintedError;
use super::parse::{CAUSE, INVALID, Said, named, string};

/// `Deployment.apps "web" is invalid: spec.selector: Invalid value: {}: field is immutable`. Of several
/// causes the first is read: they are in brackets, or each in a line of its own where kubectl prints them
/// (`k8s.io/kubectl/pkg/cmd/util/helpers.go MultilineError`, v0.36). A policy names no field.
pub(super) fn invalid(text: &str) -> Option<Said> {
    let (of, text) = text.split_once(' ')?;
    let (name, text) = string(text)?;
    let text = text.strip_prefix(INVALID)?;
    let (line, behind) = text.split_once('\n').unwrap_or((text, ""));
    let line = match line.trim() {
        "" => behind.strip_prefix(CAUSE)?.lines().next()?,
        _ => line.strip_prefix(' ')?,
    };
    if let Some(reason) = line.strip_prefix(": ") {
        let reason = reason.trim_end().to_owned();
        return Some((named(of, &name), PrintedError::Forbidden { reason }));
    }
    let line = line.split(" && ").next().unwrap_or(line).trim_end();
    let line = match line.strip_prefix('[') {
        Some(several) => several.strip_suffix(']').unwrap_or(several),
        None => line,
    };
    let (field, problem) = line.split_once(": ")?;
    let is_field = |c: char| c.is_ascii_alphanumeric() || ".[]-_/\"".contains(c);
    if field.is_empty() || !field.chars().all(is_field) {
        return None;
    }
    // Servers print the missing version as `0`, older ones as `0x0` or `""`.
    let missing = problem.starts_with("Invalid value: ")
        && problem.contains(": must be specified for an update");
    let error = match field {
        "metadata.resourceVersion" if missing => PrintedError::VersionMissing,
        _ => PrintedError::Invalid {
            field: field.to_owned(),
            problem: without_value(problem).to_owned(),
        },
    };
    Some((named(of, &name), error))
}

/// Returns the problem without the value that is printed before it: it may be private, and long.
fn without_value(problem: &str) -> &str {
    let immutable = "field is immutable";
    if let Some(at) = problem.find(immutable) {
        return &problem[at..at + immutable.len()];
    }
    for kind in ["Invalid value", "Unsupported value", "Duplicate value"] {
        if let Some(value) = problem.strip_prefix(kind) {
            let value = value.strip_prefix(": ").unwrap_or(value);
            return behind_value(value).unwrap_or(kind);
        }
    }
    problem
}

/// Returns the text behind a value and its colon. Values are in quotes, JSON, or as Go's `%#v` prints them
/// (`k8s.io/apimachinery/pkg/util/validation/field/errors.go ErrorBody`, v1.36 and before).
fn behind_value(text: &str) -> Option<&str> {
    let (mut open, mut quoted, mut escaped) = (0_i32, false, false);
    let colon = text.char_indices().find(|(at, c)| {
        let literal = escaped;
        escaped = quoted && !literal && *c == '\\';
        match c {
            _ if literal => {}
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '[' | '(' => open += 1,
            '}' | ']' | ')' => open -= 1,
            ':' => return open <= 0 && text[*at..].starts_with(": "),
            _ => {}
        }
        false
    });
    Some(&text[colon?.0 + 2..])
}
