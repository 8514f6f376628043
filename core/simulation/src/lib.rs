//! Actors, a watcher and one API server: their steps, the tree of histories, the verdict of a
//! history ([`verdict`]), and the search of every order ([`explore`]). The third actor can be a
//! controller. The crate depends on `optimist-apiserver`, `optimist-client`, `optimist-ledger`
//! and `optimist-controller`. Lessons, exports and the page use it.
//!
//! ```
//! use optimist_client::{Write, edit_scalar};
//! use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
//!
//! // Two editors read the same version. Only one of them may write it.
//! let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
//! for (editor, replicas) in [(ActorId::A, "5"), (ActorId::B, "2")] {
//!     tree.act(Operation::Act(editor, Action::Get));
//!     let copy = tree.world_mut().copy_mut(editor);
//!     copy.edit(edit_scalar(copy.edited().unwrap(), "/spec/replicas", replicas).unwrap());
//! }
//! tree.act(Operation::Act(ActorId::A, Action::Send(Write::default())));
//! let refused = tree.act(Operation::Act(ActorId::B, Action::Send(Write::default()))).unwrap();
//! let exchange = tree.step(refused).unwrap().exchange.as_ref().unwrap();
//! assert_eq!(exchange.code, 409);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod action;
mod actor;
mod branches;
mod broken;
mod controller;
mod dry_run_preview;
mod endings;
mod explanation;
pub mod explore;
mod headline;
mod history_tree;
mod operation;
mod start;
mod step;
mod three_way;
mod watcher;
mod world;

pub use action::{Action, ByHand};
pub use actor::{Actor, ActorId};
pub use branches::{BranchOutcome, BranchPoint, LastWrite};
pub use broken::BrokenProperty;
pub use controller::{ControllerProgram, ControllerStart, EventOnTheWay, WIDGET};
pub use dry_run_preview::DryRunPreview;
pub use endings::{ENDINGS, Ending, EndingOutcome, Endings};
pub use explanation::{
    DeletionMark, EditResult, Explanation, ExplanationKind, FirstSteps, LeftOutReason,
    RefusalReason, Suggestion, VersionCheck, WatchReason,
};
pub use headline::{Headline, HeadlineContent};
pub use history_tree::{HistoryTree, NodeId};
pub use operation::Operation;
pub use optimist_client::{Preconditions, RequestKind};
pub use optimist_ledger::{self as verdict, ObjectRef};
pub use optimist_system::{ControllerEvent, ControllerOperation};
pub use start::{InstalledObjects, LeftOut, LoadError, Loadable, Start, environment_after};
pub use step::{Exchange, Outcome, Step};
pub use three_way::{ThreeWay, ThreeWayRow};
pub use watcher::{Connection, Received, WatchAction, Watcher};
pub use world::World;
pub use world::control_view::{
    CacheStanding, EventArrow, RunPart, RunValue, RunValueContent, StoredRow,
};

/// The Deployment of the Kubernetes documentation, with which the page opens. It is JSON, so that
/// the first screen needs no YAML parser.
pub const NGINX: &str = include_str!("nginx.json");
