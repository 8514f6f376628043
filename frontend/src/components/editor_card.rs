//! An editor: what it read, what it changed since, and how it sends that.

use optimist_core::client::{OnConflict, Strategy, Write};
use optimist_core::sim::ActorId;
use web_sys::HtmlTextAreaElement;
use yew::{Event, Html, InputEvent, TargetCast, classes, html};

use super::icon::{Icon, icon};
use super::more;
use super::yaml_view::{YamlView, dotted, yaml_view};
use crate::state::{Lane, Msg, Raw, Sends, State, Store, View};

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

pub(crate) fn editor_card(store: &Store, id: ActorId) -> Html {
    let name = &store.world().actor(id).name;
    let copy = store.world().copy(id);
    let lane = Lane::Editor(id);
    let slug = lane.slug();
    let (chip, tone) = chip(store, id);
    let read = copy.edited().is_some();
    let edited = copy.is_edited();
    let raw = store.raw.get(&id);
    let wrong = raw.is_some_and(|raw| raw.error.is_some());
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
                <h2>{ who(store, id) }</h2>
                if store.world().stale_by(id) > 0 {
                    { stale(store, id, &chip) }
                } else {
                    <span class={classes!("chip", tone)}>{ chip }</span>
                }
            </header>
            if let Some(raw) = raw {
                { raw_text(store, id, raw) }
            } else if let Some(object) = copy.edited() {
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
                if store.world().actor(id).write().body.is_some() {
                    { by_hand(store, id) }
                }
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
                        disabled={!read || wrong}
                        title={if wrong { "The text is no object yet" } else if read { "" } else { "Get first" }}
                        onclick={store.sends(Msg::Send(id))}
                    >
                        { "Send" }
                    </button>
                    if read {
                        <button
                            type="button"
                            class="button whole"
                            aria-pressed={raw.is_some().to_string()}
                            title="Type the whole object as YAML"
                            onclick={store.sends(Msg::Raw(id, raw.is_none()))}
                        >
                            { "YAML" }
                        </button>
                    }
                    if edited || wrong {
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

/// That what is sent is not what the card shows.
#[inline(never)] // not on the first screen
fn by_hand(store: &Store, id: ActorId) -> Html {
    let computed = Write {
        body: None,
        ..store.world().actor(id).write()
    };
    html! {
        <p class="by-hand-note">
            { "Sends a body written by hand. " }
            <button type="button" class="link" onclick={store.sends(Msg::Write(id, computed))}>
                { "Use the edits" }
            </button>
        </p>
    }
}

/// How stale a copy is, and behind it what has changed since.
#[inline(never)] // not on the first screen
fn stale(store: &Store, id: ActorId, chip: &str) -> Html {
    let changed = store.world().changed_since_read(id);
    html! {
        <details class="more stale">
            <summary class="chip refused">{ chip.to_owned() }</summary>
            <div class="more-panel">
                if store.world().stored().is_none() {
                    <p>{ "The object is gone." }</p>
                } else if changed.is_empty() {
                    <p>{ "Only bookkeeping changed since: the version, and who owns what." }</p>
                } else {
                    <p>{ "Changed since it was read:" }</p>
                    { for changed.iter().map(|change| html! {
                        <p class="change" title={dotted(&change.pointer)}>{ change.to_string() }</p>
                    }) }
                }
            </div>
        </details>
    }
}

/// The working copy as a text. What is typed is the working copy as soon as it is an object.
#[inline(never)] // not on the first screen
fn raw_text(store: &Store, id: ActorId, raw: &Raw) -> Html {
    let name = store.name(id);
    let oninput = store.on(move |event: InputEvent| {
        let field = event.target_dyn_into::<HtmlTextAreaElement>();
        Msg::RawText(id, field.map(|field| field.value()).unwrap_or_default())
    });
    let error_id = format!("raw-error-{}", Lane::Editor(id).slug());
    html! {
        <div class="raw">
            <textarea
                aria-label={format!("{name}: working copy as YAML")}
                aria-invalid={raw.error.is_some().to_string()}
                aria-describedby={raw.error.is_some().then(|| error_id.clone())}
                value={raw.text.clone()}
                spellcheck="false"
                autocapitalize="off"
                wrap="off"
                {oninput}
            />
            if let Some(error) = &raw.error {
                <p class="typing-error" id={error_id} role="alert">{ error.clone() }</p>
            }
        </div>
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
        let onchange = store.on(move |on: bool| {
            let mut write = changed.clone();
            set(&mut write, on);
            Msg::Write(id, write)
        });
        more::check(on, label, title, onchange)
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
            { more::more(store, id) }
            { on_conflict(store, id, write) }
        </>
    }
}

fn on_conflict(store: &Store, id: ActorId, write: Write) -> Html {
    let choice = std::mem::discriminant(&write.on_conflict);
    let is_chosen = move |other: &OnConflict| std::mem::discriminant(other) == choice;
    let onchange = store.on(move |event: Event| {
        let on_conflict = ON_CONFLICT
            .get(more::chosen(&event))
            .map(|(choice, _)| *choice);
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
                    <option selected={is_chosen(choice)}>{ *label }</option>
                }) }
            </select>
        </label>
    }
}

/// Whose lane it is; the right one can be another's.
fn who(store: &Store, id: ActorId) -> Html {
    let name = |id: ActorId| store.name(id).to_owned();
    if id == ActorId::A {
        return html! { { name(id) } };
    }
    const RIGHT: [ActorId; 2] = [ActorId::B, ActorId::C];
    let onchange = store.on(|event: Event| {
        let actor = RIGHT.get(more::chosen(&event)).copied();
        Msg::Open(Lane::Editor(actor.unwrap_or(ActorId::B)))
    });
    html! {
        <select class="who" aria-label="Whose lane this is" {onchange}>
            { for RIGHT.map(|other| html! {
                <option selected={other == id}>{ name(other) }</option>
            }) }
        </select>
    }
}
