//! Validation rules in CEL (`x-kubernetes-validations`;
//! `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go`, v0.36).

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::field_path::normalized;
use super::outcome::error_for;
use super::validate::Before;
use crate::cel::{Declared, Evaluator, Outcome, Program, Subject, Unusable, Wanted};
use crate::field::ErrorPath;
use crate::object::{JsonMap, text};
use crate::schema::ListKind;
use crate::schema::openapi::{Additional, Schema};
use crate::status::FieldError;

/// The highest cost of all rules of an object together (`apis/cel/config.go RuntimeCELCostBudget`).
const BUDGET: u64 = 10_000_000;

/// The longest message that an expression may give, in bytes
/// (`apis/cel/config.go MaxEvaluatedMessageExpressionSizeBytes`).
const MAX_MESSAGE: usize = 5 * 1024;

/// A rule that a value must satisfy.
#[derive(Debug)]
pub struct ValidationRule {
    /// The rule as it was written.
    pub text: String,
    message: String,
    message_expression: String,
    reason: String,
    field_path: String,
    /// Says whether the rule looks at the stored value even where there is none.
    pub optional_old_self: Option<bool>,
    compiled: OnceLock<Compiled>,
}

/// A rule and its message, checked against the schema that they belong to.
#[derive(Debug)]
pub struct Compiled {
    /// The rule; `None` if it is empty.
    pub rule: Option<Result<Program, Unusable>>,
    /// The expression for its message, if there is one.
    pub message: Option<Result<Program, Unusable>>,
}

impl ValidationRule {
    /// Reads one rule of a schema.
    pub fn parse(json: &Value) -> Self {
        Self {
            text: text(json, "rule").to_owned(),
            message: text(json, "message").to_owned(),
            message_expression: text(json, "messageExpression").to_owned(),
            reason: text(json, "reason").to_owned(),
            field_path: text(json, "fieldPath").to_owned(),
            optional_old_self: json["optionalOldSelf"].as_bool(),
            compiled: OnceLock::new(),
        }
    }

    fn is_optional(&self) -> bool {
        self.optional_old_self == Some(true)
    }

    /// Returns the checked rule; the first call gives the declaration against which it is checked.
    pub fn compiled(&self, declared: impl FnOnce() -> Option<Arc<Declared>>) -> &Compiled {
        self.compiled.get_or_init(|| {
            let declared = match declared() {
                Some(declared) if !self.text.trim().is_empty() => declared,
                _ => {
                    return Compiled {
                        rule: None,
                        message: None,
                    };
                }
            };
            let optional = self.is_optional();
            let compile = |text: &str, wanted| Program::compile(text, &declared, optional, wanted);
            let rule = compile(&self.text, Wanted::Bool);
            let has_message = rule.is_ok() && !self.message_expression.is_empty();
            let message = has_message.then(|| compile(&self.message_expression, Wanted::Text));
            let rule = Some(rule);
            Compiled { rule, message }
        })
    }

    /// The message if the rule does not hold (`ruleMessageOrDefault`).
    fn fallback(&self) -> String {
        match self.message.as_str() {
            "" => format!("failed rule: {}", self.text.trim()),
            message => message.trim().to_owned(),
        }
    }

    /// The rule as messages name it (`ruleErrorString`).
    fn named(&self) -> &str {
        match self.message.as_str() {
            "" => self.text.trim(),
            message => message.trim(),
        }
    }
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
    let current = old.map(|value| Before { value, schema });
    let place = RulePlace::new(schema, String::new(), true);
    judge_at(object, old, current, &place)
}

/// Evaluates the rules of a default on itself: it must be a value that may stay, and one that may be new
/// (`validate` of `schema/defaulting/validation.go`). `path` is its place, `root` says whether it is a resource.
pub fn judge_default(
    default: &Value,
    schema: &Schema,
    path: &ErrorPath<'_>,
    root: bool,
) -> Vec<FieldError> {
    let place = RulePlace::new(schema, path.to_string(), root);
    let stays = judge_at(default, Some(default), None, &place).errors;
    if stays.is_empty() {
        return judge_at(default, None, None, &place).errors;
    }
    stays
}

