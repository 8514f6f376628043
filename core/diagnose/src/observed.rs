//! Versions of an object over time, as `kubectl get -w -o json --output-watch-events` prints them, or
//! as several documents. What changed, which manager changed it, and which fields managers fight over.

use std::fmt;

use optimist_apiserver::apply::{Manager, Managers, Owned, Path, PathElement, differing};
use optimist_apiserver::schema::Struct;
use optimist_apiserver::server::EventType;
use serde_json::Value;

/// A version of an object, as it was observed.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedVersion {
    /// The type of the watch event; `None` if the object was not in an event.
    pub event: Option<EventType>,
    /// The object.
    pub object: Value,
}

/// A text that is no sequence of versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The document, counted from 1.
    pub document: usize,
    /// The line of the text where the error is, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: ReadProblem,
}

/// What is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadProblem {
    /// It is no JSON. The text is the parser's.
    Syntax(String),
    /// It is neither an object of the API, nor a list of such objects, nor a watch event.
    NoObject,
    /// A watch event of another type, for example an ERROR.
    Event(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "document {}, line {}: ", self.document, self.line)?;
        match &self.problem {
            ReadProblem::Syntax(problem) => f.write_str(problem),
            ReadProblem::NoObject => f.write_str("not an object, a list or a watch event"),
            ReadProblem::Event(of) => write!(f, "a watch event of type {of}"),
        }
    }
}

impl std::error::Error for ReadError {}

/// Reads JSON documents that follow each other: watch events, objects, lists of objects. Bookmarks
/// carry no object and are left out.
///
/// # Errors
/// The first document that is none of these.
pub fn observed_versions(text: &str) -> Result<Vec<ObservedVersion>, ReadError> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut versions = Vec::new();
    let (mut document, mut at) = (0, 0);
    let mut line = 1;
    while let Some(read) = documents.next() {
        document += 1;
        let begin = at + (text[at..].len() - text[at..].trim_start().len());
        line += text[at..begin].matches('\n').count();
        let failed = |line, problem| ReadError {
            document,
            line,
            problem,
        };
        // The parser counts from the beginning of the whole text.
        let value =
            read.map_err(|error| failed(error.line(), ReadProblem::Syntax(error.to_string())))?;
        add(value, &mut versions).map_err(|problem| failed(line, problem))?;
        at = documents.byte_offset();
        line += text[begin..at].matches('\n').count();
    }
    Ok(versions)
}

fn add(document: Value, to: &mut Vec<ObservedVersion>) -> Result<(), ReadProblem> {
    let Value::Object(mut members) = document else {
        return Err(ReadProblem::NoObject);
    };
    let event = members.get("type").and_then(Value::as_str);
    if let Some(event) = event.filter(|_| members.contains_key("object")) {
        let event = match event {
            "ADDED" => EventType::Added,
            "MODIFIED" => EventType::Modified,
            "DELETED" => EventType::Deleted,
            "BOOKMARK" => return Ok(()),
            other => return Err(ReadProblem::Event(other.to_owned())),
        };
        let object = members.remove("object").unwrap_or_default();
        return put(Some(event), object, to);
    }
    if let Some(Value::Array(items)) = members.get_mut("items") {
        let items = std::mem::take(items);
        return items.into_iter().try_for_each(|item| put(None, item, to));
    }
    put(None, Value::Object(members), to)
}

fn put(
    event: Option<EventType>,
    object: Value,
    to: &mut Vec<ObservedVersion>,
) -> Result<(), ReadProblem> {
    if !object["metadata"].is_object() {
        return Err(ReadProblem::NoObject);
    }
    to.push(ObservedVersion { event, object });
    Ok(())
}

/// A change of one field between two versions of the same object.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// The `resourceVersion` of the version with the change.
    pub resource_version: String,
    /// The field: a leaf of the schema.
    pub field: Path,
    /// The value before; `None` if there was none.
    pub before: Option<Value>,
    /// The value after; `None` if there is none.
    pub after: Option<Value>,
    /// The manager that made the change, as far as `managedFields` shows it. They show no manager for
    /// most removals, for fields that the server fills in, and for writes of several managers between
    /// the two versions.
    pub by: Option<Manager>,
    /// The manager that owned the field before, if it was exactly one.
    pub owner_before: Option<Manager>,
}

/// The changes between consecutive versions, by version. Versions of another uid are another object:
/// nothing is compared with them. What the server writes itself (`resourceVersion`, `generation`,
/// `managedFields`) is left out.
///
/// # Errors
/// What is wrong with the `managedFields` of a version, after its `resourceVersion`.
pub fn field_changes(
    versions: &[ObservedVersion],
    root: &Struct,
) -> Result<Vec<FieldChange>, String> {
    let changes = version_changes(versions, root)?.into_iter();
    Ok(changes.map(|(_, change)| change).collect())
}

/// The changes of [`field_changes`], each with the position of its version.
///
/// # Errors
/// As [`field_changes`].
pub fn version_changes(
    versions: &[ObservedVersion],
    root: &Struct,
) -> Result<Vec<(usize, FieldChange)>, String> {
    let mut changes = Vec::new();
    for (at, pair) in (1..).zip(versions.windows(2)) {
        let [before, after] = [&pair[0], &pair[1]].map(|version| &version.object);
        let text = |member: &str| after["metadata"][member].as_str().unwrap_or_default();
        let same = before["metadata"]["uid"] == after["metadata"]["uid"];
        if !same || pair[1].event == Some(EventType::Deleted) {
            continue;
        }
        let managers = |object: &Value| {
            Managers::decode(object["metadata"].get("managedFields"))
                .map_err(|problem| format!("{}: {problem}", text("resourceVersion")))
        };
        let (old, new) = (managers(before)?, managers(after)?);
        for field in differing(before, after, root) {
            if is_of_the_server(&field) {
                continue;
            }
            let change = FieldChange {
                resource_version: text("resourceVersion").to_owned(),
                before: field.find(before).cloned(),
                after: field.find(after).cloned(),
                by: changed_by(&field, &old, &new).cloned(),
                owner_before: only_owner(&field, &old).cloned(),
                field,
            };
            changes.push((at, change));
        }
    }
    Ok(changes)
}

