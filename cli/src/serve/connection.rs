//! Connections: which requests reach the server.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, Method, Request, Response, header};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use optimist_apiserver::server::{ApiServer, AuditEntry, AuditId, MAX_BODY_SIZE};
use optimist_apiserver::shared::{ResponseBody, SharedServer};
use optimist_apiserver::status::Status;
use optimist_apiserver::storage::Revision;
use optimist_cluster::Perform;
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service;

use super::audit::{self, Audit};
use super::certificate::Certificate;
use super::listening::{self, PATIENCE, serve_http};
use super::log::ChangeLog;

/// The connections of a server.
#[derive(Clone)]
pub struct Connections {
    server: SharedServer,
    log: Option<Arc<Mutex<ChangeLog>>>,
    certificate: Option<Arc<Certificate>>,
    /// The names of the server, besides localhost.
    hosts: Arc<[String]>,
    /// The origins of pages that are answered, besides the server's own.
    origins: Arc<[String]>,
    /// The receiver of the audit events of requests.
    audit: Option<Audit>,
}

/// The answer to a request: of the server, or a refusal before it.
type ServedResponse = Response<Either<ResponseBody, Full<Bytes>>>;

impl Connections {
    /// Connections to a server: its writes are kept if there is a log, and there is TLS with a certificate.
    pub fn new(
        server: SharedServer,
        log: Option<ChangeLog>,
        certificate: Option<Certificate>,
        hosts: Vec<String>,
    ) -> Self {
        Self {
            server,
            log: log.map(|log| Arc::new(Mutex::new(log))),
            certificate: certificate.map(Arc::new),
            hosts: hosts.into(),
            origins: Arc::default(),
            audit: None,
        }
    }

    /// Answers pages of these origins too.
    #[must_use]
    pub fn answering(mut self, origins: &[String]) -> Self {
        self.origins = origins.into();
        self
    }

    /// Tells of each request.
    pub fn audited(self, audit: Option<Audit>) -> Self {
        Self { audit, ..self }
    }

    /// Accepts connections, and never ends.
    pub async fn accept(&self, listener: &TcpListener, open: &GracefulShutdown) {
        listening::accept(listener, open, |stream, watcher| {
            self.clone().serve(stream, watcher)
        })
        .await;
    }

