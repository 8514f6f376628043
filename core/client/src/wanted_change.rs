//! A change that someone wants to write, and the tool that writes it.

use serde_json::Value;

use super::Preset;

/// A change that someone wants to write.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct WantedChange {
    /// The content.
    pub content: ChangeContent,
    /// The field manager of the tools that let people choose one
    /// ([`Preset::manager_is_chosen`]); `None` for the default of each tool.
    pub manager: Option<String>,
    /// The manifest of the same tool before this one, for tools that compare with it (Helm 3). `None` if
    /// it is not known; then it is taken to have had the fields that the tool owns in the object.
    pub previous: Option<Value>,
    /// The method by which Helm applied the last release.
    pub last_release: ReleaseMethod,
    /// The client that an error message names, and the manager that it wrote by.
    pub refused: Option<(Preset, String)>,
    /// The address of the object in the configuration of Terraform, `kubernetes_manifest.web`. `None` if
    /// it is not known.
    pub address: Option<String>,
}

/// The method by which Helm 4 applied the last release of a chart, by the record of the release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReleaseMethod {
    /// In the client, as Helm 3 does. When Helm changes to server-side apply, it takes over the fields
    /// that it owns by Update (`helm.sh/helm/v4/pkg/action/upgrade.go performUpgrade`, v4.2).
    #[default]
    ClientSide,
    /// Server-side. The fields that it owns by Update count as another manager's.
    ServerSide,
}

/// The content of a change.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum ChangeContent {
    /// A manifest. It says nothing about fields that it leaves out.
    Manifest(Value),
    /// The whole object, edited.
    Edited(Value),
}

impl WantedChange {
    /// A manifest, written by the default manager of each tool.
    pub fn manifest(manifest: Value) -> Self {
        Self {
            content: ChangeContent::Manifest(manifest),
            manager: None,
            previous: None,
            last_release: ReleaseMethod::default(),
            refused: None,
            address: None,
        }
    }

    /// The object, edited, written by the default manager of each tool.
    pub fn edited(object: Value) -> Self {
        Self {
            content: ChangeContent::Edited(object),
            ..Self::manifest(Value::Null)
        }
    }
}

/// A way of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// `kubectl create` (`k8s.io/kubectl/pkg/cmd/create/create.go`, v1.36).
    Create,
    /// A client that people know, and its treatment of conflicts of ownership.
    Client(Preset, OnOwned),
}

/// The treatment of fields that others own by an apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OnOwned {
    /// The client's treatment without options.
    Usual,
    /// It takes the fields over (`--force-conflicts`, `force_conflicts`, `client.ForceOwnership`). A
    /// client-side apply with force (`Force=true` of Argo CD) deletes and creates the object again if
    /// its patch is refused.
    Force,
    /// The fields in conflict are taken out of the manifest, and the apply is sent again.
    LeaveOut,
}

impl Way {
    /// Every way, in the order of a table.
    pub fn all() -> Vec<Self> {
        let usual = |preset| Way::Client(preset, OnOwned::Usual);
        let mut ways = vec![
            usual(Preset::KubectlApplyServerSide),
            Way::Client(Preset::KubectlApplyServerSide, OnOwned::Force),
            Way::Client(Preset::KubectlApplyServerSide, OnOwned::LeaveOut),
            usual(Preset::KubectlApply),
            Way::Create,
        ];
        for preset in Preset::OF_EDITORS {
            ways.extend(Some(usual(preset)).filter(|way| !ways.contains(way)));
        }
        for preset in Preset::OF_MANIFESTS {
            ways.push(usual(preset));
            if preset == Preset::ArgoCdClientSide {
                ways.push(Way::Client(preset, OnOwned::Force));
            }
            if matches!(preset, Preset::Helm4 | Preset::Terraform) {
                ways.push(Way::Client(preset, OnOwned::Force));
                ways.push(Way::Client(preset, OnOwned::LeaveOut));
            }
        }
        ways
    }

    /// Returns whether the way writes a whole manifest: a field that it leaves out is meant to go.
    pub fn declares(self) -> bool {
        let Way::Client(preset, _) = self else {
            return true;
        };
        matches!(
            preset,
            Preset::KubectlApply | Preset::KubectlApplyServerSide | Preset::KubectlReplace
        ) || Preset::OF_MANIFESTS.contains(&preset) && preset != Preset::CreateOrUpdate
    }
}
