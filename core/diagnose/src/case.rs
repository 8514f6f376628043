//! A case: all input about one object, and that object on a server.

mod collected;
mod definition;
mod install;
mod made_up;
mod manifest_texts;
mod object_id;

use std::fmt;
use std::sync::Arc;

use optimist_apiserver::apply::Managers;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{EventType, Release, Resources};
use optimist_simulation::LoadError;
use serde_json::Value;

use crate::input::Input;
use crate::message::ReportedError;
use crate::observed::ObservedVersion;

use collected::{add_versions, case_of, number, position};
pub(crate) use definition::{deduced_schema, schemaless};
use definition::{paths_of, selects_items};
pub(crate) use install::fitted;
pub use install::{InstallProgress, Installed, PartialInstall};
pub use made_up::MadeUpIdentity;
use manifest_texts::ManifestTexts;
pub use object_id::ObjectId;

/// All input about one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The object.
    pub id: ObjectId,
    /// The object as a cluster has it: the newest version in the input.
    pub live: Option<Value>,
    /// The manifest of the next write: the last one in the input. `None` if there is none, or if the manifests of the
    /// next write leave the object out.
    pub manifest: Option<Value>,
    /// The manifest before it in the input, or the last one if the next write leaves the object out: a tool wrote it
    /// last time.
    pub previous_manifest: Option<Value>,
    /// The number of manifests before these two. Nothing uses them.
    pub unused_manifests: usize,
    /// The versions over time, in their order.
    pub versions: Vec<ObservedVersion>,
    /// The error messages that can be about this object.
    pub errors: Vec<ReportedError>,
    /// The definitions of custom resources that were brought.
    pub definitions: Vec<Value>,
    /// The release of the server on which the case is run.
    pub release: Release,
}

/// A note about something that was added to make a case run, or that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The object was printed without `managedFields`, so its owners are not known. The server then
    /// treats it as an object whose ownership was never tracked.
    NoManagedFields,
    /// A watch ended with the deletion of the object: this is its last version.
    WasDeleted,
    /// The input has several manifests of the object. The last one is the next write, and the one before it counts
    /// as the earlier manifest.
    SeveralManifests {
        /// The number of the manifests before these two, which nothing uses.
        unused: usize,
    },
    /// A later text has half of the manifests of the text with this object's manifest, or more, and not this one. The
    /// next write is taken to leave the object out.
    LeftOut,
    /// The object came without a uid, and got one.
    UidMadeUp,
    /// The object came without a namespace, and is in `default`.
    NamespaceMadeUp,
    /// The kind is not built in and the input has no definition of it. Fields are merged without a
    /// schema: maps member by member, lists as a whole. Values are not checked.
    Schemaless {
        /// The kind.
        kind: String,
    },
    /// Lists in which `managedFields` select items by keys or by value are merged item by item.
    ListsFromOwners,
    /// The name of the resource in paths and messages was formed from the kind.
    PluralFormed {
        /// The plural name.
        plural: String,
    },
    /// Fields that this release does not know were left out, in the words of its decoder: the object
    /// is from a server of another release.
    UnknownFields(Vec<String>),
}

