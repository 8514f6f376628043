//! The requests of clients, as data: the one place where a request to an object is made.

use std::sync::Arc;

use http::{Method, Request, header};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Strategy, Subresource};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::patch;
use optimist_apiserver::server::Resource;

/// A request of a client for an object or a collection. A request cannot have an option that means
/// nothing to it: only an apply has `force`, and only a delete has preconditions.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Call {
    /// A GET of an object.
    Get {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// A GET of a collection.
    List {
        /// Its namespace.
        namespace: String,
    },
    /// A POST of a new object.
    Create {
        /// The namespace of the collection.
        namespace: String,
        /// The object.
        object: Arc<Value>,
    },
    /// A PUT of the whole object. Its resourceVersion, if it has one, is a precondition.
    Update {
        /// The object that the request names.
        base: Arc<Value>,
        /// The object as it should be.
        object: Arc<Value>,
        /// The subresource; `None` for the object itself.
        subresource: Option<Subresource>,
    },
    /// A PATCH with the difference from an object.
    Patch {
        /// The object that the request names, and from which the patch was made.
        base: Arc<Value>,
        /// The patch.
        patch: Patch,
        /// The subresource; `None` for the object itself.
        subresource: Option<Subresource>,
    },
    /// A server-side apply: a PATCH with the fields that the manager wants to own.
    Apply {
        /// The object that the request names.
        base: Arc<Value>,
        /// The fields.
        object: Arc<Value>,
        /// Says whether it takes ownership of fields of other managers. `None` if the request does not
        /// say, which means no.
        force: Option<bool>,
        /// The subresource; `None` for the object itself.
        subresource: Option<Subresource>,
    },
    /// A DELETE of an object.
    Delete {
        /// The object as it was read.
        object: Arc<Value>,
        /// The preconditions that the server compares first.
        preconditions: Preconditions,
        /// `true` if it asks that dependents go in the background (`propagationPolicy`). Else it
        /// leaves that to the kind.
        in_background: bool,
    },
}

/// A patch with its type.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Patch {
    /// RFC 7396.
    Merge(Value),
    /// Kubernetes' own: list items are merged by key.
    Strategic(Value),
    /// RFC 6902.
    Json(Value),
}

/// The preconditions that a delete asks the server to compare first (`metav1.Preconditions`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Preconditions {
    /// `true` if the delete carries the uid that was read.
    pub uid: bool,
    /// `true` if the delete carries the resourceVersion that was read.
    pub resource_version: bool,
}

/// The kind of a request, as far as people tell requests apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestKind {
    /// A read.
    Get,
    /// A create.
    Create,
    /// An Update.
    Update,
    /// A merge patch.
    MergePatch,
    /// A strategic merge patch.
    StrategicMergePatch,
    /// A JSON patch.
    JsonPatch,
    /// A server-side apply.
    Apply,
    /// A delete.
    Delete,
    /// A request that was written by hand, or that clients have no method for.
    Other,
}

/// The sender of a request, and the options that every write has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sender<'a> {
    /// The User-Agent. The server takes the field manager from it if the request names none.
    pub user_agent: &'a str,
    /// The field manager that a write names. An apply always names one: the User-Agent, if this is
    /// `None`.
    pub manager: Option<&'a str>,
    /// `true` if it is a dry run: the server answers and stores nothing (`dryRun=All`).
    pub dry_run: bool,
    /// `true` if the server refuses unknown and repeated fields (`fieldValidation=Strict`).
    pub is_strict: bool,
}

impl<'a> Sender<'a> {
    /// A client with a User-Agent, and without options.
    pub fn new(user_agent: &'a str) -> Self {
        Self {
            user_agent,
            ..Self::default()
        }
    }

