//! The operation at which a patch ends, and the words of the server's library for it.

use serde_json::Value;

/// The operation of a patch that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedOperation {
    /// Its place in the patch, from 0.
    pub position: usize,
    /// The operation: `test`, `remove` and so on; empty if the patch does not name one.
    pub op: String,
    /// The path, as it was written.
    pub path: String,
    /// For a `test` that found another value: the wanted value and the one that was there, `None`
    /// if there was none.
    pub differed: Option<(Value, Option<Value>)>,
    /// The reason, as the server's library tells it.
    pub reason: String,
}

/// The places of an operation that finds nothing.
pub(super) struct MissingPlace<'a> {
    pub(super) op: &'a str,
    pub(super) path: &'a str,
    /// `true` if the place is there in which the path would be.
    pub(super) has_parent: bool,
    pub(super) from: &'a str,
    pub(super) has_parent_of_from: bool,
}

impl MissingPlace<'_> {
    /// The reason, as the server's library tells it (`gopkg.in/evanphx/json-patch.v4`).
    pub(super) fn reason(&self) -> String {
        let Self { op, path, from, .. } = self;
        let key = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let nonexistent = |key: &str| format!("Unable to remove nonexistent key: {key}");
        let why = match (*op, self.has_parent) {
            ("add" | "remove", false) => {
                format!("{op} operation does not apply: doc is missing path: \"{path}\"")
            }
            ("remove", true) => {
                format!(
                    "error in remove for path: '{path}': {}",
                    nonexistent(&key(path))
                )
            }
            ("replace", false) => {
                format!("replace operation does not apply: doc is missing path: {path}")
            }
            ("replace", true) => {
                format!("replace operation does not apply: doc is missing key: {path}")
            }
            ("move", _) if self.has_parent_of_from => {
                let key = key(from);
                format!("error in move for path: '{key}': {}", nonexistent(&key))
            }
            ("move" | "copy", _) => {
                format!("{op} operation does not apply: doc is missing from path: {from}")
            }
            ("test", _) => format!("test operation does not apply: is missing path: {path}"),
            _ => return format!("Unexpected kind: {op}"),
        };
        format!("{why}: missing value")
    }
}
