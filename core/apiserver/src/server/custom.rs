//! Custom resources: objects of a kind that a CustomResourceDefinition describes
//! (`k8s.io/apiextensions-apiserver/pkg/registry/customresource`,
//! `pkg/apiserver/customresource_handler.go`). They are JSON that a schema shapes, not Go structs.

mod definition;
mod lifecycle;
mod served;
mod size;
#[cfg(test)]
mod tests;
mod validation;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::body;
use super::kinds::metadata::{self, STANDARD_FINALIZERS};
use super::kinds::names;
use super::patching::foreign;
use super::{JsonPath, PrinterColumn};
use crate::go;
use crate::json::{self, Node, Raw};
use crate::object::{GroupName, GroupVersion, Metadata, text};
use crate::schema::custom::{self, Before};
use crate::schema::openapi::Schema;
use crate::status::FieldError;

pub(super) use definition::{defines_kinds, definitions, is_feasible_definition};
pub(super) use lifecycle::{CLEANUP, set_condition};
pub(super) use served::maturity;
pub(super) use served::served_by;
pub(super) use size::fit;
pub(super) use validation::unknown_rules;

/// A CustomResourceDefinition's rules for one version of its kind.
#[derive(Debug)]
pub struct Custom {
    /// The group and version that it serves.
    pub group_version: GroupVersion,
    /// The kind.
    pub kind: String,
    /// The schema. Without a schema, no field is known, and every field is removed.
    pub schema: Option<Arc<Schema>>,
    /// All versions of the definition.
    pub versions: Arc<DefinedVersions>,
    /// `true` if only the subresource writes the status.
    pub has_status: bool,
    /// The paths of the values that `/scale` shows.
    pub scale: Option<ScalePaths>,
    /// The columns of tables besides the name.
    pub columns: Vec<PrinterColumn>,
    /// The fields that collections can be selected by.
    pub selectable: Vec<(String, JsonPath)>,
    /// The warning for every request to this version.
    pub deprecation: Option<String>,
    /// Its schema as the definition has it, with descriptions.
    pub described: Value,
}

/// The versions of a definition, served or not.
#[derive(Debug)]
pub struct DefinedVersions {
    /// The schema of each, by group and version.
    pub schemas: Vec<(String, Option<Arc<Schema>>)>,
    /// The group and version in which objects are stored.
    pub storage: String,
    /// `true` if a stored object may not fit the version that it is read in: there are several, or the definition
    /// was changed.
    pub may_not_fit: bool,
    /// The path of the wanted number of replicas in each version; `None` for one without `/scale`.
    pub replicas: Vec<(String, Option<String>)>,
}

/// The paths of an object's values that `/scale` shows, such as `.spec.replicas`.
#[derive(Debug)]
pub struct ScalePaths {
    /// The wanted number.
    pub spec_replicas: String,
    /// The observed number.
    pub status_replicas: String,
    /// A label selector as text.
    pub label_selector: Option<String>,
}

/// A document whose kind is missing (`runtime.NewMissingKindErr`); `shown` is the document.
pub(super) fn missing_kind(shown: &str) -> String {
    format!("Object 'Kind' is missing in '{shown}'")
}

/// The group and kind in an object.
pub(super) fn group_kind_of(object: &Value) -> GroupName {
    let group = GroupVersion::parse(text(object, "apiVersion")).map(|gv| gv.group);
    GroupName::new(group.unwrap_or_default(), text(object, "kind"))
}

impl Custom {
    /// Decodes a document and fills in defaults. With the object come the complaints of strict
    /// decoding.
    ///
    /// # Errors
    /// The decoder's error, if it is not an object or its metadata is malformed.
    pub(super) fn decode(&self, node: Node) -> Result<(Value, Vec<String>), String> {
        if !matches!(node, Node::Object(_)) {
            return Err(format!(
                "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                node.go_kind()
            ));
        }
        let mut strict_errors = json::duplicates(&node);
        let mut object = Value::from(node);
        // `schemaCoercingDecoder.Decode` of `customresource_handler.go` reads it with `NestedString`.
        if let Some(error) = mistaken(&object, "apiVersion", "string", Value::is_string) {
            return Err(error);
        }
        custom::numbers_as_read(&mut object);
        strict_errors.extend(self.coerce(&mut object, false)?);
        self.fill_in(&mut object);
        Ok((object, strict_errors))
    }

