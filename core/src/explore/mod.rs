//! Every history of the same edits.
//!
//! A [`Scenario`] says where it begins and what each actor means to do, and how. A [`Search`] then
//! lets the actors' requests arrive in every order, each answered by
//! [`ApiServer::handle`](crate::server::ApiServer::handle), and counts what became of the edits.

mod intent;
mod scenario;
mod search;
mod state;

pub use intent::{Change, How, Intent};
pub use scenario::{OnConflict, Ownership, Plan, Scenario};
pub use search::{Edge, EdgeId, Effect, Moment, Move, Search, StateId, Status, Tally};
