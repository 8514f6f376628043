//! A ready program with its switches in place: which lines each switch changes.

use optimist_controller::program::{ReadyProgram, Switch};

use super::{ProgramLanguage, ready_text};

/// A line of a ready program, or one that a switch would add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchableLine {
    /// The number of steps by which it is indented.
    pub depth: usize,
    /// The line, without its indentation.
    pub text: String,
    /// `true` if the program has it now.
    pub is_present: bool,
    /// The switches that change the line, remove it or add it if they are turned.
    pub switches: Vec<Switch>,
}

/// The lines of a ready program, in plain words if it has no text in the language. A switch that would only add lines has them between the others.
pub fn switchable_lines(ready: &ReadyProgram, language: ProgramLanguage) -> Vec<SwitchableLine> {
    let base = texts(ready, language);
    let mut changed_by: Vec<Vec<Switch>> = vec![Vec::new(); base.len()];
    // The lines that a switch would add before a line of the program.
    let mut added: Vec<Vec<SwitchableLine>> = vec![Vec::new(); base.len() + 1];
    for switch in ready.name.switches() {
        let mut turned = ready.switches.clone();
        if !turned.remove(switch) {
            turned.insert(*switch);
        }
        let other = texts(&ready.clone().with(turned), language);
        let (gone, new) = differences(&base, &other);
        for line in &gone {
            changed_by[*line].push(*switch);
        }
        for (before, (depth, text)) in new.into_iter().filter(|_| gone.is_empty()) {
            added[before].push(SwitchableLine {
                depth,
                text,
                is_present: false,
                switches: vec![*switch],
            });
        }
    }
    let mut lines = Vec::new();
    let mut added = added.into_iter();
    for ((depth, text), switches) in base.into_iter().zip(changed_by) {
        lines.extend(added.next().into_iter().flatten());
        lines.push(SwitchableLine {
            depth,
            text,
            is_present: true,
            switches,
        });
    }
    lines.extend(added.flatten());
    lines
}

/// A line: its depth and its text.
type FileLine = (usize, String);

fn texts(ready: &ReadyProgram, language: ProgramLanguage) -> Vec<FileLine> {
    let text = ready_text(ready, language);
    let lines = text.lines.into_iter();
    lines.map(|line| (line.depth, line.text)).collect()
}

/// The numbers of the lines of a text that another one does not have, and the new lines of the other
/// one, each with the number of the line before which it stands (a longest common subsequence).
fn differences(base: &[FileLine], other: &[FileLine]) -> (Vec<usize>, Vec<(usize, FileLine)>) {
    let mut common = vec![vec![0_usize; other.len() + 1]; base.len() + 1];
    for (i, one) in base.iter().enumerate().rev() {
        for (j, two) in other.iter().enumerate().rev() {
            common[i][j] = match one == two {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < base.len() || j < other.len() {
        match (base.get(i), other.get(j)) {
            (Some(one), Some(two)) if one == two => (i, j) = (i + 1, j + 1),
            (Some(_), Some(two)) if common[i][j + 1] >= common[i + 1][j] => {
                new.push((i, two.clone()));
                j += 1;
            }
            (Some(_), _) => {
                gone.push(i);
                i += 1;
            }
            (None, Some(two)) => {
                new.push((i, two.clone()));
                j += 1;
            }
            (None, None) => break,
        }
    }
    (gone, new)
}
