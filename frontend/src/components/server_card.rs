//! The server's card: the stored object, all earlier versions, and the events of a watcher.

use optimist_apiserver::server::Release;
use optimist_client::{STORED, ValueChange, changes_by_item, visible};
use optimist_messages::{self as messages, label};
use optimist_simulation::LastWrite;
use yew::{Event, Html, html};

use super::cards::CardRows;
use super::controller::stored_rows;
use super::etcd;
use super::more::chosen;
use super::owners;
use super::revisions::revisions;
use super::tabs::{Tabs, panel_id, tabs};
use super::watch;
use super::yaml_view::YamlView;
use crate::state::{Lane, Sends, ServerTab, SessionMsg, ShareMsg, State, StateHandle, ViewMsg};

const TABS: [ServerTab; 5] = [
    ServerTab::Object,
    ServerTab::Owners,
    ServerTab::Revisions,
    ServerTab::Watch,
    ServerTab::Etcd,
];

fn name(tab: ServerTab) -> String {
    match tab {
        ServerTab::Object => label::server_object(),
        ServerTab::Owners => label::server_owners(),
        ServerTab::Revisions => label::server_revisions(),
        ServerTab::Watch => label::server_watch(),
        ServerTab::Etcd => "etcd".to_owned(),
    }
}

/// Marked places, and the class of their colour.
type MarkedPlaces = (Vec<ValueChange>, &'static str);

/// Marks the fields that the last step changed in the store, with the colour of its actor.
pub(super) fn last_write(state: &State) -> MarkedPlaces {
    let step = state.session.tree.step(state.session.tree.current());
    let wrote = match (step, state.session.tree.last_write()) {
        (Some(step), LastWrite::Step(last)) => std::ptr::eq(step, last),
        _ => false,
    };
    let Some(step) = step.filter(|_| wrote) else {
        return (Vec::new(), "server");
    };
    let mut latest = state
        .world()
        .versions()
        .rev()
        .filter_map(|version| version.object.as_deref());
    let marks = match (latest.next(), latest.next()) {
        (Some(new), Some(old)) => changes_by_item(old, new, &state.world().resource().root),
        _ => Vec::new(),
    };
    (marks, super::step_row::slug(step))
}

/// Draws the choice of the object in the cards, if there are several.
fn subjects(store: &StateHandle) -> Html {
    let world = store.world();
    let all: Vec<(String, String)> = world
        .subjects()
        .map(|subject| (subject.resource().kind.clone(), subject.name().to_owned()))
        .collect();
    if all.len() < 2 {
        return Html::default();
    }
    let is_shown = |kind: &str, name: &str| {
        let shown = world.subject();
        shown.resource().kind == kind && shown.name() == name
    };
    let choices = all.clone();
    let onchange = store.on(move |event: Event| {
        let (kind, name) = choices.get(chosen(&event)).cloned().unwrap_or_default();
        SessionMsg::LookAt(kind, name)
    });
    html! {
        <select class="who" aria-label={label::which_object()} {onchange}>
            { for all.iter().map(|(kind, name)| html! {
                <option selected={is_shown(kind, name)}>{ format!("{kind} {name}") }</option>
            }) }
        </select>
    }
}

/// Shows the release of the server. In a lesson it is the one that the lesson is about.
fn release(store: &StateHandle) -> Html {
    let release = store.world().server().release();
    if store.learn.learning().is_some() {
        return html! { <span class="release">{ release.span() }</span> };
    }
    let onchange = store.on(|event: Event| {
        let chosen = chosen(&event).min(Release::ALL.len() - 1);
        ShareMsg::Release(Release::ALL[Release::ALL.len() - 1 - chosen])
    });
    html! {
        <select class="release" aria-label={label::release()} {onchange}>
            { for Release::ALL.iter().rev().map(|each| html! {
                <option selected={*each == release}>{ each.span() }</option>
            }) }
        </select>
    }
}

/// Warns that the server can accept an object that a real one refuses, if it cannot evaluate a rule
/// of the kind.
fn unevaluated_rules(store: &StateHandle) -> Html {
    match messages::unevaluated_rules(&store.world().unevaluated_rules()) {
        Some(said) => {
            html! { <p class="last-write" role="note">{ visible(&said).into_owned() }</p> }
        }
        None => Html::default(),
    }
}

pub(crate) fn server_card(store: &StateHandle, rows: &CardRows, marks: MarkedPlaces) -> Html {
    let chip = messages::cards::stored_version(store.world());
    html! {
        <section
            class="card server"
            id="card-server"
            tabindex="-1"
            aria-label={label::server()}
            data-open={(store.view.lane == Lane::Server).to_string()}
        >
            <header class="card-head">
                <h2>{ label::server() }</h2>
                { release(store) }
                { subjects(store) }
                <span class="chip plain">{ chip }</span>
            </header>
            if store.view.server_tab == ServerTab::Object && store.world().has_controllers() {
                { stored_rows(store) }
            }
            <div class="card-body" role="tabpanel" id={panel_id("server")}>
                { match store.view.server_tab {
                    ServerTab::Object => object(store, rows, marks),
                    ServerTab::Owners => owners::owners(store),
                    ServerTab::Revisions => revisions(store),
                    ServerTab::Watch => watch::stream(store),
                    ServerTab::Etcd => etcd::keys(store),
                } }
            </div>
            { footer(store) }
        </section>
    }
}

/// Shows the stored object, with the changes of the last step in it.
fn object(store: &StateHandle, rows: &CardRows, (marks, tone): MarkedPlaces) -> Html {
    let Some((_, object)) = store.world().stored() else {
        return html! {
            <div class="yaml blank">
                <p>{ label::not_stored() }</p>
                <p>{ label::not_stored_next() }</p>
            </div>
        };
    };
    html! {
        <YamlView
            dispatcher={store.dispatcher()}
            rows={rows.clone()}
            copy={STORED}
            id="server"
            label={label::stored_object()}
            {object}
            {marks}
            {tone}
            toggled={store.view.toggled.clone()}
            editor={None}
            editing={None}
        />
    }
}

/// Draws the actions of the open view, and the tabs that choose a view.
fn footer(store: &StateHandle) -> Html {
    let chosen = TABS.iter().position(|tab| *tab == store.view.server_tab);
    html! {
        <div class="controls">
            { match store.view.server_tab {
                ServerTab::Object => unevaluated_rules(store),
                ServerTab::Owners => owners::apply_preview(store),
                ServerTab::Revisions => html! {
                    <p class="last-write">{ messages::last_write(&store.session.tree) }</p>
                },
                ServerTab::Watch => watch::controls(store),
                ServerTab::Etcd => etcd::compaction(store),
            } }
            { tabs(&Tabs {
                label: label::server_has(),
                id: "server",
                class: "segmented",
                names: &TABS.map(name),
                chosen: chosen.unwrap_or(0),
                onchoose: store.on(|i: usize| ViewMsg::ServerTab(TABS[i.min(TABS.len() - 1)])),
            }) }
        </div>
    }
}
