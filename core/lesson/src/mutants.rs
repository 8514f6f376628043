//! Tries each task with every write method that its solution does not use. A way that reaches the
//! task must be right: it is one of the task's other ways, or `also right` names it with the
//! reason.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::closing::WriteFilter;
use super::fields::{KnownKeys, LessonError, LessonResult};
use super::model::{Challenge, Lesson, Task, TaskGoal};
use super::script::{ScriptAction, ScriptActionKind};
use super::switches::SwitchChallenge;
use super::variation::{
    OtherWrite, Variation, by_the_other_editor, other_writes, sending, sent, writes,
};
use super::walkthrough::Walkthrough;
use optimist_apiserver::yaml::Located;
use optimist_client::Write;
use optimist_controller::program::Switch;
use optimist_simulation::{ActorId, HistoryTree};

/// Ways of writing that are right as well, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct AlsoRight {
    /// Its line, counted from 1.
    pub line: usize,
    /// The ways of writing.
    pub ways: WriteFilter,
    /// The variations. A reason without them is no reason for a way that has one.
    pub with: Vec<Variation>,
    /// The reason why they are right.
    pub because: String,
}

/// The result of trying the tasks of a lesson with other ways of writing.
#[derive(Clone, Debug, Default)]
pub struct MutantReport {
    /// The number of other ways that were tried.
    pub tried: usize,
    /// The number of them that reached a task.
    pub accepted: usize,
    /// The number of them that did not reach a goal.
    pub refused: usize,
    /// The number of the refused ones after which the page says why.
    pub explained: usize,
    /// Those that reached a task and should not, and reasons that are not needed.
    pub problems: Vec<LessonError>,
}

impl AlsoRight {
    /// Reads a list of them.
    pub(super) fn read_all(fields: &KnownKeys<'_>) -> LessonResult<Vec<Self>> {
        let all = fields.items("also right")?.iter().map(Self::read);
        all.collect()
    }

    /// Reads an item of the list.
    pub(super) fn read(located: &Located) -> LessonResult<Self> {
        let known = [&WriteFilter::KEYS[..], &["with", "because"]].concat();
        let fields = KnownKeys::read(located, "a way that is also right", &known)?;
        Ok(Self {
            line: located.line,
            ways: WriteFilter::read(&fields)?,
            with: Variation::read_all(&fields)?,
            because: fields.needed_text("because")?,
        })
    }

    fn says(&self, other: &OtherWrite) -> bool {
        let varied = match other.variation {
            // To send the same body again is one of the retries.
            None | Some(Variation::Resend) => self.with.is_empty(),
            Some(variation) => self.with.contains(&variation),
        };
        varied && self.ways.has(&other.write)
    }
}

/// Tries every task of a lesson.
///
/// # Errors
/// If the script of the lesson cannot be performed.
pub fn try_mutants(lesson: &Arc<Lesson>) -> LessonResult<MutantReport> {
    let mut report = MutantReport::default();
    let (mut walk, mut tree) = Walkthrough::open(Arc::clone(lesson))?;
    loop {
        walk.reveal(&mut tree)?;
        match walk.step().task.clone() {
            None => {}
            Some(Task::Goal(goal)) => report.goal(&goal, &walk, &tree),
            Some(Task::Challenge(challenge)) => report.challenge(&challenge, &tree),
            Some(Task::Switches(challenge)) => report.switches(&challenge, lesson),
        }
        if !walk.forward(&mut tree)? {
            return Ok(report);
        }
    }
}

/// The actions without their lines.
fn actions(way: &[ScriptAction]) -> Vec<&ScriptActionKind> {
    way.iter().map(|action| &action.what).collect()
}

/// Another way to a goal.
struct Mutant {
    sent: OtherWrite,
    way: Vec<ScriptAction>,
}

