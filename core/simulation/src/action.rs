//! The actions that an actor can take in one step.

use std::sync::Arc;

use http::{Request, header};
use serde::{Deserialize, Serialize};

use super::{Actor, Exchange, ObjectRef};
use optimist_client::{
    Call, Editor, Intent, NextRequest, OnConflict, Preconditions, Sender, Strategy, Write, bare,
    get_request,
};

/// An action of an actor that takes a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Read the object. Unsent edits are repeated on the new copy.
    Get,
    /// Read the Scale of the object, as the HorizontalPodAutoscaler does. An unsent edit of the replicas is repeated
    /// on the new copy.
    GetScale,
    /// Send the edits.
    Send(Write),
    /// Create the object from the working copy, without the fields that only the server sets.
    Create,
    /// Delete the object.
    Delete(Preconditions),
    /// Delete the object by a program that tries again after a conflict: it reads the object, and deletes it.
    DeleteRetrying(Preconditions, OnConflict),
    /// Send a request that was written by hand.
    Request(ByHand),
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
    /// Returns the next action of an editor: a read, or the write of its plan. `None` if it has nothing to do.
    pub(crate) fn next_of(editor: &Editor) -> Option<Self> {
        let plan = editor.plan();
        match editor.next_request() {
            NextRequest::Read if editor.reads_scale() => Some(Self::GetScale),
            NextRequest::Read => Some(Self::Get),
            NextRequest::Send if plan.intent == Some(Intent::Delete) => {
                let preconditions = plan.preconditions();
                Some(match plan.write.on_conflict {
                    OnConflict::GiveUp => Self::Delete(preconditions),
                    retries => Self::DeleteRetrying(preconditions, retries),
                })
            }
            NextRequest::Send => Some(Self::Send(plan.write.clone())),
            NextRequest::Nothing => None,
        }
    }

    /// Returns the read of an actor with a write method: of the Scale if its client reads nothing else.
    pub fn read_for(write: &Write) -> Action {
        match write.reads_scale() {
            true => Action::GetScale,
            false => Action::Get,
        }
    }

    /// The reaction to a conflict of the program that does it.
    pub fn on_conflict(&self) -> OnConflict {
        match self {
            Action::Send(write) => write.on_conflict,
            Action::DeleteRetrying(_, on_conflict) => *on_conflict,
            _ => OnConflict::GiveUp,
        }
    }

    /// The request of an actor for this action; `None` if there is nothing to send yet.
    pub fn request(&self, actor: &Actor, subject: &ObjectRef) -> Option<Request<Vec<u8>>> {
        let copy = actor.copy(subject);
        let (resource, manager) = (subject.resource(), &*actor.manager);
        let call = match self {
            Action::Get => return get_request(&subject.path(), manager),
            Action::GetScale => {
                let agent = actor.write();
                return get_request(&subject.scale_path(), agent.sender(manager).user_agent);
            }
            Action::Send(write) => return write.request(resource, copy, manager),
            Action::Request(by_hand) => return by_hand.request(manager),
            Action::Create => Call::Create {
                namespace: subject.namespace().to_owned(),
                object: Arc::new(bare(copy.edited()?)),
            },
            Action::Delete(preconditions) | Action::DeleteRetrying(preconditions, _) => {
                Call::Delete {
                    object: match copy.read() {
                        Some(read) => Arc::clone(read),
                        None if *preconditions == Preconditions::default() => subject.unread(),
                        None => return None,
                    },
                    preconditions: *preconditions,
                    in_background: false,
                }
            }
        };
        call.request(resource, Sender::new(manager))
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
    pub fn from_request(request: &Request<Vec<u8>>) -> Self {
        let exact = Self::exactly(request);
        let value: Result<serde_json::Value, _> = serde_json::from_str(&exact.body);
        let pretty = value.and_then(|value| serde_json::to_string_pretty(&value));
        Self {
            body: pretty.unwrap_or_else(|_| exact.body.clone()),
            ..exact
        }
    }

    /// A request with the body as it is.
    pub fn exactly(request: &Request<Vec<u8>>) -> Self {
        let content_type = request.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        Self {
            method: request.method().to_string(),
            target: request.uri().to_string(),
            content_type: content_type.unwrap_or_default().to_owned(),
            body: String::from_utf8_lossy(request.body()).into_owned(),
        }
    }

    /// A first request with another method and a body that fits it: a DELETE has no body, because it would
    /// be read as `DeleteOptions`, and a PATCH begins as a merge patch that changes nothing.
    #[must_use]
    pub fn with_method(&self, method: &str) -> Self {
        let (content_type, body) = match method {
            "DELETE" => ("", ""),
            "PATCH" if self.method != "PATCH" => (Strategy::MergePatch.media_type(), "{}"),
            _ => (&*self.content_type, &*self.body),
        };
        Self {
            method: method.to_owned(),
            target: self.target.clone(),
            content_type: content_type.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Returns whether the body and its media type are sent. In a GET they mean nothing (RFC 9110, 9.3.1),
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
    pub fn request(&self, manager: &str) -> Option<Request<Vec<u8>>> {
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
