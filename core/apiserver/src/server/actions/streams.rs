//! Requests that reach into a cluster: logs, commands, ports and proxies. There are no nodes behind
//! this server, so it gives the answers that a real one gives before it would reach a node
//! (`pkg/registry/core/pod/rest`, `pkg/registry/core/pod/strategy.go`,
//! `pkg/registry/core/service/proxy.go`).

use std::net::IpAddr;
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use serde_json::Value;

use crate::go;
use crate::object::{GroupName, text};
use crate::server::ApiServer;
use crate::server::kinds::label_selector::list;
use crate::status::{FieldError, Refusal, Status};

/// Answers a request to such a path; `None` for all other requests.
pub(super) fn answer(
    server: &ApiServer,
    request: &Request<Vec<u8>>,
) -> Option<Result<Response<Vec<u8>>, Refusal>> {
    let parts: Vec<&str> = request.uri().path().split('/').skip(1).collect();
    let ["api", "v1", rest @ ..] = parts.as_slice() else {
        return None;
    };
    let method = request.method();
    let connects = matches!(
        *rest,
        ["nodes", _, "proxy", ..]
            | ["namespaces", _, "pods" | "services", _, "proxy", ..]
            | [
                "namespaces",
                _,
                "pods",
                _,
                "exec" | "attach" | "portforward"
            ]
    );
    // `ConnectResource` of `k8s.io/apiserver/pkg/endpoints/handlers/rest.go`.
    if connects && query(request).iter().any(|(name, _)| name == "dryRun") {
        return Some(Err(Status::bad_request("dryRun is not supported")));
    }
    Some(match *rest {
        ["nodes", name, "proxy", ..] => Err(node(server, name)),
        ["namespaces", namespace, "services", name, "proxy", ..] => {
            Err(service(server, namespace, name))
        }
        ["namespaces", namespace, "pods", name, "proxy", ..] => Err(proxy(server, namespace, name)),
        [
            "namespaces",
            namespace,
            "pods",
            name,
            what @ ("log" | "exec" | "attach" | "portforward"),
        ] => {
            let allowed: &[Method] = match what {
                "log" => &[Method::GET],
                _ => &[Method::GET, Method::POST],
            };
            if allowed.contains(method) {
                stream(server, namespace, name, what, &query(request))
            } else {
                Err(Status::method_not_allowed())
            }
        }
        _ => return None,
    })
}

type QueryPairs = Vec<(String, String)>;

fn query(request: &Request<Vec<u8>>) -> QueryPairs {
    let query = request.uri().query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}

fn stored(server: &ApiServer, key: &str) -> Option<Arc<Value>> {
    server.store.get(key).map(|(_, object)| Arc::clone(object))
}

fn pod(server: &ApiServer, namespace: &str, name: &str) -> Result<Arc<Value>, Refusal> {
    let key = format!("/registry/pods/{namespace}/{name}");
    stored(server, &key).ok_or_else(|| Status::not_found(&GroupName::new("", "pods"), name))
}

/// A pod's log, or a connection to one of its containers.
fn stream(
    server: &ApiServer,
    namespace: &str,
    name: &str,
    what: &str,
    query: &QueryPairs,
) -> Result<Response<Vec<u8>>, Refusal> {
    if what == "log" {
        check_log_options(name, query)?;
    }
    let pod = pod(server, namespace, name)?;
    if what != "portforward" {
        check_container(&pod, name, query)?;
    }
    match text(&pod["spec"], "nodeName") {
        "" if what == "log" => {
            let mut response = Response::new(Vec::new());
            *response.status_mut() = StatusCode::NO_CONTENT;
            Ok(response)
        }
        "" => {
            let why = format!("pod {name} does not have a host assigned");
            Err(Status::bad_request(why))
        }
        host => Err(node(server, host)),
    }
}

/// `ValidatePodLogOptions`.
fn check_log_options(name: &str, query: &QueryPairs) -> Result<(), Refusal> {
    let number = |field: &str| {
        let found = query.iter().find(|(key, _)| key == field);
        found
            .map(|(_, value)| {
                value.parse::<i64>().map_err(|_| {
                    let value = go::quote(value);
                    let why = format!("strconv.ParseInt: parsing {value}: invalid syntax");
                    Status::bad_request(why)
                })
            })
            .transpose()
    };
    let (since, bytes) = (number("sinceSeconds")?, number("limitBytes")?);
    let mut errors = Vec::new();
    let mut least = |field: &str, value: Option<i64>, least: i64, detail: &str| {
        if let Some(value) = value.filter(|value| *value < least) {
            errors.push(FieldError::invalid(field, &value.into(), detail));
        }
    };
    let detail = "must be greater than or equal to 0";
    least("tailLines", number("tailLines")?, 0, detail);
    least("limitBytes", bytes, 1, "must be greater than 0");
    if since.is_some() && query.iter().any(|(key, _)| key == "sinceTime") {
        let detail = "at most one of `sinceTime` or `sinceSeconds` may be specified";
        errors.push(FieldError::forbidden("[]", detail));
    } else {
        least("sinceSeconds", since, 1, "must be greater than 0");
    }
    if errors.is_empty() {
        return Ok(());
    }
    let kind = GroupName::new("", "PodLogOptions");
    Err(Status::invalid(&kind, name, &errors))
}

