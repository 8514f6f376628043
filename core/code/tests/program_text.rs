//! The text of a controller's program, in every language.

use std::path::Path;
use std::{env, fs};

use optimist_code::{
    ProgramLanguage, ProgramLine, ProgramText, SwitchableLine, program_languages, program_text,
    switchable_lines,
};
use optimist_controller::program::{
    Code, Kind, Program, ReadyProgram, ReadyProgramName, Statement, Switch,
};
use optimist_controller::{CachedObjects, Source};
use optimist_simulation::ControllerProgram;

use crate::program_files::combinations;
use crate::programs;

/// Every ready program with every combination of its switches, and a program of one's own.
fn all() -> Vec<ControllerProgram> {
    let ready = ReadyProgramName::ALL.into_iter().flat_map(combinations);
    let mut all: Vec<_> = ready.map(ControllerProgram::Ready).collect();
    all.push(ControllerProgram::Written(programs::unusual()));
    all
}

/// The number of statements, as a run counts them.
fn statements(program: &Program) -> usize {
    let code = Code::new(program.clone());
    let numbers = (0..).map_while(|at| code.statement_at(at));
    numbers.max().map_or(0, |last| last + 1)
}

/// Every statement, in the order of the numbers.
fn flat(body: &[Statement]) -> Vec<&Statement> {
    let mut all = Vec::new();
    for statement in body {
        all.push(statement);
        match statement {
            Statement::If {
                then, otherwise, ..
            } => {
                all.extend(flat(then));
                all.extend(flat(otherwise));
            }
            Statement::ForEach { body, .. } => all.extend(flat(body)),
            _ => {}
        }
    }
    all
}

#[test]
fn every_statement_has_a_line_in_every_language_in_order() {
    for program in all() {
        let count = statements(&program.program());
        assert!(count > 3, "{program:?}");
        for language in ProgramLanguage::ALL {
            let text = program_text(&program, language);
            let mut before = 0;
            for number in 0..count {
                let has = |line: &ProgramLine| line.statements.contains(&number);
                let first = text.lines.iter().position(has);
                let first = first.unwrap_or_else(|| panic!("{program:?} {language:?} {number}"));
                assert!(first >= before, "{program:?} {language:?} {number}");
                before = first;
            }
        }
    }
}

#[test]
fn the_line_that_ends_a_run_follows_the_last_statement() {
    for program in all() {
        let count = statements(&program.program());
        let returns = matches!(program.program().body.last(), Some(Statement::Return(_)));
        for language in ProgramLanguage::ALL {
            let text = program_text(&program, language);
            let ends = |line: &&ProgramLine| line.statements.contains(&count);
            let lines: Vec<_> = text.lines.iter().filter(ends).collect();
            assert_eq!(lines.len(), usize::from(!returns), "{language:?}");
            assert!(
                lines.iter().all(|line| line.text.contains("return")
                    || line.text.contains("Action::await_change"))
            );
            let beyond = |line: &ProgramLine| line.statements.end > count + 1;
            assert!(!text.lines.iter().any(beyond), "{program:?} {language:?}");
        }
    }
}

#[test]
fn one_line_of_each_request_says_whether_the_cache_or_the_server_answers() {
    for program in all() {
        for language in ProgramLanguage::ALL {
            let text = program_text(&program, language);
            let written = program.program();
            for (number, statement) in flat(&written.body).into_iter().enumerate() {
                let expected = match statement {
                    Statement::Get { from, .. } | Statement::List { from, .. } => Some(*from),
                    Statement::Create { .. }
                    | Statement::Update { .. }
                    | Statement::Patch { .. }
                    | Statement::Apply { .. }
                    | Statement::Delete { .. } => Some(Source::Server),
                    _ => None,
                };
                // A line of several statements is that of the first one.
                let its = text
                    .lines
                    .iter()
                    .filter(|line| line.statements.start == number);
                let sources: Vec<Source> = its.filter_map(|line| line.answered).collect();
                let expected: Vec<Source> = expected.into_iter().collect();
                assert_eq!(sources, expected, "{program:?} {language:?} {number}");
            }
        }
    }
}

