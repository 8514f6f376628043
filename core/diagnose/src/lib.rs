//! Reads the input that people have from a cluster, and runs it on the API server of this workspace.
//!
//! 1. [`input::detect`] decides the kind of a text: an object, a manifest, a watch, an audit log, an
//!    error message.
//! 2. [`case::Case::all_of`] collects the input about each object, and [`case::Case::install`] stores
//!    the object as it is on a server.
//! 3. [`ownership::ObjectOwnership`] says who owns each line of the object.
//! 4. [`ways::ChangeTable`] runs a change in every way of writing, and the ways out of a conflict.
//!    [`ways::concurrent_writer`] begins a search of every order with somebody else who writes.
//! 5. [`scene::Scene`] rebuilds the situation behind an error message. [`modified`] runs the next steps
//!    that a client can take after "the object has been modified".
//! 6. [`completions`] draws the conclusions that hold however the gaps of a text are filled in.
//! 7. [`observed`] and [`audit`] find the events in a history: who set which field, fights, lost
//!    updates; [`lanes`] puts them in lanes, one for each client.
//! 8. [`preview`] shows the effects of a delivery tool on many objects.
//! 9. [`remote`] says what is asked of a real API server, reads and dry runs only, and compares its answers
//!    with those of the core.
//! 10. [`without_private`] leaves out everything in a case that looks private, and [`anonymize`] all
//!     values, so that people can show it to others.
//!
//! The crate knows no browser and guesses nothing: a part that a text leaves out stays `None` or becomes
//! a [`case::Note`], and the page asks for it or says so.
//!
//! ```
//! use optimist_diagnose::message::reported_errors;
//!
//! let errors = reported_errors(
//!     "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; \
//!      please apply your changes to the latest version and try again",
//! );
//! assert_eq!(errors.len(), 1);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod anonymize;
pub mod audit;
pub mod case;
pub mod compact;
pub mod completions;
pub mod fight_remedy;
pub mod input;
pub mod lanes;
pub mod message;
pub mod modified;
pub mod observed;
pub mod ownership;
pub mod preview;
mod refusing_owners;
pub mod remote;
mod removal;
pub mod scene;
pub mod ways;
pub mod without_private;
