//! The matrix: counts of the verdicts for the same edits with each write method.

use std::rc::Rc;

use optimist_messages::{explore as messages, label};
use optimist_simulation::ActorId;
use optimist_simulation::explore::Tally;
use optimist_simulation::verdict::{RefusalKind, Verdict};
use yew::{Html, MouseEvent, classes, html};

use super::mixed::Mixed;
use super::{Explored, on, property, sentences};
use crate::state::{BarPart, ExploreModel, ExploreMsg, ExploreRow, MapFocus, RowState, bar_parts};

/// A column of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// The histories with a verdict that is no refusal.
    Verdict(Verdict),
    /// The refused histories, by the kind of the refusal.
    Refused(RefusalKind),
}

impl Column {
    /// The columns of a table. Those that are rarely needed are left out if no row has them.
    fn all(model: &ExploreModel) -> Vec<Self> {
        let refusals = [
            RefusalKind::Conflict,
            RefusalKind::NotPossible,
            RefusalKind::Gone,
        ];
        let columns = [Verdict::InObject, Verdict::Replaced, Verdict::LeftOut];
        let columns = columns.into_iter().map(Self::Verdict);
        let columns = columns.chain(refusals.map(Self::Refused));
        let columns = columns.chain([Self::Verdict(Verdict::Lost)]);
        let is_needed = |column: &Self| match column {
            Self::Verdict(Verdict::LeftOut)
            | Self::Refused(RefusalKind::NotPossible | RefusalKind::Gone) => {
                model.rows.iter().any(|row| column.count(&row.tally) > 0)
            }
            _ => true,
        };
        columns.filter(is_needed).collect()
    }

    fn count(self, tally: &Tally) -> u128 {
        match self {
            Self::Verdict(verdict) => tally.histories_with(verdict),
            Self::Refused(kind) => tally.refused_by(kind),
        }
    }

    fn verdict(self) -> Verdict {
        match self {
            Self::Verdict(verdict) => verdict,
            Self::Refused(_) => Verdict::Refused,
        }
    }

    /// The refusal in full, for a column that has only its code.
    fn meaning(self) -> Option<String> {
        match self {
            Self::Refused(kind) => Some(messages::refusal(kind)),
            Self::Verdict(_) => None,
        }
    }

    fn heading(self, actors: usize) -> String {
        match self {
            Self::Refused(kind) => messages::refusal_column(kind),
            Self::Verdict(Verdict::InObject) if actors == 2 => label::matrix_kept_both(),
            Self::Verdict(Verdict::InObject) => label::matrix_kept_all(),
            Self::Verdict(Verdict::Replaced) => label::matrix_replaced(),
            Self::Verdict(Verdict::LeftOut) => label::matrix_left_out(),
            Self::Verdict(Verdict::Refused | Verdict::Lost) => label::matrix_lost(),
        }
    }
}

pub(super) fn matrix(model: &Explored) -> Html {
    let columns = Column::all(model);
    let width = columns.len() + usize::from(property::is_asked(model));
    let left_out = columns.contains(&Column::Verdict(Verdict::LeftOut));
    let actors = model.setup.actors();
    let shown = model.shown_rows().into_iter();
    let mut shown = shown.filter_map(|at| model.rows.get(at));
    let rare = shown.any(|row| bar_parts(&row.tally).iter().any(|part| part.mark.is_some()));
    let legend_kept = match actors {
        2 => label::legend_kept_both(),
        _ => label::legend_kept_all(),
    };
    let legend_refused = match model.setup.loses_answer {
        true => label::legend_refused_lost_answer(),
        false => label::legend_refused(),
    };
    html! {
        <>
            <ul class="legend" aria-label={label::legend()}>
                <li class="kept">{ legend_kept }</li>
                <li class="replaced">{ label::legend_replaced() }</li>
                <li class="refused">{ legend_refused }</li>
                <li class="lost">{ label::legend_lost() }</li>
                if left_out {
                    <li class="left-out">{ label::legend_left_out() }</li>
                }
                if rare {
                    <li class="rare">{ label::legend_rare() }</li>
                }
            </ul>
            <table class={classes!("matrix", (width > 5).then_some("many"))} style={format!("--columns:{width}")}>
                <caption class="unseen">{ label::matrix_caption() }</caption>
                <thead>
                    <tr>
                        <th scope="col" class="way">{ heading_of_ways(model) }</th>
                        <th scope="col" class="bar">{ label::matrix_outcomes() }</th>
                        { for columns.iter().map(|column| html! {
                            <th scope="col" title={column.meaning()}>{ column.heading(actors) }</th>
                        }) }
                        if width > columns.len() {
                            <th scope="col" title={label::property_title()}>{ label::property_column() }</th>
                        }
                    </tr>
                </thead>
                { grouped(model, &columns, width) }
                { own_choice(model, &columns, width) }
            </table>
            { progress(model) }
            <p class="moral">
                { label::explore_moral() }
            </p>
        </>
    }
}