    fn query(&self, call: &Call) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let (is_apply, force) = match call {
            Call::Apply { force, .. } => (true, *force),
            _ => (false, None),
        };
        let named = is_apply.then_some(self.user_agent);
        if let Some(manager) = self.manager.or(named) {
            query.append_pair("fieldManager", manager);
        }
        if let Some(force) = force {
            query.append_pair("force", if force { "true" } else { "false" });
        }
        if self.dry_run {
            query.append_pair("dryRun", "All");
        }
        if self.is_strict {
            query.append_pair("fieldValidation", "Strict");
        }
        query.finish()
    }
}

impl RequestKind {
    /// The kind of a request with this method and media type, whatever it is about.
    pub fn from_request(method: &str, media_type: &str) -> Self {
        let mut patches = Strategy::ALL.into_iter().skip(1);
        match method {
            "GET" => Self::Get,
            "POST" => Self::Create,
            "PUT" => Self::Update,
            "PATCH" => patches
                .find(|patch| patch.media_type() == media_type)
                .map_or(Self::Other, Self::from),
            "DELETE" => Self::Delete,
            _ => Self::Other,
        }
    }
}

impl From<Strategy> for RequestKind {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Update => Self::Update,
            Strategy::MergePatch => Self::MergePatch,
            Strategy::StrategicMergePatch => Self::StrategicMergePatch,
            Strategy::JsonPatch => Self::JsonPatch,
            Strategy::Apply => Self::Apply,
        }
    }
}

impl Call {
    /// Returns a merge patch with the differences between an object that was read and the object as
    /// it should be (`client.MergeFrom`, `mergeFromPatch.Data` in controller-runtime's
    /// `pkg/client/patch.go`). An empty difference is sent as `{}`. `lock` makes the
    /// resourceVersion that was read a precondition (`MergeFromWithOptimisticLock`).
    pub fn merge_from(
        base: &Arc<Value>,
        object: &Value,
        lock: bool,
        subresource: Option<Subresource>,
    ) -> Self {
        let mut patch = patch::merge_diff(base, object);
        if !patch.is_object() {
            patch = json!({});
        }
        if lock {
            patch.set_meta("resourceVersion", base.resource_version());
        }
        Self::Patch {
            base: Arc::clone(base),
            patch: Patch::Merge(patch),
            subresource,
        }
    }

    /// Returns the kind of the request.
    pub fn kind(&self) -> RequestKind {
        match self {
            Self::Get { .. } | Self::List { .. } => RequestKind::Get,
            Self::Create { .. } => RequestKind::Create,
            Self::Update { .. } => RequestKind::Update,
            Self::Patch { patch, .. } => match patch {
                Patch::Merge(_) => RequestKind::MergePatch,
                Patch::Strategic(_) => RequestKind::StrategicMergePatch,
                Patch::Json(_) => RequestKind::JsonPatch,
            },
            Self::Apply { .. } => RequestKind::Apply,
            Self::Delete { .. } => RequestKind::Delete,
        }
    }

    /// Returns whether it changes nothing.
    pub fn is_read(&self) -> bool {
        self.kind() == RequestKind::Get
    }

    /// The object that it writes; of a patch, the one that it changes. `None` for a read.
    pub fn written(&self) -> Option<&Arc<Value>> {
        match self {
            Self::Get { .. } | Self::List { .. } => None,
            Self::Create { object, .. }
            | Self::Update { object, .. }
            | Self::Patch { base: object, .. }
            | Self::Apply { object, .. }
            | Self::Delete { object, .. } => Some(object),
        }
    }

    /// The request to a kind. `None` if a name makes no path.
    pub fn request(&self, resource: &Resource, sender: Sender<'_>) -> Option<Request<Vec<u8>>> {
        let (method, media_type) = self.method();
        let mut target = self.path(resource);
        if !self.is_read() {
            let query = sender.query(self);
            if !query.is_empty() {
                target.push('?');
                target.push_str(&query);
            }
        }
        let request = Request::builder().method(method).uri(target);
        let body = self.body();
        let request = match &body {
            Some(_) => request.header(header::CONTENT_TYPE, media_type),
            None => request,
        };
        let request = request.header(header::USER_AGENT, sender.user_agent);
        let mut request = request.body(body.unwrap_or_default()).ok()?;
        if let Some(object) = self.sent_object() {
            request
                .extensions_mut()
                .insert(SentObject(Arc::clone(object)));
        }
        Some(request)
    }

