//! The answers to a controller's client (`sigs.k8s.io/controller-runtime/pkg/client`).

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::object::{GroupName, text};
use optimist_apiserver::server::Resource;
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
    /// `true` if the client made it itself because its cache does not have the object. No request
    /// was sent.
    pub of_cache: bool,
    /// `true` if the client made it itself because no path can have the name of the object. No request
    /// was sent.
    pub of_name: bool,
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

    /// The error of a write without an answer: it has no code and no reason (`net/url.Error` of
    /// `net/http`).
    pub fn no_answer() -> Self {
        Self {
            code: 0,
            reason: String::new(),
            message: "http2: client connection lost".to_owned(),
            of_cache: false,
            of_name: false,
        }
    }

    /// The error of a request that cannot be made, because no path can have the name of the object.
    pub fn no_path() -> Self {
        Self {
            message: "invalid resource name".to_owned(),
            of_name: true,
            ..Self::no_answer()
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
            of_name: false,
        }
    }

    /// Returns whether the object is not there (`apierrors.IsNotFound`).
    pub fn is_not_found(&self) -> bool {
        self.reason == "NotFound"
    }

    /// Returns whether the object was modified, or a precondition failed (`apierrors.IsConflict`).
    pub fn is_conflict(&self) -> bool {
        self.reason == "Conflict"
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The object of an answer, or its error.
pub(crate) fn answer_of(answered: &AnsweredRequest) -> Result<Arc<Value>, ApiError> {
    let (status, received) = (answered.response.status(), answered.received());
    if status.is_success() {
        return Ok(Arc::clone(received));
    }
    Err(ApiError {
        code: status.as_u16(),
        ..ApiError::of_status(received)
    })
}
