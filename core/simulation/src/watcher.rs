//! A client that watches the object: its stream of events, the events that it misses while the
//! connection is down, and the reaction of a reflector when its version is too old
//! (`k8s.io/client-go/tools/cache/reflector.go`).

use std::sync::Arc;

use http::{Request, header};
use imbl::Vector;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ObjectRef;
use super::step::Exchange;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{ApiServer, EventType, Resource, Watch, WatchEvent};
use optimist_apiserver::storage::Revision;
use optimist_client::{ValueChange, changes_by_item};

/// An action of a watcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WatchAction {
    /// Open a watch from a resourceVersion; an empty one is left unset. An open watch is closed
    /// first.
    Open(String),
    /// Open a watch from the last seen version.
    Resume,
    /// Drop the connection.
    Drop,
    /// List, not older than the last seen version: how a reflector starts again.
    List,
}

/// The state of a watcher's connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Connection {
    /// It has not watched yet.
    #[default]
    None,
    /// A watch is open.
    Open {
        /// The resourceVersion at which it begins; empty if that was left unset.
        from: String,
    },
    /// The watcher dropped it.
    Dropped,
    /// The server ended it.
    Closed,
    /// The server refused it, or ended it with an error.
    Failed {
        /// The code of the `metav1.Status`; 410 if the version is too old.
        code: u16,
        /// The server's message.
        message: String,
    },
    /// The watcher has a list, and opens a watch from its version next.
    Listed,
}

/// An event that reached the watcher.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// The event.
    pub event: WatchEvent,
    /// The version of its object; 0 if it carries none.
    pub version: Revision,
    /// The changed fields; empty except for `MODIFIED`.
    pub effect: Vec<ValueChange>,
}

impl Received {
    /// `410 Expired`, if it is an error.
    pub fn status_line(&self) -> Option<String> {
        self.status().map(status_line)
    }

    /// The code of its status, if it is an error.
    pub fn code(&self) -> Option<u16> {
        self.status().and_then(status_code)
    }

    /// The server's message, if it is an error.
    pub fn message(&self) -> Option<&str> {
        Some(text(self.status()?, "message"))
    }

    /// Returns whether it is an error that the version is too old (410).
    pub(super) fn is_expired(&self) -> bool {
        self.status().is_some_and(|status| status["code"] == 410)
    }

    /// The `metav1.Status`, if it is an error.
    pub(super) fn status(&self) -> Option<&Value> {
        (self.event.event_type == EventType::Error).then_some(&*self.event.object)
    }
}

/// The code and the reason of a `metav1.Status`: `410 Expired`.
pub(super) fn status_line(status: &Value) -> String {
    format!("{} {}", status["code"], text(status, "reason"))
}

/// The code of a `metav1.Status`.
pub(super) fn status_code(status: &Value) -> Option<u16> {
    status["code"].as_u64()?.try_into().ok()
}

/// The state of a watcher. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Watcher {
    resource: Arc<Resource>,
    /// The path that is watched, and the selector of the one object.
    target: Arc<str>,
    watch: Option<Watch>,
    connection: Connection,
    seen: String,
    received: Vector<Arc<Received>>,
}

impl Watcher {
    pub(super) fn new(subject: &ObjectRef) -> Self {
        let path = subject.resource().path(subject.namespace(), "");
        let name = subject.name();
        Self {
            resource: Arc::clone(subject.resource()),
            target: format!("{path}?fieldSelector=metadata.name%3D{name}").into(),
            watch: None,
            connection: Connection::None,
            seen: String::new(),
            received: Vector::new(),
        }
    }

    /// The state of its connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The last resourceVersion that it saw. A resumed watch starts there.
    pub fn last_version(&self) -> &str {
        &self.seen
    }

    /// Every event that it received, oldest first.
    pub fn received(&self) -> &Vector<Arc<Received>> {
        &self.received
    }

    /// Performs an action and returns its request and answer, without the events of the stream.
    /// `None` if the action is not possible in the present state.
    pub(super) fn act(
        &mut self,
        server: &mut ApiServer,
        action: &WatchAction,
    ) -> Option<Option<Exchange>> {
        match action {
            WatchAction::Open(version) => self.open(server, version.clone()).map(Some),
            WatchAction::Resume if self.watch.is_none() => {
                self.open(server, self.seen.clone()).map(Some)
            }
            WatchAction::Drop if self.watch.is_some() => {
                self.watch = None;
                self.connection = Connection::Dropped;
                Some(None)
            }
            WatchAction::List if self.watch.is_none() => self.list(server).map(Some),
            _ => None,
        }
    }

