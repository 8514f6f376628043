//! A learner's progress through a lesson: the open page, the predictions, and the node of the
//! script in the history tree. Actions of the learner apart from the script are branches of the
//! tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::condition::{PartLabel, Past};
use super::feedback::Feedback;
use super::fields::LessonError;
use super::model::{GoalPart, Lesson, LessonStep, Task};
use super::script::perform;
use optimist_simulation::{HistoryTree, NodeId, World};

/// A node of the tree, with the world of the script at this node. Edits that the learner types
/// there are not part of the script.
#[derive(Clone, Debug)]
struct ScriptNode {
    node: NodeId,
    world: World,
}

/// A page that was opened.
#[derive(Clone, Debug)]
struct OpenedPage {
    begin: ScriptNode,
    /// The node after its actions; `None` before they happened.
    end: Option<ScriptNode>,
    /// The choice that was predicted.
    chosen: Option<usize>,
    /// The choice that is right.
    right: Option<usize>,
    /// `true` if its task is done.
    solved: bool,
}

/// A learner's progress through a lesson.
#[derive(Clone, Debug)]
pub struct Walkthrough {
    lesson: Arc<Lesson>,
    /// The page that is open.
    at: usize,
    /// The pages up to the last one that was opened.
    pages: Vec<OpenedPage>,
}

/// The state of a page without its worlds, to save or share it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRecord {
    /// The node at its start.
    pub begin: NodeId,
    /// The node after its actions, if they happened.
    pub end: Option<NodeId>,
    /// The choice that was predicted.
    pub chosen: Option<usize>,
    /// `true` if its task is done.
    pub solved: bool,
}

fn mark(tree: &HistoryTree) -> ScriptNode {
    ScriptNode {
        node: tree.current(),
        world: tree.world().clone(),
    }
}

impl Walkthrough {
    /// Opens a lesson on its first page, in a new history tree.
    ///
    /// # Errors
    /// If its objects cannot be loaded, or the actions of the first page are not possible.
    pub fn open(lesson: Arc<Lesson>) -> Result<(Self, HistoryTree), LessonError> {
        let mut tree = HistoryTree::new(lesson.world()?);
        let mut walk = Self {
            lesson,
            at: 0,
            pages: Vec::new(),
        };
        walk.enter(&mut tree)?;
        Ok((walk, tree))
    }

    /// The lesson.
    pub fn lesson(&self) -> &Arc<Lesson> {
        &self.lesson
    }

    /// The number of the page that is open, from 0.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The number of pages that were opened so far.
    pub fn opened(&self) -> usize {
        self.pages.len()
    }

    /// The page that is open.
    pub fn step(&self) -> &LessonStep {
        // `at` is the index of an opened page, and every opened page has a step.
        &self.lesson.steps[self.at]
    }

    fn page(&self) -> &OpenedPage {
        &self.pages[self.at]
    }

    fn page_mut(&mut self) -> &mut OpenedPage {
        &mut self.pages[self.at]
    }

    /// Returns whether the actions of this page have happened.
    pub fn happened(&self) -> bool {
        self.page().end.is_some()
    }

    /// The choice that was predicted on this page.
    pub fn chosen(&self) -> Option<usize> {
        self.page().chosen
    }

    /// The right choice of this page, after its actions.
    pub fn right(&self) -> Option<usize> {
        self.page().right
    }

    /// The number of opened pages whose prediction was right, and the number of pages that ask.
    pub fn right_answers(&self) -> (usize, usize) {
        let right = |page: &&OpenedPage| page.chosen.is_some() && page.chosen == page.right;
        let asks = |step: &&LessonStep| step.prediction.is_some();
        let asked = self.lesson.steps.iter().filter(asks).count();
        (self.pages.iter().filter(right).count(), asked)
    }

    /// Returns whether the task of this page is done.
    pub fn solved(&self) -> bool {
        self.page().solved
    }

