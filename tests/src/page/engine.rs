//! The browsers that the page is tested in. The tests are the same; only what WebDriver has no command
//! for (the size of the page, the colours of the system, the network, the console) differs.

use std::env;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::Browser;
use super::process::Process;

/// A browser engine with its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Chrome or Chromium with chromedriver.
    Chromium,
    /// Firefox with geckodriver.
    Firefox,
}

/// A change that a test makes around the page.
pub(super) enum Emulation<'a> {
    /// The size of the page in CSS pixels. Below 600 pixels of width the device is a phone.
    Size(u32, u32),
    /// The system prefers dark colours.
    Dark(bool),
    /// The system chooses the colours, as Windows' contrast themes do.
    ForcedColours,
    /// The network is off.
    Offline(bool),
    /// Files that the page offers are saved in this folder, without a question.
    Downloads(&'a Path),
}

impl Engine {
    /// The engine that `OPTIMIST_BROWSER` names: `firefox`, or else Chromium.
    ///
    /// # Panics
    /// If the variable has another value.
    pub fn chosen() -> Self {
        match env::var("OPTIMIST_BROWSER").as_deref() {
            Ok("firefox") => Self::Firefox,
            Ok("" | "chromium") | Err(_) => Self::Chromium,
            Ok(other) => panic!("OPTIMIST_BROWSER is {other}: set it to chromium or firefox"),
        }
    }

    /// The driver, told to take a free port: `CHROMEDRIVER` or `GECKODRIVER`, or the one on PATH.
    pub(super) fn driver(self) -> Command {
        let (variable, name) = match self {
            Self::Chromium => ("CHROMEDRIVER", "chromedriver"),
            Self::Firefox => ("GECKODRIVER", "geckodriver"),
        };
        let program = env::var(variable).unwrap_or_else(|_| name.to_owned());
        let mut driver = Command::new(program);
        driver.arg("--port=0");
        if self == Self::Firefox {
            // The colours and the network are settings of the browser itself.
            driver.arg("--allow-system-access");
        }
        driver
    }

    /// The port in the line that says where the driver listens.
    pub(super) fn port(self, line: &str) -> Option<u16> {
        let before = match self {
            Self::Chromium => "successfully on port ",
            Self::Firefox => "Listening on 127.0.0.1:",
        };
        let (_, port) = line.rsplit_once(before)?;
        port.trim_end_matches('.').parse().ok()
    }

    /// Returns the capabilities that the driver is asked for, with the browser to start: `CHROME`
    /// or `FIREFOX`, or the one that it knows of.
    pub(super) fn capabilities(self) -> Value {
        let (options, binary, own) = match self {
            Self::Chromium => ("goog:chromeOptions", env::var("CHROME"), chrome_options()),
            Self::Firefox => ("moz:firefoxOptions", env::var("FIREFOX"), firefox_options()),
        };
        let mut all = json!({
            // A driver misses the end of a navigation now and then: `go` waits by itself.
            "pageLoadStrategy": "none",
            // axe-core looks at a large page for a long time when the machine is busy.
            "timeouts": {"script": 120_000},
            options: own,
        });
        if let Ok(binary) = binary {
            all[options]["binary"] = binary.into();
        }
        if self == Self::Chromium {
            all["goog:loggingPrefs"] = json!({"browser": "ALL"});
        }
        json!({"capabilities": {"alwaysMatch": all}})
    }

    /// Changes what is around the page.
    pub(super) fn emulate(self, browser: &Browser, with: &Emulation<'_>) {
        match self {
            Self::Chromium => emulate_chromium(browser, with),
            Self::Firefox => emulate_firefox(browser, with),
        }
    }

    /// Runs a script as one of the page's own.
    pub(super) fn add_script(self, browser: &Browser, script: &str) {
        match self {
            Self::Chromium => drop(browser.run(script, &[])),
            Self::Firefox => {
                let failed =
                    browser.privileged(FIREFOX_ADD_SCRIPT, &[FIREFOX_ADD.into(), script.into()]);
                assert!(failed == "", "a script of the page fails: {failed}");
            }
        }
    }

