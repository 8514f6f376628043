//! Checks the parts of a lesson that are not in its script: facts, other ways to reach a goal, and
//! mistakes that must not reach it.

use std::sync::Arc;

use super::check::{LessonCheck, hold};
use super::condition::Past;
use super::fields::LessonError;
use super::model::{
    Challenge, ChallengeCase, Experiment, FactBasis, Lesson, LessonStep, Task, TaskGoal,
};
use super::script::{ScriptAction, perform};
use super::walkthrough::Walkthrough;
use optimist_simulation::{HistoryTree, World};

/// Every fact must quote its page, and its experiment must confirm it.
pub(super) fn facts(
    check: &mut LessonCheck,
    step: &LessonStep,
    lesson: &Lesson,
    tree: &HistoryTree,
) {
    if step.facts.is_empty() {
        return;
    }
    let told = step.words(lesson);
    for fact in &step.facts {
        check.tell(format_args!("     = {}", fact.words));
        if !told.contains(&one_line(&fact.words)) {
            check.problem(fact.line, "these words are not on this page");
        }
        match &fact.held {
            FactBasis::Source(source, _) => check.tell(format_args!("       {source}")),
            FactBasis::Shown(experiment) => {
                if let Err(error) = experiment.run(check, lesson, tree) {
                    check.problems.push(error);
                }
            }
        }
    }
}

impl Experiment {
    fn run(
        &self,
        check: &mut LessonCheck,
        lesson: &Lesson,
        tree: &HistoryTree,
    ) -> Result<(), LessonError> {
        let mut tree = match &self.start {
            Some(start) => {
                let world = World::from_start(Arc::clone(start));
                let line = self.claims.first().map_or(1, |claim| claim.line);
                let (mut world, _) =
                    world.map_err(|error| LessonError::new(line, error.to_string()))?;
                lesson.name_actors(&mut world);
                HistoryTree::new(world)
            }
            None => tree.clone(),
        };
        let begin = tree.current();
        perform(&self.actions, &mut tree)?;
        check.steps(&tree, begin);
        for claim in &self.claims {
            hold(check, claim, &tree, begin);
        }
        Ok(())
    }
}

impl LessonStep {
    /// All text of the page, without line breaks.
    fn words(&self, lesson: &Lesson) -> String {
        let mut words = vec![&lesson.teaches, &self.title, &self.text, &self.after];
        let choices = self.prediction.iter().flat_map(|it| &it.choices);
        words.extend(choices.filter_map(|choice| choice.answer.as_ref()));
        match &self.task {
            None => {}
            Some(Task::Goal(goal)) => {
                words.push(&goal.ask);
                words.extend(goal.reached.iter().map(|text| &text.say));
                words.extend(&goal.hints);
                words.extend(goal.feedback.iter().map(|feedback| &feedback.say));
            }
            Some(Task::Challenge(challenge)) => {
                words.push(&challenge.ask);
                words.extend(challenge.reached.iter().map(|text| &text.say));
                words.extend(&challenge.hints);
            }
            Some(Task::Switches(challenge)) => {
                words.push(&challenge.ask);
                words.extend(challenge.reached.iter().map(|text| &text.say));
                words.extend(&challenge.hints);
            }
        }
        let words: Vec<String> = words.into_iter().map(|words| one_line(words)).collect();
        words.join("\n")
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every other way must reach the goal. A mistake must miss exactly the conditions in `misses`, and
/// the actions after it must reach the goal.
pub(super) fn ways_and_mistakes(
    check: &mut LessonCheck,
    goal: &TaskGoal,
    walk: &Walkthrough,
    tree: &HistoryTree,
) {
    let mut reached = Vec::new();
    for way in &goal.other_ways {
        check.tell(format_args!("     + {}", way.say));
        let mut tree = tree.clone();
        for label in missing(check, walk, &mut tree, &way.actions).unwrap_or_default() {
            let message = format!("this way does not reach the goal: {label}");
            check.problem(way.line, message);
        }
        reached.push(tree);
    }
    let mut solved = tree.clone();
    if perform(&goal.solution, &mut solved).is_ok() {
        reached.push(solved);
    }
    let begin = walk.node();
    let pasts = reached.iter().filter_map(|tree| Past::since(tree, begin));
    goal.check_closing(check, &pasts.collect::<Vec<_>>());
    mistakes(check, goal, walk, tree);
}

/// Performs actions, and returns the conditions that they do not meet. `None` if they cannot be performed.
fn missing(
    check: &mut LessonCheck,
    walk: &Walkthrough,
    tree: &mut HistoryTree,
    actions: &[ScriptAction],
) -> Option<Vec<String>> {
    let begin = tree.current();
    let done = perform(actions, tree);
    check.steps(tree, begin);
    if let Err(error) = done {
        check.problems.push(error);
        return None;
    }
    let conditions = walk.goal(tree).into_iter();
    let missing = conditions.filter(|(_, holds)| !holds);
    Some(missing.map(|(label, _)| label.to_string()).collect())
}

fn mistakes(check: &mut LessonCheck, goal: &TaskGoal, walk: &Walkthrough, tree: &HistoryTree) {
    for mistake in &goal.mistakes {
        check.tell(format_args!("     - {}", mistake.say));
        let mut tree = tree.clone();
        match missing(check, walk, &mut tree, &mistake.actions) {
            None => continue,
            Some(missed) if missed.is_empty() => {
                check.problem(mistake.line, "this mistake reaches the goal");
            }
            Some(missed) if missed != mistake.misses => {
                let message = format!(
                    "this mistake misses other conditions: {}",
                    missed.join("; ")
                );
                check.problem(mistake.line, message);
            }
            Some(_) => {}
        }
        if mistake.then.is_empty() {
            continue;
        }
        for label in missing(check, walk, &mut tree, &mistake.then).unwrap_or_default() {
            let message = format!("the actions after this mistake do not reach the goal: {label}");
            check.problem(mistake.line, message);
        }
    }
}

/// The other ways must meet a challenge, and the mistakes must not.
pub(super) fn choices(check: &mut LessonCheck, challenge: &Challenge, tree: &HistoryTree) {
    challenge.check_closing(check);
    let ways = challenge.other_ways.iter().map(|chosen| (chosen, true));
    let mistakes = challenge.mistakes.iter().map(|chosen| (chosen, false));
    for (chosen, wanted) in ways.chain(mistakes) {
        let ChallengeCase {
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
        check.tell(format_args!("       {say}: {finding}"));
        if !finding.is(found) {
            let message = format!("the search finds another result: {finding}");
            check.problem(*line, message);
        }
        if finding.is_met() != wanted {
            let message = if wanted {
                format!("this does not meet the challenge: {finding}")
            } else {
                format!("this mistake meets the challenge: {finding}")
            };
            check.problem(*line, message);
        }
    }
}
