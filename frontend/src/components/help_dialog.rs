//! What this is, and the keys.

use yew::{Html, html};

use super::dialog::Modal;
use crate::keyboard::KEYS;
use crate::state::Store;

pub(crate) fn help_dialog(store: &Store) -> Html {
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
                <dl class="keys">
                    { for KEYS.iter().map(|(keys, what)| html! {
                        <>
                            <dt>
                                { for keys.split(' ').map(|key| html! { <kbd>{ key.to_owned() }</kbd> }) }
                            </dt>
                            <dd>{ *what }</dd>
                        </>
                    }) }
                </dl>
            </div>
        </Modal>
    }
}
