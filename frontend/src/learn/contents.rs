//! The contents: all lessons, and the learner's progress.

use optimist_lesson::{CatalogueEntry, Chapter};
use optimist_messages::label;
use optimist_sessions::StorageArea;
use yew::{Html, html};

use crate::browser::BrowserPlatform;
use crate::components::icon::{Icon, icon};
use crate::components::{file_button, header, kept_notice};
use crate::state::{LearnMsg, LessonProgress, PROGRESS, Platform, StateHandle, lesson_fragment};

pub(super) fn contents(store: &StateHandle) -> Html {
    let own = |text| LearnMsg::File(text).into();
    let progress = BrowserPlatform.read(StorageArea::Browser, PROGRESS);
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
                    { file_button(store, &label::lessons_own(), ".yaml,.yml,text/yaml", own) }
                </div>
                if let Some(problem) = &store.learn.problem {
                    <p class="problem" role="alert">{ super::problem(problem) }</p>
                }
                if let Some(catalogue) = &store.learn.catalogue {
                    { for catalogue.chapters.iter().map(|it| chapter(it, progress.as_deref())) }
                } else if store.learn.problem.is_none() {
                    <p class="muted">{ label::lessons_loading() }</p>
                }
            </main>
        </div>
    }
}

fn chapter(chapter: &Chapter, progress: Option<&str>) -> Html {
    html! {
        <section class="chapter">
            <h3>{ chapter.title.clone() }</h3>
            <ol>{ for chapter.lessons.iter().map(|it| entry(it, progress)) }</ol>
        </section>
    }
}

fn entry(entry: &CatalogueEntry, progress: Option<&str>) -> Html {
    let progress = LessonProgress::read(progress, &entry.name);
    let (number, _) = entry.name.split_once('-').unwrap_or((&entry.name, ""));
    let number = number.trim_start_matches('0').to_owned();
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
                <span class="entry-title">{ entry.title.clone() }</span>
                { said }
            </a>
        </li>
    }
}
