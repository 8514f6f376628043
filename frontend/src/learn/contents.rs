//! The contents: all lessons, and the learner's progress.

use optimist_lesson::{Catalogue, CatalogueEntry, Chapter};
use optimist_messages::label;
use optimist_sessions::StorageArea;
use yew::{Html, html};

use super::prose::line;
use crate::browser::BrowserPlatform;
use crate::components::icon::{Icon, icon};
use crate::components::{file_button, header, kept_notice};
use crate::state::{
    CourseProgress, LearnMsg, LessonProgress, PROGRESS, Platform, Sends, StateHandle,
    lesson_fragment,
};

pub(super) fn contents(store: &StateHandle) -> Html {
    let own = |text| LearnMsg::File(text).into();
    let progress = BrowserPlatform.read(StorageArea::Browser, PROGRESS);
    let catalogue = store.learn.catalogue.as_deref();
    let course = catalogue.map(|it| CourseProgress::read(progress.as_deref(), it));
    html! {
        <div class="contents-page">
            { header(store) }
            { kept_notice(store) }
            <main class="contents">
                <div class="contents-head">
                    <h2>{ label::lessons_title() }</h2>
                    <p class="muted">
                        { label::lessons_text() }
                    </p>
                    <div class="contents-row">
                        { for course.as_ref().map(next_lesson) }
                        { file_button(store, &label::lessons_own(), ".yaml,.yml,text/yaml", own) }
                    </div>
                </div>
                if let Some(problem) = &store.learn.problem {
                    <p class="problem" role="alert">{ super::problem(problem) }</p>
                }
                if let Some(catalogue) = catalogue {
                    { chapters(catalogue, progress.as_deref()) }
                    { for course.as_ref().map(|course| so_far(store, course)) }
                } else if store.learn.problem.is_none() {
                    <p class="muted">{ label::lessons_loading() }</p>
                }
            </main>
        </div>
    }
}

/// To the lesson to begin or to go on with.
fn next_lesson(course: &CourseProgress<'_>) -> Html {
    let Some(next) = course.next else {
        return Html::default();
    };
    let says = match course.opened {
        0 => label::lessons_start(&next.title),
        _ => label::lessons_continue(&next.title),
    };
    html! { <a class="button primary" href={lesson_fragment(&next.name)}>{ says }</a> }
}

/// Draws the number of finished lessons, and the button that forgets them.
fn so_far(store: &StateHandle, course: &CourseProgress<'_>) -> Html {
    if course.opened == 0 {
        return Html::default();
    }
    html! {
        <p class="course-so-far">
            <progress
                max={course.lessons.to_string()}
                value={course.finished.to_string()}
                aria-label={label::lessons_finished(&course.finished, &course.lessons)}
            />
            { label::lessons_finished(&course.finished, &course.lessons) }
            <button type="button" class="link" onclick={store.sends(LearnMsg::ForgetProgress)}>
                { label::lessons_forget() }
            </button>
        </p>
    }
}

/// The chapters. The lessons are numbered through all of them.
fn chapters(catalogue: &Catalogue, progress: Option<&str>) -> Html {
    let mut number = 1;
    let numbered = catalogue.chapters.iter().map(|chapter| {
        let first = number;
        number += chapter.lessons.len();
        (first, chapter)
    });
    numbered
        .map(|(first, it)| chapter(it, first, progress))
        .collect()
}

fn chapter(chapter: &Chapter, first: usize, progress: Option<&str>) -> Html {
    let numbered = (first..).zip(&chapter.lessons);
    html! {
        <section class="chapter">
            <h3>{ chapter.title.clone() }</h3>
            <p class="muted">{ chapter.goal.clone() }</p>
            <ol>{ for numbered.map(|(number, it)| entry(it, number, progress)) }</ol>
        </section>
    }
}

fn entry(entry: &CatalogueEntry, number: usize, progress: Option<&str>) -> Html {
    let progress = LessonProgress::read(progress, &entry.name);
    let said = match progress {
        Some(progress) if progress.finished => html! {
            <span class="so-far done">{ icon(Icon::Check) }{ label::lesson_done() }</span>
        },
        Some(progress) => html! {
            <span class="so-far">{ label::lesson_at(&progress.opened, &entry.pages) }</span>
        },
        None => html! { <span class="so-far">{ label::lesson_steps(&entry.pages) }</span> },
    };
    html! {
        <li>
            <a class="entry" href={lesson_fragment(&entry.name)}>
                <span class="number" aria-hidden="true">{ number }</span>
                <span class="entry-words">
                    <span class="entry-title">{ entry.title.clone() }</span>
                    <q class="entry-belief">{ line(&entry.belief) }</q>
                </span>
                { said }
            </a>
        </li>
    }
}
