//! The life of a CustomResourceDefinition: the controllers in the server work on it a moment after
//! it was written (`pkg/controller/{status,establish,finalizer}`).
//!
//! They act here as soon as the request has been answered, each of their writes by itself. The
//! finalizing controller does not give up after a minute: it goes on when the last object is gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::{Request, header};
use serde_json::{Value, json};

use super::definition::STORED_BELOW;
use super::served::{is_condition, stored_by};
use crate::environment::Timestamp;
use crate::go;
use crate::object::{Metadata, text};
use crate::server::{ApiServer, RequestInfo, Resource, Resources, Trace};

/// The finalizer that keeps a definition until its objects are gone.
pub(in crate::server) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

impl ApiServer {
    /// Serves the kinds that the stored CustomResourceDefinitions describe, and nothing else
    /// besides the built-in kinds.
    pub(in crate::server) fn serve_custom_resources(&mut self) {
        let definitions = self.definitions();
        let resources = Resources::with_custom(&self.resources, &definitions);
        self.caches.fill(&self.store, &resources);
        self.resources = Arc::new(resources);
    }

    fn definitions(&self) -> Vec<Arc<Value>> {
        let definitions = self.store.range(STORED_BELOW);
        definitions.map(|(_, _, d)| Arc::clone(d)).collect()
    }

    /// Returns whether the definition of a custom resource is about to go.
    pub(in crate::server) fn definition_terminates(&self, resource: &Resource) -> bool {
        if resource.is_builtin() {
            return false;
        }
        let key = format!("{STORED_BELOW}{}", resource.group_resource());
        let found = self.store.get(&key);
        found.is_some_and(|(_, definition)| {
            is_terminating(definition) || is_condition(definition, "Terminating", "True")
        })
    }

    /// Runs the controllers until they have nothing more to do.
    pub(in crate::server) fn run_definition_controllers(&mut self) {
        self.serve_custom_resources();
        loop {
            let before = self.store.revision();
            for definition in self.definitions() {
                let wanted = self.wanted(&definition);
                if wanted.is_some_and(|wanted| self.write_definition(&wanted)) {
                    self.serve_custom_resources();
                }
            }
            if self.store.revision() == before {
                return;
            }
        }
    }

    /// Returns the definition that the next controller writes; `None` if nothing is left to do.
    fn wanted(&mut self, definition: &Value) -> Option<Value> {
        let now = self.environment.now();
        if is_terminating(definition) && definition.finalizers().contains(&CLEANUP) {
            return self.finalized(definition, now);
        }
        let spec = &definition["spec"];
        if spec["names"] != definition["status"]["acceptedNames"] {
            let named = self.with_names(definition, now);
            if named["status"] != definition["status"] {
                return Some(named);
            }
        }
        if is_condition(definition, "NamesAccepted", "True")
            && !is_condition(definition, "Established", "True")
        {
            let mut established = definition.clone();
            let why = (
                "InitialNamesAccepted",
                "the initial names have been accepted",
            );
            set_condition(&mut established, "Established", "True", why, now);
            return Some(established);
        }
        None
    }

    /// The names that are free are accepted (`calculateNamesAndConditions`).
    fn with_names(&self, definition: &Value, now: Timestamp) -> Value {
        let (names, conflict) = self.accepted_names(definition);
        let mut named = definition.clone();
        named["status"]["acceptedNames"] = names;
        let (status, why) = match &conflict {
            Some((reason, message)) => ("False", (*reason, message.as_str())),
            None => ("True", ("NoConflicts", "no conflicts found")),
        };
        set_condition(&mut named, "NamesAccepted", status, why, now);
        if !is_condition(definition, "Established", "True") {
            let conditions = named["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            let known = conditions.any(|condition| condition["type"] == "Established");
            let why = if status == "True" {
                Some(("Installing", "the initial names have been accepted"))
            } else {
                (!known).then_some(("NotAccepted", "not all names are accepted"))
            };
            if let Some(why) = why {
                set_condition(&mut named, "Established", "False", why, now);
            }
        }
        named
    }

    /// The names that a definition then has, and the last conflict, as reason and message.
    fn accepted_names(&self, definition: &Value) -> (Value, Option<(&'static str, String)>) {
        let (resources, kinds) = self.names_in_use(text(&definition["spec"], "group"));
        let requested = &definition["spec"]["names"];
        let accepted = &definition["status"]["acceptedNames"];
        let mut names = accepted.clone();
        let in_use = |name: &str| format!("{} is already in use", go::quote(name));
        let mut conflict = None;
        for (field, used, reason) in [
            ("plural", &resources, "PluralConflict"),
            ("singular", &resources, "SingularConflict"),
            ("shortNames", &resources, "ShortNamesConflict"),
            ("kind", &kinds, "KindConflict"),
            ("listKind", &kinds, "ListKindConflict"),
        ] {
            let conflicts: Vec<String> = if field == "shortNames" {
                let own = accepted[field].as_array().cloned().unwrap_or_default();
                let wanted = requested[field].as_array().into_iter().flatten();
                let new = wanted.filter(|name| !own.contains(name));
                let taken = new
                    .filter_map(Value::as_str)
                    .filter(|name| used.contains(*name));
                taken.map(in_use).collect()
            } else {
                let name = text(requested, field);
                let taken = name != text(accepted, field) && used.contains(name);
                taken.then(|| in_use(name)).into_iter().collect()
            };
            match conflicts.as_slice() {
                [] => set_or_remove(&mut names, field, requested.get(field)),
                [one] => conflict = Some((reason, one.clone())),
                many => conflict = Some((reason, format!("[{}]", many.join(", ")))),
            }
        }
        set_or_remove(&mut names, "categories", requested.get("categories"));
        (names, conflict)
    }

    /// The names of resources and of kinds that the definitions of a group have.
    fn names_in_use(&self, group: &str) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut resources, mut kinds) = (BTreeSet::new(), BTreeSet::new());
        for other in self.definitions() {
            if text(&other["spec"], "group") != group {
                continue;
            }
            let names = &other["status"]["acceptedNames"];
            let short = names["shortNames"].as_array().into_iter().flatten();
            let all = [&names["plural"], &names["singular"]].into_iter();
            resources.extend(
                all.chain(short)
                    .filter_map(|name| name.as_str().map(str::to_owned)),
            );
            kinds.extend(["kind", "listKind"].map(|field| text(names, field).to_owned()));
        }
        (resources, kinds)
    }

