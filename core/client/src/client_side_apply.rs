//! Client-side apply (`kubectl apply` without `--server-side`): the three-way merge of the manifest
//! that was applied last, the manifest, and the object
//! (`k8s.io/kubectl/pkg/cmd/apply/patcher.go patchSimple`, v1.36).

use serde_json::{Map, Value};

use super::bare;
use optimist_apiserver::apply::LAST_APPLIED;
use optimist_apiserver::go;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::patch;
use optimist_apiserver::server::{Definition, Resource};

/// Returns the object as the apply would have it: `read` with the fields of the manifest, without
/// those of the last applied manifest that this one leaves out. Fields that others set stay.
pub(crate) fn applied(resource: &Resource, read: &Value, edited: &Value) -> Value {
    merged(resource, read, &patch(resource, read, edited))
}

/// Returns the patch of a three-way merge: it gives `read` the fields of `manifest`, and takes those that
/// only `last` had. Kinds that clients do not know get a merge patch.
pub fn three_way_patch(resource: &Resource, last: &Value, read: &Value, manifest: &Value) -> Value {
    if let Definition::Builtin(_) = resource.definition
        && let Ok(patch) = patch::strategic_three_way(last, manifest, read, &resource.root)
    {
        return patch;
    }
    // What the manifest took back or changed since, then all that it says.
    let mut wanted = read.clone();
    patch::merge(&mut wanted, &patch::merge_diff(last, manifest));
    patch::merge(&mut wanted, manifest);
    patch::merge_diff(read, &wanted)
}

/// Returns the patch that changes the object that was read into `applied`.
pub(crate) fn patch(resource: &Resource, read: &Value, edited: &Value) -> Value {
    let manifest = annotated(&bare(edited));
    three_way_patch(resource, &last_applied(read), read, &manifest)
}

/// The manifest that was applied last; empty if the object was never applied
/// (`GetOriginalConfiguration`).
pub fn last_applied(read: &Value) -> Value {
    let last = last_applied_text(read).and_then(|text| serde_json::from_str(text).ok());
    last.filter(Value::is_object)
        .unwrap_or_else(|| Value::Object(Default::default()))
}

fn last_applied_text(object: &Value) -> Option<&str> {
    let annotations = object.metadata()?.get("annotations")?;
    annotations.get(LAST_APPLIED)?.as_str()
}

/// A manifest with the annotation of client-side apply, which has the text of the manifest
/// (`k8s.io/kubectl/pkg/util/apply.go GetModifiedConfiguration`, v0.36).
pub fn annotated(manifest: &Value) -> Value {
    let mut manifest = manifest.clone();
    let annotations = |manifest: &mut Value, text: Option<String>| {
        let annotations = manifest
            .metadata_mut()
            .entry("annotations")
            .or_insert_with(|| Value::Object(Default::default()));
        if annotations.is_null() {
            *annotations = Value::Object(Default::default());
        }
        match (annotations.as_object_mut(), text) {
            (Some(map), Some(text)) => drop(map.insert(LAST_APPLIED.to_owned(), text.into())),
            (Some(map), None) => drop(map.remove(LAST_APPLIED)),
            (None, _) => {}
        }
    };
    annotations(&mut manifest, None);
    // Go's encoder writes <, > and & as escapes, and ends with a line break.
    let text = format!("{}\n", go::json(&manifest));
    annotations(&mut manifest, Some(text));
    manifest
}

/// An object as `kubectl create` and `kubectl replace` send it: its annotation gets the text of the object. `None` if it
/// has no such annotation (`k8s.io/kubectl/pkg/util/apply.go CreateOrUpdateAnnotation`, v0.36).
pub fn with_renewed_annotation(object: &Value) -> Option<Value> {
    let written = last_applied_text(object).filter(|text| !text.is_empty());
    written.map(|_| annotated(object))
}

/// A manifest without that annotation: only client-side apply writes it, by itself.
pub fn without_last_applied(mut manifest: Value) -> Value {
    remove_last_applied(manifest.metadata_mut());
    manifest
}

/// Removes that annotation, and the map if it was alone there. Returns whether it was there.
pub(crate) fn remove_last_applied(metadata: &mut Map<String, Value>) -> bool {
    let Some(Value::Object(annotations)) = metadata.get_mut("annotations") else {
        return false;
    };
    let was_there = annotations.remove(LAST_APPLIED).is_some();
    if was_there && annotations.is_empty() {
        metadata.remove("annotations");
    }
    was_there
}

