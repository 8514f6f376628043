//! JSON patch as `evanphx/json-patch` v4.13 does it, which in places is not as RFC 6902 has it:
//! replacing an absent key adds it, copying an absent key writes `null`, the part of a path before
//! the first slash does not count, and `test` compares scalars by their spelling.

mod diff;
mod failed;
mod tree;

use std::collections::HashSet;

use serde_json::Value;

pub use diff::json_diff;
pub use failed::FailedOperation;
use failed::MissingPlace;
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
            Err((_, error)) => Err(error),
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
                .filter_map(|name| operation.text(name).ok());
            paths.all(elsewhere)
        })
    }

    /// The operation at which [`apply`](Self::apply) ends; `None` if it does not fail.
    pub fn failed_operation(&self, document: Value) -> Option<FailedOperation> {
        let mut root = Tree::Stored(document);
        let (position, _) = self.run(&mut root).err()?;
        let operation = RawOperation(self.operations.get(position)?);
        let op = operation.text("op").unwrap_or_default();
        let path = operation.text("path");
        let from = operation.text("from").unwrap_or_default();
        let mut has_parent = |path: &str| find(&mut root, path).is_ok();
        let missing = MissingPlace {
            op: &op,
            path: path.as_deref().unwrap_or_default(),
            has_parent: has_parent(path.as_deref().unwrap_or_default()),
            from: &from,
            has_parent_of_from: has_parent(&from),
        };
        let reason = missing.reason();
        let found = match path.as_deref() {
            Ok("") => Ok(Some(root)),
            Ok(path) => find(&mut root, path).and_then(|place| Ok(place.get()?.cloned())),
            Err(error) => Err(*error),
        };
        let differed = found.ok().filter(|_| op == "test").map(|found| {
            let wanted = operation.value().map_or(Value::Null, Value::from);
            (wanted, found.map(Value::from))
        });
        let path = path.unwrap_or_default();
        Some(FailedOperation {
            position,
            reason: match &differed {
                Some(_) => format!("testing value {path} failed: test failed"),
                None => reason,
            },
            op,
            path,
            differed,
        })
    }

    /// Does one operation after the other; the position of the one that fails.
    fn run(&self, root: &mut Tree) -> Result<(), (usize, JsonPatchError)> {
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
                    return Err(JsonPatchError::TooDeep);
                }
                Ok(())
            });
            done.map_err(|error| (position, error))?;
        }
        Ok(())
    }
}

fn mistyped(raw: &Raw, into: &str) -> String {
    let kind = raw.go_kind();
    format!("json: cannot unmarshal {kind} into Go value of type {into}")
}

type JsonPatchResult<T> = Result<T, JsonPatchError>;

struct RawOperation<'a>(&'a Raw);