/// The ways that send one request of a solution otherwise, or all of them, and the one of the other editor.
fn mutants(solution: &[ScriptAction]) -> Vec<Mutant> {
    let sends = (0..solution.len()).filter(|at| sent(&solution[*at]).is_some());
    let sends: Vec<usize> = sends.collect();
    let mut groups: Vec<Vec<usize>> = sends.iter().map(|at| vec![*at]).collect();
    if sends.len() > 1 {
        groups.push(sends);
    }
    let mut all = Vec::new();
    for group in groups {
        let Some(like) = group.first().and_then(|at| sent(&solution[*at])) else {
            continue;
        };
        all.extend(other_writes(like).into_iter().map(|sent| Mutant {
            way: sending(solution, &group, &sent),
            sent,
        }));
    }
    if let Some(like) = solution.iter().find_map(sent) {
        all.push(Mutant {
            sent: OtherWrite {
                write: like.clone(),
                variation: Some(Variation::OtherEditor),
            },
            way: by_the_other_editor(solution),
        });
    }
    all
}

/// The findings of the tries at a goal so far.
struct Tries {
    /// The lines of the reasons that were needed.
    used: BTreeSet<usize>,
    /// The lines of the feedback that was said.
    said: BTreeSet<usize>,
    /// For each part of the goal: `true` if it was missed.
    missed: Vec<bool>,
}

impl Tries {
    fn new(goal: &TaskGoal) -> Self {
        Self {
            used: BTreeSet::new(),
            said: BTreeSet::new(),
            missed: vec![false; goal.when.len()],
        }
    }

    /// Notes a try that did not reach the goal. Returns whether the page says why.
    fn refused(&mut self, walk: &Walkthrough, after: &HistoryTree) -> bool {
        for (missed, (_, holds)) in self.missed.iter_mut().zip(walk.goal(after)) {
            *missed |= !holds;
        }
        let feedback = walk.feedback(after);
        self.said.extend(feedback.map(|feedback| feedback.line));
        feedback.is_some()
    }

    fn report(&self, goal: &TaskGoal, problems: &mut Vec<LessonError>) {
        let parts = goal.when.iter().zip(&self.missed);
        for (part, _) in parts.filter(|(_, missed)| !**missed) {
            let message = format!("nothing that was tried misses this: {}", part.label);
            problems.push(LessonError::new(goal.line, message));
        }
        let silent = goal.feedback.iter();
        for feedback in silent.filter(|feedback| !self.said.contains(&feedback.line)) {
            let message = "this is said after nothing that was tried".to_owned();
            problems.push(LessonError::new(feedback.line, message));
        }
    }
}

/// Performs actions, and returns whether they reach the goal of a page, at their end or before, and
/// the tree after them.
fn attempt(walk: &Walkthrough, tree: &HistoryTree, way: &[ScriptAction]) -> (bool, HistoryTree) {
    let mut tree = tree.clone();
    let reached = way.iter().any(|action| {
        action.perform(&mut tree).is_ok() && walk.goal(&tree).iter().all(|(_, holds)| *holds)
    });
    (reached, tree)
}

impl MutantReport {
    /// Counts a mutant, and adds a problem if it reached the task and no reason says that this is right.
    fn record(&mut self, reached: bool, right: bool, line: usize, what: impl Fn() -> String) {
        self.tried += 1;
        self.accepted += usize::from(reached);
        if reached && !right {
            let message = format!(
                "this reaches the task, and nothing says that it is right: {}",
                what()
            );
            self.problems.push(LessonError::new(line, message));
        }
    }

    fn needless(&mut self, reasons: &[AlsoRight], used: &BTreeSet<usize>) {
        let unused = reasons.iter().filter(|reason| !used.contains(&reason.line));
        let problems = unused.map(|reason| {
            LessonError::new(
                reason.line,
                "nothing that was tried needs this reason".to_owned(),
            )
        });
        self.problems.extend(problems);
    }

