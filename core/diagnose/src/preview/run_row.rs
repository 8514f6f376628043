//! The row of an object on which the tool ran.

use std::rc::Rc;

use optimist_apiserver::apply::{Manager, Managers, Owned, Path, PathElement};
use optimist_apiserver::environment::Timestamp;
use optimist_apiserver::object::{Metadata, text, without_managers};
use optimist_apiserver::server::{Definition, Fact, Resource, Resources};
use optimist_masking::Masking;
use serde_json::{Value, json};

use super::row::{
    FieldChangeKind, ManagerVersion, PreviewField, PreviewObject, PreviewOutcome, PreviewRow,
    Trouble,
};
use crate::ownership::label;
use crate::ways::{FieldEffect, FieldOutcome, Row, shown_value};

impl PreviewRow {
    /// Makes a row from a run on an object. It also covers the fields of an earlier manifest.
    pub(super) fn of_run(object: PreviewObject, row: &Row, earlier: Option<&Earlier<'_>>) -> Self {
        let outcome = outcome(row);
        let says_nothing = row.message.is_empty() && row.warnings.is_empty();
        if earlier.is_none() && row.fields.is_empty() && says_nothing && !row.is_refused() {
            let mut new = Self {
                writer: row.writer.clone(),
                code: row.code,
                ..Self::new(object, outcome)
            };
            new.troubles = troubles(row, &new);
            return new;
        }
        let mut masked = Masked::new(row);
        let mut new = Self {
            writer: row.writer.clone(),
            code: row.code,
            message: masked.text(&row.message),
            warnings: row.warnings.iter().map(|it| masked.text(it)).collect(),
            ..Self::new(object, outcome)
        };
        // What is new or goes as a whole stands for its members.
        let inside = |one: &FieldOutcome| {
            row.fields.iter().any(|it| {
                it.field.0.len() < one.field.0.len()
                    && one.field.0.starts_with(&it.field.0)
                    && it.before.is_some() != it.after.is_some()
            })
        };
        let outcomes = row.fields.iter().filter(|one| !inside(one));
        new.fields = outcomes.map(|it| field(row, it, &masked)).collect();
        let unnamed = refused_without_value(row, &new.fields);
        new.fields.extend(unnamed);
        if let Some(earlier) = earlier.filter(|_| !row.is_refused()) {
            new.fields.extend(earlier.kept_fields(row, &masked));
        }
        if row.is_being_deleted() {
            // What the manifest wants is not written to an object that goes.
            new.finalizers = row.held_by();
            new.fields.clear();
        }
        new.fields.sort_by_key(|it| it.change);
        new.troubles = troubles(row, &new);
        new
    }
}

/// The message of a refusal, without values that look private.
pub(super) fn masked_message(row: &Row) -> String {
    Masked::new(row).text(&row.message)
}

fn outcome(row: &Row) -> PreviewOutcome {
    let conflicts = row.causes.iter();
    let mut conflicts = conflicts.filter(|it| it.reason == "FieldManagerConflict");
    if row.is_refused() {
        return match row.code {
            Some(409) if conflicts.next().is_some() => PreviewOutcome::Conflict,
            Some(400 | 422) => PreviewOutcome::Invalid,
            _ => PreviewOutcome::Refused,
        };
    }
    match (row.before.is_null(), row.after.is_null()) {
        _ if row.is_being_deleted() => PreviewOutcome::Deleted,
        (true, true) => PreviewOutcome::NotTouched,
        (true, false) => PreviewOutcome::Created,
        (false, true) => PreviewOutcome::Deleted,
        (false, false) if is_new(row) || row.fields.iter().any(changes) => PreviewOutcome::Changed,
        (false, false) => PreviewOutcome::Unchanged,
    }
}

/// Returns whether the object was deleted and created again.
fn is_new(row: &Row) -> bool {
    !row.before.is_null() && !row.after.is_null() && row.before.uid() != row.after.uid()
}

fn changes(field: &FieldOutcome) -> bool {
    field.before != field.after
}

