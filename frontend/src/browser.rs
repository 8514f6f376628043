//! The few things that are asked of the browser directly.

mod scroll;
mod storage;

use std::cell::RefCell;

use js_sys::{Array, Function, Reflect, Uint8Array};
use optimist_sessions::{StorageArea, StorageContents};
use optimist_state::{BrowserEffect, Platform};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    ClipboardEvent, Document, Element, Event, File, HtmlElement, HtmlInputElement,
    HtmlSelectElement, KeyboardEvent, MouseEvent, NodeList, PointerEvent, Response, Window,
};
use yew::TargetCast;

use crate::jobs;

pub(crate) use self::scroll::{reveal, reveal_in_row, scroll_alike, scroll_to_top, scroll_within};

pub(crate) fn window() -> Option<Window> {
    web_sys::window()
}

pub(crate) fn document() -> Option<Document> {
    window()?.document()
}

pub(crate) fn element(id: &str) -> Option<Element> {
    document()?.get_element_by_id(id)
}

/// Milliseconds since the page began; 0 where the browser does not say.
pub(crate) fn now() -> f64 {
    // A worker has no window.
    let performance = js_sys::Reflect::get(&js_sys::global(), &"performance".into());
    let performance = performance.map(JsCast::unchecked_into::<web_sys::Performance>);
    performance.map_or(0.0, |performance| performance.now())
}

/// Returns the height of the page's window in CSS pixels; 0 if the browser does not give it.
pub(crate) fn height() -> f64 {
    let height = window().and_then(|window| window.inner_height().ok()?.as_f64());
    height.unwrap_or_default()
}

/// The fragment of the address, with its `#`; empty if there is no fragment.
pub(crate) fn fragment() -> String {
    let hash = window().and_then(|window| window.location().hash().ok());
    hash.unwrap_or_default()
}

/// Goes to another page of Optimist.
pub(crate) fn go(fragment: &str) {
    if let Some(window) = window() {
        // It fails only for invalid fragments.
        let _ = window.location().set_hash(fragment);
    }
}

/// Says another fragment in the address, without going anywhere: neither a reload nor the way back
/// leads to the one before.
fn replace_fragment(fragment: &str) {
    let history = window().and_then(|window| window.history().ok());
    let replaced =
        history.map(|history| history.replace_state_with_url(&JsValue::NULL, "", Some(fragment)));
    // A frame without an address of its own has no such history.
    if !matches!(replaced, Some(Ok(()))) {
        go(fragment);
    }
}

/// Returns whether a click is the touch of a finger.
pub(crate) fn is_touch(event: &MouseEvent) -> bool {
    event
        .dyn_ref::<PointerEvent>()
        .is_some_and(|event| event.pointer_type() == "touch")
}

/// The address of this page, without its fragment; of a page that was saved as a file, the address of
/// the site that it is from.
pub(crate) fn address() -> String {
    let site = about("address").filter(|site| !site.is_empty());
    let address = site.or_else(|| window()?.location().href().ok());
    let address = address.unwrap_or_default();
    address.split('#').next().unwrap_or_default().to_owned()
}

/// Returns a value that the release wrote into `<meta name="optimist-…">`.
pub(crate) fn about(name: &str) -> Option<String> {
    let meta = format!("meta[name=optimist-{name}]");
    // Not in the whole document: a case has thousands of elements, and the dialog to share it asks each time.
    let head = document()?.query_selector("head").ok()??;
    let meta = head.query_selector(&meta).ok()??;
    Reflect::get(&meta, &"content".into()).ok()?.as_string()
}

/// Returns whether the page is embedded in another one (`?embed`).
pub(crate) fn is_embedded() -> bool {
    let query = window().and_then(|window| window.location().search().ok());
    let query = query.unwrap_or_default();
    query
        .trim_start_matches('?')
        .split('&')
        .any(|pair| pair == "embed" || pair == "embed=")
}

/// The language that the address asks for (`?lang=de`); `None` for English.
pub(crate) fn language() -> Option<String> {
    let query = window()?.location().search().ok()?;
    let mut pairs = query.trim_start_matches('?').split('&');
    let language = pairs.find_map(|pair| pair.strip_prefix("lang="))?;
    let is_tag = language
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (is_tag && !language.is_empty() && language != "en").then(|| language.to_owned())
}

/// The text of a file beside the page.
///
/// # Errors
/// The file, if it did not come.
pub(crate) async fn fetched(file: &str) -> Result<String, String> {
    let told = || file.to_owned();
    let window = window().ok_or_else(told)?;
    let response = JsFuture::from(window.fetch_with_str(file)).await;
    let response: Response = response
        .ok()
        .and_then(|it| it.dyn_into().ok())
        .ok_or_else(told)?;
    if !response.ok() {
        return Err(told());
    }
    let text = response.text().map_err(|_| told())?;
    let text = JsFuture::from(text).await.map_err(|_| told())?;
    text.as_string().ok_or_else(told)
}

