//! The field in which a value is typed in place.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_messages::label;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement, HtmlTextAreaElement};
use yew::{
    AttrValue, Callback, FocusEvent, Html, InputEvent, KeyboardEvent, NodeRef, Properties,
    component, hook, html, use_effect_with, use_mut_ref, use_node_ref,
};

use crate::browser;
use crate::state::{Dispatcher, EditMsg, Editing, FIELD, RequestMsg, Sends};

/// A text of more lines than this scrolls in its field.
const MAX_LINES: usize = 12;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ValueInputProps {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) editing: Editing,
    /// The name of the value.
    pub(crate) label: AttrValue,
    /// The text that is displayed while the field is empty.
    #[prop_or_default]
    pub(crate) placeholder: AttrValue,
    /// The id of the element that gets the keyboard afterwards.
    pub(crate) back_to: AttrValue,
}

/// Returns the text in a field.
fn typed(field: &NodeRef) -> String {
    let field = field.cast::<HtmlElement>();
    let value = field.and_then(|field| match field.dyn_into::<HtmlInputElement>() {
        Ok(input) => Some(input.value()),
        Err(other) => Some(other.dyn_into::<HtmlTextAreaElement>().ok()?.value()),
    });
    value.unwrap_or_default()
}

/// The event handlers of a field.
#[derive(Clone)]
struct FieldEvents {
    onkeydown: Callback<KeyboardEvent>,
    oninput: Callback<InputEvent>,
    onblur: Callback<FocusEvent>,
}

/// Gives the keyboard to a field as it comes. Returns a place to keep the field's form of the
/// value: it has ways of its own to end lines.
#[hook]
fn use_first_text(input: &NodeRef) -> Rc<RefCell<String>> {
    let at_first = use_mut_ref(String::new);
    let text = at_first.clone();
    use_effect_with(input.clone(), move |input| {
        text.replace(typed(input));
        if let Some(field) = input.cast::<HtmlElement>() {
            // It fails only for an element that no longer exists.
            let _ = field.focus();
        }
        // Of several lines the first key would else replace them all.
        if let Some(line) = input.get().and_then(|field| field.dyn_into().ok()) {
            HtmlInputElement::select(&line);
        }
    });
    at_first
}

/// Makes the event handlers of a field. `long` if Enter begins another line.
#[hook]
fn use_field_events(props: &ValueInputProps, input: &NodeRef, long: bool) -> FieldEvents {
    let at_first = use_first_text(input);
    // A field that goes loses the keyboard too. What it held is taken already by then.
    let taken = use_mut_ref(|| false);
    let input = input.clone();
    let done = move || match typed(&input) {
        text if text == *at_first.borrow() => EditMsg::Cancel,
        text => EditMsg::Commit(text),
    };
    let onblur = {
        let (dispatcher, taken, done) = (props.dispatcher.clone(), taken.clone(), done.clone());
        Callback::from(move |_: FocusEvent| {
            if !*taken.borrow() {
                dispatcher.send(done());
            }
        })
    };
    let oninput = {
        let taken = taken.clone();
        Callback::from(move |_: InputEvent| {
            taken.replace(false);
        })
    };
    let (dispatcher, back_to) = (props.dispatcher.clone(), props.back_to.to_string());
    let editor = props.editing.editor;
    let onkeydown = Callback::from(move |event: KeyboardEvent| {
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
    });
    FieldEvents {
        onkeydown,
        oninput,
        onblur,
    }
}

#[component]
pub(crate) fn ValueInput(props: &ValueInputProps) -> Html {
    let input = use_node_ref();
    // Decided once: a field that changed its sort while it is typed in would lose the keyboard.
    let long = use_mut_ref(|| props.editing.text.contains(['\n', '\r']));
    let long = *long.borrow();
    let events = use_field_events(props, &input, long);
    use_effect_with(props.editing.error.is_some(), |wrong| {
        if *wrong {
            browser::reveal("#typing-error", 8.0);
        }
    });
    if long {
        return lines(props, input, events);
    }
    let FieldEvents {
        onkeydown,
        oninput,
        onblur,
    } = events;
    let error = props.editing.error.clone();
    let length = props.editing.text.chars().count();
    let size = length.max(props.placeholder.len()).clamp(4, 24) + 1;
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
                size={size.to_string()}
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
fn lines(props: &ValueInputProps, field: NodeRef, events: FieldEvents) -> Html {
    let FieldEvents {
        onkeydown,
        oninput,
        onblur,
    } = events;
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
                {oninput}
                {onblur}
            />
            <span class="typing-hint" id="typing-lines">
                { label::typing_lines() }
            </span>
        </>
    }
}
