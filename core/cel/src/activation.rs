//! The variables of an expression: those that have a value, and those that a policy makes of others where an expression
//! uses them (`k8s.io/apiserver/pkg/admission/plugin/cel/composition.go`, `pkg/cel/lazy`).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use super::ast::Expr;
use super::evaluate::{Evaluated, EvaluationError, Machine};
use super::types::CelType;
use super::value::{Val, converted};
use super::{LIMIT_EXCEEDED, check, parser};

/// The variable that has the composed ones as its fields.
const VARIABLES: &str = "variables";

/// The variables that expressions see. They are of any type.
#[derive(Debug)]
pub struct Activation {
    given: Vec<(&'static str, Val)>,
    composed: Vec<Composed>,
    /// The values of the composed variables that were used so far.
    known: RefCell<BTreeMap<String, Evaluated>>,
}

/// A variable that is made of others.
#[derive(Debug)]
struct Composed {
    name: String,
    text: String,
}

impl Activation {
    /// Takes variables with their values, and the names and expressions of those that are made of them. Each of these
    /// sees those before it as a field of `variables`.
    pub fn new(given: &[(&'static str, Value)], composed: &[(&str, &str)]) -> Self {
        let given = given.iter();
        let given = given.map(|(name, value)| (*name, converted(value, None::<&Value>)));
        let composed = composed.iter().map(|(name, text)| Composed {
            name: (*name).to_owned(),
            text: (*text).to_owned(),
        });
        Self {
            given: given.collect(),
            composed: composed.collect(),
            known: RefCell::default(),
        }
    }

    /// Evaluates an expression. The second value is its cost, with that of the variables that it used first.
    pub(super) fn run(&self, text: &str, changes: bool) -> (Evaluated, u64) {
        let expr = match self.read(text, changes) {
            Ok(expr) => expr,
            Err(error) => return (Err(error), 0),
        };
        let mut cost = 0;
        for variable in self.missing(&expr) {
            cost += self.compose(variable);
        }
        let (value, own) = Machine::default().run(&expr, self.values());
        (value, own.saturating_add(cost))
    }

    fn read(&self, text: &str, changes: bool) -> Result<Expr, EvaluationError> {
        let unknown = |_| EvaluationError::Unknown;
        let mut parsed = parser::parse(text).map_err(|_| EvaluationError::Unknown)?;
        let known = self.given.iter().map(|(name, _)| *name);
        let known = known.chain((!self.composed.is_empty()).then_some(VARIABLES));
        let known = known.map(|name| (name.to_owned(), CelType::Dyn)).collect();
        check::check_with(&mut parsed.expr, &parsed.places, known, changes).map_err(unknown)?;
        Ok(parsed.expr)
    }

    /// The composed variables that an expression uses and that have no value yet, each after those that it uses.
    fn missing(&self, expr: &Expr) -> Vec<&Composed> {
        let mut used = BTreeSet::new();
        expr.find_fields(VARIABLES, &mut used);
        let mut missing = Vec::new();
        // A variable uses only those before it.
        for variable in self.composed.iter().rev() {
            if used.contains(variable.name.as_str())
                && !self.known.borrow().contains_key(&variable.name)
            {
                if let Ok(parsed) = parser::parse(&variable.text) {
                    parsed.expr.find_fields(VARIABLES, &mut used);
                }
                missing.push(variable);
            }
        }
        missing.reverse();
        missing
    }

    /// Evaluates a variable, and gives its cost.
    fn compose(&self, variable: &Composed) -> u64 {
        let (value, cost) = match self.read(&variable.text, false) {
            Ok(expr) => Machine::default().run(&expr, self.values()),
            Err(error) => (Err(error), 0),
        };
        let name = &variable.name;
        let failed = |why: &str| {
            let why = format!("composited variable \"{name}\" fails to evaluate: {why}");
            Err(EvaluationError::Error(why))
        };
        let value = match value {
            Err(EvaluationError::Error(why)) => failed(&why),
            Err(EvaluationError::Costs) => failed(LIMIT_EXCEEDED),
            value => value,
        };
        self.known.borrow_mut().insert(name.clone(), value);
        cost
    }

    fn values(&self) -> Vec<(&'static str, Val)> {
        let mut values = self.given.clone();
        if !self.composed.is_empty() {
            let known = self.known.borrow().clone();
            values.push((VARIABLES, Val::Composed(Rc::new(known))));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Outcome, evaluate};
    use super::*;

    fn outcome(text: &str, composed: &[(&str, &str)]) -> Outcome {
        let given = [("object", json!({"a": "1"}))];
        evaluate(text, &Activation::new(&given, composed)).0
    }

    #[test]
    fn a_variable_that_fails_fails_where_it_is_used() {
        let composed = [("v", "object.b"), ("w", "variables.v + 'x'")];
        let why = "composited variable \"v\" fails to evaluate: no such key: b";
        let fails = |why: &str| Outcome::Failed(why.to_owned());
        assert_eq!(outcome("variables.v == '1'", &composed), fails(why));
        assert_eq!(
            outcome("variables.w == '1'", &composed),
            fails(&format!(
                "composited variable \"w\" fails to evaluate: {why}"
            ))
        );
        let unused = "true || variables.v == '1'";
        assert_eq!(outcome(unused, &composed), Outcome::Bool(true));
        assert_eq!(
            outcome("'variables.v' == 'a'", &composed),
            Outcome::Bool(false)
        );
        assert_eq!(outcome("has(variables.v)", &composed), Outcome::Bool(true));
    }

    #[test]
    fn a_variable_keeps_a_value_that_json_does_not_have() {
        let composed = [("v", "duration('1m')"), ("v2", "variables.v")];
        let text = "variables.v2 < duration('2m')";
        assert_eq!(outcome(text, &composed), Outcome::Bool(true));
    }

    #[test]
    fn of_a_long_chain_of_variables_each_is_evaluated_once() {
        let names: Vec<String> = (0..2_000).map(|i| format!("v{i}")).collect();
        let texts = (0..2_000).map(|i: usize| match i.checked_sub(1) {
            Some(before) => format!("variables.v{before} + variables.v{before}.substring(0, 0)"),
            None => "object.a".to_owned(),
        });
        let texts: Vec<String> = texts.collect();
        let composed = names.iter().map(String::as_str);
        let composed: Vec<(&str, &str)> = composed.zip(texts.iter().map(String::as_str)).collect();
        assert_eq!(
            outcome("variables.v1999 == '1'", &composed),
            Outcome::Bool(true)
        );
    }
}
