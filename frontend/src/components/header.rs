//! The bar on top.

use optimist_client::visible;
use optimist_messages::label;
use yew::{Html, classes, html};

use super::icon::{Icon, icon};
use super::sessions_dialog::called;
use crate::browser;
use crate::names::{page_name, page_title};
use crate::state::{
    Dialog, ExplorableEdits, ManifestMsg, Page, PersistenceMsg, Sends, StateHandle, Theme,
    TransferMsg, ViewMsg,
};

pub(crate) fn header(store: &StateHandle) -> Html {
    // What the buttons are about is in sight.
    let has_session = match store.page {
        Page::Play | Page::Explore => true,
        Page::Learn => store.learn.is_on_stage(),
        Page::Diagnose => false,
    };
    html! {
        <header class="top">
            <h1>
                <span class="wordmark">{ "Optimist" }<span class="dot">{ "." }</span></span>
                <span class="title">{ page_title(store.page) }</span>
            </h1>
            { navigation(store) }
            if has_session {
                { explore(store) }
            }
            if store.page == Page::Play {
                <button
                    type="button"
                    class="button new-session"
                    title={label::new_session_title()}
                    onclick={store.sends(ManifestMsg::Begin)}
                >
                    { icon(Icon::Plus) }
                    <span>{ label::new_session() }</span>
                </button>
                { dialog_button(store, Dialog::Load, "load", Icon::Load, label::load()) }
            }
            if has_session || store.page == Page::Diagnose && !store.diagnose.items.is_empty() {
                { dialog_button(store, Dialog::Share, "share-button", Icon::Share, label::share()) }
            }
            { theme_button(store) }
            <button
                type="button"
                class="icon-button"
                aria-label={label::help()}
                title={label::help()}
                onclick={store.sends(ViewMsg::Dialog(Some(Dialog::Help)))}
            >
                { "?" }
            </button>
        </header>
    }
}

/// A button that opens a dialog: a sign and a word, of which a phone shows the sign.
fn dialog_button(
    store: &StateHandle,
    dialog: Dialog,
    class: &'static str,
    sign: Icon,
    name: String,
) -> Html {
    html! {
        <button
            type="button"
            class={classes!("button", class)}
            aria-label={name.clone()}
            onclick={store.sends(ViewMsg::Dialog(Some(dialog)))}
        >
            { icon(sign) }
            <span>{ name }</span>
        </button>
    }
}

/// Switches to the other theme.
fn theme_button(store: &StateHandle) -> Html {
    let (name, sign, wanted) = other_theme(store.view.theme);
    html! {
        <button
            type="button"
            class="icon-button theme"
            aria-label={name.clone()}
            title={name}
            onclick={store.sends(ViewMsg::Theme(wanted))}
        >
            { icon(sign) }
        </button>
    }
}

/// Returns the theme that is not shown: its name, its sign, and the choice that shows it.
pub(crate) fn other_theme(theme: Theme) -> (String, Icon, Theme) {
    let prefers_dark = browser::prefers_dark();
    let dark = match theme {
        Theme::System => prefers_dark,
        theme => theme == Theme::Dark,
    };
    // Back to what the system says as soon as that is what is asked for.
    let wanted = match (dark, prefers_dark) {
        (true, false) | (false, true) => Theme::System,
        (true, true) => Theme::Light,
        (false, false) => Theme::Dark,
    };
    if dark {
        (label::theme_light(), Icon::Sun, wanted)
    } else {
        (label::theme_dark(), Icon::Moon, wanted)
    }
}

/// Shows the ways in, as links: the address decides which one is open.
fn navigation(store: &StateHandle) -> Html {
    let link = |page: &Page| {
        html! {
            <a
                href={page.fragment()}
                aria-current={(*page == store.page).then_some("page")}
            >
                { page_name(*page) }
            </a>
        }
    };
    html! {
        <nav class="pages" aria-label={label::pages()}>{ for Page::ALL.iter().map(link) }</nav>
    }
}

/// To every order of the edits in the working copies; from one of them back to one's own.
fn explore(store: &StateHandle) -> Html {
    let away = store.persistence.sessions.last_away();
    if let (Page::Play, Some(away)) = (store.page, away) {
        let title = label::back_to_session_title(&called(away));
        // The object; the title has the rest of the name.
        let object = away.name.split(", ").next().unwrap_or_default();
        let name = match object.is_empty() {
            true => label::back_to_session(),
            false => label::back_to_session_named(&visible(object)),
        };
        return html! {
            <button
                type="button"
                class="button to-explore back-to-session"
                aria-label={name.clone()}
                {title}
                onclick={store.sends(PersistenceMsg::Return)}
            >
                { icon(Icon::Back) }
                <span>{ name }</span>
            </button>
        };
    }
    let edits = ExplorableEdits::find(&store.session.tree);
    // Six orders of two who read and write; of three there are more.
    let name = match edits {
        Some(edits) if edits.has_others => label::explore_orders(),
        _ => label::explore_six_orders(),
    };
    let edited = edits.is_some();
    let title = if edited {
        label::explore_orders_title()
    } else {
        label::explore_orders_not_yet()
    };
    html! {
        <button
            type="button"
            class="button to-explore"
            aria-label={name.clone()}
            disabled={!edited}
            {title}
            onclick={store.sends(TransferMsg::Explore)}
        >
            { icon(Icon::Branch) }
            <span>{ name }</span>
        </button>
    }
}
