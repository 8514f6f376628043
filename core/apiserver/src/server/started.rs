//! A server that starts over a store which is there already.

use std::sync::Arc;

use super::last_written::LastWritten;
use super::watch_caches::WatchCaches;
use super::{ApiServer, Authorization, Release, Resources};
use crate::environment::Environment;
use crate::storage::Store;

impl ApiServer {
    /// A server that starts over a store that another run has left, as a kube-apiserver does over its
    /// etcd. It makes nothing. Its watch caches begin with a list, so that a watch from an older version is
    /// told that it is too old.
    pub fn over(store: Store, environment: Environment, authorization: Authorization) -> Self {
        let mut server = Self::started(store, environment, authorization);
        server.serve_custom_resources();
        server
    }

    /// A server with the built-in kinds alone, over a store.
    pub(super) fn started(
        store: Store,
        environment: Environment,
        authorization: Authorization,
    ) -> Self {
        let resources = Arc::new(Resources::builtin());
        Self {
            caches: WatchCaches::started(&store, &resources, environment.elapsed()),
            store,
            resources,
            environment,
            release: Release::default(),
            authorization,
            answer_cache: None,
            last_written: LastWritten::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use serde_json::{Value, json};

    use super::*;
    use crate::object::Metadata;

    fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = Request::builder().method(method).uri(path);
        let response = server.handle(request.body(body.into_bytes()).unwrap());
        let code = response.status().as_u16();
        (code, serde_json::from_slice(response.body()).unwrap())
    }

    #[test]
    fn a_server_over_the_store_of_another_has_its_objects_and_kinds_and_counts_on() {
        let mut first = ApiServer::default();
        let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let definition = json!({
            "metadata": {"name": "widgets.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": open}}]},
        });
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        assert_eq!(send(&mut first, "POST", definitions, &definition).0, 201);
        let widgets = "/apis/example.com/v1/namespaces/default/widgets";
        let widget = json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "size": 1.5,
        });
        let (code, made) = send(&mut first, "POST", widgets, &widget);
        assert_eq!(code, 201);
        let environment = Environment::new(7);
        let store = first.store().clone();
        let mut second = ApiServer::over(store, environment, Authorization::AlwaysAllow);
        let read = send(&mut second, "GET", &format!("{widgets}/w"), &Value::Null);
        assert_eq!(read, (200, made.clone()));
        let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        let maps = "/api/v1/namespaces/default/configmaps";
        let (_, next) = send(&mut second, "POST", maps, &other);
        let version = |object: &Value| object.resource_version().parse::<u64>().unwrap();
        assert_eq!(version(&next), version(&made) + 1);
        let old = format!("{maps}?watch=1&resourceVersion={}", version(&made) - 1);
        let (_, event) = send(&mut second, "GET", &old, &Value::Null);
        assert_eq!(event["object"]["reason"], "Expired");
    }
}
