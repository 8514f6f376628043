//! Actors that are tools: each sends the requests of its own procedure, whatever the others write by.

use std::sync::Arc;

use http::Method;
use optimist_apiserver::object::Metadata;
use optimist_client::{
    Editor, Intent, OnOwned, Preset, Procedure, RequestKind, Subresource, Tool, ToolPlan,
    WantedChange, Way, bare, without_last_applied,
};
use serde_json::Value;

use super::copies::is_of_replicas;
use super::{Plan, Scenario, Search, ThirdActor, Transition};
use crate::ObjectRef;

impl Plan {
    /// A tool that writes in the usual way of its client: a manifest, or for a client that writes one field,
    /// that change.
    pub fn of_tool(preset: Preset, intent: Intent) -> Self {
        Self::new(manager_of(preset), intent).by_tool(preset)
    }

    /// The tools by which an actor can write its own edit.
    pub const TOOLS: [Preset; 12] = [
        Preset::KubectlEdit,
        Preset::KubectlApply,
        Preset::KubectlApplyServerSide,
        Preset::KubectlReplace,
        Preset::KubectlScale,
        Preset::Helm3,
        Preset::Helm4,
        Preset::ArgoCdClientSide,
        Preset::ArgoCdServerSide,
        Preset::Flux,
        Preset::Terraform,
        Preset::Autoscaler,
    ];

    /// The same actor with the same edit, as a tool. A tool that applies has the starting object with the edit as its
    /// manifest: one that names the edited field alone would give up all others.
    #[must_use]
    pub fn by_tool(self, preset: Preset) -> Self {
        Self {
            tool: Some(Way::Client(preset, OnOwned::Usual)),
            ..self
        }
    }

    /// Returns the tool that it is and what it writes. `None` for an editor: also for a deletion, which no
    /// tool has for an intent.
    pub(super) fn tool(&self) -> Option<(Way, &Intent)> {
        let way = self.tool?;
        (self.intent != Intent::Delete).then_some((way, &self.intent))
    }

    /// Returns whether it begins with a read. A tool does as its procedure says.
    pub fn begins_with_read(&self) -> bool {
        self.tool()
            .map_or(self.reads_first, |(way, _)| reads_first(way))
    }
}

fn writes_manifest(way: Way) -> bool {
    match way {
        Way::Create => true,
        Way::Client(preset, _) => preset.writes_manifest(),
    }
}

fn means_status(intent: &Intent) -> bool {
    matches!(intent, Intent::Change(changes) if changes.iter().any(|it| it.path.is_in_status()))
}

/// Returns an object as people keep it in a file, without a status.
fn manifest_of(object: &Value) -> Value {
    without_last_applied(bare(object))
}

/// Returns whether a tool reads the object before it writes. `kubectl create` and server-side applies of
/// kubectl and of controllers send what they have (`k8s.io/kubectl/pkg/cmd/apply/apply.go
/// applyOneObject`, v0.36, patches before its first `info.Get`).
fn reads_first(way: Way) -> bool {
    !matches!(
        way,
        Way::Create | Way::Client(Preset::KubectlApplyServerSide | Preset::ControllerApply, _)
    )
}

/// The name of a tool, which an actor that is one has. `None` for `kubectl create`.
pub(super) fn name_of(way: Way) -> Option<&'static str> {
    match way {
        Way::Create => None,
        Way::Client(preset, _) => Some(tool_name(preset)),
    }
}

/// The field manager of a tool. Code that names none writes as a controller.
fn manager_of(preset: Preset) -> &'static str {
    preset.manager().unwrap_or("controller")
}

fn tool_name(preset: Preset) -> &'static str {
    preset.actor_name().unwrap_or(manager_of(preset))
}

impl Scenario {
    /// Returns the process of a plan that has read an object or reads first.
    pub(super) fn procedure(&self, plan: &Plan, read: Option<&Arc<Value>>) -> Procedure {
        let Some((way, intent)) = plan.tool() else {
            return Editor::from(self.editor(plan, read)).into();
        };
        let change = match intent {
            Intent::Manifest(manifest) => WantedChange::manifest((**manifest).clone()),
            intent if writes_manifest(way) && !means_status(intent) => {
                WantedChange::manifest(manifest_of(&intent.done_on(&self.object)))
            }
            intent => WantedChange::edited(intent.done_on(&self.object)),
        };
        let plan = ToolPlan {
            object: ObjectRef::new(&self.resource, &self.object),
            way,
            change: Arc::new(change),
            first: Some(Arc::clone(&self.object)),
        };
        let tool = match read {
            Some(read) if reads_first(way) => Tool::with_read(plan, Arc::clone(read)),
            Some(object) => Tool::without_read(plan, Arc::clone(object)),
            None => Tool::from(plan),
        };
        tool.into()
    }

