//! The page beside the server: its files, and the requests as they come.
//!
//! It has a port of its own, with plain HTTP, because browsers do not trust the certificate of the server. Unless it is
//! asked for, the port serves no API: who opens the page can look, and change nothing. If it is, the port passes on the
//! requests of the page itself, and of no other page.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, Method, Request, Response, StatusCode, header};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;

use super::audit::{Audit, EventStream};
use super::connection::{Connections, forbidden, is_called, refusal, text};
use super::listening;
use crate::BadInput;

/// The address of the stream of requests. A page finds it in an element of its head.
const EVENTS: &str = "optimist/events";

/// The first part of the paths of requests to the server. A page finds it in the same element.
const SERVER: &str = "optimist/server";

/// The header by which the page names the client. The request that is passed on has it as its User-Agent, which a
/// page cannot set. Another page cannot send it without asking, and it is not answered if it asks (CORS).
const CLIENT: &str = "optimist-client";

/// The page, and what it is told.
#[derive(Clone)]
pub struct PageService {
    files: Arc<BTreeMap<String, Bytes>>,
    audit: Audit,
    hosts: Arc<[String]>,
    /// The server, if the page may write to it.
    server: Option<Connections>,
}

type PageResponse = Response<Either<EventStream, Full<Bytes>>>;

impl PageService {
    /// Reads the files of a built page. `writes_to`: the address of the server that the page says, if it may write to it.
    pub fn new(
        directory: &Path,
        audit: Audit,
        hosts: Vec<String>,
        writes_to: Option<&str>,
    ) -> Result<Self, BadInput> {
        let bad = |why: String| BadInput(format!("{}: {why}", directory.display()));
        let mut files = BTreeMap::new();
        read(directory, "", &mut files).map_err(|error| bad(error.to_string()))?;
        let index = files
            .get("index.html")
            .and_then(|it| std::str::from_utf8(it).ok());
        let index = index.ok_or_else(|| bad("there is no index.html".to_owned()))?;
        let writes = writes_to.map_or_else(String::new, |url| {
            format!(" data-requests=\"{SERVER}\" data-server=\"{url}\"")
        });
        let told = format!("<meta name=\"optimist-live\" content=\"{EVENTS}\"{writes}></head>");
        let index = Bytes::from(index.replacen("</head>", &told, 1));
        files.insert("index.html".to_owned(), index);
        Ok(Self {
            files: Arc::new(files),
            audit,
            hosts: hosts.into(),
            server: None,
        })
    }

    /// Passes on the requests of the page to a server.
    pub fn writing(self, server: Connections) -> Self {
        Self {
            server: Some(server),
            ..self
        }
    }

    /// Accepts connections, and never ends.
    pub async fn accept(&self, listener: &TcpListener, open: &GracefulShutdown) {
        listening::accept(listener, open, |stream, watcher| {
            let page = self.clone();
            let answer = move |request| {
                let page = page.clone();
                async move { page.answer(request).await }
            };
            listening::serve_http(stream, watcher, answer)
        })
        .await;
    }

    async fn answer(&self, request: Request<Incoming>) -> PageResponse {
        let host = text(&request, &header::HOST).unwrap_or_default();
        if !is_called(&self.hosts, host) {
            return plain(
                StatusCode::FORBIDDEN,
                "this host is not a name of this server",
            );
        }
        match &self.server {
            Some(server) if is_to_server(&request) => self.pass_on(server, request).await,
            _ => self.read(&request),
        }
    }

    /// Answers a request of the page for the server.
    async fn pass_on(&self, server: &Connections, request: Request<Incoming>) -> PageResponse {
        let answer = match passed_on(&request) {
            Ok(head) => {
                let body = request.into_body();
                server.answer_page(&self.audit, head, body).await
            }
            Err(why) => refusal(&forbidden(why.to_owned())),
        };
        answer.map(Either::Right)
    }

