//! The server as a replay sees it, and the core as such a server.

use std::fmt;
use std::time::Duration;

use http::{Request, Response};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, Watch};
use serde_json::Value;

use super::tree::Tree;

/// The features that a recording can list in `needs` and that the core has.
pub const CAPABILITIES: &[&str] = &["compaction", WITHOUT_WATCH_CACHE, "parallel", "restart"];

const WITHOUT_WATCH_CACHE: &str = "no-watch-cache";

/// Something a step asks for and the server cannot do yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsupported(
    /// The name of the feature.
    pub &'static str,
);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not supported yet", self.0)
    }
}

impl std::error::Error for Unsupported {}

/// The result of a watch request.
#[derive(Debug)]
pub enum Opened<W> {
    /// It is open.
    Stream(W),
    /// The server answered at once, with another status than 200.
    Refused(Response<Vec<u8>>),
}

/// A server that recordings can be replayed against.
pub trait ObjectRef {
    /// An open watch.
    type Watch;

    /// Whether time passes for the server while nothing asks for it, so that its ages are those of a clock on a wall.
    const RUNS_ON_A_CLOCK: bool = false;

    /// The namespace of a run: distinctive, because it is replaced wherever it occurs.
    fn namespace(&self) -> String {
        "replay-7q3x".to_owned()
    }

    /// Answers a request.
    fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>>;

    /// Lets time pass.
    fn advance(&mut self, by: Duration);

    /// Opens a watch.
    fn open_watch(&mut self, request: Request<Vec<u8>>)
    -> Result<Opened<Self::Watch>, Unsupported>;

    /// Takes the events that have arrived on a watch, and those that arrive until it has been
    /// silent for this time.
    fn read_watch(
        &mut self,
        watch: &mut Self::Watch,
        idle: Duration,
    ) -> Result<Vec<Tree>, Unsupported>;

    // Whoever has only requests has no hold of the store.

    /// Stores an object unchanged, with a new version, and returns it.
    fn install(&mut self, _: Value) -> Result<Tree, Unsupported> {
        Err(Unsupported("an object that is installed"))
    }

    /// Compacts the store at a revision.
    fn compact(&mut self, _: u64) -> Result<(), Unsupported> {
        Err(Unsupported("compaction"))
    }

    /// Restarts the server, keeping the store.
    fn restart(&mut self) -> Result<(), Unsupported> {
        Err(Unsupported("a restart"))
    }
}

/// Gives the core what a recording needs.
pub(super) fn equip(server: &mut ApiServer, needs: &[String]) {
    if needs.iter().any(|need| need == WITHOUT_WATCH_CACHE) {
        server.restart_with_watch_cache(false);
    }
}

/// A text of the server with the order of its members.
fn parsed(text: String) -> Tree {
    serde_json::from_str(&text).unwrap_or(Tree::Text(text))
}

/// The step of the clock while a watch is read.
const TICK: Duration = Duration::from_millis(100);

impl ObjectRef for ApiServer {
    type Watch = Watch;

    fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        ApiServer::handle(self, request)
    }

    fn advance(&mut self, by: Duration) {
        self.environment_mut().advance(by);
    }

    fn open_watch(&mut self, request: Request<Vec<u8>>) -> Result<Opened<Watch>, Unsupported> {
        Ok(match self.watch(&request) {
            Ok(watch) => Opened::Stream(watch),
            Err(response) => Opened::Refused(response),
        })
    }

    fn read_watch(&mut self, watch: &mut Watch, idle: Duration) -> Result<Vec<Tree>, Unsupported> {
        let mut events = Vec::new();
        let mut silence = Duration::ZERO;
        loop {
            let arrived = watch.poll(self);
            if !arrived.is_empty() {
                silence = Duration::ZERO;
            }
            events.extend(
                arrived
                    .iter()
                    .map(|event| parsed(event.to_line(self.resources()))),
            );
            if silence >= idle || !watch.is_open() {
                return Ok(events);
            }
            self.advance(TICK);
            silence += TICK;
        }
    }

    fn install(&mut self, mut object: Value) -> Result<Tree, Unsupported> {
        // Recordings have aliases of versions: the store gives it the next one.
        object.set_meta("resourceVersion", Value::Null);
        let installed = ApiServer::install(self, object);
        let stored = installed.map_err(|_| Unsupported("an object of this form"))?;
        Ok(parsed(self.written(&stored)))
    }

    fn compact(&mut self, revision: u64) -> Result<(), Unsupported> {
        // Whether there was anything to compact shows in what can be read afterwards.
        let _ = ApiServer::compact(self, revision);
        Ok(())
    }

    fn restart(&mut self) -> Result<(), Unsupported> {
        ApiServer::restart(self);
        Ok(())
    }
}
