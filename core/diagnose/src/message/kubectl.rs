//! The words of kubectl around a message: they show the object, and what was sent.

use optimist_apiserver::object::Metadata;
use serde_json::Value;

use super::ObjectHint;
use super::context::{between, last_lines, set_kind};
use super::parse::end_of;

/// Reads the lines of `kubectl apply` about a refused patch.
pub(super) fn kubectl_apply(before: &str, object: &mut ObjectHint) {
    let Some(kind) = between(before, "GroupVersionKind: \"", "\"") else {
        return;
    };
    set_kind(kind, object);
    object.name = between(before, "Name: \"", "\"").map(str::to_owned);
    let namespace = between(before, "Namespace: \"", "\"").filter(|name| !name.is_empty());
    object.namespace = namespace.map(str::to_owned);
}

/// The longest patch that is read, in bytes.
const MAX_PATCH: usize = 64 * 1024;

/// Returns whether a text ends with the patch of a refused `kubectl apply`, and that has a `resourceVersion`
/// (`k8s.io/kubectl/pkg/cmd/apply/apply.go applyOneObject`, v0.36).
pub(super) fn sends_version(before: &str) -> bool {
    // What is about one patch has no second object.
    let named = last_lines(end_of(before), 8);
    if !named.contains("GroupVersionKind: \"") {
        return false;
    }
    let from = before.len().saturating_sub(MAX_PATCH);
    let from = (from..).find(|at| before.is_char_boundary(*at));
    let text = &before[from.unwrap_or(before.len())..];
    let Some((_, patch)) = text.rsplit_once("error when applying patch:\n") else {
        return false;
    };
    let patch: Option<Value> = patch
        .lines()
        .next()
        .and_then(|line| serde_json::from_str(line).ok());
    patch.is_some_and(|patch| !patch.resource_version().is_empty())
}

/// `Object (apps/v1, Kind=Deployment: web) keeps changing, diffing without lock`
pub(super) fn kubectl_diff(before: &str, object: &mut ObjectHint) {
    let Some(text) = between(before, "Object (", ") keeps changing") else {
        return;
    };
    if let Some((kind, name)) = text.split_once(": ") {
        set_kind(kind, object);
        object.name = Some(name.to_owned());
    }
}

/// `error when evicting pods/"web-1" -n "shop" (will retry after 5s): ` (`k8s.io/kubectl/pkg/drain/drain.go
/// evictPods`, v0.36)
pub(super) fn kubectl_drain(before: &str, object: &mut ObjectHint) {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let Some(name) = between(line, "error when evicting pods/\"", "\"") else {
        return;
    };
    object.resource = Some("pods".to_owned());
    object.name = Some(name.to_owned());
    object.namespace = between(line, "\" -n \"", "\"").map(str::to_owned);
}
