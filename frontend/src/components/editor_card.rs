//! An editor: what it read, what it changed since, and how it sends that.

use optimist_core::client::{OnConflict, Strategy, Write};
use optimist_core::sim::ActorId;
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::{Event, Html, classes, html};

use super::icon::{Icon, icon};
use super::yaml_view::{YamlView, yaml_view};
use crate::state::{Lane, Msg, Sends, State, Store, View};

const STRATEGIES: [(Strategy, &str, &str); 5] = [
    (Strategy::Update, "Update", "PUT the whole object"),
    (Strategy::MergePatch, "Merge", "PATCH with what changed"),
    (
        Strategy::StrategicMergePatch,
        "Strategic",
        "strategic merge patch: PATCH with what changed, lists by key",
    ),
    (
        Strategy::JsonPatch,
        "JSON",
        "JSON patch: PATCH with operations",
    ),
    (
        Strategy::Apply,
        "Apply",
        "server-side apply: PATCH with what you want to own",
    ),
];

const ON_CONFLICT: [(OnConflict, &str); 3] = [
    (OnConflict::GiveUp, "give up"),
    (OnConflict::ReadAgain(5), "read again, redo"),
    (OnConflict::Resend(5), "send the same again"),
];

/// The version of an editor's copy: its words and its tone.
pub(crate) fn chip(state: &State, editor: ActorId) -> (String, &'static str) {
    let world = state.world();
    match (
        world.copy(editor).resource_version(),
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

pub(crate) fn editor_card(store: &Store, id: ActorId) -> Html {
    let name = &store.world().actor(id).name;
    let copy = store.world().copy(id);
    let lane = Lane::Editor(id);
    let slug = lane.slug();
    let (chip, tone) = chip(store, id);
    let read = copy.edited().is_some();
    let edited = copy.is_edited();
    html! {
        <section
            class={classes!("card", "editor", slug, (store.focus == id).then_some("focused"))}
            id={format!("card-{slug}")}
            tabindex="-1"
            aria-label={name.to_string()}
            data-open={(store.lane == lane).to_string()}
            onfocusin={store.sends(Msg::Focus(id))}
        >
            <header class="card-head">
                <h2>{ &**name }</h2>
                <span class={classes!("chip", tone)}>{ chip }</span>
            </header>
            if let Some(object) = copy.edited() {
                { yaml_view(&YamlView {
                    store,
                    view: View::Lane(lane),
                    id: slug,
                    label: format!("{name}: working copy"),
                    object,
                    marks: copy.edits(),
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

fn strategies(store: &Store, id: ActorId) -> Html {
    let chosen = store.world().actor(id).write().strategy;
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
            <legend class="unseen">{ format!("How {} writes", store.name(id)) }</legend>
            { for STRATEGIES.iter().map(choice) }
        </fieldset>
    }
}

fn options(store: &Store, id: ActorId) -> Html {
    let write = store.world().actor(id).write();
    let check = |on: bool, label: &'static str, title: &'static str, set: fn(&mut Write, bool)| {
        let changed = write.clone();
        let onchange = store.on(move |event: Event| {
            let mut write = changed.clone();
            set(&mut write, checked(&event));
            Msg::Write(id, write)
        });
        html! {
            <label class="check" {title}>
                <input type="checkbox" checked={on} {onchange} />
                <span>{ label }</span>
            </label>
        }
    };
    html! {
        <>
            if write.strategy == Strategy::Apply {
                { check(write.force, "force", "Take over fields that other managers own", |write, on| {
                    write.force = on;
                }) }
            } else {
                { check(
                    write.send_resource_version,
                    "send resourceVersion",
                    "The server compares it with the stored version",
                    |write, on| write.send_resource_version = on,
                ) }
            }
            if write.strategy == Strategy::JsonPatch {
                { check(
                    write.test_values,
                    "test the old values",
                    "Nothing is done if one of them is another by now",
                    |write, on| write.test_values = on,
                ) }
            }
            { on_conflict(store, id, write) }
        </>
    }
}

fn on_conflict(store: &Store, id: ActorId, write: Write) -> Html {
    let chosen = std::mem::discriminant(&write.on_conflict);
    let is_chosen = move |choice: &OnConflict| std::mem::discriminant(choice) == chosen;
    let onchange = store.on(move |event: Event| {
        let select = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlSelectElement>().ok());
        let at = select.map_or(0, |select| select.selected_index().max(0) as usize);
        let on_conflict = ON_CONFLICT.get(at).map(|(choice, _)| *choice);
        Msg::Write(
            id,
            Write {
                on_conflict: on_conflict.unwrap_or_default(),
                ..write.clone()
            },
        )
    });
    html! {
        <label class="on-conflict">
            <span>{ "on conflict" }</span>
            <select {onchange}>
                { for ON_CONFLICT.iter().map(|(choice, label)| html! {
                    <option selected={is_chosen(choice)}>{ label }</option>
                }) }
            </select>
        </label>
    }
}
