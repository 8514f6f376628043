//! In which way each actor writes, or as which tool, for the row in which they differ.

use std::rc::Rc;

use optimist_client::WriteMethod;
use optimist_messages::{explore as messages, label};
use optimist_simulation::ActorId;
use optimist_simulation::explore::Plan;
use yew::{Callback, Event, Html, Properties, UseReducerDispatcher, classes, component, html};

use super::setup::tool_options;
use super::store::ExploreStore;
use crate::browser::{selected, ticked};
use crate::state::{ExploreMsg, ExploreSetup, MixedWay};

/// The properties of the row. A running search does not draw it again.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct MixedProps {
    pub(super) setup: ExploreSetup,
    pub(super) ways: Rc<Vec<WriteMethod>>,
    /// `true` if the row is the chosen one.
    pub(super) chosen: bool,
    /// The number of columns of the table.
    pub(super) columns: usize,
    pub(super) dispatcher: UseReducerDispatcher<ExploreStore>,
}

/// A row with a choice per actor.
#[component]
pub(super) fn Mixed(props: &MixedProps) -> Html {
    let mixed = props.setup.mixed.iter().take(props.setup.actors());
    let applies = mixed
        .filter_map(|(way, _)| match way {
            MixedWay::Tool(preset) => Some(preset),
            MixedWay::Method(_) => None,
        })
        .any(|preset| preset.writes_manifest());
    html! {
        <tr class={classes!("ways", props.chosen.then_some("chosen"))}>
            <td colspan={props.columns.to_string()}>
                { for props.setup.acting().into_iter().enumerate().map(|actor| choice(props, actor)) }
                if applies {
                    <span class="note">{ label::mixed_manifest() }</span>
                }
            </td>
        </tr>
    }
}

fn choice(props: &MixedProps, (index, actor): (usize, ActorId)) -> Html {
    if let Some(tool) = props.setup.tool().filter(|_| actor == ActorId::C) {
        return html! {
            <div class="mixed">
                <b class={super::classes::slug(actor)}>{ actor.letter() }</b>
                <span>{ messages::third(tool) }</span>
            </div>
        };
    }
    let changed = |change: fn(&mut (MixedWay, bool), Event)| {
        let (setup, dispatcher) = (props.setup.clone(), props.dispatcher.clone());
        Callback::from(move |event: Event| {
            let mut setup = setup.clone();
            if let Some(place) = setup.mixed.get_mut(index) {
                change(place, event);
            }
            dispatcher.dispatch(ExploreMsg::Setup(setup));
        })
    };
    let usual = (MixedWay::Method(0), true);
    let (way, reads_first) = props.setup.mixed.get(index).copied().unwrap_or(usual);
    let letter = actor.letter();
    let choose = changed(|place, event| {
        let chosen = selected(&event);
        let tool = Plan::TOOLS.into_iter().find(|it| it.slug() == chosen);
        let method = chosen.parse().ok().map(MixedWay::Method);
        place.0 = method.or(tool.map(MixedWay::Tool)).unwrap_or(place.0);
    });
    let tick = changed(|place, event| place.1 = ticked(&event));
    html! {
        <div class="mixed">
            <b class={super::classes::slug(actor)}>{ letter }</b>
            <select aria-label={label::mixed_writes_by(&letter)} onchange={choose}>
                { for (0..).zip(props.ways.iter()).map(|(i, known): (u8, _)| html! {
                    <option value={i.to_string()} selected={way == MixedWay::Method(i)}>
                        { messages::way(*known) }
                    </option>
                }) }
                { tool_options(Plan::TOOLS, |tool| way == MixedWay::Tool(tool)) }
            </select>
            if matches!(way, MixedWay::Method(_)) {
                <label class="check">
                    <input
                        type="checkbox"
                        aria-label={label::mixed_reads_first(&letter)}
                        checked={reads_first}
                        onchange={tick}
                    />
                    <span>{ label::mixed_reads_first_short() }</span>
                </label>
            }
        </div>
    }
}
