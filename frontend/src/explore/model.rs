//! What is explored, how far it is, and what of it is looked at.

use std::rc::Rc;

use optimist_simulation::explore::{EdgeId, READY, Scenario, Search, StateId, Tally, Third, Way};
use optimist_simulation::verdict::Verdict;
use yew::Reducible;

use super::turn::Turn;
use super::words;
use crate::state::Asked;

/// What is to be explored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setup {
    pub(super) subject: Subject,
    pub(super) third: Option<Hand>,
    pub(super) reads_first: bool,
    /// How often those try who try again.
    pub(super) tries: u8,
    pub(super) micro_steps: bool,
    /// How each actor writes where they differ: which way, and whether it reads first.
    pub(super) mixed: [(usize, bool); 3],
}

/// What a third actor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hand {
    Ready(Third),
    /// What the third hand's working copy in Play says.
    OfPlay,
}

impl Hand {
    /// What it is called in links and lists.
    pub(super) fn slug(self) -> &'static str {
        match self {
            Hand::Ready(third) => third.slug(),
            Hand::OfPlay => "play",
        }
    }

    /// The hand that is called so.
    pub(super) fn named(slug: &str) -> Option<Self> {
        let ready = Third::ALL.into_iter().map(Hand::Ready);
        ready.chain([Hand::OfPlay]).find(|hand| hand.slug() == slug)
    }
}

impl Setup {
    pub(super) fn actors(&self) -> usize {
        2 + usize::from(self.third().is_some())
    }

    /// What the third actor does; the third hand of Play only takes part in edits from there.
    pub(super) fn third(&self) -> Option<Hand> {
        let third = self.third?;
        (third != Hand::OfPlay || self.subject.has_third()).then_some(third)
    }
}

impl Subject {
    /// Whether the third hand of Play has edits as well.
    pub(super) fn has_third(&self) -> bool {
        matches!(self, Subject::Editors(_, scenario) if scenario.plans.len() > 2)
    }
}

/// Where the edits come from.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// One of the ready pairs.
    Ready(usize),
    /// The working copies of a moment in Play.
    Editors(Asked, Rc<Scenario>),
}

impl PartialEq for Subject {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Subject::Ready(a), Subject::Ready(b)) => a == b,
            (Subject::Editors(a, _), Subject::Editors(b, _)) => a == b,
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

/// How far a row is.
#[derive(Clone, Debug)]
pub(super) enum RowState {
    Waiting,
    Running,
    Done(Rc<Search>),
    /// Where it stopped, and with what it found until then.
    Stopped(Stop, Rc<Search>),
    /// People had enough of it.
    Cancelled,
    /// The server does not let the scenario begin so.
    Impossible(String),
}

/// Why a search stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
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

    pub(super) fn search(&self) -> Option<&Rc<Search>> {
        match &self.state {
            RowState::Done(search) | RowState::Stopped(_, search) => Some(search),
            _ => None,
        }
    }
}

/// What of the map is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    State(StateId),
    Edge(EdgeId),
    /// The shortest history that ends so.
    Ending(Verdict),
}

/// All of it.
#[derive(Clone, Debug)]
pub(super) struct Model {
    change: u64,
    pub(super) setup: Setup,
    /// The edits that were last taken from Play.
    pub(super) from_play: Option<Subject>,
    /// Those of the matrix, and then those that only an actor of its own may choose.
    pub(super) ways: Rc<Vec<Way>>,
    /// One per way of the matrix, and one for the mixed.
    pub(super) rows: Vec<Row>,
    /// Which search is under way, so that nothing of an earlier one comes in.
    pub(super) turn: Turn,
    pub(super) chosen: usize,
    pub(super) focus: Option<Focus>,
}

/// What people do, and what the search reports.
#[derive(Clone, Debug)]
pub(super) enum Msg {
    Setup(Setup),
    Choose(usize),
    Focus(Option<Focus>),
    /// What some rows of a search came to.
    Report {
        /// The number of the search.
        turn: u32,
        rows: Vec<(usize, Row)>,
        ended: bool,
    },
    Cancel,
    Again,
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.change == other.change
    }
}

