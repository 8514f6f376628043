//! The searches, in slices between which the page is free.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use optimist_client::WriteMethod;
use optimist_simulation::explore::{
    HistoryAnswer, PRESETS, ResponseCache, Scenario, Search, SearchStatus,
};

use crate::browser;
use crate::scheduler::Slices;
use crate::state::{
    DRAWING, EditSource, ExploreModel, ExploreMsg, ExploreRow, ExploreSetup, MixedWay, RowState,
    SLICE, StopReason, ThirdActorChoice, slice,
};

/// The maximum time for one row, in seconds.
pub(super) const MAX_SECONDS: u32 = 10;
/// The maximum number of states of one row; each takes about half a kilobyte.
const MAX_STATES: usize = 60_000;

/// A callback for events.
type Tell = Rc<dyn Fn(ExploreMsg)>;

struct RowSearch {
    row: usize,
    search: Option<Search>,
    taken: f64,
}

/// The searches of all rows that are not searched yet.
struct Searches {
    turn: u32,
    base: Option<Scenario>,
    /// The requests to the server in the rows before, with their answers.
    memory: ResponseCache,
    model: Rc<ExploreModel>,
    jobs: VecDeque<RowSearch>,
    /// The rows that changed since the last report.
    changed: BTreeMap<usize, ExploreRow>,
    /// The time of the last report.
    reported: Option<f64>,
    tell: Tell,
}

/// Searches the chosen row, then all other rows, until all are done or the slices are dropped.
pub(super) fn start(model: Rc<ExploreModel>, tell: Tell) -> Slices {
    let is_asked = super::property::is_asked(&model);
    let done = |row: &usize| {
        let row = model.rows.get(*row);
        row.is_some_and(|row| row.search().is_some() && (row.answer.is_some() || !is_asked))
    };
    let to_do = (0..model.rows.len()).filter(|row| !done(row));
    let mut jobs: VecDeque<RowSearch> = to_do
        .map(|row| RowSearch {
            row,
            search: None,
            taken: 0.0,
        })
        .collect();
    if let Some(at) = jobs.iter().position(|job| job.row == model.chosen)
        && let Some(chosen) = jobs.remove(at)
    {
        jobs.push_front(chosen);
    }
    let mut searches = Searches {
        turn: model.turn.number(),
        base: None,
        memory: ResponseCache::default(),
        model,
        jobs,
        changed: BTreeMap::new(),
        reported: None,
        tell,
    };
    Slices::start(move || searches.slice())
}

impl Searches {
    /// Works for a while. `false` when there is nothing left.
    fn slice(&mut self) -> bool {
        let begin = browser::now();
        let left = || SLICE - (browser::now() - begin);
        while let Some(mut job) = self.jobs.pop_front() {
            let start = browser::now();
            let row = match self.searched(job.row) {
                Some(row) => row,
                None => self.work_on(&mut job, left()),
            };
            job.taken += browser::now() - start;
            let finished = !matches!(row.state, RowState::Running);
            self.changed.insert(job.row, row);
            if !finished {
                self.jobs.push_front(job);
            }
            if left() < 0.0 {
                break;
            }
        }
        let ended = self.jobs.is_empty();
        // Each report draws the whole page again.
        let now = browser::now();
        if ended || self.reported.is_none_or(|last| now - last >= DRAWING) {
            self.reported = Some(now);
            (self.tell)(ExploreMsg::Report {
                turn: self.turn,
                rows: std::mem::take(&mut self.changed).into_iter().collect(),
                ended,
            });
        }
        !ended
    }

    /// A row that was searched before, with the answer about the property.
    fn searched(&self, row: usize) -> Option<ExploreRow> {
        let row = self.model.rows.get(row)?;
        let answer = self.answer(row.search()?);
        Some(ExploreRow {
            answer,
            ..row.clone()
        })
    }

    /// The answer about the property that somebody wrote.
    fn answer(&self, search: &Search) -> Option<HistoryAnswer> {
        let property = self.model.property.as_ref()?.as_ref().ok()?;
        Some(search.judge(property))
    }

    fn work_on(&mut self, job: &mut RowSearch, budget: f64) -> ExploreRow {
        let mut search = match job.search.take() {
            Some(search) => search,
            None => match self.scenario(job.row) {
                Ok(scenario) => {
                    let memory = std::mem::take(&mut self.memory);
                    Search::with_memory(scenario, MAX_STATES, memory)
                }
                Err(why) => {
                    return ExploreRow {
                        state: RowState::Impossible(why),
                        tally: Default::default(),
                        states: 0,
                        answer: None,
                    };
                }
            },
        };
        let mut status = search.status();
        if status == SearchStatus::Running {
            slice(budget, &browser::now, || {
                status = search.advance(1);
                (status != SearchStatus::Running).then_some(())
            });
        }
        let (tally, states) = (search.tally(), search.states());
        if status != SearchStatus::Running {
            self.memory = search.take_memory();
        }
        let is_late = job.taken > f64::from(MAX_SECONDS) * 1000.0;
        let is_over = status != SearchStatus::Running || is_late;
        let answer = is_over.then(|| self.answer(&search)).flatten();
        let state = match status {
            SearchStatus::Done => RowState::Done(Rc::new(search)),
            SearchStatus::TooManyStates => RowState::Stopped(StopReason::States, Rc::new(search)),
            SearchStatus::Running if is_late => {
                RowState::Stopped(StopReason::Time, Rc::new(search))
            }
            SearchStatus::Running => {
                job.search = Some(search);
                RowState::Running
            }
        };
        ExploreRow {
            state,
            tally,
            states,
            answer,
        }
    }

    fn scenario(&mut self, row: usize) -> Result<Scenario, String> {
        let mut scenario = match &self.base {
            Some(base) => base.clone(),
            None => {
                let base = base(&self.model.setup)?;
                self.base = Some(base.clone());
                base
            }
        };
        let setup = &self.model.setup;
        let mixed = row == self.model.mixed_row();
        let mut ways: Vec<WriteMethod> = Vec::new();
        for (plan, (mixed_way, reads_first)) in scenario.plans.iter_mut().zip(setup.mixed) {
            plan.reads_first = if mixed {
                reads_first
            } else {
                setup.reads_first
            };
            let way = match (self.model.way_of(row), mixed_way) {
                (Some(way), _) => way,
                (None, MixedWay::Method(way)) => usize::from(way),
                (None, MixedWay::Tool(preset)) => {
                    // A third actor that is a tool stays the one that it is.
                    if plan.tool.is_none() {
                        *plan = plan.clone().by_tool(preset);
                    }
                    0
                }
            };
            ways.extend(self.model.ways.get(way));
        }
        scenario.in_ways(&ways, setup.tries)
    }
}

/// The scenario without write methods.
pub(super) fn base(setup: &ExploreSetup) -> Result<Scenario, String> {
    let mut scenario = match &setup.subject {
        EditSource::Preset(ready) => {
            let ready = PRESETS.get(*ready).ok_or_else(String::new)?;
            let scenario = ready.scenario();
            scenario.map_err(|error| error.to_string())?
        }
        EditSource::Editors(_, scenario) => scenario.as_ref().clone(),
    };
    match setup.third() {
        Some(ThirdActorChoice::OfPlay) => {}
        Some(ThirdActorChoice::Preset(third)) => {
            scenario = scenario.of_editors();
            scenario.plans.push(third.plan(&scenario));
        }
        None => scenario = scenario.of_editors(),
    }
    scenario.micro_steps = setup.micro_steps;
    scenario.faults.lost_answers = setup.loses_answer.into();
    Ok(scenario)
}
