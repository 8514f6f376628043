//! The server's card: the stored object, all earlier versions, and the events of a watcher.

use std::rc::Rc;

use optimist_apiserver::server::Release;
use optimist_client::{AlignedRows, STORED, ValueChange, changes, visible};
use optimist_simulation::LastWrite;
use yew::{Event, Html, html};

use super::etcd;
use super::more::chosen;
use super::owners;
use super::revisions::revisions;
use super::tabs::{Tabs, panel_id, tabs};
use super::watch;
use super::yaml_view::YamlView;
use crate::state::{Lane, Sends, ServerTab, SessionMsg, ShareMsg, State, StateHandle, ViewMsg};

const TABS: [(ServerTab, &str); 5] = [
    (ServerTab::Object, "Object"),
    (ServerTab::Owners, "Owners"),
    (ServerTab::Revisions, "Revisions"),
    (ServerTab::Watch, "Watch"),
    (ServerTab::Etcd, "etcd"),
];

/// What the step that led here changed in the store, and whose colour that has.
fn last_write(state: &State) -> (Vec<ValueChange>, &'static str) {
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
        (Some(new), Some(old)) => changes(old, new),
        _ => Vec::new(),
    };
    (marks, super::step_row::slug(step))
}

/// Which object the cards are about, where there are several.
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
        <select class="who" aria-label="Which object" {onchange}>
            { for all.iter().map(|(kind, name)| html! {
                <option selected={is_shown(kind, name)}>{ format!("{kind} {name}") }</option>
            }) }
        </select>
    }
}

/// Of which release the server is. In a lesson it is the one that the lesson is about.
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
        <select class="release" aria-label="Release of the API server" {onchange}>
            { for Release::ALL.iter().rev().map(|each| html! {
                <option selected={*each == release}>{ each.span() }</option>
            }) }
        </select>
    }
}

/// The server can accept what a real one refuses, if it cannot evaluate a rule of the kind.
fn unevaluated_rules(store: &StateHandle) -> Html {
    match optimist_messages::unevaluated_rules(&store.world().unevaluated_rules()) {
        Some(said) => {
            html! { <p class="last-write" role="note">{ visible(&said).into_owned() }</p> }
        }
        None => Html::default(),
    }
}

pub(crate) fn server_card(store: &StateHandle, aligned: &Rc<AlignedRows>) -> Html {
    let stored = store.world().stored();
    let chosen = TABS
        .iter()
        .position(|(tab, _)| *tab == store.view.server_tab);
    let chip = stored.map_or_else(
        || "deleted".to_owned(),
        |(version, _)| format!("rv {version}"),
    );
    let (marks, tone) = last_write(store);
    html! {
        <section
            class="card server"
            id="card-server"
            tabindex="-1"
            aria-label="API server"
            data-open={(store.view.lane == Lane::Server).to_string()}
        >
            <header class="card-head">
                <h2>{ "API server" }</h2>
                { release(store) }
                { subjects(store) }
                <span class="chip plain">{ chip }</span>
            </header>
            <div class="card-body" role="tabpanel" id={panel_id("server")}>
                if store.view.server_tab == ServerTab::Owners {
                    { owners::owners(store) }
                } else if store.view.server_tab == ServerTab::Revisions {
                    { revisions(store) }
                } else if store.view.server_tab == ServerTab::Watch {
                    { watch::stream(store) }
                } else if store.view.server_tab == ServerTab::Etcd {
                    { etcd::keys(store) }
                } else if let Some((_, object)) = stored {
                    <YamlView
                        dispatcher={store.dispatcher()}
                        aligned={Rc::clone(aligned)}
                        copy={STORED}
                        id="server"
                        label="Stored object"
                        {object}
                        {marks}
                        {tone}
                        toggled={store.view.toggled.clone()}
                        editor={None}
                        editing={None}
                    />
                } else {
                    <div class="yaml blank">
                        <p>{ "Nothing is stored under that name." }</p>
                        <p>{ "Its versions are under Revisions." }</p>
                    </div>
                }
            </div>
            <div class="controls">
                if store.view.server_tab == ServerTab::Watch {
                    { watch::controls(store) }
                } else if store.view.server_tab == ServerTab::Owners {
                    { owners::foresight(store) }
                } else if store.view.server_tab == ServerTab::Revisions {
                    <p class="last-write">{ optimist_messages::last_write(&store.session.tree) }</p>
                } else if store.view.server_tab == ServerTab::Etcd {
                    { etcd::compaction(store) }
                } else {
                    { unevaluated_rules(store) }
                }
                { tabs(&Tabs {
                    label: "What the server has",
                    id: "server",
                    class: "segmented",
                    names: &TABS.map(|(_, name)| name),
                    chosen: chosen.unwrap_or(0),
                    onchoose: store.on(|i: usize| ViewMsg::ServerTab(TABS[i.min(TABS.len() - 1)].0)),
                }) }
            </div>
        </section>
    }
}
