//! Sends the requests that `core` allows, to the origin of the page.

use std::cell::RefCell;

use js_sys::{Array, Uint8Array};
use optimist_diagnose::remote::{RemoteAnswer, RemoteRequest};
use wasm_bindgen::JsValue;

use crate::fetch::{FetchedResponse, code, resolved, send, whole};
use crate::saved_page::{call, get, window};

/// The options of every request: it goes to the origin of the page and to no other, not after a redirection either.
const OPTIONS: [(&str, &str); 4] = [
    ("mode", "same-origin"),
    ("redirect", "error"),
    ("cache", "no-store"),
    ("credentials", "omit"),
];

/// The origin of the page, if a proxy on this machine can serve it: `kubectl proxy` speaks plain HTTP, and is
/// reached by these names (`--accept-hosts`).
pub(super) fn origin() -> Option<String> {
    let location = get(&window().ok()?, "location").ok()?;
    let text = |name: &str| get(&location, name).ok()?.as_string();
    let host = text("hostname")?;
    let is_here = ["localhost", "127.0.0.1", "[::1]"].contains(&host.as_str());
    let origin = text("origin")?;
    (is_here && origin.starts_with("http://")).then_some(origin)
}

/// The path of the page on its server.
pub(super) fn path() -> String {
    let location = window().and_then(|window| get(&window, "location"));
    let path = location.and_then(|location| get(&location, "pathname"));
    let path = path.ok().and_then(|path| path.as_string());
    let path = path.unwrap_or_default();
    match path.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/"),
        None => "/static/".to_owned(),
    }
}

/// Sends a request and reads its whole answer.
///
/// # Errors
/// The words of the browser, if no answer came.
pub(super) async fn fetch(request: &RemoteRequest) -> Result<RemoteAnswer, String> {
    let answer = async { whole(&sent(request).await?).await };
    Ok(answer.await.map_err(words)?.into())
}

async fn sent(request: &RemoteRequest) -> Result<JsValue, JsValue> {
    let mut options = vec![("method", request.method())];
    options.extend(OPTIONS);
    let (target, headers, body) = (request.target(), request.headers(), request.body());
    send(target, &options, headers, body).await
}

impl From<FetchedResponse> for RemoteAnswer {
    fn from(answer: FetchedResponse) -> Self {
        Self {
            code: answer.code,
            warning: answer.warning,
            body: answer.body,
        }
    }
}

/// The words in which the browser says an error.
fn words(error: JsValue) -> String {
    let message = get(&error, "message").ok();
    let message = message.and_then(|message| message.as_string());
    message.unwrap_or_default()
}

/// The answer to a watch, as the browser can read it.
pub(super) enum WatchAnswer {
    /// It can be read while it comes.
    Stream(Stream),
    /// The server did not answer with 200.
    Refused(RemoteAnswer),
    /// It came, and cannot be read before its end.
    NoStream,
}

/// The bytes of an answer, as they come (<https://streams.spec.whatwg.org/#default-reader-class>).
pub(super) struct Stream {
    reader: JsValue,
}

/// The place of the reader of a stream that is read now, for whoever ends it.
#[derive(Default)]
pub(super) struct StreamPlace(RefCell<Option<JsValue>>);

impl StreamPlace {
    /// Ends the stream: the connection is closed, and its next part is none.
    pub(super) fn cancel(&self) {
        if let Some(reader) = self.0.take() {
            // It gives a promise; whether the server heard of it changes nothing here.
            let _ = call(&reader, "cancel", &Array::new());
        }
    }
}

/// Sends a request whose answer is read while it comes. Whoever has `place` can end it.
///
/// # Errors
/// The words of the browser, if no answer came.
pub(super) async fn open(
    request: &RemoteRequest,
    place: &StreamPlace,
) -> Result<WatchAnswer, String> {
    let response = sent(request).await.map_err(words)?;
    if code(&response).map_err(words)? != 200 {
        let answer = whole(&response).await.map_err(words)?;
        return Ok(WatchAnswer::Refused(answer.into()));
    }
    let body = get(&response, "body");
    let Ok(reader) = body.and_then(|body| call(&body, "getReader", &Array::new())) else {
        return Ok(WatchAnswer::NoStream);
    };
    place.0.replace(Some(reader.clone()));
    Ok(WatchAnswer::Stream(Stream { reader }))
}

impl Stream {
    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// The words of the browser, if the answer broke off.
    pub(super) async fn next(&self) -> Result<Option<Vec<u8>>, String> {
        let part = async { resolved(call(&self.reader, "read", &Array::new())?).await };
        let part = part.await.map_err(words)?;
        let is_done = get(&part, "done").map_err(words)?.is_truthy();
        let bytes = get(&part, "value").map_err(words)?;
        Ok((!is_done).then(|| Uint8Array::new(&bytes).to_vec()))
    }
}