    /// Sends the requests of the solution otherwise, lets the other editor act, leaves out an action, and
    /// makes the mistakes. Each part of the goal must be missed by one of these tries, and each feedback
    /// be said after one of them.
    fn goal(&mut self, goal: &TaskGoal, walk: &Walkthrough, tree: &HistoryTree) {
        let others = goal.other_ways.iter().map(|way| &way.actions);
        let ways: Vec<_> = std::iter::once(&goal.solution).chain(others).collect();
        let known: Vec<_> = ways.iter().map(|way| actions(way)).collect();
        let mut tries = Tries::new(goal);
        for mutant in mutants(&goal.solution) {
            if known.contains(&actions(&mutant.way)) {
                continue;
            }
            let (reached, after) = attempt(walk, tree, &mutant.way);
            let mut reasons = goal.also_right.iter();
            let reason = reasons.find(|reason| reason.says(&mutant.sent));
            let used = reason.filter(|_| reached).map(|reason| reason.line);
            tries.used.extend(used);
            if !reached {
                self.refused += 1;
                self.explained += usize::from(tries.refused(walk, &after));
            }
            self.record(reached, reason.is_some(), goal.line, || {
                mutant.sent.describe()
            });
        }
        for (at, action) in goal.solution.iter().enumerate() {
            let mut shorter = goal.solution.clone();
            shorter.remove(at);
            let (reached, after) = attempt(walk, tree, &shorter);
            if reached {
                let message = "the goal is reached without this action of the solution";
                self.problems.push(LessonError::new(action.line, message));
            } else {
                tries.refused(walk, &after);
            }
        }
        for mistake in &goal.mistakes {
            let (_, after) = attempt(walk, tree, &mistake.actions);
            tries.refused(walk, &after);
        }
        self.needless(&goal.also_right, &tries.used);
        tries.report(goal, &mut self.problems);
    }

    /// Each actor in turn, and all of them together, write otherwise.
    fn challenge(&mut self, challenge: &Challenge, tree: &HistoryTree) {
        let others = challenge.other_ways.iter().map(|way| &way.writes);
        let ways: Vec<_> = std::iter::once(&challenge.solution).chain(others).collect();
        let mut used = BTreeSet::new();
        let mut seen: Vec<Vec<(ActorId, Write)>> = ways.iter().map(|way| (*way).clone()).collect();
        for changed in (0..challenge.solution.len()).map(Some).chain([None]) {
            for write in writes(&Write::default()) {
                let other = OtherWrite {
                    write: write.clone(),
                    variation: None,
                };
                let mut chosen = challenge.solution.clone();
                let each = chosen.iter_mut().enumerate();
                each.filter(|(at, _)| changed.is_none_or(|changed| changed == *at))
                    .for_each(|(_, (_, way))| *way = write.clone());
                if seen.contains(&chosen) {
                    continue;
                }
                let reached = challenge.is_met_by(&chosen, tree);
                seen.push(chosen);
                let reason = challenge
                    .also_right
                    .iter()
                    .find(|reason| reason.says(&other));
                used.extend(reason.filter(|_| reached).map(|reason| reason.line));
                self.record(reached, reason.is_some(), challenge.line, || {
                    let who = changed.and_then(|at| challenge.solution.get(at));
                    let who = who.map_or("all", |(actor, _)| actor.letter());
                    format!("{who}: {}", other.describe())
                });
            }
        }
        self.needless(&challenge.also_right, &used);
    }

    /// No switch, each switch, each two switches, and the solution with a switch more or less.
    fn switches(&mut self, challenge: &SwitchChallenge, lesson: &Lesson) {
        let all = SwitchChallenge::program(lesson).map_or(&[][..], |ready| ready.name.switches());
        let mut choices: BTreeSet<BTreeSet<Switch>> = BTreeSet::new();
        choices.insert(BTreeSet::new());
        for one in all {
            choices.extend(all.iter().map(|other| BTreeSet::from([*one, *other])));
            let mut solution = challenge.solution.clone();
            if !solution.remove(one) {
                solution.insert(*one);
            }
            choices.insert(solution);
        }
        for chosen in choices {
            let is = |way: &BTreeSet<Switch>| *way == chosen;
            if is(&challenge.solution) || challenge.other_ways.iter().any(|way| is(&way.switches)) {
                continue;
            }
            let Some(mut search) = challenge.search(lesson, &chosen) else {
                continue;
            };
            search.run();
            let mut reasons = challenge.also_right.iter();
            let right = reasons.any(|reason| reason.switches.is_subset(&chosen));
            let reached = search.finding().is_met();
            self.record(reached, right, challenge.line, || format!("{chosen:?}"));
        }
    }
}
