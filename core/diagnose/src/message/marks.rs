//! The words of tools near a message: they show which tool printed it.

use super::ErrorSource;
use super::context::{beginning, last_lines};

/// Words near a message that only one tool prints. The first mark in the text decides, because some tools also
/// print the words of kubectl.
const MARKS: [(&str, ErrorSource); 54] = [
    ("while applying object", ErrorSource::Helm),
    ("server-side apply failed for object", ErrorSource::Helm),
    ("UPGRADE FAILED", ErrorSource::Helm),
    ("INSTALLATION FAILED", ErrorSource::Helm),
    ("ROLLBACK FAILED", ErrorSource::Helm),
    ("Unable to continue with update", ErrorSource::Helm),
    ("Unable to continue with install", ErrorSource::Helm),
    ("Helm upgrade failed", ErrorSource::Helm),
    ("Helm install failed", ErrorSource::Helm),
    ("with kind ", ErrorSource::Helm),
    ("trying to apply the manifest for", ErrorSource::Terraform),
    ("failed to run apply:", ErrorSource::TerraformKubectl),
    ("in resource \"kubernetes_", ErrorSource::Terraform),
    ("in resource \"kubectl_", ErrorSource::TerraformKubectl),
    ("(ErrorResponse {", ErrorSource::KubeRs),
    ("ApiError: ", ErrorSource::KubeRs),
    ("io.fabric8.kubernetes.client", ErrorSource::Fabric8),
    ("Failure executing: ", ErrorSource::Fabric8),
    ("pulumi.com/", ErrorSource::Pulumi),
    ("pulumi-kubernetes", ErrorSource::Pulumi),
    (
        "the Kubernetes API server reported that",
        ErrorSource::Pulumi,
    ),
    ("by the Kubernetes API server: ", ErrorSource::Pulumi),
    ("by the Kubernetes API server : ", ErrorSource::Pulumi),
    ("kapp: Error: ", ErrorSource::Kapp),
    ("    API server says: ", ErrorSource::Kapp),
    ("FAILED! =>", ErrorSource::Ansible),
    ("Failed to apply object", ErrorSource::Ansible),
    ("Failed to patch object", ErrorSource::Ansible),
    ("Failed to replace object", ErrorSource::Ansible),
    ("dry-run failed", ErrorSource::Flux),
    (" apply failed, error: ", ErrorSource::Flux),
    ("kustomize-controller", ErrorSource::Flux),
    ("\"controller\":\"kustomization\"", ErrorSource::Flux),
    ("one or more objects failed to apply", ErrorSource::ArgoCd),
    ("one or more synchronization tasks", ErrorSource::ArgoCd),
    ("ComparisonError", ErrorSource::ArgoCd),
    ("server side apply in dryrun mode", ErrorSource::ArgoCd),
    ("argocd app ", ErrorSource::ArgoCd),
    ("argocd-application-controller", ErrorSource::ArgoCd),
    ("level=fatal msg=\"rpc error: code = ", ErrorSource::ArgoCd),
    ("Reconciler error", ErrorSource::ControllerRuntime),
    ("\"reconcileID\"", ErrorSource::ControllerRuntime),
    ("controller-runtime", ErrorSource::ControllerRuntime),
    (
        " deployment_controller.go:",
        ErrorSource::KubeControllerManager,
    ),
    (" replica_set.go:", ErrorSource::KubeControllerManager),
    (" stateful_set.go:", ErrorSource::KubeControllerManager),
    (" daemon_controller.go:", ErrorSource::KubeControllerManager),
    (" job_controller.go:", ErrorSource::KubeControllerManager),
    (
        " endpoints_controller.go:",
        ErrorSource::KubeControllerManager,
    ),
    (" horizontal.go:", ErrorSource::KubeControllerManager),
    (" garbagecollector.go:", ErrorSource::KubeControllerManager),
    ("Error from server", ErrorSource::Kubectl),
    ("error when ", ErrorSource::Kubectl),
    ("Please review the fields above", ErrorSource::Kubectl),
];

/// The beginnings of lines that kubectl prints.
const OF_KUBECTL: [&str; 2] = ["error: ", "The "];

/// The places in a text that have marks of tools.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks(Vec<(usize, usize)>);

impl Marks {
    /// Adds the places of one of the marks. Returns whether there are more marks.
    pub(super) fn add(&mut self, text: &str, which: usize) -> bool {
        let Some((mark, _)) = MARKS.get(which) else {
            self.0.sort_unstable();
            return false;
        };
        let escaped = mark.contains('"').then(|| mark.replace('"', "\\\""));
        for mark in [Some((*mark).to_owned()), escaped].into_iter().flatten() {
            let places = text.match_indices(&mark).map(|(at, _)| at);
            let places = places.filter(|at| !is_in_name(text, *at));
            self.0.extend(places.map(|at| (at, which)));
        }
        true
    }

    /// The tool that prints a message which begins at `start`: by the lines up to it, and by those behind
    /// its first line. In that line only logs have marks, because it names objects.
    pub(super) fn tool(&self, text: &str, start: usize) -> Option<ErrorSource> {
        let before = last_lines(super::parse::end_of(&text[..start]), 8);
        let line = start + text[start..].find('\n').unwrap_or(text.len() - start);
        let end = line + beginning(&text[line..]).len();
        let from = self.0.partition_point(|(at, _)| *at < start - before.len());
        let marks = self.0[from..].iter().take_while(|(at, _)| *at < end);
        let logs = [
            ErrorSource::ControllerRuntime,
            ErrorSource::KubeControllerManager,
            ErrorSource::KubeRs,
        ];
        let fitting = marks.filter(|(at, which)| {
            let in_message = *at >= start && *at < line;
            !in_message || logs.contains(&MARKS[*which].1)
        });
        let found = fitting.map(|(_, which)| *which).min();
        let found = found.map(|which| MARKS[which].1);
        found.or_else(|| {
            let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
            let kubectl = OF_KUBECTL.iter().any(|mark| line.starts_with(mark));
            kubectl.then_some(ErrorSource::Kubectl)
        })
    }
}

/// Returns whether a place is in the name of a manager: `conflict with "a" using v1`.
fn is_in_name(text: &str, at: usize) -> bool {
    let before = super::parse::end_of(&text[..at]);
    let Some((before, name)) = before.rsplit_once('"') else {
        return false;
    };
    let before = before.trim_end_matches('\\');
    !name.contains('\n')
        && (before.ends_with("conflict with ") || before.ends_with("conflicts with "))
}
