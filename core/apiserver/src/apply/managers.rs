//! `metadata.managedFields`: every manager with the fields that it owns
//! (`managedfields/internal/managedfields.go`).

use serde_json::{Value, json};

use super::fields_v1::write_over;
use super::stored_set::StoredSet;
use super::{Set, from_fields_v1, to_fields_v1};
use crate::environment::Timestamp;
use crate::go;
use crate::object::{JsonMap, Metadata, text};

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

/// Returns whether an entry of `managedFields` is that of a manager, in any version.
pub fn is_entry_of(
    entry: &Value,
    manager: &str,
    operation: ManagedFieldsOperation,
    subresource: &str,
) -> bool {
    text(entry, "manager") == manager
        && text(entry, "operation") == operation.name()
        && text(entry, "subresource") == subresource
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

    /// Returns whether an entry of `managedFields` is that of the manager, in any version.
    pub fn has_entry(&self, entry: &Value) -> bool {
        is_entry_of(entry, &self.name, self.operation, &self.subresource)
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
pub struct Owned<S = Set> {
    /// The manager.
    pub manager: Manager,
    /// The version in which the fields are named.
    pub api_version: String,
    /// The fields.
    pub set: S,
    /// The time of its last change; `None` if the entry never changed anything.
    pub time: Option<Timestamp>,
}

/// All managers of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Managers<S = Set> {
    entries: Vec<Owned<S>>,
}

impl<S> Default for Managers<S> {
    fn default() -> Self {
        let entries = Vec::new();
        Self { entries }
    }
}

impl Managers {
    /// The managers of an object; none if its `metadata.managedFields` is malformed.
    pub fn of_object(object: &Value) -> Self {
        Self::read(object).unwrap_or_default()
    }

    /// Reads the managers of an object.
    ///
    /// # Errors
    /// The problem of the first malformed entry of its `metadata.managedFields`.
    pub fn read(object: &Value) -> Result<Self, String> {
        Self::decode(object.managed_fields())
    }

    /// Reads `metadata.managedFields`.
    ///
    /// # Errors
    /// The problem of the first malformed entry.
    pub fn decode(list: Option<&Value>) -> Result<Self, String> {
        let mut managers = Self::default();
        let entries = list.and_then(Value::as_array);
        for (i, entry) in entries.into_iter().flatten().enumerate() {
            let (manager, api_version) = read_manager(i, entry)?;
            managers.insert(Owned {
                manager,
                api_version,
                set: read_set(i, entry)?,
                time: Timestamp::parse(text(entry, "time")),
            });
        }
        Ok(managers)
    }

    /// Writes `metadata.managedFields`; `None` if no field has an owner.
    pub fn encode(&self) -> Option<Value> {
        let entries = self.entries.iter().cloned();
        let entries = entries.map(|owned| Owned {
            manager: owned.manager,
            api_version: owned.api_version,
            set: owned.set.into(),
            time: owned.time,
        });
        let managers = Managers {
            entries: entries.collect(),
        };
        managers.encode_over(Vec::new())
    }
}

impl<'a> Managers<StoredSet<'a>> {
    /// Reads like [`Managers::decode`], but leaves the fields of every manager as they are written. Only those of
    /// one manager are read.
    ///
    /// # Errors
    /// Works as [`Managers::decode`].
    pub(super) fn borrowed(list: &'a [Value], read: &Manager) -> Result<Self, String> {
        let mut managers = Self::default();
        for (i, entry) in list.iter().enumerate() {
            let head = read_manager(i, entry)?;
            let fields = entry.get("fieldsV1").filter(|_| head.0 != *read);
            managers.insert_stored(i, entry, head, fields.and_then(StoredSet::borrowed))?;
        }
        Ok(managers)
    }

    /// Reads like [`Managers::decode`], but takes the fields of every manager out of the list as they are written.
    ///
    /// # Errors
    /// Works as [`Managers::decode`].
    pub(super) fn taken(list: &mut [Value]) -> Result<Self, String> {
        let mut managers = Self::default();
        for (i, entry) in list.iter_mut().enumerate() {
            let head = read_manager(i, entry)?;
            let stored = entry.get_mut("fieldsV1").and_then(StoredSet::taken);
            managers.insert_stored(i, entry, head, stored)?;
        }
        Ok(managers)
    }

    fn insert_stored(
        &mut self,
        i: usize,
        entry: &Value,
        (manager, api_version): (Manager, String),
        stored: Option<StoredSet<'a>>,
    ) -> Result<(), String> {
        let set = match stored {
            Some(set) => set,
            None => read_set(i, entry)?.into(),
        };
        self.insert(Owned {
            manager,
            api_version,
            set,
            time: Timestamp::parse(text(entry, "time")),
        });
        Ok(())
    }

    /// Writes `metadata.managedFields`, given the list before. Most managers own almost the same fields as then:
    /// their entries are taken from that list.
    pub(super) fn encode_over(mut self, mut before: Vec<Value>) -> Option<Value> {
        if self.entries.is_empty() {
            return None;
        }
        let order = |owned: &Owned<StoredSet<'_>>, other: &Owned<StoredSet<'_>>| {
            let [one, other] = [owned, other].map(|owned| {
                (
                    owned.manager.operation,
                    owned.time.map_or(0, |time| time.seconds),
                    &owned.manager.name,
                    &owned.api_version,
                    &owned.manager.subresource,
                )
            });
            one.cmp(&other)
        };
        self.entries.sort_by(order);
        let entries = self.entries.into_iter().map(|owned| {
            let mut all = before.iter_mut();
            let its = all.find(|entry| owned.manager.has_entry(entry));
            let entry = its.map(Value::take).unwrap_or_default();
            encode_entry(owned, entry)
        });
        Some(entries.collect())
    }
}

impl<S> Managers<S> {
    /// Everyone, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Owned<S>> {
        self.entries.iter()
    }

    /// Returns whether no field has an owner.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the fields that a manager owns.
    pub fn get(&self, manager: &Manager) -> Option<&Owned<S>> {
        self.entries.iter().find(|owned| owned.manager == *manager)
    }

    /// Returns the fields that a manager owns, to be changed.
    pub fn get_mut(&mut self, manager: &Manager) -> Option<&mut Owned<S>> {
        let mut entries = self.entries.iter_mut();
        entries.find(|owned| owned.manager == *manager)
    }

    /// Sets the fields that a manager owns.
    pub fn insert(&mut self, owned: Owned<S>) {
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
    pub fn remove(&mut self, manager: &Manager) -> Option<Owned<S>> {
        let i = self
            .entries
            .iter()
            .position(|owned| owned.manager == *manager)?;
        Some(self.entries.remove(i))
    }

    /// Keeps the managers for which `keep` returns `true`; it may change their fields.
    pub fn retain(&mut self, keep: impl FnMut(&mut Owned<S>) -> bool) {
        self.entries.retain_mut(keep);
    }

    /// Merges the oldest updaters of a version until at most `most` remain
    /// (`capmanagers.go`). Appliers are not counted.
    pub fn cap_updaters(&mut self, most: usize)
    where
        S: Clone + Into<Set> + From<Set>,
    {
        let update = ManagedFieldsOperation::Update;
        let entries = self.entries.iter();
        let updaters = entries.filter(|owned| owned.manager.operation == update);
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
            let mut known = firsts.iter();
            let known = known.find(|(version, _)| *version == owned.api_version);
            let Some((_, first)) = known.cloned() else {
                firsts.push((owned.api_version, manager));
                continue;
            };
            let bucket = Manager::new("ancient-changes", update, &owned.api_version, "");
            if self.get(&bucket).is_none()
                && let Some(first) = self.remove(&first)
            {
                self.insert(Owned {
                    manager: bucket.clone(),
                    ..first
                });
            }
            let mut set: Set = owned.set.into();
            if let Some(ancient) = self.get(&bucket) {
                set.absorb(ancient.set.clone().into());
            }
            self.remove(&manager);
            self.insert(Owned {
                manager: bucket,
                set: set.into(),
                api_version: owned.api_version,
                time: owned.time,
            });
            count -= 1;
        }
    }
}

