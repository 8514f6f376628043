//! The notices on the address, on kept sessions and on the session that is being opened.

use optimist_messages::label;
use yew::{Html, html};

use super::sessions_dialog::called;
use crate::names::page_name;
use crate::state::{
    BranchSource, BranchStep, Msg, Page, PersistenceMsg, Sends, ShareMsg, StateHandle,
    UnreadableData,
};

/// A notice that goes when it is dismissed.
fn notice(store: &StateHandle, dismiss: impl Into<Msg>, told: Html) -> Html {
    html! {
        <p class="notice" role="status">
            { told }
            <button type="button" class="button small" onclick={store.sends(dismiss)}>
                { label::dismiss() }
            </button>
        </p>
    }
}

/// Draws the progress of opening a long session.
fn opening(store: &StateHandle, (done, all): (usize, usize)) -> Html {
    html! {
        <p class="notice opening">
            <span role="status">{ label::opening() }</span>
            <progress aria-label={label::opening_progress()} max={all.to_string()} value={done.to_string()} />
            <span>{ label::opening_steps(&done, &all) }</span>
            <button type="button" class="button small" onclick={store.sends(ShareMsg::CancelOpening)}>
                { label::cancel() }
            </button>
        </p>
    }
}

/// Says that the session is not the recorded history, and leads back to it.
pub(crate) fn branch_notice(point: BranchStep) -> Html {
    let step = point.row + 1;
    let (says, back) = match point.source {
        BranchSource::LiveLog => (label::log_left_live(&step), label::log_back_live()),
        BranchSource::Log => (label::log_left(&step), label::log_back()),
        BranchSource::Versions => (
            label::versions_left(&step, &point.version),
            label::versions_back(),
        ),
    };
    html! {
        <p class="notice" role="status">
            { says }
            if point.missing > 0 {
                { " " }{ label::log_not_here(&point.missing) }
            }
            <a class="button small" href={Page::Diagnose.fragment()}>{ back }</a>
        </p>
    }
}

/// Draws the notices on the address and on kept sessions.
pub(crate) fn kept_notice(store: &StateHandle) -> Html {
    if let Some(progress) = store.progress().filter(|(done, _)| *done > 0) {
        return opening(store, progress);
    }
    if let Some(fragment) = &store.unknown_address {
        let told = html! { { label::no_such_page(fragment, &page_name(store.page)) } };
        return notice(store, Msg::DismissNotice, told);
    }
    if store.session.full {
        let told = html! { { label::session_full() } };
        return notice(store, Msg::DismissNotice, told);
    }
    let kept = &store.persistence;
    if kept.refused {
        let told = html! { { label::keeps_nothing() } };
        return notice(store, PersistenceMsg::Dismiss, told);
    }
    if !kept.unreadable.is_empty() {
        let what = kept.unreadable.iter().map(|what| match what {
            UnreadableData::Typing => label::kept_typing(),
            UnreadableData::Session => label::kept_session(),
            UnreadableData::Lessons => label::kept_lessons(),
            UnreadableData::Explored => label::kept_explored(),
        });
        let what = what.collect::<Vec<String>>().join(", ");
        let told = html! { { label::kept_unreadable(&what) } };
        return notice(store, PersistenceMsg::Dismiss, told);
    }
    let mut offered = kept.sessions.offered();
    let (Some(first), Page::Play) = (offered.next(), store.page) else {
        return Html::default();
    };
    let others = offered.count();
    let (told, open, title) = match others {
        0 => (
            label::session_before(),
            label::session_before_open(),
            called(first),
        ),
        others => (
            label::sessions_before(&(others + 1)),
            label::sessions_before_show(),
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
