//! What each way of writing would do to an object: every way is run on a clone of the server.
//!
//! [`ChangeTable::rows`] gives the rows. Each [`Row`] has the requests that were sent with their
//! answers, field by field what became of the object and of its owners, and what a second run does.

pub mod between;
mod fields;
mod flux;
mod instructions;
mod kubectl_apply;
mod leaving;
mod manifest;
mod procedure;
mod row;
mod source;
mod tracking;
mod way_out;

use std::cell::OnceCell;
use std::sync::Arc;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, Fact, Resource};
use optimist_client::{Preset, Strategy, WorkingCopy};
use optimist_simulation::{Action, ActorId, ByHand, Exchange, HistoryTree, ObjectRef, Operation};
use serde_json::Value;

use crate::case::Installed;

pub use fields::{FieldEffect, FieldOutcome};
pub(crate) use fields::{leaves as leaves_of, owners as owners_of};
pub use instructions::{CaseContent, Instruction, InstructionLanguage, InstructionWarning};
pub use leaving::Leaving;
pub(crate) use manifest::{forget_unsaid, part as part_of};
pub use row::{ConflictCause, PartialRow, Row, RowProgress, SecondRun, TakenBack};
pub use tracking::DeliveredBy;
pub(crate) use tracking::{helm_updates, is_delivered, tracked_as};
pub use way_out::{PartialWaysOut, WayOut, WayOutKind};

/// What someone wants to write.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedChange {
    /// The content.
    pub content: ChangeContent,
    /// The field manager of the tools that let people choose one
    /// ([`Preset::manager_is_chosen`]); `None` for the default of each tool.
    pub manager: Option<String>,
    /// The manifest of the same tool before this one, for tools that compare with it (Helm 3). `None`
    /// if it is not known; then it is taken to have had what the tool owns in the object.
    pub previous: Option<Value>,
    /// How Helm applied the last release.
    pub last_release: ReleaseMethod,
    /// The client that an error message names, and the manager that it wrote by.
    pub refused: Option<(Preset, String)>,
    /// The address of the object in the configuration of Terraform, `kubernetes_manifest.web`. `None` if
    /// it is not known.
    pub address: Option<String>,
}

/// How Helm 4 applied the last release of a chart, as its record says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReleaseMethod {
    /// In the client, as Helm 3 does. When Helm changes to server-side apply, it takes over what it
    /// owns by Update (`helm.sh/helm/v4/pkg/action/upgrade.go performUpgrade`, v4.2).
    #[default]
    ClientSide,
    /// Server-side. What it owns by Update counts as another manager's.
    ServerSide,
}

/// The content of a change.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeContent {
    /// A manifest. It says nothing about fields that it leaves out.
    Manifest(Value),
    /// The whole object, edited.
    Edited(Value),
}

impl WantedChange {
    /// A manifest, written by the default manager of each tool.
    pub fn manifest(manifest: Value) -> Self {
        Self {
            content: ChangeContent::Manifest(manifest),
            manager: None,
            previous: None,
            last_release: ReleaseMethod::default(),
            refused: None,
            address: None,
        }
    }

    /// The object, edited, written by the default manager of each tool.
    pub fn edited(object: Value) -> Self {
        Self {
            content: ChangeContent::Edited(object),
            ..Self::manifest(Value::Null)
        }
    }
}

/// A way of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// `kubectl create` (`k8s.io/kubectl/pkg/cmd/create/create.go`, v1.36).
    Create,
    /// A client that people know, and what it does about conflicts of ownership.
    Client(Preset, OnOwned),
}

/// What an apply does about fields that others own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnOwned {
    /// What the client does without options.
    Usual,
    /// It takes the fields over (`--force-conflicts`, `force_conflicts`, `client.ForceOwnership`). A
    /// client-side apply with force (`Force=true` of Argo CD) deletes and creates the object again if
    /// its patch is refused.
    Force,
    /// The fields in conflict are taken out of the manifest, and the apply is sent again.
    LeaveOut,
}

