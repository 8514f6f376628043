//! The installation of a case's object on a server of its own, in parts.

use std::sync::Arc;

use optimist_apiserver::json::Node;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::schema::{decode, fill_defaults};
use optimist_apiserver::server::{EventType, Release, Resource, Resources};
use optimist_simulation::{InstalledObjects, World};
use serde_json::{Value, json};

use super::{
    Case, MadeUpIdentity, NotInstalled, Note, ObjectId, UID, defines, is_built_in, open_definition,
};
use crate::ownership::ObjectOwnership;
use crate::ways::forget_unsaid;

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

impl Installed {
    /// The object as it is shown: a placeholder stands for a name or a namespace that no input says.
    pub fn shown_object(&self) -> Option<Value> {
        let object = self.object()?;
        Some(self.made_up.body(self.world.subject(), object))
    }
}

impl Case {
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
        let unused = self.unused_manifests;
        let several = self
            .previous_manifest
            .as_ref()
            .map(|_| match self.is_left_out() {
                true => Note::LeftOut,
                false => Note::SeveralManifests { unused },
            });
        let deleted = is_deleted.then_some(Note::WasDeleted);
        Ok(PartialInstall {
            part,
            notes: deleted.into_iter().chain(several).collect(),
        })
    }
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
