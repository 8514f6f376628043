//! How an editor sends its edits, and the buttons that do it.

use std::sync::Arc;

use optimist_client::{Declares, OnConflict, Strategy, Write};
use optimist_simulation::{ActorId, Delete};
use yew::{Event, Html, Properties, component, html};

use super::icon::{Icon, icon};
use super::more;
use crate::state::{Dispatcher, EditMsg, Lane, RequestMsg, Sends, StateHandle};

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
    (
        OnConflict::ReadAgain(OnConflict::DEFAULT_ATTEMPTS),
        "read again, redo",
    ),
    (
        OnConflict::Resend(OnConflict::DEFAULT_ATTEMPTS),
        "send the same again",
    ),
];

const DECLARES: [(Declares, &str, &str); 2] = [
    (
        Declares::Edits,
        "my edits",
        "What this manager applied before, with your edits",
    ),
    (
        Declares::Manifest,
        "this manifest, as typed",
        "Every field of the working copy, but those that only the server sets",
    ),
];

/// Everything that the controls show, so that those that look the same are not drawn again.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ControlsProps {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) id: ActorId,
    pub(crate) name: Arc<str>,
    pub(crate) manager: Arc<str>,
    pub(crate) write: Write,
    /// What a delete asks the server to compare.
    pub(crate) preconditions: Delete,
    /// Whether there is a working copy.
    pub(crate) read: bool,
    pub(crate) edited: bool,
    /// Whether the working copy is typed as a whole.
    pub(crate) raw: bool,
    /// Whether the typed text is not an object yet.
    pub(crate) wrong: bool,
    /// Whether edits were discarded that can be made again.
    pub(crate) discarded: bool,
}

/// The controls of an editor.
pub(crate) fn controls(store: &StateHandle, id: ActorId) -> ControlsProps {
    let actor = store.world().actor(id);
    let copy = store.world().copy(id);
    let raw = store.editing.raw.get(&id);
    ControlsProps {
        dispatcher: store.dispatcher(),
        id,
        name: actor.name.clone(),
        manager: actor.manager.clone(),
        write: actor.write(),
        preconditions: store.requests.preconditions,
        read: copy.edited().is_some(),
        edited: copy.is_edited() || !copy.declared().is_empty(),
        raw: raw.is_some(),
        wrong: raw.is_some_and(|raw| raw.error.is_some()),
        discarded: store.can_undo_discard(id),
    }
}

#[component]
pub(crate) fn Controls(props: &ControlsProps) -> Html {
    let id = props.id;
    html! {
        <div class="controls">
            if props.write.body.is_some() {
                { by_hand(props) }
            }
            { strategies(props) }
            <div class="options">
                { options(props) }
            </div>
            <div class="send-row">
                <button type="button" class="button" onclick={props.dispatcher.sends(RequestMsg::Get(id))}>
                    { "Get" }
                </button>
                <button
                    type="button"
                    class="button primary"
                    disabled={!props.read || props.wrong}
                    title={if props.wrong { "The text is no object yet" } else if props.read { "" } else { "Get first" }}
                    onclick={props.dispatcher.sends(RequestMsg::Send(id))}
                >
                    { "Send" }
                </button>
                if props.read {
                    <button
                        type="button"
                        class="button whole"
                        aria-pressed={props.raw.to_string()}
                        title="Type the whole object as YAML"
                        onclick={props.dispatcher.sends(EditMsg::Raw(id, !props.raw))}
                    >
                        { "YAML" }
                    </button>
                }
                if props.edited || props.wrong {
                    <button
                        type="button"
                        class="button discard"
                        aria-label="Discard edits"
                        title="Discard edits"
                        onclick={props.dispatcher.sends(EditMsg::Discard(id))}
                    >
                        { icon(Icon::Undo) }
                    </button>
                } else if props.discarded {
                    <button
                        type="button"
                        class="button"
                        title="Make the discarded edits again"
                        onclick={props.dispatcher.sends(EditMsg::Undo(id))}
                    >
                        { "Undo discard" }
                    </button>
                }
            </div>
        </div>
    }
}

/// That what is sent is not what the card shows.
#[inline(never)] // not on the first screen
fn by_hand(props: &ControlsProps) -> Html {
    let computed = Write {
        body: None,
        ..props.write.clone()
    };
    html! {
        <p class="by-hand-note">
            { "Sends a body written by hand. " }
            <button type="button" class="link" onclick={props.dispatcher.sends(EditMsg::Write(props.id, computed))}>
                { "Use the edits" }
            </button>
        </p>
    }
}

fn strategies(props: &ControlsProps) -> Html {
    let name = format!("strategy-{}", Lane::Editor(props.id).slug());
    let choice = |&(strategy, label, title): &(Strategy, &'static str, &'static str)| {
        html! {
            <label {title}>
                <input
                    type="radio"
                    name={name.clone()}
                    checked={strategy == props.write.strategy}
                    onchange={props.dispatcher.sends(EditMsg::Strategy(props.id, strategy))}
                />
                <span>{ label }</span>
            </label>
        }
    };
    html! {
        <fieldset class="segmented">
            <legend class="unseen">{ format!("How {} writes", props.name) }</legend>
            { for STRATEGIES.iter().map(choice) }
        </fieldset>
    }
}

fn options(props: &ControlsProps) -> Html {
    let (id, write) = (props.id, &props.write);
    let check = |on: bool, label: &'static str, title: &'static str, set: fn(&mut Write, bool)| {
        let changed = write.clone();
        let onchange = props.dispatcher.on(move |on: bool| {
            let mut write = changed.clone();
            set(&mut write, on);
            EditMsg::Write(id, write)
        });
        more::check(on, label, title, onchange)
    };
    html! {
        <>
            if write.strategy == Strategy::Apply {
                { check(write.force, "force", "Take over fields that other managers own", |write, on| {
                    write.force = on;
                }) }
                { declares(props) }
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
            { more::more(props) }
            { on_conflict(props) }
        </>
    }
}

/// Whether an apply sends the edits or the whole working copy.
#[inline(never)] // not on the first screen
fn declares(props: &ControlsProps) -> Html {
    let (id, write) = (props.id, props.write.clone());
    let chosen = write.declares;
    let onchange = props.dispatcher.on(move |event: Event| {
        let declares = DECLARES.get(more::chosen(&event));
        let declares = declares.map_or(Declares::Edits, |(declares, ..)| *declares);
        EditMsg::Write(
            id,
            Write {
                declares,
                ..write.clone()
            },
        )
    });
    html! {
        <label class="on-conflict">
            <span>{ "apply" }</span>
            <select {onchange}>
                { for DECLARES.iter().map(|(declares, label, title)| html! {
                    <option selected={*declares == chosen} title={*title}>{ *label }</option>
                }) }
            </select>
        </label>
    }
}

fn on_conflict(props: &ControlsProps) -> Html {
    let (id, write) = (props.id, props.write.clone());
    let choice = std::mem::discriminant(&write.on_conflict);
    let is_chosen = move |other: &OnConflict| std::mem::discriminant(other) == choice;
    let onchange = props.dispatcher.on(move |event: Event| {
        let on_conflict = ON_CONFLICT
            .get(more::chosen(&event))
            .map(|(choice, _)| *choice);
        EditMsg::Write(
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
