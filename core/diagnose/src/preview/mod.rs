//! A preview of a delivery tool's writes to many objects: from the objects of the cluster and the manifests.
//!
//! [`PreviewRun`] puts the objects of the cluster into a server and lets the tool write every manifest, one
//! after the other, with the requests of [`crate::ways`]. Nothing is predicted: a [`PreviewRow`] has the
//! server's answer, and the changes in the object. Objects that no manifest names are deleted if the tool
//! deletes them.
//!
//! A fact that no input gives is [`Assumed`], and stands in the row that depends on it. Values that look
//! private are masked ([`optimist_masking`]).

mod assumed;
mod cluster;
mod hand_over;
mod hook;
mod kind_lookup;
mod order;
mod parallel;
mod pruning;
mod refusal;
mod release;
mod removed;
mod row;
mod run;
mod run_row;
mod sync_options;
mod sync_wave;
mod unnamed;
mod written_manifest;

use std::collections::BTreeMap;

use optimist_apiserver::server::Release;
use optimist_client::Preset;
use serde::Serialize;
use serde_json::Value;

use crate::case::ObjectId;
use crate::ways::ReleaseMethod;

pub use assumed::Assumed;
pub use hand_over::{HandOver, HandOverKind};
pub use hook::{Hook, HookAction};
pub use pruning::Pruning;
pub use refusal::AfterRefusal;
pub use row::{
    FieldChangeKind, ManagerVersion, PreviewField, PreviewObject, PreviewOutcome, PreviewRow,
    Trouble,
};
pub use run::PreviewRun;

/// The input of a preview.
#[derive(Clone, Debug)]
pub struct PreviewInput {
    /// The objects of the cluster, with `managedFields`.
    pub live: Vec<Value>,
    /// The manifests of the next write, in the order of its files.
    pub next: Vec<Value>,
    /// The manifests of the last write, if they are known: those of the last release, or the objects in
    /// Terraform's state.
    pub earlier: Option<Vec<Value>>,
    /// The objects of [`earlier`](Self::earlier) that the next manifests seem to leave out, though nobody says that
    /// these are complete.
    pub left_out: Vec<ObjectId>,
    /// The tool that writes.
    pub tool: DeliveryTool,
    /// The namespace of a manifest that names none.
    pub namespace: Option<String>,
    /// The release of the server.
    pub release: Release,
}

/// A tool that writes manifests, with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryTool {
    /// The tool: kubectl apply or one of [`Preset::OF_MANIFESTS`].
    pub preset: Preset,
    /// `true` if it writes with its force. Helm 4, kubectl and Terraform take over fields that others own
    /// (`--force-conflicts`, `force_conflicts`). Argo CD without server-side apply (`Force=true`) and Flux (`spec.force`)
    /// delete an object whose write is refused, and create it again. Argo CD with server-side apply always takes over.
    pub force: bool,
    /// The rule by which it deletes objects that no manifest names any more.
    pub prune: Pruning,
    /// The field manager, where people choose it.
    pub manager: Option<String>,
    /// The method by which Helm applied the last release. `None` if that is not known.
    pub last_release: Option<ReleaseMethod>,
}

impl DeliveryTool {
    /// A tool without options.
    pub fn new(preset: Preset) -> Self {
        Self {
            preset,
            force: false,
            prune: Pruning::None,
            manager: None,
            last_release: None,
        }
    }
}

/// The result of a preview.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The objects, the worst first.
    pub rows: Vec<PreviewRow>,
    /// The number of objects with each outcome.
    pub outcomes: BTreeMap<PreviewOutcome, usize>,
    /// The number of objects with each kind of trouble. What the tool would do with an object to which it does not come
    /// is not counted.
    pub troubles: BTreeMap<Trouble, usize>,
    /// The tool's treatment of the other manifests if one is refused.
    pub after_refusal: AfterRefusal,
}

impl Preview {
    /// Runs a whole preview.
    pub fn run(input: PreviewInput) -> Self {
        let mut run = PreviewRun::new(input);
        while run.advance() {}
        run.finish()
    }

    /// Returns whether a write will be refused, or an object could not be previewed.
    pub fn is_whole(&self) -> bool {
        !self.rows.iter().any(|row| row.outcome.is_refusal())
    }

    /// Returns the number of objects whose write is refused. Of one that could not be run nothing is known.
    pub fn refusals(&self) -> usize {
        let rows = self.rows.iter().map(|row| row.outcome);
        let refused = rows.filter(|it| it.is_refusal() && *it != PreviewOutcome::NotRun);
        refused.count()
    }

    /// Returns the number of objects that the tool is to write or to delete: all that it does not leave alone.
    pub fn concerned(&self) -> usize {
        let left = self.outcomes.get(&PreviewOutcome::NotTouched);
        self.rows.len() - left.copied().unwrap_or_default()
    }

    /// Returns the assumptions of the rows that are about the tool: each once, in the order of the rows.
    pub fn assumed_of_tool(&self) -> Vec<&Assumed> {
        let mut all: Vec<&Assumed> = Vec::new();
        let of_rows = self.rows.iter().flat_map(|row| &row.assumed);
        for assumed in of_rows.filter(|it| it.is_of_tool()) {
            if !all.contains(&assumed) {
                all.push(assumed);
            }
        }
        all
    }

    fn counted(mut rows: Vec<PreviewRow>, after_refusal: AfterRefusal) -> Self {
        // Stable: rows of one rank keep the order in which the tool writes.
        rows.sort_by_key(PreviewRow::rank);
        let (mut outcomes, mut troubles) = (BTreeMap::new(), BTreeMap::new());
        for row in &rows {
            *outcomes.entry(row.outcome).or_default() += 1;
            for trouble in row.troubles.iter().filter(|it| row.happens(**it)) {
                *troubles.entry(*trouble).or_default() += 1;
            }
        }
        Self {
            rows,
            outcomes,
            troubles,
            after_refusal,
        }
    }
}
