//! The resources and subresources of a version, as discovery tells them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::object::GroupVersion;
use crate::server::Resources;
use crate::server::resource::{Definition, Resource};

static TABLE: &str = include_str!("others.txt");

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let rows = TABLE.lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| row.split(' ').collect())
}

/// A version of a group that is built in.
pub(super) struct BuiltInGroup {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// The priorities of the group and of the version in it, if an APIService gives them.
    priorities: Option<(u32, u32)>,
}

/// The versions of the groups that are built in, in order.
pub(super) fn groups() -> impl Iterator<Item = BuiltInGroup> {
    rows().filter_map(|row| match row.as_slice() {
        ["group", name, version, priorities @ ..] => Some(BuiltInGroup {
            name: name.trim_matches('"'),
            version,
            priorities: match priorities {
                [group, version] => Some((group.parse().ok()?, version.parse().ok()?)),
                _ => None,
            },
        }),
        _ => None,
    })
}

/// The APIServices of the groups that are built in (`kube-aggregator/pkg/apiserver`).
pub(in crate::server) fn local_services() -> impl Iterator<Item = Value> {
    groups().filter_map(|group| {
        let BuiltInGroup { name, version, .. } = group;
        let (of_group, of_version) = group.priorities?;
        let mut spec = json!({
            "version": version, "groupPriorityMinimum": of_group, "versionPriority": of_version,
        });
        if !name.is_empty() {
            spec["group"] = name.into();
        }
        Some(json!({
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {
                "name": format!("{version}.{name}"),
                "labels": {"kube-aggregator.kubernetes.io/automanaged": "onstart"},
            },
            "spec": spec,
        }))
    })
}

/// A resource or subresource.
pub(super) struct DiscoveryEntry {
    resource: String,
    subresource: String,
    namespaced: bool,
    kind: String,
    /// The version of the kind, where it is another one; for custom resources, always.
    of: Option<GroupVersion>,
    verbs: Vec<&'static str>,
    short: Vec<String>,
    categories: Vec<String>,
    hash: Option<String>,
}

/// All resources and subresources of a version, by name. Those of a definition are told in the order of its members:
/// the scale follows the status (`apiextensions-apiserver/pkg/apiserver/customresource_discovery_controller.go`,
/// v1.36).
pub(super) fn entries(version: &GroupVersion, resources: &Resources) -> Vec<DiscoveryEntry> {
    let mut all = BTreeMap::new();
    let mut scopes = BTreeMap::new();
    let stored = resources
        .iter()
        .filter(|resource| resource.group_version == *version);
    for resource in stored {
        scopes.insert(resource.plural.clone(), resource.namespaced);
        for entry in of_resource(resource) {
            let is_last = !resource.is_builtin() && entry.subresource == "scale";
            let key = (entry.resource.clone(), is_last, entry.subresource.clone());
            all.insert(key, entry);
        }
    }
    let name = version.to_string();
    let others = rows().filter(|row| row.first() == Some(&name.as_str()));
    for entry in others.filter_map(|row| read(&row, &scopes)) {
        let key = (entry.resource.clone(), false, entry.subresource.clone());
        all.insert(key, entry);
    }
    all.into_values().collect()
}

/// A row of the table.
fn read(row: &[&'static str], scopes: &BTreeMap<String, bool>) -> Option<DiscoveryEntry> {
    let [_, name, kind, rest @ ..] = row else {
        return None;
    };
    let words = |list: &'static str| list.split(',').map(str::to_owned).collect();
    let (resource, subresource) = name.split_once('/').unwrap_or((name, ""));
    let (kind, of) = match kind.rsplit_once('/') {
        Some((version, kind)) => (kind, GroupVersion::parse(version)),
        None => (*kind, None),
    };
    let (namespaced, verbs, short) = match rest {
        [verbs] => (*scopes.get(resource)?, verbs, Vec::new()),
        [scope, verbs] => (*scope == "namespaced", verbs, Vec::new()),
        [scope, verbs, short] => (*scope == "namespaced", verbs, words(short)),
        _ => return None,
    };
    Some(DiscoveryEntry {
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        namespaced,
        kind: kind.to_owned(),
        of,
        verbs: verbs.split(',').collect(),
        short,
        categories: Vec::new(),
        hash: None,
    })
}

/// A stored resource and its subresources.
fn of_resource(resource: &Resource) -> Vec<DiscoveryEntry> {
    let own = match resource.definition {
        Definition::Custom(_) => Some(resource.group_version.clone()),
        Definition::Builtin(_) => None,
    };
    let entry = |subresource: &str| {
        let is_scale = subresource == "scale";
        DiscoveryEntry {
            resource: resource.plural.clone(),
            subresource: subresource.to_owned(),
            namespaced: resource.namespaced,
            kind: if is_scale { "Scale" } else { &resource.kind }.to_owned(),
            of: match is_scale {
                true => Some(GroupVersion::new("autoscaling", "v1")),
                false => own.clone(),
            },
            verbs: vec!["get", "patch", "update"],
            short: Vec::new(),
            categories: Vec::new(),
            hash: None,
        }
    };
    let main = DiscoveryEntry {
        verbs: verbs(resource),
        short: resource.names.short.clone(),
        categories: resource.names.categories.clone(),
        hash: Some(storage_hash(resource)),
        ..entry("")
    };
    let endpoints = resource.endpoints.iter();
    let below = endpoints.filter(|endpoint| !endpoint.name.is_empty());
    let below = below.map(|endpoint| entry(endpoint.name));
    std::iter::once(main).chain(below).collect()
}

fn verbs(resource: &Resource) -> Vec<&'static str> {
    let mut verbs = vec![
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    ];
    if matches!(resource.definition, Definition::Custom(_)) {
        verbs.remove(0);
        verbs.insert(5, "create");
    }
    if resource.is_namespaces() {
        verbs.retain(|verb| *verb != "deletecollection");
    }
    verbs
}

