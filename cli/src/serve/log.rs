//! The log of a server: every accepted write is in a file before it is answered.
//!
//! A line is a checksum and a document. The first says what the file is; each other one has the changes that
//! one request made in the store, so a request is in the file whole or not at all. A line is on the disk
//! (`fdatasync`) before the request is answered and before a watch sees it. A program that is killed leaves
//! at most a last line that is not whole: nobody was answered, and the next start cuts it off. A line before
//! the last one, or a whole line, that does not have its checksum is damage, and the program does not start.
//!
//! A long log is written anew: the first line has the number of objects and their revision, a line for each of
//! them follows, then the changes since. The new file takes the place of the old one when all of it is on the
//! disk, so a program that is killed at any byte leaves one of the two, whole. The history before that revision
//! is compacted away, as by etcd.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use optimist_apiserver::json;
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::storage::{Change, Revision, Store};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::BadInput;

/// The document of the first line of a log that has every change.
const HEAD: &str = r#"{"log":"optimist serve","version":1}"#;

/// The bytes by which a log may be longer than twice the needed length before it is written anew.
const SPARE: u64 = 64 * 1024;

/// A file with the changes of a store, in the order of revisions.
pub struct ChangeLog {
    path: PathBuf,
    file: File,
    /// The length of the file up to the last whole write.
    length: u64,
    /// The newest revision that is in the file.
    revision: Revision,
    /// The length of the file when it was written the last time as a whole; 0 if never.
    shortest: u64,
}

/// The content of a log that was opened.
pub struct OpenedLog {
    /// The log, to be continued.
    pub log: ChangeLog,
    /// The store; `None` if the log is new.
    pub store: Option<Store>,
    /// The number of writes in it.
    pub writes: usize,
    /// The number of bytes at the end that are no whole write, and are cut off.
    pub cut: usize,
}

impl ChangeLog {
    /// Opens a log, or begins one.
    pub fn open(path: &Path) -> Result<OpenedLog, BadInput> {
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
            shortest: 0,
        };
        // Of a program that was killed while it wrote the log anew.
        match fs::remove_file(log.successor()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(bad(error)),
            _ => {}
        }
        let whole = whole_lines(&bytes);
        let mut lines = whole.split_inclusive(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let beginning = document(first).and_then(Beginning::read);
        // A new log that was killed before its first line was whole has a part of it.
        if beginning.is_none() && !line(HEAD).as_bytes().starts_with(&bytes) {
            let path = path.display();
            return Err(BadInput(format!(
                "{path}:1: this is no log of optimist serve"
            )));
        }
        let begins = beginning.is_some();
        let Beginning { revision, objects } = beginning.unwrap_or_default();
        let damaged = |line: usize| {
            let path = path.display();
            BadInput(format!("{path}:{line}: the log is damaged here"))
        };
        let first_objects: Vec<&[u8]> = lines.by_ref().take(objects).collect();
        if first_objects.len() < objects {
            return Err(damaged(first_objects.len() + 2));
        }
        let mut store = restored(&first_objects, revision).map_err(|at| damaged(at + 2))?;
        log.shortest = first_objects.iter().map(|line| line.len() as u64).sum();
        let mut writes = 0;
        for (index, line) in lines.enumerate() {
            let read = document(line).and_then(|text| replay(text, &mut store));
            read.ok_or_else(|| damaged(objects + index + 2))?;
            writes += 1;
        }
        log.revision = store.revision();
        log.keep(whole, bytes.len(), begins).map_err(bad)?;
        let cut = bytes.len() - whole.len();
        Ok(OpenedLog {
            log,
            store: (writes > 0 || revision > 0).then_some(store),
            writes,
            cut: if begins { cut } else { 0 },
        })
    }

