//! The search of a challenge: every order of its requests, as a job.

use std::collections::BTreeSet;
use std::rc::Rc;

use optimist_controller::program::Switch;
use optimist_lesson::{Lesson, SwitchFinding, SwitchSearch, Task};
use optimist_simulation::HistoryTree;
use optimist_simulation::explore::Search;
use serde::{Deserialize, Serialize};

use super::course::SwitchChoice;
use crate::State;
use crate::effect::Effects;
use crate::jobs::{JobId, JobRequest, JobResult, Work};

/// A challenge about a controller, and the switches that are chosen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SwitchesRequest {
    /// The text of the lesson.
    lesson: String,
    /// The page of the challenge.
    page: usize,
    chosen: BTreeSet<Switch>,
}

/// The search of every history, in parts; `None` if the lesson has no ready program.
pub(crate) struct SwitchesWork(Option<SwitchSearch>);

impl SwitchesWork {
    pub(crate) fn new(request: &SwitchesRequest) -> Self {
        let lesson = Lesson::parse(&request.lesson).ok();
        Self(lesson.and_then(|lesson| {
            let Some(Task::Switches(challenge)) = &lesson.steps.get(request.page)?.task else {
                return None;
            };
            challenge.search(&lesson, &request.chosen)
        }))
    }
}

impl Work for SwitchesWork {
    fn advance(&mut self) -> Option<JobResult> {
        let Some(search) = &mut self.0 else {
            return Some(JobResult::Switches(None));
        };
        let done = search.advance(2);
        done.then(|| JobResult::Switches(Some(search.finding())))
    }

    fn progress(&self) -> (usize, usize) {
        (0, 1)
    }
}

impl State {
    pub(super) fn begin_search(&mut self, fx: &mut Effects<'_>) {
        let (true, Some(course)) = (self.learn.on_stage, &mut self.learn.course) else {
            return;
        };
        let course = Rc::make_mut(course);
        if let Some(Task::Switches(challenge)) = &course.walk.step().task {
            let request = SwitchesRequest {
                lesson: course.source.to_string(),
                page: course.walk.at(),
                chosen: course.switches.chosen(challenge).clone(),
            };
            let request = JobRequest::Switches(request);
            course.switches.search = Some(self.jobs.start(request, fx));
            course.switches.found = None;
            return;
        }
        let Some(Task::Challenge(challenge)) = &course.walk.step().task else {
            return;
        };
        // It is about the object as it was when the challenge was set.
        let mut tree = HistoryTree::clone(&self.session.tree);
        let actors = self.session.tree.world();
        let chosen: Vec<_> = challenge
            .actors()
            .map(|actor| (actor, actors.actor(actor).write()))
            .collect();
        course.walk.resume(&mut tree);
        for (actor, write) in chosen {
            tree.world_mut().actor_mut(actor).set_write(write);
        }
        course.finding = None;
        let search = challenge.search(&tree);
        course.search = search.map(|search| {
            let request = JobRequest::Challenge(Box::new(search.clone()));
            (self.jobs.start(request, fx), Rc::new(search))
        });
    }

    /// Switches something of the controller on or off.
    pub(super) fn choose_switch(&mut self, switch: Switch) {
        let Some(course) = &mut self.learn.course else {
            return;
        };
        let course = Rc::make_mut(course);
        let Some(Task::Switches(challenge)) = &course.walk.step().task else {
            return;
        };
        let mut chosen = course.switches.chosen(challenge).clone();
        if !chosen.remove(&switch) {
            chosen.insert(switch);
        }
        course.switches = SwitchChoice {
            chosen: Some(chosen),
            ..SwitchChoice::default()
        };
    }

    /// Takes the result of the search of a challenge about a controller.
    pub(crate) fn switches_searched(
        &mut self,
        job: JobId,
        found: Option<SwitchFinding>,
        fx: &mut Effects<'_>,
    ) {
        let Some(course) = &mut self.learn.course else {
            return;
        };
        let course = Rc::make_mut(course);
        if course.switches.search != Some(job) {
            return;
        }
        course.switches.search = None;
        let (Some(found), Some(Task::Switches(challenge))) = (found, &course.walk.step().task)
        else {
            return;
        };
        let chosen = course.switches.chosen(challenge);
        let witness = found.witness.as_ref();
        let history = witness.and_then(|it| challenge.witness(course.walk.lesson(), chosen, it));
        if found.is_met() {
            course.walk.meet();
            course.keep(&self.session.tree, fx);
        }
        course.switches.found = Some(Rc::new((found, history)));
    }

    /// Takes the result of the search of a challenge.
    pub(crate) fn challenge_searched(&mut self, job: JobId, search: &Search, fx: &mut Effects<'_>) {
        let Some(course) = &mut self.learn.course else {
            return;
        };
        let course = Rc::make_mut(course);
        if course.search.take_if(|(of, _)| *of == job).is_none() {
            return;
        }
        if let Some(Task::Challenge(challenge)) = &course.walk.step().task {
            let finding = challenge.judge(search);
            if finding.is_met() {
                course.walk.meet();
                course.keep(&self.session.tree, fx);
            }
            course.finding = Some(finding);
        }
    }
}
