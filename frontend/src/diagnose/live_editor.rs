//! The editor that writes to the running server whose log the page shows.

use optimist_apiserver::object::Metadata;
use optimist_client::{title, visible};
use optimist_messages::{explore, label};
use web_sys::{HtmlInputElement, HtmlTextAreaElement};
use yew::{Event, Html, InputEvent, SubmitEvent, TargetCast, classes, html};

use crate::components::more::chosen;
use crate::state::{DiagnoseMsg, LiveEditMsg, LiveEditor, LiveOutcome, Sends, StateHandle};

/// Draws the editor, if the page may write.
pub(super) fn live_editor(store: &StateHandle) -> Html {
    let Some(editor) = &store.diagnose.live.editor else {
        return Html::default();
    };
    let onsubmit = store.on(|event: SubmitEvent| {
        event.prevent_default();
        DiagnoseMsg::EditLive(LiveEditMsg::Send)
    });
    html! {
        <details class="live-editor" open={editor.is_in_use() || store.diagnose.awaits_requests()}>
            <summary>{ label::live_write() }</summary>
            <p class="says">{ label::live_writes_to(&visible(&editor.server)) }</p>
            <form {onsubmit}>
                { name(store, editor) }
                { begins(store, editor) }
                if editor.creates || editor.read().is_some() {
                    { object(store, editor) }
                    if !editor.creates {
                        { method(store, editor) }
                    }
                    <button type="submit" class="button primary" disabled={!editor.is_ready()}>
                        { if editor.creates { label::live_create() } else { label::send() } }
                    </button>
                }
            </form>
            { for editor.outcome.as_ref().map(outcome) }
        </details>
    }
}

fn name(store: &StateHandle, editor: &LiveEditor) -> Html {
    let oninput = store.on(|event: InputEvent| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        let name = input.map(|input| input.value()).unwrap_or_default();
        DiagnoseMsg::EditLive(LiveEditMsg::Name(name))
    });
    html! {
        <label class="field">
            <span>{ label::live_name() }</span>
            <input
                type="text"
                maxlength="128"
                autocapitalize="off"
                autocomplete="off"
                spellcheck="false"
                value={editor.name.clone()}
                {oninput}
            />
        </label>
    }
}

/// The buttons with which an edit begins: it reads an object, or makes a new one.
fn begins(store: &StateHandle, editor: &LiveEditor) -> Html {
    html! {
        <div class="row-actions">
            { get(store, editor) }
            <button
                type="button"
                class="button"
                disabled={editor.waiting.is_some()}
                onclick={store.sends(DiagnoseMsg::EditLive(LiveEditMsg::New))}
            >
                { label::live_new() }
            </button>
        </div>
    }
}

/// The button that reads the object whose requests are shown.
fn get(store: &StateHandle, editor: &LiveEditor) -> Html {
    let history = store.diagnose.replay().map(|replay| &replay.history);
    let Some(shown) = history.filter(|history| history.resource().is_some()) else {
        return Html::default();
    };
    let shown = format!("{}/{}", shown.object.resource, shown.object.name);
    html! {
        <button
            type="button"
            class="button"
            disabled={!editor.is_ready()}
            onclick={store.sends(DiagnoseMsg::EditLive(LiveEditMsg::Get))}
        >
            { visible(&label::live_get(&shown)).into_owned() }
        </button>
    }
}

/// The object as it is typed.
fn object(store: &StateHandle, editor: &LiveEditor) -> Html {
    let oninput = store.on(|event: InputEvent| {
        let area = event.target_dyn_into::<HtmlTextAreaElement>();
        let text = area.map(|area| area.value()).unwrap_or_default();
        DiagnoseMsg::EditLive(LiveEditMsg::Text(text))
    });
    let about = match editor.read().filter(|_| !editor.creates) {
        Some(read) => label::live_text(&title(read), &read.resource_version()),
        None => label::live_new(),
    };
    // A short object leaves room for the log below.
    let rows = (editor.text.lines().count() + 1).clamp(6, 14);
    html! {
        <label class="field">
            <span>{ visible(&about).into_owned() }</span>
            <textarea
                rows={rows.to_string()}
                readonly={editor.waiting.is_some()}
                spellcheck="false"
                autocapitalize="off"
                wrap="off"
                value={editor.text.clone()}
                {oninput}
            />
        </label>
    }
}

/// The way of writing.
fn method(store: &StateHandle, editor: &LiveEditor) -> Html {
    let onchange = store.on(|event: Event| {
        let method = LiveEditor::METHODS.get(chosen(&event)).copied();
        let method = method.unwrap_or(LiveEditor::METHODS[0]);
        DiagnoseMsg::EditLive(LiveEditMsg::Method(method))
    });
    html! {
        <label class="field">
            <span>{ label::live_method() }</span>
            <select {onchange}>
                { for LiveEditor::METHODS.map(|method| html! {
                    <option selected={method == editor.method}>{ explore::way(method) }</option>
                }) }
            </select>
        </label>
    }
}

fn outcome(outcome: &LiveOutcome) -> Html {
    let (class, says) = match outcome {
        LiveOutcome::NotSent(why) => ("problem", format!("{} {why}", label::not_sent())),
        LiveOutcome::UnknownKind { api_version, kind } => {
            let why = label::live_unknown_kind(kind, api_version);
            ("problem", format!("{} {why}", label::not_sent()))
        }
        LiveOutcome::NoAnswer => ("problem", label::live_no_answer()),
        LiveOutcome::Answered {
            method,
            code,
            message,
        } => {
            let class = if *code < 300 { "says" } else { "problem" };
            let answer = label::live_answer(method, code);
            (class, format!("{answer} {message}"))
        }
    };
    html! { <p class={classes!(class)} role="status">{ visible(says.trim_end()).into_owned() }</p> }
}
