//! The paths of changed fields.

use std::borrow::Borrow;
use std::ops::Bound;
use std::sync::Arc;

use imbl::OrdSet;
use serde_json::Value;

use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::schema::Struct;
use optimist_client::Edit;

/// Returns whether the last part of a path is a position in a list.
pub(super) fn is_index(element: &PathElement) -> bool {
    matches!(element, PathElement::Index(_))
}

/// The path of an item of a list without keys, by its value.
pub(super) fn item_of(list: &[PathElement], item: Value) -> Path {
    Path([list, &[PathElement::Value(item)]].concat())
}

/// The fields whose stored value changed. The empty path if the object was created or deleted. An
/// item of a list without keys that changed in place is also there by its old and its new value.
pub fn changed_fields(
    before: Option<&Value>,
    after: Option<&Value>,
    root: &Struct,
) -> Vec<Arc<Path>> {
    match (before, after) {
        (Some(before), Some(after)) => {
            let mut changed = Vec::new();
            for edit in Edit::between(before, after, root) {
                let list = edit.path.0.split_last().filter(|(last, _)| is_index(last));
                let items = [before, after].map(|object| edit.path.find(object));
                for item in items.into_iter().flatten() {
                    changed.extend(list.map(|(_, list)| item_of(list, item.clone()).into()));
                }
                changed.push(edit.path.clone().into());
            }
            changed
        }
        (None, None) => Vec::new(),
        _ => vec![Path(Vec::new()).into()],
    }
}

/// Returns whether one of the paths is a prefix of the path, or the path is a prefix of it.
pub(super) fn any_overlaps<P: Borrow<Path> + Ord + Clone>(paths: &OrdSet<P>, path: &Path) -> bool {
    if paths.is_empty() {
        return false;
    }
    let mut begin = Path(Vec::with_capacity(path.0.len()));
    for element in std::iter::once(None).chain(path.0.iter().map(Some)) {
        begin.0.extend(element.cloned());
        if paths.contains::<Path>(&begin) {
            return true;
        }
    }
    let mut next = paths.range::<_, Path>((Bound::Included(path), Bound::Unbounded));
    next.next().is_some_and(|next| next.borrow().overlaps(path))
}
