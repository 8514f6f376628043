//! Saves the open page as one HTML file with the whole program in it: brings the files of the
//! release together, and hands the file to the browser. The texts of the file are in
//! `optimist_state`.

use gloo_timers::callback::Timeout;
use gloo_timers::future::TimeoutFuture;
use js_sys::{Array, Function, Object, Promise, Reflect, Uint8Array};
use optimist_messages::label;
use optimist_state::{
    MAX_SAVED, SavedContent, SavedNote, file_name, needed_files, saved_file, saved_page,
};
use serde_json::{Map, Value};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::browser::{self, about};

/// The maximum time in which the browser saves the file, in milliseconds.
const SAVING: u32 = 60_000;

/// The number of bytes that the browser compresses at once.
const SLICE: u32 = 64 * 1024;

/// The name of the part with all files that are texts, each by its name. Compressed together they are
/// smaller (`saved.js`).
const TEXTS: &str = "texts";

/// The reason why a page was not saved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SaveProblem {
    /// This file of the release did not come, or not as the release has it.
    NotLoaded(String),
    /// The address of the page to save is longer than browsers take.
    TooLarge(usize),
    /// The browser refuses to make a file.
    Refused,
}

/// A file that was handed to the browser.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SavedFile {
    pub(crate) name: String,
    /// In bytes.
    pub(crate) size: f64,
}

/// Returns whether this page can be saved: only a release has a page for it.
pub(crate) fn can_be_saved() -> bool {
    about("saved").is_some()
}

/// Saves a page that opens at a fragment. Tells how many parts are done, and how many there are, and
/// ends with `None` when it is told not to go on.
pub(crate) async fn save(
    title: &str,
    fragment: &str,
    goes_on: impl Fn(usize, usize) -> bool,
) -> Result<Option<SavedFile>, SaveProblem> {
    let shown = match browser::language() {
        Some(language) => format!("?lang={language}{fragment}"),
        None => fragment.to_owned(),
    };
    if shown.len() > MAX_SAVED {
        return Err(SaveProblem::TooLarge(shown.len()));
    }
    let own = about("saved").unwrap_or_default();
    let own = own.trim_start_matches("./");
    let not_loaded = |name: &str| SaveProblem::NotLoaded(name.to_owned());
    let page = browser::fetched(own).await.map_err(|_| not_loaded(own))?;
    let address = Some(browser::address()).filter(|address| address.starts_with("http"));
    let address = address.unwrap_or_default();
    let content = SavedContent {
        title,
        shown: &shown,
        address: &address,
        note: &page_note(own, &address),
    };
    let needed = needed_files(&page).ok_or_else(|| not_loaded(own))?;
    let [before, after] = saved_page(&page, &content).ok_or_else(|| not_loaded(own))?;
    let parts = Array::of1(&before.into());
    // The page itself is in the file too, so that the file can be saved again.
    let files = needed.iter().map(|file| (file.name, file.integrity));
    let files: Vec<(&str, &str)> = files.chain([(own, "")]).collect();
    let mut texts = Map::new();
    for (done, (name, integrity)) in files.iter().enumerate() {
        if !goes_on(done, files.len()) {
            return Ok(None);
        }
        let bytes = loaded(name, integrity)
            .await
            .map_err(|_| not_loaded(name))?;
        if name.ends_with(".wasm") {
            let part = part(name, bytes).await.map_err(|_| not_loaded(name))?;
            parts.push(&part.into());
        } else {
            let text = String::from_utf8(bytes.to_vec()).map_err(|_| not_loaded(name))?;
            texts.insert((*name).to_owned(), text.into());
        }
    }
    let texts = Value::from(texts).to_string();
    let texts = part(TEXTS, texts.as_bytes().into()).await;
    parts.push(&texts.map_err(|_| SaveProblem::Refused)?.into());
    parts.push(&after.into());
    if !goes_on(files.len(), files.len()) {
        return Ok(None);
    }
    let name = file_name(title);
    let size = save_file(&parts, "text/html", &name).map_err(|_| SaveProblem::Refused)?;
    Ok(Some(SavedFile { name, size }))
}

/// Returns the line of the saved page that describes it, as markup.
fn page_note(own: &str, address: &str) -> String {
    let release = own.trim_start_matches("optimist-");
    let release = release.split('.').next().unwrap_or_default();
    let date = browser::date(js_sys::Date::now());
    SavedNote {
        label: &label::saved_label(),
        told: &label::saved_with(&date, &env!("CARGO_PKG_VERSION"), &release),
        again: &label::saved_again(),
        site: &label::saved_site(),
    }
    .markup(address)
}

