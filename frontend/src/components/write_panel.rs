//! Everything that can be chosen about how an editor writes, and its rarer requests.

use optimist_client::{Declares, OnConflict, Preset, Strategy, Subresource, Write};
use optimist_messages::{client, label};
use optimist_simulation::Preconditions;
use web_sys::HtmlInputElement;
use yew::{Event, Html, TargetCast, html};

use super::controls::ControlsProps;
use super::more;
use crate::state::{EditMsg, Lane, RequestMsg, Sends};

const STRATEGIES: [Strategy; 5] = [
    Strategy::Update,
    Strategy::MergePatch,
    Strategy::StrategicMergePatch,
    Strategy::JsonPatch,
    Strategy::Apply,
];

/// Returns the short name of a strategy, and a description of its request.
fn strategy_words(strategy: Strategy) -> (String, String) {
    match strategy {
        Strategy::Update => (label::strategy_update(), label::strategy_update_title()),
        Strategy::MergePatch => (label::strategy_merge(), label::strategy_merge_title()),
        Strategy::StrategicMergePatch => (
            label::strategy_strategic(),
            label::strategy_strategic_title(),
        ),
        Strategy::JsonPatch => (label::strategy_json(), label::strategy_json_title()),
        Strategy::Apply => (label::strategy_apply(), label::strategy_apply_title()),
    }
}

const ON_CONFLICT: [OnConflict; 3] = [
    OnConflict::GiveUp,
    OnConflict::ReadAgain(OnConflict::DEFAULT_ATTEMPTS),
    OnConflict::Resend(OnConflict::DEFAULT_ATTEMPTS),
];

fn on_conflict_words(on_conflict: OnConflict) -> String {
    match on_conflict {
        OnConflict::GiveUp => label::on_conflict_give_up(),
        OnConflict::ReadAgain(_) => label::on_conflict_read_again(),
        OnConflict::Resend(_) => label::on_conflict_resend(),
    }
}

const DECLARES: [Declares; 2] = [Declares::Edits, Declares::Manifest];

/// Describes the fields that an apply declares, in short and in full.
fn declares_words(declares: Declares) -> (String, String) {
    match declares {
        Declares::Edits => (label::declares_edits(), label::declares_edits_title()),
        Declares::Manifest => (label::declares_manifest(), label::declares_manifest_title()),
    }
}

const TARGETS: [Option<Subresource>; 3] =
    [None, Some(Subresource::Status), Some(Subresource::Scale)];

fn target_words(target: Option<Subresource>) -> String {
    target.map_or_else(label::write_to_object, |subresource| {
        format!("/{}", subresource.name())
    })
}

/// Draws the panel.
pub(crate) fn write_panel(props: &ControlsProps) -> Html {
    html! {
        <div class="more-panel write-panel">
            { strategies(props) }
            { options(props) }
            { target(props) }
            <hr />
            { presets(props) }
            <hr />
            { requests(props) }
        </div>
    }
}

/// The clients that people know: each sets all that is below.
fn presets(props: &ControlsProps) -> Html {
    let chosen = Preset::matching(&props.write, &props.resource);
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
    let row = |clients: String, kubectl: bool| {
        let presets = Preset::OF_EDITORS.into_iter();
        let presets = presets.filter(move |preset| preset.is_kubectl() == kubectl);
        html! {
            <div class="presets" role="group" aria-label={label::writes_like(&props.name, &clients)}>
                <span class="presets-of">{ clients }</span>
                { for presets.filter_map(button) }
            </div>
        }
    };
    html! {
        <>
            { row(label::clients_kubectl(), true) }
            { row(label::clients_controller(), false) }
        </>
    }
}

fn strategies(props: &ControlsProps) -> Html {
    let name = format!("strategy-{}", Lane::Editor(props.id).slug());
    let choice = |strategy: Strategy| {
        let (word, title) = strategy_words(strategy);
        html! {
            <label {title}>
                <input
                    type="radio"
                    name={name.clone()}
                    checked={strategy == props.write.strategy}
                    onchange={props.dispatcher.sends(EditMsg::Strategy(props.id, strategy))}
                />
                <span>{ word }</span>
            </label>
        }
    };
    html! {
        <fieldset class="segmented">
            <legend class="unseen">{ label::how_writes(&props.name) }</legend>
            { for STRATEGIES.map(choice) }
        </fieldset>
    }
}

