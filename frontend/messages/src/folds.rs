//! Sentences about the parts that a row of a card folds away.

use optimist_client::Fold;

use crate::en;

/// The number of folded members that are named.
const NAMED: usize = 2;

/// Names the parts that a row folds and that are no line of the object: `6 more (labels,
/// managedFields, …)`.
pub fn folded(fold: &Fold) -> Option<String> {
    match fold {
        Fold::None | Fold::Value { .. } => None,
        Fold::Defaults(count) => Some(en::folded_defaults(count)),
        Fold::Quiet(names) => {
            // Those that people look for come first.
            let asked = |name: &&String| matches!(name.as_str(), "labels" | "managedFields");
            let (first, rest): (Vec<&String>, Vec<&String>) = names.iter().partition(asked);
            let all = first.into_iter().chain(rest).map(String::as_str);
            let mut named: Vec<&str> = all.take(NAMED).collect();
            if names.len() > NAMED {
                named.push("…");
            }
            Some(en::folded_more(&names.len(), &named.join(", ")))
        }
    }
}

/// Says the server's value at a place where a copy has another one; `None`: nothing.
pub fn now(value: Option<&str>) -> String {
    match value {
        Some(value) => en::line_now(&value),
        None => en::line_now_removed(),
    }
}
