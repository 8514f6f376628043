//! A real API server behind an address: what is asked of it, what is kept of its answers, and a
//! comparison with the core.
//!
//! [`RemoteRequest`] is the only request that can be sent. It reads, or it is a dry run.
//! [`RemoteKind`] is a kind that the server lists. [`RemotePrediction`] runs a write on the core and compares
//! its answer with that of a dry run. [`ProxyCommand`] is a `kubectl proxy` that lets through what is
//! asked and nothing else. [`Following`] reads a watch of an object while it comes.

mod answer;
mod following;
mod kinds;
mod prediction;
mod proxy_command;
mod recording;
mod request;

pub use answer::{NotAnswered, RemoteAnswer, RemoteList, is_controlled, with_left_out_secrets};
pub use following::{FollowedPart, Following, WatchReading};
pub use kinds::{RemoteKind, RemoteVersion, kinds};
pub use prediction::{NotPredicted, RemotePrediction};
pub use proxy_command::ProxyCommand;
pub use request::{NotAllowed, RemoteRequest};
