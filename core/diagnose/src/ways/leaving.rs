//! The fields that a manager would leave behind.

use optimist_apiserver::apply::{ManagedFieldsOperation, Manager, Path, Set};
use optimist_client::{Agent, Preset, SingleRequest};

use super::row::{self, Row};
use super::{ChangeTable, FieldEffect, OnOwned, RunningClient, WantedChange, Way, manifest};
use crate::case::Installed;

/// The fate of the fields of a manager that stops.
#[derive(Clone, Debug)]
pub struct Leaving {
    /// The manager.
    pub manager: Manager,
    /// The fields that go with it.
    pub removed: Vec<Path>,
    /// The fields that stay.
    pub left: Vec<Path>,
    /// The apply of an empty manifest by which an applier leaves. `None` for a manager that updates: it
    /// cannot take its fields along, so they all stay and keep its name.
    pub row: Option<Row>,
}

impl Installed {
    /// Returns the fields that each manager of the object would leave behind, in the order of
    /// `managedFields`. An applier leaves by an apply of a manifest without fields, which is run here.
    pub fn leaving(&self) -> Vec<Leaving> {
        let ownership = self.ownership();
        let all = ownership.managers.into_iter();
        all.map(|entry| {
            let manager = entry.manager;
            let applies = manager.operation == ManagedFieldsOperation::Apply
                && manager.subresource.is_empty();
            let row = applies.then(|| self.applies_nothing(&manager)).flatten();
            let gone = |path: &Path| {
                let row = row.as_ref();
                row.is_some_and(|row| path.find(&row.after).is_none())
            };
            let (removed, left) = entry.fields.into_iter().partition(gone);
            Leaving {
                manager,
                removed,
                left,
                row,
            }
        })
        .collect()
    }

    fn applies_nothing(&self, manager: &Manager) -> Option<Row> {
        let object = self.object()?;
        let nothing = manifest::part(object, &Set::default(), self.resource());
        let table = ChangeTable::new(self, WantedChange::manifest(nothing.clone()));
        let procedure = |client: &mut RunningClient<'_>| {
            let agent = Agent::named(client.subject, &manager.name);
            client.process(SingleRequest::apply(agent, nothing.clone()));
            Some(())
        };
        let way = Way::Client(Preset::KubectlApplyServerSide, OnOwned::Usual);
        row::run(&table, way, &procedure)
    }
}

impl Leaving {
    /// Returns whether the server refuses to let the manager go, for example because a required field would
    /// be missing.
    pub fn is_refused(&self) -> bool {
        self.row.as_ref().is_some_and(Row::is_refused)
    }

    /// The fields whose value changes when the manager goes: a default comes back.
    pub fn changed(&self) -> impl Iterator<Item = &Path> {
        let fields = self
            .row
            .iter()
            .flat_map(|row| row.with(FieldEffect::Changed));
        fields.map(|field| &field.field)
    }
}
