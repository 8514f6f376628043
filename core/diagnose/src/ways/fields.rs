//! The effects of a way of writing on an object and its owners, field by field.

use std::collections::BTreeSet;

use optimist_apiserver::apply::{
    ManagedFieldsOperation, Manager, Managers, Owned, Path, PathElement, Places, Set, covers,
    covers_whole, differing, field_set, is_never_owned,
};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::schema::{Struct, fill_defaults};
use serde_json::{Map, Value};

use super::Row;

/// The effect of a write on one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldOutcome {
    /// The field: a leaf of the schema.
    pub field: Path,
    /// The value before; `None` if there was none.
    pub before: Option<Value>,
    /// The value that the change wants; `None` if the change says nothing about the field.
    pub wanted: Option<Value>,
    /// The value after; `None` if there is none.
    pub after: Option<Value>,
    /// The owners before.
    pub owners_before: Vec<Manager>,
    /// The owners after.
    pub owners_after: Vec<Manager>,
    /// The managers that the server named when it refused the field, as messages name them.
    pub refused_by: Vec<String>,
    /// The kind of effect.
    pub effect: FieldEffect,
}

/// A kind of effect on a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldEffect {
    /// The server refused the write because of this field.
    Refused,
    /// The value changed, and a former owner lost the field to another one.
    TakenOver,
    /// The value changed. A former owner may have lost the field to nobody.
    Changed,
    /// The field is new.
    Added,
    /// The field is gone.
    Removed,
    /// The change wants another value, and the field kept its own.
    Kept,
    /// The value stayed. The writer owns it now, together with those who owned it before.
    Shared,
    /// The value stayed, and its owners changed in another way.
    OwnersChanged,
    /// The manifest no longer says it, an earlier one of the writer did, and it is still there.
    LeftBehind,
}

/// The objects and manifests to compare.
pub(super) struct FieldInputs<'a> {
    pub(super) before: &'a Value,
    pub(super) after: &'a Value,
    /// The values that the change wants: a manifest, or the object with its edits.
    pub(super) wanted: &'a Value,
    /// The manifest that the writer declares from now on, if it declares a whole one.
    pub(super) declared: Option<&'a Value>,
    /// The manifest that the writer declared the last time, if it is known.
    pub(super) earlier: Option<&'a Value>,
    /// The name of the writer's manager.
    pub(super) writer: &'a str,
    /// The body that was sent, in its own words.
    pub(super) sent: Option<&'a Value>,
    /// Conflicts that the server named: field and manager.
    pub(super) refused: &'a [(String, String)],
    pub(super) root: &'a Struct,
}

impl<'v> FieldInputs<'v> {
    /// The fields that changed, that are refused, that kept another value than the wanted one, or
    /// whose owners changed. In the order of paths.
    pub(super) fn outcomes(&self) -> Vec<FieldOutcome> {
        let old = Managers::of_object(self.before);
        let new = match self.before.managed_fields() == self.after.managed_fields() {
            true => old.clone(),
            false => Managers::of_object(self.after),
        };
        let mut fields: BTreeSet<Path> = BTreeSet::new();
        fields.extend(differing(self.before, self.after, self.root));
        let (mut after, mut said) = (Places::new(self.after), Places::new(self.wanted));
        let is_covered = covers_whole(self.after, self.wanted, self.root);
        if !is_covered || !self.refused.is_empty() {
            let wanted = field_set(self.wanted, self.root);
            // What the change says and the object does not have.
            for path in wanted.leaves() {
                let values = after.find(&path.0).zip(said.find(&path.0));
                if !self.covers(values, &path) {
                    fields.insert(path);
                }
            }
            fields.extend(self.named_in(&wanted));
            // The server's words leave out what is false, empty or zero.
            let sent = self.sent.filter(|_| !self.refused.is_empty());
            let sent = sent.map(|sent| field_set(sent, self.root));
            fields.extend(sent.iter().flat_map(|sent| self.named_in(sent)));
        }
        let moved = moved(&old, &new);
        let undeclared = self.undeclared(&old);
        if !moved.is_empty() || !undeclared.is_empty() {
            let mut declared = Places::new(self.declared.unwrap_or(&Value::Null));
            for path in leaves(self.after, self.root) {
                let mut is_left = || undeclared.contains(&path) && declared.find(&path.0).is_none();
                if moved.contains(&path) || is_left() {
                    fields.insert(path);
                }
            }
        }
        let defaults = match undeclared.is_empty() {
            true => Value::Null,
            false => self.defaults(fields.iter().filter(|path| undeclared.contains(path))),
        };
        let fields = fields.into_iter().filter(|path| !is_never_owned(path));
        let mut places = ComparedPlaces {
            before: Places::new(self.before),
            after,
            wanted: said,
            declared: self.declared.map(Places::new),
            defaults: Places::new(&defaults),
        };
        fields
            .filter_map(|path| self.outcome(path, &old, &new, &mut places))
            .collect()
    }