    /// Decodes an object that was stored elsewhere: defaults are not filled in.
    ///
    /// # Errors
    /// The decoder's error, if its metadata is malformed.
    pub(super) fn decode_stored(&self, node: Node) -> Result<(Value, Vec<String>), String> {
        let mut object = Value::from(node);
        custom::numbers_as_read(&mut object);
        let strict_errors = self.coerce(&mut object, false)?;
        Ok((object, strict_errors))
    }

    /// Decodes the result of a patch.
    ///
    /// # Errors
    /// The decoder's error, if it is not an object, has no kind, or its metadata is malformed.
    pub(super) fn decode_patched(
        &self,
        patched: Node,
        in_order: &dyn Fn() -> Raw,
    ) -> Result<(Value, Vec<String>), String> {
        let head = body::head(&patched);
        if let Some(error) = foreign::uninterpretable(&head) {
            return Err(error);
        }
        if let Some(error) = json::huge_number_error(&patched) {
            return Err(error);
        }
        if text(&head, "kind").is_empty() {
            return Err(missing_kind(&in_order().compact()));
        }
        self.decode(patched)
    }

    /// Fills in defaults, if it is an object of this kind.
    pub(super) fn fill_in(&self, object: &mut Value) {
        if let (true, Some(schema)) = (self.is_of_kind(object), self.schema_for(object)) {
            custom::fill_in(object, schema);
        }
    }

    /// Reads a stored object in this version: undeclared and malformed fields are gone, and
    /// defaults are filled in, by the schema of the version in which it was stored. Then it is
    /// written in this version, whose schema removes the fields that it does not declare.
    pub(super) fn read_back(&self, stored: &Arc<Value>) -> Arc<Value> {
        let mut object = stored.as_ref().clone();
        let own = self.group_version.to_string();
        let known = self.schema_of(text(&object, "apiVersion")).is_some();
        if !known {
            object["apiVersion"] = own.as_str().into();
        }
        if self.coerce(&mut object, true).is_err() {
            return Arc::clone(stored);
        }
        self.fill_in(&mut object);
        self.convert(&mut object, &own);
        if object.generation() == 0 {
            object.set_meta("generation", 1);
        }
        if object == **stored {
            Arc::clone(stored)
        } else {
            Arc::new(object)
        }
    }

    /// Writes an object in the version in which it is stored.
    pub(super) fn before_storing(&self, object: &mut Value) {
        self.convert(object, &self.versions.storage);
        custom::numbers_as_stored(object);
    }

    /// Writes an object in another version (conversion `None`): only `apiVersion` changes, and the
    /// schema of that version removes the fields that it does not declare
    /// (`schemaCoercingConverter`).
    fn convert(&self, object: &mut Value, api_version: &str) {
        if text(object, "apiVersion") == api_version {
            return;
        }
        object["apiVersion"] = api_version.into();
        // What was read by one schema has sound metadata, and that is all that could be wrong.
        let _ = self.coerce(object, true);
    }

    /// Coerces untyped JSON as decoding would do for a Go struct (`unstructuredSchemaCoercer`).
    fn coerce(&self, object: &mut Value, lenient: bool) -> Result<Vec<String>, String> {
        let mut strict_errors = Vec::new();
        let metadata = match object.get("metadata") {
            None => None,
            Some(metadata) => {
                let (metadata, unknown) = custom::coerce_metadata(metadata, "", lenient)?;
                strict_errors.extend(unknown);
                Some(metadata)
            }
        };
        let api_version = text(object, "apiVersion");
        if GroupVersion::parse(api_version).is_none() {
            return Err(format!("unexpected GroupVersion string: {api_version}"));
        }
        if self.is_of_kind(object) {
            let schema = self.schema_for(object);
            let removed = custom::prune(object, schema);
            strict_errors.extend(
                removed
                    .iter()
                    .map(|path| format!("unknown field \"{path}\"")),
            );
            custom::prune_nulls(object, schema);
            strict_errors.extend(custom::coerce(object, schema, lenient)?);
        }
        if let Some(metadata) = metadata {
            object["metadata"] = metadata;
        }
        Ok(strict_errors)
    }

    /// Returns whether the object has this group and kind, in any version.
    fn is_of_kind(&self, object: &Value) -> bool {
        let group = GroupVersion::parse(text(object, "apiVersion")).map(|gv| gv.group);
        group.is_some_and(|group| group == self.group_version.group)
            && text(object, "kind") == self.kind
    }