impl RawOperation<'_> {
    fn apply(&self, root: &mut Tree, copied: &mut usize) -> JsonPatchResult<()> {
        match self.text("op").as_deref() {
            Ok("add") => find(root, &self.text("path")?)?.add(self.value()),
            Ok("remove") => find(root, &self.text("path")?)?.remove().map(drop),
            Ok("replace") => self.replace(root),
            Ok("move") => {
                let value = find(root, &self.text("from")?)?.remove()?;
                find(root, &self.text("path")?)?.add(value)
            }
            Ok("copy") => {
                // The library copies what it has opened on the way to the new place.
                find(root, &self.text("path")?)?;
                let value = find(root, &self.text("from")?)?.get()?.cloned();
                let place = find(root, &self.text("path")?)?;
                *copied += value.as_ref().map_or(0, Tree::size);
                if *copied > MAX_COPIED {
                    return Err(JsonPatchError::DoesNotApply);
                }
                place.add(value)
            }
            Ok("test") => self.test(root),
            _ => Err(JsonPatchError::DoesNotApply),
        }
    }

    /// Returns the deepest nesting that a document of some depth may have after it.
    fn depth(&self, before: usize) -> usize {
        let steps = |member| {
            self.text(member)
                .map_or(0, |path| path.matches('/').count())
        };
        let value = match self.text("op").as_deref() {
            Ok("add" | "replace") => {
                let value = self.0.get("value").map(TreeView::Written);
                value.map_or(0, |value| value.depth(MAX_DEPTH + 1))
            }
            Ok("move" | "copy") => before.saturating_sub(steps("from")),
            _ => return before,
        };
        steps("path") + value
    }

    fn text(&self, member: &str) -> JsonPatchResult<String> {
        let text = self.0.get(member).and_then(Raw::string);
        text.ok_or(JsonPatchError::DoesNotApply)
    }

    fn value(&self) -> Slot {
        self.0.get("value").map(|raw| match raw {
            Raw::Null => Tree::Null,
            raw => Tree::Written(raw.clone()),
        })
    }

    fn replace(&self, root: &mut Tree) -> JsonPatchResult<()> {
        let path = self.text("path")?;
        if path.is_empty() {
            let mut whole = self.value().ok_or(JsonPatchError::Panics)?;
            whole.open();
            if !matches!(whole, Tree::Map(_) | Tree::List(_)) {
                return Err(JsonPatchError::DoesNotApply);
            }
            *root = whole;
            return Ok(());
        }
        let place = find(root, &path)?;
        place.get()?;
        place.set(self.value())
    }

    fn test(&self, root: &mut Tree) -> JsonPatchResult<()> {
        let path = self.text("path")?;
        let wanted = self.value();
        let wanted = wanted.as_ref().map(TreeView::Tree);
        let equal = if path.is_empty() {
            equal(Some(TreeView::Tree(root)), wanted)?
        } else {
            match (find(root, &path)?.get()?, wanted) {
                (None, None | Some(TreeView::Tree(Tree::Null))) => true,
                (None, Some(_)) | (Some(_), None) => false,
                (Some(found), wanted) => equal(Some(TreeView::Tree(found)), wanted)?,
            }
        };
        if equal {
            // The library opens what it compares.
            if let Ok(place) = find(root, &path)
                && let Some(found) = place.into_value()
            {
                found.open_whole();
            }
            return Ok(());
        }
        Err(JsonPatchError::DoesNotApply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn patched(document: Value, patch: &str) -> Result<Value, JsonPatchError> {
        let patch = JsonPatch::decode(patch.as_bytes()).unwrap();
        patch.apply(document)
    }

    fn fails(document: Value, patch: &str) -> JsonPatchError {
        patched(document, patch).unwrap_err()
    }

    #[test]
    fn keys_that_are_absent_are_null_except_to_remove_and_move() {
        let document = json!({"a": 1});
        let one = |op: &str| patched(document.clone(), &format!("[{op}]"));
        assert_eq!(
            one(r#"{"op": "replace", "path": "/b", "value": 2}"#),
            Ok(json!({"a": 1, "b": 2}))
        );
        assert_eq!(
            one(r#"{"op": "copy", "from": "/x", "path": "/b"}"#),
            Ok(json!({"a": 1, "b": null}))
        );
        assert_eq!(
            one(r#"{"op": "add", "path": "/b"}"#),
            Ok(json!({"a": 1, "b": null}))
        );
        assert_eq!(
            one(r#"{"op": "test", "path": "/b", "value": null}"#),
            Ok(document.clone())
        );
        for op in [
            r#"{"op": "remove", "path": "/b"}"#,
            r#"{"op": "move", "from": "/b", "path": "/c"}"#,
            r#"{"op": "add", "path": "/b/c", "value": 1}"#,
            r#"{"op": "test", "path": "/b", "value": 1}"#,
            r#"{"op": "test", "path": "/a", "value": null}"#,
            r#"{"op": "test", "path": "/a"}"#,
        ] {
            assert_eq!(one(op), Err(JsonPatchError::DoesNotApply), "{op}");
        }
    }

    #[test]
    fn a_test_finds_equal_what_operations_made_and_what_was_written() {
        let patch = r#"[
            {"op": "add", "path": "/l/0", "value": {"x": [null, 1], "y": {}}},
            {"op": "move", "from": "/l/0/y", "path": "/l/1"},
            {"op": "test", "path": "/l/0", "value": {"x": [null, 1]}}]"#;
        assert_eq!(fails(json!({"l": [2]}), patch), JsonPatchError::Panics);
        let patch = patch.replace("null, ", "");
        let wanted = json!({"l": [{"x": [1]}, {}, 2]});
        assert_eq!(patched(json!({"l": [2]}), &patch), Ok(wanted.clone()));
        let whole = patch.replace(
            "\"/l/0\", \"value\": {\"x\": [1]}}",
            &format!("\"\", \"value\": {wanted}}}"),
        );
        assert_eq!(patched(json!({"l": [2]}), &whole), Ok(wanted));
    }

    #[test]
    fn moves_in_a_long_list_and_of_a_large_value_cost_the_operations_not_the_list() {
        let items: Vec<usize> = (0..90_000).collect();
        let one = r#"{"op": "move", "from": "/a/0", "path": "/a/-"}"#;
        let other = r#"{"op": "move", "from": "/a", "path": "/b"}, {"op": "move", "from": "/b", "path": "/a"}"#;
        let test = r#"{"op": "test", "path": "/a", "value": []}"#;
        let patch = |op: &str, n: usize| format!("[{}]", vec![op; n].join(","));
        let document = json!({"a": items});
        // Each copy or shift of the list is 90,000 steps: together a billion.
        let moved = patched(document.clone(), &patch(one, 10_000)).unwrap();
        assert_eq!(moved["a"][0], 10_000);
        assert_eq!(
            patched(document.clone(), &patch(other, 5_000)),
            Ok(document.clone())
        );
        assert_eq!(
            fails(document, &patch(test, 10_000)),
            JsonPatchError::DoesNotApply
        );
    }

    #[test]
    fn a_patch_that_nests_ever_deeper_is_refused_and_one_that_only_moves_is_not() {
        let deeper = r#"{"op": "add", "path": "/n", "value": {}}, {"op": "move", "from": "/a", "path": "/n/a"},
            {"op": "move", "from": "/n", "path": "/a"}"#;
        let many = |op: &str, n: usize| format!("[{}]", vec![op; n].join(","));
        let document = json!({"a": 1, "b": {"c": 2}});
        assert!(patched(document.clone(), &many(deeper, 90)).is_ok());
        assert_eq!(
            fails(document.clone(), &many(deeper, 3_000)),
            JsonPatchError::TooDeep
        );
        let doubling = r#"{"op": "copy", "from": "/b", "path": "/b/d"}"#;
        assert_eq!(
            fails(document.clone(), &many(doubling, 200)),
            JsonPatchError::TooDeep
        );
        let around = r#"{"op": "move", "from": "/b/c", "path": "/c"}, {"op": "move", "from": "/c", "path": "/b/c"}"#;
        assert_eq!(
            patched(document.clone(), &many(around, 5_000)),
            Ok(document)
        );
    }

    #[test]
    fn indices_count_from_both_ends_and_stay_within_the_list() {
        let list = |op: &str, at: &str| {
            let patch = format!(r#"[{{"op": "{op}", "path": "/l/{at}", "value": 9}}]"#);
            patched(json!({"l": [1, 2]}), &patch).map(|result| result["l"].clone())
        };
        for (op, at, result) in [
            ("add", "-", json!([1, 2, 9])),
            ("add", "-1", json!([1, 2, 9])),
            ("add", "-3", json!([9, 1, 2])),
            ("add", "2", json!([1, 2, 9])),
            ("add", "+1", json!([1, 9, 2])),
            ("remove", "-1", json!([1])),
            ("remove", "00", json!([2])),
            ("replace", "-2", json!([9, 2])),
        ] {
            assert_eq!(list(op, at), Ok(result), "{op} {at}");
        }
        for (op, at) in [
            ("add", "3"),
            ("add", "-4"),
            ("add", "x"),
            ("add", ""),
            ("remove", "-"),
            ("remove", "2"),
            ("replace", "2"),
            ("replace", "-3"),
            ("replace", "99999999999999999999"),
            ("remove", "-9223372036854775808"),
        ] {
            assert_eq!(list(op, at), Err(JsonPatchError::DoesNotApply), "{op} {at}");
        }
    }

    #[test]
    fn paths_skip_what_is_before_the_first_slash_and_unescape_known_escapes_only() {
        let document = json!({"a/b": 1, "~2": 2, "~1": 3});
        let removed = |path: &str| {
            patched(
                document.clone(),
                &format!(r#"[{{"op": "remove", "path": "{path}"}}]"#),
            )
        };
        assert_eq!(removed("/a~1b"), Ok(json!({"~2": 2, "~1": 3})));
        assert_eq!(removed("/~2"), Ok(json!({"a/b": 1, "~1": 3})));
        assert_eq!(removed("/~01"), Ok(json!({"a/b": 1, "~2": 2})));
        assert_eq!(removed("data/~2"), Ok(json!({"a/b": 1, "~1": 3})));
        assert_eq!(removed(""), Err(JsonPatchError::DoesNotApply));
        assert_eq!(removed("~2"), Err(JsonPatchError::DoesNotApply));
    }

    #[test]
    fn a_test_compares_scalars_by_their_spelling() {
        let test = |stored: Value, value: &str| {
            let patch = format!(r#"[{{"op": "test", "path": "/a", "value": {value}}}]"#);
            patched(json!({"a": stored}), &patch).is_ok()
        };
        assert!(test(json!(10), "10"));
        assert!(!test(json!(10), "10.0"));
        assert!(!test(json!(10), "\"10\""));
        assert!(!test(json!("a"), r#""\u0061""#));
        assert!(!test(json!("<"), "\"<\""));
        assert!(test(json!("<"), r#""\u003c""#));
        assert!(test(
            json!([{"x": 1, "y": null}]),
            r#"[{"y": null, "x": 1}]"#
        ));
        assert!(!test(json!({"x": 1}), r#"{"x": 1, "y": null}"#));
        assert!(!test(json!({"x": 1}), r#"[]"#));
    }

    #[test]
    fn of_a_patch_that_fails_it_is_told_which_operation_and_what_it_found() {
        let failed = |patch: &str| {
            let patch = JsonPatch::decode(patch.as_bytes()).unwrap();
            patch.failed_operation(json!({"a": 1, "l": [2]}))
        };
        let test = |path: &str, wanted: Value, found: Option<Value>| FailedOperation {
            position: 1,
            op: "test".to_owned(),
            path: path.to_owned(),
            differed: Some((wanted, found)),
            reason: format!("testing value {path} failed: test failed"),
        };
        // The operations before it are done: it is their result that it looks at.
        let add = r#"{"op": "add", "path": "/a", "value": 3}"#;
        assert_eq!(
            failed(&format!(
                r#"[{add}, {{"op": "test", "path": "/a", "value": 1}}]"#
            )),
            Some(test("/a", json!(1), Some(json!(3))))
        );
        assert_eq!(
            failed(&format!(
                r#"[{add}, {{"op": "test", "path": "/b", "value": 1}}]"#
            )),
            Some(test("/b", json!(1), None))
        );
        let removed = failed(r#"[{"op": "remove", "path": "/b"}]"#).unwrap();
        assert_eq!(
            (removed.position, removed.op.as_str(), removed.differed),
            (0, "remove", None)
        );
        let nowhere = failed(r#"[{"op": "test", "path": "/l/7", "value": 2}]"#).unwrap();
        assert_eq!((nowhere.path.as_str(), nowhere.differed), ("/l/7", None));
        assert_eq!(failed(&format!("[{add}]")), None);
        assert_eq!(failed("[null]").unwrap().op, "");
        let nowhere = failed(r#"[{"op": "test", "value": 1}]"#).unwrap();
        assert_eq!(nowhere.differed, None);
        let whole = failed(r#"[{"op": "test", "path": "", "value": 1}]"#).unwrap();
        assert!(whole.differed.is_some());
    }

    #[test]
    fn a_repeated_member_stays_as_written_and_the_last_counts() {
        let text = r#"[{"op": "add", "path": "/a", "value": {"x": 1, "x": 2}}]"#;
        let patch = JsonPatch::decode(text.as_bytes()).unwrap();
        assert!(patch.has_repeats());
        assert_eq!(patch.apply(json!({})).unwrap(), json!({"a": {"x": 2}}));
        let written = patch.apply_in_order(Raw::Object(Vec::new())).unwrap();
        assert_eq!(written.compact(), r#"{"a":{"x":1,"x":2}}"#);
        let test = r#"[{"op": "test", "path": "", "value": {"x": 1, "x": 2}}]"#;
        assert_eq!(patched(json!({"x": 2}), test), Ok(json!({"x": 2})));
    }

    #[test]
    fn the_whole_document_can_be_tested_and_replaced_by_a_map_or_list() {
        let whole = |op: &str| patched(json!({"a": 1}), &format!("[{op}]"));
        assert_eq!(
            whole(r#"{"op": "replace", "path": "", "value": {"b": 2}}"#),
            Ok(json!({"b": 2}))
        );
        assert!(whole(r#"{"op": "test", "path": "", "value": {"a": 1}}"#).is_ok());
        assert!(whole(r#"{"op": "replace", "path": "", "value": 5}"#).is_err());
        assert_eq!(
            whole(r#"{"op": "replace", "path": ""}"#),
            Err(JsonPatchError::Panics)
        );
        let nulls = r#"[{"op": "test", "path": "/l", "value": [null]}]"#;
        assert_eq!(fails(json!({"l": [null]}), nulls), JsonPatchError::Panics);
    }

    #[test]
    fn copies_cannot_blow_a_document_up() {
        let grow = r#"{"op": "copy", "from": "/a", "path": "/a/-"}"#;
        let patch = format!("[{}]", vec![grow; 40].join(","));
        let document = json!({"a": ["x".repeat(1000)]});
        assert_eq!(fails(document, &patch), JsonPatchError::DoesNotApply);
    }

    #[test]
    fn what_is_no_patch_is_told_with_the_type_that_reads_it() {
        let loose = |text: &str| JsonPatch::decode(text.as_bytes()).unwrap_err();
        let strict = |text: &str| JsonPatch::decode_strictly(text.as_bytes()).unwrap_err();
        assert_eq!(
            loose("{}"),
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch"
        );
        assert_eq!(
            strict("{}"),
            "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"
        );
        assert_eq!(
            strict("[1]"),
            "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"
        );
        assert_eq!(
            strict(r#"[{"op": 1}]"#),
            "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"
        );
        assert_eq!(strict(""), "unexpected end of JSON input");
        assert!(JsonPatch::decode_strictly(b"null").unwrap().0.is_empty());
        assert_eq!(fails(json!({}), "[null]"), JsonPatchError::DoesNotApply);
    }

    #[test]
    fn unknown_and_repeated_members_are_complained_of() {
        let text =
            br#"[{"op": "add", "extra": 1, "op": "add", "path": "/a", "value": {"x": 1, "x": 2}}]"#;
        let (_, strict_errors) = JsonPatch::decode_strictly(text).unwrap();
        assert_eq!(
            strict_errors,
            [
                r#"unknown field "[0].extra""#,
                r#"duplicate field "[0].op""#,
                r#"duplicate field "[0].value.x""#
            ]
        );
    }
}
