//! Checks values against a schema (`k8s.io/kube-openapi/pkg/validation/validate`). It tolerates
//! values that were wrong before and stay unchanged (`pkg/apiserver/validation/ratcheting.go`,
//! `k8s.io/apiserver/pkg/cel/common/equality.go`).

use std::collections::{HashMap, HashSet};

use optimist_values::formats;
use serde_json::Value;

use super::limits::{is_whole, number};
use super::outcome::{Mistake, ReportForm, SchemaOutcome};
use crate::go;
use crate::json::sorted_text;
use crate::object::JsonMap;
use crate::schema::ListKind;
use crate::schema::openapi::{Additional, Checks, Schema};
use crate::status::FieldError;

/// The value that an updated one takes the place of, and the schema that relates the two.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// The stored value.
    pub value: &'a Value,
    /// Its schema.
    pub schema: &'a Schema,
}

/// Checks a value. `prefix` is its path in the object: fields show it, messages do not.
pub fn validate(
    value: &Value,
    schema: &Schema,
    prefix: &str,
    before: Option<Before<'_>>,
) -> Vec<FieldError> {
    let outcome = node(value, schema, "", before);
    let mistakes = outcome.mistakes.into_iter();
    mistakes.map(|mistake| mistake.report(prefix)).collect()
}

impl<'a> Before<'a> {
    /// The old value at the place of a member of the new object.
    fn member(self, name: &str) -> Option<Self> {
        Some(Self {
            value: self.value.get(name)?,
            schema: self.schema.member(name)?,
        })
    }

    /// The items that new ones take the places of: only lists with keys can tell.
    fn items(self) -> BeforeItems<'a> {
        let mut found = BeforeItems::default();
        let (Value::Array(items), ListKind::Map(keys)) = (self.value, &self.schema.list) else {
            return found;
        };
        found.schema = self.schema.items.as_deref();
        found.keys = keys;
        for item in items {
            if let Some(identity) = identity(item, keys) {
                found.items.entry(identity).or_insert(item);
            }
        }
        found
    }

    /// Equal as far as the two can be related: the order in lists with keys does not count,
    /// members without a schema are never the same.
    pub(super) fn equals(self, new: &Value) -> bool {
        match (self.value, new) {
            (Value::Array(old), Value::Array(new)) => {
                old.len() == new.len()
                    && match self.schema.list {
                        ListKind::Map(_) => {
                            let items = self.items();
                            new.iter().all(|item| {
                                let before = items.item_before(item);
                                before.is_some_and(|before| before.equals(item))
                            })
                        }
                        _ => old == new,
                    }
            }
            (Value::Object(old), Value::Object(new)) => {
                old.len() == new.len()
                    && new.iter().all(|(name, value)| {
                        self.member(name).is_some_and(|before| before.equals(value))
                    })
            }
            (old, new) => old == new,
        }
    }
}

/// The items of a list with keys, before a write.
#[derive(Default)]
struct BeforeItems<'a> {
    schema: Option<&'a Schema>,
    keys: &'a [String],
    items: HashMap<String, &'a Value>,
}

impl<'a> BeforeItems<'a> {
    /// The item that a new one takes the place of.
    fn item_before(&self, new: &Value) -> Option<Before<'a>> {
        Some(Before {
            value: self.items.get(&identity(new, self.keys)?)?,
            schema: self.schema?,
        })
    }
}

/// Returns the keys that identify an item of a list with keys; `None` if a key is missing or no
/// scalar.
fn identity(item: &Value, keys: &[String]) -> Option<String> {
    let scalar = |value: &&Value| !value.is_object() && !value.is_array() && !value.is_null();
    let values = keys.iter().map(|key| item.get(key).filter(scalar));
    let values: Vec<String> = values
        .map(|value| value.map(Value::to_string))
        .collect::<Option<_>>()?;
    Some(values.join(" "))
}

