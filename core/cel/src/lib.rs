//! The Common Expression Language, as Kubernetes evaluates it: the types are checked and the cost
//! is estimated before a rule is stored, and the cost is counted while it runs
//! (`k8s.io/apiserver/pkg/cel`, v1.36, over cel-go v0.26).
//!
//! | here | what it does | upstream |
//! |---|---|---|
//! | [`Declared::from_schema`] | says what types a schema gives to the values of its rules | `common.SchemaDeclType` |
//! | [`Program::compile`] | reads and checks a rule, and estimates its highest cost | `Compile`, `checker.Cost` |
//! | [`Evaluator::run`] | evaluates a rule on a value, and counts the cost | `Program.ContextEval`, `library/cost.go CallCost` |
//! | [`type_of`], [`evaluate()`] | do the same for expressions on any variables, as in admission policies | `plugin/policy/validating` |
//! | [`apply_configuration`], [`json_patch`] | give the change that an expression asks for | `plugin/policy/mutating/patch` |
//!
//! A rule of a definition (`x-kubernetes-validations`), checked and evaluated:
//!
//! ```
//! use optimist_cel::{Declared, Evaluator, Outcome, Program, Subject, Unusable, Wanted};
//! use serde_json::json;
//!
//! let schema = json!({"type": "object", "properties": {
//!     "replicas": {"type": "integer"},
//!     "zones": {"type": "array", "maxItems": 9, "items": {"type": "string", "maxLength": 20}},
//! }});
//! let declared = Declared::from_schema(&schema, false).expect("rules see values of this schema");
//! let compile = |rule| Program::compile(rule, &declared, false, Wanted::Bool);
//!
//! let rule = compile("self.replicas >= size(self.zones)").expect("the types are right");
//! let subject = Subject::new(&json!({"replicas": 1, "zones": ["a", "b"]}), None, &schema);
//! let (outcome, cost) = Evaluator::default().run(&rule, &subject, false);
//! assert_eq!(outcome, Outcome::Bool(false));
//! assert!(cost <= rule.max_cost);
//!
//! // A text is no number: a server refuses the definition, with this message.
//! let Err(Unusable::Wrong(message)) = compile("self.zones[0] > 1") else { panic!("accepted") };
//! assert!(message.contains("found no matching overload for '_>_'"), "{message}");
//! ```
//!
//! No library is used: none checks types or counts costs, without which the answers to definitions
//! cannot be those of a real server.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod activation;
mod ast;
mod changes;
mod check;
mod constants;
mod declared;
mod estimate;
mod evaluate;
mod functions;
mod lexer;
mod macros;
mod overloads;
mod parser;
mod run_cost;
mod schema;
#[cfg(test)]
mod tests;
mod types;
mod value;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use ast::{Expr, ParseError};
use evaluate::{EvaluationError, Machine};
use parser::Unread;
use value::{Val, converted};

pub use activation::Activation;
pub use changes::{
    ApplyConfiguration, ChangeError, Foreign, ForeignKind, apply_configuration, json_patch,
    type_of_change,
};
pub use declared::{Declared, DeclaredShape, MAX_REQUEST};
pub use schema::{ListKind, ValueSchema};
pub use types::CelType;

/// The message of an expression that cost more than one may (`cel-go/interpreter`).
pub const LIMIT_EXCEEDED: &str = "operation cancelled: actual cost limit exceeded";

/// The variable that has the value.
const SELF: &str = "self";
/// The variable that has the stored value.
const OLD_SELF: &str = "oldSelf";

/// The result that an expression must give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// A boolean: the rule holds, or not.
    Bool,
    /// A message.
    Text,
}

/// An expression that was checked.
#[derive(Debug)]
pub struct Program {
    expr: Expr,
    /// `true` if it uses the stored value.
    pub uses_old_self: bool,
    /// The highest cost that it may have.
    pub max_cost: u64,
}

/// The reason why an expression cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub enum Unusable {
    /// A real server refuses it, with this message.
    Wrong(String),
    /// A real server may accept it, but it cannot be evaluated here.
    Unknown,
}

impl Program {
    /// Reads and checks an expression on values of a declaration. With `optional`, the stored value
    /// may be absent.
    ///
    /// # Errors
    /// The reason why it cannot be used.
    pub fn compile(
        text: &str,
        declared: &Arc<Declared>,
        optional: bool,
        wanted: Wanted,
    ) -> Result<Self, Unusable> {
        let failed = |mut mistakes: Vec<ParseError>| {
            let prefix = match wanted {
                Wanted::Bool => "",
                Wanted::Text => "messageExpression ",
            };
            let shown = ast::display_mistakes(&mut mistakes, text);
            Unusable::Wrong(format!("{prefix}compilation failed: {shown}"))
        };
        let mut parsed = match parser::parse(text) {
            Ok(parsed) => parsed,
            Err(Unread::TooDeep) => return Err(Unusable::Unknown),
            Err(Unread::Mistaken(mistakes)) => return Err(failed(mistakes)),
        };
        let ty = declared.ty();
        let old = match optional {
            true => CelType::Optional(Box::new(ty.clone())),
            false => ty.clone(),
        };
        let variables = vec![(SELF.to_owned(), ty), (OLD_SELF.to_owned(), old)];
        let checked = check::check(&mut parsed.expr, &parsed.places, variables).map_err(failed)?;
        let wrong = |why: &str| Err(Unusable::Wrong(why.to_owned()));
        match (wanted, &checked.types[parsed.expr.id]) {
            (Wanted::Bool, CelType::Bool) | (Wanted::Text, CelType::String) => {}
            (Wanted::Bool, _) => return wrong("cel expression must evaluate to a bool"),
            (Wanted::Text, _) => return wrong("messageExpression must evaluate to a string"),
        }
        if let Some(why) = constants::failure(&parsed.expr) {
            let what = match wanted {
                Wanted::Bool => "program",
                Wanted::Text => "messageExpression",
            };
            return wrong(&format!("{what} instantiation failed: {why}"));
        }
        Ok(Self {
            uses_old_self: checked.uses_old_self,
            max_cost: estimate::cost(&parsed.expr, &checked, declared),
            expr: parsed.expr,
        })
    }
}

