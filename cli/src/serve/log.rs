//! The log of a server: every accepted write is in a file before it is answered.
//!
//! A line is a checksum and a document. The first says what the file is; each other one has the changes that
//! one request made in the store, so a request is in the file whole or not at all. A line is on the disk
//! (`fdatasync`) before the request is answered and before a watch sees it. A program that is killed leaves
//! at most a last line that is not whole: nobody was answered, and the next start cuts it off. A line before
//! the last one, or a whole line, that does not have its checksum is damage, and the program does not start.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use optimist_apiserver::json;
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::storage::{Change, Revision, Store};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::BadInput;

/// The document of the first line.
const HEAD: &str = r#"{"log":"optimist serve","version":1}"#;

/// A file with the changes of a store, in the order of revisions.
pub struct ChangeLog {
    path: PathBuf,
    file: File,
    /// How long the file is, as far as it is written whole.
    length: u64,
    /// The newest revision that is in the file.
    revision: Revision,
}

/// What a log has when it is opened.
pub struct Opened {
    /// The log, to be continued.
    pub log: ChangeLog,
    /// The store; `None` if the log is new.
    pub store: Option<Store>,
    /// How many writes are in it.
    pub writes: usize,
    /// How many bytes at the end were not whole, and are cut off.
    pub cut: usize,
}

impl ChangeLog {
    /// Opens a log, or begins one.
    pub fn open(path: &Path) -> Result<Opened, BadInput> {
        let bad = |error: io::Error| BadInput(format!("{}: {error}", path.display()));
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path);
        let mut file = file.map_err(bad)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(bad)?;
        let mut log = Self {
            path: path.to_owned(),
            file,
            length: 0,
            revision: 0,
        };
        let whole = whole_lines(&bytes);
        let mut lines = whole.split_inclusive(|byte| *byte == b'\n');
        let begins = lines.next().and_then(document).is_some_and(|it| it == HEAD);
        // A new log that was killed before its first line was whole has a part of it.
        if !begins && !line(HEAD).as_bytes().starts_with(&bytes) {
            let path = path.display();
            return Err(BadInput(format!(
                "{path}:1: this is no log of optimist serve"
            )));
        }
        let mut store = Store::default();
        let mut writes = 0;
        for (index, line) in lines.enumerate() {
            let read = document(line).and_then(|text| replay(text, &mut store));
            read.ok_or_else(|| {
                let (path, line) = (path.display(), index + 2);
                BadInput(format!("{path}:{line}: the log is damaged here"))
            })?;
            writes += 1;
        }
        log.revision = store.revision();
        log.keep(whole, bytes.len(), begins).map_err(bad)?;
        let cut = bytes.len() - whole.len();
        Ok(Opened {
            log,
            store: (writes > 0).then_some(store),
            writes,
            cut: if begins { cut } else { 0 },
        })
    }

    /// Keeps of the file what is whole, and begins a new one.
    fn keep(&mut self, whole: &[u8], found: usize, begins: bool) -> io::Result<()> {
        self.length = if begins { whole.len() as u64 } else { 0 };
        if self.length < found as u64 {
            self.file.set_len(self.length)?;
        } else if self.length > 0 && !whole.ends_with(b"\n") {
            self.file.write_all(b"\n")?;
            self.length += 1;
        }
        if !begins {
            self.append(HEAD)?;
            sync_directory(&self.path)?;
        }
        self.file.sync_all()
    }

    /// Does something with a server and keeps what it changes. If that cannot be kept, nothing is changed.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep_writes<T>(
        &mut self,
        server: &mut ApiServer,
        act: impl FnOnce(&mut ApiServer) -> T,
    ) -> io::Result<T> {
        let before = server.clone();
        let result = act(server);
        match self.append_changes(server.store()) {
            Ok(()) => Ok(result),
            Err(error) => {
                *server = before;
                Err(error)
            }
        }
    }

    /// Adds what has changed in a store since the last time.
    fn append_changes(&mut self, store: &Store) -> io::Result<()> {
        if store.revision() == self.revision {
            return Ok(());
        }
        let changes = store.log_after(self.revision).map(written);
        let text = Value::Array(changes.collect()).to_string();
        self.append(&text)?;
        self.revision = store.revision();
        Ok(())
    }

    fn append(&mut self, document: &str) -> io::Result<()> {
        let line = line(document);
        // What is there of a line that failed before, or what another program wrote.
        if self.file.metadata()?.len() != self.length {
            let why = "another program writes to the file, or a write has failed";
            return Err(io::Error::other(why));
        }
        let written = self.file.write_all(line.as_bytes());
        if let Err(error) = written.and_then(|()| self.file.sync_data()) {
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.length += line.len() as u64;
        Ok(())
    }
}

/// All lines but a last one that is not whole.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let end = end.map_or(0, |at| at + 1);
    match document(&bytes[end..]) {
        // Only the end of the line is missing.
        Some(_) => bytes,
        None => &bytes[..end],
    }
}

/// The document of a line; `None` if it does not have its checksum.
fn document(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let (sum, text) = line.strip_suffix('\n').unwrap_or(line).split_once(' ')?;
    (sum == checksum(text)).then_some(text)
}

fn line(document: &str) -> String {
    format!("{} {document}\n", checksum(document))
}

/// The first 16 digits of the SHA-256.
fn checksum(text: &str) -> String {
    let sum = Sha256::digest(text.as_bytes());
    sum.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn written(change: &Change) -> Value {
    let object = change.after.as_deref().cloned().unwrap_or_default();
    serde_json::json!({"revision": change.revision, "key": &*change.key, "object": object})
}

/// Makes the changes of a document in a store again; `None` if they are not the next ones.
fn replay(document: &str, store: &mut Store) -> Option<()> {
    // The reader of the server: that of serde_json does not read every number exactly.
    let mut changes = Value::from(json::parse(document.as_bytes()).ok()?);
    for change in changes.as_array_mut()? {
        let object = change["object"].take();
        let key = change["key"].as_str()?;
        let revision = change["revision"]
            .as_u64()
            .filter(|it| *it > store.revision())?;
        store.pass_over(revision - 1);
        let before = store.get(key).map_or(0, |(revision, _)| revision);
        let done = match object {
            Value::Null => store.delete_if(key, before).is_ok(),
            object => store.put_if(key, before, |_| Arc::new(object)).is_ok(),
        };
        if !done || store.revision() != revision {
            return None;
        }
    }
    Some(())
}

/// A new file is there after a power failure once its directory is on the disk.
fn sync_directory(file: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let directory = std::path::absolute(file)?;
        let directory = directory.parent().map_or(Path::new("/"), |it| it);
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}
