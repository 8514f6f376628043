//! The words of kubectl around a message: they show the object, and what was sent.

use optimist_apiserver::object::Metadata;
use serde_json::Value;

use super::context::{between, last_lines, set_kind};
use super::parse::{end_of, named, string};
use super::{ObjectHint, ShownPatch};

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

/// Returns the patch of a refused `kubectl apply` with which a text ends
/// (`k8s.io/kubectl/pkg/cmd/apply/apply.go applyOneObject`, v0.36).
pub(super) fn shown_patch(before: &str) -> Option<ShownPatch> {
    // What is about one patch has no second object.
    let named = last_lines(end_of(before), 8);
    if !named.contains("GroupVersionKind: \"") {
        return None;
    }
    let from = before.len().saturating_sub(MAX_PATCH);
    let from = (from..).find(|at| before.is_char_boundary(*at));
    let text = &before[from.unwrap_or(before.len())..];
    let (_, patch) = text.rsplit_once("error when applying patch:\n")?;
    let patch: Value = serde_json::from_str(patch.lines().next()?).ok()?;
    Some(match patch.resource_version() {
        "" => ShownPatch::WithoutVersion,
        _ => ShownPatch::WithVersion,
    })
}

/// `error: deployments.apps "web" could not be patched: ` (`k8s.io/kubectl/pkg/cmd/util/editor/editoptions.go addError`,
/// v0.36)
pub(super) fn kubectl_edit(before: &str, object: &mut ObjectHint) {
    let line = last_lines(before, 1);
    let Some((of, _)) = line.rsplit_once(" could not be patched: ") else {
        return;
    };
    let of = of.rsplit_once("error: ").map_or(of, |(_, of)| of);
    if let Some((resource, name)) = of.split_once(' ')
        && let Some((name, "")) = string(name)
    {
        *object = named(resource, &name);
    }
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
