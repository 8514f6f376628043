//! The answers of a case, without its values, to be compared.

use std::collections::VecDeque;
use std::fmt::Write;

use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::server::Release;
use optimist_client::Preset;
use serde::{Deserialize, Serialize};

use crate::audit::findings::Findings;
use crate::audit::recorded::{CoreAnswer, RecordedHistory};
use crate::audit::{AuditLog, AuditReader, AuditedObject};
use crate::case::{Case, Installed, Note};
use crate::input::{Input, detect};
use crate::message::{PrintedError, ReportedError};
use crate::observed::{field_changes, fights};
use crate::ownership::OwnershipReader;
use crate::scene::{GivenParts, Scene};
use crate::ways::{ChangeTable, PartialRow, PartialWaysOut, Row, RowProgress, WantedChange, Way};

/// The settings with which people look at a case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseSettings {
    /// The client that they write with.
    pub client: Preset,
    /// The field manager that they write by; empty for the default of the client.
    pub manager: String,
    /// The parts that they add to error messages.
    pub given: GivenParts,
}

/// The most objects of a log that are compared.
const MAX_OBJECTS: usize = 200;

/// An answer, without values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AnonymizedAnswer {
    /// The content of the answer.
    pub(super) says: String,
    /// The messages in it. They name values, and are not compared.
    pub(super) messages: String,
}

/// A part of the work. Each is short, also for a large case.
#[derive(Clone, Debug)]
enum AnonymizePart {
    /// A text is to be read.
    Text(String),
    /// All texts are read.
    Cases,
    /// The object of the case at this position is to be put on a server.
    Install(usize),
    Case(usize),
    Owners(usize, Box<OwnershipReader>),
    Row(usize, Box<PartialRow>),
    WaysOut(usize, Box<PartialWaysOut>),
    Error(usize),
    Log(usize, AuditedObject),
}

/// The result of a part of the work.
pub(super) enum AnswerProgress {
    /// The part gives no answer.
    More,
    /// The next answer.
    Next(AnonymizedAnswer),
    /// There is no more to do.
    Done,
}

/// Computes the answers of a case, part by part.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    settings: CaseSettings,
    input: Vec<Input>,
    cases: Vec<(Case, Option<Installed>, Option<ChangeTable>)>,
    errors: Vec<ReportedError>,
    logs: Vec<AuditLog>,
    left: VecDeque<AnonymizePart>,
}

impl Answers {
    /// Begins with the texts of a case. Nothing is read yet.
    pub(super) fn new(texts: &[String], settings: &CaseSettings) -> Self {
        let texts = texts.iter().cloned().map(AnonymizePart::Text);
        Self {
            settings: settings.clone(),
            input: Vec::new(),
            cases: Vec::new(),
            errors: Vec::new(),
            logs: Vec::new(),
            left: texts.chain([AnonymizePart::Cases]).collect(),
        }
    }

    /// Adds what follows from the texts.
    fn add_cases(&mut self) {
        let input = std::mem::take(&mut self.input);
        for one in &input {
            match one {
                Input::Errors(errors) => self.errors.extend(errors.iter().cloned()),
                Input::AuditLog(log) => {
                    self.logs.push(AuditReader::new(log.clone()).finish());
                }
                _ => {}
            }
        }
        let cases = Case::all_of(&input).into_iter();
        self.cases = cases.map(|case| (case, None, None)).collect();
        self.left
            .extend((0..self.cases.len()).map(AnonymizePart::Install));
        self.left
            .extend((0..self.errors.len()).map(AnonymizePart::Error));
        for (at, log) in self.logs.iter().enumerate() {
            let objects = log.objects().into_iter().take(MAX_OBJECTS);
            let parts = objects.map(|(object, _)| AnonymizePart::Log(at, object));
            self.left.extend(parts);
        }
    }

    /// Puts the object of a case on a server. Its answers come next.
    fn install(&mut self, at: usize) {
        let case = &self.cases[at].0;
        let installed = case.install().ok();
        let table = self.table(case, installed.as_ref());
        let mut parts = vec![AnonymizePart::Case(at)];
        if let Some(installed) = &installed
            && let Some(object) = installed.object()
        {
            let object = object.as_ref().clone();
            let reader = OwnershipReader::new(object, &installed.resource().root);
            parts.push(AnonymizePart::Owners(at, Box::new(reader)));
        }
        if let Some(table) = &table {
            let rows = Way::all().into_iter().map(|way| table.begin_row(way));
            parts.extend(rows.map(|row| AnonymizePart::Row(at, Box::new(row))));
            let outs = table.begin_ways_out(self.settings.client);
            parts.push(AnonymizePart::WaysOut(at, Box::new(outs)));
        }
        for part in parts.into_iter().rev() {
            self.left.push_front(part);
        }
        (self.cases[at].1, self.cases[at].2) = (installed, table);
    }

