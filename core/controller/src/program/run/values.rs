//! Values of expressions, conditions and texts.

use std::sync::Arc;

use serde_json::{Map, Value};

use optimist_apiserver::environment::Timestamp;
use optimist_apiserver::object::{Metadata, map_mut};
use optimist_apiserver::pointer::unescape;

use super::{Context, Run, Variable};
use crate::program::limits::LONGEST_TEXT;
use crate::program::{BoolExpression, Expression};

impl Run {
    /// The object of a variable.
    pub fn object(&self, name: &str) -> Option<&Arc<Value>> {
        match self.variables.get(name) {
            Some(Variable::Object { object, .. }) => Some(object),
            _ => None,
        }
    }

    /// Sets a variable to an object of its own.
    pub(crate) fn put(&mut self, name: &str, object: Arc<Value>) {
        let variable = Variable::Object {
            object,
            shared: false,
        };
        self.variables.insert(name.to_owned(), variable);
    }

    pub(super) fn is_shared(&self, name: &str) -> bool {
        matches!(
            self.variables.get(name),
            Some(Variable::Object { shared: true, .. })
        )
    }

    /// The namespace of the key; empty if it has none.
    pub(super) fn namespace(&self) -> &str {
        self.key
            .split_once('/')
            .map_or("", |(namespace, _)| namespace)
    }

    fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or_default()
    }

    pub(super) fn holds(&self, condition: &BoolExpression, context: &Context<'_>) -> bool {
        let now = context.server.environment().now();
        match condition {
            BoolExpression::Found(name) => self.object(name).is_some(),
            BoolExpression::Deleting(name) => self
                .object(name)
                .is_some_and(|object| !object.meta_text("deletionTimestamp").is_empty()),
            BoolExpression::Equal(a, b) => self.value(a, now) == self.value(b, now),
            BoolExpression::Less(a, b) => {
                let number = |expression| self.value(expression, now).and_then(|v| v.as_i64());
                matches!((number(a), number(b)), (Some(a), Some(b)) if a < b)
            }
            BoolExpression::Contains { of, field, item } => {
                let item = self.text(item);
                let list = self.object(of).and_then(|object| object.pointer(field));
                let list = list.and_then(Value::as_array);
                list.is_some_and(|list| list.iter().any(|known| *known == *item))
            }
            BoolExpression::ExpectationsSatisfied => {
                let now = context.server.environment().elapsed();
                context.expectations.satisfied(&self.key, now)
            }
            BoolExpression::Not(condition) => !self.holds(condition, context),
            BoolExpression::All(all) => all.iter().all(|condition| self.holds(condition, context)),
        }
    }

    pub(super) fn value(&self, expression: &Expression, now: Timestamp) -> Option<Value> {
        match expression {
            Expression::Value(value) => Some(value.clone()),
            Expression::Text(text) => Some(self.text(text).into()),
            Expression::Field(name, field) => self.object(name)?.pointer(field).cloned(),
            Expression::Count(name) => match self.variables.get(name)? {
                Variable::List { objects, .. } => Some(objects.len().into()),
                Variable::Object { .. } => None,
            },
            Expression::Now => Some(now.to_string().into()),
        }
    }

    /// Replaces the placeholders of a text. Unknown values become nothing.
    pub(super) fn text(&self, template: &str) -> String {
        let mut text = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let Some((placeholder, after)) = after.split_once('}') else {
                text.push('{');
                rest = after;
                continue;
            };
            if text.len() < LONGEST_TEXT {
                text.push_str(&self.placeholder(placeholder));
            }
            rest = after;
        }
        text.push_str(rest);
        text
    }

    fn placeholder(&self, placeholder: &str) -> String {
        match placeholder.find('/') {
            None if placeholder == "name" => self.name().to_owned(),
            None if placeholder == "namespace" => self.namespace().to_owned(),
            None => String::new(),
            Some(slash) => {
                let (variable, field) = placeholder.split_at(slash);
                let object = self.object(variable);
                match object.and_then(|object| object.pointer(field)) {
                    Some(Value::String(text)) => text.clone(),
                    Some(other) => other.to_string(),
                    None => String::new(),
                }
            }
        }
    }
}

/// A value with the placeholders of its texts replaced.
pub(super) fn render(value: &Value, text: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(template) => text(template).into(),
        Value::Array(items) => items.iter().map(|item| render(item, text)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), render(member, text)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// Sets or removes the member at a JSON pointer. Missing objects on its path are made; a value on
/// the path that is no object is replaced by one.
pub(super) fn set_at(object: &mut Value, field: &str, value: Option<Value>) {
    let Some((path, last)) = field.rsplit_once('/') else {
        return;
    };
    let mut place = object;
    for part in path.split('/').skip(1) {
        if value.is_none() && place.get(unescape(part)).is_none() {
            return;
        }
        place = map_mut(place).entry(unescape(part)).or_insert(Value::Null);
    }
    let members = map_mut(place);
    match value {
        Some(value) => {
            members.insert(unescape(last), value);
        }
        None => {
            members.remove(&unescape(last));
        }
    }
}
