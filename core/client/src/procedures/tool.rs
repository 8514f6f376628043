//! A tool that writes a change: it reads the object, and sends the requests of the real tool.

use std::mem::discriminant;
use std::sync::Arc;

use http::Method;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::Release;
use serde_json::{Value, json};

use super::agent::{Agent, SingleRequest};
use super::client_side_apply::{ClientSideApply, is_empty};
use super::flux::Flux;
use super::part::PartList;
use super::read_change::{ReadChange, applies};
use super::server_side_apply::ServerSideApply;
use super::tracking;
use super::upgrade::Upgrade;
use crate::procedures::editor::BACKOFF;
use crate::{
    ChangeContent, Edit, Editor, EditorPlan, Next, ObjectRef, OnOwned, Preset, ReleaseMethod,
    Reply, WantedChange, Way, WorkingCopy, Write, annotated, bare, get_request, last_applied,
    manifest_fields, with_renewed_annotation,
};

/// The manager by which Argo CD migrates from client-side apply, if an Application does not name
/// another one (`argo-cd/gitops-engine/pkg/sync/common/types.go
/// DefaultClientSideApplyMigrationManager`, v3.5).
const CLIENT_SIDE: &str = "kubectl-client-side-apply";

/// The change that a tool writes, and its command and options.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct ToolPlan {
    /// The object.
    pub object: ObjectRef,
    /// The tool.
    pub way: Way,
    /// The change.
    pub change: Arc<WantedChange>,
    /// The object as it was when the change was thought of; `None` for a tool that reads it first.
    pub first: Option<Arc<Value>>,
}

/// A tool at some place in its procedure.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Tool {
    plan: Arc<ToolPlan>,
    /// The object that it last read; `None` before that, and if the object was not there.
    read: Option<Arc<Value>>,
    stage: Stage,
}

#[derive(Clone, Debug, PartialEq, Hash)]
enum Stage {
    Reading,
    Sending(SingleRequest),
    Editing(Editor),
    Patching(ClientSideApply),
    Applying(ServerSideApply),
    Reconciling(Flux),
    /// It has nothing to send.
    Done,
    /// It cannot carry the change.
    Unable,
}

impl From<ToolPlan> for Tool {
    /// A tool that reads the object first.
    fn from(plan: ToolPlan) -> Self {
        Self {
            plan: Arc::new(plan),
            read: None,
            stage: Stage::Reading,
        }
    }
}

impl Tool {
    /// A tool that has read the object: `null` if the object is not there.
    pub fn with_read(plan: ToolPlan, live: Arc<Value>) -> Self {
        let mut tool = Self::from(plan);
        tool.has_read(&live);
        tool.start(live);
        tool
    }

    /// A tool that sends what it has without a read: its change was made of this object.
    pub fn without_read(plan: ToolPlan, object: Arc<Value>) -> Self {
        let mut tool = Self::from(plan);
        tool.start(object);
        tool
    }

    /// Makes an apply of fields by a tool that applies server-side, with the tool's requests before and
    /// after it.
    pub fn with_fields(plan: ToolPlan, live: Arc<Value>, fields: Value, manager: &str) -> Self {
        let mut tool = Self::from(plan);
        let plan = Arc::clone(&tool.plan);
        let read = plan.read(&live);
        if let Way::Client(preset, on_owned) = plan.way {
            let force = on_owned == OnOwned::Force;
            let apply = read.applies(preset, manager, fields, force);
            tool.stage = Stage::Applying(apply);
        }
        tool
    }

    /// Returns whether it cannot carry the change: it writes only labels or only replicas, or the kind has
    /// no `/scale`, or the object is not there.
    pub fn is_unable(&self) -> bool {
        self.stage == Stage::Unable
    }

    /// Returns the change that it writes, and its command and options.
    pub fn plan(&self) -> &ToolPlan {
        &self.plan
    }

    /// Returns the editor as which it sends its change and tries again. `None` before it has read the object,
    /// and for a tool that sends no edits of a copy.
    pub fn editor(&self) -> Option<&Editor> {
        match &self.stage {
            Stage::Editing(editor) => Some(editor),
            _ => None,
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self.next(), Next::Done)
    }

    pub(crate) fn writes_next(&self) -> bool {
        matches!(self.next(), Next::Send(request) if request.method() != Method::GET)
    }

    pub(crate) fn dry_runs_next(&self) -> bool {
        matches!(&self.stage, Stage::Reconciling(flux) if flux.is_dry_run())
    }

    fn reads_next(&self) -> bool {
        matches!(self.next(), Next::Send(request) if request.method() == Method::GET)
    }

    pub(crate) fn object(&self) -> &ObjectRef {
        &self.plan.object
    }

    pub(crate) fn give_up(&mut self) {
        self.stage = Stage::Done;
    }

