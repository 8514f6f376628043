//! The options that say which objects the tool deletes.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use optimist_apiserver::server::Selector;
use optimist_client::Preset;
use optimist_diagnose::preview::Pruning;
use sha2::{Digest, Sha256};

use crate::BadInput;

/// The options that choose the objects which the tool deletes though no manifest names them.
#[derive(Debug, clap::Args)]
pub(super) struct PruneOptions {
    /// The tool deletes its objects that no manifest names (Argo CD, Flux, kubectl with one of the three
    /// options below). Helm and Terraform always do.
    #[arg(long)]
    prune: bool,
    /// With --prune, kubectl writes and prunes only what these labels select.
    #[arg(long, short = 'l', value_name = "LABELS", requires = "prune")]
    selector: Option<String>,
    /// kubectl prunes everything that it applied in the namespaces of the manifests.
    #[arg(long, requires = "prune", conflicts_with = "selector")]
    all: bool,
    /// kubectl prunes the members of this ApplySet: the name of a Secret, or configmaps/NAME. --namespace
    /// says where it is.
    #[arg(long, value_name = "[TYPE/]NAME", requires = "prune", conflicts_with_all = ["selector", "all"])]
    applyset: Option<String>,
}

impl PruneOptions {
    /// Returns the pruning that the options ask for. `None` if the tool does not know such an option.
    pub(super) fn pruning(
        &self,
        preset: Preset,
        namespace: Option<&str>,
    ) -> Result<Option<Pruning>, BadInput> {
        if !self.prune {
            return Ok(Some(Pruning::None));
        }
        match preset {
            Preset::KubectlApply | Preset::KubectlApplyServerSide => {
                self.of_kubectl(preset, namespace).map(Some)
            }
            Preset::ArgoCdClientSide | Preset::ArgoCdServerSide | Preset::Flux
                if self.selector.is_none() && !self.all && self.applyset.is_none() =>
            {
                Ok(Some(Pruning::Tracked))
            }
            _ => Ok(None),
        }
    }

    /// kubectl refuses to prune without a choice, and by labels after a server-side apply
    /// (`k8s.io/kubectl/pkg/cmd/apply/apply.go ApplyOptions.Validate`, v0.36).
    fn of_kubectl(&self, preset: Preset, namespace: Option<&str>) -> Result<Pruning, BadInput> {
        if let Some(parent) = &self.applyset {
            return Ok(Pruning::ApplySet {
                id: apply_set_id(parent, namespace)?,
            });
        }
        let labels = match &self.selector {
            Some(labels) => labels,
            None if self.all => "",
            None => {
                let why = "--prune of kubectl needs --selector, --all or --applyset";
                return Err(BadInput(why.to_owned()));
            }
        };
        if preset == Preset::KubectlApplyServerSide {
            let why = "kubectl apply --server-side prunes only with --applyset";
            return Err(BadInput(why.to_owned()));
        }
        let selector = Selector::parse(labels, "");
        let selector =
            selector.map_err(|refusal| BadInput(format!("--selector: {}", refusal.message)))?;
        Ok(Pruning::Selected(selector))
    }
}

/// The id of an ApplySet: a hash of its parent's name, namespace, kind and group
/// (`k8s.io/kubectl/pkg/cmd/apply/applyset.go ID`, v0.36).
fn apply_set_id(parent: &str, namespace: Option<&str>) -> Result<String, BadInput> {
    let (kind, name) = match parent.split_once('/') {
        None | Some(("secret" | "secrets", _)) => ("Secret", parent),
        Some(("configmap" | "configmaps" | "cm", _)) => ("ConfigMap", parent),
        Some((other, _)) => {
            let why = format!("--applyset: {other} is neither secrets nor configmaps");
            return Err(BadInput(why));
        }
    };
    let name = name.rsplit('/').next().unwrap_or(name);
    let Some(namespace) = namespace else {
        return Err(BadInput("--applyset needs --namespace".to_owned()));
    };
    let hash = Sha256::digest(format!("{name}.{namespace}.{kind}."));
    Ok(format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(hash)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_apply_set_is_that_of_kubectl() {
        // The documentation of the label has this one.
        let documented = "applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1";
        let id = |parent| apply_set_id(parent, Some("test")).ok();
        assert_eq!(id("my-set").as_deref(), Some(documented));
        assert_eq!(id("my-set"), id("secrets/my-set"));
        assert_ne!(id("my-set"), id("configmaps/my-set"));
        assert!(id("widgets/my-set").is_none());
        assert!(apply_set_id("my-set", None).is_err());
    }
}
