//! The server's description of itself: groups, versions, resources, their schemas, its release and
//! health (`k8s.io/apiserver/pkg/endpoints/discovery`, `pkg/server/routes`).

mod components;
mod entries;
mod health;
mod openapi;
mod routes;

use http::{HeaderValue, Request, Response, StatusCode, header};
use serde_json::{Value, json};

use self::entries::entries;
use self::routes::Route;
use super::resource::Resource;
use super::resources::Resources;
use super::{ApiServer, Format, View, json_response, respond};
use crate::object::GroupVersion;
use crate::status::Refusal;

pub(super) use self::entries::local_services;

/// The address that the server gives for itself.
const ADDRESS: &str = "127.0.0.1:6443";

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Answers a discovery request; `None` for all other requests.
pub(super) fn answer(
    request: &Request<Vec<u8>>,
    server: &ApiServer,
) -> Option<Result<Response<Vec<u8>>, Refusal>> {
    let resources = &*server.resources;
    let path = request.uri().path();
    let parts: Vec<&str> = path.trim_end_matches('/').split('/').skip(1).collect();
    let route = Route::find(path, &parts, resources)?;
    if let Err(refusal) = route.check(request) {
        return Some(Err(refusal));
    }
    let aggregated = wants_aggregated(request);
    Some(Ok(match parts.as_slice() {
        ["healthz" | "livez" | "readyz", ..] => health::answer(request, &parts, server)?,
        ["api", "v1", "componentstatuses", name @ ..] => {
            return Some(components::answer(request, name.first().copied(), server));
        }
        ["api"] if aggregated => aggregate(resources, |group| group.is_empty()),
        ["apis"] if aggregated => aggregate(resources, |group| !group.is_empty()),
        #[cfg(feature = "protobuf")]
        ["openapi", "v2"] => openapi::swagger::answer(request.headers(), resources),
        ["openapi", "v3", kind @ ("api" | "apis"), rest @ ..] => {
            match schemas(kind, rest, resources)? {
                Some(schemas) => respond(Format::Json, StatusCode::OK, &schemas, resources),
                None => routes::nothing(),
            }
        }
        parts => {
            let body = document(parts, server)?;
            // What is no object of the API is always JSON.
            let format = match body.get("kind") {
                Some(_) => View::of_document(request.headers()),
                None => Ok(Format::Json),
            };
            match format {
                Ok(format) => respond(format, StatusCode::OK, &body, resources),
                Err(refusal) => return Some(Err(refusal)),
            }
        }
    }))
}

/// The document of a path; `None` if it has none.
fn document(parts: &[&str], server: &ApiServer) -> Option<Value> {
    let resources = &*server.resources;
    Some(match parts {
        [] | [""] => json!({"paths": paths(server)}),
        ["version"] => version(server),
        [".well-known", "openid-configuration"] => issuer(),
        ["api"] => json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": ADDRESS}],
        }),
        ["apis"] => {
            let groups = groups(resources)
                .into_iter()
                .filter(|group| !group.is_empty());
            let groups: Vec<Value> = groups.map(|name| group(&name, resources)).collect();
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
        }
        ["apis", name] => {
            let known = groups(resources).iter().any(|known| known == name);
            let mut group = known.then(|| group(name, resources))?;
            group["kind"] = "APIGroup".into();
            group["apiVersion"] = "v1".into();
            group
        }
        ["api", version] => resource_list(&GroupVersion::new("", *version), resources)?,
        ["apis", name, version] => resource_list(&GroupVersion::new(*name, *version), resources)?,
        ["openapi", "v3"] => openapi::index(resources),
        _ => return None,
    })
}

/// The schemas of a version, if there is one; `None` if the path is none of a version.
fn schemas(kind: &str, rest: &[&str], resources: &Resources) -> Option<Option<Value>> {
    let version = match (kind, rest) {
        ("api", [version]) => GroupVersion::new("", *version),
        ("apis", [name, version]) => GroupVersion::new(*name, *version),
        _ => return None,
    };
    Some(openapi::document(&version, resources))
}

