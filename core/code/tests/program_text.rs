//! Reconcilers as Go, as Rust and in words.

use crate::programs;
use std::path::Path;
use std::{env, fs};

use optimist_code::{ProgramLanguage, ProgramLine, ProgramText, program_text, switchable_lines};
use optimist_controller::Source;
use optimist_controller::program::{Code, Program, ReadyProgram, ReadyProgramName, Statement};

const LANGUAGES: [ProgramLanguage; 3] = [
    ProgramLanguage::Go,
    ProgramLanguage::Rust,
    ProgramLanguage::Plain,
];

/// The programs that have files.
fn filed() -> Vec<(&'static str, Program)> {
    let mut all = programs::ready();
    all.push(("unusual", programs::unusual()));
    all
}

/// These, and every program that the page offers, with all switches off and on.
fn all() -> Vec<(&'static str, Program)> {
    let mut all = filed();
    for name in ReadyProgramName::ALL {
        let ready = ReadyProgram::new(name);
        let switched = ready.clone().with(name.switches().iter().copied());
        all.push(("ready", ready.program()));
        all.push(("switched", switched.program()));
    }
    all
}

/// The number of statements, as a run counts them.
fn statements(program: &Program) -> usize {
    let code = Code::new(program.clone());
    let numbers = (0..).map_while(|at| code.statement_at(at));
    numbers.max().map_or(0, |last| last + 1)
}

fn file(text: &ProgramText) -> String {
    let lines = text.lines.iter().map(|line| line.text.clone() + "\n");
    format!("{}\n{}", text.imports, lines.collect::<String>())
}

#[test]
fn every_statement_has_a_line_in_every_language() {
    for (name, program) in all() {
        let count = statements(&program);
        assert!(count > 3, "{name}");
        for language in LANGUAGES {
            let text = program_text(&program, language);
            for number in 0..count {
                let has = |line: &ProgramLine| line.statements.contains(&number);
                assert!(text.lines.iter().any(has), "{name} {language:?} {number}");
            }
        }
    }
}

#[test]
fn the_line_that_ends_a_run_follows_the_last_statement() {
    for (name, program) in all() {
        let count = statements(&program);
        let returns = matches!(program.body.last(), Some(Statement::Return(_)));
        for language in LANGUAGES {
            let text = program_text(&program, language);
            let ends = |line: &&ProgramLine| line.statements.contains(&count);
            let lines: Vec<_> = text.lines.iter().filter(ends).collect();
            assert_eq!(lines.len(), usize::from(!returns), "{name} {language:?}");
            assert!(
                lines.iter().all(|line| line.text.contains("return")
                    || line.text.contains("Action::await_change"))
            );
        }
    }
}

#[test]
fn a_line_says_whether_the_cache_or_the_server_answers() {
    for (name, program) in programs::ready() {
        for language in LANGUAGES {
            let text = program_text(&program, language);
            let of = |source| {
                let lines = text.lines.iter();
                lines.filter(|line| line.answered == Some(source)).count()
            };
            assert!(of(Source::Cache) > 0, "{name} {language:?}");
            assert!(of(Source::Server) > 0, "{name} {language:?}");
        }
    }
    let fixed = &programs::ready()[1].1;
    let text = program_text(fixed, ProgramLanguage::Go);
    let live: Vec<_> = text
        .lines
        .iter()
        .filter(|line| line.answered == Some(Source::Server))
        .map(|line| line.text.trim())
        .collect();
    assert!(live[0].contains("r.APIReader.List("), "{live:?}");
    assert!(live[1].contains("r.Create("), "{live:?}");
}

#[test]
fn go_is_indented_with_tabs_and_its_brackets_are_closed() {
    for (name, program) in all() {
        let text = program_text(&program, ProgramLanguage::Go);
        for line in &text.lines {
            let line = &line.text;
            assert!(
                !line.starts_with(' ') && line.trim_end() == line,
                "{name}: {line:?}"
            );
        }
        let code = file(&text);
        for (open, close) in [('{', '}'), ('(', ')'), ('[', ']')] {
            let count = |of| code.matches(of).count();
            assert_eq!(count(open), count(close), "{name}: {open}");
        }
    }
}

/// The files that were read by a person. `UPDATE=1` writes them again.
#[test]
fn the_texts_are_those_of_the_files() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    for (name, program) in filed() {
        for (language, end) in LANGUAGES.into_iter().zip(["go", "rs", "txt"]) {
            let path = directory.join(format!("{name}.{end}.golden"));
            let text = file(&program_text(&program, language));
            if env::var_os("UPDATE").is_some() {
                fs::write(&path, &text).unwrap();
            }
            let known = fs::read_to_string(&path).unwrap();
            assert_eq!(text, known, "{}", path.display());
        }
    }
}

#[test]
fn each_switch_has_a_line_in_the_program_and_turning_it_changes_that_line() {
    for name in ReadyProgramName::ALL {
        let off = ReadyProgram::new(name);
        let on = off.clone().with(name.switches().iter().copied());
        for (ready, language) in [off, on].iter().flat_map(|it| LANGUAGES.map(|of| (it, of))) {
            let lines = switchable_lines(ready, language);
            let present = lines.iter().filter(|line| line.is_present);
            let present: Vec<_> = present.map(|line| line.text.clone()).collect();
            assert_eq!(present, texts_of(ready, language));
            for switch in name.switches() {
                let mut turned = ready.switches.clone();
                if !turned.remove(switch) {
                    turned.insert(*switch);
                }
                let after = texts_of(&ready.clone().with(turned), language);
                let mut its = lines.iter().filter(|line| line.switches.contains(switch));
                // Not every language says whether the client knows its own writes.
                let has_line = its.clone().next().is_some();
                let says_all = language == ProgramLanguage::Go;
                assert!(has_line || !says_all, "{name:?} {switch:?} {language:?}");
                assert!(
                    its.all(|line| {
                        let of =
                            |texts: &[String]| texts.iter().filter(|it| **it == line.text).count();
                        match line.is_present {
                            true => present.len() != after.len() || of(&after) != of(&present),
                            false => of(&after) > of(&present),
                        }
                    }),
                    "{name:?} {switch:?} {language:?}"
                );
            }
        }
    }
}

fn texts_of(ready: &ReadyProgram, language: ProgramLanguage) -> Vec<String> {
    let text = program_text(&ready.program(), language);
    text.lines.into_iter().map(|line| line.text).collect()
}
