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
    assert!(waits.contains("A restart forgets the version"), "{waits}");
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
    assert!(tasks > 34, "{tasks}");
}

#[test]
fn a_goal_is_closed_with_what_was_done_and_not_with_another_way() {
    let lesson = crate::files::lesson("05-the-kubelet-got-there-first");
    let (mut walk, mut tree) = Walkthrough::open(lesson).unwrap();
    while walk.step().task.is_none() || !walk.happened() {
        assert!(walk.forward(&mut tree).unwrap());
    }
    let Some(Task::Goal(goal)) = walk.step().task.clone() else {
        panic!("05 ends with a goal")
    };
    let told = |actions: &[optimist_lesson::ScriptAction]| {
        let mut tree = tree.clone();
        for action in actions {
            action.perform(&mut tree).unwrap();
        }
        walk.closing_text(&tree)
    };
    let patched = told(&goal.solution);
    assert!(patched.contains("carried only the note"), "{patched}");
    let ways = goal.other_ways.iter();
    let updates = ways.filter(|way| told(&way.actions).contains("Your Update carried"));
    assert!(updates.count() >= 1);
    assert!(patched.starts_with("The note is changed"), "{patched}");
    assert!(!patched.contains("Your Update carried"), "{patched}");
}

#[test]
fn a_challenge_is_closed_with_the_ways_of_writing_that_met_it() {
    let lesson = crate::files::lesson("02-resourceversion-and-the-409");
    let (mut walk, mut tree) = Walkthrough::open(lesson).unwrap();
    while walk.step().task.is_none() || !walk.happened() {
        assert!(walk.forward(&mut tree).unwrap());
    }
    let Some(Task::Challenge(challenge)) = walk.step().task.clone() else {
        panic!("02 ends with a challenge")
    };
    let told = |writes: &[(optimist_simulation::ActorId, optimist_client::Write)]| {
        let mut tree = tree.clone();
        for (actor, write) in writes {
            tree.world_mut().actor_mut(*actor).set_write(write.clone());
        }
        let mut search = challenge.search(&tree).unwrap();
        search.run();
        challenge.closing_text(Some(&challenge.judge(&search)))
    };
    let (stale, patch) = (
        "refuses an Update that carries a stale version",
        "names only its own field",
    );
    let updates = told(&challenge.solution);
    assert!(
        updates.contains(stale) && !updates.contains(patch),
        "{updates}"
    );
    let patches = told(&challenge.other_ways[0].writes);
    assert!(
        patches.contains(patch) && !patches.contains(stale),
        "{patches}"
    );
    let nothing = challenge.closing_text(None);
    assert!(
        !nothing.contains(stale) && !nothing.contains(patch),
        "{nothing}"
    );
}

/// A text that no way of the lesson is told is found.
#[test]
fn a_closing_text_for_nobody_is_found() {
    let source = "title: t\nteaches: t\nsteps:\n- title: s\n  do:\n  - A: get\n  goal:\n    ask: q\n    \
                  when: {stored: {spec.replicas: 5}}\n    solution:\n    - A: {edit: {spec.replicas: 5}, send: update}\n    \
                  reached:\n    - say: five\n    - {when: {writers: {A: [update]}}, say: updated}\n    \
                  - {when: {writers: {A: [apply]}}, say: applied}\n";
    let lesson = std::sync::Arc::new(Lesson::parse(source).unwrap());
    let problems = lesson.check().unwrap_err();
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["line 15: no way is told this"]);
}
