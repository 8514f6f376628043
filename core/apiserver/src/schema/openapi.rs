//! The schema of a custom resource: the `openAPIV3Schema` of a CustomResourceDefinition, read
//! (`apiextensions/v1.JSONSchemaProps`, `pkg/apiserver/schema/convert.go`).

use std::collections::BTreeMap;

use optimist_values::Pattern;
use serde_json::Value;

use super::ListKind;
use super::custom::{ValidationRule, numbers_as_read};
use crate::object::JsonMap;

/// A schema deeper than this is refused, so that nothing that walks one runs out of stack.
const MAX_DEPTH: usize = 100;

/// One node of a schema: the structure by which the server prunes, defaults and merges, and the
/// checks for values.
#[derive(Debug, Default)]
pub struct Schema {
    /// `object`, `array`, `string`, `integer`, `number`, `boolean`; empty if it is not declared.
    pub ty: String,
    /// `true` if `null` is a value.
    pub nullable: bool,
    /// The value that is filled in if none was given.
    pub default: Option<Value>,
    /// The declared members of an object.
    pub properties: BTreeMap<String, Schema>,
    /// The names of those that have a default.
    pub defaulted: Vec<String>,
    /// The members that an object may have besides its declared ones.
    pub additional: Option<Additional>,
    /// The items of an array.
    pub items: Option<Box<Schema>>,
    /// Members that are not declared are kept.
    pub preserve_unknown: bool,
    /// The object is a resource itself, with apiVersion, kind and metadata.
    pub embedded: bool,
    /// An integer or a string.
    pub int_or_string: bool,
    /// `true` if it is not checked that a value is an integer or a string (`Structural.ToKubeOpenAPI`).
    pub lax: bool,
    /// The rule that tells items of an array apart.
    pub list: ListKind,
    /// Server-side apply owns the object as a whole.
    pub atomic: bool,
    /// The checks that a value must pass.
    pub checks: Checks,
    /// The format as it was given.
    pub format: String,
    /// Its validation rules in CEL.
    pub rules: Vec<ValidationRule>,
}

/// The members that an object may have besides its declared ones.
#[derive(Debug)]
pub enum Additional {
    /// Nothing (`additionalProperties: false`, in parts that only validate).
    Forbidden,
    /// Anything.
    Any,
    /// Values of one schema.
    Of(Box<Schema>),
}

/// The checks that a value must pass besides being of its type.
#[derive(Debug, Default)]
pub struct Checks {
    /// Members that an object must have.
    pub required: Vec<String>,
    /// The only values allowed; empty for no restriction.
    pub choices: Vec<Value>,
    /// The smallest number, and whether it is excluded itself.
    pub minimum: Option<(f64, bool)>,
    /// The largest number, and whether it is excluded itself.
    pub maximum: Option<(f64, bool)>,
    /// The number of which a value must be a multiple.
    pub multiple_of: Option<f64>,
    /// The fewest characters of a string.
    pub min_length: Option<i64>,
    /// The most characters of a string.
    pub max_length: Option<i64>,
    /// The pattern that must match somewhere in a string.
    pub pattern: Option<Pattern>,
    /// The fewest items of an array.
    pub min_items: Option<i64>,
    /// The most items of an array.
    pub max_items: Option<i64>,
    /// `true` if the items must be unique.
    pub unique_items: bool,
    /// The fewest members of an object.
    pub min_properties: Option<i64>,
    /// The most members of an object.
    pub max_properties: Option<i64>,
    /// All of these must hold.
    pub all_of: Vec<Schema>,
    /// At least one of these must hold.
    pub any_of: Vec<Schema>,
    /// Exactly one of these must hold.
    pub one_of: Vec<Schema>,
    /// This must not hold.
    pub not: Option<Box<Schema>>,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// The problem, with the path below the schema in front, such as `properties[spec].type: must
    /// be a string`.
    pub fn parse(json: &Value) -> Result<Self, String> {
        let mut path = Vec::new();
        node(json, &mut path).map_err(|problem| {
            let path = path.join(".");
            if path.is_empty() {
                problem
            } else {
                format!("{path}: {problem}")
            }
        })
    }

    /// The schema of a member of an object: declared, or that of all others.
    pub fn member(&self, name: &str) -> Option<&Schema> {
        self.properties.get(name).or(match &self.additional {
            Some(Additional::Of(schema)) => Some(schema),
            _ => None,
        })
    }

