//! The processes of browsers and their drivers. To start one takes seconds of processor time, so a
//! Firefox is left to the next test, with a new tab and with nothing stored.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::engine::Engine;

/// A browser and its driver. Dropping it ends both.
pub(super) struct Process {
    pub(super) engine: Engine,
    driver: Child,
    agent: ureq::Agent,
    session: String,
    /// The number of tests that it served.
    served: u32,
}

/// The most tests that a browser serves, so that none grows old.
const MOST_SERVED: u32 = 24;

/// The browsers of this program that no test uses.
struct Idle {
    /// The number of sites and browsers that tests use.
    used: usize,
    browsers: Vec<Process>,
}

static IDLE: Mutex<Idle> = Mutex::new(Idle {
    used: 0,
    browsers: Vec::new(),
});

/// A site or a browser that a test uses. Browsers wait for the next test as long as there is one. They end
/// with the last, because nothing runs when the program of the tests ends.
pub(super) struct Use(());

impl Use {
    /// Begins with the use of a site or a browser.
    pub(super) fn begin() -> Self {
        idle().used += 1;
        Self(())
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut idle = idle();
        idle.used -= 1;
        if idle.used == 0 {
            idle.browsers.clear();
        }
    }
}

fn idle() -> MutexGuard<'static, Idle> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a browser that waits, or starts one.
///
/// # Panics
/// If it cannot be started.
pub(super) fn take() -> Process {
    let waits = idle().browsers.pop();
    waits.unwrap_or_else(Process::start)
}

/// Leaves a browser to the next test. It ends if its test failed, or if it cannot be made as new.
pub(super) fn leave(mut process: Process) {
    process.served += 1;
    let serves = process.engine.serves_several() && process.served < MOST_SERVED;
    if serves && !thread::panicking() && process.renew().is_some() {
        idle().browsers.push(process);
    }
}

impl Process {
    /// Starts the driver of the chosen engine on a free port, and the driver starts the browser.
    fn start() -> Self {
        let engine = Engine::chosen();
        // Of two drivers that start at the same time, one may find that its port is taken.
        let (driver, port) = (0..5)
            .find_map(|_| start_driver(engine))
            .unwrap_or_else(|| panic!("the driver of {engine:?} listens on no port"));
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(120)))
            .allow_non_standard_methods(true)
            .build()
            .new_agent();
        let mut process = Self {
            engine,
            driver,
            agent,
            session: format!("http://127.0.0.1:{port}/session"),
            served: 0,
        };
        let session = process
            .ask("POST", "", &engine.capabilities())
            .unwrap_or_else(|error| panic!("the session: {error}"));
        let id = session["sessionId"]
            .as_str()
            .unwrap_or_else(|| panic!("the driver begins no session: {session}"));
        process.session = format!("{}/{id}", process.session);
        let prepared = engine.prepare(&process);
        prepared.unwrap_or_else(|| panic!("{engine:?} cannot be prepared"));
        process
    }

    /// The driver's answer to a command, also if the answer is an error.
    ///
    /// # Errors
    /// If the driver does not answer.
    pub(super) fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let body = match method {
            "POST" => body.to_string(),
            _ => String::new(),
        };
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.session))
            .header("Content-Type", "application/json")
            .body(body)
            .map_err(|error| error.to_string())?;
        let answer = self
            .agent
            .run(request)
            .and_then(|mut response| response.body_mut().read_to_string())
            .map_err(|error| error.to_string())?;
        let mut answer: Value = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
        Ok(answer["value"].take())
    }

    /// The driver's answer to a command; `None` if that is an error.
    pub(super) fn done(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        let value = self.ask(method, path, body).ok()?;
        value.get("error").is_none().then_some(value)
    }

    /// Makes the browser as new: one empty tab, nothing stored, no setting of a test. `None` if that fails.
    fn renew(&self) -> Option<()> {
        let old = self.done("GET", "/window/handles", &Value::Null)?;
        let new = self.done("POST", "/window/new", &json!({"type": "tab"}))?;
        for handle in old.as_array()? {
            self.done("POST", "/window", &json!({"handle": handle}))?;
            self.done("DELETE", "/window", &Value::Null)?;
        }
        self.done("POST", "/window", &json!({"handle": new["handle"]}))?;
        Engine::forget(self)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // What could not be ended politely is ended all the same.
        let _ = self.ask("DELETE", "", &Value::Null);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Starts a driver on a free port; `None` if it ends without a port.
fn start_driver(engine: Engine) -> Option<(Child, u16)> {
    let mut driver = engine.driver();
    driver.stdout(Stdio::piped());
    let mut driver = driver
        .spawn()
        .unwrap_or_else(|error| panic!("{driver:?}: {error} (set CHROMEDRIVER or GECKODRIVER)"));
    let port = announced_port(engine, &mut driver);
    if port.is_none() {
        // It has ended, or it cannot be used.
        let _ = driver.kill();
        let _ = driver.wait();
    }
    Some((driver, port?))
}

/// The port that the driver says it listens on.
fn announced_port(engine: Engine, driver: &mut Child) -> Option<u16> {
    let output = driver.stdout.take().expect("its output is piped");
    let mut lines = BufReader::new(output).lines();
    let port = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| engine.port(&line))?;
    // A pipe that nobody reads would stop it one day.
    thread::spawn(move || lines.for_each(drop));
    Some(port)
}