/// Checks a value, but tolerates errors that were there before.
fn node(value: &Value, schema: &Schema, path: &str, before: Option<Before<'_>>) -> SchemaOutcome {
    let mut outcome = check(value, schema, path, before);
    if !outcome.is_valid() && before.is_some_and(|before| before.equals(value)) {
        outcome.mistakes.clear();
    }
    outcome
}

fn check(value: &Value, schema: &Schema, path: &str, before: Option<Before<'_>>) -> SchemaOutcome {
    let mut outcome = SchemaOutcome::default();
    if value.is_null() {
        let types = types(schema);
        if !types.is_empty() && !schema.nullable {
            outcome.add(mistyped(path, &types.join(","), &"null".into()));
        }
        choices(value, &schema.checks, path, &mut outcome);
        return outcome;
    }
    let mut step = |found: SchemaOutcome| {
        outcome.merge(found);
        outcome.matched += 1;
    };
    if !types(schema).is_empty() || known_format(schema).is_some() {
        step(type_of(value, schema, path));
    }
    step(combined(value, &schema.checks, path));
    match value {
        Value::String(text) => {
            step(string(text, &schema.checks, path));
            if let Some(format) = known_format(schema) {
                step(formatted(text, format, path));
            }
        }
        Value::Number(n) => step(number(n, schema, path)),
        Value::Array(items) => step(array(items, schema, path, before)),
        Value::Bool(_) | Value::Null | Value::Object(_) => {}
    }
    let mut among = SchemaOutcome::default();
    choices(value, &schema.checks, path, &mut among);
    step(among);
    if let Value::Object(map) = value {
        step(object(map, schema, path, before));
    }
    outcome.matched += 1;
    outcome
}

/// The types that a schema names.
pub(super) fn types(schema: &Schema) -> Vec<&str> {
    if schema.int_or_string && schema.lax {
        Vec::new()
    } else if schema.int_or_string {
        vec!["integer", "string"]
    } else if schema.ty.is_empty() {
        Vec::new()
    } else {
        vec![&schema.ty]
    }
}

/// The format, if values of the type can have it and the server knows it
/// (`pkg/apiserver/validation/formats.go`).
pub(super) fn known_format(schema: &Schema) -> Option<&str> {
    let format = schema.format.as_str();
    let ty = if schema.int_or_string {
        ""
    } else {
        schema.ty.as_str()
    };
    is_known_format(ty, format).then_some(format)
}

/// Returns whether the server knows a format of a type.
pub fn is_known_format(ty: &str, format: &str) -> bool {
    match ty {
        "" | "string" => formats::matches(format, "").is_some(),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}

fn mistyped(path: &str, expected: &str, found: &Value) -> Mistake {
    let mut text = format!("{path} in body must be of type {expected}");
    if let Value::String(found) = found {
        text.push_str(": ");
        text.push_str(&go::quote(found));
    }
    Mistake::new(path, ReportForm::Type(found.clone()), text)
}

fn type_of(value: &Value, schema: &Schema, path: &str) -> SchemaOutcome {
    let types = types(schema);
    let (ty, format) = match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::String(_) => ("string", ""),
        Value::Number(n) if n.is_i64() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    };
    let whole =
        value.is_f64() && value.as_f64().is_some_and(is_whole) && types.contains(&"integer");
    let counted = ty == "integer" && types.contains(&"number");
    let fits = types.contains(&ty) || whole || counted;
    let numeric = types.iter().any(|ty| matches!(*ty, "number" | "integer"));
    let texts = matches!(ty, "string" | "array");
    let mut outcome = SchemaOutcome::default();
    match known_format(schema) {
        Some(expected) if !texts && !fits && format != expected => {
            outcome.add(mistyped(path, expected, &format.into()));
        }
        Some(_) if texts && !numeric => outcome.matched += 1,
        _ if !fits => outcome.add(mistyped(path, &types.join(","), &ty.into())),
        _ => outcome.matched += 1,
    }
    outcome
}

