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
//! # From envtest
//!
//! `testEnv.Start()` becomes `TestServer::default()`, `CRDDirectoryPaths` becomes
//! [`with_objects`](TestServer::with_objects) with the text of the definitions, and `testEnv.Stop()` has no
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
//! Authentication, admission webhooks, controllers, and answers that are lost on the way.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod body;
mod client;
mod exchange;
mod rule;
mod server;

pub use body::Body;
pub use client::{Answer, TestClient};
pub use exchange::Exchange;
pub use rule::Rule;
pub use server::{LostUpdate, TestServer};