    /// Returns whether the last page is done.
    pub fn finished(&self) -> bool {
        self.pages.len() == self.lesson.steps.len()
            && self
                .pages
                .last()
                .is_some_and(|page| page.end.is_some() && page.solved)
    }

    /// Opens the next page at the node of the script. The actions of a page without a prediction
    /// happen immediately.
    fn enter(&mut self, tree: &mut HistoryTree) -> Result<(), LessonError> {
        let at = self.pages.len();
        let Some(step) = self.lesson.steps.get(at) else {
            return Ok(());
        };
        let (asks, solved) = (step.prediction.is_some(), step.task.is_none());
        self.pages.push(OpenedPage {
            begin: mark(tree),
            end: None,
            chosen: None,
            right: None,
            solved,
        });
        self.at = at;
        if !asks {
            self.happen(tree)?;
        }
        Ok(())
    }

    /// Performs this page's actions at the node where the page began.
    fn happen(&mut self, tree: &mut HistoryTree) -> Result<(), LessonError> {
        if self.happened() {
            return Ok(());
        }
        let begin = self.page().begin.clone();
        restore(&begin, tree);
        let lesson = Arc::clone(&self.lesson);
        let step = &lesson.steps[self.at];
        perform(&step.actions, tree)?;
        let right = right_choice(step, tree, begin.node);
        let page = self.page_mut();
        page.end = Some(mark(tree));
        page.right = right;
        Ok(())
    }

    /// Records a prediction and performs the actions.
    ///
    /// # Errors
    /// If an action is not possible. [`check_lesson`](super::check_lesson) reports such actions.
    pub fn predict(&mut self, choice: usize, tree: &mut HistoryTree) -> Result<(), LessonError> {
        if !self.happened() {
            self.page_mut().chosen = Some(choice);
        }
        self.happen(tree)
    }

    /// Performs the actions without a prediction.
    ///
    /// # Errors
    /// If an action is not possible. [`check_lesson`](super::check_lesson) reports such actions.
    pub fn reveal(&mut self, tree: &mut HistoryTree) -> Result<(), LessonError> {
        self.happen(tree)
    }

    /// Goes forward: performs the actions of this page if they have not happened, otherwise opens
    /// the next page. `false` on the last page.
    ///
    /// # Errors
    /// If an action is not possible. [`check_lesson`](super::check_lesson) reports such actions.
    pub fn forward(&mut self, tree: &mut HistoryTree) -> Result<bool, LessonError> {
        if !self.happened() {
            self.happen(tree)?;
            return Ok(true);
        }
        if self.at + 1 < self.pages.len() {
            self.turn_to(self.at + 1, tree);
            return Ok(true);
        }
        if self.pages.len() == self.lesson.steps.len() {
            return Ok(false);
        }
        self.resume(tree);
        self.enter(tree)?;
        Ok(true)
    }

    /// Goes back a page; `false` on the first one.
    pub fn back(&mut self, tree: &mut HistoryTree) -> bool {
        self.at > 0 && self.turn_to(self.at - 1, tree)
    }

    /// Opens a page that was open before; `false` if it was not.
    pub fn turn_to(&mut self, page: usize, tree: &mut HistoryTree) -> bool {
        if page >= self.pages.len() {
            return false;
        }
        self.at = page;
        self.resume(tree);
        true
    }

    fn stands(&self) -> &ScriptNode {
        let page = self.page();
        page.end.as_ref().unwrap_or(&page.begin)
    }

    /// The node of the script.
    pub fn node(&self) -> NodeId {
        self.stands().node
    }

    /// The node at which the last page began that asks something, up to the open page; the start of the
    /// history before the first question. What happened before it was told on earlier pages.
    pub fn asked_from(&self) -> NodeId {
        let pages = self.pages.iter().zip(&self.lesson.steps);
        let opened: Vec<_> = pages.take(self.at + 1).collect();
        let asks = |step: &LessonStep| step.prediction.is_some() || step.task.is_some();
        let asked = opened.iter().rev().find(|(_, step)| asks(step));
        asked.map_or(0, |(page, _)| page.begin.node)
    }

