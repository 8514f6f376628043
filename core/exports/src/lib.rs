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

use optimist_apiserver::object::Metadata;
use optimist_client::ReflectorProgress;
use optimist_controller::WorkerReport;
use optimist_simulation::{ControllerEvent, HistoryTree, Operation, Outcome, Step, World};

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

/// Says what a step does, in a few words; of several objects, also with which one.
fn what(exported: &ExportedStep<'_>) -> String {
    let step = exported.step;
    let words = match step.controller.as_deref() {
        Some(event) if step.exchange.is_none() => done_inside(event),
        _ => None,
    };
    let words = words.unwrap_or_else(|| step.headline().to_string());
    let created = || {
        let exchange = step.exchange.as_ref()?;
        let name = exchange.received.name();
        (exchange.code == 201 && exported.after.subjects().count() > 1).then(|| name.to_owned())
    };
    match step.object_of_several(exported.after).or_else(created) {
        Some(object) => format!("{words}: {object}"),
        None => words,
    }
}

/// Says what happened inside a controller, without a request. `None` if the operation says it.
fn done_inside(event: &ControllerEvent) -> Option<String> {
    Some(match event {
        ControllerEvent::Delivered { report, .. } => {
            match (report.handled.first(), &report.progress) {
                (Some(handled), _) => format!("{} delivered", handled.notification),
                (None, ReflectorProgress::Lost { code, .. }) => format!("ERROR {code} delivered"),
                (None, _) => return None,
            }
        }
        ControllerEvent::Worker(WorkerReport::Taken { key }) => format!("takes {key}"),
        ControllerEvent::Worker(WorkerReport::Finished { key, .. }) => {
            format!("the run of {key} is over")
        }
        _ => return None,
    })
}

/// Says which version a step read or made; empty for a step without a request.
fn versions(step: &Step) -> String {
    match (step.outcome(), step.before, step.after) {
        (Outcome::Done, ..) => String::new(),
        (Outcome::Written, before, 0) => format!("{before}, deleted"),
        (Outcome::Written, 0, after) => format!("created: {after}"),
        (Outcome::Written, before, after) => format!("{before} → {after}"),
        (_, _, 0) => String::new(),
        (_, _, after) => after.to_string(),
    }
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
