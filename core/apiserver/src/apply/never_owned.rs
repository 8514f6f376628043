//! The fields that nobody owns (`managedfields/internal/stripmeta.go`).

use std::sync::LazyLock;

use super::{Path, Set};

/// Fields that never have an owner.
pub(super) static NEVER_OWNED: LazyLock<Set> = LazyLock::new(|| {
    Set::of_fields(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});

/// Returns whether a field is one that never has an owner, or is in one.
pub fn is_never_owned(path: &Path) -> bool {
    let Some((first, below)) = path.0.split_first() else {
        return false;
    };
    let of_metadata = NEVER_OWNED.below(first);
    match below.first() {
        Some(second) if of_metadata.is_some_and(|set| !set.has_member(second)) => false,
        _ => NEVER_OWNED.has_member(first),
    }
}
