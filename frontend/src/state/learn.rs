//! The lesson that is open, and how far one got in each.

mod reopening;

use std::cell::RefCell;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use optimist_lesson::{Catalogue, Finding, Lesson, LessonError, Task, Walkthrough};
use optimist_simulation::HistoryTree;
use optimist_simulation::explore::{Search, SearchStatus};
use optimist_text::share::{Learning, Session};
use serde_json::{Map, Value, json};

use self::reopening::Reopening;
use super::share::carried;
use super::{Page, State};
use crate::browser;

/// What people do with lessons.
#[derive(Clone, Debug)]
pub(crate) enum LearnMsg {
    /// The catalogue came, or why not.
    Catalogue(Result<String, String>),
    /// The text of a lesson came, or why not.
    Text(String, Result<String, String>),
    /// A lesson came from a file.
    File(String),
    /// Lets happen what is still to happen, or turns to the next page.
    Forward,
    Back,
    Turn(usize),
    Predict(usize),
    /// Back to where the script stands.
    Resume,
    /// Shows a way to do the task: takes it, or chooses it in the cards.
    Solve,
    Hint,
    Teach,
    /// Looks at every order of a challenge.
    Search,
    /// Begins the lesson anew.
    Restart,
    /// Back to all lessons; one from a file has no address that would say so.
    Leave,
}

/// Lessons, as far as the page knows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learn {
    pub(crate) catalogue: Option<Rc<Catalogue>>,
    /// The lesson that the address names.
    pub(crate) wanted: Option<String>,
    /// Why something could not be opened.
    pub(crate) problem: Option<String>,
    pub(crate) course: Option<Rc<Course>>,
    /// Whether it is shown to a room: large, a step for each key.
    pub(crate) teaching: bool,
    /// The tree that is not on the stage: Play's, or the lesson's.
    aside: Option<Rc<HistoryTree>>,
    /// Whether the tree on the stage is the lesson's.
    on_stage: bool,
    /// The way through a lesson that a link carries, until the lesson's text came.
    pending: Option<(Learning, Rc<HistoryTree>)>,
    /// A lesson that is being done again as it was left.
    reopening: Option<Rc<Reopening>>,
}

/// A lesson that is being taken.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// Its name in the catalogue; empty for one from a file.
    pub(crate) name: String,
    /// Its text.
    source: Rc<str>,
    pub(crate) walk: Walkthrough,
    /// Whether the hint is shown.
    pub(crate) hint: bool,
    /// What the search of a challenge found.
    pub(crate) finding: Option<Finding>,
    /// The search that goes on.
    pub(crate) search: Option<Rc<RefCell<Search>>>,
}

/// How far one got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LessonProgress {
    pub(crate) opened: usize,
    pub(crate) finished: bool,
}

const PROGRESS: &str = "optimist.lessons";

/// The lesson from a file that a tab has open, by what it is kept as.
const FILE: &str = "optimist.lesson-file";

/// How long the page may be away for a search, in milliseconds.
const SLICE: f64 = 12.0;

fn kept_as(name: &str) -> String {
    format!("optimist.lesson.{name}")
}

fn all_progress() -> Map<String, Value> {
    let kept = browser::remembered(PROGRESS).unwrap_or_default();
    serde_json::from_str(&kept).unwrap_or_default()
}

/// Whether what is kept of the progress can be read, if there is any.
pub(super) fn progress_is_readable() -> bool {
    let kept = browser::remembered(PROGRESS);
    kept.is_none_or(|kept| serde_json::from_str::<Map<String, Value>>(&kept).is_ok())
}

/// How far one got in a lesson on earlier visits; `None` before it was opened.
pub(crate) fn progress(name: &str) -> Option<LessonProgress> {
    let all = all_progress();
    let kept = all.get(name)?;
    Some(LessonProgress {
        opened: kept.get(0)?.as_u64()? as usize,
        finished: kept.get(1)?.as_bool()?,
    })
}

/// The lesson that a fragment names: `#/learn/01-the-lost-update`.
pub(crate) fn named(fragment: &str) -> Option<String> {
    let name = fragment.strip_prefix("#/learn/")?;
    let name = name.split(['?', '/']).next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (!name.is_empty() && name.chars().all(plain)).then(|| name.to_owned())
}

/// The address of a lesson.
pub(crate) fn address(name: &str) -> String {
    format!("{}/{name}", Page::Learn.fragment())
}