fn wants_aggregated(request: &Request<Vec<u8>>) -> bool {
    let accept = request.headers().get(header::ACCEPT);
    let accept = accept
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    accept.split(',').any(|clause| {
        let has = |wanted: &str| clause.split(';').any(|part| part.trim() == wanted);
        has("g=apidiscovery.k8s.io") && has("v=v2") && has("as=APIGroupDiscoveryList")
    })
}

fn plain(text: &str) -> Response<Vec<u8>> {
    let mut response = Response::new(text.as_bytes().to_vec());
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}

fn version(server: &ApiServer) -> Value {
    json!({
        "major": "1", "minor": "36",
        "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": server.release.to_string(), "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "linux/amd64",
    })
}

/// Returns the document by which tokens of service accounts are checked.
fn issuer() -> Value {
    json!({
        "issuer": "https://kubernetes.default.svc",
        "jwks_uri": format!("https://{ADDRESS}/openid/v1/jwks"),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    })
}

/// All paths of the server, in order, as they were recorded of v1.36.3. Of `/metrics`, `/metrics/slis`, `/flagz` and
/// `/statusz`, there is nothing here.
fn paths(server: &ApiServer) -> Vec<String> {
    const OTHERS: [&str; 16] = [
        "/.well-known/openid-configuration",
        "/api",
        "/apis",
        "/apis/",
        "/flagz",
        "/healthz",
        "/livez",
        "/metrics",
        "/metrics/slis",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/",
        "/openid/v1/jwks",
        "/readyz",
        "/statusz",
        "/version",
    ];
    let mut paths: Vec<String> = OTHERS.map(str::to_owned).into();
    paths.extend(health::paths(server));
    for group in groups(&server.resources) {
        for version in versions(&group, &server.resources) {
            paths.push(match group.as_str() {
                "" => format!("/api/{version}"),
                group => format!("/apis/{group}/{version}"),
            });
        }
        if !group.is_empty() {
            paths.push(format!("/apis/{group}"));
        }
    }
    paths.sort_unstable();
    paths
}

/// The groups that are served: those of the table in its order, and then the others by name.
fn groups(resources: &Resources) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    let served = entries::groups().filter(|group| {
        let version = GroupVersion::new(group.name, group.version);
        !entries(&version, resources).is_empty()
    });
    let built_in = served.map(|group| group.name.to_owned());
    let mut others: Vec<String> = resources
        .iter()
        .map(|resource| resource.group_version.group.clone())
        .collect();
    others.sort_unstable();
    for group in built_in.chain(others) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

/// The versions of a group, the preferred one first.
fn versions(group: &str, resources: &Resources) -> Vec<String> {
    let built_in = entries::groups().filter(|known| known.name == group);
    let mut versions: Vec<String> = built_in.map(|known| known.version.to_owned()).collect();
    let mut others: Vec<&str> = resources
        .iter()
        .filter(|resource| resource.group_version.group == group)
        .map(|resource| resource.group_version.version.as_str())
        .collect();
    others.sort_by_key(|version| std::cmp::Reverse(super::custom::maturity(version)));
    for version in others {
        if !versions.iter().any(|known| known == version) {
            versions.push(version.to_owned());
        }
    }
    versions
}

fn of_version<'a>(
    version: &'a GroupVersion,
    resources: &'a Resources,
) -> impl Iterator<Item = &'a Resource> {
    let mut found: Vec<&Resource> = resources
        .iter()
        .map(AsRef::as_ref)
        .filter(|resource| resource.group_version == *version)
        .collect();
    found.sort_by(|a, b| a.plural.cmp(&b.plural));
    found.into_iter()
}

fn group(name: &str, resources: &Resources) -> Value {
    let versions = versions(name, resources).into_iter();
    let versions: Vec<Value> = versions
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    json!({"name": name, "versions": versions, "preferredVersion": versions.first()})
}

fn resource_list(version: &GroupVersion, resources: &Resources) -> Option<Value> {
    let list: Vec<Value> = entries(version, resources)
        .iter()
        .map(|entry| entry.listed(version))
        .collect();
    if list.is_empty() {
        return None;
    }
    let mut all = json!({
        "kind": "APIResourceList", "groupVersion": version.to_string(), "resources": list,
    });
    if !version.group.is_empty() {
        all["apiVersion"] = "v1".into();
    }
    Some(all)
}

