//! A cache of answers, and of what they were made from: a search sends the same request to the same
//! server in many orders, and the same body to many servers.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use http::{Method, Request, Response, header};
use serde_json::Value;

use super::body::{self, DraftObject};
use super::read::SharedList;
use super::request::FieldValidation;
use super::{AnswerBody, ApiServer, Format, RequestInfo, Resource, Resources, write_body};
use crate::environment::Environment;
use crate::fast_map::FastMap;
use crate::object::Metadata;
use crate::status::Refusal;
use crate::storage::Revision;

/// More answers, objects or bodies are not cached.
const MOST: usize = 4_000;

/// The cache of a server and its clones.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerCache {
    known: Arc<Mutex<KnownAnswer>>,
    /// Two servers of one place differ at most in their environments. `None` if answers are not cached.
    place: Option<u64>,
}

#[derive(Debug, Default)]
struct KnownAnswer {
    answers: FastMap<AnswerKey, Arc<CachedAnswer>>,
    /// Stored objects of custom resources as they are read, by their addresses and that of the resource.
    objects: FastMap<(usize, usize), ReadObject>,
    /// Objects as the events of their deletions show them, by their addresses and the versions of the deletions.
    deleted: FastMap<(usize, Revision), DeletedObject>,
    bodies: FastMap<BodyKey, DecodedBody>,
    /// The number of the last place.
    places: u64,
}

/// A request, and the server that it is sent to.
#[derive(Debug, PartialEq, Eq, Hash)]
struct AnswerKey {
    place: u64,
    needed: NeededEnvironment,
    request: Box<[u8]>,
}

/// The part of the environment that an answer depends on.
#[derive(Debug, PartialEq, Eq, Hash)]
enum NeededEnvironment {
    /// A read that has the same answer at all times.
    Nothing,
    /// A write that draws nothing, with the moment before anything was drawn.
    Moment(Environment),
    /// Any other request.
    All(Environment),
}

#[derive(Debug)]
struct CachedAnswer {
    response: Response<Vec<u8>>,
    /// The server afterwards, without a cache.
    server: ApiServer,
    place: u64,
}

/// A stored object, and the object that a client reads. It is kept with its resource, so that nothing else
/// gets their addresses.
#[derive(Debug)]
struct ReadObject {
    _stored: Arc<Value>,
    _resource: Arc<Resource>,
    read: Arc<Value>,
}

/// An object before its deletion, and as the event of the deletion shows it. It is kept, so that nothing else
/// gets its address.
#[derive(Debug)]
struct DeletedObject {
    _before: Arc<Value>,
    shown: Arc<Value>,
}

/// The body of a request, and all that its meaning depends on: the resource by its address.
#[derive(Debug, PartialEq, Eq, Hash)]
struct BodyKey {
    resource: usize,
    content_type: String,
    field_validation: FieldValidation,
    bytes: Box<[u8]>,
}

/// A decoded body. It is kept with its resource, so that nothing else gets the address.
#[derive(Debug)]
struct DecodedBody {
    _resource: Arc<Resource>,
    draft: Result<DraftObject, Refusal>,
}

/// The body of an answer of a server that caches: an extension of the response, so that nobody has to
/// parse it.
#[derive(Clone, Debug)]
pub struct ReadBody(Arc<ReadParts>);

#[derive(Debug)]
enum ReadParts {
    /// A document, and its items once somebody asked for them.
    Document(Arc<Value>, OnceLock<Arc<[Arc<Value>]>>),
    /// A list, and the document that it is once somebody asked for it.
    List(Arc<SharedList>, OnceLock<Arc<Value>>),
}

impl ReadBody {
    /// The body.
    pub fn object(&self) -> &Arc<Value> {
        match &*self.0 {
            ReadParts::Document(object, _) => object,
            ReadParts::List(list, document) => document.get_or_init(|| Arc::new(list.document())),
        }
    }

    /// The body; of a list, perhaps without its items.
    pub fn head(&self) -> &Arc<Value> {
        match &*self.0 {
            ReadParts::Document(object, _) => object,
            ReadParts::List(list, _) => &list.head,
        }
    }

    /// The items of a list, with kind and version; where the list does not share them, the first caller makes them
    /// from the body.
    pub fn items(&self, make: impl FnOnce(&Value) -> Arc<[Arc<Value>]>) -> &Arc<[Arc<Value>]> {
        match &*self.0 {
            ReadParts::Document(object, items) => items.get_or_init(|| make(object)),
            ReadParts::List(list, _) => &list.items,
        }
    }
}

/// The versions of a server besides its environment: each change that a request makes gives others.
#[derive(Debug)]
struct ServerVersions {
    revisions: [Revision; 3],
    caches: u64,
    resources: Arc<Resources>,
}

impl PartialEq for ServerVersions {
    fn eq(&self, other: &Self) -> bool {
        self.revisions == other.revisions
            && self.caches == other.caches
            && Arc::ptr_eq(&self.resources, &other.resources)
    }
}