#[test]
fn go_and_rust_are_those_of_a_ready_program_for_the_usual_kinds() {
    let only = |program: &ControllerProgram| {
        assert_eq!(program_languages(program), [ProgramLanguage::Plain]);
        let plain = program_text(program, ProgramLanguage::Plain);
        assert_eq!(program_text(program, ProgramLanguage::Go), plain);
        assert_eq!(program_text(program, ProgramLanguage::Rust), plain);
    };
    only(&ControllerProgram::Written(programs::unusual()));
    for name in ReadyProgramName::ALL {
        let usual = ReadyProgram::new(name);
        let program = ControllerProgram::Ready(usual.clone());
        assert_eq!(program_languages(&program), ProgramLanguage::ALL);
        let texts = ProgramLanguage::ALL.map(|language| program_text(&program, language));
        assert!(texts[0] != texts[1] && texts[1] != texts[2] && texts[0] != texts[2]);
        // Data that a person wrote is no ready program, even if it says the same.
        only(&ControllerProgram::Written(usual.program()));
        let deployment = Kind::new("apps/v1", "Deployment");
        only(&ControllerProgram::Ready(ReadyProgram {
            parent: deployment.clone(),
            ..usual.clone()
        }));
        let other_child = ControllerProgram::Ready(ReadyProgram {
            child: deployment,
            ..usual
        });
        match name.has_children() {
            true => only(&other_child),
            // A program without children does not care.
            false => assert_eq!(program_languages(&other_child), ProgramLanguage::ALL),
        }
    }
}

/// The plain texts that were read by a person. `UPDATE=1` writes them again.
#[test]
fn the_plain_texts_are_those_of_the_files() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let unusual = ("unusual", programs::unusual());
    for (name, program) in programs::ready().into_iter().chain([unusual]) {
        let path = directory.join(format!("{name}.txt.golden"));
        let ProgramText { lines, .. } =
            program_text(&ControllerProgram::Written(program), ProgramLanguage::Plain);
        let lines = lines
            .iter()
            .map(|line| "  ".repeat(line.depth) + &line.text + "\n");
        let text: String = lines.collect();
        if env::var_os("UPDATE").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let known = fs::read_to_string(&path).unwrap();
        assert_eq!(text, known, "{}", path.display());
    }
}

#[test]
fn turning_a_switch_changes_its_lines_and_no_others() {
    for ready in ReadyProgramName::ALL.into_iter().flat_map(combinations) {
        for language in ProgramLanguage::ALL {
            let lines = switchable_lines(&ready, language);
            let present = lines.iter().filter(|line| line.is_present);
            assert_eq!(texts(present), texts_of(&ready, language));
            for switch in ready.name.switches() {
                let turned = texts_of(&turned(&ready, *switch), language);
                let has = |line: &&SwitchableLine| line.switches.contains(switch);
                assert!(
                    lines.iter().any(|line| has(&line)),
                    "{ready:?} {switch:?} {language:?}"
                );
                if lines.iter().any(|line| line.is_present && has(&line)) {
                    let stays = lines.iter().filter(|line| line.is_present && !has(line));
                    let mut after = turned.iter();
                    for line in texts(stays) {
                        assert!(
                            after.any(|text| *text == line),
                            "{ready:?} {switch:?} {line:?}"
                        );
                    }
                    let gone = lines.iter().filter(|line| line.is_present && has(line));
                    assert!(turned.len() + gone.count() >= texts_of(&ready, language).len());
                } else {
                    let with = lines.iter().filter(|line| line.is_present || has(line));
                    assert_eq!(texts(with), turned, "{ready:?} {switch:?} {language:?}");
                }
            }
        }
    }
}

fn turned(ready: &ReadyProgram, switch: Switch) -> ReadyProgram {
    let mut switches = ready.switches.clone();
    if !switches.remove(&switch) {
        switches.insert(switch);
    }
    ready.clone().with(switches)
}

fn texts<'a>(lines: impl Iterator<Item = &'a SwitchableLine>) -> Vec<(usize, String)> {
    lines.map(|line| (line.depth, line.text.clone())).collect()
}

fn texts_of(ready: &ReadyProgram, language: ProgramLanguage) -> Vec<(usize, String)> {
    let text = program_text(&ControllerProgram::Ready(ready.clone()), language);
    let lines = text.lines.into_iter();
    lines.map(|line| (line.depth, line.text)).collect()
}

#[test]
fn plain_words_say_what_the_options_do() {
    let says = |program: Program, words: &str| {
        let program = ControllerProgram::Written(program);
        let text = program_text(&program, ProgramLanguage::Plain);
        text.lines.iter().any(|line| line.text.contains(words))
    };
    let with = |change: fn(&mut Program)| {
        let mut program = ReadyProgram::new(ReadyProgramName::Scaler).program();
        change(&mut program);
        program
    };
    let nothing = with(|_| {});
    for (change, words) in [
        (
            (|program| program.options.cached_objects = CachedObjects::Shared) as fn(&mut Program),
            "the objects of the cache themselves",
        ),
        (
            |program| program.options.read_your_own_writes = true,
            "waits until the cache has what this controller wrote",
        ),
        (
            |program| program.options.wait_for_own_version = true,
            "wait until the cache has what earlier runs for this key wrote",
        ),
    ] {
        assert!(says(with(change), words), "{words}");
        assert!(!says(nothing.clone(), words), "{words}");
    }
}