    /// Answers with a file, or with the requests as they come.
    fn read(&self, request: &Request<Incoming>) -> PageResponse {
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "the page only reads");
        }
        let name = match request.uri().path().trim_start_matches('/') {
            "" => "index.html",
            name => name,
        };
        if name == EVENTS {
            let last = text(request, &HeaderName::from_static("last-event-id"));
            let events = self.audit.stream(last.unwrap_or_default());
            let mut answer = Response::new(Either::Left(events));
            set(&mut answer, header::CONTENT_TYPE, "text/event-stream");
            set(&mut answer, header::CACHE_CONTROL, "no-store");
            return answer;
        }
        let Some(file) = self.files.get(name) else {
            return plain(StatusCode::NOT_FOUND, "there is no such file");
        };
        let mut answer = Response::new(Either::Right(Full::new(file.clone())));
        set(&mut answer, header::CONTENT_TYPE, media_type(name));
        set(&mut answer, header::CACHE_CONTROL, "no-cache");
        answer
    }
}

/// Returns whether a request is for the API of the server.
fn is_to_server(request: &Request<Incoming>) -> bool {
    api_path(request).is_some()
}

/// The path and the query that the server is asked for: of its API, and of nothing else.
fn api_path(request: &Request<Incoming>) -> Option<&str> {
    let path = request.uri().path_and_query()?.as_str();
    let path = path.strip_prefix('/')?.strip_prefix(SERVER)?;
    (path.starts_with("/api/") || path.starts_with("/apis/")).then_some(path)
}

/// The head of the request that is passed on. A request that is not of the page itself is refused: its origin is
/// another one, a browser says that another page sent it (Fetch Metadata, `Sec-Fetch-Site`), or it names no client.
fn passed_on(request: &Request<Incoming>) -> Result<Parts, &'static str> {
    let host = text(request, &header::HOST).unwrap_or_default();
    if let Some(origin) = request.headers().get(header::ORIGIN) {
        let own = origin.to_str().ok();
        let own = own.and_then(|origin| origin.strip_prefix("http://"));
        if own != Some(host) {
            return Err("requests of other origins are not answered");
        }
    }
    let site = HeaderName::from_static("sec-fetch-site");
    if request
        .headers()
        .get(site)
        .is_some_and(|site| site != "same-origin")
    {
        return Err("requests of other pages are not answered");
    }
    let client = request.headers().get(CLIENT);
    let client = client.filter(|client| !client.is_empty());
    let client = client.ok_or("the request names no client in the header Optimist-Client")?;
    let mut head = Request::builder()
        .method(request.method())
        .uri(api_path(request).unwrap_or("/"))
        .header(header::USER_AGENT, client);
    for name in [header::CONTENT_TYPE, header::ACCEPT] {
        if let Some(value) = request.headers().get(&name) {
            head = head.header(name, value);
        }
    }
    let head = head.body(()).map_err(|_| "the request has no path")?;
    Ok(head.into_parts().0)
}

/// Reads all files below a directory, by their paths from there.
fn read(
    directory: &Path,
    prefix: &str,
    files: &mut BTreeMap<String, Bytes>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let name = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() {
            read(&entry.path(), &format!("{name}/"), files)?;
        } else if kind.is_file() {
            files.insert(name, std::fs::read(entry.path())?.into());
        }
    }
    Ok(())
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript",
        "css" => "text/css",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" | "webmanifest" => "application/json",
        _ => "text/plain; charset=utf-8",
    }
}

fn plain(code: StatusCode, text: &'static str) -> PageResponse {
    let mut answer = Response::new(Either::Right(Full::new(Bytes::from_static(
        text.as_bytes(),
    ))));
    *answer.status_mut() = code;
    set(
        &mut answer,
        header::CONTENT_TYPE,
        "text/plain; charset=utf-8",
    );
    answer
}

fn set(answer: &mut PageResponse, name: header::HeaderName, value: &'static str) {
    let value = header::HeaderValue::from_static(value);
    answer.headers_mut().insert(name, value);
}
