//! The server's own changes to an object before it stores an update
//! (`pkg/registry/rest/update.go`).

use serde_json::Value;

use super::{endpoint, normalize_namespace};
use crate::apply::{PathElement, Set};
use crate::go;
use crate::object::{Metadata, text};
use crate::schema::{Empties, Scalar};
use crate::server::kinds::{self, Namespace, metadata};
use crate::server::resource::{Definition, Generation};
use crate::server::{Custom, RequestInfo};
use crate::status::{FieldError, Refusal, Status};

/// `rest.BeforeUpdate`: the fields that the server sets before it stores.
pub(super) fn before_update(
    info: &RequestInfo,
    object: &mut Value,
    empties: &Empties,
    live: &Value,
    namespace: Namespace<'_>,
) -> Result<(), Refusal> {
    check_version_named(info, object)?;
    normalize_namespace(info, object)?;
    let keep = |object: &mut Value, field: &str| {
        let value = live.metadata().and_then(|meta| meta.get(field));
        object.set_meta(field, value.cloned().unwrap_or(Value::Null));
    };
    keep(object, "generation");
    match &info.resource.definition {
        Definition::Custom(_) if info.subresource == "status" => {
            Custom::keep_all_but_status(object, live);
        }
        _ if info.resource.restores() => {}
        _ => {
            let fields = &endpoint(info)?.reset_fields;
            info.resource
                .as_stored(object, live, |object, live| restore(object, live, fields));
        }
    }
    // Some kinds count changes that are dropped afterwards.
    let counts_all = matches!(
        info.resource.generation,
        Generation::AllButOtherMetadata | Generation::SpecAsGiven
    );
    let changes = counts_all && generation_changes(info.resource.generation, object, live);
    info.resource.prepare(&info.subresource, object, Some(live));
    if object.uid().is_empty() {
        keep(object, "uid");
    }
    keep(object, "creationTimestamp");
    drop_unread_deletion(object);
    // An update does not undo or move a deletion, and keeps the grace period.
    if !live.meta_text("deletionTimestamp").is_empty() {
        keep(object, "deletionTimestamp");
    }
    // No period is one that is no integer, too (`Unstructured.GetDeletionGracePeriodSeconds`).
    let grace = "deletionGracePeriodSeconds";
    if object
        .metadata()
        .is_none_or(|meta| !meta.get(grace).is_some_and(Value::is_i64))
    {
        keep(object, grace);
    }
    let changes = changes || has_new_empties(info.resource.generation, empties, object);
    let generation_changes =
        changes || !counts_all && generation_changes(info.resource.generation, object, live);
    if info.subresource != "status" && generation_changes {
        object.set_meta("generation", live.generation() + 1);
    }
    validate_update(info, object, empties, live, namespace)
}

/// Keeps what a request does not write as it is stored. In the server, an object is in its internal form, but here it
/// was in the version of the request, which may have no fields for all of that.
pub(super) fn keep_stored(
    info: &RequestInfo,
    object: &mut Value,
    stored: &Value,
) -> Result<(), Refusal> {
    if info.resource.is_stored_otherwise() && !info.resource.restores() {
        let stored = info.resource.filled(stored);
        restore(object, &stored, &endpoint(info)?.reset_fields);
    }
    Ok(())
}

/// Some kinds are compared as Go holds them (`reflect.DeepEqual`), and the stored ones have nothing empty.
fn has_new_empties(generation: Generation, empties: &Empties, object: &Value) -> bool {
    match generation {
        Generation::Webhooks => empties.has_any_in("webhooks"),
        Generation::SpecAndEmpties => empties.has_any_absent_below("spec", object),
        _ => false,
    }
}

/// A patch can leave a custom resource without a version, and then it has no type (`objectMetaAndKind` of
/// `pkg/registry/rest/create.go`, over `ObjectKinds` of `apiextensions-apiserver/pkg/crdserverscheme`).
fn check_version_named(info: &RequestInfo, object: &Value) -> Result<(), Refusal> {
    if info.resource.is_builtin() || !text(object, "apiVersion").is_empty() {
        return Ok(());
    }
    let missing = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
    Err(Status::internal_error(missing))
}

/// An apply of a custom resource is not decoded: a time of deletion that cannot be read is none
/// (`Unstructured.GetDeletionTimestamp`).
fn drop_unread_deletion(object: &mut Value) {
    let time = object
        .metadata()
        .and_then(|meta| meta.get("deletionTimestamp"));
    let is_read = |time: &Value| {
        let text = time.as_str();
        text.is_some_and(|text| go::time::canonical(text, Scalar::Time.time_layout()).is_ok())
    };
    if time.is_some_and(|time| !is_read(time)) {
        object.set_meta("deletionTimestamp", Value::Null);
    }
}

