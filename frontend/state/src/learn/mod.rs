//! The lesson that is open, and how far one got in each.

mod course;
mod problem;
mod progress;
mod reopening;
mod search;

use std::rc::Rc;
use std::sync::Arc;

use optimist_controller::program::Switch;
use optimist_lesson::{Catalogue, Lesson, LessonError, ServerPart, Task, Walkthrough};
use optimist_links::{Learning, Session};
use optimist_sessions::StorageArea;
use optimist_simulation::{HistoryTree, NodeId};

pub use self::course::Course;
use self::course::{FILE, key};
pub use self::problem::LearnProblem;
use self::progress::join_progress;
pub(crate) use self::progress::progress_is_readable;
pub use self::progress::{CourseProgress, LessonProgress, PROGRESS};
use self::reopening::Reopening;
pub use self::search::SwitchesRequest;
pub(crate) use self::search::SwitchesWork;
use crate::State;
use crate::address::{LessonAddress, Page, lesson_fragment};
use crate::effect::Effects;
use crate::jobs::JobId;
use crate::session::SessionChange;
use crate::view::ServerTab;

/// The fewest steps that the timeline of a lesson folds.
const FEWEST_FOLDED: usize = 4;

/// A message about lessons.
#[derive(Clone, Debug)]
pub enum LearnMsg {
    /// The list of lessons came, or its file did not load.
    Catalogue(Result<String, String>),
    /// The text of a lesson came, or its file did not load.
    Text(String, Result<String, String>),
    /// A lesson came from a file.
    File(String),
    /// A saved progress came from a file.
    OpenProgress(String),
    /// Forgets how far one got in each lesson.
    ForgetProgress,
    /// Runs the next scripted action, or turns to the next page.
    Forward,
    /// Turns to the page before.
    Back,
    /// Turns to a page.
    Turn(usize),
    /// Predicts by a choice.
    Predict(usize),
    /// Back to where the script stands.
    Resume,
    /// Shows a way to do the task: takes it, or chooses it in the cards. In the teacher's view, hides an answer that was
    /// shown, or shows it again.
    Solve,
    /// Chooses in the first question of the lesson, counted from 0.
    ChooseFirst(usize),
    /// Shows the next hint; after the last one, none.
    Hint,
    /// Shows the steps before the last question in the timeline, or folds them.
    Earlier,
    /// Lists the earlier tries at the task in the timeline, or folds them.
    Tries,
    /// Shows the lesson to a room, or no longer.
    Teach,
    /// Looks at every order of a challenge.
    Search,
    /// Switches something of the controller on or off, in a challenge.
    Switch(Switch),
    /// Begins the lesson again.
    Restart,
    /// Back to all lessons; one from a file has no address that would say so.
    Leave,
}

/// Lessons, as far as the page knows them.
#[derive(Clone, Debug, Default)]
pub struct Learn {
    /// The list of lessons, once it came.
    pub catalogue: Option<Rc<Catalogue>>,
    /// The lesson that the address names.
    pub wanted: Option<String>,
    /// The reason why something could not be opened.
    pub problem: Option<LearnProblem>,
    /// The lesson that is taken.
    pub course: Option<Rc<Course>>,
    /// `true` in teaching mode, for a projector: large text, and one step for each key.
    pub teaching: bool,
    /// The tree that is not on the stage: Play's, or the lesson's.
    off_stage: Option<Rc<HistoryTree>>,
    /// `true` if the stage shows the tree of the lesson.
    on_stage: bool,
    /// The way through a lesson that a link carries, until the lesson's text came.
    pending: Option<(Learning, Rc<HistoryTree>)>,
    /// A lesson that is being done again as it was left.
    reopening: Option<Rc<Reopening>>,
}

impl Learn {
    /// Returns whether the stage shows a lesson.
    pub fn is_on_stage(&self) -> bool {
        self.on_stage
    }

    /// The number of steps of the stage that came before the last question of its lesson, if there are
    /// enough to fold.
    pub fn earlier_steps(&self, tree: &HistoryTree) -> Option<usize> {
        let course = self.course.as_ref().filter(|_| self.on_stage)?;
        let asked = course.walk.asked_from();
        let before = tree.current_path().iter().position(|node| *node == asked)?;
        (before >= FEWEST_FOLDED && tree.position() >= before).then_some(before)
    }

    /// The earlier tries at the task of the lesson that is on the stage: the last step of each.
    pub fn earlier_tries(&self, tree: &HistoryTree) -> Vec<NodeId> {
        let course = self.course.as_ref().filter(|_| self.on_stage);
        course.map_or_else(Vec::new, |course| course.walk.earlier_tries(tree))
    }

