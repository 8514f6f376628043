//! The state of Explore: the scenario, the progress of its searches, and the selection.

use std::rc::Rc;

use optimist_client::OnConflict;
use optimist_messages::explore as messages;
use optimist_simulation::explore::{
    PRESETS, Scenario, Search, StateId, Tally, ThirdActor, TransitionId, WriteMethod,
};
use optimist_simulation::verdict::Verdict;
use yew::Reducible;

use super::run::MAX_SECONDS;
use super::turn::SearchTurn;
use crate::state::ExploreRequest;

/// What is to be explored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setup {
    pub(super) subject: EditSource,
    pub(super) third: Option<ThirdActorChoice>,
    pub(super) reads_first: bool,
    /// The number of attempts of actors that retry.
    pub(super) tries: u8,
    pub(super) micro_steps: bool,
    /// The write method of each actor in the mixed row, and whether the actor reads first.
    pub(super) mixed: [(usize, bool); 3],
}

/// What a third actor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThirdActorChoice {
    Preset(ThirdActor),
    /// The intent of the third actor's working copy in Play.
    OfPlay,
}

impl ThirdActorChoice {
    /// Its name in links and lists.
    pub(super) fn slug(self) -> &'static str {
        match self {
            ThirdActorChoice::Preset(third) => third.slug(),
            ThirdActorChoice::OfPlay => "play",
        }
    }

    /// The third actor with this name.
    pub(super) fn named(slug: &str) -> Option<Self> {
        let presets = ThirdActor::ALL.into_iter().map(ThirdActorChoice::Preset);
        presets
            .chain([ThirdActorChoice::OfPlay])
            .find(|third| third.slug() == slug)
    }
}

impl Setup {
    pub(super) fn actors(&self) -> usize {
        2 + usize::from(self.third().is_some())
    }

    /// What the third actor does. The third actor of Play takes part only if the edits come from
    /// Play.
    pub(super) fn third(&self) -> Option<ThirdActorChoice> {
        let third = self.third?;
        (third != ThirdActorChoice::OfPlay || self.subject.has_third()).then_some(third)
    }
}

impl EditSource {
    /// Whether the third actor of Play also has edits.
    pub(super) fn has_third(&self) -> bool {
        matches!(self, EditSource::Editors(_, scenario) if scenario.plans.len() > 2)
    }
}

/// Where the edits come from.
#[derive(Clone, Debug)]
pub(super) enum EditSource {
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
pub(super) struct Row {
    pub(super) state: RowState,
    pub(super) tally: Tally,
    pub(super) states: usize,
}

/// The progress of a row.
#[derive(Clone, Debug)]
pub(super) enum RowState {
    Waiting,
    Running,
    Done(Rc<Search>),
    /// It stopped before its end, with what it had found until then.
    Stopped(StopReason, Rc<Search>),
    /// The user cancelled it.
    Cancelled,
    /// The server refuses the start of the scenario.
    Impossible(String),
}

/// Why a search stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopReason {
    States,
    Time,
}

impl Row {
    fn waiting() -> Self {
        Self {
            state: RowState::Waiting,
            tally: Tally::default(),
            states: 0,
        }
    }

    /// Why its search stopped before its end, or cannot begin.
    pub(super) fn stopped(&self) -> Option<String> {
        Some(match &self.state {
            RowState::Stopped(StopReason::States, _) => messages::stopped_at(self.states),
            RowState::Stopped(StopReason::Time, _) => messages::stopped_after(MAX_SECONDS),
            RowState::Cancelled => messages::cancelled(),
            RowState::Impossible(why) => messages::impossible(why),
            RowState::Waiting | RowState::Running | RowState::Done(_) => return None,
        })
    }

    pub(super) fn search(&self) -> Option<&Rc<Search>> {
        match &self.state {
            RowState::Done(search) | RowState::Stopped(_, search) => Some(search),
            _ => None,
        }
    }
}

/// The selected part of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    State(StateId),
    Edge(TransitionId),
    /// The shortest history with this verdict.
    Ending(Verdict),
}

/// The state of Explore.
#[derive(Clone, Debug)]
pub(super) struct ExploreModel {
    change: u64,
    pub(super) setup: Setup,
    /// The edits that were last taken from Play.
    pub(super) from_play: Option<EditSource>,
    /// The write methods of the matrix, and then the ones that only the mixed row offers.
    pub(super) ways: Rc<Vec<WriteMethod>>,
    /// A row for each write method of the matrix, and the mixed row.
    pub(super) rows: Vec<Row>,
    /// The current search. Reports of earlier searches are ignored.
    pub(super) turn: SearchTurn,
    pub(super) chosen: usize,
    pub(super) focus: Option<Focus>,
}

