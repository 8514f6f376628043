//! The state of Diagnose: the texts from a cluster, and the selected parts of them.
//! `optimist_diagnose` decides the meaning of the texts.

mod audit_run;
mod branch;
mod change_run;
mod client;
mod example;
mod followed;
mod live;
mod live_editor;
mod message;
mod next_run;
mod preview;
mod read_work;
mod reading;
mod reading_run;
mod recorded;
mod saved_case;
mod update;

use std::rc::Rc;

use optimist_client::Preset;
use optimist_diagnose::input::{Input, NotDetected, condition_messages, parts};
use optimist_diagnose::message::ReportedError;
use optimist_diagnose::scene::{GivenParts, MessageManifests, NoScene};

pub(crate) use self::audit_run::AuditWork;
pub use self::audit_run::{AuditReplay, AuditRequest, AuditRun};
use self::branch::BranchRun;
pub(crate) use self::branch::BranchWork;
pub use self::branch::{BranchRequest, BranchSource, BranchStart, BranchStep};
pub(crate) use self::change_run::TableWork;
pub use self::change_run::{ChangeRun, SettledConflict, TablePart, TableRequest, WRITERS};
pub use self::example::CaseExample;
pub use self::live::{LiveEvent, LiveServer};
pub use self::live_editor::{LiveEditMsg, LiveEditor, LiveOutcome, LiveRequest};
pub use self::message::DiagnoseMsg;
pub(crate) use self::next_run::NextWork;
pub use self::next_run::{NextOutcome, NextRun, NextWritesRequest};
pub use self::preview::{CasePreview, PreviewFilter, case_of, pruning};
pub(crate) use self::read_work::ReadWork;
pub use self::read_work::{FoundObject, ReadItem};
use self::reading::Masks;
pub use self::reading::{CaseReading, ObservedHistory};
pub use self::reading_run::ObjectsRequest;
pub(crate) use self::reading_run::ObjectsWork;
use self::reading_run::ReadingStage;
pub use self::recorded::{RecordedSource, SelectedStep, StepMove, StepObject};
use self::saved_case::SavedCase;
pub use self::saved_case::case_fragment;
pub(crate) use self::saved_case::case_session;
use crate::jobs::JobId;
use crate::share::Withheld;

/// The key of the texts of the case in the tab's storage.
pub const CASE: &str = "optimist.case";

/// The key of the selected object and step of the case in the tab's storage.
pub const CASE_PLACE: &str = "optimist.case-place";

/// The key of the text that the user is typing, in the tab's storage.
const CASE_DRAFT: &str = "optimist.case-draft";

/// The most things in a case.
pub const MAX_ITEMS: usize = 50;

/// The most error messages of which a scene is made.
const MAX_SCENES: usize = 10;

