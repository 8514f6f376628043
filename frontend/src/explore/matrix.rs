//! The matrix: counts of the verdicts for the same edits with each write method.

use std::rc::Rc;

use optimist_messages::{explore as messages, label};
use optimist_simulation::verdict::{RefusalKind, Verdict};
use yew::{Html, MouseEvent, classes, html};

use super::mixed::Mixed;
use super::{Explored, on, sentences};
use crate::state::{BarPart, ExploreMsg, ExploreRow, MapFocus, RowState, bar_parts};

pub(super) fn matrix(model: &Explored) -> Html {
    let left_out = model.rows.iter().any(|row| row.tally.left_out > 0);
    let shown = model.shown_rows().into_iter();
    let mut shown = shown.filter_map(|at| model.rows.get(at));
    let rare = shown.any(|row| bar_parts(&row.tally).iter().any(|part| part.mark.is_some()));
    let (kept, legend_kept) = if model.setup.actors() == 2 {
        (label::matrix_kept_both(), label::legend_kept_both())
    } else {
        (label::matrix_kept_all(), label::legend_kept_all())
    };
    html! {
        <>
            <ul class="legend" aria-label={label::legend()}>
                <li class="kept">{ legend_kept }</li>
                <li class="replaced">{ label::legend_replaced() }</li>
                <li class="refused">{ label::legend_refused() }</li>
                <li class="lost">{ label::legend_lost() }</li>
                if left_out {
                    <li class="left-out">{ label::legend_left_out() }</li>
                }
                if rare {
                    <li class="rare">{ label::legend_rare() }</li>
                }
            </ul>
            <table class="matrix">
                <caption class="unseen">{ label::matrix_caption() }</caption>
                <thead>
                    <tr>
                        <th scope="col" class="way">{ label::matrix_ways() }</th>
                        <th scope="col" class="bar">{ label::matrix_outcomes() }</th>
                        <th scope="col">{ kept }</th>
                        <th scope="col">{ label::matrix_replaced() }</th>
                        if left_out {
                            <th scope="col">{ label::matrix_left_out() }</th>
                        }
                        <th scope="col">{ label::matrix_refused() }</th>
                        <th scope="col">{ label::matrix_lost() }</th>
                    </tr>
                </thead>
                { grouped(model, left_out) }
                <tbody>
                    { row(model, model.mixed_row(), left_out) }
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
            { progress(model) }
            <p class="moral">
                { label::explore_moral() }
            </p>
        </>
    }
}

/// The rows but the mixed one: the ways of writing that never lose an edit come first.
fn grouped(model: &Explored, left_out: bool) -> Html {
    let columns = if left_out { "7" } else { "6" };
    let group = |name: Option<String>, rows: &[usize]| {
        if rows.is_empty() {
            return html! {};
        }
        html! {
            <tbody>
                if let Some(name) = name {
                    <tr class="group"><th scope="rowgroup" colspan={columns}>{ name }</th></tr>
                }
                { for rows.iter().map(|at| row(model, *at, left_out)) }
            </tbody>
        }
    };
    let own: Vec<usize> = model.own_row().into_iter().collect();
    let Some(groups) = model.grouped_rows() else {
        let ways: Vec<usize> = (0..model.mixed_row()).collect();
        return html! { <>{ group(None, &own) }{ group(None, &ways) }</> };
    };
    html! {
        <>
            { group(None, &own) }
            { group(Some(label::matrix_never_lose()), &groups.never_lose) }
            { group(Some(label::matrix_can_lose()), &groups.can_lose) }
            { group(Some(label::matrix_impossible()), &groups.impossible) }
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
                <span>{ label::search_progress(&done, &model.rows.len()) }</span>
                <button type="button" class="button" onclick={on(model, |_: MouseEvent| ExploreMsg::Cancel)}>
                    { label::search_cancel() }
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
            <span>{ label::search_cancelled(&done, &model.rows.len()) }</span>
            <button type="button" class="button" onclick={on(model, |_: MouseEvent| ExploreMsg::Again)}>
                { label::search_again() }
            </button>
        </p>
    }
}

