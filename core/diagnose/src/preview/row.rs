//! A row of a preview: one object.

use std::fmt;
use std::rc::Rc;

use optimist_apiserver::apply::{Manager, Managers, Path, PathElement};
use optimist_apiserver::object::{GroupVersion, Metadata, text, without_managers};
use optimist_apiserver::server::{Definition, Fact, Resource, Resources};
use optimist_masking::{MASK, Masking};
use serde::Serialize;
use serde_json::Value;

use super::{Assumed, HandOver, Hook};
use crate::case::ObjectId;
use crate::ownership::label;
use crate::ways::{FieldEffect, FieldOutcome, Row};

/// The effects of a tool on one object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewRow {
    /// The object.
    pub object: PreviewObject,
    /// The outcome.
    pub outcome: Outcome,
    /// The outcome once no other object is refused, if the tool stops before it comes to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later: Option<Outcome>,
    /// The hook, if it is one for the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook: Option<Hook>,
    /// The troubles with it, the worst first.
    pub troubles: Vec<Trouble>,
    /// The field manager that writes; empty if nothing is sent.
    pub writer: String,
    /// The status code of the answer that decides. `None` if nothing is sent.
    pub code: Option<u16>,
    /// The reason why it is refused or not run; empty if it is neither.
    pub message: String,
    /// The effects, field by field. Fields that keep value and owners are left out.
    pub fields: Vec<PreviewField>,
    /// The entries of `managedFields` in versions that the definition of the kind does not have. The
    /// server refuses writes because of them.
    pub stuck: Vec<ManagerVersion>,
    /// The finalizers that hold an object which is deleted.
    pub finalizers: Vec<String>,
    /// The texts of the Warning headers.
    pub warnings: Vec<String>,
    /// The assumptions that no input confirms.
    pub assumed: Vec<Assumed>,
    /// The ways out instead of force for everything; empty if there is no conflict.
    pub hand_overs: Vec<HandOver>,
}

/// The object of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewObject {
    /// Group and version, as the manifest or else the object names them.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty if the kind has none.
    pub namespace: String,
    /// The name; `PREFIX*` for a manifest that has a `generateName` in its place.
    pub name: String,
}

impl PreviewObject {
    pub(super) fn of(object: &Value) -> Self {
        let id = ObjectId::of(object);
        Self {
            api_version: text(object, "apiVersion").to_owned(),
            kind: id.kind,
            namespace: id.namespace,
            name: id.name,
        }
    }

    /// Returns its identity, in any version of its group.
    pub fn id(&self) -> ObjectId {
        ObjectId {
            group: GroupVersion::parse(&self.api_version)
                .map(|version| version.group)
                .unwrap_or_default(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }
}

impl fmt::Display for PreviewObject {
    /// `Deployment/shop/web`; without a namespace `ClusterRole/reader`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => write!(f, "{}/{}", self.kind, self.name),
            namespace => write!(f, "{}/{namespace}/{}", self.kind, self.name),
        }
    }
}

/// The outcome for an object. The worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// 409: other managers own fields that the tool applies.
    Conflict,
    /// 422 or 400: the server finds the content wrong.
    Invalid,
    /// Another refusal.
    Refused,
    /// It could not be run here. The message says why.
    NotRun,
    /// The tool deletes it.
    Deleted,
    /// The tool would delete it, and does not come to that: another object is refused before.
    KeptForNow,
    /// The tool would write it, and stops before: another object is refused. The fields are those of the write.
    NotReached,
    /// Its content changes.
    Changed,
    /// It is new.
    Created,
    /// Its content stays. Its owners can change.
    Unchanged,
    /// It is a hook, which is no part of the ordinary write.
    Hook,
    /// The tool does not write it.
    NotTouched,
}

impl Outcome {
    /// Returns whether the tool cannot write the object, or nothing is known of it.
    pub fn is_refusal(self) -> bool {
        self <= Self::NotRun
    }
}

/// A kind of trouble with an object. The worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Trouble {
    /// The write is refused, or could not be run.
    Refused,
    /// The object is deleted.
    Deleted,
    /// The object is deleted once no other object is refused.
    DeletedLater,
    /// The tool stops before it comes to the object.
    NotReached,
    /// The object is deleted and created again.
    CreatedAgain,
    /// `managedFields` has versions that the definition does not have.
    StuckVersions,
    /// Values of other managers are overwritten.
    Overwritten,
    /// A manager that runs all the time will write its value again.
    WrittenBack,
    /// Fields that left the manifest stay in the object, and the tool will not remove them.
    KeptAlthoughRemoved,
    /// The manifest says another value than the object has, and the tool leaves it so.
    NotReverted,
    /// The server makes the name, so that the tool creates another object every time.
    CreatedEachTime,
    /// The same write makes a new version every time.
    NeverRests,
    /// The write makes a new version in which neither content nor owners differ.
    ChangesNothing,
    /// The tool does this, and then stops, because another object is refused.
    DoneBeforeStop,
}