/// The manager of an entry, and the version of its fields.
fn read_manager(i: usize, entry: &Value) -> Result<(Manager, String), String> {
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
    let (name, subresource) = (text(entry, "manager"), text(entry, "subresource"));
    let manager = Manager::new(name, operation, api_version, subresource);
    Ok((manager, api_version.to_owned()))
}

fn read_set(i: usize, entry: &Value) -> Result<Set, String> {
    from_fields_v1(entry.get("fieldsV1").unwrap_or(&Value::Null))
        .ok_or_else(|| format!("error decoding set in managed fields entry {i}"))
}

/// The members of an entry.
const MEMBERS: [&str; 7] = [
    "manager",
    "operation",
    "apiVersion",
    "time",
    "fieldsType",
    "fieldsV1",
    "subresource",
];

/// Writes an entry over the one that was there.
fn encode_entry(owned: Owned<StoredSet<'_>>, before: Value) -> Value {
    let mut entry = match before {
        Value::Object(entry) => entry,
        _ => JsonMap::new(),
    };
    set_text(&mut entry, "operation", owned.manager.operation.name());
    set_text(&mut entry, "apiVersion", &owned.api_version);
    set_text(&mut entry, "fieldsType", "FieldsV1");
    set_text(&mut entry, "manager", &owned.manager.name);
    set_text(&mut entry, "subresource", &owned.manager.subresource);
    let is_written = |time: &str| {
        // A fraction is left out, and a leap second is written as the one before it.
        let is_plain = time.len() == "2025-01-01T00:00:00Z".len() && !time.ends_with(":60Z");
        is_plain && Timestamp::parse(time) == owned.time
    };
    if !entry
        .get("time")
        .and_then(Value::as_str)
        .is_some_and(is_written)
    {
        let time = owned.time.map(|time| time.to_string());
        set_text(&mut entry, "time", &time.unwrap_or_default());
    }
    match (owned.set, entry.get_mut("fieldsV1")) {
        (StoredSet::Written(map), Some(fields)) => *fields = Value::Object(map.into_owned()),
        (StoredSet::Read(set), Some(fields)) => write_over(&set, fields),
        (set, None) => {
            let fields = match set {
                StoredSet::Written(map) => Value::Object(map.into_owned()),
                StoredSet::Read(set) => to_fields_v1(&set),
            };
            entry.insert("fieldsV1".to_owned(), fields);
        }
    }
    if entry.keys().any(|name| !MEMBERS.contains(&name.as_str())) {
        entry.retain(|name, _| MEMBERS.contains(&name.as_str()));
    }
    Value::Object(entry)
}

