//! Writes that change nothing but the times of managers (`handlers/fieldmanager/equality.go`).

use serde_json::Value;

use crate::object::JsonMap;

/// A write that changes nothing but the times of managers changes nothing
/// (`handlers/fieldmanager/equality.go`).
pub(super) fn keep_idle_times(object: &mut Value, live: &Value) {
    if differ_in_times_alone(object, live) {
        *object = live.clone();
    }
}

fn differ_in_times_alone(a: &Value, b: &Value) -> bool {
    let mut times_differ = false;
    let equal = equal_but_for("metadata", a, b, |a, b| {
        equal_but_for("managedFields", a, b, |a, b| {
            let (Some(a), Some(b)) = (a.as_array(), b.as_array()) else {
                return false;
            };
            let mut untimed = |(a, b)| {
                equal_but_for("time", a, b, |a, b| {
                    times_differ |= a != b;
                    true
                })
            };
            a.len() == b.len() && a.iter().zip(b).all(&mut untimed)
        })
    });
    equal && times_differ
}

/// Returns whether two maps are equal but for one member, which `special` compares (`null` if absent).
fn equal_but_for(
    member: &str,
    a: &Value,
    b: &Value,
    special: impl FnOnce(&Value, &Value) -> bool,
) -> bool {
    let (Some(x), Some(y)) = (a.as_object(), b.as_object()) else {
        return a == b;
    };
    let others = |map| JsonMap::iter(map).filter(|(key, _)| key.as_str() != member);
    others(x).count() == others(y).count()
        && others(x).all(|(key, value)| y.get(key) == Some(value))
        && special(&a[member], &b[member])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_kept_if_only_times_of_managers_differ() {
        let object = |time: &str, manager: &str, data: &str| {
            let entry = json!({"manager": manager, "time": time});
            json!({"data": {"k": data}, "metadata": {"name": "a", "managedFields": [entry]}})
        };
        let live = object("1", "m", "1");
        for (mut new, is_kept) in [
            (object("1", "m", "1"), true),
            (object("2", "m", "1"), true),
            (object("2", "m", "2"), false),
            (object("2", "n", "1"), false),
            (json!({"data": {"k": "1"}}), false),
        ] {
            let before = new.clone();
            keep_idle_times(&mut new, &live);
            assert_eq!(new, if is_kept { live.clone() } else { before });
        }
    }
}
