//! Serves a folder under a sub-path, as a project's page on a static host is served, and with
//! faults on request.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Returns the folder of the release site: the one in `OPTIMIST_DIST`, or `dist/`.
///
/// # Panics
/// If no site is there.
pub fn dist() -> PathBuf {
    let folder = env::var_os("OPTIMIST_DIST").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../dist"),
        PathBuf::from,
    );
    assert!(
        folder.join("index.html").is_file(),
        "there is no site in {}: run `cargo xtask test page`, which builds it first",
        folder.display()
    );
    folder
}

const UNDER: &str = "/optimist/";

/// The path at which `optimist serve` sends its requests, named in the head of the page that it serves.
const EVENTS: &str = "optimist/events";

/// A fault: what the server sends instead of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 404, as after a new release.
    Missing,
    /// A page, like a host that answers every address with a page.
    Page,
    /// The first half of the file, as if it were complete.
    Half,
    /// A valid wasm, but another one.
    OtherBuild,
    /// The connection ends without an answer.
    Nothing,
    /// The file comes when the fault is over.
    Late,
}

impl Fault {
    /// All faults that end by themselves.
    pub const FAILURES: [Self; 5] = [
        Self::Missing,
        Self::Page,
        Self::Half,
        Self::OtherBuild,
        Self::Nothing,
    ];
}

/// The faults of files, by the ends of their names, the requested paths, and the events that pages are
/// told.
#[derive(Debug, Default)]
struct Conditions {
    faults: Vec<(String, Fault)>,
    asked: Vec<String>,
    events: Vec<String>,
    /// The run of the server that tells the events.
    run: usize,
}

/// A server of a folder on a free port, for as long as the tests run.
pub struct Site {
    port: u16,
    conditions: Arc<Mutex<Conditions>>,
}

impl Site {
    /// Serves a folder, to frames of other sites as well, as hosts of static pages do. Each connection has a thread and one answer, so none holds up another.
    ///
    /// # Panics
    /// If the machine has no free port.
    pub fn serve(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = listener.local_addr().expect("it listens on TCP").port();
        let folder = folder.to_owned();
        let conditions = Arc::<Mutex<Conditions>>::default();
        let shared = Arc::clone(&conditions);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (folder, conditions) = (folder.clone(), Arc::clone(&shared));
                // A browser that went away needs no answer.
                thread::spawn(move || answer(connection, &folder, &conditions).ok());
            }
        });
        Self { port, conditions }
    }

    /// The address of the page.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}{UNDER}", self.port)
    }

    /// Adds a fault to the files whose names have this end.
    pub fn fail(&self, end: &str, fault: Fault) {
        lock(&self.conditions).faults.push((end.to_owned(), fault));
    }

    /// Tells all pages a line of an audit log, as `optimist serve` does. The page that is opened after
    /// the first one knows where it hears them.
    pub fn tell(&self, line: &str) {
        lock(&self.conditions).events.push(line.to_owned());
    }

    /// Ends the streams of events, as an `optimist serve` that is started again on the same port: it has no events.
    pub fn restart(&self) {
        let mut conditions = lock(&self.conditions);
        conditions.events.clear();
        conditions.run += 1;
    }

    /// Removes all faults.
    pub fn mend(&self) {
        lock(&self.conditions).faults.clear();
    }

    /// The number of requests for files whose names have this end.
    pub fn asked(&self, end: &str) -> usize {
        let conditions = lock(&self.conditions);
        let asked = conditions.asked.iter();
        asked.filter(|path| path.ends_with(end)).count()
    }
}

fn lock(conditions: &Mutex<Conditions>) -> MutexGuard<'_, Conditions> {
    conditions.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(
    mut connection: TcpStream,
    folder: &Path,
    conditions: &Mutex<Conditions>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(connection.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let url = request.split(' ').nth(1).unwrap_or_default();
    let path = url.split(['?', '#']).next().unwrap_or_default();
    lock(conditions).asked.push(path.to_owned());
    if path.ends_with(EVENTS) {
        return stream(connection, conditions);
    }
    let fault = || {
        let faults = &lock(conditions).faults;
        let found = faults.iter().find(|(end, _)| path.ends_with(end.as_str()));
        found.map(|(_, fault)| *fault)
    };
    while fault() == Some(Fault::Late) {
        thread::sleep(Duration::from_millis(10));
    }
    let mut file = read(folder, path);
    if let Some((bytes, _)) = &mut file
        && path == UNDER
        && !lock(conditions).events.is_empty()
    {
        let told = format!("<meta name=\"optimist-live\" content=\"{EVENTS}\"></head>");
        let index = String::from_utf8_lossy(bytes);
        *bytes = index.replacen("</head>", &told, 1).into_bytes();
    }
    let (status, media_type, bytes) = match (fault(), file) {
        (Some(Fault::Nothing), _) => return Ok(()),
        (Some(Fault::Missing), _) | (_, None) => ("404 Not Found", "text/plain", Vec::new()),
        (Some(Fault::Page), _) => {
            let page = b"<!DOCTYPE html><title>Not here</title>".to_vec();
            ("200 OK", "text/html; charset=utf-8", page)
        }
        (Some(Fault::OtherBuild), Some((_, media_type))) => {
            ("200 OK", media_type, b"\0asm\x01\0\0\0".to_vec())
        }
        (Some(Fault::Half), Some((mut bytes, media_type))) => {
            bytes.truncate(bytes.len() / 2);
            ("200 OK", media_type, bytes)
        }
        (_, Some((bytes, media_type))) => ("200 OK", media_type, bytes),
    };
    let length = bytes.len();
    write!(
        connection,
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\
        Cache-Control: no-cache\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n"
    )?;
    connection.write_all(&bytes)
}

/// Tells the events as they come, until the page goes away or the server is started again.
fn stream(mut connection: TcpStream, conditions: &Mutex<Conditions>) -> std::io::Result<()> {
    connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")?;
    let run = lock(conditions).run;
    write!(connection, "retry: 100\n\nevent: run\ndata: {run}\n\n")?;
    for told in 0.. {
        let next = loop {
            let conditions = lock(conditions);
            if conditions.run != run {
                return Ok(());
            }
            if let Some(event) = conditions.events.get(told) {
                break event.clone();
            }
            drop(conditions);
            thread::sleep(Duration::from_millis(10));
        };
        write!(connection, "id: {run}-{}\ndata: {next}\n\n", told + 1)?;
    }
    Ok(())
}

fn read(folder: &Path, path: &str) -> Option<(Vec<u8>, &'static str)> {
    let path = path.strip_prefix(UNDER)?;
    let path = if path.is_empty() { "index.html" } else { path };
    if path.split('/').any(|part| part == "..") {
        return None;
    }
    let file: PathBuf = folder.join(path);
    let media_type = match file.extension()?.to_str()? {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css",
        "js" => "text/javascript",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    };
    Some((fs::read(file).ok()?, media_type))
}
