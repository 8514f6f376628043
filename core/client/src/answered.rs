//! A request and its answer.

use std::sync::{Arc, OnceLock};

use http::{Method, Request, Response};
use serde_json::Value;

use super::call::SentObject;
use optimist_apiserver::object::text;
use optimist_apiserver::server::{ReadBody, is_true};

/// A request with its answer, as they went over the wire. The answer to a watch has the events that
/// came before anybody took it, a line each: others come later.
#[derive(Clone, Debug)]
pub struct AnsweredRequest {
    /// The request.
    pub request: Request<Vec<u8>>,
    /// Its answer.
    pub response: Response<Vec<u8>>,
    /// The body of the request, once it was read.
    sent: OnceLock<Arc<Value>>,
    /// The body of the answer, once it was read.
    received: OnceLock<Arc<Value>>,
}

impl AnsweredRequest {
    /// A request with its answer.
    pub fn new(request: Request<Vec<u8>>, response: Response<Vec<u8>>) -> Self {
        Self {
            request,
            response,
            sent: OnceLock::new(),
            received: OnceLock::new(),
        }
    }

    /// The body of the request; `null` for none, and if it is no JSON. It is read once.
    pub fn sent(&self) -> &Arc<Value> {
        self.sent
            .get_or_init(|| match self.request.extensions().get::<SentObject>() {
                Some(SentObject(object)) => Arc::clone(object),
                None => read(self.request.body()),
            })
    }

    /// The body of the answer: an object, or a `metav1.Status`. For a watch: the list of the first events. A string if
    /// it is a text without JSON, such as that of `/healthz`; `null` for none, and if it is no text. It is read once.
    pub fn received(&self) -> &Arc<Value> {
        self.received.get_or_init(|| match self.events() {
            Some(events) => Arc::new(Value::Array(events)),
            None => received(&self.response),
        })
    }

    /// The first events of a watch, a line each. `None` if it is none, or was not opened.
    fn events(&self) -> Option<Vec<Value>> {
        let query = self.request.uri().query()?;
        if self.request.method() != Method::GET || !self.response.status().is_success() {
            return None;
        }
        let mut options = form_urlencoded::parse(query.as_bytes());
        options.find(|(name, value)| name == "watch" && is_true(value))?;
        let lines = self.response.body().split(|byte| *byte == b'\n');
        let event = |line: &[u8]| {
            let event: Value = serde_json::from_slice(line).ok()?;
            (event.get("type").is_some() && event.get("object").is_some()).then_some(event)
        };
        lines.filter(|line| !line.is_empty()).map(event).collect()
    }

    /// The items of the list in the answer, each with its `apiVersion` and `kind`.
    pub fn items(&self) -> Arc<[Arc<Value>]> {
        items(&self.response, self.received())
    }

    /// Path and query of the request.
    pub fn target(&self) -> &str {
        let target = self.request.uri().path_and_query();
        target.map_or("", |target| target.as_str())
    }
}

/// The body of an answer: a string if it is a text without JSON; `null` if it is no text.
pub(super) fn received(response: &Response<Vec<u8>>) -> Arc<Value> {
    if let Some(body) = response.extensions().get::<ReadBody>() {
        return Arc::clone(body.object());
    }
    let body = response.body();
    let read = serde_json::from_slice(body).ok();
    let text = || match std::str::from_utf8(body) {
        Ok(text) if !text.is_empty() => text.into(),
        _ => Value::Null,
    };
    Arc::new(read.unwrap_or_else(text))
}

/// The body of an answer; of a list, perhaps without its items.
pub(super) fn head(response: &Response<Vec<u8>>) -> Arc<Value> {
    match response.extensions().get::<ReadBody>() {
        Some(body) => Arc::clone(body.head()),
        None => received(response),
    }
}

/// The items of the list in an answer.
pub(super) fn items(response: &Response<Vec<u8>>, list: &Value) -> Arc<[Arc<Value>]> {
    match response.extensions().get::<ReadBody>() {
        Some(body) => Arc::clone(body.items(items_of)),
        None => items_of(list),
    }
}

/// The items of a list. Those of built-in kinds have no `apiVersion` and `kind`, because the list has
/// them; those of custom resources have their own, and the list can have any kind.
fn items_of(list: &Value) -> Arc<[Arc<Value>]> {
    let kind = text(list, "kind");
    let kind = kind.strip_suffix("List").unwrap_or(kind);
    let api_version = text(list, "apiVersion");
    let items = list.get("items").and_then(Value::as_array);
    let items = items.into_iter().flatten().map(|item| {
        let mut item = item.clone();
        if item.get("kind").is_none() {
            item["apiVersion"] = api_version.into();
            item["kind"] = kind.into();
        }
        Arc::new(item)
    });
    items.collect()
}

fn read(body: &[u8]) -> Arc<Value> {
    Arc::new(serde_json::from_slice(body).unwrap_or_default())
}
