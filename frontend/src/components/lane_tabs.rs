//! Where only one card fits: three heads that choose which one is open.

use yew::{Callback, Html, MouseEvent, classes, html};

use super::editor_card::chip;
use super::icon::{Icon, icon};
use crate::browser;
use crate::state::{Lane, Sends, StateHandle, ViewMsg};

/// Opens the card of a lane, and brings it into sight where cards and timeline scroll together.
fn open(store: &StateHandle, lane: Lane) -> Callback<MouseEvent> {
    let dispatcher = store.dispatcher();
    Callback::from(move |_: MouseEvent| {
        dispatcher.send(ViewMsg::Open(lane));
        browser::scroll_to_top(".stage");
    })
}

pub(crate) fn lane_tabs(store: &StateHandle) -> Html {
    let head = |lane: Lane| {
        let (name, (version, tone)) = match lane {
            Lane::Editor(editor) => (store.name(editor), chip(store, editor)),
            Lane::Server => {
                let version = store.world().stored().map(|(version, _)| version);
                let version = version.map_or("deleted".to_owned(), |v| format!("rv {v}"));
                ("Server", (version, "plain"))
            }
        };
        // There is no room here for `stale by 1`, and a tick says `current`.
        let version = version.split(" by ").next().unwrap_or_default();
        let version = version.trim_end_matches(" · current").to_owned();
        html! {
            <button
                type="button"
                class={classes!("lane-tab", lane.slug())}
                aria-pressed={(store.view.lane == lane).to_string()}
                onclick={open(store, lane)}
            >
                <span class="lane-name">{ name.to_owned() }</span>
                <span class={classes!("lane-version", tone)}>
                    { version }
                    if tone == "ok" {
                        { icon(Icon::Check) }
                        <span class="unseen">{ "current" }</span>
                    }
                </span>
            </button>
        }
    };
    html! {
        <div class="lane-tabs" role="group" aria-label="Open card">
            { for store.lanes().map(head) }
        </div>
    }
}
