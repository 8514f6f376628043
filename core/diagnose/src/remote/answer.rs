//! The answers of a real API server, and what is kept of them.

use std::fmt;

use http::{Response, StatusCode, header};
use optimist_apiserver::object::{Metadata, text};
use optimist_masking::Masking;
use serde_json::Value;

use super::RemoteKind;

/// An answer, as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteAnswer {
    /// The status code.
    pub code: u16,
    /// The Warning headers. A browser joins them with commas.
    pub warning: String,
    /// The body.
    pub body: String,
}

/// The reason why an answer has no objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAnswered {
    /// The server refused, with this code and message.
    Refused {
        /// The status code.
        code: u16,
        /// The message of the Status; empty if the body is none.
        message: String,
    },
    /// The body is not what an API server answers.
    NotAnApiServer,
}

/// The objects of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteList {
    /// The objects, each with the kind that was asked for.
    pub objects: Vec<Value>,
    /// `true` if the server has more objects than it listed.
    pub has_more: bool,
    /// The version of the list, after which a watch goes on; empty if the answer has none.
    pub version: String,
}

impl fmt::Display for NotAnswered {
    /// In English, for tests and command lines. The page takes its words from its catalogue.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { code, message } if message.is_empty() => write!(f, "{code}"),
            Self::Refused { code, message } => write!(f, "{code}: {message}"),
            Self::NotAnApiServer => f.write_str("the answer is not that of an API server"),
        }
    }
}

impl std::error::Error for NotAnswered {}

impl RemoteAnswer {
    /// The document in an accepted answer.
    ///
    /// # Errors
    /// If the server refused, or the body is no JSON.
    pub fn document(&self) -> Result<Value, NotAnswered> {
        let document: Option<Value> = serde_json::from_str(&self.body).ok();
        if !(200..300).contains(&self.code) {
            let status = document.filter(|it| text(it, "kind") == "Status");
            let message = status.map(|it| text(&it, "message").to_owned());
            return Err(NotAnswered::Refused {
                code: self.code,
                message: message.unwrap_or_default(),
            });
        }
        let document = document.filter(Value::is_object);
        document.ok_or(NotAnswered::NotAnApiServer)
    }

    /// The objects of a kind in an accepted answer: one, or those of a list. Items of a list get the kind that
    /// the list has. Values of Secrets are left out, unless `secrets` says that they are asked for.
    ///
    /// # Errors
    /// Those of [`document`](Self::document).
    pub fn objects(&self, kind: &RemoteKind, secrets: bool) -> Result<Vec<Value>, NotAnswered> {
        self.list(kind, secrets).map(|list| list.objects)
    }

    /// The same, and what the answer says of the whole list.
    ///
    /// # Errors
    /// Those of [`document`](Self::document).
    pub fn list(&self, kind: &RemoteKind, secrets: bool) -> Result<RemoteList, NotAnswered> {
        let mut document = self.document()?;
        let has_more = !document.meta_text("continue").is_empty();
        let version = document.resource_version().to_owned();
        let is_object = !document.name().is_empty();
        let mut objects = match document.get_mut("items") {
            Some(Value::Array(items)) if !is_object => std::mem::take(items),
            _ => vec![document],
        };
        for object in &mut objects {
            if !object.is_object() {
                return Err(NotAnswered::NotAnApiServer);
            }
            *object = normalized(kind, object.take(), secrets);
        }
        Ok(RemoteList {
            objects,
            has_more,
            version,
        })
    }

    /// The namespaces and names of the objects in an accepted answer.
    ///
    /// # Errors
    /// Those of [`document`](Self::document).
    pub fn names(&self) -> Result<Vec<(String, String)>, NotAnswered> {
        let document = self.document()?;
        let items = document.get("items").and_then(Value::as_array);
        let items = items.ok_or(NotAnswered::NotAnApiServer)?;
        let names = items.iter();
        Ok(names
            .map(|item| (item.namespace().to_owned(), item.name().to_owned()))
            .collect())
    }

    /// The answer, as the core gives its own.
    pub(super) fn response(&self) -> Response<Vec<u8>> {
        let mut response = Response::new(self.body.clone().into_bytes());
        *response.status_mut() = StatusCode::from_u16(self.code).unwrap_or_default();
        for warning in warnings(&self.warning) {
            if let Ok(value) = warning.parse() {
                response.headers_mut().append(header::WARNING, value);
            }
        }
        response
    }
}

/// An object as it is kept: as one of this kind, and without the values of a Secret unless they are asked for.
pub(super) fn normalized(kind: &RemoteKind, mut object: Value, secrets: bool) -> Value {
    object["apiVersion"] = kind.api_version().into();
    object["kind"] = kind.kind.as_str().into();
    match secrets {
        true => object,
        false => with_left_out_secrets(&object),
    }
}

/// An object as it is kept: a Secret without its values, anything else as it is. Stand-ins take the place of
/// the values, also in the annotation of `kubectl apply`.
pub fn with_left_out_secrets(object: &Value) -> Value {
    let mut kept = object.clone();
    let is_secret = text(object, "kind") == "Secret" && text(object, "apiVersion") == "v1";
    if is_secret {
        Masking::shared([]).object(&mut kept);
    }
    kept
}

/// Returns whether a controller owns an object and writes it (`metav1.GetControllerOf`): no tool does.
pub fn is_controlled(object: &Value) -> bool {
    let owners = object.pointer("/metadata/ownerReferences");
    let mut owners = owners.and_then(Value::as_array).into_iter().flatten();
    owners.any(|owner| owner.get("controller") == Some(&Value::Bool(true)))
}

/// The values of headers that are joined with commas: a comma in a quoted text is part of it (RFC 9110,
/// section 5.6.4).
fn warnings(joined: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut begin, mut quoted, mut escaped) = (0, false, false);
    for (at, byte) in joined.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                found.push(joined[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(joined[begin..].trim());
    found.retain(|it| !it.is_empty());
    found
}
