//! One row of the table: a way of writing, run.

use std::sync::Arc;

use optimist_apiserver::apply::{ManagedFieldsOperation, Manager, Path, PathElement};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{ApiServer, Resource};
use optimist_client::{Preset, bare, client_side_managers, last_applied};
use optimist_code::{ClientRequest, kubectl};
use optimist_simulation::Exchange;
use serde_json::Value;

use super::conflict_cause::{ConflictCause, conflict_causes, conflicts};
use super::fields::{FieldEffect, FieldInputs, FieldOutcome};
use super::second_run::{SecondRun, apply_again};
use super::server_words::in_server_words;
use super::{ChangeContent, ChangeTable, OnOwned, RunningClient, Way, manifest, read, version_of};
use crate::completions::OpenQuestion;

/// The effects of a way of writing.
#[derive(Clone, Debug)]
pub struct Row {
    /// The way.
    pub way: Way,
    /// The field manager of the last request; empty if nothing was sent.
    pub writer: String,
    /// The requests that were sent and their answers, in their order. Empty if the client saw that
    /// there is nothing to do.
    pub requests: Vec<Exchange>,
    /// The runs of the client's tool: for each, the positions in [`Row::requests`] of its first request and
    /// after its last one. The tool sends these by itself. All others are sent by hand, or by other
    /// managers.
    pub tool_runs: Vec<(usize, usize)>,
    /// The status code of the answer that decides ([`Row::deciding`]). `None` if nothing was sent.
    pub code: Option<u16>,
    /// The reason of a refusal (`metav1.StatusReason`); empty if there is none.
    pub reason: String,
    /// The message of a refusal.
    pub message: String,
    /// The causes of a refusal.
    pub causes: Vec<ConflictCause>,
    /// The texts of the Warning headers of all answers.
    pub warnings: Vec<String>,
    /// The effects, field by field. Fields that kept value and owners are left out.
    pub fields: Vec<FieldOutcome>,
    /// The result of the same run once more; `None` if this one was refused.
    pub second_run: Option<SecondRun>,
    /// The managers that will write a field again which this run took.
    pub taken_back: Vec<TakenBack>,
    /// The object before, as a GET shows it.
    pub before: Arc<Value>,
    /// The object after, as a GET shows it.
    pub after: Arc<Value>,
    /// The results that depend on something which a text leaves out
    /// ([`CompletedChange`](crate::completions::CompletedChange)); empty if the input has
    /// everything.
    pub open: Vec<OpenQuestion>,
    /// `true` if the values of the fields are made up.
    pub values_made_up: bool,
}

/// A field that another manager will write again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// The field.
    pub field: Path,
    /// The manager that had set it.
    pub manager: Manager,
    /// `true` if it can be a HorizontalPodAutoscaler: kube-controller-manager through `/scale`.
    pub autoscaler: bool,
}

/// The place of the request that decides: the last one. If the server refuses to create an object again
/// that was deleted, kubectl puts the old one back; then the refused request decides.
fn deciding(requests: &[Exchange]) -> Option<usize> {
    let last = requests.len().checked_sub(1)?;
    let puts_back = |at: usize| requests[at].method == "POST" && requests[at].code >= 300;
    Some(
        last.checked_sub(1)
            .filter(|at| puts_back(*at))
            .unwrap_or(last),
    )
}

impl Row {
    /// Returns the position of the request that decides the client's result.
    pub fn deciding(&self) -> Option<usize> {
        deciding(&self.requests)
    }

    /// Returns whether the object was written.
    pub fn is_written(&self) -> bool {
        version_of(&self.before) != version_of(&self.after)
    }

    /// Returns whether the deciding request was refused.
    pub fn is_refused(&self) -> bool {
        self.code.is_some_and(|code| code >= 300)
    }

    /// Returns whether the client deleted the object, and the server keeps it for a time: a finalizer or a grace period holds
    /// it (`k8s.io/apiserver/pkg/registry/rest/delete.go BeforeDelete`, v0.36).
    pub fn is_being_deleted(&self) -> bool {
        let last = self.requests.last();
        let deletes = last.is_some_and(|last| last.method == "DELETE" && last.code < 300);
        deletes && !self.after.meta_text("deletionTimestamp").is_empty()
    }

