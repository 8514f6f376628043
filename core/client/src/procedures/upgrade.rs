//! From client-side apply to server-side apply: a patch of `managedFields`, made again from the new
//! object after a conflict.

use std::mem::discriminant;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::agent::Agent;
use super::part::PartList;
use crate::{Next, Patch, Reply, upgrade_patch};

/// The number of times that the patch is sent: `maxPatchRetry` in
/// `k8s.io/kubectl/pkg/cmd/apply/patcher.go` and the steps of `retry.DefaultRetry`, v0.36.
const ATTEMPTS: u8 = 5;

/// The entries of some managers by Update become part of an applier's entry.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) struct Upgrade {
    agent: Agent,
    from: Arc<[String]>,
    applier: Arc<str>,
    /// The time that it waits after a conflict before it reads: kubectl does not wait, and a user
    /// of `retry.RetryOnConflict` does.
    backoff: Option<Duration>,
    attempts: u8,
    stage: UpgradeStage,
}

#[derive(Clone, Debug, PartialEq, Hash)]
enum UpgradeStage {
    Patching(Arc<Value>),
    Sleeping,
    Reading,
}

/// The progress after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is not done.
    More,
    /// It is done, and the server took it.
    Accepted,
    /// There is nothing to do any more.
    Nothing,
    /// The server refused it.
    Refused,
}

impl Upgrade {
    /// An upgrade of an object that was read. `None` if there is nothing to change.
    pub(super) fn for_object(
        object: &Value,
        from: Vec<String>,
        applier: &str,
        agent: Agent,
        backoff: Option<Duration>,
    ) -> Option<Self> {
        let patch = upgrade_patch(object, &from, applier)?;
        Some(Self {
            agent,
            from: from.into(),
            applier: applier.into(),
            backoff,
            attempts: ATTEMPTS,
            stage: UpgradeStage::Patching(Arc::new(patch)),
        })
    }

    pub(super) fn next(&self) -> Next {
        match &self.stage {
            UpgradeStage::Patching(patch) => {
                let call = self.agent.patch(Patch::Json((**patch).clone()));
                self.agent.sends(&call, false)
            }
            UpgradeStage::Sleeping => Next::Sleep(self.backoff.unwrap_or_default()),
            UpgradeStage::Reading => self.agent.reads(),
        }
    }

    pub(super) fn answered(&mut self, reply: &Reply) -> Progress {
        let patches = matches!(self.stage, UpgradeStage::Patching(_));
        if patches && reply.is_conflict() && self.attempts > 1 {
            self.attempts -= 1;
            self.stage = match self.backoff {
                Some(_) => UpgradeStage::Sleeping,
                None => UpgradeStage::Reading,
            };
            return Progress::More;
        }
        if !reply.is_accepted() {
            return Progress::Refused;
        }
        if patches {
            return Progress::Accepted;
        }
        match upgrade_patch(&reply.body, &self.from, &self.applier) {
            Some(patch) => {
                self.stage = UpgradeStage::Patching(Arc::new(patch));
                Progress::More
            }
            None => Progress::Nothing,
        }
    }

    pub(super) fn add_parts<'a>(&'a self, parts: &mut PartList<'a>) {
        parts.plain((&self.agent, &self.from, &self.applier));
        parts.plain((self.backoff, self.attempts, discriminant(&self.stage)));
        if let UpgradeStage::Patching(patch) = &self.stage {
            parts.object(patch);
        }
    }

    pub(super) fn wake(&mut self) {
        if self.stage == UpgradeStage::Sleeping {
            self.stage = UpgradeStage::Reading;
        }
    }
}
