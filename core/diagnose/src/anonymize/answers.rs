//! The answers of a case, without its values, to be compared.

use std::collections::VecDeque;
use std::fmt::Write;

use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::server::Release;
use optimist_client::Preset;

use crate::audit::findings::Findings;
use crate::audit::recorded::{CoreAnswer, RecordedHistory};
use crate::audit::{AuditLog, AuditReader, AuditedObject};
use crate::case::{Case, Installed, Note};
use crate::input::{Input, detect};
use crate::message::{PrintedError, ReportedError};
use crate::observed::{field_changes, fights};
use crate::scene::{GivenParts, Scene};
use crate::ways::{ChangeTable, Row, WantedChange, Way};

/// The settings with which people look at a case.
#[derive(Clone, Debug)]
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
pub(super) struct Answer {
    /// The content of the answer.
    pub(super) says: String,
    /// The messages in it. They name values, and are not compared.
    pub(super) messages: String,
}

/// A part of the answers.
#[derive(Clone, Debug)]
enum Part {
    Case(usize),
    Row(usize, Way),
    WaysOut(usize),
    Error(usize),
    Log(usize, AuditedObject),
}

/// Computes the answers of a case, part by part.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    settings: CaseSettings,
    cases: Vec<(Case, Option<Installed>, Option<ChangeTable>)>,
    errors: Vec<ReportedError>,
    logs: Vec<AuditLog>,
    left: VecDeque<Part>,
}

impl Answers {
    pub(super) fn of(texts: &[String], settings: &CaseSettings) -> Self {
        let input = texts.iter().filter_map(|text| detect(text).ok());
        let input: Vec<Input> = input.collect();
        let mut all = Self {
            settings: settings.clone(),
            cases: Vec::new(),
            errors: Vec::new(),
            logs: Vec::new(),
            left: VecDeque::new(),
        };
        for one in &input {
            match one {
                Input::Errors(errors) => all.errors.extend(errors.iter().cloned()),
                Input::AuditLog(log) => {
                    all.logs.push(AuditReader::new(log.clone()).finish());
                }
                _ => {}
            }
        }
        for case in Case::all_of(&input) {
            let at = all.cases.len();
            let installed = case.install().ok();
            let table = all.table(&case, installed.as_ref());
            all.left.push_back(Part::Case(at));
            if table.is_some() {
                let ways = Way::all().into_iter();
                all.left.extend(ways.map(|way| Part::Row(at, way)));
                all.left.push_back(Part::WaysOut(at));
            }
            all.cases.push((case, installed, table));
        }
        all.left.extend((0..all.errors.len()).map(Part::Error));
        for (at, log) in all.logs.iter().enumerate() {
            let objects = log.objects().into_iter().take(MAX_OBJECTS);
            let parts = objects.map(|(object, _)| Part::Log(at, object));
            all.left.extend(parts);
        }
        all
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

    /// The next answer; `None` if there is no more.
    pub(super) fn next(&mut self) -> Option<Answer> {
        let part = self.left.pop_front()?;
        let mut answer = Answer::default();
        match part {
            Part::Case(at) => self.case(at, &mut answer),
            Part::Row(at, way) => {
                let table = self.cases[at].2.as_ref();
                if let Some(row) = table.and_then(|table| table.row(way)) {
                    of_row(&row, &mut answer);
                }
            }
            Part::WaysOut(at) => {
                let table = self.cases[at].2.as_ref();
                let outs = table.map(|table| table.remedies(self.settings.client));
                for out in outs.into_iter().flatten() {
                    says(&mut answer, &format!("{:?} {}", out.kind, out.settles));
                    of_row(&out.row, &mut answer);
                }
            }
            Part::Error(at) => self.error(at, &mut answer),
            Part::Log(at, object) => of_log(&self.logs[at], object, &mut answer),
        }
        Some(answer)
    }

    fn case(&self, at: usize, answer: &mut Answer) {
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
        for line in installed.ownership().lines {
            let owners = (&line.line.pointer, &line.owners, line.unowned);
            says(answer, &format!("{owners:?}"));
        }
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

    fn error(&self, at: usize, answer: &mut Answer) {
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
        match Scene::of(error, &self.settings.given) {
            Ok(scene) => says(answer, &format!("{:?}", scene.missing)),
            Err(why) => {
                says(answer, &format!("{:?}", std::mem::discriminant(&why)));
            }
        }
    }
}

fn says(answer: &mut Answer, line: &str) {
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

fn of_row(row: &Row, answer: &mut Answer) {
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

fn of_log(log: &AuditLog, object: AuditedObject, answer: &mut Answer) {
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
    let found = Findings::of(&history, log);
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
