//! The history, downwards in time: a row for each step, between the lanes.

use optimist_messages::{self as messages, label};
use optimist_simulation::NodeId;
use yew::{
    Callback, FocusEvent, Html, KeyboardEvent, PointerEvent, Properties, classes, component, hook,
    html, use_node_ref, use_state,
};

use super::peek::{Pointed, peek};
use super::step_row::{StepRow, row};
use super::visible_rows::{Drawn, SHORT, VisibleRows, use_in_sight};
use crate::state::{Course, LearnMsg, Sends, SessionMsg, StateHandle};

#[derive(PartialEq, Properties)]
pub(crate) struct TimelineProps {
    pub(crate) store: StateHandle,
}

/// The row that is pointed at, and the handlers that follow the pointer and the keyboard.
struct Pointer {
    at: Option<Pointed>,
    onpointerover: Callback<PointerEvent>,
    onpointerleave: Callback<PointerEvent>,
    onfocusin: Callback<FocusEvent>,
    onfocusout: Callback<FocusEvent>,
    onkeydown: Callback<KeyboardEvent>,
}

#[hook]
fn use_pointed() -> Pointer {
    let pointed = use_state(|| None);
    let at = (*pointed).clone();
    let point = move |at: Option<Pointed>| {
        if at != *pointed {
            pointed.set(at);
        }
    };
    let over = point.clone();
    let focus = point.clone();
    let leave = Callback::from(move |()| point(None));
    let escape = leave.clone();
    Pointer {
        at,
        onpointerover: Callback::from(move |event: PointerEvent| {
            // A finger that is on a row hides it.
            if event.pointer_type() != "touch" {
                over(Pointed::at(event.target(), false));
            }
        }),
        onpointerleave: leave.reform(|_| ()),
        onfocusin: Callback::from(move |event: FocusEvent| {
            focus(Pointed::at(event.target(), true));
        }),
        onfocusout: leave.reform(|_| ()),
        onkeydown: Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Escape" {
                escape.emit(());
            }
        }),
    }
}

#[component]
pub(crate) fn Timeline(props: &TimelineProps) -> Html {
    let store = &props.store;
    let around = use_node_ref();
    let (sight, onscroll) = use_in_sight(&around, store);
    let pointer = use_pointed();
    html! {
        <section
            class="timeline"
            id="history"
            tabindex="-1"
            aria-label={label::timeline()}
            ref={&around}
            {onscroll}
            onpointerover={pointer.onpointerover}
            onpointerleave={pointer.onpointerleave}
            onfocusin={pointer.onfocusin}
            onfocusout={pointer.onfocusout}
            onkeydown={pointer.onkeydown}
        >
            <div class="track">
            <div class="lanes" aria-hidden="true"><i class="a" /><i class="server" /><i class="b" /></div>
            <ol>
                { start(store) }
                { earlier(store) }
                { for rows(store, &sight) }
                { tries(store) }
            </ol>
            if let Some(pointed) = &pointer.at {
                { peek(store, pointed) }
            }
            if store.session.tree.current_path().len() == 1 {
                <p class="timeline-empty">{ label::timeline_empty() }</p>
            }
            </div>
        </section>
    }
}

/// The row before all steps.
fn start(store: &StateHandle) -> Html {
    let tree = &store.session.tree;
    let current = tree.position() == 0;
    let first = tree.origin().versions().next();
    let first = first.map_or(0, |version| version.revision);
    html! {
        // With a key, like all rows. Otherwise each new step would create all rows again.
        <li key="root" class={classes!("root", current.then_some("current"))} id="step-0">
            <button
                type="button"
                class="pill plain"
                aria-label={label::timeline_start_label(&first)}
                aria-current={current.then_some("step")}
                onclick={store.sends(SessionMsg::First)}
            >
                { label::timeline_start(&first) }
            </button>
        </li>
    }
}

/// The number of rows from the start that are folded: what a lesson told before its last question.
fn folded(store: &StateHandle) -> usize {
    let shows_all = |course: &Course| course.earlier;
    let tree = &store.session.tree;
    let is_long = tree.current_path().len() > SHORT;
    match &store.learn.course {
        Some(course) if !shows_all(course) && !is_long => {
            store.learn.earlier_steps(tree).unwrap_or_default()
        }
        _ => 0,
    }
}

/// The row that folds the steps before the last question of a lesson, or shows them.
fn earlier(store: &StateHandle) -> Html {
    let tree = &store.session.tree;
    let Some(count) = store.learn.earlier_steps(tree) else {
        return Html::default();
    };
    if tree.current_path().len() > SHORT {
        return Html::default();
    }
    let folds = folded(store) > 0;
    html! {
        <li key="earlier" class="root">
            <button
                type="button"
                class="pill plain"
                aria-expanded={(!folds).to_string()}
                onclick={store.sends(LearnMsg::Earlier)}
            >
                { if folds { label::earlier_show(&count) } else { label::earlier_fold() } }
            </button>
        </li>
    }
}

/// The row behind which the earlier tries at the task of a lesson are.
fn tries(store: &StateHandle) -> Html {
    let tree = &store.session.tree;
    let tries = store.learn.earlier_tries(tree);
    if tries.is_empty() {
        return Html::default();
    }
    let lists = store.learn.course.as_ref().is_some_and(|it| it.tries);
    let row = |node: &NodeId| {
        let says = messages::summary(tree.step(*node)?, store.world());
        Some(html! {
            <li>
                <button type="button" class="link" onclick={store.sends(SessionMsg::Go(*node))}>
                    { says }
                </button>
            </li>
        })
    };
    html! {
        <li key="tries" class="root tries">
            <button
                type="button"
                class="pill plain"
                aria-expanded={lists.to_string()}
                onclick={store.sends(LearnMsg::Tries)}
            >
                { if lists { label::tries_fold() } else { label::tries_show(&tries.len()) } }
            </button>
            if lists {
                <ul>{ for tries.iter().filter_map(row) }</ul>
            }
        </li>
    }
}

/// The rows of the steps, and the places of those that are not drawn.
fn rows(store: &StateHandle, sight: &VisibleRows) -> Vec<Html> {
    let tree = &store.session.tree;
    let (line, here) = (tree.current_path(), tree.position());
    let dispatcher = store.dispatcher();
    let runs = match store.shown_controller() {
        Some(controller) => tree.run_parts(controller),
        None => Vec::new(),
    };
    let drawn = Drawn::list(tree, sight).into_iter().enumerate();
    let folded = folded(store);
    let rows = drawn.filter_map(|(i, drawn)| match drawn {
        Drawn::Row(position, _) if position <= folded => None,
        Drawn::Row(position, key) => {
            let (parent, node) = (line[position - 1], line[position]);
            let run = runs.get(position).copied().flatten();
            let row = row(store, (position, here), (parent, node), run, &dispatcher)?;
            let key = key.to_string();
            Some(html! { <StepRow {key} ..row /> })
        }
        Drawn::Gap(room) => {
            let key = format!("gap-{i}");
            Some(html! { <li {key} class="gap" style={room.to_style()} aria-hidden="true" /> })
        }
    });
    rows.collect()
}
