//! The server of a test.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Method, Request};
use optimist_apiserver::apply::Owners;
use optimist_apiserver::environment::Environment;
use optimist_apiserver::server::{ApiServer, Authorization};
use optimist_apiserver::shared::{Clock, SharedServer};
use optimist_client::{ObjectReader, load, load_order};
use optimist_ledger::{Done, Ledger};
use serde::Serialize;
use serde_json::Value;

use crate::client::TestClient;
use crate::exchange::LoggedRequest;
use crate::failure::{FailureReport, Report};
use crate::lost_update::LostUpdate;
use crate::rule::{Interception, Rule};

/// An API server for a test. Clones are the same server; a [`fork`](Self::fork) is another one. If its test
/// fails, it prints the [lanes](Self::lanes).
///
/// ```
/// use optimist_testing::TestServer;
///
/// let server = TestServer::default();
/// assert_eq!(server.client("c").send("GET", "/healthz", &serde_json::Value::Null).body, "ok");
/// ```
#[derive(Clone, Debug)]
pub struct TestServer {
    shared: SharedServer,
    record: Arc<Mutex<RequestRecord>>,
    failure: Arc<FailureReport>,
}

/// The requests so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestRecord {
    pub(crate) exchanges: Vec<LoggedRequest>,
    pub(crate) ledger: Ledger<usize>,
    clients: Vec<String>,
    rules: Vec<Rule>,
    lost: Vec<LostUpdate>,
}

impl Default for TestServer {
    /// Makes a server with the objects that a kube-apiserver has right after its start. Its uids and names are
    /// the same in every run.
    fn default() -> Self {
        let environment = Environment::default();
        Self::new(ApiServer::fresh(environment, Authorization::AlwaysAllow))
    }
}

impl TestServer {
    /// A test around a server.
    ///
    /// ```
    /// use optimist_apiserver::environment::Environment;
    /// use optimist_apiserver::server::{ApiServer, Authorization};
    /// use optimist_testing::TestServer;
    ///
    /// let mut server = ApiServer::fresh(Environment::default(), Authorization::Rbac);
    /// server.set_release("1.36.2".parse().unwrap());
    /// let test = TestServer::new(server);
    /// let version = test.client("c").send("GET", "/version", &serde_json::Value::Null).body;
    /// assert_eq!(version["gitVersion"], "v1.36.2");
    /// ```
    pub fn new(server: ApiServer) -> Self {
        Self::with_record(server, RequestRecord::default(), Report::default())
    }

    fn with_record(server: ApiServer, record: RequestRecord, report: Report) -> Self {
        let shared = SharedServer::new(server, Clock::Virtual);
        let record = Arc::new(Mutex::new(record));
        let failure = FailureReport::new(shared.clone(), Arc::clone(&record), report);
        Self {
            shared,
            record,
            failure: Arc::new(failure),
        }
    }

    /// If the test fails, its requests are kept in a file of this directory as well: an audit log, which
    /// *Diagnose* of the page opens. The file has the name of the test. For an integration test,
    /// `env!("CARGO_TARGET_TMPDIR")` is a good directory.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    ///
    /// let server = TestServer::default().keeping_failures_in(std::env::temp_dir());
    /// assert!(server.lost_updates().is_empty());
    /// ```
    #[must_use]
    pub fn keeping_failures_in(self, directory: impl Into<PathBuf>) -> Self {
        self.failure.keep_in(directory.into());
        self
    }

    /// If the test fails, its requests are kept as one HTML file as well, beside their
    /// [audit log](Self::keeping_failures_in): the page with the history in it, which opens from the disk. The
    /// program is `optimist` (`cargo build --release -p optimist`), which makes the file (`optimist explain
    /// --open`), and the directory has the built page (`cargo xtask dist`).
    ///
    /// ```
    /// use optimist_testing::TestServer;
    ///
    /// let server = TestServer::default()
    ///     .keeping_failures_in(std::env::temp_dir())
    ///     .drawing_failures_with("optimist", "dist");
    /// assert!(server.lost_updates().is_empty());
    /// ```
    #[must_use]
    pub fn drawing_failures_with(
        self,
        program: impl Into<PathBuf>,
        page: impl Into<PathBuf>,
    ) -> Self {
        self.failure.draw_with(program.into(), page.into());
        self
    }

