//! The task of the learner: a goal in this history, or a challenge over all histories.

use optimist_lesson::{Challenge, Finding, SwitchChallenge, Task, TaskGoal};
use optimist_messages::explore::ending;
use optimist_messages::label;
use optimist_simulation::ActorId;
use optimist_simulation::verdict::Verdict;
use yew::{Html, classes, html};

use super::prose::{line, prose};
use super::switches::switches;
use crate::components::icon::{Icon, icon};
use crate::state::{Course, LearnMsg, Sends, StateHandle};

pub(super) fn task(store: &StateHandle, course: &Course) -> Html {
    match &course.walk.step().task {
        None => html! {},
        Some(Task::Goal(task)) => goal(store, course, task),
        Some(Task::Challenge(task)) => challenge(store, course, task),
        Some(Task::Switches(task)) => controller_challenge(store, course, task),
    }
}

fn goal(store: &StateHandle, course: &Course, goal: &TaskGoal) -> Html {
    let walk = &course.walk;
    let moved = walk.has_left_script(&store.session.tree);
    let aims = walk.goal(&store.session.tree);
    let here = aims.iter().all(|(_, holds)| *holds);
    let solved = walk.solved() && !course.hidden;
    html! {
        <div class={classes!("task", solved.then_some("solved"))} role="group" aria-label={label::task()}>
            <p class="question">{ line(&goal.ask) }</p>
            <ul class="aims">
                { for aims.into_iter().map(|(label, holds)| html! {
                    <li class={classes!(holds.then_some("done"))}>
                        <span class="tick">
                            if holds { { icon(Icon::Check) } }
                        </span>
                        <span class="unseen">{ if holds { label::task_done() } else { label::task_not_yet() } }</span>
                        { line(&optimist_messages::goal(&label)) }
                    </li>
                }) }
            </ul>
            { dead_end(store, course) }
            { feedback(store, course) }
            { hints(course) }
            <div class="task-row">
                { hint_button(store, course) }
                if moved {
                    { link(store, label::task_start_again(), LearnMsg::Resume) }
                }
                if !solved {
                    { link(store, label::task_show(), LearnMsg::Solve) }
                }
            </div>
            { reached(solved, here, &walk.closing_text(&store.session.tree)) }
        </div>
    }
}

/// Says that the goal cannot be reached from here, and offers the way back.
fn dead_end(store: &StateHandle, course: &Course) -> Html {
    if course.walk.solved() {
        return html! {};
    }
    let lost = course.walk.out_of_reach(&store.session.tree);
    let lost: Vec<String> = lost.iter().map(optimist_messages::goal).collect();
    html! {
        if !lost.is_empty() {
            <p class="aside" role="status">
                { line(&label::task_dead_end(&lost.join("; "))) }{ " " }
                { link(store, label::task_go_back(), LearnMsg::Resume) }
            </p>
        }
    }
}

fn challenge(store: &StateHandle, course: &Course, challenge: &Challenge) -> Html {
    let solved = course.walk.solved() && !course.hidden;
    // Totals of other choices than these say nothing.
    let current = |finding: &&Finding| challenge.is_answered_by(finding, &store.session.tree);
    let finding = course.finding.as_ref();
    let here = finding.is_none_or(|finding| finding.is_met() && current(&finding));
    html! {
        <div class={classes!("task", solved.then_some("solved"))} role="group" aria-label={label::task()}>
            <p class="question">{ line(&challenge.ask) }</p>
            <p class="muted">{ label::challenge_how() }</p>
            <button
                type="button"
                class={classes!("button", "check-orders", (!solved).then_some("primary"))}
                disabled={store.learn.is_searching()}
                onclick={store.sends(LearnMsg::Search)}
            >
                { if store.learn.is_searching() { label::challenge_trying() } else { label::challenge_try() } }
            </button>
            if let Some(finding) = finding.filter(current) {
                { verdict_list(finding) }
            }
            { hints(course) }
            <div class="task-row">
                { hint_button(store, course) }
                if !solved {
                    { link(store, label::task_show(), LearnMsg::Solve) }
                }
            </div>
            { reached(solved, here, &challenge.closing_text(finding.filter(current))) }
        </div>
    }
}