    /// The finalizers that hold an object which [is being deleted](Self::is_being_deleted).
    pub fn held_by(&self) -> Vec<String> {
        if !self.is_being_deleted() {
            return Vec::new();
        }
        let finalizers = self.after.finalizers().into_iter();
        finalizers.map(str::to_owned).collect()
    }

    /// Returns whether the client sets the fields of a manifest in a copy of the object, in which it finds the items of
    /// lists by their keys and keeps the others.
    pub fn edits_copy(&self) -> bool {
        let Way::Client(preset, _) = self.way else {
            return false;
        };
        matches!(
            preset,
            Preset::KubectlEdit | Preset::Update | Preset::MergeFrom | Preset::CreateOrUpdate
        )
    }

    /// The command that sends each request: kubectl, also where another client sent it.
    pub fn commands(&self, resource: &Resource) -> Vec<String> {
        let commands = self.requests.iter().map(|exchange| {
            kubectl(&ClientRequest {
                method: exchange.method.as_str(),
                target: &exchange.target,
                content_type: &exchange.content_type,
                user_agent: &exchange.manager,
                body: &exchange.sent,
                resource: Some(resource),
                edits: None,
                attempts: 1,
                reads_again: false,
                migrates: false,
            })
        });
        commands.collect()
    }

    /// The fields with this effect.
    pub fn with(&self, effect: FieldEffect) -> impl Iterator<Item = &FieldOutcome> {
        self.fields
            .iter()
            .filter(move |field| field.effect == effect)
    }
}

/// A run of a way on a server.
#[derive(Clone, Debug)]
struct RowRun {
    requests: Vec<Exchange>,
    tool_runs: Vec<(usize, usize)>,
    after: Arc<Value>,
    /// The values that the change wants, and those that the writer declares.
    wanted: Value,
    declared: Option<Value>,
    writer: String,
}