fn options(props: &ControlsProps) -> Html {
    let (id, write) = (props.id, &props.write);
    let check = |on: bool, name: String, title: String, set: fn(&mut Write, bool)| {
        let changed = write.clone();
        let onchange = props.dispatcher.on(move |on: bool| {
            let mut write = changed.clone();
            set(&mut write, on);
            EditMsg::Write(id, write)
        });
        more::check(on, name, title, onchange)
    };
    html! {
        <div class="options">
            if write.strategy == Strategy::Apply {
                { check(write.force, label::force(), label::force_title(), |write, on| {
                    write.force = on;
                }) }
                { declares(props) }
            } else {
                { check(
                    write.send_resource_version,
                    label::send_version(),
                    label::send_version_title(),
                    |write, on| write.send_resource_version = on,
                ) }
            }
            if matches!(write.strategy, Strategy::MergePatch | Strategy::StrategicMergePatch) {
                { check(
                    write.declares == Declares::Manifest,
                    label::client_side(),
                    label::client_side_title(),
                    |write, on| write.declares = if on { Declares::Manifest } else { Declares::Edits },
                ) }
            }
            if write.strategy == Strategy::JsonPatch {
                { check(
                    write.test_values,
                    label::test_values(),
                    label::test_values_title(),
                    |write, on| write.test_values = on,
                ) }
            }
            { check(write.dry_run, label::dry_run(), label::dry_run_option_title(), |write, on| {
                write.dry_run = on;
            }) }
            { check(write.is_strict, label::strict(), label::strict_title(), |write, on| {
                write.is_strict = on;
            }) }
            { on_conflict(props) }
        </div>
    }
}

/// Draws the choice between the edits and the whole working copy, for an apply.
fn declares(props: &ControlsProps) -> Html {
    let (id, write) = (props.id, props.write.clone());
    let chosen = write.declares;
    let onchange = props.dispatcher.on(move |event: Event| {
        let declares = DECLARES.get(more::chosen(&event));
        let declares = declares.copied().unwrap_or_default();
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
            <span>{ label::declares() }</span>
            <select {onchange}>
                { for DECLARES.map(|declares| {
                    let (words, title) = declares_words(declares);
                    html! { <option selected={declares == chosen} {title}>{ words }</option> }
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
        let on_conflict = ON_CONFLICT.get(more::chosen(&event)).copied();
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
            <span>{ label::on_conflict() }</span>
            <select {onchange}>
                { for ON_CONFLICT.map(|choice| html! {
                    <option selected={is_chosen(&choice)}>{ on_conflict_words(choice) }</option>
                }) }
            </select>
        </label>
    }
}

/// Shows the controls for the part of the object that it writes, and for its field manager.
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
        write.subresource = target.copied().flatten();
    });
    let manager = changed(|write, event| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        let name = input.map(|input| input.value());
        write.manager = name.filter(|name| !name.is_empty());
    });
    html! {
        <div class="write-target">
            <label>
                <span>{ label::write_to() }</span>
                <select onchange={to}>
                    { for TARGETS.map(|target| html! {
                        <option selected={target == write.subresource}>{ target_words(target) }</option>
                    }) }
                </select>
            </label>
            <label>
                <span>{ label::manager() }</span>
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

/// Draws the requests that are rarely used.
fn requests(props: &ControlsProps) -> Html {
    let (id, delete) = (props.id, props.preconditions);
    let dispatcher = &props.dispatcher;
    let uid = dispatcher.on(move |uid| RequestMsg::Preconditions(Preconditions { uid, ..delete }));
    let version = dispatcher.on(move |resource_version| {
        RequestMsg::Preconditions(Preconditions {
            resource_version,
            ..delete
        })
    });
    let button = |name: String, title: String, disabled: bool, onclick| {
        html! {
            <button type="button" class="button small" {title} {disabled} {onclick}>{ name }</button>
        }
    };
    let checks = delete.uid || delete.resource_version;
    html! {
        <>
            <h3>{ label::object_requests() }</h3>
            <div class="delete-only">
                { more::check(delete.uid, label::delete_uid(), label::delete_uid_title(), uid) }
                { more::check(delete.resource_version, label::delete_version(), label::delete_version_title(), version) }
            </div>
            <div class="buttons">
                { button(label::delete(), String::new(), !props.read && checks, dispatcher.sends(RequestMsg::Delete(id))) }
                { button(label::create(), label::create_title(), !props.read, dispatcher.sends(RequestMsg::Create(id))) }
            </div>
            <hr />
            <div class="buttons">
                if props.read {
                    <button
                        type="button"
                        class="button small"
                        aria-pressed={props.raw.to_string()}
                        title={label::yaml_title()}
                        onclick={dispatcher.sends(EditMsg::Raw(id, !props.raw))}
                    >
                        { label::yaml() }
                    </button>
                }
                { button(label::by_hand(), label::by_hand_title(), false, dispatcher.sends(RequestMsg::Begin(id))) }
            </div>
        </>
    }
}
