//! Ways to send an edit, and the request that each one makes.

use http::{Method, Request, header};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::WorkingCopy;
use optimist_apiserver::apply::{Manager, Managers, Operation, Set, compare, extract};
use optimist_apiserver::object::{JsonMap, Metadata};
use optimist_apiserver::patch;
use optimist_apiserver::server::Resource;

/// How an edit is sent.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Strategy {
    /// PUT of the whole object.
    #[default]
    Update,
    /// PATCH with what changed (RFC 7396).
    MergePatch,
    /// PATCH with what changed, lists by the keys of their items.
    StrategicMergePatch,
    /// PATCH with operations (RFC 6902).
    JsonPatch,
    /// PATCH with what the manager wants to own (server-side apply).
    Apply,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 5] = [
        Strategy::Update,
        Strategy::MergePatch,
        Strategy::StrategicMergePatch,
        Strategy::JsonPatch,
        Strategy::Apply,
    ];

    /// The media type of its body.
    pub fn media_type(self) -> &'static str {
        match self {
            Strategy::Update => "application/json",
            Strategy::MergePatch => "application/merge-patch+json",
            Strategy::StrategicMergePatch => "application/strategic-merge-patch+json",
            Strategy::JsonPatch => "application/json-patch+json",
            Strategy::Apply => "application/apply-patch+yaml",
        }
    }
}

/// A part of an object with an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Subresource {
    Status,
    Scale,
}

impl Subresource {
    /// As it stands in a path.
    pub fn name(self) -> &'static str {
        match self {
            Subresource::Status => "status",
            Subresource::Scale => "scale",
        }
    }
}

/// What an actor does when a write is answered with a conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OnConflict {
    /// Nothing more.
    #[default]
    GiveUp,
    /// Reads again, redoes the edit on that and sends it, up to so many times in all
    /// (client-go's `RetryOnConflict`).
    ReadAgain(u8),
    /// Sends the same body again, up to so many times in all.
    Resend(u8),
}

/// A strategy with its options.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Write {
    /// How the edit is sent.
    pub strategy: Strategy,
    /// To which part of the object; `None` for the object itself.
    pub subresource: Option<Subresource>,
    /// Whether the resourceVersion that was read goes along, as a precondition: in the object or
    /// the patch, or as a `test` of a JSON patch.
    pub send_resource_version: bool,
    /// Whether a JSON patch tests each value that it replaces or removes.
    pub test_values: bool,
    /// Whether an apply takes over what others own.
    pub force: bool,
    /// Whether the server is asked to answer and to store nothing (`dryRun=All`).
    pub dry_run: bool,
    /// The field manager, if it is to be another than the actor's.
    pub manager: Option<String>,
    /// What to do when it is answered with a conflict.
    pub on_conflict: OnConflict,
    /// A body written by hand; sent as it is.
    pub body: Option<String>,
}

impl Default for Write {
    /// An Update as client-go sends it.
    fn default() -> Self {
        Self::usual(Strategy::Update)
    }
}

impl Write {
    /// What the usual client does with a strategy: an Update carries the version that was read,
    /// the others none.
    pub fn usual(strategy: Strategy) -> Self {
        Self {
            strategy,
            subresource: None,
            send_resource_version: strategy == Strategy::Update,
            test_values: false,
            force: false,
            dry_run: false,
            manager: None,
            on_conflict: OnConflict::GiveUp,
            body: None,
        }
    }

    /// The request that sends the edits of a working copy; `None` before anything was read.
    pub fn request(
        &self,
        resource: &Resource,
        copy: &WorkingCopy,
        manager: &str,
    ) -> Option<Request<Vec<u8>>> {
        let (read, edited) = (copy.read()?, copy.edited()?);
        let body = match &self.body {
            Some(by_hand) => by_hand.clone(),
            None => self.body(resource, read, edited, manager).to_string(),
        };
        let mut target = resource.path(read.namespace(), read.name());
        if let Some(subresource) = self.subresource {
            target.push('/');
            target.push_str(subresource.name());
        }
        let mut query = form_urlencoded::Serializer::new(String::new());
        if self.strategy == Strategy::Apply {
            let force = if self.force { "true" } else { "false" };
            query.append_pair("fieldManager", self.manager.as_deref().unwrap_or(manager));
            query.append_pair("force", force);
        } else if let Some(manager) = &self.manager {
            query.append_pair("fieldManager", manager);
        }
        if self.dry_run {
            query.append_pair("dryRun", "All");
        }
        let query = query.finish();
        if !query.is_empty() {
            target.push('?');
            target.push_str(&query);
        }
        let method = match self.strategy {
            Strategy::Update => Method::PUT,
            _ => Method::PATCH,
        };
        Request::builder()
            .method(method)
            .uri(target)
            .header(header::CONTENT_TYPE, self.strategy.media_type())
            .header(header::USER_AGENT, manager)
            .body(body.into_bytes())
            .ok()
    }