/// The procedure of a client. `None` if it cannot carry the change.
pub(super) type Script<'a> = &'a dyn Fn(&mut RunningClient<'_>) -> Option<()>;

/// Runs a procedure. `None` if the client cannot carry the change.
fn once(
    table: &ChangeTable,
    server: &mut ApiServer,
    (way, procedure): (Way, Script<'_>),
) -> Option<RowRun> {
    let subject = table.subject();
    let mut client = RunningClient::new(table, Arc::clone(table.before()), server);
    procedure(&mut client)?;
    let requests = std::mem::take(&mut client.sent);
    let tool_runs = std::mem::take(&mut client.tool_runs);
    if client.live.is_null() && way != Way::Create {
        client.live = subject.unread();
    }
    let writer = writer(&requests);
    let declared = way.declares().then(|| {
        // Conflicting fields may have been left out: what was sent last is what is declared.
        let applied = requests.iter().rev().find(|it| {
            it.content_type.contains("apply-patch") && it.field_manager() != OF_ANNOTATION
        });
        let sent = applied
            .filter(|it| it.code < 300)
            .map(|it| (*it.sent).clone());
        let preset = match way {
            Way::Client(preset, _) => Some(preset),
            Way::Create => None,
        };
        let said = sent.unwrap_or_else(|| client.read().manifest(preset, &writer));
        in_server_words(&said, subject.resource())
    });
    let wanted = match &table.change.content {
        ChangeContent::Manifest(said) => {
            let said = bare(&manifest::of_object(said, &client.live));
            in_server_words(&said, subject.resource())
        }
        ChangeContent::Edited(object) => object.clone(),
    };
    Some(RowRun {
        after: after(table, server, &requests),
        requests,
        tool_runs,
        wanted,
        declared,
        writer,
    })
}

/// The object after requests, as a GET shows it. Most often an answer has it already.
pub(super) fn after(
    table: &ChangeTable,
    server: &mut ApiServer,
    requests: &[Exchange],
) -> Arc<Value> {
    let (subject, before) = (table.subject(), table.before());
    let stored = server.store().get(subject.key());
    let stored = stored.map(|(version, _)| version.to_string());
    let api_version = subject.resource().group_version.to_string();
    let is_it = |object: &Value| {
        text(object, "kind") == subject.resource().kind
            && text(object, "apiVersion") == api_version
            && stored.as_deref() == Some(version_of(object))
    };
    // The answer to a dry run has the version of the stored object, and another content.
    let answered = requests.iter().rev();
    let answered = answered.filter(|it| !it.target.contains("dryRun"));
    let mut known = answered.map(|it| &it.received).chain([before]);
    let known = known.find(|it| is_it(it));
    known.map_or_else(|| read(server, subject), Arc::clone)
}

/// The manager by which `kubectl apply --server-side` writes the annotation of client-side apply after its own apply, and
/// nothing else (`k8s.io/kubectl/pkg/cmd/apply/apply.go saveLastApplyAnnotationIfNecessary`, v0.36).
pub(super) const OF_ANNOTATION: &str = "kubectl-last-applied";

/// The manager by which the client wrote last.
fn writer(requests: &[Exchange]) -> String {
    let own = requests.iter().rev();
    let mut own = own.filter(|it| it.field_manager() != OF_ANNOTATION);
    let last = own.next().or(requests.last());
    last.map(|last| last.field_manager().into_owned())
        .unwrap_or_default()
}

/// A row that is run in parts, each short enough for a page: a run, the same run once more, and the
/// effects on the fields.
#[derive(Clone, Debug)]
pub struct PartialRow {
    way: Way,
    server: ApiServer,
    run: Option<RowRun>,
    /// The result of the second run, once it is known that there is one or none.
    second_run: Option<Option<SecondRun>>,
}

impl PartialRow {
    pub(super) fn new(table: &ChangeTable, way: Way) -> Self {
        Self {
            way,
            server: table.server(),
            run: None,
            second_run: None,
        }
    }

    /// The way that is run.
    pub fn way(&self) -> Way {
        self.way
    }

    /// The server as the parts so far left it.
    pub(crate) fn server(&self) -> &ApiServer {
        &self.server
    }

    /// Does the next part with a procedure, and then another one on its result; without another one, the same.
    pub(super) fn advance(
        mut self,
        table: &ChangeTable,
        procedure: Script<'_>,
        second: Option<Script<'_>>,
    ) -> RowProgress {
        let Some(run) = &self.run else {
            self.run = once(table, &mut self.server, (self.way, procedure));
            return match self.run {
                Some(_) => RowProgress::More(Box::new(self)),
                None => RowProgress::Done(None),
            };
        };
        let Some(second_run) = self.second_run.take() else {
            let same = second.is_none() && !run.is_written(table.before());
            let again =
                |client: &mut RunningClient<'_>| apply_again(&run.requests, self.way, client);
            let second = second.or(match self.way {
                Way::Client(_, OnOwned::LeaveOut) => Some(&again),
                _ => None,
            });
            let second_run = (!run.is_refused()).then(|| match same {
                // The same requests find the same object.
                true => SecondRun {
                    code: run.requests.last().map(|last| last.code),
                    changes: false,
                    never_rests: false,
                },
                false => {
                    let second = second.unwrap_or(procedure);
                    SecondRun::run(table, &run.after, &mut self.server, second)
                }
            });
            self.second_run = Some(second_run);
            return RowProgress::More(Box::new(self));
        };
        let row = self
            .run
            .take()
            .map(|run| run.row(table, self.way, second_run));
        RowProgress::Done(row.map(Box::new))
    }
}

/// The progress of a row.
#[derive(Clone, Debug)]
pub enum RowProgress {
    /// A part of it is left.
    More(Box<PartialRow>),
    /// It is done. `None` if the way cannot carry the change.
    Done(Option<Box<Row>>),
}

/// Runs a procedure, and then once more on its result.
pub(super) fn run(table: &ChangeTable, way: Way, procedure: Script<'_>) -> Option<Row> {
    let mut partial = PartialRow::new(table, way);
    loop {
        match partial.advance(table, procedure, None) {
            RowProgress::More(more) => partial = *more,
            RowProgress::Done(row) => return row.map(|row| *row),
        }
    }
}

impl RowRun {
    fn last(&self) -> Option<&Exchange> {
        deciding(&self.requests).map(|at| &self.requests[at])
    }

    fn is_refused(&self) -> bool {
        self.last().is_some_and(|exchange| exchange.code >= 300)
    }

    fn is_written(&self, before: &Value) -> bool {
        version_of(before) != version_of(&self.after)
    }

    /// Returns the manifest that the writer declared the last time: the one in the input, or else
    /// that of its client-side apply. `None` if neither is known.
    fn earlier(&self, table: &ChangeTable, before: &Value) -> Option<Value> {
        let previous = table.change.previous.clone();
        previous.or_else(|| {
            let applied = client_side_managers(before).contains(&self.writer);
            let last = applied.then(|| last_applied(before));
            last.filter(|last| last.as_object().is_some_and(|it| !it.is_empty()))
        })
    }

    fn row(self, table: &ChangeTable, way: Way, second_run: Option<SecondRun>) -> Row {
        let before = Arc::clone(table.before());
        let refused = self.is_refused();
        let last = self.last();
        let answer = last
            .filter(|_| refused)
            .map(|last| Arc::clone(&last.received));
        let answer = answer.unwrap_or_default();
        let conflicts = conflicts(last);
        let earlier = self.earlier(table, &before);
        let fields = FieldInputs {
            earlier: earlier.as_ref(),
            before: &before,
            after: &self.after,
            wanted: &self.wanted,
            // A refused write leaves nothing behind.
            declared: self.declared.as_ref().filter(|_| !refused),
            writer: &self.writer,
            sent: last.map(|last| &*last.sent),
            refused: &conflicts,
            root: &table.subject().resource().root,
        }
        .outcomes();
        let requests = self.requests.iter();
        let warnings = requests.flat_map(|it| it.warnings.iter().cloned());
        Row {
            way,
            code: last.map(|exchange| exchange.code),
            reason: text(&answer, "reason").to_owned(),
            message: text(&answer, "message").to_owned(),
            causes: conflict_causes(&answer),
            warnings: warnings.collect(),
            taken_back: taken_back(&fields, &self.writer),
            writer: self.writer,
            fields,
            second_run,
            requests: self.requests,
            tool_runs: self.tool_runs,
            before,
            after: self.after,
            open: Vec::new(),
            values_made_up: false,
        }
    }
}

impl Row {
    /// The outermost list item that goes with a field of it; `None` if the field goes alone, or stays.
    pub fn gone_item(&self, outcome: &FieldOutcome) -> Option<Path> {
        if outcome.effect != FieldEffect::Removed {
            return None;
        }
        let path = &outcome.field.0;
        let mut ends = (0..path.len()).filter(|at| matches!(path[*at], PathElement::Key(_)));
        ends.find_map(|end| {
            let item = Path(path[..=end].to_vec());
            let is_gone = item.find(&self.before).is_some() && item.find(&self.after).is_none();
            is_gone.then_some(item)
        })
    }
}

/// Clients that write when people use them, and names that no client writes by any more. A browser and
/// a command for requests name no manager: the server takes the beginning of their User-Agent.
const WRITES_ON_COMMAND: [&str; 11] = [
    "helm",
    "Terraform",
    "before-first-apply",
    "ancient-changes",
    "Mozilla",
    "Opera",
    "dashboard",
    "curl",
    "Wget",
    "PostmanRuntime",
    "k9s",
];

/// Returns whether a manager writes only when people run it.
pub(super) fn writes_on_command(name: &str) -> bool {
    let tools = ["kubectl", "terraform-provider"];
    tools.iter().any(|tool| name.starts_with(tool)) || WRITES_ON_COMMAND.contains(&name)
}

/// Returns the taken fields of managers that run all the time: they write them again. The object
/// does not show which managers run all the time: kubectl, Helm and Terraform do not, all others
/// are taken to.
fn taken_back(fields: &[FieldOutcome], writer: &str) -> Vec<TakenBack> {
    let mut found = Vec::new();
    let taken = [
        FieldEffect::TakenOver,
        FieldEffect::Changed,
        FieldEffect::Removed,
    ];
    for field in fields.iter().filter(|field| taken.contains(&field.effect)) {
        for manager in &field.owners_before {
            let name = manager.name.as_str();
            if name == writer || writes_on_command(name) {
                continue;
            }
            found.push(TakenBack {
                field: field.field.clone(),
                manager: manager.clone(),
                autoscaler: name == "kube-controller-manager"
                    && manager.operation == ManagedFieldsOperation::Update
                    && manager.subresource == "scale",
            });
        }
    }
    found
}