    /// The fields that the writer owns and that are not in the manifest which it declares. A part of a field
    /// that is declared as a whole can be among them.
    fn undeclared(&self, old: &Managers) -> Set {
        let mut fields = Set::default();
        let Some(declared) = self.declared else {
            return fields;
        };
        let declared = field_set(declared, self.root);
        for owned in old.iter().filter(|it| it.manager.name == self.writer) {
            fields.absorb(owned.set.difference(&declared));
        }
        fields
    }

    /// The fields of a set that the server named when it refused.
    fn named_in(&self, set: &Set) -> Vec<Path> {
        if self.refused.is_empty() {
            return Vec::new();
        }
        let named = |path: &Path| {
            let printed = path.to_string();
            self.refused.iter().any(|(field, _)| *field == printed)
        };
        // Most paths are told apart by their last name, without printing them.
        let may_be = |path: &Path| match path.0.last() {
            Some(PathElement::Field(name)) => self
                .refused
                .iter()
                .any(|(field, _)| field.ends_with(name.as_str())),
            _ => true,
        };
        let mut all = set.paths();
        all.retain(|path| may_be(path) && named(path));
        all
    }

    /// Returns whether the first value covers the second one. The server may have filled in more.
    fn covers(&self, values: Option<(&Value, &Value)>, path: &Path) -> bool {
        values.is_some_and(|(after, wanted)| covers(after, wanted, path, self.root))
    }

    /// Returns the object as it would be without these fields: with the defaults that the server fills in
    /// then.
    fn defaults<'p>(&self, fields: impl DoubleEndedIterator<Item = &'p Path>) -> Value {
        let mut without = self.after.clone();
        if self.declared.is_some() {
            fields.rev().for_each(|path| path.remove(&mut without));
            fill_defaults(&mut without, self.root);
        }
        without
    }

    /// Returns whether a manifest of the writer had a field that the writer owns. An Update also owns the
    /// fields that the server filled in: a value that the server would fill in again was in no manifest.
    fn was_declared(&self, path: &Path, old: &Managers, places: &mut ComparedPlaces<'_>) -> bool {
        let applied = |owned: &Owned| owned.manager.operation == ManagedFieldsOperation::Apply;
        let mut own = old.iter().filter(|owned| owned.manager.name == self.writer);
        if own.any(|owned| applied(owned) && owned.set.contains(path)) {
            return true;
        }
        match self.earlier {
            Some(earlier) => path.find(earlier).is_some(),
            None => {
                let value = places.after.find(&path.0);
                // A server prints some structs also if nobody says anything of them.
                let is_empty = value.and_then(Value::as_object).is_some_and(Map::is_empty);
                !is_empty && value != places.defaults.find(&path.0)
            }
        }
    }

    fn was_owned(&self, path: &Path, old: &Managers) -> bool {
        let mut owned = old.iter().filter(|owned| owned.manager.name == self.writer);
        owned.any(|owned| owned.set.contains(path))
    }

    /// Returns whether a former owner lost a field, and another one has it since: who owns nothing afterwards has taken
    /// nothing.
    fn is_taken(&self, before: &[Manager], after: &[Manager]) -> bool {
        // What the writer's own name wrote through a subresource is another entry, as a conflict names it.
        let is_other = |it: &Manager| it.name != self.writer || !it.subresource.is_empty();
        let lost = before.iter().any(|it| is_other(it) && !after.contains(it));
        let has = |it: &Manager| it.name == self.writer || !before.contains(it);
        lost && after.iter().any(has)
    }

    fn outcome(
        &self,
        field: Path,
        old: &Managers,
        new: &Managers,
        places: &mut ComparedPlaces<'_>,
    ) -> Option<FieldOutcome> {
        let before = places.before.find(&field.0).cloned();
        let after = places.after.find(&field.0).cloned();
        let wanted = places.wanted.find(&field.0).cloned();
        let (owners_before, owners_after) = (owners(&field, old), owners(&field, new));
        let printed = field.to_string();
        let refused = self.refused.iter().filter(|(field, _)| *field == printed);
        let refused_by: Vec<String> = refused.map(|(_, manager)| manager.clone()).collect();
        let taken = self.is_taken(&owners_before, &owners_after);
        let gained = owners_after
            .iter()
            .any(|it| it.name == self.writer && !owners_before.contains(it));
        let all_stay = owners_before.iter().all(|it| owners_after.contains(it));
        let effect = if !refused_by.is_empty() {
            FieldEffect::Refused
        } else {
            match (&before, &after) {
                (None, None) => wanted.as_ref().map(|_| FieldEffect::Kept)?,
                (None, Some(_)) => FieldEffect::Added,
                (Some(_), None) => FieldEffect::Removed,
                (Some(a), Some(b)) if a != b && taken => FieldEffect::TakenOver,
                (Some(a), Some(b)) if a != b => FieldEffect::Changed,
                _ if wanted.is_some()
                    && !self.covers(after.as_ref().zip(wanted.as_ref()), &field) =>
                {
                    FieldEffect::Kept
                }
                _ if places.leaves_out(&field)
                    && self.was_owned(&field, old)
                    && self.was_declared(&field, old, places) =>
                {
                    FieldEffect::LeftBehind
                }
                _ if gained && all_stay && !owners_before.is_empty() => FieldEffect::Shared,
                _ if !same_owners(&owners_before, &owners_after) => FieldEffect::OwnersChanged,
                _ => return None,
            }
        };
        Some(FieldOutcome {
            before,
            wanted,
            after,
            owners_before,
            owners_after,
            refused_by,
            effect,
            field,
        })
    }
}

