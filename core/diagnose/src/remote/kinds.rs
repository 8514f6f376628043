//! The release and the kinds of a real API server.

use std::collections::BTreeSet;

use optimist_apiserver::object::text;
use optimist_apiserver::server::{Release, Resources};
use serde_json::Value;

/// The first minor release in which every write takes a dry run (`DryRun` is stable since v1.19: KEP 576).
const DRY_RUN_SINCE: u32 = 19;

/// The release of a server, by its `/version`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteVersion {
    /// The release, as the server names it: `v1.36.3`.
    pub name: String,
    minor: Option<u32>,
}

impl RemoteVersion {
    /// Reads the answer to `/version`; `None` if it is another document.
    pub fn read(answer: &Value) -> Option<Self> {
        let name = text(answer, "gitVersion");
        let minor = text(answer, "minor").trim_end_matches('+').parse().ok();
        let minor = minor.filter(|_| text(answer, "major") == "1");
        (!name.is_empty()).then(|| Self {
            name: name.to_owned(),
            minor,
        })
    }

    /// Returns whether it is known that a dry run stores nothing. Earlier servers take the option for
    /// none.
    pub fn has_dry_run(&self) -> bool {
        self.minor.is_some_and(|minor| minor >= DRY_RUN_SINCE)
    }

    /// The release of the core that answers like this one; `None` if there is none.
    pub fn release(&self) -> Option<Release> {
        self.name.parse().ok()
    }
}

/// A kind that a server lists.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteKind {
    /// The kind.
    pub kind: String,
    /// The API group; empty for the core group.
    pub group: String,
    /// The version of the group.
    pub version: String,
    /// The resource, in the plural.
    pub plural: String,
    /// `true` if its objects are in namespaces.
    pub is_namespaced: bool,
}

impl RemoteKind {
    /// Group and version, as an object has them.
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The resource with its group: `deployments.apps`.
    pub fn resource(&self) -> String {
        match self.group.as_str() {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// The path of an object, or of the collection for an empty name. An empty namespace means all.
    pub fn path(&self, namespace: &str, name: &str) -> String {
        let mut path = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        if self.is_namespaced && !namespace.is_empty() {
            path = format!("{path}/namespaces/{namespace}");
        }
        path = format!("{path}/{}", self.plural);
        if !name.is_empty() {
            path = format!("{path}/{name}");
        }
        path
    }

    /// The path of the definition of a custom resource.
    pub fn definition_path(&self) -> String {
        let name = self.resource();
        format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")
    }

    /// Returns whether the core has this kind itself.
    pub fn is_built_in(&self) -> bool {
        let builtin = Resources::builtin();
        builtin.by_kind(&self.api_version(), &self.kind).is_some()
    }

    /// Returns whether its objects are Secrets, whose values are left out.
    pub fn is_secret(&self) -> bool {
        self.group.is_empty() && self.kind == "Secret"
    }
}

/// The kinds in the answers to [`RemoteRequest::discovery`](super::RemoteRequest::discovery) that can be read
/// and listed, sorted by their names. Of several versions of a group, a kind has the first one with it: a
/// server lists the preferred one first. Empty if the answers are no aggregated discovery, which servers have
/// since v1.27.
pub fn kinds<'a>(answers: impl IntoIterator<Item = &'a Value>) -> Vec<RemoteKind> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for group in answers.into_iter().flat_map(|it| list(it, "items")) {
        let name = group.get("metadata").map_or("", |it| text(it, "name"));
        for version in list(group, "versions") {
            for resource in list(version, "resources") {
                let kind = resource
                    .get("responseKind")
                    .map_or("", |it| text(it, "kind"));
                let verbs = list(resource, "verbs");
                let has = |verb: &str| verbs.iter().any(|it| it == verb);
                let is_new = known.insert((name, kind));
                if !kind.is_empty() && has("get") && has("list") && is_new {
                    found.push(RemoteKind {
                        kind: kind.to_owned(),
                        group: name.to_owned(),
                        version: text(version, "version").to_owned(),
                        plural: text(resource, "resource").to_owned(),
                        is_namespaced: text(resource, "scope") == "Namespaced",
                    });
                }
            }
        }
    }
    found.sort();
    found
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    let list = value.get(field).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}
