//! The components of a control plane (`pkg/registry/core/componentstatus/rest.go`, v1.36): this server has a store,
//! and nothing else runs.

use http::{Request, Response, StatusCode, header};
use serde_json::{Value, json};

use crate::object::Metadata;
use crate::server::table;
use crate::server::view::{ResponseForm, View};
use crate::server::{ApiServer, respond, warnings};
use crate::status::{Refusal, Status};

const KIND: &str = "ComponentStatus";

/// Answers with all components, or with the one of a name.
///
/// # Errors
/// 406 if the `Accept` header names nothing that the server can answer with, and 500 for a component that there is
/// not.
pub(super) fn answer(
    request: &Request<Vec<u8>>,
    name: Option<&str>,
    server: &ApiServer,
) -> Result<Response<Vec<u8>>, Refusal> {
    let query = request.uri().query().unwrap_or_default();
    let mut query = form_urlencoded::parse(query.as_bytes());
    let include = query.find(|(name, _)| name == "includeObject");
    let include = include.as_ref().map(|(_, value)| &**value);
    let view = View::of_unstored(request.headers(), include)?;
    let components = all();
    let body = match name {
        None => json!({
            "kind": "ComponentStatusList", "apiVersion": "v1", "metadata": {}, "items": components,
        }),
        Some(name) => {
            let mut components = components.iter();
            let component = components.find(|component| component.name() == name);
            // No error of the API, so it has no reason (`responsewriters.ErrorToAPIStatus`).
            let component = component
                .ok_or_else(|| Status::internal(format!("Component not found: {name}")))?;
            json!({
                "kind": KIND, "apiVersion": "v1", "metadata": component["metadata"],
                "conditions": component["conditions"],
            })
        }
    };
    let body = match view.shape {
        ResponseForm::Table => {
            table::check_include(include)?;
            let shown = match body["items"].as_array() {
                Some(items) => items.clone(),
                None => vec![body],
            };
            let form = (view.version, view.include);
            table::of_kind((KIND, "v1"), shown, form, server.environment.now())
        }
        _ => body,
    };
    let mut response = respond(view.format, StatusCode::OK, &body, &server.resources);
    let deprecated = "v1 ComponentStatus is deprecated in v1.19+".to_owned();
    for warning in warnings::headers(&[deprecated]) {
        response.headers_mut().append(header::WARNING, warning);
    }
    Ok(response)
}

/// The components that this server knows of.
fn all() -> [Value; 3] {
    let refused = |name: &str, port: u16| {
        let message = format!(
            "Get \"https://127.0.0.1:{port}/healthz\": dial tcp 127.0.0.1:{port}: connect: connection refused"
        );
        json!({"metadata": {"name": name}, "conditions": [
            {"type": "Healthy", "status": "False", "message": message}]})
    };
    let store = json!({"metadata": {"name": "etcd-0"}, "conditions": [
        {"type": "Healthy", "status": "True", "message": "ok"}]});
    [
        refused("scheduler", 10_259),
        refused("controller-manager", 10_257),
        store,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

    fn get(path: &str, accept: &str) -> (u16, Value) {
        let mut server = ApiServer::default();
        let path = format!("/api/v1/componentstatuses{path}");
        let request = Request::get(path).header(header::ACCEPT, accept);
        let response = server.handle(request.body(Vec::new()).unwrap());
        let body = serde_json::from_slice(response.body()).unwrap();
        (response.status().as_u16(), body)
    }

    #[test]
    fn a_table_shows_the_health_of_each_component() {
        let (_, table) = get("", TABLE);
        let columns = table["columnDefinitions"].as_array().unwrap();
        let names: Vec<&Value> = columns.iter().map(|column| &column["name"]).collect();
        assert_eq!(names, ["Name", "Status", "Message", "Error"]);
        let rows = table["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0]["cells"][1], "Unhealthy");
        assert_eq!(rows[2]["cells"], json!(["etcd-0", "Healthy", "ok", ""]));
        assert_eq!(rows[2]["object"]["metadata"]["name"], "etcd-0");
        let (_, table) = get("/etcd-0?includeObject=Object", TABLE);
        assert_eq!(table["rows"].as_array().unwrap().len(), 1);
        assert_eq!(table["rows"][0]["object"]["kind"], "ComponentStatus");
    }

    #[test]
    fn a_component_can_be_read() {
        let (code, component) = get("/etcd-0", "application/json");
        assert_eq!((code, &component["kind"]), (200, &json!(KIND)));
        assert_eq!(component["conditions"][0]["status"], "True");
        let (code, refusal) = get("/etcd-1", "application/json");
        assert_eq!(code, 500);
        assert_eq!(refusal["message"], "Component not found: etcd-1");
    }
}
