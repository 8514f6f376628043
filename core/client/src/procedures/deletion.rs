//! A deletion whose client waits until the object is gone. A finalizer can hold it.

use std::time::Duration;

use super::agent::Agent;
use super::upgrade::Progress;
use crate::{Next, Reply};

/// The time that kubectl waits before it looks again (`k8s.io/kubectl/pkg/cmd/apply/patcher.go
/// deleteAndCreate`, v0.36).
const INTERVAL: Duration = Duration::from_secs(1);

/// A deletion.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) struct Deletion {
    agent: Agent,
    stage: DeletionStage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DeletionStage {
    Deleting,
    Looking,
    Sleeping,
}

impl Deletion {
    pub(super) fn new(agent: &Agent) -> Self {
        Self {
            agent: agent.without_options(),
            stage: DeletionStage::Deleting,
        }
    }

    pub(super) fn next(&self) -> Next {
        match self.stage {
            DeletionStage::Deleting => self.agent.sends(&self.agent.delete(), false),
            DeletionStage::Looking => self.agent.reads(),
            DeletionStage::Sleeping => Next::Sleep(INTERVAL),
        }
    }

    /// Accepted when the object is gone.
    pub(super) fn answered(&mut self, reply: &Reply) -> Progress {
        self.stage = match self.stage {
            DeletionStage::Deleting if reply.is_accepted() => DeletionStage::Looking,
            DeletionStage::Looking if reply.is_not_found() => return Progress::Accepted,
            DeletionStage::Looking if reply.is_accepted() => DeletionStage::Sleeping,
            _ => return Progress::Refused,
        };
        Progress::More
    }

    pub(super) fn wake(&mut self) {
        self.stage = DeletionStage::Looking;
    }

    pub(super) fn is_deleting(&self) -> bool {
        self.stage == DeletionStage::Deleting
    }
}
