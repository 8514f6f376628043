//! Metadata that every object has (`k8s.io/apimachinery/pkg/api/validation/objectmeta.go`, and the
//! additions of `pkg/apis/core/validation` for built-in kinds).

use std::collections::BTreeSet;

use serde_json::Value;

use super::names::{self, NameRule};
use crate::field::ErrorPath;
use crate::go;
use crate::object::{FOREGROUND, GroupVersion, JsonMap, Metadata, ORPHAN, text};
use crate::server::wire;
use crate::status::FieldError;

/// The message for a field that must not change.
pub(in crate::server) const IMMUTABLE: &str = "field is immutable";

/// The most bytes that keys and values of all annotations may have together.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// The most bytes of the name of a field manager.
pub(in crate::server) const MAX_MANAGER_LENGTH: usize = 128;

/// The most bytes of the name of a subresource in `managedFields`.
const MAX_SUBRESOURCE: usize = 256;

/// Finalizers that need no domain.
pub(in crate::server) const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", ORPHAN, FOREGROUND];

/// The rules for new objects of all kinds (`rest.BeforeCreate`).
pub(in crate::server) fn create(object: &Value) -> Vec<FieldError> {
    of_any_kind(object, names::path_segment)
}

/// The rules for updates of all kinds (`rest.BeforeUpdate`).
pub(in crate::server) fn update(object: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = of_any_kind(object, names::path_segment);
    errors.extend(update_of_any_kind(object, live));
    errors
}

/// The metadata of a built-in kind, whose names follow `name_rule`
/// (`ValidateObjectMeta` of `pkg/apis/core/validation`).
pub(in crate::server) fn builtin(object: &Value, name_rule: NameRule) -> Vec<FieldError> {
    let mut errors = of_any_kind(object, name_rule);
    errors.extend(finalizers_with_domain(object));
    errors
}

/// Like [`builtin`], of a kind whose rule is for names alone, however they were chosen
/// (`ValidateObjectMetaWithOpts` of `pkg/apis/core/validation`).
pub(super) fn builtin_with_chosen_name(object: &Value, name_rule: NameRule) -> Vec<FieldError> {
    let mut errors = of_a_chosen_name(object, name_rule);
    errors.extend(finalizers_with_domain(object));
    errors
}

/// The metadata of an updated object of a built-in kind
/// (`ValidateObjectMetaUpdate` of `pkg/apis/core/validation`).
pub(super) fn builtin_update(object: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = update_of_any_kind(object, live);
    errors.extend(finalizers_with_domain(object));
    errors
}

/// `ValidateObjectMetaAccessor`: the form of everything in the metadata.
pub(in crate::server) fn of_any_kind(object: &Value, name_rule: NameRule) -> Vec<FieldError> {
    let mut errors = prefix_of_name(object, name_rule);
    errors.extend(of_a_chosen_name(object, name_rule));
    errors
}

/// The prefix of a generated name.
fn prefix_of_name(object: &Value, name_rule: NameRule) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let generate = object.meta_text("generateName");
    if !generate.is_empty() {
        // What follows the prefix is alphanumeric, so a prefix may end with a dash. Upstream drops
        // the character before the dash, too (`maskTrailingDash`).
        let masked = match generate.strip_suffix('-') {
            Some(start) if !start.is_empty() => {
                let mut letters = start.chars();
                letters.next_back();
                format!("{}a", letters.as_str())
            }
            _ => generate.to_owned(),
        };
        let field = "metadata.generateName";
        let reasons = name_rule(&masked).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &generate.into(), why)));
    }
    errors
}

/// `ValidateObjectMetaAccessorWithOpts`: everything but the prefix of a generated name.
fn of_a_chosen_name(object: &Value, name_rule: NameRule) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let name = object.name();
    if name.is_empty() {
        let detail = "name or generateName is required";
        errors.push(FieldError::required("metadata.name", detail));
    } else {
        let reasons = name_rule(name).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid("metadata.name", &name.into(), why)));
    }
    let namespace = object.namespace();
    if !namespace.is_empty() {
        let reasons = names::label(namespace).into_iter();
        let field = "metadata.namespace";
        errors.extend(reasons.map(|why| FieldError::invalid(field, &namespace.into(), why)));
    }
    if object.generation() < 0 {
        errors.push(negative("metadata.generation", object.generation()));
    }
    errors.extend(common(object));
    errors.extend(finalizers(object));
    errors.extend(managers(object));
    errors
}

