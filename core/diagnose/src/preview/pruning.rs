//! Rules by which a tool deletes objects that no manifest names any more.

use std::collections::{BTreeSet, HashSet};

use optimist_apiserver::apply::{LAST_APPLIED, Managers, Path, PathElement};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::Selector;
use serde_json::Value;

use super::PreviewInput;
use super::cluster::key;
use super::row::{PreviewField, PreviewObject, PreviewOutcome, PreviewRow};
use crate::ownership::label;

/// The label of a member of an ApplySet. Its value is the id of the set
/// (`k8s.io/kubectl/pkg/cmd/apply/applyset.go ApplysetPartOfLabel`, v0.36).
const PART_OF: &str = "applyset.kubernetes.io/part-of";

/// The kinds of which kubectl prunes without `--prune-allowlist`: the group and the kind. With `--namespace`, kubectl
/// warns that it will leave out those without a namespace some day, and still prunes them
/// (`k8s.io/kubectl/pkg/util/prune/prune.go GetRESTMappings`, v0.36).
const ALLOWED: [(&str, &str); 16] = [
    ("", "ConfigMap"),
    ("", "Endpoints"),
    ("", "Namespace"),
    ("", "PersistentVolumeClaim"),
    ("", "PersistentVolume"),
    ("", "Pod"),
    ("", "ReplicationController"),
    ("", "Secret"),
    ("", "Service"),
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("networking.k8s.io", "Ingress"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
];

/// The rule by which a tool deletes objects that no manifest names any more. Helm and Terraform delete theirs
/// without an option.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Pruning {
    /// It deletes none.
    #[default]
    None,
    /// Argo CD and Flux delete the objects that carry their tracking labels or annotations.
    Tracked,
    /// `kubectl apply --prune -l SELECTOR`; an empty selector is `--all`. kubectl writes only manifests that match,
    /// and deletes matching objects with its annotation, in the namespaces of these manifests.
    Selected(Selector),
    /// `kubectl apply --prune --applyset`: kubectl labels its objects with the id of the set, and deletes
    /// the others that have this label.
    ApplySet {
        /// The value of the label: `applyset-…-v1`.
        id: String,
    },
}

impl Pruning {
    /// Returns whether kubectl writes this manifest (`apply.go GetObjects`, v0.36: the selector filters files too).
    pub(super) fn writes(&self, manifest: &Value) -> bool {
        match self {
            Self::Selected(selector) => selector.matches(manifest),
            _ => true,
        }
    }

    /// Adds the tool's labels to a manifest, by which it finds the object again (`applyset.go AddLabels`, v0.36).
    pub(super) fn label(&self, manifest: &mut Value) {
        if let Self::ApplySet { id } = self {
            let labels = manifest.metadata().and_then(|meta| meta.get("labels"));
            let mut labels = labels.cloned().unwrap_or_default();
            if !labels.is_object() {
                labels = Value::Object(serde_json::Map::new());
            }
            labels[PART_OF] = id.as_str().into();
            manifest.set_meta("labels", labels);
        }
    }

    /// The namespaces in which kubectl looks for objects to prune: those of the manifests, and the one that it is told
    /// (`apply.go MarkNamespaceVisited` and `Run`, v0.36).
    pub(super) fn namespaces(input: &PreviewInput) -> HashSet<String> {
        let named = input.next.iter().map(|object| object.namespace());
        let named = named.chain(input.namespace.as_deref());
        let named = named.filter(|namespace| !namespace.is_empty());
        named.map(str::to_owned).collect()
    }

    /// Returns whether kubectl deletes an object that no manifest names (`prune.go prune`; with a set
    /// `applyset_pruner.go FindAllObjectsToPrune`, v0.36). kubectl looks for members of a set in the kinds and namespaces
    /// that the set's parent lists. It writes this list itself, so every member is taken to be in it.
    pub(super) fn deletes(&self, object: &Value, visited: &HashSet<String>) -> bool {
        let of_meta = |part: &str, name: &str| {
            let value = object.metadata().and_then(|meta| meta.get(part)?.get(name));
            value.and_then(Value::as_str)
        };
        match self {
            Self::None | Self::Tracked => false,
            Self::ApplySet { id } => of_meta("labels", PART_OF) == Some(id.as_str()),
            Self::Selected(selector) => {
                let (group, kind, namespace, _) = key(object);
                ALLOWED.contains(&(group.as_str(), kind.as_str()))
                    && (namespace.is_empty() || visited.contains(&namespace))
                    && of_meta("annotations", LAST_APPLIED).is_some()
                    && selector.matches(object)
            }
        }
    }

    /// Returns the row of the parent of the set: kubectl notes the kinds and the namespaces of the members in its annotations,
    /// in the order of their names (`applyset.go updateParent` and `buildParentPatch`, v0.36). `None` for another object.
    /// `refused`: kubectl ends before it forgets the kinds and the namespaces that no manifest has any more. Which program
    /// wrote last is another annotation, and taken to be the same one.
    pub(super) fn of_parent(
        &self,
        parent: &Value,
        next: &[Value],
        refused: bool,
    ) -> Option<PreviewRow> {
        let Self::ApplySet { id } = self else {
            return None;
        };
        let labels = parent.metadata().and_then(|meta| meta.get("labels"));
        let own = labels.and_then(|labels| labels.get("applyset.kubernetes.io/id")?.as_str());
        if own != Some(id.as_str()) {
            return None;
        }
        let kinds = next.iter().map(|manifest| match key(manifest) {
            (group, kind, ..) if group.is_empty() => kind,
            (group, kind, ..) => format!("{kind}.{group}"),
        });
        let namespaces = next.iter().map(|manifest| manifest.namespace().to_owned());
        let namespaces = namespaces.filter(|it| !it.is_empty() && it != parent.namespace());
        let managers = Managers::of_object(parent);
        let noted = [
            ("contains-group-kinds", kinds.collect::<BTreeSet<_>>()),
            ("additional-namespaces", namespaces.collect()),
        ];
        let fields = noted.into_iter().filter_map(|(name, mut members)| {
            let name = format!("applyset.kubernetes.io/{name}");
            let before = parent.annotation(&name);
            let old = before.unwrap_or_default().split(',').map(str::to_owned);
            members.extend(old.filter(|it| refused && !it.is_empty()));
            let after = Vec::from_iter(members).join(",");
            let path = ["metadata", "annotations", &name].map(|it| PathElement::Field(it.into()));
            let path = Path(path.to_vec());
            (before.unwrap_or_default() != after).then(|| {
                let owners = crate::ways::owners_of(&path, &managers);
                let owners = owners.iter().map(label).collect();
                PreviewField::changed(&path, before, after, owners)
            })
        });
        let fields: Vec<PreviewField> = fields.collect();
        let outcome = match fields.is_empty() {
            true => PreviewOutcome::Unchanged,
            false => PreviewOutcome::Changed,
        };
        Some(PreviewRow {
            writer: "kubectl-applyset".to_owned(),
            fields,
            ..PreviewRow::new(PreviewObject::from_manifest(parent), outcome)
        })
    }
}
