//! Every lesson runs, and everything it says is true.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use optimist_core::client::{Strategy, Write};
use optimist_core::lesson::{Catalogue, Lesson, Task, Walkthrough, prove};
use optimist_core::sim::{Action, ActorId};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../lessons")
}

fn read(file: &str) -> String {
    let path = folder().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn catalogue() -> Catalogue {
    Catalogue::parse(&read("catalogue.yaml")).unwrap_or_else(|error| panic!("catalogue: {error}"))
}

fn lessons() -> Vec<(String, Arc<Lesson>)> {
    let names = catalogue();
    let lessons = names.lessons().map(|entry| {
        let file = format!("{}.yaml", entry.name);
        let lesson = Lesson::parse(&read(&file)).unwrap_or_else(|error| panic!("{file}, {error}"));
        (file, Arc::new(lesson))
    });
    lessons.collect()
}

#[test]
fn every_claim_prediction_goal_and_challenge_is_true_when_it_runs() {
    let mut problems = Vec::new();
    for (file, lesson) in lessons() {
        let proof = prove(&lesson);
        problems.extend(
            proof
                .problems
                .iter()
                .map(|problem| format!("lessons/{file}, {problem}")),
        );
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn the_catalogue_names_every_lesson_as_it_names_itself() {
    let catalogue = catalogue();
    for (entry, (_, lesson)) in catalogue.lessons().zip(lessons()) {
        assert_eq!(entry.title, lesson.title);
        assert_eq!(entry.pages, lesson.steps.len(), "{}", entry.title);
    }
    let listed: BTreeSet<String> = catalogue
        .lessons()
        .map(|entry| format!("{}.yaml", entry.name))
        .collect();
    let files = std::fs::read_dir(folder()).unwrap();
    let files: BTreeSet<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yaml") && name != "catalogue.yaml")
        .collect();
    assert_eq!(listed, files);
    assert_eq!(listed.len(), 14);
}

#[test]
fn every_lesson_is_short_and_ends_with_something_that_the_learner_does() {
    let mut challenges = 0;
    let mut predictions = 0;
    for (file, lesson) in lessons() {
        let pages = lesson.steps.len();
        assert!((4..=10).contains(&pages), "{file} has {pages} pages");
        let last = lesson.steps.last().unwrap();
        assert!(last.task.is_some(), "{file} ends without a task");
        challenges += usize::from(matches!(last.task, Some(Task::Challenge(_))));
        if lesson.belief.is_some() {
            let asked = lesson.steps.iter().filter(|step| step.prediction.is_some());
            predictions = asked.count();
            assert!(predictions > 0, "{file} names a belief and never asks");
        }
    }
    assert!(predictions > 0);
    assert!(challenges >= 3, "{challenges} challenges over all orders");
}

/// What a lesson says wrongly is found, with its line: otherwise the tests above prove nothing.
#[test]
fn a_false_claim_prediction_or_goal_is_found() {
    let lesson = |steps: &str| {
        let text = format!("title: t\nteaches: t\nsteps:\n- title: s\n{steps}");
        let lesson = Lesson::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let problems = prove(&Arc::new(lesson)).problems;
        problems
            .into_iter()
            .map(|problem| problem.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        lesson("  do:\n  - A: get\n  check:\n  - answer: 200\n  - answer: 409\n"),
        ["line 9: this is not so: the answer is 409 (it is 200)"]
    );
    assert_eq!(
        lesson(
            "  predict:\n    ask: q\n    choices:\n    - say: a\n      when: {answer: 200}\n    \
             - say: b\n      when: {exists: yes}\n  do:\n  - A: get\n"
        ),
        ["line 9: exactly one choice must come true, but 2 do"]
    );
    assert_eq!(
        lesson("  goal:\n    ask: q\n    when: {exists: yes}\n    solution: [A: get]\n"),
        ["line 6: the goal is reached before anybody did anything"]
    );
    assert_eq!(
        lesson("  goal:\n    ask: q\n    when: {exists: no}\n    solution: [A: get]\n"),
        ["line 6: the solution does not reach this: the object is gone"]
    );
    assert_eq!(
        lesson("  do:\n  - A: update\n"),
        ["line 6: that cannot be done here: is there anything to send yet?"]
    );
    let challenge = |never: &str, way: &str| {
        lesson(&format!(
            "  challenge:\n    ask: q\n    edits: {{A: {{spec.replicas: 5}}, B: {{spec.replicas: 2}}}}\n    \
             at first: {{A: {{send: update, version: no}}, B: {{send: update, version: no}}}}\n    \
             never: [{never}]\n    solution: {{A: {way}, B: {way}}}\n"
        ))
    };
    assert!(challenge("lost", "{send: update}").is_empty());
    assert_eq!(
        challenge("lost", "{send: merge patch}"),
        [
            "line 6: the solution does not meet the challenge: 6 orders: 2 keep both edits, 4 lose an update"
        ]
    );
    assert_eq!(challenge("left out", "{send: update}").len(), 1);
}

#[test]
fn a_mistake_in_a_lesson_is_named_with_its_line() {
    for (text, told) in [
        ("title: t\nteaches: x\n", "line 1: “steps” is missing here"),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  tekst: x\n",
            "line 5: a step has no “tekst”. It may have: title, text, predict, do, after, check, \
             goal, challenge.",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  do:\n  - A: {send: put}\n",
            "line 6: “put” is not known here. Known: update, merge patch, strategic merge patch, \
             json patch, apply.",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: ~\n",
            "line 4: text is needed here",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - stored: {a..b: 1}\n",
            "line 6: a name is missing between two dots",
        ),
        (
            "title: [t\n",
            "line 2: while parsing a flow sequence, expected ',' or ']'",
        ),
        ("", "line 1: a lesson must be a mapping (key: value)"),
    ] {
        let error = Lesson::parse(text).unwrap_err().to_string();
        assert_eq!(error, told, "{text}");
    }
}

#[test]
fn a_step_in_which_too_much_happens_is_refused() {
    let deeds = "  - A: get\n".repeat(101);
    let text = format!("title: t\nteaches: x\nsteps:\n- title: s\n  do:\n{deeds}");
    let error = Lesson::parse(&text).unwrap_err().to_string();
    assert_eq!(error, "line 4: 100 things may happen in a step and no more");
}

#[test]
fn the_documented_example_is_a_lesson_and_true() {
    let readme = read("README.md");
    let begin = readme.find("```yaml\n").unwrap() + "```yaml\n".len();
    let example = &readme[begin..];
    let example = &example[..example.find("\n```").unwrap() + 1];
    let lesson = Lesson::parse(example).unwrap_or_else(|error| panic!("{error}"));
    let proof = prove(&Arc::new(lesson));
    assert_eq!(proof.problems, [], "{}", proof.transcript);
}

#[test]
fn a_body_that_a_lesson_writes_by_hand_is_not_what_the_learner_sends_next() {
    let mut bodies = 0;
    for (file, lesson) in lessons() {
        let (mut walk, mut tree) = Walkthrough::open(lesson).unwrap();
        loop {
            for id in ActorId::ALL {
                let actor = tree.world().actor(id);
                for strategy in Strategy::ALL {
                    let body = actor.write_by(strategy).body;
                    assert_eq!(body, None, "{file}, page {}", walk.at() + 1);
                }
            }
            let last = tree.step(tree.current()).and_then(|step| step.action());
            if let Some(Action::Send(Write { body: Some(_), .. })) = last {
                bodies += 1;
            }
            if !walk.forward(&mut tree).unwrap() {
                break;
            }
        }
    }
    assert!(bodies >= 8, "{bodies} pages end with a body by hand");
}
