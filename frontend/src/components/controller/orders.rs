//! The search of every order from the current step, and its results.

use std::rc::Rc;

use optimist_client::visible;
use optimist_messages::{explore, label, orders as messages};
use optimist_simulation::explore::{Plan, PropertyAnswer, ThirdActor};
use optimist_simulation::{ActorId, HistoryTree};
use yew::{Event, Html, Properties, classes, component, html, use_memo};

use crate::browser::selected;
use crate::components::OwnProperty;
use crate::components::icon::{Icon, icon};
use crate::explore::tool_options;
use crate::state::{
    ControllerMsg, OrderProperty, OrdersFinding, Sends, StateHandle, thirds_beside_controller,
};

/// Shows the button that searches, then the progress of the search, then its results.
pub(super) fn orders(store: &StateHandle) -> Html {
    let Some(orders) = store.orders() else {
        return search(store);
    };
    let content = match &orders.found {
        Some(found) => finding(store, found),
        None => html! {
            <>
                <p>{ label::orders_searching(&explore::number(store.orders_states() as u128)) }</p>
                <button
                    type="button"
                    class="button small"
                    onclick={store.sends(ControllerMsg::CancelOrders)}
                >
                    { label::orders_cancel() }
                </button>
            </>
        },
    };
    html! {
        <div class="orders" role="group" aria-label={label::orders_of_controller()}>
            { third(store) }
            { content }
        </div>
    }
}

/// The choice of one more actor that takes part.
fn third(store: &StateHandle) -> Html {
    html! { <OneMore store={store.clone()} moment={SessionMoment(Rc::clone(&store.session.tree))} /> }
}

#[component]
fn OneMore(props: &OfMomentProps) -> Html {
    let store = &props.store;
    let thirds = use_memo(props.moment.clone(), |moment| {
        thirds_beside_controller(moment.0.world())
    });
    if thirds.is_empty() {
        return Html::default();
    }
    let chosen = store.third_of_orders();
    let choose =
        store.on(|event: Event| ControllerMsg::Third(ThirdActor::named(&selected(&event))));
    let option = |third: &ThirdActor| {
        html! {
            <option value={third.slug()} selected={chosen == Some(*third)}>
                { explore::third(*third) }
            </option>
        }
    };
    let editors = ThirdActor::EDITORS.iter().filter(|it| thirds.contains(it));
    let tools = Plan::TOOLS
        .into_iter()
        .filter(|it| thirds.contains(&ThirdActor::Tool(*it)));
    html! {
        <label class="field">
            <span>{ label::orders_third() }</span>
            <select onchange={choose}>
                <option value="" selected={chosen.is_none()}>{ label::setup_no_third() }</option>
                { for editors.map(option) }
                { tool_options(tools, |tool| chosen == Some(ThirdActor::Tool(tool))) }
            </select>
        </label>
    }
}

/// The field for a property of one's own.
pub(super) fn own_property(store: &StateHandle) -> Html {
    if !store.can_write_property() {
        return Html::default();
    }
    html! { <ControllerProperty store={store.clone()} moment={SessionMoment(Rc::clone(&store.session.tree))} /> }
}

/// The moment of a session from which orders are searched.
#[derive(Clone)]
struct SessionMoment(Rc<HistoryTree>);

impl PartialEq for SessionMoment {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Clone, PartialEq, Properties)]
struct OfMomentProps {
    store: StateHandle,
    moment: SessionMoment,
}

#[component]
fn ControllerProperty(props: &OfMomentProps) -> Html {
    let store = &props.store;
    let own = &store.controller.own;
    // They are the same until the question is another one.
    let examples = use_memo(props.moment.clone(), |moment| {
        messages::examples(moment.0.world())
    });
    html! {
        <OwnProperty
            checked={own.text.clone()}
            error={own.error.clone()}
            hint={messages::own_property_hint(store.world())}
            {examples}
            check={store.on(ControllerMsg::CheckProperty)}
        />
    }
}

fn search(store: &StateHandle) -> Html {
    if !store.can_search_orders() {
        // Where there is no goal either, the same stands beside the goals.
        let shown = store.shown_controller();
        let shown = shown.filter(|id| store.world().goals(*id).is_some());
        let misfit = shown.and_then(|id| store.world().orders_misfit(id));
        return html! {
            if let Some(misfit) = misfit {
                <p class="muted">{ visible(&messages::misfit(&misfit)).into_owned() }</p>
            }
        };
    }
    html! {
        <div class="orders">
            { third(store) }
            <button
                type="button"
                class="button small"
                onclick={store.sends(ControllerMsg::SearchOrders)}
            >
                { label::orders_search() }
            </button>
        </div>
    }
}

fn finding(store: &StateHandle, found: &OrdersFinding) -> Html {
    let with = found.editors.clone();
    let without = ActorId::EDITORS.into_iter();
    let without = without.filter(|editor| !with.contains(editor)).collect();
    let names = |editors: Vec<ActorId>| -> Vec<String> {
        editors
            .into_iter()
            .map(|it| store.name(it).to_string())
            .collect()
    };
    let (with, without) = (names(with), names(without));
    let (with, without): (Vec<&str>, Vec<&str>) = (
        with.iter().map(String::as_str).collect(),
        without.iter().map(String::as_str).collect(),
    );
    let third = found.third.map(|(actor, does)| (store.name(actor), does));
    let actors = messages::OrderActors {
        controllers: found.controllers,
        editors: &with,
        without_edit: &without,
        third: third.as_ref().map(|(name, does)| (&**name, *does)),
    };
    let varied = messages::varied(found.states, actors, found.restarts);
    let unknown = |(_, answer): &(_, PropertyAnswer)| *answer == PropertyAnswer::Unknown;
    let properties = found.properties.iter().enumerate();
    html! {
        <div class="orders-found" role="status">
            <p>{ visible(&varied).into_owned() }</p>
            if found.properties.iter().any(unknown) {
                <p>{ messages::incomplete(found.explored_steps) }</p>
            }
            <ul>
                { for properties.map(|(index, (property, answer))| {
                    row(store, index, property, answer)
                }) }
            </ul>
        </div>
    }
}

fn row(
    store: &StateHandle,
    index: usize,
    property: &OrderProperty,
    answer: &PropertyAnswer,
) -> Html {
    let (name, safety) = match property {
        OrderProperty::Safety(safety) => (messages::safety(safety), Some(safety)),
        OrderProperty::Settles(goals) => (messages::settles(goals), None),
        OrderProperty::Own(text) => (text.clone(), None),
    };
    let name = visible(&name).into_owned();
    let own = matches!(property, OrderProperty::Own(_));
    let (tone, sign) = match answer {
        PropertyAnswer::Holds => ("ok", Some(Icon::Check)),
        PropertyAnswer::Broken(_) => ("lost", Some(Icon::Cross)),
        PropertyAnswer::Unknown | PropertyAnswer::Untried => ("plain", None),
    };
    html! {
        <li>
            <span class={classes!("order-property", tone)}>
                { for sign.map(icon) }
                if own {
                    <code>{ &name }</code>
                } else {
                    <b>{ &name }</b>
                }
                { ": " }{ messages::answer(safety, answer) }
            </span>
            if matches!(answer, PropertyAnswer::Broken(_)) {
                <button
                    type="button"
                    class="button small"
                    title={label::orders_open_of(&name)}
                    onclick={store.sends(ControllerMsg::OpenOrder(index))}
                >
                    { label::orders_open() }
                </button>
            }
        </li>
    }
}
