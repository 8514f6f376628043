//! A property that people write, and what the search of a way of writing says of it.

use std::rc::Rc;

use optimist_lesson::PropertyError;
use optimist_messages::{label, property as said};
use optimist_simulation::explore::{HistoryAnswer, Search};
use yew::{
    Callback, Html, Properties, UseReducerDispatcher, classes, component, hook, html, use_memo,
};

use super::store::ExploreStore;
use super::{Explored, replay, run};
use crate::components::OwnProperty;
use crate::components::icon::{Icon, icon};
use crate::state::{ExploreModel, ExploreMsg, ExploreSetup, StateHandle};

/// The field, with what is wrong in it. Its hint is the answers of all ways of writing, in words.
pub(super) fn field(model: &Explored) -> Html {
    let counts = model.property_answers();
    let counts = counts.map(|answers| said::counts(answers.iter()));
    html! {
        <ExploreProperty
            setup={model.setup.clone()}
            error={model.property.as_ref().and_then(|read| read.as_ref().err().cloned())}
            hint={counts.unwrap_or_else(label::property_hint)}
            dispatcher={model.dispatcher()}
        />
    }
}

/// The properties of the field.
#[derive(Clone, PartialEq, Properties)]
struct ExplorePropertyProps {
    setup: ExploreSetup,
    error: Option<PropertyError>,
    hint: String,
    dispatcher: UseReducerDispatcher<ExploreStore>,
}

#[component]
fn ExploreProperty(props: &ExplorePropertyProps) -> Html {
    let check = {
        let (setup, dispatcher) = (props.setup.clone(), props.dispatcher.clone());
        Callback::from(move |property: String| {
            let setup = setup.clone();
            dispatcher.dispatch(ExploreMsg::Setup(ExploreSetup { property, ..setup }));
        })
    };
    let examples = use_examples(&props.setup);
    html! {
        <OwnProperty
            checked={props.setup.property.clone()}
            error={props.error.clone()}
            hint={props.hint.clone()}
            {examples}
            {check}
        />
    }
}

/// Properties to begin with. They are the same until the edits or the third actor change.
#[hook]
fn use_examples(setup: &ExploreSetup) -> Rc<Vec<String>> {
    let of_setup = setup.clone();
    use_memo((setup.subject.clone(), setup.third), move |_| {
        run::base(&of_setup).map_or_else(|_| Vec::new(), |scenario| said::examples(&scenario))
    })
}

/// The answer of a row as a cell of the matrix.
pub(super) fn cell(answer: Option<&HistoryAnswer>) -> Html {
    let Some(answer) = answer else {
        return html! { <td class="count"><span class="muted">{ "·" }</span></td> };
    };
    let word = said::brief(answer);
    let (tone, sign) = match answer {
        HistoryAnswer::Holds => ("kept", icon(Icon::Check)),
        HistoryAnswer::Broken(_) => ("refused", icon(Icon::Cross)),
        HistoryAnswer::Untried => (
            "left-out",
            html! { <span aria-hidden="true">{ "–" }</span> },
        ),
        HistoryAnswer::Unknown => (
            "left-out",
            html! { <span aria-hidden="true">{ "?" }</span> },
        ),
    };
    html! {
        <td class={classes!("count", "some", "answer", tone)} title={word.clone()}>
            { sign }<span class="unseen">{ word }</span>
        </td>
    }
}

/// The answer of the chosen row's search about the property, and the order that breaks it.
pub(super) fn result(store: &StateHandle, model: &Explored, search: &Rc<Search>) -> Html {
    let property = model.property.as_ref().and_then(|read| read.as_ref().ok());
    let answer = model.chosen_row().and_then(|row| row.answer.as_ref());
    let Some((property, answer)) = property.zip(answer) else {
        return html! {};
    };
    let tone = match answer {
        HistoryAnswer::Holds => "kept",
        HistoryAnswer::Broken(_) => "refused",
        HistoryAnswer::Untried | HistoryAnswer::Unknown => "left-out",
    };
    let order = said::witness(search, answer);
    html! {
        <div class={classes!("witness", "property", tone)}>
            <div>
                <p>
                    <b>{ said::answer(property, answer) }</b>
                    if !order.is_empty() {
                        { ": " }{ order }{ "." }
                    }
                </p>
                if let Some(absent) = said::absent_fields(search, property) {
                    <p>{ absent }</p>
                }
                <p class="muted">{ said::varied(search).join(" ") }</p>
            </div>
            if let HistoryAnswer::Broken(path) = answer {
                <button
                    type="button"
                    class="button"
                    onclick={replay::path(store, model, search, path)}
                >
                    { label::open_it_in_play() }
                </button>
            }
        </div>
    }
}

/// Returns whether there is a property to search for.
pub(super) fn is_asked(model: &ExploreModel) -> bool {
    matches!(model.property, Some(Ok(_)))
}

/// The result, for screen readers.
pub(super) fn announcement(model: &ExploreModel) -> Option<String> {
    let property = model.property.as_ref()?.as_ref().ok()?;
    let answer = model.chosen_row()?.answer.as_ref()?;
    let order = said::witness(model.chosen_row()?.search()?, answer);
    let absent = said::absent_fields(model.chosen_row()?.search()?, property);
    let absent = absent.unwrap_or_default();
    let answer = said::answer(property, answer);
    Some(format!("{answer} {order} {absent}").trim_end().to_owned())
}
