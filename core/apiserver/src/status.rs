//! `metav1.Status`: how the API server says no, one constructor per reason
//! (`k8s.io/apimachinery/pkg/api/errors` v0.36).

mod field_error;

use std::collections::HashSet;
use std::fmt;

use serde_json::{Value, json};

use crate::go;
use crate::object::GroupName;

pub use field_error::{FieldError, Problem};

/// The optimistic lock message (`OptimisticLockErrorMsg` in
/// `k8s.io/apiserver/pkg/registry/generic/registry/store.go`).
pub const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// A failure as the API server reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The HTTP status code.
    pub code: u16,
    /// `metav1.StatusReason`; an internal error has none.
    pub reason: Option<&'static str>,
    /// The text for people.
    pub message: String,
    /// The subject of the error; an internal error has none.
    pub details: Option<Details>,
    /// `metadata.continue`, where a list can go on from elsewhere.
    pub continue_token: Option<String>,
}

/// `metav1.StatusDetails`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The object's name.
    pub name: String,
    /// The API group.
    pub group: String,
    /// The kind, or where upstream says so the plural resource name.
    pub kind: String,
    /// One entry per thing that is wrong.
    pub causes: Vec<Cause>,
    /// The seconds after which to try again; 0 for never.
    pub retry_after_seconds: u32,
}

/// `metav1.StatusCause`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `FieldValueInvalid`, `FieldManagerConflict`, ...; may be empty.
    pub reason: &'static str,
    /// The text for people.
    pub message: String,
    /// The field's path.
    pub field: String,
}

/// Returns the causes in the body of an answer, in the form of [`Cause`]; none if it is no Status or has none.
pub fn causes(answer: &Value) -> impl Iterator<Item = &Value> {
    let causes = answer.pointer("/details/causes").and_then(Value::as_array);
    causes.into_iter().flatten()
}

/// A refusal, boxed: it is the rare way out of every function on the way.
pub type Refusal = Box<Status>;

impl Status {
    fn new(code: u16, reason: Option<&'static str>, message: String) -> Refusal {
        Box::new(Self {
            code,
            reason,
            message,
            details: None,
            continue_token: None,
        })
    }

    /// Adds a cause to the details.
    pub(crate) fn with_cause(mut self: Box<Self>, cause: Cause) -> Refusal {
        let details = self.details.get_or_insert_with(Details::default);
        details.causes.push(cause);
        self
    }

    fn about(mut self: Box<Self>, what: &GroupName, name: &str) -> Refusal {
        self.details = Some(Details {
            name: name.to_owned(),
            group: what.group.clone(),
            kind: what.name.clone(),
            ..Details::default()
        });
        self
    }

    /// 404 `NotFound`.
    pub fn not_found(resource: &GroupName, name: &str) -> Refusal {
        let message = format!("{resource} {} not found", go::quote(name));
        Self::new(404, Some("NotFound"), message).about(resource, name)
    }

    /// 404 without a name: the resource is not served.
    pub fn no_such_resource() -> Refusal {
        let message = "the server could not find the requested resource".to_owned();
        let mut status = Self::new(404, Some("NotFound"), message);
        status.details = Some(Details::default());
        status
    }

    /// 409 `AlreadyExists`.
    pub fn already_exists(resource: &GroupName, name: &str) -> Refusal {
        let message = format!("{resource} {} already exists", go::quote(name));
        Self::new(409, Some("AlreadyExists"), message).about(resource, name)
    }

    /// 409 `AlreadyExists` of an object that asked for a generated name (`NewGenerateNameConflict`).
    pub fn not_unique(resource: &GroupName, name: &str) -> Refusal {
        let mut status = Self::already_exists(resource, name);
        let why = ", the server was not able to generate a unique name for the object";
        status.message.push_str(why);
        if let Some(details) = &mut status.details {
            details.retry_after_seconds = 1;
        }
        status
    }

