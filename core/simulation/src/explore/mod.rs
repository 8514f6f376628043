//! Runs the same edits in every order.
//!
//! A [`Scenario`] has the start, and the intent and the write method of each actor, or the tool that it is. A [`Search`]
//! sends the actors' requests in every order to
//! [`ApiServer::handle`](optimist_apiserver::server::ApiServer::handle), and counts the verdicts.
//! A [`ControllerSearch`] does the same with a controller among the actors.

mod acting;
mod controlled;
mod copies;
mod explanation;
mod preset;
mod ready_question;
mod replay;
mod scenario;
mod search;
mod tool;

pub use controlled::{
    ControllerQuestion, ControllerReplay, ControllerSearch, ControllerWitness, PropertyAnswer,
};
pub use optimist_checker::{
    ActorProgress, AnyCondition, Comparison, EditEffect, HistoryAnswer, HistoryProperty, JointStep,
    LossGroups, LossRisk, ObjectCondition, Occurrence, ResponseCache, SearchStatus, StateId,
    StateView, StoredObjects, Tally, Transition, TransitionId, TransitionKind, TransitionMeaning,
};
pub use optimist_system::Faults;
pub use preset::{ExplorePreset, PRESETS, PresetAction, ThirdActor};
pub use ready_question::Misfit;
pub(crate) use ready_question::ready_properties;
pub use replay::replayed;
pub use scenario::{OwnWrite, Plan, Scenario};
pub use search::Search;
