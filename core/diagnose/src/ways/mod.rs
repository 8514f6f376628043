//! The effects of each way of writing on an object: every way is run on a clone of the server.
//!
//! [`ChangeTable::rows`] gives the rows. Each [`Row`] has the requests that were sent with their
//! answers, the effects on the object and its owners field by field, and the result of a second
//! run.

mod client;
pub mod concurrent_writer;
mod conflict_cause;
mod fields;
mod instructions;
mod leaving;
mod masked_row;
mod remedy;
mod row;
mod row_parts;
mod second_run;
mod server_words;

use std::cell::OnceCell;
use std::sync::Arc;

use optimist_apiserver::apply::{ManagedFieldsOperation, is_entry_of};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, Fact};
use optimist_client::{Preset, manifest_fields as manifest};
use optimist_simulation::{Action, ActorId, ByHand, Exchange, HistoryTree, ObjectRef, Operation};
use serde_json::Value;

use crate::case::Installed;
use client::RunningClient;

pub use conflict_cause::ConflictCause;
pub use fields::{FieldEffect, FieldOutcome};
pub(crate) use fields::{leaves as leaves_of, owners as owners_of};
pub use instructions::{CaseContent, Instruction, InstructionLanguage, InstructionWarning};
pub use leaving::Leaving;
pub(crate) use masked_row::shown_value;
pub(crate) use optimist_client::manifest_fields::part as part_of;
pub use optimist_client::tracking::DeliveredBy;
pub(crate) use optimist_client::tracking::{
    self, helm_applied_last, helm_updates, is_delivered, is_of_release, tracked_as,
};
pub use optimist_client::{ChangeContent, OnOwned, ReleaseMethod, WantedChange, Way};
pub use remedy::{PartialWaysOut, Remedy, RemedyKind};
pub use row::{PartialRow, Row, RowProgress, TakenBack};
pub use row_parts::{ReceivedRow, RowBodies, RowPart, RowReceiver, RowSender};
pub use second_run::SecondRun;
pub(crate) use server_words::forget_unsaid;

/// An object on a server, and a change of it.
#[derive(Clone, Debug)]
pub struct ChangeTable {
    installed: Installed,
    change: Arc<WantedChange>,
    /// The object before every run, as a GET shows it.
    before: OnceCell<Arc<Value>>,
    /// The server's facts from the refusal of a client without options, if that was run.
    refused: OnceCell<(Preset, Vec<Fact>)>,
}

/// A part that is not run with the client itself, to be named beside its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// The manifest of the last release was not brought. It is taken to have had the fields that Helm
    /// owns in the object.
    PreviousRelease,
    /// Helm 4 applies server-side if the last release did, or with `--server-side=true`.
    ServerSide,
    /// Helm adds a label and the annotations of its release to each object. The input does not name
    /// the release.
    UnknownRelease,
    /// Flux adds the labels of its Kustomization to each object. The input does not name it.
    UnknownKustomization,
    /// Argo CD adds its tracking id to each object. The object has none.
    UnknownApplication,
    /// Terraform does not write an object that exists and is not in its state. The object does not show that Terraform
    /// wrote it, and is taken to be in the state.
    InState,
}

impl ChangeTable {
    /// A change of an installed object.
    pub fn new(installed: &Installed, change: WantedChange) -> Self {
        Self {
            installed: installed.clone(),
            change: Arc::new(change),
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
        let procedure = |client: &mut RunningClient<'_>| client.run(way);
        row::run(self, way, &procedure)
    }

    /// Runs the parts of a row that are left; `None` if the way cannot carry the change.
    pub(crate) fn finish(&self, mut row: PartialRow) -> Option<Row> {
        loop {
            match self.advance(row) {
                RowProgress::More(more) => row = *more,
                RowProgress::Done(row) => return row.map(|row| *row),
            }
        }
    }

    /// The row of one way, to be run in parts with [`advance`](Self::advance).
    pub fn begin_row(&self, way: Way) -> PartialRow {
        PartialRow::new(self, way)
    }

    /// Runs the next part of a row.
    pub fn advance(&self, row: PartialRow) -> RowProgress {
        let way = row.way();
        let procedure = |client: &mut RunningClient<'_>| client.run(way);
        row.advance(self, &procedure, None)
    }

    /// Returns the assumptions under the row that the input does not confirm.
    pub fn assumptions(&self, way: Way) -> Vec<Assumption> {
        let Way::Client(preset, _) = way else {
            return Vec::new();
        };
        let compares = self.change.previous.is_none() && self.installed.object().is_some();
        let mut all = match preset {
            Preset::Helm3 if compares => vec![Assumption::PreviousRelease],
            Preset::Helm4 => vec![Assumption::ServerSide],
            Preset::Terraform if compares && !self.is_of_terraform() => vec![Assumption::InState],
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

    /// Returns whether Terraform wrote the object: it printed the error, or applied fields of the object.
    fn is_of_terraform(&self) -> bool {
        let change = &self.change;
        let refused = change.refused.as_ref().map(|(client, _)| *client);
        let manager = change.manager.as_deref().unwrap_or("Terraform");
        let object = self.installed.object();
        refused == Some(Preset::Terraform)
            || change.address.is_some()
            || object.is_some_and(|object| applied_by(object, manager))
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

/// Returns whether a manager applied an object server-side.
pub(crate) fn applied_by(object: &Value, manager: &str) -> bool {
    let mut entries = object.managed_entries().iter();
    entries.any(|entry| is_entry_of(entry, manager, ManagedFieldsOperation::Apply, ""))
}

/// A request for an editor, who has another User-Agent: the server takes the manager from it if the
/// request names none.
pub(crate) fn by_hand(exchange: &Exchange) -> ByHand {
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
