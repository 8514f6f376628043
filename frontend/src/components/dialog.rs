//! A modal dialog: the browser keeps the keyboard inside and closes it on Escape; then the keyboard is
//! where it was before.

use optimist_messages::label;
use web_sys::HtmlDialogElement;
use yew::{
    AttrValue, Children, Event, Html, Properties, component, html, use_effect_with, use_node_ref,
};

use super::icon::{Icon, icon};
use crate::browser;
use crate::state::{Sends, StateHandle, ViewMsg};

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct ModalProps {
    pub(crate) store: StateHandle,
    pub(crate) title: AttrValue,
    /// The id of the element that has the keyboard at first.
    pub(crate) begin: &'static str,
    pub(crate) children: Children,
}

#[component]
pub(crate) fn Modal(props: &ModalProps) -> Html {
    let dialog = use_node_ref();
    use_effect_with((dialog.clone(), props.begin), |(dialog, begin)| {
        let from = browser::holder();
        if let Some(dialog) = dialog.cast::<HtmlDialogElement>() {
            // It fails only if the dialog is open already.
            let _ = dialog.show_modal();
            browser::focus(begin);
        }
        move || {
            if let Some(from) = from {
                browser::give_back(from);
            }
        }
    });
    let close = ViewMsg::Dialog(None);
    let oncancel = {
        let store = props.store.clone();
        move |event: Event| {
            event.prevent_default();
            store.send(ViewMsg::Dialog(None));
        }
    };
    html! {
        <dialog ref={dialog} aria-labelledby="dialog-title" {oncancel}>
            <header class="dialog-head">
                <h2 id="dialog-title">{ props.title.clone() }</h2>
                <button
                    type="button"
                    class="icon-button"
                    id="dialog-close"
                    aria-label={label::close()}
                    onclick={props.store.sends(close)}
                >
                    { icon(Icon::Cross) }
                </button>
            </header>
            { props.children.clone() }
        </dialog>
    }
}