fn combined(value: &Value, checks: &Checks, path: &str) -> SchemaOutcome {
    let quoted = || go::quote(path);
    let mut outcome = SchemaOutcome::default();
    if !checks.any_of.is_empty() {
        let (valid, best) = alternatives(value, &checks.any_of, path, true);
        if valid == 0 {
            outcome.add(Mistake::general(format!(
                "{} must validate at least one schema (anyOf)",
                quoted()
            )));
        }
        outcome.merge(best);
    }
    if !checks.one_of.is_empty() {
        let (valid, best) = alternatives(value, &checks.one_of, path, false);
        if valid != 1 {
            let found = match valid {
                0 => "Found none valid".to_owned(),
                n => format!("Found {n} valid alternatives"),
            };
            outcome.add(Mistake::general(format!(
                "{} must validate one and only one schema (oneOf). {found}",
                quoted()
            )));
        }
        if valid < 2 {
            outcome.merge(best);
        }
    }
    let mut valid = 0;
    for schema in &checks.all_of {
        let found = check(value, schema, path, None);
        valid += usize::from(found.is_valid());
        outcome.merge(found);
    }
    if valid != checks.all_of.len() {
        let none = if valid == 0 { ". None validated" } else { "" };
        outcome.add(Mistake::general(format!(
            "{} must validate all the schemas (allOf){none}",
            quoted()
        )));
    }
    if let Some(not) = &checks.not
        && check(value, not, path, None).is_valid()
    {
        outcome.add(Mistake::general(format!(
            "{} must not validate the schema (not)",
            quoted()
        )));
    }
    outcome.matched += 1;
    outcome
}

/// Returns the number of alternatives that hold, and the result of the first of those. If none
/// holds, returns the result of the one that came furthest.
fn alternatives(
    value: &Value,
    schemas: &[Schema],
    path: &str,
    first_is_enough: bool,
) -> (usize, SchemaOutcome) {
    let mut valid = 0;
    let mut best: Option<SchemaOutcome> = None;
    for schema in schemas {
        let found = check(value, schema, path, None);
        if found.is_valid() {
            valid += 1;
            if valid == 1 {
                best = Some(found);
            }
            if first_is_enough {
                break;
            }
        } else if valid == 0
            && best
                .as_ref()
                .is_none_or(|best| found.matched > best.matched)
        {
            best = Some(found);
        }
    }
    (valid, best.unwrap_or_default())
}

fn string(text: &str, checks: &Checks, path: &str) -> SchemaOutcome {
    let mut outcome = SchemaOutcome::default();
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let value = || Value::from(text);
    if let Some(most) = checks.max_length.filter(|most| length > *most) {
        let message = format!("{path} in body should be at most {most} chars long");
        outcome.add(Mistake::new(path, ReportForm::TooLong(most), message));
    } else if let Some(least) = checks.min_length.filter(|least| length < *least) {
        let message = format!("{path} in body should be at least {least} chars long");
        outcome.add(Mistake::new(path, ReportForm::Invalid(value()), message));
    } else if let Some(pattern) = &checks.pattern
        && pattern
            .regex
            .as_ref()
            .is_some_and(|regex| !regex.is_match(text))
    {
        let message = format!("{path} in body should match '{}'", pattern.text);
        outcome.add(Mistake::new(path, ReportForm::Invalid(value()), message));
    }
    outcome
}

fn formatted(text: &str, format: &str, path: &str) -> SchemaOutcome {
    let mut outcome = SchemaOutcome::default();
    if formats::matches(format, text) == Some(false) {
        outcome.add(mistyped(path, format, &text.into()));
    }
    outcome
}

