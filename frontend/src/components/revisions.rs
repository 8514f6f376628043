//! Every stored version, newest first: its writer, and its changes.

use optimist_client::{ValueChange, changes_by_item, dotted};
use optimist_messages::label;
use optimist_simulation::ActorId;
use yew::{Html, classes, html};

use crate::state::{Lane, Sends, SessionMsg, StateHandle};

pub(crate) fn revisions(store: &StateHandle) -> Html {
    let tree = &store.session.tree;
    let root = &store.world().resource().root;
    let mut before = None;
    let mut rows = Vec::new();
    for version in store.world().versions() {
        let differs = match (before, version.object.as_deref()) {
            (Some(old), Some(new)) => changes_by_item(old, new, root),
            _ => Vec::new(),
        };
        let written = tree.writer_of(version.revision);
        let writer = written.and_then(|node| Some((node, tree.step(node)?.actor()?)));
        rows.push(row(store, version.revision, writer, &differs));
        before = version.object.as_deref();
    }
    rows.reverse();
    html! {
        <div class="yaml" role="region" tabindex="0" aria-label={label::stored_versions()}>
            <ol class="revisions" reversed={true}>{ for rows }</ol>
        </div>
    }
}

fn row(
    store: &StateHandle,
    revision: u64,
    writer: Option<(usize, ActorId)>,
    differs: &[ValueChange],
) -> Html {
    let visible: Vec<&ValueChange> = differs
        .iter()
        .filter(|change| !change.is_bookkeeping())
        .collect();
    let slug = writer.map_or("server", |(_, editor)| Lane::Editor(editor).slug());
    html! {
        <li class={classes!("revision", slug)}>
            <div class="revision-head">
                <span class="number">{ label::copy_current_short(&revision) }</span>
                if let Some((node, editor)) = writer {
                    <button
                        type="button"
                        class="link"
                        title={label::revision_go()}
                        onclick={store.sends(SessionMsg::Go(node))}
                    >
                        { store.name(editor).to_owned() }
                    </button>
                } else if revision <= store.session.tree.origin().server().store().revision() {
                    <span class="muted">{ label::revision_as_loaded() }</span>
                }
            </div>
            { for visible.iter().take(12).map(|change| html! {
                <div class="change" title={dotted(&change.pointer)}>{ change.to_string() }</div>
            }) }
            if visible.len() > 12 {
                <div class="muted">{ label::and_more(&(visible.len() - 12)) }</div>
            }
        </li>
    }
}
