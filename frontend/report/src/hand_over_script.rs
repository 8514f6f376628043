//! One script for the hand-overs of a preview.

use std::fmt::Write;

use optimist_code::{one_line, quote};
use optimist_diagnose::preview::{HandOver, HandOverKind, Preview, PreviewObject, PreviewRow};
use optimist_diagnose::ways::{Instruction, InstructionLanguage};
use optimist_messages::{diagnose, label, preview as messages};

/// The hand-over to use for each object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandOverChoice {
    /// For objects that are not named. `None`: the first one that settles the conflict.
    pub for_all: Option<HandOverKind>,
    /// For objects that are named: `Deployment/shop/web`, without a namespace `ClusterRole/reader`.
    pub for_object: Vec<(String, HandOverKind)>,
}

/// A script of a POSIX shell that hands over the fields in conflict.
///
/// Without an argument it runs dry runs and stores nothing; `--write` runs each dry run again and then its write.
/// Steps that only people can take, such as changes of a chart, stand in it as comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOverScript {
    /// The script.
    pub text: String,
    /// The objects in conflict that it does not hand over: no hand-over settles their conflict, or the chosen one
    /// is not there.
    pub left: Vec<PreviewObject>,
    /// `true` if it has a command that runs. Otherwise it has comments alone.
    pub runs: bool,
}

impl HandOverScript {
    /// Writes the sentence that lists the objects without a hand-over.
    pub fn says_left(&self) -> String {
        let left: Vec<String> = self.left.iter().map(|it| it.id().to_string()).collect();
        label::upgrade_script_left(&left.join(", "))
    }
}

/// The argument with which the script stores.
const WRITE: &str = "--write";

impl HandOverChoice {
    /// Finds the hand-over of an object; `None` if no hand-over fits the choice.
    fn find<'a>(&self, row: &'a PreviewRow) -> Option<&'a HandOver> {
        let name = row.object.to_string();
        let named = self.for_object.iter().find(|(object, _)| *object == name);
        let kind = named.map(|(_, kind)| *kind).or(self.for_all);
        let mut all = row.hand_overs.iter();
        match kind {
            Some(kind) => all.find(|it| it.kind == kind),
            None => all.find(|it| it.settles),
        }
    }
}

impl HandOverScript {
    /// The script that hands over the fields in conflict of all objects. `None` if no object has a
    /// conflict.
    pub fn new(preview: &Preview, choice: &HandOverChoice) -> Option<Self> {
        let conflicts = preview.rows.iter().filter(|row| !row.hand_overs.is_empty());
        let chosen: Vec<_> = conflicts.map(|row| (row, choice.find(row))).collect();
        if chosen.is_empty() {
            return None;
        }
        let left = chosen.iter().filter(|(_, one)| one.is_none());
        let left: Vec<PreviewObject> = left.map(|(row, _)| row.object.clone()).collect();
        let taken: Vec<(&PreviewRow, &HandOver)> = chosen
            .iter()
            .filter_map(|(row, one)| Some((*row, (*one)?)))
            .collect();
        let runs: Vec<(&PreviewRow, Vec<&Instruction>)> = taken
            .iter()
            .map(|(row, one)| (*row, one.steps.iter().filter(|it| is_run(it)).collect()))
            .filter(|(_, steps): &(_, Vec<_>)| !steps.is_empty())
            .collect();
        Some(Self {
            text: text(&taken, &left, &runs),
            runs: !runs.is_empty(),
            left,
        })
    }
}

fn text(
    taken: &[(&PreviewRow, &HandOver)],
    left: &[PreviewObject],
    runs: &[(&PreviewRow, Vec<&Instruction>)],
) -> String {
    let mut out = format!(
        "#!/usr/bin/env bash\n\
         # Hands over the fields in conflict. Objects: {}.\n",
        taken.len()
    );
    if !runs.is_empty() {
        let _ = writeln!(
            out,
            "# Without an argument it only runs dry runs: nothing is stored. With {WRITE} it stores."
        );
    }
    out.push_str("set -euo pipefail\n");
    for object in left {
        let _ = writeln!(out, "# Not handed over: {}.", one_line(&object.to_string()));
    }
    by_hand(&mut out, taken);
    if runs.is_empty() {
        out.push_str("\necho 'Nothing to run: the comments of this file say what to do.'\n");
        return out;
    }
    // The dry run of a later step needs what the earlier steps store.
    function(&mut out, "try_first", runs, |steps| {
        steps
            .first()
            .iter()
            .filter_map(|it| it.try_first.as_deref())
            .collect()
    });
    function(&mut out, "write", runs, |steps| {
        let both = steps
            .iter()
            .flat_map(|it| [it.try_first.as_deref(), Some(&*it.text)]);
        both.flatten().collect()
    });
    let _ = write!(
        out,
        "\ncase \"${{1:-}}\" in\n\
         '')\n  try_first\n  echo 'The dry run of the first step of each object passed. Nothing is stored. {WRITE} stores.'\n  ;;\n\
         {WRITE})\n  try_first\n  write\n  ;;\n\
         *)\n  echo \"usage: $0 [{WRITE}]\" >&2\n  exit 2\n  ;;\n\
         esac\n"
    );
    out
}

/// Writes comments for each object: the effect of the script, and the steps that people must do.
fn by_hand(out: &mut String, taken: &[(&PreviewRow, &HandOver)]) {
    for (row, one) in taken {
        let (name, note) = messages::hand_over(one);
        let object = one_line(&row.object.to_string());
        let _ = writeln!(out, "\n# {object}: {name}. {}", one_line(&note));
        for warning in one.steps.iter().flat_map(|step| &step.warnings) {
            let warning = diagnose::instruction_warning(warning);
            let _ = writeln!(out, "# {}", one_line(&warning));
        }
        for step in one.steps.iter().filter(|it| !is_run(it)) {
            let said = match step.language {
                InstructionLanguage::Shell => "Then run:",
                InstructionLanguage::Lines => "Change the manifest:",
                InstructionLanguage::Go | InstructionLanguage::Terraform => "Change the code:",
            };
            let _ = writeln!(out, "# {said}");
            let first = step.try_first.as_deref().unwrap_or_default();
            for line in first.lines().chain(step.text.lines()) {
                let _ = writeln!(out, "#     {}", one_line(line));
            }
        }
    }
}

/// Returns whether a step runs as it stands: a command of kubectl without a placeholder.
fn is_run(step: &Instruction) -> bool {
    let command = step.text.lines().any(|it| it.starts_with("kubectl "));
    let is_whole = !step.text.lines().any(|it| it.ends_with("-f MANIFEST.yaml"));
    step.language == InstructionLanguage::Shell && step.try_first.is_some() && command && is_whole
}

fn function<'a>(
    out: &mut String,
    name: &str,
    runs: &[(&PreviewRow, Vec<&'a Instruction>)],
    commands: impl Fn(&[&'a Instruction]) -> Vec<&'a str>,
) {
    let _ = writeln!(out, "\n{name}() {{");
    for (row, steps) in runs {
        let said = one_line(&row.object.to_string());
        let _ = writeln!(out, "echo {}", quote(&format!("# {name}: {said}")));
        for command in commands(steps) {
            out.push_str(command);
            if !command.ends_with('\n') {
                out.push('\n');
            }
        }
    }
    out.push_str("}\n");
}
