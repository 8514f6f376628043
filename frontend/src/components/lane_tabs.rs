//! Where only one card fits: three heads that choose which one is open.

use yew::{Html, classes, component, html};

use super::StoreProps;
use super::editor_card::chip;
use crate::state::{Lane, Msg, Sends};

#[component]
pub(crate) fn LaneTabs(props: &StoreProps) -> Html {
    let store = &props.store;
    let head = |lane: Lane| {
        let (name, (version, tone)) = match lane {
            Lane::Editor(editor) => (editor.name(), chip(store, editor)),
            Lane::Server => {
                let version = store.world().stored().map(|(version, _)| version);
                let version = version.map_or("deleted".to_owned(), |v| format!("rv {v}"));
                ("Server", (version, "plain"))
            }
        };
        // `stale by 1` has no room here.
        let version = version.split(" by ").next().unwrap_or_default().to_owned();
        html! {
            <button
                type="button"
                class={classes!("lane-tab", lane.slug())}
                aria-pressed={(store.lane == lane).to_string()}
                onclick={store.sends(Msg::Open(lane))}
            >
                <span class="lane-name">{ name }</span>
                <span class={classes!("lane-version", tone)}>{ version }</span>
            </button>
        }
    };
    html! {
        <div class="lane-tabs" role="group" aria-label="Open card">
            { for Lane::ALL.map(head) }
        </div>
    }
}
