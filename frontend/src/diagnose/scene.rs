//! The scene of an error message: the parts that it leaves out, and fields to fill them in.

use optimist_client::visible;
use optimist_diagnose::scene::{GivenParts, MissingPart, Scene, UnusedManifest};
use optimist_messages::{diagnose as messages, label};
use web_sys::HtmlInputElement;
use yew::{Callback, Event, Html, TargetCast, html};

use crate::browser::selected;
use crate::state::{DiagnoseMsg, Sends, StateHandle};

/// Draws the made-up parts of a scene.
pub(super) fn scene(store: &StateHandle, scene: &Scene, unused: &[UnusedManifest]) -> Html {
    html! {
        <div class="scene">
            <p>{ label::scene_made() }</p>
            if scene.missing.iter().any(can_be_filled_in) {
                <p class="says">{ label::scene_missing() }</p>
            }
            <div class="scene-parts">
                { for scene.missing.iter().map(|part| missing(store, part)) }
                { for given_parts(store, &scene.missing) }
                { for messages::unused_manifests(unused).into_iter().map(|said| html! {
                    <p class="says">{ visible(&said).into_owned() }</p>
                }) }
            </div>
            <button
                type="button"
                class="button"
                aria-label={label::ways_step_through(&label::scene_message())}
                onclick={store.sends(DiagnoseMsg::StepScene)}
            >
                { label::ways_step() }
            </button>
        </div>
    }
}

/// Returns whether there is a field for a part.
fn can_be_filled_in(part: &MissingPart) -> bool {
    matches!(
        part,
        MissingPart::Kind { .. } | MissingPart::Namespace { .. } | MissingPart::Name { .. }
    )
}

/// A part that the message does not say.
fn missing(store: &StateHandle, part: &MissingPart) -> Html {
    let given = &store.diagnose.given;
    match part {
        // What people filled in has its field, also where it is refused.
        MissingPart::Namespace { .. } if given.namespace.is_some() => Html::default(),
        MissingPart::Name { .. } if given.name.is_some() => Html::default(),
        MissingPart::RefusedName { .. } | MissingPart::RefusedNamespace { .. } => Html::default(),
        MissingPart::Kind {
            assumed,
            candidates,
        } => kind(store, assumed, candidates),
        MissingPart::Namespace { assumed } => text(
            store,
            label::scene_namespace(),
            assumed,
            "",
            |given, text| {
                given.namespace = text;
            },
        ),
        MissingPart::Name { assumed } => {
            text(store, label::scene_name(), assumed, "", |given, text| {
                given.name = text;
            })
        }
        MissingPart::Manager { assumed } => html! {
            <p class="says">{ visible(&label::scene_manager(assumed)).into_owned() }</p>
        },
        MissingPart::Values | MissingPart::ObjectValues => {
            html! { <p class="says">{ messages::missing_part(part) }</p> }
        }
    }
}

/// The parts that people have filled in.
fn given_parts(store: &StateHandle, missing: &[MissingPart]) -> Vec<Html> {
    let given = &store.diagnose.given;
    let refused = |is: fn(&MissingPart) -> bool| {
        let part = missing.iter().find(|part| is(part))?;
        let said = messages::missing_part(part);
        Some(html! { <p class="says" role="alert">{ visible(&said).into_owned() }</p> })
    };
    let mut parts = Vec::new();
    if let Some(name) = &given.name {
        parts.push(text(store, label::scene_name(), "", name, |given, text| {
            given.name = text;
        }));
        parts.extend(refused(|it| matches!(it, MissingPart::RefusedName { .. })));
    }
    if let Some(namespace) = &given.namespace {
        let set = |given: &mut GivenParts, text| given.namespace = text;
        parts.push(text(store, label::scene_namespace(), "", namespace, set));
        parts.extend(refused(|it| {
            matches!(it, MissingPart::RefusedNamespace { .. })
        }));
    }
    if let Some(kind) = &given.kind {
        let reset = store.on(|_| DiagnoseMsg::Given(GivenParts::default()));
        parts.push(html! {
            <p class="says">
                { visible(&label::scene_kind_given(kind)).into_owned() }{ " " }
                <button type="button" class="link" onclick={reset}>{ label::scene_reset() }</button>
            </p>
        });
    }
    parts
}

fn kind(store: &StateHandle, assumed: &str, candidates: &[String]) -> Html {
    let given = store.diagnose.given.clone();
    let onchange = store.on(move |event: Event| {
        let chosen = selected(&event);
        let (kind, version) = chosen.split_once(" (").unwrap_or((&chosen, ""));
        let version = version.trim_end_matches(')');
        DiagnoseMsg::Given(GivenParts {
            kind: Some(kind.to_owned()),
            api_version: (!version.is_empty()).then(|| version.to_owned()),
            ..given.clone()
        })
    });
    if candidates.is_empty() {
        return html! {
            <p class="says">{ visible(&label::scene_kind_assumed(&assumed)).into_owned() }</p>
        };
    }
    html! {
        <label class="field">
            <span>{ label::scene_kind() }</span>
            <select aria-label={label::scene_kind()} {onchange}>
                { for candidates.iter().map(|candidate| html! {
                    <option value={candidate.clone()} selected={candidate == assumed}>
                        { visible(candidate).into_owned() }
                    </option>
                }) }
            </select>
        </label>
    }
}

/// A field for a part.
fn text(
    store: &StateHandle,
    name: String,
    assumed: &str,
    value: &str,
    set: fn(&mut GivenParts, Option<String>),
) -> Html {
    let given = store.diagnose.given.clone();
    let onchange: Callback<Event> = store.on(move |event: Event| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        let text = input.map(|input| input.value()).unwrap_or_default();
        let text = text.trim();
        let mut given = given.clone();
        set(&mut given, (!text.is_empty()).then(|| text.to_owned()));
        DiagnoseMsg::Given(given)
    });
    html! {
        <label class="field">
            <span>{ name.clone() }</span>
            <input
                type="text"
                aria-label={name}
                placeholder={messages::assumed(assumed)}
                value={value.to_owned()}
                maxlength="253"
                spellcheck="false"
                autocapitalize="off"
                {onchange}
            />
        </label>
    }
}
