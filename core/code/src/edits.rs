//! Edits as statements: each is an assignment or a removal.

use serde_json::Value;

use optimist_apiserver::pointer::unescape;
use optimist_client::ValueChange;

/// One assignment or removal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Assignment {
    /// The members and indices of the path.
    pub(super) path: Vec<String>,
    /// The new value; `None` to remove.
    pub(super) value: Option<Value>,
    /// `true` if nothing was there: what it is in can be empty, too.
    pub(super) adds: bool,
}

/// The edits that lead to `after`. A list whose length changed is assigned as a whole.
pub(super) fn edits(changes: &[ValueChange], after: &Value) -> Vec<Assignment> {
    let mut found: Vec<(&str, Option<&Value>, bool)> = Vec::new();
    for change in changes {
        let mut pointer = change.pointer.as_str();
        let mut value = change.after.as_ref();
        let mut adds = change.before.is_none();
        if change.before.is_none() || change.after.is_none() {
            let list = pointer.rsplit_once('/').map(|(list, _)| list);
            let list = list.and_then(|list| Some((list, after.pointer(list)?)));
            if let Some((list, whole @ Value::Array(_))) = list {
                (pointer, value, adds) = (list, Some(whole), false);
                found.retain(|(other, ..)| !is_below(other, list));
            }
        }
        if !found.iter().any(|(other, ..)| is_below(pointer, other)) {
            found.push((pointer, value, adds));
        }
    }
    let edit = |(pointer, value, adds): (&str, Option<&Value>, bool)| Assignment {
        path: pointer.split('/').skip(1).map(unescape).collect(),
        value: value.cloned(),
        adds,
    };
    found.into_iter().map(edit).collect()
}

fn is_below(pointer: &str, place: &str) -> bool {
    let rest = pointer.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_client::changes;
    use serde_json::json;

    #[test]
    fn lists_of_another_length_are_assigned_whole_and_others_by_index() {
        let before = json!({"list": [{"a": 1}, {"a": 2}], "other": [{"a": 1}], "x/y": 1, "z": 1});
        let after = json!({"list": [{"a": 2}], "other": [{"a": 3}], "z": {"new": true}});
        let edit = |path: &[&str], value: Option<Value>| Assignment {
            path: path.iter().map(|part| (*part).to_owned()).collect(),
            value,
            adds: false,
        };
        assert_eq!(
            edits(&changes(&before, &after), &after),
            [
                edit(&["list"], Some(json!([{"a": 2}]))),
                edit(&["other", "0", "a"], Some(json!(3))),
                edit(&["x/y"], None),
                edit(&["z"], Some(json!({"new": true}))),
            ]
        );
    }
}
