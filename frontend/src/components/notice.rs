//! What there is to say of the address, of what was kept and of what is being opened.

use yew::{Html, html};

use super::sessions_dialog::called;
use crate::state::{Msg, Page, PersistenceMsg, Sends, ShareMsg, StateHandle};

/// A notice that goes when it is dismissed.
fn notice(store: &StateHandle, dismiss: impl Into<Msg>, told: Html) -> Html {
    html! {
        <p class="notice" role="status">
            { told }
            <button type="button" class="button small" onclick={store.sends(dismiss)}>
                { "Dismiss" }
            </button>
        </p>
    }
}

/// How far the opening of a session is that takes more than a moment.
#[inline(never)] // not on the first screen
fn opening(store: &StateHandle, (done, all): (usize, usize)) -> Html {
    html! {
        <p class="notice opening">
            <span role="status">{ "Opening a session." }</span>
            <progress aria-label="Steps done" max={all.to_string()} value={done.to_string()} />
            <span>{ format!("{done} of {all} steps") }</span>
            <button type="button" class="button small" onclick={store.sends(ShareMsg::CancelOpening)}>
                { "Cancel" }
            </button>
        </p>
    }
}

/// What there is to say of the address, and of what was kept.
pub(crate) fn kept_notice(store: &StateHandle) -> Html {
    if let Some(progress) = store.progress().filter(|(done, _)| *done > 0) {
        return opening(store, progress);
    }
    if let Some(fragment) = &store.unknown_address {
        let told =
            html! { { format!("There is no page {fragment}. This is {}.", store.page.name()) } };
        return notice(store, Msg::DismissNotice, told);
    }
    if store.session.full {
        let told = html! {
            { "The last step was not taken: with it this session would be too large to be opened \
               again. Delete a branch, or load the object again." }
        };
        return notice(store, Msg::DismissNotice, told);
    }
    let kept = &store.persistence;
    if kept.refused {
        let told = html! {
            { "This browser keeps nothing: its storage is full or forbidden. Share can save the \
               session as a file." }
        };
        return notice(store, PersistenceMsg::Dismiss, told);
    }
    if !kept.unreadable.is_empty() {
        let what = kept.unreadable.join(", ");
        let told = html! {
            { format!("Some of what this browser kept cannot be read: {what}. It is left as it is.") }
        };
        return notice(store, PersistenceMsg::Dismiss, told);
    }
    let mut offered = kept.sessions.offered();
    let (Some(first), Page::Play) = (offered.next(), store.page) else {
        return Html::default();
    };
    let others = offered.count();
    let (told, open, title) = match others {
        0 => (
            "There is a session from before.".to_owned(),
            "Open it",
            called(first),
        ),
        others => (
            format!("There are {} sessions from before.", others + 1),
            "Show them",
            String::new(),
        ),
    };
    let told = html! {
        <>
            { told }
            <button type="button" class="button small" {title} onclick={store.sends(PersistenceMsg::TakeOffer)}>
                { open }
            </button>
        </>
    };
    notice(store, PersistenceMsg::Dismiss, told)
}
