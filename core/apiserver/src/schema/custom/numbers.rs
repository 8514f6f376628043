//! Numbers without a declared type, as the server's JSON library reads and writes them: 64-bit
//! integers, or else floats.

use serde_json::{Number, Value};

use crate::go;

/// Integers beyond 64 bits with sign are floats.
pub fn numbers_as_read(value: &mut Value) {
    each_number(value, &|n| {
        let float = n.as_u64().filter(|_| !n.is_i64())? as f64;
        Number::from_f64(float)
    });
}

/// Floats that are whole are written without a fraction, so they are integers when read again.
pub fn numbers_as_stored(value: &mut Value) {
    each_number(value, &go::integer);
}

fn each_number(value: &mut Value, change: &impl Fn(&Number) -> Option<Number>) {
    match value {
        Value::Number(n) => {
            if let Some(changed) = change(n) {
                *n = changed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_number(item, change)),
        Value::Object(map) => map
            .values_mut()
            .for_each(|value| each_number(value, change)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_floats_are_stored_as_integers_and_huge_integers_read_as_floats() {
        let mut value = json!([1.0, 1.5, 1e300, {"a": -0.0}]);
        numbers_as_stored(&mut value);
        assert_eq!(value, json!([1, 1.5, 1e300, {"a": 0}]));
        let mut value = json!([u64::MAX, 1]);
        numbers_as_read(&mut value);
        assert_eq!(value, json!([18446744073709552000.0, 1]));
    }
}
