//! Exports of a history: a diagram, an issue report, and a script for a real cluster.
//!
//! ```
//! use optimist_exports::mermaid;
//! use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
//!
//! let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
//! tree.act(Operation::Act(ActorId::A, Action::Get));
//! assert!(mermaid(&tree).starts_with("sequenceDiagram"));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod markdown;
mod mermaid;
mod report;
mod script;

pub use mermaid::mermaid;
pub use report::report;
pub use script::script;

use optimist_simulation::{HistoryTree, Operation, Step, World};

/// A step on the path to the current node, with the worlds before and after it.
#[derive(Clone, Copy)]
struct ExportedStep<'a> {
    /// Counted from 1.
    number: usize,
    step: &'a Step,
    before: &'a World,
    after: &'a World,
}

/// The steps to the current node, oldest first.
fn exported_steps(tree: &HistoryTree) -> Vec<ExportedStep<'_>> {
    let line = tree.current_path();
    let line = line.get(..=tree.position()).unwrap_or_default();
    let steps = line.windows(2).enumerate().filter_map(|(i, pair)| {
        let [from, to] = pair else { return None };
        Some(ExportedStep {
            number: i + 1,
            step: tree.step(*to)?,
            before: tree.world_at(*from)?,
            after: tree.world_at(*to)?,
        })
    });
    steps.collect()
}

/// The name of a step's actor.
fn who<'a>(exported: &ExportedStep<'a>) -> &'a str {
    match &exported.step.operation {
        Operation::Act(actor, _) | Operation::Control(actor, _) => {
            &exported.before.actor(*actor).name
        }
        Operation::Watch(_) => "Watcher",
        Operation::Compact { .. } => "etcd",
        Operation::Wait(_) => "Clock",
    }
}
