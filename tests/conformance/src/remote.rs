//! Any server behind an address, as a replay sees it: a bare kube-apiserver, another program, a cluster behind
//! `kubectl proxy`.
//!
//! It is not alone with a recording as a server in the process is. Each recording has a namespace of its own,
//! which is deleted afterwards, and those that need more than that are passed over: see [`Remote::lacks`].

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{Request, Response, StatusCode};
use serde_json::Value;

use super::prepare::{CUSTOM_RESOURCES, DEFINITIONS, FIRST_VERSION, create_namespace};
use super::recording::{Action, Call, Recording};
use super::remote_http::{self, Chunks};
use super::subject::{ObjectRef, Opened, Unsupported};
use super::tree::Tree;

/// The time in which the server must answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time in which the server must serve a custom resource.
const UNTIL_SERVED: Duration = Duration::from_secs(20);

/// The status of a request that had no answer: no server has it.
const NO_ANSWER: u16 = 599;

/// A server behind an address.
#[derive(Debug)]
pub struct Remote {
    /// Host and port.
    authority: String,
    /// The path before the paths of the API.
    prefix: String,
    connection: Option<BufReader<TcpStream>>,
    /// The number of the next namespace.
    next: u64,
    namespace: String,
    release: String,
}

impl Remote {
    /// Connects to a server, and gives it the custom resources that recordings use.
    ///
    /// # Errors
    /// The reason why the address is none, or why the server cannot be used.
    pub fn connect(url: &str) -> Result<Self, String> {
        let after = url.strip_prefix("http://").ok_or_else(|| {
            format!("{url}: an address begins with http://; for TLS, use kubectl proxy")
        })?;
        let (authority, prefix) = match after.split_once('/') {
            Some((authority, path)) => (authority, format!("/{}", path.trim_end_matches('/'))),
            None => (after, String::new()),
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut remote = Self {
            authority: authority.to_owned(),
            prefix: prefix.trim_end_matches('/').to_owned(),
            connection: None,
            // Of another number in each run: a namespace can go slowly.
            next: since.unwrap_or_default().as_secs() % 10_000,
            namespace: String::new(),
            release: String::new(),
        };
        let version = remote.get("/version")?;
        let release = version["gitVersion"].as_str();
        remote.release = release.ok_or("/version names no gitVersion")?.to_owned();
        for definition in CUSTOM_RESOURCES {
            remote.define(definition)?;
        }
        remote.raise_version()?;
        Ok(remote)
    }

    /// The release that the server says it is.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Returns what a recording needs that a server behind an address does not give: another release, a
    /// server of its own (objects without a namespace, all namespaces at once), control over its store.
    pub fn lacks(&self, recording: &Recording) -> Vec<String> {
        let mut lacks = recording.needs.clone();
        let other = recording.release.as_ref();
        lacks.extend(other.filter(|it| **it != self.release).cloned());
        for step in &recording.steps {
            let call = match &step.action {
                Action::Request(call)
                | Action::Parallel { call, .. }
                | Action::Watch { call, .. }
                | Action::WatchOpen { call, .. } => call,
                Action::Install(_) | Action::Compact { .. } | Action::Restart => {
                    lacks.push("control over the store".to_owned());
                    break;
                }
                Action::WatchClose { .. } | Action::Sleep(_) => continue,
            };
            if !is_in_namespace(call) {
                lacks.push("a server of its own".to_owned());
                break;
            }
        }
        lacks
    }

    /// Begins a recording: its namespace is new.
    ///
    /// # Errors
    /// The answer of a server that makes no namespace.
    pub fn begin(&mut self) -> Result<(), String> {
        for _ in 0..100 {
            // As long as the name of a namespace in the process: no text becomes longer.
            self.namespace = format!("replay-{:04}", self.next % 10_000);
            self.next += 1;
            let name = self.namespace.clone();
            let answer = create_namespace(&mut &mut *self, &name)?;
            match answer.status().as_u16() {
                201 => return Ok(()),
                409 => {}
                code => return Err(format!("the namespace {name} was answered with {code}")),
            }
        }
        Err("the server has a hundred namespaces of replays".to_owned())
    }

    /// Deletes what a recording has made.
    pub fn end(&mut self) {
        let path = format!("/api/v1/namespaces/{}", self.namespace);
        let request = Request::delete(path).body(Vec::new());
        let _ = request.map(|request| self.handle(request));
    }

    fn get(&mut self, path: &str) -> Result<Value, String> {
        let request = Request::get(path).header("Accept", "application/json");
        let request = request.body(Vec::new()).map_err(|it| it.to_string())?;
        let response = self.exchange(&request).map_err(|it| it.to_string())?;
        serde_json::from_slice(response.body()).map_err(|error| format!("{path}: {error}"))
    }

    /// Creates a custom resource, and waits until it is served.
    fn define(&mut self, definition: &str) -> Result<(), String> {
        let json: Value = serde_json::from_str(definition).map_err(|it| it.to_string())?;
        let request = Request::post(DEFINITIONS)
            .header("Content-Type", "application/json")
            .body(definition.as_bytes().to_vec());
        let code = self.handle(request.map_err(|it| it.to_string())?).status();
        if code != StatusCode::CREATED && code != StatusCode::CONFLICT {
            return Err(format!(
                "a custom resource was answered with {}",
                code.as_u16()
            ));
        }
        let text = |pointer: &str| json.pointer(pointer).and_then(Value::as_str);
        let (group, plural) = (text("/spec/group"), text("/spec/names/plural"));
        let version = text("/spec/versions/0/name");
        let (Some(group), Some(plural), Some(version)) = (group, plural, version) else {
            return Err("a custom resource without names".to_owned());
        };
        let path = format!("/apis/{group}/{version}/{plural}");
        let steps = UNTIL_SERVED.as_millis() / 100;
        for _ in 0..steps {
            if self.get(&path)?["kind"] != "Status" {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(100));
        }
        Err(format!("{path} is not served"))
    }

    /// Writes until versions are greater than those that recordings use as ones that never existed.
    fn raise_version(&mut self) -> Result<(), String> {
        self.begin()?;
        let path = format!("/api/v1/namespaces/{}", self.namespace);
        for number in 0..=FIRST_VERSION {
            let patch = format!(r#"{{"metadata":{{"labels":{{"number":"{number}"}}}}}}"#);
            let request = Request::patch(path.as_str())
                .header("Content-Type", "application/merge-patch+json")
                .body(patch.into_bytes());
            let answer = self.handle(request.map_err(|it| it.to_string())?);
            let object: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
            let version = object["metadata"]["resourceVersion"].as_str();
            let version = version.and_then(|version| version.parse::<u64>().ok());
            if version.is_none_or(|version| version >= FIRST_VERSION) {
                break;
            }
        }
        self.end();
        Ok(())
    }

    fn exchange(&mut self, request: &Request<Vec<u8>>) -> io::Result<Response<Vec<u8>>> {
        // The server may have closed a connection that was not used for a time.
        if let Some(mut open) = self.connection.take()
            && let Ok(response) = self.exchange_over(&mut open, request)
        {
            return Ok(self.keep(open, response));
        }
        let mut open = self.open()?;
        let response = self.exchange_over(&mut open, request)?;
        Ok(self.keep(open, response))
    }

    fn keep(
        &mut self,
        open: BufReader<TcpStream>,
        response: Response<Vec<u8>>,
    ) -> Response<Vec<u8>> {
        let closes = response.headers().get(http::header::CONNECTION);
        if closes.is_none_or(|value| !value.as_bytes().eq_ignore_ascii_case(b"close")) {
            self.connection = Some(open);
        }
        response
    }

    fn exchange_over(
        &self,
        open: &mut BufReader<TcpStream>,
        request: &Request<Vec<u8>>,
    ) -> io::Result<Response<Vec<u8>>> {
        let bytes = remote_http::bytes(request, &self.authority, &self.prefix);
        open.get_mut().write_all(&bytes)?;
        let head = remote_http::head(open)?;
        let mut body = Vec::new();
        Chunks::new(&head, request.method(), open).read_to_end(&mut body)?;
        Ok(head.map(|()| body))
    }

    fn open(&self) -> io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect(&self.authority)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(BufReader::new(stream))
    }

    fn stream(
        &mut self,
        request: &Request<Vec<u8>>,
    ) -> io::Result<Result<RemoteWatch, Response<Vec<u8>>>> {
        let mut open = self.open()?;
        let bytes = remote_http::bytes(request, &self.authority, &self.prefix);
        open.get_mut().write_all(&bytes)?;
        let head = remote_http::head(&mut open)?;
        if head.status() != StatusCode::OK {
            let mut body = Vec::new();
            Chunks::new(&head, request.method(), &mut open).read_to_end(&mut body)?;
            return Ok(Err(head.map(|()| body)));
        }
        let connection = open.get_ref().try_clone()?;
        connection.set_read_timeout(None)?;
        let (sender, events) = mpsc::channel();
        let method = request.method().clone();
        thread::spawn(move || {
            let lines = io::BufRead::lines(BufReader::new(Chunks::new(&head, &method, &mut open)));
            for line in lines.map_while(Result::ok) {
                let event = serde_json::from_str(&line).unwrap_or(Tree::Text(line));
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        Ok(Ok(RemoteWatch { connection, events }))
    }
}

/// Returns whether a request is about objects in the namespace of the recording, and about nothing else.
fn is_in_namespace(call: &Call) -> bool {
    call.path.contains("/namespaces/{ns}/")
}

/// An open watch. Its end closes the connection.
#[derive(Debug)]
pub struct RemoteWatch {
    connection: TcpStream,
    events: Receiver<Tree>,
}

impl Drop for RemoteWatch {
    fn drop(&mut self) {
        let _ = self.connection.shutdown(Shutdown::Both);
    }
}

impl ObjectRef for &mut Remote {
    type Watch = RemoteWatch;

    const RUNS_ON_A_CLOCK: bool = true;

    fn namespace(&self) -> String {
        self.namespace.clone()
    }

    fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        Remote::handle(self, request)
    }

    fn advance(&mut self, by: Duration) {
        thread::sleep(by);
    }

    fn open_watch(
        &mut self,
        request: Request<Vec<u8>>,
    ) -> Result<Opened<RemoteWatch>, Unsupported> {
        Ok(match self.stream(&request) {
            Ok(Ok(watch)) => Opened::Stream(watch),
            Ok(Err(response)) => Opened::Refused(response),
            Err(error) => Opened::Refused(no_answer(&error)),
        })
    }

    fn read_watch(
        &mut self,
        watch: &mut RemoteWatch,
        idle: Duration,
    ) -> Result<Vec<Tree>, Unsupported> {
        let mut events = Vec::new();
        loop {
            match watch.events.recv_timeout(idle) {
                Ok(event) => events.push(event),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Ok(events);
                }
            }
        }
    }
}

impl Remote {
    fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        self.exchange(&request)
            .unwrap_or_else(|error| no_answer(&error))
    }
}

/// The answer in place of one that did not come.
fn no_answer(error: &io::Error) -> Response<Vec<u8>> {
    let mut response = Response::new(error.to_string().into_bytes());
    *response.status_mut() = StatusCode::from_u16(NO_ANSWER).unwrap_or_default();
    response
}
