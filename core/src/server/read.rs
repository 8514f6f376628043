//! Get and list.

use http::StatusCode;
use serde_json::{Value, json};

use super::{Answer, ApiServer, Fact, RequestInfo, Trace, storage_key};
use crate::status::{Refusal, Status};

impl ApiServer {
    pub(super) fn get(&self, info: &RequestInfo, trace: &mut Trace) -> Result<Answer, Refusal> {
        let key = storage_key(&info.resource, &info.namespace, &info.name);
        let (revision, object) = self
            .store
            .get(&key)
            .ok_or_else(|| Status::not_found(&info.group_resource(), &info.name))?;
        trace.facts.push(Fact::Read(revision));
        Ok(Answer::ok(object.as_ref().clone()))
    }

    pub(super) fn list(&self, info: &RequestInfo) -> Result<Answer, Refusal> {
        let resource = &info.resource;
        let prefix = format!("{}/", storage_key(resource, &info.namespace, ""));
        let items: Vec<Value> = self
            .store
            .range(&prefix)
            .map(|(_, _, object)| {
                let mut item = object.as_ref().clone();
                if let Value::Object(map) = &mut item {
                    map.remove("kind");
                    map.remove("apiVersion");
                }
                item
            })
            .collect();
        Ok(Answer::ok(json!({
            "kind": format!("{}List", resource.kind),
            "apiVersion": resource.group_version.to_string(),
            "metadata": {"resourceVersion": self.store.revision().to_string()},
            "items": items,
        })))
    }
}

impl Answer {
    pub(super) fn ok(body: Value) -> Self {
        Self {
            body,
            code: StatusCode::OK,
        }
    }
}