    pub(crate) fn next(&self) -> Next {
        match &self.stage {
            Stage::Reading => self.plan.reads(),
            Stage::Sending(single) => single.next(),
            Stage::Editing(editor) => editor.next(),
            Stage::Patching(apply) => apply.next(),
            Stage::Applying(apply) => apply.next(),
            Stage::Reconciling(flux) => flux.next(),
            Stage::Done | Stage::Unable => Next::Done,
        }
    }

    /// Returns the object that it last read. `None` if it has read none, or the object was not there.
    pub fn read(&self) -> Option<&Arc<Value>> {
        self.read.as_ref()
    }

    fn has_read(&mut self, object: &Arc<Value>) {
        self.read = (!object.is_null()).then(|| Arc::clone(object));
    }

    pub(crate) fn answered(&mut self, reply: &Reply) {
        if self.reads_next() {
            match reply.is_accepted() {
                true => self.has_read(&reply.body),
                false => self.read = None,
            }
        }
        match &mut self.stage {
            Stage::Reading if reply.is_accepted() => self.start(Arc::clone(&reply.body)),
            Stage::Reading if reply.is_not_found() => self.start(Arc::default()),
            Stage::Reading | Stage::Done | Stage::Unable => self.stage = Stage::Done,
            Stage::Sending(single) => single.answered(reply),
            Stage::Editing(editor) => editor.answered(reply),
            Stage::Patching(apply) => apply.answered(reply),
            Stage::Applying(apply) => apply.answered(reply),
            Stage::Reconciling(flux) => flux.answered(reply),
        }
    }

    pub(crate) fn wake(&mut self) {
        match &mut self.stage {
            Stage::Editing(editor) => editor.wake(),
            Stage::Patching(apply) => apply.wake(),
            Stage::Applying(apply) => apply.wake(),
            Stage::Reconciling(flux) => flux.wake(),
            Stage::Reading | Stage::Sending(_) | Stage::Done | Stage::Unable => {}
        }
    }

    /// Returns the edits that its next request means to make. `None` for a tool that applies or creates:
    /// it means every change that the request makes.
    pub(crate) fn meant(&self, release: Release) -> Option<Vec<Arc<Edit>>> {
        match &self.stage {
            Stage::Editing(editor) => editor.meant(release),
            Stage::Patching(apply) if apply.is_deleting() => Some(vec![Edit::deletion()]),
            Stage::Reconciling(flux) if flux.is_deleting() => Some(vec![Edit::deletion()]),
            Stage::Reconciling(_) if self.dry_runs_next() => Some(Vec::new()),
            Stage::Applying(apply) if apply.is_about_owners() => Some(Vec::new()),
            Stage::Reading => Some(Vec::new()),
            _ => None,
        }
    }

    /// Returns whether it reads again after a conflict and writes its change over the new object.
    pub(crate) fn repeats_edits(&self) -> bool {
        match &self.stage {
            Stage::Editing(editor) => editor.plan().write.on_conflict.reads_again(),
            Stage::Patching(_) => true,
            _ => false,
        }
    }

    /// The object that it has read decides what follows only as far as its stage has it.
    pub(crate) fn add_parts<'a>(&'a self, parts: &mut PartList<'a>) {
        parts.plain((&self.plan, discriminant(&self.stage)));
        match &self.stage {
            Stage::Sending(single) => single.add_parts(parts),
            Stage::Editing(editor) => parts.editor(editor),
            Stage::Patching(apply) => apply.add_parts(parts),
            Stage::Applying(apply) => apply.add_parts(parts),
            Stage::Reconciling(flux) => flux.add_parts(parts),
            Stage::Reading | Stage::Done | Stage::Unable => {}
        }
    }

    fn start(&mut self, live: Arc<Value>) {
        let plan = Arc::clone(&self.plan);
        let started = plan.read(&live).start(plan.way);
        self.stage = started.unwrap_or(Stage::Unable);
    }
}

impl ToolPlan {
    /// Returns the first read. The HorizontalPodAutoscaler reads the Scale and never the object
    /// (`pkg/controller/podautoscaler/horizontal.go scaleForResourceMappings`, v1.36).
    fn reads(&self) -> Next {
        match self.way {
            Way::Client(preset @ Preset::Autoscaler, _) => {
                let agent = preset.manager().unwrap_or_default();
                get_request(&self.object.scale_path(), agent).into()
            }
            _ => Agent::named(&self.object, "kubectl").reads(),
        }
    }

    fn read<'a>(&'a self, live: &'a Arc<Value>) -> ReadChange<'a> {
        ReadChange {
            object: &self.object,
            change: &self.change,
            first: self.first.as_ref().unwrap_or(live),
            live: Arc::clone(live),
        }
    }
}

