//! Reads the texts of the case a slice at a time: first the texts, then the facts about each
//! object.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use optimist_diagnose::case::Case;
use optimist_diagnose::input::{Detection, Input, text_of_file};

use super::read_elsewhere::{FoundObject, ReadOutcome};
use super::reading::{CaseReading, Masks, PartialReading};
use super::{DiagnoseState, InputItem};
use crate::jobs::JobId;

/// The number of bytes that are read at a time: less than a slice of the work.
pub(super) const BYTES: usize = 32 * 1024;

/// The work in progress. The states of the page share it: only the last state goes on with it.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadingRun(Rc<RefCell<ReadingStage>>);

#[derive(Debug, Default)]
enum ReadingStage {
    /// Nothing is begun.
    #[default]
    Idle,
    /// The first text that waits; `true` if it is to be read here.
    Text(Box<Detection>, bool),
    /// A job reads the first text that waits: its objects so far.
    Elsewhere(JobId, Vec<FoundObject>),
    /// The objects of that text, which a job has read; `true` if they are to be put in texts of their own.
    Read(VecDeque<FoundObject>, bool),
    /// The objects of that text are put in texts of their own.
    Parts(VecDeque<Input>),
    /// Reads the facts about each object.
    Cases(Box<CasesRun>),
}

/// The reading of the facts about each object of the case.
#[derive(Debug)]
struct CasesRun {
    left: VecDeque<Case>,
    partial: Option<Box<PartialReading>>,
    done: Vec<Rc<CaseReading>>,
    /// The object of the audit log, to be read after the others.
    audited: Option<Case>,
    /// The earlier readings. An object without new input is not read again.
    known: Vec<Rc<CaseReading>>,
    /// The things in whose objects a worker has looked for what looks private.
    looked_through: Vec<Rc<InputItem>>,
    total: usize,
}

impl CasesRun {
    /// Does the next part. Returns whether there is more.
    fn advance(&mut self) -> bool {
        if let Some(partial) = self.partial.take() {
            match partial.advance() {
                Ok(reading) => self.done.push(Rc::new(reading)),
                Err(more) => self.partial = Some(more),
            }
        } else if let Some(case) = self.left.pop_front() {
            let masks = self.masks(&case);
            self.begin_object(PartialReading::new(case).with_masks(masks));
        } else if let Some(case) = self.audited.take() {
            self.begin_object(PartialReading::of_audited(case));
        }
        self.has_more()
    }

    fn has_more(&self) -> bool {
        self.partial.is_some() || !self.left.is_empty() || self.audited.is_some()
    }

    /// The parts of an object that look private, if a worker has looked for them.
    fn masks(&self, case: &Case) -> Option<Masks> {
        let live = case.live.as_ref()?;
        let mut items = self.looked_through.iter();
        let item = items.find(|item| matches!(&item.content, Ok(Input::Live(it)) if it == live))?;
        item.masks.clone()
    }

    /// Begins to read an object, if it is not known.
    fn begin_object(&mut self, partial: PartialReading) {
        let known = self.known.iter().find(|it| partial.is_of_same(it));
        match known.cloned() {
            Some(known) => self.done.push(known),
            None => self.partial = Some(Box::new(partial)),
        }
    }

    /// Takes over the known parts until something has to be read. Returns whether there is more.
    fn advance_known(&mut self) -> bool {
        while self.advance() {
            if self.partial.is_some() {
                return true;
            }
        }
        false
    }
}

impl ReadingRun {
    fn is_at_cases(&self) -> bool {
        matches!(*self.0.borrow(), ReadingStage::Cases(_))
    }

    /// The job that reads the first text that waits.
    pub(super) fn job(&self) -> Option<JobId> {
        match *self.0.borrow() {
            ReadingStage::Elsewhere(job, _) => Some(job),
            _ => None,
        }
    }

    /// Returns whether a job may read the first text that waits: it has begun to be read, and its documents may be
    /// large.
    pub(super) fn is_for_job(&self) -> bool {
        match &*self.0.borrow() {
            ReadingStage::Text(detection, here) => !here && detection.reads_documents(),
            _ => false,
        }
    }

    /// Returns whether all is read, and only to be taken.
    pub(super) fn is_read(&self) -> bool {
        matches!(&*self.0.borrow(), ReadingStage::Cases(cases) if !cases.has_more())
    }

    /// Waits for a job that reads the text.
    pub(super) fn wait_for(&self, job: JobId) {
        self.0.replace(ReadingStage::Elsewhere(job, Vec::new()));
    }

    /// Takes an object from the job that reads the text.
    pub(super) fn take_object(&self, object: FoundObject) {
        if let ReadingStage::Elsewhere(_, objects) = &mut *self.0.borrow_mut() {
            objects.push(object);
        }
    }

    /// The job has ended.
    pub(super) fn end_job(&self, text: &Rc<str>, outcome: ReadOutcome) {
        let stage = self.0.take();
        let ReadingStage::Elsewhere(_, objects) = stage else {
            self.0.replace(stage);
            return;
        };
        self.0.replace(match outcome {
            ReadOutcome::Object => ReadingStage::Read(objects.into(), false),
            ReadOutcome::Objects => ReadingStage::Read(objects.into(), true),
            ReadOutcome::Unread => {
                ReadingStage::Text(Box::new(Detection::new((&**text).into())), true)
            }
        });
    }
}

