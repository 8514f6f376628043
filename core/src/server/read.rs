//! Get and list.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};

use super::resource::Definition;
use super::selector::Selector;
use super::{Answer, ApiServer, Fact, RequestInfo, Trace, scale, storage_key};
use crate::object::Metadata;
use crate::status::{Refusal, Status};
use crate::storage::Revision;

impl ApiServer {
    pub(super) fn get(&self, info: &RequestInfo, trace: &mut Trace) -> Result<Answer, Refusal> {
        let key = storage_key(info.stored_resource(), &info.namespace, &info.name);
        let (revision, object) = self
            .store
            .get(&key)
            .ok_or_else(|| Status::not_found(&info.group_resource(), &info.name))?;
        let object = &info.stored_resource().read_back(object);
        trace.facts.push(Fact::Read(revision));
        Ok(Answer::ok(match info.parent {
            Some(_) => scale::of(object),
            None => object.as_ref().clone(),
        }))
    }

    pub(super) fn list(&self, info: &RequestInfo) -> Result<Answer, Refusal> {
        let query = |name| info.query(name).unwrap_or_default();
        let selector = Selector::parse(
            query("labelSelector"),
            query("fieldSelector"),
            &info.resource,
        )?;
        let (revision, _, items) = self.collect(info, &selector);
        Ok(Answer::ok(list_of(info, revision, items)))
    }

    /// The current version of the store, and the selected objects with their names.
    pub(super) fn collect(
        &self,
        info: &RequestInfo,
        selector: &Selector,
    ) -> (Revision, Vec<String>, Vec<Value>) {
        let prefix = format!("{}/", storage_key(&info.resource, &info.namespace, ""));
        let selected = self
            .store
            .range(&prefix)
            .map(|(_, _, stored)| info.resource.read_back(stored))
            .filter(|object| selector.matches(object));
        let (names, items) = selected
            .map(|object| (object.name().to_owned(), Arc::unwrap_or_clone(object)))
            .unzip();
        (self.store.revision(), names, items)
    }
}

/// A list as the kind writes it: items of built-in kinds do not repeat kind and version.
pub(super) fn list_of(info: &RequestInfo, revision: Revision, mut items: Vec<Value>) -> Value {
    let resource = &info.resource;
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    match &resource.definition {
        Definition::Builtin(_) => {
            for item in items.iter_mut().filter_map(Value::as_object_mut) {
                item.remove("kind");
                item.remove("apiVersion");
            }
        }
        Definition::Custom(_) => metadata["continue"] = "".into(),
    }
    json!({
        "kind": format!("{}List", resource.kind),
        "apiVersion": resource.group_version.to_string(),
        "metadata": metadata,
        "items": items,
    })
}

impl Answer {
    pub(super) fn ok(body: Value) -> Self {
        Self {
            body,
            code: StatusCode::OK,
        }
    }
}
