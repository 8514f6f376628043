//! The Explore page: the selection, the results and the map.

mod classes;
mod endings;
mod layout;
mod link;
mod map;
mod matrix;
mod mixed;
mod model;
mod replay;
mod run;
mod setup;
mod turn;

use std::rc::Rc;

use optimist_client::Subresource;
use optimist_messages::{explore as messages, label};
use optimist_simulation::ActorId;
use optimist_simulation::explore::{Intent, Plan, Scenario};
use serde_json::Value;
use yew::{
    Callback, Html, Properties, UseReducerHandle, classes, component, hook, html, use_effect_with,
    use_reducer,
};

use self::model::{EditSource, ExploreModel, ExploreMsg, ThirdActorChoice};
pub use self::turn::SearchTurn;
use crate::components::{header, kept_notice};
use crate::state::{ExploreRequest, Page, Sends, StateHandle, TransferMsg};

/// The state of the page, and the way to change it.
type Explored = UseReducerHandle<ExploreModel>;

fn on<E>(model: &Explored, message: impl Fn(E) -> ExploreMsg + 'static) -> Callback<E> {
    let dispatcher = model.dispatcher();
    Callback::from(move |event| dispatcher.dispatch(message(event)))
}

/// What the page is given.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ExploreProps {
    pub(crate) store: StateHandle,
}

/// The searches, as long as one is under way.
#[hook]
fn use_searches(model: &Explored) {
    let dispatcher = model.dispatcher();
    let begun = Rc::new((**model).clone());
    use_effect_with(model.turn, move |turn| {
        let run = turn
            .is_running()
            .then(|| run::begin(begun, Rc::new(move |msg| dispatcher.dispatch(msg))));
        move || drop(run)
    });
}

/// What Play or a link wants explored.
#[hook]
fn use_request(store: &StateHandle, model: &Explored) {
    let model = model.clone();
    use_effect_with(store.explore.request.clone(), move |asked| {
        let Some(asked) = asked else { return };
        let (mut setup, row) = link::from_json(&asked.setup, &model);
        let is_ready = asked.setup.get("edits").is_some_and(Value::is_string);
        if let Some(scenario) = of_editors(asked).filter(|_| !is_ready) {
            if asked.setup.is_null() && scenario.plans.len() > 2 {
                setup.third = Some(ThirdActorChoice::OfPlay);
            }
            setup.subject = EditSource::Editors(asked.clone(), Rc::new(scenario));
        }
        model.dispatch(ExploreMsg::Setup(setup));
        model.dispatch(ExploreMsg::Choose(row));
    });
}

/// Tells the state what is explored, for links.
#[hook]
fn use_link(store: &StateHandle, model: &Explored) {
    let (store, model) = (store.clone(), model.clone());
    use_effect_with((model.setup.clone(), model.chosen), move |_| {
        let of_asked = matches!(model.setup.subject, EditSource::Editors(..));
        store.send(TransferMsg::Explored(link::to_json(&model), of_asked));
    });
}

/// The page.
#[component]
pub(crate) fn Explore(props: &ExploreProps) -> Html {
    let model = use_reducer(ExploreModel::new);
    use_searches(&model);
    use_request(&props.store, &model);
    use_link(&props.store, &model);
    let store = &props.store;
    if store.page != Page::Explore {
        return html! {};
    }
    html! {
        <>
            <a class="skip" href="#outcomes">{ label::explore_skip() }</a>
            <div class={classes!("explore", model.turn.is_running().then_some("running"))}>
                { header(store) }
                { kept_notice(store) }
                <main class="explore-body">
                    <section class="explore-choice" aria-label={label::explore_scenario()}>
                        <h2>{ messages::heading(model.setup.actors()) }</h2>
                        <p class="says">{ model.says() }</p>
                        { setup::setup(&model) }
                    </section>
                    <section class="explore-matrix" id="outcomes" tabindex="-1" aria-label={label::explore_outcomes()}>
                        { matrix::matrix(store, &model) }
                    </section>
                    <section class="explore-map" aria-label={label::explore_map()}>
                        { map::map(store, &model) }
                    </section>
                </main>
            </div>
            <p class="unseen" role="status" aria-live="polite">{ model.announcement() }</p>
        </>
    }
}

/// The edits of the working copies, with the third actor's edits if it has any, from the object
/// that is stored at that node.
fn of_editors(asked: &ExploreRequest) -> Option<Scenario> {
    let world = asked.tree.world_at(asked.node)?;
    world.stored()?;
    let mut scenario = Scenario::of(world);
    for id in ActorId::ALL {
        let copy = world.copy(id);
        if id == ActorId::C && !copy.is_edited() {
            continue;
        }
        let intent = Intent::of(copy, &scenario.resource.root)?;
        let actor = world.actor(id);
        scenario.plans.push(Plan {
            subresource: actor
                .write()
                .subresource
                .filter(|it| *it == Subresource::Status),
            ..Plan::new(&actor.manager, intent)
        });
    }
    Some(scenario)
}