    /// The console messages since the last call: level (`SEVERE` is an error) and message.
    pub(super) fn console(self, browser: &Browser) -> Vec<(String, String)> {
        let entries = match self {
            Self::Chromium => browser.post("/se/log", &json!({"type": "browser"})),
            Self::Firefox => browser.privileged(FIREFOX_CONSOLE, &[]),
        };
        let text = |entry: &Value, member: &str| entry[member].as_str().unwrap_or("").to_owned();
        entries
            .as_array()
            .into_iter()
            .flatten()
            .map(|entry| (text(entry, "level"), text(entry, "message")))
            .collect()
    }

    /// Returns whether a browser serves several tests. Chromium starts with little processor time, so each
    /// test has its own.
    pub(super) fn serves_several(self) -> bool {
        self == Self::Firefox
    }

    /// Prepares a browser that was started just now; `None` if that fails.
    pub(super) fn prepare(self, process: &Process) -> Option<()> {
        match self {
            Self::Chromium => Some(()),
            Self::Firefox => in_firefox(process, "sync", FIREFOX_PREPARE).map(drop),
        }
    }

    /// Removes what a test has stored and set in a Firefox, but for what belongs to a tab. `None` if that fails.
    pub(super) fn forget(process: &Process) -> Option<()> {
        let kept = in_firefox(process, "async", FIREFOX_FORGET)?;
        (kept == 0).then_some(())
    }
}

/// Runs a script of Firefox itself; `None` if that fails.
fn in_firefox(process: &Process, how: &str, script: &str) -> Option<Value> {
    let post = |path: &str, body: &Value| process.done("POST", path, body);
    post("/moz/context", &json!({"context": "chrome"}))?;
    let body = json!({"script": script, "args": []});
    let value = post(&format!("/execute/{how}"), &body)?;
    post("/moz/context", &json!({"context": "content"}))?;
    Some(value)
}

fn chrome_options() -> Value {
    json!({"args": [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage",
    ]})
}

fn firefox_options() -> Value {
    json!({
        "args": ["-headless", "--width=1700", "--height=1200"],
        "prefs": {
            "app.update.enabled": false,
            "browser.newtab.preload": false,
            "browser.shell.checkDefaultBrowser": false,
            "datareporting.policy.dataSubmissionEnabled": false,
            // To leave a page would stop whatever script runs, and under load the next page's too.
            "dom.ipc.cancel_content_js_when_navigating": false,
            // Processes and extensions that no test uses are a third of what a start costs.
            "dom.ipc.processPrelaunch.enabled": false,
            "extensions.enabledScopes": 0,
            "extensions.installDistroAddons": false,
            "network.captive-portal-service.enabled": false,
            "network.connectivity-service.enabled": false,
            "toolkit.telemetry.enabled": false,
        },
    })
}

fn emulate_chromium(browser: &Browser, with: &Emulation<'_>) {
    let feature = |name: &str, value: &str| {
        let features = json!({"features": [{"name": name, "value": value}]});
        ("Emulation.setEmulatedMedia", features)
    };
    let (command, parameters) = match *with {
        Emulation::Offline(offline) => {
            let conditions = json!({"network_conditions": {
                "offline": offline, "latency": 0, "throughput": -1,
            }});
            browser.post("/chromium/network_conditions", &conditions);
            return;
        }
        Emulation::Size(width, height) => {
            let size = json!({
                "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600,
            });
            ("Emulation.setDeviceMetricsOverride", size)
        }
        Emulation::Dark(dark) => {
            feature("prefers-color-scheme", if dark { "dark" } else { "light" })
        }
        Emulation::ForcedColours => feature("forced-colors", "active"),
        Emulation::Downloads(folder) => {
            let kept = json!({"behavior": "allow", "downloadPath": folder});
            ("Browser.setDownloadBehavior", kept)
        }
    };
    let command = json!({"cmd": command, "params": parameters});
    browser.post("/goog/cdp/execute", &command);
}

fn emulate_firefox(browser: &Browser, with: &Emulation<'_>) {
    match *with {
        Emulation::Size(width, height) => {
            browser.privileged(FIREFOX_SIZE, &[width.into(), height.into()]);
            let there = "return innerWidth === arguments[0] && innerHeight === arguments[1]";
            browser.wait("the size", there, &[width.into(), height.into()]);
        }
        Emulation::Dark(dark) => {
            let name = "layout.css.prefers-color-scheme.content-override";
            // 0 is dark, 1 is light.
            let value = u8::from(!dark);
            browser.privileged(FIREFOX_SETTING, &[name.into(), value.into()]);
        }
        Emulation::ForcedColours => {
            // The page's own colours are never used; a contrast theme has its own for what is chosen.
            browser.privileged(FIREFOX_FORCED_COLOURS, &[]);
        }
        Emulation::Offline(offline) => {
            browser.privileged("Services.io.offline = arguments[0]", &[offline.into()]);
        }
        Emulation::Downloads(folder) => {
            browser.privileged(FIREFOX_DOWNLOADS, &[json!(folder)]);
        }
    }
}

