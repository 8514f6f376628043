//! Validation rules in CEL (`x-kubernetes-validations`;
//! `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go`).

#[cfg(feature = "cel")]
#[path = "rules/engine.rs"]
mod engine;
#[cfg(not(feature = "cel"))]
#[path = "rules/no_engine.rs"]
mod engine;

use serde_json::Value;

use crate::object::{JsonMap, text};
use crate::schema::ListKind;
use crate::schema::openapi::{Additional, Schema};
use crate::status::{FieldError, Problem};

use engine::{Evaluator, Expression};

/// A rule that a value must satisfy.
#[derive(Debug)]
pub struct Rule {
    /// The rule as it was written.
    pub text: String,
    expression: Expression,
    message: String,
    message_expression: Option<Expression>,
    reason: String,
    field_path: String,
    optional_old_self: bool,
}

impl Rule {
    /// Reads one rule of a schema.
    pub fn parse(json: &Value) -> Self {
        let rule = text(json, "rule");
        let message_expression = text(json, "messageExpression");
        Self {
            text: rule.to_owned(),
            expression: Expression::compile(rule),
            message: text(json, "message").to_owned(),
            message_expression: (!message_expression.is_empty())
                .then(|| Expression::compile(message_expression)),
            reason: text(json, "reason").to_owned(),
            field_path: text(json, "fieldPath").to_owned(),
            optional_old_self: json["optionalOldSelf"] == true,
        }
    }

    /// The message if the rule does not hold.
    fn fallback(&self) -> String {
        match self.message.as_str() {
            "" => format!("failed rule: {}", self.text.trim()),
            message => message.to_owned(),
        }
    }
}

/// What a rule gives.
#[cfg_attr(not(feature = "cel"), allow(dead_code))] // Only the engine gives the rest.
enum Outcome {
    /// A value.
    Is(Answer),
    /// It fails, for this reason.
    Fails(String),
    /// It uses something that the engine at hand does not know.
    Unknown,
}

/// The values that matter here.
#[cfg_attr(not(feature = "cel"), allow(dead_code))] // Only the engine gives the rest.
enum Answer {
    Bool(bool),
    Text(String),
    Other,
}

/// The result of the rules of an object.
#[derive(Debug, Default)]
pub struct Judged {
    /// The rules that do not hold.
    pub errors: Vec<FieldError>,
    /// The rules that do not hold for a value that has not changed: such values may stay, with a
    /// warning.
    pub tolerated: Vec<FieldError>,
    /// The rules that could not be evaluated.
    pub unevaluated: Vec<String>,
}

/// Evaluates all rules on an object; `old` is the stored one on update.
pub fn judge(object: &Value, old: Option<&Value>, schema: &Schema) -> Judged {
    let mut walk = Walk {
        evaluator: Evaluator::new(),
        judged: Judged::default(),
    };
    walk.value(object, old, schema, "");
    walk.judged
}

struct Walk {
    evaluator: Evaluator,
    judged: Judged,
}

impl Walk {
    fn value(&mut self, value: &Value, old: Option<&Value>, schema: &Schema, path: &str) {
        if value.is_null() || !schema.uses_rules() {
            return;
        }
        for rule in &schema.rules {
            self.rule(rule, value, old, schema, path);
        }
        match value {
            Value::Object(map) => self.members(map, old, schema, path),
            Value::Array(items) => {
                let Some(schema_of_items) = &schema.items else {
                    return;
                };
                for (i, item) in items.iter().enumerate() {
                    let before = correlated(item, old, &schema.list);
                    self.value(item, before, schema_of_items, &format!("{path}[{i}]"));
                }
            }
            _ => {}
        }
    }

    fn members(&mut self, map: &JsonMap, old: Option<&Value>, schema: &Schema, path: &str) {
        let mut names: Vec<&String> = map.keys().collect();
        names.sort();
        for name in names {
            let before = old.and_then(|old| old.get(name));
            if let Some(schema) = schema.properties.get(name) {
                let path = joined(path, &format!(".{name}"));
                self.value(&map[name], before, schema, &path);
            } else if let Some(Additional::Of(schema)) = &schema.additional {
                self.value(&map[name], before, schema, &format!("{path}[{name}]"));
            }
        }
    }

    fn rule(
        &mut self,
        rule: &Rule,
        value: &Value,
        old: Option<&Value>,
        schema: &Schema,
        path: &str,
    ) {
        let transition = rule.expression.uses_old_self();
        if transition && old.is_none() && !rule.optional_old_self {
            return;
        }
        let evaluate = |evaluator: &Evaluator, expression: &Expression| {
            evaluator.evaluate(expression, value, old, schema, rule.optional_old_self)
        };
        let detail = match evaluate(&self.evaluator, &rule.expression) {
            Outcome::Is(Answer::Bool(true)) => return,
            Outcome::Unknown => {
                self.judged.unevaluated.push(rule.text.clone());
                return;
            }
            Outcome::Fails(why) => {
                let said = match rule.message.as_str() {
                    "" => &rule.text,
                    message => message,
                };
                let value = Value::from(schema.ty.as_str());
                let detail = format!("{why} evaluating rule: {said}");
                let error = FieldError::invalid(shown(path), &value, detail);
                self.judged.errors.push(error);
                return;
            }
            Outcome::Is(_) => match &rule.message_expression {
                Some(message) => match evaluate(&self.evaluator, message) {
                    Outcome::Is(Answer::Text(text)) if !text.trim().is_empty() => text,
                    _ => rule.fallback(),
                },
                None => rule.fallback(),
            },
        };
        let error = error(rule, value, shown(&joined(path, &rule.field_path)), detail);
        if !transition && old == Some(value) {
            self.judged.tolerated.push(error);
        } else {
            self.judged.errors.push(error);
        }
    }
}

