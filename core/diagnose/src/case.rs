//! A case: all input about one object, and that object on a server.

mod collected;
mod definition;
mod made_up;
mod object_id;

use std::fmt;
use std::sync::Arc;

use optimist_apiserver::apply::Managers;
use optimist_apiserver::json::Node;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::schema::{decode, fill_defaults};
use optimist_apiserver::server::{EventType, Release, Resource, Resources};
use optimist_simulation::{InstalledObjects, LoadError, World};
use serde_json::{Value, json};

use crate::input::Input;
use crate::message::ReportedError;
use crate::observed::ObservedVersion;
use crate::ownership::ObjectOwnership;
use crate::ways::forget_unsaid;

use collected::{add_versions, case_of, number};
pub(crate) use definition::{deduced_schema, schemaless};
use definition::{paths_of, selects_items};
pub use made_up::MadeUpIdentity;
pub use object_id::ObjectId;

/// All input about one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The object.
    pub id: ObjectId,
    /// The object as a cluster has it: the newest version in the input.
    pub live: Option<Value>,
    /// The manifest of the next write: the last one in the input.
    pub manifest: Option<Value>,
    /// The manifest before it in the input: a tool wrote it last time.
    pub previous_manifest: Option<Value>,
    /// The versions over time, in their order.
    pub versions: Vec<ObservedVersion>,
    /// The error messages that can be about this object.
    pub errors: Vec<ReportedError>,
    /// The definitions of custom resources that were brought.
    pub definitions: Vec<Value>,
    /// The release of the server on which the case is run.
    pub release: Release,
}

/// The object of a case on a server.
#[derive(Clone, Debug)]
pub struct Installed {
    /// A world with the object. Its server holds the object as the input has it.
    pub world: World,
    /// Notes about additions and unchecked parts, to be shown where they matter.
    pub notes: Vec<Note>,
    /// The parts of its identity that the input does not say.
    pub made_up: MadeUpIdentity,
}

/// The object of a case on its way to a server of its own. Each part of the work is short, also for a large object.
#[derive(Clone, Debug)]
pub struct PartialInstall {
    part: InstallPart,
    notes: Vec<Note>,
}

/// The next part of the work.
#[derive(Clone, Debug)]
enum InstallPart {
    /// The object is to be made to fit its kind.
    Fit(Box<UnfittedObject>),
    /// The definitions and the object are to be put on a server of this release.
    Store(Vec<Value>, Release),
    /// They are on a server, and are to be written as the start of a history.
    Write(Box<InstalledObjects>),
}

/// The object of a case as it was brought, and what its kind is known by.
#[derive(Clone, Debug)]
struct UnfittedObject {
    object: Value,
    /// The definitions of the case, without the object itself.
    definitions: Vec<Value>,
    /// The plural of its kind, if an error message says it.
    plural: Option<String>,
    release: Release,
}

impl UnfittedObject {
    /// Makes the object fit its kind.
    ///
    /// # Errors
    /// If its kind is not served.
    fn fit(self, notes: &mut Vec<Note>) -> Result<InstallPart, NotInstalled> {
        let (object, added) = fitted(self.object)?;
        notes.extend(added);
        let mut objects = self.definitions;
        if !is_built_in(&object) && !objects.iter().any(|it| defines(it, &object)) {
            objects.push(open_definition(&object, self.plural.as_deref(), notes));
        }
        objects.push(object);
        Ok(InstallPart::Store(objects, self.release))
    }
}

/// The progress of an installation.
#[derive(Clone, Debug)]
pub enum InstallProgress {
    /// A part is left.
    More(Box<PartialInstall>),
    /// It is done.
    Done(Box<Installed>),
}

impl PartialInstall {
    /// Does the next part.
    ///
    /// # Errors
    /// If the kind of the object is not served, or the object is not what a server stores.
    pub fn advance(mut self) -> Result<InstallProgress, NotInstalled> {
        let objects = match self.part {
            InstallPart::Fit(unfitted) => {
                self.part = unfitted.fit(&mut self.notes)?;
                return Ok(InstallProgress::More(Box::new(self)));
            }
            InstallPart::Store(objects, release) => {
                let stored = InstalledObjects::new(&objects, release);
                let part = InstallPart::Write(stored.map_err(NotInstalled::Refused)?.into());
                return Ok(InstallProgress::More(Box::new(Self { part, ..self })));
            }
            InstallPart::Write(objects) => objects,
        };
        let made_up = MadeUpIdentity {
            kind: false,
            name: false,
            namespace: self.notes.contains(&Note::NamespaceMadeUp),
        };
        Ok(InstallProgress::Done(Box::new(Installed {
            world: objects.into_world().map_err(NotInstalled::Refused)?,
            notes: self.notes,
            made_up,
        })))
    }
}

/// A note about something that was added to make a case run, or that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The object was printed without `managedFields`, so its owners are not known. The server then
    /// treats it as an object whose ownership was never tracked.
    NoManagedFields,
    /// A watch ended with the deletion of the object: this is its last version.
    WasDeleted,
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
    /// Only the types of this built-in kind are known: values are not checked.
    ValuesNotChecked {
        /// The kind.
        kind: String,
    },
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
const UID: &str = "00000000-0000-4000-8000-000000000000";

