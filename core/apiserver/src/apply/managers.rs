//! `metadata.managedFields`: every manager with the fields that it owns
//! (`managedfields/internal/managedfields.go`).

use serde_json::{Value, json};

use super::fields_v1::write_over;
use super::{Set, from_fields_v1};
use crate::environment::Timestamp;
use crate::go;
use crate::object::{Metadata, text};

/// The operation by which a manager owns its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ManagedFieldsOperation {
    /// By an apply.
    Apply,
    /// By any other write.
    Update,
}

impl ManagedFieldsOperation {
    /// The value of `operation` in an entry of `managedFields` (`metav1.ManagedFieldsOperationType`).
    pub fn name(self) -> &'static str {
        match self {
            ManagedFieldsOperation::Apply => "Apply",
            ManagedFieldsOperation::Update => "Update",
        }
    }
}

/// The identity of a manager. The identity of an applier does not depend on the version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Manager {
    /// The field manager's name.
    pub name: String,
    /// The operation of its writes.
    pub operation: ManagedFieldsOperation,
    /// The version it wrote in; empty for an applier.
    pub api_version: String,
    /// The subresource it wrote through; empty for the main resource.
    pub subresource: String,
}

impl Manager {
    /// A manager; `api_version` counts only for [`ManagedFieldsOperation::Update`].
    pub fn new(
        name: &str,
        operation: ManagedFieldsOperation,
        api_version: &str,
        subresource: &str,
    ) -> Self {
        let api_version = match operation {
            ManagedFieldsOperation::Apply => "",
            ManagedFieldsOperation::Update => api_version,
        };
        Self {
            name: name.to_owned(),
            operation,
            api_version: api_version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    /// The identifier by which upstream sorts managers, also in conflict messages.
    pub fn identifier(&self) -> String {
        let mut members = Vec::new();
        for (field, value) in [
            ("manager", self.name.as_str()),
            ("operation", self.operation.name()),
            ("apiVersion", &self.api_version),
            ("subresource", &self.subresource),
        ] {
            if !value.is_empty() {
                members.push(format!("{}:{}", json!(field), json!(value)));
            }
        }
        format!("{{{}}}", members.join(","))
    }
}

impl std::fmt::Display for Manager {
    /// Writes the manager as conflict messages name it: `"B" with subresource "status" using
    /// apps/v1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", go::quote(&self.name))?;
        if !self.subresource.is_empty() {
            write!(f, " with subresource {}", go::quote(&self.subresource))?;
        }
        if self.operation == ManagedFieldsOperation::Update {
            write!(f, " using {}", self.api_version)?;
        }
        Ok(())
    }
}

/// The fields that one manager owns.
#[derive(Clone, Debug, PartialEq)]
pub struct Owned {
    /// The manager.
    pub manager: Manager,
    /// The version in which the fields are named.
    pub api_version: String,
    /// The fields.
    pub set: Set,
    /// The time of its last change; `None` if the entry never changed anything.
    pub time: Option<Timestamp>,
}

/// All managers of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Managers {
    entries: Vec<Owned>,
}

impl Managers {
    /// The managers of an object; none if its `metadata.managedFields` is malformed.
    pub fn of_object(object: &Value) -> Self {
        let managed = object.metadata().and_then(|meta| meta.get("managedFields"));
        Self::decode(managed).unwrap_or_default()
    }

    /// Reads `metadata.managedFields`.
    ///
    /// # Errors
    /// The problem of the first malformed entry.
    pub fn decode(list: Option<&Value>) -> Result<Self, String> {
        let mut managers = Self::default();
        let entries = list.and_then(Value::as_array);
        for (i, entry) in entries.into_iter().flatten().enumerate() {
            let operation = match text(entry, "operation") {
                "Apply" => ManagedFieldsOperation::Apply,
                "Update" => ManagedFieldsOperation::Update,
                _ => return Err("operation must be `Apply` or `Update`".to_owned()),
            };
            let api_version = text(entry, "apiVersion");
            if api_version.is_empty() {
                return Err("apiVersion must not be empty".to_owned());
            }
            match text(entry, "fieldsType") {
                "FieldsV1" => {}
                "" => return Err(format!("missing fieldsType in managed fields entry {i}")),
                other => {
                    let other = go::quote(other);
                    return Err(format!(
                        "invalid fieldsType {other} in managed fields entry {i}"
                    ));
                }
            }
            let set = from_fields_v1(entry.get("fieldsV1").unwrap_or(&Value::Null))
                .ok_or_else(|| format!("error decoding set in managed fields entry {i}"))?;
            managers.insert(Owned {
                manager: Manager::new(
                    text(entry, "manager"),
                    operation,
                    api_version,
                    text(entry, "subresource"),
                ),
                api_version: api_version.to_owned(),
                set,
                time: Timestamp::parse(text(entry, "time")),
            });
        }
        Ok(managers)
    }

