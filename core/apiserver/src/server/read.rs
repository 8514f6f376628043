//! Reads of one object, and the form in which lists are written.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};

use super::list_options::parse_version;
use super::resource::Definition;
use super::{ApiServer, Fact, ObjectAnswer, RequestInfo, Trace, scale, storage_key};
use crate::status::{Refusal, Status};
use crate::storage::Revision;

impl ApiServer {
    pub(super) fn get(
        &mut self,
        info: &RequestInfo,
        trace: &mut Trace,
    ) -> Result<ObjectAnswer, Refusal> {
        self.wait_until_not_older(info)?;
        let key = storage_key(info.stored_resource(), &info.namespace, &info.name);
        let (revision, object) = self
            .store
            .get(&key)
            .ok_or_else(|| Status::not_found(&info.group_resource(), &info.name))?;
        let object = self.read_back(info.stored_resource(), object);
        trace.facts.push(match info.parent {
            Some(_) => Fact::ReadScale(revision),
            None => Fact::Read(revision),
        });
        Ok(ObjectAnswer::ok(match &info.parent {
            Some(parent) => Arc::new(scale::read(parent, &object)?),
            None => object,
        }))
    }

    /// Whatever version a get names, it is answered with the newest object, which must not be
    /// older. The watch cache waits for a version that is still to come and etcd does not; they
    /// also word a version that is none differently (`CacheDelegator.Get`, `store.Get`).
    fn wait_until_not_older(&mut self, info: &RequestInfo) -> Result<(), Refusal> {
        let version = parse_version(info.query("resourceVersion").unwrap_or_default());
        if self.caches.cache(info.stored_resource()).is_some() {
            return self.wait_for(version.map_err(Status::internal)?);
        }
        let version = version
            .map_err(|why| Status::bad_request(format!("invalid resource version: {why}")))?;
        let newest = self.store.revision();
        if version > newest {
            return Err(Status::too_large_version(version, newest, 0));
        }
        Ok(())
    }
}

/// `metav1.ListMeta`.
#[derive(Clone, Debug)]
pub(super) struct ListMeta {
    /// The version of the list.
    pub(super) version: Revision,
    /// The token for the rest of the list; empty if this is the end.
    pub(super) continue_token: String,
    /// The number of items left, if it is known.
    pub(super) remaining: Option<usize>,
}

impl ListMeta {
    /// A whole list at a version.
    pub(super) fn at(version: Revision) -> Self {
        Self {
            version,
            continue_token: String::new(),
            remaining: None,
        }
    }
}

/// A list as the kind writes it: items of built-in kinds do not repeat kind and version, and lists
/// of custom resources show an empty continue token.
pub(super) fn list_of(info: &RequestInfo, meta: ListMeta, mut items: Vec<Value>) -> Value {
    let resource = &info.resource;
    let mut metadata = json!({"resourceVersion": meta.version.to_string()});
    let custom = match &resource.definition {
        Definition::Builtin(_) => {
            for item in items.iter_mut().filter_map(Value::as_object_mut) {
                item.remove("kind");
                item.remove("apiVersion");
            }
            false
        }
        Definition::Custom(_) => true,
    };
    if custom || !meta.continue_token.is_empty() {
        metadata["continue"] = meta.continue_token.into();
    }
    if let Some(remaining) = meta.remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    let mut list = json!({
        "kind": resource.list_kind(),
        "apiVersion": resource.group_version.to_string(),
        "metadata": metadata,
    });
    list["items"] = items.into();
    list
}

impl ObjectAnswer {
    pub(super) fn ok(body: impl Into<Arc<Value>>) -> Self {
        Self {
            body: body.into(),
            code: StatusCode::OK,
        }
    }
}
