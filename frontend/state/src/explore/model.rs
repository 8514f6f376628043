//! The state of Explore: the scenario, the progress of its searches, and the selection.

use std::rc::Rc;

use super::link::is_preset;
use super::{ExploreRequest, MixedWay, SearchTurn, ThirdActorChoice, WritersInBetween};
use optimist_client::{OnConflict, WriteMethod};
use optimist_lesson::{PropertyError, WrittenProperty, parse_property};
use optimist_simulation::ActorId;
use optimist_simulation::explore::{
    Comparison, HistoryAnswer, LossGroups, LossRisk, Scenario, Search, StateId, Tally, ThirdActor,
    TransitionId,
};
use optimist_simulation::verdict::Verdict;

/// The maximum number of pairs of states that a comparison looks at. They take some milliseconds.
const MAX_PAIRS: usize = 20_000;

/// The setup of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct ExploreSetup {
    /// The object, and the edits of both editors.
    pub subject: EditSource,
    /// The third actor, if one is selected.
    pub third: Option<ThirdActorChoice>,
    /// `true` if each actor reads before it edits.
    pub reads_first: bool,
    /// The number of attempts of actors that retry.
    pub tries: u8,
    /// `true` if the steps inside the server are separate.
    pub micro_steps: bool,
    /// `true` if the answer to one write can be lost.
    pub loses_answer: bool,
    /// The way of writing of each actor in the mixed row, and whether the actor reads first.
    pub mixed: [(MixedWay, bool); 6],
    /// A property that somebody wrote; empty: none.
    pub property: String,
}

impl ExploreSetup {
    /// The number of actors.
    pub fn actors(&self) -> usize {
        self.acting().len()
    }

    /// The actors that take part, in the order of their indexes.
    pub fn acting(&self) -> Vec<ActorId> {
        match self.third() {
            None => ActorId::EDITORS.to_vec(),
            Some(ThirdActorChoice::Preset(_)) => ActorId::ALL.into_iter().take(3).collect(),
            Some(ThirdActorChoice::OfPlay) => {
                let others = self.subject.others().into_iter();
                ActorId::EDITORS.into_iter().chain(others).collect()
            }
        }
    }

    /// Returns the task of the third actor. The other actors of Play take part only if the edits
    /// come from Play.
    pub fn third(&self) -> Option<ThirdActorChoice> {
        let third = self.third?;
        (third != ThirdActorChoice::OfPlay || !self.subject.others().is_empty()).then_some(third)
    }

    /// Returns the third actor if it is a tool, which writes as it does in every row.
    pub fn tool(&self) -> Option<ThirdActor> {
        match self.third()? {
            ThirdActorChoice::Preset(third @ ThirdActor::Tool(_)) => Some(third),
            _ => None,
        }
    }
}

impl EditSource {
    /// Returns the actors of Play beside the two editors that have edits too.
    pub fn others(&self) -> Vec<ActorId> {
        match self {
            EditSource::Editors(_, scenario) => {
                scenario.acting().skip(2).map(|(actor, _)| actor).collect()
            }
            EditSource::Preset(_) => Vec::new(),
        }
    }

    /// Returns the writers in between, if the edits are those of a case of Diagnose.
    pub fn between(&self) -> Option<&Rc<WritersInBetween>> {
        match self {
            EditSource::Editors(request, _) => request.between.as_ref(),
            EditSource::Preset(_) => None,
        }
    }
}

/// The source of the edits.
#[derive(Clone, Debug)]
pub enum EditSource {
    /// A preset.
    Preset(usize),
    /// The working copies of a node in Play.
    Editors(ExploreRequest, Rc<Scenario>),
}

impl PartialEq for EditSource {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (EditSource::Preset(a), EditSource::Preset(b)) => a == b,
            (EditSource::Editors(a, _), EditSource::Editors(b, _)) => a == b,
            _ => false,
        }
    }
}

