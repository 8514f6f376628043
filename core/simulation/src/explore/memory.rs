//! A cache of requests and answers. The same request to the same server is sent once, although it
//! occurs in many orders and write methods.

use std::collections::HashMap;
use std::sync::Arc;

use http::{Method, Request};
use serde::Deserialize;
use serde_json::{Value, json};

use super::state::{ObjectId, Pool, ServerId};
use crate::ObjectRef;
use crate::verdict::{Answered, Effect};
use optimist_apiserver::server::Facts;
use optimist_client::is_conflict_status;

/// An index into the requests of a memory.
pub(super) type RequestId = u32;

/// An answer to a request.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) conflict: bool,
    /// The server afterwards.
    pub(super) server: ServerId,
    /// The object that a read returned.
    pub(super) shown: Option<ObjectId>,
    /// What it did to the object and told of it.
    pub(super) effect: Arc<Effect>,
}

/// What tells which object an answer contains. The rest of a long answer is not read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Identity {
    kind: String,
    metadata: Uid,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Uid {
    uid: String,
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

    /// The answer of a server to a request for an object. `None` for an unknown server or request.
    pub(super) fn ask(
        &mut self,
        server: ServerId,
        request: RequestId,
        object: &ObjectRef,
    ) -> Option<Answer> {
        if let Some(answer) = self.answers.get(&(server, request)) {
            return Some(answer.clone());
        }
        let sent = self.requests.get(request as usize)?;
        let mut asked = self.pool.servers.get(server as usize)?.server.clone();
        let since = asked.store().revision();
        let response = asked.handle(sent.clone());
        let code = response.status().as_u16();
        let reads = *sent.method() == Method::GET;
        let received = match reads || code >= 400 {
            true => serde_json::from_slice(response.body()).unwrap_or_default(),
            false => identity(response.body()),
        };
        let facts = response.extensions().get::<Facts>();
        let answered = Answered {
            method: sent.method(),
            target: &sent.uri().to_string(),
            // No actor creates an object.
            sent_name: "",
            code,
            received: &received,
            facts: facts.map_or(&[][..], |facts| &facts.0),
        };
        let effect = Arc::new(answered.effect(object, true, &asked, since));
        let conflict = is_conflict_status(code, &received);
        let shown = (reads && code < 400).then(|| self.pool.object(&Arc::new(received)));
        let answer = Answer {
            code,
            conflict,
            server: self.pool.server(asked, object.key()),
            shown,
            effect,
        };
        self.answers.insert((server, request), answer.clone());
        Some(answer)
    }
}

/// The kind and uid of the object in an answer.
fn identity(body: &[u8]) -> Value {
    let identity: Identity = serde_json::from_slice(body).unwrap_or_default();
    json!({"kind": identity.kind, "metadata": {"uid": identity.metadata.uid}})
}