    fn table(&self, case: &Case, installed: Option<&Installed>) -> Option<ChangeTable> {
        let manager = self.settings.manager.trim();
        let change = WantedChange {
            manager: (!manager.is_empty()).then(|| manager.to_owned()),
            previous: case.previous_manifest.clone(),
            ..WantedChange::manifest(case.manifest.clone()?)
        };
        Some(ChangeTable::new(installed?, change))
    }

    /// Does the next part.
    pub(super) fn advance(&mut self) -> AnswerProgress {
        let Some(part) = self.left.pop_front() else {
            return AnswerProgress::Done;
        };
        let mut answer = AnonymizedAnswer::default();
        let more = match part {
            AnonymizePart::Text(text) => {
                self.input.extend(detect(&text).ok());
                return AnswerProgress::More;
            }
            AnonymizePart::Cases => {
                self.add_cases();
                return AnswerProgress::More;
            }
            AnonymizePart::Install(at) => {
                self.install(at);
                return AnswerProgress::More;
            }
            AnonymizePart::Case(at) => {
                self.case(at, &mut answer);
                None
            }
            AnonymizePart::Owners(at, reader) => self.owners(at, reader, &mut answer),
            AnonymizePart::Row(at, row) => self.row(at, *row, &mut answer),
            AnonymizePart::WaysOut(at, outs) => self.ways_out(at, outs, &mut answer),
            AnonymizePart::Error(at) => {
                self.error(at, &mut answer);
                None
            }
            AnonymizePart::Log(at, object) => {
                of_log(&self.logs[at], object, &mut answer);
                None
            }
        };
        match more {
            Some(part) => {
                self.left.push_front(part);
                AnswerProgress::More
            }
            None => AnswerProgress::Next(answer),
        }
    }

    /// Finds owners. Returns what is left to do.
    fn owners(
        &self,
        at: usize,
        mut reader: Box<OwnershipReader>,
        answer: &mut AnonymizedAnswer,
    ) -> Option<AnonymizePart> {
        let installed = self.cases[at].1.as_ref()?;
        if reader.advance(&installed.resource().root) {
            return Some(AnonymizePart::Owners(at, reader));
        }
        for line in reader.finish().lines {
            let owners = (&line.line.pointer, &line.owners, line.unowned);
            says(answer, &format!("{owners:?}"));
        }
        None
    }

    /// Runs a way of writing. Returns what is left to do.
    fn row(
        &self,
        at: usize,
        row: PartialRow,
        answer: &mut AnonymizedAnswer,
    ) -> Option<AnonymizePart> {
        let table = self.cases[at].2.as_ref()?;
        match table.advance(row) {
            RowProgress::More(row) => return Some(AnonymizePart::Row(at, row)),
            RowProgress::Done(row) => row.iter().for_each(|row| of_row(row, answer)),
        }
        None
    }

    /// Runs the ways out. Returns what is left to do.
    fn ways_out(
        &self,
        at: usize,
        mut outs: Box<PartialWaysOut>,
        answer: &mut AnonymizedAnswer,
    ) -> Option<AnonymizePart> {
        let table = self.cases[at].2.as_ref()?;
        if table.advance_ways_out(&mut outs) {
            return Some(AnonymizePart::WaysOut(at, outs));
        }
        for out in outs.outs {
            says(answer, &format!("{:?} {}", out.kind, out.settles));
            of_row(&out.row, answer);
        }
        None
    }

