//! The API server: from an HTTP request to an HTTP response.

mod actions;
mod admission;
mod answer_cache;
mod audit;
mod body;
mod continue_token;
mod custom;
mod delete;
mod discovery;
mod facts;
mod fresh;
mod install;
pub(crate) mod kinds;
mod last_written;
mod list;
mod list_options;
mod patching;
#[cfg(feature = "protobuf")]
mod protobuf;
mod read;
mod release;
mod request;
mod resource;
mod resources;
mod scale;
mod scope;
mod selector;
mod started;
mod table;
mod url;
mod user;
mod view;
mod warnings;
mod watch;
mod watch_caches;
mod wire;
mod write;

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use serde_json::Value;

pub use answer_cache::ReadBody;
pub use audit::{AuditEntry, AuditId};
pub use body::MAX_BODY_SIZE;
pub use custom::{Custom, DefinedVersions, ScalePaths};
pub use facts::{Fact, Facts};
pub use fresh::Authorization;
pub use install::InstallError;
pub use kinds::Rules;
pub use list_options::is_true;
pub use release::Release;
pub use request::ResourcePath;
pub use request::{Options, RequestInfo, Verb};
pub use resource::{Definition, Endpoint, Generation, Resource};
pub use resources::Resources;
pub use selector::Selector;
pub use table::{Include, JsonPath, MetaVersion, PrinterColumn};
pub use view::{Format, ResponseForm, View};
pub use watch::{EventType, INITIAL_EVENTS_END, Watch, WatchEvent};

use self::answer_cache::AnswerCache;
use self::last_written::LastWritten;
use self::list_options::ListOptions;
use self::read::SharedList;
use self::watch_caches::WatchCaches;
use crate::environment::Environment;
use crate::object::Metadata;
use crate::status::{Refusal, Status};
use crate::storage::{Revision, RevisionError, Store, WatchCache};

/// The namespace that always exists.
pub const DEFAULT_NAMESPACE: &str = "default";

/// One API server over one store. Cloning is cheap: clones share their common parts.
#[derive(Clone, Debug)]
pub struct ApiServer {
    store: Store,
    resources: Arc<Resources>,
    environment: Environment,
    caches: WatchCaches,
    release: Release,
    authorization: Authorization,
    answer_cache: Option<AnswerCache>,
    last_written: LastWritten,
}

impl Default for ApiServer {
    fn default() -> Self {
        Self::new(Environment::default(), 1001)
    }
}

/// The answer of a verb: the object or list and the status code.
#[derive(Debug)]
enum ObjectAnswer {
    /// An object or a Status, with the code of the answer.
    Object(StatusCode, Arc<Value>),
    /// A list, with 200.
    List(Arc<SharedList>),
}

/// The answer to a request: whole, or the head of one whose body is the events of a watch.
#[derive(Debug)]
pub enum ServerResponse {
    /// All of it.
    Whole(Response<Vec<u8>>),
    /// A watch, to be polled until it is no longer open.
    Stream(Response<()>, Box<Watch>),
}

/// The body of an answer, before somebody writes it.
#[derive(Debug)]
enum AnswerBody {
    /// A document, and the format that the client wants.
    Document(Arc<Value>, Format),
    /// A list for a server that caches, as JSON.
    List(Arc<SharedList>),
    /// Any other body.
    Bytes(Vec<u8>),
}

/// The facts and warnings of an answer.
#[derive(Debug, Default)]
struct Trace {
    facts: Vec<Fact>,
    warnings: Vec<String>,
}

impl ApiServer {
    /// A server with the built-in kinds and the `default` namespace, whose first new object gets
    /// `first_revision` as its resourceVersion (at least 2).
    pub fn new(environment: Environment, first_revision: Revision) -> Self {
        let store = Store::starting_after(first_revision.saturating_sub(2));
        let mut server = Self::started(store, environment, Authorization::default());
        let namespace = serde_json::json!({"metadata": {"name": DEFAULT_NAMESPACE}});
        let request = Request::post("/api/v1/namespaces")
            .header(header::USER_AGENT, "kube-apiserver/v1.36.2")
            .body(namespace.to_string().into_bytes());
        if let Ok(request) = request {
            server.handle(request);
        }
        server
    }

