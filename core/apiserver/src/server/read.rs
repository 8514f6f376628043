//! Reads of one object, and the form in which lists are written.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};

use super::list_options::parse_version;
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

/// A list whose items are shared with all who read them.
#[derive(Debug)]
pub(super) struct SharedList {
    /// The list without its items.
    pub(super) head: Arc<Value>,
    /// The items, each as a read of it alone is answered.
    pub(super) items: Arc<[Arc<Value>]>,
    /// `true` if the items of the written list do not repeat kind and version.
    is_builtin: bool,
}

impl SharedList {
    /// A list as the kind writes it: lists of custom resources show an empty continue token.
    pub(super) fn new(info: &RequestInfo, meta: ListMeta, items: Vec<Arc<Value>>) -> Self {
        let resource = &info.resource;
        let mut metadata = json!({"resourceVersion": meta.version.to_string()});
        if !resource.is_builtin() || !meta.continue_token.is_empty() {
            metadata["continue"] = meta.continue_token.into();
        }
        if let Some(remaining) = meta.remaining {
            metadata["remainingItemCount"] = remaining.into();
        }
        let head = json!({
            "kind": resource.list_kind(),
            "apiVersion": resource.group_version.to_string(),
            "metadata": metadata,
        });
        Self {
            head: Arc::new(head),
            items: items.into(),
            is_builtin: resource.is_builtin(),
        }
    }

    /// The whole list.
    pub(super) fn document(&self) -> Value {
        let items = self.items.iter().map(|item| {
            let mut item = Value::clone(item);
            if self.is_builtin
                && let Some(members) = item.as_object_mut()
            {
                members.remove("kind");
                members.remove("apiVersion");
            }
            item
        });
        let mut list = Value::clone(&self.head);
        list["items"] = items.collect();
        list
    }
}

impl ObjectAnswer {
    pub(super) fn ok(object: impl Into<Arc<Value>>) -> Self {
        Self::Object(StatusCode::OK, object.into())
    }

    /// Answers with a view of the object. A list stays as it is.
    pub(super) fn map_object(self, view: impl FnOnce(&Value) -> Value) -> Self {
        match self {
            Self::Object(code, object) => Self::Object(code, Arc::new(view(&object))),
            Self::List(_) => self,
        }
    }

    pub(super) fn list(list: SharedList) -> Self {
        Self::List(Arc::new(list))
    }
}
