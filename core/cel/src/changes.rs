//! Expressions that say how to change an object: by an apply configuration, or by a JSON patch
//! (`k8s.io/apiserver/pkg/cel/mutation` and `pkg/admission/plugin/policy/mutating/patch`).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::Activation;
use super::ast::{Expr, ExpressionKind, Literal, MessageLiteral};
use super::check::messages::{JSON_PATCH, OBJECT};
use super::evaluate::{Bindings, Evaluated, EvaluationError, Machine};
use super::types::CelType;
use super::value::{MapKey, MessageValue, Val};
use super::{Unusable, run_cost};

/// The reason why an expression gives no change.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeError {
    /// The expression failed, for this reason.
    Failed(String),
    /// Its value is no change, for this reason.
    Mistyped(String),
    /// It cost more than one expression may.
    TooCostly,
    /// The server panics over its value: a list of messages is no value of an operation.
    Panics,
    /// It could not be evaluated here.
    Unknown,
}

impl From<EvaluationError> for ChangeError {
    fn from(error: EvaluationError) -> Self {
        match error {
            EvaluationError::Error(why) => ChangeError::Failed(why),
            EvaluationError::Costs => ChangeError::TooCostly,
            EvaluationError::Unknown => ChangeError::Unknown,
        }
    }
}

/// What an expression wants an object to have.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplyConfiguration {
    /// The fields of the object.
    pub object: Value,
    /// The values that are no part of an object: `null`, a duration, bytes, and a list or map that is written inside of
    /// another one. In the object they are texts.
    pub foreign: Vec<Foreign>,
}

/// A value that is no part of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreign {
    /// Where it is in the object.
    pub path: String,
    /// Its kind.
    pub kind: ForeignKind,
    /// The value, as Go prints it.
    pub printed: String,
}

/// The kind of a value that is no part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignKind {
    /// `null`.
    Null,
    /// A duration.
    Duration,
    /// Bytes.
    Bytes,
    /// A list.
    List,
    /// A map.
    Map,
}

impl ForeignKind {
    fn of_value(value: &Val) -> Self {
        match value {
            Val::Duration(_) => ForeignKind::Duration,
            Val::Bytes(_) => ForeignKind::Bytes,
            Val::List(_) => ForeignKind::List,
            Val::Map(_) => ForeignKind::Map,
            _ => ForeignKind::Null,
        }
    }

    /// The type that Go has for it, if it cannot be written as JSON.
    fn unwritable(self) -> Option<&'static str> {
        match self {
            ForeignKind::Null => Some("structpb.NullValue"),
            ForeignKind::Duration => Some("time.Duration"),
            ForeignKind::Bytes => None,
            ForeignKind::List => Some("[]ref.Val"),
            ForeignKind::Map => Some("map[ref.Val]ref.Val"),
        }
    }
}

/// Evaluates an expression, and gives its apply configuration (`applyConfigPatcher`).
///
/// # Errors
/// The reason why there is none.
pub fn apply_configuration(
    text: &str,
    variables: &Activation,
) -> Result<ApplyConfiguration, ChangeError> {
    let value = variables.run(text, true).0?;
    if !matches!(&value, Val::Message(message) if message.ty == OBJECT) {
        let found = value.type_name();
        return Err(ChangeError::Mistyped(format!(
            "unsupported return type from ApplyConfiguration expression: {found}"
        )));
    }
    check_names(&value)?;
    let mut foreign = Vec::new();
    find_foreign(&value, "", &mut foreign);
    let object = value.json().ok_or(ChangeError::Unknown)?;
    Ok(ApplyConfiguration { object, foreign })
}

fn find_foreign(value: &Val, path: &str, found: &mut Vec<Foreign>) {
    match value {
        Val::Foreign(value) => found.push(Foreign {
            path: path.to_owned(),
            kind: ForeignKind::of_value(value),
            printed: printed(value),
        }),
        Val::Message(message) => {
            for (name, value) in &message.fields {
                find_foreign(value, &format!("{path}.{name}"), found);
            }
        }
        Val::List(list) => {
            for (i, item) in list.items.iter().enumerate() {
                find_foreign(item, &format!("{path}[{i}]"), found);
            }
        }
        Val::Map(map) => {
            for (key, value) in map.iter() {
                let key = printed(&key.value());
                find_foreign(value, &format!("{path}.{key}"), found);
            }
        }
        _ => {}
    }
}

