//! Checks the changes to a pod (`ValidatePodUpdate` of `pkg/apis/core/validation`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::label_selector::list;
use super::{difference, internal, names, pod_gated, pod_template};
use crate::field::ErrorPath;
use crate::json::sorted_text;
use crate::object::{JsonMap, text};
use crate::schema::Empties;
use crate::status::FieldError;

/// The message for every other change, before the difference.
const MAY_CHANGE: &str = "pod updates may not change fields other than \
     `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
     `spec.tolerations` (only additions to existing tolerations),\
     `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

const SPEC: ErrorPath<'static> = ErrorPath::new("spec");

/// Checks an update of a pod's spec; messages show the change with the empty lists of the request.
pub(super) fn validate(spec: &Value, empties: &Empties, live: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for kind in ["containers", "initContainers"] {
        let containers = list(spec, kind);
        let field = SPEC.child(kind);
        if containers.len() != list(live, kind).len() {
            let detail = "pod updates may not add or remove containers";
            errors.push(FieldError::forbidden(field, detail));
            return errors;
        }
        for (i, container) in containers.iter().enumerate() {
            if text(container, "image").is_empty() {
                let item = field.index(i);
                errors.push(FieldError::required(item.child("image"), ""));
            }
            let image = text(container, "image");
            if image != image.trim() {
                let item = field.index(i);
                let field = item.child("image");
                let detail = "must not have leading or trailing whitespace";
                errors.push(FieldError::invalid(field, &image.into(), detail));
            }
        }
    }
    if let Some(error) = deadline(spec, live) {
        errors.push(error);
        if spec.get("activeDeadlineSeconds").is_some() {
            return errors;
        }
    }
    errors.extend(tolerations(spec, live));
    errors.extend(gates(spec, live));
    if differs_only_in_images(spec, live) {
        return errors;
    }
    let mut given = spec.clone();
    empties.put_back("spec", &mut given);
    let (pardoned_spec, more) = pardoned(spec.clone(), &given, live);
    errors.extend(more);
    if pardoned_spec != *live {
        let (shown, _) = pardoned(given.clone(), &given, live);
        let before = internal::pod_spec(live);
        let changes = difference::unified(&before, &internal::pod_spec(&shown));
        let detail = format!("{MAY_CHANGE}\n{changes}");
        errors.push(FieldError::forbidden("spec", detail));
    }
    errors
}

/// Returns whether everything is equal but images of containers, which may change.
fn differs_only_in_images(spec: &Value, live: &Value) -> bool {
    let but = |member: &str, a: &Value, b: &Value, compare: &dyn Fn(&Value, &Value) -> bool| {
        let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else {
            return a == b;
        };
        a.len() == b.len()
            && a.iter().all(|(name, a)| match b.get(name) {
                Some(b) if name == member => compare(a, b),
                other => other == Some(a),
            })
    };
    let container = |(a, b): (&Value, &Value)| but("image", a, b, &|_, _| true);
    but("containers", spec, live, &|a, b| {
        let (Some(a), Some(b)) = (a.as_array(), b.as_array()) else {
            return a == b;
        };
        a.len() == b.len() && a.iter().zip(b).all(container)
    })
}

/// A deadline may come, or come nearer.
fn deadline(spec: &Value, live: &Value) -> Option<FieldError> {
    let field = "spec.activeDeadlineSeconds";
    let before = live.get("activeDeadlineSeconds").and_then(Value::as_i64);
    let Some(now) = spec.get("activeDeadlineSeconds").and_then(Value::as_i64) else {
        let detail = "must not update from a positive integer to nil value";
        return before.map(|_| FieldError::invalid(field, &Value::Null, detail));
    };
    if let Some(why) = names::in_range(now, 0, i64::from(i32::MAX)).pop() {
        return Some(FieldError::invalid(field, &now.into(), why));
    }
    let detail = "must be less than or equal to previous value";
    before
        .filter(|before| *before < now)
        .map(|_| FieldError::invalid(field, &now.into(), detail))
}

/// Tolerations may come, and change how long they last (`validateOnlyAddedTolerations`).
fn tolerations(spec: &Value, live: &Value) -> Vec<FieldError> {
    let field = SPEC.child("tolerations");
    let untimed = |toleration: &Value| {
        let mut toleration = toleration.clone();
        if let Value::Object(map) = &mut toleration {
            map.remove("tolerationSeconds");
        }
        sorted_text(&toleration)
    };
    let now: BTreeSet<String> = list(spec, "tolerations").iter().map(untimed).collect();
    let mut before = list(live, "tolerations").iter().map(untimed);
    if before.any(|old| !now.contains(&old)) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        return vec![FieldError::forbidden(field, detail)];
    }
    pod_template::tolerations(list(spec, "tolerations"), &field)
}

/// Gates may go only (`validateOnlyDeletedSchedulingGates`).
fn gates(spec: &Value, live: &Value) -> Vec<FieldError> {
    let before = list(live, "schedulingGates");
    let gates = list(spec, "schedulingGates").iter().enumerate();
    gates
        .map(|(i, gate)| (i, text(gate, "name")))
        .filter(|(_, name)| before.iter().all(|old| text(old, "name") != *name))
        .map(|(i, name)| {
            let detail =
                format!("only deletion is allowed, but found new scheduling gate '{name}'");
            let gate = SPEC.item("schedulingGates", i);
            FieldError::forbidden(gate.child("name"), detail)
        })
        .collect()
}

/// Returns the new spec with its allowed changes undone, and the errors in these changes.
fn pardoned(mut spec: Value, given: &Value, live: &Value) -> (Value, Vec<FieldError>) {
    for kind in ["containers", "initContainers"] {
        // Upstream copies container by container, so that no container leaves no list.
        if let Value::Object(map) = &mut spec
            && map
                .get(kind)
                .and_then(Value::as_array)
                .is_some_and(Vec::is_empty)
        {
            map.remove(kind);
        }
        let containers = spec.get_mut(kind).and_then(Value::as_array_mut);
        let pairs = containers.into_iter().flatten().zip(list(live, kind));
        for (container, before) in pairs {
            container["image"] = before["image"].clone();
        }
    }
    let Some(map) = spec.as_object_mut() else {
        return (spec, Vec::new());
    };
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        take_back(map, live, field);
    }
    let grace = "terminationGracePeriodSeconds";
    if live[grace].as_i64().is_some_and(|before| before < 0) && map.get(grace) == Some(&1.into()) {
        take_back(map, live, grace);
    }
    let errors = pod_gated::pardon(map, given, live);
    (spec, errors)
}

pub(super) fn take_back(map: &mut JsonMap, live: &Value, field: &str) {
    match live.get(field) {
        Some(value) => map.insert(field.to_owned(), value.clone()),
        None => map.remove(field),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(spec: &Value, live: &Value) -> Vec<String> {
        let errors = validate(spec, &Empties::default(), live);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn images_and_more_tolerations_may_come_and_little_else() {
        let live = json!({
            "containers": [{"name": "a", "image": "a:1"}],
            "tolerations": [{"key": "k", "operator": "Exists"}],
        });
        let mut spec = live.clone();
        spec["containers"][0]["image"] = "a:2".into();
        spec["tolerations"] = json!([
            {"key": "l", "operator": "Exists"},
            {"key": "k", "operator": "Exists"},
        ]);
        spec["activeDeadlineSeconds"] = 10.into();
        assert!(texts(&spec, &live).is_empty());
        spec["containers"][0]["command"] = json!(["x"]);
        spec["tolerations"] = json!([]);
        let said = texts(&spec, &live);
        assert_eq!(said.len(), 2);
        assert!(said[0].starts_with("spec.tolerations: Forbidden: existing toleration"));
        assert!(said[1].starts_with("spec: Forbidden: pod updates may not change fields"));
    }

    #[test]
    fn an_empty_list_of_the_request_is_shown_as_one() {
        let document = r#"{"spec": {"containers": [{"image": "a", "args": []}], "hostname": "h"}}"#;
        let node = crate::json::parse(document.as_bytes()).unwrap();
        let root = crate::schema::builtin("Pod").unwrap();
        let decoded = crate::schema::decode(node, root).unwrap();
        let live = json!({"containers": [{"name": "", "image": "a", "resources": {}}]});
        let errors = validate(&decoded.value["spec"], &decoded.empties, &live);
        let said = errors[0].to_string();
        assert!(
            said.contains("-   \"Args\": null,\n+   \"Args\": [],\n"),
            "{said}"
        );
    }

    #[test]
    fn containers_do_not_come_or_go_and_a_deadline_only_comes_nearer() {
        let live = json!({"containers": [{"image": "a"}], "activeDeadlineSeconds": 10});
        let two = json!({"containers": [{"image": "a"}, {"image": "b"}]});
        assert_eq!(
            texts(&two, &live),
            ["spec.containers: Forbidden: pod updates may not add or remove containers"]
        );
        let later = json!({"containers": [{"image": "a"}], "activeDeadlineSeconds": 11});
        assert_eq!(texts(&later, &live).len(), 1);
    }
}