fn row(model: &Explored, at: usize, left_out: bool) -> Html {
    let Some(row) = model.rows.get(at) else {
        return html! {};
    };
    let chosen = at == model.chosen;
    let count = |verdict: Verdict| count(row, verdict);
    let name = if at == model.mixed_row() {
        label::matrix_mixed()
    } else {
        let way = model.way_of(at).and_then(|way| model.ways.get(way));
        way.map_or_else(String::new, |way| messages::way(*way))
    };
    let note = sentences::stopped(row);
    let own = model.own_row() == Some(at);
    html! {
        <tr
            key={at}
            class={classes!(chosen.then_some("chosen"))}
            onclick={on(model, move |_: MouseEvent| ExploreMsg::Choose(at))}
        >
            <th scope="row" class="way">
                <button type="button" aria-pressed={chosen.to_string()}>{ name }</button>
                if let Some(note) = note {
                    <span class="note">{ note }</span>
                }
                if let Some(between) = model.setup.subject.between().filter(|_| own) {
                    { for sentences::own_ways(between).into_iter().map(|way| html! {
                        <span class="note own">{ way }</span>
                    }) }
                }
            </th>
            <td class="bar">{ bar(model, at, row) }</td>
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

/// Draws the number of histories of a row that end with a verdict.
fn count(row: &ExploreRow, verdict: Verdict) -> Html {
    let count = row.tally.of(verdict);
    let all = count > 0 && count == row.tally.total();
    let known = row.search().is_some() || row.tally.total() > 0;
    // Only where not all of them are conflicts.
    let kinds = (row.tally.refused_by(RefusalKind::Conflict) < row.tally.refused)
        .then(|| messages::refusals(&row.tally));
    html! {
        <td
            class={classes!("count", super::classes::tone(verdict), (count > 0).then_some("some"))}
        >
            if !known {
                <span class="muted">{ "·" }</span>
            } else if let Some(kinds) = kinds.filter(|_| verdict == Verdict::Refused) {
                <span title={kinds.clone()}>{ messages::number(count) }<span class="unseen">{ ": " }{ kinds }</span></span>
            } else if all && count > 1 {
                <span title={messages::number(count)}>{ label::matrix_all() }</span>
            } else {
                { messages::number(count) }
            }
        </td>
    }
}

/// The outcomes as parts of a bar. The counts beside it say the same.
fn bar(model: &Explored, at: usize, row: &ExploreRow) -> Html {
    let total = row.tally.total();
    if row.search().is_none() || total == 0 {
        let state = match row.state {
            RowState::Running => "searching",
            RowState::Waiting => "waiting",
            _ => "nothing",
        };
        return html! { <div class={classes!("outcomes", state)} /> };
    }
    let part = |part: BarPart| {
        let BarPart { verdict, count, .. } = part;
        let mark = part.mark.map(|beside| format!(";--beside:{beside}"));
        let title = label::matrix_part(
            &messages::number(count),
            &messages::number(total),
            &messages::ending(verdict, model.setup.actors(), count),
        );
        let chosen = at == model.chosen;
        let hover = move |focus: Option<MapFocus>| {
            on(model, move |_: MouseEvent| {
                ExploreMsg::Focus(focus.filter(|_| chosen))
            })
        };
        html! {
            <span
                class={classes!(super::classes::tone(verdict), part.mark.map(|_| "rare"))}
                style={format!("flex-grow:{}{}", part.share, mark.unwrap_or_default())}
                {title}
                onmouseenter={hover(Some(MapFocus::Ending(verdict)))}
                onmouseleave={hover(None)}
            />
        }
    };
    html! {
        <div class="outcomes" aria-hidden="true">
            { for bar_parts(&row.tally).into_iter().map(part) }
        </div>
    }
}