/// What tells one text of a lesson from another: FNV-1a with 64 bits, which is the same in every
/// build of this program.
fn fingerprint(source: &str) -> String {
    let hash = source
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    format!("{hash:016x}")
}

/// What builds before this one noted instead, where the compiler still counts as it did then.
fn earlier_fingerprint(source: &str) -> Value {
    let mut hasher = DefaultHasher::new();
    source.hash(&mut hasher);
    hasher.finish().into()
}

impl Course {
    fn new(name: String, source: &str, walk: Walkthrough) -> Self {
        Self {
            name,
            source: source.into(),
            walk,
            hint: false,
            finding: None,
            search: None,
        }
    }

    /// The way through it, for a link; a lesson from a file goes along.
    fn learning(&self) -> Learning {
        Learning {
            name: self.name.clone(),
            text: self.name.is_empty().then(|| self.source.to_string()),
            at: self.walk.at(),
            pages: self.walk.records(),
        }
    }

    /// What it is kept as: its name, or for one from a file what its text is known by.
    fn kept_as(&self) -> String {
        kept_as(&match self.name.as_str() {
            "" => format!("file-{}", fingerprint(&self.source)),
            name => name.to_owned(),
        })
    }

    fn keep(&self, tree: &HistoryTree) {
        let mut session = Session::of_lesson(tree, self.learning());
        Page::Learn.slug().clone_into(&mut session.page);
        session.extra = fingerprint(&self.source).into();
        let key = self.kept_as();
        let text = session.to_text();
        browser::remember(&key, Some(&text));
        if self.name.is_empty() {
            // For a browser that keeps nothing for later, but for a tab.
            browser::keep(FILE, Some(&text));
            return;
        }
        if !progress_is_readable() {
            return;
        }
        let mut all = all_progress();
        let before = progress(&self.name);
        let finished = self.walk.finished() || before.is_some_and(|before| before.finished);
        all.insert(self.name.clone(), json!([self.walk.opened(), finished]));
        browser::remember(PROGRESS, Some(&Value::Object(all).to_string()));
    }
}

impl Learn {
    /// Whether the stage shows a lesson.
    pub(crate) fn is_on_stage(&self) -> bool {
        self.on_stage
    }

    /// What of a lesson goes into a link of what is on the stage.
    pub(crate) fn learning(&self) -> Option<Learning> {
        let course = self.course.as_ref().filter(|_| self.on_stage)?;
        Some(course.learning())
    }

    /// How many steps of a lesson that is opened again are done, and how many there are.
    pub(crate) fn progress(&self) -> Option<(usize, usize)> {
        let reopening = self.reopening.as_ref()?;
        Some(reopening.replay.borrow().progress())
    }

    /// Whether a search goes on.
    pub(crate) fn is_searching(&self) -> bool {
        let course = self.course.as_ref();
        course.is_some_and(|course| course.search.is_some())
    }
}

impl State {
    /// Puts the tree on the stage that belongs to the page.
    pub(super) fn set_stage(&mut self) {
        let wanted = self.page == Page::Learn && self.learn.course.is_some();
        if wanted != self.learn.on_stage
            && let Some(tree) = self.learn.aside.take()
        {
            self.learn.on_stage = wanted;
            self.learn.aside = Some(Rc::clone(&self.tree));
            self.enter(tree);
        }
    }

    /// What an address asks of Learn.
    pub(super) fn want_lesson(&mut self, fragment: &str) {
        if self.page != Page::Learn {
            return;
        }
        let wanted = named(fragment);
        // What was said of one address says nothing of the next; that the list of lessons did not
        // come is true at every address.
        if wanted != self.learn.wanted || self.learn.catalogue.is_some() {
            self.learn.problem = None;
        }
        self.learn.wanted = wanted;
        let open = self.learn.course.as_ref().map(|course| course.name.clone());
        match &self.learn.wanted {
            // One from a file has no address.
            None if open.as_deref() != Some("") => self.leave_lesson(),
            Some(wanted) if open.as_ref().is_some_and(|open| open != wanted) => self.leave_lesson(),
            _ if self.learn.reopens_another() => self.learn.reopening = None,
            _ => {}
        }
        let rest = fragment.strip_prefix("#/learn/").unwrap_or_default();
        let rest = rest.split('?').next().unwrap_or_default();
        if self.learn.wanted.is_none() && !rest.is_empty() {
            self.learn.problem = Some(unknown(rest));
        }
        self.check_wanted();
        let learn = &self.learn;
        let nothing = learn.wanted.is_none() && learn.course.is_none() && learn.reopening.is_none();
        if nothing && rest.is_empty() && carried(fragment).is_none() {
            self.reopen_file();
        }
    }