    /// Adds to a 409 `AlreadyExists` that the object of that name is about to go, whether the name was
    /// given or generated (`k8s.io/apiserver/pkg/registry/generic/registry/store.go Store.create`, v1.36).
    pub fn being_deleted(mut status: Refusal) -> Refusal {
        status.message = format!("object is being deleted: {}", status.message);
        status
    }

    /// 409 `Conflict` for a reason of its own.
    pub fn conflict(resource: &GroupName, name: &str, why: &str) -> Refusal {
        let message = format!(
            "Operation cannot be fulfilled on {resource} {}: {why}",
            go::quote(name)
        );
        Self::new(409, Some("Conflict"), message).about(resource, name)
    }

    /// 409 `Conflict`: the object has been modified.
    pub fn modified(resource: &GroupName, name: &str) -> Refusal {
        Self::conflict(resource, name, MODIFIED)
    }

    /// 409 `Conflict` of an apply: other managers own fields that it would change.
    pub fn apply_conflict(message: String, causes: Vec<Cause>) -> Refusal {
        let mut status = Self::new(409, Some("Conflict"), message);
        status.details = Some(Details {
            causes,
            ..Details::default()
        });
        status
    }

    /// 403 `Forbidden`: an admission plugin does not let it pass.
    pub fn forbidden(resource: &GroupName, name: &str, why: &str) -> Refusal {
        let message = format!("{resource} {} is forbidden: {why}", go::quote(name));
        Self::new(403, Some("Forbidden"), message).about(resource, name)
    }

    /// 400 `BadRequest`.
    pub fn bad_request(message: impl Into<String>) -> Refusal {
        Self::new(400, Some("BadRequest"), message.into())
    }

    /// 500 for an error that is not a `metav1.Status`: without reason and details.
    pub fn internal(message: impl Into<String>) -> Refusal {
        Self::new(500, None, message.into())
    }

    /// 405 `MethodNotAllowed`.
    pub fn method_not_allowed() -> Refusal {
        let message = "the server does not allow this method on the requested resource".to_owned();
        let mut status = Self::new(405, Some("MethodNotAllowed"), message);
        status.details = Some(Details::default());
        status
    }

    /// 405 `MethodNotAllowed` of a resource that does not know a verb (`NewMethodNotSupported`).
    pub fn method_not_supported(resource: &GroupName, verb: &str) -> Refusal {
        let kind = go::quote(&resource.to_string());
        let message = format!("{verb} is not supported on resources of kind {kind}");
        Self::new(405, Some("MethodNotAllowed"), message).about(resource, "")
    }

    /// 413 `RequestEntityTooLarge`.
    pub fn too_large(why: impl fmt::Display) -> Refusal {
        let message = format!("Request entity too large: {why}");
        Self::new(413, Some("RequestEntityTooLarge"), message)
    }