/// A row of the matrix.
#[derive(Clone, Debug)]
pub struct ExploreRow {
    /// Its progress.
    pub state: RowState,
    /// The verdicts of its histories so far.
    pub tally: Tally,
    /// The number of its known states.
    pub states: usize,
    /// The answer about the property that somebody wrote. `None` if there is no such property, or
    /// the search has not ended.
    pub answer: Option<HistoryAnswer>,
}

/// The progress of a row.
#[derive(Clone, Debug)]
pub enum RowState {
    /// Its search has not begun.
    Waiting,
    /// Its search is under way.
    Running,
    /// All histories are searched.
    Done(Rc<Search>),
    /// It stopped before its end, with the results until then.
    Stopped(StopReason, Rc<Search>),
    /// The user cancelled it.
    Cancelled,
    /// The server refuses the start of the scenario.
    Impossible(String),
}

/// The reason why a search stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It has too many states.
    States,
    /// It took too long.
    Time,
}

impl ExploreRow {
    fn waiting() -> Self {
        Self {
            state: RowState::Waiting,
            tally: Tally::default(),
            states: 0,
            answer: None,
        }
    }

    /// Returns the lost edits that its search found. `None` if it has not ended.
    fn loss_risk(&self) -> Option<LossRisk> {
        match &self.state {
            RowState::Done(search) | RowState::Stopped(_, search) => Some(search.loss_risk()),
            RowState::Impossible(_) => Some(LossRisk::Impossible),
            RowState::Waiting | RowState::Running | RowState::Cancelled => None,
        }
    }

    /// Returns whether its search found all histories.
    pub fn is_complete(&self) -> bool {
        matches!(self.state, RowState::Done(_))
    }

    /// Its search, if it has ended.
    pub fn search(&self) -> Option<&Rc<Search>> {
        match &self.state {
            RowState::Done(search) | RowState::Stopped(_, search) => Some(search),
            _ => None,
        }
    }
}

/// The selected part of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapFocus {
    /// A state.
    State(StateId),
    /// A step.
    Edge(TransitionId),
    /// The shortest history with this verdict.
    Ending(Verdict),
}

/// The state of Explore.
#[derive(Clone, Debug)]
pub struct ExploreModel {
    /// The scenario.
    pub setup: ExploreSetup,
    /// The edits that were last taken from Play.
    pub from_play: Option<EditSource>,
    /// The write methods of the matrix, and then the ones that only the mixed row offers.
    pub ways: Rc<Vec<WriteMethod>>,
    /// A row for each write method of the matrix, and the mixed row.
    pub rows: Vec<ExploreRow>,
    /// The rows in which all actors write alike, by what was found about lost edits. `None` until
    /// each of them was searched.
    pub groups: Option<LossGroups>,
    /// The property that somebody wrote, or what is wrong in its text. `None` if there is none.
    pub property: Option<Result<Rc<WrittenProperty>, PropertyError>>,
    /// The current search. Reports of earlier searches are ignored.
    pub turn: SearchTurn,
    /// The selected row.
    pub chosen: usize,
    /// The row beside the selected one.
    pub compared: Option<usize>,
    /// The differences of the two rows. `None` until both are searched.
    pub comparison: Option<Comparison>,
    /// The selected part of the map.
    pub focus: Option<MapFocus>,
}

/// Messages from the user and from the search.
#[derive(Clone, Debug)]
pub enum ExploreMsg {
    /// Another scenario.
    Setup(ExploreSetup),
    /// Selects a row.
    Choose(usize),
    /// Compares the selected row with another one.
    Compare(Option<usize>),
    /// Points at a part of the map.
    Focus(Option<MapFocus>),
    /// The results of some rows of a search.
    Report {
        /// The number of the search.
        turn: u32,
        /// The rows by their index.
        rows: Vec<(usize, ExploreRow)>,
        /// `true` if the search has ended.
        ended: bool,
    },
    /// Cancels the search.
    Cancel,
    /// Searches the cancelled rows.
    Again,
}

impl Default for ExploreModel {
    fn default() -> Self {
        Self::new()
    }
}