    /// The schema of a version of the definition; `None` if there is no such version.
    fn schema_of(&self, api_version: &str) -> Option<Option<&Schema>> {
        let mut versions = self.versions.schemas.iter();
        let found = versions.find(|(version, _)| version == api_version);
        found.map(|(_, schema)| schema.as_deref())
    }

    fn schema_for(&self, object: &Value) -> Option<&Schema> {
        self.schema_of(text(object, "apiVersion")).flatten()
    }

    /// Drops the status of a new object if the status has an endpoint of its own.
    pub(super) fn prepare(&self, object: &mut Value, live: Option<&Value>) {
        if live.is_none()
            && self.has_status
            && let Value::Object(map) = object
        {
            map.remove("status");
        }
    }

    /// Restores everything but the status and the owners: a write of the status changes nothing
    /// else.
    pub(super) fn keep_all_but_status(object: &mut Value, live: &Value) {
        let mut kept = live.clone();
        let managed = object.managed_fields().cloned();
        kept.set_meta("managedFields", managed.unwrap_or(Value::Null));
        if let Value::Object(map) = &mut kept {
            match object.get("status") {
                Some(status) => map.insert("status".to_owned(), status.clone()),
                None => map.remove("status"),
            };
        }
        *object = kept;
    }

    /// Checks an object (`customResourceStrategy` and `statusStrategy`).
    pub(super) fn validate(
        &self,
        subresource: &str,
        object: &Value,
        live: Option<&Value>,
    ) -> Vec<FieldError> {
        let mut errors = self.type_errors(object);
        let of_status = subresource == "status";
        if errors.is_empty() {
            if live.is_none() {
                errors.extend(metadata::of_any_kind(object, names::subdomain));
            }
            if let Some(live) = live {
                errors.extend(metadata::update_of_any_kind(object, live));
            }
            errors.extend(match (live, of_status) {
                (Some(live), true) => self.status_errors(object, live),
                _ => self.value_errors(object, live),
            });
            errors.extend(self.scale_errors(object, of_status));
        }
        let Some(schema) = &self.schema else {
            return errors;
        };
        if !of_status {
            errors.extend(custom::validate_embedded(object, schema, metadata::create));
        }
        // What was there twice before may stay.
        if live.is_none_or(|live| custom::duplicates(live, schema).is_empty()) {
            errors.extend(custom::duplicates(object, schema));
        }
        let hindered = errors.iter().any(FieldError::hinders_rules);
        if schema.uses_rules() && !hindered {
            errors.extend(custom::judge(object, live, schema).errors);
        }
        if schema.uses_rules() && hindered {
            errors.push(FieldError::invalid(
                "<nil>",
                &Value::Null,
                "some validation rules were not checked because the object was invalid; \
                 correct the existing errors to complete validation",
            ));
        }
        errors
    }

    /// Returns whether an object can be checked in a moment.
    pub(super) fn is_feasible(&self, object: &Value) -> bool {
        let schema = self.schema_for(object);
        schema.is_none_or(|schema| custom::is_feasible(object, schema))
    }

    fn type_errors(&self, object: &Value) -> Vec<FieldError> {
        let expected = [
            ("kind", self.kind.clone()),
            ("apiVersion", self.group_version.to_string()),
        ];
        let wrong = expected
            .into_iter()
            .filter(|(field, expected)| text(object, field) != *expected);
        wrong
            .map(|(field, expected)| {
                let found = Value::from(text(object, field));
                FieldError::invalid(field, &found, format!("must be {expected}"))
            })
            .collect()
    }

    fn value_errors(&self, object: &Value, live: Option<&Value>) -> Vec<FieldError> {
        let Some(schema) = &self.schema else {
            return Vec::new();
        };
        let before = live.map(|value| Before { value, schema });
        custom::validate(object, schema, "", before)
    }

    /// The status is checked alone, so messages do not show that a field is in the status.
    fn status_errors(&self, object: &Value, live: &Value) -> Vec<FieldError> {
        let schema = self.schema.as_deref();
        let schema = schema.and_then(|schema| schema.properties.get("status"));
        let (Some(schema), Some(status)) = (schema, object.get("status")) else {
            return Vec::new();
        };
        // What was not there counts as null: to set it to null again is no change.
        let value = live.get("status").unwrap_or(&Value::Null);
        let before = Some(Before { value, schema });
        custom::validate(status, schema, "status", before)
    }

