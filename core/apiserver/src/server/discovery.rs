//! What the server says of itself: groups, versions, resources, their schemas, its release and
//! health (`k8s.io/apiserver/pkg/endpoints/discovery`, `pkg/server/routes`).

mod openapi;

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use serde_json::{Value, json};

use super::resource::{Definition, Resource};
use super::resources::Resources;
use super::{Release, json_response};
use crate::object::GroupVersion;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Answers a discovery request; `None` for all other requests.
pub(super) fn answer(
    request: &Request<Vec<u8>>,
    resources: &Resources,
    release: Release,
) -> Option<Response<Vec<u8>>> {
    if request.method() != Method::GET {
        return None;
    }
    let path = request.uri().path().trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let aggregated = wants_aggregated(request);
    let body = match parts.as_slice() {
        ["version"] => version(release),
        ["healthz" | "livez" | "readyz"] => return Some(plain("ok")),
        ["api"] if aggregated => return Some(aggregate(resources, |group| group.is_empty())),
        ["apis"] if aggregated => return Some(aggregate(resources, |group| !group.is_empty())),
        ["api"] => json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
        }),
        ["apis"] => {
            let groups = groups(resources)
                .into_iter()
                .filter(|group| !group.is_empty());
            let groups: Vec<Value> = groups.map(|name| group(name, resources)).collect();
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
        }
        ["apis", name] => {
            let known = groups(resources).contains(name);
            let mut group = known.then(|| group(name, resources))?;
            group["kind"] = "APIGroup".into();
            group["apiVersion"] = "v1".into();
            group
        }
        ["api", version] => resource_list(&GroupVersion::new("", *version), resources)?,
        ["apis", name, version] => resource_list(&GroupVersion::new(*name, *version), resources)?,
        ["openapi", "v3"] => openapi::index(resources),
        ["openapi", "v3", "api", version] => {
            openapi::document(&GroupVersion::new("", *version), resources)?
        }
        ["openapi", "v3", "apis", name, version] => {
            openapi::document(&GroupVersion::new(*name, *version), resources)?
        }
        _ => return None,
    };
    Some(json_response(StatusCode::OK, &body, resources))
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

fn version(release: Release) -> Value {
    json!({
        "major": "1", "minor": "36",
        "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": release.to_string(), "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "linux/amd64",
    })
}

/// The groups that are served, in the order of their resources.
fn groups(resources: &Resources) -> Vec<&str> {
    let mut groups = Vec::new();
    for resource in resources.iter() {
        let group = resource.group_version.group.as_str();
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

/// The versions of a group, the preferred one first.
fn versions<'a>(group: &str, resources: &'a Resources) -> Vec<&'a str> {
    let mut versions = Vec::new();
    for resource in resources.iter() {
        let GroupVersion {
            group: other,
            version,
        } = &resource.group_version;
        if other == group && !versions.contains(&version.as_str()) {
            versions.push(version);
        }
    }
    versions.sort_by_key(|version| std::cmp::Reverse(super::custom::maturity(version)));
    versions
}

fn group(name: &str, resources: &Resources) -> Value {
    let versions = versions(name, resources).into_iter();
    let versions: Vec<Value> = versions
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    json!({"name": name, "versions": versions, "preferredVersion": versions.first()})
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

fn verbs(resource: &Resource) -> Vec<&'static str> {
    let mut verbs = match resource.definition {
        Definition::Custom(_) => {
            vec![
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "create",
                "update",
                "watch",
            ]
        }
        Definition::Builtin(_) => {
            vec![
                "create",
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "update",
                "watch",
            ]
        }
    };
    if resource.kind == "Namespace" {
        verbs.retain(|verb| *verb != "deletecollection");
    }
    verbs
}

fn singular(resource: &Resource) -> String {
    resource.kind.to_lowercase()
}

fn resource_list(version: &GroupVersion, resources: &Resources) -> Option<Value> {
    let mut list = Vec::new();
    for resource in of_version(version, resources) {
        let mut entry = json!({
            "name": resource.plural, "singularName": singular(resource),
            "namespaced": resource.namespaced, "kind": resource.kind, "verbs": verbs(resource),
        });
        if !resource.names.short.is_empty() {
            entry["shortNames"] = resource.names.short.clone().into();
        }
        if !resource.names.categories.is_empty() {
            entry["categories"] = resource.names.categories.clone().into();
        }
        list.push(entry);
        for endpoint in resource
            .endpoints
            .iter()
            .filter(|endpoint| !endpoint.name.is_empty())
        {
            let mut entry = json!({
                "name": format!("{}/{}", resource.plural, endpoint.name), "singularName": "",
                "namespaced": resource.namespaced, "kind": resource.kind,
                "verbs": ["get", "patch", "update"],
            });
            if endpoint.name == "scale" {
                entry["group"] = "autoscaling".into();
                entry["version"] = "v1".into();
                entry["kind"] = "Scale".into();
            }
            list.push(entry);
        }
    }
    (!list.is_empty()).then(|| {
        json!({
            "kind": "APIResourceList", "apiVersion": "v1",
            "groupVersion": version.to_string(), "resources": list,
        })
    })
}

/// All groups with all their resources (`apidiscovery.k8s.io/v2`).
fn aggregate(resources: &Resources, wanted: impl Fn(&str) -> bool) -> Response<Vec<u8>> {
    let groups = groups(resources).into_iter().filter(|group| wanted(group));
    let items: Vec<Value> = groups
        .map(|name| {
            let versions: Vec<Value> = versions(name, resources)
                .into_iter()
                .map(|version| aggregated_version(&GroupVersion::new(name, version), resources))
                .collect();
            let mut metadata = json!({"creationTimestamp": null});
            if !name.is_empty() {
                metadata["name"] = name.into();
            }
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

fn aggregated_version(version: &GroupVersion, resources: &Resources) -> Value {
    let kind = |resource: &Resource| {
        let GroupVersion { group, version } = &resource.group_version;
        json!({"group": group, "version": version, "kind": resource.kind})
    };
    let list: Vec<Value> = of_version(version, resources)
        .map(|resource| {
            let mut entry = json!({
                "resource": resource.plural, "responseKind": kind(resource),
                "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
                "singularResource": singular(resource), "verbs": verbs(resource),
            });
            if !resource.names.short.is_empty() {
                entry["shortNames"] = resource.names.short.clone().into();
            }
            if !resource.names.categories.is_empty() {
                entry["categories"] = resource.names.categories.clone().into();
            }
            let endpoints = resource.endpoints.iter();
            let below: Vec<Value> = endpoints
                .filter(|endpoint| !endpoint.name.is_empty())
                .map(|endpoint| {
                    let kind = match endpoint.name {
                        "scale" => {
                            json!({"group": "autoscaling", "version": "v1", "kind": "Scale"})
                        }
                        _ => kind(resource),
                    };
                    json!({
                        "subresource": endpoint.name, "responseKind": kind,
                        "verbs": ["get", "patch", "update"],
                    })
                })
                .collect();
            if !below.is_empty() {
                entry["subresources"] = below.into();
            }
            entry
        })
        .collect();
    json!({"version": version.version, "freshness": "Current", "resources": list})
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
        for path in paths {
            let list = get(&path, "application/json");
            for resource in list["resources"].as_array().unwrap() {
                let name = resource["name"].as_str().unwrap();
                kinds += usize::from(!name.contains('/'));
            }
            get(&format!("/openapi/v3{path}"), "application/json");
        }
        assert_eq!(kinds, ApiServer::default().resources().iter().count());
        assert!(kinds > 50);
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
        let containers = &schemas["PodSpec"]["properties"]["containers"];
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
