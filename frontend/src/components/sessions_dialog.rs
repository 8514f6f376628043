//! The sessions that this browser keeps.

use optimist_sessions::{OfferStatus, SavedSession};
use yew::{Html, html};

use super::dialog::Modal;
use crate::browser;
use crate::state::{PersistenceMsg, Sends, StateHandle};

/// What a session is called, and since when it is kept.
pub(crate) fn called(entry: &SavedSession) -> String {
    let name = match entry.name.as_str() {
        "" => "A session",
        name => name,
    };
    if entry.date > 0.0 {
        format!("{name}, {}.", browser::date(entry.date))
    } else {
        format!("{name}, from an earlier version.")
    }
}

#[inline(never)] // not on the first screen
pub(crate) fn sessions_dialog(store: &StateHandle) -> Html {
    let sessions = &store.persistence.sessions;
    let unreadable = sessions.unreadable().len();
    html! {
        <Modal store={store.clone()} title="Sessions in this browser" begin="dialog-close">
            <div class="dialog-body sessions">
                <p class="muted">
                    { "A session that is replaced is kept here, and so is the last one of every tab. \
                       Only this browser has them." }
                </p>
                if sessions.saved().is_empty() {
                    <p>{ "There is no other session." }</p>
                }
                <ul class="session-list" aria-label="Sessions">
                    { for sessions.saved().iter().map(|entry| row(store, entry)) }
                </ul>
                if unreadable > 0 {
                    <p class="problem">
                        { format!("{unreadable} of what is kept cannot be read. It is left as it is.") }
                    </p>
                }
            </div>
        </Modal>
    }
}

fn row(store: &StateHandle, entry: &SavedSession) -> Html {
    let name = called(entry);
    html! {
        <li>
            <span class="session-name">
                { name.clone() }
                if entry.standing == OfferStatus::Unopened {
                    <span class="muted">{ " It could not be opened." }</span>
                }
            </span>
            <span class="buttons">
                <button
                    type="button"
                    class="button small"
                    aria-label={format!("Open {name}")}
                    onclick={store.sends(PersistenceMsg::Reopen(entry.id.clone()))}
                >
                    { "Open" }
                </button>
                <a
                    class="button small"
                    download="session.optimist"
                    aria-label={format!("Save as a file: {name}")}
                    href={format!("data:text/plain,{}", entry.text)}
                >
                    { "Save" }
                </a>
                <button
                    type="button"
                    class="button small"
                    aria-label={format!("Delete {name}")}
                    onclick={store.sends(PersistenceMsg::Remove(entry.id.clone()))}
                >
                    { "Delete" }
                </button>
            </span>
        </li>
    }
}
