//! What happened, downwards in time: arrows between the lanes.

use yew::{Html, classes, html};

use super::step_row::{StepRow, StepRowProps, row};
use crate::state::{Msg, Sends, Store};

pub(crate) fn timeline(store: &Store) -> Html {
    let tree = &store.tree;
    let dispatcher = store.dispatcher();
    let line = tree.line();
    let rows: Vec<StepRowProps> = line
        .windows(2)
        .enumerate()
        .filter_map(|(i, pair)| row(store, (i + 1, pair[1]), pair[0], &dispatcher))
        .collect();
    let start = tree.current() == 0;
    let first = tree
        .origin()
        .versions()
        .next()
        .map_or(0, |version| version.revision);
    let session = store.session;
    html! {
        <section class="timeline" id="history" tabindex="-1" aria-label="History">
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
                { for rows.into_iter().map(|row| {
                    let key = format!("{session}-{}", row.node);
                    html! { <StepRow {key} ..row /> }
                }) }
            </ol>
            if line.len() == 1 {
                <p class="timeline-empty">{ "Each request becomes an arrow here." }</p>
            }
            </div>
        </section>
    }
}