impl Row {
    /// Returns whether the value of a field changes without a value in the manifest: the API server sets it, most often a
    /// default. What a tool adds to a manifest is in the metadata.
    pub fn is_set_by_server(&self, outcome: &FieldOutcome) -> bool {
        let changes = matches!(
            outcome.effect,
            FieldEffect::TakenOver | FieldEffect::Changed
        );
        let is_empty = match &outcome.after {
            Some(Value::Object(members)) => members.is_empty(),
            Some(Value::Array(items)) => items.is_empty(),
            _ => false,
        };
        let is_metadata = match outcome.field.0.first() {
            Some(PathElement::Field(name)) => name == "metadata",
            _ => false,
        };
        let is_said = outcome.wanted.is_some() || self.values_made_up;
        changes && !is_empty && !is_metadata && !is_said && !outcome.field.is_in_status()
    }

    /// The fields of which the API server sets another value, because the manifest has none.
    pub fn set_by_server(&self) -> impl Iterator<Item = &FieldOutcome> {
        self.fields.iter().filter(|it| self.is_set_by_server(it))
    }
}

/// The places of the fields in the compared objects.
struct ComparedPlaces<'a> {
    before: Places<'a>,
    after: Places<'a>,
    wanted: Places<'a>,
    declared: Option<Places<'a>>,
    /// The defaults that the server fills in.
    defaults: Places<'a>,
}

impl ComparedPlaces<'_> {
    /// Returns whether the writer declares a whole manifest, and this field is not in it.
    fn leaves_out(&mut self, field: &Path) -> bool {
        let declared = self.declared.as_mut();
        declared.is_some_and(|declared| declared.find(&field.0).is_none())
    }
}

/// Returns whether both are the same managers. The order of their entries says nothing.
fn same_owners(one: &[Manager], other: &[Manager]) -> bool {
    one.len() == other.len() && one.iter().all(|manager| other.contains(manager))
}

/// The owners of a leaf.
pub(crate) fn owners(path: &Path, managers: &Managers) -> Vec<Manager> {
    let owning = managers.iter().filter(|owned| owned.set.contains(path));
    owning.map(|owned| owned.manager.clone()).collect()
}

/// The paths of an object that have no further path in them.
pub(crate) fn leaves(object: &Value, root: &Struct) -> Vec<Path> {
    field_set(object, root).leaves()
}

/// The fields of which some manager owned one and now does not, or the other way round.
fn moved(old: &Managers, new: &Managers) -> Set {
    let of = |all: &Managers, manager: &Manager| {
        let mut owned = all.iter().filter(|owned| owned.manager == *manager);
        owned
            .next()
            .map(|owned| owned.set.clone())
            .unwrap_or_default()
    };
    let mut moved = Set::default();
    for owned in old.iter() {
        let now = of(new, &owned.manager);
        if now != owned.set {
            moved.absorb(owned.set.difference(&now));
            moved.absorb(now.difference(&owned.set));
        }
    }
    let known = |manager: &Manager| old.iter().any(|owned| owned.manager == *manager);
    for owned in new.iter().filter(|owned| !known(&owned.manager)) {
        moved.absorb(owned.set.clone());
    }
    moved
}
