//! The refused write of a conflict message, for an object of the input.

use optimist_apiserver::apply::{ManagedFieldsOperation, Managers, Set};
use optimist_client::bare;
use serde_json::Value;

use super::{GivenParts, chosen_manager, manager, path, sample};
use crate::case::Installed;
use crate::message::{ErrorSource, PrintedError, ReportedError};
use crate::ways::{ReleaseMethod, WantedChange, part_of};

impl Installed {
    /// Returns the write that a conflict message reports: the manager's manifest with other values
    /// of the fields in conflict. The manifest is the one that the manager has applied before, or
    /// else the object. No message has the values, so they are made up. `None` for any other error,
    /// and if the object has none of the fields.
    pub fn refused_write(&self, error: &ReportedError) -> Option<WantedChange> {
        let PrintedError::Apply(conflicts) = &error.error else {
            return None;
        };
        let live = self.object()?;
        let root = &self.resource().root;
        let manager = manager(error, &GivenParts::default(), &mut Vec::new());
        let mut manifest = declared(self, live, &manager);
        let fields = conflicts.iter().flat_map(|conflict| &conflict.fields);
        let mut any = false;
        for path in fields.filter_map(|field| path::parse(field, Some(root))) {
            let stored = path.find(live);
            let [one, other] = sample::values(&path, Some(root));
            let differs = if stored == Some(&one) { other } else { one };
            any |= stored.is_some();
            path.put(&mut manifest, differs);
        }
        let client = error.tool.and_then(ErrorSource::client);
        let refused = client.map(|client| (client, manager.clone()));
        any.then(|| WantedChange {
            manager: chosen_manager(error, &GivenParts::default(), &manager),
            // Helm was refused, so it had not taken over its former entries.
            last_release: ReleaseMethod::ServerSide,
            refused,
            address: error.address.clone(),
            ..WantedChange::manifest(manifest)
        })
    }
}

/// Returns the manifest that a manager has applied before, or else the object without the fields
/// that only the server writes.
fn declared(installed: &Installed, live: &Value, manager: &str) -> Value {
    let managers = Managers::of_object(live);
    let own = managers.iter().find(|owned| {
        owned.manager.name == manager
            && owned.manager.operation == ManagedFieldsOperation::Apply
            && owned.manager.subresource.is_empty()
    });
    let applied = |set: &Set| part_of(live, set, installed.resource());
    own.map_or_else(
        || {
            let mut manifest = bare(live);
            if let Some(members) = manifest.as_object_mut() {
                members.remove("status");
            }
            manifest
        },
        |owned| applied(&owned.set),
    )
}
