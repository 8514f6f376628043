//! A row of tabs: arrows move between them, and only the chosen one is a stop of the Tab key.

use yew::{Callback, Html, KeyboardEvent, html};

use crate::browser;

/// A row of tabs.
pub(crate) struct Tabs<'a> {
    /// The label of the tabs, for screen readers.
    pub(crate) label: String,
    /// Begins the ids of the tabs and of their panel.
    pub(crate) id: &'static str,
    pub(crate) names: &'a [String],
    pub(crate) chosen: usize,
    pub(crate) onchoose: Callback<usize>,
    /// `segmented` or `underlined`.
    pub(crate) class: &'static str,
}

/// The id of the panel that a row of tabs fills.
pub(crate) fn panel_id(id: &str) -> String {
    format!("{id}-panel")
}

/// Draws a row of tabs.
pub(crate) fn tabs(props: &Tabs<'_>) -> Html {
    let count = props.names.len();
    let tab = |(i, name): (usize, &String)| {
        let chosen = i == props.chosen;
        let onclick = props.onchoose.reform(move |_| i);
        let onkeydown = {
            let (onchoose, id) = (props.onchoose.clone(), props.id);
            Callback::from(move |event: KeyboardEvent| {
                let to = match event.key().as_str() {
                    "ArrowLeft" => (i + count - 1) % count,
                    "ArrowRight" => (i + 1) % count,
                    "Home" => 0,
                    "End" => count - 1,
                    _ => return,
                };
                event.prevent_default();
                onchoose.emit(to);
                browser::focus_soon(format!("{id}-{to}"));
            })
        };
        html! {
            <button
                type="button"
                role="tab"
                id={format!("{}-{i}", props.id)}
                aria-selected={chosen.to_string()}
                aria-controls={panel_id(props.id)}
                tabindex={if chosen { "0" } else { "-1" }}
                {onclick}
                {onkeydown}
            >
                { name }
            </button>
        }
    };
    html! {
        <div class={props.class}>
            <div class="tablist" role="tablist" aria-label={props.label.clone()}>
                { for props.names.iter().enumerate().map(tab) }
            </div>
        </div>
    }
}