impl Way {
    /// Every way, in the order of a table.
    pub fn all() -> Vec<Self> {
        let usual = |preset| Way::Client(preset, OnOwned::Usual);
        let mut ways = vec![
            usual(Preset::KubectlApplyServerSide),
            Way::Client(Preset::KubectlApplyServerSide, OnOwned::Force),
            Way::Client(Preset::KubectlApplyServerSide, OnOwned::LeaveOut),
            usual(Preset::KubectlApply),
            Way::Create,
        ];
        for preset in Preset::ALL {
            ways.extend(Some(usual(preset)).filter(|way| !ways.contains(way)));
        }
        for preset in Preset::OF_MANIFESTS {
            ways.push(usual(preset));
            if preset == Preset::ArgoCdClientSide {
                ways.push(Way::Client(preset, OnOwned::Force));
            }
            if matches!(preset, Preset::Helm4 | Preset::Terraform) {
                ways.push(Way::Client(preset, OnOwned::Force));
                ways.push(Way::Client(preset, OnOwned::LeaveOut));
            }
        }
        ways
    }

    /// Whether the way writes a whole manifest: a field that it leaves out is meant to go.
    pub fn declares(self) -> bool {
        let Way::Client(preset, _) = self else {
            return true;
        };
        matches!(
            preset,
            Preset::KubectlApply | Preset::KubectlApplyServerSide | Preset::KubectlReplace
        ) || Preset::OF_MANIFESTS.contains(&preset) && preset != Preset::CreateOrUpdate
    }
}

/// An object on a server, and a change of it.
#[derive(Clone, Debug)]
pub struct ChangeTable {
    installed: Installed,
    change: WantedChange,
    /// The object before every run, as a GET shows it.
    before: OnceCell<Arc<Value>>,
    /// What the server said when it refused a client without options, if that was run.
    refused: OnceCell<(Preset, Vec<Fact>)>,
}

/// What is not run with the client itself, to be said beside its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// The manifest of the last release was not brought. It is taken to have had the fields that Helm
    /// owns in the object.
    PreviousRelease,
    /// Helm 4 applies server-side if the last release did, or with `--server-side=true`.
    ServerSide,
    /// Helm adds a label and the annotations of its release to each object. Nothing that was brought
    /// names the release.
    UnknownRelease,
    /// Flux adds the labels of its Kustomization to each object. Nothing that was brought names it.
    UnknownKustomization,
    /// Argo CD adds its tracking id to each object. The object has none.
    UnknownApplication,
}

impl ChangeTable {
    /// A change of an installed object.
    pub fn new(installed: &Installed, change: WantedChange) -> Self {
        Self {
            installed: installed.clone(),
            change,
            before: OnceCell::new(),
            refused: OnceCell::new(),
        }
    }

    /// The change.
    pub fn change(&self) -> &WantedChange {
        &self.change
    }

    /// The rows of all ways that can carry the change, in the order of [`Way::all`].
    pub fn rows(&self) -> Vec<Row> {
        Way::all()
            .into_iter()
            .filter_map(|way| self.row(way))
            .collect()
    }

    /// The row of one way; `None` if this way cannot carry the change: it writes only labels or only
    /// replicas, or the kind has no `/scale`.
    pub fn row(&self, way: Way) -> Option<Row> {
        let procedure = |client: &mut Client<'_>| client.run(way);
        row::run(self, way, &procedure, &procedure)
    }

    /// As [`row`](Self::row), with the server after the first run.
    pub(crate) fn row_and_server(&self, way: Way) -> Option<(Row, ApiServer)> {
        let RowProgress::More(mut partial) = self.advance(self.begin(way)) else {
            return None;
        };
        let server = partial.server().clone();
        loop {
            match self.advance(*partial) {
                RowProgress::More(more) => partial = more,
                RowProgress::Done(row) => return row.map(|row| (*row, server)),
            }
        }
    }

    /// The row of one way, to be run in parts with [`advance`](Self::advance).
    pub fn begin(&self, way: Way) -> PartialRow {
        PartialRow::new(self, way)
    }

    /// Runs the next part of a row.
    pub fn advance(&self, row: PartialRow) -> RowProgress {
        let way = row.way();
        let procedure = |client: &mut Client<'_>| client.run(way);
        row.advance(self, &procedure, &procedure)
    }

    /// What the row stands on beyond what was brought.
    pub fn assumptions(&self, way: Way) -> Vec<Assumption> {
        let Way::Client(preset, _) = way else {
            return Vec::new();
        };
        let mut all = match preset {
            Preset::Helm3 if self.change.previous.is_none() => vec![Assumption::PreviousRelease],
            Preset::Helm4 => vec![Assumption::ServerSide],
            _ => Vec::new(),
        };
        let (ChangeContent::Manifest(manifest), Some(live)) =
            (&self.change.content, self.installed.object())
        else {
            return all;
        };
        if !tracking::is_known(preset, manifest, live) {
            all.push(match preset {
                Preset::Flux => Assumption::UnknownKustomization,
                Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => {
                    Assumption::UnknownApplication
                }
                _ => Assumption::UnknownRelease,
            });
        }
        all
    }

