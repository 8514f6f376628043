//! Serves a folder under a sub-path, as a project's page on a static host is served.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use tiny_http::{Header, Request, Response, Server};

const UNDER: &str = "/optimist/";

/// A server of a folder on a free port, for as long as it lives.
pub struct Site {
    server: Arc<Server>,
    port: u16,
}

impl Site {
    /// Serves a folder.
    ///
    /// # Panics
    /// If the machine has no free port.
    pub fn serve(folder: &Path) -> Self {
        let server = Server::http("127.0.0.1:0").expect("there is a free port");
        let server = Arc::new(server);
        let address = server.server_addr().to_ip().expect("it listens on TCP");
        let (serving, folder) = (Arc::clone(&server), folder.to_owned());
        thread::spawn(move || {
            for request in serving.incoming_requests() {
                // A thread each: a browser may leave one answer unread until it has another.
                let folder = folder.clone();
                thread::spawn(move || answer(request, &folder));
            }
        });
        Self {
            server,
            port: address.port(),
        }
    }

    /// Where the page is.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}{UNDER}", self.port)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.unblock();
    }
}

fn answer(request: Request, folder: &Path) {
    // A browser that went away needs no answer.
    let _ = match read(folder, request.url()) {
        Some((bytes, media_type)) => {
            let header = Header::from_bytes("Content-Type", media_type);
            let response = Response::from_data(bytes);
            request.respond(response.with_header(header.expect("it is a header")))
        }
        None => request.respond(Response::empty(404)),
    };
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
