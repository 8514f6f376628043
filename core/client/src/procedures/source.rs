//! The sources from which the ways of writing were read.

use crate::{Preset, Way};

impl Way {
    /// The file and the function of the client's source that sends the requests, with its version.
    pub fn source(self) -> &'static str {
        let Way::Client(preset, _) = self else {
            return "k8s.io/kubectl/pkg/cmd/create/create.go RunCreate, v0.36";
        };
        match preset {
            Preset::KubectlEdit => {
                "k8s.io/kubectl/pkg/cmd/util/editor/editoptions.go visitToPatch, v0.36"
            }
            Preset::KubectlApply => "k8s.io/kubectl/pkg/cmd/apply/patcher.go Patch, v0.36",
            Preset::KubectlApplyServerSide => {
                "k8s.io/kubectl/pkg/cmd/apply/apply.go applyOneObject, v0.36"
            }
            Preset::KubectlReplace => "k8s.io/kubectl/pkg/cmd/replace/replace.go Run, v0.36",
            Preset::KubectlScale => "k8s.io/kubectl/pkg/scale/scale.go ScaleSimple, v0.36",
            Preset::KubectlLabel => "k8s.io/kubectl/pkg/cmd/label/label.go RunLabel, v0.36",
            Preset::Update => "k8s.io/client-go/util/retry/util.go RetryOnConflict, v0.36",
            Preset::MergeFrom => {
                "sigs.k8s.io/controller-runtime/pkg/client/patch.go MergeFrom, v0.24"
            }
            Preset::Autoscaler => {
                "k8s.io/kubernetes/pkg/controller/podautoscaler/horizontal.go \
                 reconcileAutoscaler, v1.36"
            }
            Preset::Helm3 => "helm.sh/helm/v3/pkg/kube/client.go updateResource, v3.21",
            Preset::Helm4 => "helm.sh/helm/v4/pkg/kube/client.go patchResourceServerSide, v4.2",
            Preset::ArgoCdClientSide => {
                "argo-cd/gitops-engine/pkg/utils/kube/resource_ops.go ApplyResource, v3.5"
            }
            Preset::ArgoCdServerSide => {
                "argo-cd/gitops-engine/pkg/sync/sync_context.go applyObject, v3.5"
            }
            Preset::Flux => "fluxcd/pkg/ssa/manager_apply.go ApplyAll, v0.76",
            Preset::Terraform => {
                "hashicorp/terraform-provider-kubernetes/manifest/provider/apply.go \
                 ApplyResourceChange, v3.2"
            }
            Preset::ControllerApply => {
                "sigs.k8s.io/controller-runtime/pkg/client/client.go Apply, v0.24"
            }
            Preset::CreateOrUpdate => {
                "sigs.k8s.io/controller-runtime/pkg/controller/controllerutil/controllerutil.go \
                 CreateOrUpdate, v0.24"
            }
        }
    }
}
