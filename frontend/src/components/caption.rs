//! The current step in plain words, and what to try next.

use optimist_client::visible;
use optimist_messages as messages;
use yew::{Html, MouseEvent, classes, html};

use super::icon::{Icon, icon};
use crate::browser;
use crate::state::{Lane, Loaded, ManifestMsg, Sends, SessionMsg, StateHandle, ViewMsg};

pub(crate) fn caption(store: &StateHandle) -> Html {
    let words = messages::caption(&store.session.tree.explain(store.view.right), store.world());
    // A lesson says itself what to do next.
    let taught = store.learn.learning().is_some();
    html! {
        <section
            class={classes!("caption", (store.session.tree.current() != 0).then_some("started"))}
            // It scrolls where a window is low.
            tabindex="0"
            aria-label="What happened"
        >
            if let Some(loaded) = &store.manifest.loaded {
                { notice(store, loaded) }
            }
            <div class="caption-words">
                <h2 class="caption-title">{ words.title }</h2>
                <div class="caption-text">
                    { for words.text.into_iter().map(|text| html! { <p>{ text }{ " " }</p> }) }
                    if let Some(next) = words.next.filter(|_| !taught) {
                        <p class="next"><b>{ "Next " }</b>{ next }</p>
                    }
                </div>
            </div>
            if !taught {
                { to_try(store) }
            }
        </section>
    }
}

/// The first steps; once they are done, the other endings.
fn to_try(store: &StateHandle) -> Html {
    let invitation = messages::first_steps(&store.session.tree);
    if invitation.iter().all(|(_, done)| *done) {
        return experiments(store);
    }
    html! {
        <ol class="invitation" aria-label="To try">
            { for invitation.into_iter().map(|(text, done)| html! {
                <li class={classes!(done.then_some("done"))}>
                    if done {
                        <span class="tick">{ icon(Icon::Check) }</span>
                        <span class="unseen">{ "Done: " }</span>
                    }
                    { text }
                </li>
            }) }
        </ol>
    }
}

#[inline(never)] // not on the first screen
fn experiments(store: &StateHandle) -> Html {
    let Some((branch_point, actor)) = store.session.tree.overtaken_edit() else {
        return Html::default();
    };
    let lane = Lane::Editor(actor);
    let back = {
        let dispatcher = store.dispatcher();
        move |_: MouseEvent| {
            dispatcher.send(SessionMsg::Go(branch_point));
            dispatcher.send(ViewMsg::Open(lane));
            // The button goes.
            browser::focus_soon(format!("card-{}", lane.slug()));
        }
    };
    html! {
        <div class="experiments">
            <h3>{ "Other endings" }</h3>
            if store.session.tree.current() == branch_point && store.lanes().contains(&lane) {
                <p>{ format!("Send as {}:", actor.letter()) }</p>
            } else {
                <button type="button" class="button small" onclick={back}>
                    { icon(Icon::Undo) }
                    { format!("Back to before {}'s Send", actor.letter()) }
                </button>
                <p>{ "Then send in another way:" }</p>
            }
            <p class="brief">
                { "Untick send resourceVersion and an update is lost. JSON and Apply compare in their \
                   own way." }
            </p>
            <ul>{ for messages::endings().map(|text| html! { <li>{ text }</li> }) }</ul>
            <p>{ "Or step back to the first Send, and let the other one write first." }</p>
        </div>
    }
}

#[inline(never)] // not on the first screen
fn notice(store: &StateHandle, loaded: &Loaded) -> Html {
    html! {
        <div class="notice" role="status">
            <p>
                { "Loaded " }<b>{ &loaded.object }</b>
                { format!(" as version {}", loaded.version) }
                { match loaded.others {
                    0 => ".".to_owned(),
                    1 => ", and one more object. Choose between them in the API server's card.".to_owned(),
                    more => format!(", and {more} more objects. Choose between them in the API server's card."),
                } }
            </p>
            if !loaded.left_out.is_empty() {
                <p><b>{ "Not loaded:" }</b></p>
                <ul>{ for loaded.left_out.iter().map(|left| html! {
                    <li><b>{ &left.object }</b>{ format!(": {}", visible(&optimist_messages::left_out(left))) }</li>
                }) }</ul>
            }
            if !loaded.dropped.is_empty() {
                <p>
                    { "Dropped, because the server owns them: " }
                    { for loaded.dropped.iter().map(|field| html! { <code>{ field }</code> }) }
                </p>
            }
            <button
                type="button"
                class="icon-button small"
                aria-label="Dismiss"
                onclick={store.sends(ManifestMsg::DismissLoaded)}
            >
                { icon(Icon::Cross) }
            </button>
        </div>
    }
}
