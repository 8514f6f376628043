//! Records that a tool keeps in the metadata of an object by itself: no person wrote them, and no person looks for them
//! first.

use optimist_apiserver::apply::{LAST_APPLIED, Path, PathElement};
use optimist_apiserver::pointer::unescape;
use serde_json::Value;

use crate::procedures::tracking::is_read_by_tools;
use crate::{Edit, ValueChange};

/// Returns whether a label or annotation is such a record: the one of client-side apply, or one by which a tool
/// recognizes its objects.
fn is_record(map: &str, name: &str) -> bool {
    (map == "annotations" && name == LAST_APPLIED)
        || (matches!(map, "annotations" | "labels") && is_read_by_tools(name))
}

/// Returns whether a field is the annotation in which kubectl and the server keep the last applied manifest. Each of them
/// rewrites it with every apply, so it is no edit of anybody (`k8s.io/kubectl/pkg/util/apply.go`, v0.36).
pub fn is_last_applied(field: &Path) -> bool {
    let place = ["metadata", "annotations", LAST_APPLIED];
    let is = |(element, name): (&PathElement, &str)| matches!(element, PathElement::Field(field) if field == name);
    field.0.len() == place.len() && field.0.iter().zip(place).all(is)
}

impl Edit {
    /// Returns whether a tool noted it in the metadata by itself: kubectl the last applied manifest, a delivery tool
    /// the release or application of the object.
    pub fn is_record_of_tool(&self) -> bool {
        match self.path.0.as_slice() {
            [
                PathElement::Field(metadata),
                PathElement::Field(map),
                PathElement::Field(name),
            ] => metadata == "metadata" && is_record(map, name),
            _ => false,
        }
    }
}

impl ValueChange {
    /// Returns whether tools noted all of it in the metadata by themselves, as in
    /// [`Edit::is_record_of_tool`].
    pub fn is_record_of_tool(&self) -> bool {
        let Some(place) = self.pointer.strip_prefix("/metadata/") else {
            return false;
        };
        if let Some((map, name)) = place.split_once('/') {
            return is_record(map, &unescape(name));
        }
        let mut sides = [&self.before, &self.after].into_iter().flatten();
        sides.all(|side| match side {
            Value::Object(members) => members.keys().all(|name| is_record(place, name)),
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes;
    use serde_json::json;

    #[test]
    fn a_record_of_a_tool_is_no_change_of_a_person() {
        let of = |after: Value| -> Vec<bool> {
            let found = changes(&json!({"metadata": {}}), &json!({"metadata": after}));
            found.iter().map(ValueChange::is_record_of_tool).collect()
        };
        let helm = "meta.helm.sh/release-name";
        assert_eq!(of(json!({"annotations": {LAST_APPLIED: "{}"}})), [true]);
        assert_eq!(of(json!({"annotations": {helm: "web"}})), [true]);
        assert_eq!(
            of(json!({"annotations": {helm: "web", "note": "x"}})),
            [false]
        );
        assert_eq!(of(json!({"labels": {LAST_APPLIED: "{}"}})), [false]);
        assert_eq!(of(json!({"labels": {"app": "web"}})), [false]);

        let with = |annotations: Value| json!({"metadata": {"annotations": annotations}});
        let found = changes(
            &with(json!({LAST_APPLIED: "a", "note": "a"})),
            &with(json!({LAST_APPLIED: "b", "note": "b"})),
        );
        let records: Vec<bool> = found.iter().map(ValueChange::is_record_of_tool).collect();
        assert_eq!(records, [true, false]);
    }
}
