//! The memory of a controller: its cache, its queue, and the events on their way.

use optimist_client::visible;
use optimist_controller::Controller;
use optimist_messages::{controller_card as messages, label};
use optimist_simulation::{ActorId, CacheStanding, EventOnTheWay};
use yew::{Html, html};

use crate::state::{ControllerMsg, Sends, StateHandle};

pub(super) fn memory(
    store: &StateHandle,
    (id, controller): (ActorId, &Controller),
    standings: &[CacheStanding],
) -> Html {
    html! {
        <div class="controller-memory" role="region" tabindex="0" aria-label={label::controller_part_memory()}>
            <h3>{ label::controller_cache() }</h3>
            { for standings.iter().map(cache) }
            <h3>{ label::controller_on_the_way() }</h3>
            { on_the_way(store, id, standings) }
            { not_sent(store, id, standings) }
            <h3>{ label::controller_queue() }</h3>
            { queue(store, controller) }
        </div>
    }
}

fn cache(standing: &CacheStanding) -> Html {
    let (version, _) = messages::cache_chip(std::slice::from_ref(standing));
    html! {
        <div class="cache">
            <p class="cache-head">
                <b>{ standing.kind.clone() }</b>
                <span class="muted">{ version }</span>
                if !standing.is_watching {
                    <span class="cache-closed">{ label::controller_watch_closed() }</span>
                }
            </p>
            if standing.objects.is_empty() {
                <p class="muted">{ label::controller_cache_none() }</p>
            } else {
                <ul>
                    { for standing.objects.iter().map(|(name, version)| html! {
                        <li><span>{ visible(name).into_owned() }</span><span>{ messages::cached_version(standing, name, version) }</span></li>
                    }) }
                </ul>
            }
        </div>
    }
}

/// The events that a cache does not have, in their order, and whether each is the first one of its cache.
fn events(
    store: &StateHandle,
    id: ActorId,
    caches: impl Iterator<Item = usize>,
) -> Vec<(EventOnTheWay, usize, bool)> {
    let of = |cache: usize| {
        let events = store.world().events_on_the_way(id, cache).into_iter();
        events
            .enumerate()
            .map(move |(place, event)| (event, cache, place == 0))
    };
    let mut events: Vec<_> = caches.flat_map(of).collect();
    events.sort_by_key(|(event, ..)| event.revision);
    events
}

/// The events that no watch is open for: the server sends them once one is.
fn not_sent(store: &StateHandle, id: ActorId, standings: &[CacheStanding]) -> Html {
    let closed = (0..standings.len()).filter(|cache| !standings[*cache].is_watching);
    let events = events(store, id, closed);
    if events.is_empty() {
        return Html::default();
    }
    html! {
        <>
            <h3>{ label::controller_not_sent() }</h3>
            <ol class="events-on-the-way">
                { for events.iter().map(|(event, ..)| html! {
                    <li><span>{ visible(&messages::arrow(event)).into_owned() }</span></li>
                }) }
            </ol>
        </>
    }
}

/// The events that have left the server and have not arrived, in their order. Nothing is promised
/// about the order of events of two kinds: the first one of each kind can be delivered.
fn on_the_way(store: &StateHandle, id: ActorId, standings: &[CacheStanding]) -> Html {
    let open = (0..standings.len()).filter(|cache| standings[*cache].is_watching);
    let events = events(store, id, open);
    if events.is_empty() {
        return html! { <p class="muted">{ label::controller_on_the_way_none() }</p> };
    }
    let deliver = |cache: usize| {
        let kind = standings.get(cache).map_or("", |it| &it.kind);
        html! {
            <button
                type="button"
                class="button small"
                aria-label={label::controller_deliver_kind(&kind)}
                onclick={store.sends(ControllerMsg::DeliverTo(cache))}
            >
                { label::controller_deliver_short() }
            </button>
        }
    };
    html! {
        <ol class="events-on-the-way">
            { for events.iter().map(|(event, cache, is_first)| html! {
                <li>
                    <span>{ visible(&messages::arrow(event)).into_owned() }</span>
                    if *is_first {
                        { deliver(*cache) }
                    }
                </li>
            }) }
        </ol>
    }
}

fn queue(store: &StateHandle, controller: &Controller) -> Html {
    let now = store.world().server().environment().elapsed();
    let lines = messages::queue_lines(controller.queue(), now);
    if lines.is_empty() {
        return html! { <p class="muted">{ label::controller_queue_none() }</p> };
    }
    html! {
        <ul class="queue-lines">
            { for lines.iter().map(|line| html! { <li>{ visible(line).into_owned() }</li> }) }
        </ul>
    }
}
