//! Loading a manifest: pasted, chosen or dropped.

use optimist_client::{ManifestError, visible};
use optimist_messages::{self as messages, label};
use optimist_simulation::{LoadError, NGINX};
use wasm_bindgen_futures::spawn_local;
use web_sys::{File, HtmlInputElement, HtmlTextAreaElement};
use yew::{Callback, DragEvent, Event, Html, InputEvent, SubmitEvent, TargetCast, html};

use super::dialog::Modal;
use super::file_button::text_of;
use super::icon::{Icon, icon};
use crate::state::{Dialog, ManifestMsg, Sends, StateHandle, ViewMsg};

/// Reads a file into the dialog. One that cannot be read leaves the typed text.
fn read_file(store: &StateHandle, file: File) {
    let dispatcher = store.dispatcher();
    spawn_local(async move {
        dispatcher.send(match text_of(&file).await {
            Ok(text) => ManifestMsg::Text(text),
            Err(error) => ManifestMsg::Unreadable(error.into()),
        });
    });
}

/// Reads the file that was chosen.
fn choosing(store: &StateHandle) -> Callback<Event> {
    let store = store.clone();
    Callback::from(move |event: Event| {
        if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
            if let Some(file) = input.files().and_then(|files| files.get(0)) {
                read_file(&store, file);
            }
            // So that the same file can be chosen again after it was fixed.
            input.set_value("");
        }
    })
}

/// Reads the file that was dropped.
fn dropping(store: &StateHandle) -> Callback<DragEvent> {
    let store = store.clone();
    Callback::from(move |event: DragEvent| {
        let files = event.data_transfer().and_then(|data| data.files());
        if let Some(file) = files.and_then(|files| files.get(0)) {
            event.prevent_default();
            read_file(&store, file);
        }
    })
}

pub(crate) fn load_dialog(store: &StateHandle) -> Html {
    let oninput = store.on(|event: InputEvent| {
        let area = event.target_dyn_into::<HtmlTextAreaElement>();
        ManifestMsg::Text(area.map(|area| area.value()).unwrap_or_default())
    });
    let load = store.sends(ManifestMsg::Load);
    let onsubmit = move |event: SubmitEvent| {
        event.prevent_default();
        load.emit(());
    };
    let ondragover = |event: DragEvent| event.prevent_default();
    let ondrop = dropping(store);
    let problem = store.manifest.problem.as_ref();
    html! {
        <Modal store={store.clone()} title={label::load_title()} begin="manifest">
            <form class="dialog-body load-form" {ondragover} {ondrop} {onsubmit}>
                <p class="muted" id="load-hint">
                    { label::load_hint() }{ " " }
                    <code>{ "kubectl get -o yaml" }</code>
                    { " " }{ label::load_hint_after() }
                </p>
                <textarea
                    id="manifest"
                    aria-label={label::manifest()}
                    aria-describedby="load-hint"
                    aria-invalid={problem.is_some().to_string()}
                    spellcheck="false"
                    autocapitalize="off"
                    placeholder={"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  colour: blue"}
                    value={store.manifest.text.clone()}
                    {oninput}
                />
                if let Some(problem) = problem {
                    { explain(problem, &store.manifest.text) }
                }
                { actions(store) }
            </form>
        </Modal>
    }
}

/// The buttons: where a manifest comes from, and Load.
fn actions(store: &StateHandle) -> Html {
    html! {
        <div class="dialog-actions">
            <label class="button file">
                <input
                    type="file"
                    accept=".yaml,.yml,.json,text/yaml,application/json"
                    onchange={choosing(store)}
                />
                { icon(Icon::Load) }
                <span>{ label::choose_file() }</span>
            </label>
            <button
                type="button"
                class="button"
                onclick={store.sends(ManifestMsg::Text(NGINX.to_owned()))}
            >
                { label::load_example() }
            </button>
            <button
                type="button"
                class="button"
                onclick={store.sends(ViewMsg::Dialog(Some(Dialog::Controllers)))}
            >
                { label::third_controllers() }
            </button>
            <span class="spring" />
            <button
                type="submit"
                class="button primary"
                disabled={store.manifest.text.trim().is_empty()}
            >
                { label::load_button() }
            </button>
        </div>
    }
}

/// The error, with its line.
fn explain(problem: &LoadError, text: &str) -> Html {
    let place = match problem {
        LoadError::Manifest(ManifestError::Syntax { line, column, .. }) => Some((*line, *column)),
        _ => None,
    };
    html! {
        <div class="problem" role="alert">
            <p><b>{ label::not_loaded() }{ " " }</b>{ visible(&messages::load_error(problem)).into_owned() }</p>
            if let Some((line, column)) = place {
                { excerpt(text, line, column) }
            }
            <p class="muted">{ label::share_unchanged() }</p>
        </div>
    }
}

/// The number of characters of a line that are displayed on each side of an error.
const AROUND: usize = 48;

/// A line of a text with a mark at a place, and the line before it.
pub(crate) fn excerpt(text: &str, line: usize, column: usize) -> Html {
    let number = |n: usize| html! { <span class="number">{ n }</span> };
    let before = (line > 1).then(|| text.lines().nth(line - 2)).flatten();
    let wrong: Vec<char> = text
        .lines()
        .nth(line - 1)
        .unwrap_or_default()
        .chars()
        .collect();
    let at = (column - 1).min(wrong.len());
    let from = at.saturating_sub(AROUND);
    let to = (at + AROUND).min(wrong.len());
    let shown = |text: String| visible(&text).into_owned();
    let head = shown(wrong[from..at].iter().collect());
    let mark = shown(wrong.get(at).map_or(' ', |c| *c).to_string());
    let tail = shown(wrong.get(at + 1..to).unwrap_or_default().iter().collect());
    html! {
        <pre class="excerpt" aria-label={label::place(&line, &column)}>
            if let Some(before) = before {
                <span class="context">
                    { number(line - 1) }{ shown(before.chars().take(2 * AROUND).collect()) }{ "\n" }
                </span>
            }
            <span class="wrong">
                { number(line) }
                if from > 0 { { "…" } }
                { head }<mark>{ mark }</mark>{ tail }
            </span>
        </pre>
    }
}
