//! The log of a running server: it grows while the page looks at it.

use std::rc::Rc;

use optimist_diagnose::audit::names_object;
use optimist_diagnose::input::Input;

use super::{CaseSection, DiagnoseState, InputItem};

/// The bytes that are kept of the log. It is read whole each time it grows.
const MAX_SIZE: usize = 4 * 1024 * 1024;

impl DiagnoseState {
    /// Adds lines to the log. Of more than [`MAX_SIZE`], only the newest ones are kept.
    pub(super) fn observe(&mut self, lines: &str) {
        if self.ignores_live {
            return;
        }
        let lines = lines.lines().filter(|line| names_object(line));
        let lines: String = lines.flat_map(|line| [line, "\n"]).collect();
        if lines.is_empty() {
            return;
        }
        let position = self.items.iter().position(|item| item.live);
        if position.is_none() {
            // A narrow window shows what happens, and not that it is brought.
            self.section = CaseSection::Outcome;
        }
        let known = position.map(|at| self.items.remove(at));
        let known = known.as_ref().map_or("", |item| &*item.text);
        let mut text = format!("{known}{lines}");
        let surplus = text.len().saturating_sub(MAX_SIZE);
        if surplus > 0 {
            let mut rest = text.as_bytes()[surplus..].iter();
            let line = rest.position(|byte| *byte == b'\n');
            text.drain(..line.map_or(text.len(), |end| surplus + end + 1));
        }
        let item = InputItem {
            id: self.next,
            text: text.as_str().into(),
            live: true,
            content: Ok(Input::AuditLog(text.into())),
        };
        self.items.insert(position.unwrap_or(0), Rc::new(item));
        self.next += 1;
        self.look_again();
    }
}
