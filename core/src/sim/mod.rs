//! Two editors, a watcher and a server: what they do, step by step, and every history that comes
//! of it.

mod run_tree;
mod step;
pub mod verdict;
mod watcher;
mod world;

pub use run_tree::{NodeId, RunTree};
pub use step::{Exchange, Outcome, Step};
pub use watcher::{Connection, Received, WatchAction, Watcher};
pub use world::{Action, Editor, EditorId, LoadError, Operation, World};

/// The Deployment of the Kubernetes documentation, which the page opens with. As JSON, so that
/// opening needs no reader of YAML.
pub const NGINX: &str = include_str!("nginx.json");