    fn case(&self, at: usize, answer: &mut AnonymizedAnswer) {
        let (case, installed, _) = &self.cases[at];
        says(answer, &case.id.to_string());
        let Some(installed) = installed else {
            if let Err(why) = case.install() {
                says(answer, &format!("{:?}", std::mem::discriminant(&why)));
                answer.messages.push_str(&why.to_string());
            }
            return;
        };
        let notes = installed.notes.iter();
        let notes: Vec<&Note> = notes.collect();
        says(answer, &format!("{notes:?}"));
        match field_changes(&case.versions, &installed.resource().root) {
            Ok(changes) => {
                for change in &changes {
                    let who = (&change.resource_version, &change.by, &change.owner_before);
                    says(answer, &format!("{} {who:?}", printed(&change.field)));
                }
                for fight in fights(&changes) {
                    let who = (fight.flips, &fight.managers);
                    says(answer, &format!("{} {who:?}", printed(&fight.field)));
                }
            }
            Err(problem) => answer.messages.push_str(&problem),
        }
    }

    fn error(&self, at: usize, answer: &mut AnonymizedAnswer) {
        let error = &self.errors[at];
        says(answer, &format!("{:?} {:?}", error.tool, error.object));
        says(
            answer,
            &format!("{:?}", std::mem::discriminant(&error.error)),
        );
        if let PrintedError::Apply(conflicts) = &error.error {
            for conflict in conflicts {
                says(answer, &format!("{conflict} {}", conflict.fields.len()));
            }
        }
        match Scene::rebuild(error, &self.settings.given) {
            Ok(scene) => says(answer, &format!("{:?}", scene.missing)),
            Err(why) => {
                says(answer, &format!("{:?}", std::mem::discriminant(&why)));
            }
        }
    }
}

fn says(answer: &mut AnonymizedAnswer, line: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(answer.says, "{line}");
}

/// A path without the values of sets in it.
fn printed(path: &Path) -> String {
    let mut path = path.clone();
    for element in &mut path.0 {
        if matches!(element, PathElement::Value(_)) {
            *element = PathElement::Field("one item".to_owned());
        }
    }
    path.to_string()
}

fn of_row(row: &Row, answer: &mut AnonymizedAnswer) {
    let requests: Vec<(&str, u16)> = row
        .requests
        .iter()
        .map(|it| (it.method.as_str(), it.code))
        .collect();
    says(
        answer,
        &format!(
            "{:?} {requests:?} {:?} {} {:?} {}",
            row.way,
            row.code,
            row.reason,
            row.second_run.as_ref(),
            row.warnings.len()
        ),
    );
    let mut fields: Vec<String> = row
        .fields
        .iter()
        .map(|it| {
            let owners = (&it.owners_before, &it.owners_after, &it.refused_by);
            format!("{} {:?} {owners:?}", printed(&it.field), it.effect)
        })
        .collect();
    // Paths with values in them are in another order.
    fields.sort();
    fields.iter().for_each(|line| says(answer, line));
    for one in &row.taken_back {
        let who = (&one.manager, one.autoscaler);
        says(answer, &format!("{} {who:?}", printed(&one.field)));
    }
    answer.messages.push_str(&row.message);
    for cause in &row.causes {
        answer.messages.push_str(&cause.message);
    }
}

fn of_log(log: &AuditLog, object: AuditedObject, answer: &mut AnonymizedAnswer) {
    says(answer, &format!("{object:?}"));
    let history = RecordedHistory::new(object, &[], Release::default()).finish(log);
    for step in &history.steps {
        let fields = step.changes.iter().map(|it| printed(&it.field));
        let fields: Vec<String> = fields.collect();
        let prediction = match &step.prediction {
            CoreAnswer::Same { patch_types, .. } => format!("same {patch_types:?}"),
            CoreAnswer::Other { differences, .. } => {
                for one in differences {
                    let values = (&one.recorded, &one.core);
                    answer.messages.push_str(&format!("{values:?}"));
                }
                let places = differences.iter().map(|it| it.pointer.as_str());
                format!("other {:?}", places.collect::<Vec<_>>())
            }
            CoreAnswer::NotRun(why) => format!("{why:?}"),
        };
        let line = (step.client, &step.manager, fields, prediction);
        says(answer, &format!("{line:?}"));
    }
    let found = Findings::without_remedies(&history, log);
    for fight in &found.fights {
        let who = (fight.flips, &fight.managers);
        says(answer, &format!("{} {who:?}", printed(&fight.field)));
    }
    for lost in &found.lost {
        let steps = (lost.written, lost.lost, lost.may_have_watched);
        says(answer, &format!("{} {steps:?}", printed(&lost.field)));
    }
    let rest = (&found.conflicts, &found.unchanged, &found.loops);
    says(answer, &format!("{rest:?}"));
}
