//! The Explore page: the selection, the results and the map.

mod classes;
mod endings;
mod in_between;
mod layout;
mod map;
mod matrix;
mod mixed;
mod property;
mod replay;
mod run;
mod sentences;
mod setup;
mod side_by_side;
mod store;

use std::rc::Rc;

use optimist_messages::label;
use yew::{
    Callback, Html, Properties, UseReducerHandle, classes, component, hook, html, use_effect_with,
    use_reducer,
};

pub(crate) use self::setup::tool_options;
use self::store::ExploreStore;
use crate::browser;
use crate::components::{header, kept_notice};
use crate::state::{EditSource, ExploreModel, ExploreMsg, Page, Sends, StateHandle, TransferMsg};

/// The style of this page alone.
const STYLE: [&str; 2] = [
    include_str!("../style/explore.css"),
    include_str!("../style/map.css"),
];

/// The state of the page, and the way to change it.
type Explored = UseReducerHandle<ExploreStore>;

fn on<E>(model: &Explored, message: impl Fn(E) -> ExploreMsg + 'static) -> Callback<E> {
    let dispatcher = model.dispatcher();
    Callback::from(move |event| dispatcher.dispatch(message(event)))
}

/// The properties of the page.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ExploreProps {
    pub(crate) store: StateHandle,
}

/// The searches, as long as one is under way.
#[hook]
fn use_searches(model: &Explored) {
    let dispatcher = model.dispatcher();
    let begun = Rc::new(ExploreModel::clone(model));
    use_effect_with(model.turn, move |turn| {
        let run = turn
            .is_running()
            .then(|| run::start(begun, Rc::new(move |msg| dispatcher.dispatch(msg))));
        move || drop(run)
    });
}

/// Takes the scenario that Play or a link wants to explore.
#[hook]
fn use_request(store: &StateHandle, model: &Explored) {
    let model = model.clone();
    use_effect_with(store.explore.request.clone(), move |asked| {
        let Some(asked) = asked else { return };
        let (setup, row) = model.requested(asked);
        model.dispatch(ExploreMsg::Setup(setup));
        model.dispatch(ExploreMsg::Choose(row));
    });
}

/// Tells the state the explored setup, for links.
#[hook]
fn use_link(store: &StateHandle, model: &Explored) {
    let (store, model) = (store.clone(), model.clone());
    use_effect_with((model.setup.clone(), model.chosen), move |_| {
        let of_asked = matches!(model.setup.subject, EditSource::Editors(..));
        store.send(TransferMsg::Explored(model.to_json(), of_asked));
    });
}

/// The page.
#[component]
pub(crate) fn Explore(props: &ExploreProps) -> Html {
    let model = use_reducer(ExploreStore::new);
    use_searches(&model);
    use_request(&props.store, &model);
    use_link(&props.store, &model);
    let store = &props.store;
    if store.page != Page::Explore {
        return html! {};
    }
    STYLE.into_iter().for_each(browser::adopt_style);
    let heading = sentences::heading(&model);
    let question = sentences::question(&model);
    html! {
        <>
            <a class="skip" href="#outcomes">{ label::explore_skip() }</a>
            <div class={classes!("explore", model.turn.is_running().then_some("running"))}>
                { header(store) }
                { kept_notice(store) }
                <main class="explore-body">
                    <section class="explore-choice" aria-label={label::explore_scenario()}>
                        <h2>{ heading.clone() }</h2>
                        if question != heading {
                            <p class="question">{ question }</p>
                        }
                        <p class="says">{ sentences::intents(&model) }</p>
                        if let Some(between) = model.setup.subject.between() {
                            { in_between::in_between(store, between) }
                        }
                        { setup::setup(&model) }
                        { property::field(&model) }
                    </section>
                    <section class="explore-matrix" id="outcomes" tabindex="-1" aria-label={label::explore_outcomes()}>
                        { matrix::matrix(&model) }
                    </section>
                    <section class="explore-map" aria-label={label::explore_map()}>
                        { map::map(store, &model) }
                    </section>
                </main>
            </div>
            <p class="unseen" role="status" aria-live="polite">{ sentences::announcement(&model) }</p>
        </>
    }
}
