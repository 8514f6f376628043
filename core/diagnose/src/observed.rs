//! Versions of an object over time, as `kubectl get -w -o json --output-watch-events` prints them,
//! or as several documents. From these come the changes, the managers that made them, and the
//! fields over which managers fight.

use std::fmt;
use std::sync::Arc;

use optimist_apiserver::apply::{Manager, Managers, Owned, Path, PathElement, differing};
use optimist_apiserver::schema::Struct;
use optimist_apiserver::server::EventType;
use optimist_client::is_last_applied;
use serde_json::Value;

use crate::fight_remedy::FightRemedy;

/// A version of an object, as it was observed.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedVersion {
    /// The type of the watch event; `None` if the object was not in an event.
    pub event: Option<EventType>,
    /// The object.
    pub object: Arc<Value>,
}

/// A text that is no sequence of versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The document, counted from 1.
    pub document: usize,
    /// The line of the text where the error is, counted from 1.
    pub line: usize,
    /// The problem.
    pub problem: ReadProblem,
}

/// A problem of a document.
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
    let mut reader = VersionReader::new(text.into());
    while reader.advance(usize::MAX)? {}
    Ok(reader.finish())
}

/// Reads like [`observed_versions`], but a slice of the text at a time.
#[derive(Debug)]
pub struct VersionReader {
    text: Arc<str>,
    /// The bytes and the documents that are read.
    at: usize,
    document: usize,
    /// The position of the next byte, counted from 1.
    line: usize,
    column: usize,
    versions: Vec<ObservedVersion>,
}

impl VersionReader {
    /// A reader at the beginning of a text.
    pub fn new(text: Arc<str>) -> Self {
        Self {
            text,
            at: 0,
            document: 0,
            line: 1,
            column: 1,
            versions: Vec::new(),
        }
    }

    /// Returns the number of bytes that are read, and the number of all.
    pub fn progress(&self) -> (usize, usize) {
        (self.at, self.text.len())
    }

    /// Reads documents until this many bytes more are read. Returns whether there is more.
    ///
    /// # Errors
    /// The first document that is no version.
    pub fn advance(&mut self, bytes: usize) -> Result<bool, ReadError> {
        let text = Arc::clone(&self.text);
        let until = self.at.saturating_add(bytes.max(1));
        let (begin, line, column) = (self.at, self.line, self.column);
        let mut documents = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>();
        while self.at < until {
            let Some(read) = documents.next() else {
                self.at = text.len();
                return Ok(false);
            };
            self.document += 1;
            let rest = &text[self.at..];
            self.pass(rest.len() - rest.trim_start().len());
            let value = read.map_err(|error| {
                let (line, message) = placed(&error, line, column);
                self.failed(line, ReadProblem::Syntax(message))
            })?;
            let read = add_version(value, &mut self.versions);
            read.map_err(|problem| self.failed(self.line, problem))?;
            self.pass(begin + documents.byte_offset() - self.at);
        }
        Ok(true)
    }

    /// The versions that were read.
    pub fn finish(self) -> Vec<ObservedVersion> {
        self.versions
    }

    fn pass(&mut self, bytes: usize) {
        let passed = &self.text[self.at..self.at + bytes];
        self.line += passed.matches('\n').count();
        self.column = match passed.rfind('\n') {
            Some(last) => passed.len() - last,
            None => self.column + passed.len(),
        };
        self.at += bytes;
    }

    fn failed(&self, line: usize, problem: ReadProblem) -> ReadError {
        ReadError {
            document: self.document,
            line,
            problem,
        }
    }
}

/// The line of an error and its text. The parser counts from where it began to read: a line and a
/// column of the whole text.
fn placed(error: &serde_json::Error, line: usize, column: usize) -> (usize, String) {
    let own = format!(" at line {} column {}", error.line(), error.column());
    let message = error.to_string();
    let message = message.strip_suffix(&own).unwrap_or(&message);
    let column = if error.line() <= 1 {
        column - 1 + error.column()
    } else {
        error.column()
    };
    let line = line + error.line().saturating_sub(1);
    (line, format!("{message} at line {line} column {column}"))
}

/// Returns whether a document is the event of a watch.
pub(crate) fn is_event(document: &Value) -> bool {
    document.get("type").is_some_and(Value::is_string) && document.get("object").is_some()
}

