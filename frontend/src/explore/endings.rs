//! The endings in words: the shortest way to lose an update, and a list of all of them.

use std::rc::Rc;

use optimist_messages::{explore as messages, label};
use optimist_simulation::explore::{Search, SearchStatus, StateId};
use optimist_simulation::verdict::Verdict;
use yew::{Html, classes, html};

use super::{Explored, replay};
use crate::state::StateHandle;

/// The maximum number of endings in the list.
const MOST: usize = 60;

/// The shortest path to a lost update, or a message that no order loses one.
pub(super) fn witness(store: &StateHandle, model: &Explored, search: &Rc<Search>) -> Html {
    let total = search.tally().total();
    let complete = search.status() == SearchStatus::Done;
    let Some(shortest) = messages::shortest_loss(search) else {
        let text = messages::none_lost(total, complete);
        let tone = (complete || total > 0).then_some("kept");
        return html! { <p class={classes!("witness", tone)}><b>{ text }</b></p> };
    };
    html! {
        <div class="witness lost">
            <p><b>{ label::shortest_loss() }</b>{ ": " }{ shortest }</p>
            <button type="button" class="button" onclick={replay::ending(store, model, search, Verdict::Lost)}>
                { label::open_it_in_play() }
            </button>
        </div>
    }
}

/// Every ending, the worst first.
pub(super) fn list(store: &StateHandle, model: &Explored, search: &Rc<Search>) -> Html {
    let mut ends: Vec<(Verdict, String, u128, StateId)> = Vec::new();
    for end in search.ends() {
        let (verdict, why) = (end.verdict(), messages::because(search, end.id));
        // What reads the same is one ending here, though it may be several states.
        let known = ends
            .iter_mut()
            .find(|(other, text, ..)| *other == verdict && *text == why);
        match known {
            Some((.., count, _)) => *count = count.saturating_add(end.histories()),
            None => ends.push((verdict, why, end.histories(), end.id)),
        }
    }
    ends.sort_by_key(|(verdict, _, count, _)| (*verdict, std::cmp::Reverse(*count)));
    let actors = model.setup.actors();
    let more = ends.len().saturating_sub(MOST);
    let item = |(verdict, why, count, end): &(Verdict, String, u128, StateId)| {
        let path = search.path_to(*end);
        html! {
            <li class={classes!("ending", super::classes::tone(*verdict))}>
                <p>
                    <b>
                        { messages::orders(*count) }{ " " }
                        { messages::ending(*verdict, actors, *count) }
                    </b>
                    if !why.is_empty() {
                        { ": " }{ why.clone() }
                    }
                    { "." }
                </p>
                <p class="steps">{ messages::path(search, &path) }</p>
                <button
                    type="button"
                    class="link"
                    aria-label={label::open_path_in_play(&messages::path(search, &path))}
                    onclick={replay::state(store, model, search, *end)}
                >
                    { label::open_in_play() }
                </button>
            </li>
        }
    };
    let title = match search.status() {
        SearchStatus::Done => label::all_endings(),
        _ => label::endings_so_far(),
    };
    html! {
        <div class="endings">
            <h4>{ &title }</h4>
            if ends.is_empty() {
                <p class="muted">{ label::no_endings_so_far() }</p>
            }
            <ul aria-label={title}>{ for ends.iter().take(MOST).map(item) }</ul>
            if more > 0 {
                <p class="muted">{ label::more_endings(&more) }</p>
            }
        </div>
    }
}
