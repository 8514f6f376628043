//! Sends the requests that `core` allows, to the origin of the page.
//!
//! What this needs of the browser is asked for by name. Each function of `web_sys` would add to the script
//! and the imports of the first screen.

use js_sys::{Array, Object, Promise, Reflect};
use optimist_diagnose::remote::{RemoteAnswer, RemoteRequest};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::saved_page::{call, get, window};

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
    answer(request).await.map_err(|error| {
        let message = get(&error, "message").ok();
        let message = message.and_then(|message| message.as_string());
        message.unwrap_or_default()
    })
}

async fn answer(request: &RemoteRequest) -> Result<RemoteAnswer, JsValue> {
    let options = Object::new();
    let set = |name: &str, value: &JsValue| Reflect::set(&options, &name.into(), value).map(drop);
    for (name, value) in [
        ("method", request.method()),
        ("mode", "same-origin"),
        ("redirect", "error"),
        ("cache", "no-store"),
        ("credentials", "omit"),
    ] {
        set(name, &value.into())?;
    }
    let headers = Object::new();
    for (name, value) in request.headers() {
        Reflect::set(&headers, &name.into(), &value.into())?;
    }
    set("headers", &headers)?;
    if let Some(body) = request.body() {
        set("body", &body.into())?;
    }
    let sent = Array::of2(&request.target().into(), &options);
    let response = resolved(call(&window()?, "fetch", &sent)?).await?;
    let warning = call(
        &get(&response, "headers")?,
        "get",
        &Array::of1(&"warning".into()),
    )?;
    let body = resolved(call(&response, "text", &Array::new())?).await?;
    let code = get(&response, "status")?.as_f64().unwrap_or_default();
    Ok(RemoteAnswer {
        code: code as u16,
        warning: warning.as_string().unwrap_or_default(),
        body: body.as_string().unwrap_or_default(),
    })
}

async fn resolved(promise: JsValue) -> Result<JsValue, JsValue> {
    JsFuture::from(Promise::resolve(&promise)).await
}
