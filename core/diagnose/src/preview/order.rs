//! In which order a tool writes.

use optimist_apiserver::object::text;
use optimist_client::Preset;
use serde_json::Value;

/// Returns the positions of the manifests in the order in which a tool writes them. kubectl goes through
/// its files. The others begin with the objects that other objects need: namespaces and definitions
/// (`helm.sh/helm/v4/pkg/release/v1/util/kind_sorter.go InstallOrder`, v4.2;
/// `fluxcd/pkg/ssa/manager_apply.go ApplyAllStaged`, v0.76; `argo-cd/gitops-engine/pkg/sync/sync_tasks.go
/// kindOrder`, v3.5).
pub(super) fn of_writes(preset: Preset, manifests: &[Value]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..manifests.len()).collect();
    if !preset.is_kubectl() {
        order.sort_by_key(|at| match text(&manifests[*at], "kind") {
            "Namespace" => 0,
            "CustomResourceDefinition" => 1,
            _ => 2,
        });
    }
    order
}