/// The case of Diagnose.
#[derive(Clone, Debug, Default)]
pub struct DiagnoseState {
    /// `true` if the page was opened, and the case from the tab's storage was added again.
    opened: bool,
    /// The texts that the user added, in their order.
    pub items: Vec<Rc<InputItem>>,
    /// The input and its meaning, object by object.
    pub cases: Vec<Rc<CaseReading>>,
    /// The cases of the texts alone, in their order: without scenes.
    brought: Vec<Rc<CaseReading>>,
    /// The position of the object that is looked at.
    chosen: usize,
    /// The position that people chose: an audit log adds its object later.
    wanted: usize,
    /// The error messages of which no scene can be made, and why.
    pub without_scene: Vec<(ReportedError, NoScene)>,
    /// The parts of error messages that the user filled in.
    pub given: GivenParts,
    /// The values that were left out when the case was shared. Stand-ins replace them.
    pub withheld: Withheld,
    /// The client that people write with, if they chose one.
    client: Option<Preset>,
    /// The field manager that people write by; empty for the default of the client.
    pub manager: String,
    /// The effects of each write method on the selected object.
    pub table: Option<ChangeRun>,
    /// The options of a client after the server refused its Update of the selected object.
    pub next_writes: Option<NextRun>,
    /// The effects of the client on all objects, if there are several.
    pub preview: Option<CasePreview>,
    /// `true` if the tool deletes the objects that no manifest names any more.
    pub prunes: bool,
    /// `true` if one of several objects is displayed instead of the preview.
    pub one_object: bool,
    /// The audit log of the case.
    pub audit: Option<AuditRun>,
    /// The step of a recorded history that people selected.
    step: Option<SelectedStep>,
    /// The object at that step, once the history is there.
    pub step_object: Option<Rc<StepObject>>,
    /// The branch that is being made.
    branching: Option<BranchRun>,
    /// The position of the object of the audit log that the next log begins with.
    audited: usize,
    /// The lines of the object with a conflict, as JSON pointers: those that an error message names,
    /// and those for which the change is refused.
    pub contested: Rc<Vec<String>>,
    /// `true` if all write methods are displayed.
    pub all_ways: bool,
    /// The number of the next thing.
    next: u32,
    /// The texts that are not read yet.
    waiting: Vec<Rc<str>>,
    /// The reading of the texts.
    reading: ReadingStage,
    /// The number of the next thing when all was read last.
    read: u32,
    /// The text that is being typed.
    pub draft: String,
    /// The text that is being typed, as the tab keeps it.
    kept_draft: String,
    /// The reason why the last text or file was not taken.
    pub problem: Option<BringProblem>,
    /// The owner whose lines alone are shown.
    pub owner: Option<OwnerFilter>,
    /// The part of the page that a narrow window shows.
    pub section: CaseSection,
    /// The case that was here before a link brought another one.
    earlier: Option<Rc<SavedCase>>,
    /// The result of keeping the case in the tab's storage.
    pub kept: CaseKeeping,
    /// The running server that the page was served by, if there is one.
    pub live: LiveServer,
    /// The number of the thing with the versions of the object that is followed.
    followed: Option<u32>,
}

/// One input.
#[derive(Clone, Debug)]
pub struct InputItem {
    /// Its number: it never comes again.
    pub id: u32,
    /// The number of the first thing of the text that it came in.
    first: u32,
    /// Its text.
    pub text: Rc<str>,
    /// `true` for the log of a running server, which grows.
    pub live: bool,
    /// The content, or the reason why it was not recognized.
    pub content: Result<Input, NotDetected>,
    /// The parts of its object that look private, if a worker has looked for them.
    masks: Option<Masks>,
}

/// The reason why a text or a file is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BringProblem {
    /// The browser cannot read the file of this name.
    File(String),
    /// The file of this name is larger than any that can be read.
    TooLarge(String),
    /// There are [`MAX_ITEMS`] things already.
    TooMany,
}

/// The result of keeping the case in the tab's storage, for after a reload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaseKeeping {
    /// It does, or there is nothing to keep.
    #[default]
    Kept,
    /// It is too large.
    TooLarge,
    /// The browser refuses it: its storage is full or forbidden.
    Refused,
}

/// The lines that are shown of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerFilter {
    /// Those of the manager with this number.
    Manager(usize),
    /// Those without an owner.
    NoOwner,
}

/// A part of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaseSection {
    /// The input.
    #[default]
    Input,
    /// The owners of fields.
    Owners,
    /// The history of the object, and the effects of a write.
    Outcome,
}

impl CaseSection {
    /// All, from left to right.
    pub const ALL: [Self; 3] = [Self::Input, Self::Owners, Self::Outcome];
}

/// A part of a case, as a job does it.
#[derive(Clone, Copy, Debug)]
struct CasePart {
    run: CaseRun,
    /// `true` until it is done.
    is_left: bool,
    /// The job that does it.
    job: Option<JobId>,
}

/// The parts of a case.
#[derive(Clone, Copy, Debug)]
enum CaseRun {
    /// The reading of its texts and objects.
    Reading,
    /// The reading and the replay of its audit log.
    Audit,
    /// The options after a conflict.
    Next,
    /// The preview of several objects.
    Preview,
    /// The table of the ways of writing.
    Table,
}