fn merged(resource: &Resource, object: &Value, changes: &Value) -> Value {
    if let (Definition::Builtin(_), Some(original), Value::Object(changes)) =
        (&resource.definition, object.as_object(), changes)
    {
        let mut changes = changes.clone();
        if let Ok(merged) = patch::strategic_merge(original.clone(), &mut changes, &resource.root) {
            return Value::Object(merged);
        }
    }
    let mut merged = object.clone();
    patch::merge(&mut merged, changes);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_apiserver::server::Resources;
    use serde_json::json;

    fn deployment(replicas: Option<i64>, containers: &[(&str, &str)]) -> Value {
        let containers: Vec<Value> = containers
            .iter()
            .map(|(name, image)| json!({"name": name, "image": image}))
            .collect();
        let mut object = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"template": {"spec": {"containers": containers}}},
        });
        if let Some(replicas) = replicas {
            object["spec"]["replicas"] = replicas.into();
        }
        object
    }

    fn spec(object: &Value) -> &Value {
        &object["spec"]
    }

    /// Returns the object that is stored after `manifest` was applied to an object to which `last`
    /// was applied.
    fn apply(last: &Value, live: &Value, manifest: &Value) -> (Value, Value) {
        let resources = Resources::builtin();
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        let mut read = live.clone();
        let annotation = annotated(last)["metadata"]["annotations"].clone();
        read["metadata"]["annotations"] = annotation;
        let patch = patch(resource, &read, manifest);
        (patch, applied(resource, &read, manifest))
    }

    #[test]
    fn what_the_manifest_leaves_out_goes_only_if_it_was_applied_before() {
        let last = deployment(Some(3), &[("nginx", "nginx:1.14.2")]);
        // A sidecar was injected since, and the autoscaler set the replicas.
        let live = deployment(Some(7), &[("nginx", "nginx:1.14.2"), ("proxy", "envoy:1")]);
        let manifest = deployment(None, &[("nginx", "nginx:1.25")]);
        let (patch, after) = apply(&last, &live, &manifest);
        let expected = deployment(None, &[("nginx", "nginx:1.25"), ("proxy", "envoy:1")]);
        assert_eq!(spec(&after), spec(&expected));
        assert_eq!(patch["spec"]["replicas"], Value::Null);
        assert!(patch["spec"].get("replicas").is_some(), "{patch}");
    }

    #[test]
    fn what_the_manifest_says_is_set_again_though_the_manifest_did_not_change() {
        let manifest = deployment(Some(3), &[("nginx", "nginx:1.14.2")]);
        let live = deployment(Some(7), &[("nginx", "nginx:1.14.2")]);
        let (patch, after) = apply(&manifest, &live, &manifest);
        assert_eq!(patch, json!({"spec": {"replicas": 3}}));
        assert_eq!(spec(&after), spec(&manifest));
    }

    #[test]
    fn the_annotation_is_written_as_go_writes_json() {
        let manifest = json!({"kind": "ConfigMap", "apiVersion": "v1",
            "metadata": {"name": "a"}, "data": {"run": "a && b > c"}});
        let text = annotated(&manifest)["metadata"]["annotations"][LAST_APPLIED].clone();
        let expected = concat!(
            r#"{"apiVersion":"v1","data":{"run":"a \u0026\u0026 b \u003e c"},"kind":"ConfigMap","#,
            r#""metadata":{"annotations":{},"name":"a"}}"#,
            "\n"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn the_first_apply_notes_the_manifest_and_takes_nothing_away() {
        let resources = Resources::builtin();
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        let live = deployment(Some(3), &[("nginx", "nginx:1.14.2")]);
        let manifest = deployment(None, &[("nginx", "nginx:1.14.2")]);
        let patch = patch(resource, &live, &manifest);
        let text = patch["metadata"]["annotations"][LAST_APPLIED]
            .as_str()
            .unwrap();
        assert!(
            text.ends_with("}\n") && !text.contains(LAST_APPLIED),
            "{text}"
        );
        assert_eq!(patch.get("spec"), None, "{patch}");
    }
}
