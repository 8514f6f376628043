//! The older types of a scale. They have the fields of the one that is served, except for the selector
//! (`k8s.io/api/apps/v1beta1/types.go` and `extensions/v1beta1/types.go`, `Scale`, v1.36).

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
    let status = others.get_mut("status").and_then(Value::as_object_mut);
    let selector = status.and_then(|status| status.remove("selector"));
    if let Err(error) = schema::decode(Node::from(others), &scale::resource()?.root) {
        let own = format!(" of type {version}.Scale");
        return Some(error.replace(" of type v1.Scale", &own));
    }
    let selector = selector.filter(|value| !value.is_null() && !value.is_object())?;
    let what = go::json_kind(&selector);
    Some(format!(
        "json: cannot unmarshal {what} into Go struct field ScaleStatus.status.selector of type \
         map[string]string"
    ))
}
