//! Previews manifests that leave their name to the server: `generateName` in place of a name.

use std::sync::Arc;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{ApiServer, Resource};
use optimist_client::tracking::{SYNC_OPTIONS, says};
use optimist_client::{Call, Preset, Sender};
use serde_json::Value;

use super::row::{PreviewObject, PreviewOutcome, PreviewRow, Trouble};
use super::{AfterRefusal, Assumed};

/// Returns whether a manifest has a `generateName` in place of a name.
pub(super) fn is_unnamed(manifest: &Value) -> bool {
    manifest.name().is_empty() && !manifest.meta_text("generateName").is_empty()
}

/// The reaction of a tool to a manifest that has no name, or that it creates without applying it.
pub(super) enum Treatment {
    /// It refuses it in these words.
    Refuses(String),
    /// It creates an object, whose name the server makes. Known of the release.
    Creates {
        again: bool,
        assumed: Option<Assumed>,
    },
}

impl Treatment {
    /// Reads what a tool does. `release`: whether Helm has a release before this one; `None` if nothing says it.
    pub(super) fn read(preset: Preset, manifest: &Value, release: Option<bool>) -> Self {
        let prefix = manifest.meta_text("generateName");
        let kubectl = || format!("from {prefix}: cannot use generate name with apply");
        // `k8s.io/client-go/rest/request.go Name`, v0.36.
        let no_name = "resource name may not be empty";
        let refuses = match preset {
            // `argo-cd/gitops-engine/pkg/sync/sync_context.go applyObject`, v3.5: `kubectl create` if nothing is there.
            Preset::ArgoCdClientSide | Preset::ArgoCdServerSide
                if says(manifest, SYNC_OPTIONS, "Replace=true") =>
            {
                return Self::Creates {
                    again: is_unnamed(manifest),
                    assumed: None,
                };
            }
            // `k8s.io/kubectl/pkg/cmd/apply/apply.go applyOneObject`, v0.36.
            Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => kubectl(),
            _ if preset.is_kubectl() => kubectl(),
            // `helm.sh/helm/v3/pkg/kube/client.go Create`, v3.21: a first release is created without a read.
            Preset::Helm3 if release != Some(true) => {
                let assumed = release.is_none().then_some(Assumed::FirstRelease);
                return Self::Creates {
                    again: false,
                    assumed,
                };
            }
            // `helm.sh/helm/v4/pkg/kube/client.go patchResourceServerSide`, v4.2.
            Preset::Helm4 if release == Some(false) => format!(
                "server-side apply failed for object {}/ {}, Kind={}: {no_name}",
                manifest.namespace(),
                text(manifest, "apiVersion"),
                text(manifest, "kind"),
            ),
            // `helm.sh/helm/v4/pkg/kube/client.go update`, v4.2; the same in v3.21.
            Preset::Helm3 | Preset::Helm4 => {
                format!("could not get information about the resource: {no_name}")
            }
            // `sigs.k8s.io/kustomize/kyaml/yaml/rnode.go GetValidatedMetadata`: the build fails.
            Preset::Flux => "kustomize build failed: missing metadata.name in object".to_owned(),
            // `manifest/provider/apply.go ApplyResourceChange`, v3.2; the detail is of
            // `k8s.io/client-go/dynamic/simple.go Get`.
            Preset::Terraform => format!(
                "Failed to determine if resource \"{}/\" exists: name is required",
                manifest.namespace()
            ),
            _ => no_name.to_owned(),
        };
        Self::Refuses(refuses)
    }

    /// Makes the row, and the object if the tool creates one.
    pub(super) fn row(
        self,
        object: PreviewObject,
        manifest: &Value,
        preset: Preset,
        (server, resource): (&mut ApiServer, &Resource),
    ) -> PreviewRow {
        let (again, assumed) = match self {
            Self::Refuses(message) => return PreviewRow::refused_by_tool(object, message),
            Self::Creates { again, assumed } => (again, assumed),
        };
        let writer = match preset {
            Preset::Helm3 => "helm",
            _ => "argocd-application-controller",
        };
        let mut row = created(object, manifest, writer, (server, resource));
        row.assumed.extend(assumed);
        if again && row.outcome == PreviewOutcome::Created {
            row.troubles.push(Trouble::CreatedEachTime);
        }
        row
    }
}

/// Returns a tool's treatment of the other objects when it refuses a manifest without a name. Argo CD applies all
/// manifests with the client's dry run before the first wave (`sync_context.go Sync`, v3.5), and Flux builds all of them
/// (`kustomization_controller.go build`, v1.9).
pub(super) fn after_refusal(preset: Preset) -> Option<AfterRefusal> {
    let reads_all = matches!(
        preset,
        Preset::ArgoCdClientSide | Preset::ArgoCdServerSide | Preset::Flux
    );
    reads_all.then_some(AfterRefusal::ReadsAllFirst)
}

fn created(
    object: PreviewObject,
    manifest: &Value,
    writer: &str,
    (server, resource): (&mut ApiServer, &Resource),
) -> PreviewRow {
    let call = Call::Create {
        namespace: manifest.namespace().to_owned(),
        object: Arc::new(manifest.clone()),
    };
    let Some(request) = call.request(resource, Sender::new(writer)) else {
        return PreviewRow::not_run(object, "The tool cannot write this object.".to_owned());
    };
    let response = server.handle(request);
    let code = response.status().as_u16();
    let mut row = PreviewRow::new(object, PreviewOutcome::Created);
    row.code = Some(code);
    writer.clone_into(&mut row.writer);
    if !response.status().is_success() {
        let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        answer["message"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut row.message);
        row.outcome = match code {
            400 | 422 => PreviewOutcome::Invalid,
            _ => PreviewOutcome::Refused,
        };
        row.troubles = vec![Trouble::Refused];
    }
    row
}
