//! The tasks of the lessons: what reaches them, and what the page says of a try that does not.

use std::collections::BTreeSet;

use optimist_lesson::{Lesson, Task, Walkthrough, try_mutants};

use crate::files::read;
use crate::lessons;

#[test]
fn a_challenge_tells_what_each_actor_means_to_change() {
    let mut told = 0;
    for (file, lesson) in lessons() {
        for step in &lesson.steps {
            let Some(Task::Challenge(challenge)) = &step.task else {
                continue;
            };
            for (actor, edits) in &challenge.edits {
                for edit in edits {
                    let field = edit.path.field();
                    assert!(
                        step.text.contains(field),
                        "{file}: the text does not say that {actor:?} changes “{field}”"
                    );
                    told += 1;
                }
            }
        }
    }
    assert!(told >= 8, "{told} edits");
}

/// Tries every task with every way of writing, with and without version, force, tests and retry, and
/// with other switches. What reaches a task is one of its ways, or has a reason in `also right`.
#[test]
fn no_task_accepts_a_way_of_writing_without_a_reason() {
    let (mut tried, mut accepted, mut problems) = (0, 0, Vec::new());
    let (mut refused, mut explained) = (0, 0);
    for (file, lesson) in lessons() {
        let report = try_mutants(&lesson).unwrap_or_else(|error| panic!("{file}, {error}"));
        tried += report.tried;
        accepted += report.accepted;
        refused += report.refused;
        explained += report.explained;
        println!(
            "{file}: {} tried, {} accepted, {} of {} refused tries at goals are explained",
            report.tried, report.accepted, report.explained, report.refused
        );
        let told = report.problems.iter();
        problems.extend(told.map(|problem| format!("lessons/{file}, {problem}")));
    }
    println!(
        "{tried} tried, {accepted} accepted, {explained} of {refused} refused tries explained, {} problems",
        problems.len()
    );
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(tried > 1_500, "{tried}");
}

#[test]
fn each_mistake_at_a_goal_is_told_why_it_does_not_reach_it() {
    let (mut told, mut silent) = (0, Vec::new());
    for (file, lesson) in lessons() {
        let (mut walk, mut tree) = Walkthrough::open(lesson).unwrap();
        loop {
            walk.reveal(&mut tree).unwrap();
            if let Some(Task::Goal(goal)) = walk.step().task.clone() {
                assert_eq!(
                    walk.feedback(&tree),
                    None,
                    "{file}: before the first request"
                );
                let mut solved = tree.clone();
                walk.clone().solve(&mut solved).unwrap();
                assert_eq!(walk.feedback(&solved), None, "{file}: the goal is reached");
                for mistake in &goal.mistakes {
                    let mut tree = tree.clone();
                    for action in &mistake.actions {
                        action.perform(&mut tree).unwrap();
                    }
                    match walk.feedback(&tree) {
                        Some(_) => told += 1,
                        None => silent.push(format!("{file}, line {}", mistake.line)),
                    }
                }
            }
            if !walk.forward(&mut tree).unwrap() {
                break;
            }
        }
    }
    assert!(
        silent.is_empty(),
        "nothing is said after:\n{}",
        silent.join("\n")
    );
    assert!(told > 40, "{told}");
}

#[test]
fn each_choice_of_switches_is_told_what_is_true_of_it() {
    use optimist_controller::program::Switch;
    let lesson = Lesson::parse(&read("17-twice-as-many")).unwrap();
    let Some(Task::Switches(challenge)) = &lesson.steps.last().unwrap().task else {
        panic!("17 ends with switches")
    };
    let told = |switch: Option<Switch>| {
        let chosen = switch.into_iter().collect::<BTreeSet<Switch>>();
        challenge.closing_text(Some(&chosen))
    };
    assert!(told(Some(Switch::DerivedName)).contains("needs no memory"));
    assert!(!told(Some(Switch::LiveList)).contains("needs no memory"));
    let waits = told(Some(Switch::WaitForOwnVersion));
    assert!(waits.contains("a restart forgets it"), "{waits}");
    assert!(waits.starts_with(&challenge.closing_text(None)));
}

#[test]
fn each_task_has_hints_in_two_stages() {
    let mut tasks = 0;
    for (file, lesson) in lessons() {
        for step in lesson.steps.iter().filter(|step| step.task.is_some()) {
            assert!(step.hints().len() >= 2, "{file}: {}", step.title);
            tasks += 1;
        }
    }
    assert!(tasks > 35, "{tasks}");
}
