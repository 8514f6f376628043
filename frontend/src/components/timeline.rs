//! What happened, downwards in time: arrows between the lanes.

use yew::{
    FocusEvent, Html, KeyboardEvent, PointerEvent, Properties, classes, component, html,
    use_node_ref, use_state,
};

use super::peek::{Pointed, peek};
use super::step_row::{StepRow, row};
use super::visible_rows::{Drawn, use_in_sight};
use crate::state::{Sends, SessionMsg, StateHandle};

#[derive(PartialEq, Properties)]
pub(crate) struct TimelineProps {
    pub(crate) store: StateHandle,
}

#[component]
pub(crate) fn Timeline(props: &TimelineProps) -> Html {
    let store = &props.store;
    let around = use_node_ref();
    let (sight, onscroll) = use_in_sight(&around, store);
    let pointed = use_state(|| None);
    let point = {
        let pointed = pointed.clone();
        move |at: Option<Pointed>| {
            if at != *pointed {
                pointed.set(at);
            }
        }
    };
    let onpointerover = {
        let point = point.clone();
        move |event: PointerEvent| {
            // A finger that is on an arrow hides it.
            if event.pointer_type() != "touch" {
                point(Pointed::at(event.target(), false));
            }
        }
    };
    let onfocusin = {
        let point = point.clone();
        move |event: FocusEvent| point(Pointed::at(event.target(), true))
    };
    let onpointerleave = {
        let point = point.clone();
        move |_: PointerEvent| point(None)
    };
    let onfocusout = {
        let point = point.clone();
        move |_: FocusEvent| point(None)
    };
    let onkeydown = move |event: KeyboardEvent| {
        if event.key() == "Escape" {
            point(None);
        }
    };
    let tree = &store.session.tree;
    let line = tree.current_path();
    let dispatcher = store.dispatcher();
    let here = tree.position();
    let start = here == 0;
    let first = tree
        .origin()
        .versions()
        .next()
        .map_or(0, |version| version.revision);
    let drawn = Drawn::of(tree, &sight);
    let rows = drawn
        .into_iter()
        .enumerate()
        .filter_map(|(i, drawn)| match drawn {
            Drawn::Row(position, key) => {
                let (parent, node) = (line[position - 1], line[position]);
                let row = row(store, (position, here), (parent, node), &dispatcher)?;
                let key = key.to_string();
                Some(html! { <StepRow {key} ..row /> })
            }
            Drawn::Gap(room) => {
                let key = format!("gap-{i}");
                Some(html! { <li {key} class="gap" style={room.to_style()} aria-hidden="true" /> })
            }
        });
    html! {
        <section
            class="timeline"
            id="history"
            tabindex="-1"
            aria-label="History"
            ref={&around}
            {onscroll}
            {onpointerover}
            {onpointerleave}
            {onfocusin}
            {onfocusout}
            {onkeydown}
        >
            <div class="track">
            <div class="lanes" aria-hidden="true"><i class="a" /><i class="server" /><i class="b" /></div>
            <ol>
                // With a key, like all rows. Otherwise each new step would create all rows again.
                <li key="root" class={classes!("root", start.then_some("current"))} id="step-0">
                    <button
                        type="button"
                        class="pill plain"
                        aria-label={format!("Start: rv {first} is stored")}
                        aria-current={start.then_some("step")}
                        onclick={store.sends(SessionMsg::First)}
                    >
                        { format!("rv {first}") }
                    </button>
                </li>
                { for rows }
            </ol>
            if let Some(pointed) = &*pointed {
                { peek(store, pointed) }
            }
            if line.len() == 1 {
                <p class="timeline-empty">{ "Each request becomes an arrow here." }</p>
            }
            </div>
        </section>
    }
}