/// Returns whether a text can be the name of a variable.
pub fn is_identifier(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = ["true", "false", "null", "in"];
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(inner)
        && !parser::RESERVED.contains(&text)
        && !words.contains(&text)
}

/// Returns whether an expression names a variable. One that cannot be read names none.
pub fn names(text: &str, variable: &str) -> bool {
    parser::parse(text).is_ok_and(|parsed| parsed.expr.names(variable))
}

/// The fields of a variable that an expression uses. One that cannot be read uses none.
pub fn fields_used(text: &str, variable: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if let Ok(parsed) = parser::parse(text) {
        parsed.expr.find_fields(variable, &mut found);
    }
    found
}

/// Reads and checks an expression on variables of any type, and gives its type. If a variable is an object with certain
/// fields only, it is named with them and their types. The variables `request` and `namespaceObject` have the types
/// that they have in an admission policy.
///
/// # Errors
/// The reason why it cannot be used.
pub fn type_of(
    text: &str,
    variables: &[&str],
    object: (&str, &[(&str, CelType)]),
) -> Result<CelType, Unusable> {
    type_with(text, variables, object, false)
}

fn type_with(
    text: &str,
    variables: &[&str],
    (object, fields): (&str, &[(&str, CelType)]),
    changes: bool,
) -> Result<CelType, Unusable> {
    let failed = |mut mistakes: Vec<ParseError>| {
        let shown = ast::display_mistakes(&mut mistakes, text);
        Unusable::Wrong(format!("compilation failed: {shown}"))
    };
    let mut parsed = match parser::parse(text) {
        Ok(parsed) => parsed,
        Err(Unread::TooDeep) => return Err(Unusable::Unknown),
        Err(Unread::Mistaken(mistakes)) => return Err(failed(mistakes)),
    };
    let variables = variables.iter();
    let variables = variables.map(|name| {
        let ty = match *name == object {
            true => Declared::object_with(fields),
            false => check::admission::variable(name).unwrap_or(CelType::Dyn),
        };
        ((*name).to_owned(), ty)
    });
    let checked = check::check_with(
        &mut parsed.expr,
        &parsed.places,
        variables.collect(),
        changes,
    );
    let checked = checked.map_err(failed)?;
    if let Some(why) = constants::failure(&parsed.expr) {
        let why = format!("program instantiation failed: {why}");
        return Err(Unusable::Wrong(why));
    }
    Ok(checked.types[parsed.expr.id].clone())
}

/// Reads and evaluates an expression. The second value is its cost.
pub fn evaluate(text: &str, variables: &Activation) -> (Outcome, u64) {
    let (value, cost) = variables.run(text, false);
    (outcome(value), cost)
}

fn outcome(value: Result<Val, EvaluationError>) -> Outcome {
    match value {
        Ok(Val::Bool(value)) => Outcome::Bool(value),
        Ok(Val::Text(text)) => Outcome::Text(text.to_string()),
        Ok(_) => Outcome::Other,
        Err(EvaluationError::Error(why)) => Outcome::Failed(why),
        Err(EvaluationError::Costs) => Outcome::TooCostly,
        Err(EvaluationError::Unknown) => Outcome::Unknown,
    }
}

/// The result of evaluating an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A boolean.
    Bool(bool),
    /// A text.
    Text(String),
    /// A value of another type.
    Other,
    /// The expression failed, for this reason.
    Failed(String),
    /// It cost more than one expression may.
    TooCostly,
    /// It could not be evaluated here.
    Unknown,
}

/// The value of a rule, and the stored one.
#[derive(Debug)]
pub struct Subject {
    value: Val,
    old: Option<Val>,
}

impl Subject {
    /// Takes values as rules of their schema see them.
    pub fn new(value: &Value, old: Option<&Value>, schema: &impl ValueSchema) -> Self {
        Self {
            value: converted(value, Some(schema)),
            old: old.map(|old| converted(old, Some(schema))),
        }
    }
}

/// Evaluates expressions.
#[derive(Debug, Default)]
pub struct Evaluator(Machine);

impl Evaluator {
    /// Evaluates an expression. The second value is its cost.
    pub fn run(&self, program: &Program, subject: &Subject, optional: bool) -> (Outcome, u64) {
        let mut variables = vec![(SELF, subject.value.clone())];
        match (&subject.old, optional) {
            (Some(old), false) => variables.push((OLD_SELF, old.clone())),
            (None, false) => {}
            (Some(old), true) => variables.push((OLD_SELF, Val::some(old.clone()))),
            (None, true) => variables.push((OLD_SELF, Val::Optional(None))),
        }
        let (value, cost) = self.0.run(&program.expr, variables);
        (outcome(value), cost)
    }
}
