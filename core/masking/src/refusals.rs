//! Values in the server's refusals of them.

use super::PrivateSpan;
use super::names::by_name;

/// The beginnings of refusals of a value, after the name of its field
/// (`k8s.io/apimachinery/pkg/util/validation/field/errors.go`, v1.36).
pub(super) const REFUSALS: [&str; 9] = [
    "Invalid value",
    "Unsupported value",
    "Duplicate value",
    "Required value",
    "Not found",
    "Forbidden",
    "Too long",
    "Too many",
    "Internal error",
];

/// Finds values that the server refuses and names, if their fields are private.
pub(super) fn find(text: &str, secret: bool, found: &mut Vec<PrivateSpan>) {
    for refusal in [
        ": Invalid value: ",
        ": Unsupported value: ",
        ": Duplicate value: ",
    ] {
        for (at, _) in text.match_indices(refusal) {
            let path = text[..at]
                .rsplit(char::is_whitespace)
                .next()
                .unwrap_or_default();
            let parts = path.split(['.', '[', ']', '"', '=', '\\']);
            let mut parts = parts.filter(|part| !part.is_empty());
            let of_data = secret && matches!(parts.clone().next(), Some("data" | "stringData"));
            let in_brackets = path.contains("=\"") || path.contains("=\\\"");
            let last = parts.clone().next_back();
            let named = match in_brackets {
                true => parts.find_map(by_name),
                false => last.and_then(by_name),
            };
            let looks_like = named.or(of_data.then_some("data of a Secret"));
            let Some(looks_like) = looks_like else {
                continue;
            };
            let begin = at + refusal.len();
            let rest = &text[begin..];
            let end = match rest.strip_prefix('"') {
                Some(inside) => {
                    let mut run = 0;
                    let close = inside.bytes().position(|byte| {
                        let closes = byte == b'"' && run % 2 == 0;
                        run = if byte == b'\\' { run + 1 } else { 0 };
                        closes
                    });
                    close.map_or(rest.len(), |close| close + 1)
                }
                None => rest.find(": ").unwrap_or(rest.len()),
            };
            let skip = usize::from(rest.starts_with('"'));
            if skip < end {
                found.push(PrivateSpan::new(begin + skip..begin + end, looks_like));
            }
        }
    }
}