fn array(
    items: &[Value],
    schema: &Schema,
    path: &str,
    before: Option<Before<'_>>,
) -> SchemaOutcome {
    let mut outcome = SchemaOutcome::default();
    if let Some(schema) = &schema.items {
        let earlier = before.map(Before::items).unwrap_or_default();
        for (i, item) in items.iter().enumerate() {
            let before = earlier.item_before(item);
            outcome.merge(node(item, schema, &format!("{path}[{i}]"), before));
        }
    }
    let checks = &schema.checks;
    let size = items.len();
    let count = i64::try_from(size).unwrap_or(i64::MAX);
    if let Some(least) = checks.min_items.filter(|least| count < *least) {
        let text = format!("{path} in body should have at least {least} items");
        outcome.add(Mistake::new(path, ReportForm::Invalid(size.into()), text));
    }
    if let Some(most) = checks.max_items.filter(|most| count > *most) {
        let text = format!("{path} in body should have at most {most} items");
        outcome.add(Mistake::new(path, ReportForm::TooMany(size, most), text));
    }
    let mut seen = HashSet::new();
    if checks.unique_items && !items.iter().all(|item| seen.insert(sorted_text(item))) {
        let text = format!("{path} in body shouldn't contain duplicates");
        outcome.add(Mistake::new(path, ReportForm::Invalid("".into()), text));
    }
    outcome.matched += 1;
    outcome
}

fn choices(value: &Value, checks: &Checks, path: &str, outcome: &mut SchemaOutcome) {
    // Go converts the value to the type of the choice: to an integer it is cut off.
    let is = |choice: &Value| match (value, choice) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Number(n), Value::Number(choice)) => match (n.as_f64(), choice.as_i64()) {
            (Some(n), Some(choice)) => n.trunc() == choice as f64,
            (n, _) => n == choice.as_f64(),
        },
        (value, choice) => value == choice,
    };
    if checks.choices.is_empty() || checks.choices.iter().any(is) {
        return;
    }
    let all = Value::Array(checks.choices.clone());
    let text = format!("{path} in body should be one of {}", go::print(&all));
    let report = ReportForm::NotAmong(value.clone(), checks.choices.clone());
    outcome.add(Mistake::new(path, report, text));
}

fn object(map: &JsonMap, schema: &Schema, path: &str, before: Option<Before<'_>>) -> SchemaOutcome {
    let mut outcome = SchemaOutcome::default();
    let checks = &schema.checks;
    let size = map.len();
    let count = i64::try_from(size).unwrap_or(i64::MAX);
    if let Some(least) = checks.min_properties.filter(|least| count < *least) {
        let text = format!("{path} in body should have at least {least} properties");
        outcome.add(Mistake::new(path, ReportForm::Invalid(size.into()), text));
    }
    if let Some(most) = checks.max_properties.filter(|most| count > *most) {
        let text = format!("{path} in body should have at most {most} properties");
        outcome.add(Mistake::new(path, ReportForm::TooMany(size, most), text));
    }
    let before = |name: &str| {
        let type_field = path.is_empty() && matches!(name, "kind" | "apiVersion");
        before.filter(|_| !type_field)?.member(name)
    };
    for (name, value) in map {
        if schema.properties.contains_key(name) {
            continue;
        }
        match &schema.additional {
            Some(Additional::Of(values)) => {
                outcome.merge(node(value, values, &format!("{path}.{name}"), before(name)));
            }
            Some(Additional::Forbidden) => {
                let text = format!("{path}.{name} in body is a forbidden property");
                let report = ReportForm::Invalid(name.as_str().into());
                outcome.add(Mistake::new(path, report, text));
            }
            Some(Additional::Any) | None => {}
        }
    }
    for (name, member) in &schema.properties {
        if let Some(value) = map.get(name) {
            let path = super::lists::child(path, name);
            outcome.merge(node(value, member, &path, before(name)));
        }
    }
    for name in checks
        .required
        .iter()
        .filter(|name| !map.contains_key(*name))
    {
        let path = format!("{path}.{name}");
        let text = format!("{path} in body is required");
        outcome.add(Mistake::new(&path, ReportForm::Required, text));
    }
    outcome
}
