//! The objects of the cluster, on one server.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use http::{Request, header};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{ApiServer, InstallError, Resource, Resources};
use optimist_client::Preset;
use optimist_simulation::environment_after;
use serde_json::{Value, json};

use super::{Assumed, PreviewInput};
use crate::case::{self, ObjectId};

/// The kind of definitions.
const DEFINITION: &str = "CustomResourceDefinition";

/// The parts that tell objects apart: group, kind, namespace and name.
pub(super) type Key = (String, String, String, String);

/// The key of an object.
pub(super) fn key(object: &Value) -> Key {
    let id = ObjectId::from_object(object);
    (id.group, id.kind, id.namespace, id.name)
}

/// Returns whether a manifest is of a kind in a version that this release does not serve: its group is built in, and the
/// cluster shows no object of the version.
fn is_removed<'a>(manifest: &Value, mut live: impl Iterator<Item = &'a Value>) -> bool {
    let group = ObjectId::from_object(manifest).group;
    let is_of_group = |resource: &Arc<Resource>| resource.group_version.group == group;
    let same = |object: &Value, field| text(object, field) == text(manifest, field);
    Resources::builtin().iter().any(is_of_group)
        && !live.any(|object| same(object, "apiVersion") && same(object, "kind"))
}

/// A server with the objects of a cluster.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) server: ApiServer,
    /// The assumptions about each object: parts that were added, or that are not known.
    pub(super) assumed: HashMap<Key, Vec<Assumed>>,
    /// The reason why an object is not on the server.
    pub(super) failed: HashMap<Key, String>,
    /// The objects in the order in which they were brought, as they were.
    pub(super) objects: Vec<(Key, Arc<Value>)>,
    /// Namespaces that the input does not have.
    pub(super) namespaces: Vec<String>,
}

impl Cluster {
    /// A server without objects.
    pub(super) fn new(input: &PreviewInput) -> Self {
        let mut server = ApiServer::new(environment_after(&input.live), 1);
        server.set_release(input.release);
        Self {
            server,
            assumed: HashMap::new(),
            failed: HashMap::new(),
            objects: Vec::new(),
            namespaces: Vec::new(),
        }
    }

    /// An object as a server can store it. `None` if it cannot, which its row says.
    pub(super) fn fitted(&mut self, object: &Arc<Value>) -> Option<Value> {
        match case::fitted((**object).clone()) {
            Ok((object, notes)) => {
                let notes = notes.iter().filter_map(Assumed::of_note);
                self.assumed.insert(key(&object), notes.collect());
                Some(object)
            }
            Err(why) => {
                self.failed.insert(key(object), why.to_string());
                self.objects.push((key(object), Arc::clone(object)));
                None
            }
        }
    }

    /// Makes the kinds known, and puts the objects into the order in which a server can get them.
    pub(super) fn in_order(
        &mut self,
        mut objects: Vec<Arc<Value>>,
        next: &[Value],
    ) -> Vec<Arc<Value>> {
        self.define(&objects, next);
        objects.sort_by_key(|object| {
            let version = object.resource_version().parse::<u64>();
            (
                text(object, "kind") != DEFINITION,
                version.unwrap_or(u64::MAX),
            )
        });
        objects
    }

    /// Makes the kinds known that no definition of the cluster defines.
    fn define(&mut self, live: &[Arc<Value>], next: &[Value]) {
        let is_definition = |object: &&Value| text(object, "kind") == DEFINITION;
        let live = || live.iter().map(|object| &**object);
        let (defined, offered) = (live(), next.iter());
        let defined: Vec<&Value> = defined.filter(is_definition).collect();
        let offered: Vec<&Value> = offered.filter(is_definition).collect();
        let mut open: HashMap<(String, String), (Value, Vec<Key>)> = HashMap::new();
        for (object, exists) in live()
            .map(|it| (it, true))
            .chain(next.iter().map(|it| (it, false)))
        {
            let id = ObjectId::from_object(object);
            let known = case::is_built_in(object)
                || !id.group.contains('.')
                || !exists && is_removed(object, live())
                || defined.iter().any(|it| case::defines(it, object));
            if known {
                continue;
            }
            if let Some(definition) = offered.iter().find(|it| case::defines(it, object)) {
                if exists && !self.assumed.contains_key(&key(definition)) {
                    let assumed = vec![Assumed::DefinitionOfManifest];
                    self.assumed.insert(key(definition), assumed);
                    let mut installed = (*definition).clone();
                    installed.set_meta("resourceVersion", Value::Null);
                    self.create(installed);
                }
                continue;
            }
            // One definition has what all objects of the kind show.
            let (sample, keys) = open
                .entry((id.group, id.kind))
                .or_insert_with(|| (object.clone(), Vec::new()));
            keys.push(key(object));
            let entries = object.managed_fields();
            if let (Some(Value::Array(all)), Some(Value::Array(more))) = (
                sample.metadata_mut().get_mut("managedFields"),
                entries.filter(|_| keys.len() > 1),
            ) {
                all.extend(more.iter().cloned());
            }
            if sample.namespace().is_empty() && !object.namespace().is_empty() {
                sample.set_meta("namespace", object.namespace());
            }
        }
        for (sample, keys) in open.into_values() {
            let definition = case::open_definition(&sample, None, &mut Vec::new());
            self.create(definition);
            for key in keys {
                self.assumed
                    .entry(key)
                    .or_default()
                    .push(Assumed::NoDefinition);
            }
        }
    }

