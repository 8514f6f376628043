//! Sets have no item twice, lists with keys no key (`schema/listtype/validation.go`).

use serde_json::{Value, json};

use crate::field::ErrorPath;
use crate::json::{sorted, sorted_text};
use crate::object::JsonMap;
use crate::schema::ListKind;
use crate::schema::openapi::Schema;
use crate::status::FieldError;

/// The duplicate items of a list whose items must be unique.
pub fn duplicates(object: &Value, schema: &Schema) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit(object, schema, &ErrorPath::ROOT, &mut errors);
    errors
}

fn visit(value: &Value, schema: &Schema, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(map) => members(map, schema, path, errors),
        Value::Array(list) => {
            match &schema.list {
                ListKind::Atomic => {}
                ListKind::Set => {
                    for i in second_ones(list) {
                        errors.push(FieldError::duplicate(path.index(i), &list[i]));
                    }
                }
                ListKind::Map(keys) => repeated_keys(list, keys, path, errors),
            }
            if let Some(schema) = &schema.items {
                for (i, item) in list.iter().enumerate() {
                    visit(item, schema, &path.index(i), errors);
                }
            }
        }
        _ => {}
    }
}

fn members(map: &JsonMap, schema: &Schema, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    if let Some(values) = schema.additional.as_ref().and_then(|a| a.schema()) {
        for (key, value) in sorted(map) {
            visit(value, values, &path.key(key), errors);
        }
    }
    for (key, value) in sorted(map) {
        if let Some(member) = schema.properties.get(key) {
            visit(value, member, &path.child(key), errors);
        }
    }
}

/// A path one member further.
pub(super) fn child(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn repeated_keys(
    list: &[Value],
    keys: &[String],
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let stranger = |item: &&Value| !item.is_object() && !item.is_null();
    if let Some(i) = list.iter().position(|item| stranger(&item)) {
        let detail = "must be an object for an array of list-type map";
        errors.push(FieldError::invalid(path.index(i), &list[i], detail));
        return;
    }
    let key_of = |item: &Value| {
        let given = keys.iter().filter_map(|key| {
            let value = item.get(key)?;
            Some((key.clone(), value.clone()))
        });
        Value::Object(given.collect())
    };
    let found: Vec<Value> = list.iter().map(key_of).collect();
    for i in second_ones(&found) {
        errors.push(FieldError::duplicate(path.index(i), &found[i]));
    }
}

/// The position at which a value appears for the second time; further ones are not reported.
fn second_ones(values: &[Value]) -> Vec<usize> {
    let mut times: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut second = Vec::new();
    for (i, value) in values.iter().enumerate() {
        let seen = times.entry(sorted_text(&json!(value))).or_default();
        *seen += 1;
        if *seen == 2 {
            second.push(i);
        }
    }
    second
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(schema: Value, value: &Value) -> Vec<String> {
        let schema = Schema::parse(&schema).unwrap();
        let errors = duplicates(value, &schema);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_second_appearance_is_named() {
        let schema = json!({"properties": {
            "tags": {"x-kubernetes-list-type": "set"},
            "ports": {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n", "p"]},
        }});
        let value = json!({
            "tags": ["a", "a", "a", "b"],
            "ports": [{"n": 1, "p": "x"}, {"n": 1}, {"n": 1, "p": "x", "q": 0}],
        });
        assert_eq!(
            errors(schema, &value),
            [
                r#"ports[2]: Duplicate value: {"n":1,"p":"x"}"#,
                r#"tags[1]: Duplicate value: "a""#,
            ]
        );
    }
}
