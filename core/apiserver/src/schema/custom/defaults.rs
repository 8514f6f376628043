//! Defaults of a schema are filled in (`schema/defaulting/algorithm.go`).

use serde_json::Value;

use crate::limits;
use crate::schema::openapi::Schema;
use crate::size::Measured;

/// Fills in defaults, from the outside in: also those that a default itself leaves out. Ends once
/// the object has more values than a server takes here ([`limits`]): a default in each item of a
/// list makes much of little.
pub fn fill_in(value: &mut Value, schema: &Schema) {
    fill(value, schema, &mut (limits::MAX_VALUES + 1));
}

/// Fills in defaults, up to a maximum number of values.
fn fill(value: &mut Value, schema: &Schema, left: &mut usize) {
    match value {
        Value::Object(map) => {
            for name in &schema.defaulted {
                let Some(member) = schema.properties.get(name) else {
                    continue;
                };
                let Some(default) = &member.default else {
                    continue;
                };
                let missing = match map.get(name) {
                    None => true,
                    Some(value) => value.is_null() && !member.nullable,
                };
                if missing && subtract_size(left, default) {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in map.iter_mut() {
                if let Some(member) = schema.properties.get(name) {
                    fill(value, member, left);
                } else if let Some(values) = schema.additional.as_ref().and_then(|a| a.schema()) {
                    replace_null(value, values, left);
                    fill(value, values, left);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for item in items {
                    replace_null(item, schema, left);
                    fill(item, schema, left);
                }
            }
        }
        _ => {}
    }
}

fn replace_null(value: &mut Value, schema: &Schema, left: &mut usize) {
    if let (Value::Null, false, Some(default)) = (&value, schema.nullable, &schema.default)
        && subtract_size(left, default)
    {
        *value = default.clone();
    }
}

/// Subtracts the size of a default from the limit; `false` if it is too large.
fn subtract_size(left: &mut usize, default: &Value) -> bool {
    let size = default.count(*left);
    let fits = size < *left;
    *left = if fits { *left - size } else { 0 };
    fits
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn defaults_fill_in_what_is_absent_or_null_but_not_a_null_that_is_a_value() {
        let schema = Schema::parse(&json!({"properties": {
            "a": {"default": {}, "properties": {"b": {"default": 1}}},
            "c": {"default": 2},
            "d": {"default": 3, "nullable": true},
            "e": {"items": {"default": 4}},
            "f": {"additionalProperties": {"default": 5}},
        }}))
        .unwrap();
        let mut value = json!({"c": null, "d": null, "e": [null, 0], "f": {"x": null}});
        fill_in(&mut value, &schema);
        assert_eq!(
            value,
            json!({"a": {"b": 1}, "c": 2, "d": null, "e": [4, 0], "f": {"x": 5}})
        );
    }
}