/// The changes of one version or step, among those of all in their order.
pub fn changes_at(changes: &[(usize, FieldChange)], at: usize) -> &[(usize, FieldChange)] {
    let begin = changes.partition_point(|(of, _)| *of < at);
    let end = changes.partition_point(|(of, _)| *of <= at);
    changes.get(begin..end).unwrap_or_default()
}

/// Whether the server writes a field at every write.
fn is_of_the_server(field: &Path) -> bool {
    let is = |at: usize, names: &[&str]| match field.0.get(at) {
        Some(PathElement::Field(name)) => names.contains(&name.as_str()),
        _ => false,
    };
    is(0, &["metadata"]) && is(1, &["resourceVersion", "generation", "managedFields"])
}

/// The one manager that owns the field now and whose entry is new or changed. A write within the same
/// second may leave the entry as it was: then its only owner.
fn changed_by<'a>(field: &Path, old: &Managers, new: &'a Managers) -> Option<&'a Manager> {
    let owners: Vec<&Owned> = owners(field, new).collect();
    if let [owner] = owners[..] {
        return Some(&owner.manager);
    }
    let mut changed = owners
        .into_iter()
        .filter(|owner| old.get(&owner.manager) != Some(owner));
    let first = changed.next()?;
    changed.next().is_none().then_some(&first.manager)
}

fn only_owner<'a>(field: &Path, managers: &'a Managers) -> Option<&'a Manager> {
    let mut owners = owners(field, managers);
    let owner = owners.next()?;
    owners.next().is_none().then_some(&owner.manager)
}

fn owners<'a>(field: &Path, managers: &'a Managers) -> impl Iterator<Item = &'a Owned> {
    managers.iter().filter(|owned| owned.set.contains(field))
}

/// A field that managers set in turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Fight {
    /// The field.
    pub field: Path,
    /// The managers, in the order of their first change.
    pub managers: Vec<Manager>,
    /// How often a manager changed a value that another manager had set.
    pub flips: usize,
    /// The manager of the last change.
    last: Option<Manager>,
}

impl Fight {
    fn add(&mut self, manager: &Manager) {
        if self.last.as_ref().is_some_and(|last| last != manager) {
            self.flips += 1;
        }
        self.last = Some(manager.clone());
        if !self.managers.contains(manager) {
            self.managers.push(manager.clone());
        }
    }
}

/// The fewest flips that are a fight: a manager changed the value of another one, and that one changed
/// it back.
pub const MIN_FLIPS: usize = 2;

/// The fields that managers fight over, the most flips first. Changes without a known manager are left
/// out.
pub fn fights(changes: &[FieldChange]) -> Vec<Fight> {
    let mut fights: Vec<Fight> = Vec::new();
    for change in changes {
        let Some(manager) = &change.by else {
            continue;
        };
        let known = fights.iter().position(|fight| fight.field == change.field);
        let at = known.unwrap_or_else(|| {
            fights.push(Fight {
                field: change.field.clone(),
                managers: change.owner_before.iter().cloned().collect(),
                last: change.owner_before.clone(),
                flips: 0,
            });
            fights.len() - 1
        });
        fights[at].add(manager);
    }
    fights.retain(|fight| fight.flips >= MIN_FLIPS);
    fights.sort_by_key(|fight| std::cmp::Reverse(fight.flips));
    fights
}

/// A field that came back to an earlier value, where it is not known who wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct ReturningField {
    /// The field.
    pub field: Path,
    /// How often its value changed.
    pub changes: usize,
    /// How many of these changes gave it a value that it had had before.
    pub returns: usize,
}

/// The fields that came back to an earlier value and of which no writer is known, the most returns
/// first. The fields of the status are left out: they follow what runs.
pub fn returning_fields(changes: &[FieldChange]) -> Vec<ReturningField> {
    let mut found: Vec<ReturningField> = Vec::new();
    let mut earlier: Vec<Vec<Option<&Value>>> = Vec::new();
    let mut known: Vec<&Path> = Vec::new();
    let of_status = |field: &Path| matches!(field.0.first(), Some(PathElement::Field(name)) if name == "status");
    for change in changes.iter().filter(|change| !of_status(&change.field)) {
        if change.by.is_some() {
            known.push(&change.field);
        }
        let at = found.iter().position(|one| one.field == change.field);
        let at = at.unwrap_or_else(|| {
            found.push(ReturningField {
                field: change.field.clone(),
                changes: 0,
                returns: 0,
            });
            earlier.push(vec![change.before.as_ref()]);
            found.len() - 1
        });
        found[at].changes += 1;
        found[at].returns += usize::from(earlier[at].contains(&change.after.as_ref()));
        earlier[at].push(change.after.as_ref());
    }
    found.retain(|one| one.returns > 0 && !known.contains(&&one.field));
    found.sort_by_key(|one| std::cmp::Reverse(one.returns));
    found
}