/// As often as client-go's `DefaultRetry`.
const TRIES: u8 = 5;

impl Model {
    pub(super) fn new() -> Self {
        let mut model = Self {
            change: 0,
            setup: Setup {
                subject: Subject::Ready(0),
                third: None,
                reads_first: true,
                tries: TRIES,
                micro_steps: false,
                mixed: [(1, true), (4, true), (4, true)],
            },
            from_play: None,
            ways: Rc::default(),
            rows: Vec::new(),
            turn: Turn::default(),
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

    /// How everybody writes in the chosen row, if all do so in one way.
    pub(super) fn chosen_way(&self) -> Option<&Way> {
        self.ways
            .get(self.chosen)
            .filter(|_| self.chosen < self.mixed_row())
    }

    pub(super) fn chosen_row(&self) -> Option<&Row> {
        self.rows.get(self.chosen)
    }

    /// What a row is called.
    pub(super) fn name(&self, row: usize) -> String {
        if row < self.mixed_row() {
            return self.way_name(row);
        }
        let names = self.setup.mixed.iter().zip(["A", "B", "C"]);
        let names = names
            .take(self.setup.actors())
            .map(|((way, reads), letter)| {
                let blind = if *reads { "" } else { ", blind" };
                format!("{letter}: {}{blind}", self.way_name(*way))
            });
        names.collect::<Vec<_>>().join(" · ")
    }

    fn way_name(&self, way: usize) -> String {
        self.ways.get(way).map_or_else(String::new, words::way)
    }

    /// What the actors mean to do.
    pub(super) fn says(&self) -> String {
        let says = match &self.setup.subject {
            Subject::Ready(ready) => READY.get(*ready).map_or("", |ready| ready.says),
            Subject::Editors(..) => "The edits of your working copies in Play.",
        };
        match self.setup.third() {
            Some(Hand::Ready(third)) => format!("{says} C, a controller, {}.", third.title()),
            Some(Hand::OfPlay) | None => says.to_owned(),
        }
    }

    fn begin(&mut self) {
        let mut ways = Way::all(self.setup.tries);
        self.rows = vec![Row::waiting(); ways.len() + 1];
        ways.extend(Way::more(self.setup.tries));
        self.ways = Rc::new(ways);
        self.go_on();
    }

    /// Searches what is not searched yet.
    fn go_on(&mut self) {
        self.turn.begin();
        self.focus = None;
    }

    fn apply(&mut self, msg: Msg) {
        match msg {
            Msg::Setup(setup) => {
                let only_mixed = Setup {
                    mixed: setup.mixed,
                    ..self.setup.clone()
                } == setup;
                self.setup = setup;
                if matches!(self.setup.subject, Subject::Editors(..)) {
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
            Msg::Choose(row) => {
                self.chosen = row;
                self.focus = None;
            }
            Msg::Focus(focus) => self.focus = focus,
            Msg::Report { turn, rows, ended } => {
                if !self.turn.report(turn, ended) {
                    return;
                }
                for (at, row) in rows {
                    if let Some(place) = self.rows.get_mut(at) {
                        *place = row;
                    }
                }
            }
            Msg::Cancel => {
                self.turn.cancel();
                for row in &mut self.rows {
                    if matches!(row.state, RowState::Waiting | RowState::Running) {
                        row.state = RowState::Cancelled;
                    }
                }
            }
            Msg::Again => {
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

impl Reducible for Model {
    type Action = Msg;

    fn reduce(self: Rc<Self>, msg: Msg) -> Rc<Self> {
        if matches!(&msg, Msg::Focus(focus) if *focus == self.focus) {
            return self;
        }
        let mut next = (*self).clone();
        next.change += 1;
        next.apply(msg);
        Rc::new(next)
    }
}
