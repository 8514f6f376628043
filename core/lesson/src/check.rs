//! Runs a lesson and checks every claim in it.

use std::fmt::{self, Write};
use std::sync::Arc;

use super::condition::{Condition, PartLabel, Past};
use super::evidence;
use super::fields::LessonError;
use super::model::{Challenge, Claim, Lesson, LessonStep, Task, TaskGoal};
use super::switches;
use super::walkthrough::Walkthrough;
use optimist_simulation::{HistoryTree, NodeId, Step};

/// The result of a lesson's run: the steps, and the false claims.
#[derive(Clone, Debug, Default)]
pub struct LessonCheck {
    /// Every page, request, answer and prediction, as text for people.
    pub transcript: String,
    /// The errors, in the order in which they were found.
    pub problems: Vec<LessonError>,
}

impl LessonCheck {
    pub(super) fn problem(&mut self, line: usize, message: impl fmt::Display) {
        self.problems
            .push(LessonError::new(line, message.to_string()));
    }

    pub(super) fn tell(&mut self, line: impl fmt::Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.transcript, "{line}");
    }

    pub(super) fn steps(&mut self, tree: &HistoryTree, since: NodeId) {
        let line = tree.current_path();
        let begin = line.iter().position(|node| *node == since).unwrap_or(0);
        for node in line.iter().take(tree.position() + 1).skip(begin + 1) {
            if let Some(step) = tree.step(*node) {
                self.tell(step_line(tree, step));
            }
        }
    }
}

/// Formats a step for the transcript: its actor, its action and the status of the answer.
fn step_line(tree: &HistoryTree, step: &Step) -> String {
    let who = step
        .actor()
        .map_or("", |actor| tree.world().actor(actor).name.as_ref());
    let (what, answer) = (step.headline().to_string(), step.status_line());
    format!("     {who:<12} {what:<44} {answer}")
}

/// Runs a lesson. Every claim must hold, and exactly one choice of every prediction must be true. The
/// solution must reach every goal, and the goal must not be reached before. The solution must meet
/// every challenge, and the write methods at first must not.
pub fn check_lesson(lesson: &Arc<Lesson>) -> LessonCheck {
    let mut check = LessonCheck::default();
    check.tell(&lesson.title);
    let (mut walk, mut tree) = match Walkthrough::open(Arc::clone(lesson)) {
        Ok(opened) => opened,
        Err(error) => {
            check.problems.push(error);
            return check;
        }
    };
    for (number, step) in lesson.steps.iter().enumerate() {
        if number > 0 {
            match walk.forward(&mut tree) {
                Ok(_) if walk.at() == number => {}
                Ok(_) => return check,
                Err(error) => {
                    check.problems.push(error);
                    return check;
                }
            }
        }
        check.tell(format_args!("\n{:>3}. {}", number + 1, step.title));
        let begin = walk.records().last().map_or(0, |record| record.begin);
        if let Err(error) = walk.reveal(&mut tree) {
            check.problems.push(error);
            return check;
        }
        check.steps(&tree, begin);
        page(&mut check, step, &walk, &tree, begin);
    }
    check
}

impl Lesson {
    /// Checks every claim of the lesson. [`check_lesson`] does the same and also returns a transcript.
    ///
    /// # Errors
    /// Every claim that is false and every action that cannot happen, each with its line.
    pub fn check(self: &Arc<Self>) -> Result<(), Vec<LessonError>> {
        let problems = check_lesson(self).problems;
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }
}

fn page(
    check: &mut LessonCheck,
    step: &LessonStep,
    walk: &Walkthrough,
    tree: &HistoryTree,
    begin: NodeId,
) {
    for claim in &step.claims {
        hold(check, claim, tree, begin);
    }
    if let (Some(prediction), Some(past)) = (&step.prediction, Past::since(tree, begin)) {
        check.tell(format_args!("     ? {}", prediction.question));
        let mut right = 0;
        for choice in &prediction.choices {
            let holds = past.fulfils(&choice.when.conditions);
            right += usize::from(holds);
            let sign = if holds { "✓" } else { "·" };
            check.tell(format_args!("       {sign} {}", choice.text));
        }
        if right != 1 {
            let message = format!("exactly one choice must be true, but {right} are true");
            check.problem(prediction.choices[0].when.line, message);
        }
    }
    evidence::facts(check, step, walk.lesson(), tree);
    match &step.task {
        None => {}
        Some(Task::Goal(goal)) => self::goal(check, goal, walk, tree),
        Some(Task::Challenge(challenge)) => self::challenge(check, challenge, tree),
        Some(Task::Switches(challenge)) => switches::check(check, challenge, walk.lesson()),
    }
}

