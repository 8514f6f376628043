//! The words that show a plan and a scenario.

use super::{Plan, Scenario};
use optimist_apiserver::apply::{Path, differing, merge};
use optimist_client::{Intent, Strategy, bare};

impl Plan {
    /// The verb that the actor's write is shown as: its HTTP method, or `APPLY`.
    pub fn verb(&self) -> &'static str {
        match (&self.intent, self.write.strategy) {
            (Intent::Delete, _) => "DELETE",
            (_, Strategy::Update) => "PUT",
            (_, Strategy::Apply) => "APPLY",
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
