//! The names and titles of the pages.

use optimist_messages::label;

use crate::state::Page;

/// Returns the name of a page in the navigation.
pub(crate) fn page_name(page: Page) -> String {
    match page {
        Page::Play => label::page_play(),
        Page::Explore => label::page_explore(),
        Page::Learn => label::page_learn(),
        Page::Diagnose => label::page_diagnose(),
    }
}

/// Returns the title of a page, besides its name.
pub(crate) fn page_title(page: Page) -> String {
    match page {
        Page::Play => label::title_play(),
        Page::Explore => label::title_explore(),
        Page::Learn => label::title_learn(),
        Page::Diagnose => label::title_diagnose(),
    }
}