/// The value of a field of an apply configuration. Of a list or map that is written there only the items become values
/// of an object; a list or map among them stays one of CEL (`convertField` of `cel/mutation/dynamic/objects.go`).
fn field_value(written: &Expr, value: Val) -> Val {
    let inner = |expr: &Expr, value: Val| match (&expr.kind, value) {
        (_, value @ (Val::Null | Val::Duration(_) | Val::Bytes(_))) => foreign(value),
        (ExpressionKind::List { .. } | ExpressionKind::Map(_), value) => foreign(value),
        (_, value) => value,
    };
    match (&written.kind, value) {
        (_, value @ (Val::Null | Val::Duration(_) | Val::Bytes(_))) => foreign(value),
        (ExpressionKind::List { items, .. }, Val::List(list))
            if items.len() == list.items.len() =>
        {
            let values = list.items.iter().cloned();
            Val::list(
                items
                    .iter()
                    .zip(values)
                    .map(|(expr, value)| inner(expr, value))
                    .collect(),
            )
        }
        (ExpressionKind::Map(entries), Val::Map(map)) => {
            let mut map = Rc::unwrap_or_clone(map);
            for entry in entries {
                let ExpressionKind::Literal(Literal::String(key)) = &entry.key.kind else {
                    continue;
                };
                if let Some(value) = map.get_mut(&MapKey::Text(key.as_str().into())) {
                    *value = inner(&entry.value, value.clone());
                }
            }
            Val::Map(Rc::new(map))
        }
        (_, value) => value,
    }
}

fn foreign(value: Val) -> Val {
    Val::Foreign(Rc::new(value))
}

/// A value as Go prints it.
pub(super) fn printed(value: &Val) -> String {
    let all = |parts: Vec<String>| parts.join(" ");
    match value {
        Val::Null => "NULL_VALUE".to_owned(),
        Val::Bool(value) => value.to_string(),
        Val::Int(value) | Val::Duration(value) => value.to_string(),
        Val::Uint(value) => value.to_string(),
        Val::Double(value) => value.to_string(),
        Val::Text(text) => text.to_string(),
        Val::Bytes(bytes) => {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
            format!("[]uint8{{{}}}", bytes.join(", "))
        }
        Val::List(list) => {
            // A map in a list prints itself.
            let items = list.items.iter().map(|item| match item {
                Val::Map(map) => {
                    let members = map.iter();
                    let members = members.map(|(key, value)| {
                        format!("{}: {}", printed(&key.value()), printed(value))
                    });
                    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
                }
                item => printed(item),
            });
            format!("[{}]", all(items.collect()))
        }
        Val::Map(map) => {
            let members = map.iter();
            let members =
                members.map(|(key, value)| format!("{}:{}", printed(&key.value()), printed(value)));
            format!("map[{}]", all(members.collect()))
        }
        other => other.type_name().to_owned(),
    }
}

/// Evaluates an expression, and gives the operations of its JSON patch (`jsonPatcher`).
///
/// # Errors
/// The reason why there are none.
pub fn json_patch(text: &str, variables: &Activation) -> Result<Value, ChangeError> {
    let value = variables.run(text, true).0?;
    let Val::List(operations) = &value else {
        return Err(ChangeError::Mistyped(
            "type mismatch: JSONPatchType.expression should evaluate to array".to_owned(),
        ));
    };
    operations.items.iter().map(operation).collect()
}

/// The type of an expression that says how to change an object, with these variables of any type.
///
/// # Errors
/// The reason why it cannot be used.
pub fn type_of_change(
    text: &str,
    variables: &[&str],
    object: (&str, &[(&str, CelType)]),
) -> Result<CelType, Unusable> {
    super::type_with(text, variables, object, true)
}

