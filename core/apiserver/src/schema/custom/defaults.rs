//! Defaults of a schema are filled in (`schema/defaulting/algorithm.go`).

use serde_json::Value;

use crate::schema::openapi::Schema;

/// Fills in defaults, from the outside in: in a default, too, what it leaves out is filled in.
pub fn fill_in(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(map) => {
            for (name, member) in &schema.properties {
                let Some(default) = &member.default else {
                    continue;
                };
                let missing = match map.get(name) {
                    None => true,
                    Some(value) => value.is_null() && !member.nullable,
                };
                if missing {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in map.iter_mut() {
                if let Some(member) = schema.properties.get(name) {
                    fill_in(value, member);
                } else if let Some(values) = schema.additional.as_ref().and_then(|a| a.schema()) {
                    replace_null(value, values);
                    fill_in(value, values);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for item in items {
                    replace_null(item, schema);
                    fill_in(item, schema);
                }
            }
        }
        _ => {}
    }
}

fn replace_null(value: &mut Value, schema: &Schema) {
    if value.is_null() && !schema.nullable {
        *value = schema.default.clone().unwrap_or(Value::Null);
    }
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