/// Sets a text of an entry. An empty one is left out.
fn set_text(entry: &mut JsonMap, name: &str, text: &str) {
    if text.is_empty() {
        entry.remove(name);
    } else if entry.get(name).and_then(Value::as_str) != Some(text) {
        entry.insert(name.to_owned(), text.into());
    }
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
    fn entries_are_written_over_those_that_were_there_as_if_nothing_had_been() {
        let fields = json!({"f:a": {".": {}, "f:b": {}}, "f:l": {"k:{\"n\":\"1\"}": {}}});
        let good = entry("a", "Update", fields);
        let with = |field: &str, value: Value| {
            let mut entry = good.clone();
            entry[field] = value;
            entry
        };
        for entry in [
            good.clone(),
            with("other", 1.into()),
            with("manager", "".into()),
            with("subresource", "".into()),
            with("subresource", "status".into()),
            with("time", "2025-01-01T00:00:00.5Z".into()),
            with("time", "2025-01-01T00:00:60Z".into()),
            with("time", Value::Null),
            with("time", "yesterday".into()),
            with("fieldsV1", json!({"f:a": {".": {}}, "f:b": null})),
            with("fieldsV1", Value::Null),
        ] {
            let anew = Managers::decode(Some(&json!([entry]))).unwrap().encode();
            let mut list = [entry.clone(), good.clone()];
            let managers = Managers::taken(&mut list[..1]).unwrap();
            assert_eq!(managers.encode_over(list.to_vec()), anew, "{entry}");
            let reader = Manager::new("b", ManagedFieldsOperation::Update, "v1", "");
            let list = [entry.clone()];
            let managers = Managers::borrowed(&list, &reader).unwrap();
            assert_eq!(managers.encode_over(Vec::new()), anew, "{entry}");
        }
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
