//! The versions of an object that a page reads from a real API server while they come.

use std::rc::Rc;

use optimist_client::{Preset, WantedChange};
use optimist_diagnose::case::{Case, ObjectId};
use optimist_diagnose::input::detect;

use super::live::{MAX_SIZE, begin_of_newest};
use super::{CaseSection, DiagnoseState, InputItem, change_run};

impl DiagnoseState {
    /// Adds events of a watch to the object that is followed; `anew` if it is another object. Of more than the
    /// tab keeps, the newest half stays.
    pub(super) fn take_followed(&mut self, lines: &str, anew: bool) {
        let followed = self.followed.filter(|_| !anew);
        let position = self.items.iter().position(|it| Some(it.id) == followed);
        let mut text = match position {
            Some(position) => format!("{}{lines}", self.items.remove(position).text),
            None => lines.to_owned(),
        };
        if text.len() > MAX_SIZE {
            text.drain(..begin_of_newest(&text));
        }
        let item = InputItem {
            id: self.next,
            first: self.next,
            live: false,
            content: detect(&text),
            text: text.into(),
            masks: None,
        };
        self.followed = Some(self.next);
        self.next += 1;
        if position.is_none() {
            self.section = CaseSection::Outcome;
        }
        let position = position.unwrap_or(self.items.len());
        self.items.insert(position, Rc::new(item));
        self.look_again();
    }

    /// The object that is looked at, if it has a manifest.
    pub fn written_object(&self) -> Option<&ObjectId> {
        let case = &self.reading()?.case;
        case.manifest.is_some().then_some(&case.id)
    }

    /// The object that is looked at with its manifest, the change and the client that writes it. `None` without a
    /// manifest.
    pub fn write(&self) -> Option<(Case, WantedChange, Preset)> {
        let case = &self.reading()?.case;
        let manifest = case.manifest.clone()?;
        let change = change_run::wanted(case, &self.manager, manifest);
        Some(((**case).clone(), change, self.client()))
    }
}