/// The effect on a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewField {
    /// Its path, as the server prints it.
    pub field: String,
    /// The change.
    pub change: FieldChange,
    /// The value before. Values that look private are masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value that the manifest says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Value>,
    /// The value after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// The managers that own it before: `helm (Apply)`.
    pub owners: Vec<String>,
    /// The managers with which the server refuses it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused_by: Vec<String>,
    /// The managers that will write their value again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub written_back_by: Vec<String>,
}

/// A kind of change of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FieldChange {
    /// The write is refused because of it.
    Refused,
    /// The value of another manager changes or goes.
    Overwritten,
    /// It left the manifest, and stays.
    KeptAlthoughRemoved,
    /// The manifest says another value, and the object keeps its own.
    NotReverted,
    /// The value changes.
    Changed,
    /// It goes.
    Removed,
    /// It is new, and the tool writes it: it is in the manifest, or the tool adds it.
    Added,
    /// It is new, and the server fills it in.
    Default,
    /// The value stays. Its owners change.
    Owners,
}

/// An entry of `managedFields` in a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManagerVersion {
    /// The manager.
    pub manager: String,
    /// Group and version.
    pub api_version: String,
}

impl PreviewRow {
    /// A row of which nothing is known yet.
    pub(super) fn new(object: PreviewObject, outcome: Outcome) -> Self {
        Self {
            object,
            outcome,
            later: None,
            hook: None,
            troubles: Vec::new(),
            writer: String::new(),
            code: None,
            message: String::new(),
            fields: Vec::new(),
            stuck: Vec::new(),
            finalizers: Vec::new(),
            warnings: Vec::new(),
            assumed: Vec::new(),
            hand_overs: Vec::new(),
        }
    }

    /// A row of a hook.
    pub(super) fn of_hook(object: PreviewObject, hook: Hook) -> Self {
        Self {
            hook: Some(hook),
            ..Self::new(object, Outcome::Hook)
        }
    }

    /// A row that could not be run.
    pub(super) fn not_run(object: PreviewObject, why: String) -> Self {
        Self {
            message: why,
            troubles: vec![Trouble::Refused],
            ..Self::new(object, Outcome::NotRun)
        }
    }

    /// A row of an object that Terraform would have to create and that exists already. It sends nothing then, and
    /// its diagnostic is the message (`hashicorp/terraform-provider-kubernetes/manifest/provider/apply.go
    /// ApplyResourceChange`, v3.2).
    pub(super) fn exists_already(object: PreviewObject) -> Self {
        let name = match object.namespace.as_str() {
            "" => object.name.clone(),
            namespace => format!("{namespace}/{}", object.name),
        };
        let message = format!(
            "Cannot create resource that already exists: resource \"{name}\" already exists"
        );
        Self::refused_by_tool(object, message)
    }

    /// A row of an object that Helm would have to create, and that exists and does not belong to the release. Helm
    /// compares by itself, before its first write (`helm.sh/helm/v4/pkg/action/upgrade.go performUpgrade`, v4.2).
    pub(super) fn not_of_release(object: PreviewObject) -> Self {
        let (kind, name, namespace) = (&object.kind, &object.name, &object.namespace);
        let message = format!(
            "Unable to continue with update: {kind} {name:?} in namespace {namespace:?} exists and cannot be \
             imported into the current release: invalid ownership metadata"
        );
        Self::refused_by_tool(object, message)
    }

    /// A row of an object that a tool refuses by itself, in its own words.
    pub(super) fn refused_by_tool(object: PreviewObject, message: String) -> Self {
        Self {
            message,
            troubles: vec![Trouble::Refused],
            ..Self::new(object, Outcome::Refused)
        }
    }

    /// Returns whether the tool refuses by itself, without a request.
    pub(super) fn is_refused_by_tool(&self) -> bool {
        self.outcome == Outcome::Refused && self.code.is_none()
    }

    /// Makes a row from a run on an object. It also covers the fields of an earlier manifest.
    pub(super) fn of(object: PreviewObject, row: &Row, earlier: Option<&Earlier<'_>>) -> Self {
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
        let mut masked = Masked::of(row);
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
            new.fields.extend(earlier.kept(row, &masked));
        }
        new.fields.sort_by_key(|it| it.change);
        new.troubles = troubles(row, &new);
        new
    }

    /// Returns the outcome that the tool means: the one once no other object is refused.
    pub fn intended(&self) -> Outcome {
        self.later.unwrap_or(self.outcome)
    }

    /// Returns whether the tool changes something: the content, or the owners.
    pub(super) fn has_effect(&self) -> bool {
        match self.outcome {
            Outcome::Created | Outcome::Changed | Outcome::Deleted => true,
            Outcome::Unchanged => !self.fields.is_empty(),
            _ => false,
        }
    }

    /// Says that the tool stops before it comes to the object.
    pub(super) fn leave_unreached(&mut self) {
        if self.has_effect() {
            self.later = Some(self.outcome);
            self.outcome = Outcome::NotReached;
            self.code = None;
            self.writer.clear();
        } else if !self.outcome.is_refusal() || self.outcome == Outcome::NotRun {
            return;
        }
        self.troubles.push(Trouble::NotReached);
        self.troubles.sort();
    }

    /// The smaller, the worse.
    pub(super) fn rank(&self) -> (u8, Outcome, Option<Trouble>) {
        let worst = self.troubles.iter().min().copied();
        let class = match (self.outcome.is_refusal(), worst) {
            (true, _) => 0,
            (false, Some(_)) => 1,
            (false, None) => 2,
        };
        // `None` is smaller than any trouble, so it is told apart before.
        (class, self.outcome, worst)
    }
}