    /// Writes `metadata.managedFields`; `None` if no field has an owner.
    pub fn encode(&self) -> Option<Value> {
        self.encode_over(None)
    }

    /// Encodes like [`encode`](Self::encode), given the list before. Most managers own almost the same
    /// fields as then: those are taken from that list.
    pub(super) fn encode_over(&self, before: Option<Value>) -> Option<Value> {
        if self.entries.is_empty() {
            return None;
        }
        let mut entries: Vec<&Owned> = self.entries.iter().collect();
        entries.sort_by_key(|owned| {
            (
                owned.manager.operation,
                owned.time.map_or(0, |time| time.seconds),
                &owned.manager.name,
                &owned.api_version,
                &owned.manager.subresource,
            )
        });
        let mut before = match before {
            Some(Value::Array(entries)) => entries,
            _ => Vec::new(),
        };
        let entries = entries.into_iter();
        let entries = entries.map(|owned| {
            let is_its = |entry: &&mut Value| {
                text(entry, "manager") == owned.manager.name
                    && text(entry, "operation") == owned.manager.operation.name()
                    && text(entry, "subresource") == owned.manager.subresource
            };
            let its = before.iter_mut().find(is_its);
            let its = its.and_then(|entry| entry.get_mut("fieldsV1"));
            let mut fields = its.map(Value::take).unwrap_or_default();
            write_over(&owned.set, &mut fields);
            encode_entry(owned, fields)
        });
        Some(entries.collect())
    }

    /// Everyone, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Owned> {
        self.entries.iter()
    }

    /// Returns whether no field has an owner.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the fields that a manager owns.
    pub fn get(&self, manager: &Manager) -> Option<&Owned> {
        self.entries.iter().find(|owned| owned.manager == *manager)
    }

    /// Returns the fields that a manager owns, to be changed.
    pub fn get_mut(&mut self, manager: &Manager) -> Option<&mut Owned> {
        let mut entries = self.entries.iter_mut();
        entries.find(|owned| owned.manager == *manager)
    }

    /// Sets the fields that a manager owns.
    pub fn insert(&mut self, owned: Owned) {
        let known = self
            .entries
            .iter_mut()
            .find(|entry| entry.manager == owned.manager);
        match known {
            Some(entry) => *entry = owned,
            None => self.entries.push(owned),
        }
    }

    /// Forgets a manager.
    pub fn remove(&mut self, manager: &Manager) -> Option<Owned> {
        let i = self
            .entries
            .iter()
            .position(|owned| owned.manager == *manager)?;
        Some(self.entries.remove(i))
    }

    /// Keeps the managers for which `keep` returns `true`; it may change their fields.
    pub fn retain(&mut self, keep: impl FnMut(&mut Owned) -> bool) {
        self.entries.retain_mut(keep);
    }

    /// Merges the oldest updaters of a version until at most `most` remain
    /// (`capmanagers.go`). Appliers are not counted.
    pub fn cap_updaters(&mut self, most: usize) {
        let is_updater = |owned: &&Owned| owned.manager.operation == ManagedFieldsOperation::Update;
        let updaters = self.entries.iter().filter(is_updater);
        if updaters.clone().count() <= most {
            return;
        }
        let mut updaters: Vec<(u64, String, Manager)> = updaters
            .map(|owned| {
                let seconds = owned.time.map_or(0, |time| time.seconds);
                (seconds, owned.manager.identifier(), owned.manager.clone())
            })
            .collect();
        updaters.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let mut count = updaters.len();
        // The first updater of each version that was passed on the way, until it is merged.
        let mut firsts: Vec<(String, Manager)> = Vec::new();
        for (_, _, manager) in updaters {
            if count <= most {
                break;
            }
            let Some(owned) = self.get(&manager).cloned() else {
                continue;
            };
            let first = firsts
                .iter()
                .find(|(version, _)| *version == owned.api_version)
                .map(|(_, first)| first.clone());
            let Some(first) = first else {
                firsts.push((owned.api_version, manager));
                continue;
            };
            let bucket = Manager::new(
                "ancient-changes",
                ManagedFieldsOperation::Update,
                &owned.api_version,
                "",
            );
            if self.get(&bucket).is_none()
                && let Some(first) = self.remove(&first)
            {
                self.insert(Owned {
                    manager: bucket.clone(),
                    ..first
                });
            }
            let ancient = self.get(&bucket).map(|entry| &entry.set);
            let set = ancient.map_or_else(|| owned.set.clone(), |set| owned.set.union(set));
            self.remove(&manager);
            self.insert(Owned {
                manager: bucket,
                set,
                ..owned
            });
            count -= 1;
        }
    }
}