    /// Returns what a third actor does by itself, by the way of writing that it has. `None` if it cannot write an
    /// object of the kind so.
    pub(super) fn third(mut self, third: ThirdActor, manager: &Arc<str>) -> Option<Procedure> {
        let plan = third.plan(&self);
        let plan = match plan.tool() {
            Some(_) => plan,
            None => Plan {
                manager: Arc::clone(manager),
                ..plan
            },
        };
        let subresource = plan.subresource.map(Subresource::name);
        if subresource.is_some_and(|subresource| !self.resource.serves(subresource)) {
            return None;
        }
        self.plans = vec![plan];
        self.check_tools().ok()?;
        self.procedures().pop()
    }

    /// Checks that every tool can write an object of the kind.
    ///
    /// # Errors
    /// The reason why one cannot.
    pub(super) fn check_tools(&self) -> Result<(), String> {
        for plan in &self.plans {
            if let Some(Way::Client(preset, _)) = plan.tool
                && let Some(why) = self.why_not(preset, &plan.intent)
            {
                return Err(why);
            }
        }
        Ok(())
    }

    /// The reason why a tool cannot carry an intent.
    fn why_not(&self, preset: Preset, intent: &Intent) -> Option<String> {
        let (tool, kind) = (tool_name(preset), &self.resource.kind);
        let scales = matches!(preset, Preset::KubectlScale | Preset::Autoscaler);
        match intent {
            Intent::Delete => Some(format!("{tool} writes the object and does not delete it.")),
            _ if preset.write(&self.resource).is_none() => Some(format!(
                "{tool} writes the scale subresource, and {kind} has none."
            )),
            _ if scales && !is_of_replicas(intent) => {
                Some(format!("{tool} writes only the replicas."))
            }
            intent if means_status(intent) => {
                let split = self.resource.serves("status");
                split.then(|| format!("{tool} does not write the status."))
            }
            _ => None,
        }
    }

    /// Returns the intent of a delivery tool: the starting object as a manifest, with one more annotation.
    pub(super) fn manifest_with_annotation(&self, name: &str, value: &str) -> Intent {
        let mut manifest = manifest_of(&self.object);
        let mut annotations = match manifest.metadata().and_then(|meta| meta.get("annotations")) {
            Some(Value::Object(annotations)) => annotations.clone(),
            _ => Default::default(),
        };
        annotations.insert(name.to_owned(), value.into());
        manifest.set_meta("annotations", Value::Object(annotations));
        Intent::Manifest(Arc::new(manifest))
    }

    /// Returns the intent to have one replica more than the starting object.
    pub(super) fn one_replica_more(&self) -> Intent {
        let replicas = self.object.pointer("/spec/replicas");
        // The default of each kind that has replicas.
        let replicas = replicas.and_then(Value::as_i64).unwrap_or(1);
        let more = replicas.saturating_add(1).into();
        let change = optimist_client::IntendedChange::at("/spec/replicas", Some(more));
        Intent::Change(vec![change])
    }
}

impl Search {
    /// The verb that a step's request is shown as: its HTTP method, or `APPLY`. Each request of a tool has
    /// its own.
    pub fn verb(&self, step: &Transition) -> &'static str {
        let plan = self.scenario().plans.get(step.actor);
        match (plan, self.request(step)) {
            (Some(plan), Some(request)) if plan.tool().is_some() => {
                let media_type = request.headers().get(http::header::CONTENT_TYPE);
                let media_type = media_type.and_then(|it| it.to_str().ok());
                shown_verb(request.method(), media_type.unwrap_or_default())
            }
            (plan, _) => plan.map_or("", Plan::verb),
        }
    }
}

fn shown_verb(method: &Method, media_type: &str) -> &'static str {
    match RequestKind::from_request(method.as_str(), media_type) {
        RequestKind::Get => "GET",
        RequestKind::Create => "POST",
        RequestKind::Update => "PUT",
        RequestKind::Apply => "APPLY",
        RequestKind::Delete => "DELETE",
        _ => "PATCH",
    }
}