    /// The body that the request carries, unless it is written by hand.
    pub fn body(&self, resource: &Resource, read: &Value, edited: &Value, manager: &str) -> Value {
        if self.subresource == Some(Subresource::Scale) {
            let (read, edited) = (scale_of(read), scale_of(edited));
            if self.strategy == Strategy::Apply {
                return self.with_version(edited, &read);
            }
            return self.with_version(self.change(resource, &read, &edited), &read);
        }
        let body = match self.strategy {
            Strategy::Apply => {
                let manager = self.manager.as_deref().unwrap_or(manager);
                apply_configuration(resource, read, edited, manager, self.subresource)
            }
            _ => self.change(resource, read, edited),
        };
        self.with_version(body, read)
    }

    /// The edit, as every strategy but apply puts it.
    fn change(&self, resource: &Resource, read: &Value, edited: &Value) -> Value {
        match self.strategy {
            Strategy::Update | Strategy::Apply => edited.clone(),
            Strategy::MergePatch => patch::merge_diff(read, edited),
            Strategy::StrategicMergePatch => strategic(resource, read, edited),
            Strategy::JsonPatch => patch::json_diff(read, edited, self.test_values),
        }
    }

    /// A body with or without the version that was read.
    fn with_version(&self, mut body: Value, read: &Value) -> Value {
        let version = read.resource_version();
        match (&mut body, self.strategy) {
            (Value::Array(operations), Strategy::JsonPatch) if self.send_resource_version => {
                operations.insert(
                    0,
                    json!({"op": "test", "path": "/metadata/resourceVersion", "value": version}),
                );
            }
            (_, Strategy::JsonPatch) => {}
            // The whole object carries the version that was read, or what was typed over it.
            (body, Strategy::Update) if !self.send_resource_version => {
                body.metadata_mut().remove("resourceVersion");
            }
            (_, Strategy::Update) => {}
            (body, _) if self.send_resource_version => body.set_meta("resourceVersion", version),
            (body, Strategy::Apply) => {
                body.metadata_mut().remove("resourceVersion");
            }
            _ => {}
        }
        body
    }
}

/// The strategic merge patch; a merge patch where clients know no better (`kubectl edit`).
fn strategic(resource: &Resource, read: &Value, edited: &Value) -> Value {
    patch::strategic_diff(read, edited, &resource.root)
        .unwrap_or_else(|_| patch::merge_diff(read, edited))
}

/// A GET of what is at a path.
pub fn get_request(path: &str, manager: &str) -> Option<Request<Vec<u8>>> {
    Request::get(path)
        .header(header::USER_AGENT, manager)
        .body(Vec::new())
        .ok()
}

/// What an object's `scale` subresource says of it (`k8s.io/api/autoscaling/v1`, `Scale`), as
/// far as a client may set it.
fn scale_of(object: &Value) -> Value {
    let mut scale = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": object.name(), "namespace": object.namespace(),
            "resourceVersion": object.resource_version()},
        "spec": {},
    });
    if let Some(replicas) = object.pointer("/spec/replicas") {
        scale["spec"]["replicas"] = replicas.clone();
    }
    scale
}

/// What the manager applied before, with its edits: client-go's Extract, change, Apply.
fn apply_configuration(
    resource: &Resource,
    read: &Value,
    edited: &Value,
    manager: &str,
    subresource: Option<Subresource>,
) -> Value {
    let managed = read.metadata().and_then(|meta| meta.get("managedFields"));
    let path = subresource.map_or("", Subresource::name);
    let applier = Manager::new(manager, Operation::Apply, "", path);
    let owned = Managers::decode(managed)
        .ok()
        .and_then(|managers| managers.get(&applier).map(|owned| owned.set.clone()))
        .unwrap_or_default();
    let changed = compare(read, edited, &resource.root);
    let elsewhere = match subresource {
        Some(Subresource::Status) => "spec",
        _ => "status",
    };
    let server_owned = Set::of_fields(&[
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
        &["metadata", "generation"],
        &["metadata", "uid"],
        &["metadata", "creationTimestamp"],
        &[elsewhere],
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
    use optimist_apiserver::server::Resources;
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
            send_resource_version,
            ..Write::usual(strategy)
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
