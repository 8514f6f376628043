//! Carries out one mutation of a policy on an object
//! (`k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch`).

use serde_json::Value;

use super::super::policies::{Evaluation, failure};
use crate::apply::{self, listed};
use crate::cel::{self, ApplyConfiguration, ChangeError, Foreign, ForeignKind};
use crate::json::Node;
use crate::limits;
use crate::object::{Metadata, text};
use crate::patch::{self, JsonPatch, JsonPatchError};
use crate::schema::{self, Decoded, ListKind, Struct, Type};
use crate::server::body::{self, DraftObject};
use crate::server::resource::{Definition, Resource};
use crate::server::{RequestInfo, patching};
use crate::status::{Refusal, Status};

/// The reason why a mutation changes nothing.
pub(super) enum Unchanged {
    /// A `test` of its JSON patch failed.
    ByTest,
    /// It cannot be done, for this reason.
    Mistaken(String),
    /// The request ends with this answer.
    Refused(Refusal),
    /// An expression cannot be evaluated here.
    Unknown(String),
}

/// The expression of a mutation.
fn expression_of(mutation: &Value) -> &str {
    let change = match text(mutation, "patchType") {
        "JSONPatch" => &mutation["jsonPatch"],
        _ => &mutation["applyConfiguration"],
    };
    text(change, "expression")
}

/// The object with the change of a mutation of a policy.
pub(super) fn changed(
    info: &RequestInfo,
    mutation: &Value,
    evaluation: &Evaluation<'_>,
) -> Result<DraftObject, Unchanged> {
    let (object, variables) = (evaluation.object(), &evaluation.composed());
    let expression = expression_of(mutation);
    let failed = |error| unchanged(error, expression);
    if text(mutation, "patchType") == "JSONPatch" {
        let operations = cel::json_patch(expression, variables).map_err(failed)?;
        return json_patched(info, object, operations);
    }
    let config = cel::apply_configuration(expression, variables).map_err(failed)?;
    applied(info, object, config)
}

/// The reason why an expression gives no change, as the policy tells it.
fn unchanged(error: ChangeError, expression: &str) -> Unchanged {
    Unchanged::Mistaken(match error {
        ChangeError::Failed(why) => failure(expression, &why),
        ChangeError::Mistyped(why) => why,
        ChangeError::TooCostly => failure(expression, cel::LIMIT_EXCEEDED),
        ChangeError::Panics => return Unchanged::Refused(patching::panicked()),
        ChangeError::Unknown => return Unchanged::Unknown(expression.to_owned()),
    })
}

/// The object with everything that a configuration says. No owner is asked (`ApplyStructuredMergeDiff`).
fn applied(
    info: &RequestInfo,
    object: &Value,
    config: ApplyConfiguration,
) -> Result<DraftObject, Unchanged> {
    let ApplyConfiguration {
        object: mut config,
        foreign,
    } = config;
    for field in ["apiVersion", "kind"] {
        config[field] = object[field].clone();
    }
    let root = &info.resource.root;
    let mistaken = |why: String| Unchanged::Mistaken(format!("error applying patch: {why}"));
    if info.parent.is_some() {
        // The schema that the server publishes has no kind for a view.
        let (version, kind) = (&info.resource.group_version, &info.resource.kind);
        return Err(mistaken(format!(
            "failed to convert patch object to typed object: no corresponding type for {version}, \
             Kind={kind}"
        )));
    }
    let mut mistakes = apply::validate(&config, root, false);
    if mistakes.is_empty() {
        // What is no part of an object passes here as a text where any text does.
        mistakes.extend(foreign.iter().map(mistyped));
    }
    if !mistakes.is_empty() {
        let mistakes = listed(&mistakes);
        return Err(mistaken(format!(
            "failed to convert patch object to typed object: {mistakes}"
        )));
    }
    let mut atomics = Vec::new();
    find_in_struct(root, &config, "", &mut atomics);
    if !atomics.is_empty() {
        let atomics = atomics.join(", ");
        return Err(mistaken(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {atomics}"
        )));
    }
    let mistakes = apply::validate(object, root, true);
    if !mistakes.is_empty() {
        let mistakes = listed(&mistakes);
        return Err(mistaken(format!(
            "failed to convert original object to typed object: {mistakes}"
        )));
    }
    let mut merged = apply::merge(object, &config, root);
    if !info.resource.is_builtin() {
        return finished(info, merged);
    }
    let managed = merged.metadata_mut().remove("managedFields");
    let converted = patch::from_unstructured(merged, root).map_err(Unchanged::Mistaken)?;
    let mut draft = finished(info, converted.value)?;
    draft
        .object
        .set_meta("managedFields", managed.unwrap_or(Value::Null));
    Ok(draft)
}

