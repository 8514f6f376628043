//! A request as engineers know it: method, path, media type, body.

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
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
    "application/apply-patch+yaml",
];

#[inline(never)] // not on the first screen
pub(crate) fn request_dialog(store: &StateHandle) -> Html {
    let Some(request) = &store.requests.draft else {
        return Html::default();
    };
    let by_hand = &request.by_hand;
    let oninput = changed(store, by_hand, |by_hand, event: &InputEvent| {
        if let Some(area) = event.target_dyn_into::<HtmlTextAreaElement>() {
            by_hand.body = area.value();
        }
    });
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
    let onsubmit = {
        let store = store.clone();
        move |event: SubmitEvent| {
            event.prevent_default();
            store.send(RequestMsg::SendByHand);
        }
    };
    let option = |value: &'static str, chosen: &str| {
        html! {
            <option {value} selected={value == chosen}>
                { if value.is_empty() { "none" } else { value } }
            </option>
        }
    };
    html! {
        <Modal store={store.clone()} title={format!("A request of {}", store.name(request.actor))} begin="request-path">
            <form class="dialog-body load-form" {onsubmit}>
                <p class="muted" id="request-hint">
                    { "It is sent as it stands, and becomes a step. The working copies stay as they are." }
                </p>
                <div class="request-form">
                    <select aria-label="Method" onchange={on_method}>
                        { for ByHand::METHODS.map(|method| option(method, &by_hand.method)) }
                    </select>
                    <input
                        id="request-path"
                        aria-label="Path and query"
                        aria-invalid={request.problem.is_some().to_string()}
                        value={by_hand.target.clone()}
                        spellcheck="false"
                        autocomplete="off"
                        autocapitalize="off"
                        oninput={on_target}
                    />
                    <label>
                        <span>{ "Content-Type" }</span>
                        <select
                            aria-label="Content type"
                            disabled={!by_hand.carries_body()}
                            onchange={on_content_type}
                        >
                            { for CONTENT_TYPES.map(|media| option(media, &by_hand.content_type)) }
                        </select>
                    </label>
                </div>
                <textarea
                    aria-label="Body"
                    aria-describedby="request-hint"
                    spellcheck="false"
                    autocapitalize="off"
                    wrap="off"
                    disabled={!by_hand.carries_body()}
                    value={by_hand.body.clone()}
                    {oninput}
                />
                if !by_hand.carries_body() && !by_hand.body.is_empty() {
                    <p class="muted">{ "A GET carries no body: this one is not sent." }</p>
                }
                if let Some(problem) = &request.problem {
                    <p class="problem" role="alert"><b>{ "Not sent. " }</b>{ problem.clone() }</p>
                }
                <div class="dialog-actions">
                    <span class="spring" />
                    <button type="submit" class="button primary">{ "Send" }</button>
                </div>
            </form>
        </Modal>
    }
}

/// What an event changes in the request.
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
