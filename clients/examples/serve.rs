//! The core behind a socket, for clients that are programs of their own:
//!
//! ```sh
//! cargo run --manifest-path clients/Cargo.toml --example serve -- 127.0.0.1:8001 v1.36.2
//! kubectl --server http://127.0.0.1:8001 get namespaces
//! ```
//!
//! Both arguments may be left out. A third one, `fresh` or `rbac`, serves what a kube-apiserver has right
//! after its start, without and with its roles. There is no authentication, so it listens on this machine only.

use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use optimist_apiserver::environment::{Environment, Timestamp};
use optimist_apiserver::server::{ApiServer, Authorization, Release};
use optimist_apiserver::shared::{Clock, SharedServer};
use tokio::net::TcpListener;

/// The resourceVersion of the first object.
const FIRST_REVISION: u64 = 1001;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or("127.0.0.1:8001".to_owned());
    let address: SocketAddr = address.parse()?;
    if !address.ip().is_loopback() {
        return Err("there is no authentication: give an address of this machine".into());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let now = Timestamp {
        seconds: now.as_secs(),
    };
    let (release, made) = (arguments.next(), arguments.next());
    let environment = Environment::default().beginning_at(now);
    let mut server = match made.as_deref() {
        None => ApiServer::new(environment, FIRST_REVISION),
        Some("fresh") => ApiServer::fresh(environment, Authorization::AlwaysAllow),
        Some("rbac") => ApiServer::fresh(environment, Authorization::Rbac),
        Some(other) => return Err(format!("{other} is neither fresh nor rbac").into()),
    };
    if let Some(release) = release {
        server.set_release(release.parse::<Release>()?);
    }
    let server = SharedServer::new(server, Clock::Wall);
    let listener = TcpListener::bind(address).await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (connection, _) = listener.accept().await?;
        let service = TowerToHyperService::new(server.clone());
        tokio::spawn(async move {
            let connection = TokioIo::new(connection);
            let serving = auto::Builder::new(TokioExecutor::new());
            // A client that goes away ends its connection, and nothing else.
            let _ = serving.serve_connection(connection, service).await;
        });
    }
}