/// The reason why an object cannot be installed.
#[derive(Clone, Debug, PartialEq)]
pub enum NotInstalled {
    /// The input has no live object.
    NoObject,
    /// No kind of this name is served, and a group without a dot has no custom resources.
    NotServed {
        /// Group and version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// The server does not take it, or its definition.
    Refused(LoadError),
}

impl fmt::Display for NotInstalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject => f.write_str("No live object was brought."),
            Self::NotServed { api_version, kind } => {
                write!(f, "This release serves no kind {kind} in {api_version}.")
            }
            Self::Refused(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for NotInstalled {}

/// The uid of an object that came without one.
pub(crate) const UID: &str = "00000000-0000-4000-8000-000000000000";

impl Case {
    /// Sorts the input into cases, one for each object, in the order in which the objects first
    /// appear. Each input is a text. An error message without a name belongs to every case that it fits. Definitions
    /// belong to every case; if there are only definitions, they are the objects.
    pub fn all_of<'a>(input: impl IntoIterator<Item = &'a Input>) -> Vec<Self> {
        Self::all_of_texts((0..).zip(input))
    }

    /// Sorts like [`all_of`](Self::all_of) input that comes in parts, each with the number of its text.
    pub fn all_of_texts<'a>(input: impl IntoIterator<Item = (u32, &'a Input)>) -> Vec<Self> {
        let mut flat: Vec<&Input> = Vec::new();
        let mut manifests = ManifestTexts::default();
        let mut cases: Vec<Self> = Vec::new();
        for (text, input) in input {
            let several = match input {
                Input::Several(several) => several.as_slice(),
                one => std::slice::from_ref(one),
            };
            flat.extend(several);
            for one in several {
                match one {
                    Input::Live(object) => case_of(&mut cases, object).add_live(object),
                    Input::Manifest(object) => {
                        let at = position(&mut cases, object);
                        cases[at].add_manifest(object);
                        manifests.add(text, at);
                    }
                    Input::Versions { versions, .. } => add_versions(&mut cases, versions),
                    _ => {}
                }
            }
        }
        for at in manifests.left_out() {
            cases[at].leave_out();
        }
        let definitions = flat.iter().filter_map(|one| match one {
            Input::Definition(object) => Some(object),
            _ => None,
        });
        let definitions: Vec<Value> = definitions.cloned().collect();
        if cases.is_empty() {
            for object in &definitions {
                let case = case_of(&mut cases, object);
                if object.uid().is_empty() {
                    case.add_manifest(object);
                } else {
                    case.set_live(object);
                }
            }
        }
        for case in &mut cases {
            case.definitions.clone_from(&definitions);
            for one in &flat {
                if let Input::Errors(errors) = one {
                    let fitting = errors.iter().filter(|error| case.id.fits(&error.object));
                    case.errors.extend(fitting.cloned());
                }
            }
        }
        cases
    }

    /// A case about a live object.
    pub fn about(object: Value) -> Self {
        Self {
            live: Some(object.clone()),
            ..Self::blank(ObjectId::from_object(&object))
        }
    }

    /// A case about an object without any input yet.
    pub fn blank(id: ObjectId) -> Self {
        Self {
            id,
            live: None,
            manifest: None,
            previous_manifest: None,
            unused_manifests: 0,
            versions: Vec::new(),
            errors: Vec::new(),
            definitions: Vec::new(),
            release: Release::default(),
        }
    }

    /// The object as a server had it at one of the versions. `None` if there is no such version, if the object was
    /// deleted with it, or if it does not say its number: on a server it would get another one.
    pub fn object_at(&self, version: usize) -> Option<&Value> {
        let version = self.versions.get(version)?;
        let is_there = version.event != Some(EventType::Deleted);
        let object: &Value = &version.object;
        (is_there && number(object).is_some()).then_some(object)
    }

    /// The case when one of its versions was the newest. Of the server it has this object alone. `None` if the object
    /// [was not there](Self::object_at).
    pub fn at_version(&self, version: usize) -> Option<Self> {
        let live = self.object_at(version)?.clone();
        Some(Self {
            live: Some(live),
            versions: self.versions[..=version].to_vec(),
            ..self.clone()
        })
    }

    /// Another version of the same object makes a history of both.
    fn add_live(&mut self, object: &Value) {
        let another = |live: &&Value| {
            live.uid() == object.uid() && live.resource_version() != object.resource_version()
        };
        let version = |object: &Value| ObservedVersion {
            event: None,
            object: Arc::new(object.clone()),
        };
        if let Some(live) = self.live.as_ref().filter(another) {
            if self.versions.is_empty() {
                self.versions.push(version(live));
            }
            self.versions.push(version(object));
            self.versions.sort_by_key(|version| number(&version.object));
        }
        self.set_live(object);
    }

    fn add_manifest(&mut self, object: &Value) {
        let last = self.manifest.replace(object.clone());
        if let Some(last) = last {
            let unused = self.previous_manifest.replace(last);
            self.unused_manifests += usize::from(unused.is_some());
        }
    }

    /// The manifests of the next write do not have the object.
    fn leave_out(&mut self) {
        let unused = std::mem::replace(&mut self.previous_manifest, self.manifest.take());
        self.unused_manifests += usize::from(unused.is_some());
    }

    /// Returns whether the next write leaves the object out, which a write before it had.
    pub fn is_left_out(&self) -> bool {
        self.manifest.is_none() && self.previous_manifest.is_some()
    }

    fn set_live(&mut self, object: &Value) {
        let older = self
            .live
            .as_ref()
            .is_some_and(|live| number(live) > number(object));
        if !older {
            self.live = Some(object.clone());
        }
        self.know_namespace(object);
    }

    fn know_namespace(&mut self, object: &Value) {
        if self.id.namespace.is_empty() {
            self.id.namespace = object.namespace().to_owned();
        }
    }
}

/// Returns whether this release has the kind of an object itself.
pub(crate) fn is_built_in(object: &Value) -> bool {
    let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
    Resources::builtin().by_kind(api_version, kind).is_some()
}

/// Returns whether a definition defines the kind of an object.
pub(crate) fn defines(definition: &Value, object: &Value) -> bool {
    let (id, spec) = (ObjectId::from_object(object), &definition["spec"]);
    text(spec, "group") == id.group && text(&spec["names"], "kind") == id.kind
}

/// A definition without a schema in place of the one that was not brought. `said`: the plural, if
/// something says it. Otherwise it is formed as
/// `k8s.io/apimachinery/pkg/api/meta/restmapper.go UnsafeGuessKindToResource` (v1.36) does.
pub(crate) fn open_definition(object: &Value, said: Option<&str>, notes: &mut Vec<Note>) -> Value {
    let kind = text(object, "kind").to_owned();
    let singular = kind.to_ascii_lowercase();
    let plural = match (said, singular.strip_suffix('y')) {
        (Some(said), _) => said.to_owned(),
        _ if singular.ends_with('s') || singular == "endpoints" => format!("{singular}es"),
        (None, Some(stem)) => format!("{stem}ies"),
        (None, None) => format!("{singular}s"),
    };
    notes.push(Note::Schemaless { kind });
    let paths = paths_of(&Managers::of_object(object));
    if paths.iter().any(selects_items) {
        notes.push(Note::ListsFromOwners);
    }
    let definition = schemaless(object, &plural);
    if said.is_none() {
        notes.push(Note::PluralFormed { plural });
    }
    definition
}
