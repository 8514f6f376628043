//! A reconciler that is a program in data, as controller-runtime Go, as kube-rs Rust and in words:
//! lines that know their statements, so that a page can mark the current one.

mod go;
mod plain;
mod rust;
mod switchable;
mod template;
mod variables;

pub use switchable::{SwitchableLine, switchable_lines};

use std::ops::Range;

use optimist_controller::program::{BoolExpression, Kind, OnError, Program, Statement};
use optimist_controller::{ReconcileResult, Source};

/// The language in which a program is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProgramLanguage {
    /// Go with `sigs.k8s.io/controller-runtime` v0.25.
    Go,
    /// Rust with `kube` 4.
    Rust,
    /// Plain words.
    Plain,
}

/// A program as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramText {
    /// The imports of its code.
    pub imports: String,
    /// Its lines, without line ends.
    pub lines: Vec<ProgramLine>,
}

/// A line of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramLine {
    /// The line, indented.
    pub text: String,
    /// The numbers of its statements, as `Code::statement_at` counts; empty if it belongs to none.
    /// The line that ends a run after the last statement has the number after that statement.
    pub statements: Range<usize>,
    /// The source that answers the statement; only on the line that reads or writes.
    pub answered: Option<Source>,
}

/// The text of a program.
pub fn program_text(program: &Program, language: ProgramLanguage) -> ProgramText {
    let body = numbered(&program.body);
    match language {
        ProgramLanguage::Go => go::render(program, &body),
        ProgramLanguage::Rust => rust::render(program, &body),
        ProgramLanguage::Plain => plain::render(program, &body),
    }
}

/// A statement with its number, and its blocks.
struct Numbered<'a> {
    number: usize,
    statement: &'a Statement,
    /// The block for true, or of a loop.
    then: Vec<Numbered<'a>>,
    /// The block for false.
    otherwise: Vec<Numbered<'a>>,
}

impl Numbered<'_> {
    /// Its number, as a range.
    fn only(&self) -> Range<usize> {
        self.number..self.number + 1
    }
}

/// Numbers statements as `Code` does: as they are written, blocks after their head.
fn numbered(statements: &[Statement]) -> Vec<Numbered<'_>> {
    fn block<'a>(statements: &'a [Statement], next: &mut usize) -> Vec<Numbered<'a>> {
        let number = |statement: &'a Statement| {
            let number = *next;
            *next += 1;
            let (then, otherwise): (&[_], &[_]) = match statement {
                Statement::If {
                    then, otherwise, ..
                } => (then, otherwise),
                Statement::ForEach { body, .. } => (body, &[]),
                _ => (&[], &[]),
            };
            Numbered {
                number,
                statement,
                then: block(then, next),
                otherwise: block(otherwise, next),
            }
        };
        statements.iter().map(number).collect()
    }
    block(statements, &mut 0)
}

/// Counts the statements, also those in blocks.
fn count(body: &[Numbered<'_>]) -> usize {
    body.iter()
        .map(|one| 1 + count(&one.then) + count(&one.otherwise))
        .sum()
}

/// Every statement, in the order of the numbers.
fn all<'n, 'a>(body: &'n [Numbered<'a>]) -> Vec<&'n Numbered<'a>> {
    let mut found = Vec::new();
    for one in body {
        found.push(one);
        found.extend(all(&one.then));
        found.extend(all(&one.otherwise));
    }
    found
}

/// Returns whether the last statement is a return.
fn ends_with_return(body: &[Numbered<'_>]) -> bool {
    matches!(
        body.last().map(|one| one.statement),
        Some(Statement::Return(_))
    )
}

/// Returns the source that answers a statement; `None` if the statement sends nothing and reads no
/// cache.
fn answered(statement: &Statement) -> Option<Source> {
    match statement {
        Statement::Get { from, .. } | Statement::List { from, .. } => Some(*from),
        Statement::Create { .. }
        | Statement::Update { .. }
        | Statement::Patch { .. }
        | Statement::Apply { .. }
        | Statement::Delete { .. } => Some(Source::Server),
        _ => None,
    }
}

/// The lines so far, and how deep the next one is indented.
struct Lines {
    lines: Vec<ProgramLine>,
    unit: &'static str,
    depth: usize,
}

impl Lines {
    fn new(unit: &'static str) -> Self {
        Self {
            lines: Vec::new(),
            unit,
            depth: 0,
        }
    }

    /// Adds a text, line by line. A line that ends with an opening bracket indents the following
    /// ones, and one that begins with a closing bracket ends that.
    fn add(&mut self, text: &str, statements: &Range<usize>) {
        for line in text.lines() {
            if line.starts_with(['}', ')', ']']) {
                self.depth = self.depth.saturating_sub(1);
            }
            let text = match line {
                "" => String::new(),
                line => self.unit.repeat(self.depth) + line,
            };
            if line.ends_with(['{', '(', '[']) {
                self.depth += 1;
            }
            self.lines.push(ProgramLine {
                text,
                statements: statements.clone(),
                answered: None,
            });
        }
    }

    /// The same, of a statement that is answered by a cache or the server: its first line that
    /// calls is marked.
    fn call(&mut self, text: &str, statements: &Range<usize>, answered: Option<Source>) {
        let start = self.lines.len();
        self.add(text, statements);
        let mut added = self.lines.iter_mut().skip(start);
        if let Some(line) = added.find(|line| line.text.contains('(')) {
            line.answered = answered;
        }
    }
}

/// Returns the kinds that a program watches or uses, each once.
fn kinds(program: &Program, body: &[Numbered<'_>]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let mut add = |kind: &Kind| {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    };
    program
        .watches
        .iter()
        .for_each(|watched| add(&watched.kind));
    for one in all(body) {
        match one.statement {
            Statement::Get { kind, .. } | Statement::List { kind, .. } => add(kind),
            Statement::New { object, .. } => add(&variables::kind_of(object)),
            _ => {}
        }
    }
    kinds
}

/// Returns the results that a write has for certain errors.
fn on_error(statement: &Statement) -> &[OnError] {
    match statement {
        Statement::Create { on_error, .. }
        | Statement::Update { on_error, .. }
        | Statement::Patch { on_error, .. }
        | Statement::Apply { on_error, .. }
        | Statement::Delete { on_error, .. } => on_error,
        _ => &[],
    }
}

/// A time in words: `30 s`, `500 ms`.
fn seconds(milliseconds: u64) -> String {
    match milliseconds % 1000 {
        0 => format!("{} s", milliseconds / 1000),
        _ => format!("{milliseconds} ms"),
    }
}

/// Returns whether two statements are a Get and the return if the object does not exist:
/// `client.IgnoreNotFound` in Go.
fn found_or_done(get: &Numbered<'_>, guard: &Numbered<'_>) -> bool {
    let (Statement::Get { into, .. }, Statement::If { condition, .. }) =
        (get.statement, guard.statement)
    else {
        return false;
    };
    let done =
        |one: &Numbered<'_>| matches!(one.statement, Statement::Return(ReconcileResult::Done));
    let not_found = BoolExpression::Found(into.clone()).negated();
    *condition == not_found
        && guard.otherwise.is_empty()
        && matches!(guard.then.as_slice(), [only] if done(only))
}
