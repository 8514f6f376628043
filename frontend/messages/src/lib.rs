//! The sentences of the page: each one once, in a catalogue of messages with arguments. The modules
//! here choose messages for the decisions of the core; they decide nothing about Kubernetes. The
//! crate uses the crates of `core` and no browser, so its texts are tested natively; the page is
//! built on it.
//!
//! `en.rs` and the files in `en/` are the catalogue in English. Another language is one file, which
//! [`choose`] takes.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod anonymize;
mod audit;
mod caption;
pub mod cards;
mod catalogue;
mod claims;
pub mod controller;
pub mod controller_card;
pub mod diagnose;
mod edits;
mod en;
mod endings;
pub mod explore;
mod facts;
mod folds;
mod goal;
mod headline;
mod input;
pub mod label;
pub mod lanes;
mod manifest;
pub mod orders;
pub mod preview;
pub mod property;
pub mod remote;
mod request_problem;
mod steps;
mod watch;
mod ways;
mod write_method;

pub use caption::{Caption, caption, first_steps};
pub use catalogue::{Message, catalogue, choose};
pub use edits::{column_heads, edit, edit_result, field, value};
pub use endings::{ending_method, ending_outcome, endings_title};
pub use facts::{fact, facts, server_says, unevaluated_rules};
pub use folds::{folded, now};
pub use goal::goal;
pub use manifest::{left_out, load_error};
pub use steps::{
    actor, announcement, answer, answer_brief, ask, ask_brief, branch_labels, branch_more,
    branch_names, branch_summary, compared_ends, headline, last_write, pill, row_sentence,
    sentence, summary,
};
pub use watch::{connection, empty as no_events, event, reason, version};
pub use write_method::{client, write_method, writes_otherwise};
