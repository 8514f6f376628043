//! Serves a folder under a sub-path, as a project's page on a static host is served, and with
//! faults on request.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use optimist_apiserver::environment::MicroTime;
use optimist_apiserver::server::{ApiServer, AuditEntry, AuditId};

use super::api::{self, Api};
use super::browser::PATIENCE;
use super::process::Use;

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

/// What the paths of requests to the API server begin with, as `optimist serve --page-writes` has them.
const SERVER: &str = "optimist/server";

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
pub(super) struct Conditions {
    faults: Vec<(String, Fault)>,
    asked: Vec<String>,
    events: Vec<String>,
    /// The run of the server that tells the events.
    run: usize,
    /// The API server to which pages may write.
    server: Option<ApiServer>,
    /// The API server beside the site.
    pub(super) api: Option<Api>,
}

/// A server of a folder on a free port, for as long as the tests run.
pub struct Site {
    port: u16,
    pub(super) conditions: Arc<Mutex<Conditions>>,
    _use: Use,
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
        Self {
            port,
            conditions,
            _use: Use::begin(),
        }
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

    /// Lets pages write to an API server, whose requests they are told. The pages that are opened after it know where
    /// it takes them.
    pub fn write_to(&self, server: ApiServer) {
        lock(&self.conditions).server = Some(server);
    }

    /// Sends a request to the API server to which pages may write, as another client: the code and the body.
    ///
    /// # Panics
    /// If there is no such server, or if no request is like this.
    pub fn request(&self, method: &str, target: &str, body: &str) -> (u16, Vec<u8>) {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header(header::USER_AGENT, "kubectl/v1.36.3")
            .header(header::CONTENT_TYPE, "application/json")
            .body(body.as_bytes().to_vec());
        let request = request.expect("it is a request");
        perform(&self.conditions, request).expect("there is a server")
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

    /// Waits until files whose names have this end were asked for so often.
    ///
    /// # Panics
    /// If that takes too long.
    pub fn wait_until_asked(&self, end: &str, count: usize) {
        let start = Instant::now();
        while self.asked(end) < count {
            assert!(start.elapsed() < PATIENCE, "{end} is not asked for");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The number of requests for files whose names have this end.
    pub fn asked(&self, end: &str) -> usize {
        let conditions = lock(&self.conditions);
        let asked = conditions.asked.iter();
        asked.filter(|path| path.ends_with(end)).count()
    }
}

pub(super) fn lock(conditions: &Mutex<Conditions>) -> MutexGuard<'_, Conditions> {
    conditions.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(
    mut connection: TcpStream,
    folder: &Path,
    conditions: &Mutex<Conditions>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let headers = headers(&mut reader)?;
    let url = request.split(' ').nth(1).unwrap_or_default();
    let path = url.split(['?', '#']).next().unwrap_or_default();
    lock(conditions).asked.push(path.to_owned());
    if path.ends_with(EVENTS) {
        return stream(connection, conditions);
    }
    let to_server = url
        .strip_prefix(UNDER)
        .and_then(|url| url.strip_prefix(SERVER));
    if let Some(target) = to_server {
        let method = request.split(' ').next().unwrap_or_default();
        return pass_on(connection, reader, (method, target, &headers), conditions);
    }
    if !path.starts_with(UNDER) && lock(conditions).api.is_some() {
        let method = request.split(' ').next().unwrap_or_default();
        return api::answer(connection, reader, (method, url, &headers), conditions);
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
    let is_told = {
        let conditions = lock(conditions);
        !conditions.events.is_empty() || conditions.server.is_some()
    };
    if let Some((bytes, _)) = &mut file
        && path == UNDER
        && is_told
    {
        let writes = match lock(conditions).server {
            Some(_) => {
                format!(" data-requests=\"{SERVER}\" data-server=\"https://127.0.0.1:6443\"")
            }
            None => String::new(),
        };
        let told = format!("<meta name=\"optimist-live\" content=\"{EVENTS}\"{writes}></head>");
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

fn headers(reader: &mut BufReader<TcpStream>) -> std::io::Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            return Ok(headers);
        };
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    }
}

/// Reads the body that these headers announce.
pub(super) fn body(
    reader: &mut BufReader<TcpStream>,
    headers: &HeaderMap,
) -> std::io::Result<Vec<u8>> {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    reader.read_exact(&mut body)?;
    Ok(body)
}

/// Passes a request of a page on to the API server: the client that it names has sent it.
fn pass_on(
    mut connection: TcpStream,
    mut reader: BufReader<TcpStream>,
    (method, target, headers): (&str, &str, &HeaderMap),
    conditions: &Mutex<Conditions>,
) -> std::io::Result<()> {
    let body = body(&mut reader, headers)?;
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let request = Request::builder()
        .method(method)
        .uri(target)
        .header(
            header::USER_AGENT,
            text("optimist-client").unwrap_or_default(),
        )
        .header(
            header::CONTENT_TYPE,
            text("content-type").unwrap_or_default(),
        )
        .body(body);
    let answer = request
        .ok()
        .and_then(|request| perform(conditions, request));
    let (code, body) = answer.unwrap_or((404, Vec::new()));
    let length = body.len();
    write!(
        connection,
        "HTTP/1.1 {code} Answered\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
        Connection: close\r\n\r\n"
    )?;
    connection.write_all(&body)
}

/// Sends a request to the API server, and tells of it; `None` if there is none.
fn perform(conditions: &Mutex<Conditions>, request: Request<Vec<u8>>) -> Option<(u16, Vec<u8>)> {
    let mut conditions = lock(conditions);
    let number = conditions.events.len() as u64 + 1;
    let server = conditions.server.as_mut()?;
    let entry = AuditEntry::new(server, &request, AuditId { run: 1, number });
    let answer = server.handle(request);
    let at = MicroTime {
        micros: (1_767_225_600 + number) * 1_000_000,
    };
    let event = entry.answered(answer.status(), answer.body(), at, at);
    conditions.events.push(event.to_string());
    Some((answer.status().as_u16(), answer.into_body()))
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
