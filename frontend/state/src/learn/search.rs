//! The search of a challenge: every order of its requests, as a job.

use std::rc::Rc;

use optimist_controller::program::Switch;
use optimist_lesson::{SwitchFinding, Task};
use optimist_simulation::HistoryTree;
use optimist_simulation::explore::Search;

use super::course::SwitchChoice;
use crate::State;
use crate::effect::Effects;
use crate::jobs::{JobId, JobRequest};

impl State {
    pub(super) fn begin_search(&mut self, fx: &mut Effects<'_>) {
        let (true, Some(course)) = (self.learn.on_stage, &mut self.learn.course) else {
            return;
        };
        let course = Rc::make_mut(course);
        if let Some(Task::Switches(challenge)) = &course.walk.step().task {
            let chosen = course.switches.chosen(challenge);
            let search = challenge.search(course.walk.lesson(), chosen);
            let request = search.map(|search| JobRequest::Switches(Box::new(search)));
            course.switches.search = request.map(|request| self.jobs.start(request, fx));
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
        found: (SwitchFinding, Option<HistoryTree>),
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
        if found.0.is_met() {
            course.walk.meet();
            course.keep(&self.session.tree, fx);
        }
        course.switches.found = Some(Rc::new(found));
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
