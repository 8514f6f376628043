//! A button that takes the text of a file.

use optimist_client::{ManifestError, decode};
use optimist_messages::label;
use wasm_bindgen_futures::spawn_local;
use web_sys::{File, HtmlInputElement};
use yew::{Event, Html, TargetCast, html};

use super::icon::{Icon, icon};
use crate::browser;
use crate::state::{ManifestMsg, Msg, Sends, StateHandle};

/// The largest file that is read, in bytes: more than any session or manifest that can be opened.
const MAX_FILE_SIZE: f64 = 16_000_000.0;

/// The most lines of a file: no object has more values, and a browser takes seconds to lay them out.
const MAX_LINES: usize = 100_000;

/// The text of a file.
///
/// # Errors
/// If the browser cannot read it, it is too large, or it is not text.
pub(crate) async fn text_of(file: &File) -> Result<String, ManifestError> {
    // Before it is read: a file may be larger than the memory of the page.
    if file.size() > MAX_FILE_SIZE {
        return Err(ManifestError::Content(label::file_too_large(
            &file.name(),
            &(MAX_FILE_SIZE / 1e6),
        )));
    }
    let Some(bytes) = browser::bytes(file).await else {
        return Err(ManifestError::Content(label::file_unreadable(&file.name())));
    };
    if bytes.iter().filter(|byte| **byte == b'\n').count() > MAX_LINES {
        return Err(ManifestError::Content(label::file_too_many_lines(
            &file.name(),
            &MAX_LINES,
        )));
    }
    decode(&bytes)
}

/// Draws the button; the text of the file that is chosen is sent as a message.
pub(crate) fn file_button(
    store: &StateHandle,
    label: &str,
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
                dispatcher.send(match text_of(&file).await {
                    Ok(text) => message(text),
                    Err(error) => ManifestMsg::Unreadable(error.into()).into(),
                });
            });
        }
        // So that the same file can be chosen again after it was fixed.
        input.set_value("");
    };
    html! {
        <label class="button file">
            <input type="file" {accept} {onchange} />
            { icon(Icon::Load) }
            <span>{ label.to_owned() }</span>
        </label>
    }
}