/// The checks of `rest.BeforeUpdate`: of the metadata, of the kind, and of the change.
fn validate_update(
    info: &RequestInfo,
    object: &mut Value,
    empties: &Empties,
    live: &Value,
    namespace: Namespace<'_>,
) -> Result<(), Refusal> {
    let mut errors = metadata::update(object, live);
    errors.extend(info.resource.may_claim(object, Some(live), namespace));
    let mut found = Vec::new();
    let mut validate = |object: &mut Value| {
        found = info
            .resource
            .validate(&info.subresource, object, Some(live));
    };
    if info.resource.sees_empties(&info.subresource) {
        empties.present(object, validate);
    } else {
        validate(object);
    }
    kinds::allow_relabeling_in_use(&mut found, live);
    let changes = info
        .resource
        .validate_change(&info.subresource, object, empties, live);
    if errors.is_empty() && found.is_empty() && changes.is_empty() {
        return Ok(());
    }
    errors.extend(shown_as_sent(info, object, empties, live, found));
    errors.extend(changes);
    let kind = info.resource.group_kind_of(object);
    Err(Status::invalid(&kind, object.name(), &errors))
}

/// Restores the empty lists of a refused object: messages show it as it was sent.
fn shown_as_sent(
    info: &RequestInfo,
    object: &mut Value,
    empties: &Empties,
    live: &Value,
    found: Vec<FieldError>,
) -> Vec<FieldError> {
    let mut again = Vec::new();
    if !found.is_empty() && *empties != Empties::default() {
        empties.present(object, |object| {
            again = info
                .resource
                .validate(&info.subresource, object, Some(live));
        });
    }
    if again.len() == found.len() {
        again
    } else {
        found
    }
}

fn generation_changes(generation: Generation, object: &Value, live: &Value) -> bool {
    let differs = |pointer: &str| object.pointer(pointer) != live.pointer(pointer);
    match generation {
        Generation::None | Generation::Once => false,
        Generation::Template => differs("/template"),
        Generation::Webhooks => differs("/webhooks"),
        // `apiequality.Semantic.DeepEqual`
        Generation::Spec | Generation::SpecLater | Generation::SpecAsGiven => {
            match (object.get("spec"), live.get("spec")) {
                (Some(new), Some(old)) => new != old && !kinds::same_in_go(new, old),
                (new, old) => new != old,
            }
        }
        Generation::SpecAndEmpties => differs("/spec"),
        Generation::SpecAndAnnotations => differs("/spec") || differs("/metadata/annotations"),
        // Go writes an empty list of a built-in kind as null, and `Semantic.DeepEqual` takes them for equal.
        Generation::AllButOtherMetadata => {
            let equal = |new: &Value, old: &Value| {
                new == old || old.is_null() && new.as_array().is_some_and(Vec::is_empty)
            };
            differ_besides(&["metadata"], object, live, equal) || differs("/metadata/labels")
        }
        Generation::AllButMetadata => differ_besides(&["metadata"], object, live, Value::eq),
        Generation::AllButMetadataAndStatus => {
            differ_besides(&["metadata", "status"], object, live, Value::eq)
        }
    }
}

/// Returns whether anything but these members differs.
fn differ_besides(
    members: &[&str],
    object: &Value,
    live: &Value,
    equal: impl Fn(&Value, &Value) -> bool,
) -> bool {
    let [mut others, known] = [object, live].map(|value| {
        let map = value.as_object().into_iter().flatten();
        map.filter(|(name, _)| !members.contains(&name.as_str()))
    });
    let differs = |(name, value): (&String, &Value)| {
        let old = live.get(name);
        !old.is_some_and(|old| equal(value, old))
    };
    others.clone().count() != known.count() || others.any(differs)
}

/// Puts back the fields that a write through this endpoint does not change.
pub(super) fn restore(object: &mut Value, live: &Value, reset_fields: &Set) {
    for path in reset_fields.paths() {
        let names: Vec<&str> = path
            .0
            .iter()
            .filter_map(|element| match element {
                PathElement::Field(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let Some((last, parents)) = names.split_last() else {
            continue;
        };
        if names == ["metadata"] {
            restore_metadata(object, live);
            continue;
        }
        let kept = names.iter().try_fold(live, |value, name| value.get(name));
        let parent = parents
            .iter()
            .try_fold(&mut *object, |value, name| value.get_mut(name));
        if let Some(Value::Object(parent)) = parent {
            match kept {
                Some(value) => parent.insert((*last).to_owned(), value.clone()),
                None => parent.remove(*last),
            };
        }
    }
}

/// Restores the metadata of an object if only the status is written
/// (`metav1.ResetObjectMetaForStatus`).
fn restore_metadata(object: &mut Value, live: &Value) {
    for field in [
        "deletionTimestamp",
        "selfLink",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
    ] {
        let kept = live.metadata().and_then(|meta| meta.get(field));
        object.set_meta(field, kept.cloned().unwrap_or(Value::Null));
    }
}
