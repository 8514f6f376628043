//! Every history of the same edits.
//!
//! A [`Scenario`] says where it begins and what each actor means to do, and how. A [`Search`] then
//! lets the actors' requests arrive in every order, each answered by
//! [`ApiServer::handle`](optimist_apiserver::server::ApiServer::handle), and counts what became of the edits.

mod found;
mod intent;
mod memory;
mod ready;
mod replay;
mod scenario;
mod search;
mod state;
mod tally;
mod way;

pub use found::Moment;
pub use intent::{Change, How, Intent};
pub use memory::Memory;
pub use ready::{Doing, READY, Ready, Third};
pub use replay::replayed;
pub use scenario::{Ownership, Plan, Scenario};
pub use search::{Edge, EdgeId, Effect, Move, Search, StateId, Status};
pub use tally::Tally;
pub use way::Way;