    /// Answers one request as kube-apiserver v1.36 would. The response's extensions hold [`Facts`], which
    /// explain the answer. A watch is answered with the events that there are at once; to go on watching,
    /// [open](Self::watch) it.
    pub fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        match self.answer_cache.clone() {
            Some(cache) => cache.answer(self, &request),
            None => {
                let answer = self.answer_anew(&request);
                self.last_written.write_body(answer, &self.resources)
            }
        }
    }

    fn answer_anew(&mut self, request: &Request<Vec<u8>>) -> Response<AnswerBody> {
        let mut trace = Trace::default();
        if let Some(answer) = discovery::answer(request, self) {
            let answer = answer.map(|answer| answer.map(AnswerBody::Bytes));
            return answer.unwrap_or_else(|refusal| refuse(&refusal, request.headers()));
        }
        let answer = match RequestInfo::parse(request, &self.resources) {
            Ok(info) => self.answer_parsed(&info, request.body(), &mut trace),
            Err(refusal) => match actions::answer(self, request, &mut trace) {
                Some(answer) => answer.map(|answer| answer.map(AnswerBody::Bytes)),
                None => Err(refusal),
            },
        };
        let mut response = answer.unwrap_or_else(|refusal| refuse(&refusal, request.headers()));
        for warning in warnings::headers(&trace.warnings) {
            response.headers_mut().append(header::WARNING, warning);
        }
        response.extensions_mut().insert(Facts(trace.facts));
        response
    }

    fn answer_parsed(
        &mut self,
        info: &RequestInfo,
        body: &[u8],
        trace: &mut Trace,
    ) -> Result<Response<AnswerBody>, Refusal> {
        if info.verb == Verb::Watch {
            let mut watch = Watch::open(self, info)?;
            let events = watch.poll(self);
            let response = stream_response(&watch, &events, &self.resources);
            return Ok(response.map(AnswerBody::Bytes));
        }
        let is_plain = info.view == View::default() && !info.resource.hides_a_field();
        let (code, mut object) = match self.dispatch(info, body, trace)? {
            ObjectAnswer::Object(code, object) => (code, object),
            ObjectAnswer::List(list) if self.answer_cache.is_some() && is_plain => {
                return Ok(Response::new(AnswerBody::List(list)));
            }
            ObjectAnswer::List(list) => (StatusCode::OK, Arc::new(list.document())),
        };
        info.resource.show(&mut object);
        let now = self.environment.now();
        let shown = info.view.apply(info, &object, now)?;
        let body = shown.map_or(object, Arc::new);
        let mut response = Response::new(AnswerBody::Document(body, info.view.format));
        *response.status_mut() = code;
        Ok(response)
    }

    /// Answers one request, a watch by a stream, as a host that serves requests needs it.
    pub fn answer(&mut self, request: Request<Vec<u8>>) -> ServerResponse {
        let parsed = RequestInfo::parse(&request, &self.resources);
        if !parsed.is_ok_and(|info| info.verb == Verb::Watch) {
            return ServerResponse::Whole(self.handle(request));
        }
        match self.watch(&request) {
            Ok(watch) => {
                let mut head = Response::new(());
                let media_type = HeaderValue::from_static(watch.media_type());
                head.headers_mut().insert(header::CONTENT_TYPE, media_type);
                ServerResponse::Stream(head, Box::new(watch))
            }
            Err(refusal) => ServerResponse::Whole(refusal),
        }
    }

    /// Opens a watch, which the caller polls.
    ///
    /// # Errors
    /// The response, if the request is refused or is not a watch.
    pub fn watch(&self, request: &Request<Vec<u8>>) -> Result<Watch, Response<Vec<u8>>> {
        RequestInfo::parse(request, &self.resources)
            .and_then(|info| match info.verb {
                Verb::Watch => Watch::open(self, &info),
                _ => Err(Status::method_not_allowed()),
            })
            .map_err(|refusal| write_body(refuse(&refusal, request.headers()), &self.resources))
    }

    /// Passes over revisions, as if others had written other objects: the next write gets the one after `revision`.
    /// Nothing happens if that has been reached.
    pub fn pass_over(&mut self, revision: Revision) {
        self.moves_on();
        self.store.pass_over(revision);
    }

    /// Compacts etcd at a revision, as `etcdctl compact` does. Watch caches are not notified: their
    /// contents are served as before.
    ///
    /// # Errors
    /// If that revision is in the future, or already compacted.
    pub fn compact(&mut self, revision: Revision) -> Result<(), RevisionError> {
        self.moves_on();
        self.store.compact(revision)
    }

    /// Drops the changes that etcd does not have any more, because it was compacted, and that no watch
    /// cache holds: with [`compact`](Self::compact), memory does not grow with the history. A watch whose
    /// client did not read them in time ends, as upstream closes one that is unresponsive
    /// (`cacher/cache_watcher.go cacheWatcher.add`, v1.36).
    pub fn forget(&mut self) {
        self.moves_on();
        let caches = &self.caches;
        self.store.forget(|change| caches.holds(change));
        self.caches.forget(self.store.forgotten());
    }

    /// Restarts the server. The store stays. All watches end, and each watch cache starts with a
    /// new list of the stored objects.
    pub fn restart(&mut self) {
        self.restart_with_watch_cache(self.caches.enabled());
    }

    /// Restarts the server with or without watch caches (`--watch-cache`).
    pub fn restart_with_watch_cache(&mut self, enabled: bool) {
        self.moves_on();
        self.caches.restart(enabled, &self.store, &self.resources);
    }

    /// The watch cache of a resource; `None` if it has none.
    pub fn watch_cache(&self, resource: &Resource) -> Option<&WatchCache> {
        self.caches.cache(resource)
    }

    fn dispatch(
        &mut self,
        info: &RequestInfo,
        body: &[u8],
        trace: &mut Trace,
    ) -> Result<ObjectAnswer, Refusal> {
        if matches!(info.verb, Verb::Get | Verb::Patch | Verb::Delete) {
            check_segment(&info.name)?;
        }
        let answer = match (info.verb, info.name.is_empty()) {
            (verb, _) if info.subresource == kinds::FINALIZE && verb != Verb::Update => {
                Err(Status::method_not_allowed())
            }
            (Verb::Get, false) => self.get(info, trace),
            (Verb::List, _) => self.list(info, &ListOptions::read(info)?, trace),
            (Verb::Create, true) => self.create(info, body, trace),
            (Verb::Update, false) => self.update(info, body, trace),
            (Verb::Patch, false) => self.patch(info, body, trace),
            (Verb::Delete, false) => self.delete(info, body, trace),
            (Verb::Delete, true) => self.delete_collection(info, body, trace),
            _ => Err(Status::method_not_allowed()),
        };
        if !matches!(info.verb, Verb::Get | Verb::List)
            && (custom::defines_kinds(&info.resource) || self.definition_terminates(&info.resource))
        {
            self.run_definition_controllers();
        }
        if !matches!(info.verb, Verb::Get | Verb::List)
            && kinds::api_service::concerns(&info.resource)
        {
            self.run_api_service_controller();
        }
        if let Some(deprecation) = info.stored_resource().deprecation() {
            trace.warnings.insert(0, deprecation.to_owned());
        }
        let now = self.environment.elapsed();
        self.caches.follow(&self.store, now);
        answer
    }

    /// A document as this server writes it: the members in the order of Go's structs, or sorted.
    pub fn written(&self, document: &Value) -> String {
        wire::written(document, &self.resources)
    }

    /// A document as this server writes it in protobuf; `None` if its kind has no message.
    #[cfg(feature = "protobuf")]
    pub fn written_as_protobuf(&self, document: &Value) -> Option<Vec<u8>> {
        protobuf::written(document)
    }

    /// The release whose behaviour this server has.
    pub fn release(&self) -> Release {
        self.release
    }

    /// Continues as a server of another release, as after an upgrade.
    pub fn set_release(&mut self, release: Release) {
        self.moves_on();
        self.release = release;
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The kinds that are served.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// The kinds that are served: others have another address as long as these are held.
    #[cfg(feature = "tower")]
    pub(crate) fn shared_resources(&self) -> Arc<Resources> {
        Arc::clone(&self.resources)
    }

    /// The source of time and uids.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The source of time and uids, for the caller to move on.
    pub fn environment_mut(&mut self) -> &mut Environment {
        &mut self.environment
    }
}

