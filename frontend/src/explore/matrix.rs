//! The matrix: counts of the verdicts for the same edits with each write method.

use std::rc::Rc;

use optimist_messages::explore as messages;
use optimist_simulation::verdict::{RefusalKind, Verdict};
use yew::{Html, MouseEvent, classes, html};

use super::mixed::Mixed;
use super::model::{ExploreMsg, Focus, Row, RowState};
use super::{Explored, on, replay};
use crate::state::StateHandle;

pub(super) fn matrix(store: &StateHandle, model: &Explored) -> Html {
    let left_out = model.rows.iter().any(|row| row.tally.left_out > 0);
    let kept = if model.setup.actors() == 2 {
        "both"
    } else {
        "all"
    };
    html! {
        <>
            <table class="matrix">
                <caption class="unseen">{ "What became of the edits, by way of writing" }</caption>
                <thead>
                    <tr>
                        <th scope="col" class="way">{ "Everybody writes by" }</th>
                        <th scope="col" class="bar">{ "Outcomes over all orders" }</th>
                        <th scope="col">{ kept }{ " in the object" }</th>
                        <th scope="col">{ "replaced" }</th>
                        if left_out {
                            <th scope="col">{ "left out" }</th>
                        }
                        <th scope="col">{ "refused" }</th>
                        <th scope="col">{ "lost update" }</th>
                    </tr>
                </thead>
                <tbody>
                    { for (0..model.rows.len()).map(|at| row(store, model, at, left_out)) }
                    <Mixed
                        key="mixed"
                        setup={model.setup.clone()}
                        ways={Rc::clone(&model.ways)}
                        chosen={model.chosen == model.mixed_row()}
                        columns={if left_out { "7" } else { "6" }}
                        dispatcher={model.dispatcher()}
                    />
                </tbody>
            </table>
            <ul class="legend" aria-label="Legend">
                <li class="kept">{ kept }{ " edits are in the object" }</li>
                <li class="replaced">{ "replaced knowingly: by one who had been shown the edit" }</li>
                <li class="refused">{ "refused: the writer knows" }</li>
                <li class="lost">{ "lost: nobody was told" }</li>
                if left_out {
                    <li class="left-out">{ "left out: answered 2xx without the edit" }</li>
                }
            </ul>
            { progress(model) }
            <p class="moral">
                { "A refused write is the system working. A lost one is the bug that resourceVersion exists to prevent." }
            </p>
        </>
    }
}

fn progress(model: &Explored) -> Html {
    let done = model
        .rows
        .iter()
        .filter(|row| row.search().is_some())
        .count();
    if model.turn.is_running() {
        return html! {
            <p class="progress">
                <progress max={model.rows.len().to_string()} value={done.to_string()} />
                <span>{ format!("{done} of {} ways searched", model.rows.len()) }</span>
                <button type="button" class="button" onclick={on(model, |_: MouseEvent| ExploreMsg::Cancel)}>
                    { "Cancel" }
                </button>
            </p>
        };
    }
    let cancelled = model
        .rows
        .iter()
        .any(|row| matches!(row.state, RowState::Cancelled));
    if !cancelled {
        return html! {};
    }
    html! {
        <p class="progress">
            <span>{ format!("Cancelled: {done} of {} ways searched", model.rows.len()) }</span>
            <button type="button" class="button" onclick={on(model, |_: MouseEvent| ExploreMsg::Again)}>
                { "Search again" }
            </button>
        </p>
    }
}

fn row(store: &StateHandle, model: &Explored, at: usize, left_out: bool) -> Html {
    let Some(row) = model.rows.get(at) else {
        return html! {};
    };
    let chosen = at == model.chosen;
    let count = |verdict: Verdict| {
        let count = row.tally.of(verdict);
        let all = count > 0 && count == row.tally.total();
        let known = row.search().is_some() || row.tally.total() > 0;
        // The bar does the same for the keyboard.
        let search = row.search().filter(|_| count > 0);
        // Only where not all of them are conflicts.
        let kinds = (row.tally.refused_by(RefusalKind::Conflict) < row.tally.refused)
            .then(|| messages::refusals(&row.tally));
        let onclick = search.map(|search| replay::ending(store, model, search, verdict));
        html! {
            <td
                class={classes!("count", super::classes::tone(verdict), (count > 0).then_some("some"))}
                {onclick}
            >
                if !known {
                    <span class="muted">{ "·" }</span>
                } else if let Some(kinds) = kinds.filter(|_| verdict == Verdict::Refused) {
                    <span title={kinds.clone()}>{ messages::number(count) }<span class="unseen">{ ": " }{ kinds }</span></span>
                } else if all && count > 1 {
                    <span title={messages::number(count)}>{ "all" }</span>
                } else {
                    { messages::number(count) }
                }
            </td>
        }
    };
    let note = row.stopped();
    html! {
        <tr key={at} class={classes!(chosen.then_some("chosen"))}>
            <th scope="row" class="way">
                <button
                    type="button"
                    aria-pressed={chosen.to_string()}
                    onclick={on(model, move |_: MouseEvent| ExploreMsg::Choose(at))}
                >
                    { if at == model.mixed_row() {
                        "Each in another way".to_owned()
                    } else {
                        model.ways.get(at).and_then(messages::way_in_table).unwrap_or_default()
                    } }
                </button>
                if let Some(note) = note {
                    <span class="note">{ note }</span>
                }
            </th>
            <td class="bar">{ bar(store, model, at, row) }</td>
            { count(Verdict::InObject) }
            { count(Verdict::Replaced) }
            if left_out {
                { count(Verdict::LeftOut) }
            }
            { count(Verdict::Refused) }
            { count(Verdict::Lost) }
        </tr>
    }
}

/// The outcomes as parts of a bar; each opens the shortest history that ends so.
fn bar(store: &StateHandle, model: &Explored, at: usize, row: &Row) -> Html {
    let total = row.tally.total();
    let Some(search) = row.search().filter(|_| total > 0) else {
        let state = match row.state {
            RowState::Running => "searching",
            RowState::Waiting => "waiting",
            _ => "nothing",
        };
        return html! { <div class={classes!("outcomes", state)} /> };
    };
    let part = |verdict: Verdict| {
        let count = row.tally.of(verdict);
        if count == 0 {
            return html! {};
        }
        // Shares, so that what is rare is seen beside what is countless.
        let share = (count as f64 / total as f64 * 100.0).max(3.0);
        let label = format!(
            "{} of {} {}. Open the shortest in Play",
            messages::number(count),
            messages::number(total),
            messages::ending(verdict, model.setup.actors(), count)
        );
        let onclick = replay::ending(store, model, search, verdict);
        let chosen = at == model.chosen;
        let hover = move |focus: Option<Focus>| {
            on(model, move |_: MouseEvent| {
                ExploreMsg::Focus(focus.filter(|_| chosen))
            })
        };
        html! {
            <button
                type="button"
                class={super::classes::tone(verdict)}
                style={format!("flex-grow:{share:.2}")}
                aria-label={label.clone()}
                title={label}
                {onclick}
                onmouseenter={hover(Some(Focus::Ending(verdict)))}
                onmouseleave={hover(None)}
            />
        }
    };
    html! {
        <div class="outcomes">
            { for [Verdict::InObject, Verdict::Replaced, Verdict::LeftOut, Verdict::Refused, Verdict::Lost].map(part) }
        </div>
    }
}