    fn scale_errors(&self, object: &Value, of_status: bool) -> Vec<FieldError> {
        let Some(scale) = &self.scale else {
            return Vec::new();
        };
        let mut errors = Vec::new();
        if !of_status {
            errors.extend(replicas_error(object, &scale.spec_replicas));
        }
        errors.extend(replicas_error(object, &scale.status_replicas));
        if let Some(path) = &scale.label_selector
            && let Some(problem) = mistaken(object, path, "string", Value::is_string)
        {
            errors.push(FieldError::invalid(path, &"".into(), problem));
        }
        errors
    }

    /// Returns the results of the definition's rules for an accepted object: the rules that could
    /// not be evaluated, and warnings of rules that do not hold for unchanged values.
    pub(super) fn judged(
        &self,
        object: &Value,
        live: Option<&Value>,
    ) -> (Vec<String>, Vec<String>) {
        match &self.schema {
            Some(schema) if schema.uses_rules() => {
                let judged = custom::judge(object, live, schema);
                let warnings = judged.tolerated.iter().map(ToString::to_string);
                (judged.unevaluated, warnings.collect())
            }
            _ => Default::default(),
        }
    }

    /// The warnings for finalizers without a domain.
    pub(super) fn warn(
        &self,
        subresource: &str,
        object: &Value,
        live: Option<&Value>,
    ) -> Vec<String> {
        if subresource == "status" {
            return Vec::new();
        }
        let before = live.map(Metadata::finalizers).unwrap_or_default();
        let before: BTreeSet<&str> = before.into_iter().collect();
        let mut added: Vec<&str> = object.finalizers();
        added.retain(|finalizer| !before.contains(finalizer));
        added.sort_unstable();
        added.dedup();
        added.into_iter().flat_map(finalizer_warnings).collect()
    }
}

/// `validateKubeFinalizerName`.
fn finalizer_warnings(finalizer: &str) -> Vec<String> {
    let say = |what: &str| format!("metadata.finalizers: {}: {what}", go::quote(finalizer));
    let mut warnings: Vec<String> = names::qualified(finalizer)
        .iter()
        .map(|problem| say(problem))
        .collect();
    if !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer) {
        warnings.push(say(if finalizer.contains('.') {
            "prefer a domain-qualified finalizer name including a path (/) to avoid accidental \
             conflicts with other finalizer writers"
        } else {
            "prefer a domain-qualified finalizer name to avoid accidental conflicts with other \
             finalizer writers"
        }));
    }
    warnings
}

fn replicas_error(object: &Value, path: &str) -> Option<FieldError> {
    if let Some(problem) = mistaken(object, path, "int64", Value::is_i64) {
        return Some(FieldError::invalid(path, &0.into(), problem));
    }
    let replicas = at(object, path)?.as_i64()?;
    let problem = if replicas < 0 {
        "should be a non-negative integer".to_owned()
    } else if replicas > i64::from(i32::MAX) {
        format!("should be less than or equal to {}", i32::MAX)
    } else {
        return None;
    };
    Some(FieldError::invalid(path, &replicas.into(), problem))
}

/// The names on a path such as `.spec.replicas`.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('.').unwrap_or(path).split('.')
}

fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    steps(path).try_fold(object, |value, name| value.get(name))
}

/// Returns the reason why the value on a path cannot be read (`unstructured.NestedFieldNoCopy`).
fn mistaken(object: &Value, path: &str, wanted: &str, fits: fn(&Value) -> bool) -> Option<String> {
    let mut value = object;
    let mut walked = String::new();
    for name in steps(path) {
        if value.is_null() {
            return None;
        }
        walked.push('.');
        walked.push_str(name);
        let Value::Object(map) = value else {
            return Some(format!(
                "{walked} accessor error: {} is of the type {}, expected map[string]interface{{}}",
                go::print(value),
                go::dynamic_type(value),
            ));
        };
        value = map.get(name)?;
    }
    (!fits(value)).then(|| {
        format!(
            "{walked} accessor error: {} is of the type {}, expected {wanted}",
            go::print(value),
            go::dynamic_type(value),
        )
    })
}
