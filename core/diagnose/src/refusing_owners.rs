//! The owners for whom the server refused a field, and when they wrote last.

use optimist_apiserver::apply::Manager;
use optimist_apiserver::go;
use optimist_apiserver::object::{Metadata, text};
use serde_json::Value;

use crate::ownership::UNNAMED;
use crate::preview::PreviewField;
use crate::ways::{FieldOutcome, Row};

impl FieldOutcome {
    /// The owners that the server named when it refused the field.
    pub fn refusing_owners(&self) -> impl Iterator<Item = &Manager> {
        self.owners_before.iter().filter(|manager| {
            let name = go::quote(&manager.name);
            let subresource = format!("subresource {}", go::quote(&manager.subresource));
            self.refused_by.iter().any(|said| {
                said.starts_with(&name)
                    && match manager.subresource.as_str() {
                        "" => !said.contains("subresource \""),
                        _ => said.contains(&subresource),
                    }
            })
        })
    }
}

impl PreviewField {
    /// The owners that the server named when it refused the field. The server's own words if the field has no value
    /// whose owners are known.
    pub fn refusing_owners(&self) -> Vec<&String> {
        let is_named = |owner: &&String| {
            let name = owner.rsplit_once(" (").map_or("", |(name, _)| name);
            let begin = go::quote(if name == UNNAMED { "" } else { name });
            self.refused_by.iter().any(|said| said.starts_with(&begin))
        };
        let known: Vec<&String> = self.owners.iter().filter(is_named).collect();
        match known.is_empty() {
            true => self.refused_by.iter().collect(),
            false => known,
        }
    }
}

impl Row {
    /// The time in the entry of a manager of the object before, if the entry has one.
    pub fn last_write_time(&self, manager: &Manager) -> Option<&str> {
        let version = &manager.api_version;
        let is_own = |entry: &&Value| {
            manager.has_entry(entry) && (version.is_empty() || text(entry, "apiVersion") == version)
        };
        let mut entries = self.before.managed_entries().iter();
        let time = text(entries.find(is_own)?, "time");
        (!time.is_empty()).then_some(time)
    }
}