fn field(row: &Row, of: &FieldOutcome, masked: &Masked) -> PreviewField {
    let owners = owners_of_all(row, of);
    let sent = row.requests.last().map(|sent| &*sent.sent);
    let said = sent.and_then(|sent| of.field.find(sent));
    let wanted = of
        .wanted
        .as_ref()
        .or(said.filter(|_| !of.refused_by.is_empty()));
    let by_others = owners.iter().any(|it| it.name != row.writer);
    let change = match of.effect {
        FieldEffect::Refused => FieldChangeKind::Refused,
        FieldEffect::TakenOver => FieldChangeKind::Overwritten,
        FieldEffect::Changed | FieldEffect::Removed if by_others => FieldChangeKind::Overwritten,
        FieldEffect::Changed => FieldChangeKind::Changed,
        FieldEffect::Removed => FieldChangeKind::Removed,
        FieldEffect::Added if of.wanted.is_some() || said.is_some() => FieldChangeKind::Added,
        FieldEffect::Added => FieldChangeKind::Default,
        FieldEffect::Kept => FieldChangeKind::NotReverted,
        FieldEffect::LeftBehind => FieldChangeKind::KeptAlthoughRemoved,
        FieldEffect::Shared | FieldEffect::OwnersChanged => FieldChangeKind::Owners,
    };
    // Another server chooses another value: a uid, a time, an address.
    let is_chosen = change == FieldChangeKind::Default && is_chosen(of, &row.after);
    let back = row.taken_back.iter();
    let back = back.filter(|it| it.field.0.starts_with(&of.field.0));
    let mut back: Vec<String> = back.map(|it| label(&it.manager)).collect();
    back.sort();
    back.dedup();
    PreviewField {
        field: of.field.to_string(),
        change,
        before: masked.value(&of.field, of.before.as_ref(), &masked.before),
        wanted: masked.value(&of.field, wanted, &masked.sent),
        after: masked
            .value(&of.field, of.after.as_ref(), &masked.after)
            .filter(|_| !is_chosen),
        owners: owners.iter().map(label).collect(),
        refused_by: of.refused_by.clone(),
        written_back_by: back,
    }
}

/// Returns whether a server chooses the value of a field anew for each object: the uid of the object or a time is in it,
/// or it is an address or a port of a Service (`pkg/registry/core/service/storage/alloc.go`, v1.36).
fn is_chosen(of: &FieldOutcome, object: &Value) -> bool {
    const CHOSEN: [&str; 4] = ["clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"];
    let is_named = of
        .field
        .0
        .iter()
        .any(|it| matches!(it, PathElement::Field(name) if CHOSEN.contains(&name.as_str())));
    let no_address = of
        .after
        .as_ref()
        .is_some_and(|it| it == "None" || *it == json!(["None"]));
    let is_service = text(object, "kind") == "Service";
    is_service && is_named && !no_address
        || of
            .after
            .as_ref()
            .is_some_and(|value| has_own(value, object.uid()))
}

/// Returns whether a uid or a time is in a value.
fn has_own(value: &Value, uid: &str) -> bool {
    match value {
        Value::Object(members) => members.values().any(|it| has_own(it, uid)),
        Value::Array(items) => items.iter().any(|it| has_own(it, uid)),
        Value::String(text) => {
            !uid.is_empty() && text.contains(uid) || Timestamp::parse(text).is_some()
        }
        _ => false,
    }
}

/// The fields that the server named when it refused and that have no value to compare: an empty map, or
/// null.
fn refused_without_value(row: &Row, known: &[PreviewField]) -> Vec<PreviewField> {
    let facts = row.deciding().and_then(|at| row.requests.get(at));
    let facts = facts.into_iter().flat_map(|sent| &sent.facts);
    let mut found: Vec<PreviewField> = Vec::new();
    for fact in facts {
        let Fact::OwnedByOther { field, manager } = fact else {
            continue;
        };
        if known.iter().any(|it| it.field == *field) {
            continue;
        }
        match found.iter_mut().find(|it| it.field == *field) {
            Some(same) => same.refused_by.push(manager.clone()),
            None => found.push(PreviewField {
                field: field.clone(),
                change: FieldChangeKind::Refused,
                before: None,
                wanted: None,
                after: None,
                owners: Vec::new(),
                refused_by: vec![manager.clone()],
                written_back_by: Vec::new(),
            }),
        }
    }
    found
}

/// The owners of a field before; of one that goes, also those of a part of it.
fn owners_of_all(row: &Row, of: &FieldOutcome) -> Vec<Manager> {
    let mut owners = of.owners_before.clone();
    if of.before.is_some() && of.after.is_none() {
        let managers = Managers::of_object(&row.before);
        let inside = managers.iter().filter(|owned| {
            let paths = owned.set.paths();
            !owners.contains(&owned.manager) && paths.iter().any(|it| it.0.starts_with(&of.field.0))
        });
        let inside: Vec<Manager> = inside.map(|owned| owned.manager.clone()).collect();
        owners.extend(inside);
    }
    owners
}

fn troubles(row: &Row, new: &PreviewRow) -> Vec<Trouble> {
    let has = |change| new.fields.iter().any(|it| it.change == change);
    let refused = new.outcome.is_refusal();
    let again = row.second_run.as_ref();
    let owners = !refused && row.is_written() && new.outcome == PreviewOutcome::Unchanged;
    let checks = [
        (Trouble::Refused, refused),
        (Trouble::Deleted, new.outcome == PreviewOutcome::Deleted),
        (Trouble::CreatedAgain, is_new(row)),
        (Trouble::Overwritten, has(FieldChangeKind::Overwritten)),
        (Trouble::WrittenBack, !row.taken_back.is_empty()),
        (
            Trouble::KeptAlthoughRemoved,
            has(FieldChangeKind::KeptAlthoughRemoved),
        ),
        (
            Trouble::NotReverted,
            !refused && has(FieldChangeKind::NotReverted),
        ),
        (Trouble::NeverRests, again.is_some_and(|it| it.never_rests)),
        (
            Trouble::ChangesNothing,
            owners
                && new
                    .fields
                    .iter()
                    .all(|it| it.change > FieldChangeKind::Owners)
                && !owners_differ(row),
        ),
    ];
    let found = checks.into_iter().filter(|(_, is_so)| *is_so);
    found.map(|(trouble, _)| trouble).collect()
}