/// The mistake of a value that is no part of an object (`typed/validate.go`).
fn mistyped(value: &Foreign) -> String {
    let Foreign {
        path,
        kind,
        printed,
    } = value;
    let number = match kind {
        ForeignKind::List | ForeignKind::Map => {
            return format!("{path}: expected map, got &{{{printed}}}");
        }
        ForeignKind::Null => "0",
        ForeignKind::Duration | ForeignKind::Bytes => printed,
    };
    format!("{path}: expected string, got &value.valueUnstructured{{Value:{number}}}")
}

fn json_patched(
    info: &RequestInfo,
    object: &Value,
    operations: Value,
) -> Result<DraftObject, Unchanged> {
    let written = operations.to_string();
    let patch = JsonPatch::decode(written.as_bytes()).map_err(Unchanged::Mistaken)?;
    match patch.apply(object.clone()) {
        Ok(patched) => finished(info, patched),
        Err(JsonPatchError::TooDeep) => Err(Unchanged::Refused(limits::too_deep())),
        Err(JsonPatchError::Panics | JsonPatchError::DoesNotApply) => {
            let failed = patch.failed_operation(object.clone());
            Err(match failed {
                Some(failed) if failed.differed.is_some() => Unchanged::ByTest,
                Some(failed) => Unchanged::Mistaken(format!("JSON Patch: {}", failed.reason)),
                None => Unchanged::Mistaken("JSON Patch: missing value".to_owned()),
            })
        }
    }
}

/// A changed object with its defaults. One that is not of its kind ends the request.
fn finished(info: &RequestInfo, mut changed: Value) -> Result<DraftObject, Unchanged> {
    let refused = |why: &str| Unchanged::Refused(Status::internal_error(why));
    limits::check(&changed).map_err(Unchanged::Refused)?;
    let resource: &Resource = &info.resource;
    if let Definition::Custom(custom) = &resource.definition {
        custom.fill_in(&mut changed);
        return Ok(changed.into());
    }
    let Decoded {
        value: mut object,
        strict_errors,
        empties,
    } = schema::decode(Node::from(changed), &resource.root).map_err(|why| refused(&why))?;
    if !strict_errors.is_empty() {
        let list = strict_errors.join(", ");
        return Err(refused(&format!("strict decoding error: {list}")));
    }
    let internal = body::finish(info, &mut object, &empties);
    Ok(DraftObject {
        object,
        internal,
        empties,
        ..DraftObject::default()
    })
}

/// Finds the values that could only be replaced as a whole (`findAtomics`). Values of maps are not looked at.
fn find_atomics(ty: &Type, value: &Value, path: &str, found: &mut Vec<String>) {
    match (ty, value) {
        (Type::Struct(inner), Value::Object(_)) => find_in_struct(inner, value, path, found),
        (Type::Map(inner), Value::Object(_)) if inner.atomic => found.push(path.to_owned()),
        (Type::List(inner), Value::Array(items)) => {
            if inner.kind == ListKind::Atomic {
                found.push(path.to_owned());
            }
            for (i, item) in items.iter().enumerate() {
                find_atomics(&inner.item, item, &format!("{path}[{i}]"), found);
            }
        }
        (Type::Any, Value::Array(_)) => found.push(path.to_owned()),
        _ => {}
    }
}

fn find_in_struct(ty: &Struct, value: &Value, path: &str, found: &mut Vec<String>) {
    if ty.atomic {
        found.push(path.to_owned());
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        if let Some(field) = ty.field(name) {
            find_atomics(&field.ty, member, &format!("{path}.{name}"), found);
        }
    }
}
