//! The page as a person works it: by the labels of its regions and the names of its controls.

use std::cell::RefCell;

use gloo_timers::future::TimeoutFuture;
use js_sys::{Function, Object, Reflect};
use optimist_frontend::App;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Document, Element, Event, EventInit, HtmlElement, HtmlInputElement, HtmlTextAreaElement,
    KeyboardEvent, KeyboardEventInit,
};
use yew::AppHandle;

/// The number of looks for something that comes by and by: each look takes 5 ms or more.
const PATIENCE: u32 = 4000;

thread_local! {
    /// The pages that are open, each in its place. A test that failed leaves its page here, because a
    /// panic drops nothing.
    static OPEN: RefCell<Vec<(Element, AppHandle<App>)>> = const { RefCell::new(Vec::new()) };
}

/// A page of its own, gone when the test is over.
pub struct Page {
    place: Element,
}

fn document() -> Document {
    web_sys::window().unwrap().document().unwrap()
}

/// Lets what was asked for be drawn, and what waits for that be done and drawn.
async fn settle() {
    yew::scheduler::flush().await;
    TimeoutFuture::new(5).await;
    yew::scheduler::flush().await;
}

/// Waits until nothing is being opened or searched, and all of it is drawn.
pub async fn at_rest() {
    // What was asked for begins behind what the browser does already.
    settle().await;
    settle().await;
    for _ in 0..PATIENCE {
        settle().await;
        let working = document().query_selector(".opening, .progress progress");
        if working.unwrap().is_none() {
            return;
        }
    }
    panic!("it does not come to rest");
}

/// Lets the browser fetch these files, each by its path, and no others.
pub fn serve<'a>(files: impl IntoIterator<Item = (String, &'a str)>) {
    let window = web_sys::window().unwrap();
    let served = Object::new();
    for (path, text) in files {
        Reflect::set(&served, &path.into(), &text.into()).unwrap();
    }
    Reflect::set(&window, &"servedFiles".into(), &served).unwrap();
    let fetch = Function::new_with_args(
        "file",
        "const text = window.servedFiles[file];
         return Promise.resolve(new Response(text, {status: text === undefined ? 404 : 200}));",
    );
    Reflect::set(&window, &"fetch".into(), &fetch).unwrap();
}

impl Page {
    /// The page in a browser that has shown a conflict before, and keeps nothing else.
    pub async fn open() -> Self {
        Self::open_at("").await
    }

    /// A page on which both editors have read version 100 and want other replicas: A five, B two.
    pub async fn both_want_to_write() -> Self {
        let page = Self::open().await;
        page.press("Editor A", "Get").await;
        page.press("Editor B", "Get").await;
        page.set("Editor A", "spec.replicas", "5").await;
        page.set("Editor B", "spec.replicas", "2").await;
        page
    }

    /// A page on which A wrote first, and B got the 409.
    pub async fn conflict() -> Self {
        let page = Self::both_want_to_write().await;
        page.press("Editor A", "Send").await;
        page.press("Editor B", "Send").await;
        page
    }

    /// An address of the page in such a browser.
    pub async fn open_at(fragment: &str) -> Self {
        let storage = web_sys::window().unwrap().local_storage().unwrap().unwrap();
        storage.clear().unwrap();
        storage.set_item("optimist.all-controls", "on").unwrap();
        Self::open_tab_at(fragment).await
    }

    /// The page in a browser that has never shown it.
    pub async fn open_for_the_first_time() -> Self {
        let window = web_sys::window().unwrap();
        window.local_storage().unwrap().unwrap().clear().unwrap();
        Self::open_tab_at("").await
    }