    /// Says of it and everything below it whether it is checked that a value is an integer or a string.
    pub fn set_lax(&mut self, lax: bool) {
        self.lax = lax;
        if let Some(Additional::Of(schema)) = &mut self.additional {
            schema.set_lax(lax);
        }
        let items = self.items.as_deref_mut();
        let below = self.properties.values_mut().chain(items);
        below.for_each(|schema| schema.set_lax(lax));
    }

    /// Returns whether it, or anything below it, has validation rules in CEL.
    pub fn uses_rules(&self) -> bool {
        let below = match &self.additional {
            Some(Additional::Of(schema)) => Some(schema),
            _ => None,
        };
        !self.rules.is_empty()
            || self.properties.values().any(Schema::uses_rules)
            || below.is_some_and(|schema| schema.uses_rules())
            || self.items.as_ref().is_some_and(|items| items.uses_rules())
    }
}

impl crate::cel::ValueSchema for Schema {
    fn ty(&self) -> &str {
        &self.ty
    }

    fn format(&self) -> &str {
        &self.format
    }

    fn int_or_string(&self) -> bool {
        self.int_or_string
    }

    fn embedded(&self) -> bool {
        self.embedded
    }

    fn has_default(&self) -> bool {
        self.default.is_some()
    }

    fn items(&self) -> Option<&Self> {
        self.items.as_deref()
    }

    fn list_kind(&self) -> ListKind {
        self.list.clone()
    }

    fn additional(&self) -> Option<&Self> {
        match &self.additional {
            Some(Additional::Of(schema)) => Some(schema),
            _ => None,
        }
    }

    fn property(&self, name: &str) -> Option<&Self> {
        self.properties.get(name)
    }

    fn properties(&self) -> impl Iterator<Item = (&str, &Self)> {
        let members = self.properties.iter();
        members.map(|(name, schema)| (name.as_str(), schema))
    }

    fn requires(&self, name: &str) -> bool {
        self.checks.required.iter().any(|it| it == name)
    }

    fn choices(&self) -> &[Value] {
        &self.checks.choices
    }

    fn max_length(&self) -> Option<i64> {
        self.checks.max_length
    }

    fn max_items(&self) -> Option<i64> {
        self.checks.max_items
    }

    fn max_properties(&self) -> Option<i64> {
        self.checks.max_properties
    }
}

fn node(json: &Value, path: &mut Vec<String>) -> Result<Schema, String> {
    if path.len() > MAX_DEPTH {
        return Err(format!("must not be nested more than {MAX_DEPTH} deep"));
    }
    let empty = JsonMap::new();
    let map = match json {
        Value::Object(map) => map,
        // Go has no absent ones in a map.
        Value::Null => &empty,
        _ => return Err("must be an object".to_owned()),
    };
    let int_or_string = flag(map, "x-kubernetes-int-or-string");
    let mut schema = Schema {
        ty: text(map, "type", path)?,
        nullable: flag(map, "nullable"),
        default: map.get("default").filter(|v| !v.is_null()).map(|value| {
            let mut value = value.clone();
            numbers_as_read(&mut value);
            value
        }),
        preserve_unknown: flag(map, "x-kubernetes-preserve-unknown-fields"),
        embedded: flag(map, "x-kubernetes-embedded-resource"),
        int_or_string,
        list: list_kind(map, path)?,
        atomic: text(map, "x-kubernetes-map-type", path)? == "atomic",
        format: text(map, "format", path)?,
        rules: map
            .get("x-kubernetes-validations")
            .and_then(Value::as_array)
            .map(|rules| rules.iter().map(ValidationRule::parse).collect())
            .unwrap_or_default(),
        ..Schema::default()
    };
    if let Some(Value::Object(members)) = map.get("properties") {
        for (name, json) in members {
            let child = below(json, format!("properties[{name}]"), path, node)?;
            if child.default.is_some() {
                schema.defaulted.push(name.clone());
            }
            schema.properties.insert(name.clone(), child);
        }
    }
    schema.additional = match map.get("additionalProperties") {
        None | Some(Value::Null) => None,
        Some(Value::Bool(true)) => Some(Additional::Any),
        Some(Value::Bool(false)) => Some(Additional::Forbidden),
        Some(json) => Some(Additional::Of(Box::new(below(
            json,
            "additionalProperties".to_owned(),
            path,
            node,
        )?))),
    };
    schema.items = one(map, "items", path)?;
    schema.checks = checks(map, path)?;
    Ok(schema)
}

