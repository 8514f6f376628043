//! A request as engineers know it: method, path, media type, body.

use optimist_apiserver::patch::{APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH};
use optimist_messages::label;
use optimist_simulation::ByHand;
use web_sys::{HtmlInputElement, HtmlTextAreaElement};
use yew::{Event, Html, InputEvent, SubmitEvent, TargetCast, html};

use super::dialog::Modal;
use crate::browser::selected;
use crate::state::{RequestMsg, Sends, StateHandle};

const CONTENT_TYPES: [&str; 7] = [
    "",
    "application/json",
    "application/yaml",
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    JSON_PATCH,
    APPLY,
];

pub(crate) fn request_dialog(store: &StateHandle) -> Html {
    let Some(request) = &store.requests.draft else {
        return Html::default();
    };
    let by_hand = &request.by_hand;
    let send = store.sends(RequestMsg::SendByHand);
    let onsubmit = move |event: SubmitEvent| {
        event.prevent_default();
        send.emit(());
    };
    html! {
        <Modal
            store={store.clone()}
            title={label::request_title(&store.name(request.actor))}
            begin="request-path"
        >
            <form class="dialog-body load-form" {onsubmit}>
                <p class="muted" id="request-hint">{ label::request_hint() }</p>
                { head(store, by_hand, request.problem.is_some()) }
                { body(store, by_hand) }
                if let Some(problem) = &request.problem {
                    <p class="problem" role="alert">
                        <b>{ label::not_sent() }{ " " }</b>{ problem.clone() }
                    </p>
                }
                <div class="dialog-actions">
                    <span class="spring" />
                    <button type="submit" class="button primary">{ label::send() }</button>
                </div>
            </form>
        </Modal>
    }
}

/// Method, path and media type.
fn head(store: &StateHandle, by_hand: &ByHand, wrong: bool) -> Html {
    let on_target = changed(store, by_hand, |by_hand, event: &InputEvent| {
        if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
            by_hand.target = input.value();
        }
    });
    let on_method = changed(store, by_hand, |by_hand, event: &Event| {
        by_hand.method = selected(event);
    });
    let on_content_type = changed(store, by_hand, |by_hand, event: &Event| {
        by_hand.content_type = selected(event);
    });
    html! {
        <div class="request-form">
            <select aria-label={label::request_method()} onchange={on_method}>
                { for ByHand::METHODS.map(|method| option(method, &by_hand.method)) }
            </select>
            <input
                id="request-path"
                aria-label={label::request_path()}
                aria-invalid={wrong.to_string()}
                value={by_hand.target.clone()}
                spellcheck="false"
                autocomplete="off"
                autocapitalize="off"
                oninput={on_target}
            />
            <label>
                <span>{ label::request_content_type_header() }</span>
                <select
                    aria-label={label::request_content_type()}
                    disabled={!by_hand.carries_body()}
                    onchange={on_content_type}
                >
                    { for CONTENT_TYPES.map(|media| option(media, &by_hand.content_type)) }
                </select>
            </label>
        </div>
    }
}

/// A choice of a list; the empty one is none of them.
fn option(value: &'static str, chosen: &str) -> Html {
    let name = match value {
        "" => label::request_no_content_type(),
        value => value.to_owned(),
    };
    html! { <option {value} selected={value == chosen}>{ name }</option> }
}

/// The body, and that a GET carries none.
fn body(store: &StateHandle, by_hand: &ByHand) -> Html {
    let oninput = changed(store, by_hand, |by_hand, event: &InputEvent| {
        if let Some(area) = event.target_dyn_into::<HtmlTextAreaElement>() {
            by_hand.body = area.value();
        }
    });
    html! {
        <>
            <textarea
                aria-label={label::request_typed_body()}
                aria-describedby="request-hint"
                spellcheck="false"
                autocapitalize="off"
                wrap="off"
                disabled={!by_hand.carries_body()}
                value={by_hand.body.clone()}
                {oninput}
            />
            if !by_hand.carries_body() && !by_hand.body.is_empty() {
                <p class="muted">{ label::request_get_body() }</p>
            }
        </>
    }
}

/// Makes a callback that changes the request by an event.
fn changed<E: 'static>(
    store: &StateHandle,
    by_hand: &ByHand,
    change: fn(&mut ByHand, &E),
) -> yew::Callback<E> {
    let by_hand = by_hand.clone();
    store.on(move |event: E| {
        let mut changed = by_hand.clone();
        change(&mut changed, &event);
        RequestMsg::ByHand(changed)
    })
}