impl ServerVersions {
    fn now(server: &ApiServer) -> Self {
        let store = &server.store;
        Self {
            revisions: [store.revision(), store.compacted(), store.forgotten()],
            caches: server.caches.changes(),
            resources: Arc::clone(&server.resources),
        }
    }
}

impl AnswerCache {
    fn lock(&self) -> MutexGuard<'_, KnownAnswer> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the server a place of its own, because it was changed.
    pub(super) fn moves_on(&mut self) {
        if self.place.is_some() {
            let mut known = self.lock();
            known.places += 1;
            let place = known.places;
            drop(known);
            self.place = Some(place);
        }
    }

    /// Answers a request to the server that has this cache.
    pub(super) fn answer(
        mut self,
        server: &mut ApiServer,
        request: &Request<Vec<u8>>,
    ) -> Response<Vec<u8>> {
        let Some(place) = self.place else {
            return with_read_body(server.answer_anew(request), &server.resources);
        };
        let before = server.environment.clone();
        let is_timeless = is_timeless(request);
        let mut key = AnswerKey {
            place,
            needed: match is_timeless {
                true => NeededEnvironment::Nothing,
                false => NeededEnvironment::Moment(before.undrawn()),
            },
            request: text_of(request),
        };
        let mut cached = self.lock().answers.get(&key).map(Arc::clone);
        if cached.is_none() && !is_timeless {
            key.needed = NeededEnvironment::All(before.clone());
            cached = self.lock().answers.get(&key).map(Arc::clone);
        }
        if let Some(cached) = cached {
            self.place = Some(cached.place);
            *server = cached.server.clone();
            if !matches!(key.needed, NeededEnvironment::All(_)) {
                server.environment = before;
            }
            server.answer_cache = Some(self);
            return cached.response.clone();
        }
        let versions = ServerVersions::now(server);
        let answer = server.answer_anew(request);
        let response = with_read_body(answer, &server.resources);
        if ServerVersions::now(server) != versions {
            self.moves_on();
        }
        server.answer_cache = None;
        let is_as_before = server.environment == before;
        // Only a watch looks at what it could draw.
        if !is_timeless && is_as_before && *request.method() != Method::GET {
            key.needed = NeededEnvironment::Moment(before.undrawn());
        }
        // A list of a version that is still to come has waited.
        if !is_timeless || is_as_before {
            let cached = CachedAnswer {
                response: response.clone(),
                server: server.clone(),
                place: self.place.unwrap_or_default(),
            };
            let mut known = self.lock();
            if known.answers.len() >= MOST {
                known.answers.clear();
            }
            known.answers.insert(key, Arc::new(cached));
        }
        server.answer_cache = Some(self);
        response
    }

    /// A stored object as it is read.
    fn read_back(&self, resource: &Arc<Resource>, stored: &Arc<Value>) -> Arc<Value> {
        let addresses = (
            Arc::as_ptr(stored) as usize,
            Arc::as_ptr(resource) as *const () as usize,
        );
        let mut known = self.lock();
        if let Some(known) = known.objects.get(&addresses) {
            return Arc::clone(&known.read);
        }
        if known.objects.len() >= MOST {
            known.objects.clear();
        }
        let read = resource.read_back(stored);
        let object = ReadObject {
            _stored: Arc::clone(stored),
            _resource: Arc::clone(resource),
            read: Arc::clone(&read),
        };
        known.objects.insert(addresses, object);
        read
    }

    /// An object as the event of its deletion shows it.
    fn deleted(&self, before: Arc<Value>, version: Revision) -> Arc<Value> {
        let key = (Arc::as_ptr(&before) as usize, version);
        let mut known = self.lock();
        if let Some(known) = known.deleted.get(&key) {
            return Arc::clone(&known.shown);
        }
        if known.deleted.len() >= MOST {
            known.deleted.clear();
        }
        let object = DeletedObject {
            shown: deleted(Arc::clone(&before), version),
            _before: before,
        };
        let shown = Arc::clone(&object.shown);
        known.deleted.insert(key, object);
        shown
    }

    /// A decoded body.
    fn decode_object(&self, info: &RequestInfo, bytes: &[u8]) -> Result<DraftObject, Refusal> {
        let key = BodyKey {
            resource: Arc::as_ptr(&info.resource) as *const () as usize,
            content_type: info.content_type.clone(),
            field_validation: info.options.field_validation,
            bytes: bytes.into(),
        };
        let mut known = self.lock();
        if let Some(known) = known.bodies.get(&key) {
            return known.draft.clone();
        }
        if known.bodies.len() >= MOST {
            known.bodies.clear();
        }
        let draft = body::decode_object(info, bytes);
        let body = DecodedBody {
            _resource: Arc::clone(&info.resource),
            draft: draft.clone(),
        };
        known.bodies.insert(key, body);
        draft
    }
}