    /// A lesson that is not in the catalogue is said, once that is there.
    fn check_wanted(&mut self) {
        let (Some(catalogue), Some(wanted)) = (&self.learn.catalogue, &self.learn.wanted) else {
            return;
        };
        if !catalogue.lessons().any(|entry| entry.name == *wanted) {
            self.learn.problem = Some(unknown(wanted));
            self.learn.wanted = None;
        }
    }

    /// Opens the lesson from a file that the tab had before a reload.
    #[inline(never)] // not on the first screen
    fn reopen_file(&mut self) {
        let Some(text) = browser::kept(FILE) else {
            return;
        };
        let session = Session::parse(&text).ok();
        let source = session.and_then(|session| session.learning?.text);
        let opened = source.and_then(|source| {
            let opened = self.open_kept_lesson(String::new(), &source, Some(text.clone()));
            opened.ok()
        });
        if opened.is_none() {
            self.keep_unopened("A lesson from a file", &text);
            let problem = "The lesson from a file that was open cannot be opened again.";
            self.learn.problem = Some(problem.to_owned());
            browser::keep(FILE, None);
        }
    }

    fn leave_lesson(&mut self) {
        self.learn.reopening = None;
        if let Some(course) = self.learn.course.take() {
            let tree = if self.learn.on_stage {
                Some(Rc::clone(&self.tree))
            } else {
                self.learn.aside.clone()
            };
            if let Some(tree) = tree {
                course.keep(&tree);
            }
            if course.name.is_empty() {
                browser::keep(FILE, None);
            }
        }
        self.set_stage();
        self.learn.aside = None;
    }

    /// Puts a lesson on the stage.
    fn begin_lesson(&mut self, course: Course, tree: HistoryTree) {
        self.leave_lesson();
        course.keep(&tree);
        self.learn.problem = None;
        self.learn.course = Some(Rc::new(course));
        self.learn.aside = Some(Rc::new(tree));
        self.set_stage();
    }

    fn open_lesson(&mut self, name: String, source: &str) -> Result<(), LessonError> {
        let lesson = Arc::new(Lesson::parse(source)?);
        let pending = self.learn.pending.take();
        let linked = pending.filter(|(learning, _)| learning.name == name);
        let linked = linked.and_then(|(learning, tree)| {
            let lesson = Arc::clone(&lesson);
            let walk = Walkthrough::restore(lesson, learning.at, &learning.pages, &tree)?;
            Some((walk, HistoryTree::clone(&tree)))
        });
        if let Some((walk, tree)) = linked {
            self.begin_lesson(Course::new(name, source, walk), tree);
            return Ok(());
        }
        let key = match name.as_str() {
            "" => kept_as(&format!("file-{}", fingerprint(source))),
            name => kept_as(name),
        };
        self.open_kept_lesson(name, source, browser::remembered(&key))
    }

    /// Opens the lesson of a link, once its text is there.
    pub(super) fn open_linked_lesson(&mut self, learning: Learning, tree: HistoryTree) {
        let (name, text) = (learning.name.clone(), learning.text.clone());
        self.leave_lesson();
        self.learn.pending = Some((learning, Rc::new(tree)));
        match text {
            Some(text) => self.open_file(&text),
            None => browser::go(&address(&name)),
        }
    }

    fn open_file(&mut self, text: &str) {
        if let Err(error) = self.open_lesson(String::new(), text) {
            self.learn.problem = Some(format!("The lesson was not opened. {error}."));
        }
    }

