//! Without an engine no rule can be evaluated, and each is said not to be.

use serde_json::Value;

use super::Outcome;
use crate::schema::openapi::Schema;

#[derive(Debug)]
pub(super) struct Expression;

impl Expression {
    pub(super) fn compile(_: &str) -> Self {
        Self
    }

    pub(super) fn uses_old_self(&self) -> bool {
        false
    }
}

pub(super) struct Evaluator;

impl Evaluator {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) fn evaluate(
        &self,
        _: &Expression,
        _: &Value,
        _: Option<&Value>,
        _: &Schema,
        _: bool,
    ) -> Outcome {
        Outcome::Unknown
    }
}
