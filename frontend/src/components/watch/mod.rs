//! The server's *Watch* view: the events that reach a watcher, and its reconnections.

pub(crate) mod arrows;

use optimist_apiserver::server::EventType;
use optimist_messages as messages;
use optimist_messages::label;
use optimist_simulation::{Connection, Operation, Received, WatchAction, World};
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;
use yew::{Event, Html, classes, html};

use crate::browser::{adopt_style, ticked};
use crate::state::{Sends, SessionMsg, StateHandle, ViewMsg};

/// The style of this view alone.
const STYLE: &str = include_str!("../../style/watch_view.css");

/// The maximum number of recent versions in the menu, and of shown events.
const OFFERED: usize = 50;

/// The stream, newest last and in sight.
pub(crate) fn stream(store: &StateHandle) -> Html {
    adopt_style(STYLE);
    let world = store.world();
    let watcher = world.watcher();
    let received = watcher.received();
    let older = received.len().saturating_sub(OFFERED);
    let now: Vec<_> = store
        .session
        .tree
        .step(store.session.tree.current())
        .map(|step| step.arrived.iter().collect())
        .unwrap_or_default();
    let fresh = received.len() - now.len().min(received.len());
    let (state, tone) = (messages::connection(world), tone(watcher.connection()));
    html! {
        <div class="watch-view">
            <p class={classes!("watch-state", tone)}>{ state }</p>
            <div class="yaml" role="region" tabindex="0" aria-label="Events of the watch">
                if received.is_empty() {
                    <p class="muted watch-empty">{ messages::no_events() }</p>
                }
                if older > 0 {
                    <p class="muted">{ format!("{older} earlier") }</p>
                }
                <ol class="events">
                    { for received.iter().enumerate().skip(older).map(|(i, received)| {
                        event(received, i >= fresh)
                    }) }
                </ol>
            </div>
        </div>
    }
}

/// The class of how the watcher stands.
fn tone(connection: &Connection) -> &'static str {
    match connection {
        Connection::Open { .. } => "ok",
        Connection::Failed { .. } => "refused",
        Connection::None | Connection::Dropped | Connection::Closed | Connection::Listed => "plain",
    }
}

fn event(received: &Received, fresh: bool) -> Html {
    let refused = received.event.event_type == EventType::Error;
    html! {
        <li class={classes!("event", fresh.then_some("fresh"), refused.then_some("refused"))}>
            <div class="event-head">
                <b>{ received.event.event_type.as_str() }</b>
                <span>{ messages::version(received) }</span>
            </div>
            { for received.effect.iter().take(4).map(|change| html! {
                <div class="change">{ change.to_string() }</div>
            }) }
            if received.effect.len() > 4 {
                <div class="muted">{ format!("and {} more", received.effect.len() - 4) }</div>
            }
            if refused {
                <div class="change">{ received.message().unwrap_or_default().to_owned() }</div>
            }
        </li>
    }
}

/// Draws the actions of the watcher, and the control that compacts its history.
pub(crate) fn controls(store: &StateHandle) -> Html {
    let world = store.world();
    let compacted = world.server().store();
    let compacted = compacted.compacted() == compacted.revision();
    let restart = store.view.restart;
    html! {
        <>
            <div class="watch-row">
                { version_select(store) }
                { for presses(world, chosen(store)).into_iter().map(|press| {
                    html! {
                        <button
                            type="button"
                            class={classes!("button", press.primary.then_some("primary"))}
                            title={press.title}
                            onclick={store.sends(SessionMsg::Act(Operation::Watch(press.action)))}
                        >
                            { press.name }
                        </button>
                    }
                }) }
            </div>
            <div class="watch-row">
                <button
                    type="button"
                    class="button"
                    title={label::compact_title()}
                    disabled={compacted && !restart}
                    onclick={store.sends(SessionMsg::Act(Operation::Compact { restart }))}
                >
                    { label::compact() }
                </button>
                <label class="check" title={label::restart_too_title()}>
                    <input
                        type="checkbox"
                        checked={restart}
                        onchange={store.on(|event: Event| ViewMsg::Restart(ticked(&event)))}
                    />
                    <span>{ label::restart_too() }</span>
                </label>
            </div>
        </>
    }
}

/// A button of the watcher.
struct Press {
    name: String,
    title: String,
    primary: bool,
    action: WatchAction,
}

fn presses(world: &World, from: &str) -> Vec<Press> {
    let watcher = world.watcher();
    let open = |primary| Press {
        name: label::watch_open_button(),
        title: label::watch_open_title(),
        primary,
        action: WatchAction::Open(from.to_owned()),
    };
    match watcher.connection() {
        Connection::None => vec![open(true)],
        Connection::Open { .. } => vec![
            open(false),
            Press {
                name: label::watch_drop(),
                title: label::watch_drop_title(),
                primary: true,
                action: WatchAction::Drop,
            },
        ],
        Connection::Failed { .. } => vec![
            open(false),
            Press {
                name: label::watch_list(),
                title: label::watch_list_title(),
                primary: true,
                action: WatchAction::List,
            },
        ],
        Connection::Dropped | Connection::Closed | Connection::Listed => vec![
            open(false),
            Press {
                name: match watcher.last_version() {
                    "" => label::watch_resume(),
                    seen => label::watch_resume_from(&seen),
                },
                title: label::watch_resume_title(),
                primary: true,
                action: WatchAction::Resume,
            },
        ],
    }
}

/// The chosen resourceVersion, if it is there in this history.
fn chosen(store: &StateHandle) -> &str {
    let chosen = store.view.watch_from.as_str();
    let newest = store.world().server().store().revision();
    let is_future = chosen.parse().is_ok_and(|version: u64| version > newest);
    if is_future { "" } else { chosen }
}

fn version_select(store: &StateHandle) -> Html {
    let mut versions: Vec<String> = store
        .world()
        .revisions()
        .map(|version| version.to_string())
        .collect();
    versions.drain(1..versions.len().saturating_sub(OFFERED).max(1));
    versions.reverse();
    let names = [
        ("", label::watch_now()),
        ("0", label::copy_current_short(&0)),
    ];
    let names = names.map(|(value, name)| (value.to_owned(), name));
    let versions = versions
        .into_iter()
        .map(|version| (version.clone(), label::copy_current_short(&version)));
    let onchange = store.on(|event: Event| {
        // A select's value is read as an input's is; its own type would be one more binding.
        let select = event
            .target()
            .map(JsCast::unchecked_into::<HtmlInputElement>);
        ViewMsg::WatchFrom(select.map(|select| select.value()).unwrap_or_default())
    });
    html! {
        <select
            class="button"
            aria-label={label::watch_from()}
            title={label::watch_from_title()}
            {onchange}
        >
            { for names.into_iter().chain(versions).map(|(value, name)| {
                let selected = value == chosen(store);
                // With a key, so that what is chosen stays what it says.
                html! { <option key={value.clone()} {selected} {value}>{ name }</option> }
            }) }
        </select>
    }
}
