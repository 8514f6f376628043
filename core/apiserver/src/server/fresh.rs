//! The objects that a kube-apiserver makes when it starts: namespaces, the Service `kubernetes`,
//! priority classes, flow schemas, API services, and roles with RBAC (`pkg/controlplane`,
//! `pkg/registry/*/rest`, `plugin/pkg/auth/authorizer/rbac/bootstrappolicy`, v1.36). Requests
//! create everything here, so that each object has the same owners as there.

use http::{Method, Request, header};
use serde_json::{Value, json};

use super::{ApiServer, discovery};
use crate::environment::Environment;
use crate::object::{Metadata, text};
use crate::patch::APPLY;

/// The way in which a server authorizes requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authorization {
    /// Everybody may do everything.
    #[default]
    AlwaysAllow,
    /// By roles: the server makes its own roles and bindings. Everybody may do everything all the
    /// same: requests say nothing of who sends them.
    Rbac,
}

/// The manager of the objects that the server itself makes.
const SERVER: &str = "kube-apiserver";
const RBAC: &str = "rbac.authorization.k8s.io";

impl ApiServer {
    /// Makes a server with the objects that a kube-apiserver has right after its start.
    pub fn fresh(environment: Environment, authorization: Authorization) -> Self {
        let mut server = Self::new(environment, 2);
        for row in include_str!("fresh/objects.jsonl").lines() {
            let mut row: Value = serde_json::from_str(row).unwrap_or_default();
            // The Lease of the server itself is taken now.
            if let Some(time) = row.pointer_mut("/object/spec/renewTime") {
                *time = server.environment.micro_time().to_string().into();
            }
            server.make(text(&row, "manager"), row["object"].clone());
            let applies = text(&row, "appliesStatus");
            if !applies.is_empty() {
                server.apply_status(applies, &row["object"], row["status"].clone());
            }
        }
        for service in discovery::local_services() {
            server.make_local_service(service);
        }
        if authorization == Authorization::Rbac {
            for object in roles() {
                server.make(SERVER, object);
            }
        }
        server.authorization = authorization;
        server
    }

    /// Returns whether roles authorize requests.
    pub(super) fn uses_rbac(&self) -> bool {
        self.authorization == Authorization::Rbac
    }

    fn make(&mut self, manager: &str, object: Value) -> Option<Value> {
        let (version, kind) = (text(&object, "apiVersion"), text(&object, "kind"));
        let resource = self.resources.by_kind(version, kind)?;
        let path = resource.path(object.namespace(), "");
        self.send(Method::POST, &path, manager, "application/json", &object)
    }

    fn apply_status(&mut self, manager: &str, object: &Value, mut status: Value) -> Option<Value> {
        let (version, kind) = (text(object, "apiVersion"), text(object, "kind"));
        let resource = self.resources.by_kind(version, kind)?;
        let path = resource.path(object.namespace(), object.name());
        let now = self.environment.now().to_string();
        for condition in status["conditions"].as_array_mut().into_iter().flatten() {
            condition["lastTransitionTime"] = now.as_str().into();
        }
        let applied = json!({
            "apiVersion": version, "kind": kind, "metadata": {"name": object.name()},
            "status": status,
        });
        let path = format!("{path}/status?fieldManager={manager}&force=true");
        self.send(Method::PATCH, &path, manager, APPLY, &applied)
    }

    /// An APIService of a group that is built in is available from the start (`PrepareForCreate` of
    /// kube-aggregator's registry).
    fn make_local_service(&mut self, service: Value) -> Option<()> {
        let mut made = self.make(SERVER, service)?;
        made["status"] = json!({"conditions": [{
            "type": "Available", "status": "True", "reason": "Local",
            "message": "Local APIServices are always available",
            "lastTransitionTime": self.environment.now().to_string(),
        }]});
        made.set_meta("resourceVersion", Value::Null);
        self.install(made).ok().map(|_| ())
    }

