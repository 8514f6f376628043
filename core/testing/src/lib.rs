//! A Kubernetes API server for tests, in one process: no download, no container, no socket.
//!
//! It answers as kube-apiserver v1.36 does, with watches, server-side apply, preconditions, dry runs and
//! custom resources. Two lines lead to a `kube::Client`:
//!
//! ```ignore
//! let server = TestServer::default();
//! let client = kube::Client::new(server.client("my-controller"), "default");
//! ```
//!
//! A [`TestClient`] is a `tower::Service`, so this crate does not depend on kube. Give each program of the
//! test a client of its own name: the log and the lost updates name it.
//!
//! # A conflict
//!
//! ```
//! use optimist_testing::TestServer;
//! use serde_json::{Value, json};
//!
//! let server = TestServer::default().with_objects("
//! apiVersion: v1
//! kind: ConfigMap
//! metadata: {name: settings}
//! data: {colour: blue}
//! ").unwrap();
//! let path = "/api/v1/namespaces/default/configmaps/settings";
//! let (alice, bob) = (server.client("alice"), server.client("bob"));
//! let mut mine = alice.send("GET", path, &Value::Null).body;
//! let mut yours = bob.send("GET", path, &Value::Null).body;
//! mine["data"]["colour"] = "red".into();
//! assert_eq!(alice.send("PUT", path, &mine).code, 200);
//! yours["data"]["size"] = "9".into();
//! assert_eq!(bob.send("PUT", path, &yours).code, 409);
//!
//! // Without a version, the second write takes the first one away.
//! yours["metadata"]["resourceVersion"] = Value::Null;
//! assert_eq!(bob.send("PUT", path, &yours).code, 200);
//! let lost = server.lost_updates();
//! assert_eq!(lost[0].to_string(), "bob took away .data.colour, which alice had written");
//! ```
//!
//! # An apply, and who owns a field
//!
//! ```
//! use optimist_testing::TestServer;
//! use serde_json::json;
//!
//! let server = TestServer::default();
//! let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
//! let path = "/api/v1/namespaces/default/configmaps/a?fieldManager=gitops";
//! let gitops = server.client("gitops");
//! assert_eq!(gitops.send("PATCH", path, &map).code, 201);
//! assert_eq!(server.owners("v1", "ConfigMap", "default/a", "/data/k"), ["gitops"]);
//! // The same again changes nothing.
//! gitops.send("PATCH", path, &map);
//! assert_eq!(server.writes_without_change().len(), 1);
//! ```
//!
//! # A fault by rule
//!
//! ```
//! use optimist_testing::{Rule, TestServer};
//! use serde_json::json;
//!
//! let server = TestServer::default();
//! server.add(Rule::on("POST", "/configmaps").nth(2).refuses(429));
//! let client = server.client("c");
//! let create = |name: &str| {
//!     let map = json!({"metadata": {"name": name}});
//!     client.send("POST", "/api/v1/namespaces/default/configmaps", &map).code
//! };
//! assert_eq!([create("a"), create("b"), create("b")], [201, 429, 201]);
//! println!("{}", server.lanes());
//! ```
//!
//! A rule can also lose a request or its answer, delay either on the clock of the test, or tell the test of it:
//! see [`Rule`].
//!
//! # A reconciler, and a watch
//!
//! With kube, both run against [`TestServer::client`] as they are; `clients/tests/testing.rs` of the repository
//! has a `Controller` and a `watcher`. A reconciler is most often wrong where somebody else writes between its
//! read and its write. An observer does that at the same place in every run:
//!
//! ```
//! use optimist_testing::{Rule, TestClient, TestServer};
//! use serde_json::{Value, json};
//!
//! /// Reads, decides and writes; after a conflict again.
//! fn reconcile(client: &TestClient, path: &str) -> u16 {
//!     loop {
//!         let mut object = client.send("GET", path, &Value::Null).body;
//!         if object["metadata"]["labels"]["seen"] == "yes" {
//!             return 200;
//!         }
//!         object["metadata"]["labels"]["seen"] = "yes".into();
//!         match client.send("PUT", path, &object).code {
//!             409 => continue,
//!             code => return code,
//!         }
//!     }
//! }
//!
//! let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
//! let server = TestServer::default().with_object(&map).unwrap();
//! let (path, user) = ("/api/v1/namespaces/default/configmaps/a", server.client("user"));
//! server.add(Rule::on("GET", path).from_client("reconciler").nth(1).observes(move |_| {
//!     user.send("PATCH", path, &json!({"data": {"k": "v"}}));
//! }));
//! assert_eq!(reconcile(&server.client("reconciler"), path), 200);
//! server.assert_no_lost_update();
//! server.assert_no_write_without_change();
//! let requests = server.requests();
//! let codes: Vec<u16> = requests.iter().filter(|it| it.client == "reconciler").map(|it| it.code).collect();
//! assert_eq!(codes, [200, 409, 200, 200]);
//! ```
//!
//! # If a test fails
//!
//! It prints [its requests](TestServer::lanes), a line for each, with
//! [`keeping_failures_in`](TestServer::keeping_failures_in) it also keeps them as an audit log. *Diagnose* of the
//! page opens such a file: it draws each client in a lane, runs the same requests on the same server, and says
//! what was lost. With [`drawing_failures_with`](TestServer::drawing_failures_with) it writes that page itself, with the
//! requests in it, as one HTML file, and prints where it is.
//!
//! # From envtest
//!
//! `testEnv.Start()` becomes `TestServer::default()`, `CRDDirectoryPaths` becomes
//! [`with_objects`](TestServer::with_objects) with the text of the definitions, or
//! `with_crd::<Widget>()` (feature `kube`) for a type that derives `kube::CustomResource`. `testEnv.Stop()` has no
//! equivalent: the server goes with its last client. As in envtest there are no controllers, so nobody
//! collects garbage or finishes a namespace. Time is the test's: [`advance`](TestServer::advance).
//!
//! # From a mock
//!
//! Instead of a list of expected requests and prepared answers, say what the server has
//! ([`with_objects`](TestServer::with_objects)), run the program, and ask what it has done
//! ([`requests`](TestServer::requests), [`writes_without_change`](TestServer::writes_without_change),
//! [`lost_updates`](TestServer::lost_updates)). An error that the server would not give by itself is a
//! [`Rule`].
//!
//! # What it does not have
//!
//! Authentication, admission webhooks and controllers. `docs/test-servers.md` of the repository compares it with
//! other servers and mocks for tests.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod body;
mod client;
mod exchange;
mod failure;
mod lost_update;
mod rule;
mod server;

pub use body::Body;
pub use client::{Answer, NoAnswer, TestClient};
pub use exchange::LoggedRequest;
pub use lost_update::LostUpdate;
pub use optimist_client::Lost;
pub use rule::Rule;
pub use server::TestServer;
