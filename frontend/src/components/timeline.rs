//! What happened, downwards in time: arrows between the lanes.

use std::ops::RangeInclusive;

use optimist_core::sim::{NodeId, Outcome};
use web_sys::Element;
use yew::{
    Callback, Event, FocusEvent, Html, KeyboardEvent, NodeRef, PointerEvent, Properties, classes,
    component, html, use_node_ref, use_state,
};

use super::peek::{Pointed, peek};
use super::step_row::{StepRow, row};
use super::watch::arrows::Events;
use crate::browser;
use crate::state::{Msg, Sends, Store};

/// A long history is drawn in pieces of so many rows, and only those in sight, and where we are.
const PIECE: usize = 10;
/// A history of up to so many pieces is drawn as a whole.
const SHORT: usize = 6;
/// How far beyond its edges the timeline draws, in CSS pixels.
const BEYOND: f64 = 400.0;

#[derive(PartialEq, Properties)]
pub(crate) struct TimelineProps {
    pub(crate) store: Store,
}

#[component]
pub(crate) fn Timeline(props: &TimelineProps) -> Html {
    let store = &props.store;
    let around = use_node_ref();
    let in_sight = use_state(|| 0..=0);
    let onscroll = {
        let (around, in_sight) = (around.clone(), in_sight.clone());
        Callback::from(move |_: Event| {
            if let Some(pieces) = pieces_in_sight(&around)
                && pieces != *in_sight
            {
                in_sight.set(pieces);
            }
        })
    };
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
    let tree = &store.tree;
    let dispatcher = store.dispatcher();
    let line = tree.line();
    let here = tree.position();
    let start = here == 0;
    let first = tree
        .origin()
        .versions()
        .next()
        .map_or(0, |version| version.revision);
    let session = store.session;
    let current = (here.saturating_sub(1) / PIECE).saturating_sub(1)..=(here / PIECE + 1);
    let short = line.len() <= PIECE * SHORT;
    let rows = line.windows(2).enumerate();
    let rows: Vec<_> = rows.map(|(i, pair)| (i + 1, pair[0], pair[1])).collect();
    let piece = |(i, rows): (usize, &[(usize, NodeId, NodeId)])| {
        if !short && !current.contains(&i) && !in_sight.contains(&i) {
            return left_out(store, i, rows);
        }
        let rows = rows.iter().enumerate();
        rows.filter_map(|(n, &(position, parent, node))| {
            let piece = (n == 0 && !short).then_some(i);
            let row = row(store, (position, here, node), (parent, piece), &dispatcher)?;
            let key = format!("{session}-{node}");
            Some(html! { <StepRow {key} ..row /> })
        })
        .collect()
    };
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
                // With a key, as all rows have: else each new step would make all rows anew.
                <li key="root" class={classes!("root", start.then_some("current"))} id="step-0">
                    <button
                        type="button"
                        class="pill plain"
                        aria-label={format!("Start: rv {first} is stored")}
                        aria-current={start.then_some("step")}
                        onclick={store.sends(Msg::First)}
                    >
                        { format!("rv {first}") }
                    </button>
                </li>
                { for rows.chunks(PIECE).enumerate().flat_map(piece) }
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

/// A piece that is out of sight: as high as its rows would be.
#[inline(never)] // not on the first screen
fn left_out(store: &Store, piece: usize, rows: &[(usize, NodeId, NodeId)]) -> Vec<Html> {
    let (mut done, mut events) = (0, 0);
    let steps = rows.iter().filter_map(|row| store.tree.step(row.2));
    for step in steps {
        done += usize::from(step.outcome() == Outcome::Done);
        events += Events::of(&step.arrived).lines();
    }
    let asked = rows.len() - done;
    let style = format!("--asked:{asked};--done:{done};--events:{events}");
    vec![html! {
        <li key={format!("piece-{piece}")} class="left-out" data-piece={piece.to_string()} {style} aria-hidden="true" />
    }]
}

/// Which pieces are in sight or nearly so; `None` where all are drawn.
#[inline(never)] // not on the first screen
fn pieces_in_sight(around: &NodeRef) -> Option<RangeInclusive<usize>> {
    let timeline = around.cast::<Element>()?;
    let edges = timeline.get_bounding_client_rect();
    let pieces: Vec<Element> = browser::all_within(&timeline, "[data-piece]").collect();
    // Each goes from its beginning to the next one's.
    let beginning_above =
        |edge: f64| pieces.partition_point(|piece| piece.get_bounding_client_rect().top() < edge);
    let first = beginning_above(edges.top() - BEYOND).saturating_sub(1);
    let last = beginning_above(edges.bottom() + BEYOND).saturating_sub(1);
    (!pieces.is_empty()).then_some(first..=last)
}
