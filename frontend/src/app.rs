//! The page as a whole.

use yew::{Html, component, html, use_reducer_eq};

use crate::components::{
    branches_dialog, controllers_dialog, help_dialog, load_dialog, request_dialog, sessions_dialog,
    share_dialog, stage,
};
use crate::diagnose::Diagnose;
use crate::embedding::use_embedding;
use crate::explore::Explore;
use crate::hooks::{
    use_addition_in_sight, use_address, use_current_step_in_sight, use_focus, use_jobs, use_keys,
    use_menus, use_persistence, use_playing, use_style, use_title,
};
use crate::learn::Lessons;
use crate::live::{use_live, use_live_requests};
use crate::names::{page_name, page_title};
use crate::state::{Dialog, Page, PageState, StateHandle};

/// The page.
#[component]
pub fn App() -> Html {
    let store = use_reducer_eq(PageState::open);
    use_keys(&store);
    use_address(&store);
    use_playing(&store);
    use_jobs(&store);
    use_live(&store);
    use_live_requests(&store);
    use_persistence(&store);
    use_menus();
    use_focus(&store);
    use_style(store.view.theme);
    use_current_step_in_sight(&store);
    use_addition_in_sight(&store);
    use_title(&store);
    let offered_case = use_embedding(&store);
    html! {
        <>
            { offered_case }
            // Always there, or its words would not be heard when another page is entered.
            <p class="unseen" role="status" aria-live="polite">
                { format!("{}: {}", page_name(store.page), page_title(store.page)) }
            </p>
            if store.page == Page::Play {
                { stage(&store, None) }
            }
            if store.explore.opened {
                <Explore store={store.clone()} />
            }
            if store.page == Page::Learn {
                <Lessons store={store.clone()} />
            }
            if store.page == Page::Diagnose {
                <Diagnose store={store.clone()} />
            }
            { dialogs(&store) }
        </>
    }
}

/// The dialog that is open. Each has a place of its own, so that one never takes over another's
/// element.
fn dialogs(store: &StateHandle) -> Html {
    let open = |dialog| store.view.dialog == Some(dialog);
    html! {
        <>
            if open(Dialog::Load) {
                { load_dialog(store) }
            }
            if open(Dialog::Branches) {
                { branches_dialog(store) }
            }
            if open(Dialog::Share) {
                { share_dialog(store) }
            }
            if open(Dialog::Request) {
                { request_dialog(store) }
            }
            if open(Dialog::Sessions) {
                { sessions_dialog(store) }
            }
            if open(Dialog::Controllers) {
                { controllers_dialog(store) }
            }
            if open(Dialog::Help) {
                { help_dialog(store) }
            }
        </>
    }
}
