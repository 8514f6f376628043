//! In which order a tool writes.

use optimist_apiserver::object::text;
use optimist_client::Preset;
use serde_json::Value;

use super::sync_wave::SyncWave;
use crate::case::ObjectId;

/// The kinds in the order in which Helm writes them; all others come last, by their names
/// (`helm.sh/helm/v4/pkg/release/v1/util/kind_sorter.go InstallOrder` and `lessByKind`, v4.2; the same in v3.21).
const OF_HELM: [&str; 38] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// Returns the positions of the manifests in the order in which a tool writes them. kubectl goes through
/// its files. Argo CD goes from wave to wave. The others begin with the objects that other objects need: namespaces and
/// definitions. `waves`: those of Argo CD ([`of_manifests`](super::sync_wave::of_manifests)).
pub(super) fn of_writes(
    preset: Preset,
    manifests: &[Value],
    waves: &[(usize, SyncWave)],
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..manifests.len()).collect();
    let kind = |at: &usize| text(&manifests[*at], "kind");
    let needed = |at: &usize| match kind(at) {
        "Namespace" => 0,
        "CustomResourceDefinition" => 1,
        _ => 2,
    };
    match preset {
        _ if preset.is_kubectl() => {}
        Preset::Helm3 | Preset::Helm4 => order.sort_by_key(|at| match helm_position(kind(at)) {
            Some(known) => (known, ""),
            None => (OF_HELM.len(), kind(at)),
        }),
        Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => {
            let written: Vec<usize> = waves.iter().map(|(at, _)| *at).collect();
            // A hook that is not written has a row, too.
            order.retain(|at| !written.contains(at));
            order.splice(0..0, written);
        }
        Preset::Flux => order.sort_by_key(|at| (stage(&manifests[*at]), needed(at))),
        _ => order.sort_by_key(needed),
    }
    order
}

/// Returns the place of a kind in the order of Helm.
pub(super) fn helm_position(kind: &str) -> Option<usize> {
    OF_HELM.iter().position(|known| *known == kind)
}

/// Returns the stage in which Flux applies an object, from 0 (`fluxcd/pkg/ssa/manager_apply.go ApplyAllStaged` and
/// `fluxcd/pkg/ssa/utils/is.go`, v0.76).
pub(super) fn stage(manifest: &Value) -> usize {
    let kind = text(manifest, "kind");
    let group = ObjectId::from_object(manifest).group;
    match (group.as_str(), kind) {
        ("", "Namespace")
        | ("apiextensions.k8s.io", "CustomResourceDefinition")
        | ("rbac.authorization.k8s.io", "ClusterRole") => 0,
        _ if kind.ends_with("Class") => 1,
        _ => 2,
    }
}
