//! What an actor can do in one step.

use http::{Request, header};
use serde::{Deserialize, Serialize};

use super::{Actor, Exchange, ObjectRef};
use optimist_apiserver::object::Metadata;
use optimist_client::{Write, bare, get_request};

/// An action of an actor that takes a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Read the object. Unsent edits are repeated on the new copy.
    Get,
    /// Send the edits.
    Send(Write),
    /// Create the object from the working copy, without the fields that only the server sets.
    Create,
    /// Delete the object.
    Delete(Delete),
    /// Send a request that was written by hand.
    Request(ByHand),
}

/// What a delete asks the server to compare first (`metav1.Preconditions`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delete {
    /// Whether the delete carries the uid that was read.
    pub uid: bool,
    /// Whether the delete carries the resourceVersion that was read.
    pub resource_version: bool,
}

/// A request written by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByHand {
    /// The method, such as `PATCH`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The body's media type; empty for none.
    pub content_type: String,
    /// The body.
    pub body: String,
}

impl Action {
    /// The request of an actor for this action; `None` if there is nothing to send yet.
    pub fn request(&self, actor: &Actor, subject: &ObjectRef) -> Option<Request<Vec<u8>>> {
        let copy = actor.copy(subject);
        let (resource, manager) = (subject.resource(), &*actor.manager);
        match self {
            Action::Get => get_request(&subject.path(), manager),
            Action::Send(write) => write.request(resource, copy, manager),
            Action::Create => {
                let object = bare(copy.edited()?);
                let collection = resource.path(subject.namespace(), "");
                Request::post(collection)
                    .header(header::CONTENT_TYPE, "application/json")
                    .header(header::USER_AGENT, manager)
                    .body(object.to_string().into_bytes())
                    .ok()
            }
            Action::Delete(delete) => delete.request(actor, subject),
            Action::Request(by_hand) => by_hand.request(manager),
        }
    }
}

impl Delete {
    fn request(self, actor: &Actor, subject: &ObjectRef) -> Option<Request<Vec<u8>>> {
        let read = actor.copy(subject).read();
        let mut preconditions = serde_json::Map::new();
        for (wanted, field) in [
            (self.uid, "uid"),
            (self.resource_version, "resourceVersion"),
        ] {
            if wanted {
                preconditions.insert(field.to_owned(), read?.meta_text(field).into());
            }
        }
        let request = Request::delete(subject.path()).header(header::USER_AGENT, &*actor.manager);
        if preconditions.is_empty() {
            return request.body(Vec::new()).ok();
        }
        let options = serde_json::json!({
            "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions,
        });
        request
            .header(header::CONTENT_TYPE, "application/json")
            .body(options.to_string().into_bytes())
            .ok()
    }
}

/// The request of an exchange, to be sent once more as it was.
impl From<&Exchange> for ByHand {
    fn from(exchange: &Exchange) -> Self {
        Self {
            method: exchange.method.to_string(),
            target: exchange.target.clone(),
            content_type: exchange.content_type.clone(),
            body: match &*exchange.sent {
                serde_json::Value::Null => String::new(),
                body => body.to_string(),
            },
        }
    }
}

impl ByHand {
    /// The methods that the server does not answer with 405. Links and lessons use only these.
    pub const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

    /// A first request for the user to edit.
    pub fn of(request: &Request<Vec<u8>>) -> Self {
        let content_type = request.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        let body = String::from_utf8_lossy(request.body());
        let value: Result<serde_json::Value, _> = serde_json::from_str(&body);
        let pretty = value.and_then(|value| serde_json::to_string_pretty(&value));
        Self {
            method: request.method().to_string(),
            target: request.uri().to_string(),
            content_type: content_type.unwrap_or_default().to_owned(),
            body: pretty.unwrap_or_else(|_| body.into_owned()),
        }
    }

    /// Whether the body and its media type are sent. In a GET they mean nothing (RFC 9110, 9.3.1),
    /// and clients do not send them.
    pub fn carries_body(&self) -> bool {
        self.method != "GET"
    }

    /// Checks whether the request can be sent. The server may still refuse it.
    ///
    /// # Errors
    /// The part that HTTP does not allow.
    pub fn check(&self) -> Result<(), String> {
        if !self.target.starts_with('/') {
            return Err("the path has to begin with /".to_owned());
        }
        let request = Request::builder().method(self.method.as_str());
        request
            .uri(self.target.as_str())
            .header(header::CONTENT_TYPE, &self.content_type)
            .body(())
            .map(drop)
            .map_err(|error| error.to_string())
    }

    /// The request of a manager. `None` if it is not a valid HTTP request.
    pub(crate) fn request(&self, manager: &str) -> Option<Request<Vec<u8>>> {
        // If the target names a host, the generated commands would send the request to that host.
        if !self.target.starts_with('/') {
            return None;
        }
        let mut request = Request::builder()
            .method(self.method.as_str())
            .uri(self.target.as_str())
            .header(header::USER_AGENT, manager);
        if !self.carries_body() {
            return request.body(Vec::new()).ok();
        }
        if !self.content_type.is_empty() {
            request = request.header(header::CONTENT_TYPE, &self.content_type);
        }
        request.body(self.body.clone().into_bytes()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_by_hand_says_what_keeps_it_from_being_sent() {
        let get = ByHand {
            method: "GET".to_owned(),
            target: "/api/v1/namespaces/default/configmaps".to_owned(),
            content_type: String::new(),
            body: String::new(),
        };
        assert_eq!(get.check(), Ok(()));
        let wrong = |target: &str, method: &str| ByHand {
            target: target.to_owned(),
            method: method.to_owned(),
            ..get.clone()
        };
        assert!(wrong("api", "GET").check().unwrap_err().contains("/"));
        assert!(wrong("/a b", "GET").check().unwrap_err().contains("uri"));
        assert!(wrong("/api", "G T").check().unwrap_err().contains("method"));
    }
}
