//! A row of a preview: one object.

use std::fmt;

use optimist_apiserver::apply::Path;
use optimist_apiserver::object::{GroupVersion, text};
use optimist_apiserver::server::Resource;
use optimist_client::Preset;
use serde::Serialize;
use serde_json::Value;

use super::{Assumed, HandOver, Hook};
use crate::case::ObjectId;

/// The effects of a tool on one object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewRow {
    /// The object.
    pub object: PreviewObject,
    /// The outcome.
    pub outcome: PreviewOutcome,
    /// The outcome once no other object is refused, if the tool stops before it comes to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later: Option<PreviewOutcome>,
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
    /// The message with which the server refuses the first way out of a conflict, if it refuses each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_way_out: Option<String>,
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
    pub(super) fn from_manifest(object: &Value) -> Self {
        let id = ObjectId::from_object(object);
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
pub enum PreviewOutcome {
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

impl PreviewOutcome {
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
    /// A manager that may run all the time may write its value again.
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
    pub change: FieldChangeKind,
    /// The value before. Values that look private are masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The value that the manifest says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Value>,
    /// The value after. `None` if there is none, and for one that the server chooses: it cannot be foreseen.
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

impl PreviewField {
    /// A text that its tool changes.
    pub(super) fn changed(
        field: &Path,
        before: Option<&str>,
        after: String,
        owners: Vec<String>,
    ) -> Self {
        Self {
            field: field.to_string(),
            change: match before {
                Some(_) => FieldChangeKind::Changed,
                None => FieldChangeKind::Added,
            },
            before: before.map(Value::from),
            wanted: Some(after.as_str().into()),
            after: Some(after.into()),
            owners,
            refused_by: Vec::new(),
            written_back_by: Vec::new(),
        }
    }
}

/// A kind of change of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FieldChangeKind {
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
    pub(super) fn new(object: PreviewObject, outcome: PreviewOutcome) -> Self {
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
            no_way_out: None,
        }
    }

    /// A row of a hook.
    pub(super) fn of_hook(object: PreviewObject, hook: Hook) -> Self {
        Self {
            hook: Some(hook),
            ..Self::new(object, PreviewOutcome::Hook)
        }
    }

    /// A row that could not be run.
    pub(super) fn not_run(object: PreviewObject, why: String) -> Self {
        Self {
            message: why,
            troubles: vec![Trouble::Refused],
            ..Self::new(object, PreviewOutcome::NotRun)
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

    /// A row of an object that Helm has just created from a manifest before this one. An upgrade looks for it in the last
    /// release (`helm.sh/helm/v4/pkg/kube/client.go update`, v4.2; `Update`, v3.21), an install creates it once more.
    pub(super) fn created_twice(
        object: PreviewObject,
        resource: &Resource,
        (preset, upgrades): (Preset, bool),
    ) -> Self {
        let (kind, name) = (&object.kind, &object.name);
        let (code, message) = match preset {
            _ if !upgrades => {
                let message = format!("{} {name:?} already exists", resource.group_resource());
                (409, message)
            }
            Preset::Helm3 => (200, format!("no {kind} with the name {name:?} found")),
            _ => (
                200,
                format!("original object {kind} with the name {name:?} not found"),
            ),
        };
        Self {
            code: Some(code),
            ..Self::refused_by_tool(object, message)
        }
    }

    /// A row of an object that a tool refuses by itself, in its own words.
    pub(super) fn refused_by_tool(object: PreviewObject, message: String) -> Self {
        Self {
            message,
            troubles: vec![Trouble::Refused],
            ..Self::new(object, PreviewOutcome::Refused)
        }
    }

    /// Returns whether the tool refuses by itself, without a request.
    pub(super) fn is_refused_by_tool(&self) -> bool {
        self.outcome == PreviewOutcome::Refused && self.code.is_none()
    }

    /// Returns the outcome that the tool means: the one once no other object is refused.
    pub fn intended(&self) -> PreviewOutcome {
        self.later.unwrap_or(self.outcome)
    }

    /// Returns whether a trouble comes with this write. An object to which the tool does not come has all others only once
    /// no other object is refused.
    pub fn happens(&self, trouble: Trouble) -> bool {
        self.outcome != PreviewOutcome::NotReached || trouble == Trouble::NotReached
    }

    /// Returns whether the tool changes something: the content, or the owners.
    pub(super) fn has_effect(&self) -> bool {
        match self.outcome {
            PreviewOutcome::Created | PreviewOutcome::Changed | PreviewOutcome::Deleted => true,
            PreviewOutcome::Unchanged => !self.fields.is_empty(),
            _ => false,
        }
    }

    /// Says that the tool stops before it comes to the object.
    pub(super) fn leave_unreached(&mut self) {
        if self.has_effect() {
            self.later = Some(self.outcome);
            self.outcome = PreviewOutcome::NotReached;
            self.code = None;
            self.writer.clear();
        } else if !self.outcome.is_refusal() || self.outcome == PreviewOutcome::NotRun {
            return;
        }
        self.troubles.push(Trouble::NotReached);
        self.troubles.sort();
    }

    /// The smaller, the worse.
    pub(super) fn rank(&self) -> (u8, PreviewOutcome, Option<Trouble>) {
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
