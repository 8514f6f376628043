//! The order of the course: what a question or a task uses was explained before.

use std::collections::BTreeSet;
use std::sync::Arc;

use optimist_client::{Strategy, Write};
use optimist_lesson::{Lesson, LessonStep, ScriptAction, ScriptActionKind, Task};
use optimist_simulation::{Action, Operation};

use crate::files::{catalogue, lesson};

/// Each lesson and quiz of the course, in the order in which people walk it.
fn course() -> Vec<(String, Arc<Lesson>)> {
    let catalogue = catalogue();
    let names = catalogue.course();
    names.map(|name| (name.to_owned(), lesson(name))).collect()
}

/// The same without the optional lessons.
fn main_line() -> Vec<(String, Arc<Lesson>)> {
    let catalogue = catalogue();
    let names = catalogue.main_line();
    names.map(|name| (name.to_owned(), lesson(name))).collect()
}

/// What somebody has to understand to answer the question of a page and to do its task. A quiz has no
/// other page that could explain its text.
fn needed_text(step: &LessonStep, quiz: bool) -> String {
    let mut words: Vec<&str> = step.hints().iter().map(String::as_str).collect();
    if quiz {
        words.push(&step.text);
    }
    if let Some(prediction) = &step.prediction {
        words.push(&prediction.question);
        words.extend(prediction.choices.iter().map(|choice| &*choice.text));
    }
    words.extend(match &step.task {
        None => None,
        Some(Task::Goal(goal)) => Some(&*goal.ask),
        Some(Task::Challenge(challenge)) => Some(&*challenge.ask),
        Some(Task::Switches(challenge)) => Some(&*challenge.ask),
    });
    let words = words.join("\n").to_lowercase();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn way(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Update => "Update",
        Strategy::MergePatch => "merge patch",
        Strategy::StrategicMergePatch => "strategic merge patch",
        Strategy::JsonPatch => "JSON patch",
        Strategy::Apply => "apply",
    }
}

/// The ways of writing with which the lesson solves the task of a page.
fn needed_ways(step: &LessonStep) -> BTreeSet<&'static str> {
    let sent = |action: &ScriptAction| match &action.what {
        ScriptActionKind::Do(Operation::Act(_, Action::Send(write)))
        | ScriptActionKind::Choose(_, write) => Some(way(write.strategy)),
        _ => None,
    };
    let chosen = |write: &Write| way(write.strategy);
    match &step.task {
        Some(Task::Goal(goal)) => goal.solution.iter().filter_map(sent).collect(),
        Some(Task::Challenge(challenge)) => {
            let writes = challenge.solution.iter();
            writes.map(|(_, write)| chosen(write)).collect()
        }
        Some(Task::Switches(_)) | None => BTreeSet::new(),
    }
}

/// Returns whether a text has a term, and not only a longer term that contains it.
fn has_term(text: &str, term: &str, terms: &BTreeSet<String>) -> bool {
    let mut text = text.to_owned();
    let term = term.to_lowercase();
    let longer = terms.iter().map(|other| other.to_lowercase());
    for longer in longer.filter(|other| *other != term && other.contains(&term)) {
        text = text.replace(&longer, "");
    }
    let begins = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric());
    text.match_indices(&term).any(|(at, _)| begins(at))
}

/// Every term that a lesson explains.
fn terms() -> BTreeSet<String> {
    let course = course();
    let terms = course.iter().flat_map(|(_, lesson)| &lesson.introduces);
    terms.cloned().collect()
}

/// The terms and ways of writing that a question or task of these lessons uses before one of them explains it, and how
/// often one is used.
fn too_early(course: &[(String, Arc<Lesson>)]) -> (Vec<String>, usize) {
    let terms = terms();
    let (mut explained, mut used, mut early) = (BTreeSet::new(), 0, Vec::new());
    for (name, lesson) in course {
        explained.extend(lesson.introduces.iter().cloned());
        for step in &lesson.steps {
            let text = needed_text(step, name.starts_with("questions-"));
            let ways = needed_ways(step);
            for term in &terms {
                if ways.contains(&**term) || has_term(&text, term, &terms) {
                    used += 1;
                    if !explained.contains(term) {
                        early.push(format!("{name}, “{}”: {term}", step.title));
                    }
                }
            }
        }
    }
    (early, used)
}

#[test]
fn no_question_and_no_task_uses_a_term_or_a_way_of_writing_before_it_is_explained() {
    let (early, used) = too_early(&course());
    assert!(early.is_empty(), "too early:\n{}", early.join("\n"));
    assert!(used > 150, "{used}");
}

/// Nobody has to walk an optional lesson to understand a question or a task of the main line.
#[test]
fn the_main_line_alone_explains_what_its_questions_and_tasks_use() {
    let (early, used) = too_early(&main_line());
    assert!(early.is_empty(), "not explained:\n{}", early.join("\n"));
    assert!(used > 100, "{used}");
}

/// All that a learner reads on the pages of a lesson before its task is done.
fn all_text(lesson: &Lesson) -> String {
    let pages = lesson.steps.iter().flat_map(|step| {
        let choices = step.prediction.iter().flat_map(|it| &it.choices);
        let answers = choices.filter_map(|choice| choice.answer.as_deref());
        let told = [&*step.title, &*step.text, &*step.after];
        told.into_iter().chain(answers).collect::<Vec<_>>()
    });
    let needed = lesson.steps.iter().map(|step| needed_text(step, false));
    let text = pages.map(str::to_lowercase).chain(needed);
    let text = text.collect::<Vec<_>>().join(" ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn no_text_at_all_has_a_term_about_controllers_before_it_is_explained() {
    // A container has the name `cache`, and lessons about objects speak of a Lease as of any other object.
    const ALSO_NAMES: [&str; 2] = ["cache", "Lease"];
    let catalogue = catalogue();
    let chapters = catalogue.chapters.iter();
    let chapter = chapters.max_by_key(|chapter| chapter.lessons.len());
    let controllers: BTreeSet<&str> = chapter
        .unwrap()
        .lessons
        .iter()
        .map(|it| &*it.name)
        .collect();
    let course = course();
    let terms = terms();
    let mut before: Vec<(String, String)> = Vec::new();
    let (mut checked, mut early) = (0, Vec::new());
    for (name, lesson) in &course {
        let asked = lesson.introduces.iter();
        let asked = asked.filter(|term| !ALSO_NAMES.contains(&term.as_str()));
        for term in asked.filter(|_| controllers.contains(name.as_str())) {
            checked += 1;
            let uses = before
                .iter()
                .filter(|(_, text)| has_term(text, term, &terms));
            early.extend(uses.map(|(earlier, _)| format!("{earlier}: {term}, of {name}")));
        }
        before.push((name.clone(), all_text(lesson)));
    }
    assert!(early.is_empty(), "too early:\n{}", early.join("\n"));
    assert!(checked >= 12, "{checked} terms");
}

#[test]
fn each_term_is_introduced_once_by_a_lesson_that_uses_the_word() {
    let mut seen = BTreeSet::new();
    for (name, lesson) in course() {
        let pages = lesson.steps.iter();
        let pages = pages.map(|step| format!("{} {} {}", step.title, step.text, step.after));
        let text = pages.chain([lesson.teaches.clone()]).collect::<Vec<_>>();
        let text = text.join(" ").to_lowercase();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for term in &lesson.introduces {
            assert!(text.contains(&term.to_lowercase()), "{name}: {term}");
            assert!(seen.insert(term.clone()), "{name}: {term} again");
        }
    }
    assert!(seen.len() > 40, "{}", seen.len());
}