    /// Writes the log anew if most of it is not needed any more.
    ///
    /// # Errors
    /// If that is not possible. The log stays as it is then.
    pub fn shorten(&mut self, store: &Store) -> io::Result<()> {
        if self.length < self.shortest * 2 + SPARE {
            return Ok(());
        }
        let successor = self.successor();
        let mut options = OpenOptions::new();
        let file = options.append(true).create_new(true).open(&successor);
        let written = file.and_then(|mut file| {
            let length = write_anew(&mut file, store)?;
            fs::rename(&successor, &self.path)?;
            Ok((file, length))
        });
        match written {
            Ok((file, length)) => {
                (self.file, self.length, self.shortest) = (file, length, length);
                self.revision = store.revision();
                sync_directory(&self.path)
            }
            Err(error) => {
                let _ = fs::remove_file(&successor);
                Err(error)
            }
        }
    }

    /// The file that takes the place of this one.
    fn successor(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".new");
        name.into()
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

/// The content of the first line: the number of objects that follow, and their revision. There are none in a
/// log that has every change.
#[derive(Default)]
struct Beginning {
    revision: Revision,
    objects: usize,
}

impl Beginning {
    fn read(document: &str) -> Option<Self> {
        if document == HEAD {
            return Some(Self::default());
        }
        let head: Value = serde_json::from_str(document).ok()?;
        if head["log"] != "optimist serve" || head["version"] != 2 {
            return None;
        }
        Some(Self {
            revision: head["revision"].as_u64()?,
            objects: usize::try_from(head["objects"].as_u64()?).ok()?,
        })
    }
}

/// Writes the present content of a store. Returns its length.
fn write_anew(file: &mut File, store: &Store) -> io::Result<u64> {
    let objects = store.range("").map(|(key, revision, object)| {
        let created = store.created(key);
        let document = serde_json::json!({"revision": revision, "created": created, "key": &**key, "object": &**object});
        line(&document.to_string())
    });
    let objects: Vec<String> = objects.collect();
    let head = serde_json::json!({"log": "optimist serve", "version": 2,
        "revision": store.revision(), "objects": objects.len()});
    let mut length = 0;
    let mut writer = io::BufWriter::new(&mut *file);
    for line in std::iter::once(line(&head.to_string())).chain(objects) {
        writer.write_all(line.as_bytes())?;
        length += line.len() as u64;
    }
    writer.flush()?;
    drop(writer);
    file.sync_all()?;
    Ok(length)
}

/// The store with the objects of some lines, as it was at a revision.
///
/// # Errors
/// The position of a line that is damaged.
fn restored(lines: &[&[u8]], revision: Revision) -> Result<Store, usize> {
    let mut puts = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let read = || {
            let mut object = Value::from(json::parse(document(line)?.as_bytes()).ok()?);
            let key = object["key"].as_str()?.to_owned();
            let [created, written] = ["created", "revision"].map(|name| object[name].as_u64());
            Some((key, created?, written?, Arc::new(object["object"].take())))
        };
        let (key, created, written, object) = read().ok_or(at)?;
        // A first version, which is compacted away, gives the object its `create_revision`.
        if created < written {
            puts.push((created, at, key.clone(), 0, Arc::default()));
        }
        let before = if created < written { created } else { 0 };
        puts.push((written, at, key, before, object));
    }
    puts.sort_by_key(|(revision, ..)| *revision);
    let mut store = Store::default();
    for (written, at, key, before, object) in puts {
        store.pass_over(written.checked_sub(1).ok_or(at)?);
        let put = store.put_if(&key, before, |_| object);
        if put.is_err() || store.revision() != written || written > revision {
            return Err(at);
        }
    }
    store.pass_over(revision);
    if store.compact(revision).is_ok() {
        store.forget(|_| false);
    }
    Ok(store)
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

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_apiserver::environment::Environment;
    use optimist_apiserver::server::Authorization;

    fn place(name: &str) -> PathBuf {
        let process = std::process::id();
        let directory = std::env::temp_dir().join(format!("optimist-log-{process}-{name}"));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        directory.join("log")
    }

    fn write(log: &mut ChangeLog, store: &mut Store, key: &str, object: Option<Value>) {
        let before = store.get(key).map_or(0, |(revision, _)| revision);
        match object {
            Some(object) => drop(store.put_if(key, before, |_| Arc::new(object)).unwrap()),
            None => drop(store.delete_if(key, before).unwrap()),
        }
        log.append_changes(store).unwrap();
    }

