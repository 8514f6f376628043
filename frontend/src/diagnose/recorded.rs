//! A recorded history as its parts draw it: the audit log of the case, or the versions of an object.

use std::rc::Rc;

use optimist_apiserver::apply::Manager;
use optimist_client::visible;
use optimist_diagnose::lanes::{LaneRow, RecordedLanes, VersionFate};
use optimist_diagnose::observed::FieldChange;
use optimist_messages::label;
use optimist_messages::lanes::{self, RowText, day};
use yew::{Html, html};

use crate::state::{
    AuditReplay, CaseReading, DiagnoseMsg, Dispatcher, ObservedHistory, RecordedSource,
    SelectedStep, Sends,
};

/// A recorded history, compared by where it is: it never changes.
#[derive(Clone)]
pub(super) enum Recorded {
    /// The audit log.
    Log(Rc<AuditReplay>),
    /// The versions of an object.
    Versions(Rc<CaseReading>),
}

impl PartialEq for Recorded {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Log(one), Self::Log(other)) => Rc::ptr_eq(one, other),
            (Self::Versions(one), Self::Versions(other)) => Rc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Recorded {
    /// Returns the source of the history.
    pub(super) fn source(&self) -> RecordedSource {
        match self {
            Self::Log(_) => RecordedSource::AuditLog,
            Self::Versions(_) => RecordedSource::Versions,
        }
    }

    /// The versions; `None` for a log.
    pub(super) fn versions(&self) -> Option<&ObservedHistory> {
        match self {
            Self::Log(_) => None,
            Self::Versions(reading) => reading.history.as_ref(),
        }
    }

    /// Its lanes.
    pub(super) fn lanes(&self) -> Option<&RecordedLanes> {
        match self {
            Self::Log(replay) => Some(&replay.lanes),
            Self::Versions(_) => self.versions().map(|history| &history.lanes),
        }
    }

    /// The names whose positions choose the colours and patterns of managers.
    pub(super) fn manager_names(&self) -> &[String] {
        match self {
            Self::Log(replay) => &replay.manager_names,
            Self::Versions(_) => self
                .versions()
                .map_or(&[], |history| &history.manager_names),
        }
    }

    /// The row at a position.
    pub(super) fn row(&self, row: usize) -> Option<&LaneRow> {
        self.lanes()?.rows.get(row)
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.lanes().map_or(0, |lanes| lanes.rows.len())
    }

    /// The changes of a row. Values that look private are masked.
    pub(super) fn changes_of(&self, row: usize) -> Vec<&FieldChange> {
        match self {
            Self::Log(replay) => {
                let changes = replay.findings.changes_of(row).iter();
                changes.map(|(_, change)| change).collect()
            }
            Self::Versions(_) => {
                let history = self.versions();
                history.map_or_else(Vec::new, |history| history.changes_of(row).iter().collect())
            }
        }
    }

    /// All changes, each with its row.
    pub(super) fn changes(&self) -> Vec<(usize, &FieldChange)> {
        match self {
            Self::Log(replay) => {
                let changes = replay.findings.changes.iter();
                changes.map(|(row, change)| (*row, change)).collect()
            }
            Self::Versions(_) => {
                let history = self.versions().into_iter();
                history
                    .flat_map(|history| history.rows.iter().copied().zip(&history.changes))
                    .collect()
            }
        }
    }

    /// Returns the text of a row.
    pub(super) fn text(&self, at: usize) -> Option<RowText> {
        let row = self.row(at)?;
        let changes = self.changes_of(at);
        let mut text = match self {
            Self::Log(replay) => {
                let step = replay.history.steps.get(at)?;
                let event = replay.log.events.get(step.event)?;
                RowText::of_request(row, step, event, &changes)
            }
            Self::Versions(reading) => {
                let versions = &reading.case.versions;
                let before = at.checked_sub(1).and_then(|before| versions.get(before));
                RowText::of_version(row, versions.get(at)?, before, &changes)
            }
        };
        let known = row.time.map(day);
        let before = at.checked_sub(1).and_then(|before| self.row(before)?.time);
        text.day = known
            .filter(|known| before.map(day).as_ref() != Some(known))
            .unwrap_or_default();
        Some(text)
    }

    /// A button that selects a step.
    pub(super) fn link(&self, row: usize, sender: &Dispatcher) -> Html {
        let source = self.source();
        let step = SelectedStep { source, row };
        html! {
            <button
                type="button"
                class="link step-link"
                onclick={sender.sends(DiagnoseMsg::SelectStep(Some(step)))}
            >
                { label::recorded_link(&(row + 1)) }
            </button>
        }
    }

    /// A sentence. The names of these steps in it select them; what it does not name follows it.
    pub(super) fn sentence(&self, says: &str, rows: &[usize], sender: &Dispatcher) -> Html {
        let says = visible(says);
        let mut at = 0;
        let (named, others) = lanes::named_steps(&says, rows);
        let parts = named.into_iter().map(|(place, row)| {
            let before = says[at..place.start].to_owned();
            at = place.end;
            html! { <>{ before }{ self.link(row, sender) }</> }
        });
        let parts: Html = parts.collect();
        html! {
            <>
                { parts }
                { says[at..].to_owned() }
                { for others.into_iter().map(|row| html! {
                    <>{ " " }{ self.link(row, sender) }</>
                }) }
            </>
        }
    }
}

/// The version that a row made, if it was observed.
pub(super) fn version_after(row: &LaneRow) -> Option<&str> {
    match row.version.as_ref()? {
        VersionFate::Created(after) | VersionFate::Stored { after, .. } => Some(after),
        _ => None,
    }
}

/// The version before a row, if it was observed.
pub(super) fn version_before(row: &LaneRow) -> Option<&str> {
    match row.version.as_ref()? {
        VersionFate::Stored { before, .. } => Some(before),
        _ => None,
    }
}

/// The number that chooses the colour and the pattern of a manager.
pub(super) fn number_of(names: &[String], manager: &Manager) -> Option<usize> {
    names.iter().position(|name| *name == manager.name)
}
