//! The writers in between, in a case of Diagnose. Their edit is made up, and the user can change
//! it.

use optimist_messages::{explore as messages, label, value as in_words};
use serde_json::Value;
use web_sys::HtmlInputElement;
use yew::{Event, Html, TargetCast, html};

use crate::browser::selected;
use crate::components::more::chosen;
use crate::state::{OtherChoice, Sends, StateHandle, TransferMsg, WritersInBetween};

/// The choice of the writer, the field and the value.
pub(super) fn in_between(store: &StateHandle, between: &WritersInBetween) -> Html {
    let edit = &between.edit;
    let Some(writer) = between.writer() else {
        return Html::default();
    };
    let onwriter = store.on(|event: Event| TransferMsg::Other(OtherChoice::Writer(chosen(&event))));
    let onfield = store.on(|event: Event| TransferMsg::Other(OtherChoice::Field(chosen(&event))));
    html! {
        <form
            class="explore-setup between"
            aria-label={label::between_title()}
            onsubmit={|event: yew::SubmitEvent| event.prevent_default()}
        >
            <label class="field">
                <span>{ label::between_writer() }</span>
                <select aria-label={label::between_writer()} onchange={onwriter}>
                    { for between.others.iter().enumerate().map(|(at, other)| html! {
                        <option value={at.to_string()} selected={at == edit.writer}>
                            { messages::other_writer(other) }
                        </option>
                    }) }
                </select>
            </label>
            <label class="field">
                <span>{ label::between_field() }</span>
                <select aria-label={label::between_field()} onchange={onfield}>
                    { for writer.fields.iter().enumerate().map(|(at, field)| html! {
                        <option value={at.to_string()} selected={*field == edit.field}>
                            { messages::other_field(field) }
                        </option>
                    }) }
                </select>
            </label>
            <label class="field">
                <span>
                    { label::between_value() }
                    { ", " }
                    { label::between_now(&in_words(between.now.as_ref())) }
                </span>
                { value(store, &edit.value) }
            </label>
        </form>
    }
}

/// The field of the value, of the type that the value has.
fn value(store: &StateHandle, value: &Value) -> Html {
    if let Value::Bool(now) = value {
        let onchange =
            store.on(|event: Event| TransferMsg::Other(OtherChoice::Value(selected(&event))));
        return html! {
            <select aria-label={label::between_value()} {onchange}>
                { for [true, false].map(|one| html! {
                    <option selected={one == *now}>{ one.to_string() }</option>
                }) }
            </select>
        };
    }
    let onchange = store.on(|event: Event| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        let text = input.map(|input| input.value()).unwrap_or_default();
        TransferMsg::Other(OtherChoice::Value(text))
    });
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    html! {
        <input
            type={if value.is_number() { "number" } else { "text" }}
            aria-label={label::between_value()}
            value={text}
            maxlength="1000"
            spellcheck="false"
            autocapitalize="off"
            {onchange}
        />
    }
}
