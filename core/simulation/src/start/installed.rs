//! A start from objects as a cluster has them.

use std::time::Duration;

use serde_json::Value;

use super::{LoadError, Start, Started, define, is_definition, make_namespace, namespaces};
use crate::{ObjectRef, World};
use optimist_apiserver::environment::{Environment, Timestamp};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{ApiServer, InstallError, Release};
use optimist_apiserver::storage::Revision;
use optimist_client::{ManifestError, documents, to_yaml};

/// The time from the last write of an object to the beginning of the history.
const LATER: Duration = Duration::from_secs(60);

/// The time and the uids of a server on which something happens after the last write of these objects.
pub fn environment_after<'a>(objects: impl IntoIterator<Item = &'a Value>) -> Environment {
    let mut environment = Environment::default();
    let latest = objects.into_iter().filter_map(latest_time).max();
    let begin = environment.now().seconds;
    let passed = latest.map_or(0, |time| time.seconds.saturating_sub(begin));
    environment.advance(Duration::from_secs(passed) + LATER);
    environment
}

/// A server that holds objects as they are.
#[derive(Clone, Debug)]
pub struct InstalledObjects {
    server: ApiServer,
    /// The objects that are no definitions, in their order.
    subjects: Vec<ObjectRef>,
    /// All objects as they are stored.
    stored: Vec<Value>,
}

impl InstalledObjects {
    /// Puts objects on a server of a release. A definition is created, so that its kind is served before an older
    /// object of it is installed; a definition among definitions only is installed.
    ///
    /// # Errors
    /// If the server would not store an object so, or there is none.
    pub fn new(objects: &[Value], release: Release) -> Result<Self, LoadError> {
        let mut server = ApiServer::new(environment_after(objects), 1);
        server.set_release(release);
        for namespace in namespaces(objects).into_iter().skip(1) {
            make_namespace(&mut server, namespace)?;
        }
        let only_definitions = objects.iter().all(is_definition);
        let mut stored = vec![Value::Null; objects.len()];
        let mut waiting: Vec<(Revision, usize)> = Vec::new();
        for (at, object) in objects.iter().enumerate() {
            if is_definition(object) && !only_definitions {
                stored[at] = define(&mut server, object.clone())?.object;
            } else {
                // One without a version gets the next one of the store: it comes last.
                let version = object.resource_version().parse();
                waiting.push((version.unwrap_or(Revision::MAX), at));
            }
        }
        waiting.sort_unstable();
        let mut subjects = Vec::new();
        for (_, at) in waiting {
            let object = install(&mut server, &objects[at])?;
            let (api_version, kind) = (text(&object, "apiVersion"), text(&object, "kind"));
            let resource = server.resources().by_kind(api_version, kind).cloned();
            subjects.extend(resource.map(|resource| (at, ObjectRef::new(&resource, &object))));
            stored[at] = object;
        }
        subjects.sort_by_key(|(at, _)| *at);
        if subjects.is_empty() {
            let message = "There is no object to install.".to_owned();
            return Err(ManifestError::Content(message).into());
        }
        Ok(Self {
            server,
            subjects: subjects.into_iter().map(|(_, subject)| subject).collect(),
            stored,
        })
    }

    /// The start of a history with them.
    pub(super) fn into_started(self) -> Started {
        let texts: Vec<String> = self.stored.iter().map(to_yaml).collect();
        Started {
            server: self.server,
            subjects: self.subjects,
            dropped: Vec::new(),
            manifests: Some(texts.join("---\n")),
        }
    }

    /// A world that begins with them. Its [`start`](World::start) has them as YAML.
    ///
    /// # Errors
    /// If the YAML is larger than what can be loaded again.
    pub fn into_world(self) -> Result<World, LoadError> {
        let release = self.server.release();
        let made = self.into_started();
        let start = Start {
            manifests: made.manifests.unwrap_or_default(),
            installed: true,
            release,
            ..Start::default()
        };
        documents(&start.manifests)?;
        Ok(World::with_subjects(
            made.server,
            made.subjects,
            start.into(),
        ))
    }
}

fn install(server: &mut ApiServer, object: &Value) -> Result<Value, LoadError> {
    let installed = server.install(object.clone());
    installed.map(|stored| (*stored).clone()).map_err(|error| {
        let name = optimist_client::title(object);
        let message = match error {
            InstallError::Past { own, newest } => format!(
                "{name} cannot be installed at version {own}: other objects of the start already \
                 have the versions up to {newest}."
            ),
            other => format!("{name} cannot be installed: {other}."),
        };
        ManifestError::Content(message).into()
    })
}

/// The time of the last write that an object names.
fn latest_time(object: &Value) -> Option<Timestamp> {
    let entries = object.managed_entries().iter();
    let times = entries.map(|entry| text(entry, "time"));
    let others = ["creationTimestamp", "deletionTimestamp"].map(|field| object.meta_text(field));
    times.chain(others).filter_map(Timestamp::parse).max()
}