impl CaseRun {
    /// A part that may not have begun.
    fn part<T>(
        self,
        run: &Option<T>,
        is_left: impl Fn(&T) -> bool,
        job: impl Fn(&T) -> Option<JobId>,
    ) -> CasePart {
        CasePart {
            run: self,
            is_left: run.as_ref().is_some_and(is_left),
            job: run.as_ref().and_then(job),
        }
    }
}

impl DiagnoseState {
    /// The jobs that it waits for.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = JobId> {
        self.job().into_iter().chain(self.branch_job())
    }

    /// The job that does a part of the case: there is one at a time.
    fn job(&self) -> Option<JobId> {
        self.parts().into_iter().find_map(|part| part.job)
    }

    /// The parts of the case, in the order in which they are done.
    fn parts(&self) -> [CasePart; 5] {
        let reading = CasePart {
            run: CaseRun::Reading,
            is_left: self.is_reading(),
            job: self.reading.job(),
        };
        let is_left = |table: &ChangeRun| table.progress().is_some();
        [
            reading,
            CaseRun::Audit.part(&self.audit, AuditRun::is_running, AuditRun::job),
            CaseRun::Next.part(&self.next_writes, NextRun::is_running, NextRun::job),
            CaseRun::Preview.part(&self.preview, CasePreview::is_running, CasePreview::job),
            CaseRun::Table.part(&self.table, is_left, ChangeRun::job),
        ]
    }

    /// Runs the write methods for the selected object.
    fn run_again(&mut self) {
        let client = self.client();
        let given = self.given_parts();
        let reading = self.reading();
        let next_writes = reading.and_then(|it| NextRun::start(it));
        self.table = reading.and_then(|it| ChangeRun::start(it, client, &self.manager, &given));
        self.next_writes = next_writes;
        self.mark_conflicts();
    }

    fn mark_conflicts(&mut self) {
        let Some(reading) = self.reading() else {
            self.contested = Rc::default();
            return;
        };
        let mut fields: Vec<String> = Vec::new();
        for error in &reading.case.errors {
            let conflicts = error.error.conflicts().iter();
            fields.extend(conflicts.flat_map(|it| it.fields.iter().cloned()));
        }
        fields.extend(self.table.iter().flat_map(ChangeRun::refused));
        self.contested = Rc::new(reading.pointers(&fields));
    }

    /// Returns the reading of the selected object.
    pub fn reading(&self) -> Option<&Rc<CaseReading>> {
        self.cases.get(self.chosen)
    }

    /// The position of the object that is looked at.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// The case of these texts, before they are read.
    pub(crate) fn of_texts(texts: impl IntoIterator<Item = String>) -> Self {
        let mut case = Self::default();
        texts.into_iter().for_each(|text| case.wait(&text));
        case
    }

    /// Adds a text, or its parts if it has messages and objects.
    fn wait(&mut self, text: &str) {
        self.problem = None;
        if text.trim().is_empty() {
            return;
        }
        parts(text).into_iter().for_each(|part| self.wait_for(part));
    }

    /// The messages in the status of objects are the next text, unless the case has them: one that was kept has them behind
    /// the objects.
    fn wait_for_messages(&mut self, items: &[Rc<InputItem>]) {
        let input = items.iter().filter_map(|item| item.content.as_ref().ok());
        let Some(messages) = condition_messages(input) else {
            return;
        };
        let mut known = self.items.iter().map(|item| &item.text);
        if known.any(|text| **text == *messages) || self.waiting.iter().any(|it| **it == *messages)
        {
            return;
        }
        self.wait_at(0, &messages);
    }

    fn wait_for(&mut self, text: &str) {
        self.wait_at(self.waiting.len(), text);
    }

    /// Adds a text that is read after the first `at` ones.
    fn wait_at(&mut self, at: usize, text: &str) {
        if self.items.len() + self.waiting.len() >= MAX_ITEMS {
            self.problem = Some(BringProblem::TooMany);
            return;
        }
        // Texts come first: what follows depends on them.
        if self.waiting.is_empty() {
            self.reading = ReadingStage::default();
        }
        self.waiting.insert(at, text.into());
    }

    fn remove_all(&mut self) {
        *self = Self {
            opened: self.opened,
            next: self.next,
            draft: std::mem::take(&mut self.draft),
            kept_draft: std::mem::take(&mut self.kept_draft),
            earlier: self.earlier.take(),
            live: LiveServer {
                is_ignored: self.live.is_ignored || self.items.iter().any(|item| item.live),
                ..std::mem::take(&mut self.live)
            },
            ..Self::default()
        };
    }

    /// Takes the new readings of the case, and starts the work that depends on them.
    fn take_cases(&mut self, cases: Vec<Rc<CaseReading>>) {
        self.read = self.next;
        self.brought.clone_from(&cases);
        self.cases = cases;
        self.make_scenes();
        self.chosen = self.wanted.min(self.cases.len().saturating_sub(1));
        self.look_at_step();
        self.run_again();
        self.preview_again();
    }

    /// Runs the preview of all objects with the client of now.
    fn preview_again(&mut self) {
        let manager = self.given_parts().manager;
        self.preview = CasePreview::start(&self.brought, self.client(), manager, self.prunes);
    }

    /// Looks at the worst object of the preview, unless people look at another one.
    fn look_at_worst(&mut self) {
        let preview = self.preview.as_ref().and_then(|it| it.done.as_ref());
        let worst = preview.and_then(|it| case_of(it.rows.first()?, &self.cases));
        if let Some(worst) = worst.filter(|_| self.wanted == 0) {
            self.chosen = worst;
            self.run_again();
        }
    }

    /// Returns the parts of error messages that the user filled in, with the field manager.
    fn given_parts(&self) -> GivenParts {
        let manager = self.manager.trim();
        GivenParts {
            manager: (!manager.is_empty()).then(|| manager.to_owned()),
            ..self.given.clone()
        }
    }

    /// Makes the scenes of error messages about objects without a live one in the input. They come
    /// first. The object of the audit log is left out if there is a scene of it.
    fn make_scenes(&mut self) {
        let mut without = Vec::new();
        let given = self.given_parts();
        let brought = self.cases.iter().filter(|known| !known.is_audited);
        let live = brought.filter(|known| known.case.live.is_some());
        let known: Vec<ReportedError> = live.flat_map(|it| it.case.errors.clone()).collect();
        let errors = self.items.iter().flat_map(|item| match &item.content {
            Ok(Input::Errors(errors)) => errors.as_slice(),
            _ => &[],
        });
        let mut scenes = Vec::new();
        for error in errors
            .filter(|error| !known.contains(error))
            .take(MAX_SCENES)
        {
            let cases = self.cases.iter().map(|it| &*it.case);
            let manifests = MessageManifests::of_cases(error, &given, cases);
            match CaseReading::of_message(error, manifests) {
                Ok(reading) => scenes.push(Rc::new(reading)),
                Err(why) => without.push((error.clone(), why)),
            }
        }
        self.without_scene = without;
        let is_shown = |it: &Rc<CaseReading>| {
            // One object is one entry: the scene has its manifest.
            let is_in_scene = scenes.iter().any(|scene| scene.has_manifest_of(&it.case));
            let mut scenes = scenes.iter().map(|scene| &scene.case.id);
            let is_logged = it.is_audited && scenes.any(|id| id.may_be(&it.case.id));
            !is_logged && !is_in_scene
        };
        self.cases.retain(is_shown);
        scenes.append(&mut self.cases);
        self.cases = scenes;
    }

    /// Begins to read the audit log of the case, if it is another one than before.
    fn read_log(&mut self) {
        let mut logs = self.items.iter().filter_map(|item| match &item.content {
            Ok(Input::AuditLog(text)) => Some((item.id, text, item.live)),
            _ => None,
        });
        let log = logs.next();
        let known = self.audit.as_ref().map(|run| run.item);
        if known != log.map(|(id, ..)| id) {
            let audited = std::mem::take(&mut self.audited);
            let earlier = self.audit.take();
            self.audit = log.map(|(id, text, live)| {
                let run = AuditRun::new(id, text, audited);
                match earlier {
                    Some(earlier) if live => run.continuing(&earlier),
                    _ => run,
                }
            });
        }
    }
}
