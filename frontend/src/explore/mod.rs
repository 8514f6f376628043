//! Every history of the same edits: what is chosen, what came of it, and the map of it.

use yew::{Html, html};

use crate::components::header;
use crate::state::Store;

/// The page.
pub(crate) fn page(store: &Store) -> Html {
    html! {
        <div class="explore">
            { header(store) }
            <main class="explore-body">
                <h2>{ "Same edits, every possible order" }</h2>
            </main>
        </div>
    }
}