fn judge_at<'a>(
    value: &'a Value,
    old: Option<&'a Value>,
    current: Option<Before<'a>>,
    place: &RulePlace<'a>,
) -> Judged {
    let mut walk = RuleWalk {
        evaluator: Evaluator::default(),
        judged: Judged::default(),
        budget: BUDGET,
    };
    let before = Correlated {
        old,
        current,
        nearest: None,
    };
    // The first rule that costs too much ends it all; its error is noted.
    let _ = walk.value(value, &before, place);
    walk.judged
}

/// No further rule is evaluated.
struct OutOfBudget;

/// A value's schema, and where the value stands.
struct RulePlace<'a> {
    schema: &'a Schema,
    path: String,
    /// `true` if it is that of a resource.
    root: bool,
}

impl<'a> RulePlace<'a> {
    fn new(schema: &'a Schema, path: String, root: bool) -> Self {
        Self { schema, path, root }
    }
}

/// The stored object's value in the place of a new one.
struct Correlated<'a> {
    old: Option<&'a Value>,
    /// The same, as far as wrong values may stay (`ratchetingOptions`).
    current: Option<Before<'a>>,
    /// The nearest value around it that has one, with the new value.
    nearest: Option<(Before<'a>, &'a Value)>,
}

impl<'a> Correlated<'a> {
    /// Returns whether nothing has changed here.
    fn is_unchanged(&self, value: &Value) -> bool {
        match (self.current, self.nearest) {
            (Some(before), _) => before.equals(value),
            (None, Some((before, value))) => before.equals(value),
            (None, None) => false,
        }
    }

    /// The same for a part of the value.
    fn below(&self, value: &'a Value, old: Option<&'a Value>, part: Option<Before<'a>>) -> Self {
        match self.current {
            Some(before) => Self {
                old,
                current: part,
                nearest: Some((before, value)),
            },
            None => Self {
                old,
                current: None,
                nearest: self.nearest,
            },
        }
    }
}

struct RuleWalk {
    evaluator: Evaluator,
    judged: Judged,
    budget: u64,
}

