//! The ready programs in Go and in Rust, as people wrote them: a file for each program and language,
//! below `files/`.
//!
//! A file has its imports, the line `//: code`, and its code. A line can end with a mark, which names
//! the statements that it belongs to: `//: get-parent@cache if-gone`. A statement is named after its verb
//! and its variable, or the last member of its field. A condition and a loop are named at will, and what
//! is in their block has that name in front: `gone/return`, and `not-gone/return` in the block for
//! false. Statements have their numbers by the first lines that name them. `@cache` and `@server` say
//! that this line reads or writes, and who answers. `end-of-run` marks the line that ends a run after
//! the last statement.
//!
//! `//: if liveList` … `//: else` … `//: end` are lines with and without a switch (the names are those of
//! links). `if not liveList` is the contrary, and `if expectations or liveList` asks for one of several.

use optimist_controller::Source;
use optimist_controller::program::{ReadyProgram, ReadyProgramName, Switch};

use super::{ProgramLanguage, ProgramLine, ProgramText};

/// Begins a mark.
const MARK: &str = "//:";

/// Returns whether a program works for the kinds that its files are written for.
pub(super) fn has_usual_kinds(ready: &ReadyProgram) -> bool {
    let child = !ready.name.has_children() || ready.child == ReadyProgram::config_map();
    child && ready.parent == ReadyProgram::widget()
}

/// The file of a ready program; `None` if it has no text in the language.
pub(super) fn file(ready: &ReadyProgram, language: ProgramLanguage) -> Option<&'static str> {
    use ReadyProgramName as Name;
    macro_rules! files {
        ($name:literal) => {
            (
                include_str!(concat!("files/", $name, ".go.txt")),
                include_str!(concat!("files/", $name, ".rs.txt")),
            )
        };
    }
    if !has_usual_kinds(ready) {
        return None;
    }
    let (go, rust) = match ready.name {
        Name::ChildMaker => files!("child_maker"),
        Name::StatusWriter => files!("status_writer"),
        Name::Scaler => files!("scaler"),
        Name::FinalizerKeeper => files!("finalizer_keeper"),
        Name::Cleaner => files!("cleaner"),
        Name::FieldOwner => files!("field_owner"),
        Name::Annotator => files!("annotator"),
        Name::Copier => files!("copier"),
    };
    match language {
        ProgramLanguage::Go => Some(go),
        ProgramLanguage::Rust => Some(rust),
        ProgramLanguage::Plain => None,
    }
}

/// The lines of a file that a program has with its switches.
pub(super) fn render(file: &str, ready: &ReadyProgram) -> ProgramText {
    let on: Vec<String> = ready.switches.iter().map(switch_name).collect();
    let is_on = |name: &&str| on.iter().any(|switch| switch == name);
    let mut text = ProgramText::default();
    let mut names: Vec<&str> = Vec::new();
    // `true` for each open block whose lines are shown.
    let mut blocks: Vec<bool> = Vec::new();
    for line in file.lines() {
        let (code, mark) = line.split_once(MARK).unwrap_or((line, ""));
        let words: Vec<&str> = mark.split_whitespace().collect();
        match words.as_slice() {
            _ if !code.trim().is_empty() || words.is_empty() => {
                if !blocks.contains(&false) {
                    text.lines.push(code_line(code, &words, &mut names));
                }
            }
            ["if", "not", switch] => blocks.push(!is_on(switch)),
            ["if", switches @ ..] => blocks.push(switches.iter().any(is_on)),
            ["else"] => {
                if let Some(shown) = blocks.last_mut() {
                    *shown = !*shown;
                }
            }
            ["end"] => drop(blocks.pop()),
            _ => {
                let imports = std::mem::take(&mut text.lines).into_iter();
                text.imports = imports.map(|line| line.text + "\n").collect();
            }
        }
    }
    text
}

/// A line of code with what its mark says; `names` are the statements of the lines before.
fn code_line<'a>(code: &str, words: &[&'a str], names: &mut Vec<&'a str>) -> ProgramLine {
    let shown = code.trim_start();
    let indentation = code.len() - shown.len();
    let mut statements = 0..0;
    let mut answered = None;
    for word in words {
        let (name, source) = word.split_once('@').unwrap_or((word, ""));
        let known = names.iter().position(|known| *known == name);
        let number = known.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        statements = match statements.is_empty() {
            true => number..number + 1,
            false => statements.start.min(number)..statements.end.max(number + 1),
        };
        match source {
            "cache" => answered = Some(Source::Cache),
            "server" => answered = Some(Source::Server),
            _ => {}
        }
    }
    ProgramLine {
        depth: if code.starts_with('\t') {
            indentation
        } else {
            indentation / 4
        },
        text: shown.trim_end().to_owned(),
        statements,
        answered,
    }
}

/// The name of a switch in links: `liveList`.
fn switch_name(switch: &Switch) -> String {
    let name = serde_json::to_value(switch).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}
