//! A [`System`]: an API server, the processes that use it, and a ledger of who wrote what, who was
//! shown it, and what was lost. An [`Event`] is one thing that can happen. [`System::enabled`] says
//! which events are possible, and [`System::perform`] performs one.
//!
//! A system does not choose its next event: a person does, a script or a search. A person also
//! chooses below the events: a single request ([`System::send`]) and a single operation of a controller
//! ([`System::control`]), of which the events are made.
//!
//! Time passes by one rule. A second passes before a procedure sends a request and before a worker
//! takes a key, so that two procedures and two runs never see the same time. Waiting takes as long as it
//! takes, and a backoff that is shorter than that second is over by then. Nothing else takes time. A search that counts histories leaves the clock where it is: of a time that
//! the server writes nothing follows there.
//!
//! ```
//! use std::sync::Arc;
//!
//! use http::Request;
//! use optimist_apiserver::server::ApiServer;
//! use optimist_client::{Editor, EditorPlan, IntendedChange, Intent, WorkingCopy, Write};
//! use optimist_ledger::{Ledger, ObjectRef};
//! use optimist_system::System;
//! use serde_json::json;
//!
//! let mut server = ApiServer::default();
//! let maps = Arc::clone(server.resources().by_kind("v1", "ConfigMap").unwrap());
//! let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
//!     "metadata": {"name": "a", "namespace": "default"}});
//! let create = Request::post(maps.path("default", "")).body(map.to_string().into_bytes());
//! server.handle(create.unwrap());
//! let object = ObjectRef::new(&maps, &map);
//! // Each reads the object, sets the field x and sends an Update.
//! let editor = |manager: &str, value: &str| {
//!     let change = IntendedChange::at("/data/x", Some(value.into()));
//!     Editor::from(EditorPlan {
//!         object: object.clone(),
//!         manager: manager.into(),
//!         copy: WorkingCopy::default(),
//!         intent: Some(Intent::Change(vec![change])),
//!         write: Write::default(),
//!     })
//! };
//! let system = System::new(server, Ledger::default());
//! let mut system = system.with(editor("alice", "1")).with(editor("bob", "2"));
//! // Either of the two can read first.
//! let possible = system.enabled();
//! assert_eq!(possible.len(), 2);
//! assert!(system.perform(possible[0]).is_some());
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod controlled;
mod event;
mod faults;
mod operation;
mod process;
mod system;

pub use event::{Event, Performed};
pub use faults::Faults;
pub use operation::{ControllerEvent, ControllerOperation};
pub use process::{Process, ProcessId};
pub use system::System;
