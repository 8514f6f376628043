//! A history as Markdown, for an issue report.

use std::fmt::Write;

use super::{exported_steps, mermaid, versions, what, who};
use crate::markdown::{fenced, text as cell};
use optimist_client::to_yaml;
use optimist_simulation::HistoryTree;

/// The steps to the current node: a table, the messages of refusals, the final object, and a
/// diagram.
pub fn report(tree: &HistoryTree) -> String {
    let (world, steps) = (tree.world(), exported_steps(tree));
    let mut out = format!("## {}\n\n", cell(&world.subject().to_string()));
    out.push_str("| | who | request | answer | resourceVersion |\n|---|---|---|---|---|\n");
    let mut refusals = String::new();
    for exported in &steps {
        let step = exported.step;
        let version = versions(step);
        let (who, what) = (cell(who(exported)), cell(&what(exported)));
        let answer = cell(&step.status_line());
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "| {} | {who} | {what} | {answer} | {version} |",
            exported.number
        );
        if let Some(message) = step.message() {
            let _ = writeln!(refusals, "\n{}. {who}: {answer}\n", exported.number);
            let _ = writeln!(refusals, "{}", fenced("text", message));
        }
    }
    if !refusals.is_empty() {
        let _ = write!(out, "\n### Refused\n{refusals}");
    }
    out.push_str("\n### In the end\n\n");
    match world.stored() {
        Some((_, object)) => {
            let mut object = object.as_ref().clone();
            if let Some(metadata) = object.pointer_mut("/metadata") {
                metadata
                    .as_object_mut()
                    .map(|map| map.remove("managedFields"));
            }
            out.push_str(&fenced("yaml", to_yaml(&object).trim_end()));
        }
        None => out.push_str("The object is gone.\n"),
    }
    let rows = world.stored_rows();
    let others = rows.iter().filter(|row| {
        let subject = world.subject();
        (&*row.kind, &*row.name) != (&*subject.resource().kind, subject.name())
    });
    for row in others {
        let version = row
            .version
            .map_or("deleted".to_owned(), |it| it.to_string());
        let _ = writeln!(
            out,
            "\n- {} {}: {version}",
            cell(&row.kind),
            cell(&row.name)
        );
    }
    let _ = write!(out, "\n{}", fenced("mermaid", mermaid(tree).trim_end()));
    out
}
