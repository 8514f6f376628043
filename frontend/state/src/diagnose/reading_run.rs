//! Reads the texts of the case as jobs, one after the other, and then the facts about each object.

use std::collections::VecDeque;
use std::rc::Rc;

use optimist_diagnose::case::Case;
use optimist_diagnose::input::{Detection, Input, NotDetected, VersionsEnd, text_of_file};

use super::read_work::{FoundObject, ReadItem};
use super::reading::{CaseReading, Masks, PartialReading};
use super::{BringProblem, CaseSection, DiagnoseState, InputItem, MAX_ITEMS};
use crate::State;
use crate::jobs::{JobId, JobRequest, JobResult, Work, is_worth_sending};

/// The part of the reading that is next or that a job does.
#[derive(Clone, Debug)]
pub(super) enum ReadingStage {
    /// The first text that waits is next, if there is one; `true` if it is to be read in the page.
    Text(bool),
    /// A job reads the first text that waits. These things are in it.
    TextJob(JobId, Vec<Rc<InputItem>>),
    /// The facts about each object are next.
    Objects(Rc<ObjectsRequest>),
    /// A job reads the facts about each object.
    ObjectsJob(JobId),
}

impl Default for ReadingStage {
    fn default() -> Self {
        Self::Text(false)
    }
}

/// A request to read the facts about each object of the case.
#[derive(Clone, Debug)]
pub struct ObjectsRequest {
    /// The objects that are left; `true` for the object of the audit log, which comes last.
    left: VecDeque<(Rc<Case>, bool)>,
    done: Vec<Rc<CaseReading>>,
    /// The earlier readings. An object without new input is not read again.
    known: Vec<Rc<CaseReading>>,
    /// The things in whose objects a worker has looked for what looks private.
    looked_through: Vec<Rc<InputItem>>,
}

impl ObjectsRequest {
    /// Takes over the readings that are known, until something has to be read. Returns whether there is more.
    fn take_known(&mut self) -> bool {
        while let Some((case, is_audited)) = self.left.front() {
            let mut known = self.known.iter();
            let Some(known) = known.find(|it| it.is_of(case, *is_audited)) else {
                return true;
            };
            self.done.push(Rc::clone(known));
            self.left.pop_front();
        }
        false
    }

    /// The reading of the next object.
    fn next(&mut self) -> Option<PartialReading> {
        let (case, is_audited) = self.left.pop_front()?;
        if is_audited {
            return Some(PartialReading::of_audited(case));
        }
        let masks = self.masks(&case);
        Some(PartialReading::new(case).with_masks(masks))
    }

    /// The parts of an object that look private, if a worker has looked for them.
    fn masks(&self, case: &Case) -> Option<Masks> {
        let live = case.live.as_ref()?;
        let mut items = self.looked_through.iter();
        let item = items.find(|item| matches!(&item.content, Ok(Input::Live(it)) if it == live))?;
        item.masks.clone()
    }
}

/// The reading of the facts about each object, in parts.
pub(crate) struct ObjectsWork {
    request: ObjectsRequest,
    partial: Option<Box<PartialReading>>,
    total: usize,
}

impl ObjectsWork {
    pub(crate) fn new(request: Rc<ObjectsRequest>) -> Self {
        let request = Rc::unwrap_or_clone(request);
        Self {
            total: request.done.len() + request.left.len(),
            partial: None,
            request,
        }
    }
}

impl Work for ObjectsWork {
    fn advance(&mut self) -> Option<JobResult> {
        if let Some(partial) = self.partial.take() {
            match partial.advance() {
                Ok(reading) => self.request.done.push(Rc::new(reading)),
                Err(more) => self.partial = Some(more),
            }
            return None;
        }
        if self.request.take_known() {
            self.partial = self.request.next().map(Box::new);
            return None;
        }
        Some(JobResult::Objects(std::mem::take(&mut self.request.done)))
    }

    fn progress(&self) -> (usize, usize) {
        (self.request.done.len(), self.total)
    }
}

