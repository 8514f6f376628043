//! Error messages of the API server, found in the output of tools: Helm, Terraform, Argo CD, Flux, Pulumi,
//! Ansible, kapp, kubectl, logs of controllers, `Status` objects.

mod conflicts;
mod context;
mod escapes;
mod forms;
mod invalid;
mod kubectl;
mod marks;
mod parse;
mod reader;
mod request_problem;
mod tool_problem;

use std::fmt;
use std::sync::Arc;

use optimist_apiserver::object::GroupVersion;
use optimist_apiserver::server::{Resource, Resources};
use optimist_client::Preset;

pub use escapes::without_colours;
pub use reader::ErrorReader;
pub use request_problem::RequestProblem;
pub use tool_problem::ToolProblem;

/// An error that a text reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedError {
    /// The tool that printed it, if the text shows it.
    pub tool: Option<ErrorSource>,
    /// The object, as far as the text describes it.
    pub object: ObjectHint,
    /// The field manager of the refused write, if the text names it.
    pub manager: Option<String>,
    /// The address of the resource in the configuration of Terraform, `module.shop.kubernetes_manifest.web`.
    pub address: Option<String>,
    /// The patch of `kubectl apply` that the text shows.
    pub patch: Option<ShownPatch>,
    /// The error itself.
    pub error: PrintedError,
}

/// A patch that `kubectl apply` prints with the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownPatch {
    /// It has a `resourceVersion`: that of the manifest.
    WithVersion,
    /// It has none.
    WithoutVersion,
}

/// A program that prints the server's errors in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorSource {
    /// kubectl.
    Kubectl,
    /// Helm, or a controller that runs it.
    Helm,
    /// A Kubernetes provider of Terraform or OpenTofu.
    Terraform,
    /// The provider `gavinbunney/kubectl` or `alekc/kubectl` of Terraform, which runs kubectl's code.
    TerraformKubectl,
    /// Argo CD.
    ArgoCd,
    /// A controller of Flux.
    Flux,
    /// Pulumi.
    Pulumi,
    /// Ansible's `kubernetes.core.k8s`.
    Ansible,
    /// A controller that is built with controller-runtime.
    ControllerRuntime,
    /// A controller of kube-controller-manager.
    KubeControllerManager,
    /// A program in Rust that uses kube-rs.
    KubeRs,
    /// A program in Java that uses fabric8's client.
    Fabric8,
    /// kapp of Carvel.
    Kapp,
}

impl ErrorSource {
    /// The client by which this program applies an object; `None` if no client writes as it does.
    pub fn client(self) -> Option<Preset> {
        match self {
            ErrorSource::Kubectl => Some(Preset::KubectlApplyServerSide),
            ErrorSource::Helm => Some(Preset::Helm4),
            ErrorSource::Terraform => Some(Preset::Terraform),
            ErrorSource::ArgoCd => Some(Preset::ArgoCdServerSide),
            ErrorSource::Flux => Some(Preset::Flux),
            ErrorSource::ControllerRuntime => Some(Preset::ControllerApply),
            ErrorSource::Pulumi
            | ErrorSource::Ansible
            | ErrorSource::KubeControllerManager
            | ErrorSource::TerraformKubectl
            | ErrorSource::KubeRs
            | ErrorSource::Fabric8
            | ErrorSource::Kapp => None,
        }
    }
}

/// The description of an object in a text. Parts that the text does not name are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectHint {
    /// Group and version, `apps/v1` or `v1`.
    pub api_version: Option<String>,
    /// The kind, `Deployment`.
    pub kind: Option<String>,
    /// The group of a kind that is not built in, where the text does not name its version:
    /// `Backup.demo.example.com "b" is invalid`.
    pub group: Option<String>,
    /// The resource with its group, `deployments.apps`; in the core group `configmaps`.
    pub resource: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
    /// `true` if a log names this namespace for another object, which the controller works on. What it writes is mostly
    /// in the same one.
    pub is_namespace_of_run: bool,
    /// The name.
    pub name: Option<String>,
    /// The subresource that was written, `status`.
    pub subresource: Option<String>,
}

