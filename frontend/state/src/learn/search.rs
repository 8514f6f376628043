//! The search of a challenge: every order of its requests, one slice after the other.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_lesson::Task;
use optimist_simulation::HistoryTree;
use optimist_simulation::explore::SearchStatus;

use crate::State;
use crate::effect::Effects;

impl State {
    pub(super) fn begin_search(&mut self) {
        let (true, Some(course)) = (self.learn.on_stage, &mut self.learn.course) else {
            return;
        };
        let course = Rc::make_mut(course);
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

    /// Goes on with the search for one slice.
    pub(crate) fn search_further(&mut self, fx: &mut Effects<'_>) {
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