/// Messages from the user and from the search.
#[derive(Clone, Debug)]
pub(super) enum ExploreMsg {
    Setup(Setup),
    Choose(usize),
    Focus(Option<Focus>),
    /// The results of some rows of a search.
    Report {
        /// The number of the search.
        turn: u32,
        rows: Vec<(usize, Row)>,
        ended: bool,
    },
    Cancel,
    Again,
}

impl PartialEq for ExploreModel {
    fn eq(&self, other: &Self) -> bool {
        self.change == other.change
    }
}

impl ExploreModel {
    pub(super) fn new() -> Self {
        let mut model = Self {
            change: 0,
            setup: Setup {
                subject: EditSource::Preset(0),
                third: None,
                reads_first: true,
                tries: OnConflict::DEFAULT_ATTEMPTS,
                micro_steps: false,
                mixed: [(1, true), (4, true), (4, true)],
            },
            from_play: None,
            ways: Rc::default(),
            rows: Vec::new(),
            turn: SearchTurn::default(),
            chosen: 0,
            focus: None,
        };
        model.begin();
        model
    }

    /// The row in which the actors write in different ways.
    pub(super) fn mixed_row(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// The write method of the chosen row, if all actors have the same.
    pub(super) fn chosen_way(&self) -> Option<&WriteMethod> {
        self.ways
            .get(self.chosen)
            .filter(|_| self.chosen < self.mixed_row())
    }

    pub(super) fn chosen_row(&self) -> Option<&Row> {
        self.rows.get(self.chosen)
    }

    /// The name of a row.
    pub(super) fn name(&self, row: usize) -> String {
        if row < self.mixed_row() {
            return self.way_name(row);
        }
        let mixed = self.setup.mixed.iter().take(self.setup.actors());
        let names = mixed.enumerate().filter_map(|(actor, (way, reads))| {
            Some(messages::actor_way(actor, self.ways.get(*way)?, *reads))
        });
        names.collect::<Vec<_>>().join(" · ")
    }

    fn way_name(&self, way: usize) -> String {
        let known = self.ways.get(way).and_then(messages::way);
        known.unwrap_or_default()
    }

    /// What the steps inside a request show, if they are shown.
    pub(super) fn inside(&self) -> Option<String> {
        let way = self.chosen_way().filter(|_| self.setup.micro_steps)?;
        Some(messages::inside(way))
    }

    /// The result of the search, for screen readers.
    pub(super) fn announcement(&self) -> String {
        let row = self.chosen_row().filter(|_| !self.turn.is_running());
        row.map_or_else(String::new, |row| {
            let tally = messages::tally(&row.tally, self.setup.actors());
            format!("{}: {tally}", self.name(self.chosen))
        })
    }

    /// The intents of the actors.
    pub(super) fn says(&self) -> String {
        let says = match &self.setup.subject {
            EditSource::Preset(pair) => {
                let pair = PRESETS.get(*pair).and_then(messages::pair);
                pair.map(|(_, says)| says).unwrap_or_default()
            }
            EditSource::Editors(..) => messages::pair_of_play(),
        };
        match self.setup.third() {
            Some(ThirdActorChoice::Preset(third)) => messages::with_third(&says, third),
            Some(ThirdActorChoice::OfPlay) | None => says,
        }
    }

    fn begin(&mut self) {
        let mut ways = WriteMethod::all(self.setup.tries);
        self.rows = vec![Row::waiting(); ways.len() + 1];
        ways.extend(WriteMethod::more(self.setup.tries));
        self.ways = Rc::new(ways);
        self.go_on();
    }

    /// Searches the rows that are not searched yet.
    fn go_on(&mut self) {
        self.turn.begin();
        self.focus = None;
    }

    fn apply(&mut self, msg: ExploreMsg) {
        match msg {
            ExploreMsg::Setup(setup) => {
                let only_mixed = Setup {
                    mixed: setup.mixed,
                    ..self.setup.clone()
                } == setup;
                self.setup = setup;
                if matches!(self.setup.subject, EditSource::Editors(..)) {
                    self.from_play = Some(self.setup.subject.clone());
                }
                if only_mixed {
                    self.chosen = self.mixed_row();
                    if let Some(row) = self.rows.last_mut() {
                        *row = Row::waiting();
                    }
                    self.go_on();
                } else {
                    self.begin();
                }
            }
            ExploreMsg::Choose(row) => {
                self.chosen = row;
                self.focus = None;
            }
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
                        *row = Row::waiting();
                    }
                }
                self.go_on();
            }
        }
    }
}

impl Reducible for ExploreModel {
    type Action = ExploreMsg;

    fn reduce(self: Rc<Self>, msg: ExploreMsg) -> Rc<Self> {
        if matches!(&msg, ExploreMsg::Focus(focus) if *focus == self.focus) {
            return self;
        }
        let mut next = (*self).clone();
        next.change += 1;
        next.apply(msg);
        Rc::new(next)
    }
}
