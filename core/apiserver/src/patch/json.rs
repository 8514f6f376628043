//! JSON patch as `evanphx/json-patch` v4.13 does it, which in places is not as RFC 6902 has it:
//! replacing an absent key adds it, copying an absent key writes `null`, the part of a path before
//! the first slash does not count, and `test` compares scalars by their spelling.

mod diff;
mod failed;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::HashSet;

use serde_json::Value;

pub use diff::json_diff;
pub use failed::FailedOperation;
use failed::OperationError;
use tree::{Slot, Tree, TreeView, equal, find};

use crate::go;
use crate::json::{self, Raw};
use crate::size::MAX_DEPTH;

/// The maximum number of bytes that the copy operations of one patch may copy
/// (`JSONPatchMaxCopyBytes`).
const MAX_COPIED: usize = 3 * 1024 * 1024;

/// A patch as it was sent.
#[derive(Clone, Debug)]
pub struct JsonPatch {
    operations: Vec<Raw>,
}

/// The reason why a patch gives no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonPatchError {
    /// An operation does not apply, or is not valid.
    DoesNotApply,
    /// The server's library panics over it.
    Panics,
    /// The object would nest deeper than this server takes.
    TooDeep,
}

impl JsonPatch {
    /// Reads a patch with the names that the library gives its types in errors.
    ///
    /// # Errors
    /// The text of Go's error if it is not JSON, not a list, or has an item that is not an object.
    pub fn decode(text: &[u8]) -> Result<Self, String> {
        Self::read(text, "jsonpatch.Patch", "jsonpatch.Operation")
    }

    /// Reads a patch as strict decoding does, which looks at the types of the members and tells
    /// of unknown and repeated ones.
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode), and an error if a member is of the wrong type.
    pub fn decode_strictly(text: &[u8]) -> Result<(Self, Vec<String>), String> {
        let patch = Self::read(text, "[]handlers.jsonPatchOp", "handlers.jsonPatchOp")?;
        let mut strict_errors = Vec::new();
        for (i, operation) in patch.operations.iter().enumerate() {
            let Raw::Object(members) = operation else {
                continue;
            };
            let mut seen: Vec<&str> = Vec::new();
            for (name, value) in members {
                let path = format!("[{i}].{name}");
                match name.as_str() {
                    "op" | "path" | "from" => {
                        let kind = value.go_kind();
                        if !matches!(kind, "string" | "null") {
                            return Err(format!(
                                "json: cannot unmarshal {kind} into Go struct field jsonPatchOp.{name} \
                                 of type string"
                            ));
                        }
                    }
                    "value" => {
                        if let Some(number) = value.huge_number() {
                            return Err(format!(
                                "json: cannot unmarshal number {number} into Go struct field \
                                 jsonPatchOp.value of type float64"
                            ));
                        }
                    }
                    _ => {
                        strict_errors.push(format!("unknown field {}", go::quote(&path)));
                        continue;
                    }
                }
                if seen.contains(&name.as_str()) {
                    strict_errors.push(format!("duplicate field {}", go::quote(&path)));
                }
                seen.push(name);
                if name == "value" {
                    let inner = json::repeated_members(&value.clone().into());
                    strict_errors.extend(inner.iter().map(|inner| {
                        format!("duplicate field {}", go::quote(&format!("{path}.{inner}")))
                    }));
                }
            }
        }
        let mut known = HashSet::new();
        strict_errors.retain(|strict_error| known.insert(strict_error.clone()));
        Ok((patch, strict_errors))
    }

    fn read(text: &[u8], list: &str, item: &str) -> Result<Self, String> {
        let operations = match Raw::parse(text).map_err(|error| error.to_string())? {
            Raw::Null => Vec::new(),
            Raw::Array(operations) => operations,
            other => return Err(mistyped(&other, list)),
        };
        let mistaken = operations
            .iter()
            .find(|operation| !matches!(operation, Raw::Null | Raw::Object(_)));
        match mistaken {
            Some(other) => Err(mistyped(other, item)),
            None => Ok(Self { operations }),
        }
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Returns whether a value has a number that no float of 64 bits holds.
    pub fn has_huge_number(&self) -> bool {
        let mut operations = self.operations.iter();
        operations.any(|operation| operation.huge_number().is_some())
    }

    /// Returns whether a value has a member twice.
    pub fn has_repeats(&self) -> bool {
        let mut values = self.operations.iter().filter_map(|raw| raw.get("value"));
        values.any(Raw::has_repeats)
    }

    /// Returns whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Applies the operations one after the other.
    ///
    /// # Errors
    /// If one of them fails.
    pub fn apply(&self, document: Value) -> Result<Value, JsonPatchError> {
        let mut root = Tree::Stored(document);
        match self.run(&mut root) {
            Ok(()) => Ok(root.into()),
            Err((_, failure)) => Err(failure.error),
        }
    }

    /// Applies the patch like [`apply`](Self::apply), but keeps the order of the written document.
    /// Members are sorted where a path led in; elsewhere they stay as written. `None` if the patch
    /// fails.
    pub fn apply_in_order(&self, document: Raw) -> Option<Raw> {
        let mut root = Tree::Written(document);
        root.open();
        self.run(&mut root).ok()?;
        Some(root.into())
    }

    /// Returns whether no operation reads or writes a member of the document, or the whole document.
    pub fn leaves_alone(&self, member: &str) -> bool {
        let elsewhere = |path: String| path.split('/').nth(1).is_some_and(|first| first != member);
        self.operations.iter().map(RawOperation).all(|operation| {
            let mut paths = ["path", "from"]
                .into_iter()
                .filter_map(|name| operation.member(name));
            paths.all(elsewhere)
        })
    }

    /// The operation at which [`apply`](Self::apply) ends; `None` if it does not fail.
    pub fn failed_operation(&self, document: Value) -> Option<FailedOperation> {
        let mut root = Tree::Stored(document);
        let (position, failure) = self.run(&mut root).err()?;
        let operation = RawOperation(self.operations.get(position)?);
        let op = operation.member("op").unwrap_or_default();
        let path = operation.member("path");
        let found = match path.as_deref() {
            Some("") => Some(Some(root)),
            Some(path) => find(&mut root, path)
                .and_then(|place| Ok(place.get()?.cloned()))
                .ok(),
            None => None,
        };
        let differed = found.filter(|_| op == "test").map(|found| {
            let wanted = operation.value().map_or(Value::Null, Value::from);
            (wanted, found.map(Value::from))
        });
        Some(FailedOperation {
            position,
            reason: failure.reason,
            op,
            path: path.unwrap_or_default(),
            differed,
        })
    }

    /// Does one operation after the other; the position of the one that fails.
    fn run(&self, root: &mut Tree) -> Result<(), (usize, OperationError)> {
        let mut copied = 0;
        // No less than how deep the document nests.
        let mut depth = root.depth(MAX_DEPTH + 1);
        for (position, operation) in self.operations.iter().enumerate() {
            let operation = RawOperation(operation);
            let done = operation.apply(root, &mut copied).and_then(|()| {
                depth = depth.max(operation.depth(depth));
                if depth > MAX_DEPTH {
                    depth = root.depth(MAX_DEPTH + 1);
                }
                if depth > MAX_DEPTH {
                    return Err(OperationError::plain(JsonPatchError::TooDeep));
                }
                Ok(())
            });
            done.map_err(|failure| (position, failure))?;
        }
        Ok(())
    }
}

