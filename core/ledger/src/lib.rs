//! The ledger of a history: which edits are in which object, who was shown them, and which were
//! lost, replaced or refused.
//!
//! There is one ledger for everyone who makes or tells a history: a person who plays it, a search of every
//! order, a controller's search, and an audit log. Its caller reports every request with its answer and every
//! read of a cache; the ledger does not know who chose them. It is below `optimist-controller` and
//! `optimist-simulation`, so that both have the same definition of a lost update.
//!
//! ```
//! use std::sync::Arc;
//!
//! use optimist_apiserver::server::ApiServer;
//! use optimist_ledger::{Edit, Effect, Intention, UpdateTracker};
//! use serde_json::json;
//!
//! let server = ApiServer::default();
//! let root = &server.resources().by_kind("v1", "ConfigMap").unwrap().root;
//! let map = |data| Arc::new(json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data,
//!     "metadata": {"name": "a"}}));
//! let versions = [map(json!({})), map(json!({"x": "1"})), map(json!({"y": "2"}))];
//!
//! let mut updates = UpdateTracker::default();
//! updates.read("bob", &versions[0]);
//! for (who, [before, after], wanted) in [
//!     ("alice", [0, 1], [0, 1]),
//!     // Bob was shown no x, and what he sends has none.
//!     ("bob", [1, 2], [0, 2]),
//! ] {
//!     let edits = Edit::between(&versions[wanted[0]], &versions[wanted[1]], root);
//!     let intention = Intention { edits: Some(&edits), ..Intention::default() };
//!     let effect = Effect::write(Some(&versions[before]), Some(&versions[after]), root);
//!     updates.answered(who, &effect, intention, root);
//! }
//! assert_eq!(updates.losses().len(), 1);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod answered;
mod changed_fields;
mod effect;
mod ledger;
mod tracker;
mod verdict;

pub use answered::Answered;
pub use changed_fields::changed_fields;
pub use effect::Effect;
pub use ledger::{Intention, Ledger};
pub use optimist_client::{Edit, ObjectRef};
pub use tracker::UpdateTracker;
pub use verdict::{Acknowledged, Done, Loss, RefusalKind, Replaced, Verdict};
