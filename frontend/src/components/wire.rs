//! A request, as it went or would go over the wire, and its answer.

use optimist_client::ValueChange;
use optimist_client::{Write, visible};
use optimist_messages::{cards, label};
use optimist_simulation::{Action, ActorId, Exchange, Outcome, Step};
use serde_json::Value;
use web_sys::HtmlTextAreaElement;
use yew::{Html, InputEvent, TargetCast, html};

use super::answer::answer;
use super::json_view::{JsonView, json_view};
use crate::state::{EditMsg, Lane, ObjectView, Sends, StateHandle};

fn places(changes: &[ValueChange]) -> Vec<String> {
    let changes = changes.iter().map(|change| change.pointer.clone());
    let version = "/metadata/resourceVersion".to_owned();
    changes.chain([version]).collect()
}

/// Method, path and content type. The path may break where a path does.
pub(super) fn request_line(
    method: &str,
    target: &str,
    content_type: &str,
    slug: &'static str,
) -> Html {
    let mut pieces = Vec::new();
    for piece in visible(target).split_inclusive(['/', '?', '&']) {
        pieces.push(html! { <>{ piece.to_owned() }<wbr /></> });
    }
    html! {
        <div class="request-line">
            <p><b class={slug}>{ method.to_owned() }</b>{ " " }{ for pieces }</p>
            if !content_type.is_empty() {
                <p class="muted">{ format!("Content-Type: {content_type}") }</p>
            }
        </div>
    }
}

/// The important fields of the first event of a stream.
const EVENT: [&str; 4] = [
    "/0/object/code",
    "/0/object/reason",
    "/0/object/message",
    "/0/object/metadata/resourceVersion",
];

/// The places of an answer that matter.
fn answer_places(step: &Step) -> Vec<String> {
    if !step.arrived.is_empty() && step.actor().is_none() {
        let events = (0..step.arrived.len()).map(|i| format!("/{i}/type"));
        return events.chain(EVENT.map(str::to_owned)).collect();
    }
    if step.outcome() == Outcome::Refused {
        return ["/reason", "/code", "/details/causes"]
            .map(str::to_owned)
            .to_vec();
    }
    places(&step.effect)
}

/// A step over the wire: the answer and its reason, then both messages.
pub(crate) fn wire(store: &StateHandle, step: &Step) -> Html {
    let Some(exchange) = &step.exchange else {
        return html! {
            <>
                <div class="empty"><p>{ label::wire_nothing() }</p></div>
                { answer(store, step) }
            </>
        };
    };
    html! {
        <>
            { answer(store, step) }
            { request(store, step, exchange) }
            { response(store, step, exchange) }
        </>
    }
}

fn request(store: &StateHandle, step: &Step, exchange: &Exchange) -> Html {
    let slug = super::step_row::slug(step);
    let text = step.sent_text();
    let has_body = text.is_none() && *exchange.sent != Value::Null;
    html! {
        <details class="message-fold" open={true}>
            <summary>{ label::wire_request() }</summary>
            { request_line(exchange.method.as_str(), &exchange.target, &exchange.content_type, slug) }
            if has_body {
                { json_view(&JsonView {
                    store,
                    view: ObjectView::Request,
                    label: &label::request_body(),
                    body: &exchange.sent,
                    emphasis: places(&step.edits),
                    refused: false,
                }) }
            }
            if let Some(text) = text {
                <pre class="snippet" aria-label={label::request_body()}>{ visible(text).into_owned() }</pre>
            }
        </details>
    }
}

fn response(store: &StateHandle, step: &Step, exchange: &Exchange) -> Html {
    let refused = step.outcome() == Outcome::Refused;
    let stream = match (step.is_stream(), refused) {
        (false, _) => None,
        (true, false) => Some(label::wire_stream()),
        (true, true) => Some(label::wire_stream_ended(&exchange.status_line())),
    };
    html! {
        <details class="message-fold" open={true}>
            <summary>{ label::wire_answer() }</summary>
            if let Some(stream) = stream {
                <p class="muted">{ stream }</p>
            }
            { for exchange.warnings.iter().map(|warning| html! {
                <p class="warning">{ label::warning(&visible(warning)) }</p>
            }) }
            { json_view(&JsonView {
                store,
                view: ObjectView::Response,
                label: &label::response_body(),
                body: &exchange.received,
                emphasis: answer_places(step),
                refused,
            }) }
        </details>
    }
}

/// The body as a text to type in, where one is; and the switch between that and the one that is
/// computed from the edits.
fn by_hand(store: &StateHandle, id: ActorId, computed: &[u8]) -> Html {
    let write = store.world().actor(id).write();
    let (words, body) = match &write.body {
        Some(_) => (label::body_compute(), None),
        None => {
            let value: Option<Value> = serde_json::from_slice(computed).ok();
            let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
            (label::body_by_hand(), Some(pretty.unwrap_or_default()))
        }
    };
    let switched = Write {
        body,
        ..write.clone()
    };
    let typed = write.clone();
    let oninput = store.on(move |event: InputEvent| {
        let field = event.target_dyn_into::<HtmlTextAreaElement>();
        let body = field.map(|field| field.value());
        EditMsg::Write(
            id,
            Write {
                body,
                ..typed.clone()
            },
        )
    });
    html! {
        <>
            <div>
                <button
                    type="button"
                    class="button small"
                    onclick={store.sends(EditMsg::Write(id, switched))}
                >
                    { words }
                </button>
            </div>
            if let Some(body) = write.body {
                <textarea
                    class="by-hand"
                    aria-label={label::body_typed()}
                    value={body}
                    spellcheck="false"
                    autocapitalize="off"
                    wrap="off"
                    {oninput}
                />
                <p class="muted">{ label::body_as_it_stands() }</p>
            }
        </>
    }
}

/// Draws the request that Send would send now.
pub(crate) fn preview(store: &StateHandle) -> Html {
    let id = store.view.focus;
    let actor = store.world().actor(id);
    let request = store.world().preview(id, &Action::Send(actor.write()));
    let Some(request) = request else {
        let (why, next) = cards::nothing_to_send(store.world(), id);
        return html! {
            <div class="empty">
                <p>{ why }</p>
                <p>{ next }</p>
            </div>
        };
    };
    let content_type = request.headers().get("content-type");
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let body: Value = serde_json::from_slice(request.body()).unwrap_or(Value::Null);
    let slug = Lane::Editor(id).slug();
    let written = actor.write().body.is_some();
    html! {
        <>
            <p class="muted">
                { label::preview_if() }{ " " }<b class={slug}>{ &*actor.name }</b>{ " " }{ label::preview_then() }
            </p>
            { request_line(
                request.method().as_str(),
                &request.uri().to_string(),
                content_type.unwrap_or_default(),
                slug,
            ) }
            { by_hand(store, id, request.body()) }
            if !written {
                { json_view(&JsonView { store, view: ObjectView::Preview, label: &label::preview_body(), body: &body, emphasis: places(&store.world().copy(id).edits()), refused: false }) }
            }
        </>
    }
}
