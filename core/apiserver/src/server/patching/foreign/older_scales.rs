//! The older types of a scale. They have the fields of the one that is served, except for the selectors of the status:
//! a map, and a text (`k8s.io/api/apps/v1beta1/types.go` and `extensions/v1beta1/types.go`, `ScaleStatus`, v1.36).

use serde_json::Value;

use crate::go;
use crate::json::Node;
use crate::schema;
use crate::server::scale;

/// The versions with an older `Scale`, whose selector is a map (`k8s.io/api/extensions/v1beta1`, `ScaleStatus`).
pub(super) const OLDER_SCALES: [&str; 3] = ["apps/v1beta1", "apps/v1beta2", "extensions/v1beta1"];

/// The error of decoding an object into the older type of a scale.
pub(super) fn undecodable(version: &str, object: &Value) -> Option<String> {
    let mut others = object.clone();
    let mut status = others.get_mut("status").and_then(Value::as_object_mut);
    let mut take = |name| status.as_mut()?.remove(name);
    let (selector, text) = (take("selector"), take("targetSelector"));
    if let Err(error) = schema::decode(Node::from(others), &scale::resource()?.root) {
        let own = format!(" of type {version}.Scale");
        return Some(error.replace(" of type v1.Scale", &own));
    }
    let undecodable = |field: &str, value: &Value, ty: &str| {
        let what = go::json_kind(value);
        format!(
            "json: cannot unmarshal {what} into Go struct field ScaleStatus.status.{field} of type {ty}"
        )
    };
    let is_text = |value: &Value| value.is_null() || value.is_string();
    let wrong = match &selector {
        Some(Value::Object(map)) => map
            .values()
            .find(|value| !is_text(value))
            .map(|value| undecodable("selector", value, "string")),
        Some(value) if !value.is_null() => {
            Some(undecodable("selector", value, "map[string]string"))
        }
        _ => None,
    };
    let text = text.filter(|text| !is_text(text));
    wrong.or_else(|| Some(undecodable("targetSelector", &text?, "string")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_selectors_of_an_older_scale_are_a_map_of_texts_and_a_text() {
        let told = |status: Value| undecodable("v1beta1", &json!({"status": status}));
        for right in [
            json!({"selector": {"app": "web", "tier": null}, "targetSelector": "app=web"}),
            json!({"selector": null, "targetSelector": null}),
        ] {
            assert_eq!(told(right), None);
        }
        for (wrong, field) in [
            (
                json!({"selector": "app=web"}),
                "selector of type map[string]string",
            ),
            (json!({"selector": {"app": 1}}), "selector of type string"),
            (
                json!({"targetSelector": 5}),
                "targetSelector of type string",
            ),
        ] {
            let error = told(wrong.clone()).unwrap_or_default();
            assert!(
                error.ends_with(&format!("ScaleStatus.status.{field}")),
                "{wrong}: {error}"
            );
        }
    }
}
