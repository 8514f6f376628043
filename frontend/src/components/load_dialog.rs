//! Loading a manifest: pasted, chosen or dropped.

use optimist_client::{ManifestError, visible};
use optimist_simulation::{LoadError, NGINX};
use wasm_bindgen_futures::spawn_local;
use web_sys::{File, HtmlInputElement, HtmlTextAreaElement};
use yew::{DragEvent, Event, Html, InputEvent, SubmitEvent, TargetCast, html};

use super::dialog::Modal;
use super::file_button::text_of;
use super::icon::{Icon, icon};
use crate::state::{ManifestMsg, Sends, StateHandle};

/// Reads a file into the dialog. One that cannot be read leaves what was typed.
fn take(store: &StateHandle, file: File) {
    let dispatcher = store.dispatcher();
    spawn_local(async move {
        dispatcher.send(match text_of(&file).await {
            Ok(text) => ManifestMsg::Text(text),
            Err(error) => ManifestMsg::Unreadable(error.into()),
        });
    });
}

#[inline(never)] // not on the first screen
pub(crate) fn load_dialog(store: &StateHandle) -> Html {
    let oninput = store.on(|event: InputEvent| {
        let area = event.target_dyn_into::<HtmlTextAreaElement>();
        ManifestMsg::Text(area.map(|area| area.value()).unwrap_or_default())
    });
    let onchange = {
        let store = store.clone();
        move |event: Event| {
            let input = event.target_dyn_into::<HtmlInputElement>();
            if let Some(input) = input {
                if let Some(file) = input.files().and_then(|files| files.get(0)) {
                    take(&store, file);
                }
                // So that the same file can be chosen again after it was fixed.
                input.set_value("");
            }
        }
    };
    let ondragover = |event: DragEvent| event.prevent_default();
    let ondrop = {
        let store = store.clone();
        move |event: DragEvent| {
            let files = event.data_transfer().and_then(|data| data.files());
            if let Some(file) = files.and_then(|files| files.get(0)) {
                event.prevent_default();
                take(&store, file);
            }
        }
    };
    let onsubmit = {
        let store = store.clone();
        move |event: SubmitEvent| {
            event.prevent_default();
            store.send(ManifestMsg::Load);
        }
    };
    let problem = store.manifest.problem.as_ref();
    html! {
        <Modal store={store.clone()} title="Load a manifest" begin="manifest">
            <form class="dialog-body load-form" {ondragover} {ondrop} {onsubmit}>
                <p class="muted" id="load-hint">
                    { "Paste YAML or JSON, or drop a file here. Output of " }
                    <code>{ "kubectl get -o yaml" }</code>
                    { " works, also of several objects: what the server owns is dropped. It starts a new \
                       session." }
                </p>
                <textarea
                    id="manifest"
                    aria-label="Manifest"
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
                <div class="dialog-actions">
                    <label class="button file">
                        <input type="file" accept=".yaml,.yml,.json,text/yaml,application/json" {onchange} />
                        { icon(Icon::Load) }
                        <span>{ "Choose a file" }</span>
                    </label>
                    <button
                        type="button"
                        class="button"
                        onclick={store.sends(ManifestMsg::Text(NGINX.to_owned()))}
                    >
                        { "nginx example" }
                    </button>
                    <span class="spring" />
                    <button
                        type="submit"
                        class="button primary"
                        disabled={store.manifest.text.trim().is_empty()}
                    >
                        { "Load" }
                    </button>
                </div>
            </form>
        </Modal>
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
            <p><b>{ "Not loaded. " }</b>{ visible(&optimist_messages::load_error(problem)).into_owned() }</p>
            if let Some((line, column)) = place {
                { excerpt(text, line, column) }
            }
            <p class="muted">{ "Your session is as it was." }</p>
        </div>
    }
}

/// How much of a line is shown around the mistake.
const AROUND: usize = 48;

fn excerpt(text: &str, line: usize, column: usize) -> Html {
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
        <pre class="excerpt" aria-label={format!("Line {line}, column {column}")}>
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
