//! A kube-apiserver in a library. A kube-rs client talks to it through the feature `tower`, without
//! a cluster and without a socket (`clients/examples/controller.rs`):
//!
//! ```ignore
//! use std::{sync::Arc, time::Duration};
//!
//! use futures::StreamExt;
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::api::{Api, Patch, PatchParams, PostParams};
//! use kube::runtime::{Controller, controller::Action, watcher};
//! use kube::{Client, ResourceExt};
//! use optimist_apiserver::server::ApiServer;
//! use optimist_apiserver::shared::{Clock, SharedServer};
//!
//! async fn reconcile(map: Arc<ConfigMap>, maps: Arc<Api<ConfigMap>>) -> kube::Result<Action> {
//!     let seen = serde_json::json!({"metadata": {"labels": {"seen": "yes"}}});
//!     let patch = PatchParams::default();
//!     maps.patch(&map.name_any(), &patch, &Patch::Merge(&seen)).await?;
//!     Ok(Action::await_change())
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let server = SharedServer::new(ApiServer::default(), Clock::Wall);
//!     let client = Client::new(server, "default");
//!     let maps: Api<ConfigMap> = Api::default_namespaced(client);
//!     let map = serde_json::from_value(serde_json::json!({"metadata": {"name": "settings"}}))?;
//!     maps.create(&PostParams::default(), &map).await?;
//!     let again = |_: Arc<_>, _: &kube::Error, _| Action::requeue(Duration::from_secs(1));
//!     let mut events = Controller::new(maps.clone(), watcher::Config::default())
//!         .run(reconcile, again, Arc::new(maps.clone()))
//!         .boxed();
//!     events.next().await;
//!     println!("{:?}", maps.get("settings").await?.labels());
//!     Ok(())
//! }
//! ```
//!
//! [`server::ApiServer::handle`] takes an HTTP request and returns the HTTP response that a real
//! server gives; [`server::ApiServer::answer`] gives a stream where the request is a watch. The
//! crate has an etcd-like revisioned store, the types of every built-in kind of v1.36, custom
//! resources, the four kinds of patch, and server-side apply. It has no clock and no randomness:
//! time and uids come from [`environment::Environment`], which the caller owns, so the same
//! requests always get the same answers. Below it are `optimist-cel`,
//! `optimist-values` and `optimist-encoding`, unless it has protobuf.
//!
//! It has no authentication, no authorization, no admission webhooks, and no controllers or garbage
//! collection unless you add them. It has no nodes that the subresources `exec`, `log` and `proxy`
//! would reach, and no conversion between versions by a webhook. Of some kinds, this crate knows
//! only the types, not the rules: it accepts objects that only those rules refuse. It skips a
//! validation rule that it cannot evaluate. The [facts](server::Fact) of each answer name both
//! cases.
//!
//! Features: `tower` shares a server between clients; `protobuf` takes and answers
//! `application/vnd.kubernetes.protobuf`, and describes all types in `/openapi/v2`.
//!
//! A request goes in, the answer of a real server comes out; without that feature too:
//!
//! ```
//! use http::Request;
//! use optimist_apiserver::server::ApiServer;
//!
//! let mut server = ApiServer::default();
//! let maps = "/api/v1/namespaces/default/configmaps";
//! let map = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}"#;
//! let created = server.handle(Request::post(maps).body(map.into()).unwrap());
//! assert_eq!(created.status(), 201);
//!
//! let stale = map.replace(r#""name""#, r#""resourceVersion": "1", "name""#);
//! let update = Request::put(format!("{maps}/a")).body(stale.into()).unwrap();
//! assert_eq!(server.handle(update).status(), 409);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub use optimist_cel as cel;
pub use optimist_encoding::{go, json, pointer, size, yaml};

pub mod apply;
pub mod environment;
pub mod fast_map;
pub mod field;
pub mod limits;
pub mod object;
pub mod patch;
pub mod schema;
pub mod server;
#[cfg(feature = "tower")]
pub mod shared;
pub mod status;
pub mod storage;
