//! The log of a running server: it grows while the page looks at it.

use std::rc::Rc;

use optimist_diagnose::audit::names_object;
use optimist_diagnose::input::Input;

use super::{CaseSection, DiagnoseState, InputItem, LiveEditor};

/// The bytes that are kept of the log.
pub(super) const MAX_SIZE: usize = 4 * 1024 * 1024;

/// The running server whose requests the page is told.
#[derive(Clone, Debug, Default)]
pub struct LiveServer {
    /// `true` if the user removed its log.
    pub(super) is_ignored: bool,
    /// The run of the server that the log is of: each start of a server has its own.
    pub(super) run: Option<String>,
    /// `true` if the server was started again while the page was open.
    pub restarted: bool,
    /// `true` if the page does not have the first requests of the log.
    pub is_cut: bool,
    /// The editor that writes to the server, if the page may.
    pub editor: Option<LiveEditor>,
}

/// An event in the stream of a running server.
#[derive(Clone, Debug)]
pub enum LiveEvent {
    /// Lines of its audit log.
    Lines(String),
    /// The run of the server. The lines that follow are of it.
    Run(String),
    /// The server does not have the first requests any more.
    Cut,
    /// The page may write to the server.
    Writes {
        /// The address of the server, as other clients know it.
        server: String,
        /// The first part of the paths of requests to it, at the address of the page.
        place: String,
    },
}

impl LiveServer {
    /// Returns whether a running server serves the page.
    fn is_known(&self) -> bool {
        self.run.is_some() || self.editor.is_some()
    }
}

impl DiagnoseState {
    /// Returns whether the page shows the requests of a running server.
    pub fn is_served(&self) -> bool {
        self.live.is_known() && !self.live.is_ignored
    }

    /// Returns whether the page shows the requests of a running server, and none has come yet.
    pub fn awaits_requests(&self) -> bool {
        self.is_served() && !self.items.iter().any(|item| item.live)
    }

    /// Takes what a running server says.
    pub(super) fn observe(&mut self, event: &LiveEvent) {
        let was_known = self.live.is_known();
        self.take_event(event);
        if !was_known && self.awaits_requests() && self.items.is_empty() {
            // A narrow window shows where the requests will stand.
            self.section = CaseSection::Outcome;
        }
    }

    fn take_event(&mut self, event: &LiveEvent) {
        match event {
            LiveEvent::Lines(lines) => self.observe_lines(lines),
            LiveEvent::Run(run) => self.observe_run(run),
            LiveEvent::Cut => self.live.is_cut = true,
            LiveEvent::Writes { server, place } => {
                self.live.editor = Some(LiveEditor::new(server.clone(), place.clone()));
            }
        }
    }

    /// The log of another run begins anew: its versions and numbers have nothing to do with the earlier ones.
    fn observe_run(&mut self, run: &str) {
        let earlier = self.live.run.replace(run.to_owned());
        if earlier.is_none_or(|earlier| earlier == run) {
            return;
        }
        self.live.is_cut = false;
        let Some(position) = self.items.iter().position(|item| item.live) else {
            return;
        };
        self.live.restarted = true;
        let id = self.items[position].id;
        if self.audit.as_ref().is_some_and(|audit| audit.item == id) {
            self.audit = None;
            self.step = None;
        }
        self.items.remove(position);
        self.put_live(position, None, String::new());
        self.look_again();
    }

    /// Adds lines to the log. Of more than [`MAX_SIZE`], the newest half is kept and read anew.
    fn observe_lines(&mut self, lines: &str) {
        if self.live.is_ignored {
            return;
        }
        let lines = lines.lines().filter(|line| names_object(line));
        let lines: String = lines.flat_map(|line| [line, "\n"]).collect();
        if lines.is_empty() {
            return;
        }
        let Some(position) = self.items.iter().position(|item| item.live) else {
            // A narrow window shows what happens, and not that it is brought.
            self.section = CaseSection::Outcome;
            self.put_live(0, None, lines);
            return self.look_again();
        };
        let known = self.items.remove(position);
        let mut text = format!("{}{lines}", known.text);
        if text.len() > MAX_SIZE {
            text.drain(..begin_of_newest(&text));
            self.live.is_cut = true;
            self.put_live(position, None, text);
            return self.look_again();
        }
        self.put_live(position, Some(known.id), text);
        if let Some(audit) = self.audit.as_mut().filter(|audit| audit.item == known.id) {
            audit.extend(&lines);
        }
    }

    /// Puts the log into the case: as another thing, if it has no number.
    fn put_live(&mut self, position: usize, id: Option<u32>, text: String) {
        let id = id.unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        let item = InputItem {
            id,
            first: id,
            text: text.as_str().into(),
            live: true,
            content: Ok(Input::AuditLog(text.into())),
            masks: None,
        };
        self.items.insert(position, Rc::new(item));
    }
}

/// The beginning of the lines that stay of a log: about half of what may be kept.
pub(super) fn begin_of_newest(text: &str) -> usize {
    let surplus = text.len().saturating_sub(MAX_SIZE / 2);
    let rest = &text.as_bytes()[surplus..];
    let end = rest.iter().position(|byte| *byte == b'\n');
    end.map_or(text.len(), |end| surplus + end + 1)
}
