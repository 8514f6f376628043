//! The server: what is stored now, and every version before it.

use std::rc::Rc;

use optimist_core::render::{Change, changes};
use optimist_core::sim::Outcome;
use yew::{Html, component, html};

use super::StoreProps;
use super::revisions::Revisions;
use super::tabs::{Tabs, panel_id};
use super::yaml_view::YamlView;
use crate::state::{Lane, Msg, Sends, ServerTab, State, View};
use crate::words;

const TABS: [(ServerTab, &str); 2] = [
    (ServerTab::Object, "Object"),
    (ServerTab::Revisions, "Revisions"),
];

/// What the step that led here changed in the store, and whose colour that has.
fn last_write(state: &State) -> (Vec<Change>, &'static str) {
    let step = state.tree.step(state.tree.current());
    let Some(step) = step.filter(|step| step.outcome() == Outcome::Written) else {
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
    (marks, Lane::Editor(step.editor).slug())
}

#[component]
pub(crate) fn ServerCard(props: &StoreProps) -> Html {
    let store = &props.store;
    let stored = store.world().stored();
    let chosen = TABS.iter().position(|(tab, _)| *tab == store.server_tab);
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
            data-open={(store.lane == Lane::Server).to_string()}
        >
            <header class="card-head">
                <h2>{ "API server" }<span class="etcd">{ " · etcd" }</span></h2>
                <span class="chip plain">{ chip }</span>
            </header>
            <div class="card-body" role="tabpanel" id={panel_id("server")}>
                if store.server_tab == ServerTab::Revisions {
                    <Revisions store={store.clone()} />
                } else if let Some((_, object)) = stored {
                    <YamlView
                        store={store.clone()}
                        view={View::Lane(Lane::Server)}
                        id="server"
                        label="Stored object"
                        object={object.clone()}
                        marks={Rc::new(marks)}
                        {tone}
                    />
                }
            </div>
            <div class="controls">
                <Tabs
                    label="What the server has"
                    id="server"
                    class="segmented"
                    names={TABS.map(|(_, name)| name).to_vec()}
                    chosen={chosen.unwrap_or(0)}
                    onchoose={store.on(|i: usize| Msg::ServerTab(TABS[i.min(1)].0))}
                />
                <p class="last-write">{ words::last_write(&store.tree) }</p>
            </div>
        </section>
    }
}
