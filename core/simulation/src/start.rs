//! The start of a history.

mod installed;

pub use installed::{InstalledObjects, environment_after};

use std::collections::BTreeMap;
use std::fmt;

use http::{Request, header};
use serde_json::Value;

use super::{ActorId, ControllerStart, NGINX, ObjectRef};
use optimist_apiserver::environment::Environment;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::patch::APPLY;
use optimist_apiserver::server::{ApiServer, DEFAULT_NAMESPACE, Release};
use optimist_apiserver::storage::{MAX_FIRST_REVISION, Revision};
use optimist_client::{Manifest, ManifestError, objects, refuse_repeated_keys, title, to_yaml};
use optimist_controller::Controller;

/// The objects that are stored before the first step, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Start {
    /// Manifests, separated by `---`: definitions of custom resources, then objects. The last
    /// object is the current object at first.
    pub manifests: String,
    /// The version of the last object; by default 100.
    pub version: Option<Revision>,
    /// The field manager that stores them; by default `kubectl-create`.
    pub created_by: Option<String>,
    /// `true` if it stores them by server-side apply.
    pub applied: bool,
    /// `true` if the objects are installed as they are ([`ApiServer::install`]): uid, version, owners
    /// and status stay. The other options then have no effect. Definitions are created.
    pub installed: bool,
    /// The release of the server.
    pub release: Release,
    /// The actors that are controllers.
    pub controllers: BTreeMap<ActorId, ControllerStart>,
}

/// The reason why a manifest could not become the stored object.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadError {
    /// The manifest cannot be loaded.
    Manifest(ManifestError),
    /// The server refused it, with its message.
    Refused {
        /// The HTTP status code.
        code: u16,
        /// The server's message.
        message: String,
    },
    /// No object of the file can be loaded: each with its reason.
    Nothing(Vec<LeftOut>),
}

impl fmt::Display for LoadError {
    /// In English, for command lines. The page takes its words from its catalogue.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Nothing(left_out) => {
                f.write_str("No object in the manifest can be loaded.")?;
                left_out
                    .iter()
                    .try_for_each(|left| write!(f, " {}: {}", left.object, left.why))
            }
            LoadError::Manifest(error) => write!(f, "{error}"),
            LoadError::Refused { code, message } => {
                write!(f, "The server refuses the object ({code}): {message}")
            }
        }
    }
}

impl std::error::Error for LoadError {}

impl From<ManifestError> for LoadError {
    fn from(error: ManifestError) -> Self {
        LoadError::Manifest(error)
    }
}

/// The version of the last object, by default.
const USUAL_VERSION: Revision = 100;

const DEFINITION: &str = "CustomResourceDefinition";

/// The objects of a file, split into those that can be loaded and those that cannot.
#[derive(Clone, Debug, PartialEq)]
pub struct Loadable {
    /// A start with the objects that can be loaded, without the fields that only the server sets.
    pub start: Start,
    /// The fields that were dropped because the server owns them.
    pub dropped: Vec<String>,
    /// The objects that cannot be loaded.
    pub left_out: Vec<LeftOut>,
}

/// An object that cannot be loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Its display name: `Job nightly (batch/v1)`.
    pub object: String,
    /// The reason.
    pub why: LoadError,
}

/// The result of a start.
pub(super) struct Started {
    pub(super) server: ApiServer,
    /// At least one, in the order of the manifests.
    pub(super) subjects: Vec<ObjectRef>,
    /// The fields of the manifests that were dropped because only the server sets them.
    pub(super) dropped: Vec<String>,
    /// The manifests as they were stored: without comments and dropped fields. `None` for the
    /// default manifest, which has neither.
    pub(super) manifests: Option<String>,
}

impl Start {
    /// A start with manifests and default options.
    pub fn with(manifests: &str) -> Self {
        Self {
            manifests: manifests.to_owned(),
            ..Self::default()
        }
    }

