//! The conditions that say why a namespace still waits
//! (`pkg/controller/namespace/deletion/status_condition_utils.go`; v1.36).

use std::collections::BTreeMap;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::Resource;
use serde_json::{Value, json};

/// The conditions in their order, each with its reason and message while nothing fails or remains
/// (`conditionTypes`, `okReasons`, `okMessages`).
const CONDITIONS: [(&str, &str, &str); 5] = [
    (
        "NamespaceDeletionDiscoveryFailure",
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    (
        "NamespaceDeletionGroupVersionParsingFailure",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    (
        CONTENT_FAILURE,
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    (
        CONTENT_REMAINING,
        "ContentRemoved",
        "All content successfully removed",
    ),
    (
        FINALIZERS_REMAINING,
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
];

const CONTENT_FAILURE: &str = "NamespaceDeletionContentFailure";
const CONTENT_REMAINING: &str = "NamespaceContentRemaining";
const FINALIZERS_REMAINING: &str = "NamespaceFinalizersRemaining";

/// The content that is left in a namespace after its objects were deleted.
#[derive(Debug, Default)]
pub(crate) struct RemainingContent {
    /// The number of objects of each resource, by its name and group with a point between them.
    resources: BTreeMap<String, usize>,
    /// The number of objects that have each finalizer.
    finalizers: BTreeMap<String, usize>,
    /// The messages of what could not be deleted.
    errors: Vec<String>,
    /// `true` if the conditions do not say what is left: upstream waits for pods before it counts.
    is_before_totals: bool,
}

impl RemainingContent {
    /// Counts the objects of a resource that are left, and their finalizers.
    pub(crate) fn count(&mut self, resource: &Resource, objects: &[Value]) {
        if objects.is_empty() {
            return;
        }
        let name = format!("{}.{}", resource.plural, resource.group_version.group);
        self.resources.insert(name, objects.len());
        for finalizer in objects.iter().flat_map(Metadata::finalizers) {
            *self.finalizers.entry(finalizer.to_owned()).or_default() += 1;
        }
    }

    /// Adds the message of an error.
    pub(crate) fn add_error(&mut self, message: String) {
        self.errors.push(message);
    }

    /// Returns the same, of which the conditions say only the errors.
    pub(crate) fn before_totals(self) -> Self {
        Self {
            is_before_totals: true,
            ..self
        }
    }

    /// Returns whether nothing is left, and nothing failed.
    pub(crate) fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.errors.is_empty()
    }

    /// Brings the conditions of a namespace up to date. Returns whether one has changed (`updateConditions`).
    pub(crate) fn update_conditions(&self, namespace: &mut Value, now: &str) -> bool {
        let conditions = &mut namespace["status"]["conditions"];
        if !conditions.is_array() {
            *conditions = json!([]);
        }
        let Some(conditions) = conditions.as_array_mut() else {
            return false;
        };
        let mut has_changed = false;
        for (name, ok_reason, ok_message) in CONDITIONS {
            let failing = self.failing(name);
            let status = if failing.is_some() { "True" } else { "False" };
            let (reason, message) = failing.unwrap_or((ok_reason, ok_message.to_owned()));
            let known = conditions.iter_mut().find(|it| text(it, "type") == name);
            let Some(known) = known else {
                conditions.push(
                    json!({"type": name, "status": status, "lastTransitionTime": now,
                    "reason": reason, "message": message}),
                );
                has_changed = true;
                continue;
            };
            if text(known, "status") != status {
                known["lastTransitionTime"] = now.into();
            }
            for (field, value) in [
                ("status", status),
                ("reason", reason),
                ("message", &message),
            ] {
                has_changed |= text(known, field) != value;
                known[field] = value.into();
            }
        }
        has_changed
    }

    /// The reason and the message of a condition that is true (`ProcessContentTotals`, `makeDeleteContentCondition`).
    fn failing(&self, condition: &str) -> Option<(&'static str, String)> {
        let has_totals = !self.is_before_totals;
        match condition {
            CONTENT_FAILURE if !self.errors.is_empty() => {
                let (count, errors) = (self.errors.len(), joined(self.errors.iter().cloned()));
                let message =
                    format!("Failed to delete all resource types, {count} remaining: {errors}");
                Some(("ContentDeletionFailed", message))
            }
            CONTENT_REMAINING if has_totals && !self.resources.is_empty() => {
                let counted = counted(&self.resources, "has");
                let message = format!("Some resources are remaining: {counted}");
                Some(("SomeResourcesRemain", message))
            }
            FINALIZERS_REMAINING if has_totals && !self.finalizers.is_empty() => {
                let counted = counted(&self.finalizers, "in");
                let message =
                    format!("Some content in the namespace has finalizers remaining: {counted}");
                Some(("SomeFinalizersRemain", message))
            }
            _ => None,
        }
    }
}

/// The numbers of objects, in words: `configmaps. has 1 resource instances`.
fn counted(counts: &BTreeMap<String, usize>, verb: &str) -> String {
    let words = |(name, count)| format!("{name} {verb} {count} resource instances");
    joined(counts.iter().map(words))
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts.join(", ")
}
