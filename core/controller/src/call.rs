//! The requests of a controller's client (`sigs.k8s.io/controller-runtime/pkg/client`), and the
//! errors that answer them.

use std::fmt;
use std::sync::Arc;

use http::{Method, Request, Response, header};
use serde_json::{Value, json};

use optimist_apiserver::object::{GroupName, Metadata, text};
use optimist_apiserver::patch::merge_diff;
use optimist_apiserver::server::{ApiServer, Resource};
use optimist_apiserver::status::Status;
use optimist_client::AnsweredRequest;

/// An error of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The code, such as 409.
    pub code: u16,
    /// The reason, such as `Conflict` or `AlreadyExists`.
    pub reason: String,
    /// The message.
    pub message: String,
    /// Whether the client made it itself because its cache does not have the object. No request
    /// was sent.
    pub of_cache: bool,
}

impl ApiError {
    /// The NotFound of a cached read (`pkg/cache/internal/cache_reader.go Get`). It names the kind
    /// where the server's NotFound names the resource.
    pub fn not_in_cache(resource: &Resource, name: &str) -> Self {
        let kind = GroupName::new(&resource.group_version.group, &resource.kind);
        let refusal = Status::not_found(&kind, name);
        Self {
            of_cache: true,
            ..Self::of_status(&refusal.to_json())
        }
    }

    fn of_status(status: &Value) -> Self {
        let code = status.get("code").and_then(Value::as_u64);
        Self {
            code: code
                .and_then(|code| code.try_into().ok())
                .unwrap_or_default(),
            reason: text(status, "reason").to_owned(),
            message: text(status, "message").to_owned(),
            of_cache: false,
        }
    }

    fn of_response(response: &Response<Vec<u8>>) -> Self {
        let status = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
        Self {
            code: response.status().as_u16(),
            ..Self::of_status(&status)
        }
    }

    /// Whether the object is not there (`apierrors.IsNotFound`).
    pub fn is_not_found(&self) -> bool {
        self.reason == "NotFound"
    }

    /// Whether an object of that name exists (`apierrors.IsAlreadyExists`).
    pub fn is_already_exists(&self) -> bool {
        self.reason == "AlreadyExists"
    }

    /// Whether the object was modified, or a precondition failed (`apierrors.IsConflict`).
    pub fn is_conflict(&self) -> bool {
        self.reason == "Conflict"
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

const JSON: &str = "application/json";

/// A request, as data.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientCall {
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
    /// `Create`.
    Create(Arc<Value>),
    /// `Update`: the whole object. Its resourceVersion, if it has one, is a precondition.
    Update {
        /// The object.
        object: Arc<Value>,
        /// Whether the status is written (`Status().Update`).
        status: bool,
    },
    /// `Patch` with `MergeFrom`: what differs from a base, lists whole.
    MergeFrom {
        /// The object as it was read.
        base: Arc<Value>,
        /// The object as it should be.
        object: Arc<Value>,
        /// Whether the base's resourceVersion is a precondition (`MergeFromWithOptimisticLock`).
        lock: bool,
        /// Whether the status is written.
        status: bool,
    },
    /// `Apply`: the fields that the controller wants to own.
    Apply {
        /// The configuration.
        object: Arc<Value>,
        /// Whether it takes ownership of fields of other managers (`ForceOwnership`).
        force: bool,
        /// Whether the status is written.
        status: bool,
    },
    /// `Delete`.
    Delete {
        /// The object as it was read.
        object: Arc<Value>,
        /// Whether its uid is a precondition (`Preconditions{UID}`).
        uid: bool,
        /// Whether its resourceVersion is a precondition (`Preconditions{ResourceVersion}`).
        resource_version: bool,
    },
}

impl ClientCall {
    /// Whether it changes nothing.
    pub fn is_read(&self) -> bool {
        matches!(self, Self::Get { .. } | Self::List { .. })
    }

