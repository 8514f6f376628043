//! The result of a reflector's step.

use std::sync::Arc;

use http::{Response, StatusCode};
use serde_json::{Value, json};

use crate::answered::head;
use optimist_apiserver::server::WatchEvent;
use optimist_apiserver::status::causes;

/// The result of a step of a reflector.
#[derive(Clone, Debug, PartialEq)]
pub enum ReflectorProgress {
    /// It got a page of a list, and there are more.
    Paged,
    /// It got a list, the last page of a list, or all initial events: the store equals the
    /// collection at this version.
    Synced {
        /// The version.
        version: String,
    },
    /// It opened a watch from this version.
    Watching {
        /// The version.
        version: String,
    },
    /// It read this number of events from the watch.
    Received(usize),
    /// The watch ended. The next one begins where this one ended.
    Closed,
    /// The watch ended with an error, such as 410: the reflector lists again.
    Lost {
        /// The code of the error.
        code: u16,
        /// Its message.
        message: String,
    },
    /// A request was refused: the reflector retries it or sends another request.
    Refused {
        /// The code of the answer.
        code: u16,
        /// Its message.
        message: String,
    },
}

/// Returns whether the server cannot serve the requested version, because it is too old or in the future.
pub(super) fn is_unavailable(status: &Value) -> bool {
    let first = causes(status).next();
    status["code"] == 410 || first.is_some_and(|it| it["reason"] == "ResourceVersionTooLarge")
}

pub(super) fn lost(event: &WatchEvent) -> ReflectorProgress {
    let status = &event.object;
    let code = status["code"].as_u64();
    ReflectorProgress::Lost {
        code: code
            .and_then(|code| u16::try_from(code).ok())
            .unwrap_or_default(),
        message: status["message"].as_str().unwrap_or_default().to_owned(),
    }
}

pub(super) fn refused_watch(response: &Response<Vec<u8>>) -> ReflectorProgress {
    refused(response.status(), &body_of(response))
}

/// The body of an answer, perhaps without the items of a list. The text of one that is no JSON, as of a path that is not served, is its message.
pub(super) fn body_of(response: &Response<Vec<u8>>) -> Arc<Value> {
    let body = head(response);
    match *body {
        Value::Null => {
            let text = String::from_utf8_lossy(response.body());
            Arc::new(json!({"message": text.trim()}))
        }
        _ => body,
    }
}

pub(super) fn refused(code: StatusCode, status: &Value) -> ReflectorProgress {
    ReflectorProgress::Refused {
        code: code.as_u16(),
        message: status["message"].as_str().unwrap_or_default().to_owned(),
    }
}
