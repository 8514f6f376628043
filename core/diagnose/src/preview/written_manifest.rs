//! A manifest that a tool wrote, until its row is made.

use std::sync::Arc;

use optimist_apiserver::apply::LAST_APPLIED;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::Resource;
use optimist_client::Preset;
use optimist_masking::Masking;

use super::row::{PreviewObject, PreviewOutcome, PreviewRow, Trouble};
use super::run::Written;
use super::run_row::{Earlier, masked_message, stuck};
use super::{Assumed, PreviewInput, hand_over};
use crate::ways::{
    self, ChangeTable, PartialRow, Way, helm_applied_last, helm_updates, is_of_release,
};

/// A manifest that the tool wrote. Its row is independent of what is written after it.
pub(super) struct WrittenManifest {
    pub(super) at: usize,
    pub(super) input: Arc<PreviewInput>,
    pub(super) written: Arc<Written>,
    pub(super) resource: Arc<Resource>,
    pub(super) table: ChangeTable,
    /// The tool, as it writes this object.
    pub(super) preset: Preset,
    pub(super) row: PartialRow,
    pub(super) assumed: Vec<Assumed>,
    pub(super) namespace_is_assumed: bool,
}

impl WrittenManifest {
    /// Makes the row: runs the write once more, compares, and runs the ways out of a conflict.
    pub(super) fn row(self) -> PreviewRow {
        let Self { table, row, .. } = &self;
        let (manifest, key) = (&self.input.next[self.at], &self.written.order[self.at]);
        let object = PreviewObject::from_manifest(manifest);
        let way = row.way();
        let kinds = row.server().resources().clone();
        let Some(run) = table.finish(row.clone()) else {
            let why = "The tool cannot write this object.".to_owned();
            return PreviewRow::not_run(object, why);
        };
        let earlier = self.written.earlier.get(key).map(|earlier| Earlier {
            manifest: earlier,
            next: manifest,
            resource: &self.resource,
        });
        let mut row = PreviewRow::of_run(object, &run, earlier.as_ref());
        row.stuck = stuck(&run.before, &self.resource, &kinds);
        if !row.stuck.is_empty() && !self.assumed.contains(&Assumed::NoDefinition) {
            row.troubles.push(Trouble::StuckVersions);
            row.troubles.sort();
        } else {
            row.stuck.clear();
        }
        row.assumed = self.assumptions(way, &run);
        if row.troubles.contains(&Trouble::NeverRests) {
            row.assumed.push(Assumed::VersionFromSource);
        }
        if row.outcome == PreviewOutcome::Conflict {
            let mut masking = Masking::for_display();
            masking.object(&mut manifest.clone());
            let (choices, refusals) =
                hand_over::choices(table, self.preset, &run, masking.is_empty());
            if choices.is_empty() {
                row.no_way_out = refusals.first().map(masked_message);
            }
            row.hand_overs = choices;
        }
        row
    }

    fn assumptions(&self, way: Way, run: &ways::Row) -> Vec<Assumed> {
        let tool = &self.input.tool;
        let mut all: Vec<Assumed> = self.assumed.clone();
        if self.namespace_is_assumed {
            let namespace = self.written.order[self.at].2.clone();
            all.push(Assumed::NamespaceExists { namespace });
        }
        let of_table = self.table.assumptions(way).into_iter().map(Assumed::from);
        let is_brought = self.input.earlier.is_some();
        let of_last = [Assumed::PreviousRelease, Assumed::InState];
        all.extend(of_table.filter(|it| !is_brought || !of_last.contains(it)));
        let exists = !run.before.is_null();
        let helm = tool.preset == Preset::Helm4 && exists;
        let unsaid = tool.last_release.is_none();
        if helm && unsaid && helm_updates(&run.before) {
            all.push(match helm_applied_last(&run.before) {
                true => Assumed::ServerSideRelease,
                false => Assumed::ClientSideRelease,
            });
        }
        let of_release = !tool.preset.is_helm() || !exists || is_of_release(&run.before, None);
        if self.input.earlier.is_none() && !of_release {
            all.push(Assumed::InRelease);
        }
        let annotations = run
            .before
            .metadata()
            .and_then(|meta| meta.get("annotations"));
        let has_last = annotations.is_some_and(|all| all.get(LAST_APPLIED).is_some());
        let in_the_client = matches!(self.preset, Preset::KubectlApply | Preset::ArgoCdClientSide);
        if in_the_client && exists && !has_last {
            all.push(Assumed::NoLastApplied);
        }
        all.dedup();
        all
    }
}