impl ExploreModel {
    /// The first preset, with all rows to be searched.
    pub fn new() -> Self {
        let mut model = Self {
            setup: ExploreSetup {
                subject: EditSource::Preset(0),
                third: None,
                reads_first: true,
                tries: OnConflict::DEFAULT_ATTEMPTS,
                micro_steps: false,
                loses_answer: false,
                mixed: [1, 4, 4, 4, 4, 4].map(|way| (MixedWay::Method(way), true)),
                property: String::new(),
            },
            from_play: None,
            ways: Rc::default(),
            rows: Vec::new(),
            groups: None,
            property: None,
            turn: SearchTurn::default(),
            chosen: 0,
            compared: None,
            comparison: None,
            focus: None,
        };
        model.reset_rows();
        model
    }

    /// The row in which the actors write in different ways.
    pub fn mixed_row(&self) -> usize {
        let after = 1 + usize::from(self.own_row().is_some());
        self.rows.len().saturating_sub(after)
    }

    /// The row in which each actor writes as in the case of Diagnose. It is the last one.
    pub fn own_row(&self) -> Option<usize> {
        let last = self.rows.len().checked_sub(1);
        last.filter(|_| self.setup.subject.between().is_some())
    }

    /// The positions of the rows as they are shown: that of the case comes first.
    pub fn shown_rows(&self) -> Vec<usize> {
        self.own_row()
            .into_iter()
            .chain(0..=self.mixed_row())
            .collect()
    }

    /// Groups the rows in which all actors write alike, as soon as each was searched as far as it
    /// will be.
    fn group_rows(&self) -> Option<LossGroups> {
        let rows = self.rows.iter().enumerate().take(self.mixed_row());
        rows.map(|(at, row)| Some((at, row.loss_risk()?))).collect()
    }

    /// The answers about the property that somebody wrote, of the rows in which all actors write
    /// alike and can write. `None` until each of them is known.
    pub fn property_answers(&self) -> Option<Vec<HistoryAnswer>> {
        let rows = self.rows.iter().take(self.mixed_row());
        let rows = rows.filter(|row| row.loss_risk() != Some(LossRisk::Impossible));
        let answers: Vec<HistoryAnswer> =
            rows.map(|row| row.answer.clone()).collect::<Option<_>>()?;
        (!answers.is_empty()).then_some(answers)
    }

    /// The position of the write method with which all actors write in a row; `None` for the row
    /// with a method for each.
    pub fn way_of(&self, row: usize) -> Option<usize> {
        if Some(row) == self.own_row() {
            return self.ways.len().checked_sub(1);
        }
        (row < self.mixed_row()).then_some(row)
    }

    /// The write method of the chosen row, if all actors have the same.
    pub fn chosen_way(&self) -> Option<WriteMethod> {
        let way = self.way_of(self.chosen)?;
        let way = self.ways.get(way).copied();
        way.filter(|way| *way != WriteMethod::Own)
    }

    /// The selected row.
    pub fn chosen_row(&self) -> Option<&ExploreRow> {
        self.rows.get(self.chosen)
    }

    /// The scenario and the row that a request asks for.
    pub fn requested(&self, request: &ExploreRequest) -> (ExploreSetup, usize) {
        let (mut setup, row) = self.parse_link(&request.setup);
        if let Some(scenario) = request.scenario().filter(|_| !is_preset(&request.setup)) {
            if request.setup.is_null() && scenario.plans.len() > 2 {
                setup.third = Some(ThirdActorChoice::OfPlay);
            }
            setup.subject = EditSource::Editors(request.clone(), Rc::new(scenario));
        }
        (setup, row)
    }

    fn reset_rows(&mut self) {
        let own = self.setup.subject.between().is_some();
        let ways = ways(own);
        let rows = WriteMethod::MATRIX.len() + 1 + usize::from(own);
        self.rows = vec![ExploreRow::waiting(); rows];
        if self.chosen >= rows {
            self.chosen = 0;
        }
        self.compared = self.compared.filter(|row| *row < rows);
        for (way, _) in &mut self.setup.mixed {
            if let MixedWay::Method(way) = way
                && usize::from(*way) >= ways.len()
            {
                *way = 0;
            }
        }
        self.ways = Rc::new(ways);
        self.go_on();
    }