/// `fieldErrorForReason`: objects and lists are not shown.
fn error(rule: &Rule, value: &Value, field: String, detail: String) -> FieldError {
    let problem = match rule.reason.as_str() {
        "FieldValueForbidden" => return FieldError::forbidden(field, detail),
        "FieldValueRequired" => return FieldError::required(field, detail),
        "FieldValueDuplicate" => Problem::Duplicate,
        _ => Problem::Invalid,
    };
    let detail = match problem {
        Problem::Duplicate => String::new(),
        _ => detail,
    };
    match value {
        Value::Object(_) | Value::Array(_) => FieldError::without_value(problem, field, detail),
        value => FieldError::with_value(problem, field, value, detail),
    }
}

/// A path as messages show it; the root has none.
fn shown(path: &str) -> String {
    if path.is_empty() { "<nil>" } else { path }.to_owned()
}

fn joined(path: &str, below: &str) -> String {
    match path {
        "" => below.trim_start_matches('.').to_owned(),
        path => format!("{path}{below}"),
    }
}

/// The item of the old list that is the same one: only lists with keys have such.
fn correlated<'a>(item: &Value, old: Option<&'a Value>, list: &ListKind) -> Option<&'a Value> {
    let ListKind::Map(keys) = list else {
        return None;
    };
    let old = old?.as_array()?;
    old.iter()
        .find(|before| keys.iter().all(|key| before.get(key) == item.get(key)))
}

#[cfg(all(test, feature = "cel"))]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(schema: Value, object: Value, old: Option<Value>) -> Judged {
        let schema = Schema::parse(&schema).unwrap();
        judge(&object, old.as_ref(), &schema)
    }

    fn texts(errors: &[FieldError]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    fn with_rule(rule: Value) -> Value {
        json!({"type": "object", "properties": {
            "n": {"type": "integer", "x-kubernetes-validations": [rule]},
        }})
    }

    #[test]
    fn a_rule_that_does_not_hold_is_named_with_its_field_and_value() {
        let schema = with_rule(json!({"rule": "self > 1", "message": "more than one"}));
        let judged = judged(schema, json!({"n": 1}), None);
        assert_eq!(
            texts(&judged.errors),
            ["n: Invalid value: 1: more than one"]
        );
    }

    #[test]
    fn a_transition_rule_needs_an_old_value_unless_that_is_optional() {
        let schema = with_rule(json!({"rule": "self >= oldSelf"}));
        assert!(
            judged(schema.clone(), json!({"n": 1}), None)
                .errors
                .is_empty()
        );
        let fallen = judged(schema, json!({"n": 1}), Some(json!({"n": 2})));
        assert_eq!(
            texts(&fallen.errors),
            ["n: Invalid value: 1: failed rule: self >= oldSelf"]
        );
        let once = json!({
            "rule": "!oldSelf.hasValue() || self == oldSelf.value()", "message": "set once",
            "optionalOldSelf": true,
        });
        let once = with_rule(once);
        assert!(
            judged(once.clone(), json!({"n": 1}), None)
                .errors
                .is_empty()
        );
        assert_eq!(
            judged(once, json!({"n": 1}), Some(json!({"n": 2})))
                .errors
                .len(),
            1
        );
    }

    #[test]
    fn what_has_not_changed_may_stay_with_a_warning() {
        let schema = with_rule(json!({"rule": "self > 1", "message": "more than one"}));
        let judged = judged(schema, json!({"n": 1}), Some(json!({"n": 1})));
        assert!(judged.errors.is_empty());
        assert_eq!(
            texts(&judged.tolerated),
            ["n: Invalid value: 1: more than one"]
        );
    }

    #[test]
    fn functions_of_kubernetes_are_known_and_others_are_said_not_to_be() {
        let quantity = "quantity('1Gi').isLessThan(quantity('2Gi')) && isQuantity('1') \
             && !isQuantity('x') && 'abc'.matches('^a') && self in [1]";
        let known = judged(with_rule(json!({"rule": quantity})), json!({"n": 1}), None);
        assert!(
            known.errors.is_empty() && known.unevaluated.is_empty(),
            "{known:?}"
        );
        let rule = json!({"rule": "authorizer.group('').check('x').allowed()"});
        let unknown = judged(with_rule(rule), json!({"n": 1}), None);
        assert!(unknown.errors.is_empty());
        assert_eq!(unknown.unevaluated.len(), 1);
    }
}
