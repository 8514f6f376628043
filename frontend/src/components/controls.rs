//! The write method of an editor, and the buttons that send its edits.

use std::sync::Arc;

use optimist_apiserver::server::Resource;
use optimist_client::Write;
use optimist_messages::{label, write_method};
use optimist_simulation::{ActorId, Preconditions};
use yew::{Html, Properties, classes, component, html};

use super::icon::{Icon, icon};
use super::write_panel::write_panel;
use crate::state::{Dispatcher, EditMsg, RequestMsg, Sends, StateHandle};

/// Everything that the controls show, so that those that look the same are not drawn again.
#[derive(Clone, Properties)]
pub(crate) struct ControlsProps {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) id: ActorId,
    pub(crate) name: Arc<str>,
    pub(crate) manager: Arc<str>,
    pub(crate) write: Write,
    /// The kind of the object.
    pub(crate) resource: Arc<Resource>,
    /// The version that was read.
    pub(crate) version: Option<String>,
    /// The preconditions of a delete.
    pub(crate) preconditions: Preconditions,
    /// `true` if there is a working copy.
    pub(crate) read: bool,
    pub(crate) edited: bool,
    /// `true` if the user types the working copy as a whole.
    pub(crate) raw: bool,
    /// `true` if the typed text is not an object yet.
    pub(crate) wrong: bool,
    /// `true` if edits were discarded that can be restored.
    pub(crate) discarded: bool,
    /// `true` if the editor has a write to retry after a conflict.
    pub(crate) retries: bool,
}

impl PartialEq for ControlsProps {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.resource, &other.resource)
            && (self.id, &self.name, &self.manager) == (other.id, &other.name, &other.manager)
            && (&self.write, &self.version) == (&other.write, &other.version)
            && self.preconditions == other.preconditions
            && (self.read, self.edited, self.raw) == (other.read, other.edited, other.raw)
            && (self.wrong, self.discarded, self.retries)
                == (other.wrong, other.discarded, other.retries)
            && self.dispatcher == other.dispatcher
    }
}

/// The controls of an editor.
pub(crate) fn controls(store: &StateHandle, id: ActorId) -> ControlsProps {
    let actor = store.world().actor(id);
    let copy = store.world().copy(id);
    let raw = store.editing.raw.get(&id);
    ControlsProps {
        dispatcher: store.dispatcher(),
        id,
        name: actor.name.clone(),
        manager: actor.manager.clone(),
        write: actor.write(),
        resource: Arc::clone(store.world().resource()),
        version: copy.resource_version().map(str::to_owned),
        preconditions: store.requests.preconditions,
        read: copy.edited().is_some(),
        edited: copy.is_edited() || !copy.declared().is_empty(),
        raw: raw.is_some(),
        wrong: raw.is_some_and(|raw| raw.error.is_some()),
        discarded: store.can_undo_discard(id),
        retries: store.world().next_attempt(id).is_some(),
    }
}

#[component]
pub(crate) fn Controls(props: &ControlsProps) -> Html {
    let id = props.id;
    let title = match (props.wrong, props.read) {
        (true, _) => label::text_not_object(),
        (_, true) => String::new(),
        _ => label::get_first(),
    };
    html! {
        <div class="controls">
            if props.write.body.is_some() {
                { by_hand(props) }
            }
            <div class="send-row">
                { method(props) }
                { undo(props) }
                if props.retries {
                    <button
                        type="button"
                        class="button"
                        onclick={props.dispatcher.sends(RequestMsg::Retry(id))}
                    >
                        { label::retry() }
                    </button>
                }
                <button
                    type="button"
                    class={classes!("button", (!props.read).then_some("primary"))}
                    onclick={props.dispatcher.sends(RequestMsg::Get(id))}
                >
                    { label::get() }
                </button>
                <button
                    type="button"
                    class={classes!("button", props.read.then_some("primary"))}
                    disabled={!props.read || props.wrong}
                    {title}
                    onclick={props.dispatcher.sends(RequestMsg::Send(id))}
                >
                    { label::send() }
                </button>
            </div>
        </div>
    }
}

/// Draws the write method, as the button that opens its options.
fn method(props: &ControlsProps) -> Html {
    let method = write_method(&props.write, props.version.as_deref());
    html! {
        <details class="more method">
            <summary
                class="button"
                aria-label={label::writes_by(&props.name, &method)}
                title={method.clone()}
            >
                <span class="method-words">{ method }</span>
                { icon(Icon::Down) }
            </summary>
            { write_panel(props) }
        </details>
    }
}

/// Drops the edits, or makes the dropped ones again.
fn undo(props: &ControlsProps) -> Html {
    let (title, sign, msg) = if props.edited || props.wrong {
        (label::discard(), Icon::Undo, EditMsg::Discard(props.id))
    } else if props.discarded {
        (label::undo_discard(), Icon::Redo, EditMsg::Undo(props.id))
    } else {
        return Html::default();
    };
    html! {
        <button
            type="button"
            class="button discard"
            aria-label={title.clone()}
            {title}
            onclick={props.dispatcher.sends(msg)}
        >
            { icon(sign) }
        </button>
    }
}

/// Says that the request by hand differs from the card.
fn by_hand(props: &ControlsProps) -> Html {
    let computed = Write {
        body: None,
        ..props.write.clone()
    };
    html! {
        <p class="by-hand-note">
            { label::sends_by_hand() }{ " " }
            <button type="button" class="link" onclick={props.dispatcher.sends(EditMsg::Write(props.id, computed))}>
                { label::use_edits() }
            </button>
        </p>
    }
}
