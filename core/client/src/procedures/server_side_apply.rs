//! Tools that apply server-side: their requests before and after, and their treatment of fields in
//! conflict.

use std::mem::discriminant;
use std::sync::Arc;

use optimist_apiserver::apply::{LAST_APPLIED, ManagedFieldsOperation, Managers, Set};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::status::causes;
use serde_json::{Value, json};

use super::agent::Agent;
use super::part::PartList;
use super::upgrade::{Progress, Upgrade};
use crate::{Next, Reply, client_side_managers, manifest_fields};

/// The most rounds in which fields in conflict are left out. Each leaves out at least one field.
const ROUNDS: u8 = 100;

/// A server-side apply.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) struct ServerSideApply {
    agent: Agent,
    body: Arc<Value>,
    force: bool,
    /// `true` if it leaves the fields out that conflict, and applies again.
    leaves_out: bool,
    /// `true` if it makes the entries of client-side apply its own afterwards, as kubectl does.
    migrates: bool,
    rounds: u8,
    stage: ServerSideApplyStage,
}

#[derive(Clone, Debug, PartialEq, Hash)]
enum ServerSideApplyStage {
    /// It makes entries its own first, as Helm 4 and Argo CD do.
    TakingOver(Upgrade),
    Applying,
    KeepingAnnotation(Arc<Value>),
    Migrating(Upgrade),
    ApplyingAgain,
    Done,
}

impl ServerSideApply {
    /// An apply of fields by the manager that an agent names.
    pub(super) fn new(agent: Agent, body: Value, force: bool) -> Self {
        Self {
            agent,
            body: Arc::new(body),
            force,
            leaves_out: false,
            migrates: false,
            rounds: ROUNDS,
            stage: ServerSideApplyStage::Applying,
        }
    }

    /// The same, that leaves out the fields in conflict.
    pub(super) fn leaving_out(self, leaves_out: bool) -> Self {
        Self { leaves_out, ..self }
    }

    /// The same, that migrates from client-side apply afterwards
    /// (`k8s.io/kubectl/pkg/cmd/apply/apply.go saveLastApplyAnnotationIfNecessary,
    /// migrateToSSAIfNecessary`, v0.36).
    pub(super) fn migrating(self, migrates: bool) -> Self {
        Self { migrates, ..self }
    }

    /// The same, that takes over entries first.
    pub(super) fn taking_over(self, upgrade: Option<Upgrade>) -> Self {
        let stage = upgrade.map_or(
            ServerSideApplyStage::Applying,
            ServerSideApplyStage::TakingOver,
        );
        Self { stage, ..self }
    }

    pub(super) fn next(&self) -> Next {
        match &self.stage {
            ServerSideApplyStage::TakingOver(upgrade)
            | ServerSideApplyStage::Migrating(upgrade) => upgrade.next(),
            ServerSideApplyStage::Applying | ServerSideApplyStage::ApplyingAgain => {
                let call = self.agent.apply(&self.body, Some(self.force));
                self.agent.sends(&call, false)
            }
            ServerSideApplyStage::KeepingAnnotation(body) => {
                let agent = Agent {
                    user_agent: "kubectl".into(),
                    manager: Some("kubectl-last-applied".into()),
                    is_strict: true,
                    ..self.agent.clone()
                };
                agent.sends(&agent.apply(body, None), false)
            }
            ServerSideApplyStage::Done => Next::Done,
        }
    }

    pub(super) fn answered(&mut self, reply: &Reply) {
        match &mut self.stage {
            ServerSideApplyStage::TakingOver(upgrade) => match upgrade.answered(reply) {
                Progress::More => {}
                Progress::Accepted | Progress::Nothing => {
                    self.stage = ServerSideApplyStage::Applying
                }
                Progress::Refused => self.stage = ServerSideApplyStage::Done,
            },
            ServerSideApplyStage::Applying => self.applied(reply),
            ServerSideApplyStage::KeepingAnnotation(_) if reply.is_accepted() => {
                self.migrate(&reply.body)
            }
            ServerSideApplyStage::Migrating(upgrade) => match upgrade.answered(reply) {
                Progress::More => {}
                Progress::Accepted => self.stage = ServerSideApplyStage::ApplyingAgain,
                Progress::Nothing | Progress::Refused => self.stage = ServerSideApplyStage::Done,
            },
            _ => self.stage = ServerSideApplyStage::Done,
        }
    }

