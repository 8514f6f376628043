//! What this is, and the keys.

use yew::{Html, html};

use super::dialog::Modal;
use super::more::check;
use crate::keyboard::{KEYS, LESSON_KEYS};
use crate::state::{Sends, StateHandle, ViewMsg};

/// Beside the page: `cargo xtask dist` writes it.
const LICENCES: &str = "licences.html";

#[inline(never)] // not on the first screen
pub(crate) fn help_dialog(store: &StateHandle) -> Html {
    html! {
        <Modal store={store.clone()} title="How this works" begin="dialog-close">
            <div class="dialog-body prose">
                <p>
                    { "You are two people who edit one object on one API server. Get reads it, Send \
                       writes your working copy back. Every request is a step: an arrow to the \
                       server and its answer." }
                </p>
                <p>
                    { "Each stored version has a number, the " }<code>{ "resourceVersion" }</code>
                    { ". A write that carries the number it read is stored only if that is still \
                       the latest. That is optimistic concurrency: no locks, one comparison." }
                </p>
                <p>
                    { "Step back and do something else whenever you like. The old future is kept as \
                       a branch." }
                </p>
                <h3>{ "Keys" }</h3>
                { check(
                    store.view.letter_keys,
                    "Use keys that are a single character",
                    "Switch them off if you speak to your computer, or hit keys by accident",
                    store.on(ViewMsg::LetterKeys),
                ) }
                { keys(&KEYS) }
                if store.learn.is_on_stage() {
                    <h3>{ "In a lesson" }</h3>
                    { keys(&LESSON_KEYS) }
                }
                { licences() }
            </div>
        </Modal>
    }
}

/// A page that is being worked on has no such file beside it.
fn licences() -> Html {
    if cfg!(debug_assertions) {
        return html! {
            <p>{ "The licences of what this page is made of come with the release: cargo xtask dist." }</p>
        };
    }
    html! {
        <p>
            <a href={LICENCES} target="_blank" rel="noopener">
                { "Licences of what this page is made of" }
            </a>
        </p>
    }
}

fn keys(keys: &[(&'static str, &'static str)]) -> Html {
    let row = |&(keys, what): &(&'static str, &'static str)| {
        html! {
            <>
                <dt>{ for keys.split(' ').map(|key| html! { <kbd>{ key }</kbd> }) }</dt>
                <dd>{ what }</dd>
            </>
        }
    };
    html! { <dl class="keys">{ for keys.iter().map(row) }</dl> }
}
