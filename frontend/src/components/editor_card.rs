//! An editor: what it read, what it changed since, and how it sends that.

use optimist_core::client::Strategy;
use optimist_core::sim::EditorId;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;
use yew::{Event, Html, classes, html};

use super::icon::{Icon, icon};
use super::yaml_view::{YamlView, yaml_view};
use crate::state::{Lane, Msg, Sends, State, Store, View};

const STRATEGIES: [(Strategy, &str, &str); 3] = [
    (Strategy::Update, "Update", "PUT the whole object"),
    (
        Strategy::MergePatch,
        "Merge patch",
        "PATCH with what changed",
    ),
    (
        Strategy::Apply,
        "Apply",
        "server-side apply: PATCH with what you want to own",
    ),
];

/// The version of an editor's copy: its words and its tone.
pub(crate) fn chip(state: &State, editor: EditorId) -> (String, &'static str) {
    let world = state.world();
    match (
        world.editor(editor).copy.resource_version(),
        world.stale_by(editor),
    ) {
        (None, _) => ("not read yet".to_owned(), "plain"),
        (Some(version), 0) => (format!("rv {version} · current"), "ok"),
        (Some(version), behind) => (format!("rv {version} · stale by {behind}"), "refused"),
    }
}

fn checked(event: &Event) -> bool {
    event
        .target()
        .and_then(|target| target.dyn_into::<HtmlInputElement>().ok())
        .is_some_and(|input| input.checked())
}

pub(crate) fn editor_card(store: &Store, id: EditorId) -> Html {
    let editor = store.world().editor(id);
    let lane = Lane::Editor(id);
    let slug = lane.slug();
    let (chip, tone) = chip(store, id);
    let read = editor.copy.edited().is_some();
    let edited = editor.copy.is_edited();
    html! {
        <section
            class={classes!("card", "editor", slug, (store.focus == id).then_some("focused"))}
            id={format!("card-{slug}")}
            tabindex="-1"
            aria-label={id.name()}
            data-open={(store.lane == lane).to_string()}
            onfocusin={store.sends(Msg::Focus(id))}
        >
            <header class="card-head">
                <h2>{ id.name() }</h2>
                <span class={classes!("chip", tone)}>{ chip }</span>
            </header>
            if let Some(object) = editor.copy.edited() {
                { yaml_view(&YamlView {
                    store,
                    view: View::Lane(lane),
                    id: slug,
                    label: format!("{}: working copy", id.name()),
                    object,
                    marks: editor.copy.edits(),
                    tone: slug,
                    editor: Some(id),
                }) }
            } else {
                <div class="yaml blank">
                    <p>{ "Nothing read yet." }</p>
                    <p>{ "Get reads the object. Then click a value to change it." }</p>
                </div>
            }
            <div class="controls">
                { strategies(store, id) }
                <div class="options">
                    { options(store, id) }
                </div>
                <div class="send-row">
                    <button type="button" class="button" onclick={store.sends(Msg::Get(id))}>
                        { "Get" }
                    </button>
                    <button
                        type="button"
                        class="button primary"
                        disabled={!read}
                        title={if read { "" } else { "Get first" }}
                        onclick={store.sends(Msg::Send(id))}
                    >
                        { "Send" }
                    </button>
                    if edited {
                        <button
                            type="button"
                            class="button discard"
                            aria-label="Discard edits"
                            title="Discard edits"
                            onclick={store.sends(Msg::Discard(id))}
                        >
                            { icon(Icon::Undo) }
                        </button>
                    }
                </div>
            </div>
        </section>
    }
}

fn strategies(store: &Store, id: EditorId) -> Html {
    let chosen = store.world().editor(id).write.strategy;
    let name = format!("strategy-{}", Lane::Editor(id).slug());
    let choice = |&(strategy, label, title): &(Strategy, &'static str, &'static str)| {
        html! {
            <label {title}>
                <input
                    type="radio"
                    name={name.clone()}
                    checked={strategy == chosen}
                    onchange={store.sends(Msg::Strategy(id, strategy))}
                />
                <span>{ label }</span>
            </label>
        }
    };
    html! {
        <fieldset class="segmented">
            <legend class="unseen">{ format!("How {} writes", id.name()) }</legend>
            { for STRATEGIES.iter().map(choice) }
        </fieldset>
    }
}

fn options(store: &Store, id: EditorId) -> Html {
    let write = &store.world().editor(id).write;
    let (on, label, title, onchange) = if write.strategy == Strategy::Apply {
        let onchange = store.on(move |event: Event| Msg::Force(id, checked(&event)));
        let title = "Take over fields that other managers own";
        (write.force, html! { "force" }, title, onchange)
    } else {
        let onchange = store.on(move |event: Event| Msg::SendVersion(id, checked(&event)));
        let title = "The server compares it with the stored version";
        let label = html! { "send resourceVersion" };
        (write.send_resource_version, label, title, onchange)
    };
    html! {
        <label class="check" {title}>
            <input type="checkbox" checked={on} {onchange} />
            <span>{ label }</span>
        </label>
    }
}