/// `ValidateObjectMetaAccessorUpdate`: refuses changes to fixed fields, and checks the form of the
/// others.
pub(in crate::server) fn update_of_any_kind(object: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if !live.meta_text("deletionTimestamp").is_empty() {
        let before: BTreeSet<&str> = live.finalizers().into_iter().collect();
        let extra: BTreeSet<&str> = object.finalizers().into_iter().collect();
        let extra: Vec<String> = extra
            .into_iter()
            .filter(|finalizer| !before.contains(finalizer))
            .map(go::quote)
            .collect();
        if !extra.is_empty() {
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                extra.join(", ")
            );
            errors.push(FieldError::forbidden("metadata.finalizers", detail));
        }
    }
    if object.resource_version().is_empty() {
        let detail = "must be specified for an update";
        errors.push(FieldError::invalid(
            "metadata.resourceVersion",
            &"".into(),
            detail,
        ));
    }
    if object.generation() < live.generation() {
        let value = object.generation().into();
        let detail = "must not be decremented";
        errors.push(FieldError::invalid("metadata.generation", &value, detail));
    }
    let (meta, live_meta) = (object.metadata(), live.metadata());
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        let now = meta.and_then(|meta| meta.get(field));
        let before = live_meta.and_then(|meta| meta.get(field));
        if now == before {
            continue;
        }
        let zero = match field {
            "name" | "namespace" | "uid" => "".into(),
            _ => Value::Null,
        };
        let (now, before) = (now.unwrap_or(&zero), before.unwrap_or(&zero));
        if now != before {
            let field = METADATA.child(field);
            errors.push(FieldError::invalid(field, now, IMMUTABLE));
        }
    }
    errors.extend(common(object));
    errors.extend(managers(object));
    errors
}

/// The names in `managedFields`: other mistakes in them leave none (`ValidateManagedFields`).
fn managers(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, entry) in object.managed_entries().iter().enumerate() {
        let of = |field: &str| text(entry, field);
        let is_usual = |name: &str| {
            name.len() <= MAX_MANAGER_LENGTH && name.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        };
        let (manager, subresource) = (of("manager"), of("subresource"));
        if is_usual(manager) && subresource.len() <= MAX_SUBRESOURCE {
            continue;
        }
        let path = METADATA.item("managedFields", i);
        errors.extend(manager_name(manager, &path.child("manager")));
        if subresource.len() > MAX_SUBRESOURCE {
            errors.push(FieldError::too_long(
                path.child("subresource"),
                MAX_SUBRESOURCE,
            ));
        }
    }
    errors
}

/// The name of a field manager (`ValidateFieldManager`).
pub(in crate::server) fn manager_name(manager: &str, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if manager.len() > MAX_MANAGER_LENGTH {
        errors.push(FieldError::too_long(path, MAX_MANAGER_LENGTH));
    }
    let unprintable = manager
        .char_indices()
        .filter(|(_, c)| !go::is_printable(*c));
    for (i, c) in unprintable {
        let detail = format!("invalid character U+{:04X} (at position {i})", c as u32);
        errors.push(FieldError::invalid(path, &manager.into(), detail));
    }
    errors
}

const METADATA: ErrorPath<'static> = ErrorPath::new("metadata");

/// Labels, annotations, owners and managed fields: checked whenever metadata is.
fn common(object: &Value) -> Vec<FieldError> {
    let Some(meta) = object.metadata() else {
        return Vec::new();
    };
    let mut errors = labels(meta.get("labels"), &METADATA.child("labels"));
    errors.extend(annotations(
        meta.get("annotations"),
        &METADATA.child("annotations"),
    ));
    errors.extend(owners(meta));
    errors
}

