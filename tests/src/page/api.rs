//! An API server beside the site, as `kubectl proxy` shows one, right or wrong.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use http::{HeaderMap, Request};
use optimist_apiserver::server::{ApiServer, Watch};

use super::site::{Conditions, Site, body, lock};

/// The times after which a watch ends: one of some minutes, and one of some seconds.
const LONG_WATCH: Duration = Duration::from_secs(10 * 60);
const SHORT_WATCH: Duration = Duration::from_millis(300);

/// The time after which a watch looks for events again.
const POLL: Duration = Duration::from_millis(50);

/// An API server, and a change of its answers.
#[derive(Debug)]
pub(super) struct Api {
    server: ApiServer,
    /// A text in an answer to a write, and the text that takes its place.
    wrong: Option<(String, String)>,
    /// The requests: method, path and query.
    asked: Vec<String>,
}

impl Site {
    /// Answers requests beside the site as an API server, as `kubectl proxy` does.
    pub fn serve_api(&self, server: ApiServer) {
        lock(&self.conditions).api = Some(Api {
            server,
            wrong: None,
            asked: Vec::new(),
        });
    }

    /// Lets the API server answer writes wrongly: with `to` in the place of `from`.
    pub fn answer_wrongly(&self, from: &str, to: &str) {
        if let Some(api) = &mut lock(&self.conditions).api {
            api.wrong = Some((from.to_owned(), to.to_owned()));
        }
    }

    /// Sends a request to the API server, as somebody else. Gives the status code.
    pub fn send(&self, request: Request<Vec<u8>>) -> Option<u16> {
        let mut conditions = lock(&self.conditions);
        let response = conditions.api.as_mut()?.server.handle(request);
        Some(response.status().as_u16())
    }

    /// The requests that the API server got from pages: method, path and query.
    pub fn asked_of_api(&self) -> Vec<String> {
        let conditions = lock(&self.conditions);
        let asked = conditions.api.as_ref().map(|api| api.asked.clone());
        asked.unwrap_or_default()
    }
}

/// Answers as the API server.
pub(super) fn answer(
    mut connection: TcpStream,
    mut reader: BufReader<TcpStream>,
    (method, target, headers): (&str, &str, &HeaderMap),
    conditions: &Mutex<Conditions>,
) -> std::io::Result<()> {
    let body = body(&mut reader, headers)?;
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let mut request = Request::builder().method(method).uri(target);
    for name in ["accept", "content-type", "user-agent"] {
        if let Some(value) = text(name) {
            request = request.header(name, value);
        }
    }
    let request = request.body(body).map_err(std::io::Error::other)?;
    if let Some(watch) = opened(&request, conditions) {
        let is_short = target.contains("timeoutSeconds=5");
        let lasts = if is_short { SHORT_WATCH } else { LONG_WATCH };
        return stream(connection, watch, lasts, conditions);
    }
    let (code, body) = perform(request, conditions).unwrap_or((404, String::new()));
    let length = body.len();
    write!(
        connection,
        "HTTP/1.1 {code} Answered\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
        Connection: close\r\n\r\n{body}"
    )
}

/// The watch that a request asks for, if the server opens it. Notes every request.
fn opened(request: &Request<Vec<u8>>, conditions: &Mutex<Conditions>) -> Option<Watch> {
    let mut conditions = lock(conditions);
    let api = conditions.api.as_mut()?;
    let asked = format!("{} {}", request.method(), request.uri());
    let is_watch = asked.contains("watch=true");
    api.asked.push(asked);
    is_watch.then(|| api.server.watch(request).ok()).flatten()
}

/// Sends the events of a watch while they come.
fn stream(
    mut connection: TcpStream,
    mut watch: Watch,
    lasts: Duration,
    conditions: &Mutex<Conditions>,
) -> std::io::Result<()> {
    connection.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n",
    )?;
    let begun = Instant::now();
    while begun.elapsed() < lasts {
        thread::sleep(POLL);
        let lines: String = {
            let conditions = lock(conditions);
            let Some(api) = &conditions.api else {
                return Ok(());
            };
            let events = watch.poll(&api.server);
            let resources = api.server.resources();
            events
                .iter()
                .map(|event| event.to_line(resources))
                .collect()
        };
        // In the middle of a line, as a network may cut it.
        let (first, second) = lines.as_bytes().split_at(lines.len() / 3);
        connection.write_all(first)?;
        connection.flush()?;
        connection.write_all(second)?;
    }
    Ok(())
}

/// The code and the body of an answer; `None` if there is no API server.
fn perform(request: Request<Vec<u8>>, conditions: &Mutex<Conditions>) -> Option<(u16, String)> {
    let is_write = request.method() != http::Method::GET;
    let mut conditions = lock(conditions);
    let api = conditions.api.as_mut()?;
    let response = api.server.handle(request);
    let body = String::from_utf8_lossy(response.body()).into_owned();
    let body = match &api.wrong {
        Some((from, to)) if is_write => body.replace(from, to),
        _ => body,
    };
    Some((response.status().as_u16(), body))
}
