//! The sessions that this browser keeps.

use optimist_messages::label;
use optimist_sessions::{OfferStatus, SavedSession};
use yew::{Html, html};

use super::dialog::Modal;
use super::icon::{Icon, icon};
use crate::browser;
use crate::state::{ManifestMsg, PersistenceMsg, Sends, StateHandle};

/// Returns the name of a session, and the time since when it is kept.
pub(crate) fn called(entry: &SavedSession) -> String {
    let name = match entry.name.as_str() {
        "" => label::session_unnamed(),
        name => name.to_owned(),
    };
    if entry.date > 0.0 {
        label::session_called(&name, &browser::date(entry.date))
    } else {
        label::session_undated(&name)
    }
}

pub(crate) fn sessions_dialog(store: &StateHandle) -> Html {
    let sessions = &store.persistence.sessions;
    let unreadable = sessions.unreadable().len();
    html! {
        <Modal store={store.clone()} title={label::sessions_title()} begin="dialog-close">
            <div class="dialog-body sessions">
                <p class="muted">
                    { label::sessions_hint() }
                </p>
                <p>
                    <button
                        type="button"
                        class="button small"
                        title={label::new_session_title()}
                        onclick={store.sends(ManifestMsg::Begin)}
                    >
                        { icon(Icon::Plus) }
                        { label::new_session() }
                    </button>
                </p>
                if sessions.saved().is_empty() {
                    <p>{ label::sessions_none() }</p>
                }
                <ul class="session-list" aria-label={label::sessions()}>
                    { for sessions.saved().iter().map(|entry| row(store, entry)) }
                </ul>
                if unreadable > 0 {
                    <p class="problem">
                        { label::sessions_unreadable(&unreadable) }
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
                    <span class="muted">{ " " }{ label::session_not_opened() }</span>
                }
            </span>
            <span class="buttons">
                <button
                    type="button"
                    class="button small"
                    aria-label={label::session_open(&name)}
                    onclick={store.sends(PersistenceMsg::Reopen(entry.id.clone()))}
                >
                    { label::open() }
                </button>
                <a
                    class="button small"
                    download="session.optimist"
                    aria-label={label::session_save(&name)}
                    href={format!("data:text/plain,{}", entry.text)}
                >
                    { label::save() }
                </a>
                <button
                    type="button"
                    class="button small"
                    aria-label={label::session_delete(&name)}
                    onclick={store.sends(PersistenceMsg::Remove(entry.id.clone()))}
                >
                    { label::delete() }
                </button>
            </span>
        </li>
    }
}
