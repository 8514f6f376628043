//! Runs a lesson and holds it to everything that it says.

use std::fmt::{self, Write};
use std::sync::Arc;

use super::condition::{Condition, Past};
use super::evidence;
use super::fields::LessonError;
use super::model::{Challenge, Claim, Goal, Lesson, LessonStep, Task};
use super::walkthrough::Walkthrough;
use optimist_simulation::{NodeId, RunTree, Step};

/// What a lesson does when it runs, and what of it is not true.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// Every page, request, answer and prediction, for people.
    pub transcript: String,
    /// What is wrong, in the order in which it was found.
    pub problems: Vec<LessonError>,
}

impl Proof {
    pub(super) fn problem(&mut self, line: usize, message: impl fmt::Display) {
        self.problems
            .push(LessonError::new(line, message.to_string()));
    }

    pub(super) fn tell(&mut self, line: impl fmt::Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.transcript, "{line}");
    }

    pub(super) fn steps(&mut self, tree: &RunTree, since: NodeId) {
        let line = tree.line();
        let begin = line.iter().position(|node| *node == since).unwrap_or(0);
        for node in line.iter().take(tree.position() + 1).skip(begin + 1) {
            if let Some(step) = tree.step(*node) {
                self.tell(told(tree, step));
            }
        }
    }
}

fn told(tree: &RunTree, step: &Step) -> String {
    let who = step
        .actor()
        .map_or("", |actor| tree.world().actor(actor).name.as_ref());
    let (what, answer) = (step.headline(), step.status_line());
    format!("     {who:<12} {what:<44} {answer}")
}

/// Runs a lesson: every claim must hold, exactly one choice of every prediction come true, every
/// goal be reached by its solution and not before, every challenge be met by its solution and not
/// by the ways in which everybody writes when it is asked.
pub fn prove(lesson: &Arc<Lesson>) -> Proof {
    let mut proof = Proof::default();
    proof.tell(&lesson.title);
    let (mut walk, mut tree) = match Walkthrough::open(Arc::clone(lesson)) {
        Ok(opened) => opened,
        Err(error) => {
            proof.problems.push(error);
            return proof;
        }
    };
    for (number, step) in lesson.steps.iter().enumerate() {
        if number > 0 {
            match walk.forward(&mut tree) {
                Ok(_) if walk.at() == number => {}
                Ok(_) => return proof,
                Err(error) => {
                    proof.problems.push(error);
                    return proof;
                }
            }
        }
        proof.tell(format_args!("\n{:>3}. {}", number + 1, step.title));
        let begin = walk.records().last().map_or(0, |record| record.begin);
        if let Err(error) = walk.reveal(&mut tree) {
            proof.problems.push(error);
            return proof;
        }
        proof.steps(&tree, begin);
        page(&mut proof, step, &walk, &tree, begin);
    }
    proof
}

impl Lesson {
    /// Holds the lesson to everything that it says, as [`prove`] does, which also tells what
    /// happens in it.
    ///
    /// # Errors
    /// Everything in it that is not true or cannot happen, each with its line.
    pub fn check(self: &Arc<Self>) -> Result<(), Vec<LessonError>> {
        let problems = prove(self).problems;
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }
}

fn page(proof: &mut Proof, step: &LessonStep, walk: &Walkthrough, tree: &RunTree, begin: NodeId) {
    for claim in &step.claims {
        hold(proof, claim, tree, begin);
    }
    if let (Some(prediction), Some(past)) = (&step.prediction, Past::since(tree, begin)) {
        proof.tell(format_args!("     ? {}", prediction.question));
        let mut right = 0;
        for choice in &prediction.choices {
            let holds = past.fulfils(&choice.when.conditions);
            right += usize::from(holds);
            let sign = if holds { "✓" } else { "·" };
            proof.tell(format_args!("       {sign} {}", choice.text));
        }
        if right != 1 {
            let message = format!("exactly one choice must come true, but {right} do");
            proof.problem(prediction.choices[0].when.line, message);
        }
    }
    evidence::facts(proof, step, walk.lesson(), tree);
    match &step.task {
        None => {}
        Some(Task::Goal(goal)) => self::goal(proof, goal, walk, tree),
        Some(Task::Challenge(challenge)) => self::challenge(proof, challenge, tree),
    }
}

fn challenge(proof: &mut Proof, challenge: &Challenge, tree: &RunTree) {
    proof.tell(format_args!("     ! {}", challenge.ask));
    let mut tree = tree.clone();
    for (when, solved) in [("at first", false), ("solved", true)] {
        if solved {
            for (actor, write) in &challenge.solution {
                tree.world_mut().actor_mut(*actor).set_write(write.clone());
            }
        }
        let Some(mut search) = challenge.search(&tree) else {
            proof.problem(challenge.line, "there is no object to be written");
            return;
        };
        search.run();
        let finding = challenge.judge(&search);
        proof.tell(format_args!("       {when}: {finding}"));
        let claimed = if solved {
            &challenge.found
        } else {
            &challenge.found_at_first
        };
        if !finding.is(claimed) {
            let message = format!("{when} something else is found than claimed: {finding}");
            proof.problem(challenge.line, message);
        }
        if solved && !finding.is_met() {
            let message = format!("the solution does not meet the challenge: {finding}");
            proof.problem(challenge.line, message);
        }
        if !solved && finding.is_met() {
            let message = "the challenge is met before anybody did anything";
            proof.problem(challenge.line, message);
        }
    }
    evidence::choices(proof, challenge, &tree);
}

pub(super) fn hold(proof: &mut Proof, claim: &Claim, tree: &RunTree, begin: NodeId) {
    let Some(past) = Past::since(tree, begin) else {
        return;
    };
    for condition in &claim.conditions {
        if !past.holds(condition) {
            let found = found(condition, past);
            proof.problem(
                claim.line,
                format_args!("this is not so: {condition}{found}"),
            );
        }
    }
}

/// What is there instead, where that can be said.
fn found(condition: &Condition, past: Past<'_>) -> String {
    past.instead_of(condition)
        .map_or(String::new(), |found| format!(" (it is {found})"))
}

fn goal(proof: &mut Proof, goal: &Goal, walk: &Walkthrough, tree: &RunTree) {
    proof.tell(format_args!("     ! {}", goal.ask));
    evidence::ways_and_mistakes(proof, goal, walk, tree);
    let (mut walk, mut tree) = (walk.clone(), tree.clone());
    if walk.goal(&tree).iter().all(|(_, holds)| *holds) {
        let message = "the goal is reached before anybody did anything";
        proof.problem(goal.line, message);
    }
    let begin = walk.node();
    if let Err(error) = walk.solve(&mut tree) {
        proof.problems.push(error);
        return;
    }
    proof.steps(&tree, begin);
    for (condition, holds) in walk.goal(&tree) {
        let sign = if holds { "✓" } else { "✗" };
        proof.tell(format_args!("       {sign} {condition}"));
        if !holds {
            let message = format!("the solution does not reach this: {condition}");
            proof.problem(goal.line, message);
        }
    }
}