    /// The object that it writes; `None` for a read.
    pub fn written(&self) -> Option<&Value> {
        match self {
            Self::Get { .. } | Self::List { .. } => None,
            Self::Create(object)
            | Self::Update { object, .. }
            | Self::MergeFrom { object, .. }
            | Self::Apply { object, .. }
            | Self::Delete { object, .. } => Some(object),
        }
    }

    /// The request. The manager is the name of the controller: its user agent and field manager.
    pub fn request(&self, resource: &Resource, manager: &str) -> Request<Vec<u8>> {
        let (method, media_type) = match self {
            Self::Get { .. } | Self::List { .. } => (Method::GET, JSON),
            Self::Create(_) => (Method::POST, JSON),
            Self::Update { .. } => (Method::PUT, JSON),
            Self::MergeFrom { .. } => (Method::PATCH, "application/merge-patch+json"),
            Self::Apply { .. } => (Method::PATCH, "application/apply-patch+yaml"),
            Self::Delete { .. } => (Method::DELETE, JSON),
        };
        let body = self.body().unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(self.target(resource, manager))
            .header(header::CONTENT_TYPE, media_type)
            .header(header::USER_AGENT, manager);
        request.body(body.into_bytes()).unwrap_or_default()
    }

    fn target(&self, resource: &Resource, manager: &str) -> String {
        let path = |object: &Value, status: bool| {
            let path = resource.path(object.namespace(), object.name());
            if status { path + "/status" } else { path }
        };
        match self {
            Self::Get { namespace, name } => resource.path(namespace, name),
            Self::List { namespace } => resource.path(namespace, ""),
            Self::Create(object) => resource.path(object.namespace(), ""),
            Self::Update { object, status } => path(object, *status),
            Self::MergeFrom { base, status, .. } => path(base, *status),
            Self::Apply {
                object,
                force,
                status,
            } => {
                let path = path(object, *status);
                format!("{path}?fieldManager={manager}&force={force}")
            }
            Self::Delete { object, .. } => path(object, false),
        }
    }

    fn body(&self) -> Option<String> {
        match self {
            Self::Get { .. } | Self::List { .. } => None,
            Self::Create(object) | Self::Update { object, .. } | Self::Apply { object, .. } => {
                Some(object.to_string())
            }
            Self::MergeFrom {
                base, object, lock, ..
            } => Some(merge_from(base, object, *lock).to_string()),
            Self::Delete {
                object,
                uid,
                resource_version,
            } => delete_options(object, *uid, *resource_version),
        }
    }

    /// Sends it.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn send(
        &self,
        server: &mut ApiServer,
        resource: &Resource,
        manager: &str,
    ) -> Result<Arc<Value>, ApiError> {
        answer_of(&self.exchange(server, resource, manager))
    }

    /// Sends it, and keeps the request and its answer as they went over the wire.
    pub(crate) fn exchange(
        &self,
        server: &mut ApiServer,
        resource: &Resource,
        manager: &str,
    ) -> AnsweredRequest {
        let request = self.request(resource, manager);
        let response = server.handle(request.clone());
        AnsweredRequest { request, response }
    }
}

/// The object of an answer, or its error.
pub(crate) fn answer_of(answered: &AnsweredRequest) -> Result<Arc<Value>, ApiError> {
    let response = &answered.response;
    if !response.status().is_success() {
        return Err(ApiError::of_response(response));
    }
    let answer = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
    Ok(Arc::new(answer))
}

/// `mergeFromPatch.Data` (`pkg/client/patch.go`): an empty difference is sent as `{}`.
fn merge_from(base: &Value, object: &Value, lock: bool) -> Value {
    let mut patch = merge_diff(base, object);
    if !patch.is_object() {
        patch = json!({});
    }
    if lock {
        patch.set_meta("resourceVersion", base.resource_version());
    }
    patch
}

fn delete_options(object: &Value, uid: bool, resource_version: bool) -> Option<String> {
    let mut preconditions = json!({});
    if uid {
        preconditions["uid"] = object.uid().into();
    }
    if resource_version {
        preconditions["resourceVersion"] = object.resource_version().into();
    }
    (uid || resource_version).then(|| {
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions})
            .to_string()
    })
}