impl RuleWalk {
    fn value<'a>(
        &mut self,
        value: &'a Value,
        before: &Correlated<'a>,
        place: &RulePlace<'a>,
    ) -> Result<(), OutOfBudget> {
        if value.is_null() || !place.schema.uses_rules() {
            return Ok(());
        }
        self.rules(value, before, place)?;
        match value {
            Value::Object(map) => self.members(map, value, before, place),
            Value::Array(items) => self.items(items, value, before, place),
            _ => Ok(()),
        }
    }

    fn items<'a>(
        &mut self,
        items: &'a [Value],
        value: &'a Value,
        before: &Correlated<'a>,
        place: &RulePlace<'a>,
    ) -> Result<(), OutOfBudget> {
        let Some(schema) = &place.schema.items else {
            return Ok(());
        };
        for (i, item) in items.iter().enumerate() {
            let old = correlated(item, before.old, &place.schema.list);
            let part = old.map(|value| Before { value, schema });
            let path = format!("{}[{i}]", place.path);
            let inner = RulePlace::new(schema, path, schema.embedded);
            self.value(item, &before.below(value, old, part), &inner)?;
        }
        Ok(())
    }

    fn members<'a>(
        &mut self,
        map: &'a JsonMap,
        value: &'a Value,
        before: &Correlated<'a>,
        place: &RulePlace<'a>,
    ) -> Result<(), OutOfBudget> {
        let mut names: Vec<&String> = map.keys().collect();
        names.sort();
        for name in names {
            let path = &place.path;
            let (schema, path) = match &place.schema.additional {
                Some(Additional::Of(schema)) => (&**schema, format!("{path}[{name}]")),
                _ => match place.schema.properties.get(name) {
                    Some(schema) => (schema, joined(path, &format!(".{name}"))),
                    None => continue,
                },
            };
            let old = before.old.and_then(|old| old.get(name));
            // The type of an object cannot change.
            let typed = place.path.is_empty() && (name == "apiVersion" || name == "kind");
            let part = old.filter(|_| !typed).map(|value| Before { value, schema });
            let inner = RulePlace::new(schema, path, schema.embedded);
            self.value(&map[name], &before.below(value, old, part), &inner)?;
        }
        Ok(())
    }

    fn rules<'a>(
        &mut self,
        value: &'a Value,
        before: &Correlated<'a>,
        place: &RulePlace<'a>,
    ) -> Result<(), OutOfBudget> {
        if place.schema.rules.is_empty() {
            return Ok(());
        }
        let ty = Value::from(place.schema.ty.as_str());
        if self.budget == 0 {
            return self.end(place, &ty, OUT_OF_BUDGET.to_owned());
        }
        let old = before.old.filter(|old| !old.is_null());
        let subject = Subject::new(value, old, place.schema);
        for rule in &place.schema.rules {
            self.rule(rule, &subject, value, before, place, &ty)?;
        }
        Ok(())
    }

    /// Checks one rule.
    fn rule<'a>(
        &mut self,
        rule: &ValidationRule,
        subject: &Subject,
        value: &'a Value,
        before: &Correlated<'a>,
        place: &RulePlace<'a>,
        ty: &Value,
    ) -> Result<(), OutOfBudget> {
        let compiled = rule.compiled(|| Declared::from_schema(place.schema, place.root));
        let Some(program) = self.program(rule, compiled, place, ty) else {
            return Ok(());
        };
        if program.uses_old_self && before.old.is_none_or(Value::is_null) && !rule.is_optional() {
            return Ok(());
        }
        let (outcome, cost) = self.evaluator.run(program, subject, rule.is_optional());
        self.pay(cost, place, ty, OUT_OF_BUDGET)?;
        if !self.is_broken(outcome, rule, place, ty)? {
            return Ok(());
        }
        let detail = self.message(rule, compiled, subject, place, ty)?;
        let path = match normalized(&rule.field_path, place.schema) {
            Some(field) => joined(&place.path, &format!(".{field}")),
            None => place.path.clone(),
        };
        let error = error_for(&rule.reason, value, path_in_messages(&path), detail);
        if !program.uses_old_self && before.is_unchanged(value) {
            self.judged.tolerated.push(error);
        } else {
            self.judged.errors.push(error);
        }
        Ok(())
    }

    /// The program of a rule; `None` if there is none that can be run, which is noted.
    fn program<'r>(
        &mut self,
        rule: &ValidationRule,
        compiled: &'r Compiled,
        place: &RulePlace<'_>,
        ty: &Value,
    ) -> Option<&'r Program> {
        match compiled.rule.as_ref()? {
            Ok(program) => return Some(program),
            Err(Unusable::Unknown) => self.judged.unevaluated.push(rule.text.clone()),
            Err(Unusable::Wrong(why)) => {
                self.refuse(place, ty, format!("rule compile error: {why}"));
            }
        }
        None
    }

    /// Returns whether an outcome says that the object breaks the rule. An outcome that says nothing of
    /// the object is noted.
    fn is_broken(
        &mut self,
        outcome: Outcome,
        rule: &ValidationRule,
        place: &RulePlace<'_>,
        ty: &Value,
    ) -> Result<bool, OutOfBudget> {
        match outcome {
            Outcome::Bool(false) | Outcome::Text(_) | Outcome::Other => return Ok(true),
            Outcome::Bool(true) => {}
            Outcome::Unknown => self.judged.unevaluated.push(rule.text.clone()),
            Outcome::TooCostly => {
                let why = format!(
                    "'operation cancelled: actual cost limit exceeded': no further validation \
                     rules will be run due to call cost exceeds limit for rule: {}",
                    rule.named()
                );
                self.end(place, ty, why)?;
            }
            Outcome::Failed(why) => self.refuse(place, ty, failed(&why, rule.named())),
        }
        Ok(false)
    }

    /// Returns the message of a rule that does not hold (`evalMessageExpression`).
    fn message(
        &mut self,
        rule: &ValidationRule,
        compiled: &Compiled,
        subject: &Subject,
        place: &RulePlace<'_>,
        ty: &Value,
    ) -> Result<String, OutOfBudget> {
        let Some(Ok(program)) = &compiled.message else {
            return Ok(rule.fallback());
        };
        // The stored value is not optional here, whatever it is in the rule.
        let (outcome, cost) = self.evaluator.run(program, subject, false);
        let why = "messageExpression evaluation failed due to running out of cost budget, no \
             further validation rules will be run";
        self.pay(cost, place, ty, why)?;
        match outcome {
            Outcome::TooCostly => {
                let shown = crate::go::quote(&rule.message_expression);
                let why = format!(
                    "no further validation rules will be run due to call cost exceeds limit for \
                     messageExpression: {shown}"
                );
                self.refuse(place, ty, why);
                Err(OutOfBudget)
            }
            Outcome::Text(text) => {
                let text = text.trim();
                let usable = !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n');
                Ok(if usable {
                    text.to_owned()
                } else {
                    rule.fallback()
                })
            }
            _ => Ok(rule.fallback()),
        }
    }

    fn pay(
        &mut self,
        cost: u64,
        place: &RulePlace<'_>,
        ty: &Value,
        why: &str,
    ) -> Result<(), OutOfBudget> {
        match self.budget.checked_sub(cost) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => self.end(place, ty, why.to_owned()),
        }
    }

    fn refuse(&mut self, place: &RulePlace<'_>, ty: &Value, detail: String) {
        let error = FieldError::invalid(path_in_messages(&place.path), ty, detail);
        self.judged.errors.push(error);
    }

    fn end(
        &mut self,
        place: &RulePlace<'_>,
        ty: &Value,
        detail: String,
    ) -> Result<(), OutOfBudget> {
        self.refuse(place, ty, detail);
        Err(OutOfBudget)
    }
}

