//! Serves a folder under a sub-path, as a project's page on a static host is served.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

const UNDER: &str = "/optimist/";

/// A server of a folder on a free port, for as long as the tests run.
pub struct Site {
    port: u16,
}

impl Site {
    /// Serves a folder. Each connection has a thread and one answer, so none holds up another.
    ///
    /// # Panics
    /// If the machine has no free port.
    pub fn serve(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = listener.local_addr().expect("it listens on TCP").port();
        let folder = folder.to_owned();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let folder = folder.clone();
                // A browser that went away needs no answer.
                thread::spawn(move || answer(connection, &folder).ok());
            }
        });
        Self { port }
    }

    /// Where the page is.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}{UNDER}", self.port)
    }
}

fn answer(mut connection: TcpStream, folder: &Path) -> std::io::Result<()> {
    let mut lines = BufReader::new(connection.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let url = request.split(' ').nth(1).unwrap_or_default();
    let (status, media_type, bytes) = match read(folder, url) {
        Some((bytes, media_type)) => ("200 OK", media_type, bytes),
        None => ("404 Not Found", "text/plain", Vec::new()),
    };
    let length = bytes.len();
    write!(
        connection,
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    connection.write_all(&bytes)
}

fn read(folder: &Path, url: &str) -> Option<(Vec<u8>, &'static str)> {
    let path = url.split(['?', '#']).next()?.strip_prefix(UNDER)?;
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
        _ => "application/octet-stream",
    };
    Some((fs::read(file).ok()?, media_type))
}
