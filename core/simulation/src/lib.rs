//! Actors, a watcher and one API server: what they do step by step, the tree of histories, the
//! verdict of a history ([`verdict`]), and the search of every order ([`explore`]). It depends on
//! `optimist-apiserver` and `optimist-client`; lessons, exports and the page are built on it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod action;
mod actor;
mod branches;
pub mod explore;
mod operation;
mod rehearsal;
mod run_tree;
mod start;
mod step;
mod subject;
pub mod verdict;
mod watcher;
mod world;

pub use action::{Action, ByHand, Delete};
pub use actor::{Actor, ActorId};
pub use branches::{LastWrite, Parting};
pub use operation::Operation;
pub use rehearsal::Rehearsal;
pub use run_tree::{NodeId, RunTree};
pub use start::{LeftOut, LoadError, Loadable, Start};
pub use step::{Exchange, Outcome, Step};
pub use subject::Subject;
pub use watcher::{Connection, Received, WatchAction, Watcher};
pub use world::World;

/// The Deployment of the Kubernetes documentation, which the page opens with. As JSON, so that
/// opening needs no reader of YAML.
pub const NGINX: &str = include_str!("nginx.json");
