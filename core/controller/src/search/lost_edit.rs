//! Whether a step undoes what another process wrote and the step's writer had not seen.

use serde_json::Value;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::storage::{Change, Revision};
use optimist_client::changes;

use super::SystemState;
use crate::call::ClientCall;

/// Whether the write of a step undoes a change of another process that was stored after the version
/// from which the write was made.
pub(super) fn loses_edit(before: &SystemState, after: &SystemState) -> bool {
    let Some((writer, call)) = after.last() else {
        return false;
    };
    let Some(base) = base_of(call) else {
        return false;
    };
    let mut made = after
        .server()
        .store()
        .log_after(before.server().store().revision());
    let Some(made) = made.next() else {
        return false;
    };
    let others: Vec<Revision> = before
        .writers()
        .filter(|(revision, other)| *revision > base && other != writer)
        .map(|(revision, _)| revision)
        .collect();
    let mut unseen = before
        .server()
        .store()
        .log_after(base)
        .filter(|change| change.key == made.key && others.contains(&change.revision));
    unseen.any(|change| undoes(made, change))
}

/// The version of the object from which a write was made.
fn base_of(call: &ClientCall) -> Option<Revision> {
    let base = match call {
        ClientCall::Update { object, .. } | ClientCall::Delete { object, .. } => object,
        ClientCall::MergeFrom { base, .. } => base,
        _ => return None,
    };
    base.resource_version().parse().ok()
}

/// Whether a write undoes an earlier change of the same object.
fn undoes(made: &Change, earlier: &Change) -> bool {
    let Some(written) = &earlier.after else {
        return false;
    };
    let Some(now) = &made.after else {
        // The object is gone, with what was written into it.
        return true;
    };
    let (Some(was), Some(then)) = (&earlier.before, &made.before) else {
        return false;
    };
    let edits = changes(was, written);
    let mut edits = edits.iter().filter(|edit| !edit.is_bookkeeping());
    edits.any(|edit| {
        let held = holds(then, &edit.pointer, edit.after.as_ref());
        held && !holds(now, &edit.pointer, edit.after.as_ref())
    })
}

/// Whether an object has a value at a place. The place of an item in a list does not count.
fn holds(object: &Value, pointer: &str, value: Option<&Value>) -> bool {
    let list = pointer.rsplit_once('/').and_then(|(list, at)| {
        at.parse::<usize>().ok()?;
        object.pointer(list)?.as_array()
    });
    match (list, value) {
        (Some(list), Some(value)) => list.contains(value),
        _ => object.pointer(pointer) == value,
    }
}
