//! A headless browser, driven over WebDriver (<https://www.w3.org/TR/webdriver2/>).

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::engine::{Emulation, Engine};
use super::process::{self, Process, Use};

/// The member that holds an element's id, fixed by the standard.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The maximum wait for an element, on a machine that runs other builds.
pub(super) const PATIENCE: Duration = Duration::from_secs(180);

/// The shortest and the longest pause before the next look at the page.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// The text of the page.
const SAYS: &str = "return document.body?.innerText ?? ''";

/// Something on the page.
pub struct Element(String);

/// A browser with one window, in which nothing was opened before. Dropping it ends the browser, or leaves
/// it to another test.
pub struct Browser {
    /// `None` once it is dropped.
    process: Option<Process>,
    _use: process::Use,
}

impl Browser {
    /// Takes a browser that another test has left, or starts one.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start() -> Self {
        Self {
            process: Some(process::take()),
            _use: Use::begin(),
        }
    }

    /// The engine that it runs.
    pub fn engine(&self) -> Engine {
        self.process().engine
    }

    fn process(&self) -> &Process {
        self.process.as_ref().expect("it is not dropped")
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Value {
        let value = self.ask(path, body);
        if let Some(error) = value.get("error") {
            panic!("{path} {body}: {error}: {}", value["message"]);
        }
        value
    }

    /// The driver's answer, also if it is an error.
    fn ask(&self, path: &str, body: &Value) -> Value {
        let answer = self.process().ask("POST", path, body);
        answer.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Opens a page, and waits until it and what it names is loaded. Of an address that differs from
    /// the present one only behind the `#`, the page stays.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn go(&self, url: &str) {
        const LEAVE: &str = "
            const address = url => new URL(url, location).href.split('#')[0];
            const [to] = arguments;
            window.left = !to.includes('#') || address(to) !== address(location.href);";
        const ARRIVED: &str = "return !window.left && document.readyState === 'complete'";
        self.run(LEAVE, &[url.into()]);
        self.post("/url", &json!({"url": url}));
        self.wait(url, ARRIVED, &[]);
    }

    /// Gives the page a size, as a device of that size would, and waits until it is drawn in it. A Chromium
    /// once drew no frame after it had got its size, so a page that draws none gets it again.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn resize(&self, width: u32, height: u32) {
        const DRAWN: &str = "
            const drawn = new Promise(done => requestAnimationFrame(() =>
                requestAnimationFrame(() => setTimeout(done, 0, true))));
            return Promise.race([drawn, new Promise(late => setTimeout(late, 10000, false))])";
        let start = Instant::now();
        let body = json!({"script": DRAWN, "args": []});
        loop {
            self.emulate(&Emulation::Size(width, height));
            let drawn = self.ask("/execute/sync", &body);
            if drawn == true {
                return;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "waited in vain for the page in its size: {drawn}"
            );
        }
    }

    /// Sets the colour scheme of the system: dark or light.
    pub fn prefer(&self, dark: bool) {
        self.emulate(&Emulation::Dark(dark));
    }

    /// Lets the system choose the colours, as Windows' contrast themes do.
    pub fn force_colours(&self) {
        self.emulate(&Emulation::ForcedColours);
    }

    /// Switches the network off or on.
    pub fn offline(&self, offline: bool) {
        self.emulate(&Emulation::Offline(offline));
    }

    /// Saves the files that pages offer in a folder, without a question.
    pub fn save_files_in(&self, folder: &Path) {
        self.emulate(&Emulation::Downloads(folder));
    }

    fn emulate(&self, with: &Emulation<'_>) {
        self.engine().emulate(self, with);
    }

    /// Runs a script of the browser itself (Firefox only).
    pub(super) fn privileged(&self, script: &str, arguments: &[Value]) -> Value {
        self.post("/moz/context", &json!({"context": "chrome"}));
        let value = self.run(script, arguments);
        self.post("/moz/context", &json!({"context": "content"}));
        value
    }

    /// Switches to the page in a frame of this page.
    pub fn enter(&self, frame: &str) {
        let script = "return document.querySelector(arguments[0])";
        let frame = self.wait(frame, script, &[frame.into()]);
        self.post("/frame", &json!({"id": frame}));
    }

    /// Runs a script, and returns its result.
    pub fn run(&self, script: &str, arguments: &[Value]) -> Value {
        self.post(
            "/execute/sync",
            &json!({"script": script, "args": arguments}),
        )
    }

    /// Runs a script as one of the page's own, whose policy of scripts does not judge it. What [`Self::run`] runs
    /// stands beside the page in Firefox, and there everything that it asks of the page takes longer.
    ///
    /// # Panics
    /// If the script fails.
    pub fn add_script(&self, script: &str) {
        self.engine().add_script(self, script);
    }

    /// Waits until a script returns something true. While a page is being left it can run none.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn wait(&self, what: &str, script: &str, arguments: &[Value]) -> Value {
        let start = Instant::now();
        let body = json!({"script": script, "args": arguments});
        loop {
            let value = self.ask("/execute/sync", &body);
            let error = value.get("error");
            if error.is_none() && !value.is_null() && value != false {
                return value;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "waited in vain for {what} ({error:?}); the page says: {}",
                self.ask("/execute/sync", &json!({"script": SAYS, "args": []}))
            );
            thread::sleep(pause(start.elapsed()));
        }
    }

    /// Waits until a script returns this value: what the page does by and by.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn wait_for_value(&self, what: &str, script: &str, arguments: &[Value], value: &Value) {
        let start = Instant::now();
        let body = json!({"script": script, "args": arguments});
        loop {
            let found = self.ask("/execute/sync", &body);
            if found == *value {
                return;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "{what}: expected {value}, got {found}"
            );
            thread::sleep(pause(start.elapsed()));
        }
    }

    /// Waits until a region, by its label, has a text.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn wait_for_text(&self, region: &str, text: &str) {
        const SCRIPT: &str = "return document.querySelector(`[aria-label=\"${arguments[0]}\"]`)
            ?.innerText.includes(arguments[1]) ?? false";
        let what = format!("{text:?} in {region:?}");
        self.wait(&what, SCRIPT, &[region.into(), text.into()]);
    }

    /// Waits until a control in a region (both by their labels) has the keyboard: it gets it after it is drawn.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn wait_for_keyboard(&self, region: &str, name: &str) {
        const SCRIPT: &str = "
            const holder = document.activeElement;
            const named = (holder?.ariaLabel ?? holder?.textContent ?? '').trim();
            return named.startsWith(arguments[1]) &&
                holder.closest(`[aria-label=\"${arguments[0]}\"]`) !== null";
        let what = format!("the keyboard on {name:?} in {region:?}");
        self.wait(&what, SCRIPT, &[region.into(), name.into()]);
    }

    /// The visible control in a region (both by their labels) whose name begins so.
    pub fn control(&self, region: &str, name: &str) -> Element {
        const SCRIPT: &str = "
            const [region, name] = arguments;
            const controls = 'button, label, input:not([type=radio]), textarea, [role=tab]';
            const named = control => (control.ariaLabel ?? control.textContent).trim();
            const all = [...document.querySelectorAll(`[aria-label=\"${region}\"] `)]
                .flatMap(part => [...part.querySelectorAll(controls)])
                .filter(control => control.checkVisibility());
            return all.find(control => named(control) === name) ??
                all.find(control => named(control).startsWith(name))";
        let what = format!("{name:?} in {region:?}");
        let found = self.wait(&what, SCRIPT, &[region.into(), name.into()]);
        Element(found[ELEMENT].as_str().unwrap_or_default().to_owned())
    }

    /// Clicks at the middle of an element. Fails if another element covers it.
    pub fn click(&self, element: &Element) {
        self.post(&format!("/element/{}/click", element.0), &json!({}));
    }

    /// Moves the keyboard to an element and clicks it by script: wherever it stands, and whatever covers it.
    pub fn activate(&self, element: &Element) {
        const SCRIPT: &str = "arguments[0].focus(); arguments[0].click()";
        let mut reference = serde_json::Map::new();
        reference.insert(ELEMENT.to_owned(), element.0.as_str().into());
        self.run(SCRIPT, &[reference.into()]);
    }

    /// Waits for the first element of a selector, and clicks it by script: wherever it stands.
    pub fn click_selector(&self, selector: &str) {
        const SCRIPT: &str = "
            const found = document.querySelector(arguments[0]);
            found?.click();
            return found !== null";
        self.wait(selector, SCRIPT, &[selector.into()]);
    }

    /// Types into the focused element.
    pub fn type_text(&self, text: &str) {
        let keys: Vec<Value> = text
            .chars()
            .flat_map(|key| {
                [
                    json!({"type": "keyDown", "value": key}),
                    json!({"type": "keyUp", "value": key}),
                ]
            })
            .collect();
        self.post(
            "/actions",
            &json!({"actions": [{"type": "key", "id": "keys", "actions": keys}]}),
        );
    }

    /// The text of a region, by its label.
    pub fn text(&self, region: &str) -> String {
        const SCRIPT: &str =
            "return document.querySelector(`[aria-label=\"${arguments[0]}\"]`)?.innerText ?? ''";
        let text = self.run(SCRIPT, &[region.into()]);
        text.as_str().unwrap_or_default().to_owned()
    }

    /// The console messages since the last call: level (`SEVERE` is an error) and message.
    pub fn console(&self) -> Vec<(String, String)> {
        self.engine().console(self)
    }
}

/// The pause before the next look at the page, once it has waited so long. A look takes three programs some
/// milliseconds.
fn pause(waited: Duration) -> Duration {
    (waited / 10).clamp(PAUSE, LONGEST_PAUSE)
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process::leave(process);
        }
    }
}
