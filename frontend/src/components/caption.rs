//! The current step in plain words, and a next step to try.

use optimist_client::visible;
use optimist_messages::{self as messages, label};
use optimist_simulation::{Ending, EndingOutcome};
use yew::{Html, classes, html};

use super::controller::{switches, written_orders};
use super::icon::{Icon, icon};
use super::welcome::{is_welcome, welcome};
use crate::browser;
use crate::state::{Loaded, ManifestMsg, RequestMsg, Sends, StateHandle, ViewMsg};

pub(crate) fn caption(store: &StateHandle) -> Html {
    let started = store.session.tree.current() != 0;
    let welcomes = is_welcome(store) && !browser::is_embedded();
    html! {
        <section
            class={classes!("caption", started.then_some("started"), welcomes.then_some("welcome"))}
            // It scrolls where a window is low.
            tabindex="0"
            aria-label={label::what_happened()}
        >
            if let Some(loaded) = &store.manifest.loaded {
                { notice(store, loaded) }
            }
            if welcomes {
                { welcome(store) }
            } else {
                { what_happened(store) }
            }
            if store.shows_only_the_first_steps() {
                <button
                    type="button"
                    class="button small all-controls"
                    onclick={store.sends(ViewMsg::ShowAllControls)}
                >
                    { label::all_controls() }
                </button>
            }
        </section>
    }
}

/// Shows the current step, and a next step to try.
fn what_happened(store: &StateHandle) -> Html {
    let words = messages::caption(&store.session.tree.explain(store.view.right), store.world());
    // A lesson says itself what to do next.
    let taught = store.learn.learning().is_some();
    html! {
        <>
            <div class="caption-words">
                <h2 class="caption-title">{ words.title }</h2>
                <div class="caption-text">
                    { for words.text.into_iter().map(|text| html! { <p>{ text }{ " " }</p> }) }
                    if let Some(next) = words.next.filter(|_| !taught) {
                        <p class="next"><b>{ label::next() }{ " " }</b>{ next }</p>
                    }
                </div>
            </div>
            if !taught {
                { to_try(store) }
            }
        </>
    }
}

/// The first steps; once they are done, the other endings. With a ready controller, its switches.
fn to_try(store: &StateHandle) -> Html {
    if let Some(ready) = store.ready_program() {
        return switches(store, ready);
    }
    if store.controller_program().is_some() {
        return html! { <>{ to_try_by_hand(store) }{ written_orders(store) }</> };
    }
    to_try_by_hand(store)
}

fn to_try_by_hand(store: &StateHandle) -> Html {
    let invitation = messages::first_steps(&store.session.tree);
    if invitation.iter().all(|(_, done)| *done) {
        return other_endings(store);
    }
    html! {
        <ol class="invitation" aria-label={label::to_try()}>
            { for invitation.into_iter().map(|(text, done)| html! {
                <li class={classes!(done.then_some("done"))}>
                    if done {
                        <span class="tick">{ icon(Icon::Check) }</span>
                        <span class="unseen">{ label::done() }</span>
                    }
                    { text }
                </li>
            }) }
        </ol>
    }
}

/// The same edit at the same moment, sent in other ways: a button each.
fn other_endings(store: &StateHandle) -> Html {
    let Some(endings) = store.session.tree.endings() else {
        return Html::default();
    };
    html! {
        <div class="other-endings" role="group" aria-labelledby="endings-title">
            <h3 id="endings-title">{ messages::endings_title() }</h3>
            <ul>
                { for endings.endings.iter().map(|each| html! { <li>{ ending(store, each) }</li> }) }
            </ul>
        </div>
    }
}

fn ending(store: &StateHandle, ending: &Ending) -> Html {
    html! {
        <button
            type="button"
            class="button small other-ending"
            aria-pressed={ending.here.to_string()}
            onclick={store.sends(RequestMsg::Ending(ending.method))}
        >
            { messages::ending_method(ending.method).unwrap_or_default() }
            if let Some((_, outcome)) = ending.tried {
                <span aria-hidden="true">{ "→" }</span>
                <b class={outcome_tone(outcome)}>{ messages::ending_outcome(outcome, store.world()) }</b>
                // A tick would praise a refusal or a loss.
                if outcome_tone(outcome) == "ok" {
                    { icon(Icon::Check) }
                }
            }
        </button>
    }
}

fn outcome_tone(outcome: EndingOutcome) -> &'static str {
    match outcome {
        EndingOutcome::Lost | EndingOutcome::LeftOut => "lost",
        EndingOutcome::Refused(_) => "refused",
        EndingOutcome::BothKept | EndingOutcome::Stored => "ok",
        EndingOutcome::Replaced(_) => "plain",
    }
}

fn notice(store: &StateHandle, loaded: &Loaded) -> Html {
    html! {
        <div class="notice" role="status">
            <p>
                { label::loaded() }{ " " }<b>{ &loaded.object }</b>{ " " }
                { match loaded.others {
                    0 => label::loaded_as(&loaded.version),
                    1 => label::loaded_one_more(&loaded.version),
                    more => label::loaded_more(&loaded.version, &more),
                } }
            </p>
            if !loaded.left_out.is_empty() {
                <p><b>{ label::not_loaded_some() }</b></p>
                <ul>{ for loaded.left_out.iter().map(|left| html! {
                    <li><b>{ &left.object }</b>{ format!(": {}", visible(&optimist_messages::left_out(left))) }</li>
                }) }</ul>
            }
            if !loaded.dropped.is_empty() {
                <p>
                    { label::dropped_fields() }{ " " }
                    { for loaded.dropped.iter().map(|field| html! { <code>{ field }</code> }) }
                </p>
            }
            <button
                type="button"
                class="icon-button small"
                aria-label={label::dismiss()}
                onclick={store.sends(ManifestMsg::DismissLoaded)}
            >
                { icon(Icon::Cross) }
            </button>
        </div>
    }
}