fn challenge(check: &mut LessonCheck, challenge: &Challenge, tree: &HistoryTree) {
    check.tell(format_args!("     ! {}", challenge.ask));
    let mut tree = tree.clone();
    for (when, solved) in [("at first", false), ("solved", true)] {
        if solved {
            for (actor, write) in &challenge.solution {
                tree.world_mut().actor_mut(*actor).set_write(write.clone());
            }
        }
        let Some(mut search) = challenge.search(&tree) else {
            check.problem(challenge.line, "there is no object to write");
            return;
        };
        search.run();
        let finding = challenge.judge(&search);
        check.tell(format_args!("       {when}: {finding}"));
        let claimed = if solved {
            &challenge.found
        } else {
            &challenge.found_at_first
        };
        if !finding.is(claimed) {
            let message = format!("{when} the search finds another result: {finding}");
            check.problem(challenge.line, message);
        }
        if solved && !finding.is_met() {
            let message = format!("the solution does not meet the challenge: {finding}");
            check.problem(challenge.line, message);
        }
        if !solved && finding.is_met() {
            let message = "the challenge is met before the first choice";
            check.problem(challenge.line, message);
        }
    }
    evidence::choices(check, challenge, &tree);
}

pub(super) fn hold(check: &mut LessonCheck, claim: &Claim, tree: &HistoryTree, begin: NodeId) {
    let Some(past) = Past::since(tree, begin) else {
        return;
    };
    for condition in &claim.conditions {
        if !past.holds(condition) {
            let found = actual_value(condition, past);
            check.problem(
                claim.line,
                format_args!("this is false: {condition}{found}"),
            );
        }
    }
}

/// Formats the actual value behind a false claim, if one word can say it.
fn actual_value(condition: &Condition, past: Past<'_>) -> String {
    past.actual_value(condition)
        .map_or(String::new(), |found| format!(" (it is {found})"))
}

fn goal(check: &mut LessonCheck, goal: &TaskGoal, walk: &Walkthrough, tree: &HistoryTree) {
    check.tell(format_args!("     ! {}", goal.ask));
    evidence::ways_and_mistakes(check, goal, walk, tree);
    denials(check, goal, tree);
    let (mut walk, mut tree) = (walk.clone(), tree.clone());
    if walk.goal(&tree).iter().all(|(_, holds)| *holds) {
        let message = "the goal is reached before the first action";
        check.problem(goal.line, message);
    }
    let begin = walk.node();
    if let Err(error) = walk.solve(&mut tree) {
        check.problems.push(error);
        return;
    }
    check.steps(&tree, begin);
    for (condition, holds) in walk.goal(&tree) {
        let sign = if holds { "✓" } else { "✗" };
        check.tell(format_args!("       {sign} {condition}"));
        if !holds {
            let message = format!("the solution does not reach the goal: {condition}");
            check.problem(goal.line, message);
        }
    }
}

/// A label must not say that there is none of something that the learner sees in the history before.
fn denials(check: &mut LessonCheck, goal: &TaskGoal, tree: &HistoryTree) {
    let Some(past) = Past::since(tree, 0) else {
        return;
    };
    for part in &goal.when {
        let denies = part.conditions.iter().any(|it| it.denies(past));
        if denies && matches!(part.label, PartLabel::Conditions(_)) {
            let message = format!(
                "“{}” stands beside an earlier step that says otherwise: give it words of its own, \
                 such as “say: no further …”",
                part.label
            );
            check.problem(goal.line, message);
        }
    }
}