    async fn serve(self, stream: TcpStream, open: Watcher) {
        let certificate = self.certificate.clone();
        let answer = move |request| {
            let connections = self.clone();
            async move { connections.answer(request).await }
        };
        let Some(certificate) = certificate else {
            return serve_http(stream, open, answer).await;
        };
        let handshake = certificate.acceptor().accept(stream);
        if let Ok(Ok(stream)) = tokio::time::timeout(PATIENCE, handshake).await {
            serve_http(stream, open, answer).await;
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> ServedResponse {
        if let Err(why) = self.check_sender(&request) {
            return refused(&forbidden(why));
        }
        let (head, body) = request.into_parts();
        let body = match read(body).await {
            Ok(body) => body,
            Err(error) => return refused(&Status::bad_request(error.to_string())),
        };
        match &self.audit {
            None => self.perform(Request::from_parts(head, body)).await,
            Some(audit) => {
                self.perform_audited(audit, Request::from_parts(head, body.into()))
                    .await
            }
        }
    }

    async fn perform(&self, request: Request<Bytes>) -> ServedResponse {
        if self.log.is_some() && is_write(request.method()) {
            return self.write(request.map(Vec::from)).map(Either::Right);
        }
        let mut server = self.server.clone();
        match server.call(request.map(Full::new)).await {
            Ok(response) => response.map(Either::Left),
            Err(error) => refused(&Status::internal(error.to_string())),
        }
    }

    /// Answers a request, and tells of it.
    async fn perform_audited(&self, audit: &Audit, request: Request<Vec<u8>>) -> ServedResponse {
        let entry = self.look(|server| AuditEntry::new(server, &request, audit.next_id()));
        if entry.is_watch() {
            let received = audit::now();
            let answer = self.perform(request.map(Bytes::from)).await;
            if answer.status().is_success() {
                audit.add(&entry.streams(received, audit::now()));
                return answer;
            }
            let (head, body) = answer.into_parts();
            let why = body
                .collect()
                .await
                .map(http_body_util::Collected::to_bytes);
            let why = why.unwrap_or_default();
            audit.add(&entry.answered(head.status, &why, received, audit::now()));
            return Response::from_parts(head, Either::Right(Full::new(why)));
        }
        let answer = self.perform_told(audit, entry, request).await;
        answer.map(|bytes| Either::Right(Full::new(bytes)))
    }

    /// Answers a request that is no watch, and tells of it.
    async fn perform_told(
        &self,
        audit: &Audit,
        entry: AuditEntry,
        request: Request<Vec<u8>>,
    ) -> Response<Bytes> {
        let received = audit::now();
        let response = match is_write(request.method()) {
            true => self.write(request),
            false => self.look(|server| whole(server.handle(request))),
        };
        // Nothing has waited since the server answered: the events have the order of the answers.
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.unwrap_or_default().to_bytes();
        audit.add(&entry.answered(head.status, &bytes, received, audit::now()));
        Response::from_parts(head, bytes)
    }

    /// Answers a request that came to the port of the page, as one that came to the server, and tells of it. A watch
    /// is refused.
    pub async fn answer_page(
        &self,
        audit: &Audit,
        head: Parts,
        body: Incoming,
    ) -> Response<Full<Bytes>> {
        let body = match read(body).await {
            Ok(body) => body,
            Err(error) => return refusal(&Status::bad_request(error.to_string())),
        };
        let request = Request::from_parts(head, body.into());
        let entry = self.look(|server| AuditEntry::new(server, &request, audit.next_id()));
        if entry.is_watch() {
            let why = "the port of the page answers no watch";
            return refusal(&Status::bad_request(why.to_owned()));
        }
        let answer = self.perform_told(audit, entry, request).await;
        answer.map(Full::new)
    }

    /// Looks at the server, or sends it requests that write nothing.
    pub fn look<T>(&self, act: impl FnOnce(&mut ApiServer) -> T) -> T {
        self.server.request(act)
    }

    /// Returns the revision of the server once all watches are on their way to it: those that wait for other keys see
    /// it, too, and miss nothing when older revisions are dropped.
    pub fn revision_for_all(&self) -> Revision {
        self.server.with(|server| server.store().revision())
    }

    /// Sends requests to the server. If there is a log, it has the writes before anybody sees them.
    ///
    /// # Errors
    /// If the log cannot be written. Then nothing is changed.
    pub fn keep_writes<T>(&self, act: impl FnOnce(&mut ApiServer) -> T) -> io::Result<T> {
        self.server.request(|server| match &self.log {
            None => Ok(act(server)),
            Some(log) => {
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.keep_writes(server, act)
            }
        })
    }

    /// Sends requests as [`keep_writes`](Self::keep_writes), and tells of each that goes through the function that
    /// `act` gets.
    ///
    /// # Errors
    /// If the log cannot be written. Then nothing is changed, and nothing is told.
    pub fn keep_told_writes<T>(
        &self,
        act: impl FnOnce(&mut ApiServer, &mut Perform<'_>) -> T,
    ) -> io::Result<T> {
        let first = self.audit.as_ref().map(Audit::next_id);
        let mut events = Vec::new();
        let done = self.keep_writes(|server| {
            act(server, &mut |server, request| {
                let Some(first) = first else {
                    return server.handle(request);
                };
                let id = AuditId {
                    number: first.number + events.len() as u64,
                    ..first
                };
                let entry = AuditEntry::new(server, &request, id);
                let received = audit::now();
                let answer = server.handle(request);
                let completed = audit::now();
                events.push(entry.answered(answer.status(), answer.body(), received, completed));
                answer
            })
        })?;
        // Nothing has waited meanwhile, so no other event came between.
        if let Some(audit) = &self.audit {
            events.iter().for_each(|event| audit.add(event));
        }
        Ok(done)
    }

    /// Answers a write once the log has it. The server has no other request meanwhile, so nobody sees a
    /// write that could still be lost.
    fn write(&self, request: Request<Vec<u8>>) -> Response<Full<Bytes>> {
        let kept = self.keep_writes(|server| server.handle(request));
        match kept {
            Ok(response) => whole(response),
            Err(error) => {
                let why = format!("the log cannot be written: {error}");
                refusal(&Status::internal(why))
            }
        }
    }

    /// Drops the history before a revision, in memory and in the log.
    ///
    /// # Errors
    /// If the log cannot be written anew. It stays as it is then.
    pub fn compact(&self, revision: Revision) -> io::Result<()> {
        self.server.with(|server| {
            // Nothing was written for long, and there is nothing to let go of.
            if server.compact(revision).is_ok() {
                server.forget();
            }
            let Some(log) = &self.log else {
                return Ok(());
            };
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            log.shorten(server.store())
        })
    }

    /// Refuses what a web page sends: by a name that it made mean this machine, or from its own origin.
    fn check_sender(&self, request: &Request<Incoming>) -> Result<(), String> {
        let host = request.uri().authority().map(http::uri::Authority::as_str);
        let host = host
            .or_else(|| text(request, &header::HOST))
            .unwrap_or_default();
        if !is_called(&self.hosts, host) {
            return Err(format!("the host {host:?} is not a name of this server"));
        }
        match text(request, &header::ORIGIN) {
            None if !request.headers().contains_key(header::ORIGIN) => Ok(()),
            Some(origin) if origin.split_once("://").is_some_and(|it| it.1 == host) => Ok(()),
            Some(origin) if self.origins.iter().any(|it| it == origin) => Ok(()),
            origin => {
                let origin = origin.unwrap_or_default();
                Err(format!(
                    "requests of the origin {origin:?} are not answered"
                ))
            }
        }
    }
}

/// Returns whether a host is this server: an address, which nobody can make mean another machine, or a name that it
/// has besides localhost.
pub fn is_called(hosts: &[String], host: &str) -> bool {
    let Ok(authority) = host.parse::<http::uri::Authority>() else {
        return false;
    };
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || hosts.iter().any(|it| it.eq_ignore_ascii_case(name))
}

/// Returns whether a request can change something.
fn is_write(method: &Method) -> bool {
    ![Method::GET, Method::HEAD, Method::OPTIONS].contains(method)
}

/// The text of a header.
pub(super) fn text<'a>(request: &'a Request<Incoming>, name: &HeaderName) -> Option<&'a str> {
    request.headers().get(name)?.to_str().ok()
}

/// Reads a body. Of one that is too large, so much that the server refuses it.
async fn read(mut body: Incoming) -> Result<Bytes, hyper::Error> {
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            read.extend_from_slice(&data);
        }
        if read.len() > MAX_BODY_SIZE {
            break;
        }
    }
    Ok(read.into())
}

pub fn forbidden(message: String) -> Status {
    Status {
        code: 403,
        reason: Some("Forbidden"),
        message,
        details: None,
        continue_token: None,
    }
}

fn refused(status: &Status) -> ServedResponse {
    refusal(status).map(Either::Right)
}

pub fn refusal(status: &Status) -> Response<Full<Bytes>> {
    let body = format!("{}\n", status.to_json());
    let mut response = whole(Response::new(body.into_bytes()));
    *response.status_mut() = http::StatusCode::from_u16(status.code).unwrap_or_default();
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn whole(response: Response<Vec<u8>>) -> Response<Full<Bytes>> {
    response.map(|body| Full::new(Bytes::from(body)))
}
