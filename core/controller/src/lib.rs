//! The parts of a Kubernetes controller: a [cache](Cache) per kind that can be behind the server,
//! [predicates](Predicate) and [handlers](Handler) that decide which notifications become keys, a [work
//! queue](WorkQueue), a [client](Client) that reads from caches and writes to the server, and a reconciler that
//! is a [program] in data. A [controller](Controller) has them all.
//!
//! The crate depends on `optimist-apiserver`, `optimist-client` and `optimist-ledger`. It is below
//! `optimist-system`, in which it is one process among others. There is no second store and no pretended event:
//! caches are fed by the reflector through a watch of the API server.
//!
//! Every operation is one step that the caller performs, and everything is cheap to clone, so that
//! a history can be stepped back and every order of steps can be searched.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod api_error;
mod cache;
mod client;
mod controller;
mod handler;
mod noted;
mod own_writes;
mod predicate;
pub mod program;
mod queue;
mod release;
mod report;
mod version;

pub use api_error::ApiError;
pub use cache::{Cache, CacheStep, Notification};
pub use client::{CachedObjects, Client, ClientResult, Source, key};
pub use controller::{Controller, UnknownKind};
pub use handler::{Handler, controller_of, owner_references};
pub use noted::change_of;
pub use own_writes::{ConsistencyStore, EXPECTATIONS_TIMEOUT, Expectations, OwnWrites};
pub use predicate::Predicate;
pub use queue::{BASE_DELAY, KeyPriority, MAX_DELAY, ReconcileResult, WorkQueue, backoff};
pub use release::ClientRelease;
pub use report::{CacheReport, Handled, KeyAddition, QueueReaction, WorkerReport};
pub use version::compare_versions;
