//! The field in which people write a property of every order.

use std::rc::Rc;

use optimist_lesson::PropertyError;
use optimist_messages::{label, property as said};
use web_sys::HtmlTextAreaElement;
use yew::{
    Callback, Html, InputEvent, MouseEvent, Properties, SubmitEvent, TargetCast, component, html,
    use_effect_with, use_state_eq,
};

use super::load_dialog::excerpt;
use crate::browser;

/// The style of this part alone.
const STYLE: &str = include_str!("../style/own_property.css");

/// The properties of the field.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct OwnPropertyProps {
    /// The text that was checked; empty: none.
    pub(crate) checked: String,
    /// The mistake in it.
    pub(crate) error: Option<PropertyError>,
    /// The text beside the title.
    pub(crate) hint: String,
    /// Properties to begin with.
    pub(crate) examples: Rc<Vec<String>>,
    /// Checks a text; an empty one removes the property.
    pub(crate) check: Callback<String>,
}

/// The field, with what is wrong in it.
#[component]
pub(crate) fn OwnProperty(props: &OwnPropertyProps) -> Html {
    browser::adopt_style(STYLE);
    let checked = props.checked.clone();
    let draft = use_state_eq(|| checked.clone());
    {
        let draft = draft.setter();
        use_effect_with(checked.clone(), move |checked| draft.set(checked.clone()));
    }
    let check = &props.check;
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
            <summary><b>{ label::property_title() }</b><span>{ &props.hint }</span></summary>
            <form {onsubmit}>
                <textarea
                    rows="2"
                    aria-label={label::property_label()}
                    aria-invalid={error.is_some().to_string()}
                    aria-describedby={error.map(|_| "property-error")}
                    spellcheck="false"
                    autocapitalize="off"
                    placeholder={props.examples.iter().rev().nth(1).cloned()}
                    value={(*draft).clone()}
                    {oninput}
                />
                { buttons(check, draft.trim().is_empty(), checked.is_empty()) }
            </form>
            // One child in any case: else the form would be made anew when the mistake goes, and the
            // field would lose the focus in the middle of a word.
            if let Some(error) = error {
                { problem(&checked, error) }
            }
            { to_begin_with(check, &props.examples) }
        </details>
    }
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
