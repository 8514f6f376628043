//! Clients that people know, as write methods: verb, body, manager and subresource.
//!
//! Read at v0.36.3 of `k8s.io/kubectl` and `k8s.io/client-go`, v0.24.1 of controller-runtime, and v1.36
//! of `k8s.io/kubernetes`. A client that names no manager gets its User-Agent up to the first `/`
//! (`k8s.io/apiserver/pkg/endpoints/handlers/create.go managerOrUserAgent`).

use super::{CLIENT_SIDE, Declares, OnConflict, Strategy, Subresource, Write};
use optimist_apiserver::server::{Definition, Resource};
use serde::{Deserialize, Serialize};

/// A client that people know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Preset {
    /// `kubectl edit`: a patch with the edits, without the version that was read
    /// (`pkg/cmd/util/editor/editoptions.go visitToPatch`; the manager: `pkg/cmd/edit/edit.go`).
    KubectlEdit,
    /// `kubectl apply` (`pkg/cmd/apply/patcher.go patchSimple`; the manager:
    /// `pkg/cmd/apply/apply.go FieldManagerClientSideApply`). `Patch` there repeats it after a 409. A
    /// patch without a version gets none.
    KubectlApply,
    /// `kubectl apply --server-side` (`pkg/cmd/apply/apply.go applyOneObject`,
    /// `fieldManagerServerSideApply`).
    KubectlApplyServerSide,
    /// `kubectl replace` of the object that `kubectl get` printed, with its version
    /// (`pkg/cmd/replace/replace.go Run`).
    KubectlReplace,
    /// `kubectl scale` without `--current-replicas` and `--resource-version`: a merge patch of
    /// `/scale`, without a manager (`pkg/scale/scale.go ScaleSimple`).
    KubectlScale,
    /// `kubectl label`: a merge patch, for built-in kinds too (`pkg/cmd/label/label.go RunLabel`).
    KubectlLabel,
    /// client-go: Get, change, Update in `RetryOnConflict` (`util/retry/util.go`).
    Update,
    /// controller-runtime: Patch with `client.MergeFrom`, without its optimistic lock
    /// (`pkg/client/patch.go`).
    MergeFrom,
    /// The HorizontalPodAutoscaler: an Update of `/scale` without a manager, in `RetryOnConflict` with
    /// `DefaultRetry` (`pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler`).
    Autoscaler,
    /// Helm 3, and Helm 4 with `--server-side=false`: a patch made from the last release, this
    /// release and the object (`helm.sh/helm/v4/pkg/kube/client.go createPatch`, v4.2). The patch
    /// needs the manifest of the last release, so the write alone does not make it.
    Helm3,
    /// Helm 4, which applies server-side without force
    /// (`helm.sh/helm/v4/pkg/kube/client.go patchResourceServerSide`, v4.2).
    Helm4,
    /// Argo CD: `kubectl apply` with a manager of its own
    /// (`argo-cd/gitops-engine/pkg/utils/kube/resource_ops.go newApplyOptions`, v3.5).
    ArgoCdClientSide,
    /// Argo CD with `ServerSideApply=true`, which is always with force (as above).
    ArgoCdServerSide,
    /// Flux's kustomize-controller, always with force
    /// (`fluxcd/pkg/ssa/manager_apply.go apply`, v0.76).
    Flux,
    /// Terraform's `kubernetes_manifest`
    /// (`hashicorp/terraform-provider-kubernetes/manifest/provider/apply.go`, v3.2: without
    /// `fieldValidation`).
    Terraform,
    /// controller-runtime: Patch with `client.Apply` and `client.ForceOwnership`.
    ControllerApply,
    /// controller-runtime: `controllerutil.CreateOrUpdate`. It sends nothing if nothing changed.
    CreateOrUpdate,
}

impl Preset {
    /// Those that write an editor's changes: kubectl, then controllers.
    pub const OF_EDITORS: [Preset; 9] = [
        Preset::KubectlEdit,
        Preset::KubectlApply,
        Preset::KubectlApplyServerSide,
        Preset::KubectlReplace,
        Preset::KubectlScale,
        Preset::KubectlLabel,
        Preset::Update,
        Preset::MergeFrom,
        Preset::Autoscaler,
    ];

    /// The others: delivery tools and controllers that write a manifest.
    pub const OF_MANIFESTS: [Preset; 8] = [
        Preset::Helm3,
        Preset::Helm4,
        Preset::ArgoCdClientSide,
        Preset::ArgoCdServerSide,
        Preset::Flux,
        Preset::Terraform,
        Preset::ControllerApply,
        Preset::CreateOrUpdate,
    ];

