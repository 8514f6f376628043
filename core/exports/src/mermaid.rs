//! A history as a Mermaid sequence diagram.

use std::fmt::Write;

use super::{ExportedStep, exported_steps, versions, what};
use optimist_client::visible;
use optimist_simulation::{ActorId, HistoryTree, Operation, Outcome};

/// Writes the steps to the current node as a Mermaid `sequenceDiagram`.
pub fn mermaid(tree: &HistoryTree) -> String {
    let steps = exported_steps(tree);
    let mut out = "sequenceDiagram\n".to_owned();
    let mut line = |text: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = writeln!(out, "    {text}");
    };
    participants(tree, &steps, &mut line);
    for exported in &steps {
        messages(exported, &mut line);
    }
    out
}

/// Names the participants of a diagram: the editors and the server, and who else takes part.
fn participants(
    tree: &HistoryTree,
    steps: &[ExportedStep<'_>],
    line: &mut dyn FnMut(std::fmt::Arguments<'_>),
) {
    let acts = |id: ActorId| {
        let mut actors = steps.iter().map(|exported| exported.step.actor());
        actors.any(|actor| actor == Some(id))
    };
    let watches =
        |exported: &ExportedStep<'_>| matches!(exported.step.operation, Operation::Watch(_));
    let name = |id: ActorId| safe(&tree.world().actor(id).name);
    line(format_args!("participant A as {}", name(ActorId::A)));
    line(format_args!("participant S as API server"));
    line(format_args!("participant B as {}", name(ActorId::B)));
    let others = ActorId::ALL.into_iter();
    let others = others.filter(|id| !ActorId::EDITORS.contains(id) && acts(*id));
    for id in others {
        line(format_args!("participant {} as {}", id.letter(), name(id)));
    }
    if steps.iter().any(watches) {
        line(format_args!("participant W as Watcher"));
    }
}

/// Writes the messages and notes of a step.
fn messages(exported: &ExportedStep<'_>, line: &mut dyn FnMut(std::fmt::Arguments<'_>)) {
    let step = exported.step;
    let what = safe(&what(exported));
    let from = match &step.operation {
        Operation::Act(actor, _) | Operation::Control(actor, _) => actor.letter(),
        Operation::Watch(_) => "W",
        Operation::Compact { .. } | Operation::Wait(_) => {
            return line(format_args!("Note over S: {what}"));
        }
    };
    if step.exchange.is_none() {
        return line(format_args!("Note over {from}: {what}"));
    }
    line(format_args!("{from}->>S: {what}"));
    let arrow = match step.outcome() {
        Outcome::Refused => {
            line(format_args!("Note over S: not stored"));
            "--x"
        }
        Outcome::Written => {
            line(format_args!("Note over S: {}", versions(step)));
            "-->>"
        }
        _ => "-->>",
    };
    let answer = safe(&step.status_line());
    line(format_args!("S{arrow}{from}: {answer}"));
}

/// Text, escaped for Mermaid.
fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            // Entities of Mermaid: a number sign, a name or a code, a semicolon.
            ';' | '#' | '<' | '>' | '"' => {
                let _ = write!(safe, "#{};", u32::from(c));
            }
            '\n' | '\r' => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
