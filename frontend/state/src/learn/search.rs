//! The search of a challenge: every order of its requests, one slice after the other.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_controller::program::Switch;
use optimist_lesson::Task;
use optimist_simulation::HistoryTree;
use optimist_simulation::explore::SearchStatus;

use super::course::SwitchChoice;
use crate::State;
use crate::effect::Effects;

impl State {
    pub(super) fn begin_search(&mut self) {
        let (true, Some(course)) = (self.learn.on_stage, &mut self.learn.course) else {
            return;
        };
        let course = Rc::make_mut(course);
        if let Some(Task::Switches(challenge)) = &course.walk.step().task {
            let chosen = course.switches.chosen(challenge);
            let search = challenge.search(course.walk.lesson(), chosen);
            course.switches.search = search.map(|search| Rc::new(RefCell::new(search)));
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
        course.search = search.map(|search| Rc::new(RefCell::new(search)));
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

    /// Goes on with the search of a challenge about a controller, for one slice.
    fn search_switches_further(&mut self, fx: &mut Effects<'_>) {
        let Some(course) = &mut self.learn.course else {
            return;
        };
        let course = Rc::make_mut(course);
        let Some(search) = course.switches.search.take() else {
            return;
        };
        let done = fx.slice(|| search.borrow_mut().advance(2).then_some(()));
        if done.is_none() {
            course.switches.search = Some(search);
            return;
        }
        let finding = search.borrow().finding();
        if finding.is_met() {
            course.walk.meet();
            course.keep(&self.session.tree, fx);
        }
        let witness = search.borrow().witness();
        course.switches.found = Some(Rc::new((finding, witness)));
    }

    /// Goes on with the search for one slice.
    pub(crate) fn search_further(&mut self, fx: &mut Effects<'_>) {
        self.search_switches_further(fx);
        let Some(course) = &mut self.learn.course else {
            return;
        };
        let course = Rc::make_mut(course);
        let Some(search) = course.search.take() else {
            return;
        };
        let done = fx.slice(|| {
            let status = search.borrow_mut().advance(8);
            (status != SearchStatus::Running).then_some(())
        });
        if done.is_none() {
            course.search = Some(search);
            return;
        }
        if let Some(Task::Challenge(challenge)) = &course.walk.step().task {
            let finding = challenge.judge(&search.borrow());
            if finding.is_met() {
                course.walk.meet();
                course.keep(&self.session.tree, fx);
            }
            course.finding = Some(finding);
        }
    }
}