    /// An address of the page in a new tab of a browser that keeps no session of before.
    pub async fn open_tab_at(fragment: &str) -> Self {
        let window = web_sys::window().unwrap();
        window.session_storage().unwrap().unwrap().clear().unwrap();
        let storage = window.local_storage().unwrap().unwrap();
        let keys = (0..storage.length().unwrap()).filter_map(|i| storage.key(i).unwrap());
        let sessions = |key: &String| {
            key.starts_with("optimist.kept.") || key.as_str() == "optimist.last-session"
        };
        for key in keys.filter(sessions).collect::<Vec<_>>() {
            storage.remove_item(&key).unwrap();
        }
        // The page of a test that failed would hear the keys of this one.
        while let Some((place, app)) = OPEN.with_borrow_mut(Vec::pop) {
            place.remove();
            app.destroy();
        }
        window.location().set_hash(fragment).unwrap();
        Self::reopen().await
    }

    /// A new page whose address has this query (`?lang=de`), or none if it is empty. The address
    /// keeps it.
    pub async fn open_with_query(query: &str) -> Self {
        drop(Self::open().await);
        let window = web_sys::window().unwrap();
        let path = window.location().pathname().unwrap();
        let history = window.history().unwrap();
        let address = format!("{path}{query}");
        history
            .replace_state_with_url(&JsValue::NULL, "", Some(&address))
            .unwrap();
        let place = Self::place();
        let app = optimist_frontend::mount_in_language(place.clone()).await;
        let page = Self::opened(place, app);
        settle().await;
        page
    }

    fn opened(place: Element, app: AppHandle<App>) -> Self {
        OPEN.with_borrow_mut(|open| open.push((place.clone(), app)));
        Self { place }
    }

    fn place() -> Element {
        let place = document().create_element("div").unwrap();
        document().body().unwrap().append_child(&place).unwrap();
        place
    }

    /// A page in a tab that had one before.
    pub async fn reopen() -> Self {
        let place = Self::place();
        let app = optimist_frontend::mount(place.clone());
        let page = Self::opened(place, app);
        settle().await;
        page
    }

    /// Closes the page, as a browser does.
    pub async fn close(self) {
        self.hide().await;
        self.close_at_once().await;
    }

    /// Tells the page that it goes away. It may come back, as from a browser's cache.
    pub async fn hide(&self) {
        let event = Event::new("pagehide").unwrap();
        web_sys::window().unwrap().dispatch_event(&event).unwrap();
        settle().await;
    }

    /// Closes the page, whatever is kept of it, as a browser that crashes.
    pub async fn close_at_once(self) {
        settle().await;
        drop(self);
        settle().await;
    }

    /// Waits until the page shows what it was asked for.
    pub async fn at_rest(&self) {
        at_rest().await;
    }