impl Case {
    /// Sorts the input into cases, one for each object, in the order in which the objects first
    /// appear. An error message without a name belongs to every case that it fits. Definitions
    /// belong to every case; if there are only definitions, they are the objects.
    pub fn all_of<'a>(input: impl IntoIterator<Item = &'a Input>) -> Vec<Self> {
        let mut flat: Vec<&Input> = Vec::new();
        for one in input {
            match one {
                Input::Several(several) => flat.extend(several),
                one => flat.push(one),
            }
        }
        let mut cases: Vec<Self> = Vec::new();
        for one in &flat {
            match one {
                Input::Live(object) => case_of(&mut cases, object).add_live(object),
                Input::Manifest(object) => {
                    let case = case_of(&mut cases, object);
                    case.previous_manifest = case.manifest.replace(object.clone());
                }
                Input::Versions(versions) => add_versions(&mut cases, versions),
                _ => {}
            }
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
                    case.previous_manifest = case.manifest.replace(object.clone());
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

    /// The object on a server of its own.
    ///
    /// # Errors
    /// If the input has no live object, or a server would not store it so.
    pub fn install(&self) -> Result<Installed, NotInstalled> {
        let mut partial = self.begin_install()?;
        loop {
            match partial.advance()? {
                InstallProgress::More(more) => partial = *more,
                InstallProgress::Done(installed) => return Ok(*installed),
            }
        }
    }

    /// Begins to [`install`](Self::install) the object.
    ///
    /// # Errors
    /// If no live object was brought.
    pub fn begin_install(&self) -> Result<PartialInstall, NotInstalled> {
        let object = self.live.clone().ok_or(NotInstalled::NoObject)?;
        let last = self.versions.last();
        let is_deleted = last.is_some_and(|last| last.event == Some(EventType::Deleted));
        let itself = |definition: &&Value| ObjectId::from_object(definition) != self.id;
        let definitions = self.definitions.iter().filter(itself);
        let mut errors = self.errors.iter();
        let resource = errors.find_map(|it| it.object.resource.as_deref());
        let plural = resource.and_then(|resource| resource.split('.').next());
        let part = InstallPart::Fit(Box::new(UnfittedObject {
            object,
            definitions: definitions.cloned().collect(),
            plural: plural.map(str::to_owned),
            release: self.release,
        }));
        Ok(PartialInstall {
            part,
            notes: is_deleted.then_some(Note::WasDeleted).into_iter().collect(),
        })
    }
}

/// Returns an object as a server can hold it, with notes about additions.
///
/// # Errors
/// If no definition can add its kind, and this release does not have it.
pub(crate) fn fitted(mut object: Value) -> Result<(Value, Vec<Note>), NotInstalled> {
    let mut notes = Vec::new();
    let meta = object.metadata();
    if meta.is_none_or(|meta| !meta.contains_key("managedFields")) {
        notes.push(Note::NoManagedFields);
    }
    if object.uid().is_empty() {
        object.set_meta("uid", UID);
        notes.push(Note::UidMadeUp);
    }
    let (api_version, kind) = (text(&object, "apiVersion"), text(&object, "kind"));
    let builtin = Resources::builtin();
    if let Some(resource) = builtin.by_kind(api_version, kind) {
        fit(&mut object, resource, &mut notes);
    } else if !ObjectId::from_object(&object).group.contains('.') {
        let (api_version, kind) = (api_version.to_owned(), kind.to_owned());
        return Err(NotInstalled::NotServed { api_version, kind });
    }
    Ok((object, notes))
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

impl Installed {
    /// The object as it is stored, with `managedFields`.
    pub fn object(&self) -> Option<&Arc<Value>> {
        self.world.stored().map(|(_, object)| object)
    }

    /// Its kind.
    pub fn resource(&self) -> &Arc<Resource> {
        self.world.resource()
    }

    /// Returns the owners of each line of the object.
    pub fn ownership(&self) -> ObjectOwnership {
        match self.object() {
            Some(object) => ObjectOwnership::read(object, &self.resource().root),
            None => ObjectOwnership {
                managers: Vec::new(),
                lines: Vec::new(),
            },
        }
    }
}

/// Makes an object fit its built-in kind. A server fills in defaults also when it reads an object that
/// was stored without them (`k8s.io/apimachinery/pkg/runtime/serializer/versioning/versioning.go
/// Decode`, v1.36), so that an object from an older cluster, or one that was shortened by hand, has
/// them as well.
fn fit(object: &mut Value, resource: &Resource, notes: &mut Vec<Note>) {
    if resource.namespaced && object.namespace().is_empty() {
        object.set_meta("namespace", "default");
        notes.push(Note::NamespaceMadeUp);
    }
    // What cannot be decoded is refused by the installation, which says what is wrong.
    if let Some((filled, unknown)) = decoded(object, resource) {
        if !unknown.is_empty() {
            notes.push(Note::UnknownFields(unknown));
        }
        *object = filled;
    }
    fill_addresses(object, resource);
    if !resource.validates() {
        let kind = resource.kind.clone();
        notes.push(Note::ValuesNotChecked { kind });
    }
}

/// An object with defaults, also of structs that it does not have at all and that Go's decoder makes, and
/// without the fields that a built-in kind does not know, which are named in the words of that decoder.
fn decoded(object: &Value, resource: &Resource) -> Option<(Value, Vec<String>)> {
    let decoded = decode(Node::from(object.clone()), &resource.root).ok()?;
    let mut filled = decoded.value;
    fill_defaults(&mut filled, &resource.root);
    forget_unsaid(&mut filled, object);
    for field in ["apiVersion", "kind"] {
        filled[field] = text(object, field).into();
    }
    Some((filled, decoded.strict_errors))
}

/// A Service with one address has it in `clusterIPs` as well when it is read
/// (`pkg/registry/core/service/storage/storage.go defaultOnReadService`, v1.36).
fn fill_addresses(object: &mut Value, resource: &Resource) {
    let address = object.pointer("/spec/clusterIP").cloned();
    let has_more = object.pointer("/spec/clusterIPs").is_some();
    if let Some(address) = address.filter(|_| resource.kind == "Service" && !has_more) {
        object["spec"]["clusterIPs"] = json!([address]);
    }
}
