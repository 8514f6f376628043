//! The preview of a tool's effects on all objects of the case.

use std::rc::Rc;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::Selector;
use optimist_client::Preset;
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::preview::{
    DeliveryTool, Preview, PreviewInput, PreviewOutcome, PreviewRow, PreviewRun, Pruning, Trouble,
};

use super::DiagnoseState;
use super::reading::CaseReading;
use crate::State;
use crate::jobs::{JobId, JobResult, Work};

/// Rows of a preview that are shown alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviewFilter {
    /// The objects with this outcome.
    Outcome(PreviewOutcome),
    /// The objects with this trouble.
    Trouble(Trouble),
}

/// Returns how a tool deletes the objects that no manifest names any more if people let it. `None` if it has no
/// such option. For kubectl it is `--prune --all`.
pub fn pruning(tool: Preset) -> Option<Pruning> {
    match tool {
        Preset::Flux | Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => {
            Some(Pruning::Tracked)
        }
        Preset::KubectlApply => Some(Pruning::Selected(Selector::default())),
        _ => None,
    }
}

/// The preview of a case with several objects.
#[derive(Clone, Debug)]
pub struct CasePreview {
    /// The tool that writes.
    pub tool: Preset,
    /// The run before its first object; `None` once it is over.
    run: Option<Rc<PreviewRun>>,
    job: Option<JobId>,
    /// The result, once all objects are done.
    pub done: Option<Rc<Preview>>,
    /// The objects that alone are shown.
    pub shown: Option<PreviewFilter>,
}

/// Returns whether there are several objects, and a manifest of one.
pub(super) fn has_several(cases: &[Rc<CaseReading>]) -> bool {
    let all = || cases.iter().filter(|it| it.scene.is_none());
    all().any(|it| it.case.manifest.is_some()) && all().count() > 1
}

impl DiagnoseState {
    /// The client, if it has no preview of the several objects of the case because it writes no manifests.
    pub fn client_without_preview(&self) -> Option<Preset> {
        let client = self.client();
        (!client.writes_manifest() && has_several(&self.brought)).then_some(client)
    }
}

impl CasePreview {
    /// The preview of a case. `None` if there is no manifest, if there is one object alone, or if the
    /// client does not write manifests.
    pub(super) fn start(
        cases: &[Rc<CaseReading>],
        tool: Preset,
        manager: Option<String>,
        prunes: bool,
    ) -> Option<Self> {
        let all = || cases.iter().filter(|it| it.scene.is_none());
        let mut next: Vec<_> = all().filter_map(|it| it.case.manifest.clone()).collect();
        if !tool.writes_manifest() || !has_several(cases) {
            return None;
        }
        let first = all().next()?;
        // Every case has all definitions. Where only definitions were brought, they are the cases.
        let definitions = first.case.definitions.iter().filter(|it| {
            let id = ObjectId::from_object(it);
            !all().any(|reading| reading.case.id == id)
        });
        // One that no cluster printed is a manifest, as every other object.
        let (mut live, offered): (Vec<_>, Vec<_>) =
            definitions.cloned().partition(|it| !it.uid().is_empty());
        next.splice(0..0, offered);
        live.extend(all().filter_map(|it| it.case.live.clone()));
        let earlier: Vec<_> = all()
            .filter_map(|it| it.case.previous_manifest.clone())
            .collect();
        let left_out = all().filter(|it| it.case.is_left_out());
        let input = PreviewInput {
            live,
            next,
            earlier: (!earlier.is_empty()).then_some(earlier),
            left_out: left_out.map(|it| it.case.id.clone()).collect(),
            tool: DeliveryTool {
                manager,
                prune: pruning(tool).filter(|_| prunes).unwrap_or_default(),
                ..DeliveryTool::new(tool)
            },
            namespace: None,
            release: first.case.release,
        };
        Some(Self {
            tool,
            run: Some(Rc::new(PreviewRun::new(input))),
            job: None,
            done: None,
            shown: None,
        })
    }

    /// Returns whether objects are left.
    pub(super) fn is_running(&self) -> bool {
        self.run.is_some()
    }

    /// The job that runs it.
    pub(super) fn job(&self) -> Option<JobId> {
        self.job
    }

    /// The run, which a job then does.
    pub(super) fn begin_job(&mut self, job: JobId) -> Option<Rc<PreviewRun>> {
        self.job = Some(job);
        self.run.clone()
    }

    /// Takes the result.
    pub(super) fn end(&mut self, done: Rc<Preview>) {
        self.done = Some(done);
        self.run = None;
        self.job = None;
    }

    /// The rows that are shown, the worst first.
    pub fn rows(&self) -> impl Iterator<Item = &PreviewRow> {
        let rows = self.done.iter().flat_map(|preview| &preview.rows);
        rows.filter(|row| match self.shown {
            None => true,
            Some(PreviewFilter::Outcome(outcome)) => row.outcome == outcome,
            Some(PreviewFilter::Trouble(trouble)) => row.troubles.contains(&trouble),
        })
    }
}

/// The position of the case that a row is about.
pub fn case_of(row: &PreviewRow, cases: &[Rc<CaseReading>]) -> Option<usize> {
    let id = row.object.id();
    let mut cases = cases.iter();
    cases.position(|reading| {
        let is_brought = reading.scene.is_none() || reading.given.manifest.is_some();
        is_brought && reading.case.id.may_be(&id)
    })
}

impl State {
    /// Returns the number of objects of a preview that are done and the number of all objects; `None` once all
    /// are done.
    pub fn preview_progress(&self) -> Option<(usize, usize)> {
        let preview = self.diagnose.preview.as_ref()?;
        let run = preview.run.as_ref()?;
        let progress = preview.job.and_then(|job| self.jobs.progress(job));
        Some(progress.unwrap_or_else(|| run.progress()))
    }
}

impl Work for PreviewRun {
    fn advance(&mut self) -> Option<JobResult> {
        if PreviewRun::advance(self) {
            return None;
        }
        Some(JobResult::Preview(Rc::new(self.clone().finish())))
    }

    fn progress(&self) -> (usize, usize) {
        PreviewRun::progress(self)
    }
}