    /// Returns the number of steps of the stage before the tries at the task of its lesson.
    pub fn tried_after(&self, tree: &HistoryTree) -> Option<usize> {
        let course = self.course.as_ref().filter(|_| self.on_stage)?;
        course.walk.tried_after(tree)
    }

    /// Returns the state of the lesson for a link to the content of the stage.
    pub fn learning(&self) -> Option<Learning> {
        let course = self.course.as_ref().filter(|_| self.on_stage)?;
        Some(course.learning())
    }

    /// The jobs that it waits for.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = JobId> {
        let course = self.course.as_ref();
        let challenge = course.and_then(|course| Some(course.search.as_ref()?.0));
        let switches = course.and_then(|course| course.switches.search);
        [self.reopening_job(), challenge, switches]
            .into_iter()
            .flatten()
    }

    /// Returns whether a search is running.
    pub fn is_searching(&self) -> bool {
        let course = self.course.as_ref();
        course.is_some_and(|course| course.search.is_some() || course.switches.search.is_some())
    }

    /// Changes the lesson that is open, if there is one.
    fn change_course(&mut self, change: impl FnOnce(&mut Course)) {
        if let Some(course) = &mut self.course {
            change(Rc::make_mut(course));
        }
    }

    fn read_catalogue(&mut self, text: &str) {
        match Catalogue::parse(text) {
            Ok(catalogue) => {
                self.catalogue = Some(Rc::new(catalogue));
                self.check_wanted();
            }
            Err(error) => self.problem = Some(LearnProblem::Error(error)),
        }
    }

    /// Notes a lesson that is not in the catalogue as a problem, once the catalogue is there.
    fn check_wanted(&mut self) {
        let (Some(catalogue), Some(wanted)) = (&self.catalogue, &self.wanted) else {
            return;
        };
        if !catalogue.has(wanted) {
            self.problem = Some(LearnProblem::Unknown(wanted.clone()));
            self.wanted = None;
        }
    }
}

impl State {
    pub(crate) fn update_learn(&mut self, msg: LearnMsg, fx: &mut Effects<'_>) {
        match msg {
            LearnMsg::Catalogue(Ok(text)) => self.learn.read_catalogue(&text),
            LearnMsg::Catalogue(Err(file)) => {
                self.learn.problem = Some(LearnProblem::NotLoaded(file));
            }
            LearnMsg::OpenProgress(text) => {
                let joined = join_progress(&text, fx);
                self.learn.problem = joined.is_none().then_some(LearnProblem::ProgressUnreadable);
            }
            LearnMsg::ForgetProgress => fx.write(StorageArea::Browser, PROGRESS, None),
            LearnMsg::Text(name, text) => {
                if self.learn.wanted.as_ref() != Some(&name) {
                    return;
                }
                let opened = text.map_err(LearnProblem::NotLoaded).and_then(|text| {
                    let opened = self.open_lesson(name, &text, fx);
                    opened.map_err(LearnProblem::Error)
                });
                self.learn.problem = opened.err();
            }
            LearnMsg::File(text) => match checked(&text) {
                Ok(()) => self.open_file(&text, fx),
                Err(errors) => self.learn.problem = Some(LearnProblem::NotOpened(errors)),
            },
            LearnMsg::Leave => {
                self.learn.wanted = None;
                self.leave_lesson(fx);
            }
            LearnMsg::Teach => {
                self.learn.teaching = !self.learn.teaching;
                self.learn.change_course(|course| course.hidden = false);
            }
            LearnMsg::Search => self.begin_search(fx),
            LearnMsg::Switch(switch) => self.choose_switch(switch),
            LearnMsg::Restart => self.restart_lesson(fx),
            LearnMsg::ChooseFirst(choice) => {
                let learn = &mut self.learn;
                learn.change_course(|course| course.first_choice = Some(choice));
            }
            LearnMsg::Earlier => {
                let learn = &mut self.learn;
                learn.change_course(|course| course.earlier = !course.earlier);
            }
            LearnMsg::Tries => {
                let learn = &mut self.learn;
                learn.change_course(|course| course.tries = !course.tries);
            }
            LearnMsg::Hint => self.learn.change_course(|course| {
                let all = course.walk.step().hints().len();
                course.hints = (course.hints + 1) % (all + 1);
            }),
            msg => self.walk_lesson(&msg),
        }
    }