/// The fields of metadata that a template inside of an object does not have, as upstream names them.
const NOT_OF_TEMPLATES: [(&str, &str); 13] = [
    ("name", "name"),
    ("generateName", "generateName"),
    ("namespace", "namespace"),
    ("selfLink", "selfLink"),
    ("uid", "uID"),
    ("resourceVersion", "resourceVersion"),
    ("generation", "generation"),
    ("creationTimestamp", "creationTimestamp"),
    ("deletionTimestamp", "deletionTimestamp"),
    ("deletionGracePeriodSeconds", "deletionGracePeriodSeconds"),
    ("ownerReferences", "ownerReferences"),
    ("finalizers", "finalizers"),
    ("managedFields", "managedFields"),
];

/// The metadata of a template of a claim (`ValidateTemplateObjectMeta`).
pub(in crate::server) fn of_template(meta: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = annotations(meta.get("annotations"), &path.child("annotations"));
    errors.extend(labels(meta.get("labels"), &path.child("labels")));
    let given = |field: &str| meta.get(field).is_some_and(|value| !value.is_null());
    let others = NOT_OF_TEMPLATES.iter().filter(|(field, _)| given(field));
    errors
        .extend(others.map(|(_, shown)| FieldError::forbidden(path.child(shown), "cannot be set")));
    errors
}

/// Labels: their keys and values (`ValidateLabels`).
pub(in crate::server) fn labels(labels: Option<&Value>, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in members(labels) {
        let reasons = names::qualified(key).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(path, &key.into(), why)));
        let value = value.as_str().unwrap_or_default();
        let reasons = names::label_value(value).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(path, &value.into(), why)));
    }
    errors
}

/// Annotations: their keys in any case, and their size (`ValidateAnnotations`).
pub(in crate::server) fn annotations(
    annotations: Option<&Value>,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut size = 0;
    for (key, value) in members(annotations) {
        let reasons = names::qualified(&go::lower(key)).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(path, &key.into(), why)));
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > MAX_ANNOTATIONS {
        errors.push(FieldError::too_long(path, MAX_ANNOTATIONS));
    }
    errors
}

fn members(map: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    map.and_then(Value::as_object)
        .into_iter()
        .flat_map(JsonMap::iter)
        .map(|(key, value)| (key.as_str(), value))
}

fn owners(meta: &JsonMap) -> Vec<FieldError> {
    const PATH: ErrorPath<'static> = METADATA.child("ownerReferences");
    let mut errors = Vec::new();
    let mut controller: Option<String> = None;
    let Some(list) = meta.get("ownerReferences") else {
        return errors;
    };
    // An apply of a custom resource can leave out what Go always writes.
    let one = |owner: &Value| {
        let mut owner = owner.clone();
        for field in ["apiVersion", "kind", "name", "uid"] {
            if owner.get(field).is_none() {
                owner[field] = "".into();
            }
        }
        wire::of_type("OwnerReference", &owner)
    };
    let all = |list: &Value| {
        let shown: Vec<String> = list.as_array().into_iter().flatten().map(one).collect();
        format!("[{}]", shown.join(","))
    };
    for owner in list.as_array().into_iter().flatten() {
        let api_version = text(owner, "apiVersion");
        let parsed = GroupVersion::parse(api_version).unwrap_or_else(|| GroupVersion::new("", ""));
        if parsed.version.is_empty() {
            let field = PATH.child("apiVersion");
            let detail = "version must not be empty";
            errors.push(FieldError::invalid(field, &api_version.into(), detail));
        }
        for field in ["kind", "name", "uid"] {
            if text(owner, field).is_empty() {
                let field = PATH.child(field);
                errors.push(FieldError::invalid(field, &"".into(), "must not be empty"));
            }
        }
        if api_version == "v1" && text(owner, "kind") == "Event" {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            errors.push(FieldError::invalid(PATH, owner, detail).shown_as(one(owner)));
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            let this = format!("{}/{}", text(owner, "kind"), text(owner, "name"));
            match &controller {
                Some(first) => {
                    let detail = format!(
                        "Only one reference can have Controller set to true. \
                         Found \"true\" in references for {first} and {this}"
                    );
                    errors.push(FieldError::invalid(PATH, list, detail).shown_as(all(list)));
                }
                None => controller = Some(this),
            }
        }
    }
    errors
}

