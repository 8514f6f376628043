//! Lessons: which there are, and the one that is taken.

mod contents;
mod lesson;
mod prose;
mod switches;
mod task;

use optimist_lesson::LessonError;
use optimist_messages::label;
use wasm_bindgen_futures::spawn_local;
use yew::{Html, Properties, component, use_effect_with, use_state};

use crate::browser;
use crate::components::stage;
use crate::state::{LearnMsg, LearnProblem, Sends, StateHandle};

/// The style of this page alone.
const STYLE: &str = include_str!("../style/learn.css");

/// The notes for teachers, beside the lessons.
const NOTES: &str = "lessons/teaching.md";

/// The properties of the page.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct LessonsProps {
    pub(crate) store: StateHandle,
}

/// The page.
#[component]
pub(crate) fn Lessons(props: &LessonsProps) -> Html {
    browser::adopt_style(STYLE);
    let store = &props.store;
    {
        let dispatcher = store.dispatcher();
        use_effect_with(store.learn.catalogue.is_none(), move |missing| {
            if *missing {
                spawn_local(async move {
                    let text = browser::fetched("lessons/catalogue.yaml").await;
                    dispatcher.send(LearnMsg::Catalogue(text));
                });
            }
        });
    }
    {
        let dispatcher = store.dispatcher();
        let open = store.learn.course.is_some();
        use_effect_with((store.learn.wanted.clone(), open), move |(wanted, open)| {
            if let (Some(name), false) = (wanted.clone(), open) {
                spawn_local(async move {
                    let text = browser::fetched(&format!("lessons/{name}.yaml")).await;
                    dispatcher.send(LearnMsg::Text(name, text));
                });
            }
        });
    }
    let notes = use_state(|| None::<String>);
    {
        let notes = notes.clone();
        use_effect_with(store.learn.teaching, move |teaching| {
            if *teaching && notes.is_none() {
                // A lesson that was saved as a file has no notes beside it.
                spawn_local(async move { notes.set(browser::fetched(NOTES).await.ok()) });
            }
        });
    }
    let seen = store.learn.course.as_ref().map(|course| {
        let walk = &course.walk;
        let found = course.finding.is_some() || course.switches.found.is_some();
        (walk.at(), walk.happened(), walk.solved(), found)
    });
    use_effect_with(seen, |seen| {
        if let Some((_, happened, solved, found)) = *seen {
            browser::scroll_within(".lesson-body", newest_part(happened, solved, found));
        }
    });
    match &store.learn.course {
        Some(course) => stage(store, Some(lesson::lesson(store, course, notes.as_deref()))),
        None => contents::contents(store),
    }
}

/// The selector of the part of a lesson that is new to the learner.
fn newest_part(happened: bool, solved: bool, found: bool) -> &'static str {
    match (happened, solved, found) {
        (true, true, _) => ".reached, .choice.right",
        // A challenge that failed says so below its button.
        (true, false, true) => ".found",
        // A narrow window has no room for the text and the task.
        (true, false, false) if browser::is_narrow() => ".choice.right, .task",
        (true, false, false) => ".choice.right",
        (false, ..) => ".lesson-title",
    }
}

/// Says why a lesson is not open.
pub(crate) fn problem(problem: &LearnProblem) -> String {
    let shown = |error: &LessonError| label::lesson_error(&error.line, &error.message);
    match problem {
        LearnProblem::NotLoaded(file) => label::file_not_loaded(file),
        LearnProblem::Unknown(lesson) => label::lesson_unknown(lesson),
        LearnProblem::NotOpened(errors) => {
            let errors: Vec<String> = errors.iter().map(shown).collect();
            label::lesson_not_opened(&errors.join(". "))
        }
        LearnProblem::NotOpenedAgain => label::lesson_not_opened_again(),
        LearnProblem::ProgressUnreadable => label::progress_unreadable(),
        LearnProblem::Unreadable(error) => optimist_messages::load_error(error),
        LearnProblem::Error(error) => shown(error),
    }
}