/// Adds the versions in a document.
pub(crate) fn add_version(
    document: Value,
    to: &mut Vec<ObservedVersion>,
) -> Result<(), ReadProblem> {
    let is_event = is_event(&document);
    let Value::Object(mut members) = document else {
        return Err(ReadProblem::NoObject);
    };
    let event = members.get("type").and_then(Value::as_str);
    if let Some(event) = event.filter(|_| is_event) {
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
    to.push(ObservedVersion {
        event,
        object: Arc::new(object),
    });
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

/// Returns the changes between consecutive versions, by version. Versions of another uid are
/// another object: nothing is compared with them. Fields that the server writes itself
/// (`resourceVersion`, `generation`, `managedFields`) are left out.
///
/// # Errors
/// The problem of a version's `managedFields`, after its `resourceVersion`.
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
/// Those of [`field_changes`].
pub fn version_changes(
    versions: &[ObservedVersion],
    root: &Struct,
) -> Result<Vec<(usize, FieldChange)>, String> {
    let mut reader = ChangeReader::default();
    while reader.advance(versions, root)? {}
    Ok(reader.changes)
}

/// Compares like [`version_changes`], but a pair of versions at a time.
#[derive(Clone, Debug, Default)]
pub struct ChangeReader {
    /// The changes so far.
    pub changes: Vec<(usize, FieldChange)>,
    /// The number of pairs that are compared.
    compared: usize,
    /// The managers of the later version of the last pair.
    managers: Option<Managers>,
}

impl ChangeReader {
    /// Compares the next pair of the versions, which are the same each time. Returns whether there
    /// is more.
    ///
    /// # Errors
    /// Those of [`field_changes`].
    pub fn advance(&mut self, versions: &[ObservedVersion], root: &Struct) -> Result<bool, String> {
        let known = self.managers.take();
        let rest = versions.get(self.compared..).unwrap_or_default();
        let [one, other, ..] = rest else {
            return Ok(false);
        };
        self.compared += 1;
        let [before, after] = [one, other].map(|version| &*version.object);
        let text = |member: &str| after["metadata"][member].as_str().unwrap_or_default();
        let same = before["metadata"]["uid"] == after["metadata"]["uid"];
        if !same || other.event == Some(EventType::Deleted) {
            return Ok(true);
        }
        let managers = |object: &Value| {
            Managers::read(object)
                .map_err(|problem| format!("{}: {problem}", text("resourceVersion")))
        };
        let old = known.map_or_else(|| managers(before), Ok)?;
        let new = managers(after)?;
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
            self.changes.push((self.compared, change));
        }
        self.managers = Some(new);
        Ok(true)
    }
}

/// The changes of one version or step, among those of all in their order.
pub fn changes_at(changes: &[(usize, FieldChange)], at: usize) -> &[(usize, FieldChange)] {
    let begin = changes.partition_point(|(of, _)| *of < at);
    let end = changes.partition_point(|(of, _)| *of <= at);
    changes.get(begin..end).unwrap_or_default()
}

/// Returns whether the server writes a field at every write.
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
    /// The managers that changed a value of another manager, in the order in which each is first seen.
    pub managers: Vec<Manager>,
    /// The number of times that a manager changed a value of another manager.
    pub flips: usize,
    /// The ways out that ended it when they were run ([`RemedyRun`](crate::fight_remedy::RemedyRun)); empty until they
    /// are run.
    pub remedies: Vec<FightRemedy>,
    /// The manager of the last change.
    last: Option<Manager>,
    /// The managers that changed a value of another one. Who only set the first value fights with nobody.
    takers: Vec<Manager>,
}

impl Fight {
    /// Returns whether it is one change by another manager that the first one took back: a controller that corrects what
    /// somebody wrote by hand. It need not go on. The manager that took it back is the first one.
    pub fn is_correction(&self) -> bool {
        self.flips == MIN_FLIPS && self.managers.len() == 2
    }

    /// Returns whether a manager wrote again after another one. Where each manager wrote once, one after the other,
    /// nobody took anything back.
    fn came_back(&self) -> bool {
        self.flips >= self.managers.len()
    }

    fn add(&mut self, manager: &Manager) {
        if self.last.as_ref().is_some_and(|last| last != manager) {
            self.flips += 1;
            if !self.takers.contains(manager) {
                self.takers.push(manager.clone());
            }
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
/// out, and those of [the annotation of client-side apply](is_last_applied).
pub fn fights(changes: &[FieldChange]) -> Vec<Fight> {
    let mut fights: Vec<Fight> = Vec::new();
    for change in changes {
        let by = change.by.as_ref();
        let Some(manager) = by.filter(|_| !is_last_applied(&change.field)) else {
            continue;
        };
        let known = fights.iter().position(|fight| fight.field == change.field);
        let at = known.unwrap_or_else(|| {
            fights.push(Fight {
                field: change.field.clone(),
                managers: change.owner_before.iter().cloned().collect(),
                last: change.owner_before.clone(),
                flips: 0,
                remedies: Vec::new(),
                takers: Vec::new(),
            });
            fights.len() - 1
        });
        fights[at].add(manager);
    }
    fights.retain(|fight| fight.flips >= MIN_FLIPS && fight.came_back());
    for fight in &mut fights {
        let takers = std::mem::take(&mut fight.takers);
        fight.managers.retain(|manager| takers.contains(manager));
    }
    fights.sort_by_key(|fight| std::cmp::Reverse(fight.flips));
    fights
}

/// Returns the [`fights`] over one object each: an object that was created anew under the name of a deleted one is
/// another one, and nobody takes a value of the old one back in it. `object`: what tells the objects apart, by the
/// position of a change. Of the fights over a field, that with the most flips stays.
pub fn fights_of_each<O: PartialEq>(
    changes: &[(usize, FieldChange)],
    object: impl Fn(usize) -> O,
) -> Vec<Fight> {
    let mut found: Vec<Fight> = Vec::new();
    for of_one in changes.chunk_by(|(one, _), (next, _)| object(*one) == object(*next)) {
        let own: Vec<FieldChange> = of_one.iter().map(|(_, change)| change.clone()).collect();
        found.extend(fights(&own));
    }
    found.sort_by_key(|fight| std::cmp::Reverse(fight.flips));
    let mut fields: Vec<Path> = Vec::new();
    found.retain(|fight| {
        let is_new = !fields.contains(&fight.field);
        fields.push(fight.field.clone());
        is_new
    });
    found
}

/// A field that came back to an earlier value, where it is not known who wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct ReturningField {
    /// The field.
    pub field: Path,
    /// The number of times that its value changed.
    pub changes: usize,
    /// The number of these changes that gave it a value which it had had before.
    pub returns: usize,
}

/// Returns the fields that came back to an earlier value and whose writer is not known, the most
/// returns first. The fields of the status are left out: they follow the running program.
pub fn returning_fields(changes: &[FieldChange]) -> Vec<ReturningField> {
    let mut found: Vec<ReturningField> = Vec::new();
    let mut earlier: Vec<Vec<Option<&Value>>> = Vec::new();
    let mut known: Vec<&Path> = Vec::new();
    for change in changes.iter().filter(|change| !change.field.is_in_status()) {
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
