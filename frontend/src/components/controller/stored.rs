//! The objects of a session on the server's card: a parent and its children.

use optimist_client::visible;
use optimist_messages::label;
use optimist_simulation::StoredRow;
use yew::{Html, classes, html};

use crate::state::{Sends, SessionMsg, StateHandle};

pub(crate) fn stored_rows(store: &StateHandle) -> Html {
    super::adopt_style();
    let world = store.world();
    let shown = world.subject();
    let row = |row: &StoredRow| {
        let is_shown = shown.resource().kind == row.kind && shown.name() == row.name;
        let look = SessionMsg::LookAt(row.kind.clone(), row.name.clone());
        html! {
            <tr class={classes!(is_shown.then_some("chosen"))}>
                <td>{ row.kind.clone() }</td>
                <td>
                    <button
                        type="button"
                        class="link"
                        aria-pressed={is_shown.to_string()}
                        onclick={store.sends(look)}
                    >
                        { visible(&row.name).into_owned() }
                    </button>
                </td>
                <td>
                    if let Some(version) = row.version {
                        { version }
                    } else {
                        <span class="muted">{ label::stored_deleted() }</span>
                    }
                </td>
                <td>{ visible(&row.owner).into_owned() }</td>
            </tr>
        }
    };
    html! {
        <div class="stored-rows" role="region" tabindex="0" aria-label={label::stored_rows()}>
            <table>
                <thead>
                    <tr>
                        <th scope="col">{ label::stored_kind() }</th>
                        <th scope="col">{ label::stored_name() }</th>
                        <th scope="col">{ label::stored_version() }</th>
                        <th scope="col">{ label::stored_owner() }</th>
                    </tr>
                </thead>
                <tbody>{ for world.stored_rows().iter().map(row) }</tbody>
            </table>
        </div>
    }
}