/// One operation. What it does not name is absent, but for its kind and path.
fn operation(operation: &Val) -> Result<Value, ChangeError> {
    let Val::Message(message) = operation else {
        return Err(ChangeError::Mistyped(
            "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch"
                .to_owned(),
        ));
    };
    let mut written = Map::new();
    for name in ["op", "path"] {
        written.insert(name.to_owned(), "".into());
    }
    for (name, value) in &message.fields {
        if name == "value" && matches!(value, Val::Message(_)) {
            check_names(value)?;
            let mut inside = Vec::new();
            find_foreign(value, "", &mut inside);
            if let Some(ty) = inside.iter().find_map(|it| it.kind.unwritable()) {
                return Err(ChangeError::Mistyped(format!(
                    "JSONPath valueExpression evaluated to a type that could not marshal to JSON: proto: invalid type: {ty}"
                )));
            }
        }
        if let Val::List(list) = value
            && list
                .items
                .iter()
                .any(|item| matches!(item, Val::Message(_)))
        {
            return Err(ChangeError::Panics);
        }
        let value = value.json().ok_or(ChangeError::Unknown)?;
        if name == "from" && value == "" {
            continue;
        }
        written.insert(name.clone(), value);
    }
    Ok(Value::Object(written))
}

impl Machine {
    /// A message with the fields that have a value.
    pub(super) fn message<'a>(
        &self,
        message: &'a MessageLiteral,
        scope: &mut Bindings<'a>,
    ) -> Evaluated {
        let mut fields = BTreeMap::new();
        for field in &message.fields {
            let value = match self.value(&field.value, scope)? {
                Val::Optional(None) if field.optional => continue,
                Val::Optional(Some(value)) if field.optional => Rc::unwrap_or_clone(value),
                value => value,
            };
            check_operation(&message.ty, &field.name, &value)?;
            let value = match is_operation(&message.ty) {
                true => value,
                false => field_value(&field.value, value),
            };
            fields.insert(field.name.clone(), value);
        }
        self.pay(run_cost::MESSAGE)?;
        let ty = message.ty.trim_start_matches('.').to_owned();
        Ok(Val::Message(Rc::new(MessageValue { ty, fields })))
    }
}

fn is_operation(ty: &str) -> bool {
    ty.trim_start_matches('.') == JSON_PATCH
}

/// Refuses a field of an operation whose value is of another type (`JSONPatchType.Val`).
fn check_operation(ty: &str, field: &str, value: &Val) -> Evaluated<()> {
    if !is_operation(ty) || field == "value" || matches!(value, Val::Text(_)) {
        return Ok(());
    }
    let found = match value {
        Val::Null => "structpb.NullValue",
        Val::Bool(_) => "bool",
        Val::Int(_) => "int64",
        Val::Uint(_) => "uint64",
        Val::Double(_) => "float64",
        Val::List(_) => "[]interface {}",
        _ => "map[string]interface {}",
    };
    Err(EvaluationError::new(format!(
        "unexpected type {found} for JSONPatchType '{field}' field"
    )))
}

/// The type of a message in another one has the names of the fields in which it is
/// (`CheckTypeNamesMatchFieldPathNames`).
fn check_names(value: &Val) -> Result<(), ChangeError> {
    let Val::Message(message) = value else {
        return Ok(());
    };
    let mut mistakes = Vec::new();
    find_misnamed(value, &message.ty, &mut mistakes);
    if mistakes.is_empty() {
        return Ok(());
    }
    let mistakes = mistakes.join("\n");
    Err(ChangeError::Mistyped(format!("type mismatch: {mistakes}")))
}

fn find_misnamed(value: &Val, path: &str, mistakes: &mut Vec<String>) {
    match value {
        Val::Message(message) => {
            if message.ty != path {
                mistakes.push(format!(
                    "unexpected type name \"{}\", expected \"{path}\", which matches field name path from root Object type",
                    message.ty
                ));
            }
            for (name, value) in &message.fields {
                find_misnamed(value, &format!("{path}.{name}"), mistakes);
            }
        }
        Val::List(list) => {
            let items = list.items.iter();
            items.for_each(|item| find_misnamed(item, path, mistakes));
        }
        Val::Map(map) => {
            let values = map.values();
            values.for_each(|value| find_misnamed(value, path, mistakes));
        }
        _ => {}
    }
}