    fn method(&self) -> (Method, &'static str) {
        let strategy = match self.kind() {
            RequestKind::MergePatch => Strategy::MergePatch,
            RequestKind::StrategicMergePatch => Strategy::StrategicMergePatch,
            RequestKind::JsonPatch => Strategy::JsonPatch,
            RequestKind::Apply => Strategy::Apply,
            _ => Strategy::Update,
        };
        let method = match self {
            Self::Get { .. } | Self::List { .. } => Method::GET,
            Self::Create { .. } => Method::POST,
            Self::Update { .. } => Method::PUT,
            Self::Patch { .. } | Self::Apply { .. } => Method::PATCH,
            Self::Delete { .. } => Method::DELETE,
        };
        (method, strategy.media_type())
    }

    fn path(&self, resource: &Resource) -> String {
        let (named, subresource) = match self {
            Self::Get { namespace, name } => return resource.path(namespace, name),
            Self::List { namespace } | Self::Create { namespace, .. } => {
                return resource.path(namespace, "");
            }
            Self::Update {
                base, subresource, ..
            }
            | Self::Patch {
                base, subresource, ..
            }
            | Self::Apply {
                base, subresource, ..
            } => (base, *subresource),
            Self::Delete { object, .. } => (object, None),
        };
        let mut path = resource.path(named.namespace(), named.name());
        if let Some(subresource) = subresource {
            path.push('/');
            path.push_str(subresource.name());
        }
        path
    }

    /// The object that is the body as it is.
    fn sent_object(&self) -> Option<&Arc<Value>> {
        match self {
            Self::Create { object, .. }
            | Self::Update { object, .. }
            | Self::Apply { object, .. } => Some(object),
            Self::Get { .. } | Self::List { .. } | Self::Patch { .. } | Self::Delete { .. } => None,
        }
    }

    fn body(&self) -> Option<Vec<u8>> {
        match self {
            Self::Get { .. } | Self::List { .. } => None,
            Self::Create { object, .. }
            | Self::Update { object, .. }
            | Self::Apply { object, .. } => Some(to_json(object)),
            Self::Patch { patch, .. } => {
                let (Patch::Merge(patch) | Patch::Strategic(patch) | Patch::Json(patch)) = patch;
                Some(to_json(patch))
            }
            Self::Delete {
                object,
                preconditions,
                in_background,
            } => delete_options(object, *preconditions, *in_background),
        }
    }
}

/// The object in the body of a request: an extension of the request, so that nobody has to parse it. Whoever replaces
/// the body removes it.
#[derive(Clone, Debug)]
pub(super) struct SentObject(pub(super) Arc<Value>);

/// The `DeleteOptions` of an object; `None` if there is nothing to say.
fn delete_options(
    object: &Value,
    preconditions: Preconditions,
    in_background: bool,
) -> Option<Vec<u8>> {
    let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
    if in_background {
        options["propagationPolicy"] = "Background".into();
    }
    for (wanted, field) in [
        (preconditions.uid, "uid"),
        (preconditions.resource_version, "resourceVersion"),
    ] {
        if wanted {
            options["preconditions"][field] = object.meta_text(field).into();
        }
    }
    let says_nothing = !in_background && preconditions == Preconditions::default();
    (!says_nothing).then(|| to_json(&options))
}

/// A document as JSON. Each value can be written as such.
fn to_json(document: &Value) -> Vec<u8> {
    serde_json::to_vec(document).unwrap_or_default()
}

/// A GET of a path.
pub fn get_request(path: &str, manager: &str) -> Option<Request<Vec<u8>>> {
    Request::get(path)
        .header(header::USER_AGENT, manager)
        .body(Vec::new())
        .ok()
}
