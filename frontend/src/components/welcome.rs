//! The introduction, until the first request: two ways to begin.

use optimist_messages::label;
use optimist_simulation::ActorId;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlTextAreaElement};
use yew::{Callback, Event, Html, SubmitEvent, TargetCast, html};

use crate::browser;
use crate::state::{DiagnoseMsg, RequestMsg, Sends, StateHandle, lesson_fragment};

/// The lesson that makes the 409 step by step.
const LESSON: &str = "02-resourceversion-and-the-409";

/// Returns whether the page introduces itself: on a first visit, before the first request.
pub(crate) fn is_welcome(store: &StateHandle) -> bool {
    let editors_alone = store.world().subjects().count() == 1
        && !store.world().has_controllers()
        && store.manifest.loaded.is_none();
    store.shows_only_the_first_steps() && store.session.tree.len() == 1 && editors_alone
}

/// The headline, and the two ways to begin.
pub(crate) fn welcome(store: &StateHandle) -> Html {
    html! {
        <>
            <div class="caption-words">
                <h2 class="caption-title">
                    { label::welcome_title() }{ " " }
                    <q>{ label::welcome_quotation() }</q>
                </h2>
                <p>{ label::welcome_text(&store.world().resource().kind) }</p>
            </div>
            <section class="door" aria-labelledby="door-make">
                <h3 id="door-make">{ label::welcome_make() }</h3>
                <p>{ label::welcome_make_text() }</p>
                <div class="door-row">
                    <button
                        type="button"
                        class="button primary"
                        onclick={store.sends(RequestMsg::Get(ActorId::A))}
                    >
                        { label::welcome_get(&store.world().actor(ActorId::A).name) }
                    </button>
                    <a class="button" href={lesson_fragment(LESSON)}>{ label::welcome_lesson() }</a>
                </div>
            </section>
            <section class="door" aria-labelledby="door-error">
                <h3 id="door-error">{ label::welcome_error() }</h3>
                <p>{ label::welcome_error_text() }</p>
                { error(store) }
            </section>
        </>
    }
}

/// Draws the field for an error message. It opens Diagnose.
fn error(store: &StateHandle) -> Html {
    let onsubmit = store.on(|event: SubmitEvent| {
        event.prevent_default();
        let form = event.target_dyn_into::<Element>();
        let field = form.and_then(|form| form.query_selector("textarea").ok()?);
        let field = field.and_then(|field| field.dyn_into::<HtmlTextAreaElement>().ok());
        DiagnoseMsg::Open(field.map(|field| field.value()).unwrap_or_default())
    });
    let onpaste = {
        let sender = store.dispatcher();
        Callback::from(move |event: Event| {
            let field = event.target_dyn_into::<HtmlTextAreaElement>();
            let empty = field.is_some_and(|field| field.value().is_empty());
            if let Some(text) = browser::pasted(&event).filter(|_| empty) {
                event.prevent_default();
                sender.send(DiagnoseMsg::Open(text));
            }
        })
    };
    html! {
        <form class="door-row" {onsubmit}>
            // A text with several lines keeps them, which an input would not.
            <textarea
                rows="1"
                aria-label={label::welcome_paste()}
                placeholder={label::welcome_paste()}
                spellcheck="false"
                autocapitalize="off"
                wrap="off"
                {onpaste}
            />
            <button type="submit" class="button">{ label::welcome_explain() }</button>
        </form>
    }
}
