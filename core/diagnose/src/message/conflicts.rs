//! The conflicts of an apply, as a server prints them
//! (`k8s.io/apimachinery/pkg/util/managedfields/internal/conflict.go`, v0.36).

use super::parse::{self, Said};
use super::{ManagerConflict, ObjectHint, PrintedError};

/// `1 conflict: conflict with "a": .spec.replicas`, or several with their fields in lines.
pub(super) fn apply(text: &str) -> Option<Said> {
    let (count, rest) = text.split_once(" conflict")?;
    let count: usize = count.parse().ok()?;
    let mut rest = rest.trim_start_matches('s').strip_prefix(':')?;
    let mut conflicts: Vec<ManagerConflict> = Vec::new();
    let mut found = 0;
    while found < count {
        let (mut conflict, behind) = manager(rest.trim_start())?;
        rest = behind;
        while found < count
            && let Some((field, behind)) = field(rest)
        {
            conflict.fields.push(field.to_owned());
            rest = behind;
            found += 1;
        }
        if conflict.fields.is_empty() {
            return None;
        }
        conflicts.push(conflict);
    }
    let version = conflicts
        .iter()
        .filter(|one| one.subresource.is_none())
        .find_map(|one| one.api_version.clone());
    let object = ObjectHint {
        api_version: version,
        ..ObjectHint::default()
    };
    Some((object, PrintedError::Apply(conflicts)))
}

/// Reads `conflict with "a" with subresource "status" using v1:`, and returns the text behind it.
fn manager(text: &str) -> Option<(ManagerConflict, &str)> {
    let text = text
        .strip_prefix("conflicts with ")
        .or_else(|| text.strip_prefix("conflict with "))?;
    let (manager, mut text) = parse::string(text)?;
    let mut subresource = None;
    if let Some(behind) = text.strip_prefix(" with subresource ") {
        let (name, behind) = parse::string(behind)?;
        subresource = Some(name);
        text = behind;
    }
    let mut api_version = None;
    if let Some(behind) = text.strip_prefix(" using ") {
        let end = behind.find([':', ' '])?;
        api_version = Some(behind[..end].to_owned());
        text = &behind[end..];
    }
    // Servers before v1.28 print the time too.
    if let Some(time) = text.strip_prefix(" at ") {
        text = &time[time.find(": ").or_else(|| time.find(":\n"))?..];
    }
    let conflict = ManagerConflict {
        manager,
        subresource,
        api_version,
        fields: Vec::new(),
    };
    Some((conflict, text.strip_prefix(':')?))
}

/// Reads a path on this or the next line, and returns the text behind it.
pub(super) fn field(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let text = text.strip_prefix("- ").unwrap_or(text);
    if !text.starts_with(['.', '[']) {
        return None;
    }
    let (mut quoted, mut escaped, mut selects) = (false, false, false);
    let end = text.find(|c: char| {
        // Only what selects an item has quotes. Another one ends the text that the message stands in.
        let ends = !quoted && (c.is_whitespace() || !selects && matches!(c, '"' | '\''));
        selects = !ends && (quoted || selects && c != ']' || c == '[');
        quoted ^= c == '"' && !escaped && selects;
        escaped = c == '\\' && !escaped;
        ends
    });
    let path = &text[..end.unwrap_or(text.len())];
    let path = path.trim_end_matches([',', ';', '.', ')']);
    Some(text.split_at(path.len()))
}
