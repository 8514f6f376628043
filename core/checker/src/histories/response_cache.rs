//! A cache of requests and answers. The same request to the same server is sent once, although it
//! occurs in many orders and write methods.
//!
//! Here the clock stands still and one object counts, so an answer is found by two numbers and comes with
//! its effect on the object. A search of properties needs neither and has the time of each request: its
//! answers are [cached by the server](optimist_apiserver::server::ApiServer::cache_answers), and what a
//! process makes of them by the search.

use std::sync::Arc;

use http::{Method, Request};
use optimist_apiserver::server::Facts;
use optimist_client::Reply;
use optimist_ledger::{Answered, Effect, ObjectRef};

use super::pool::{Pool, ServerId};
use optimist_apiserver::fast_map::FastMap;

/// An index into the requests of a memory.
pub(super) type RequestId = u32;

/// An answer to a request.
#[derive(Clone, Debug)]
pub(super) struct KnownResponse {
    /// The answer as the client reads it.
    pub(super) reply: Reply,
    /// The server afterwards.
    pub(super) server: ServerId,
    /// Its effect on the object, with the content that the answer showed.
    pub(super) effect: Arc<Effect>,
}

/// More answers are not kept.
const MOST_ANSWERS: usize = 20_000;
/// A memory with more objects and servers is not used for another search.
const MOST_KNOWN: usize = 20_000;

/// All objects, servers and answers of the searches. Searches of scenarios with the same starting
/// object can use it one after the other.
#[derive(Clone, Debug, Default)]
pub struct ResponseCache {
    pub(super) pool: Pool,
    requests: Vec<Request<Vec<u8>>>,
    by_text: FastMap<Box<[u8]>, RequestId>,
    answers: FastMap<(ServerId, RequestId), KnownResponse>,
}

impl ResponseCache {
    /// The memory for the next search: an empty one, if this one is full.
    pub(super) fn with_room(self) -> Self {
        match self.pool.len() + self.requests.len() > MOST_KNOWN {
            true => Self::default(),
            false => self,
        }
    }

    /// Takes everything that is not shown of a search that is over.
    pub(super) fn take_unshown(&mut self) -> Self {
        let shown = Self {
            pool: self.pool.shown_part(),
            ..Self::default()
        };
        std::mem::replace(self, shown)
    }

    pub(super) fn request(&mut self, request: Request<Vec<u8>>) -> RequestId {
        let mut text = Vec::with_capacity(request.body().len() + 200);
        text.extend_from_slice(request.method().as_str().as_bytes());
        text.extend_from_slice(request.uri().to_string().as_bytes());
        // Who reads is no part of the answer.
        let reads = *request.method() == Method::GET;
        for value in request.headers().values().filter(|_| !reads) {
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
    ) -> Option<KnownResponse> {
        let asked_before = (server, request);
        if let Some(answer) = self.answers.get(&asked_before) {
            return Some(answer.clone());
        }
        let sent = self.requests.get(request as usize)?;
        let mut asked = self.pool.get(server)?.clone();
        let since = asked.store().revision();
        let response = asked.handle(sent.clone());
        let is_read = *sent.method() == Method::GET;
        let mut reply = Reply::from(&response);
        let facts = response.extensions().get::<Facts>();
        let answered = Answered {
            method: sent.method(),
            target: &sent.uri().to_string(),
            // Nobody creates an object.
            sent_name: "",
            code: reply.code,
            received: &reply.body,
            facts: facts.map_or(&[][..], |facts| &facts.0),
        };
        let effect = Arc::new(answered.effect(object, true, &asked, since));
        if is_read && reply.is_accepted() {
            // The same object is read again and again.
            let id = self.pool.object(&reply.body);
            if let Some(known) = self.pool.objects.get(id as usize) {
                reply.body = Arc::clone(&known.object);
            }
        }
        let answer = KnownResponse {
            reply,
            server: self.pool.server(asked, object.key()),
            effect,
        };
        if self.answers.len() >= MOST_ANSWERS {
            self.answers.clear();
        }
        self.answers.insert(asked_before, answer.clone());
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_full_memory_is_not_used_again() {
        let mut memory = ResponseCache::default();
        let mut know = |objects: std::ops::Range<usize>| {
            for number in objects {
                memory.pool.object(&Arc::new(json!({"data": number})));
            }
            memory.clone().with_room().pool.len()
        };
        assert_eq!(know(0..MOST_KNOWN), MOST_KNOWN);
        assert_eq!(know(MOST_KNOWN..MOST_KNOWN + 1), 0);
    }
}
