//! What a lesson says beside its script: the sentences that the script does not show, the other ways
//! to do a task, and the mistakes that must not do it.

use std::sync::Arc;

use super::fields::LessonError;
use super::model::{Challenge, Chosen, Experiment, Goal, Held, Lesson, LessonStep, Task};
use super::proof::{Proof, hold};
use super::script::Deed;
use super::walkthrough::Walkthrough;
use optimist_simulation::{RunTree, World};

/// Every fact must be in the words of its page, and what holds it must show it.
pub(super) fn facts(proof: &mut Proof, step: &LessonStep, lesson: &Lesson, tree: &RunTree) {
    if step.facts.is_empty() {
        return;
    }
    let told = step.words(lesson);
    for fact in &step.facts {
        proof.tell(format_args!("     = {}", fact.words));
        if !told.contains(&one_line(&fact.words)) {
            proof.problem(fact.line, "these words are not on this page");
        }
        match &fact.held {
            Held::Source(source) => proof.tell(format_args!("       {source}")),
            Held::Shown(experiment) => {
                if let Err(error) = experiment.run(proof, lesson, tree) {
                    proof.problems.push(error);
                }
            }
        }
    }
}

impl Experiment {
    fn run(&self, proof: &mut Proof, lesson: &Lesson, tree: &RunTree) -> Result<(), LessonError> {
        let mut tree = match &self.start {
            Some(start) => {
                let world = World::begin(Arc::clone(start));
                let line = self.claims.first().map_or(1, |claim| claim.line);
                let (mut world, _) =
                    world.map_err(|error| LessonError::new(line, error.to_string()))?;
                lesson.name_actors(&mut world);
                RunTree::new(world)
            }
            None => tree.clone(),
        };
        let begin = tree.current();
        perform(&self.deeds, &mut tree)?;
        proof.steps(&tree, begin);
        for claim in &self.claims {
            hold(proof, claim, &tree, begin);
        }
        Ok(())
    }
}

impl LessonStep {
    /// Everything that the page says, in one line.
    fn words(&self, lesson: &Lesson) -> String {
        let mut words = vec![&lesson.teaches, &self.title, &self.text, &self.after];
        match &self.task {
            None => {}
            Some(Task::Goal(goal)) => {
                words.extend([&goal.ask, &goal.reached]);
                words.extend(&goal.hint);
            }
            Some(Task::Challenge(challenge)) => {
                words.extend([&challenge.ask, &challenge.reached]);
                words.extend(&challenge.hint);
            }
        }
        let words: Vec<String> = words.into_iter().map(|words| one_line(words)).collect();
        words.join("\n")
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn perform(deeds: &[Deed], tree: &mut RunTree) -> Result<(), LessonError> {
    deeds.iter().try_for_each(|deed| deed.perform(tree))
}

/// Every other way must reach the goal; a mistake must miss exactly what it is said to miss, and
/// what is done after it must reach the goal.
pub(super) fn ways_and_mistakes(
    proof: &mut Proof,
    goal: &Goal,
    walk: &Walkthrough,
    tree: &RunTree,
) {
    let missing = |tree: &RunTree| {
        let aims = walk.goal(tree).into_iter();
        let missing = aims.filter(|(_, holds)| !holds).map(|(label, _)| label);
        missing.collect::<Vec<String>>()
    };
    let go = |proof: &mut Proof, tree: &mut RunTree, deeds: &[Deed]| {
        let begin = tree.current();
        let done = perform(deeds, tree);
        proof.steps(tree, begin);
        match done {
            Ok(()) => Some(missing(tree)),
            Err(error) => {
                proof.problems.push(error);
                None
            }
        }
    };
    for way in &goal.other_ways {
        proof.tell(format_args!("     + {}", way.say));
        let mut tree = tree.clone();
        for label in go(proof, &mut tree, &way.deeds).unwrap_or_default() {
            let message = format!("this way does not reach this: {label}");
            proof.problem(way.line, message);
        }
    }
    for mistake in &goal.mistakes {
        proof.tell(format_args!("     - {}", mistake.say));
        let mut tree = tree.clone();
        match go(proof, &mut tree, &mistake.deeds) {
            None => continue,
            Some(missed) if missed.is_empty() => {
                proof.problem(mistake.line, "this mistake reaches the goal");
            }
            Some(missed) if missed != mistake.misses => {
                let message = format!("this mistake misses something else: {}", missed.join("; "));
                proof.problem(mistake.line, message);
            }
            Some(_) => {}
        }
        if mistake.then.is_empty() {
            continue;
        }
        for label in go(proof, &mut tree, &mistake.then).unwrap_or_default() {
            let message = format!("what is done after this mistake does not reach this: {label}");
            proof.problem(mistake.line, message);
        }
    }
}

/// Other choices must meet a challenge, and mistakes must not.
pub(super) fn choices(proof: &mut Proof, challenge: &Challenge, tree: &RunTree) {
    let ways = challenge.other_ways.iter().map(|chosen| (chosen, true));
    let mistakes = challenge.mistakes.iter().map(|chosen| (chosen, false));
    for (chosen, wanted) in ways.chain(mistakes) {
        let Chosen {
            line,
            say,
            writes,
            found,
        } = chosen;
        let mut tree = tree.clone();
        for (actor, write) in writes {
            tree.world_mut().actor_mut(*actor).set_write(write.clone());
        }
        let Some(mut search) = challenge.search(&tree) else {
            continue;
        };
        search.run();
        let finding = challenge.judge(&search);
        proof.tell(format_args!("       {say}: {finding}"));
        if !finding.is(found) {
            let message = format!("something else is found than claimed: {finding}");
            proof.problem(*line, message);
        }
        if finding.is_met() != wanted {
            let message = if wanted {
                format!("this does not meet the challenge: {finding}")
            } else {
                format!("this mistake meets the challenge: {finding}")
            };
            proof.problem(*line, message);
        }
    }
}
