//! An API server beside the site, as `kubectl proxy` shows one, right or wrong.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use http::{HeaderMap, Request};
use optimist_apiserver::server::ApiServer;

use super::site::{Conditions, Site, body, lock};

/// The time after which a watch ends.
const WATCH: Duration = Duration::from_millis(300);

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
    let (code, body) = perform(request, conditions).unwrap_or((404, String::new()));
    let length = body.len();
    write!(
        connection,
        "HTTP/1.1 {code} Answered\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
        Connection: close\r\n\r\n{body}"
    )
}

/// The code and the body of an answer; `None` if there is no API server.
fn perform(request: Request<Vec<u8>>, conditions: &Mutex<Conditions>) -> Option<(u16, String)> {
    let is_write = request.method() != http::Method::GET;
    let is_watch = request
        .uri()
        .query()
        .is_some_and(|it| it.contains("watch=1"));
    let watch = {
        let mut conditions = lock(conditions);
        let api = conditions.api.as_mut()?;
        api.asked
            .push(format!("{} {}", request.method(), request.uri()));
        is_watch.then(|| api.server.watch(&request).ok()).flatten()
    };
    if let Some(mut watch) = watch {
        thread::sleep(WATCH);
        let conditions = lock(conditions);
        let server = &conditions.api.as_ref()?.server;
        let events = watch.poll(server);
        let lines = events.iter().map(|event| event.to_line(server.resources()));
        return Some((200, lines.collect()));
    }
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
