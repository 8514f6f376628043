//! The help: a description of Optimist, and the keys.

use optimist_messages::label;
use yew::{Html, html};

use super::dialog::Modal;
use super::header::other_theme;
use super::icon::icon;
use super::more::check;
use crate::keyboard::{DIVIDER_KEYS, KEYS, KeyHelp, LESSON_KEYS};
use crate::state::{Sends, StateHandle, ViewMsg};

/// Beside the page: `cargo xtask dist` writes it.
const LICENCES: &str = "licences.html";

pub(crate) fn help_dialog(store: &StateHandle) -> Html {
    html! {
        <Modal store={store.clone()} title={label::help_title()} begin="dialog-close">
            <div class="dialog-body prose">
                <p>{ label::help_requests() }</p>
                <p>
                    { label::help_version() }{ " " }<code>{ "resourceVersion" }</code>{ ". " }
                    { label::help_version_after() }
                </p>
                <p>{ label::help_branches() }</p>
                <h3>{ label::keys() }</h3>
                { check(
                    store.view.letter_keys,
                    label::letter_keys(),
                    label::letter_keys_title(),
                    store.on(ViewMsg::LetterKeys),
                ) }
                { keys(&KEYS) }
                <h3>{ label::keys_divider() }</h3>
                { keys(&DIVIDER_KEYS) }
                if store.learn.is_on_stage() {
                    <h3>{ label::keys_lesson() }</h3>
                    { keys(&LESSON_KEYS) }
                }
                { theme(store) }
                { licences() }
            </div>
        </Modal>
    }
}

/// The other theme: a phone has no room for it in the bar.
fn theme(store: &StateHandle) -> Html {
    let (name, sign, wanted) = other_theme(store.view.theme);
    html! {
        <p>
            <button type="button" class="button" onclick={store.sends(ViewMsg::Theme(wanted))}>
                { icon(sign) }
                <span>{ name }</span>
            </button>
        </p>
    }
}

/// A page that is being worked on has no such file beside it.
fn licences() -> Html {
    if cfg!(debug_assertions) {
        return html! {
            <p>{ label::licences_later() }</p>
        };
    }
    html! {
        <p>
            <a href={LICENCES} target="_blank" rel="noopener">
                { label::licences() }
            </a>
        </p>
    }
}

fn keys(keys: &[KeyHelp]) -> Html {
    let row = |&(keys, what): &KeyHelp| {
        html! {
            <>
                <dt>{ for keys.split(' ').map(|key| html! { <kbd>{ key }</kbd> }) }</dt>
                <dd>{ what() }</dd>
            </>
        }
    };
    html! { <dl class="keys">{ for keys.iter().map(row) }</dl> }
}
