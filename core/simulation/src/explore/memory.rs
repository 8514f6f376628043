//! A cache of requests and answers. The same request to the same server is sent once, although it
//! occurs in many orders and write methods.

use std::collections::HashMap;
use std::sync::Arc;

use http::{Method, Request};
use serde_json::Value;

use super::state::{ObjectId, Pool, ServerId};
use optimist_client::is_conflict;

/// An index into the requests of a memory.
pub(super) type RequestId = u32;

/// An answer to a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) conflict: bool,
    /// The server afterwards.
    pub(super) server: ServerId,
    /// The object that a read returned.
    pub(super) shown: Option<ObjectId>,
}

/// All objects, servers and answers of the searches. Searches of scenarios with the same starting
/// object can share it.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub(super) pool: Pool,
    requests: Vec<Request<Vec<u8>>>,
    by_text: HashMap<Box<[u8]>, RequestId>,
    answers: HashMap<(ServerId, RequestId), Answer>,
}

impl Memory {
    pub(super) fn request(&mut self, request: Request<Vec<u8>>) -> RequestId {
        let mut text = Vec::with_capacity(request.body().len() + 200);
        text.extend_from_slice(request.method().as_str().as_bytes());
        text.extend_from_slice(request.uri().to_string().as_bytes());
        for value in request.headers().values() {
            text.push(b'\n');
            text.extend_from_slice(value.as_bytes());
        }
        text.push(b'\n');
        text.extend_from_slice(request.body());
        let requests = &mut self.requests;
        *self
            .by_text
            .entry(text.into_boxed_slice())
            .or_insert_with(|| {
                requests.push(request);
                requests.len() as RequestId - 1
            })
    }

    /// The answer of a server for the object with a key. An unknown server or request answers 404
    /// and does not change.
    pub(super) fn ask(&mut self, server: ServerId, request: RequestId, key: &str) -> Answer {
        if let Some(answer) = self.answers.get(&(server, request)) {
            return *answer;
        }
        let known = self.pool.servers.get(server as usize);
        let (Some(known), Some(sent)) = (known, self.requests.get(request as usize)) else {
            return Answer {
                code: 404,
                conflict: false,
                server,
                shown: None,
            };
        };
        let mut asked = known.server.clone();
        let response = asked.handle(sent.clone());
        let code = response.status().as_u16();
        let shown = (sent.method() == Method::GET && code < 400)
            .then(|| serde_json::from_slice::<Value>(response.body()).ok())
            .flatten()
            .map(|object| self.pool.object(&Arc::new(object)));
        let answer = Answer {
            code,
            conflict: is_conflict(&response),
            server: self.pool.server(asked, key),
            shown,
        };
        self.answers.insert((server, request), answer);
        answer
    }
}
