//! The search of every order from the current step, and its results.

use std::rc::Rc;

use optimist_client::visible;
use optimist_messages::{label, orders as messages};
use optimist_simulation::explore::PropertyAnswer;
use optimist_simulation::{ActorId, HistoryTree};
use yew::{Html, Properties, classes, component, html, use_memo};

use crate::components::OwnProperty;
use crate::components::icon::{Icon, icon};
use crate::state::{ControllerMsg, OrderProperty, OrdersFinding, Sends, StateHandle};

/// Shows the button that searches, then the progress of the search, then its results.
pub(super) fn orders(store: &StateHandle) -> Html {
    let Some(orders) = store.orders() else {
        return search(store);
    };
    let content = match &orders.found {
        Some(found) => finding(store, found),
        None => html! {
            <>
                <p>{ label::orders_searching(&store.orders_states()) }</p>
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
        <div class="orders" role="group" aria-label={label::orders_of_controller()}>{ content }</div>
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
struct ControllerPropertyProps {
    store: StateHandle,
    moment: SessionMoment,
}

#[component]
fn ControllerProperty(props: &ControllerPropertyProps) -> Html {
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
        return Html::default();
    }
    html! {
        <div class="orders">
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
    let varied = messages::varied(found.states, &with, &without, found.restarts);
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
