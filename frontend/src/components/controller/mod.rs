//! A controller as an actor: its program, its memory, and its next step.

mod dialog;
mod memory;
mod orders;
mod program;
mod stored;
mod switches;

use optimist_client::visible;
use optimist_controller::Controller;
use optimist_controller::program::ReadyProgram;
use optimist_messages::{controller_card as messages, label, orders as properties};
use optimist_simulation::ActorId;
use yew::{Html, classes, html};

pub(crate) use dialog::controllers_dialog;
pub(super) use stored::stored_rows;
pub(super) use switches::{switches, written_orders};

use super::editor_card::who;
use super::icon::{Icon, icon};
use crate::browser;
use crate::state::{ControllerMsg, ControllerPart, Lane, Sends, StateHandle};

/// The style of these parts alone.
const STYLE: &str = include_str!("../../style/controller.css");

/// Gives the page the style of these parts.
fn adopt_style() {
    browser::adopt_style(STYLE);
}

/// The card of a controller.
pub(crate) fn controller_card(
    store: &StateHandle,
    (id, controller): (ActorId, &Controller),
) -> Html {
    adopt_style();
    let standings = store.world().cache_standings(id);
    let (version, behind) = messages::cache_chip_of_kind(&standings);
    let part = match store.controller.part {
        ControllerPart::Program => "program",
        ControllerPart::Memory => "memory",
    };
    let lane = Lane::Editor(id).slug();
    let open = store.view.lane == Lane::Editor(id);
    html! {
        <section
            class={classes!("card", "controller", lane)}
            id={format!("card-{lane}")}
            tabindex="-1"
            aria-label={store.name(id).to_owned()}
            data-open={open.to_string()}
            data-part={part}
        >
            <header class="card-head">
                <h2>{ who(store, id) }</h2>
                <span class="controller-run">{ title(store, (id, controller)) }</span>
                <span class={classes!("chip", if behind { "refused" } else { "ok" })}>{ version }</span>
                <span class="chip plain">{ messages::queue_chip(controller.queue()) }</span>
            </header>
            { goals(store, id) }
            { parts(store) }
            <div class="controller-body">
                { program::program(store, id) }
                { memory::memory(store, (id, controller), &standings) }
            </div>
            { actions(store, (id, controller)) }
        </section>
    }
}

/// Shows the goals that are broken at this step; if there are none, all goals of the program.
fn goals(store: &StateHandle, id: ActorId) -> Html {
    let broken = properties::broken_of_controller(&store.session.tree, id);
    if !broken.is_empty() {
        return html! {
            <div class="controller-goals lost">
                { for broken.iter().map(|text| html! {
                    <p>{ icon(Icon::Cross) }{ " " }{ visible(text).into_owned() }</p>
                }) }
            </div>
        };
    }
    let Some((always, at_rest)) = store.world().goals(id) else {
        return html! {
            if let Some(misfit) = store.world().goals_misfit(id) {
                <div class="controller-goals">
                    <p class="muted">{ visible(&properties::misfit(&misfit)).into_owned() }</p>
                </div>
            }
        };
    };
    html! {
        <div class="controller-goals">
            <p>
                <span class="muted">{ label::controller_goal() }</span>{ " " }
                { visible(&properties::goals(&always, &at_rest)).into_owned() }
            </p>
        </div>
    }
}

/// Writes the title: the controller and its run.
fn title(store: &StateHandle, (id, controller): (ActorId, &Controller)) -> String {
    let name = match store.ready_program() {
        Some(ReadyProgram { name, .. }) => messages::example(*name).0,
        None => label::program_written(),
    };
    match controller.run() {
        Some(run) => {
            let number = store.session.tree.run_number(id);
            label::controller_run(&name, &number, &run.key())
        }
        None => label::controller_waits(&name),
    }
}

/// Draws the buttons that choose the part of the card in a narrow window.
fn parts(store: &StateHandle) -> Html {
    let part = |of: ControllerPart, name: String| {
        html! {
            <button
                type="button"
                aria-pressed={(store.controller.part == of).to_string()}
                onclick={store.sends(ControllerMsg::Part(of))}
            >
                { name }
            </button>
        }
    };
    html! {
        <div class="controller-parts" role="group" aria-label={label::controller_parts()}>
            { part(ControllerPart::Program, label::controller_part_program()) }
            { part(ControllerPart::Memory, label::controller_part_memory()) }
        </div>
    }
}

/// Draws the buttons for the next steps.
fn actions(store: &StateHandle, (id, controller): (ActorId, &Controller)) -> Html {
    let world = store.world();
    let caches = controller.caches();
    let open = (0..caches.len()).filter(|cache| caches[*cache].is_watching());
    let on_the_way: usize = open
        .map(|cache| world.events_on_the_way(id, cache).len())
        .sum();
    let button = |text: String, enabled: bool, msg: ControllerMsg, class: &'static str| {
        html! {
            <button
                type="button"
                class={classes!("button", class)}
                disabled={!enabled}
                onclick={store.sends(msg)}
            >
                { text }
            </button>
        }
    };
    let watches = caches.iter().any(|cache| cache.is_watching());
    let closed = caches.iter().any(|cache| !cache.is_watching());
    let may_step = controller.can_step() || controller.can_take() || world.has_due_key(id);
    let delivers = world.next_delivery(id).is_some();
    let waits =
        !may_step && controller.run().is_none() && controller.queue().next_ready().is_some();
    html! {
        <div class="controls controller-actions" role="group" aria-label={label::controller_actions()}>
            { button(label::controller_deliver(&on_the_way), delivers, ControllerMsg::Deliver, "") }
            if closed {
                { button(label::controller_connect(), true, ControllerMsg::Connect, "") }
            } else {
                { button(label::controller_drop_watch(), watches, ControllerMsg::DropWatches, "") }
            }
            { button(label::controller_restart(), true, ControllerMsg::Restart, "") }
            <span class="spring" />
            if waits {
                { button(label::controller_wake(), true, ControllerMsg::Wake, "") }
            }
            { button(label::controller_run_to_end(), may_step, ControllerMsg::Run, "") }
            { button(label::controller_step(), may_step, ControllerMsg::Step, "primary") }
        </div>
    }
}