/// Kinds whose objects etcd holds in an older version than the one that is served, as the hashes of a kube-apiserver
/// v1.36.2 tell.
const ENCODED_IN_BETA: [&str; 3] = [
    "customresourcedefinitions.apiextensions.k8s.io",
    "mutatingadmissionpolicies.admissionregistration.k8s.io",
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
];

/// A hash of the version in which etcd holds the objects (`discovery.StorageVersionHash`).
fn storage_hash(resource: &Resource) -> String {
    use base64::Engine;
    let mut stored = resource.stored_version();
    if ENCODED_IN_BETA.contains(&resource.group_resource().to_string().as_str()) {
        stored.version = "v1beta1".to_owned();
    }
    let GroupVersion { group, version } = &stored;
    let text = format!("{group}/{version}/{}", resource.kind);
    let hash = Sha256::digest(text.as_bytes());
    base64::engine::general_purpose::STANDARD.encode(&hash[..8])
}

impl DiscoveryEntry {
    /// Returns its entry in the list of resources of a version (`metav1.APIResource`).
    pub(super) fn listed(&self, version: &GroupVersion) -> Value {
        let is_main = self.subresource.is_empty();
        let mut entry = json!({
            "name": self.resource, "singularName": "",
            "namespaced": self.namespaced, "kind": self.kind, "verbs": self.verbs,
        });
        if is_main {
            entry["singularName"] = self.singular().into();
        } else {
            entry["name"] = format!("{}/{}", self.resource, self.subresource).into();
            if let Some(of) = self.of.as_ref().filter(|of| *of != version) {
                entry["group"] = of.group.as_str().into();
                entry["version"] = of.version.as_str().into();
            }
        }
        if let Some(hash) = &self.hash {
            entry["storageVersionHash"] = hash.as_str().into();
        }
        self.add_names(&mut entry);
        entry
    }

    fn singular(&self) -> String {
        self.kind.to_lowercase()
    }

    fn add_names(&self, entry: &mut Value) {
        for (member, names) in [
            ("shortNames", &self.short),
            ("categories", &self.categories),
        ] {
            if !names.is_empty() {
                entry[member] = names.clone().into();
            }
        }
    }

    fn response_kind(&self) -> Value {
        let none = GroupVersion::new("", "");
        let GroupVersion { group, version } = self.of.as_ref().unwrap_or(&none);
        json!({"group": group, "version": version, "kind": self.kind})
    }
}

/// Returns the entries of aggregated discovery: subresources stand in their resources
/// (`apidiscovery.k8s.io/v2`).
pub(super) fn aggregated(entries: &[DiscoveryEntry]) -> Vec<Value> {
    let mains = entries.iter().filter(|entry| entry.subresource.is_empty());
    let list = mains.map(|main| {
        let mut shown = json!({
            "resource": main.resource, "responseKind": main.response_kind(),
            "scope": if main.namespaced { "Namespaced" } else { "Cluster" },
            "singularResource": main.singular(), "verbs": main.verbs,
        });
        main.add_names(&mut shown);
        let below = entries
            .iter()
            .filter(|entry| entry.resource == main.resource && !entry.subresource.is_empty());
        let below: Vec<Value> = below
            .map(|entry| {
                json!({
                    "subresource": entry.subresource, "responseKind": entry.response_kind(),
                    "verbs": entry.verbs,
                })
            })
            .collect();
        if !below.is_empty() {
            shown["subresources"] = below.into();
        }
        shown
    });
    list.collect()
}