impl DiagnoseState {
    /// Returns whether there is text to read, or a fact that follows from it.
    pub fn is_reading(&self) -> bool {
        !self.waiting.is_empty() || self.run.is_at_cases()
    }

    /// Returns the progress in percent: of the current text, or of the objects.
    pub fn percent_read(&self) -> usize {
        let (done, total) = match &*self.run.0.borrow() {
            ReadingStage::Text(detection, _) => detection.progress(),
            ReadingStage::Cases(run) => (run.done.len(), run.total),
            ReadingStage::Idle
            | ReadingStage::Elsewhere(..)
            | ReadingStage::Read(..)
            | ReadingStage::Parts(_) => (0, 1),
        };
        done * 100 / total.max(1)
    }

    /// Reads a little. Something if all is read.
    pub(super) fn read_on(&mut self) -> Option<()> {
        let run = Rc::clone(&self.run.0);
        let stage = run.take();
        let next = match stage {
            ReadingStage::Cases(cases) if self.waiting.is_empty() => return self.follow(cases),
            // Texts come first: what follows depends on them.
            ReadingStage::Idle | ReadingStage::Cases(_) => {
                let text = self.waiting.first()?;
                ReadingStage::Text(Box::new(Detection::new((&**text).into())), false)
            }
            ReadingStage::Text(mut detection, here) => {
                if detection.advance(BYTES) {
                    ReadingStage::Text(detection, here)
                } else {
                    match detection.finish() {
                        Ok(Input::Several(several)) => ReadingStage::Parts(several.into()),
                        content => {
                            let text = self.waiting.remove(0);
                            self.add(text, content, None);
                            ReadingStage::Idle
                        }
                    }
                }
            }
            // Its report goes on with it.
            ReadingStage::Elsewhere(..) => {
                run.replace(stage);
                return None;
            }
            ReadingStage::Read(objects, several) => self.add_read_object(objects, several),
            ReadingStage::Parts(mut parts) => match parts.pop_front() {
                Some(part) => {
                    self.add(part.to_text().into(), Ok(part), None);
                    ReadingStage::Parts(parts)
                }
                None => {
                    self.waiting.remove(0);
                    ReadingStage::Idle
                }
            },
        };
        let read = matches!(next, ReadingStage::Idle) && self.waiting.is_empty();
        run.replace(next);
        if read {
            self.look_again();
            return (!self.is_reading()).then_some(());
        }
        None
    }

    /// Adds the next object that a job has read. `several`: each gets a text of its own.
    fn add_read_object(
        &mut self,
        mut objects: VecDeque<FoundObject>,
        several: bool,
    ) -> ReadingStage {
        let Some(object) = objects.pop_front() else {
            self.waiting.remove(0);
            return ReadingStage::Idle;
        };
        let (content, masks) = object.take_apart();
        if several {
            self.add(content.to_text().into(), Ok(content), masks);
            return ReadingStage::Read(objects, several);
        }
        let text = self.waiting.remove(0);
        self.add(text, Ok(content), masks);
        ReadingStage::Idle
    }

    fn follow(&mut self, mut cases: Box<CasesRun>) -> Option<()> {
        if cases.has_more() {
            cases.advance();
            self.run.0.replace(ReadingStage::Cases(cases));
            return None;
        }
        self.take_cases(cases.done);
        Some(())
    }

    /// Begins to compute the following parts again, after the case has changed. If nothing has to
    /// be read for it, that is done at once.
    pub(super) fn look_again(&mut self) {
        self.owner = None;
        self.read_log();
        let items = self.items.iter();
        let input = items.filter_map(|it| it.content.as_ref().ok());
        let left: VecDeque<Case> = Case::all_of(input).into();
        let audited = self.audited_case().filter(|audited| {
            let mut known = left.iter();
            !known.any(|case| case.id.may_be(&audited.id))
        });
        let looked_through = self.items.iter().filter(|item| item.masks.is_some());
        let mut run = CasesRun {
            total: left.len() + usize::from(audited.is_some()),
            left,
            audited,
            partial: None,
            done: Vec::new(),
            known: self.cases.clone(),
            looked_through: looked_through.cloned().collect(),
        };
        let stage = if run.advance_known() {
            ReadingStage::Cases(Box::new(run))
        } else {
            self.take_cases(run.done);
            ReadingStage::Idle
        };
        // Another one: a state from before must not go on with it.
        self.run = ReadingRun(Rc::new(RefCell::new(stage)));
    }

    /// The object of the audit log, as the log has it last.
    fn audited_case(&self) -> Option<Case> {
        let versions = self.replay()?.history.versions();
        let last = versions.last()?.object.clone();
        let mut case = Case::all_of(&[Input::Versions(versions)]).pop()?;
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
        self.run = ReadingRun::default();
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
            Err(why) => self.add(begin_of(bytes).into(), Err(why), None),
        }
    }
}

/// The beginning of a file that is no text, as far as a card shows it.
fn begin_of(bytes: &[u8]) -> String {
    const SHOWN: usize = 4096;
    String::from_utf8_lossy(bytes.get(..SHOWN).unwrap_or(bytes)).into_owned()
}