    /// Puts the tree on the stage that belongs to the page.
    pub(crate) fn set_stage(&mut self) {
        let wanted = self.page == Page::Learn && self.learn.course.is_some();
        if wanted != self.learn.on_stage
            && let Some(tree) = self.learn.off_stage.take()
        {
            self.learn.on_stage = wanted;
            self.learn.off_stage = Some(Rc::clone(&self.session.tree));
            self.enter(tree);
            self.open_part();
        }
    }

    /// Opens the part of the server's card of which the page of the lesson speaks.
    fn open_part(&mut self) {
        let course = self.learn.course.as_ref().filter(|_| self.learn.on_stage);
        let show = course.and_then(|course| course.walk.step().show);
        self.view.server_tab = match show {
            None => return,
            Some(ServerPart::Object) => ServerTab::Object,
            Some(ServerPart::Owners) => ServerTab::Owners,
            Some(ServerPart::Revisions) => ServerTab::Revisions,
            Some(ServerPart::Watch) => ServerTab::Watch,
            Some(ServerPart::Etcd) => ServerTab::Etcd,
        };
    }

    /// Opens the destination of an address in Learn. `carries` is `true` if the address also has a
    /// session.
    pub(crate) fn want_lesson(
        &mut self,
        lesson: LessonAddress<'_>,
        carries: bool,
        fx: &mut Effects<'_>,
    ) {
        let wanted = lesson.name().map(str::to_owned);
        // What was said of one address says nothing of the next; that the list of lessons did not
        // come is true at every address.
        if wanted != self.learn.wanted || self.learn.catalogue.is_some() {
            self.learn.problem = None;
        }
        self.learn.wanted = wanted;
        let open = self.learn.course.as_ref().map(|course| course.name.clone());
        match &self.learn.wanted {
            // One from a file has no address.
            None if open.as_deref() != Some("") => self.leave_lesson(fx),
            Some(wanted) if open.as_ref().is_some_and(|open| open != wanted) => {
                self.leave_lesson(fx);
            }
            _ if self.learn.reopens_another() => self.learn.reopening = None,
            _ => {}
        }
        if let LessonAddress::Unknown(path) = lesson {
            self.learn.problem = Some(LearnProblem::Unknown(path.to_owned()));
        }
        self.learn.check_wanted();
        let learn = &self.learn;
        let nothing = learn.wanted.is_none() && learn.course.is_none() && learn.reopening.is_none();
        if nothing && lesson == LessonAddress::List && !carries {
            self.reopen_file(fx);
        }
    }

    /// Opens the lesson from a file that the tab had before a reload.
    fn reopen_file(&mut self, fx: &mut Effects<'_>) {
        let Some(text) = fx.read(StorageArea::Tab, FILE) else {
            return;
        };
        let session = Session::parse(&text).ok();
        let source = session.and_then(|session| session.learning?.text);
        let opened = source.and_then(|source| {
            let opened = self.open_kept_lesson(String::new(), &source, Some(text.clone()), fx);
            opened.ok()
        });
        if opened.is_none() {
            self.keep_unopened("A lesson from a file", &text, fx);
            self.learn.problem = Some(LearnProblem::NotOpenedAgain);
            fx.write(StorageArea::Tab, FILE, None);
        }
    }

    fn leave_lesson(&mut self, fx: &mut Effects<'_>) {
        self.learn.reopening = None;
        if let Some(course) = self.learn.course.take() {
            let tree = if self.learn.on_stage {
                Some(Rc::clone(&self.session.tree))
            } else {
                self.learn.off_stage.clone()
            };
            if let Some(tree) = tree {
                course.keep(&tree, fx);
            }
            if course.name.is_empty() {
                fx.write(StorageArea::Tab, FILE, None);
            }
        }
        self.set_stage();
        self.learn.off_stage = None;
    }

    /// Puts a lesson on the stage.
    fn begin_lesson(&mut self, course: Course, tree: HistoryTree, fx: &mut Effects<'_>) {
        self.leave_lesson(fx);
        course.keep(&tree, fx);
        self.learn.problem = None;
        self.learn.course = Some(Rc::new(course));
        self.learn.off_stage = Some(Rc::new(tree));
        self.set_stage();
    }