    /// Searches the rows that are not searched yet.
    fn go_on(&mut self) {
        self.turn.start_next();
        self.focus = None;
    }

    /// Processes a message.
    pub fn update(&mut self, msg: ExploreMsg) {
        if let ExploreMsg::Focus(focus) = msg {
            self.focus = focus;
            return;
        }
        let chooses = matches!(msg, ExploreMsg::Choose(_) | ExploreMsg::Compare(_));
        self.change(msg);
        if !chooses {
            self.groups = self.group_rows();
        }
        self.comparison = self.compare_rows();
    }

    fn compare_rows(&self) -> Option<Comparison> {
        let compared = self.compared.filter(|row| *row != self.chosen)?;
        let second = self.rows.get(compared)?.search()?;
        let first = self.chosen_row()?.search()?;
        Some(first.compare(second, MAX_PAIRS))
    }

    /// Takes another setup. Rows that it does not concern stay.
    fn set_up(&mut self, setup: ExploreSetup) {
        let before = std::mem::replace(&mut self.setup, setup);
        let setup = &self.setup;
        let is_only = |now: ExploreSetup| now == *setup;
        let only_property = before.property != setup.property
            && is_only(ExploreSetup {
                property: setup.property.clone(),
                ..before.clone()
            });
        let only_mixed = is_only(ExploreSetup {
            mixed: setup.mixed,
            ..before
        });
        self.property = read_property(setup);
        if only_property {
            // What was searched stays, and is judged again.
            self.rows.iter_mut().for_each(|row| row.answer = None);
            self.go_on();
            return;
        }
        if matches!(self.setup.subject, EditSource::Editors(..)) {
            self.from_play = Some(self.setup.subject.clone());
        }
        if only_mixed {
            self.chosen = self.mixed_row();
            let mixed = self.mixed_row();
            if let Some(row) = self.rows.get_mut(mixed) {
                *row = ExploreRow::waiting();
            }
            self.go_on();
        } else {
            self.reset_rows();
        }
    }

    fn change(&mut self, msg: ExploreMsg) {
        match msg {
            ExploreMsg::Setup(setup) => self.set_up(setup),
            ExploreMsg::Choose(row) => {
                if row < self.rows.len() {
                    self.chosen = row;
                    self.focus = None;
                }
            }
            ExploreMsg::Compare(row) => self.compared = row.filter(|row| *row < self.rows.len()),
            ExploreMsg::Focus(focus) => self.focus = focus,
            ExploreMsg::Report { turn, rows, ended } => {
                if !self.turn.report(turn, ended) {
                    return;
                }
                for (at, row) in rows {
                    if let Some(place) = self.rows.get_mut(at) {
                        *place = row;
                    }
                }
            }
            ExploreMsg::Cancel => {
                self.turn.cancel();
                for row in &mut self.rows {
                    if matches!(row.state, RowState::Waiting | RowState::Running) {
                        row.state = RowState::Cancelled;
                    }
                }
            }
            ExploreMsg::Again => {
                for row in &mut self.rows {
                    if matches!(row.state, RowState::Cancelled) {
                        *row = ExploreRow::waiting();
                    }
                }
                self.go_on();
            }
        }
    }
}

/// Reads the property of a setup.
fn read_property(setup: &ExploreSetup) -> Option<Result<Rc<WrittenProperty>, PropertyError>> {
    let text = &setup.property;
    (!text.trim().is_empty()).then(|| parse_property(text, &setup.acting()).map(Rc::new))
}

/// The write methods of the matrix, those that only the mixed row offers, and that of a case.
pub(super) fn ways(own: bool) -> Vec<WriteMethod> {
    let mut ways = [&WriteMethod::MATRIX[..], &WriteMethod::MORE].concat();
    ways.extend(own.then_some(WriteMethod::Own));
    ways
}

impl ExploreRequest {
    /// The edits of the working copies at the moment.
    fn scenario(&self) -> Option<Scenario> {
        Scenario::of_copies(self.tree.world_at(self.node)?)
    }
}
