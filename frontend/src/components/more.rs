//! Parts of forms: a box to tick, and which option was chosen.

use web_sys::HtmlSelectElement;
use yew::{Callback, Event, Html, TargetCast, html};

use crate::browser::ticked;

/// Returns the position of the chosen option in a list.
pub(crate) fn chosen(event: &Event) -> usize {
    let select = event.target_dyn_into::<HtmlSelectElement>();
    select.map_or(0, |select| select.selected_index().max(0) as usize)
}

/// A box to tick.
pub(crate) fn check(on: bool, label: String, title: String, onchange: Callback<bool>) -> Html {
    let onchange = onchange.reform(|event: Event| ticked(&event));
    html! {
        <label class="check" {title}>
            <input type="checkbox" checked={on} {onchange} />
            <span>{ label }</span>
        </label>
    }
}