    /// A history in which editor A reads the object and then sends the requests of a row as they are,
    /// for Play. The request that decides is the current step.
    pub fn history(&self, row: &Row) -> HistoryTree {
        let mut tree = HistoryTree::new(self.installed.world.clone());
        tree.act(Operation::Act(ActorId::A, Action::Get));
        let mut deciding = tree.current();
        for (at, exchange) in row.requests.iter().enumerate() {
            let again = Action::Request(by_hand(exchange));
            tree.act(Operation::Act(ActorId::A, again));
            if row.deciding() == Some(at) {
                deciding = tree.current();
            }
        }
        tree.go(deciding);
        tree
    }

    fn before(&self) -> &Arc<Value> {
        let read = || read(&mut self.server(), self.subject());
        self.before.get_or_init(read)
    }

    fn server(&self) -> ApiServer {
        self.installed.world.server().clone()
    }

    fn subject(&self) -> &ObjectRef {
        self.installed.world.subject()
    }
}

/// A request for an editor, who has another User-Agent: the server takes the manager from it if the
/// request names none.
fn by_hand(exchange: &Exchange) -> ByHand {
    let mut by_hand = ByHand::from(exchange);
    let writes = !["GET", "DELETE"].contains(&by_hand.method.as_str());
    if writes && !by_hand.target.contains("fieldManager=") {
        let manager = exchange.manager.split('/').next().unwrap_or_default();
        let manager: String = form_urlencoded::byte_serialize(manager.as_bytes()).collect();
        let mark = if by_hand.target.contains('?') {
            '&'
        } else {
            '?'
        };
        by_hand
            .target
            .push_str(&format!("{mark}fieldManager={manager}"));
    }
    by_hand
}

/// What a client has at hand when it runs: the server, the object as it reads it, and the change.
struct Client<'a> {
    server: &'a mut ApiServer,
    subject: &'a ObjectRef,
    change: &'a WantedChange,
    /// The object as it was when the change was thought of.
    first: &'a Arc<Value>,
    /// The object as it was read now.
    live: Arc<Value>,
    sent: Vec<Exchange>,
}

impl Client<'_> {
    fn resource(&self) -> &Resource {
        self.subject.resource()
    }

    /// A working copy with the change.
    fn copy(&self) -> WorkingCopy {
        let mut copy = WorkingCopy::default();
        match &self.change.content {
            ChangeContent::Manifest(manifest) => {
                copy.settle(Arc::clone(&self.live));
                let manifest = manifest::of_object(manifest, &self.live);
                copy.edit(manifest::merged(&self.live, &manifest, self.resource()));
            }
            ChangeContent::Edited(object) => {
                copy.settle(Arc::clone(self.first));
                copy.edit(object.clone());
                copy.refresh(Arc::clone(&self.live), &self.resource().root);
            }
        }
        copy
    }

    /// The manifest of a manager: what was brought, or for an edited object what the manager declared
    /// before, with the edits. With what the tool adds to it.
    fn manifest(&self, preset: Option<Preset>, manager: &str) -> Value {
        let manifest = self.untracked(manager);
        match preset {
            Some(preset) => tracking::tracked(preset, manifest, &self.live),
            None => manifest,
        }
    }

    fn untracked(&self, manager: &str) -> Value {
        match &self.change.content {
            ChangeContent::Manifest(manifest) => manifest::of_object(manifest, &self.live),
            ChangeContent::Edited(_) => {
                let write = optimist_client::Write {
                    manager: Some(manager.to_owned()),
                    ..optimist_client::Write::usual(Strategy::Apply)
                };
                let body = write.body(self.resource(), &self.copy(), manager);
                body.unwrap_or_else(|| Value::Object(Default::default()))
            }
        }
    }
}

/// The object as a GET shows it; `null` if it is gone.
fn read(server: &mut ApiServer, subject: &ObjectRef) -> Arc<Value> {
    let request = optimist_client::get_request(&subject.path(), "optimist");
    let response = request.map(|request| server.handle(request));
    let found = response.filter(|response| response.status().is_success());
    let object = found.and_then(|response| serde_json::from_slice(response.body()).ok());
    Arc::new(object.unwrap_or_default())
}

/// The version of an object, for comparisons.
fn version_of(object: &Value) -> &str {
    object.resource_version()
}
