//! The bar on top.

use optimist_simulation::ActorId;
use yew::{Html, html};

use super::icon::{Icon, icon};
use super::sessions_dialog::called;
use crate::browser;
use crate::state::{
    Dialog, Page, PersistenceMsg, Sends, StateHandle, Theme, TransferMsg, ViewMsg, both_edited,
};

pub(crate) fn header(store: &StateHandle) -> Html {
    let dark = match store.view.theme {
        Theme::System => browser::prefers_dark(),
        theme => theme == Theme::Dark,
    };
    // Back to what the system says as soon as that is what is asked for.
    let wanted = match (dark, browser::prefers_dark()) {
        (true, false) | (false, true) => Theme::System,
        (true, true) => Theme::Light,
        (false, false) => Theme::Dark,
    };
    let (label, sign) = if dark {
        ("Light theme", Icon::Sun)
    } else {
        ("Dark theme", Icon::Moon)
    };
    // What the buttons are about is in sight.
    let stage = match store.page {
        Page::Play | Page::Explore => true,
        Page::Learn => store.learn.is_on_stage(),
        Page::Diagnose => false,
    };
    html! {
        <header class="top">
            <h1>
                <span class="wordmark">{ "Optimist" }<span class="dot">{ "." }</span></span>
                <span class="title">{ store.page.title() }</span>
            </h1>
            { navigation(store) }
            if stage {
                { explore(store) }
            }
            if store.page == Page::Play {
                <button
                    type="button"
                    class="button load"
                    aria-label="Load manifest"
                    onclick={store.sends(ViewMsg::Dialog(Some(Dialog::Load)))}
                >
                    { icon(Icon::Load) }
                    <span>{ "Load manifest" }</span>
                </button>
            }
            if stage || store.page == Page::Diagnose && !store.diagnose.items.is_empty() {
                <button
                    type="button"
                    class="button share-button"
                    aria-label="Share"
                    onclick={store.sends(ViewMsg::Dialog(Some(Dialog::Share)))}
                >
                    { icon(Icon::Share) }
                    <span>{ "Share" }</span>
                </button>
            }
            <button
                type="button"
                class="icon-button"
                aria-label={label}
                title={label}
                onclick={store.sends(ViewMsg::Theme(wanted))}
            >
                { icon(sign) }
            </button>
            <button
                type="button"
                class="icon-button"
                aria-label="Help and keys"
                title="Help and keys"
                onclick={store.sends(ViewMsg::Dialog(Some(Dialog::Help)))}
            >
                { "?" }
            </button>
        </header>
    }
}

/// The ways in, as links: the address is what says which one is open.
fn navigation(store: &StateHandle) -> Html {
    let link = |page: &Page| {
        html! {
            <a
                href={page.fragment()}
                aria-current={(*page == store.page).then_some("page")}
            >
                { page.name() }
            </a>
        }
    };
    html! {
        <nav class="pages" aria-label="Pages">{ for Page::ALL.iter().map(link) }</nav>
    }
}

/// To every order of the edits in the working copies; from one of them back to one's own.
fn explore(store: &StateHandle) -> Html {
    let away = store.persistence.sessions.last_away();
    if let (Page::Play, Some(away)) = (store.page, away) {
        let title = format!("{} Yours is kept while this one is shown.", called(away));
        return html! {
            <button
                type="button"
                class="button to-explore"
                aria-label="Back to your session"
                {title}
                onclick={store.sends(PersistenceMsg::Return)}
            >
                { icon(Icon::Back) }
                <span>{ "Back to your session" }</span>
            </button>
        };
    }
    let edited = both_edited(&store.session.tree);
    let world = edited.and_then(|node| store.session.tree.world_at(node));
    // Six orders of two who read and write; of three there are more.
    let label = match world {
        Some(world) if world.copy(ActorId::C).is_edited() => "Explore all orders",
        _ => "Explore all 6 orders",
    };
    let edited = edited.is_some();
    let title = if edited {
        "Try every order of these edits, in every way of writing"
    } else {
        "Change something in both editors first"
    };
    html! {
        <button
            type="button"
            class="button to-explore"
            aria-label={label}
            disabled={!edited}
            {title}
            onclick={store.sends(TransferMsg::Explore)}
        >
            { icon(Icon::Branch) }
            <span>{ label }</span>
        </button>
    }
}
