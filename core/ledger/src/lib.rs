//! The ledger of a history: which edits are in which object, who was shown them, and which were
//! lost, replaced or refused.
//!
//! There is one ledger for everyone who makes a history: a person who plays it, a search of every
//! order, and a controller's search. It is told every request with its answer and every read of a
//! cache, and knows nothing of who chose them. It is below `optimist-controller` and
//! `optimist-simulation`, so that both have the same answer to what a lost update is.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod answered;
mod effect;
mod ledger;
mod tracker;

pub use answered::Answered;
pub use effect::Effect;
pub use ledger::{Intention, Ledger};
pub use optimist_client::ObjectRef;
pub use tracker::{
    Acknowledged, Done, Edit, Loss, RefusalKind, Replaced, UpdateTracker, Verdict, changed_fields,
};
