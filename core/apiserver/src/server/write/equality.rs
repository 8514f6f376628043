//! Writes that change nothing but the times of managers (`handlers/fieldmanager/equality.go`).

use serde_json::Value;

use crate::object::JsonMap;

/// A write that changes nothing but the times of managers changes nothing
/// (`handlers/fieldmanager/equality.go`).
pub(super) fn keep_idle_times(object: &mut Value, live: &Value) {
    if object != live && equal_but_for_times(object, live) {
        *object = live.clone();
    }
}

fn equal_but_for_times(a: &Value, b: &Value) -> bool {
    equal_but_for("metadata", a, b, |a, b| {
        equal_but_for("managedFields", a, b, |a, b| {
            let (Some(a), Some(b)) = (a.as_array(), b.as_array()) else {
                return false;
            };
            let untimed = |(a, b)| equal_but_for("time", a, b, |_, _| true);
            a.len() == b.len() && a.iter().zip(b).all(untimed)
        })
    })
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
    special(&a[member], &b[member])
        && others(x).count() == others(y).count()
        && others(x).all(|(key, value)| y.get(key) == Some(value))
}