    pub(super) fn wake(&mut self) {
        if let ServerSideApplyStage::TakingOver(upgrade)
        | ServerSideApplyStage::Migrating(upgrade) = &mut self.stage
        {
            upgrade.wake();
        }
    }

    pub(super) fn add_parts<'a>(&'a self, parts: &mut PartList<'a>) {
        let options = (self.force, self.leaves_out, self.migrates, self.rounds);
        parts.plain((&self.agent, options, discriminant(&self.stage)));
        parts.object(&self.body);
        match &self.stage {
            ServerSideApplyStage::TakingOver(upgrade)
            | ServerSideApplyStage::Migrating(upgrade) => upgrade.add_parts(parts),
            ServerSideApplyStage::KeepingAnnotation(body) => parts.object(body),
            ServerSideApplyStage::Applying
            | ServerSideApplyStage::ApplyingAgain
            | ServerSideApplyStage::Done => {}
        }
    }

    /// Returns whether its next request is about owners only.
    pub(super) fn is_about_owners(&self) -> bool {
        matches!(
            self.stage,
            ServerSideApplyStage::TakingOver(_)
                | ServerSideApplyStage::KeepingAnnotation(_)
                | ServerSideApplyStage::Migrating(_)
        )
    }

    /// Takes the fields that the server named out of the body. Returns whether there is something
    /// to apply again.
    fn leave_out(&mut self, refusal: &Reply) -> bool {
        let conflicts = conflicts(&refusal.body);
        let resource = self.agent.object.resource();
        let fields = manifest_fields::printed(&self.body, &conflicts, resource);
        let left = manifest_fields::without(&self.body, &fields);
        self.rounds -= 1;
        if left == *self.body || self.rounds == 0 {
            return false;
        }
        self.body = Arc::new(left);
        true
    }

    /// Goes on after an apply. The migration of the default manager would remove the annotation of
    /// client-side apply: it gets an applier first.
    fn applied(&mut self, reply: &Reply) {
        if !reply.is_accepted() {
            if !self.leaves_out || !self.leave_out(reply) {
                self.stage = ServerSideApplyStage::Done;
            }
            return;
        }
        let object = &*reply.body;
        if !self.migrates {
            self.stage = ServerSideApplyStage::Done;
            return;
        }
        let annotation = object.pointer("/metadata/annotations");
        let annotation = annotation.and_then(|all| all.get(LAST_APPLIED));
        let is_default = self.agent.manager.as_deref() == Some("kubectl");
        match annotation.filter(|_| is_default && !annotation_is_applied(object)) {
            Some(annotation) => {
                let resource = self.agent.object.resource();
                let mut body = manifest_fields::part(object, &Set::default(), resource);
                body.set_meta("annotations", json!({LAST_APPLIED: annotation}));
                self.stage = ServerSideApplyStage::KeepingAnnotation(Arc::new(body));
            }
            None => self.migrate(object),
        }
    }

    fn migrate(&mut self, object: &Value) {
        let former = client_side_managers(object);
        let applier = self.agent.manager.as_deref().unwrap_or_default();
        let upgrade = Upgrade::for_object(object, former, applier, self.agent.clone(), None);
        self.stage = upgrade.map_or(ServerSideApplyStage::Done, ServerSideApplyStage::Migrating);
    }
}

/// Returns whether an applier owns the annotation of client-side apply.
fn annotation_is_applied(object: &Value) -> bool {
    let managers = Managers::of_object(object);
    let field = Set::of_fields(&[&["metadata", "annotations", LAST_APPLIED]]);
    managers.iter().any(|owned| {
        owned.manager.operation == ManagedFieldsOperation::Apply && field.is_subset(&owned.set)
    })
}

/// The fields that a refused apply names, as the server prints them.
fn conflicts(status: &Value) -> Vec<String> {
    let owned = causes(status).filter(|cause| text(cause, "reason") == "FieldManagerConflict");
    owned.map(|cause| text(cause, "field").to_owned()).collect()
}
