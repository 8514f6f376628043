//! Sends the requests that `core` allows, to the origin of the page.

use optimist_diagnose::remote::{RemoteAnswer, RemoteRequest};

use crate::saved_page::{get, window};

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

/// Sends a request to the origin of the page, and to no other: not after a redirection either.
///
/// # Errors
/// The words of the browser, if no answer came.
pub(super) async fn fetch(request: &RemoteRequest) -> Result<RemoteAnswer, String> {
    let options = [
        ("method", request.method()),
        ("mode", "same-origin"),
        ("redirect", "error"),
        ("cache", "no-store"),
        ("credentials", "omit"),
    ];
    let sent = crate::fetch::fetch(
        request.target(),
        &options,
        request.headers(),
        request.body(),
    );
    let answer = sent.await.map_err(|error| {
        let message = get(&error, "message").ok();
        let message = message.and_then(|message| message.as_string());
        message.unwrap_or_default()
    })?;
    Ok(RemoteAnswer {
        code: answer.code,
        warning: answer.warning,
        body: answer.body,
    })
}
