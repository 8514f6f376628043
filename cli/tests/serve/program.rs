//! The program, and a small client of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// The longest wait for what comes by and by, on a machine that runs other builds.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A started program. It is killed at the end of a test that failed.
pub struct Program {
    child: Child,
    output: BufReader<ChildStdout>,
    pub url: String,
    pub kubeconfig: String,
    /// The address of the page; empty if there is none.
    page: String,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_optimist"));
    command
        .arg("serve")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

impl Program {
    /// Starts the program, and waits until it is ready.
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments)
            .args(["--output", "json"])
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        output.read_line(&mut ready).unwrap();
        let Ok(ready) = serde_json::from_str::<Value>(&ready) else {
            let mut errors = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut errors);
            panic!("{ready:?} {errors}");
        };
        let member = |name: &str| ready[name].as_str().unwrap().to_owned();
        Self {
            child,
            output,
            url: member("url"),
            kubeconfig: member("kubeconfig"),
            page: ready["page"].as_str().unwrap_or_default().to_owned(),
        }
    }

    /// The exit code and the errors of a program that does not start.
    pub fn refused(arguments: &[&str]) -> (i32, String) {
        let output = command(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.stdout, b"");
        (output.status.code().unwrap(), errors)
    }

    /// The address after the scheme.
    pub fn authority(&self) -> &str {
        self.url.split_once("://").unwrap().1
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the end: the exit code, what else was printed, and the errors.
    pub fn ended(mut self) -> (Option<i32>, String, String) {
        let (mut rest, mut errors) = (String::new(), String::new());
        let status = self.child.wait().unwrap();
        self.output.read_to_string(&mut rest).unwrap();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut errors).unwrap();
        (status.code(), rest, errors)
    }

    /// Kills the program as a crash does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The address of the page after the scheme.
    pub fn page_authority(&self) -> &str {
        let page = self.page.strip_prefix("http://").unwrap();
        page.strip_suffix('/').unwrap()
    }

    /// A connection to the port of the page.
    pub fn connect_to_page(&self) -> Connection {
        Connection(BufReader::new(Box::new(tcp(self.page_authority()))))
    }

    /// A connection: with TLS, and trust in the authority of the kubeconfig, where the URL says so.
    pub fn connect(&self) -> Connection {
        let stream = tcp(self.authority());
        if self.url.starts_with("http://") {
            return Connection(BufReader::new(Box::new(stream)));
        }
        let kubeconfig = std::fs::read_to_string(&self.kubeconfig).unwrap();
        let authority = kubeconfig
            .lines()
            .find_map(|line| line.trim().strip_prefix("certificate-authority-data: "));
        let authority = optimist_apiserver::go::base64::bytes(authority.unwrap());
        let authority = CertificateDer::from_pem_slice(&authority).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(authority).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = self.authority().rsplit_once(':').unwrap().0;
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let tls = ClientConnection::new(Arc::new(config), name).unwrap();
        Connection(BufReader::new(Box::new(StreamOwned::new(tls, stream))))
    }

    /// Sends a request on a connection of its own: the code and the body of the answer.
    pub fn send(&self, method: &str, target: &str, headers: &[&str], body: &str) -> (u16, String) {
        let host = format!("Host: {}", self.authority());
        let mut all = vec![host.as_str()];
        all.extend(headers);
        self.connect().send(method, target, &all, body.as_bytes())
    }

    /// Sends like [`send`](Self::send), in JSON.
    pub fn json(&self, method: &str, target: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let media_type = match method {
            "PATCH" => "Content-Type: application/merge-patch+json",
            _ => "Content-Type: application/json",
        };
        let (code, body) = self.send(method, target, &[media_type], &body);
        (code, serde_json::from_str(&body).unwrap_or(Value::Null))
    }
}

fn tcp(authority: &str) -> TcpStream {
    let address: SocketAddr = authority.parse().unwrap();
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

pub trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection to the server.
pub struct Connection(BufReader<Box<dyn Stream>>);

impl Connection {
    /// A connection without TLS to another server.
    pub fn over(stream: TcpStream) -> Self {
        Self(BufReader::new(Box::new(stream)))
    }

    /// Sends a request with these headers, among them `Host`: the code and the body of the answer.
    pub fn send(
        &mut self,
        method: &str,
        target: &str,
        headers: &[&str],
        body: &[u8],
    ) -> (u16, String) {
        let (code, length) = self.begin(method, target, headers, body);
        let body = match length {
            Some(length) => {
                let mut body = vec![0; length];
                self.0.read_exact(&mut body).unwrap();
                String::from_utf8(body).unwrap()
            }
            None => std::iter::from_fn(|| self.chunk()).collect(),
        };
        (code, body)
    }

    /// Sends like [`send`](Self::send); `None` if the server ends before it has answered.
    pub fn try_send(
        &mut self,
        method: &str,
        target: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Option<(u16, String)> {
        let (code, length) = self.try_begin(method, target, headers, body)?;
        let mut body = vec![0; length?];
        self.0.read_exact(&mut body).ok()?;
        Some((code, String::from_utf8(body).ok()?))
    }

    /// Sends a request, and reads the head of its answer: the code, and how long the body is.
    pub fn begin(
        &mut self,
        method: &str,
        target: &str,
        headers: &[&str],
        body: &[u8],
    ) -> (u16, Option<usize>) {
        self.try_begin(method, target, headers, body).unwrap()
    }

    fn try_begin(
        &mut self,
        method: &str,
        target: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Option<(u16, Option<usize>)> {
        let length = format!("Content-Length: {}", body.len());
        let lines = [&format!("{method} {target} HTTP/1.1")[..], &length];
        let head = [&lines, headers, &["", ""]].concat().join("\r\n");
        let stream = self.0.get_mut();
        stream.write_all(head.as_bytes()).ok()?;
        // A server that refuses a body may close before it has all of it.
        let _ = stream.write_all(body);
        let _ = stream.flush();
        let status = self.line()?;
        let code = status.split(' ').nth(1)?.parse().ok()?;
        let mut length = None;
        while let Some(line) = self.line().filter(|line| !line.is_empty()) {
            if let Some(found) = line.to_lowercase().strip_prefix("content-length: ") {
                length = Some(found.parse().unwrap());
            }
        }
        Some((code, length))
    }

    /// The next part of an answer that streams; `None` at its end. An end without its mark is an error.
    pub fn chunk(&mut self) -> Option<String> {
        let length = self.line().expect("a chunk or the end of the stream");
        let length = usize::from_str_radix(&length, 16).unwrap();
        let mut chunk = vec![0; length + 2];
        self.0.read_exact(&mut chunk).unwrap();
        chunk.truncate(length);
        (length > 0).then(|| String::from_utf8(chunk).unwrap())
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(read) if read > 0 => Some(line.trim_end().to_owned()),
            _ => None,
        }
    }
}