    /// Finds the objects of a file that can be loaded: definitions first, then the objects in their
    /// order.
    ///
    /// # Errors
    /// If the text is neither YAML nor JSON, has a duplicate key, or has no object that can be
    /// loaded.
    pub fn loadable(file: &str) -> Result<Loadable, LoadError> {
        refuse_repeated_keys(file)?;
        let mut all = objects(file)?;
        let alone = all.len() == 1;
        // In the file, an object may come before the definition of its kind.
        all.sort_by_key(|object| !is_definition(object));
        let mut server = ApiServer::new(Environment::default(), 1);
        let usual = Start::default();
        let (mut kept, mut dropped, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        let mut loaded = false;
        for object in all {
            let name = title(&object);
            let definition = is_definition(&object);
            let result = if definition {
                define(&mut server, object)
            } else {
                usual.try_to_store(&mut server, object)
            };
            match result {
                Err(why) if alone => return Err(why),
                Err(why) => left_out.push(LeftOut { object: name, why }),
                Ok(manifest) => {
                    loaded |= !definition;
                    kept.push(to_yaml(&manifest.object));
                    dropped.extend(manifest.dropped);
                }
            }
        }
        if !loaded {
            return Err(LoadError::Nothing(left_out));
        }
        dropped.sort();
        dropped.dedup();
        Ok(Loadable {
            start: Start::with(&kept.join("---\n")),
            dropped,
            left_out,
        })
    }

    /// Stores an object. Creates its namespace if it does not exist.
    fn try_to_store(&self, server: &mut ApiServer, object: Value) -> Result<Manifest, LoadError> {
        let manifest = Manifest::new(object, server.resources())?;
        let namespace = manifest.object.namespace();
        if namespace != DEFAULT_NAMESPACE {
            match make_namespace(server, namespace) {
                Err(LoadError::Refused { code: 409, .. }) | Ok(_) => {}
                Err(other) => return Err(other),
            }
        }
        self.store(server, &manifest.object)?;
        Ok(manifest)
    }

    /// Stores the manifests on a new server.
    pub(super) fn make(&self) -> Result<Started, LoadError> {
        if self.version.is_some_and(|it| it > MAX_FIRST_REVISION) {
            let message = format!("The first version can be at most {MAX_FIRST_REVISION}.");
            return Err(ManifestError::Content(message).into());
        }
        let parsed = objects(&self.manifests)?;
        if self.installed {
            return InstalledObjects::new(&parsed, self.release)
                .map(InstalledObjects::into_started);
        }
        let namespaces = namespaces(&parsed);
        // The server itself writes each definition two more times until it is established.
        let definitions = parsed.iter().filter(|object| is_definition(object)).count();
        let others = (parsed.len() + 2 * definitions + namespaces.len()).saturating_sub(2);
        let first = self
            .version
            .unwrap_or(USUAL_VERSION)
            .saturating_sub(others as Revision)
            .max(1);
        let mut server = ApiServer::new(Environment::default(), first);
        server.set_release(self.release);
        for namespace in namespaces.iter().skip(1) {
            make_namespace(&mut server, namespace)?;
        }
        let mut subjects = Vec::new();
        let mut dropped = Vec::new();
        let mut stored = Vec::new();
        for value in parsed {
            let manifest = if is_definition(&value) {
                define(&mut server, value)?
            } else {
                let manifest = Manifest::new(value, server.resources())?;
                subjects.push(self.store(&mut server, &manifest.object)?);
                manifest
            };
            dropped.extend(manifest.dropped);
            stored.push(manifest.object);
        }
        if subjects.is_empty() {
            let message =
                "The manifest has only definitions of custom resources, and no object.".to_owned();
            return Err(ManifestError::Content(message).into());
        }
        Ok(Started {
            server,
            subjects,
            dropped,
            manifests: (self.manifests != NGINX).then(|| {
                let texts: Vec<String> = stored.iter().map(to_yaml).collect();
                texts.join("---\n")
            }),
        })
    }

    /// The controllers, before they have sent anything.
    pub(super) fn make_controllers(
        &self,
        server: &ApiServer,
        subjects: &[ObjectRef],
    ) -> Result<Vec<(ActorId, Controller)>, LoadError> {
        let last = subjects.last().map(ObjectRef::namespace);
        let make = |(actor, start): (&ActorId, &ControllerStart)| {
            let namespace = start.namespace.as_deref().or(last);
            let namespace = namespace.unwrap_or(DEFAULT_NAMESPACE);
            let program = start.program.program();
            program
                .check()
                .map_err(|problem| ManifestError::Content(problem.to_string()))?;
            let controller = start.release.controller(program, server, namespace);
            let controller =
                controller.map_err(|unknown| ManifestError::Content(unknown.to_string()))?;
            Ok((*actor, controller))
        };
        self.controllers.iter().map(make).collect()
    }

    fn store(&self, server: &mut ApiServer, object: &Value) -> Result<ObjectRef, LoadError> {
        let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
        let resource = server.resources().by_kind(api_version, kind).cloned();
        let resource = resource.ok_or_else(|| {
            ManifestError::Content(format!("{kind} ({api_version}) is not served."))
        })?;
        let manager = self.created_by.as_deref().unwrap_or("kubectl-create");
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("fieldManager", manager);
        query.append_pair("fieldValidation", "Strict");
        let query = query.finish();
        let name = if self.applied { object.name() } else { "" };
        let target = format!("{}?{query}", resource.path(object.namespace(), name));
        let request = if self.applied {
            Request::patch(target).header(header::CONTENT_TYPE, APPLY)
        } else {
            Request::post(target)
        };
        let stored = send(server, request, object)?;
        Ok(ObjectRef::new(&resource, &stored))
    }
}

/// The namespaces of objects, and the one that always exists before them.
fn namespaces(objects: &[Value]) -> Vec<&str> {
    let mut namespaces = vec![DEFAULT_NAMESPACE];
    for object in objects {
        let namespace = object.namespace();
        if !namespace.is_empty() && !namespaces.contains(&namespace) {
            namespaces.push(namespace);
        }
    }
    namespaces
}

fn is_definition(object: &Value) -> bool {
    text(object, "kind") == DEFINITION
}

fn define(server: &mut ApiServer, definition: Value) -> Result<Manifest, LoadError> {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let manifest = Manifest::of_definition(definition);
    send(server, Request::post(path), &manifest.object)?;
    Ok(manifest)
}

fn make_namespace(server: &mut ApiServer, name: &str) -> Result<Value, LoadError> {
    let body = serde_json::json!({"metadata": {"name": name}});
    send(server, Request::post("/api/v1/namespaces"), &body)
}

fn send(
    server: &mut ApiServer,
    request: http::request::Builder,
    body: &Value,
) -> Result<Value, LoadError> {
    let has_type = request
        .headers_ref()
        .is_some_and(|headers| headers.contains_key(header::CONTENT_TYPE));
    let request = if has_type {
        request
    } else {
        request.header(header::CONTENT_TYPE, "application/json")
    };
    let request = request
        .header(header::USER_AGENT, "kubectl")
        .body(body.to_string().into_bytes())
        .map_err(|error| LoadError::Manifest(ManifestError::Content(error.to_string())))?;
    let response = server.handle(request);
    let answer: Value = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
    if response.status().is_success() {
        return Ok(answer);
    }
    Err(LoadError::Refused {
        code: response.status().as_u16(),
        message: text(&answer, "message").to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, ActorId, HistoryTree, NGINX, Operation, World};

    #[test]
    fn a_history_begins_at_any_version_that_leaves_room_for_it() {
        let start = |version| Start {
            version: Some(version),
            ..Start::with(NGINX)
        };
        let (world, _) = World::from_start(start(MAX_FIRST_REVISION).into()).unwrap();
        let mut tree = HistoryTree::new(world);
        tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
        let (version, _) = tree.world().stored().unwrap();
        assert_eq!(version, MAX_FIRST_REVISION);
        for version in [MAX_FIRST_REVISION + 1, u64::MAX - 20, u64::MAX] {
            let error = World::from_start(start(version).into()).unwrap_err();
            assert!(error.to_string().contains("at most"), "{error}");
        }
    }
}