    fn send(
        &mut self,
        method: Method,
        path: &str,
        manager: &str,
        content_type: &str,
        body: &Value,
    ) -> Option<Value> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::USER_AGENT, format!("{manager}/v1.36.3"))
            .header(header::CONTENT_TYPE, content_type)
            .body(body.to_string().into_bytes());
        let response = self.handle(request.ok()?);
        let succeeded = response.status().is_success();
        debug_assert!(succeeded, "{}", String::from_utf8_lossy(response.body()));
        let made = serde_json::from_slice(response.body()).ok();
        made.filter(|_| succeeded)
    }
}

/// The roles and bindings of a server with RBAC, from `roles.txt`.
fn roles() -> Vec<Value> {
    let mut roles: Vec<Value> = Vec::new();
    let rows = include_str!("fresh/roles.txt").lines();
    for row in rows.filter(|row| !row.starts_with('#')) {
        match (row.strip_prefix('\t'), roles.last_mut()) {
            (None, _) => roles.push(role(row)),
            (Some(row), Some(role)) => add_to_role(role, row),
            (Some(_), None) => {}
        }
    }
    roles
}

fn role(row: &str) -> Value {
    let mut words = row.split(' ');
    let kind = words.next().unwrap_or_default();
    let mut metadata = json!({
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    });
    if !kind.starts_with("Cluster") {
        metadata["namespace"] = words.next().into();
    }
    let name = words.next().unwrap_or_default();
    metadata["name"] = name.into();
    let mut object = json!({"apiVersion": format!("{RBAC}/v1"), "kind": kind});
    let aggregates = |to: &str| format!("{RBAC}/aggregate-to-{to}");
    let mut role = (kind.trim_end_matches("Binding"), name);
    for (word, value) in words.filter_map(|word| word.split_once('=')) {
        match word {
            "aggregate-to" => metadata["labels"][aggregates(value)] = "true".into(),
            "aggregates" => {
                let labels = json!({aggregates(value): "true"});
                object["aggregationRule"] =
                    json!({"clusterRoleSelectors": [{"matchLabels": labels}]});
            }
            "role" => role = value.split_once('/').unwrap_or(role),
            _ => {}
        }
    }
    if kind.ends_with("Binding") {
        object["roleRef"] = json!({"apiGroup": RBAC, "kind": role.0, "name": role.1});
    } else {
        object["rules"] = Value::Null;
    }
    object["metadata"] = metadata;
    object
}

fn add_to_role(role: &mut Value, row: &str) {
    let words: Vec<&str> = row.split(' ').collect();
    let list = |words: &str| -> Vec<String> {
        let words = words.split(',').map(|word| word.trim_matches('"'));
        words.map(str::to_owned).collect()
    };
    let (member, item) = match words.as_slice() {
        ["ServiceAccount", namespace, name] => (
            "subjects",
            json!({"kind": "ServiceAccount", "namespace": namespace, "name": name}),
        ),
        [kind @ ("User" | "Group"), name] => (
            "subjects",
            json!({"kind": kind, "apiGroup": RBAC, "name": name}),
        ),
        [verbs, "urls", paths] => (
            "rules",
            json!({"verbs": list(verbs), "nonResourceURLs": list(paths)}),
        ),
        [verbs, groups, resources, names @ ..] => {
            let mut rule = json!({
                "verbs": list(verbs), "apiGroups": list(groups), "resources": list(resources),
            });
            if let [names] = names {
                rule["resourceNames"] = list(names).into();
            }
            ("rules", rule)
        }
        _ => return,
    };
    match &mut role[member] {
        Value::Array(items) => items.push(item),
        none => *none = json!([item]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Timestamp;

    #[test]
    fn the_lease_of_the_server_is_taken_when_it_starts() {
        let now = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
        let environment = Environment::default().beginning_at(now);
        let server = ApiServer::fresh(environment, Authorization::AlwaysAllow);
        let (_, _, lease) = server.store().range("/registry/leases/").next().unwrap();
        assert_eq!(lease["spec"]["renewTime"], "2026-01-01T00:00:00.000000Z");
        assert_eq!(lease["metadata"]["creationTimestamp"], now.to_string());
    }
}