/// All groups with all their resources (`apidiscovery.k8s.io/v2`).
fn aggregate(resources: &Resources, wanted: impl Fn(&str) -> bool) -> Response<Vec<u8>> {
    let groups = groups(resources).into_iter().filter(|group| wanted(group));
    let items: Vec<Value> = groups
        .map(|name| {
            let versions: Vec<Value> = versions(&name, resources)
                .into_iter()
                .map(|version| {
                    let of_version = GroupVersion::new(&name, &version);
                    let list = entries::aggregated(&entries(&of_version, resources));
                    json!({"version": version, "freshness": "Current", "resources": list})
                })
                .collect();
            let metadata = match name.as_str() {
                "" => json!({}),
                name => json!({"name": name}),
            };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    let list = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {}, "items": items,
    });
    let mut response = json_response(StatusCode::OK, &list, resources);
    let json = HeaderValue::from_static(AGGREGATED);
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::ApiServer;

    fn get(path: &str, accept: &str) -> Value {
        let mut server = ApiServer::default();
        let request = Request::get(path).header(header::ACCEPT, accept);
        let response = server.handle(request.body(Vec::new()).unwrap());
        assert_eq!(response.status(), 200, "{path}");
        serde_json::from_slice(response.body()).unwrap()
    }

    #[test]
    fn every_group_version_and_resource_can_be_found_from_the_root() {
        let mut kinds = 0;
        let apis = get("/apis", "application/json");
        let mut paths = vec!["/api/v1".to_owned()];
        for group in apis["groups"].as_array().unwrap() {
            for version in group["versions"].as_array().unwrap() {
                paths.push(format!(
                    "/apis/{}",
                    version["groupVersion"].as_str().unwrap()
                ));
            }
        }
        let server = ApiServer::default();
        for path in paths {
            let list = get(&path, "application/json");
            let resources = list["resources"].as_array().unwrap();
            let names = resources
                .iter()
                .filter_map(|resource| resource["name"].as_str());
            for name in names.filter(|name| !name.contains('/')) {
                let path = format!("{path}/{name}");
                let path = crate::server::ResourcePath::parse(&path).unwrap();
                let (group, version, plural) = (path.group, path.version, path.plural);
                let stored = server.resources().by_path(group, version, plural);
                kinds += usize::from(stored.is_some());
            }
        }
        assert_eq!(kinds, server.resources().iter().count());
        assert!(kinds > 50);
    }

    #[test]
    fn a_group_without_stored_kinds_is_told_too() {
        let list = get("/apis/authorization.k8s.io/v1", "");
        assert_eq!(list["resources"][0]["verbs"], json!(["create"]));
        get("/openapi/v3/apis/apps/v1", "");
    }

    #[test]
    fn short_names_categories_and_subresources_are_told() {
        let list = get("/apis/apps/v1", "");
        let named = |name: &str| {
            let mut resources = list["resources"].as_array().unwrap().iter();
            resources
                .find(|resource| resource["name"] == name)
                .cloned()
                .unwrap()
        };
        assert_eq!(named("deployments")["shortNames"], json!(["deploy"]));
        assert_eq!(named("statefulsets")["categories"], json!(["all"]));
        assert_eq!(named("replicasets/scale")["kind"], "Scale");
        let all = get("/apis", AGGREGATED);
        assert_eq!(all["kind"], "APIGroupDiscoveryList");
        assert_eq!(get("/version", "")["gitVersion"], "v1.36.3");
    }

    #[test]
    fn the_schema_says_how_lists_are_merged() {
        let document = get("/openapi/v3/apis/apps/v1", "");
        let schemas = &document["components"]["schemas"];
        let pod_spec = match cfg!(feature = "protobuf") {
            true => "io.k8s.api.core.v1.PodSpec",
            false => "PodSpec",
        };
        let containers = &schemas[pod_spec]["properties"]["containers"];
        assert_eq!(containers["x-kubernetes-list-map-keys"], json!(["name"]));
        assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
        let patch =
            &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
        assert_eq!(
            patch["x-kubernetes-group-version-kind"]["kind"],
            "Deployment"
        );
    }
}