fn controller_challenge(store: &StateHandle, course: &Course, challenge: &SwitchChallenge) -> Html {
    let solved = course.walk.solved() && !course.hidden;
    let found = course.switches.found.as_ref();
    let here = found.is_none_or(|found| found.0.is_met());
    let chosen = found.map(|_| course.switches.chosen(challenge));
    html! {
        <div class={classes!("task", solved.then_some("solved"))} role="group" aria-label={label::task()}>
            <p class="question">{ line(&challenge.ask) }</p>
            { switches(store, course, challenge) }
            { hints(course) }
            <div class="task-row">
                { hint_button(store, course) }
                if !solved {
                    { link(store, label::task_show(), LearnMsg::Solve) }
                }
            </div>
            { reached(solved, here, &challenge.closing_text(chosen)) }
        </div>
    }
}

fn verdict_list(finding: &Finding) -> Html {
    let tally = finding.tally;
    let row = |(verdict, class): (Verdict, &'static str)| {
        let count = tally.histories_with(verdict);
        let against = finding.against.contains(&verdict);
        let ending = ending(verdict, ActorId::EDITORS.len(), count);
        html! {
            if count > 0 {
                <li class={classes!(class, against.then_some("against"))}>
                    { icon(if against { Icon::Cross } else { Icon::Check }) }
                    { format!("{count} {ending}") }
                </li>
            }
        }
    };
    let rows = [
        (Verdict::InObject, "ok"),
        (Verdict::Replaced, "ok"),
        (Verdict::Refused, "refused"),
        (Verdict::LeftOut, "lost"),
        (Verdict::Lost, "lost"),
    ];
    if finding.dry_runs {
        return html! {
            <div class="found" role="status">
                <p>{ label::challenge_dry_runs() }</p>
            </div>
        };
    }
    html! {
        <div class="found" role="status">
            <p>{ label::challenge_orders(&tally.total()) }</p>
            <ul>{ for rows.into_iter().map(row) }</ul>
            if finding.retries {
                <p>{ label::challenge_retries() }</p>
            }
            if !finding.complete {
                <p>{ label::challenge_too_many() }</p>
            }
        </div>
    }
}

/// The hints that were asked for.
fn hints(course: &Course) -> Html {
    let hints = course.walk.step().hints().iter().take(course.hints);
    hints
        .map(|it| html! { <p class="hint">{ line(it) }</p> })
        .collect()
}

fn hint_button(store: &StateHandle, course: &Course) -> Html {
    let all = course.walk.step().hints().len();
    let says = match course.hints {
        0 => label::task_hint(),
        shown if shown < all => label::task_next_hint(),
        _ => label::task_hide_hint(),
    };
    html! {
        if all > 0 {
            { link(store, says, LearnMsg::Hint) }
        }
    }
}

/// Says why the reader's try does not reach the goal, if the lesson knows it.
fn feedback(store: &StateHandle, course: &Course) -> Html {
    let feedback = course.walk.feedback(&store.session.tree);
    let feedback = feedback.filter(|_| !course.walk.solved());
    html! {
        <div role="status">
            if let Some(feedback) = feedback {
                <p class="aside">{ line(&feedback.say) }</p>
            }
        </div>
    }
}

fn link(store: &StateHandle, label: String, msg: LearnMsg) -> Html {
    html! {
        <button type="button" class="link" onclick={store.sends(msg)}>{ label }</button>
    }
}

/// Draws the text after the task is done; a shorter one if the stage shows something else now.
fn reached(solved: bool, here: bool, text: &str) -> Html {
    html! {
        if solved && !here {
            <p class="muted">{ label::task_moved() }</p>
        } else if solved {
            <div class="reached" role="status">
                <p><b>{ icon(Icon::Check) }{ label::task_reached() }</b></p>
                { prose(text) }
            </div>
        }
    }
}