const OUT_OF_BUDGET: &str = "validation failed due to running out of cost budget, no further \
     validation rules will be run";

/// The detail of a rule whose evaluation failed.
fn failed(why: &str, named: &str) -> String {
    if why.starts_with("no such overload") {
        return format!(
            "'{why}': call arguments did not match a supported operator, function or macro \
             signature for rule: {named}"
        );
    }
    format!("{why} evaluating rule: {named}")
}

/// A path as messages show it; the root has none.
fn path_in_messages(path: &str) -> String {
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

#[cfg(test)]
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
        // Time zones by name need a table that is not here.
        let zone = "timestamp('2024-01-01T00:00:00Z').getHours('Europe/Berlin') == 1";
        let unknown = judged(with_rule(json!({"rule": zone})), json!({"n": 1}), None);
        assert!(unknown.errors.is_empty());
        assert_eq!(unknown.unevaluated, [zone]);
    }

    #[test]
    fn a_rule_that_costs_too_much_ends_the_evaluation() {
        let squared =
            json!({"rule": "self.all(x, self.all(y, x >= 0 || y >= 0))", "message": "no"});
        let list = json!({"type": "array", "items": {"type": "integer"},
            "x-kubernetes-validations": [squared, {"rule": "false"}]});
        let schema = json!({"type": "object", "properties": {"l": list}});
        let of = |count: u32| json!({"l": (0..count).collect::<Vec<u32>>()});
        assert_eq!(
            texts(&judged(schema.clone(), of(100), None).errors),
            ["l: Invalid value: failed rule: false"]
        );
        assert_eq!(
            texts(&judged(schema, of(1000), None).errors),
            [
                "l: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no \
                 further validation rules will be run due to call cost exceeds limit for rule: no"
            ]
        );
    }

    #[test]
    fn all_rules_of_an_object_have_one_budget() {
        // Each of the 100 lists costs about half of what one rule may cost.
        let rule = json!({"rule": "self.all(x, self.all(y, x >= 0 || y >= 0))"});
        let list = json!({"type": "array", "items": {"type": "integer"},
            "x-kubernetes-validations": [rule]});
        let schema = json!({"type": "object", "properties": {
            "l": {"type": "array", "items": list}}});
        let items: Vec<u32> = (0..300).collect();
        let many = json!({"l": vec![items; 100]});
        let errors = texts(&judged(schema, many, None).errors);
        assert_eq!(errors.len(), 1);
        assert!(
            errors[0].contains("running out of cost budget"),
            "{errors:?}"
        );
    }
}
