//! The field in which a value is typed in place.

use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement, HtmlTextAreaElement};
use yew::{
    AttrValue, Callback, FocusEvent, Html, InputEvent, KeyboardEvent, NodeRef, Properties,
    component, html, use_effect_with, use_mut_ref, use_node_ref,
};

use crate::browser;
use crate::state::{Dispatcher, EditMsg, Editing, FIELD, RequestMsg, Sends};

/// A text of more lines than this scrolls in its field.
const MAX_LINES: usize = 12;

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

/// What a field has in it.
fn typed(field: &NodeRef) -> String {
    let field = field.cast::<HtmlElement>();
    let value = field.and_then(|field| match field.dyn_into::<HtmlInputElement>() {
        Ok(input) => Some(input.value()),
        Err(other) => Some(other.dyn_into::<HtmlTextAreaElement>().ok()?.value()),
    });
    value.unwrap_or_default()
}

#[component]
pub(crate) fn ValueInput(props: &ValueInputProps) -> Html {
    let input = use_node_ref();
    // What the field made of the value: it has ways of its own to end lines.
    let at_first = use_mut_ref(String::new);
    {
        let at_first = at_first.clone();
        use_effect_with(input.clone(), move |input| {
            at_first.replace(typed(input));
            if let Some(field) = input.cast::<HtmlElement>() {
                // It fails only for an element that no longer exists.
                let _ = field.focus();
            }
            // Of several lines the first key would else replace them all.
            if let Some(line) = input.get().and_then(|field| field.dyn_into().ok()) {
                HtmlInputElement::select(&line);
            }
        });
    }
    use_effect_with(props.editing.error.is_some(), |wrong| {
        if *wrong {
            browser::reveal("#typing-error", 8.0);
        }
    });
    let done = {
        let input = input.clone();
        move || match typed(&input) {
            text if text == *at_first.borrow() => EditMsg::Cancel,
            text => EditMsg::Commit(text),
        }
    };
    // Decided once: a field that changed its sort while it is typed in would lose the keyboard.
    let long = use_mut_ref(|| props.editing.text.contains(['\n', '\r']));
    let long = *long.borrow();
    // A field that goes loses the keyboard too. What it held is taken already by then.
    let taken = use_mut_ref(|| false);
    let onkeydown = {
        let (done, taken) = (done.clone(), taken.clone());
        let (dispatcher, back_to) = (props.dispatcher.clone(), props.back_to.to_string());
        let editor = props.editing.editor;
        move |event: KeyboardEvent| {
            match event.key().as_str() {
                "Enter" if !long || event.ctrl_key() => {
                    taken.replace(true);
                    dispatcher.send(done());
                    if event.ctrl_key() {
                        // An invalid value is not sent.
                        dispatcher.send(RequestMsg::Send(editor));
                    }
                }
                "Escape" => dispatcher.send(EditMsg::Cancel),
                _ => return,
            }
            event.prevent_default();
            browser::focus_after(FIELD, back_to.clone());
        }
    };
    let oninput = {
        let taken = taken.clone();
        move |_: InputEvent| {
            taken.replace(false);
        }
    };
    let onblur = {
        let dispatcher = props.dispatcher.clone();
        Callback::from(move |_: FocusEvent| {
            if !*taken.borrow() {
                dispatcher.send(done());
            }
        })
    };
    if long {
        return lines(props, input, Callback::from(onkeydown), onblur);
    }
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
                {oninput}
                {onblur}
            />
            if let Some(error) = error {
                <span class="typing-error" id="typing-error" role="alert">{ error }</span>
            }
        </>
    }
}

/// The field of a text of several lines, in which Enter begins another one.
#[inline(never)] // not on the first screen
fn lines(
    props: &ValueInputProps,
    field: NodeRef,
    onkeydown: Callback<KeyboardEvent>,
    onblur: Callback<FocusEvent>,
) -> Html {
    let rows = props.editing.text.lines().count() + 1;
    html! {
        <>
            <textarea
                ref={field}
                id={FIELD}
                class="typing lines"
                aria-label={props.label.clone()}
                aria-describedby="typing-lines"
                rows={rows.min(MAX_LINES).to_string()}
                value={props.editing.text.clone()}
                wrap="off"
                autocapitalize="off"
                spellcheck="false"
                {onkeydown}
                {onblur}
            />
            <span class="typing-hint" id="typing-lines">
                { "Leaving it keeps what you typed. Ctrl Enter sends, Esc cancels." }
            </span>
        </>
    }
}