fn mistyped(raw: &Raw, into: &str) -> String {
    let kind = raw.go_kind();
    format!("json: cannot unmarshal {kind} into Go value of type {into}")
}

struct RawOperation<'a>(&'a Raw);

impl RawOperation<'_> {
    fn apply(&self, root: &mut Tree, copied: &mut usize) -> Result<(), OperationError> {
        let op = self.member("op").unwrap_or_default();
        match op.as_str() {
            "add" | "remove" => {
                let path = self.path(&op)?;
                let missing =
                    |_| OperationError::missing(&op, &format!("doc is missing path: \"{path}\""));
                let place = find(root, &path).map_err(missing)?;
                if op == "add" {
                    let added = place.add(self.value());
                    return added.map_err(|fault| OperationError::adding(&op, &path, &fault));
                }
                let removed = place.remove().map(drop);
                removed.map_err(|fault| OperationError::at(&op, "path", &path, &fault))
            }
            "replace" => self.replace(root),
            "move" => self.relocate(root),
            "copy" => self.copy(root, copied),
            "test" => self.test(root),
            _ => Err(OperationError::new(format!("Unexpected kind: {op}"))),
        }
    }

    fn relocate(&self, root: &mut Tree) -> Result<(), OperationError> {
        let from = self.from("move")?;
        let place = find(root, &from).map_err(|_| missing_from("move", &from))?;
        let key = from.rsplit('/').next().unwrap_or_default();
        let removed = place.remove();
        let value = removed.map_err(|fault| OperationError::at("move", "path", key, &fault))?;
        let path = self.path("move")?;
        let place = find(root, &path).map_err(|_| missing_destination("move", &path))?;
        let added = place.add(value);
        added.map_err(|fault| OperationError::adding("move", &path, &fault))
    }

    fn copy(&self, root: &mut Tree, copied: &mut usize) -> Result<(), OperationError> {
        let (from, path) = (self.from("copy")?, self.path("copy")?);
        // The library copies what it has opened on the way to the new place.
        let has_place = find(root, &path).is_ok();
        let place = find(root, &from).map_err(|_| missing_from("copy", &from))?;
        let found = place.get().map(|found| found.cloned());
        let value = found.map_err(|fault| OperationError::at("copy", "from", &from, &fault))?;
        let Some(place) = find(root, &path).ok().filter(|_| has_place) else {
            return Err(missing_destination("copy", &path));
        };
        *copied += value.as_ref().map_or(0, Tree::size);
        if *copied > MAX_COPIED {
            return Err(OperationError::new(format!(
                "Unable to complete the copy, the accumulated size increase of copy is {copied}, \
                 exceeding the limit {MAX_COPIED}"
            )));
        }
        let added = place.add(value);
        added.map_err(|fault| OperationError::adding("copy", &path, &fault))
    }

    /// Returns the deepest nesting that a document of some depth may have after it.
    fn depth(&self, before: usize) -> usize {
        let steps = |member| {
            self.member(member)
                .map_or(0, |path| path.matches('/').count())
        };
        let value = match self.member("op").as_deref() {
            Some("add" | "replace") => {
                let value = self.0.get("value").map(TreeView::Written);
                value.map_or(0, |value| value.depth(MAX_DEPTH + 1))
            }
            Some("move" | "copy") => before.saturating_sub(steps("from")),
            _ => return before,
        };
        steps("path") + value
    }

    /// A member that is a text.
    fn member(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Raw::string)
    }

    fn path(&self, op: &str) -> Result<String, OperationError> {
        let missing = "operation missing path field: missing value";
        let failed =
            || OperationError::new(format!("{op} operation failed to decode path: {missing}"));
        self.member("path").ok_or_else(failed)
    }

    fn from(&self, op: &str) -> Result<String, OperationError> {
        let missing = "operation, missing from field: missing value";
        let failed =
            || OperationError::new(format!("{op} operation failed to decode from: {missing}"));
        self.member("from").ok_or_else(failed)
    }

    fn value(&self) -> Slot {
        self.0.get("value").map(|raw| match raw {
            Raw::Null => Tree::Null,
            raw => Tree::Written(raw.clone()),
        })
    }

    fn replace(&self, root: &mut Tree) -> Result<(), OperationError> {
        let path = self.path("replace")?;
        if path.is_empty() {
            let panics = || OperationError::plain(JsonPatchError::Panics);
            let mut whole = self.value().ok_or_else(panics)?;
            whole.open();
            if !matches!(whole, Tree::Map(_) | Tree::List(_)) {
                // The library wraps an error that there is not.
                return Err(OperationError::new(
                    "replace operation value must be object or array: %!w(<nil>)",
                ));
            }
            *root = whole;
            return Ok(());
        }
        let missing = |what: &str| {
            OperationError::missing("replace", &format!("doc is missing {what}: {path}"))
        };
        let place = find(root, &path).map_err(|_| missing("path"))?;
        place.get().map_err(|_| missing("key"))?;
        let set = place.set(self.value());
        set.map_err(|fault| OperationError::at("replace", "path", &path, &fault))
    }

    fn test(&self, root: &mut Tree) -> Result<(), OperationError> {
        let path = self.path("test")?;
        let wanted = self.value();
        let wanted = wanted.as_ref().map(TreeView::Tree);
        let at = |fault| OperationError::at("test", "path", &path, &fault);
        let equal = if path.is_empty() {
            equal(Some(TreeView::Tree(root)), wanted)
        } else {
            let missing = |_| OperationError::missing("test", &format!("is missing path: {path}"));
            let place = find(root, &path).map_err(missing)?;
            match (place.get().map_err(at)?, wanted) {
                (None, None | Some(TreeView::Tree(Tree::Null))) => Ok(true),
                (None, Some(_)) | (Some(_), None) => Ok(false),
                (Some(found), wanted) => equal(Some(TreeView::Tree(found)), wanted),
            }
        };
        if equal.map_err(at)? {
            // The library opens what it compares.
            if let Ok(place) = find(root, &path)
                && let Some(found) = place.into_value()
            {
                found.open_whole();
            }
            return Ok(());
        }
        Err(OperationError::new(format!(
            "testing value {path} failed: test failed"
        )))
    }
}

fn missing_from(op: &str, from: &str) -> OperationError {
    OperationError::missing(op, &format!("doc is missing from path: {from}"))
}

fn missing_destination(op: &str, path: &str) -> OperationError {
    OperationError::missing(op, &format!("doc is missing destination path: {path}"))
}
