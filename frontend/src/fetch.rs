//! Sends requests to the server of the page.
//!
//! What this needs of the browser is asked for by name. Each function of `web_sys` would add to the script
//! and the imports of the first screen.

use js_sys::{Array, Object, Promise, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::saved_page::{call, get, window};

/// An answer.
pub(crate) struct Answer {
    /// The status code.
    pub(crate) code: u16,
    /// The Warning headers, joined with commas; empty if there is none.
    pub(crate) warning: String,
    /// The body.
    pub(crate) body: String,
}

/// Sends a request. `options` are members of a `RequestInit` (<https://fetch.spec.whatwg.org/#requestinit>).
///
/// # Errors
/// The error of the browser, if no answer came.
pub(crate) async fn fetch<'a>(
    address: &str,
    options: &[(&str, &str)],
    headers: impl IntoIterator<Item = (&'static str, &'a str)>,
    body: Option<&str>,
) -> Result<Answer, JsValue> {
    let (how, named) = (Object::new(), Object::new());
    let set = |object: &Object, name: &str, value: &JsValue| {
        Reflect::set(object, &name.into(), value).map(drop)
    };
    for (name, value) in options {
        set(&how, name, &(*value).into())?;
    }
    for (name, value) in headers {
        set(&named, name, &value.into())?;
    }
    set(&how, "headers", &named)?;
    if let Some(body) = body {
        set(&how, "body", &body.into())?;
    }
    let sent = Array::of2(&address.into(), &how);
    let response = resolved(call(&window()?, "fetch", &sent)?).await?;
    let headers = get(&response, "headers")?;
    let warning = call(&headers, "get", &Array::of1(&"warning".into()))?;
    let body = resolved(call(&response, "text", &Array::new())?).await?;
    let code = get(&response, "status")?.as_f64().unwrap_or_default();
    Ok(Answer {
        code: code as u16,
        warning: warning.as_string().unwrap_or_default(),
        body: body.as_string().unwrap_or_default(),
    })
}

async fn resolved(promise: JsValue) -> Result<JsValue, JsValue> {
    JsFuture::from(Promise::resolve(&promise)).await
}
