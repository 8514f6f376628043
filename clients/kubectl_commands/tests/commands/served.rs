//! The core behind a socket, with a state that can be replaced.

use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::shared::{Clock, SharedServer};
use serde_json::Value;
use tokio::net::TcpListener;

/// A socket that answers as a server does, and the server behind it.
pub struct Served {
    pub address: SocketAddr,
    current: Arc<Mutex<SharedServer>>,
}

impl Served {
    /// Listens on a free port of this machine, in a thread of its own.
    pub fn start() -> Self {
        let current = SharedServer::new(ApiServer::default(), Clock::Virtual);
        let current = Arc::new(Mutex::new(current));
        let (tell, told) = channel();
        let shared = Arc::clone(&current);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("there is a runtime").block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0")
                    .await
                    .expect("a port is free");
                let _ = tell.send(listener.local_addr().expect("it has an address"));
                loop {
                    let Ok((connection, _)) = listener.accept().await else {
                        continue;
                    };
                    let server = shared
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .clone();
                    tokio::spawn(async move {
                        let service = TowerToHyperService::new(server);
                        let serving = auto::Builder::new(TokioExecutor::new());
                        let _ = serving
                            .serve_connection(TokioIo::new(connection), service)
                            .await;
                    });
                }
            });
        });
        Self {
            address: told.recv().expect("it listens"),
            current,
        }
    }

    /// Answers as this server from now on.
    pub fn replace(&self, server: ApiServer) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = SharedServer::new(server, Clock::Virtual);
    }

    /// The object at a path; `null` if there is none.
    pub fn object(&self, path: &str) -> Value {
        let current = self
            .current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let response = current.with(|server| {
            let request = http::Request::get(path)
                .body(Vec::new())
                .expect("it is a path");
            server.handle(request)
        });
        match response.status().is_success() {
            true => serde_json::from_slice(response.body()).unwrap_or_default(),
            false => Value::Null,
        }
    }
}
