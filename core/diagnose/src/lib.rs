//! What people bring from a cluster, read and run on the API server of this workspace.
//!
//! 1. [`input::detect`] decides what a text is: an object, a manifest, a watch, an audit log, an
//!    error message.
//! 2. [`case::Case::all_of`] collects what was brought about each object, and
//!    [`case::Case::install`] stores the object as it is on a server.
//! 3. [`ownership::ObjectOwnership`] says who owns each line of the object.
//! 4. [`ways::ChangeTable`] runs a change in every way of writing, and the ways out of a conflict.
//!    [`ways::concurrent_writer`] begins a search of every order with somebody else who writes.
//! 5. [`scene::Scene`] rebuilds what an error message tells of.
//!    [`modified`] runs what a client can do after "the object has been modified".
//! 6. [`completions`] says of a text that does not say everything what holds however it is filled in.
//! 7. [`observed`] and [`audit`] say what happened: who set which field, fights, lost updates;
//!    [`lanes`] puts it in lanes, one for each client.
//! 8. [`preview`] says of many objects what a delivery tool will do to them.
//! 9. [`without_private`] leaves out what looks private in a case, and [`anonymize`] all values, so that
//!    it can be shown to others.
//!
//! The crate knows no browser and guesses nothing: what a text does not say stays `None` or becomes a
//! [`case::Note`], and the page asks for it or says it.
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
pub mod completions;
pub mod input;
pub mod lanes;
pub mod message;
pub mod modified;
pub mod observed;
pub mod ownership;
pub mod preview;
pub mod scene;
pub mod ways;
pub mod without_private;
