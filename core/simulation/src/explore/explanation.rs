//! The words that show a plan and a scenario.

use super::{Plan, Scenario};
use optimist_apiserver::apply::{Path, differing, merge};
use optimist_client::{Intent, Preset, Strategy, Way, bare};

impl Plan {
    /// The verb that the actor's write is shown as: its HTTP method, or `APPLY`. A tool has one for the
    /// request that changes the object, and [more](super::Search::verb) for the others.
    pub fn verb(&self) -> &'static str {
        if let Some((way, _)) = self.tool() {
            return write_verb(way);
        }
        match (&self.intent, self.write.strategy) {
            (Intent::Delete, _) => "DELETE",
            (_, Strategy::Update) => "PUT",
            (_, Strategy::Apply) => "APPLY",
            _ => "PATCH",
        }
    }
}

/// The verb of the request by which a tool changes an object that exists.
fn write_verb(way: Way) -> &'static str {
    match way {
        Way::Create => "POST",
        Way::Client(preset, _) => match preset {
            Preset::KubectlReplace
            | Preset::Update
            | Preset::Autoscaler
            | Preset::CreateOrUpdate => "PUT",
            Preset::KubectlApplyServerSide
            | Preset::Helm4
            | Preset::ArgoCdServerSide
            | Preset::Flux
            | Preset::Terraform
            | Preset::ControllerApply => "APPLY",
            Preset::KubectlEdit
            | Preset::KubectlApply
            | Preset::KubectlScale
            | Preset::KubectlLabel
            | Preset::MergeFrom
            | Preset::Helm3
            | Preset::ArgoCdClientSide => "PATCH",
        },
    }
}

impl Scenario {
    /// The fields that actors mean to change, each once.
    pub fn changed_fields(&self) -> Vec<Path> {
        let mut paths: Vec<Path> = Vec::new();
        for plan in &self.plans {
            let root = &self.resource.root;
            let changed = match &plan.intent {
                Intent::Change(changes) => changes.iter().map(|it| it.path.clone()).collect(),
                Intent::Manifest(manifest) => {
                    let merged = merge(&self.object, &bare(manifest), root);
                    differing(&self.object, &merged, root)
                }
                Intent::Delete => Vec::new(),
            };
            for path in changed {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths
    }
}
