//! Two ways of writing side by side: the shortest order of requests that ends differently.

use std::rc::Rc;

use optimist_messages::{explore as messages, label};
use optimist_simulation::explore::{Comparison, JointStep, Search, TransitionId};
use yew::{Event, Html, classes, html};

use super::{Explored, on, replay, sentences};
use crate::browser::selected;
use crate::state::{ExploreMsg, StateHandle};

/// The choice of a second row, and what tells it from the chosen one.
pub(super) fn side_by_side(store: &StateHandle, model: &Explored, search: &Rc<Search>) -> Html {
    let choose = on(model, |event: Event| {
        ExploreMsg::Compare(selected(&event).parse().ok())
    });
    let rows = model.shown_rows().into_iter().filter(|at| {
        let is_searched = model
            .rows
            .get(*at)
            .is_some_and(|row| row.search().is_some());
        *at != model.chosen && is_searched
    });
    let other = model.compared.and_then(|at| model.rows.get(at)?.search());
    html! {
        <div class="side-by-side">
            <label class="field">
                <span>{ label::compare_with() }</span>
                <select aria-label={label::compare_with()} onchange={choose}>
                    <option value="" selected={model.compared.is_none()}>{ label::compare_with_none() }</option>
                    { for rows.map(|at| html! {
                        <option value={at.to_string()} selected={model.compared == Some(at)}>
                            { sentences::name(model, at) }
                        </option>
                    }) }
                </select>
            </label>
            if let (Some(other), Some(comparison)) = (other, &model.comparison) {
                { result(store, model, [search, other], comparison) }
            }
        </div>
    }
}

fn result(
    store: &StateHandle,
    model: &Explored,
    searches: [&Rc<Search>; 2],
    comparison: &Comparison,
) -> Html {
    let steps = match comparison {
        Comparison::Differs(steps) => steps,
        Comparison::Same => return html! { <p>{ label::compare_same() }</p> },
        Comparison::Unknown => return html! { <p>{ label::compare_unknown() }</p> },
    };
    let rows = [Some(model.chosen), model.compared];
    let names = rows.map(|at| at.map_or_else(String::new, |at| sentences::name(model, at)));
    let paths: [Vec<TransitionId>; 2] = [
        steps.iter().filter_map(|step| step.first).collect(),
        steps.iter().filter_map(|step| step.second).collect(),
    ];
    let ends = [0, 1].map(|side| end(store, model, searches[side], &paths[side]));
    html! {
        <>
            <p><b>{ messages::compare_shortest(steps.len()) }</b></p>
            <table>
                <thead>
                    <tr>{ for names.iter().map(|name| html! { <th scope="col">{ name }</th> }) }</tr>
                </thead>
                <tbody>
                    { for steps.iter().map(|step| row(searches, *step)) }
                    <tr>{ for ends }</tr>
                </tbody>
            </table>
        </>
    }
}

fn row([first, second]: [&Rc<Search>; 2], step: JointStep) -> Html {
    let texts = [(first, step.first), (second, step.second)]
        .map(|(search, id)| id.map_or_else(String::new, |id| messages::path(search, &[id])));
    let differs = texts[0] != texts[1];
    html! {
        <tr class={classes!(differs.then_some("differs"))}>
            { for texts.iter().map(|text| html! { <td>{ text }</td> }) }
        </tr>
    }
}

/// Draws the end of the order in one of the searches, and a button that opens it.
fn end(store: &StateHandle, model: &Explored, search: &Rc<Search>, path: &[TransitionId]) -> Html {
    let last = path.last().and_then(|id| search.edges().get(*id));
    let Some(end) = last.and_then(|edge| search.view(edge.to)) else {
        return html! { <td /> };
    };
    let verdict = end.verdict();
    let why = messages::because(search, end.id);
    html! {
        <td class={super::classes::tone(verdict)}>
            <b>{ messages::ending(verdict, model.setup.actors(), 1) }</b>
            if !why.is_empty() {
                { ": " }{ why }
            }
            { ". " }
            <button type="button" class="link" onclick={replay::path(store, model, search, path)}>
                { label::open_in_play() }
            </button>
        </td>
    }
}