    /// Waits for something that the page does by and by.
    pub async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        for _ in 0..PATIENCE {
            if is_so(self) {
                return;
            }
            settle().await;
        }
        panic!("waited in vain until {what}: {}", self.all_text());
    }

    /// A region, by its label.
    fn region(&self, label: &str) -> Element {
        self.place
            .query_selector(&format!("[aria-label=\"{label}\"]"))
            .unwrap()
            .unwrap_or_else(|| panic!("there is no region {label:?}"))
    }

    /// Returns the text of a region.
    pub fn text(&self, region: &str) -> String {
        self.region(region).text_content().unwrap_or_default()
    }

    /// Returns the text of the whole page.
    pub fn all_text(&self) -> String {
        self.place.text_content().unwrap_or_default()
    }

    /// A control in a region with this name, else one whose name begins so.
    fn control(&self, region: &str, name: &str) -> HtmlElement {
        let controls = self
            .region(region)
            .query_selector_all("button, input, textarea, label")
            .unwrap();
        let names: Vec<String> = (0..controls.length())
            .filter_map(|i| controls.item(i)?.dyn_into::<Element>().ok())
            .map(|control| named(&control))
            .collect();
        let at = names.iter().position(|known| known == name);
        let at = at.or_else(|| names.iter().position(|known| known.starts_with(name)));
        let at = at.unwrap_or_else(|| panic!("no {name:?} in {region:?}, only {names:?}"));
        controls.item(at as u32).unwrap().unchecked_into()
    }

    /// Returns whether a region has a control whose name begins so.
    pub fn has(&self, region: &str, name: &str) -> bool {
        let controls = self.region(region).query_selector_all("button").unwrap();
        (0..controls.length())
            .filter_map(|i| controls.item(i)?.dyn_into::<Element>().ok())
            .any(|control| named(&control).starts_with(name))
    }

    pub async fn press(&self, region: &str, name: &str) {
        self.control(region, name).click();
        settle().await;
    }

    /// Chooses in a select.
    pub async fn choose(&self, label: &str, value: &str) {
        let select: HtmlInputElement = self.region(label).unchecked_into();
        select.set_value(value);
        tell(&select, "change");
        settle().await;
    }

    /// Chooses in a select of a region, which its label names.
    pub async fn choose_in(&self, region: &str, label: &str, value: &str) {
        let labelled = self.control(region, label);
        let select = labelled.query_selector("select").unwrap().unwrap();
        let select: HtmlInputElement = select.unchecked_into();
        select.set_value(value);
        tell(&select, "change");
        settle().await;
    }

    /// Clicks a value of a working copy, types over it and presses Enter.
    pub async fn set(&self, editor: &str, field: &str, value: &str) {
        self.press(editor, &format!("{field}: ")).await;
        let input: HtmlInputElement = self
            .control(editor, &format!("{editor}: {field}"))
            .unchecked_into();
        input.set_value(value);
        press_on(&input, "Enter");
        settle().await;
    }

    /// Types into a text field that is there.
    pub async fn write(&self, label: &str, text: &str) {
        let area: HtmlTextAreaElement = self.region(label).unchecked_into();
        area.set_value(text);
        tell(&area, "input");
        settle().await;
    }

    /// Returns the content of a text field.
    pub fn written(&self, label: &str) -> String {
        let area: HtmlTextAreaElement = self.region(label).unchecked_into();
        area.value()
    }

    /// Adds to a map or list of a working copy.
    pub async fn add(&self, editor: &str, place: &str, text: &str) {
        self.press(editor, &format!("Add to {place}")).await;
        self.type_addition(editor, place, text).await;
    }

    /// Types into the field for an addition that is open.
    pub async fn type_addition(&self, editor: &str, place: &str, text: &str) {
        let input: HtmlInputElement = self
            .control(editor, &format!("{editor}: add to {place}"))
            .unchecked_into();
        input.set_value(text);
        press_on(&input, "Enter");
        settle().await;
    }

    /// Presses a key in the field that is being typed in.
    pub async fn key_in_field(&self, key: &str) {
        let field = document().active_element().unwrap();
        press_on(&field, key);
        settle().await;
    }

    /// Takes the keyboard out of the field that is being typed in.
    pub async fn leave_field(&self) {
        let field: HtmlElement = document().active_element().unwrap().unchecked_into();
        field.blur().unwrap();
        settle().await;
    }

    /// Gives something the keyboard.
    pub async fn focus(&self, selector: &str) {
        let found = self.place.query_selector(selector).unwrap();
        let found = found.unwrap_or_else(|| panic!("there is no {selector:?}"));
        found.unchecked_into::<HtmlElement>().focus().unwrap();
        settle().await;
    }

    /// Returns whether something has the keyboard.
    pub fn holds(&self, selector: &str) -> bool {
        let holder = document().active_element();
        holder.is_some_and(|holder| holder.matches(selector).unwrap())
    }

    /// Returns the element that has the keyboard, for a message.
    pub fn holder(&self) -> String {
        let holder = document().active_element();
        holder.map_or_else(String::new, |holder| holder.outer_html())
    }

    /// Ticks a box, or no longer, by its label.
    pub async fn press_box(&self, label: &str) {
        let labels = self.place.query_selector_all("label").unwrap();
        let mut labels =
            (0..labels.length()).filter_map(|i| labels.item(i)?.dyn_into::<HtmlElement>().ok());
        let found = labels.find(|found| named(found) == label);
        found.unwrap_or_else(|| panic!("no {label:?}")).click();
        settle().await;
    }

    /// Presses a key while nothing in particular has the keyboard.
    pub async fn key(&self, key: &str) {
        press_on(&document().body().unwrap(), key);
        settle().await;
    }

    /// Opens the dialog, puts a manifest in and loads it.
    pub async fn load(&self, manifest: &str) {
        self.place
            .query_selector(".load")
            .unwrap()
            .unwrap()
            .unchecked_into::<HtmlElement>()
            .click();
        settle().await;
        let area: HtmlTextAreaElement = self.region("Manifest").unchecked_into();
        area.set_value(manifest);
        tell(&area, "input");
        settle().await;
        let submit = self
            .place
            .query_selector("dialog [type=submit]")
            .unwrap()
            .unwrap();
        submit.unchecked_into::<HtmlElement>().click();
        settle().await;
    }

    /// Returns the text of the open dialog.
    pub fn dialog(&self) -> String {
        self.find("dialog").unwrap_or_default()
    }

    /// Presses the button that says so, wherever it is.
    pub async fn press_named(&self, name: &str) {
        let buttons = self.place.query_selector_all("button").unwrap();
        let mut buttons =
            (0..buttons.length()).filter_map(|i| buttons.item(i)?.dyn_into::<HtmlElement>().ok());
        let button = buttons.find(|button| named(button).starts_with(name));
        button.unwrap_or_else(|| panic!("no {name:?}")).click();
        settle().await;
    }

    /// Presses a button of the open dialog.
    pub async fn press_in_dialog(&self, label: &str) {
        let button = self.region(label);
        button.unchecked_into::<HtmlElement>().click();
        settle().await;
    }

    /// Types over a text field and leaves it.
    pub async fn rename(&self, label: &str, text: &str) {
        let input: HtmlInputElement = self.region(label).unchecked_into();
        input.set_value(text);
        tell(&input, "change");
        settle().await;
    }

    /// Types over a text field while it keeps the keyboard.
    pub async fn type_over(&self, label: &str, text: &str) {
        let input: HtmlInputElement = self.region(label).unchecked_into();
        input.set_value(text);
        tell(&input, "input");
        settle().await;
    }

    pub async fn close_dialog(&self) {
        let close = self.region("Close");
        close.unchecked_into::<HtmlElement>().click();
        settle().await;
    }

    /// `step 3 / 4`.
    pub fn position(&self) -> String {
        let position = self.place.query_selector(".position").unwrap().unwrap();
        position.text_content().unwrap_or_default()
    }

    /// Returns the last announcement to those who hear the page.
    pub fn said(&self) -> String {
        // The first one names the page.
        let all = self.place.query_selector_all("[aria-live=polite]").unwrap();
        let said = all.item(1).expect("what happened is announced");
        said.text_content().unwrap_or_default()
    }

    /// Loads a ConfigMap of this name.
    pub async fn load_config(&self, name: &str) {
        let manifest =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: b}}");
        self.load(&manifest).await;
    }

    /// Returns how many there are of something.
    pub fn count(&self, selector: &str) -> u32 {
        self.place.query_selector_all(selector).unwrap().length()
    }

    /// The position of the first of several parts that contains a text.
    pub fn place_of(&self, selector: &str, text: &str) -> Option<u32> {
        let found = self.place.query_selector_all(selector).unwrap();
        (0..found.length()).find(|i| {
            let part = found.item(*i).and_then(|part| part.text_content());
            part.is_some_and(|part| part.contains(text))
        })
    }

    /// Clicks what has no label of its own.
    pub async fn click(&self, selector: &str) {
        let found = self.place.query_selector(selector).unwrap();
        let found = found.unwrap_or_else(|| panic!("there is no {selector:?}"));
        found.unchecked_into::<HtmlElement>().click();
        settle().await;
    }

    /// Clicks, and waits only until what comes of it at once is drawn: no timer runs meanwhile.
    pub async fn click_and_draw(&self, selector: &str) {
        let found = self.place.query_selector(selector).unwrap().unwrap();
        found.unchecked_into::<HtmlElement>().click();
        yew::scheduler::flush().await;
    }

    /// Moves the mouse onto something, or away from what holds it.
    pub async fn point(&self, selector: &str, event: &str) {
        let found = self.place.query_selector(selector).unwrap().unwrap();
        let point = js_sys::Function::new_with_args(
            "element, event",
            "element.dispatchEvent(
                new PointerEvent(event, {bubbles: true, pointerType: 'mouse'}))",
        );
        point
            .call2(&wasm_bindgen::JsValue::NULL, &found, &event.into())
            .unwrap();
        settle().await;
    }

    /// Chooses a file with this text.
    pub async fn choose_file(&self, selector: &str, text: &str) {
        let input = self.place.query_selector(selector).unwrap().unwrap();
        let choose = js_sys::Function::new_with_args(
            "input, text",
            "const files = new DataTransfer();
             files.items.add(new File([text], 'lesson.yaml'));
             input.files = files.files;
             input.dispatchEvent(new Event('change', {bubbles: true}));",
        );
        choose
            .call2(&wasm_bindgen::JsValue::NULL, &input, &text.into())
            .unwrap();
        settle().await;
    }

    /// Chooses a file of these bytes.
    pub async fn choose_bytes(&self, selector: &str, bytes: &[u8]) {
        let input = self.place.query_selector(selector).unwrap().unwrap();
        let choose = js_sys::Function::new_with_args(
            "input, bytes",
            "const files = new DataTransfer();
             files.items.add(new File([bytes], 'manifest.yaml'));
             input.files = files.files;
             input.dispatchEvent(new Event('change', {bubbles: true}));",
        );
        let bytes = js_sys::Uint8Array::from(bytes);
        choose
            .call2(&wasm_bindgen::JsValue::NULL, &input, &bytes)
            .unwrap();
        settle().await;
    }

    /// An attribute of what has no label of its own.
    pub fn attribute(&self, selector: &str, name: &str) -> String {
        let found = self.element(selector);
        found.get_attribute(name).unwrap_or_default()
    }

    /// Something that has no label of its own.
    pub fn element(&self, selector: &str) -> Element {
        self.place.query_selector(selector).unwrap().unwrap()
    }

    /// Returns the content of a field.
    pub fn value(&self, selector: &str) -> String {
        let found = self.element(selector);
        found.unchecked_into::<HtmlInputElement>().value()
    }

    /// The text of what an attribute selector finds, for what has no label of its own.
    pub fn find(&self, selector: &str) -> Option<String> {
        self.place
            .query_selector(selector)
            .unwrap()
            .and_then(|found| found.text_content())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let is_this = |(place, _): &mut (Element, _)| *place == self.place;
        let closed: Vec<_> = OPEN.with_borrow_mut(|open| open.extract_if(.., is_this).collect());
        for (place, app) in closed {
            app.destroy();
            place.remove();
        }
    }
}

/// Lets an element say that something happened to it.
fn tell(element: &Element, what: &str) {
    let init = EventInit::new();
    init.set_bubbles(true);
    let event = Event::new_with_event_init_dict(what, &init).unwrap();
    element.dispatch_event(&event).unwrap();
}

fn named(control: &Element) -> String {
    let name = control.get_attribute("aria-label");
    name.or_else(|| control.text_content())
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn press_on(target: &Element, key: &str) {
    let init = KeyboardEventInit::new();
    init.set_key(key);
    init.set_bubbles(true);
    init.set_cancelable(true);
    let event = KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init).unwrap();
    target.dispatch_event(&event).unwrap();
}
