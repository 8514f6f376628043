//! `kubectl apply`, also where Argo CD runs it: a patch by the manifest, the one that was applied
//! last, and the object.

use std::mem::discriminant;
use std::sync::Arc;
use std::time::Duration;

use optimist_apiserver::object::Metadata;
use serde_json::Value;

use super::agent::Agent;
use super::deletion::Deletion;
use super::part::PartList;
use super::upgrade::Progress;
use crate::{Next, Reply, Write, last_applied, three_way_patch};

/// The number of times that a patch is sent again after a conflict (`maxPatchRetry` in
/// `k8s.io/kubectl/pkg/cmd/apply/patcher.go`, v0.36).
const RETRIES: u8 = 5;
/// The time that kubectl waits before the second retry and those after it (`triesBeforeBackOff`,
/// `backOffPeriod`).
const BACKOFF: Duration = Duration::from_secs(1);

/// A client-side apply (`k8s.io/kubectl/pkg/cmd/apply/patcher.go Patch`, v0.36). An empty patch is
/// not sent. With force a refused patch is followed by a deletion and a creation
/// (`deleteAndCreate`).
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) struct ClientSideApply {
    agent: Agent,
    /// The write, with the strategy of the patch.
    write: Arc<Write>,
    /// The manifest with its annotation.
    manifest: Arc<Value>,
    /// The object as it was read for this attempt.
    live: Arc<Value>,
    /// The number of times that it may send the patch again.
    retries: u8,
    /// `true` if it replaces an object whose patch is refused.
    force: bool,
    stage: ClientSideApplyStage,
}

#[derive(Clone, Debug, PartialEq, Hash)]
enum ClientSideApplyStage {
    Patching(Arc<Value>),
    Sleeping,
    Reading,
    Deleting(Deletion),
    /// It creates the object by the manifest, or puts the old one back.
    Creating {
        old: bool,
    },
    Done,
}

impl ClientSideApply {
    pub(super) fn new(
        agent: Agent,
        write: Write,
        manifest: Value,
        live: Arc<Value>,
        force: bool,
    ) -> Self {
        let mut apply = Self {
            agent,
            write: Arc::new(write),
            manifest: Arc::new(manifest),
            live,
            retries: RETRIES,
            force,
            stage: ClientSideApplyStage::Done,
        };
        apply.patches();
        apply
    }

    fn patches(&mut self) {
        let resource = self.agent.object.resource();
        let patch = three_way_patch(
            resource,
            &last_applied(&self.live),
            &self.live,
            &self.manifest,
        );
        self.stage = match is_empty(&patch) {
            true => ClientSideApplyStage::Done,
            false => ClientSideApplyStage::Patching(Arc::new(patch)),
        };
    }

    pub(super) fn next(&self) -> Next {
        match &self.stage {
            ClientSideApplyStage::Patching(patch) => {
                let call = self.write.call(&self.live, (**patch).clone());
                self.agent.sends(&call, false)
            }
            ClientSideApplyStage::Sleeping => Next::Sleep(BACKOFF),
            ClientSideApplyStage::Reading => self.agent.reads(),
            ClientSideApplyStage::Deleting(deletion) => deletion.next(),
            ClientSideApplyStage::Creating { old } => {
                let mut object = match old {
                    true => (*self.live).clone(),
                    false => (*self.manifest).clone(),
                };
                object.metadata_mut().remove("resourceVersion");
                self.agent.sends(&self.agent.create(object), false)
            }
            ClientSideApplyStage::Done => Next::Done,
        }
    }

    pub(super) fn answered(&mut self, reply: &Reply) {
        match &mut self.stage {
            ClientSideApplyStage::Patching(_) if reply.is_conflict() && self.retries > 0 => {
                let first = self.retries == RETRIES;
                self.retries -= 1;
                self.stage = match first {
                    true => ClientSideApplyStage::Reading,
                    false => ClientSideApplyStage::Sleeping,
                };
            }
            ClientSideApplyStage::Patching(_) if self.force && matches!(reply.code, 409 | 422) => {
                self.stage = ClientSideApplyStage::Deleting(Deletion::new(&self.agent));
            }
            ClientSideApplyStage::Reading if reply.is_accepted() => {
                self.live = Arc::clone(&reply.body);
                self.patches();
            }
            ClientSideApplyStage::Deleting(deletion) => match deletion.answered(reply) {
                Progress::More => {}
                Progress::Accepted => self.stage = ClientSideApplyStage::Creating { old: false },
                Progress::Nothing | Progress::Refused => self.stage = ClientSideApplyStage::Done,
            },
            ClientSideApplyStage::Creating { old: false } if !reply.is_accepted() => {
                self.stage = ClientSideApplyStage::Creating { old: true };
            }
            _ => self.stage = ClientSideApplyStage::Done,
        }
    }

    pub(super) fn wake(&mut self) {
        match &mut self.stage {
            ClientSideApplyStage::Sleeping => self.stage = ClientSideApplyStage::Reading,
            ClientSideApplyStage::Deleting(deletion) => deletion.wake(),
            _ => {}
        }
    }

    pub(super) fn add_parts<'a>(&'a self, parts: &mut PartList<'a>) {
        parts.plain((&self.agent, &self.write, self.retries, self.force));
        parts.object(&self.manifest);
        parts.object(&self.live);
        parts.plain(discriminant(&self.stage));
        match &self.stage {
            ClientSideApplyStage::Patching(patch) => parts.object(patch),
            ClientSideApplyStage::Deleting(deletion) => parts.plain(deletion),
            ClientSideApplyStage::Creating { old } => parts.plain(old),
            ClientSideApplyStage::Sleeping
            | ClientSideApplyStage::Reading
            | ClientSideApplyStage::Done => {}
        }
    }

    pub(super) fn is_deleting(&self) -> bool {
        matches!(&self.stage, ClientSideApplyStage::Deleting(deletion) if deletion.is_deleting())
    }
}

/// Returns whether a patch has nothing.
pub(super) fn is_empty(patch: &Value) -> bool {
    patch.as_object().is_some_and(|members| members.is_empty())
}
