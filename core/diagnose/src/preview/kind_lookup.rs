//! The moment at which a tool looks up the kinds of its manifests.

use optimist_client::Preset;

use super::Assumed;
use super::row::{PreviewObject, PreviewRow};

/// The way in which a tool looks up a kind that the server serves only once another manifest is written: its
/// definition, or the next version of it.
pub(super) enum KindLookup {
    /// It looks the kind up when it comes to the object.
    InTurn,
    /// It looks all kinds up before the first write, and refuses the object.
    Refuses,
    /// Nothing says whether it writes the definition before it looks the kinds up.
    Open,
}

impl KindLookup {
    /// Reads what a tool does. `release`: whether Helm has a release before this one; `None` if nothing says it.
    pub(super) fn read(preset: Preset, release: Option<bool>) -> Self {
        match preset {
            // `k8s.io/kubectl/pkg/cmd/apply/apply.go GetObjects`, v0.36.
            _ if preset.is_kubectl() => Self::Refuses,
            // `manifest/provider/plan.go PlanResourceChange`, v3.2.
            Preset::Terraform => Self::Refuses,
            // `helm.sh/helm/v4/pkg/action/upgrade.go prepareUpgrade` and `performUpgrade`, v4.2: an upgrade writes
            // nothing of `crds/`. An install does (`install.go installCRDs`).
            Preset::Helm3 | Preset::Helm4 if release == Some(true) => Self::Refuses,
            Preset::Helm3 | Preset::Helm4 => Self::Open,
            // Argo CD and Flux write definitions first.
            _ => Self::InTurn,
        }
    }

    /// Returns the assumption under the row of such an object.
    pub(super) fn assumed(&self) -> Option<Assumed> {
        match self {
            Self::Open => Some(Assumed::DefinitionOfCrds),
            Self::InTurn | Self::Refuses => None,
        }
    }
}

/// The row of an object of which a tool does not find the kind, in the words of the tool.
pub(super) fn not_found(preset: Preset, object: PreviewObject) -> PreviewRow {
    let (kind, version) = (&object.kind, &object.api_version);
    let message = match preset {
        Preset::Terraform => format!(
            "API did not recognize GroupVersionKind from manifest (CRD may not be installed): no matches for kind \
             {kind:?} in group {:?}",
            object.id().group
        ),
        // `k8s.io/cli-runtime/pkg/resource/mapper.go infoForData`, v0.36.
        _ => format!(
            "no matches for kind {kind:?} in version {version:?}; ensure CRDs are installed first"
        ),
    };
    PreviewRow::refused_by_tool(object, message)
}
