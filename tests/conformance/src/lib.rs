//! Replays recordings of a real Kubernetes API server against the core and compares every answer.
//!
//! A [`Recording`] is a list of requests with the answers a real server gave, in a form from which
//! everything that differs between two runs (versions, uids, times, names of namespaces) has been
//! taken out by numbering it in order of appearance. [`replay()`] sends the requests to a fresh
//! server, brings its answers into the same form and reports every difference.
//!
//! One module per stage: `load` reads files of [`recording`]s, [`template`] fills in what a request
//! takes from earlier answers, [`subject`] is the server as a replay sees it, [`remote`] is one behind
//! an address, `run` does the steps,
//! [`normalize`] brings answers into the recorded form, [`compare`] finds differences,
//! [`order`] those in the order of members,
//! [`exceptions`] knows which of them are tolerated, [`known`] which recordings are known to fail,
//! [`display`], [`cause`] and [`score`] show the rest.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cause;
pub mod compare;
pub mod display;
pub mod exceptions;
pub mod known;
mod load;
pub mod normalize;
pub mod order;
pub mod panics;
mod prepare;
pub mod recording;
pub mod remote;
mod remote_http;
pub mod replay;
mod run;
pub mod score;
pub mod subject;
pub mod template;
pub mod tree;
mod walk;
mod wire;

pub use exceptions::Exceptions;
pub use load::{LoadError, load};
pub use prepare::fresh_server;
pub use recording::Recording;
pub use remote::Remote;
pub use replay::{Outcome, Report, replay, replay_remotely, replay_with};
