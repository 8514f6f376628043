//! A write, run on the core and compared with a dry run on a real API server.

use std::fmt;
use std::sync::Arc;

use http::Request;
use http::header::{CONTENT_TYPE, USER_AGENT};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::ApiServer;
use optimist_client::{WantedChange, Way};
use optimist_simulation::{ByHand, Exchange};
use serde_json::{Value, json};

use super::recording::recording;
use super::{NotAllowed, RemoteAnswer, RemoteKind, RemoteRequest};
use crate::audit::recorded::{Difference, KnownObject};
use crate::audit::{NamedValues, body_differences};
use crate::case::{Case, NotInstalled};
use crate::ways::{ChangeTable, by_hand};

/// The User-Agent of the core's run. Each write names its field manager, so it decides nothing.
const AGENT: &str = "optimist";

/// A write of a client with the core's answer, to be compared with that of a real server.
#[derive(Clone, Debug)]
pub struct RemotePrediction {
    request: RemoteRequest,
    core: Exchange,
    live: Arc<Value>,
    server: ApiServer,
    definitions: Vec<Value>,
    /// The number of writes that the client sends after this one. A dry run stores nothing, so they would
    /// find another object than the real ones.
    pub left_out: usize,
}

/// The reason why nothing is predicted.
#[derive(Clone, Debug, PartialEq)]
pub enum NotPredicted {
    /// The values of the Secret were not asked for.
    Secret,
    /// The kind is not built in, and its definition is not known. The server may pass its requests on to
    /// another one, which may take a dry run for a write.
    UnknownKind,
    /// The object is not one that the core stores.
    NotInstalled(NotInstalled),
    /// The client cannot carry the change.
    Unable,
    /// The client sees that there is nothing to write.
    NothingSent,
    /// The request cannot be sent.
    NotAllowed(NotAllowed),
}

impl fmt::Display for NotPredicted {
    /// In English, for tests and command lines. The page takes its words from its catalogue.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret => f.write_str("the values of the Secret were not read"),
            Self::UnknownKind => {
                f.write_str("the kind is not built in, and its definition was not read")
            }
            Self::NotInstalled(why) => write!(f, "{why}"),
            Self::Unable => f.write_str("this client cannot write the change"),
            Self::NothingSent => f.write_str("this client sees that there is nothing to write"),
            Self::NotAllowed(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for NotPredicted {}

impl RemotePrediction {
    /// Runs the first write of a client on the core, as a dry run. `case` has the object as the server has it
    /// now, the manifest, and the definition of a custom resource; `secrets` says whether it has the values of
    /// Secrets.
    ///
    /// # Errors
    /// If there is no such write, or it cannot be sent as a dry run.
    pub fn new(
        case: &Case,
        kind: &RemoteKind,
        change: WantedChange,
        way: Way,
        secrets: bool,
    ) -> Result<Self, NotPredicted> {
        if kind.is_secret() && !secrets {
            return Err(NotPredicted::Secret);
        }
        if !kind.is_built_in() && !case.definitions.iter().any(|it| defines(it, kind)) {
            return Err(NotPredicted::UnknownKind);
        }
        let installed = case.install().map_err(NotPredicted::NotInstalled)?;
        let server = installed.world.server().clone();
        let row = ChangeTable::new(&installed, change).row(way);
        let row = row.ok_or(NotPredicted::Unable)?;
        let first = row.requests.first().ok_or(NotPredicted::NothingSent)?;
        let request = sent(by_hand(first)).ok_or(NotPredicted::NotAllowed(NotAllowed::Path))?;
        let request = RemoteRequest::dry_run(request).map_err(NotPredicted::NotAllowed)?;
        let answer = server.clone().handle(request.request().clone());
        Ok(Self {
            core: Exchange::new(request.request(), &answer),
            request,
            live: Arc::clone(&row.before),
            server,
            definitions: case.definitions.clone(),
            left_out: row.requests.len() - 1,
        })
    }

    /// The dry run to send.
    pub fn request(&self) -> &RemoteRequest {
        &self.request
    }

    /// The dry run with the core's answer.
    pub fn core(&self) -> &Exchange {
        &self.core
    }

    /// The version of the object that the prediction is about.
    pub fn version(&self) -> &str {
        self.live.resource_version()
    }

    /// Returns the differences between a real answer and the core's: in the status code, the warnings and the
    /// body, by pointers as in recordings (`/status`, `/warnings`, `/response/…`). Not compared are times,
    /// the number of a new version, and addresses and ports that a server chooses now. If the codes differ, only the codes and the messages are compared.
    pub fn differences(&self, answer: &RemoteAnswer) -> Vec<Difference> {
        let real = self.real(answer);
        let difference = |pointer: &str, recorded: Value, core: Value| Difference {
            pointer: pointer.to_owned(),
            recorded: Some(recorded).filter(|it| !it.is_null()),
            core: Some(core).filter(|it| !it.is_null()),
        };
        let mut found = Vec::new();
        if real.code != self.core.code {
            found.push(difference(
                "/status",
                json!(real.code),
                json!(self.core.code),
            ));
            for field in ["reason", "message"] {
                let of = |exchange: &Exchange| match text(&exchange.received, "kind") {
                    "Status" => exchange.received.get(field).cloned().unwrap_or_default(),
                    _ => Value::Null,
                };
                let pointer = format!("/response/{field}");
                found.push(difference(&pointer, of(&real), of(&self.core)));
            }
            found.retain(|it| it.recorded != it.core);
            return found;
        }
        // A refused request may carry the warnings of an attempt that was thrown away.
        if real.code < 300 && real.warnings != self.core.warnings {
            let warnings = [&real, &self.core].map(|it| json!(it.warnings));
            let [recorded, core] = warnings;
            found.push(difference("/warnings", recorded, core));
        }
        let known = Some((&*self.live, KnownObject::Recorded));
        let named = self.named();
        let bodies = body_differences(&real.received, &self.core.received, known, &named);
        found.extend(bodies.into_iter().map(|it| Difference {
            pointer: format!("/response{}", it.pointer),
            ..it
        }));
        found
    }

    /// The object, the dry run and a real answer as a recording, which the replayer of `optimist-recordings`
    /// runs against the core and against any server.
    pub fn recording(&self, name: &str, answer: &RemoteAnswer) -> String {
        let mut real = self.real(answer);
        self.named().hide_others(Arc::make_mut(&mut real.received));
        recording(name, &self.server, &self.definitions, &self.live, &real)
    }

    /// The addresses and ports that the server did not choose for this dry run.
    fn named(&self) -> NamedValues {
        NamedValues::new(Some(&self.live), Some(&self.core.sent))
    }

    fn real(&self, answer: &RemoteAnswer) -> Exchange {
        Exchange::new(self.request.request(), &answer.response())
    }
}

/// A request as it is written by hand, sent.
fn sent(by_hand: ByHand) -> Option<Request<Vec<u8>>> {
    let mut request = Request::builder()
        .method(by_hand.method.as_str())
        .uri(&by_hand.target)
        .header(USER_AGENT, AGENT);
    if !by_hand.body.is_empty() {
        request = request.header(CONTENT_TYPE, &by_hand.content_type);
    }
    request.body(by_hand.body.into_bytes()).ok()
}

/// Returns whether a definition is that of a kind.
fn defines(definition: &Value, kind: &RemoteKind) -> bool {
    definition.name() == kind.resource()
}