fn checks(map: &JsonMap, path: &mut Vec<String>) -> Result<Checks, String> {
    let bound = |limit: &str, exclusive: &str| {
        let limit = map.get(limit).and_then(Value::as_f64)?;
        Some((limit, flag(map, exclusive)))
    };
    let count = |field: &str| map.get(field).and_then(Value::as_i64);
    let pattern = text(map, "pattern", path)?;
    let list = |field: &str| map.get(field).and_then(Value::as_array);
    let mut choices = list("enum").cloned().unwrap_or_default();
    choices.iter_mut().for_each(numbers_as_read);
    let required = list("required").into_iter().flatten();
    Ok(Checks {
        required: required
            .filter_map(|name| Some(name.as_str()?.to_owned()))
            .collect(),
        choices,
        minimum: bound("minimum", "exclusiveMinimum"),
        maximum: bound("maximum", "exclusiveMaximum"),
        multiple_of: map.get("multipleOf").and_then(Value::as_f64),
        min_length: count("minLength"),
        max_length: count("maxLength"),
        pattern: (!pattern.is_empty()).then(|| Pattern::compiled(pattern)),
        min_items: count("minItems"),
        max_items: count("maxItems"),
        unique_items: flag(map, "uniqueItems"),
        min_properties: count("minProperties"),
        max_properties: count("maxProperties"),
        all_of: many(map, "allOf", path)?,
        any_of: many(map, "anyOf", path)?,
        one_of: many(map, "oneOf", path)?,
        not: one(map, "not", path)?,
    })
}

fn list_kind(map: &JsonMap, path: &mut Vec<String>) -> Result<ListKind, String> {
    let keys = map.get("x-kubernetes-list-map-keys");
    Ok(match text(map, "x-kubernetes-list-type", path)?.as_str() {
        "set" => ListKind::Set,
        "map" => {
            let keys = keys.and_then(Value::as_array).into_iter().flatten();
            ListKind::Map(keys.filter_map(|k| Some(k.as_str()?.to_owned())).collect())
        }
        _ => ListKind::Atomic,
    })
}

fn one(map: &JsonMap, field: &str, path: &mut Vec<String>) -> Result<Option<Box<Schema>>, String> {
    match map.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(json) => Ok(Some(Box::new(below(json, field.to_owned(), path, node)?))),
    }
}

fn many(map: &JsonMap, field: &str, path: &mut Vec<String>) -> Result<Vec<Schema>, String> {
    let list = map.get(field).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .enumerate()
        .map(|(i, json)| below(json, format!("{field}[{i}]"), path, node))
        .collect()
}

fn flag(map: &JsonMap, field: &str) -> bool {
    map.get(field) == Some(&Value::Bool(true))
}

fn text(map: &JsonMap, field: &str, path: &mut Vec<String>) -> Result<String, String> {
    match map.get(field) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => below(other, field.to_owned(), path, |_, _| {
            Err("must be a string".to_owned())
        }),
    }
}

/// Reads the node one step further. On failure the path stays, to be named in the error.
fn below<T>(
    json: &Value,
    step: String,
    path: &mut Vec<String>,
    read: impl FnOnce(&Value, &mut Vec<String>) -> Result<T, String>,
) -> Result<T, String> {
    path.push(step);
    let read = read(json, path)?;
    path.pop();
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_that_is_none_is_refused_with_the_path() {
        let parse = |json: Value| Schema::parse(&json).unwrap_err();
        assert_eq!(parse(json!(1)), "must be an object");
        assert_eq!(
            parse(json!({"properties": {"spec": {"items": {"type": 1}}}})),
            "properties[spec].items.type: must be a string"
        );
    }

    #[test]
    fn a_schema_may_not_be_endlessly_deep() {
        let mut json = json!({});
        for _ in 0..200 {
            json = json!({"items": json});
        }
        let error = Schema::parse(&json).unwrap_err();
        assert!(error.ends_with("must not be nested more than 100 deep"));
    }

    #[test]
    fn a_pattern_that_cannot_be_compiled_checks_nothing() {
        let schema = Schema::parse(&json!({"type": "string", "pattern": "(["})).unwrap();
        assert!(schema.checks.pattern.unwrap().regex.is_none());
    }
}
