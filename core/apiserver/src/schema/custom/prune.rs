//! Fields that are not declared are removed (`schema/pruning/algorithm.go`), and so is every
//! `null` that is neither a value nor replaced by a default (`schema/defaulting/prunenulls.go`).

use serde_json::Value;

use crate::schema::openapi::{Additional, Schema};

/// The fields that every resource has, declared or not.
pub(super) const COMMON: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Removes the fields that the schema of a whole object does not declare. Returns the paths of the
/// removed fields, sorted.
pub fn prune(object: &mut Value, schema: Option<&Schema>) -> Vec<String> {
    let mut pruner = Pruner::default();
    let nothing = Schema::default();
    pruner.declared(object, schema.unwrap_or(&nothing), true);
    pruner.removed.sort();
    pruner.removed
}

/// Returns whether a value has members that its schema does not declare.
pub(super) fn has_undeclared(value: &Value, schema: &Schema) -> bool {
    let mut pruner = Pruner::default();
    let mut pruned = value.clone();
    pruner.declared(&mut pruned, schema, schema.embedded);
    pruned != *value
}

#[derive(Default)]
struct Pruner {
    path: String,
    removed: Vec<String>,
}

impl Pruner {
    fn value(&mut self, value: &mut Value, schema: Option<&Schema>) {
        match schema {
            Some(schema) => self.declared(value, schema, schema.embedded),
            None => self.undeclared(value),
        }
    }

    /// A value whose schema is known; `resource` if its common fields stay in any case.
    fn declared(&mut self, value: &mut Value, schema: &Schema, resource: bool) {
        if schema.preserve_unknown {
            return self.preserved(value, schema, resource);
        }
        let length = self.path.len();
        match value {
            Value::Object(map) => map.retain(|key, value| {
                let common = COMMON.contains(&key.as_str());
                if resource && common {
                    return true;
                }
                let known = schema.properties.contains_key(key) || schema.additional.is_some();
                self.key(key);
                if known {
                    self.value(value, schema.member(key));
                } else if !common || length > 0 {
                    self.removed.push(self.path.clone());
                }
                self.path.truncate(length);
                known
            }),
            Value::Array(items) => self.items(items, |pruner, item| {
                pruner.value(item, schema.items.as_deref());
            }),
            _ => {}
        }
    }

    /// No member is declared: objects lose all their members.
    fn undeclared(&mut self, value: &mut Value) {
        let length = self.path.len();
        match value {
            Value::Object(map) => {
                for key in map.keys() {
                    self.key(key);
                    self.removed.push(self.path.clone());
                    self.path.truncate(length);
                }
                map.clear();
            }
            Value::Array(items) => self.items(items, Self::undeclared),
            _ => {}
        }
    }

    /// Unknown members stay, but the declared members are pruned.
    fn preserved(&mut self, value: &mut Value, schema: &Schema, resource: bool) {
        let length = self.path.len();
        match value {
            Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    let common = COMMON.contains(&key.as_str());
                    let declared = schema.properties.contains_key(key);
                    if (resource && common) || !(declared || schema.additional.is_some()) {
                        continue;
                    }
                    self.key(key);
                    self.value(value, schema.member(key));
                    self.path.truncate(length);
                }
            }
            Value::Array(items) => {
                let Some(below) = &schema.items else { return };
                self.items(items, |pruner, item| {
                    pruner.preserved(item, below, below.embedded);
                });
            }
            _ => {}
        }
    }

    fn items(&mut self, items: &mut [Value], mut each: impl FnMut(&mut Self, &mut Value)) {
        let length = self.path.len();
        for (i, item) in items.iter_mut().enumerate() {
            self.path.push_str(&format!("[{i}]"));
            each(self, item);
            self.path.truncate(length);
        }
    }

    fn key(&mut self, key: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
    }
}

/// Removes members that are `null` where the schema neither allows `null` nor has a default.
pub fn prune_nulls(value: &mut Value, schema: Option<&Schema>) {
    match value {
        Value::Object(map) => map.retain(|key, value| {
            let schema = schema.and_then(|schema| schema.member(key));
            let gone = value.is_null()
                && schema.is_some_and(|schema| !schema.nullable && schema.default.is_none());
            if !gone {
                prune_nulls(value, schema);
            }
            !gone
        }),
        Value::Array(items) => {
            let schema = schema.and_then(|schema| schema.items.as_deref());
            items.iter_mut().for_each(|item| prune_nulls(item, schema));
        }
        _ => {}
    }
}

impl Additional {
    /// The schema of the other members, if they have one.
    pub(super) fn schema(&self) -> Option<&Schema> {
        match self {
            Additional::Of(schema) => Some(schema),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_declared_is_removed_and_named() {
        let schema = Schema::parse(&json!({"type": "object", "properties": {"spec": {
            "type": "object", "properties": {
                "list": {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "properties": {"shut": {"type": "object"}}},
            },
        }}}));
        let mut object = json!({
            "apiVersion": "v1", "kind": "T", "metadata": {"x": 1}, "top": 1,
            "spec": {
                "list": [{"a": 1, "b": 2}], "map": {"k": "v"}, "gone": {"deep": 1},
                "open": {"kept": {"deep": 1}, "shut": {"not": 1}},
            },
        });
        let removed = prune(&mut object, Some(&schema.unwrap()));
        assert_eq!(
            removed,
            ["spec.gone", "spec.list[0].b", "spec.open.shut.not", "top"]
        );
        assert_eq!(
            object,
            json!({
                "apiVersion": "v1", "kind": "T", "metadata": {"x": 1},
                "spec": {
                    "list": [{"a": 1}], "map": {"k": "v"},
                    "open": {"kept": {"deep": 1}, "shut": {}},
                },
            })
        );
    }

    #[test]
    fn null_stays_where_it_is_a_value_or_becomes_the_default() {
        let schema = Schema::parse(&json!({"properties": {
            "plain": {"type": "string"},
            "nullable": {"type": "string", "nullable": true},
            "default": {"type": "string", "default": "x"},
            "list": {"type": "array", "items": {"type": "string"}},
        }}));
        let mut value = json!({
            "plain": null, "nullable": null, "default": null, "list": [null], "unknown": null,
        });
        prune_nulls(&mut value, Some(&schema.unwrap()));
        assert_eq!(
            value,
            json!({"nullable": null, "default": null, "list": [null], "unknown": null})
        );
    }
}
