//! The write methods, and the requests that they make.

use std::sync::Arc;

use http::Request;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::SentObject;
use super::server_fields::set_by_writes;
use super::working_copy::is_scale;
use super::{Call, Edit, Patch, Preset, Sender, WorkingCopy, bare, client_side_apply};
use optimist_apiserver::apply::{
    ManagedFieldsOperation, Manager, Managers, Path, Set, compare, extract, field_set,
    fields_below, merge, remove,
};
use optimist_apiserver::object::{JsonMap, Metadata};
use optimist_apiserver::patch::{self, APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH};
use optimist_apiserver::server::{Release, Resource};

/// The strategy by which an edit is sent.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Strategy {
    /// PUT of the whole object.
    #[default]
    Update,
    /// PATCH with the changed fields (RFC 7396).
    MergePatch,
    /// PATCH with the changed fields; list items are merged by key.
    StrategicMergePatch,
    /// PATCH with operations (RFC 6902).
    JsonPatch,
    /// PATCH with the fields that the manager wants to own (server-side apply).
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
            Strategy::MergePatch => MERGE_PATCH,
            Strategy::StrategicMergePatch => STRATEGIC_MERGE_PATCH,
            Strategy::JsonPatch => JSON_PATCH,
            Strategy::Apply => APPLY,
        }
    }
}

/// A subresource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Subresource {
    Status,
    Scale,
}

impl Subresource {
    /// Its name in a path.
    pub fn name(self) -> &'static str {
        match self {
            Subresource::Status => "status",
            Subresource::Scale => "scale",
        }
    }
}

/// The reaction of an actor to a conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OnConflict {
    /// Nothing more.
    #[default]
    GiveUp,
    /// Reads again, repeats the edit on the new copy and sends it, up to this number of attempts
    /// (client-go's `RetryOnConflict`).
    ReadAgain(u8),
    /// Sends the same body again, up to this number of attempts.
    Resend(u8),
}

impl OnConflict {
    /// The number of attempts of `retry.DefaultRetry` (`k8s.io/client-go/util/retry/util.go`).
    pub const DEFAULT_ATTEMPTS: u8 = 5;

    /// The maximum number of attempts.
    pub fn attempts(self) -> u8 {
        match self {
            OnConflict::GiveUp => 1,
            OnConflict::ReadAgain(attempts) | OnConflict::Resend(attempts) => attempts,
        }
    }

    /// Returns whether each retry reads the object again, and repeats the edit on it.
    pub fn reads_again(self) -> bool {
        matches!(self, OnConflict::ReadAgain(_))
    }
}

/// The fields that an apply declares. A patch that declares a manifest is client-side apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Declares {
    /// The fields that the manager applied before, with its edits (client-go: Extract, change,
    /// Apply), and the fields that it additionally declares.
    #[default]
    Edits,
    /// Every field of the working copy except those that only the server sets: a manifest, which
    /// `kubectl apply --server-side` sends. Without the annotation of client-side apply, if it was only read. An Update
    /// of a manifest is `kubectl replace`, which renews that annotation.
    Manifest,
}