/// An error of the API server, or of kubectl's own comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintedError {
    /// A server-side apply met fields of other managers (409).
    Apply(Vec<ManagerConflict>),
    /// A write carried another `resourceVersion` than the stored one (409).
    Modified,
    /// A write carried another uid than the stored one (409).
    OtherUid {
        /// The uid that the write carried.
        sent: String,
        /// The stored uid. Empty if the object is gone.
        stored: String,
        /// The key in the store.
        key: String,
    },
    /// A DELETE has a precondition that does not hold (409).
    Precondition {
        /// The compared field.
        of: Precondition,
        /// The value in the precondition.
        sent: String,
        /// The value in the store.
        stored: String,
    },
    /// Helm was told to force conflicts, and applies client-side: the last release did. No request is
    /// sent (`helm.sh/helm/v4/pkg/kube/client.go ClientUpdateOptionServerSideApply`, v4.2).
    ForceWithoutServerSide,
    /// An Update without a `resourceVersion`, of a kind that needs one (422).
    VersionMissing,
    /// The object is invalid (422), for example because a field cannot be changed.
    Invalid {
        /// The first field that is named.
        field: String,
        /// The problem with it.
        problem: String,
    },
    /// A policy, a quota or the end of the namespace refuse the write (403; a policy also 422).
    Forbidden {
        /// The reason, as the server gives it.
        reason: String,
    },
    /// The user has no right to a request, which need not be a write (403).
    NoRight {
        /// The user.
        user: String,
        /// The verb: `list`.
        verb: String,
        /// The resource with its group and subresource, `deployments.apps/status`, or a path.
        of: String,
    },
    /// An apply does not fit the schema of its kind.
    NotOfSchema {
        /// The first field that is named.
        field: String,
        /// The problem with it, without its value.
        problem: String,
        /// `true` if it is the stored object that does not fit.
        stored: bool,
    },
    /// The object of a create has a `resourceVersion`.
    VersionOnCreate,
    /// The server has no such path: no such kind, version or subresource (404).
    NotServed,
    /// The server has no object of this name (404).
    NotFound,
    /// A write cannot be fulfilled for another reason (409): a Pod that has its node already.
    OtherConflict {
        /// The reason, as the server gives it.
        reason: String,
    },
    /// Helm finds an object that another release, or none, has created. Helm compares by itself: no
    /// request is refused.
    NotOfRelease,
    /// A POST names an object that exists (409).
    AlreadyExists {
        /// `true` if that object is being deleted.
        terminating: bool,
    },
    /// The server could not apply a patch (422), and the message does not say why.
    PatchRefused {
        /// `true` if it can be a JSON patch: an operation failed, for example a `test`. Tools that apply manifests send
        /// other patches.
        is_json: bool,
    },
    /// A `test` of a JSON patch found another value. A server does not print this: a program that applies the patch
    /// itself does.
    TestFailed {
        /// The path, as a JSON pointer.
        path: String,
    },
    /// An apply carries `managedFields` (400).
    ManagedFieldsSent,
    /// `kubectl scale --current-replicas` or `--resource-version` found another value. kubectl compares
    /// by itself: no request is refused.
    OtherThanExpected {
        /// `replicas` or `resource version`.
        what: String,
        /// The expected value.
        expected: String,
        /// The value that was found.
        found: String,
    },
    /// `kubectl label` or `kubectl annotate` without `--overwrite` found another value.
    NotOverwritten {
        /// The label or annotation.
        key: String,
        /// Its value.
        value: String,
    },
    /// Neither the version nor the owners of the object decided it.
    Request(RequestProblem),
    /// A tool stopped by itself, because of what it keeps of its own.
    Tool(ToolProblem),
}

/// The field that a precondition of a DELETE compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// `preconditions.uid`.
    Uid,
    /// `preconditions.resourceVersion`.
    ResourceVersion,
}

/// The fields of one manager that an apply met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerConflict {
    /// The manager's name.
    pub manager: String,
    /// The subresource that it wrote to.
    pub subresource: Option<String>,
    /// The version that it used. Only managers with the operation Update are printed with it.
    pub api_version: Option<String>,
    /// The paths of the fields, as the server prints them.
    pub fields: Vec<String>,
}

impl fmt::Display for ManagerConflict {
    /// Prints like `k8s.io/apimachinery/pkg/util/managedfields/internal/conflict.go`, `printManager`
    /// (v1.36).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.manager)?;
        if let Some(subresource) = &self.subresource {
            write!(f, " with subresource {subresource:?}")?;
        }
        if let Some(version) = &self.api_version {
            write!(f, " using {version}")?;
        }
        Ok(())
    }
}

