//! The report of a server when its test fails.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io, thread};

use optimist_apiserver::shared::SharedServer;

use crate::server::RequestRecord;

/// The report of a failed test: the place of its files, and the program that draws its page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    directory: Option<PathBuf>,
    /// The program `optimist`, and the directory of the built page.
    page: Option<(PathBuf, PathBuf)>,
}

/// Reports the requests if the test fails: when the last client of the server goes.
#[derive(Debug)]
pub(crate) struct FailureReport {
    shared: SharedServer,
    record: Arc<Mutex<RequestRecord>>,
    report: Mutex<Report>,
    /// `true` if an assertion has printed the requests.
    told: AtomicBool,
}

impl FailureReport {
    pub(crate) fn new(
        shared: SharedServer,
        record: Arc<Mutex<RequestRecord>>,
        report: Report,
    ) -> Self {
        Self {
            shared,
            record,
            report: Mutex::new(report),
            told: AtomicBool::new(false),
        }
    }

    /// Returns what was asked for.
    pub(crate) fn report(&self) -> Report {
        self.locked().clone()
    }

    pub(crate) fn keep_in(&self, directory: PathBuf) {
        self.locked().directory = Some(directory);
    }

    pub(crate) fn draw_with(&self, program: PathBuf, page: PathBuf) {
        self.locked().page = Some((program, page));
    }

    fn locked(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is printed twice.
    pub(crate) fn is_told(&self) {
        self.told.store(true, Ordering::Relaxed);
    }

    /// Writes the audit log, and returns its path.
    fn keep(&self, directory: PathBuf, log: &str) -> io::Result<PathBuf> {
        let thread = thread::current();
        // The test harness names the thread of a test after the test.
        let test = thread.name().unwrap_or("test").replace("::", ".");
        let path = directory.join(format!("{test}.audit.log"));
        fs::create_dir_all(&directory)?;
        fs::write(&path, log)?;
        Ok(path)
    }
}

/// Makes the page of an audit log, and returns its path.
fn draw(log: &Path, program: &Path, page: &Path) -> io::Result<PathBuf> {
    let drawn = log.with_extension("html");
    let output = Command::new(program)
        .arg("explain")
        .arg(log)
        .arg("--open")
        .arg(&drawn)
        .arg("--page")
        .arg(page)
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(drawn);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(why.trim().to_owned()))
}

impl Drop for FailureReport {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        let (lanes, log) = self.shared.with(|server| {
            let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
            (record.lanes(), record.audit_log(server))
        });
        if !self.told.load(Ordering::Relaxed) && !lanes.is_empty() {
            eprintln!("The requests of the test:\n{lanes}");
        }
        let report = self.report();
        let Some(directory) = report.directory else {
            return;
        };
        let path = match self.keep(directory, &log) {
            Ok(path) => path,
            Err(error) => return eprintln!("The requests were not kept in a file: {error}"),
        };
        let place = path.display();
        eprintln!("{place} has the requests as an audit log: open it in Diagnose of the page.");
        let Some((program, page)) = report.page else {
            return;
        };
        match draw(&path, &program, &page) {
            Ok(drawn) => eprintln!("{} shows them: open it in a browser.", drawn.display()),
            Err(error) => eprintln!("{} did not draw them: {error}", program.display()),
        }
    }
}