impl ReadChange<'_> {
    /// Returns the first stage of a tool. `None` if it cannot carry the change.
    fn start(mut self, way: Way) -> Option<Stage> {
        let Way::Client(preset, on_owned) = way else {
            return Some(Stage::Sending(self.create()));
        };
        let write = preset.write(self.resource())?;
        if self.live.is_null() {
            self.live = self.object.unread();
            if !applies(preset) {
                return self.create_by(preset, &write).map(Stage::Sending);
            }
        }
        let agent = self.agent(preset, &write);
        let stage = match preset {
            Preset::KubectlReplace => self.replace(agent, &write),
            Preset::KubectlApply | Preset::ArgoCdClientSide => {
                let manifest = self.manifest_after(&last_applied(&self.live));
                let manifest = annotated(&tracking::tracked(preset, manifest, &self.live));
                // `argo-cd/gitops-engine/pkg/sync/sync_context.go applyObject`, v3.5.
                let says = |object| tracking::says(object, tracking::SYNC_OPTIONS, "Force=true");
                let told =
                    preset == Preset::ArgoCdClientSide && (says(&manifest) || says(&self.live));
                let force = on_owned == OnOwned::Force || told;
                let live = Arc::clone(&self.live);
                Stage::Patching(ClientSideApply::new(agent, write, manifest, live, force))
            }
            Preset::KubectlApplyServerSide
            | Preset::ArgoCdServerSide
            | Preset::Helm4
            | Preset::Terraform
            | Preset::ControllerApply => {
                let manager = self.manager(preset, &write);
                let body = self.manifest(Some(preset), &manager);
                let force = write.force || on_owned == OnOwned::Force;
                let apply = self.applies(preset, &manager, body, force);
                Stage::Applying(apply.leaving_out(on_owned == OnOwned::LeaveOut))
            }
            Preset::Flux => {
                let manifest = self.manifest(Some(preset), "kustomize-controller");
                let force = on_owned == OnOwned::Force;
                let live = Arc::clone(&self.live);
                Stage::Reconciling(Flux::new(agent, manifest, live, force))
            }
            Preset::Helm3 => self.helm_3(agent, &write),
            Preset::KubectlScale | Preset::Autoscaler => self.scale(preset, agent, write)?,
            Preset::KubectlLabel => self.label(agent, write)?,
            Preset::KubectlEdit | Preset::Update | Preset::MergeFrom | Preset::CreateOrUpdate => {
                let copy = self.copy();
                // Code sends its request also without an edit. `CreateOrUpdate` compares first.
                let always = matches!(preset, Preset::Update | Preset::MergeFrom);
                match copy.is_edited() || always {
                    true => self.edits(agent, write, copy),
                    false => Stage::Done,
                }
            }
        };
        Some(stage)
    }

    /// Returns the sender of a tool's writes.
    fn agent(&self, preset: Preset, write: &Write) -> Agent {
        let manager = self.manager(preset, write);
        let own = preset.manager_is_chosen() && self.change.manager.is_some();
        let helm = preset.is_helm();
        let named = applies(preset) || (own || helm) && write.manager.is_some();
        Agent {
            manager: match preset {
                // They name no manager: the server takes their User-Agent.
                Preset::KubectlScale | Preset::Autoscaler => None,
                _ if named => Some(manager.as_str().into()),
                _ => write.manager.as_deref().map(Arc::from),
            },
            user_agent: manager.into(),
            object: self.object.clone(),
            is_strict: preset.validates_strictly(),
        }
    }

    fn create(&self) -> SingleRequest {
        let body = bare(&self.manifest(None, "kubectl-create"));
        let agent = Agent {
            user_agent: "kubectl".into(),
            is_strict: true,
            ..Agent::named(self.object, "kubectl-create")
        };
        let call = agent.create(body);
        SingleRequest::new(agent, call)
    }

    /// Returns the request by which a client creates an object that does not exist: client-side apply with
    /// its annotation (`k8s.io/kubectl/pkg/cmd/apply/apply.go applyOneObject`, v0.36), Helm 3
    /// (`helm.sh/helm/v3/pkg/kube/client.go createResource`, v3.21), `CreateOrUpdate`. `None` for a client
    /// that only changes existing objects.
    fn create_by(&self, preset: Preset, write: &Write) -> Option<SingleRequest> {
        let manager = self.manager(preset, write);
        let body = self.manifest(Some(preset), &manager);
        let body = match preset {
            Preset::KubectlApply | Preset::ArgoCdClientSide => annotated(&body),
            Preset::Helm3 | Preset::CreateOrUpdate => body,
            _ => return None,
        };
        let agent = Agent {
            manager: write.manager.as_ref().map(|_| manager.as_str().into()),
            is_strict: preset.validates_strictly(),
            ..Agent::named(self.object, &manager)
        };
        let call = agent.create(body);
        Some(SingleRequest::new(agent, call))
    }

    /// Makes an apply, with its tool's requests before and after: Helm 4 moves the fields that it owns by
    /// Update into its applier's entry, if the last release was applied in the client
    /// (`helm.sh/helm/v4/pkg/kube/client.go upgradeClientSideFieldManager`, v4.2). Argo CD makes the entry
    /// of kubectl's client-side apply its own, then kubectl applies
    /// (`argo-cd/gitops-engine/pkg/sync/sync_context.go applyObject, performCSAUpgradeMigration`, v3.5).
    fn applies(&self, preset: Preset, manager: &str, body: Value, force: bool) -> ServerSideApply {
        let agent = Agent {
            is_strict: preset.validates_strictly(),
            ..Agent::named(self.object, manager)
        };
        let by_client = self.change.last_release == ReleaseMethod::ClientSide;
        let takes_over = match preset {
            Preset::Helm4 if by_client => Some((manager, agent.clone())),
            Preset::ArgoCdServerSide => {
                let user_agent = "argocd-application-controller".into();
                let agent = Agent {
                    user_agent,
                    ..agent.without_options()
                };
                Some((CLIENT_SIDE, agent))
            }
            _ => None,
        };
        let upgrade = takes_over.and_then(|(from, agent)| {
            let from = vec![from.to_owned()];
            Upgrade::for_object(&self.live, from, manager, agent, Some(BACKOFF))
        });
        let migrates = matches!(
            preset,
            Preset::KubectlApplyServerSide | Preset::ArgoCdServerSide
        );
        ServerSideApply::new(agent, body, force)
            .taking_over(upgrade)
            .migrating(migrates)
    }

    /// `kubectl replace`: without a version in the file it sends the one that is stored
    /// (`k8s.io/cli-runtime/pkg/resource/helper.go Replace`, v0.36).
    fn replace(&self, agent: Agent, write: &Write) -> Stage {
        let mut body = match &self.change.content {
            ChangeContent::Manifest(manifest) => manifest_fields::of_object(manifest, &self.live),
            ChangeContent::Edited(_) => self.edited(),
        };
        body = with_renewed_annotation(&body).unwrap_or(body);
        if body.resource_version().is_empty() {
            body.set_meta("resourceVersion", self.live.resource_version());
        }
        self.sends(agent, write, body)
    }

    fn sends(&self, agent: Agent, write: &Write, body: Value) -> Stage {
        let call = write.call(&self.live, body);
        Stage::Sending(SingleRequest::new(agent, call))
    }

    /// The edits of a copy alone, in the body of the strategy.
    fn edits(&self, agent: Agent, write: Write, copy: WorkingCopy) -> Stage {
        let write = Write {
            manager: agent.manager.as_deref().map(str::to_owned),
            ..write
        };
        let editor = Editor::from(EditorPlan {
            object: self.object.clone(),
            manager: agent.user_agent,
            copy,
            intent: None,
            write,
        });
        Stage::Editing(editor)
    }

    /// Replicas alone.
    fn scale(&self, preset: Preset, agent: Agent, write: Write) -> Option<Stage> {
        let replicas = self.edited().pointer("/spec/replicas")?.clone();
        if self.first.pointer("/spec/replicas") == Some(&replicas) {
            return None;
        }
        if preset == Preset::KubectlScale {
            // `ScaleSimple` sends the patch whatever the present number is.
            let body = json!({"spec": {"replicas": replicas}});
            return Some(self.sends(agent, &write, body));
        }
        if self.live.pointer("/spec/replicas") == Some(&replicas) {
            return Some(Stage::Done);
        }
        let copy = WorkingCopy::changed(&self.live, |object| object["spec"]["replicas"] = replicas);
        Some(self.edits(agent, write, copy))
    }

    /// Labels alone.
    fn label(&self, agent: Agent, write: Write) -> Option<Stage> {
        let labels = |object: &Value| object.pointer("/metadata/labels").cloned();
        let wanted = labels(&self.edited());
        if labels(self.first) == wanted {
            return None;
        }
        let copy = WorkingCopy::changed(&self.live, |object| {
            object.set_meta("labels", wanted.unwrap_or_default())
        });
        Some(match copy.is_edited() {
            true => self.edits(agent, write, copy),
            false => Stage::Done,
        })
    }

    /// Helm 3: the difference between its manifests, or what the object lacks of them.
    fn helm_3(&self, agent: Agent, write: &Write) -> Stage {
        let patch = self.helm_3_patch(&self.manager(Preset::Helm3, write));
        match is_empty(&patch) {
            true => Stage::Done,
            false => self.sends(agent, write, patch),
        }
    }
}
