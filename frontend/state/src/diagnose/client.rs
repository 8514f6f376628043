//! The client that people write with, and the error messages that name it.

use std::rc::Rc;

use optimist_client::Preset;
use optimist_diagnose::input::Input;
use optimist_diagnose::message::{ErrorSource, ReportedError};

use super::DiagnoseState;
use super::preview::has_several;
use super::reading::CaseReading;

/// The clients that have written an object. A manager that a message names as the owner of a field was not refused
/// there: it says nothing of who was.
fn writers(reading: &CaseReading) -> impl Iterator<Item = Preset> {
    let ownership = reading.ownership.iter();
    let managers = ownership.flat_map(|it| &it.managers);
    let names = managers.map(|entry| entry.manager.name.as_str());
    let names = names.filter(|name| !is_named_owner(&reading.case.errors, name));
    names.filter_map(Preset::of_manager)
}

/// Returns whether a message of a refused apply names a manager as the owner of a field.
fn is_named_owner(errors: &[ReportedError], manager: &str) -> bool {
    let mut conflicts = errors.iter().flat_map(|error| error.error.conflicts());
    conflicts.any(|it| it.manager == manager)
}

/// The client that writes manifests and has written most of some objects, the first one of several.
fn most_common_writer(cases: &[Rc<CaseReading>]) -> Option<Preset> {
    let mut found: Vec<(Preset, usize)> = Vec::new();
    for reading in cases {
        let writer = writers(reading).find(|writer| writer.writes_manifest());
        let Some(writer) = writer else {
            continue;
        };
        match found.iter_mut().find(|(known, _)| *known == writer) {
            Some((_, count)) => *count += 1,
            None => found.push((writer, 1)),
        }
    }
    let most = found.iter().map(|(_, count)| *count).max();
    let first = found.iter().find(|(_, count)| Some(*count) == most);
    first.map(|(writer, _)| *writer)
}

impl DiagnoseState {
    /// The client that people write with: the one that they chose, else the tool of an error message,
    /// else a tool that has written the object, else kubectl. Several objects have one: the tool of manifests that has
    /// written most of them.
    pub fn client(&self) -> Preset {
        let mut of_tools = self.tools().filter_map(ErrorSource::client);
        let chosen = self.client.or_else(|| of_tools.next());
        let writer = || match has_several(&self.brought) {
            true => most_common_writer(&self.brought),
            false => writers(self.reading()?).next(),
        };
        let chosen = chosen.or_else(writer);
        chosen.unwrap_or(Preset::KubectlApplyServerSide)
    }

    /// Returns the tool of the first error message, if no client writes as a tool of the messages does and nobody
    /// chose one.
    pub fn unknown_client(&self) -> Option<ErrorSource> {
        let is_known = self.client.is_some() || self.tools().any(|tool| tool.client().is_some());
        self.tools().next().filter(|_| !is_known)
    }

    /// The tools that printed the error messages about the selected object; about any of several objects.
    fn tools(&self) -> impl Iterator<Item = ErrorSource> {
        let errors = match has_several(&self.brought) {
            true => self.all_errors().collect(),
            false => self.errors(),
        };
        errors.into_iter().filter_map(|error| error.tool)
    }

    /// The error messages that are about the object that is looked at; all, if there is no object.
    pub fn errors(&self) -> Vec<&ReportedError> {
        if let Some(reading) = self.reading() {
            return reading.case.errors.iter().collect();
        }
        self.all_errors().collect()
    }

    fn all_errors(&self) -> impl Iterator<Item = &ReportedError> {
        let items = self.items.iter();
        let errors = items.filter_map(|item| match &item.content {
            Ok(Input::Errors(errors)) => Some(errors),
            _ => None,
        });
        errors.flatten()
    }
}