    pub(super) fn learn(&mut self, msg: LearnMsg) {
        match msg {
            LearnMsg::Catalogue(Ok(text)) => match Catalogue::parse(&text) {
                Ok(catalogue) => {
                    self.learn.catalogue = Some(Rc::new(catalogue));
                    self.check_wanted();
                }
                Err(error) => self.learn.problem = Some(error.to_string()),
            },
            LearnMsg::Catalogue(Err(problem)) => self.learn.problem = Some(problem),
            LearnMsg::Text(name, text) => {
                if self.learn.wanted.as_ref() != Some(&name) {
                    return;
                }
                let opened = text.and_then(|text| {
                    let opened = self.open_lesson(name, &text);
                    opened.map_err(|error| error.to_string())
                });
                self.learn.problem = opened.err();
            }
            LearnMsg::File(text) => match checked(&text) {
                Ok(()) => self.open_file(&text),
                Err(problem) => self.learn.problem = Some(problem),
            },
            LearnMsg::Leave => {
                self.learn.wanted = None;
                self.leave_lesson();
            }
            LearnMsg::Teach => self.learn.teaching = !self.learn.teaching,
            LearnMsg::Search => self.begin_search(),
            LearnMsg::Restart => {
                if let Some(course) = &self.learn.course {
                    let lesson = Arc::clone(course.walk.lesson());
                    if let Ok((walk, tree)) = Walkthrough::open(lesson) {
                        let course = Course::new(course.name.clone(), &course.source, walk);
                        self.begin_lesson(course, tree);
                    }
                }
            }
            LearnMsg::Hint => {
                if let Some(course) = &mut self.learn.course {
                    let course = Rc::make_mut(course);
                    course.hint = !course.hint;
                }
            }
            msg => self.walk_lesson(&msg),
        }
    }

    fn walk_lesson(&mut self, msg: &LearnMsg) {
        let (true, Some(course)) = (self.learn.on_stage, &mut self.learn.course) else {
            return;
        };
        let course = Rc::make_mut(course);
        let tree = Rc::make_mut(&mut self.tree);
        let page = course.walk.at();
        let done = match *msg {
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
            LearnMsg::Solve => {
                if let Some(Task::Challenge(challenge)) = &course.walk.step().task {
                    let world = tree.world_mut();
                    for (actor, write) in &challenge.solution {
                        world.actor_mut(*actor).set_write(write.clone());
                    }
                }
                course.walk.solve(tree)
            }
            _ => {
                course.walk.resume(tree);
                Ok(())
            }
        };
        if course.walk.at() != page {
            course.hint = false;
            course.finding = None;
            course.search = None;
        }
        self.learn.problem = done.err().map(|error| error.to_string());
        self.editing = None;
        self.playing = false;
        self.write_raw_again();
        self.show_actor();
    }

    /// Looks whether the task is done, and keeps how far one is.
    pub(super) fn note_lesson(&mut self, before: &Rc<HistoryTree>) {
        if !self.learn.on_stage || Rc::ptr_eq(before, &self.tree) {
            return;
        }
        if let Some(course) = &mut self.learn.course {
            let course = Rc::make_mut(course);
            course.walk.look(&self.tree);
            course.keep(&self.tree);
            if let (Some(Task::Challenge(challenge)), Some(search)) =
                (&course.walk.step().task, &course.search)
                && !challenge.is_searched_by(&search.borrow(), &self.tree)
            {
                course.search = None;
            }
        }
    }

    fn begin_search(&mut self) {
        let (true, Some(course)) = (self.learn.on_stage, &mut self.learn.course) else {
            return;
        };
        let course = Rc::make_mut(course);
        let Some(Task::Challenge(challenge)) = &course.walk.step().task else {
            return;
        };
        // It is about the object as it was when the challenge was set.
        let mut tree = HistoryTree::clone(&self.tree);
        let actors = self.tree.world();
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

    /// Goes on with the search for a little while.
    pub(super) fn search(&mut self) {
        let Some(course) = &mut self.learn.course else {
            return;
        };
        let course = Rc::make_mut(course);
        let Some(search) = course.search.take() else {
            return;
        };
        let begin = js_sys::Date::now();
        let status = loop {
            let status = search.borrow_mut().advance(8);
            if status != SearchStatus::Running || js_sys::Date::now() - begin > SLICE {
                break status;
            }
        };
        if status == SearchStatus::Running {
            course.search = Some(search);
            return;
        }
        if let Some(Task::Challenge(challenge)) = &course.walk.step().task {
            let finding = challenge.judge(&search.borrow());
            if finding.is_met() {
                course.walk.meet();
                course.keep(&self.tree);
            }
            course.finding = Some(finding);
        }
    }
}

fn unknown(lesson: &str) -> String {
    format!("There is no lesson “{lesson}”. These are the lessons.")
}

/// Holds a lesson of one's own to everything that it says, as `cargo xtask lesson` does.
#[inline(never)] // not on the first screen
fn checked(text: &str) -> Result<(), String> {
    let lesson = Lesson::parse(text).map_err(|error| vec![error]);
    lesson
        .and_then(|lesson| Arc::new(lesson).check())
        .map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            format!("The lesson was not opened. {}.", errors.join(". "))
        })
}
