//! The page beside the server: its files, and the requests as they come.
//!
//! It has a port of its own, with plain HTTP, because browsers do not trust the certificate of the server. The
//! port serves no API: who opens the page can look, and change nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;

use super::audit::{Audit, EventStream};
use super::connection::is_called;
use super::listening;
use crate::BadInput;

/// The address of the stream of requests. A page finds it in an element of its head.
const EVENTS: &str = "optimist/events";

/// The page, and what it is told.
#[derive(Clone)]
pub struct Page {
    files: Arc<BTreeMap<String, Bytes>>,
    audit: Audit,
    hosts: Arc<[String]>,
}

type Answer = Response<Either<EventStream, Full<Bytes>>>;

impl Page {
    /// Reads the files of a built page.
    pub fn new(directory: &Path, audit: Audit, hosts: Vec<String>) -> Result<Self, BadInput> {
        let bad = |why: String| BadInput(format!("{}: {why}", directory.display()));
        let mut files = BTreeMap::new();
        read(directory, "", &mut files).map_err(|error| bad(error.to_string()))?;
        let index = files
            .get("index.html")
            .and_then(|it| std::str::from_utf8(it).ok());
        let index = index.ok_or_else(|| bad("there is no index.html".to_owned()))?;
        let told = format!("<meta name=\"optimist-live\" content=\"{EVENTS}\"></head>");
        let index = Bytes::from(index.replacen("</head>", &told, 1));
        files.insert("index.html".to_owned(), index);
        Ok(Self {
            files: Arc::new(files),
            audit,
            hosts: hosts.into(),
        })
    }

    /// Accepts connections, and never ends.
    pub async fn accept(&self, listener: &TcpListener, open: &GracefulShutdown) {
        listening::accept(listener, open, |stream, watcher| {
            let page = self.clone();
            let answer = move |request| std::future::ready(page.answer(&request));
            listening::serve_http(stream, watcher, answer)
        })
        .await;
    }

    fn answer(&self, request: &Request<Incoming>) -> Answer {
        let header = |name| request.headers().get(name)?.to_str().ok();
        let host = header(header::HOST).unwrap_or_default();
        if !is_called(&self.hosts, host) {
            return plain(
                StatusCode::FORBIDDEN,
                "this host is not a name of this server",
            );
        }
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "the page only reads");
        }
        let name = match request.uri().path().trim_start_matches('/') {
            "" => "index.html",
            name => name,
        };
        if name == EVENTS {
            let last = header(header::HeaderName::from_static("last-event-id"));
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

fn plain(code: StatusCode, text: &'static str) -> Answer {
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

fn set(answer: &mut Answer, name: header::HeaderName, value: &'static str) {
    let value = header::HeaderValue::from_static(value);
    answer.headers_mut().insert(name, value);
}
