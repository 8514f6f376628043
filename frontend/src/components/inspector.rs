//! The request and the answer of the current step, and the reasons for the answer.

use optimist_messages::{self as messages, label};
use optimist_simulation::{EditResult, Step};
use yew::{Html, classes, html};

use super::answer::tone;
use super::diff::diff;
use super::icon::{Icon, icon};
use super::snippet::{Language, snippet};
use super::tabs::{Tabs, panel_id, tabs};
use super::wire::{preview, wire};
use crate::state::{InspectorTab, Sends, StateHandle, ViewMsg};

/// The tabs that are always in sight.
const FIRST_TABS: [InspectorTab; 3] = [
    InspectorTab::Wire,
    InspectorTab::Kubectl,
    InspectorTab::Diff,
];

/// The tabs in the menu. The chosen one is in sight too, behind the others.
const MORE_TABS: [InspectorTab; 3] = [InspectorTab::Go, InspectorTab::Rust, InspectorTab::Preview];

fn name(tab: InspectorTab) -> String {
    match tab {
        InspectorTab::Wire => label::tab_wire(),
        InspectorTab::Kubectl => "kubectl".to_owned(),
        InspectorTab::Go => "Go".to_owned(),
        InspectorTab::Rust => "Rust".to_owned(),
        InspectorTab::Diff => label::tab_diff(),
        InspectorTab::Preview => label::tab_preview(),
    }
}

pub(crate) fn inspector(store: &StateHandle) -> Html {
    let step = store.session.tree.step(store.session.tree.current());
    let chosen = store.view.inspector_tab;
    let extra = MORE_TABS.into_iter().filter(|tab| *tab == chosen);
    let shown: Vec<InspectorTab> = FIRST_TABS.into_iter().chain(extra).collect();
    let position = shown.iter().position(|tab| *tab == chosen).unwrap_or(0);
    let content = match (store.view.inspector_tab, step) {
        (InspectorTab::Preview, _) => preview(store),
        (_, None) => nothing_yet(),
        (InspectorTab::Wire, Some(step)) => wire(store, step),
        (InspectorTab::Kubectl, Some(step)) => snippet(store, step, Language::Kubectl),
        (InspectorTab::Go, Some(step)) => snippet(store, step, Language::Go),
        (InspectorTab::Rust, Some(step)) => snippet(store, step, Language::Rust),
        (InspectorTab::Diff, Some(step)) => diff(store, step),
    };
    html! {
        <aside
            class="inspector"
            id="inspector"
            aria-label={label::inspector()}
            data-up={store.view.sheet.to_string()}
        >
            { sheet_handle(store, step) }
            <div class="inspector-tabs">
                { tabs(&Tabs {
                    label: label::inspector(),
                    id: "inspector-tab",
                    class: "underlined",
                    names: &shown.iter().copied().map(name).collect::<Vec<_>>(),
                    chosen: position,
                    onchoose: store.on(move |i: usize| {
                        ViewMsg::InspectorTab(shown.get(i).copied().unwrap_or(InspectorTab::Wire))
                    }),
                }) }
                { more_tabs(store) }
            </div>
            <div
                class="inspector-body"
                role="tabpanel"
                id={panel_id("inspector-tab")}
                aria-labelledby={format!("inspector-tab-{}", position)}
            >
                { content }
            </div>
        </aside>
    }
}

/// Draws the menu of the tabs that are not always in sight.
fn more_tabs(store: &StateHandle) -> Html {
    let item = |tab: InspectorTab| {
        let chosen = store.view.inspector_tab == tab;
        html! {
            <button
                type="button"
                class="button small"
                aria-pressed={chosen.to_string()}
                onclick={store.sends(ViewMsg::InspectorTab(tab))}
            >
                { name(tab) }
            </button>
        }
    };
    html! {
        <details class="more">
            <summary class="button small">{ label::tabs_more() }{ icon(Icon::Down) }</summary>
            <div class="more-panel" role="group" aria-label={label::tabs_more_label()}>
                <div class="buttons">{ for MORE_TABS.map(item) }</div>
            </div>
        </details>
    }
}

fn nothing_yet() -> Html {
    html! {
        <div class="empty waiting">
            <h2>{ label::inspector_empty() }</h2>
            <p>{ label::inspector_empty_next() }</p>
        </div>
    }
}

/// Draws the upper edge of the inspector, where it is a sheet: the answer in one line.
fn sheet_handle(store: &StateHandle, step: Option<&Step>) -> Html {
    let up = store.view.sheet;
    let (status, tone, rest) = match step {
        None => (label::inspector(), "plain", label::nothing_sent()),
        Some(step) => {
            let rest = step.message().map_or_else(
                || {
                    format!(
                        "{} {}",
                        messages::actor(&step.operation, store.world()),
                        optimist_messages::headline(step)
                    )
                },
                // The last part of an editor's message says it; a watcher gets a short message.
                |message| match (step.actor(), message.rsplit_once(": ")) {
                    (Some(_), Some((_, last))) => last.to_owned(),
                    _ => message.to_owned(),
                },
            );
            match step.edit_results().into_iter().next() {
                Some(first @ EditResult::Lost { .. }) => (
                    label::lost_update(),
                    "lost",
                    messages::edit_result(&first, store.world()),
                ),
                _ => (step.status_line(), tone(step.outcome()), rest),
            }
        }
    };
    html! {
        <button
            type="button"
            class="sheet-handle"
            aria-expanded={up.to_string()}
            aria-controls="inspector"
            onclick={store.sends(ViewMsg::Sheet(!up))}
        >
            <b class={classes!("status", tone)}>{ status }</b>
            <span class="rest">{ rest }</span>
            <span class="why-word">{ if up { label::sheet_close() } else { label::sheet_why() } }</span>
            { icon(if up { Icon::Down } else { Icon::Up }) }
        </button>
    }
}
