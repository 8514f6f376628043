//! The field in which a value is typed in place.

use web_sys::HtmlInputElement;
use yew::{
    AttrValue, FocusEvent, Html, KeyboardEvent, Properties, TargetCast, component, html,
    use_effect_with, use_node_ref,
};

use crate::browser;
use crate::state::{Dispatcher, Editing, Msg, Sends};

/// The id of the field.
pub(crate) const FIELD: &str = "typing-field";

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ValueInputProps {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) editing: Editing,
    /// What the value is called.
    pub(crate) label: AttrValue,
    /// What is shown while nothing is typed.
    #[prop_or_default]
    pub(crate) placeholder: AttrValue,
    /// What gets the keyboard afterwards.
    pub(crate) back_to: AttrValue,
}

fn typed(event: &impl TargetCast) -> String {
    let input = event.target_dyn_into::<HtmlInputElement>();
    input.map(|input| input.value()).unwrap_or_default()
}

#[component]
pub(crate) fn ValueInput(props: &ValueInputProps) -> Html {
    let input = use_node_ref();
    use_effect_with(input.clone(), |input| {
        if let Some(input) = input.cast::<HtmlInputElement>() {
            // Both fail only for an element that is no longer there.
            let _ = input.focus();
            input.select();
        }
    });
    use_effect_with(props.editing.error.is_some(), |wrong| {
        if *wrong {
            browser::reveal("#typing-error", 8.0);
        }
    });
    let onkeydown = {
        let (dispatcher, back_to) = (props.dispatcher.clone(), props.back_to.to_string());
        let editor = props.editing.editor;
        move |event: KeyboardEvent| {
            match event.key().as_str() {
                "Enter" => {
                    dispatcher.dispatch(Msg::CommitEdit(typed(&event)));
                    if event.ctrl_key() {
                        // What is no value is not sent.
                        dispatcher.dispatch(Msg::Send(editor));
                    }
                }
                "Escape" => dispatcher.dispatch(Msg::CancelEdit),
                _ => return,
            }
            event.prevent_default();
            browser::focus_after(FIELD, back_to.clone());
        }
    };
    let onblur = props
        .dispatcher
        .on(|event: FocusEvent| Msg::CommitEdit(typed(&event)));
    let error = props.editing.error.clone();
    html! {
        <>
            <input
                ref={input}
                id={FIELD}
                class="typing"
                aria-label={props.label.clone()}
                aria-invalid={error.is_some().to_string()}
                aria-describedby={error.is_some().then_some("typing-error")}
                value={props.editing.text.clone()}
                placeholder={props.placeholder.clone()}
                size={(props.editing.text.chars().count().max(props.placeholder.len()).clamp(4, 24) + 1).to_string()}
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                {onkeydown}
                {onblur}
            />
            if let Some(error) = error {
                <span class="typing-error" id="typing-error" role="alert">{ error }</span>
            }
        </>
    }
}
