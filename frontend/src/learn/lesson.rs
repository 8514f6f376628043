//! The lesson that is taken: its text, its questions and tasks, and the way on.

use optimist_lesson::{Belief, FirstQuestion, LessonStep, Prediction, teacher_notes};
use optimist_messages::label;
use yew::{Html, classes, html};

use super::prose::{line, prose};
use super::task::task;
use crate::components::icon::{Icon, icon};
use crate::state::{Course, LearnMsg, Page, Sends, StateHandle, lesson_fragment};

pub(super) fn lesson(store: &StateHandle, course: &Course, notes: Option<&str>) -> Html {
    let walk = &course.walk;
    let (lesson, step) = (walk.lesson(), walk.step());
    let (at, pages) = (walk.at() + 1, lesson.steps.len());
    // A task stays when its answer is hidden.
    let told = walk.happened() && (!course.hidden || step.task.is_some());
    let hidden = course.hidden.then_some("true");
    html! {
        <section class="lesson" data-hidden={hidden} aria-label={label::lesson()}>
            { head(store, course) }
            { bar(store, course) }
            // It scrolls, so the keyboard has to come there.
            <div class="lesson-body" id="lesson-text" tabindex="0">
                <p class="lesson-title">{ lesson.title.clone() }</p>
                <h2 class="caption-title" id="lesson-step">{ step.title.clone() }</h2>
                if let (1, Some(belief)) = (at, &lesson.belief) {
                    { believed(store, course, belief) }
                }
                { prose(&step.text) }
                if let Some(prediction) = &step.prediction {
                    { predicted(store, course, prediction) }
                }
                if told {
                    { prose(&step.after) }
                    { task(store, course) }
                    { answers(store, course) }
                    { believed_before(store, course) }
                }
                { for notes.filter(|_| store.learn.teaching).map(|it| teacher(it, course)) }
                if let Some(problem) = &store.learn.problem {
                    <p class="problem" role="alert">{ super::problem(problem) }</p>
                }
            </div>
            { way_on(store, course, step) }
            <p class="unseen" role="status" aria-live="polite">
                { label::lesson_status(&at, &pages, &step.title) }
            </p>
        </section>
    }
}

/// Asks the first question of the lesson, or whether one holds its belief.
fn believed(store: &StateHandle, course: &Course, belief: &Belief) -> Html {
    let question = belief.question.as_ref();
    let ask = question.map_or_else(label::belief_question, |it| it.ask.clone());
    let choice = |(i, text): (usize, String)| {
        html! {
            <button
                type="button"
                class={if question.is_some() { "first-choice" } else { "button" }}
                aria-pressed={(course.first_choice == Some(i)).to_string()}
                onclick={store.sends(LearnMsg::ChooseFirst(i))}
            >
                { line(&text) }
            </button>
        }
    };
    html! {
        <blockquote class="belief">
            if question.is_none() {
                <span>{ label::lesson_belief() }</span>{ line(&belief.text) }
            }
            <div class={classes!("belief-choices", question.map(|_| "long"))} role="group" aria-label={ask.clone()}>
                if question.is_some() {
                    <span>{ label::belief_first() }</span>
                }
                <p class="belief-ask">{ line(&ask) }</p>
                { for belief_choices(belief).into_iter().enumerate().map(choice) }
            </div>
            if course.first_choice.is_some() {
                <p class="muted" role="status">{ label::belief_later() }</p>
            }
        </blockquote>
    }
}

/// The choices of the first question: those of the lesson, or yes and no.
fn belief_choices(belief: &Belief) -> Vec<String> {
    match &belief.question {
        Some(question) => question.choices.iter().map(|it| it.text.clone()).collect(),
        None => vec![label::belief_yes(), label::belief_no()],
    }
}

/// Brings the first question back when the lesson is finished, beside the truth.
fn believed_before(store: &StateHandle, course: &Course) -> Html {
    let (walk, lesson) = (&course.walk, course.walk.lesson());
    let last = walk.at() + 1 == lesson.steps.len();
    let Some(belief) = lesson.belief.as_ref().filter(|_| last && walk.finished()) else {
        return Html::default();
    };
    html! {
        <blockquote class="belief">
            <span>{ label::belief_again() }</span>
            if let Some(question) = &belief.question {
                { line(&question.ask) }
                { chosen_before(store, course, question) }
                <span>{ label::lesson_belief() }</span>{ line(&belief.text) }
            } else {
                { line(&belief.text) }
                if let Some(chosen) = course.first_choice {
                    <p class="muted">
                        { if chosen == 0 { label::belief_was_yes() } else { label::belief_was_no() } }
                    </p>
                }
            }
            <span>{ label::belief_instead() }</span>{ line(&lesson.teaches) }
        </blockquote>
    }
}

/// The choice of the learner before the lesson, the reason why it is wrong, and the right choice.
fn chosen_before(store: &StateHandle, course: &Course, question: &FirstQuestion) -> Html {
    let right = question.choices.iter().find(|it| it.refuted.is_none());
    let chosen = course.first_choice.and_then(|i| question.choices.get(i));
    let refuted = chosen.and_then(|it| it.refuted.as_ref());
    html! {
        <>
            if let Some(chosen) = chosen {
                <span>{ label::belief_chosen() }</span>{ line(&chosen.text) }
                if refuted.is_none() {
                    <p class="reached">{ icon(Icon::Check) }{ label::belief_right() }</p>
                }
            }
            if let Some(refuted) = refuted {
                <p>
                    { line(&refuted.answer) }
                    if let Some(page) = refuted.page {
                        { " " }
                        <button type="button" class="link" onclick={store.sends(LearnMsg::Turn(page))}>
                            { label::belief_page(&(page + 1)) }
                        </button>
                    }
                </p>
            }
            if let Some(right) = right.filter(|_| chosen.is_none() || refuted.is_some()) {
                <span>{ label::belief_answer() }</span>{ line(&right.text) }
            }
        </>
    }
}