impl ReadingStage {
    /// The job that reads.
    pub(super) fn job(&self) -> Option<JobId> {
        match self {
            Self::TextJob(job, _) | Self::ObjectsJob(job) => Some(*job),
            Self::Text(_) | Self::Objects(_) => None,
        }
    }

    fn is_at_objects(&self) -> bool {
        matches!(self, Self::Objects(_) | Self::ObjectsJob(_))
    }
}

impl DiagnoseState {
    /// Returns whether there is text to read, or a fact that follows from it.
    pub fn is_reading(&self) -> bool {
        !self.waiting.is_empty() || self.reading.is_at_objects()
    }

    /// The request for the next part of the reading, which a job then does. `has_worker` says whether there is a worker.
    pub(super) fn begin_reading(
        &mut self,
        job: JobId,
        has_worker: impl FnOnce() -> bool,
    ) -> Option<JobRequest> {
        let (next, request) = match std::mem::take(&mut self.reading) {
            ReadingStage::Text(in_page) => {
                let text = self.waiting.first()?;
                let request = match !in_page && is_for_worker(text, has_worker) {
                    true => JobRequest::Read(text.to_string()),
                    false => JobRequest::ReadInPage(Rc::clone(text)),
                };
                (ReadingStage::TextJob(job, Vec::new()), request)
            }
            ReadingStage::Objects(request) => {
                (ReadingStage::ObjectsJob(job), JobRequest::Objects(request))
            }
            begun => {
                self.reading = begun;
                return None;
            }
        };
        self.reading = next;
        Some(request)
    }

    /// Takes an object from the worker that reads a text. A worker that failed has sent the first ones before.
    pub(super) fn take_object(&mut self, object: FoundObject) {
        if let ReadingStage::TextJob(_, items) = &mut self.reading {
            items.truncate(object.before());
            let (item, masks) = object.take_apart();
            self.take_item(item, masks);
        }
    }

    /// Takes a thing from the job that reads a text.
    pub(super) fn take_item(&mut self, item: ReadItem, masks: Option<Masks>) {
        let Some(text) = item.text.or_else(|| self.waiting.first().cloned()) else {
            return;
        };
        let item = self.item(text, item.content, masks);
        if let ReadingStage::TextJob(_, items) = &mut self.reading {
            items.push(item);
        }
    }

    /// The job has read the text; `false` if the page has to read it. Returns whether everything is read.
    pub(super) fn text_is_read(&mut self, is_read: bool) -> bool {
        let items = match std::mem::take(&mut self.reading) {
            ReadingStage::TextJob(_, items) if is_read && !self.waiting.is_empty() => items,
            ReadingStage::TextJob(..) => {
                self.reading = ReadingStage::Text(true);
                return false;
            }
            other => {
                self.reading = other;
                return false;
            }
        };
        self.waiting.remove(0);
        items.iter().cloned().for_each(|item| self.place(item));
        self.wait_for_messages(&items);
        if self.waiting.is_empty() {
            self.look_again();
        }
        !self.is_reading()
    }

    /// The job has read the facts about each object. Returns whether a text is new.
    pub(super) fn objects_are_read(&mut self, cases: Vec<Rc<CaseReading>>) -> bool {
        // The object of an audit log is read too, and is no text of its own.
        let has_new_text = self.read != self.next;
        self.reading = ReadingStage::default();
        self.take_cases(cases);
        has_new_text
    }

    /// A thing of the case.
    fn item(
        &mut self,
        text: Rc<str>,
        content: Result<Input, NotDetected>,
        masks: Option<Masks>,
    ) -> Rc<InputItem> {
        let id = self.next;
        self.next += 1;
        let first = match &self.reading {
            ReadingStage::TextJob(_, items) => items.first().map(|item| item.id),
            _ => None,
        };
        Rc::new(InputItem {
            id,
            first: first.unwrap_or(id),
            text,
            live: false,
            content,
            masks,
        })
    }