fn outcome(row: &Row) -> Outcome {
    let conflicts = row.causes.iter();
    let mut conflicts = conflicts.filter(|it| it.reason == "FieldManagerConflict");
    if row.is_refused() {
        return match row.code {
            Some(409) if conflicts.next().is_some() => Outcome::Conflict,
            Some(400 | 422) => Outcome::Invalid,
            _ => Outcome::Refused,
        };
    }
    match (row.before.is_null(), row.after.is_null()) {
        (true, true) => Outcome::NotTouched,
        (true, false) => Outcome::Created,
        (false, true) => Outcome::Deleted,
        (false, false) if is_new(row) || row.fields.iter().any(changes) => Outcome::Changed,
        (false, false) => Outcome::Unchanged,
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
        FieldEffect::Refused => FieldChange::Refused,
        FieldEffect::TakenOver => FieldChange::Overwritten,
        FieldEffect::Changed | FieldEffect::Removed if by_others => FieldChange::Overwritten,
        FieldEffect::Changed => FieldChange::Changed,
        FieldEffect::Removed => FieldChange::Removed,
        FieldEffect::Added if of.wanted.is_some() || said.is_some() => FieldChange::Added,
        FieldEffect::Added => FieldChange::Default,
        FieldEffect::Kept => FieldChange::NotReverted,
        FieldEffect::LeftBehind => FieldChange::KeptAlthoughRemoved,
        FieldEffect::Shared | FieldEffect::OwnersChanged => FieldChange::Owners,
    };
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
        after: masked.value(&of.field, of.after.as_ref(), &masked.after),
        owners: owners.iter().map(label).collect(),
        refused_by: of.refused_by.clone(),
        written_back_by: back,
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
                change: FieldChange::Refused,
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
        let managed = row.before.metadata();
        let managed = managed.and_then(|meta| meta.get("managedFields"));
        let managers = Managers::decode(managed).unwrap_or_default();
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
    let owners = !refused && row.is_written() && new.outcome == Outcome::Unchanged;
    let checks = [
        (Trouble::Refused, refused),
        (Trouble::Deleted, new.outcome == Outcome::Deleted),
        (Trouble::CreatedAgain, is_new(row)),
        (Trouble::Overwritten, has(FieldChange::Overwritten)),
        (Trouble::WrittenBack, !row.taken_back.is_empty()),
        (
            Trouble::KeptAlthoughRemoved,
            has(FieldChange::KeptAlthoughRemoved),
        ),
        (
            Trouble::NotReverted,
            !refused && has(FieldChange::NotReverted),
        ),
        (Trouble::NeverRests, again.is_some_and(|it| it.never_rests)),
        (
            Trouble::ChangesNothing,
            owners && new.fields.iter().all(|it| it.change > FieldChange::Owners),
        ),
    ];
    let found = checks.into_iter().filter(|(_, is_so)| *is_so);
    found.map(|(trouble, _)| trouble).collect()
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
    fn kept(&self, row: &Row, masked: &Masked) -> Vec<PreviewField> {
        let managed = row
            .after
            .metadata()
            .and_then(|meta| meta.get("managedFields"));
        let managers = Managers::decode(managed).unwrap_or_default();
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
                change: FieldChange::KeptAlthoughRemoved,
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
    fn of(row: &Row) -> Self {
        let of_secret =
            text(&row.before, "kind") == "Secret" || text(&row.after, "kind") == "Secret";
        let mut masking = Masking::for_display().with_secrets(of_secret);
        let mut masked = |object: &Value| {
            let mut object = without_managers(object);
            masking.object(&mut object);
            object
        };
        let before = Rc::new(masked(&row.before));
        let after = match row.is_written() {
            true => Rc::new(masked(&row.after)),
            false => Rc::clone(&before),
        };
        let sent = row.requests.last().map(|sent| masked(&sent.sent));
        Self {
            before,
            after,
            sent: sent.unwrap_or_default(),
            masking,
        }
    }

    /// The value of a field: as it is in an object without private values. A value that is not found there is
    /// masked whole if anything private was found.
    fn value(&self, path: &Path, value: Option<&Value>, object: &Value) -> Option<Value> {
        let value = value?;
        let found = path.find(object).cloned();
        Some(found.unwrap_or_else(|| match self.masking.is_empty() {
            true => value.clone(),
            false => MASK.into(),
        }))
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
    let managed = object.metadata().and_then(|meta| meta.get("managedFields"));
    let managers = Managers::decode(managed).unwrap_or_default();
    let unknown = managers
        .iter()
        .filter(|owned| all.by_kind(&owned.api_version, &resource.kind).is_none());
    let stuck = unknown.map(|owned| ManagerVersion {
        manager: label(&owned.manager),
        api_version: owned.api_version.clone(),
    });
    stuck.collect()
}
