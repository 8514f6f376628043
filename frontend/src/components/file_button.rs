//! A button that takes the text of a file.

use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::HtmlInputElement;
use yew::{Event, Html, TargetCast, html};

use super::icon::{Icon, icon};
use crate::state::{Msg, Store};

/// Draws the button; the text of the file that is chosen, empty if it cannot be read, is sent as a
/// message.
pub(crate) fn file_button(
    store: &Store,
    label: &'static str,
    accept: &'static str,
    message: fn(String) -> Msg,
) -> Html {
    let dispatcher = store.dispatcher();
    let onchange = move |event: Event| {
        let Some(input) = event.target_dyn_into::<HtmlInputElement>() else {
            return;
        };
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            let dispatcher = dispatcher.clone();
            spawn_local(async move {
                let text = JsFuture::from(file.text()).await;
                let text = text.ok().and_then(|text| text.as_string());
                dispatcher.dispatch(message(text.unwrap_or_default()));
            });
        }
        // So that the same file can be chosen again after it was mended.
        input.set_value("");
    };
    html! {
        <label class="button file">
            <input type="file" {accept} {onchange} />
            { icon(Icon::Load) }
            <span>{ label }</span>
        </label>
    }
}
