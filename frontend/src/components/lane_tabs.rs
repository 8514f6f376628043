//! The heads of lanes without a card, which open their lanes: all of them in windows with room for one
//! card, else those of the actors that do not have the right lane.

use optimist_messages::{cards, controller_card::cache_chip, label};
use optimist_simulation::ActorId;
use yew::{Callback, Html, MouseEvent, classes, html};

use super::editor_card::add_actor;
use super::icon::{Icon, icon};
use crate::browser;
use crate::state::{Lane, Sends, State, StateHandle, ViewMsg};

/// Opens the card of a lane, and brings it into sight where cards and timeline scroll together.
fn open(store: &StateHandle, lane: Lane) -> Callback<MouseEvent> {
    let dispatcher = store.dispatcher();
    Callback::from(move |_: MouseEvent| {
        dispatcher.send(ViewMsg::Open(lane));
        browser::scroll_to_top(".stage");
    })
}

/// The version of an editor's copy or of a controller's cache, where there is little room: its words and its
/// tone. A tick says that it is current.
fn version_of(state: &State, editor: ActorId) -> (String, &'static str) {
    let world = state.world();
    if world.controller(editor).is_some() {
        let (version, behind) = cache_chip(&world.cache_standings(editor));
        return (version, if behind { "refused" } else { "ok" });
    }
    let tone = match world.copy(editor).read() {
        None => "plain",
        Some(_) if world.stale_by(editor) == 0 => "ok",
        Some(_) => "refused",
    };
    (cards::copy_tab(world, editor), tone)
}

/// Draws the head of a lane, which opens it.
fn lane_tab(store: &StateHandle, lane: Lane) -> Html {
    let (name, (version, tone)) = match lane {
        Lane::Editor(editor) => (store.name(editor).to_owned(), version_of(store, editor)),
        Lane::Server => {
            let version = cards::stored_version(store.world());
            (label::server_short(), (version, "plain"))
        }
    };
    html! {
        <button
            type="button"
            class={classes!("lane-tab", lane.slug())}
            aria-pressed={(store.view.lane == lane).to_string()}
            onclick={open(store, lane)}
        >
            <span class="lane-name">{ name }</span>
            <span class={classes!("lane-version", tone)}>
                { version }
                if tone == "ok" {
                    { icon(Icon::Check) }
                    <span class="unseen">{ label::current() }</span>
                }
            </span>
        </button>
    }
}

pub(crate) fn lane_tabs(store: &StateHandle) -> Html {
    let tabs = store.lane_tabs();
    html! {
        <div class="lane-tabs" role="group" aria-label={label::open_card()}>
            { for tabs.into_iter().map(|lane| lane_tab(store, lane)) }
            if !store.shows_only_the_first_steps() {
                { add_actor(store) }
            }
        </div>
    }
}

/// The lanes that have no card, beside the cards of a wide window.
pub(crate) fn narrow_lanes(store: &StateHandle) -> Option<Html> {
    let lanes = store.narrow_lanes();
    (!lanes.is_empty()).then(|| {
        html! {
            <div class="narrow-lanes" role="group" aria-label={label::other_lanes()}>
                { for lanes.into_iter().map(|lane| lane_tab(store, lane)) }
            </div>
        }
    })
}
