//! The API server at the address of the page, as behind `kubectl proxy`: what people pick of it, and the
//! comparison of a write. Nothing is asked before somebody presses a button.

mod asking;
mod card;
mod compared;
mod fetch;
mod follow;
mod state;

use std::rc::Rc;

use optimist_client::visible;
use optimist_diagnose::remote::{ProxyCommand, RemoteKind};
use optimist_messages::diagnose::client_long;
use optimist_messages::label;
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;
use yew::{Callback, Event, Html, InputEvent, Properties, TargetCast, component, html};

use self::asking::Asking;
use self::card::{Card, use_card};
use self::follow::Follows;
use self::state::{RemoteAction, RemoteState};
use crate::browser;
use crate::components::Copy;
use crate::state::{DiagnoseMsg, Sends, StateHandle};

/// The properties of the card.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct RemoteProps {
    pub(super) store: StateHandle,
}

/// The card. There is none where no proxy of this machine can have served the page.
#[component]
pub(super) fn Remote(props: &RemoteProps) -> Html {
    let card = use_card();
    let Some(origin) = fetch::origin() else {
        return Html::default();
    };
    let asking = Asking {
        card: card.dispatcher(),
        page: props.store.dispatcher(),
    };
    let look = {
        let asking = asking.clone();
        Callback::from(move |_| spawn_local(asking.clone().look()))
    };
    let start_following = {
        let (asking, card) = (asking.clone(), card.clone());
        Callback::from(move |()| {
            let Some(kind) = card.kind().cloned() else {
                return;
            };
            let begins = Rc::new(Follows::default());
            asking.card.follow(Rc::clone(&begins));
            let place = (card.namespace.clone(), card.name.clone());
            spawn_local(asking.clone().follow(kind, place, card.secrets, begins));
        })
    };
    let stop = {
        let card = card.dispatcher();
        Callback::from(move |()| card.unfollow())
    };
    html! {
        <details class="remote" open={card.found.is_some()}>
            <summary>{ label::remote_title() }</summary>
            <p class="says">{ label::remote_says(&origin) }</p>
            if let Some(found) = &card.found {
                <p class="says" role="status">
                    { visible(&label::remote_found(&found.version.name, &found.kinds.len())).into_owned() }
                </p>
                { picks(&card) }
                { actions(&props.store, &card, &asking, &start_following, &stop) }
                { comparison(&props.store, &card, &asking) }
            } else {
                <button type="button" class="button" onclick={look}>{ label::remote_look() }</button>
            }
            { progress(&card) }
            { command(&props.store, &card) }
        </details>
    }
}

/// Sends what is typed into a field.
fn sends_text(card: &Card, action: fn(String) -> RemoteAction) -> Callback<InputEvent> {
    let card = card.dispatcher();
    Callback::from(move |event: InputEvent| {
        let input: Option<HtmlInputElement> = event.target_dyn_into();
        let text = input.map(|input| input.value()).unwrap_or_default();
        card.dispatch(action(text.trim().to_owned()));
    })
}

/// Draws the choice among the kinds of the server.
fn kind_field(card: &Card, kinds: &[RemoteKind]) -> Html {
    let onchange = {
        let card = card.dispatcher();
        Callback::from(move |event: Event| {
            let position = browser::selected(&event).parse().unwrap_or_default();
            card.dispatch(RemoteAction::Kind(position));
        })
    };
    html! {
        <label class="field">
            <span>{ label::remote_kind() }</span>
            <select aria-label={label::remote_kind()} {onchange}>
                { for kinds.iter().enumerate().map(|(at, kind)| html! {
                    <option value={at.to_string()} selected={at == card.kind}>
                        { visible(&format!("{} ({})", kind.kind, kind.api_version())).into_owned() }
                    </option>
                }) }
            </select>
        </label>
    }
}

/// Draws the fields that say which object is meant.
fn picks(card: &Card) -> Html {
    let Some(found) = &card.found else {
        return Html::default();
    };
    let onsecrets = {
        let card = card.dispatcher();
        Callback::from(move |event: Event| {
            card.dispatch(RemoteAction::Secrets(browser::ticked(&event)));
        })
    };
    let is_namespaced = card.kind().is_some_and(|kind| kind.is_namespaced);
    html! {
        <>
            { kind_field(card, &found.kinds) }
            <label class="field">
                <span>{ label::remote_namespace() }</span>
                <input
                    type="text"
                    value={card.namespace.clone()}
                    disabled={!is_namespaced}
                    spellcheck="false"
                    autocapitalize="off"
                    oninput={sends_text(card, RemoteAction::Namespace)}
                />
            </label>
            <label class="field">
                <span>{ label::remote_name() }</span>
                <input
                    type="text"
                    value={card.name.clone()}
                    list="remote-names"
                    spellcheck="false"
                    autocapitalize="off"
                    autocomplete="off"
                    oninput={sends_text(card, RemoteAction::Name)}
                />
            </label>
            <datalist id="remote-names">
                { for card.names.iter().map(|name| html! { <option value={name.clone()} /> }) }
            </datalist>
            <label class="check">
                <input type="checkbox" checked={card.secrets} onchange={onsecrets} />
                { " " }{ label::remote_secrets() }
            </label>
        </>
    }
}

