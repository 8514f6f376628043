//! The reading of a text as a job. A worker finds the objects of a large one and what looks private in them; the page
//! takes them as they come.

use std::collections::VecDeque;
use std::rc::Rc;

use optimist_apiserver::json;
use optimist_diagnose::input::{Detection, Input, NotDetected};
use optimist_masking::masked_parts;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reading::Masks;
use crate::jobs::{JobPart, JobResult, Work};

/// The number of bytes of a text that are read at a time: less than a slice of the work.
pub(super) const BYTES: usize = 32 * 1024;

/// A thing that a job in the page has read in a text.
#[derive(Clone, Debug)]
pub struct ReadItem {
    /// Its own text, if the text has more things.
    pub(super) text: Option<Rc<str>>,
    /// The content, or the reason why it was not recognized.
    pub(super) content: Result<Input, NotDetected>,
}

/// An object that a worker has found in a text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FoundObject {
    form: ObjectForm,
    /// The object as JSON. `json::parse` reads it as it reads what people bring.
    json: String,
    /// The position among the objects of the text; `None` if it is the only one.
    position: Option<usize>,
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

impl FoundObject {
    /// `None` for what is no object.
    fn from_input(input: Input, position: Option<usize>) -> Option<Self> {
        let (form, object) = match input {
            Input::Live(object) => (ObjectForm::Live, object),
            Input::Manifest(object) => (ObjectForm::Manifest, object),
            Input::Definition(object) => (ObjectForm::Definition, object),
            Input::Several(_) | Input::Versions { .. } | Input::AuditLog(_) | Input::Errors(_) => {
                return None;
            }
        };
        // Of the others, nothing is shown masked before a table is run.
        let is_live = matches!(form, ObjectForm::Live);
        Some(Self {
            form,
            masks: is_live.then(|| masked_parts(&object)),
            json: object.to_string(),
            position,
        })
    }

    /// The number of objects before it in the text.
    pub(super) fn before(&self) -> usize {
        self.position.unwrap_or_default()
    }

    /// The object, and the parts that look private.
    pub(super) fn take_apart(self) -> (ReadItem, Option<Masks>) {
        // It was written from an object.
        let object = json::parse(self.json.as_bytes()).map_or(Value::Null, Value::from);
        let input = match self.form {
            ObjectForm::Live => Input::Live(object),
            ObjectForm::Manifest => Input::Manifest(object),
            ObjectForm::Definition => Input::Definition(object),
        };
        let item = ReadItem {
            text: self.position.map(|_| input.to_text().into()),
            content: Ok(input),
        };
        (item, self.masks.map(Into::into))
    }
}

/// The reading of a text, in parts.
pub(crate) struct ReadWork {
    stage: ReadStage,
    /// `true` if its results stay in the page.
    in_page: bool,
    /// The results that nobody has taken.
    found: VecDeque<JobPart>,
}

enum ReadStage {
    Detect(Box<Detection>),
    /// The things that are left, and the position of the next one; `None` if it is the only one.
    Look(VecDeque<Input>, Option<usize>),
    /// `false` if the page has to read the text.
    End(bool),
}

impl ReadWork {
    /// The work of a worker.
    pub(crate) fn new(text: String) -> Self {
        Self {
            stage: ReadStage::Detect(Box::new(Detection::new(text.into()))),
            in_page: false,
            found: VecDeque::new(),
        }
    }

    /// The work of the page.
    pub(crate) fn in_page(text: &str) -> Self {
        Self {
            in_page: true,
            ..Self::new(text.to_owned())
        }
    }

    fn detected(&mut self, detected: Result<Input, NotDetected>) -> ReadStage {
        match detected {
            Ok(Input::Several(several)) => ReadStage::Look(several.into(), Some(0)),
            Ok(input) => ReadStage::Look([input].into(), None),
            Err(why) => {
                if self.in_page {
                    self.found.push_back(JobPart::Item(Box::new(ReadItem {
                        text: None,
                        content: Err(why),
                    })));
                }
                ReadStage::End(self.in_page)
            }
        }
    }

    fn look(&mut self, mut left: VecDeque<Input>, position: Option<usize>) -> ReadStage {
        let Some(input) = left.pop_front() else {
            return ReadStage::End(true);
        };
        let part = match self.in_page {
            true => Some(JobPart::Item(Box::new(ReadItem {
                text: position.map(|_| input.to_text().into()),
                content: Ok(input),
            }))),
            false => FoundObject::from_input(input, position).map(JobPart::Object),
        };
        match part {
            Some(part) => self.found.push_back(part),
            None => return ReadStage::End(false),
        }
        ReadStage::Look(left, position.map(|at| at + 1))
    }
}

impl Work for ReadWork {
    fn advance(&mut self) -> Option<JobResult> {
        self.stage = match std::mem::replace(&mut self.stage, ReadStage::End(false)) {
            ReadStage::Detect(mut detection) => match detection.advance(BYTES) {
                true => ReadStage::Detect(detection),
                false => self.detected(detection.finish()),
            },
            ReadStage::Look(left, position) => self.look(left, position),
            ReadStage::End(is_read) => return Some(JobResult::Read(is_read)),
        };
        None
    }

    fn take_part(&mut self) -> Option<JobPart> {
        self.found.pop_front()
    }

    fn progress(&self) -> (usize, usize) {
        match &self.stage {
            ReadStage::Detect(detection) => detection.progress(),
            ReadStage::Look(..) | ReadStage::End(_) => (1, 1),
        }
    }
}