/// Returns whether a manager owns other fields after a run than before, also fields that the object does not have: an
/// empty list that the server does not store.
fn owners_differ(row: &Row) -> bool {
    let [old, new] = [&row.before, &row.after].map(|object| Managers::of_object(object));
    let is_same = |owned: &Owned| {
        old.get(&owned.manager)
            .is_some_and(|it| it.set == owned.set)
    };
    old.iter().count() != new.iter().count() || !new.iter().all(is_same)
}

/// The manifest before, and the one that is written.
pub(super) struct Earlier<'a> {
    pub(super) manifest: &'a Value,
    pub(super) next: &'a Value,
    pub(super) resource: &'a Resource,
}

impl Earlier<'_> {
    /// The fields that the earlier manifest had and this one does not, and that are still there. Those
    /// that the row has already are left out.
    fn kept_fields(&self, row: &Row, masked: &Masked) -> Vec<PreviewField> {
        let managers = Managers::of_object(&row.after);
        let left = crate::ways::leaves_of(self.manifest, &self.resource.root).into_iter();
        let left = left.filter(|path| {
            !is_identity(path)
                && path.find(self.next).is_none()
                && path.find(&row.after).is_some()
                && path.find(&row.before).is_some()
                && !row.fields.iter().any(|it| it.field == *path)
        });
        let kept = left.map(|path| {
            let owners = crate::ways::owners_of(&path, &managers);
            PreviewField {
                field: path.to_string(),
                change: FieldChangeKind::KeptAlthoughRemoved,
                before: masked.value(&path, path.find(&row.before), &masked.before),
                wanted: None,
                after: masked.value(&path, path.find(&row.after), &masked.after),
                owners: owners.iter().map(label).collect(),
                refused_by: Vec::new(),
                written_back_by: Vec::new(),
            }
        });
        kept.collect()
    }
}

/// Returns whether a path names the object itself.
fn is_identity(path: &Path) -> bool {
    let name = |at: usize| match path.0.get(at) {
        Some(PathElement::Field(name)) => name.as_str(),
        _ => "",
    };
    match name(0) {
        "apiVersion" | "kind" => true,
        "metadata" => !matches!(name(1), "labels" | "annotations"),
        _ => false,
    }
}

/// The objects of a run without values that look private, and without their `managedFields`, whose values
/// no row shows.
struct Masked {
    masking: Masking,
    before: Rc<Value>,
    after: Rc<Value>,
    sent: Value,
}

impl Masked {
    fn new(row: &Row) -> Self {
        let of_secret =
            text(&row.before, "kind") == "Secret" || text(&row.after, "kind") == "Secret";
        let mut masking = Masking::for_display().with_secrets(of_secret);
        let mut masked = |object: &Value| {
            let mut object = without_managers(object);
            masking.object(&mut object);
            object
        };
        let before = masked(&row.before);
        let after = row.is_written().then(|| masked(&row.after));
        let sent = row.requests.last().map(|sent| masked(&sent.sent));
        let known = masking.known_values();
        let replaced = |mut object: Value| {
            known.replace(&mut object);
            object
        };
        let before = Rc::new(replaced(before));
        let after = after.map(|after| Rc::new(replaced(after)));
        Self {
            after: after.unwrap_or_else(|| Rc::clone(&before)),
            before,
            sent: sent.map(replaced).unwrap_or_default(),
            masking,
        }
    }

    /// The value of a field as it is shown.
    fn value(&self, path: &Path, value: Option<&Value>, object: &Value) -> Option<Value> {
        shown_value(value, path.find(object), !self.masking.is_empty())
    }

    fn text(&mut self, text: &str) -> String {
        let known = self.masking.known_values();
        let text = known.replaced(text).unwrap_or_else(|| text.to_owned());
        self.masking.message(&text).unwrap_or(text)
    }
}

/// The entries of `managedFields` in versions that the definition of the kind does not have. A built-in
/// kind has no such entries: the server drops them (`managedfields/internal/structuredmerge.go Update`,
/// v0.36).
pub(super) fn stuck(object: &Value, resource: &Resource, all: &Resources) -> Vec<ManagerVersion> {
    if let Definition::Builtin(_) = resource.definition {
        return Vec::new();
    }
    let managers = Managers::of_object(object);
    let unknown = managers
        .iter()
        .filter(|owned| all.by_kind(&owned.api_version, &resource.kind).is_none());
    let stuck = unknown.map(|owned| ManagerVersion {
        manager: label(&owned.manager),
        api_version: owned.api_version.clone(),
    });
    stuck.collect()
}