    /// The tools that deliver manifests, by their names for `optimist preview --as` and the npm package.
    pub const DELIVERY: [(&str, Preset); 8] = [
        ("helm4", Preset::Helm4),
        ("helm3", Preset::Helm3),
        ("kubectl", Preset::KubectlApply),
        ("kubectl-server-side", Preset::KubectlApplyServerSide),
        ("argocd", Preset::ArgoCdClientSide),
        ("argocd-server-side", Preset::ArgoCdServerSide),
        ("flux", Preset::Flux),
        ("terraform", Preset::Terraform),
    ];

    /// Returns every client.
    pub fn all() -> impl Iterator<Item = Preset> {
        Self::OF_EDITORS.into_iter().chain(Self::OF_MANIFESTS)
    }

    /// Returns its name in addresses and links.
    pub fn slug(self) -> &'static str {
        match self {
            Preset::KubectlEdit => "kubectl-edit",
            Preset::KubectlApply => "kubectl-apply",
            Preset::KubectlApplyServerSide => "kubectl-apply-server-side",
            Preset::KubectlReplace => "kubectl-replace",
            Preset::KubectlScale => "kubectl-scale",
            Preset::KubectlLabel => "kubectl-label",
            Preset::Update => "update",
            Preset::MergeFrom => "merge-from",
            Preset::Autoscaler => "autoscaler",
            Preset::Helm3 => "helm-3",
            Preset::Helm4 => "helm-4",
            Preset::ArgoCdClientSide => "argo-cd",
            Preset::ArgoCdServerSide => "argo-cd-server-side",
            Preset::Flux => "flux",
            Preset::Terraform => "terraform",
            Preset::ControllerApply => "controller-apply",
            Preset::CreateOrUpdate => "create-or-update",
        }
    }

    /// Returns whether the client writes a manifest that people keep in a file, and not the object that it has read.
    pub fn writes_manifest(self) -> bool {
        matches!(self, Preset::KubectlApply | Preset::KubectlApplyServerSide)
            || Self::OF_MANIFESTS.contains(&self)
    }

    /// Returns whether the client asks the server to refuse unknown and duplicate fields
    /// (`fieldValidation=Strict`).
    pub fn validates_strictly(self) -> bool {
        matches!(
            self,
            Preset::KubectlEdit
                | Preset::KubectlApply
                | Preset::KubectlApplyServerSide
                | Preset::KubectlReplace
                | Preset::Helm4
        )
    }

    /// Returns whether people choose the name of the field manager. The others always use their own.
    pub fn manager_is_chosen(self) -> bool {
        matches!(
            self,
            Preset::KubectlApplyServerSide
                | Preset::Terraform
                | Preset::Update
                | Preset::MergeFrom
                | Preset::ControllerApply
                | Preset::CreateOrUpdate
        )
    }

    /// Returns whether a delivery tool can take over what others own: by an option, or [always](Self::always_forces).
    pub fn takes_force(self) -> bool {
        !matches!(self, Preset::Helm3 | Preset::KubectlApply)
    }

    /// Returns whether the client takes over what others own with every apply.
    pub fn always_forces(self) -> bool {
        self.write_with(Strategy::MergePatch).force
    }

    /// Returns whether it is a command of kubectl.
    pub fn is_kubectl(self) -> bool {
        matches!(
            self,
            Preset::KubectlEdit
                | Preset::KubectlApply
                | Preset::KubectlApplyServerSide
                | Preset::KubectlReplace
                | Preset::KubectlScale
                | Preset::KubectlLabel
        )
    }

    /// Returns whether it is Argo CD, with or without server-side apply.
    pub fn is_argo_cd(self) -> bool {
        matches!(self, Preset::ArgoCdClientSide | Preset::ArgoCdServerSide)
    }

    /// Returns whether it is a version of Helm.
    pub fn is_helm(self) -> bool {
        matches!(self, Preset::Helm3 | Preset::Helm4)
    }

    /// Returns the name by which people call the tool: `Helm`, `kubectl`. `None` for code, which has no name of its own.
    pub fn tool_name(self) -> Option<&'static str> {
        match self {
            Preset::KubectlEdit
            | Preset::KubectlApply
            | Preset::KubectlApplyServerSide
            | Preset::KubectlReplace
            | Preset::KubectlScale
            | Preset::KubectlLabel => Some("kubectl"),
            Preset::Autoscaler => Some("HPA"),
            Preset::Helm3 | Preset::Helm4 => Some("Helm"),
            Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => Some("Argo CD"),
            Preset::Flux => Some("Flux"),
            Preset::Terraform => Some("Terraform"),
            Preset::Update
            | Preset::MergeFrom
            | Preset::ControllerApply
            | Preset::CreateOrUpdate => None,
        }
    }

    /// Returns the name of an actor that is the tool: two commands of kubectl have different names. `None` for code.
    pub fn actor_name(self) -> Option<&'static str> {
        match self {
            Preset::KubectlEdit => Some("kubectl edit"),
            Preset::KubectlApply => Some("kubectl apply"),
            Preset::KubectlApplyServerSide => Some("kubectl apply --server-side"),
            Preset::KubectlReplace => Some("kubectl replace"),
            Preset::KubectlScale => Some("kubectl scale"),
            Preset::KubectlLabel => Some("kubectl label"),
            _ => self.tool_name(),
        }
    }

    /// Returns the field manager of a tool; `None` for code, which names its own.
    pub fn manager(self) -> Option<&'static str> {
        match self {
            Preset::KubectlEdit => Some("kubectl-edit"),
            Preset::KubectlApply => Some(CLIENT_SIDE),
            Preset::KubectlApplyServerSide | Preset::KubectlScale => Some("kubectl"),
            Preset::KubectlReplace => Some("kubectl-replace"),
            Preset::KubectlLabel => Some("kubectl-label"),
            Preset::Autoscaler => Some("kube-controller-manager"),
            Preset::Helm3 | Preset::Helm4 => Some("helm"),
            Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => Some("argocd-controller"),
            Preset::Flux => Some("kustomize-controller"),
            Preset::Terraform => Some("Terraform"),
            Preset::Update
            | Preset::MergeFrom
            | Preset::ControllerApply
            | Preset::CreateOrUpdate => None,
        }
    }

    /// Returns the newest tool that applies manifests to the server under the name of a manager, other
    /// than kubectl, whose name people also use for commands that write single fields.
    pub fn of_manager(manager: &str) -> Option<Preset> {
        [
            Preset::Helm4,
            Preset::ArgoCdServerSide,
            Preset::Flux,
            Preset::Terraform,
        ]
        .into_iter()
        .find(|preset| preset.manager() == Some(manager))
    }

    /// Returns whether a write to `/scale` is one of the two clients that send empty options: the server takes their
    /// manager from the User-Agent.
    pub(crate) fn names_no_manager(write: &Write) -> bool {
        let clients = [
            (Preset::KubectlScale, Strategy::MergePatch),
            (Preset::Autoscaler, Strategy::Update),
        ];
        write.subresource == Some(Subresource::Scale)
            && clients.into_iter().any(|(preset, strategy)| {
                write.strategy == strategy && write.manager.as_deref() == preset.manager()
            })
    }

    /// Returns the client's way of writing an object of this kind; `None` if it cannot: it needs a
    /// scale subresource that the kind does not have.
    pub fn write(self, resource: &Resource) -> Option<Write> {
        // kubectl has the merge keys of the kinds that it was built with only.
        let patches = match resource.definition {
            Definition::Builtin(_) => Strategy::StrategicMergePatch,
            Definition::Custom(_) => Strategy::MergePatch,
        };
        let write = self.write_with(patches);
        let served = |subresource: Subresource| resource.serves(subresource.name());
        write.subresource.is_none_or(served).then_some(write)
    }

    /// Returns the client's way of writing an object, with the patches that it makes for the object's kind.
    pub fn write_with(self, patches: Strategy) -> Write {
        let by = |strategy| Write {
            manager: self.manager().map(str::to_owned),
            ..Write::usual(strategy)
        };
        let scale = |write| Write {
            subresource: Some(Subresource::Scale),
            ..write
        };
        let manifest = |write| Write {
            declares: Declares::Manifest,
            ..write
        };
        let force = |write| Write {
            force: true,
            ..manifest(write)
        };
        let retried = |write| Write {
            on_conflict: OnConflict::ReadAgain(OnConflict::DEFAULT_ATTEMPTS),
            ..write
        };
        let write = match self {
            Preset::KubectlEdit | Preset::Helm3 => by(patches),
            Preset::KubectlApply | Preset::ArgoCdClientSide => manifest(by(patches)),
            Preset::KubectlApplyServerSide | Preset::Helm4 | Preset::Terraform => {
                manifest(by(Strategy::Apply))
            }
            Preset::ArgoCdServerSide | Preset::Flux | Preset::ControllerApply => {
                force(by(Strategy::Apply))
            }
            Preset::KubectlReplace => manifest(by(Strategy::Update)),
            Preset::CreateOrUpdate => by(Strategy::Update),
            Preset::KubectlScale => scale(by(Strategy::MergePatch)),
            Preset::KubectlLabel | Preset::MergeFrom => by(Strategy::MergePatch),
            Preset::Update => retried(by(Strategy::Update)),
            Preset::Autoscaler => retried(scale(by(Strategy::Update))),
        };
        Write {
            is_strict: self.validates_strictly(),
            ..write
        }
    }

    /// The client that writes so, if people know one. An option of kubectl turns the check of unknown fields off.
    pub fn matching(write: &Write, resource: &Resource) -> Option<Preset> {
        let known = |preset: &Preset| {
            let usual = preset.write(resource);
            usual.is_some_and(|usual| {
                let is_strict = usual.is_strict && write.is_strict;
                *write == Write { is_strict, ..usual }
            })
        };
        Preset::OF_EDITORS.into_iter().find(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkingCopy;
    use optimist_apiserver::server::Resources;
    use serde_json::json;
    use std::sync::Arc;

    fn request(preset: Preset) -> (String, String, String) {
        let resources = Resources::builtin();
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        let mut copy = WorkingCopy::default();
        let read = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default", "resourceVersion": "100"},
            "spec": {"replicas": 3}});
        copy.settle(Arc::new(read.clone()));
        let mut edited = read;
        edited["spec"]["replicas"] = 5.into();
        copy.edit(edited);
        let write = preset.write(resource).unwrap();
        assert_eq!(Preset::matching(&write, resource), Some(preset));
        let request = write.request(resource, &copy, "me").unwrap();
        let target = request.uri().to_string();
        let target = target.rsplit_once("/web").unwrap().1.to_owned();
        let method = request.method().to_string();
        (
            method,
            target,
            String::from_utf8(request.into_body()).unwrap(),
        )
    }

    #[test]
    fn each_client_has_its_verb_its_manager_and_its_subresource() {
        let of = |preset| {
            let (method, target, _) = request(preset);
            format!("{method} {target}")
        };
        for (preset, expected) in [
            (
                Preset::KubectlEdit,
                "PATCH ?fieldManager=kubectl-edit&fieldValidation=Strict",
            ),
            (
                Preset::KubectlApply,
                "PATCH ?fieldManager=kubectl-client-side-apply&fieldValidation=Strict",
            ),
            (
                Preset::KubectlApplyServerSide,
                "PATCH ?fieldManager=kubectl&force=false&fieldValidation=Strict",
            ),
            (
                Preset::KubectlReplace,
                "PUT ?fieldManager=kubectl-replace&fieldValidation=Strict",
            ),
            (Preset::KubectlScale, "PATCH /scale"),
            (Preset::KubectlLabel, "PATCH ?fieldManager=kubectl-label"),
            (Preset::Update, "PUT "),
            (Preset::MergeFrom, "PATCH "),
            (Preset::Autoscaler, "PUT /scale"),
        ] {
            assert_eq!(of(preset), expected, "{preset:?}");
        }
    }

    #[test]
    fn only_the_clients_that_send_a_version_are_stopped_by_another_one() {
        for preset in Preset::OF_EDITORS {
            let versioned = request(preset).2.contains(r#""resourceVersion":"100""#);
            let expected = matches!(
                preset,
                Preset::KubectlReplace | Preset::Update | Preset::Autoscaler
            );
            assert_eq!(versioned, expected, "{preset:?}");
        }
        let (_, _, scale) = request(Preset::KubectlScale);
        assert_eq!(scale, r#"{"spec":{"replicas":5}}"#);
    }

    #[test]
    fn the_clients_that_send_a_version_and_run_unattended_read_again_after_a_409() {
        let resources = Resources::builtin();
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        let retries = |preset: &Preset| {
            let write = preset.write(resource).unwrap();
            write.on_conflict == OnConflict::ReadAgain(5)
        };
        let retrying: Vec<_> = Preset::OF_EDITORS.into_iter().filter(retries).collect();
        assert_eq!(retrying, [Preset::Update, Preset::Autoscaler]);
    }

    #[test]
    fn what_has_no_scale_is_not_scaled() {
        let resources = Resources::builtin();
        let config_map = resources.by_kind("v1", "ConfigMap").unwrap();
        let offered = Preset::OF_EDITORS
            .iter()
            .filter(|p| p.write(config_map).is_some());
        assert_eq!(offered.count(), Preset::OF_EDITORS.len() - 2);
    }
}
