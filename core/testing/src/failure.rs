//! The report of a server when its test fails.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io, thread};

use optimist_apiserver::shared::SharedServer;

use crate::server::Record;

/// Reports the requests if the test fails: when the last client of the server goes.
#[derive(Debug)]
pub(crate) struct Failure {
    shared: SharedServer,
    record: Arc<Mutex<Record>>,
    directory: Mutex<Option<PathBuf>>,
    /// `true` if an assertion has printed the requests.
    told: AtomicBool,
}

impl Failure {
    pub(crate) fn new(
        shared: SharedServer,
        record: Arc<Mutex<Record>>,
        directory: Option<PathBuf>,
    ) -> Self {
        Self {
            shared,
            record,
            directory: Mutex::new(directory),
            told: AtomicBool::new(false),
        }
    }

    /// Returns the place where a file is kept; `None` if none is.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        let directory = self.directory.lock();
        directory.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn keep_in(&self, directory: PathBuf) {
        let mut kept = (self.directory.lock()).unwrap_or_else(PoisonError::into_inner);
        *kept = Some(directory);
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

impl Drop for Failure {
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
        let Some(directory) = self.directory() else {
            return;
        };
        match self.keep(directory, &log) {
            Ok(path) => eprintln!(
                "{} has the requests as an audit log: open it in Diagnose of the page.",
                path.display()
            ),
            Err(error) => eprintln!("The requests were not kept in a file: {error}"),
        }
    }
}