/// Gives the page a size inside a larger window, because a window of Firefox has a smallest size.
const FIREFOX_SIZE: &str = "
    const style = gBrowser.selectedBrowser.style;
    const [width, height] = arguments;
    for (const [name, value] of [['width', width], ['height', height]])
        for (const bound of [name, 'min-' + name, 'max-' + name])
            style.setProperty(bound, value + 'px', 'important')";

/// Runs a script in the process of the page, with a second script for it.
const FIREFOX_ADD_SCRIPT: &str = "
    const [script, added] = arguments;
    const process = gBrowser.selectedBrowser.messageManager;
    process.loadFrameScript('data:,' + encodeURIComponent(script), false);
    return new Promise(done => {
        process.addMessageListener('added', function ended(message) {
            process.removeMessageListener('added', ended);
            done(message.data);
        });
        process.sendAsyncMessage('add', added);
    })";

/// Runs the script that comes next among those of the page, as the console of the developer tools does, and tells how it
/// failed.
const FIREFOX_ADD: &str = "
    const {addDebuggerToGlobal} = ChromeUtils.importESModule('resource://gre/modules/jsdebugger.sys.mjs');
    addMessageListener('add', function add(message) {
        removeMessageListener('add', add);
        let failed = '';
        try {
            addDebuggerToGlobal(globalThis);
            const page = new Debugger().makeGlobalObjectReference(content);
            const ended = page.executeInGlobal(message.data);
            if (!ended || 'throw' in ended)
                failed = String(ended?.throw?.getProperty?.('message')?.return ?? ended?.throw);
        } catch (error) {
            failed = String(error);
        }
        sendAsyncMessage('added', failed);
    })";

const FIREFOX_SETTING: &str = "Services.prefs.setIntPref(arguments[0], arguments[1])";

const FIREFOX_DOWNLOADS: &str = "
    Services.prefs.setIntPref('browser.download.folderList', 2);
    Services.prefs.setBoolPref('browser.download.useDownloadDir', true);
    Services.prefs.setStringPref('browser.download.dir', arguments[0])";

const FIREFOX_FORCED_COLOURS: &str = "
    Services.prefs.setIntPref('browser.display.document_color_use', 2);
    Services.prefs.setCharPref('ui.highlight', '#1aebff');
    Services.prefs.setCharPref('ui.highlighttext', '#000000')";

/// Hides the bars of the window: to draw tabs that come, load and go is a tenth of the work of opening pages.
const FIREFOX_PREPARE: &str = "
    document.getElementById('navigator-toolbox').style.display = 'none'";

/// Ends with what could not be removed: 0 is nothing.
const FIREFOX_FORGET: &str = "
    Services.io.offline = false;
    const settings = [
        'browser.display.document_color_use', 'browser.download.dir', 'browser.download.folderList',
        'browser.download.useDownloadDir', 'layout.css.prefers-color-scheme.content-override',
        'ui.highlight', 'ui.highlighttext',
    ];
    for (const name of settings) Services.prefs.clearUserPref(name);
    Services.console.reset();
    const [done] = arguments;
    const all = Ci.nsIClearDataService.CLEAR_ALL;
    Services.clearData.deleteData(all, {onDataDeleted: done})";

/// The errors and warnings of pages, without those of the browser's own files.
const FIREFOX_CONSOLE: &str = "
    const own = /^(chrome|resource|moz-extension|about):/;
    const messages = Services.console.getMessageArray()
        .filter(one => one instanceof Ci.nsIScriptError && one.innerWindowID > 0)
        .filter(one => !own.test(one.sourceName))
        .map(one => ({
            level: one.flags & Ci.nsIScriptError.warningFlag ? 'WARNING' : 'SEVERE',
            message: one.sourceName + ': ' + one.errorMessage,
        }));
    Services.console.reset();
    return messages";