    fn open_lesson(
        &mut self,
        name: String,
        source: &str,
        fx: &mut Effects<'_>,
    ) -> Result<(), LessonError> {
        let lesson = Arc::new(Lesson::parse(source)?);
        let pending = self.learn.pending.take();
        let linked = pending.filter(|(learning, _)| learning.name == name);
        let linked = linked.and_then(|(learning, tree)| {
            let lesson = Arc::clone(&lesson);
            let walk = Walkthrough::restore(lesson, learning.at, &learning.pages, &tree)?;
            Some((walk, HistoryTree::clone(&tree)))
        });
        if let Some((walk, tree)) = linked {
            self.begin_lesson(Course::new(name, source, walk), tree, fx);
            return Ok(());
        }
        let kept = fx.read(StorageArea::Browser, &key(&name, source));
        self.open_kept_lesson(name, source, kept, fx)
    }

    /// Opens the lesson of a link, once its text is there.
    pub(crate) fn open_linked_lesson(
        &mut self,
        learning: Learning,
        tree: HistoryTree,
        fx: &mut Effects<'_>,
    ) {
        let (name, text) = (learning.name.clone(), learning.text.clone());
        self.leave_lesson(fx);
        self.learn.pending = Some((learning, Rc::new(tree)));
        match text {
            Some(text) => self.open_file(&text, fx),
            None => fx.go_to(&lesson_fragment(&name)),
        }
    }

    fn open_file(&mut self, text: &str, fx: &mut Effects<'_>) {
        if let Err(error) = self.open_lesson(String::new(), text, fx) {
            self.learn.problem = Some(LearnProblem::NotOpened(vec![error]));
        }
    }

    fn restart_lesson(&mut self, fx: &mut Effects<'_>) {
        if let Some(course) = &self.learn.course {
            let lesson = Arc::clone(course.walk.lesson());
            if let Ok((walk, tree)) = Walkthrough::open(lesson) {
                let course = Course::new(course.name.clone(), &course.source, walk);
                self.begin_lesson(course, tree, fx);
            }
        }
    }

    fn walk_lesson(&mut self, msg: &LearnMsg) {
        let (true, Some(course)) = (self.learn.on_stage, &mut self.learn.course) else {
            return;
        };
        let teaching = self.learn.teaching;
        // A learner answers first. A teacher asks a room, and then shows the answer.
        if matches!(msg, LearnMsg::Forward) && !teaching && course.is_asking() {
            return;
        }
        let course = Rc::make_mut(course);
        let tree = Rc::make_mut(&mut self.session.tree);
        let page = course.walk.at();
        let has_task = course.walk.step().task.is_some();
        let done = match *msg {
            LearnMsg::Forward | LearnMsg::Predict(_) | LearnMsg::Solve
                if course.hidden && !has_task =>
            {
                course.show_answer(tree);
                Ok(())
            }
            LearnMsg::Solve if teaching && !course.hidden && course.has_answer() => {
                course.hide_answer(tree);
                Ok(())
            }
            LearnMsg::Forward => course.walk.forward(tree).map(drop),
            LearnMsg::Back => {
                course.walk.back(tree);
                Ok(())
            }
            LearnMsg::Turn(page) => {
                course.walk.turn_to(page, tree);
                Ok(())
            }
            LearnMsg::Predict(choice) => course.walk.predict(choice, tree),
            LearnMsg::Solve => course.show_way(tree),
            _ => {
                course.hidden &= has_task;
                course.walk.resume(tree);
                // A try that is given up is put aside.
                if has_task && course.walk.at() + 1 == course.walk.opened() {
                    tree.end_path();
                }
                Ok(())
            }
        };
        let turned = course.walk.at() != page;
        if turned {
            course.forget_page();
        }
        self.learn.problem = done.err().map(LearnProblem::Error);
        self.session.playing = false;
        self.follow(SessionChange::Moved);
        if turned {
            self.open_part();
        }
    }

    /// Looks whether the task is done, and keeps how far one is.
    pub(crate) fn note_lesson(&mut self, before: &Rc<HistoryTree>, fx: &mut Effects<'_>) {
        let tree = &self.session.tree;
        if !self.learn.on_stage || Rc::ptr_eq(before, tree) {
            return;
        }
        if let Some(course) = &mut self.learn.course {
            let course = Rc::make_mut(course);
            course.walk.look(tree);
            course.keep(tree, fx);
            if let (Some(Task::Challenge(challenge)), Some(search)) =
                (&course.walk.step().task, &course.search)
                && !challenge.is_searched_by(&search.1, tree)
            {
                course.search = None;
            }
        }
    }
}

/// Holds a lesson of one's own to everything that it says, as `cargo xtask lesson` does.
fn checked(text: &str) -> Result<(), Vec<LessonError>> {
    let lesson = Lesson::parse_all(text)?;
    Arc::new(lesson).check()
}