/// A strategy with its options.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Write {
    /// The strategy by which the edit is sent.
    pub strategy: Strategy,
    /// The subresource to which it goes; `None` for the object itself.
    pub subresource: Option<Subresource>,
    /// `true` if the request carries the resourceVersion that was read, as a precondition: in the
    /// object or the patch, or as a `test` of a JSON patch.
    pub send_resource_version: bool,
    /// `true` if a JSON patch tests each value that it replaces or removes.
    pub test_values: bool,
    /// `true` if an apply takes ownership of fields of other managers (`force`).
    pub force: bool,
    /// The fields that an apply declares.
    pub declares: Declares,
    /// `true` if it is a dry run: the server answers and stores nothing (`dryRun=All`).
    pub dry_run: bool,
    /// `true` if the server refuses unknown and repeated fields (`fieldValidation=Strict`).
    pub is_strict: bool,
    /// The field manager, if it is not the actor's.
    pub manager: Option<String>,
    /// The reaction to a conflict.
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
    /// The defaults of a strategy: an Update carries the version that was read, the other
    /// strategies carry none.
    pub fn usual(strategy: Strategy) -> Self {
        Self {
            strategy,
            subresource: None,
            send_resource_version: strategy == Strategy::Update,
            test_values: false,
            force: false,
            declares: Declares::Edits,
            dry_run: false,
            is_strict: false,
            manager: None,
            on_conflict: OnConflict::GiveUp,
            body: None,
        }
    }

    /// The request that sends the edits of a working copy; `None` before the first read.
    pub fn request(
        &self,
        resource: &Resource,
        copy: &WorkingCopy,
        manager: &str,
    ) -> Option<Request<Vec<u8>>> {
        let sender = self.sender(manager);
        // A Scale is not the object, so it can be sent to `/scale` only.
        let is_to_scale = self.subresource == Some(Subresource::Scale);
        let read = copy.read().filter(|_| is_to_scale || !copy.is_scale())?;
        let call = match copy.edited().filter(|_| self.sends_the_edited()) {
            Some(edited) => Call::Update {
                base: Arc::clone(read),
                object: Arc::clone(edited),
                subresource: self.subresource,
            },
            None => self.call(read, self.body(resource, copy, sender.user_agent)?),
        };
        let mut request = call.request(resource, sender)?;
        if let Some(by_hand) = &self.body {
            *request.body_mut() = by_hand.clone().into_bytes();
            request.extensions_mut().remove::<SentObject>();
        }
        Some(request)
    }

    /// Returns whether its client reads the Scale that it writes, and never the object: the HorizontalPodAutoscaler
    /// (`pkg/controller/podautoscaler/horizontal.go scaleForResourceMappings`, v1.36).
    pub fn reads_scale(&self) -> bool {
        self.subresource == Some(Subresource::Scale)
            && self.strategy == Strategy::Update
            && self.manager.as_deref() == Preset::Autoscaler.manager()
    }

    /// Returns whether its body is the edited object as it is.
    fn sends_the_edited(&self) -> bool {
        let is_scale = self.subresource == Some(Subresource::Scale);
        let (strategy, declares) = (self.strategy, self.declares);
        (strategy, declares) == (Strategy::Update, Declares::Edits)
            && self.send_resource_version
            && !is_scale
    }

    /// The request that sends a body about an object that was read.
    pub fn call(&self, read: &Arc<Value>, body: Value) -> Call {
        let (base, subresource) = (Arc::clone(read), self.subresource);
        let patch = match self.strategy {
            Strategy::Update => {
                return Call::Update {
                    base,
                    object: Arc::new(body),
                    subresource,
                };
            }
            Strategy::Apply => {
                return Call::Apply {
                    base,
                    object: Arc::new(body),
                    force: Some(self.force),
                    subresource,
                };
            }
            Strategy::MergePatch => Patch::Merge(body),
            Strategy::StrategicMergePatch => Patch::Strategic(body),
            Strategy::JsonPatch => Patch::Json(body),
        };
        Call::Patch {
            base,
            patch,
            subresource,
        }
    }

    /// Returns the sender of the write and its options, with the User-Agent of an actor. A client that names no
    /// field manager sends its own User-Agent instead.
    pub fn sender<'a>(&'a self, user_agent: &'a str) -> Sender<'a> {
        let manager = self.manager.as_deref();
        let (user_agent, manager) = match manager.filter(|_| Preset::names_no_manager(self)) {
            Some(agent) => (agent, None),
            None => (user_agent, manager),
        };
        Sender {
            manager,
            dry_run: self.dry_run,
            is_strict: self.is_strict,
            ..Sender::new(user_agent)
        }
    }

    /// The body of the request, unless it is written by hand; `None` before the first read.
    pub fn body(&self, resource: &Resource, copy: &WorkingCopy, manager: &str) -> Option<Value> {
        let (read, edited) = (copy.read()?, copy.edited()?);
        if self.subresource == Some(Subresource::Scale) {
            let (read, edited) = (scale_of(read), scale_of(edited));
            if self.strategy == Strategy::Apply {
                return Some(self.with_version(edited, &read));
            }
            return Some(self.with_version(self.change(resource, &read, &edited), &read));
        }
        let body = match self.strategy {
            Strategy::Apply => self.configuration(resource, copy, manager)?,
            _ if self.applies_in_the_client() => client_side_apply::patch(resource, read, edited),
            _ => self.change(resource, read, edited),
        };
        Some(self.with_version(body, read))
    }

    /// Returns the object as its writer would have it: the edited one. An apply of a manifest does not
    /// touch the fields that it leaves out, except that it takes back those which nobody else applied; the
    /// release of the server decides what becomes of a value that is empty then. `None` before anything
    /// was read.
    pub fn wanted(
        &self,
        resource: &Resource,
        copy: &WorkingCopy,
        manager: &str,
        release: Release,
    ) -> Option<Arc<Value>> {
        let (read, edited) = (copy.read()?, copy.edited()?);
        if self.applies_in_the_client() {
            let applied = client_side_apply::applied(resource, read, edited);
            return Some(Arc::new(applied));
        }
        let manifest = (self.strategy, self.declares) == (Strategy::Apply, Declares::Manifest);
        if !manifest || self.subresource == Some(Subresource::Scale) {
            return Some(Arc::clone(edited));
        }
        let root = &resource.root;
        let config = self.configuration(resource, copy, manager)?;
        let mut given_up = Set::default();
        let managers = Managers::of_object(read);
        let applier = self.applier(manager);
        if let Some(owned) = managers.get(&applier) {
            let others: Vec<Path> = managers
                .iter()
                .filter(|other| other.manager != applier)
                .flat_map(|other| other.set.paths())
                .collect();
            let left_out = owned.set.difference(&field_set(&config, root)).paths();
            for path in left_out {
                if !others.iter().any(|other| path.leads_to(other)) {
                    given_up.insert(&path);
                }
            }
        }
        let wanted = merge(
            &remove(read, &given_up, root, release.keeps_emptied()),
            &config,
            root,
        );
        Some(Arc::new(wanted))
    }

    /// The edits that its writer means to make. `None` for a body that is written by hand: it means
    /// whatever it changes.
    pub fn meant(
        &self,
        resource: &Resource,
        copy: &WorkingCopy,
        manager: &str,
        release: Release,
    ) -> Option<Vec<Arc<Edit>>> {
        if self.body.is_some() {
            return None;
        }
        let wanted = self.wanted(resource, copy, manager, release);
        let both = copy.read().zip(wanted);
        let edits = both.map(|(read, wanted)| Edit::between(read, &wanted, &resource.root));
        Some(edits.unwrap_or_default())
    }

    /// Returns whether it is client-side apply: a patch by the manifest and the one that was applied last.
    pub fn applies_in_the_client(&self) -> bool {
        let patches = matches!(
            self.strategy,
            Strategy::MergePatch | Strategy::StrategicMergePatch
        );
        patches && self.declares == Declares::Manifest && self.subresource.is_none()
    }

    fn applier(&self, manager: &str) -> Manager {
        let manager = self.manager.as_deref().unwrap_or(manager);
        let path = self.subresource.map_or("", Subresource::name);
        Manager::new(manager, ManagedFieldsOperation::Apply, "", path)
    }

    /// Returns the configuration that an apply declares.
    fn configuration(
        &self,
        resource: &Resource,
        copy: &WorkingCopy,
        manager: &str,
    ) -> Option<Value> {
        let (read, edited) = (copy.read()?, copy.edited()?);
        let elsewhere = match self.subresource {
            Some(Subresource::Status) => "spec",
            _ => "status",
        };
        let mut config = match self.declares {
            Declares::Edits => {
                let set = self.fields(resource, copy, elsewhere, manager)?;
                extract(edited, &set, &resource.root)
            }
            Declares::Manifest => {
                let mut manifest = bare(edited);
                // Nobody typed it: kubectl wrote it into the object that was read.
                if client_side_apply::last_applied(edited) == client_side_apply::last_applied(read)
                {
                    manifest = client_side_apply::without_last_applied(manifest);
                }
                if let Some(members) = manifest.as_object_mut() {
                    if let Some(status) = edited.get("status") {
                        members.insert("status".to_owned(), status.clone());
                    }
                    members.remove(elsewhere);
                }
                manifest
            }
        };
        if !config.is_object() {
            config = Value::Object(JsonMap::new());
        }
        config["apiVersion"] = resource.group_version.to_string().into();
        config["kind"] = resource.kind.as_str().into();
        for field in ["name", "namespace"] {
            config.set_meta(field, read.meta_text(field));
        }
        Some(config)
    }

    /// The fields that the manager applied before, its edits, and the fields that it additionally
    /// declares.
    fn fields(
        &self,
        resource: &Resource,
        copy: &WorkingCopy,
        elsewhere: &str,
        manager: &str,
    ) -> Option<Set> {
        let (read, edited) = (copy.read()?, copy.edited()?);
        let managers = Managers::read(read).ok();
        let owned = managers
            .and_then(|managers| Some(managers.get(&self.applier(manager))?.set.clone()))
            .unwrap_or_default();
        let changed = compare(read, edited, &resource.root);
        let server_owned = set_by_writes().union(&Set::of_fields(&[&[elsewhere]]));
        let declared = fields_below(edited, copy.declared(), &resource.root);
        let wanted = owned.union(&changed.added).union(&changed.modified);
        Some(wanted.union(&declared).recursive_difference(&server_owned))
    }

    /// The body of all strategies except apply.
    fn change(&self, resource: &Resource, read: &Value, edited: &Value) -> Value {
        match self.strategy {
            Strategy::Update if self.declares == Declares::Manifest => {
                client_side_apply::with_renewed_annotation(edited).unwrap_or_else(|| edited.clone())
            }
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
            // The whole object carries the version that was read, or the version that the user
            // typed.
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

/// The strategic merge patch; a merge patch if clients do not know the type (`kubectl edit`).
fn strategic(resource: &Resource, read: &Value, edited: &Value) -> Value {
    patch::strategic_diff(read, edited, &resource.root)
        .unwrap_or_else(|_| patch::merge_diff(read, edited))
}

/// The Scale of an object (`k8s.io/api/autoscaling/v1`, `Scale`), with the fields that a client may
/// set. A Scale that was read is sent whole.
fn scale_of(object: &Value) -> Value {
    if is_scale(object) {
        return object.clone();
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AnsweredRequest;
    use http::Response;
    use optimist_apiserver::server::Resources;

    fn request(write: &Write) -> Request<Vec<u8>> {
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
        copy.refresh(Arc::new(read), &resource.root);
        copy.edit(edited);
        write.request(resource, &copy, "editor-a").unwrap()
    }

    fn body(strategy: Strategy, send_resource_version: bool) -> Value {
        let request = request(&Write {
            send_resource_version,
            ..Write::usual(strategy)
        });
        serde_json::from_slice(request.body()).unwrap()
    }

    #[test]
    fn what_was_sent_is_the_body_that_was_written_by_hand() {
        let by_hand = Write {
            body: Some(r#"{"by":"hand"}"#.to_owned()),
            ..Write::usual(Strategy::Update)
        };
        let answered = AnsweredRequest::new(request(&by_hand), Response::default());
        assert_eq!(**answered.sent(), json!({"by": "hand"}));
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

    /// A Deployment with a sidecar and a status.
    fn read() -> (Resources, WorkingCopy) {
        let resources = Resources::builtin();
        let mut copy = WorkingCopy::default();
        copy.settle(Arc::new(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default", "resourceVersion": "100", "uid": "u",
                "managedFields": [{"manager": "x", "operation": "Apply", "apiVersion": "apps/v1",
                    "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:minReadySeconds": {}}}}]},
            "spec": {"replicas": 3, "minReadySeconds": 5, "template": {"spec": {"containers": [
                {"name": "nginx", "image": "nginx:1"}]}}},
            "status": {"replicas": 3},
        })));
        (resources, copy)
    }

    fn sent(resources: &Resources, write: &Write, copy: &WorkingCopy) -> Value {
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        let request = write.request(resource, copy, "x").unwrap();
        serde_json::from_slice(request.body()).unwrap()
    }

    #[test]
    fn an_unchanged_value_can_be_declared_and_an_item_with_its_key() {
        let (resources, mut copy) = read();
        let root = &resources.by_kind("apps/v1", "Deployment").unwrap().root;
        let object = Arc::clone(copy.edited().unwrap());
        for pointer in ["/spec/replicas", "/spec/template/spec/containers/0/image"] {
            copy.declare(Path::at(&object, pointer, root).unwrap());
        }
        assert_eq!(Path::at(&object, "/spec/nothing", root), None);
        assert!(!copy.is_edited());
        let apply = Write::usual(Strategy::Apply);
        assert_eq!(
            sent(&resources, &apply, &copy)["spec"],
            json!({"replicas": 3, "minReadySeconds": 5, "template": {"spec": {"containers": [
                {"name": "nginx", "image": "nginx:1"}]}}}),
            "what was applied before goes along"
        );
        let replicas = Path::at(&object, "/spec/replicas", root).unwrap();
        copy.undeclare(&replicas);
        assert_eq!(
            sent(&resources, &apply, &copy)["spec"].get("replicas"),
            None
        );
        copy.discard();
        assert_eq!(copy.declared(), []);
    }

    #[test]
    fn the_release_says_what_an_apply_leaves_of_what_it_empties() {
        let resources = Resources::builtin();
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        let read = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default", "managedFields": [{
                "manager": "x", "operation": "Apply", "apiVersion": "apps/v1",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:securityContext": {"f:runAsUser": {}}}}}},
            }]},
            "spec": {"template": {"spec": {"securityContext": {"runAsUser": 1}}}},
        });
        let mut copy = WorkingCopy::default();
        copy.settle(Arc::new(read));
        copy.edit_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}")
            .unwrap();
        let write = Write {
            declares: Declares::Manifest,
            ..Write::usual(Strategy::Apply)
        };
        let context = |release| {
            let wanted = write.wanted(resource, &copy, "x", release).unwrap();
            wanted
                .pointer("/spec/template/spec/securityContext")
                .cloned()
        };
        assert_eq!(context(Release::V1_36_2), Some(json!({})));
        let emptied = context(Release::V1_36_3).unwrap_or_default();
        assert_eq!(emptied, Value::Null);
    }

    #[test]
    fn a_manifest_is_applied_as_typed_and_gives_up_what_it_leaves_out() {
        let (resources, mut copy) = read();
        copy.edit_text(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}",
        )
        .unwrap();
        let write = Write {
            declares: Declares::Manifest,
            ..Write::usual(Strategy::Apply)
        };
        assert_eq!(
            sent(&resources, &write, &copy),
            json!({"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 3}})
        );
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        let wanted = write
            .wanted(resource, &copy, "x", Release::default())
            .unwrap();
        let mut expected = copy.read().unwrap().as_ref().clone();
        expected["spec"]
            .as_object_mut()
            .unwrap()
            .remove("minReadySeconds");
        assert_eq!(*wanted, expected, "the rest is not this apply's");

        copy.discard();
        let whole = sent(&resources, &write, &copy);
        assert_eq!(whole.get("status"), None);
        assert_eq!(
            whole["metadata"],
            json!({"name": "web", "namespace": "default"})
        );
        assert_eq!(whole["spec"], copy.read().unwrap()["spec"]);
    }

    #[test]
    fn the_manifest_of_another_tool_has_no_record_of_kubectl() {
        let (resources, copy) = read();
        let object = client_side_apply::annotated(copy.read().unwrap());
        let mut copy = WorkingCopy::default();
        copy.settle(Arc::new(object.clone()));
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        let write = Preset::Helm4.write(resource).unwrap();
        let metadata = |copy: &WorkingCopy| sent(&resources, &write, copy)["metadata"].clone();
        assert_eq!(
            metadata(&copy),
            json!({"name": "web", "namespace": "default"})
        );
        let mut noted = object;
        noted["metadata"]["annotations"]["note"] = "x".into();
        copy.edit(noted);
        assert_eq!(metadata(&copy)["annotations"], json!({"note": "x"}));
    }
}