/// The tool that alone prints an error.
fn own_tool(error: &PrintedError) -> Option<ErrorSource> {
    match error {
        PrintedError::OtherThanExpected { .. } | PrintedError::NotOverwritten { .. } => {
            Some(ErrorSource::Kubectl)
        }
        PrintedError::NotOfRelease | PrintedError::ForceWithoutServerSide => {
            Some(ErrorSource::Helm)
        }
        PrintedError::Tool(problem) => problem.tool(),
        _ => None,
    }
}

/// The most errors that are read from one text.
pub const MAX_ERRORS: usize = 1000;

/// Returns the errors that a text reports, each once, in the order of the text: at most
/// [`MAX_ERRORS`]. The list is empty if the text holds none of the messages that are known here.
pub fn reported_errors(text: &str) -> Vec<ReportedError> {
    let mut reader = ErrorReader::new(text.into());
    while reader.advance(usize::MAX) {}
    reader.finish()
}

impl PrintedError {
    /// The conflicts of a server-side apply; of any other error none.
    pub fn conflicts(&self) -> &[ManagerConflict] {
        match self {
            Self::Apply(conflicts) => conflicts,
            _ => &[],
        }
    }
}

impl ReportedError {
    /// Returns whether a client was refused because its read was old, so that it can repeat its change on a new
    /// read. The API server itself writes a ResourceQuota when it creates something else
    /// (`k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go checkQuotas`, v1.36). A candidate of an
    /// election decides anew when it has read the Lease
    /// (`k8s.io/client-go/tools/leaderelection/leaderelection.go tryAcquireOrRenew`, v0.36). A manifest with a version is
    /// refused again, and a patch without one compared none. Helm has read nothing that it could read again.
    pub fn is_for_redo(&self) -> bool {
        let decides_anew = self.object.is_quota() || self.object.is_lease();
        let is_of_helm = self.tool == Some(ErrorSource::Helm) || self.object.is_helm_release();
        let reads = !decides_anew && !is_of_helm && self.patch.is_none();
        self.error == PrintedError::Modified && reads
    }
}

impl ObjectHint {
    /// Returns whether the object is a ResourceQuota.
    pub fn is_quota(&self) -> bool {
        self.resource.as_deref() == Some("resourcequotas")
    }

    /// Returns whether the object is a Lease.
    pub fn is_lease(&self) -> bool {
        self.resource.as_deref() == Some("leases.coordination.k8s.io")
    }

    /// Returns whether the object is a Secret in which Helm keeps a release
    /// (`helm.sh/helm/v4/pkg/storage/storage.go makeKey`, v4.2).
    pub fn is_helm_release(&self) -> bool {
        let name = self.name.as_deref().unwrap_or_default();
        self.resource.as_deref() == Some("secrets") && name.starts_with("sh.helm.release.v1.")
    }

    /// Returns whether the object is of a built-in kind that has no namespaces.
    pub fn is_cluster_scoped(&self) -> bool {
        let version = self.api_version.as_deref().and_then(GroupVersion::parse);
        let resource = self.resource.as_deref();
        let resource = resource.map(|it| it.split_once('.').unwrap_or((it, "")));
        if self.kind.is_none() && resource.is_none() {
            return false;
        }
        let fits = |one: &&Arc<Resource>| {
            self.kind.as_ref().is_none_or(|kind| one.kind == *kind)
                && version
                    .as_ref()
                    .is_none_or(|it| one.group_version.group == it.group)
                && resource.is_none_or(|(plural, group)| {
                    one.plural == plural && one.group_version.group == group
                })
        };
        let builtin = Resources::builtin();
        let mut found = builtin.iter().filter(fits).peekable();
        found.peek().is_some() && found.all(|one| !one.namespaced)
    }

    /// Adds the description in the message itself: it outranks the text around it.
    fn add(&mut self, own: Self) {
        for (place, value) in [
            (&mut self.api_version, own.api_version),
            (&mut self.kind, own.kind),
            (&mut self.group, own.group),
            (&mut self.resource, own.resource),
            (&mut self.namespace, own.namespace),
            (&mut self.name, own.name),
            (&mut self.subresource, own.subresource),
        ] {
            if value.is_some() {
                *place = value;
            }
        }
    }
}
