//! The server as a replay sees it, and the core as such a server.

use std::fmt;
use std::time::Duration;

use http::{Request, Response};
use optimist_core::server::ApiServer;

use super::tree::Tree;

/// What a recording may say it `needs`, and the core has.
pub const CAPABILITIES: &[&str] = &["parallel"];

/// Something a step asks for and the server cannot do yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsupported(
    /// What it is.
    pub &'static str,
);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not supported yet", self.0)
    }
}

impl std::error::Error for Unsupported {}

/// What became of the request to watch.
#[derive(Debug)]
pub enum Opened<W> {
    /// It is open.
    Stream(W),
    /// The server answered at once, with another status than 200.
    Refused(Response<Vec<u8>>),
}

/// A server that recordings can be replayed against.
pub trait Subject {
    /// An open watch.
    type Watch;

    /// Answers a request.
    fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>>;

    /// Lets time pass.
    fn advance(&mut self, by: Duration);

    /// Opens a watch.
    fn open_watch(&mut self, request: Request<Vec<u8>>)
    -> Result<Opened<Self::Watch>, Unsupported>;

    /// Takes the events which have arrived on a watch, and those that arrive until it has been
    /// silent for so long.
    fn read_watch(
        &mut self,
        watch: &mut Self::Watch,
        idle: Duration,
    ) -> Result<Vec<Tree>, Unsupported>;

    /// Compacts the store at a revision.
    fn compact(&mut self, revision: u64) -> Result<(), Unsupported>;

    /// Restarts the server, keeping the store.
    fn restart(&mut self) -> Result<(), Unsupported>;
}

impl Subject for ApiServer {
    type Watch = ();

    fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        ApiServer::handle(self, request)
    }

    fn advance(&mut self, _by: Duration) {
        // The core has no clock yet.
    }

    fn open_watch(&mut self, _request: Request<Vec<u8>>) -> Result<Opened<()>, Unsupported> {
        Err(Unsupported("watch"))
    }

    fn read_watch(&mut self, _watch: &mut (), _idle: Duration) -> Result<Vec<Tree>, Unsupported> {
        Err(Unsupported("watch"))
    }

    fn compact(&mut self, _revision: u64) -> Result<(), Unsupported> {
        Err(Unsupported("compaction"))
    }

    fn restart(&mut self) -> Result<(), Unsupported> {
        Err(Unsupported("restart"))
    }
}