fn refuse(refusal: &Status, headers: &HeaderMap) -> Response<AnswerBody> {
    let code = StatusCode::from_u16(refusal.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if refusal.is_page_not_found() {
        let text = AnswerBody::Bytes(refusal.message.clone().into_bytes());
        let mut response = Response::new(text);
        *response.status_mut() = code;
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, text);
        return response;
    }
    let format = View::plain_format(headers);
    let body = AnswerBody::Document(Arc::new(refusal.to_json()), format);
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let retry_after = refusal
        .details
        .as_ref()
        .map_or(0, |d| d.retry_after_seconds);
    if retry_after > 0 {
        let value = HeaderValue::from(retry_after);
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

fn stream_response(
    watch: &Watch,
    events: &[WatchEvent],
    resources: &Resources,
) -> Response<Vec<u8>> {
    let mut bytes = Vec::new();
    for event in events {
        bytes.extend(watch.written(event, resources));
    }
    response(StatusCode::OK, bytes, watch.media_type())
}

/// Writes the body of an answer.
fn write_body(answer: Response<AnswerBody>, resources: &Resources) -> Response<Vec<u8>> {
    let (head, body) = answer.into_parts();
    let (document, format) = match body {
        AnswerBody::Document(document, format) => (document, format),
        AnswerBody::List(list) => (Arc::new(list.document()), Format::Json),
        AnswerBody::Bytes(bytes) => return Response::from_parts(head, bytes),
    };
    let written = respond(format, head.status, &document, resources);
    with_head(head, written)
}

/// Adds the headers and the extensions of an answer to its written body.
fn with_head(head: http::response::Parts, mut written: Response<Vec<u8>>) -> Response<Vec<u8>> {
    written.headers_mut().extend(head.headers);
    *written.extensions_mut() = head.extensions;
    written
}

/// Writes a document in the format that the client wants. A document without a message in protobuf is
/// JSON.
fn respond(
    format: Format,
    code: StatusCode,
    body: &Value,
    resources: &Resources,
) -> Response<Vec<u8>> {
    #[cfg(feature = "protobuf")]
    if format == Format::Protobuf
        && let Some(bytes) = protobuf::written(body)
    {
        return response(code, bytes, protobuf::MEDIA_TYPE);
    }
    if format == Format::Yaml {
        // The keys are sorted.
        let text = crate::yaml::written(body);
        return response(code, text.into_bytes(), "application/yaml");
    }
    json_response(code, body, resources)
}

fn json_response(code: StatusCode, body: &Value, resources: &Resources) -> Response<Vec<u8>> {
    let mut bytes = wire::written(body, resources).into_bytes();
    bytes.push(b'\n');
    response(code, bytes, "application/json")
}

fn response(code: StatusCode, bytes: Vec<u8>, media_type: &'static str) -> Response<Vec<u8>> {
    let mut response = Response::new(bytes);
    *response.status_mut() = code;
    let media_type = HeaderValue::from_static(media_type);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    response
}

/// A name that a path of keys cannot have is refused before anything is looked for (`NamespaceKeyFunc` of
/// `registry/generic/registry/store.go`, `IsValidPathSegmentName`).
fn check_segment(name: &str) -> Result<(), Refusal> {
    let problem = match name {
        "." | ".." => format!("may not be '{name}'"),
        _ if name.as_bytes().contains(&b'%') => "may not contain '%'".to_owned(),
        _ => return Ok(()),
    };
    Err(Status::bad_request(format!(
        "Name parameter invalid: {}: {problem}",
        crate::go::quote(name)
    )))
}

/// The key under which etcd keeps an object.
fn storage_key(resource: &Resource, namespace: &str, name: &str) -> String {
    let mut key = resource.storage_prefix.clone();
    for part in [namespace, name] {
        if !part.is_empty() {
            key.push('/');
            key.push_str(part);
        }
    }
    key
}

/// The key of an object as it is stored.
pub fn key_of(resource: &Resource, object: &Value) -> String {
    storage_key(resource, object.namespace(), object.name())
}
