//! The rest of the program. The release site has its wasm in two files (`xtask/split`): this asks
//! for the second one at the first sign of use, and at the latest when something in it is called.
//! Anywhere else there is one file, and none of this does anything.
//!
//! A function is in one file as a whole. So what only comes later, and would be inlined into what runs
//! while the page opens, says `#[inline(never)]`; and wasm-opt may not inline what has one caller.

use std::cell::Cell;

use gloo_events::EventListener;
use js_sys::{Object, Reflect, Uint8Array, WebAssembly};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Response, XmlHttpRequest};

use crate::browser;

/// What a person does first.
const SIGNS_OF_USE: [&str; 5] = [
    "pointermove",
    "pointerdown",
    "touchstart",
    "keydown",
    "focusin",
];

/// The first file exports this global: whether the second is there.
const LOADED: &str = "rest-is-loaded";

/// Loads the rest, and returns once it is there. The split makes every call from the first file
/// to the second come through here for as long as it is missing.
#[inline(never)]
pub(crate) fn load() {
    if let Err(error) = load_now() {
        panic!("a part of the program could not be loaded: {error:?}");
    }
}

/// From now on the first sign of use loads the rest, while the page goes on.
pub(crate) fn load_at_first_use() {
    // The split looks for this function, so it may not be merged into a caller.
    std::hint::black_box(load as fn());
    let Some(window) = browser::window().filter(|_| is_missing()) else {
        return;
    };
    for sign in SIGNS_OF_USE {
        EventListener::once(&window, sign, |_| load_soon()).forget();
    }
}

fn load_soon() {
    thread_local!(static ASKED: Cell<bool> = const { Cell::new(false) });
    if ASKED.replace(true) || !is_missing() {
        return;
    }
    // If this fails, the first call that needs the rest tries again, and says so.
    spawn_local(async {
        if let Ok(module) = fetched().await
            && is_missing()
        {
            let _ = instantiate(&module);
        }
    });
}

async fn fetched() -> Result<WebAssembly::Module, JsValue> {
    let window = browser::window().ok_or(JsValue::NULL)?;
    let response: Response = JsFuture::from(window.fetch_with_str(&address()?))
        .await?
        .dyn_into()?;
    let bytes = JsFuture::from(response.array_buffer()?).await?;
    JsFuture::from(WebAssembly::compile(&bytes))
        .await?
        .dyn_into()
}

fn load_now() -> Result<(), JsValue> {
    if !is_missing() {
        return Ok(());
    }
    let request = XmlHttpRequest::new()?;
    request.open_with_async("GET", &address()?, false)?;
    // A request that is waited for may only ask for text: here a character is a byte.
    request.override_mime_type("text/plain; charset=x-user-defined")?;
    request.send()?;
    let text = request.response_text()?.unwrap_or_default();
    let bytes: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
    instantiate(&WebAssembly::Module::new(
        &Uint8Array::from(bytes.as_slice()).into(),
    )?)
}

/// Joins the rest to the first file: it fills the places where its functions are missing.
fn instantiate(module: &WebAssembly::Module) -> Result<(), JsValue> {
    let imports = Object::new();
    Reflect::set(&imports, &"first".into(), &wasm_bindgen::exports())?;
    WebAssembly::Instance::new(module, &imports).map(|_| ())
}

fn is_missing() -> bool {
    let loaded = Reflect::get(&wasm_bindgen::exports(), &LOADED.into());
    let loaded = loaded.and_then(|loaded| Reflect::get(&loaded, &"value".into()));
    loaded.is_ok_and(|loaded| loaded == 0)
}

/// Beside the first file, which the page names.
fn address() -> Result<String, JsValue> {
    let first = browser::document()
        .and_then(|document| document.query_selector("link[href$='_bg.wasm']").ok()?)
        .and_then(|link| link.get_attribute("href"))
        .ok_or("the page does not name its program")?;
    Ok(first.replace("_bg.wasm", "_rest.wasm"))
}
