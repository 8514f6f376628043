//! Everything that can be chosen about how an editor writes, and its rarer requests.

use optimist_client::{Declares, OnConflict, Preset, Strategy, Subresource, Write};
use optimist_messages::client;
use optimist_simulation::Delete;
use web_sys::HtmlInputElement;
use yew::{Event, Html, TargetCast, html};

use super::controls::ControlsProps;
use super::more;
use crate::state::{EditMsg, Lane, RequestMsg, Sends};

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

const TARGETS: [(Option<Subresource>, &str); 3] = [
    (None, "the object"),
    (Some(Subresource::Status), "/status"),
    (Some(Subresource::Scale), "/scale"),
];

/// Draws the panel.
pub(crate) fn write_panel(props: &ControlsProps) -> Html {
    html! {
        <div class="more-panel write-panel">
            { presets(props) }
            { strategies(props) }
            { options(props) }
            { target(props) }
            <hr />
            { requests(props) }
        </div>
    }
}

/// The clients that people know: each sets all that is below.
fn presets(props: &ControlsProps) -> Html {
    let chosen = Preset::of(&props.write, &props.resource);
    let button = |preset: Preset| {
        let write = preset.write(&props.resource)?;
        Some(html! {
            <button
                type="button"
                class="button small"
                aria-pressed={(chosen == Some(preset)).to_string()}
                onclick={props.dispatcher.sends(EditMsg::Write(props.id, write))}
            >
                { client(preset) }
            </button>
        })
    };
    let row = |label: &'static str, kubectl: bool| {
        let presets = Preset::ALL.into_iter();
        let presets = presets.filter(move |preset| preset.is_kubectl() == kubectl);
        html! {
            <div class="presets" role="group" aria-label={format!("{} writes like {label}", props.name)}>
                <span class="presets-of">{ label }</span>
                { for presets.filter_map(button) }
            </div>
        }
    };
    html! {
        <>
            { row("kubectl", true) }
            { row("controller", false) }
        </>
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
        <div class="options">
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
            if matches!(write.strategy, Strategy::MergePatch | Strategy::StrategicMergePatch) {
                { check(
                    write.declares == Declares::Manifest,
                    "client-side apply",
                    "kubectl apply: merges the manifest that was applied last, the working copy and the object",
                    |write, on| write.declares = if on { Declares::Manifest } else { Declares::Edits },
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
            { check(write.dry_run, "dry run", "The server answers and stores nothing", |write, on| {
                write.dry_run = on;
            }) }
            { on_conflict(props) }
        </div>
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

/// To which part of the object it writes, and in whose name.
fn target(props: &ControlsProps) -> Html {
    let (id, write) = (props.id, &props.write);
    let changed = |change: fn(&mut Write, Event)| {
        let write = write.clone();
        props.dispatcher.on(move |event: Event| {
            let mut write = write.clone();
            change(&mut write, event);
            EditMsg::Write(id, write)
        })
    };
    let to = changed(|write, event| {
        let target = TARGETS.get(more::chosen(&event));
        write.subresource = target.and_then(|(target, _)| *target);
    });
    let manager = changed(|write, event| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        let name = input.map(|input| input.value());
        write.manager = name.filter(|name| !name.is_empty());
    });
    html! {
        <div class="write-target">
            <label>
                <span>{ "Write to" }</span>
                <select onchange={to}>
                    { for TARGETS.iter().map(|(target, label)| html! {
                        <option selected={*target == write.subresource}>{ *label }</option>
                    }) }
                </select>
            </label>
            <label>
                <span>{ "Manager" }</span>
                <input
                    value={write.manager.clone().unwrap_or_default()}
                    placeholder={props.manager.to_string()}
                    spellcheck="false"
                    autocomplete="off"
                    onchange={manager}
                />
            </label>
        </div>
    }
}

/// What is sent more rarely.
fn requests(props: &ControlsProps) -> Html {
    let (id, delete) = (props.id, props.preconditions);
    let dispatcher = &props.dispatcher;
    let uid = dispatcher.on(move |uid| RequestMsg::Preconditions(Delete { uid, ..delete }));
    let version = dispatcher.on(move |resource_version| {
        RequestMsg::Preconditions(Delete {
            resource_version,
            ..delete
        })
    });
    let button = |label: &'static str, title: &'static str, disabled: bool, onclick| {
        html! {
            <button type="button" class="button small" {title} {disabled} {onclick}>{ label }</button>
        }
    };
    let checks = delete.uid || delete.resource_version;
    html! {
        <>
            <div class="delete-only">
                { more::check(delete.uid, "delete only this uid", "Refused if it is another object by now", uid) }
                { more::check(delete.resource_version, "delete only this version", "Refused if it was changed since", version) }
            </div>
            <div class="buttons">
                if props.read {
                    <button
                        type="button"
                        class="button small"
                        aria-pressed={props.raw.to_string()}
                        title="Type the whole object as YAML"
                        onclick={dispatcher.sends(EditMsg::Raw(id, !props.raw))}
                    >
                        { "YAML" }
                    </button>
                }
                { button("Delete", "", !props.read && checks, dispatcher.sends(RequestMsg::Delete(id))) }
                { button("Create", "POST the working copy", !props.read, dispatcher.sends(RequestMsg::Create(id))) }
                { button("By hand…", "Write method, path and body yourself", false, dispatcher.sends(RequestMsg::Begin(id))) }
            </div>
        </>
    }
}
