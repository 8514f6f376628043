//! A [`System`]: an API server, the processes that use it, and a ledger of who wrote what, who was
//! shown it, and what was lost. An [`Event`] is one thing that can happen. [`System::enabled`] says
//! which events are possible, and [`System::perform`] performs one.
//!
//! A system does not choose its next event: a person does, a script or a search. A person also
//! chooses below the events: a single request ([`System::send`]) and a single operation of a controller
//! ([`System::control`]), of which the events are made.
//!
//! Time passes by one rule. A second passes before a procedure sends a request and before a worker
//! takes a key, so that two procedures and two runs never see the same time. Waiting takes as long as it
//! takes, and a backoff that is shorter than that second is over by then. Nothing else takes time. A search that counts histories leaves the clock where it is: of a time that
//! the server writes nothing follows there.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod controlled;
mod event;
mod faults;
mod operation;
mod process;
mod system;

pub use event::{Event, Performed};
pub use faults::Faults;
pub use operation::{ControllerEvent, ControllerOperation};
pub use process::{Process, ProcessId};
pub use system::System;