/// A request names one of several containers.
fn check_container(pod: &Value, name: &str, query: &QueryPairs) -> Result<(), Refusal> {
    let wanted = query.iter().find(|(key, _)| key == "container");
    let wanted = wanted.map_or("", |(_, value)| value.as_str());
    let spec = &pod["spec"];
    let all = ["initContainers", "containers", "ephemeralContainers"];
    let all = all.iter().flat_map(|kind| list(spec, kind));
    let all: Vec<&str> = all.map(|container| text(container, "name")).collect();
    if wanted.is_empty() && list(spec, "containers").len() > 1 {
        return Err(Status::bad_request(format!(
            "a container name must be specified for pod {name}, choose one of: [{}]",
            all.join(" ")
        )));
    }
    if !wanted.is_empty() && !all.contains(&wanted) {
        let why = format!("container {wanted} is not valid for pod {name}");
        return Err(Status::bad_request(why));
    }
    Ok(())
}

/// Returns the refusal of a request to a node: no node can be reached.
fn node(server: &ApiServer, name: &str) -> Refusal {
    let name = name_of(name).unwrap_or(name);
    let Some(node) = stored(server, &format!("/registry/minions/{name}")) else {
        return Status::not_found(&GroupName::new("", "nodes"), name);
    };
    match list(&node["status"], "addresses") {
        [] => Status::internal("no preferred addresses found; known addresses: []"),
        [first, ..] => {
            let address = text(first, "address");
            let why = format!("dial tcp {address}:10250: connect: connection refused");
            Status::internal(format!("error dialing backend: {why}"))
        }
    }
}

/// The name in `name`, `name:port` or `scheme:name:port` (`utilnet.SplitSchemeNamePort`).
fn name_of(id: &str) -> Option<&str> {
    match id.split(':').collect::<Vec<_>>()[..] {
        [name] | [name, _] | ["" | "http" | "https", name, _] if !name.is_empty() => Some(name),
        _ => None,
    }
}

fn proxy(server: &ApiServer, namespace: &str, id: &str) -> Refusal {
    let Some(name) = name_of(id) else {
        return Status::bad_request(format!("invalid pod request {}", go::quote(id)));
    };
    let pod = match pod(server, namespace, name) {
        Ok(pod) => pod,
        Err(refusal) => return refusal,
    };
    let address = list(&pod["status"], "podIPs").first();
    let address = address.map_or("", |address| text(address, "ip"));
    let global = address.parse::<IpAddr>().is_ok_and(|address| {
        let local = match address {
            IpAddr::V4(address) => address.is_link_local() || address.is_broadcast(),
            IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
        };
        !local && !address.is_loopback() && !address.is_unspecified() && !address.is_multicast()
    });
    if !global {
        return Status::bad_request("address not allowed");
    }
    let why = format!("error trying to reach service: dial tcp {address}: i/o timeout");
    Status::unavailable(why)
}

fn service(server: &ApiServer, namespace: &str, id: &str) -> Refusal {
    let Some(name) = name_of(id) else {
        return Status::bad_request(format!("invalid service request {}", go::quote(id)));
    };
    let port = id.rsplit_once(':').map_or("", |(_, port)| port);
    if let Ok(number) = port.parse::<i64>() {
        let key = format!("/registry/services/specs/{namespace}/{name}");
        let Some(service) = stored(server, &key) else {
            return Status::not_found(&GroupName::new("", "services"), name);
        };
        let mut ports = list(&service["spec"], "ports").iter();
        if !ports.any(|port| port["port"] == number) {
            let name = go::quote(name);
            let why = format!("no service port {number} found for service {name}");
            return Status::unavailable(why);
        }
    }
    let key = format!("/registry/services/endpoints/{namespace}/{name}");
    if stored(server, &key).is_none() {
        return Status::not_found(&GroupName::new("", "services"), name);
    }
    let id = go::quote(id);
    Status::unavailable(format!("no endpoints available for service {id}"))
}
