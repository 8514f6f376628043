//! Requests and reconcilers as commands and code.
//!
//! ```
//! use optimist_code::{ClientRequest, kubectl};
//! use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
//!
//! let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
//! let get = tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
//! let step = tree.step(get).unwrap();
//! let request = ClientRequest::of_step(tree.origin(), step).unwrap();
//! assert!(kubectl(&request).starts_with("kubectl get"));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod call;
mod client_go;
mod edits;
mod etcdctl;
mod kube_rs;
mod kubectl;
mod kubectl_output;
mod kubectl_tool;
mod program;
mod shell;

pub use call::{ClientRequest, Snippet, is_of_kind};
pub use client_go::{ControllerRuntimeMethod, client_go, controller_runtime};
pub use etcdctl::{Etcdctl, etcdctl_get, etcdctl_watch, stored_value};
pub use kube_rs::kube_rs;
pub use kubectl::{kubectl, kubectl_dry_run, kubectl_object, namespace_option};
pub use kubectl_output::{KubectlOutput, kubectl_output};
pub use kubectl_tool::{ToolCommand, kubectl_of_tool, sent_by_tool};
pub use program::{
    ProgramLanguage, ProgramLine, ProgramText, SwitchableLine, program_languages, program_text,
    switchable_lines,
};
pub use shell::{delimiter, one_line, quote, quote_always, without_nul};
