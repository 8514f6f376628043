//! The server of a test.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Method, Request};
use optimist_apiserver::apply::Owners;
use optimist_apiserver::environment::Environment;
use optimist_apiserver::server::{ApiServer, Authorization};
use optimist_apiserver::shared::{Clock, SharedServer};
use optimist_client::{ObjectReader, load, load_order};
use optimist_ledger::{Done, Edit, Ledger};
use serde_json::Value;

use crate::client::TestClient;
use crate::exchange::Exchange;
use crate::rule::Rule;

/// An API server for a test. Clones are the same server; a [`fork`](Self::fork) is another one.
#[derive(Clone, Debug)]
pub struct TestServer {
    shared: SharedServer,
    record: Arc<Mutex<Record>>,
}

/// What is known of the requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) ledger: Ledger<usize>,
    clients: Vec<String>,
    rules: Vec<Rule>,
    lost: Vec<LostUpdate>,
}

/// An accepted edit that another client's write took away without having been shown it.
#[derive(Clone, Debug)]
pub struct LostUpdate {
    /// Whose edit it was.
    pub owner: String,
    /// The edit, with the value that was lost.
    pub edit: Arc<Edit>,
    /// Whose write took it away.
    pub culprit: String,
}

impl fmt::Display for LostUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = match self.edit.path.to_string() {
            whole if whole.is_empty() => "the object".to_owned(),
            path => path,
        };
        let Self { owner, culprit, .. } = self;
        write!(f, "{culprit} took away {path}, which {owner} had written")
    }
}

impl Default for TestServer {
    /// A server with what a kube-apiserver has right after its start. Its uids and names are the same in
    /// every run.
    fn default() -> Self {
        let environment = Environment::default();
        Self::new(ApiServer::fresh(environment, Authorization::AlwaysAllow))
    }
}

impl TestServer {
    /// A test around a server.
    pub fn new(server: ApiServer) -> Self {
        Self {
            shared: SharedServer::new(server, Clock::Virtual),
            record: Arc::default(),
        }
    }

    /// Has the objects of a text from the start: YAML documents, JSON, lists. Definitions come first,
    /// namespaces are created, and an object with a uid is stored as it is.
    ///
    /// # Errors
    /// The line of an object that cannot be read, or the message of the server that does not take it.
    pub fn with_objects(self, text: &str) -> Result<Self, String> {
        let mut reader = ObjectReader::of_many(text.into()).map_err(|it| it.to_string())?;
        while reader.advance().map_err(|it| it.to_string())? {}
        let mut objects = reader.finish();
        objects.retain(|object| !object.is_null());
        objects.sort_by_key(load_order);
        self.act(|server, _| {
            objects
                .into_iter()
                .try_for_each(|object| load(server, object))
        })?;
        Ok(self)
    }

    /// A client by name. The same name is the same client.
    pub fn client(&self, name: &str) -> TestClient {
        let id = self.act(|_, record| {
            let known = record.clients.iter().position(|it| it == name);
            known.unwrap_or_else(|| {
                record.clients.push(name.to_owned());
                record.clients.len() - 1
            })
        });
        TestClient::new(self.clone(), name.to_owned(), id)
    }

    /// Adds a rule. Of several that have an answer, the first one gives it.
    pub fn add(&self, rule: Rule) {
        self.act(|_, record| record.rules.push(rule));
    }

    /// Lets time pass: it does not pass by itself.
    pub fn advance(&self, by: Duration) {
        self.shared.advance(by);
    }

    /// Another server that begins with everything that this one has: objects, versions, time, rules and the
    /// log. What happens on one of them does not happen on the other.
    #[must_use]
    pub fn fork(&self) -> Self {
        let (server, record) = self.act(|server, record| (server.clone(), record.clone()));
        Self {
            shared: SharedServer::new(server, Clock::Virtual),
            record: Arc::new(Mutex::new(record)),
        }
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Exchange> {
        self.act(|_, record| record.exchanges.clone())
    }

    /// The accepted writes that changed nothing.
    pub fn writes_without_change(&self) -> Vec<Exchange> {
        let mut requests = self.requests();
        requests.retain(Exchange::is_write_without_change);
        requests
    }

    /// The edits that were accepted and then lost, in this order. An edit that its remover had been shown,
    /// by an answer or by an event of a watch, is not lost but replaced.
    pub fn lost_updates(&self) -> Vec<LostUpdate> {
        self.act(|_, record| record.lost.clone())
    }

    /// Fails the test if an update was lost, and prints what happened.
    ///
    /// # Panics
    /// If an update was lost.
    #[track_caller]
    pub fn assert_no_lost_update(&self) {
        let lost: Vec<String> = self
            .lost_updates()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(lost.is_empty(), "{}\n{}", lost.join("\n"), self.lanes());
    }

    /// The managers that own a field, which is a JSON pointer into the object, such as `/spec/replicas`. The
    /// object is `namespace/name`, or `name` if it has no namespace. Nobody owns what is not there.
    pub fn owners(&self, api_version: &str, kind: &str, object: &str, field: &str) -> Vec<String> {
        let (namespace, name) = object.split_once('/').unwrap_or(("", object));
        self.act(|server, _| {
            let resource = server.resources().by_kind(api_version, kind).cloned()?;
            let request = Request::get(resource.path(namespace, name)).body(Vec::new());
            let response = server.handle(request.ok()?);
            let object: Value = serde_json::from_slice(response.body()).ok()?;
            let owners = Owners::of(&object, &resource.root);
            let names = owners.at(field).into_iter();
            let names = names.filter_map(|number| owners.managers().get(number));
            Some(names.map(|manager| manager.name.clone()).collect())
        })
        .unwrap_or_default()
    }

    /// What happened, a line for each request.
    pub fn lanes(&self) -> String {
        let lines = self.requests();
        lines
            .iter()
            .map(|exchange| format!("{exchange}\n"))
            .collect()
    }

    pub(crate) fn shared(&self) -> &SharedServer {
        &self.shared
    }

    /// Does something with the server and with what is known of the requests.
    pub(crate) fn act<T>(&self, act: impl FnOnce(&mut ApiServer, &mut Record) -> T) -> T {
        self.shared.with(|server| {
            let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
            act(server, &mut record)
        })
    }
}

impl Record {
    /// The answer of a rule.
    pub(crate) fn fault(
        &mut self,
        client: &str,
        method: &Method,
        path: &str,
    ) -> Option<(u16, Value)> {
        let rules = self.rules.iter_mut();
        // Each rule counts the request.
        let answers: Vec<_> = rules
            .filter_map(|it| it.answer(client, method, path))
            .collect();
        answers.into_iter().next()
    }

    pub(crate) fn lose(&mut self, culprit: usize, done: Done<usize>) {
        let name = |id: usize| self.clients.get(id).cloned().unwrap_or_default();
        let lost = done.losses.into_iter().map(|loss| LostUpdate {
            owner: name(loss.owner),
            edit: loss.edit,
            culprit: name(culprit),
        });
        let lost: Vec<_> = lost.collect();
        self.lost.extend(lost);
    }
}
