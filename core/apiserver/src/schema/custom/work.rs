//! Measures the work of checking a value against a schema. A real server has the time; here work
//! that would take longer than a moment is refused before it begins ([`crate::limits`]).
//!
//! A small schema can ask for a lot: alternatives are tried for every item, an expression is matched
//! against every text, each missing member and each forbidden value is a message of its own.

use optimist_values::Pattern;
use serde_json::Value;

use crate::schema::openapi::{Additional, Schema};

/// The maximum work for a value: about one for every comparison.
const MAX_WORK: usize = 2_000_000;

/// The maximum size of all compiled expressions of a definition together, in bytes.
const MAX_COMPILED: usize = 8 << 20;

/// An expression's states that are tried in the time of one comparison.
const STATES: usize = 50;

/// About the size of a state, in bytes.
const STATE: usize = 16;

/// Declared members that are passed over in the time of one comparison.
const PASSED: usize = 16;

/// Returns whether a value can be checked against a schema quickly.
pub fn is_feasible(value: &Value, schema: &Schema) -> bool {
    count_work(value, schema, &mut MAX_WORK.clone()).is_some()
}

/// Returns whether the schema of a definition can be compiled, and its defaults checked against it,
/// quickly.
pub fn is_feasible_schema(json: &Value) -> bool {
    if compile(json, &mut MAX_COMPILED.clone()).is_none() {
        return false;
    }
    match Schema::parse(json) {
        Ok(schema) => weigh_defaults(&schema, &mut MAX_WORK.clone()).is_some(),
        // A value that is not a schema is refused elsewhere.
        Err(_) => true,
    }
}

fn spend(left: &mut usize, work: usize) -> Option<()> {
    *left = left.checked_sub(work)?;
    Some(())
}

fn count_work(value: &Value, schema: &Schema, left: &mut usize) -> Option<()> {
    let checks = &schema.checks;
    spend(left, 1 + checks.choices.len())?;
    let alternatives = [&checks.all_of, &checks.any_of, &checks.one_of];
    for schema in alternatives
        .into_iter()
        .flatten()
        .chain(checks.not.as_deref())
    {
        count_work(value, schema, left)?;
    }
    match value {
        Value::String(text) => {
            let states = checks.pattern.as_ref().map_or(0, |it| it.size / STATE);
            spend(left, states.saturating_mul(text.len()) / STATES)
        }
        Value::Array(items) => match &schema.items {
            Some(schema) => items
                .iter()
                .try_for_each(|item| count_work(item, schema, left)),
            None => Some(()),
        },
        Value::Object(map) => {
            spend(
                left,
                checks.required.len() + schema.properties.len() / PASSED,
            )?;
            map.iter()
                .try_for_each(|(name, value)| match schema.member(name) {
                    Some(schema) => count_work(value, schema, left),
                    None => spend(left, 1),
                })
        }
        _ => Some(()),
    }
}

/// Every default of a schema is checked against the schema at its path.
fn weigh_defaults(schema: &Schema, left: &mut usize) -> Option<()> {
    if let Some(default) = &schema.default {
        count_work(default, schema, left)?;
    }
    let additional = match &schema.additional {
        Some(Additional::Of(schema)) => Some(&**schema),
        _ => None,
    };
    let below = schema.properties.values().chain(additional);
    let mut below = below.chain(schema.items.as_deref());
    below.try_for_each(|schema| weigh_defaults(schema, left))
}

/// Compiles every expression of a schema as it is written, one at a time.
fn compile(json: &Value, left: &mut usize) -> Option<()> {
    match json {
        Value::Array(items) => items.iter().try_for_each(|item| compile(item, left)),
        Value::Object(map) => map.iter().try_for_each(|(name, value)| match value {
            Value::String(text) if name == "pattern" => {
                spend(left, Pattern::compiled(text.clone()).size)
            }
            value => compile(value, left),
        }),
        _ => Some(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn feasible(schema: &Value, value: &Value) -> bool {
        assert!(is_feasible_schema(schema), "the schema alone is fine");
        is_feasible(value, &Schema::parse(schema).unwrap())
    }

    #[test]
    fn alternatives_of_every_item_are_work() {
        let schema = |count: usize| {
            let one = json!({"type": "integer"});
            json!({"type": "array", "items": {"anyOf": vec![one; count]}})
        };
        let list = json!(vec!["x"; 20_000]);
        assert!(feasible(&schema(20), &list));
        assert!(!feasible(&schema(2_000), &list));
    }

    #[test]
    fn what_is_allowed_and_required_of_every_item_is_work() {
        let names: Vec<String> = (0..2_000).map(|i| i.to_string()).collect();
        let items = json!(vec![json!({}); 20_000]);
        let required = json!({"type": "array", "items": {"type": "object", "required": names}});
        assert!(!feasible(&required, &items));
        let allowed = json!({"type": "array", "items": {"enum": names}});
        assert!(!feasible(&allowed, &items));
        assert!(feasible(&allowed, &json!(vec!["7"; 500])));
    }

    #[test]
    fn a_long_text_and_a_large_expression_are_work() {
        let schema = json!({"type": "string", "pattern": "^(.?){1000}x$"});
        assert!(feasible(&schema, &"a".repeat(100).into()));
        assert!(!feasible(&schema, &"a".repeat(200_000).into()));
        let simple = json!({"type": "string", "pattern": "^[a-z]+$"});
        assert!(feasible(&simple, &"a".repeat(200_000).into()));
    }

    #[test]
    fn many_large_expressions_are_too_much_for_a_definition() {
        let large = json!({"type": "string", "pattern": "(.?){900}"});
        let members: serde_json::Map<String, Value> =
            (0..3_000).map(|i| (i.to_string(), large.clone())).collect();
        assert!(!is_feasible_schema(&json!({"properties": members})));
    }

    #[test]
    fn a_default_is_held_to_its_schema() {
        let one = json!({"type": "integer"});
        let items = json!({"anyOf": vec![one; 2_000]});
        let list = json!({"type": "array", "items": items, "default": vec!["x"; 20_000]});
        assert!(!is_feasible_schema(&json!({"properties": {"list": list}})));
    }
}
