//! Ways to send an edit, and the request that each one makes.

use http::{Method, Request, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::WorkingCopy;
use crate::apply::{Manager, Managers, Operation, Set, compare, extract};
use crate::object::{JsonMap, Metadata};
use crate::patch;
use crate::server::Resource;

/// How an edit is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// PUT of the whole object.
    #[default]
    Update,
    /// PATCH with what changed (RFC 7396).
    MergePatch,
    /// PATCH with what the manager wants to own (server-side apply).
    Apply,
}

/// A strategy with its options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// How the edit is sent.
    pub strategy: Strategy,
    /// Whether the resourceVersion that was read goes along, as a precondition.
    pub send_resource_version: bool,
    /// Whether an apply takes over what others own.
    pub force: bool,
}

impl Default for Write {
    /// An Update as client-go sends it.
    fn default() -> Self {
        Self {
            strategy: Strategy::Update,
            send_resource_version: true,
            force: false,
        }
    }
}

impl Write {
    /// The request that sends the edits of a working copy; `None` before anything was read.
    pub fn request(
        &self,
        resource: &Resource,
        copy: &WorkingCopy,
        manager: &str,
    ) -> Option<Request<Vec<u8>>> {
        let (read, edited) = (copy.read()?, copy.edited()?);
        let body = self.body(resource, read, edited, manager);
        let path = resource.path(read.namespace(), read.name());
        let (method, media_type, query) = match self.strategy {
            Strategy::Update => (Method::PUT, "application/json", String::new()),
            Strategy::MergePatch => (Method::PATCH, "application/merge-patch+json", String::new()),
            Strategy::Apply => {
                let force = self.force;
                let query = format!("?fieldManager={manager}&force={force}");
                (Method::PATCH, "application/apply-patch+yaml", query)
            }
        };
        Request::builder()
            .method(method)
            .uri(path + &query)
            .header(header::CONTENT_TYPE, media_type)
            .header(header::USER_AGENT, manager)
            .body(body.to_string().into_bytes())
            .ok()
    }

    /// The body that the request carries.
    pub fn body(&self, resource: &Resource, read: &Value, edited: &Value, manager: &str) -> Value {
        let mut body = match self.strategy {
            Strategy::Update => edited.clone(),
            Strategy::MergePatch => patch::merge_diff(read, edited),
            Strategy::Apply => apply_configuration(resource, read, edited, manager),
        };
        let version = self
            .send_resource_version
            .then(|| read.resource_version().to_owned());
        match (version, self.strategy) {
            (Some(version), _) => body.set_meta("resourceVersion", version),
            (None, Strategy::MergePatch) => {}
            (None, _) => {
                body.metadata_mut().remove("resourceVersion");
            }
        }
        body
    }
}

/// A GET of an object.
pub fn get_request(resource: &Resource, object: &Value, manager: &str) -> Option<Request<Vec<u8>>> {
    Request::get(resource.path(object.namespace(), object.name()))
        .header(header::USER_AGENT, manager)
        .body(Vec::new())
        .ok()
}

/// What the manager applied before, with its edits: client-go's Extract, change, Apply.
fn apply_configuration(resource: &Resource, read: &Value, edited: &Value, manager: &str) -> Value {
    let managed = read.metadata().and_then(|meta| meta.get("managedFields"));
    let applier = Manager::new(manager, Operation::Apply, "", "");
    let owned = Managers::decode(managed)
        .ok()
        .and_then(|managers| managers.get(&applier).map(|owned| owned.set.clone()))
        .unwrap_or_default();
    let changed = compare(read, edited, &resource.root);
    let server_owned = Set::of_fields(&[
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
        &["metadata", "generation"],
        &["metadata", "uid"],
        &["metadata", "creationTimestamp"],
        &["status"],
    ]);
    let wanted = owned
        .union(&changed.added)
        .union(&changed.modified)
        .recursive_difference(&server_owned);
    let mut config = extract(edited, &wanted, &resource.root);
    if !config.is_object() {
        config = Value::Object(JsonMap::new());
    }
    config["apiVersion"] = resource.group_version.to_string().into();
    config["kind"] = resource.kind.as_str().into();
    for field in ["name", "namespace"] {
        config.set_meta(field, read.meta_text(field));
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Resources;
    use serde_json::json;
    use std::sync::Arc;

    fn body(strategy: Strategy, send_resource_version: bool) -> Value {
        let resources = Resources::builtin();
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        let read = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default", "resourceVersion": "100", "uid": "u"},
            "spec": {"replicas": 3, "template": {"spec": {"containers": [
                {"name": "nginx", "image": "nginx:1"}, {"name": "sidecar", "image": "s:1"}]}}},
        });
        let mut edited = read.clone();
        edited["spec"]["replicas"] = 5.into();
        edited["spec"]["template"]["spec"]["containers"][1]["image"] = "s:2".into();
        let mut copy = WorkingCopy::default();
        copy.refresh(Arc::new(read));
        copy.edit(edited);
        let write = Write {
            strategy,
            send_resource_version,
            force: false,
        };
        let request = write.request(resource, &copy, "editor-a").unwrap();
        serde_json::from_slice(request.body()).unwrap()
    }

    #[test]
    fn an_update_carries_the_whole_object_and_the_version_only_if_wanted() {
        assert_eq!(
            body(Strategy::Update, true)["metadata"]["resourceVersion"],
            "100"
        );
        let unconditional = body(Strategy::Update, false);
        assert_eq!(unconditional["metadata"].get("resourceVersion"), None);
        assert_eq!(unconditional["spec"]["replicas"], 5);
        assert_eq!(unconditional["metadata"]["uid"], "u");
    }

    #[test]
    fn a_merge_patch_carries_what_changed_and_lists_whole() {
        assert_eq!(
            body(Strategy::MergePatch, false),
            json!({"spec": {"replicas": 5, "template": {"spec": {"containers": [
                {"name": "nginx", "image": "nginx:1"}, {"name": "sidecar", "image": "s:2"}]}}}})
        );
        assert_eq!(
            body(Strategy::MergePatch, true)["metadata"]["resourceVersion"],
            "100"
        );
    }

    #[test]
    fn an_apply_carries_what_the_manager_wants_to_own_and_list_items_by_key() {
        assert_eq!(
            body(Strategy::Apply, false),
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {"replicas": 5, "template": {"spec": {"containers": [
                    {"name": "sidecar", "image": "s:2"}]}}},
            })
        );
    }
}