    /// Has the objects of a text from the start: YAML documents, JSON, lists. Definitions come first,
    /// namespaces are created, and an object with a uid is stored as it is.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    ///
    /// let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}";
    /// let server = TestServer::default().with_objects(map).unwrap();
    /// let read = server.client("c").send("GET", "/api/v1/namespaces/shop/configmaps/a", &serde_json::Value::Null);
    /// assert_eq!(read.code, 200);
    /// assert!(TestServer::default().with_objects("kind: [").is_err());
    /// ```
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

    /// Has one more object from the start: anything that is written as one, such as a type of k8s-openapi, or
    /// `Widget::crd()` of a type that derives `kube::CustomResource`.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    /// use serde_json::{Value, json};
    ///
    /// let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}});
    /// let server = TestServer::default().with_object(&map).unwrap();
    /// let read = server.client("c").send("GET", "/api/v1/namespaces/shop/configmaps/a", &Value::Null);
    /// assert_eq!(read.code, 200);
    /// ```
    ///
    /// # Errors
    /// The reason why it is no object, or the message of the server that does not take it.
    pub fn with_object(self, object: &impl Serialize) -> Result<Self, String> {
        let object = serde_json::to_value(object).map_err(|error| error.to_string())?;
        self.act(|server, _| load(server, object))?;
        Ok(self)
    }

    /// Has the custom resource of a type that derives `kube::CustomResource`, from the start: its definition is
    /// the one that the type makes. Needs the feature `kube`.
    ///
    /// ```ignore
    /// let server = TestServer::default().with_crd::<Widget>()?;
    /// let widgets: Api<Widget> = Api::default_namespaced(Client::new(server.client("c"), "default"));
    /// ```
    ///
    /// # Errors
    /// The message of the server that does not take the definition.
    #[cfg(feature = "kube")]
    pub fn with_crd<K: kube_core::CustomResourceExt>(self) -> Result<Self, String> {
        self.with_object(&K::crd())
    }

    /// A client by name. The same name is the same client.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    ///
    /// let server = TestServer::default();
    /// server.client("alice").send("GET", "/version", &serde_json::Value::Null);
    /// server.client("alice").send("GET", "/healthz", &serde_json::Value::Null);
    /// assert!(server.requests().iter().all(|request| request.client == "alice"));
    /// ```
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

    /// Adds a rule.
    ///
    /// ```
    /// use optimist_testing::{Rule, TestServer};
    /// use serde_json::Value;
    ///
    /// let server = TestServer::default();
    /// server.add(Rule::on("GET", "/version").nth(1).refuses(503));
    /// let version = || server.client("c").send("GET", "/version", &Value::Null).code;
    /// assert_eq!([version(), version()], [503, 200]);
    /// ```
    pub fn add(&self, rule: Rule) {
        self.act(|_, record| record.rules.push(rule));
    }

    /// Lets time pass: it does not pass by itself.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    /// use serde_json::json;
    ///
    /// let server = TestServer::default();
    /// server.advance(std::time::Duration::from_secs(90));
    /// let map = json!({"metadata": {"name": "a"}});
    /// let made = server.client("c").send("POST", "/api/v1/namespaces/default/configmaps", &map).body;
    /// assert_eq!(made["metadata"]["creationTimestamp"], "2026-01-01T00:01:30Z");
    /// ```
    pub fn advance(&self, by: Duration) {
        self.shared.advance(by);
    }