/// The custom properties of an element that are lengths, in whole CSS pixels.
pub(crate) fn lengths<const N: usize>(element: &Element, names: [&str; N]) -> Option<[i32; N]> {
    let style = window()?.get_computed_style(element).ok()??;
    let mut lengths = [0; N];
    for (length, name) in lengths.iter_mut().zip(names) {
        let text = style.get_property_value(name).ok()?;
        *length = text.trim().strip_suffix("px")?.parse().ok()?;
    }
    Some(lengths)
}

/// Moves the keyboard to an element, if it is there.
pub(crate) fn focus(id: &str) {
    if let Some(element) = element(id).and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        // An element that cannot take the focus leaves it where it is.
        let _ = element.focus();
    }
}

/// Moves the keyboard to an element that the next rendering makes.
pub(crate) fn focus_soon(id: String) {
    gloo_timers::callback::Timeout::new(0, move || focus(&id)).forget();
}

/// Moves the keyboard to an element if the next rendering takes away another one.
pub(crate) fn focus_after(gone: &'static str, id: String) {
    let then = move || {
        if element(gone).is_none() {
            focus(&id);
        }
    };
    gloo_timers::callback::Timeout::new(0, then).forget();
}

/// Reads the bytes of a file; `None` if the browser cannot read it.
pub(crate) async fn bytes(file: &File) -> Option<Vec<u8>> {
    let read = JsFuture::from(file.array_buffer()).await.ok()?;
    Some(Uint8Array::new(&read).to_vec())
}

/// The text that is pasted; `None` if there is none, or if it is blank.
pub(crate) fn pasted(event: &Event) -> Option<String> {
    let event = event.dyn_ref::<ClipboardEvent>()?;
    let text = event.clipboard_data()?.get_data("text").ok()?;
    (!text.trim().is_empty()).then_some(text)
}

/// Returns the element that has the keyboard; `None` if only the page as a whole has it.
pub(crate) fn holder() -> Option<HtmlElement> {
    let holder = document()?.active_element()?;
    let holder = holder.dyn_into::<HtmlElement>().ok()?;
    (holder.tag_name() != "BODY").then_some(holder)
}

/// Gives the keyboard back to the element that had it before something lay over the page, once that
/// is gone: to the element itself, else to the control that opens its menu, else to the caption of
/// the current step.
pub(crate) fn give_back(to: HtmlElement) {
    let then = move || {
        let menu = to.closest("details").ok().flatten();
        let menu = menu.and_then(|menu| menu.query_selector("summary").ok()?);
        let menu = menu.and_then(|menu| menu.dyn_into::<HtmlElement>().ok());
        for place in [Some(to), menu].into_iter().flatten() {
            // What was taken away or is hidden does not get it.
            let _ = place.focus();
            if holder().is_some_and(|holder| holder == place) {
                return;
            }
        }
        focus("history");
    };
    gloo_timers::callback::Timeout::new(0, then).forget();
}

/// Closes menus that lie over the page when something else is pressed, or Escape, or one of their
/// controls is used.
pub(crate) fn close_menus(event: &Event) {
    let Some(body) = document().and_then(|document| document.body()) else {
        return;
    };
    let key = event.dyn_ref::<KeyboardEvent>();
    if key.is_some_and(|key| key.key() != "Escape") {
        return;
    }
    let target = event.target_dyn_into::<Element>();
    let within = |selector: &str| target.as_ref()?.closest(selector).ok()?;
    for menu in all_within(&body, "details.more[open]") {
        let inside = within("details.more").is_some_and(|around| around == menu);
        let acts = event.type_() == "click" && within(".more-panel .buttons").is_some();
        if !inside || acts || key.is_some() {
            let held = holder().is_some_and(|holder| menu.contains(Some(&holder)));
            if held && let Ok(Some(summary)) = menu.query_selector("summary") {
                // What had the keyboard goes out of sight.
                let _ = summary.unchecked_into::<HtmlElement>().focus();
            }
            // It is an attribute that every element may have.
            let _ = menu.remove_attribute("open");
        }
    }
}

/// Returns the value of a `<select>`.
pub(crate) fn selected(event: &Event) -> String {
    let select = event.target_dyn_into::<HtmlSelectElement>();
    select.map(|select| select.value()).unwrap_or_default()
}

/// Returns whether a box is ticked.
pub(crate) fn ticked(event: &Event) -> bool {
    let input = event.target_dyn_into::<HtmlInputElement>();
    input.is_some_and(|input| input.checked())
}

/// All elements in another that a selector means, in the order of the page.
pub(crate) fn all_within(outer: &Element, selector: &str) -> impl Iterator<Item = Element> {
    let found = outer.query_selector_all(selector).ok();
    let count = found.as_ref().map_or(0, NodeList::length);
    (0..count).filter_map(move |i| found.as_ref()?.get(i)?.dyn_into().ok())
}

