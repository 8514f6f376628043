//! Every history of the same edits.
//!
//! A [`Scenario`] says where it begins and what each actor means to do, and how. A [`Search`] then
//! lets the actors' requests arrive in every order, each answered by
//! [`ApiServer::handle`](optimist_apiserver::server::ApiServer::handle), and counts what became of the edits.

mod explanation;
mod found;
mod intent;
mod memory;
mod preset;
mod replay;
mod scenario;
mod search;
mod state;
mod tally;
mod write_method;

pub use explanation::{ActorProgress, TransitionMeaning};
pub use found::StateView;
pub use intent::{ChangeKind, IntendedChange, Intent};
pub use memory::Memory;
pub use preset::{PRESETS, Preset, PresetAction, ThirdActor};
pub use replay::replayed;
pub use scenario::{Ownership, Plan, Scenario};
pub use search::{
    EditEffect, Search, SearchStatus, StateId, Transition, TransitionId, TransitionKind,
};
pub use tally::Tally;
pub use write_method::WriteMethod;