    /// The last steps of the learner's tries at the task of this page, without the try that is the current
    /// path. The pages after this one are no tries.
    pub fn earlier_tries(&self, tree: &HistoryTree) -> Vec<NodeId> {
        let begin = self.node();
        if self.step().task.is_none() || !self.happened() {
            return Vec::new();
        }
        let later = self.pages.iter().skip(self.at + 1);
        let script: BTreeSet<NodeId> = later
            .flat_map(|page| [Some(&page.begin), page.end.as_ref()])
            .flatten()
            .flat_map(|mark| way_to(mark.node, tree))
            .collect();
        let tried = way_to(tree.current(), tree).contains(&begin) && tree.current() != begin;
        let path = if tried { tree.current_path() } else { &[] };
        let (mut tries, mut open) = (Vec::new(), vec![begin]);
        while let Some(node) = open.pop() {
            let branches = tree.branches(node);
            let is_end = branches.is_empty() && node != begin;
            if is_end && !path.contains(&node) {
                tries.push(node);
            }
            open.extend(branches.iter().filter(|branch| !script.contains(branch)));
        }
        tries.sort_unstable();
        tries
    }

    /// Returns the number of steps from the start to the node where the learner's tries at the task of
    /// this page begin; `None` if the page has no task, or the current path does not go through that node.
    pub fn tried_after(&self, tree: &HistoryTree) -> Option<usize> {
        let begin = self.step().task.as_ref().map(|_| self.node())?;
        let path = tree.current_path();
        path.iter().position(|node| *node == begin)
    }

    /// Returns whether the learner has left the script: the current node of the tree is not its
    /// node.
    pub fn has_left_script(&self, tree: &HistoryTree) -> bool {
        tree.current() != self.node()
    }

    /// Goes back to the node of the script and restores its world.
    pub fn resume(&self, tree: &mut HistoryTree) {
        restore(self.stands(), tree);
    }

    /// Goes back to the node where this page began and restores its world: its actions have not happened there.
    pub fn rewind(&self, tree: &mut HistoryTree) {
        restore(&self.page().begin, tree);
    }

    /// The parts of this page's goal, and whether each holds here; empty if the page has no goal.
    pub fn goal(&self, tree: &HistoryTree) -> Vec<(PartLabel, bool)> {
        let Some(Task::Goal(goal)) = &self.step().task else {
            return Vec::new();
        };
        let past = Past::since(tree, self.node());
        let aims = goal.when.iter().map(|aim| {
            let holds = past.is_some_and(|past| past.fulfils(&aim.conditions));
            (aim.label.clone(), holds)
        });
        aims.collect()
    }

    /// Returns the parts of this page's goal that are false and stay false, whatever the learner
    /// does next.
    pub fn out_of_reach(&self, tree: &HistoryTree) -> Vec<PartLabel> {
        let (Some(Task::Goal(goal)), Some(past)) =
            (&self.step().task, Past::since(tree, self.node()))
        else {
            return Vec::new();
        };
        let ruled_out = |part: &&GoalPart| part.conditions.iter().any(|it| past.rules_out(it));
        let parts = goal.when.iter().filter(ruled_out);
        parts.map(|part| part.label.clone()).collect()
    }

    /// Returns why the learner's try does not reach the goal of this page: the first feedback of the
    /// page whose conditions hold. `None` before the first request, and where the goal is reached.
    pub fn feedback(&self, tree: &HistoryTree) -> Option<&Feedback> {
        let Some(Task::Goal(goal)) = &self.step().task else {
            return None;
        };
        let past = Past::since(tree, self.node())?;
        let reached = goal.when.iter().all(|part| past.fulfils(&part.conditions));
        if reached || past.is_without_requests() {
            return None;
        }
        let mut feedback = goal.feedback.iter();
        feedback.find(|feedback| past.fulfils(&feedback.when))
    }