fn button(name: String, disabled: bool, onclick: Callback<()>) -> Html {
    html! {
        <button type="button" class="button small" {disabled} onclick={onclick.reform(|_| ())}>
            { name }
        </button>
    }
}

/// Draws the buttons for the object that is picked.
fn actions(
    store: &StateHandle,
    card: &Card,
    asking: &Asking,
    start_following: &Callback<()>,
    stop: &Callback<()>,
) -> Html {
    let Some(kind) = card.kind().cloned() else {
        return Html::default();
    };
    let place = (card.namespace.clone(), card.name.clone());
    let secrets = card.secrets;
    let none = card.name.is_empty();
    let names = {
        let (asking, kind, namespace) = (asking.clone(), kind.clone(), place.0.clone());
        Callback::from(move |()| {
            spawn_local(asking.clone().names(kind.clone(), namespace.clone()));
        })
    };
    let open = {
        let (asking, place) = (asking.clone(), place.clone());
        Callback::from(move |()| {
            spawn_local(asking.clone().open(kind.clone(), place.clone(), secrets));
        })
    };
    let all = {
        let (asking, found) = (asking.clone(), card.found.clone());
        let namespace = place.0;
        Callback::from(move |()| {
            let kinds = found.as_ref().map(|found| found.kinds.clone());
            let kinds = kinds.unwrap_or_default();
            spawn_local(asking.clone().namespace(kinds, namespace.clone(), secrets));
        })
    };
    let reading = store.diagnose.reading();
    let is_installed = reading.is_some_and(|reading| reading.installed.is_ok());
    html! {
        <div class="row-actions">
            { button(label::remote_names(), false, names) }
            { button(label::remote_open(), none, open) }
            if card.following.is_some() {
                { button(label::remote_stop(), false, stop.clone()) }
            } else {
                { button(label::remote_follow(), none, start_following.clone()) }
            }
            { button(label::remote_all(), card.namespace.is_empty(), all) }
            if is_installed {
                <button type="button" class="button small" onclick={store.sends(DiagnoseMsg::PlayObject)}>
                    { label::remote_play() }
                </button>
            }
        </div>
    }
}

/// Draws the comparison of the write of the case.
fn comparison(store: &StateHandle, card: &Card, asking: &Asking) -> Html {
    if store.diagnose.written_object().is_none() {
        return html! { <p class="says">{ label::remote_predict_none() }</p> };
    }
    let client = client_long(store.diagnose.client());
    let onclick = {
        let (asking, card, store) = (asking.clone(), card.clone(), store.clone());
        Callback::from(move |_| {
            if let Some(write) = store.diagnose.write() {
                spawn_local(asking.clone().compare((*card).clone(), write));
            }
        })
    };
    html! {
        <>
            <button type="button" class="button" {onclick}>{ label::remote_predict(&client) }</button>
            <p class="says">{ label::remote_predict_says() }</p>
            if let Some(compared) = &card.compared {
                { compared::compared(compared) }
            }
        </>
    }
}

/// Says what is asked, and what came of the last request.
fn progress(card: &RemoteState) -> Html {
    let shown = |text: &str| visible(text).into_owned();
    html! {
        <div role="status">
            if let Some(target) = &card.asking {
                <p class="says">{ shown(&label::remote_asking(target)) }</p>
            }
            if let Some(problem) = &card.problem {
                <p class="problem">{ shown(problem) }</p>
            }
            if let Some(followed) = &card.following {
                <p class="says">{ shown(&label::remote_following(followed)) }</p>
            }
            { for card.says.iter().map(|text| html! { <p class="says">{ shown(text) }</p> }) }
        </div>
    }
}

/// Draws the command of a proxy that lets through what is picked, and the comparison of the case's write.
fn command(store: &StateHandle, card: &RemoteState) -> Html {
    let mut command = ProxyCommand::new();
    if let Some(kind) = card.kind() {
        command.add_kind(kind, &card.namespace, &card.name);
    }
    let written = store.diagnose.written_object();
    let written = written.and_then(|id| Some((card.listed(&id.group, &id.kind)?, id)));
    if let Some((kind, id)) = written {
        let namespace = id.namespace_or_default();
        command.add_kind(kind, namespace, &id.name);
        command.add_dry_runs(kind, namespace, &id.name);
    }
    let text = command.text("DIST", &fetch::path());
    html! {
        <details>
            <summary>{ label::remote_command() }</summary>
            <p class="says">{ label::remote_command_says() }</p>
            <pre class="snippet" role="region" tabindex="0" aria-label={label::remote_command()}>
                { visible(&text).into_owned() }
            </pre>
            <Copy {text} />
        </details>
    }
}