    /// 415 `UnsupportedMediaType`, naming the accepted types.
    pub fn unsupported_media_type(accepted: &[&str]) -> Refusal {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, Some("UnsupportedMediaType"), message)
    }

    /// 406 `NotAcceptable`.
    pub fn not_acceptable(message: &str) -> Refusal {
        Self::new(406, Some("NotAcceptable"), message.to_owned())
    }

    /// 406 as the router answers before any handler looks.
    pub fn unroutable_accept(written: &str) -> Refusal {
        let message = format!("406: Not Acceptable\n\nAvailable representations: {written}");
        let mut status = Self::new(406, Some("NotAcceptable"), message);
        status.details = Some(Details::default());
        status
    }

    /// 415 as the router answers before any handler looks.
    pub fn unroutable_media_type() -> Refusal {
        let message = "415: Unsupported Media Type".to_owned();
        let mut status = Self::new(415, Some("UnsupportedMediaType"), message);
        status.details = Some(Details::default());
        status
    }

    /// 404 as the last handler answers where no handler is: text, not a status.
    pub fn page_not_found() -> Refusal {
        Self::new(404, None, "404 page not found\n".to_owned())
    }

    /// Returns whether this is [`Status::page_not_found`].
    pub fn is_page_not_found(&self) -> bool {
        self.code == 404 && self.reason.is_none()
    }

    /// 429 `TooManyRequests`: to be tried again after some seconds, if that is known.
    pub fn too_many_requests(why: &str, retry_after_seconds: u32) -> Refusal {
        let mut status = Self::new(429, Some("TooManyRequests"), why.to_owned());
        status.details = Some(Details {
            retry_after_seconds,
            ..Details::default()
        });
        status
    }

    /// 503 `ServiceUnavailable`.
    pub fn unavailable(why: String) -> Refusal {
        Self::new(503, Some("ServiceUnavailable"), why)
    }

    /// 410 `Expired`: the version asked for is gone.
    pub fn expired(message: impl Into<String>) -> Refusal {
        Self::new(410, Some("Expired"), message.into())
    }

    /// 500 `InternalError` (`NewInternalError`), as watches report it.
    pub fn internal_error(why: &str) -> Refusal {
        let message = format!("Internal error occurred: {why}");
        Self::new(500, Some("InternalError"), message).with_cause(Cause {
            reason: "",
            message: why.to_owned(),
            field: String::new(),
        })
    }

    /// 504 `Timeout`: the version asked for is still to come
    /// (`storage.NewTooLargeResourceVersionError`).
    pub fn too_large_version(asked: u64, current: u64, retry_after_seconds: u32) -> Refusal {
        const PROBLEM: &str = "Too large resource version";
        let message = format!("Timeout: {PROBLEM}: {asked}, current: {current}");
        let mut status = Self::new(504, Some("Timeout"), message);
        status.details = Some(Details {
            causes: vec![Cause {
                reason: "ResourceVersionTooLarge",
                message: PROBLEM.to_owned(),
                field: String::new(),
            }],
            retry_after_seconds,
            ..Details::default()
        });
        status
    }

    /// 422 `Invalid` with one cause per error (`NewInvalid`).
    pub fn invalid(kind: &GroupName, name: &str, errors: &[FieldError]) -> Refusal {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let mut known = HashSet::new();
        let mut seen: Vec<&str> = texts.iter().map(String::as_str).collect();
        seen.retain(|text| known.insert(*text));
        let list = match seen.as_slice() {
            [one] => (*one).to_owned(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("{kind} {} is invalid: {list}", go::quote(name));
        let mut status = Self::new(422, Some("Invalid"), message).about(kind, name);
        if let Some(details) = &mut status.details {
            details.causes = errors.iter().map(FieldError::cause).collect();
        }
        status
    }

    /// 422 of a JSON patch operation that failed: the library's text never reaches the client.
    pub fn unprocessable() -> Refusal {
        let message = "the server rejected our request due to an error in our request".to_owned();
        let mut status = Self::new(422, Some("Invalid"), message);
        status.details = Some(Details::default());
        status
    }

    /// The response body.
    pub fn to_json(&self) -> Value {
        let mut body = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if let Some(reason) = self.reason {
            body["reason"] = reason.into();
        }
        if let Some(token) = &self.continue_token {
            body["metadata"]["continue"] = token.as_str().into();
        }
        if let Some(details) = &self.details {
            body["details"] = details.to_json();
        }
        body
    }
}

impl Details {
    fn to_json(&self) -> Value {
        let mut details = json!({});
        for (field, text) in [
            ("name", &self.name),
            ("group", &self.group),
            ("kind", &self.kind),
        ] {
            if !text.is_empty() {
                details[field] = text.as_str().into();
            }
        }
        if !self.causes.is_empty() {
            let causes = self.causes.iter().map(Cause::to_json).collect();
            details["causes"] = Value::Array(causes);
        }
        if self.retry_after_seconds > 0 {
            details["retryAfterSeconds"] = self.retry_after_seconds.into();
        }
        details
    }
}

impl Cause {
    fn to_json(&self) -> Value {
        let mut cause = json!({});
        if !self.message.is_empty() {
            cause["message"] = self.message.as_str().into();
        }
        if !self.reason.is_empty() {
            cause["reason"] = self.reason.into();
        }
        if !self.field.is_empty() {
            cause["field"] = self.field.as_str().into();
        }
        cause
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for Status {}