impl ApiServer {
    /// Caches answers from here on, for this server and its clones: a request to two equal ones is handled
    /// once. Each answer is the same as without, but no bytes of a document are written: the answer has it
    /// as a [`ReadBody`].
    pub fn cache_answers(&mut self) {
        self.answer_cache = Some(AnswerCache {
            place: Some(0),
            ..AnswerCache::default()
        });
    }

    /// The same for a caller who keeps the answers: only objects and bodies are cached here.
    pub fn cache_parts(&mut self) {
        self.answer_cache = Some(AnswerCache::default());
    }

    /// A number that two servers have in common which differ at most in their environments, among a server
    /// and its clones. `None` if it does not cache answers.
    pub fn place(&self) -> Option<u64> {
        self.answer_cache.as_ref()?.place
    }

    /// The object in the body of a create or update.
    pub(super) fn decode_object(
        &self,
        info: &RequestInfo,
        bytes: &[u8],
    ) -> Result<DraftObject, Refusal> {
        match &self.answer_cache {
            Some(cache) => cache.decode_object(info, bytes),
            None => body::decode_object(info, bytes),
        }
    }

    /// A stored object as it is read in a version of its kind, once for all who read it.
    pub fn read_back(&self, resource: &Arc<Resource>, stored: &Arc<Value>) -> Arc<Value> {
        match &self.answer_cache {
            Some(cache) if !resource.is_builtin() => cache.read_back(resource, stored),
            _ => resource.read_back(stored),
        }
    }

    /// An object as the event of its deletion shows it, once for all who watch.
    pub(super) fn shown_deleted(&self, before: Arc<Value>, version: Revision) -> Arc<Value> {
        match &self.answer_cache {
            Some(cache) => cache.deleted(before, version),
            None => deleted(before, version),
        }
    }

    /// Tells the cache that the server is changed by something else than a request.
    pub(super) fn moves_on(&mut self) {
        if let Some(cache) = &mut self.answer_cache {
            cache.moves_on();
        }
    }
}

/// An object with the version of its deletion.
fn deleted(mut object: Arc<Value>, version: Revision) -> Arc<Value> {
    Arc::make_mut(&mut object).set_meta("resourceVersion", version.to_string());
    object
}

/// An answer with its document as a [`ReadBody`] and without bytes. An answer that a client would read
/// otherwise than its document is written.
fn with_read_body(answer: Response<AnswerBody>, resources: &Resources) -> Response<Vec<u8>> {
    let parts = match answer.body() {
        AnswerBody::Document(document, Format::Json) if round_trips(document) => {
            Some(ReadParts::Document(Arc::clone(document), OnceLock::new()))
        }
        AnswerBody::List(list) if list.items.iter().all(|item| round_trips(item)) => {
            Some(ReadParts::List(Arc::clone(list), OnceLock::new()))
        }
        _ => None,
    };
    let mut response = match parts {
        Some(_) => answer.map(|_| Vec::new()),
        None => write_body(answer, resources),
    };
    let read = || {
        let object = serde_json::from_slice(response.body()).ok()?;
        Some(ReadParts::Document(Arc::new(object), OnceLock::new()))
    };
    if let Some(parts) = parts.or_else(read) {
        response.extensions_mut().insert(ReadBody(Arc::new(parts)));
    }
    response
}

/// Returns whether a value is the same after it was written and read. A number with a fraction can become
/// another one.
fn round_trips(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_f64(),
        Value::Array(items) => items.iter().all(round_trips),
        Value::Object(members) => members.values().all(round_trips),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// Returns whether the answer to a request does not depend on the time. That to a write does, and so do a
/// watch and a table, which has the ages of objects.
fn is_timeless(request: &Request<Vec<u8>>) -> bool {
    let accepts = request.headers().get_all(header::ACCEPT);
    let mut accepts = accepts.iter().map(|accept| accept.to_str());
    let query = request.uri().query().unwrap_or_default();
    *request.method() == Method::GET
        && !query.contains("watch")
        && accepts.all(|accept| accept.is_ok_and(|accept| !accept.contains("Table")))
}

/// The parts of a request that its answer depends on.
fn text_of(request: &Request<Vec<u8>>) -> Box<[u8]> {
    let mut text = Vec::with_capacity(request.body().len() + 200);
    text.extend_from_slice(request.method().as_str().as_bytes());
    text.push(b' ');
    text.extend_from_slice(request.uri().to_string().as_bytes());
    for (name, value) in request.headers() {
        text.push(b'\n');
        text.extend_from_slice(name.as_str().as_bytes());
        text.push(b':');
        text.extend_from_slice(value.as_bytes());
    }
    text.extend_from_slice(b"\n\n");
    text.extend_from_slice(request.body());
    text.into_boxed_slice()
}

#[cfg(test)]
mod tests;
