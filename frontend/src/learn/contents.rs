//! The contents: all lessons, and the learner's progress.

use optimist_lesson::{Catalogue, CatalogueEntry, Chapter, Quiz, Reading};
use optimist_messages::label;
use optimist_sessions::StorageArea;
use yew::{Html, html};

use super::prose::line;
use crate::browser::BrowserPlatform;
use crate::components::icon::{Icon, icon};
use crate::components::{export, file_button, header, kept_notice};
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
                    { for catalogue.zip(course.as_ref()).map(|(it, course)| length(it, course)) }
                    <div class="contents-row">
                        { for catalogue.zip(course.as_ref()).map(|(it, course)| next_lesson(it, course)) }
                        { file_button(store, &label::lessons_own(), ".yaml,.yml,text/yaml", own) }
                    </div>
                </div>
                if let Some(problem) = &store.learn.problem {
                    <p class="problem" role="alert">{ super::problem(problem) }</p>
                }
                if let Some(catalogue) = catalogue {
                    { chapters(catalogue, progress.as_deref()) }
                    { for catalogue.closing.as_ref().map(|it| closing(it, progress.as_deref())) }
                    { reading(&catalogue.reading) }
                    { for course.as_ref().map(|course| so_far(store, course, progress.as_deref())) }
                } else if store.learn.problem.is_none() {
                    <p class="muted">{ label::lessons_loading() }</p>
                }
            </main>
        </div>
    }
}

/// Says how long the main line is, and how many optional lessons there are.
fn length(catalogue: &Catalogue, course: &CourseProgress<'_>) -> Html {
    let questions: usize = catalogue.quizzes().map(|quiz| quiz.questions).sum();
    html! {
        <p class="course-length">
            <b>{ label::main_line(&course.lessons, &questions, &catalogue.minutes()) }</b>
            { " " }
            { label::further_count(&course.further) }
        </p>
    }
}

/// To the lesson to begin or to go on with; after the last one, to the questions at the end.
fn next_lesson(catalogue: &Catalogue, course: &CourseProgress<'_>) -> Html {
    let lesson = course.next.map(|next| (&next.name, &next.title));
    let questions = catalogue.closing.as_ref().map(|it| (&it.name, &it.title));
    let Some((name, title)) = lesson.or(questions) else {
        return Html::default();
    };
    let says = match course.opened {
        0 => label::lessons_start(title),
        _ => label::lessons_continue(title),
    };
    html! { <a class="button primary" href={lesson_fragment(name)}>{ says }</a> }
}

/// Draws the number of finished lessons, and the controls that save, open and forget the progress.
fn so_far(store: &StateHandle, course: &CourseProgress<'_>, progress: Option<&str>) -> Html {
    let open = |text| LearnMsg::OpenProgress(text).into();
    let open = file_button(
        store,
        &label::progress_open(),
        ".json,application/json",
        open,
    );
    let Some(progress) = progress.filter(|_| course.opened > 0) else {
        return html! { <p class="course-so-far">{ open }</p> };
    };
    html! {
        <p class="course-so-far">
            <progress
                max={course.lessons.to_string()}
                value={course.finished.to_string()}
                aria-label={label::lessons_finished(&course.finished, &course.lessons)}
            />
            <span>{ label::lessons_finished(&course.finished, &course.lessons) }</span>
            if course.further_finished > 0 {
                <span>{ label::further_finished(&course.further_finished, &course.further) }</span>
            }
            { export("lessons.json", label::progress_save(), progress) }
            { open }
            <button type="button" class="link" onclick={store.sends(LearnMsg::ForgetProgress)}>
                { label::lessons_forget() }
            </button>
        </p>
    }
}

/// The chapters. The lessons of the main line are numbered through all of them.
fn chapters(catalogue: &Catalogue, progress: Option<&str>) -> Html {
    let mut number = 1;
    let numbered = catalogue.chapters.iter().map(|chapter| {
        let first = number;
        number += chapter.main_line().count();
        (first, chapter)
    });
    numbered
        .map(|(first, it)| chapter(it, first, progress))
        .collect()
}

