//! The search of every order of the events of a [`System`](optimist_system::System): two walks of one
//! graph.
//!
//! [`HistorySearch`] counts the histories of processes that write one object, by what became of their
//! edits.
//!
//! [`PropertySearch`] has two kinds of verdict: *safety* (a property that holds in every state) and
//! *settling* (every run comes to rest, and rests as wished). It can also be asked a [`HistoryProperty`],
//! as somebody writes it.
//! Statements of a controller that touch only the variables of a run commute with the events of all
//! others, so they are performed together with the visible statement before them (partial-order
//! reduction).
//!
//! Durations are left open: a delay or a delivery can end before or after any other event. Two states are the same if they differ only in the numbers of versions and generations
//! (their order counts), in times of a clock, uids, generated name endings and counted failures. Two runs
//! that take the same states as the same can therefore differ in two things: in which order names
//! that the server generates later are listed, and after which of several long delays expectations
//! run out.
//!
//! ```
//! use std::sync::Arc;
//!
//! use http::Request;
//! use optimist_apiserver::server::ApiServer;
//! use optimist_checker::{HistorySearch, ResponseCache};
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
//! let system = System::new(server, Ledger::default()).with_ledger();
//! let system = system.with(editor("alice", "1")).with(editor("bob", "2"));
//! let cache = ResponseCache::default();
//! let mut search = HistorySearch::new(&system, object.clone(), false, 10_000, cache);
//! search.run();
//! // Two reads and two writes have six orders.
//! assert_eq!(search.tally().total(), 6);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod asked_property;
mod fast_hash;
mod fingerprint;
mod histories;
mod known_steps;
mod memo;
mod most_versions;
mod object_condition;
mod property;
mod property_search;
mod question;
mod settling;
mod state_graph;
mod without_first;

pub use fingerprint::is_interchangeable;
pub use histories::{
    ActorProgress, Comparison, EditEffect, HistoryAnswer, HistoryProperty, HistorySearch,
    JointStep, LossGroups, LossRisk, Occurrence, ResponseCache, SearchStatus, StateId, StateView,
    Tally, Transition, TransitionId, TransitionKind, TransitionMeaning,
};
pub use object_condition::{AnyCondition, ObjectCondition, StoredObjects};
pub use property::{FieldOf, Goal, Safety};
pub use property_search::{HistoryViolation, PropertySearch, PropertySearchStatus};
pub use question::Question;
pub use settling::{NeverRests, Settling};