/// The row in which each actor writes in a way that the user chooses.
fn own_choice(model: &Explored, columns: &[Column], width: usize) -> Html {
    html! {
        <tbody>
            if model.groups.is_some() {
                { group_head(label::matrix_own_choice(), width) }
            }
            { row(model, model.mixed_row(), columns) }
            <Mixed
                key="mixed"
                setup={model.setup.clone()}
                ways={Rc::clone(&model.ways)}
                chosen={model.chosen == model.mixed_row()}
                columns={width + 2}
                dispatcher={model.dispatcher()}
            />
        </tbody>
    }
}

/// The heading of the write methods. A third actor that is a tool has its own.
fn heading_of_ways(model: &Explored) -> Html {
    match model.setup.tool() {
        Some(tool) => html! {
            <>
                { label::matrix_ways_but_tool() }
                <span class="note">{ messages::actor_tool(ActorId::C, tool) }</span>
            </>
        },
        None => html! { label::matrix_ways() },
    }
}

/// The heading of a group of rows.
fn group_head(name: String, width: usize) -> Html {
    let columns = (width + 2).to_string();
    html! { <tr class="group"><th scope="rowgroup" colspan={columns}>{ name }</th></tr> }
}

/// The rows but the mixed one: the ways of writing that never lose an edit come first.
fn grouped(model: &Explored, columns: &[Column], width: usize) -> Html {
    let group = |name: Option<String>, rows: &[usize]| {
        if rows.is_empty() {
            return html! {};
        }
        // They come first on a phone.
        let can_lose = model
            .groups
            .as_ref()
            .is_some_and(|groups| groups.possible == rows);
        html! {
            <tbody class={classes!(can_lose.then_some("possible"))}>
                if let Some(name) = name {
                    { group_head(name, width) }
                }
                { for rows.iter().map(|at| row(model, *at, columns)) }
            </tbody>
        }
    };
    let own: Vec<usize> = model.own_row().into_iter().collect();
    let Some(groups) = &model.groups else {
        let ways: Vec<usize> = (0..model.mixed_row()).collect();
        return html! { <>{ group(None, &own) }{ group(None, &ways) }</> };
    };
    html! {
        <>
            { group(None, &own) }
            { group(Some(label::matrix_never_lose()), &groups.never) }
            { group(Some(label::matrix_can_lose()), &groups.possible) }
            { group(Some(label::matrix_never_store()), &groups.never_stored) }
            { group(Some(label::matrix_unknown()), &groups.unknown) }
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

fn row(model: &Explored, at: usize, columns: &[Column]) -> Html {
    let Some(row) = model.rows.get(at) else {
        return html! {};
    };
    let chosen = at == model.chosen;
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
            { for columns.iter().map(|column| count(row, *column, model.setup.actors())) }
            if property::is_asked(model) {
                { property::cell(row.answer.as_ref()) }
            }
        </tr>
    }
}

/// Draws the number of histories of a row in a column. On a phone, each number has the head of its column below it.
fn count(row: &ExploreRow, column: Column, actors: usize) -> Html {
    let count = column.count(&row.tally);
    let tone = super::classes::tone(column.verdict());
    // Until the search is complete, a count of 0 says only that none was found so far.
    let known = count > 0 || row.is_complete();
    let text = messages::count_in_column(count, row.tally.total(), row.is_complete());
    html! {
        <td
            class={classes!("count", tone, (count > 0).then_some("some"))}
            data-head={column.heading(actors)}
        >
            if !known {
                <span class="muted">{ "·" }</span>
            } else {
                <span title={messages::number(count)}>{ text }</span>
            }
        </td>
    }
}

/// The outcomes as parts of a bar. The counts beside it say the same.
fn bar(model: &Explored, at: usize, row: &ExploreRow) -> Html {
    if row.search().is_none() || row.tally.total() == 0 {
        let state = match row.state {
            RowState::Running => "searching",
            RowState::Waiting => "waiting",
            _ => "nothing",
        };
        return html! { <div class={classes!("outcomes", state)} /> };
    }
    let part = |part: BarPart| {
        let verdict = part.verdict;
        let mark = part.mark.map(|beside| format!(";--beside:{beside}"));
        let actors = model.setup.actors();
        let title = messages::part_of_orders(&row.tally, verdict, actors, row.is_complete());
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
        <div
            class={classes!("outcomes", (!row.is_complete()).then_some("stopped"))}
            aria-hidden="true"
        >
            { for bar_parts(&row.tally).into_iter().map(part) }
        </div>
    }
}