    /// Receives the events that have arrived.
    pub(super) fn poll(&mut self, server: &ApiServer) -> Vec<Arc<Received>> {
        let Some(watch) = &mut self.watch else {
            return Vec::new();
        };
        let events = watch.poll(server);
        let is_open = watch.is_open();
        let arrived: Vec<_> = events
            .into_iter()
            .map(|event| Arc::new(self.receive(server, event)))
            .collect();
        self.received.extend(arrived.iter().cloned());
        if !is_open {
            self.watch = None;
            if matches!(self.connection, Connection::Open { .. }) {
                self.connection = Connection::Closed;
            }
        }
        arrived
    }

    fn receive(&mut self, server: &ApiServer, event: WatchEvent) -> Received {
        if event.event_type == EventType::Error {
            self.connection = failed(&event.object);
            return Received {
                event,
                version: 0,
                effect: Vec::new(),
            };
        }
        self.seen = event.object.resource_version().to_owned();
        let version: Revision = self.seen.parse().unwrap_or_default();
        let mut effect = Vec::new();
        if event.event_type == EventType::Modified {
            let mut log = server.store().log_after(version.saturating_sub(1));
            if let Some(before) = log.next().and_then(|change| change.before.as_ref()) {
                effect = changes_by_item(before, &event.object, &self.resource.root);
                effect.retain(|change| !change.is_bookkeeping());
            }
        }
        Received {
            event,
            version,
            effect,
        }
    }

    fn open(&mut self, server: &ApiServer, version: String) -> Option<Exchange> {
        let request = self.request(&version, true)?;
        let exchange = match server.watch(&request) {
            Ok(watch) => {
                self.watch = Some(watch);
                self.connection = Connection::Open {
                    from: version.clone(),
                };
                Exchange::stream(&request, Vec::new())
            }
            Err(response) => {
                let exchange = Exchange::new(&request, &response);
                self.watch = None;
                self.connection = failed(&exchange.received);
                exchange
            }
        };
        self.seen = version;
        Some(exchange)
    }

    fn list(&mut self, server: &mut ApiServer) -> Option<Exchange> {
        let request = self.request(&self.seen, false)?;
        let response = server.handle(request.clone());
        let exchange = Exchange::new(&request, &response);
        let list = &exchange.received;
        if exchange.code >= 400 {
            self.connection = failed(list);
            return Some(exchange);
        }
        self.seen = list.resource_version().to_owned();
        self.connection = Connection::Listed;
        Some(exchange)
    }

    fn request(&self, version: &str, watch: bool) -> Option<Request<Vec<u8>>> {
        let mut target = self.target.to_string();
        if !version.is_empty() {
            target.push_str("&resourceVersion=");
            target.push_str(version);
        }
        if watch {
            target.push_str("&watch=true");
        }
        let request = Request::get(target).header(header::USER_AGENT, "watcher");
        request.body(Vec::new()).ok()
    }
}

