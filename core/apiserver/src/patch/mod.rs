//! The patches that carry changes rather than objects.

mod json;
mod merge;
mod strategic;
mod unstructured;

pub use json::{FailedOperation, JsonPatch, JsonPatchError, json_diff};
pub use merge::{merge, merge_diff, merge_in_order};
pub use strategic::{StrategicError, strategic_diff, strategic_merge, strategic_three_way};
pub use unstructured::{Converted, from_unstructured, named_type};

use serde_json::Value;

use crate::object::{Metadata, text};

/// The media type of a JSON patch (RFC 6902).
pub const JSON_PATCH: &str = "application/json-patch+json";
/// The media type of a merge patch (RFC 7386).
pub const MERGE_PATCH: &str = "application/merge-patch+json";
/// The media type of a strategic merge patch.
pub const STRATEGIC_MERGE_PATCH: &str = "application/strategic-merge-patch+json";
/// The media type of an apply.
pub const APPLY: &str = "application/apply-patch+yaml";

/// Returns whether the body of a write names the version that it is for: an object or a patch by its
/// `metadata.resourceVersion`, a JSON patch by an operation on it. Both a `test` and a `replace` make the
/// server compare (`k8s.io/apiserver/pkg/endpoints/handlers/patch.go`, v1.36).
pub fn names_version(body: &Value) -> bool {
    match body.as_array() {
        Some(operations) => operations
            .iter()
            .any(|operation| text(operation, "path") == "/metadata/resourceVersion"),
        None => !body.resource_version().is_empty(),
    }
}
