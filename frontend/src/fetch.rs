//! Sends requests to the server of the page.
//!
//! It asks for functions of the browser by name. Each function of `web_sys` would add to the script and the imports
//!//! of the first screen.

use js_sys::{Array, Object, Promise, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::saved_page::{call, get, window};

/// An answer.
pub(crate) struct FetchedResponse {
    /// The status code.
    pub(crate) code: u16,
    /// The Warning headers, joined with commas; empty if there is none.
    pub(crate) warning: String,
    /// The body.
    pub(crate) body: String,
}

/// Sends a request and reads its whole answer. The arguments are those of [`send`].
///
/// # Errors
/// The error of the browser, if no answer came.
pub(crate) async fn fetch<'a>(
    address: &str,
    options: &[(&str, &str)],
    headers: impl IntoIterator<Item = (&'static str, &'a str)>,
    body: Option<&str>,
) -> Result<FetchedResponse, JsValue> {
    whole(&send(address, options, headers, body).await?).await
}

/// Sends a request. `options` are members of a `RequestInit` (<https://fetch.spec.whatwg.org/#requestinit>).
/// Returns the `Response`, whose body has not been read.
///
/// # Errors
/// The error of the browser, if no answer came.
pub(crate) async fn send<'a>(
    address: &str,
    options: &[(&str, &str)],
    headers: impl IntoIterator<Item = (&'static str, &'a str)>,
    body: Option<&str>,
) -> Result<JsValue, JsValue> {
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
    resolved(call(&window()?, "fetch", &sent)?).await
}

/// Reads the body of a `Response` to its end.
///
/// # Errors
/// The error of the browser, if the body broke off.
pub(crate) async fn whole(response: &JsValue) -> Result<FetchedResponse, JsValue> {
    let headers = get(response, "headers")?;
    let warning = call(&headers, "get", &Array::of1(&"warning".into()))?;
    let body = resolved(call(response, "text", &Array::new())?).await?;
    Ok(FetchedResponse {
        code: code(response)?,
        warning: warning.as_string().unwrap_or_default(),
        body: body.as_string().unwrap_or_default(),
    })
}

/// The status code of a `Response`.
///
/// # Errors
/// The error of the browser, if it is none.
pub(crate) fn code(response: &JsValue) -> Result<u16, JsValue> {
    Ok(get(response, "status")?.as_f64().unwrap_or_default() as u16)
}

pub(crate) async fn resolved(promise: JsValue) -> Result<JsValue, JsValue> {
    JsFuture::from(Promise::resolve(&promise)).await
}