    /// Creates a definition. A kind that the server refuses stays unknown, and the rows of its
    /// objects say so.
    fn create(&mut self, definition: Value) {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        self.send(path, &definition);
    }

    fn send(&mut self, path: &str, body: &Value) {
        let request = Request::post(path)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, "kubectl")
            .body(body.to_string().into_bytes());
        if let Ok(request) = request {
            self.server.handle(request);
        }
    }

    /// Stores an object as it is.
    pub(super) fn install(&mut self, mut object: Arc<Value>) {
        let key = key(&object);
        if text(&object, "kind") == DEFINITION {
            // It comes before older objects of its kind.
            Arc::make_mut(&mut object).set_meta("resourceVersion", Value::Null);
        }
        let mut installed = self.server.install((*object).clone());
        if matches!(installed, Err(InstallError::Past { .. })) {
            Arc::make_mut(&mut object).set_meta("resourceVersion", Value::Null);
            installed = self.server.install((*object).clone());
            self.assumed
                .entry(key.clone())
                .or_default()
                .push(Assumed::OtherVersion);
        }
        if let Err(why) = installed {
            self.failed.insert(key.clone(), why.to_string());
        }
        self.objects.push((key, object));
    }

    /// Makes the namespaces of everything. Those that only manifests name, and that none of them makes,
    /// are remembered.
    pub(super) fn make_namespaces(&mut self, input: &PreviewInput) {
        let of_next = input.next.iter().map(|object| object.namespace());
        let of_next = of_next.chain(input.namespace.as_deref());
        let of_live: Vec<String> = self.objects.iter().map(|(key, _)| key.2.clone()).collect();
        let made: Vec<&str> = input
            .next
            .iter()
            .filter(|object| text(object, "kind") == "Namespace")
            .map(|object| object.name())
            .collect();
        let all = of_live
            .iter()
            .map(|it| (it.as_str(), true))
            .chain(of_next.map(|it| (it, false)));
        for (namespace, exists) in all {
            let path = format!("/api/v1/namespaces/{namespace}");
            if namespace.is_empty() || !exists && made.contains(&namespace) || self.has(&path) {
                continue;
            }
            self.send(
                "/api/v1/namespaces",
                &json!({"metadata": {"name": namespace}}),
            );
            if !exists {
                self.namespaces.push(namespace.to_owned());
            }
        }
    }

    /// The object of the cluster with this key.
    pub(super) fn object(&self, key: &Key) -> Option<&Value> {
        let mut objects = self.objects.iter();
        objects
            .find(|(it, _)| it == key)
            .map(|(_, object)| &**object)
    }

    fn has(&mut self, path: &str) -> bool {
        let request = optimist_client::get_request(path, "optimist");
        request.is_some_and(|request| self.server.handle(request).status().is_success())
    }

    /// The namespace of a manifest that names none, and whether something says so.
    pub(super) fn namespace_of(&self, manifest: &Value, given: Option<&str>) -> (String, bool) {
        if let Some(given) = given {
            return (given.to_owned(), true);
        }
        let id = ObjectId::from_object(manifest);
        let same = self.objects.iter().filter(|((group, kind, _, name), _)| {
            (group, kind, name) == (&id.group, &id.kind, &id.name)
        });
        let mut namespaces: Vec<&String> =
            same.map(|((_, _, namespace, _), _)| namespace).collect();
        namespaces.dedup();
        match namespaces.as_slice() {
            [one] => ((*one).clone(), true),
            _ => ("default".to_owned(), false),
        }
    }

    /// Returns an object of the cluster that the tool delivered: it shows the tool's additions for
    /// new ones.
    pub(super) fn sibling(&self, preset: Preset, next: &HashSet<Key>) -> Option<&Value> {
        let delivered = |(key, object): &&(Key, Arc<Value>)| {
            next.contains(key) && crate::ways::is_delivered(preset, object)
        };
        self.objects
            .iter()
            .find(delivered)
            .map(|(_, object)| &**object)
    }
}
