//! A property that people write, and what the search of a way of writing says of it.

use std::rc::Rc;

use optimist_lesson::PropertyError;
use optimist_messages::{label, property as said};
use optimist_simulation::explore::{HistoryAnswer, Search};
use web_sys::HtmlTextAreaElement;
use yew::{
    Callback, Html, InputEvent, MouseEvent, Properties, SubmitEvent, TargetCast,
    UseReducerDispatcher, classes, component, hook, html, use_effect_with, use_memo, use_state_eq,
};

use super::store::ExploreStore;
use super::{Explored, replay, run};
use crate::components::excerpt;
use crate::components::icon::{Icon, icon};
use crate::state::{ExploreModel, ExploreMsg, ExploreSetup, StateHandle};

/// The properties of the field.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct OwnPropertyProps {
    pub(super) setup: ExploreSetup,
    pub(super) error: Option<PropertyError>,
    /// The answers of all ways of writing, in words.
    pub(super) counts: Option<String>,
    pub(super) dispatcher: UseReducerDispatcher<ExploreStore>,
}

/// The field, with what is wrong in it.
pub(super) fn field(model: &Explored) -> Html {
    html! {
        <OwnProperty
            setup={model.setup.clone()}
            error={model.property.as_ref().and_then(|read| read.as_ref().err().cloned())}
            counts={model.property_answers().map(|answers| said::counts(answers.iter()))}
            dispatcher={model.dispatcher()}
        />
    }
}

#[component]
fn OwnProperty(props: &OwnPropertyProps) -> Html {
    let checked = props.setup.property.clone();
    let draft = use_state_eq(|| checked.clone());
    {
        let draft = draft.setter();
        use_effect_with(checked.clone(), move |checked| draft.set(checked.clone()));
    }
    let check = {
        let (setup, dispatcher) = (props.setup.clone(), props.dispatcher.clone());
        Callback::from(move |property: String| {
            let setup = setup.clone();
            dispatcher.dispatch(ExploreMsg::Setup(ExploreSetup { property, ..setup }));
        })
    };
    let examples = use_examples(&props.setup);
    let oninput = {
        let draft = draft.setter();
        Callback::from(move |event: InputEvent| {
            let area = event.target_dyn_into::<HtmlTextAreaElement>();
            draft.set(area.map(|area| area.value()).unwrap_or_default());
        })
    };
    let onsubmit = {
        let (check, draft) = (check.clone(), draft.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            check.emit((*draft).clone());
        })
    };
    // What is wrong is about the text that was checked.
    let error = props.error.as_ref().filter(|_| *draft == checked);
    html! {
        <details class="own-property" open={!checked.is_empty()}>
            <summary>
                <b>{ label::property_title() }</b>
                <span>{ props.counts.clone().unwrap_or_else(label::property_hint) }</span>
            </summary>
            <form {onsubmit}>
                <textarea
                    rows="2"
                    aria-label={label::property_label()}
                    aria-invalid={error.is_some().to_string()}
                    aria-describedby={error.map(|_| "property-error")}
                    spellcheck="false"
                    autocapitalize="off"
                    placeholder={examples.iter().rev().nth(1).cloned()}
                    value={(*draft).clone()}
                    {oninput}
                />
                { buttons(&check, draft.trim().is_empty(), checked.is_empty()) }
            </form>
            { for error.map(|error| problem(&checked, error)) }
            { to_begin_with(&check, &examples) }
        </details>
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

/// To check what is typed, and to remove what was checked.
fn buttons(check: &Callback<String>, nothing_typed: bool, nothing_checked: bool) -> Html {
    html! {
        <div class="buttons">
            <button type="submit" class="button" disabled={nothing_typed}>
                { label::property_check() }
            </button>
            if !nothing_checked {
                <button
                    type="button"
                    class="button"
                    onclick={check.reform(|_: MouseEvent| String::new())}
                >
                    { label::property_remove() }
                </button>
            }
        </div>
    }
}

/// The mistake in the text, and its place.
fn problem(text: &str, error: &PropertyError) -> Html {
    html! {
        <div class="typing-error" id="property-error" role="alert">
            <p>{ said::error(error) }</p>
            { excerpt(text, error.line, error.column) }
        </div>
    }
}

/// Properties to begin with.
fn to_begin_with(check: &Callback<String>, examples: &[String]) -> Html {
    html! {
        <p class="examples">
            { label::property_examples() }{ ": " }
            { for examples.iter().map(|example| {
                let text = example.clone();
                html! {
                    <button
                        type="button"
                        class="link"
                        onclick={check.reform(move |_: MouseEvent| text.clone())}
                    >
                        <code>{ example }</code>
                    </button>
                }
            }) }
        </p>
    }
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
    Some(format!("{} {order}", said::answer(property, answer)))
}