    /// Lists the content of a store: keys, revisions and objects.
    fn told(store: &Store) -> Vec<String> {
        let objects = store.range("").map(|(key, revision, object)| {
            format!("{key} {:?} {revision} {object}", store.created(key))
        });
        let newest = format!("{}", store.revision());
        objects.chain([newest]).collect()
    }

    /// A log with more than is needed, and the store that it is of.
    fn long(path: &Path) -> (ChangeLog, Store) {
        let mut log = ChangeLog::open(path).unwrap().log;
        let mut store = Store::default();
        let large = "x".repeat(2048);
        for n in 0..40 {
            write(
                &mut log,
                &mut store,
                "/a",
                Some(serde_json::json!({"n": n, "large": large})),
            );
        }
        write(
            &mut log,
            &mut store,
            "/b",
            Some(serde_json::json!({"n": 1.5})),
        );
        write(&mut log, &mut store, "/c", Some(serde_json::json!({})));
        write(
            &mut log,
            &mut store,
            "/a",
            Some(serde_json::json!({"n": 0})),
        );
        write(&mut log, &mut store, "/c", None);
        (log, store)
    }

    #[test]
    fn a_log_that_was_written_anew_has_the_same_objects_and_goes_on() {
        let path = place("anew");
        let (mut log, mut store) = long(&path);
        let before = fs::metadata(&path).unwrap().len();
        log.shorten(&store).unwrap();
        let after = fs::metadata(&path).unwrap().len();
        assert!(after < 1000 && before > 60_000, "{before} {after}");
        // There is nothing to gain any more.
        log.shorten(&store).unwrap();
        write(
            &mut log,
            &mut store,
            "/d",
            Some(serde_json::json!({"n": 7})),
        );
        drop(log);
        let opened = ChangeLog::open(&path).unwrap();
        assert_eq!(opened.writes, 1);
        let again = opened.store.unwrap();
        assert_eq!(told(&again), told(&store));
        assert_eq!(again.compacted(), store.revision() - 1);
        let server = ApiServer::over(again, Environment::default(), Authorization::AlwaysAllow);
        assert_eq!(server.store().get("/d").unwrap().0, store.revision());
    }

    #[test]
    fn a_kill_at_any_byte_of_the_new_file_leaves_the_old_log() {
        let path = place("kill");
        let (mut log, store) = long(&path);
        let old = fs::read(&path).unwrap();
        log.shorten(&store).unwrap();
        let new = fs::read(&path).unwrap();
        let successor = log.successor();
        drop(log);
        for length in 0..=new.len() {
            fs::write(&path, &old).unwrap();
            fs::write(&successor, &new[..length]).unwrap();
            let opened = ChangeLog::open(&path).unwrap();
            assert_eq!(told(&opened.store.unwrap()), told(&store));
            assert!(!successor.exists());
        }
    }

    #[test]
    fn a_shortened_log_that_ends_at_any_byte_has_its_whole_writes_or_is_refused() {
        let path = place("bytes");
        let (mut log, mut store) = long(&path);
        log.shorten(&store).unwrap();
        let needed = fs::metadata(&path).unwrap().len() as usize;
        let mut states = vec![(needed, told(&store))];
        for key in ["/d", "/e"] {
            write(
                &mut log,
                &mut store,
                key,
                Some(serde_json::json!({"k": key})),
            );
            let length = fs::metadata(&path).unwrap().len() as usize;
            states.push((length, told(&store)));
        }
        drop(log);
        let whole = fs::read(&path).unwrap();
        for length in 1..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            // Only the end of the line may be missing of a whole line.
            let expected = states.iter().rfind(|(end, _)| *end <= length + 1);
            match (ChangeLog::open(&path), expected) {
                (Ok(opened), Some((_, state))) => assert_eq!(&told(&opened.store.unwrap()), state),
                (Err(error), None) => assert!(error.to_string().contains("log:"), "{error}"),
                (Ok(_), None) => panic!("{length} of {needed} needed bytes are taken for a log"),
                (Err(error), Some(_)) => panic!("{length}: {error}"),
            }
        }
        for at in 0..needed {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert!(ChangeLog::open(&path).is_err(), "{at}");
        }
    }
}