fn encode_entry(owned: &Owned, fields: Value) -> Value {
    let manager = &owned.manager;
    let mut entry = json!({
        "operation": manager.operation.name(),
        "apiVersion": owned.api_version,
        "fieldsType": "FieldsV1",
    });
    entry["fieldsV1"] = fields;
    if !manager.name.is_empty() {
        entry["manager"] = manager.name.as_str().into();
    }
    if let Some(time) = owned.time {
        entry["time"] = time.to_string().into();
    }
    if !manager.subresource.is_empty() {
        entry["subresource"] = manager.subresource.as_str().into();
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::super::to_fields_v1;
    use super::*;

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": fields, "time": "2025-01-01T00:00:00Z"})
    }

    #[test]
    fn a_malformed_entry_is_refused_with_its_mistake() {
        let good = entry("a", "Apply", json!({"f:a": {}}));
        let with = |field: &str, value: Value| {
            let mut entry = good.clone();
            entry[field] = value;
            json!([good, entry])
        };
        for (list, mistake) in [
            (
                with("operation", "Create".into()),
                "operation must be `Apply` or `Update`",
            ),
            (
                with("apiVersion", "".into()),
                "apiVersion must not be empty",
            ),
            (
                with("fieldsType", "".into()),
                "missing fieldsType in managed fields entry 1",
            ),
            (
                with("fieldsType", "V2".into()),
                "invalid fieldsType \"V2\" in managed fields entry 1",
            ),
            (
                with("fieldsV1", json!({"a": {}})),
                "error decoding set in managed fields entry 1",
            ),
        ] {
            assert_eq!(Managers::decode(Some(&list)), Err(mistake.to_owned()));
        }
        assert_eq!(Managers::decode(None), Ok(Managers::default()));
    }

    #[test]
    fn entries_are_written_by_operation_time_and_name() {
        let mut early = entry("z", "Update", json!({"f:a": {}}));
        early["time"] = "2024-01-01T00:00:00Z".into();
        let b = entry("b", "Update", json!({"f:b": {}}));
        let mut status = entry("b", "Update", json!({"f:s": {}}));
        status["subresource"] = "status".into();
        let apply = entry("z", "Apply", json!({"f:c": {}}));
        let sorted = json!([apply, early, b, status]);
        let list = json!([status, b, early, apply]);
        let managers = Managers::decode(Some(&list)).unwrap();
        assert_eq!(managers.encode(), Some(sorted));
        assert_eq!(Managers::default().encode(), None);
    }

    #[test]
    fn an_applier_is_the_same_in_every_version_and_an_updater_is_not() {
        let in_version = |operation, version| Manager::new("a", operation, version, "");
        let (apply, update) = (
            ManagedFieldsOperation::Apply,
            ManagedFieldsOperation::Update,
        );
        assert_eq!(in_version(apply, "v1"), in_version(apply, "v2"));
        assert_ne!(in_version(update, "v1"), in_version(update, "v2"));
        assert_ne!(in_version(apply, "v1"), in_version(update, "v1"));
        let status = Manager::new("B", update, "apps/v1", "status");
        assert_eq!(
            status.to_string(),
            "\"B\" with subresource \"status\" using apps/v1"
        );
        assert_eq!(in_version(apply, "v1").to_string(), "\"a\"");
    }

    #[test]
    fn the_oldest_updaters_of_a_version_become_one() {
        let updater = |n: usize, version: &str| {
            let mut entry = entry(&format!("m{n}"), "Update", json!({format!("f:{n}"): {}}));
            entry["apiVersion"] = version.into();
            entry["time"] = format!("2025-01-01T00:00:0{n}Z").into();
            entry
        };
        let applier = entry("m0", "Apply", json!({"f:0": {}}));
        let list = json!([
            applier,
            updater(1, "v1"),
            updater(2, "v2"),
            updater(3, "v1"),
            updater(4, "v1"),
        ]);
        let names = |most: usize| {
            let mut managers = Managers::decode(Some(&list)).unwrap();
            managers.cap_updaters(most);
            let mut all: Vec<String> = managers
                .iter()
                .map(|owned| format!("{} {}", owned.manager.name, to_fields_v1(&owned.set)))
                .collect();
            all.sort();
            all
        };
        assert_eq!(names(4).len(), 5, "the applier is not counted");
        assert_eq!(
            names(3),
            [
                "ancient-changes {\"f:1\":{},\"f:3\":{}}",
                "m0 {\"f:0\":{}}",
                "m2 {\"f:2\":{}}",
                "m4 {\"f:4\":{}}",
            ]
        );
        let most = [
            "ancient-changes {\"f:1\":{},\"f:3\":{},\"f:4\":{}}",
            "m0 {\"f:0\":{}}",
            "m2 {\"f:2\":{}}",
        ];
        assert_eq!(names(2), most);
        assert_eq!(names(1), most, "two versions cannot become one");
    }
}