    /// Returns another server that begins with everything that this one has: objects, versions, time, rules and
    /// the log. A request to one of them does not reach the other.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    /// use serde_json::{Value, json};
    ///
    /// let server = TestServer::default();
    /// let other = server.fork();
    /// let map = json!({"metadata": {"name": "a"}});
    /// assert_eq!(server.client("c").send("POST", "/api/v1/namespaces/default/configmaps", &map).code, 201);
    /// let read = other.client("c").send("GET", "/api/v1/namespaces/default/configmaps/a", &Value::Null);
    /// assert_eq!(read.code, 404);
    /// ```
    #[must_use]
    pub fn fork(&self) -> Self {
        let (server, record) = self.act(|server, record| (server.clone(), record.clone()));
        Self::with_record(server, record, self.failure.report())
    }

    /// The requests so far.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    ///
    /// let server = TestServer::default();
    /// server.client("c").send("GET", "/api/v1/namespaces/none", &serde_json::Value::Null);
    /// assert_eq!(server.requests()[0].code, 404);
    /// ```
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.act(|_, record| record.exchanges.clone())
    }

    /// The accepted writes that changed nothing.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    /// use serde_json::json;
    ///
    /// let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
    /// let server = TestServer::default().with_object(&map).unwrap();
    /// server.client("c").send("PATCH", "/api/v1/namespaces/default/configmaps/a", &json!({"metadata": {}}));
    /// assert_eq!(server.writes_without_change()[0].client, "c");
    /// ```
    pub fn writes_without_change(&self) -> Vec<LoggedRequest> {
        let mut requests = self.requests();
        requests.retain(LoggedRequest::is_write_without_change);
        requests
    }

    /// The edits that were accepted and then lost, in this order. An edit that its remover had been shown,
    /// by an answer or by an event of a watch, is not lost but replaced.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    /// use serde_json::json;
    ///
    /// let server = TestServer::default();
    /// let client = server.client("c");
    /// let (path, map) = ("/api/v1/namespaces/default/configmaps/a", json!({"metadata": {"name": "a"}}));
    /// client.send("POST", "/api/v1/namespaces/default/configmaps", &map);
    /// client.send("PATCH", path, &json!({"data": {"k": "1"}}));
    /// // Who takes away its own edit knows it.
    /// client.send("PUT", path, &map);
    /// assert!(server.lost_updates().is_empty());
    /// ```
    pub fn lost_updates(&self) -> Vec<LostUpdate> {
        self.act(|_, record| record.lost.clone())
    }

    /// Fails the test if an update was lost, and prints the losses and the requests.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    ///
    /// let server = TestServer::default();
    /// server.client("c").send("GET", "/version", &serde_json::Value::Null);
    /// server.assert_no_lost_update();
    /// ```
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
        self.check(lost.is_empty(), &lost.join("\n"));
    }

    /// Fails the test if an accepted write changed nothing, and prints the requests.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    /// use serde_json::json;
    ///
    /// let server = TestServer::default();
    /// let map = json!({"metadata": {"name": "a"}});
    /// server.client("c").send("POST", "/api/v1/namespaces/default/configmaps", &map);
    /// server.assert_no_write_without_change();
    /// ```
    ///
    /// # Panics
    /// If a write changed nothing.
    #[track_caller]
    pub fn assert_no_write_without_change(&self) {
        let count = self.writes_without_change().len();
        self.check(count == 0, &format!("{count} writes changed nothing"));
    }

    /// Fails the test if the [owners](Self::owners) of a field are others, and prints the requests.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    /// use serde_json::json;
    ///
    /// let server = TestServer::default();
    /// let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
    /// let path = "/api/v1/namespaces/default/configmaps/a?fieldManager=gitops";
    /// server.client("gitops").send("PATCH", path, &map);
    /// server.assert_owners(("v1", "ConfigMap", "default/a"), "/data/k", &["gitops"]);
    /// ```
    ///
    /// # Panics
    /// If other managers own the field, or own it in another order.
    #[track_caller]
    pub fn assert_owners(
        &self,
        (api_version, kind, object): (&str, &str, &str),
        field: &str,
        expected: &[&str],
    ) {
        let owners = self.owners(api_version, kind, object, field);
        let why = format!("{field} of {kind} {object} is owned by {owners:?}, not by {expected:?}");
        self.check(owners == expected, &why);
    }

    #[track_caller]
    fn check(&self, holds: bool, why: &str) {
        if !holds {
            self.failure.is_told();
            panic!("{why}\n{}", self.lanes());
        }
    }

    /// Returns the managers that own a field, which is a JSON pointer into the object, such as
    /// `/spec/replicas`. The object is `namespace/name`, or `name` if it has no namespace. A field that does
    /// not exist has no owner.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    /// use serde_json::json;
    ///
    /// let server = TestServer::default();
    /// let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
    /// let path = "/api/v1/namespaces/default/configmaps/a?fieldManager=gitops";
    /// server.client("gitops").send("PATCH", path, &map);
    /// assert_eq!(server.owners("v1", "ConfigMap", "default/a", "/data/k"), ["gitops"]);
    /// assert!(server.owners("v1", "ConfigMap", "default/a", "/data/other").is_empty());
    /// ```
    pub fn owners(&self, api_version: &str, kind: &str, object: &str, field: &str) -> Vec<String> {
        let (namespace, name) = object.split_once('/').unwrap_or(("", object));
        self.act(|server, _| {
            let resource = server.resources().by_kind(api_version, kind).cloned()?;
            let request = Request::get(resource.path(namespace, name)).body(Vec::new());
            let response = server.handle(request.ok()?);
            let object: Value = serde_json::from_slice(response.body()).ok()?;
            let owners = Owners::read(&object, &resource.root);
            let names = owners.at(field).into_iter();
            let names = names.filter_map(|number| owners.managers().get(number));
            Some(names.map(|manager| manager.name.clone()).collect())
        })
        .unwrap_or_default()
    }

    /// Returns a line for each request.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    ///
    /// let server = TestServer::default();
    /// server.client("c").send("GET", "/version", &serde_json::Value::Null);
    /// assert_eq!(server.lanes(), "c            GET    /version -> 200\n");
    /// ```
    pub fn lanes(&self) -> String {
        self.act(|_, record| record.lanes())
    }

    /// Returns the requests as an audit log of a kube-apiserver (`--audit-log-path`, level RequestResponse;
    /// Secrets without their values): *Diagnose* of the page opens it. Requests that a rule answered or lost on
    /// the way to the server are not in it.
    ///
    /// ```
    /// use optimist_testing::TestServer;
    ///
    /// let server = TestServer::default();
    /// server.client("c").send("GET", "/api/v1/namespaces/default", &serde_json::Value::Null);
    /// let event: serde_json::Value = serde_json::from_str(&server.audit_log()).unwrap();
    /// assert_eq!((&event["verb"], &event["userAgent"]), (&"get".into(), &"c".into()));
    /// ```
    pub fn audit_log(&self) -> String {
        self.act(|server, record| record.audit_log(server))
    }

    pub(crate) fn shared(&self) -> &SharedServer {
        &self.shared
    }

    /// Does something with the server and with the record of the requests.
    pub(crate) fn act<T>(&self, act: impl FnOnce(&mut ApiServer, &mut RequestRecord) -> T) -> T {
        self.shared.with(|server| {
            let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
            act(server, &mut record)
        })
    }
}

impl RequestRecord {
    /// The effect of the rules on a request.
    pub(crate) fn intercept(&mut self, client: &str, method: &Method, path: &str) -> Interception {
        let mut interception = Interception::default();
        // Each rule counts the request.
        for rule in &mut self.rules {
            rule.meet(client, method, path, &mut interception);
        }
        interception
    }

    pub(crate) fn lanes(&self) -> String {
        let lines = self.exchanges.iter();
        lines.map(|exchange| format!("{exchange}\n")).collect()
    }

    pub(crate) fn audit_log(&self, server: &ApiServer) -> String {
        let numbered = self.exchanges.iter().zip(1..);
        let events = numbered.filter_map(|(exchange, number)| exchange.audit_event(server, number));
        events.map(|event| format!("{event}\n")).collect()
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