    /// Returns the closing texts of this page's goal that are true of the try that is the current path.
    pub fn closing_text(&self, tree: &HistoryTree) -> String {
        match &self.step().task {
            Some(Task::Goal(goal)) => goal.closing_text(Past::since(tree, self.node())),
            _ => String::new(),
        }
    }

    /// Records whether the goal of this page is reached here. A reached goal stays reached.
    pub fn look(&mut self, tree: &HistoryTree) {
        let goal = self.goal(tree);
        if !goal.is_empty() && goal.iter().all(|(_, holds)| *holds) {
            self.page_mut().solved = true;
        }
    }

    /// Records that the challenge of this page is met.
    pub fn meet(&mut self) {
        self.page_mut().solved = true;
    }

    /// Performs the goal's solution in a new branch.
    ///
    /// # Errors
    /// If an action is not possible. [`check_lesson`](super::check_lesson) reports such actions.
    pub fn solve(&mut self, tree: &mut HistoryTree) -> Result<(), LessonError> {
        let lesson = Arc::clone(&self.lesson);
        if let Some(Task::Goal(goal)) = &lesson.steps[self.at].task {
            self.resume(tree);
            perform(&goal.solution, tree)?;
            self.look(tree);
        }
        Ok(())
    }

    /// The state of the pages, to save or share it with the tree.
    pub fn records(&self) -> Vec<PageRecord> {
        let records = self.pages.iter().map(|page| PageRecord {
            begin: page.begin.node,
            end: page.end.as_ref().map(|mark| mark.node),
            chosen: page.chosen,
            solved: page.solved,
        });
        records.collect()
    }

    /// Restores the progress from its records and its tree. The script runs again in another tree
    /// to restore its worlds. `None` if the records do not fit this lesson.
    pub fn restore(
        lesson: Arc<Lesson>,
        at: usize,
        records: &[PageRecord],
        tree: &HistoryTree,
    ) -> Option<Self> {
        let mut script = HistoryTree::new(lesson.world_as_in(tree).ok()?);
        let mut pages = Vec::with_capacity(records.len());
        for (step, record) in lesson.steps.iter().zip(records) {
            let known = |node: NodeId| node == 0 || tree.step(node).is_some();
            if !known(record.begin) || !record.end.is_none_or(known) {
                return None;
            }
            let begin = mark(&script);
            let end = if record.end.is_some() {
                perform(&step.actions, &mut script).ok()?;
                Some(mark(&script))
            } else {
                None
            };
            pages.push(OpenedPage {
                right: end
                    .as_ref()
                    .and_then(|_| right_choice(step, &script, begin.node)),
                begin: ScriptNode {
                    node: record.begin,
                    ..begin
                },
                end: end
                    .zip(record.end)
                    .map(|(end, node)| ScriptNode { node, ..end }),
                chosen: record.chosen,
                solved: record.solved || step.task.is_none(),
            });
        }
        let whole = pages.len() == records.len() && at < pages.len();
        whole.then_some(Self { lesson, at, pages })
    }
}

/// A node and all nodes before it.
fn way_to(node: NodeId, tree: &HistoryTree) -> Vec<NodeId> {
    std::iter::successors(Some(node), |node| tree.parent(*node)).collect()
}

fn restore(mark: &ScriptNode, tree: &mut HistoryTree) {
    if tree.go(mark.node) {
        *tree.world_mut() = mark.world.clone();
    }
}

/// The choice that is right since a node.
fn right_choice(step: &LessonStep, tree: &HistoryTree, since: NodeId) -> Option<usize> {
    let past = Past::since(tree, since)?;
    let choices = &step.prediction.as_ref()?.choices;
    choices
        .iter()
        .position(|choice| past.fulfils(&choice.when.conditions))
}
