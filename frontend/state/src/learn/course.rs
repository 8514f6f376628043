//! A lesson that is being taken, and how it is kept.

use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use optimist_controller::program::Switch;
use optimist_lesson::{Finding, LessonError, SwitchChallenge, SwitchFinding, Task, Walkthrough};
use optimist_links::{Learning, Session};
use optimist_sessions::StorageArea;
use optimist_simulation::HistoryTree;
use optimist_simulation::explore::Search;
use serde_json::Value;

use super::progress::LessonProgress;
use crate::address::Page;
use crate::effect::Effects;
use crate::jobs::JobId;
use crate::persistence::fnv_1a;

/// A lesson that is being taken.
#[derive(Clone, Debug)]
pub struct Course {
    /// Its name in the catalogue; empty for one from a file.
    pub name: String,
    /// Its text.
    pub(super) source: Rc<str>,
    /// Its pages, with the reader's work on each.
    pub walk: Walkthrough,
    /// The choice in the first question of the lesson, counted from 0; `None` before the learner chooses.
    pub first_choice: Option<usize>,
    /// The number of hints that are displayed.
    pub hints: usize,
    /// `true` if the teacher's view hides the answer of the page: what happened on it, or the way to do its task.
    pub hidden: bool,
    /// `true` if the timeline also shows the steps before the last question.
    pub earlier: bool,
    /// `true` if the timeline lists the earlier tries at the task.
    pub tries: bool,
    /// The result of the search of a challenge.
    pub finding: Option<Finding>,
    /// The search that goes on, as a job and as it began.
    pub search: Option<(JobId, Rc<Search>)>,
    /// The choice of switches in a challenge about a controller.
    pub switches: SwitchChoice,
}

/// A choice of switches, and the result of the search of every history with them.
#[derive(Clone, Debug, Default)]
pub struct SwitchChoice {
    /// The switches that are on; `None` before the first choice.
    pub chosen: Option<BTreeSet<Switch>>,
    /// The result, and the shortest history that violates a property, at its last step.
    pub found: Option<Rc<(SwitchFinding, Option<HistoryTree>)>>,
    /// The search that goes on.
    pub search: Option<JobId>,
}

/// The key of the lesson from a file that the tab has open.
pub(super) const FILE: &str = "optimist.lesson-file";

/// The key under which a lesson is kept: by its name, or for one from a file by its text.
pub(super) fn key(name: &str, source: &str) -> String {
    match name {
        "" => format!("optimist.lesson.file-{}", fingerprint(source)),
        name => format!("optimist.lesson.{name}"),
    }
}

/// Returns a hash that differs between texts of lessons, and is the same in every build of this program.
pub(super) fn fingerprint(source: &str) -> String {
    format!("{:016x}", fnv_1a(source))
}

/// Returns the hash that builds before this one stored, if the compiler still computes the same.
pub(super) fn earlier_fingerprint(source: &str) -> Value {
    let mut hasher = DefaultHasher::new();
    source.hash(&mut hasher);
    hasher.finish().into()
}

impl SwitchChoice {
    /// The switches that are on, in a challenge.
    pub fn chosen<'a>(&'a self, challenge: &'a SwitchChallenge) -> &'a BTreeSet<Switch> {
        self.chosen.as_ref().unwrap_or(&challenge.at_first)
    }
}

impl Course {
    pub(super) fn new(name: String, source: &str, walk: Walkthrough) -> Self {
        Self {
            name,
            source: source.into(),
            walk,
            first_choice: None,
            hints: 0,
            hidden: false,
            earlier: false,
            tries: false,
            finding: None,
            search: None,
            switches: SwitchChoice::default(),
        }
    }

    /// Returns whether the page asks something that was not answered.
    pub fn is_asking(&self) -> bool {
        self.walk.step().prediction.is_some() && !self.walk.happened()
    }

    /// Returns whether the page has an answer that can be hidden: what happened after its question, or the way to do its
    /// task.
    pub(super) fn has_answer(&self) -> bool {
        let step = self.walk.step();
        match step.task {
            Some(_) => self.walk.solved(),
            None => step.prediction.is_some() && self.walk.happened(),
        }
    }

    /// Hides the answer of the page. The stage shows the state before it.
    pub(super) fn hide_answer(&mut self, tree: &mut HistoryTree) {
        self.hidden = true;
        self.hints = 0;
        if self.walk.step().task.is_none() {
            self.walk.rewind(tree);
            return;
        }
        self.walk.resume(tree);
        tree.end_path();
        self.finding = None;
        self.switches = SwitchChoice::default();
    }

    /// Shows the hidden answer of a question again.
    pub(super) fn show_answer(&mut self, tree: &mut HistoryTree) {
        self.hidden = false;
        self.walk.resume(tree);
    }

    /// Shows a way to do the task of the page: takes it, or chooses it in the cards.
    pub(super) fn show_way(&mut self, tree: &mut HistoryTree) -> Result<(), LessonError> {
        self.hidden = false;
        match &self.walk.step().task {
            Some(Task::Challenge(challenge)) => {
                for (actor, write) in &challenge.solution {
                    let actor = tree.world_mut().actor_mut(*actor);
                    actor.set_write(write.clone());
                }
            }
            Some(Task::Switches(challenge)) => {
                self.switches = SwitchChoice {
                    chosen: Some(challenge.solution.clone()),
                    ..SwitchChoice::default()
                };
            }
            Some(Task::Goal(_)) | None => {}
        }
        self.walk.solve(tree)
    }

    /// Forgets what belongs to the page that was open before.
    pub(super) fn forget_page(&mut self) {
        self.hints = 0;
        self.hidden = false;
        self.tries = false;
        self.finding = None;
        self.search = None;
        self.switches = SwitchChoice::default();
    }

    /// The way through it, for a link; a lesson from a file goes along.
    pub(super) fn learning(&self) -> Learning {
        Learning {
            name: self.name.clone(),
            text: self.name.is_empty().then(|| self.source.to_string()),
            at: self.walk.at(),
            pages: self.walk.records(),
        }
    }

    pub(super) fn keep(&self, tree: &HistoryTree, fx: &mut Effects<'_>) {
        let mut session = Session::of_lesson(tree, self.learning());
        Page::Learn.slug().clone_into(&mut session.page);
        session.extra = fingerprint(&self.source).into();
        let text = session.to_text();
        let key = key(&self.name, &self.source);
        if self.name.is_empty() {
            fx.write(StorageArea::Browser, &key, Some(text.clone()));
            // For a browser that keeps nothing for later, but for a tab.
            fx.write(StorageArea::Tab, FILE, Some(text));
            return;
        }
        fx.write(StorageArea::Browser, &key, Some(text));
        let progress = LessonProgress {
            opened: self.walk.opened(),
            finished: self.walk.finished(),
        };
        progress.write(&self.name, fx);
    }
}
