//! A request and its answer.

use std::sync::{Arc, OnceLock};

use http::{Request, Response};
use serde_json::Value;

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
        self.sent.get_or_init(|| read(self.request.body()))
    }

    /// The body of the answer: an object, or a `metav1.Status`; `null` if it is no JSON. It is read
    /// once.
    pub fn received(&self) -> &Arc<Value> {
        self.received.get_or_init(|| read(self.response.body()))
    }

    /// Path and query of the request.
    pub fn target(&self) -> &str {
        let target = self.request.uri().path_and_query();
        target.map_or("", |target| target.as_str())
    }
}

fn read(body: &[u8]) -> Arc<Value> {
    Arc::new(serde_json::from_slice(body).unwrap_or_default())
}