fn failed(status: &Value) -> Connection {
    let code = status.get("code").and_then(Value::as_u64);
    Connection::Failed {
        code: code
            .and_then(|code| code.try_into().ok())
            .unwrap_or_default(),
        message: text(status, "message").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, ActorId, HistoryTree, NGINX, Operation, Outcome, Step, World};
    use optimist_client::{Write, edit_scalar};

    fn session() -> HistoryTree {
        let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
        tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
        tree
    }

    fn watch(tree: &mut HistoryTree, action: WatchAction) -> Step {
        let node = tree.act(Operation::Watch(action)).unwrap();
        tree.step(node).unwrap().clone()
    }

    fn open(tree: &mut HistoryTree, version: &str) -> Step {
        watch(tree, WatchAction::Open(version.to_owned()))
    }

    fn change(tree: &mut HistoryTree, replicas: &str) -> Step {
        let copy = tree.world_mut().copy_mut(ActorId::A);
        let object = edit_scalar(copy.edited().unwrap(), "/spec/replicas", replicas).unwrap();
        copy.edit(object);
        let send = Operation::Act(ActorId::A, Action::Send(Write::default()));
        let node = tree.act(send).unwrap();
        tree.step(node).unwrap().clone()
    }

    fn compact(tree: &mut HistoryTree, restart: bool) {
        tree.act(Operation::Compact { restart }).unwrap();
    }

    fn events(step: &Step) -> Vec<String> {
        let events = step.arrived.iter();
        events
            .map(|received| {
                let effect: Vec<_> = received.effect.iter().map(ToString::to_string).collect();
                let event_type = received.event.event_type;
                format!("{event_type} {} {}", received.version, effect.join(", "))
                    .trim_end()
                    .to_owned()
            })
            .collect()
    }

    fn code(tree: &HistoryTree) -> Option<u16> {
        match tree.world().watcher().connection() {
            Connection::Failed { code, .. } => Some(*code),
            _ => None,
        }
    }

    #[test]
    fn an_open_watch_hears_of_a_change_in_the_step_that_makes_it() {
        let mut tree = session();
        let step = open(&mut tree, "");
        assert_eq!(events(&step), ["ADDED 100"]);
        let exchange = step.exchange.as_ref().unwrap();
        assert_eq!(
            exchange.target,
            "/apis/apps/v1/namespaces/default/deployments\
             ?fieldSelector=metadata.name%3Dnginx-deployment&watch=true"
        );
        assert_eq!(
            (exchange.code, &exchange.received[0]["type"]),
            (200, &"ADDED".into())
        );
        assert_eq!(
            events(&change(&mut tree, "5")),
            ["MODIFIED 101 replicas 3→5"]
        );
        assert_eq!(tree.world().watcher().last_version(), "101");
    }

    #[test]
    fn what_was_missed_while_the_connection_was_down_comes_when_it_resumes() {
        let mut tree = session();
        assert_eq!(events(&open(&mut tree, "100")), [""; 0]);
        watch(&mut tree, WatchAction::Drop);
        for replicas in ["5", "6"] {
            assert!(change(&mut tree, replicas).arrived.is_empty());
        }
        assert_eq!(tree.world().missed(), 2);
        let step = watch(&mut tree, WatchAction::Resume);
        assert_eq!(
            events(&step),
            ["MODIFIED 101 replicas 3→5", "MODIFIED 102 replicas 5→6"]
        );
        assert_eq!(tree.world().missed(), 0);
    }

    #[test]
    fn after_a_compaction_and_with_an_empty_cache_an_old_version_is_410_and_a_list_mends_it() {
        let mut tree = session();
        open(&mut tree, "100");
        watch(&mut tree, WatchAction::Drop);
        change(&mut tree, "5");
        change(&mut tree, "6");
        compact(&mut tree, true);
        let step = watch(&mut tree, WatchAction::Resume);
        assert_eq!(step.outcome(), Outcome::Refused);
        assert_eq!(step.exchange.as_ref().unwrap().code, 200, "in the stream");
        assert_eq!(step.message(), Some("too old resource version: 100 (102)"));
        assert_eq!(code(&tree), Some(410));
        let step = watch(&mut tree, WatchAction::List);
        assert_eq!(step.outcome(), Outcome::Read);
        assert_eq!(tree.world().watcher().last_version(), "102");
        assert!(watch(&mut tree, WatchAction::Resume).arrived.is_empty());
        assert_eq!(
            events(&change(&mut tree, "7")),
            ["MODIFIED 103 replicas 6→7"]
        );
    }

    #[test]
    fn a_compaction_alone_takes_nothing_from_the_watch_cache() {
        let mut tree = session();
        change(&mut tree, "5");
        compact(&mut tree, false);
        assert_eq!(tree.world().versions().count(), 1, "etcd forgot the others");
        assert_eq!(
            events(&open(&mut tree, "100")),
            ["MODIFIED 101 replicas 3→5"]
        );
        assert_eq!(
            tree.act(Operation::Compact { restart: false }),
            None,
            "there is nothing left to forget"
        );
        compact(&mut tree, true);
        assert_eq!(*tree.world().watcher().connection(), Connection::Closed);
        open(&mut tree, "100");
        assert_eq!(code(&tree), Some(410));
    }

    #[test]
    fn a_stale_copy_stays_as_stale_whatever_etcd_forgets() {
        let mut tree = session();
        tree.act(Operation::Act(ActorId::B, Action::Get)).unwrap();
        for replicas in ["5", "6", "7"] {
            change(&mut tree, replicas);
        }
        compact(&mut tree, true);
        assert_eq!(tree.world().stale_by(ActorId::B), 3);
        assert_eq!(
            tree.world().revisions().collect::<Vec<_>>(),
            [100, 101, 102, 103]
        );
    }

    #[test]
    fn stepping_back_restores_the_watch_as_it_was() {
        let mut tree = session();
        open(&mut tree, "");
        change(&mut tree, "5");
        watch(&mut tree, WatchAction::Drop);
        assert!(tree.back() && tree.back());
        assert_eq!(tree.world().watcher().received().len(), 1);
        assert_eq!(
            events(&change(&mut tree, "8")),
            ["MODIFIED 101 replicas 3→8"],
            "the other branch is watched by a watch of its own"
        );
    }

    #[test]
    fn what_makes_no_sense_is_no_step() {
        let mut tree = session();
        let nodes = tree.current_path().len();
        assert_eq!(tree.act(Operation::Watch(WatchAction::Drop)), None);
        open(&mut tree, "");
        for action in [WatchAction::Resume, WatchAction::List] {
            assert_eq!(tree.act(Operation::Watch(action)), None);
        }
        assert_eq!(tree.current_path().len(), nodes + 1);
    }

    #[test]
    fn a_version_that_is_none_is_refused_before_the_stream_begins() {
        let mut tree = session();
        let step = open(&mut tree, "soon");
        assert_eq!(step.outcome(), Outcome::Refused);
        assert_eq!(step.exchange.unwrap().code, 500); // as recorded
        assert!(code(&tree).is_some());
    }
}