/// Puts a text into the clipboard, and tells whether the browser let it.
pub(crate) fn copy(text: String, told: impl FnOnce(bool) + 'static) {
    // It is only there where the page came over a safe connection.
    let clipboard = window().map(|window| window.navigator().clipboard());
    let clipboard = clipboard.filter(|clipboard| clipboard.is_object());
    let Some(clipboard) = clipboard else {
        return told(false);
    };
    wasm_bindgen_futures::spawn_local(async move {
        let written = wasm_bindgen_futures::JsFuture::from(clipboard.write_text(&text));
        told(written.await.is_ok());
    });
}

/// The queries of the state, answered by the browser.
pub(crate) struct BrowserPlatform;

impl Platform for BrowserPlatform {
    fn now(&self) -> f64 {
        js_sys::Date::now()
    }

    fn read(&self, area: StorageArea, key: &str) -> Option<String> {
        storage::read(area, key)
    }

    fn storages(&self) -> StorageContents {
        StorageContents {
            tab: storage::contents(StorageArea::Tab),
            browser: storage::contents(StorageArea::Browser),
        }
    }

    fn has_worker(&self) -> bool {
        jobs::has_worker()
    }
}

/// A number that is another one in every tab.
pub(crate) fn salt() -> u64 {
    (js_sys::Math::random() * 1e15) as u64
}

/// Performs an effect of the state; `false` if the browser has no room in a storage or forbids it.
pub(crate) fn perform(effect: &BrowserEffect) -> bool {
    match effect {
        BrowserEffect::Storage(effect) | BrowserEffect::MustStore(effect) => {
            return storage::change(effect);
        }
        BrowserEffect::GoTo(fragment) => go(fragment),
        BrowserEffect::ReplaceAddress(fragment) => replace_fragment(fragment),
        BrowserEffect::Focus(id) => focus_soon(id.clone()),
        BrowserEffect::StartJob(id, request) => jobs::start(*id, request),
        BrowserEffect::CancelJob(id) => jobs::cancel(*id),
        BrowserEffect::Then(_) => {}
    }
    true
}

/// A date and time for people: `22 Nov 2026, 09:31`.
pub(crate) fn date(milliseconds: f64) -> String {
    let options = js_sys::Object::new();
    for (key, value) in [("dateStyle", "medium"), ("timeStyle", "short")] {
        // A new object takes every property.
        let _ = js_sys::Reflect::set(&options, &key.into(), &value.into());
    }
    let date = js_sys::Date::new(&milliseconds.into());
    String::from(date.to_locale_string("en-GB", &options))
}

thread_local! {
    /// The styles that the page has adopted.
    static ADOPTED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Adds a style to the page, unless it was added before: one that only a part of the page needs, and
/// that comes with the program of that part. It outweighs equal rules of the page itself. The policy
/// of the release allows no new `<style>`.
pub(crate) fn adopt_style(text: &'static str) {
    let is_new = ADOPTED.with_borrow_mut(|all| {
        let is_new = !all.iter().any(|known| std::ptr::eq(*known, text));
        if is_new {
            all.push(text);
        }
        is_new
    });
    if is_new {
        // A browser that knows no such style shows the page without it.
        let _ = adopted(text);
    }
}

fn adopted(text: &str) -> Result<(), JsValue> {
    let none = || JsValue::NULL;
    let window = window().ok_or_else(none)?;
    let document = document().ok_or_else(none)?;
    let class: Function = Reflect::get(&window, &"CSSStyleSheet".into())?.dyn_into()?;
    let sheet = Reflect::construct(&class, &Array::new())?;
    let replace: Function = Reflect::get(&sheet, &"replaceSync".into())?.dyn_into()?;
    replace.call1(&sheet, &text.into())?;
    let all = Array::from(&Reflect::get(&document, &"adoptedStyleSheets".into())?);
    all.push(&sheet);
    Reflect::set(&document, &"adoptedStyleSheets".into(), &all)?;
    Ok(())
}

/// Names the page in the browser's tab and history.
pub(crate) fn set_title(title: &str) {
    // A saved file keeps the title that says what it is.
    if let Some(document) = document().filter(|_| element("saved-note").is_none()) {
        document.set_title(title);
    }
}

/// Sets an attribute of the whole document, or takes it away.
pub(crate) fn set_root_attribute(name: &str, value: Option<&str>) {
    let Some(root) = document().and_then(|document| document.document_element()) else {
        return;
    };
    // Only an invalid name could fail here.
    let _ = match value {
        Some(value) => root.set_attribute(name, value),
        None => root.remove_attribute(name),
    };
}

/// Returns whether the system asks for a dark page.
pub(crate) fn prefers_dark() -> bool {
    is_medium("(prefers-color-scheme: dark)")
}

/// Returns whether the lanes stand above each other, as in the style for narrow windows.
pub(crate) fn is_narrow() -> bool {
    is_medium("(max-width: 939px)")
}

fn is_medium(query: &str) -> bool {
    window()
        .and_then(|window| window.match_media(query).ok()?)
        .is_some_and(|query| query.matches())
}