/// The bytes of a file of the release.
async fn loaded(name: &str, integrity: &str) -> Result<Uint8Array, JsValue> {
    let how = Object::new();
    Reflect::set(&how, &"integrity".into(), &integrity.into())?;
    let window = window()?;
    let response = call(&window, "fetch", &Array::of2(&name.into(), &how))?;
    let response = JsFuture::from(Promise::from(response)).await?;
    if get(&response, "ok")? != JsValue::TRUE {
        return Err(JsValue::NULL);
    }
    Ok(Uint8Array::new(&all_of(&response)?.await?))
}

/// A file as a part of the page, compressed where the browser can.
async fn part(name: &str, mut bytes: Uint8Array) -> Result<String, JsValue> {
    let compressor = construct("CompressionStream", &Array::of1(&"gzip".into()));
    let compressed = compressor.is_ok();
    if let Ok(compressor) = compressor {
        bytes = through(&compressor, &bytes).await?;
    }
    Ok(saved_file(name, compressed, &bytes.to_vec()))
}

/// All bytes of an answer.
fn all_of(response: &JsValue) -> Result<JsFuture, JsValue> {
    let bytes = call(response, "arrayBuffer", &Array::new())?;
    Ok(JsFuture::from(Promise::from(bytes)))
}

/// Sends bytes through a stream that changes them, and returns the result. A browser may compress
/// on the thread of the page: the page is free between two slices.
async fn through(stream: &JsValue, bytes: &Uint8Array) -> Result<Uint8Array, JsValue> {
    let changed = construct("Response", &Array::of1(&get(stream, "readable")?))?;
    // A stream takes only as much as is read from it.
    let changed = all_of(&changed)?;
    let writer = call(&get(stream, "writable")?, "getWriter", &Array::new())?;
    let mut begin = 0;
    while begin < bytes.length() {
        let end = bytes.length().min(begin + SLICE);
        let slice = bytes.subarray(begin, end);
        let written = call(&writer, "write", &Array::of1(&slice))?;
        JsFuture::from(Promise::from(written)).await?;
        TimeoutFuture::new(0).await;
        begin = end;
    }
    let closed = call(&writer, "close", &Array::new())?;
    JsFuture::from(Promise::from(closed)).await?;
    Ok(Uint8Array::new(&changed.await?))
}

/// Has the browser save a file that is made of these texts; gives its size in bytes.
pub(crate) fn save_file(parts: &Array, media_type: &str, name: &str) -> Result<f64, JsValue> {
    let kind = Object::new();
    Reflect::set(&kind, &"type".into(), &media_type.into())?;
    let file = construct("Blob", &Array::of2(parts, &kind))?;
    let addresses = get(&window()?, "URL")?;
    let address = call(&addresses, "createObjectURL", &Array::of1(&file))?;
    let link = browser::document().ok_or(JsValue::NULL)?;
    let link = link.create_element("a")?;
    link.set_attribute("href", &address.as_string().unwrap_or_default())?;
    link.set_attribute("download", name)?;
    call(&link, "click", &Array::new())?;
    let forget = move || {
        // It fails for no address.
        let _ = call(&addresses, "revokeObjectURL", &Array::of1(&address));
    };
    Timeout::new(SAVING, forget).forget();
    Ok(get(&file, "size")?.as_f64().unwrap_or_default())
}

// What this needs of the browser is asked for by name. Each function of `web_sys` would add to the
// script and the imports of the first screen.

pub(crate) fn window() -> Result<JsValue, JsValue> {
    browser::window().map(Into::into).ok_or(JsValue::NULL)
}

/// A member of an object.
pub(crate) fn get(object: &JsValue, name: &str) -> Result<JsValue, JsValue> {
    Reflect::get(object, &name.into())
}

/// Calls a function of an object.
pub(crate) fn call(object: &JsValue, name: &str, arguments: &Array) -> Result<JsValue, JsValue> {
    let function: Function = get(object, name)?.dyn_into()?;
    function.apply(object, arguments)
}

/// Makes an object of a class of the browser; an error in a browser without that class.
fn construct(class: &str, arguments: &Array) -> Result<JsValue, JsValue> {
    let class: Function = get(&window()?, class)?.dyn_into()?;
    Reflect::construct(&class, arguments)
}