    /// Deletes the objects of a definition, and then removes its finalizer.
    fn finalized(&mut self, definition: &Value, now: Timestamp) -> Option<Value> {
        let mut next = definition.clone();
        let conditions = definition["status"]["conditions"].as_array();
        let begun = conditions.into_iter().flatten().any(|condition| {
            condition["type"] == "Terminating"
                && condition["reason"] == "InstanceDeletionInProgress"
        });
        if !begun {
            let why = (
                "InstanceDeletionInProgress",
                "CustomResource deletion is in progress",
            );
            set_condition(&mut next, "Terminating", "True", why, now);
            return Some(next);
        }
        let why = if is_condition(definition, "Established", "True") {
            if !self.delete_objects_of(definition) {
                return None;
            }
            ("InstanceDeletionCompleted", "removed all instances")
        } else {
            ("NeverEstablished", "resource was never established")
        };
        set_condition(&mut next, "Terminating", "False", why, now);
        let finalizers = definition.finalizers().into_iter();
        let left: Vec<Value> = finalizers
            .filter(|it| *it != CLEANUP)
            .map(Value::from)
            .collect();
        let left = if left.is_empty() {
            Value::Null
        } else {
            left.into()
        };
        next.set_meta("finalizers", left);
        Some(next)
    }

    /// Deletes every object of a definition: whether none is left.
    fn delete_objects_of(&mut self, definition: &Value) -> bool {
        let (Some(resource), Some(info)) = (stored_by(definition), self.status_of(definition))
        else {
            return true;
        };
        let below = format!("{}/", resource.storage_prefix);
        let resource = Arc::new(resource);
        let objects = self.store.range(&below);
        let objects: Vec<Arc<Value>> = objects.map(|(_, _, object)| Arc::clone(object)).collect();
        for object in objects {
            let info = RequestInfo {
                resource: Arc::clone(&resource),
                namespace: object.namespace().to_owned(),
                name: object.name().to_owned(),
                subresource: String::new(),
                ..info.clone()
            };
            self.delete_unasked(&info);
        }
        self.store.range(&below).next().is_none()
    }

    /// The request by which controllers write the status of a definition.
    fn status_of(&self, definition: &Value) -> Option<RequestInfo> {
        self.status_request(&format!(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}",
            definition.name()
        ))
    }

    /// The request by which a controller of the server writes the status of an object.
    pub(in crate::server) fn status_request(&self, path: &str) -> Option<RequestInfo> {
        let request = Request::put(format!("{path}/status"));
        let request = request.header(header::USER_AGENT, "kube-apiserver");
        RequestInfo::parse(&request.body(Vec::new()).ok()?, &self.resources).ok()
    }

    /// Writes a definition through its status: whether that changed anything.
    fn write_definition(&mut self, definition: &Value) -> bool {
        let before = self.store.revision();
        let Some(info) = self.status_of(definition) else {
            return false;
        };
        let body = definition.to_string().into_bytes();
        // A controller that is refused tries again when something changes.
        let _ = self.update(&info, &body, &mut Trace::default());
        self.store.revision() > before
    }
}

fn is_terminating(definition: &Value) -> bool {
    !definition.meta_text("deletionTimestamp").is_empty()
}

fn set_or_remove(map: &mut Value, field: &str, value: Option<&Value>) {
    if let Value::Object(map) = map {
        match value {
            Some(value) => map.insert(field.to_owned(), value.clone()),
            None => map.remove(field),
        };
    }
}

/// Sets a condition of a definition; its time is that of the last change of its status
/// (`SetCRDCondition`).
pub(in crate::server) fn set_condition(
    definition: &mut Value,
    ty: &str,
    status: &str,
    (reason, message): (&str, &str),
    now: Timestamp,
) {
    let mut condition = json!({
        "type": ty, "status": status, "lastTransitionTime": now.to_string(),
        "reason": reason, "message": message,
    });
    let conditions = &mut definition["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Value::Array(conditions) = conditions else {
        return;
    };
    let known = conditions.iter_mut().find(|known| known["type"] == ty);
    let Some(known) = known else {
        conditions.push(condition);
        return;
    };
    if known["status"] == status && !known["lastTransitionTime"].is_null() {
        condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
    }
    *known = condition;
}
