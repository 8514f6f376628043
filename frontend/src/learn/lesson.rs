//! The lesson that is taken: its text, what is asked, and the way on.

use optimist_lesson::{CatalogueEntry, LessonStep, Prediction};
use yew::{Html, classes, html};

use super::prose::{line, prose};
use super::task::task;
use crate::components::icon::{Icon, icon};
use crate::state::{Course, LearnMsg, Page, Sends, StateHandle, lesson_fragment};

pub(super) fn lesson(store: &StateHandle, course: &Course) -> Html {
    let walk = &course.walk;
    let (lesson, step) = (walk.lesson(), walk.step());
    let (at, pages) = (walk.at() + 1, lesson.steps.len());
    html! {
        <section class="lesson" aria-label="Lesson">
            <div class="lesson-head">
                <a
                    class="link"
                    href={Page::Learn.fragment()}
                    onclick={store.sends(LearnMsg::Leave)}
                >
                    { "All lessons" }
                </a>
                if walk.opened() > 1 {
                    <button
                        type="button"
                        class="link"
                        onclick={store.sends(LearnMsg::Restart)}
                    >
                        { "Start again" }
                    </button>
                }
                <button
                    type="button"
                    class="link"
                    aria-pressed={store.learn.teaching.to_string()}
                    title="Large, and a step for each key (t)"
                    onclick={store.sends(LearnMsg::Teach)}
                >
                    { "Teach" }
                </button>
            </div>
            { bar(store, course) }
            // It scrolls, so the keyboard has to come there.
            <div class="lesson-body" id="lesson-text" tabindex="0">
                <p class="lesson-title">{ lesson.title.clone() }</p>
                <h2 class="caption-title" id="lesson-step">{ step.title.clone() }</h2>
                if let (1, Some(belief)) = (at, &lesson.belief) {
                    <blockquote class="belief">
                        <span>{ "A common belief" }</span>{ line(belief) }
                    </blockquote>
                }
                { prose(&step.text) }
                if let Some(prediction) = &step.prediction {
                    { predicted(store, course, prediction) }
                }
                if walk.happened() {
                    { prose(&step.after) }
                    { task(store, course) }
                }
                if let Some(problem) = &store.learn.problem {
                    <p class="problem" role="alert">{ problem.clone() }</p>
                }
            </div>
            { way_on(store, course, step) }
            <p class="unseen" role="status" aria-live="polite">
                { format!("Step {at} of {pages}: {}", step.title) }
            </p>
        </section>
    }
}

/// A stroke for every step; those that were open before can be opened again.
fn bar(store: &StateHandle, course: &Course) -> Html {
    let walk = &course.walk;
    let stroke = |(page, step): (usize, &LessonStep)| {
        let class = classes!(
            "stroke",
            (page < walk.opened()).then_some("opened"),
            (page == walk.at()).then_some("current"),
        );
        html! {
            <li>
                <button
                    type="button"
                    {class}
                    disabled={page >= walk.opened()}
                    aria-label={format!("Step {}: {}", page + 1, step.title)}
                    aria-current={(page == walk.at()).then_some("step")}
                    onclick={store.sends(LearnMsg::Turn(page))}
                />
            </li>
        }
    };
    html! {
        <ol class="lesson-bar" aria-label="Steps of the lesson">
            { for walk.lesson().steps.iter().enumerate().map(stroke) }
        </ol>
    }
}

fn predicted(store: &StateHandle, course: &Course, prediction: &Prediction) -> Html {
    let walk = &course.walk;
    let happened = walk.happened();
    let choice = |(i, choice): (usize, &optimist_lesson::Choice)| {
        let right = walk.right() == Some(i);
        let chosen = walk.chosen() == Some(i);
        let said = match (happened, right, chosen) {
            (true, true, true) => "what you said, and so it was",
            (true, true, false) => "so it was",
            (true, false, true) => "what you said",
            _ => "",
        };
        html! {
            <li>
                <button
                    type="button"
                    class={classes!("choice", (happened && right).then_some("right"), chosen.then_some("chosen"))}
                    disabled={happened}
                    onclick={store.sends(LearnMsg::Predict(i))}
                >
                    <kbd aria-hidden="true">{ i + 1 }</kbd>
                    <span>
                        { line(&choice.text) }
                        if !said.is_empty() {
                            <span class="said">
                                if right { { icon(Icon::Check) } }
                                { said }
                            </span>
                        }
                    </span>
                </button>
            </li>
        }
    };
    html! {
        <div class="prediction" role="group" aria-label="Prediction">
            <p class="question">
                if !happened {
                    <span class="unseen">{ "Before it happens: " }</span>
                }
                { line(&prediction.question) }
            </p>
            <ol>{ for prediction.choices.iter().enumerate().map(choice) }</ol>
        </div>
    }
}

/// Forward, back, and back to the script.
fn way_on(store: &StateHandle, course: &Course, step: &LessonStep) -> Html {
    let walk = &course.walk;
    let last = walk.at() + 1 == walk.lesson().steps.len();
    let aside = walk.happened() && walk.is_aside(&store.session.tree);
    let label = match (walk.happened(), step.task.is_some() && !walk.solved()) {
        (false, _) => "Show what happens",
        (true, true) => "Go on without it",
        (true, false) => "Next",
    };
    html! {
        <div class="way-on">
            if aside && step.task.is_none() {
                <p class="aside">
                    { "You left the script: what you try here is kept beside it. " }
                    <button
                        type="button"
                        class="link"
                        onclick={store.sends(LearnMsg::Resume)}
                    >
                        { "Back to the lesson" }
                    </button>
                </p>
            }
            <div class="way-on-row">
                <button
                    type="button"
                    class="button"
                    disabled={walk.at() == 0}
                    onclick={store.sends(LearnMsg::Back)}
                >
                    { icon(Icon::Back) }
                    { "Back" }
                </button>
                if last && walk.happened() {
                    { onward(store, course) }
                } else {
                    <button
                        type="button"
                        class={classes!("button", (step.task.is_none() || walk.solved()).then_some("primary"))}
                        id="lesson-forward"
                        onclick={store.sends(LearnMsg::Forward)}
                    >
                        { label }
                        { icon(Icon::Forward) }
                    </button>
                }
            </div>
        </div>
    }
}

/// From the last step to the next lesson.
fn onward(store: &StateHandle, course: &Course) -> Html {
    let catalogue = store.learn.catalogue.as_ref();
    let next: Option<CatalogueEntry> = catalogue.and_then(|catalogue| {
        let mut lessons = catalogue.lessons();
        lessons.find(|entry| entry.name == course.name)?;
        lessons.next().cloned()
    });
    let class = classes!("button", course.walk.finished().then_some("primary"));
    match next {
        Some(next) => html! {
            <a {class} id="lesson-forward" href={lesson_fragment(&next.name)}>
                { "Next lesson" }{ icon(Icon::Forward) }
            </a>
        },
        None => html! {
            <a
                {class}
                id="lesson-forward"
                href={Page::Learn.fragment()}
                onclick={store.sends(LearnMsg::Leave)}
            >
                { "All lessons" }
            </a>
        },
    }
}