/// Merges references that are the same, of which the first counts (`dedupOwnerReferences` of
/// `k8s.io/apiserver/pkg/endpoints/handlers`). Returns the warning for the client.
pub(in crate::server) fn merge_owners(object: &mut Value, after_admission: bool) -> Option<String> {
    let owners = object.metadata()?.get("ownerReferences")?.as_array()?;
    let mut repeated = Vec::new();
    let mut kept: Vec<Value> = Vec::with_capacity(owners.len());
    for owner in owners {
        // Of one uid, references that differ stay.
        if kept.contains(owner) {
            repeated.push(text(owner, "uid"));
        } else {
            kept.push(owner.clone());
        }
    }
    if repeated.is_empty() {
        return None;
    }
    let when = if after_admission {
        " after mutating admission happens"
    } else {
        ""
    };
    let warning = format!(
        ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner \
         references in 1.20+, and may reject such requests as early as 1.24; please fix your \
         requests; duplicate UID(s) observed: {}",
        repeated.join(", ")
    );
    object.set_meta("ownerReferences", kept);
    Some(warning)
}

/// `ValidateFinalizers`.
fn finalizers(object: &Value) -> Vec<FieldError> {
    const PATH: &str = "metadata.finalizers";
    let finalizers = object.finalizers();
    let mut errors = Vec::new();
    for &finalizer in &finalizers {
        let reasons = names::qualified(finalizer).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(PATH, &finalizer.into(), why)));
    }
    if finalizers.contains(&ORPHAN) && finalizers.contains(&FOREGROUND) {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        let list = finalizers.into();
        errors.push(FieldError::invalid(PATH, &list, detail));
    }
    errors
}

fn finalizers_with_domain(object: &Value) -> Vec<FieldError> {
    let finalizers = object.finalizers().into_iter().enumerate();
    finalizers
        .filter_map(|(i, name)| without_domain(name, &METADATA.item("finalizers", i)))
        .collect()
}

/// `validateKubeFinalizerName`: without a domain only those that Kubernetes itself knows.
fn without_domain(name: &str, field: &ErrorPath<'_>) -> Option<FieldError> {
    let detail = "name is neither a standard finalizer name nor is it fully qualified";
    (!name.contains('/') && !STANDARD_FINALIZERS.contains(&name))
        .then(|| FieldError::invalid(field, &name.into(), detail))
}

/// Returns the errors in the name of a finalizer (`validateFinalizerName`).
pub(super) fn finalizer(name: &str, field: &ErrorPath<'_>) -> Vec<FieldError> {
    let reasons = names::qualified(name).into_iter();
    let mut errors: Vec<FieldError> = reasons
        .map(|why| FieldError::invalid(field, &name.into(), why))
        .collect();
    errors.extend(without_domain(name, field));
    errors
}

/// A number below zero (`ValidateNonnegativeField`).
pub(super) fn negative(field: impl Into<String>, value: i64) -> FieldError {
    negative_text(field, &value.into())
}

/// A number below zero in another form (`ValidateNonnegativeQuantity`).
pub(super) fn negative_text(field: impl Into<String>, value: &Value) -> FieldError {
    FieldError::invalid(field, value, "must be greater than or equal to 0")
}

/// Keeps the annotations that stand for fields of the spec, which a write of a subresource leaves alone.
pub fn keep_annotations(names: &[&str], object: &mut Value, live: &Value) {
    for name in names {
        let Some(kept) = live["metadata"]["annotations"].get(name) else {
            continue;
        };
        let annotations = object.metadata_mut().entry("annotations");
        annotations.or_insert_with(|| Value::Object(JsonMap::new()))[name] = kept.clone();
    }
}