/// The notes for the teacher. They are folded: a room should not read which answer is expected.
fn teacher(notes: &str, course: &Course) -> Html {
    let notes = teacher_notes(notes, &course.name);
    html! {
        if !notes.is_empty() {
            <details class="teacher-notes">
                <summary>{ label::teacher_notes() }</summary>
                { for notes.iter().map(|it| html! { <><b>{ it.path.clone() }</b>{ prose(&it.text) }</> }) }
            </details>
        }
    }
}

/// The way out, and the ways to take the lesson.
fn head(store: &StateHandle, course: &Course) -> Html {
    html! {
        <div class="lesson-head">
            <a
                class="link"
                href={Page::Learn.fragment()}
                onclick={store.sends(LearnMsg::Leave)}
            >
                { label::lessons_all() }
            </a>
            if course.walk.opened() > 1 {
                <button
                    type="button"
                    class="link"
                    onclick={store.sends(LearnMsg::Restart)}
                >
                    { label::lesson_start_again() }
                </button>
            }
            <button
                type="button"
                class="link"
                aria-pressed={store.learn.teaching.to_string()}
                title={label::lesson_teach_hint()}
                onclick={store.sends(LearnMsg::Teach)}
            >
                { label::lesson_teach() }
            </button>
        </div>
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
                    aria-label={label::lesson_bar_step(&(page + 1), &step.title)}
                    aria-current={(page == walk.at()).then_some("step")}
                    onclick={store.sends(LearnMsg::Turn(page))}
                />
            </li>
        }
    };
    html! {
        <ol class="lesson-bar" aria-label={label::lesson_bar()}>
            { for walk.lesson().steps.iter().enumerate().map(stroke) }
        </ol>
    }
}

fn predicted(store: &StateHandle, course: &Course, prediction: &Prediction) -> Html {
    let walk = &course.walk;
    let happened = walk.happened() && !course.hidden;
    let choice = |(i, choice): (usize, &optimist_lesson::Choice)| {
        let right = walk.right() == Some(i);
        let chosen = walk.chosen() == Some(i);
        let said = match (happened, right, chosen) {
            (true, true, true) => label::prediction_right(),
            (true, true, false) => label::prediction_answer(),
            (true, false, true) => label::prediction_yours(),
            _ => String::new(),
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
                        if let (true, true, Some(answer)) = (happened, chosen, &choice.answer) {
                            <span class="choice-answer">{ line(answer) }</span>
                        }
                    </span>
                </button>
            </li>
        }
    };
    html! {
        <div class="prediction" role="group" aria-label={label::prediction()}>
            <p class="question">
                if !happened {
                    <span class="unseen">{ label::prediction_before() }</span>
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
    let aside = !course.hidden && walk.has_left_script(&store.session.tree);
    // A learner answers first.
    let asks = course.is_asking() && !store.learn.teaching;
    let told = walk.happened() && !course.hidden;
    let label = match (told, step.task.is_some() && !walk.solved()) {
        (false, _) if asks => label::lesson_answer(),
        (false, _) => label::lesson_show(),
        (true, true) => label::lesson_skip(),
        (true, false) => label::lesson_next_step(),
    };
    html! {
        <div class="way-on">
            if aside && step.task.is_none() {
                <p class="aside">
                    { label::lesson_aside() }{ " " }
                    <button
                        type="button"
                        class="link"
                        onclick={store.sends(LearnMsg::Resume)}
                    >
                        { label::lesson_return() }
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
                    { label::lesson_back() }
                </button>
                if last && told {
                    { onward(store, course) }
                } else {
                    <button
                        type="button"
                        class={classes!("button", (step.task.is_none() || walk.solved()).then_some("primary"))}
                        id="lesson-forward"
                        disabled={asks}
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

/// From the last step to the next lesson or quiz of the main line; from an optional lesson, to all lessons.
fn onward(store: &StateHandle, course: &Course) -> Html {
    let catalogue = store.learn.catalogue.as_ref();
    let next = catalogue.and_then(|catalogue| {
        let mut names = catalogue.main_line();
        names.find(|name| *name == course.name)?;
        names.next().map(str::to_owned)
    });
    let class = classes!("button", course.walk.finished().then_some("primary"));
    match next {
        Some(next) => html! {
            <a {class} id="lesson-forward" href={lesson_fragment(&next)}>
                { label::lesson_next() }{ icon(Icon::Forward) }
            </a>
        },
        None => html! {
            <a
                {class}
                id="lesson-forward"
                href={Page::Learn.fragment()}
                onclick={store.sends(LearnMsg::Leave)}
            >
                { label::lessons_all() }
            </a>
        },
    }
}

/// Says how many answers of a quiz were right, on its last page.
fn answers(store: &StateHandle, course: &Course) -> Html {
    let catalogue = store.learn.catalogue.as_ref();
    let is_quiz = catalogue.is_some_and(|it| it.quizzes().any(|quiz| quiz.name == course.name));
    let last = course.walk.at() + 1 == course.walk.lesson().steps.len();
    let (right, all) = course.walk.right_answers();
    html! {
        if is_quiz && last {
            <p class="reached" role="status"><b>{ label::quiz_right(&right, &all) }</b></p>
        }
    }
}