    /// Adds a thing to the case.
    fn place(&mut self, item: Rc<InputItem>) {
        if self.items.len() >= MAX_ITEMS {
            self.problem = Some(BringProblem::TooMany);
            return;
        }
        // No headline says what happened: a narrow window shows the history itself.
        if matches!(
            item.content,
            Ok(Input::AuditLog(_) | Input::Versions { .. })
        ) {
            self.section = CaseSection::Outcome;
        }
        self.items.push(item);
    }

    /// Begins to compute the following parts again, after the case has changed. If nothing has to
    /// be read for it, that is done at once.
    pub(super) fn look_again(&mut self) {
        self.owner = None;
        self.read_log();
        let items = self.items.iter();
        let input = items.filter_map(|it| Some((it.first, it.content.as_ref().ok()?)));
        let cases = Case::all_of_texts(input);
        let audited = self.audited_case().filter(|audited| {
            let mut known = cases.iter();
            !known.any(|case| case.id.may_be(&audited.id))
        });
        let cases = cases.into_iter().map(|case| (Rc::new(case), false));
        let audited = audited.map(|case| (Rc::new(case), true));
        let looked_through = self.items.iter().filter(|item| item.masks.is_some());
        let mut request = ObjectsRequest {
            left: cases.chain(audited).collect(),
            done: Vec::new(),
            known: self.brought.clone(),
            looked_through: looked_through.cloned().collect(),
        };
        let has_more = request.take_known();
        // Texts come first: what follows depends on them.
        if self.waiting.is_empty() {
            self.reading = match has_more {
                true => ReadingStage::Objects(Rc::new(request.clone())),
                false => ReadingStage::default(),
            };
        }
        if !has_more {
            self.take_cases(request.done);
        }
    }

    /// The object of the audit log, as the log has it last.
    fn audited_case(&self) -> Option<Case> {
        let versions = self.replay()?.history.versions();
        let last = versions.last()?.object.clone();
        let mut case = Case::all_of(&[Input::Versions {
            versions,
            end: VersionsEnd::Whole,
        }])
        .pop()?;
        // Its number need not be in the log.
        case.live = Some((*last).clone());
        Some(case)
    }

    /// Stops reading, and drops the texts that are not read yet.
    pub(super) fn cancel_reading(&mut self) {
        let read = self.read;
        self.waiting.clear();
        self.items
            .retain(|item| item.id < read || item.content.is_err());
        self.reading = ReadingStage::default();
        self.look_again();
    }

    /// Takes the text of a thing that is not recognized back to where texts are typed.
    pub(super) fn correct(&mut self, id: u32) {
        let is_it = |item: &&Rc<InputItem>| item.id == id && item.content.is_err();
        let Some(item) = self.items.iter().find(is_it).cloned() else {
            return;
        };
        self.items.retain(|other| other.id != id);
        if !self.draft.trim().is_empty() {
            self.draft.push('\n');
        }
        self.draft.push_str(&item.text);
    }

    /// Takes the content of a file.
    pub(super) fn take_file(&mut self, bytes: &[u8]) {
        match text_of_file(bytes) {
            Ok(text) => self.wait(&text),
            Err(why) => {
                let item = self.item(begin_of(bytes).into(), Err(why), None);
                self.place(item);
            }
        }
    }
}

impl State {
    /// Returns the progress of the reading in percent: of the current text, or of the objects.
    pub fn percent_read(&self) -> usize {
        let job = self.diagnose.reading.job();
        let progress = job.and_then(|job| self.jobs.progress(job));
        let (done, total) = progress.unwrap_or_default();
        done * 100 / total.max(1)
    }
}

/// Returns whether a worker is to read a text: there is one, the text is worth the message, and it has documents, which
/// may be large.
fn is_for_worker(text: &str, has_worker: impl FnOnce() -> bool) -> bool {
    if !is_worth_sending(text.len()) || !has_worker() {
        return false;
    }
    let mut detection = Detection::new(text.into());
    detection.advance(0);
    detection.reads_documents()
}

/// The beginning of a file that is no text, as far as a card shows it.
fn begin_of(bytes: &[u8]) -> String {
    const SHOWN: usize = 4096;
    String::from_utf8_lossy(bytes.get(..SHOWN).unwrap_or(bytes)).into_owned()
}