fn chapter(chapter: &Chapter, first: usize, progress: Option<&str>) -> Html {
    let numbered = (first..).zip(chapter.main_line());
    html! {
        <section class="chapter">
            <div class="chapter-head">
                <h3>{ chapter.title.clone() }</h3>
                <span class="so-far">{ label::lesson_minutes(&chapter.minutes()) }</span>
            </div>
            <p class="muted">{ chapter.goal.clone() }</p>
            <ol>
                { for numbered.map(|(number, it)| entry(it, Some(number), progress)) }
                { for chapter.quiz.as_ref().map(|it| quiz(it, progress)) }
            </ol>
            { further(chapter, progress) }
        </section>
    }
}

/// The optional lessons of a chapter. They are folded until one of them was opened.
fn further(chapter: &Chapter, progress: Option<&str>) -> Html {
    let count = chapter.further().count();
    let minutes: usize = chapter.further().map(|it| it.minutes).sum();
    let opened = chapter
        .further()
        .any(|it| LessonProgress::read(progress, &it.name).is_some());
    html! {
        if count > 0 {
            <details class="further" open={opened}>
                <summary>
                    <span>{ label::further_lessons(&count) }</span>
                    <span class="so-far">{ label::lesson_minutes(&minutes) }</span>
                </summary>
                <ul>{ for chapter.further().map(|it| entry(it, None, progress)) }</ul>
            </details>
        }
    }
}

/// The questions after the last chapter.
fn closing(closing: &Quiz, progress: Option<&str>) -> Html {
    html! { <section class="chapter"><ol>{ quiz(closing, progress) }</ol></section> }
}

fn quiz(quiz: &Quiz, progress: Option<&str>) -> Html {
    let progress = LessonProgress::read(progress, &quiz.name);
    html! {
        <li>
            <a class="entry" href={lesson_fragment(&quiz.name)}>
                <span class="number" aria-hidden="true">{ "?" }</span>
                <span class="entry-words">
                    <span class="entry-title">{ quiz.title.clone() }</span>
                </span>
                { so_far_in(progress, quiz.questions, label::lesson_minutes(&quiz.minutes)) }
            </a>
        </li>
    }
}

/// Shows the documents to read after the lessons.
fn reading(documents: &[Reading]) -> Html {
    let document = |it: &Reading| {
        html! { <li><a href={it.address.clone()}>{ it.title.clone() }</a>{ ": " }{ line(&it.because) }</li> }
    };
    html! {
        if !documents.is_empty() {
            <section class="chapter">
                <h3>{ label::reading_title() }</h3>
                <ul class="reading">{ for documents.iter().map(document) }</ul>
            </section>
        }
    }
}

/// Says how far one is in a lesson, or how long it is if it was not opened.
fn so_far_in(progress: Option<LessonProgress>, pages: usize, unopened: String) -> Html {
    match progress {
        Some(progress) if progress.finished => html! {
            <span class="so-far done">{ icon(Icon::Check) }{ label::lesson_done() }</span>
        },
        Some(progress) => html! {
            <span class="so-far">{ label::lesson_at(&progress.opened, &pages) }</span>
        },
        None => html! { <span class="so-far">{ unopened }</span> },
    }
}

/// The row of a lesson. An optional lesson has no number.
fn entry(entry: &CatalogueEntry, number: Option<usize>, progress: Option<&str>) -> Html {
    let progress = LessonProgress::read(progress, &entry.name);
    let length = label::lesson_minutes(&entry.minutes);
    html! {
        <li>
            <a class="entry" href={lesson_fragment(&entry.name)}>
                <span class="number" aria-hidden="true">{ for number }</span>
                <span class="entry-words">
                    <span class="entry-title">{ entry.title.clone() }</span>
                    <q class="entry-belief">{ line(&entry.belief) }</q>
                </span>
                { so_far_in(progress, entry.pages, length) }
            </a>
        </li>
    }
}
