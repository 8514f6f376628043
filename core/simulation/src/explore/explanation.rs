//! The words that show a plan and a scenario.

use super::{Plan, Scenario};
use optimist_apiserver::apply::{Path, differing, merge};
use optimist_client::{Intent, Strategy, Way, bare};

impl Plan {
    /// The verb that the actor's write is shown as: its HTTP method, or `APPLY`. A tool has one for the
    /// request that changes the object, and [more](super::Search::verb) for the others.
    pub fn verb(&self) -> &'static str {
        let strategy = match self.tool() {
            Some((Way::Create, _)) => return "POST",
            Some((Way::Client(preset, _), _)) => preset.write_with(Strategy::MergePatch).strategy,
            None if self.intent == Intent::Delete => return "DELETE",
            None => self.write.strategy,
        };
        match strategy {
            Strategy::Update => "PUT",
            Strategy::Apply => "APPLY",
            _ => "PATCH",
        }
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
