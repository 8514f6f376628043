//! The reading of a large text as a job: a worker finds its objects and what looks private in them, and the page
//! takes them as they come.

use std::collections::VecDeque;

use optimist_apiserver::json;
use optimist_diagnose::input::{Detection, Input};
use optimist_masking::masked_parts;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::DiagnoseState;
use super::reading::Masks;
use super::reading_run::BYTES;
use crate::State;
use crate::jobs::{JobId, JobPart, JobResult, Work, is_worth_sending};

/// An object that a job has found in a text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FoundObject {
    form: ObjectForm,
    /// The object as JSON. `json::parse` reads it as it reads what people bring.
    json: String,
    /// The parts that look private, if they were looked for.
    masks: Option<Vec<(String, Value)>>,
}

/// The form in which an object is in an [`Input`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum ObjectForm {
    Live,
    Manifest,
    Definition,
}

/// The result of a job that reads a text.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum ReadOutcome {
    /// It is one object.
    Object,
    /// It has several objects.
    Objects,
    /// Something else, or nothing. The page reads it itself.
    Unread,
}

impl FoundObject {
    /// `None` for what is no object.
    fn from_input(input: Input) -> Option<Self> {
        let (form, object) = match input {
            Input::Live(object) => (ObjectForm::Live, object),
            Input::Manifest(object) => (ObjectForm::Manifest, object),
            Input::Definition(object) => (ObjectForm::Definition, object),
            Input::Several(_) | Input::Versions(_) | Input::AuditLog(_) | Input::Errors(_) => {
                return None;
            }
        };
        // Of the others, nothing is shown masked before a table is run.
        let is_live = matches!(form, ObjectForm::Live);
        Some(Self {
            form,
            masks: is_live.then(|| masked_parts(&object)),
            json: object.to_string(),
        })
    }

    /// The object, and the parts that look private.
    pub(super) fn take_apart(self) -> (Input, Option<Masks>) {
        // It was written from an object.
        let object = json::parse(self.json.as_bytes()).map_or(Value::Null, Value::from);
        let input = match self.form {
            ObjectForm::Live => Input::Live(object),
            ObjectForm::Manifest => Input::Manifest(object),
            ObjectForm::Definition => Input::Definition(object),
        };
        (input, self.masks.map(Into::into))
    }
}

/// The reading of a text, in parts.
pub(crate) struct ReadWork {
    stage: ReadStage,
    /// The objects that nobody has taken.
    found: VecDeque<FoundObject>,
}

enum ReadStage {
    Detect(Box<Detection>),
    /// The objects that are left.
    Look(VecDeque<Input>, ReadOutcome),
    End(ReadOutcome),
}

impl ReadWork {
    pub(crate) fn new(text: String) -> Self {
        Self {
            stage: ReadStage::Detect(Box::new(Detection::new(text.into()))),
            found: VecDeque::new(),
        }
    }

    fn look(&mut self, mut left: VecDeque<Input>, outcome: ReadOutcome) -> ReadStage {
        let Some(input) = left.pop_front() else {
            return ReadStage::End(outcome);
        };
        match FoundObject::from_input(input) {
            Some(object) => self.found.push_back(object),
            None => return ReadStage::End(ReadOutcome::Unread),
        }
        ReadStage::Look(left, outcome)
    }
}

impl Work for ReadWork {
    fn advance(&mut self) -> Option<JobResult> {
        let end = ReadStage::End(ReadOutcome::Unread);
        self.stage = match std::mem::replace(&mut self.stage, end) {
            ReadStage::Detect(mut detection) => match detection.advance(BYTES) {
                true => ReadStage::Detect(detection),
                false => match detection.finish() {
                    Ok(Input::Several(several)) => {
                        ReadStage::Look(several.into(), ReadOutcome::Objects)
                    }
                    Ok(input) => ReadStage::Look([input].into(), ReadOutcome::Object),
                    Err(_) => ReadStage::End(ReadOutcome::Unread),
                },
            },
            ReadStage::Look(left, outcome) => self.look(left, outcome),
            ReadStage::End(outcome) => return Some(JobResult::Read(outcome)),
        };
        None
    }

    fn take_part(&mut self) -> Option<JobPart> {
        self.found.pop_front().map(JobPart::Object)
    }

    fn progress(&self) -> (usize, usize) {
        match &self.stage {
            ReadStage::Detect(detection) => detection.progress(),
            ReadStage::Look(..) | ReadStage::End(_) => (1, 1),
        }
    }
}

impl DiagnoseState {
    /// The job that reads the next text; `None` if it is read here.
    pub(crate) fn reading_job(&self) -> Option<JobId> {
        self.run.job()
    }

    /// Returns whether a worker is to read the next text: there is one, and the text is worth the message.
    pub(super) fn is_for_job(&self, has_worker: impl FnOnce() -> bool) -> bool {
        let text = self.waiting.first().filter(|_| self.run.is_for_job());
        text.is_some_and(|text| is_worth_sending(text.len())) && has_worker()
    }

    /// The text that a worker is to read.
    pub(super) fn text_for_job(&self, has_worker: impl FnOnce() -> bool) -> Option<String> {
        let text = self.waiting.first()?;
        self.is_for_job(has_worker).then(|| text.to_string())
    }
}

impl State {
    /// Takes an object from the job that reads a text.
    pub(crate) fn take_read_object(&mut self, id: JobId, object: FoundObject) {
        if let Some(case) = self.case_that_waits_for(id) {
            case.run.take_object(object);
        }
    }

    /// The job that reads a text has ended.
    pub(crate) fn text_is_read(&mut self, id: JobId, outcome: ReadOutcome) {
        if let Some(case) = self.case_that_waits_for(id)
            && let Some(text) = case.waiting.first()
        {
            case.run.end_job(text, outcome);
        }
    }
}
