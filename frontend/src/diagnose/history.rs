//! The history of an object, from its versions: fights, and each change.

use optimist_apiserver::apply::{Manager, Path};
use optimist_client::visible;
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::lanes::Pace;
use optimist_diagnose::observed::{FieldChange, Fight};
use optimist_messages::diagnose::{self as messages, written, written_change};
use optimist_messages::{label, lanes};
use optimist_report::without_fight;
use serde_json::Value;
use yew::{Html, classes, html};

use super::lanes::RecordedSteps;
use super::messages::command;
use super::owners::look;
use super::recorded::{Recorded, number_of, version_after, version_before};
use super::step_card::step_card;
use crate::state::{CaseReading, Dispatcher, ObservedHistory, StateHandle};

/// The maximum number of fights that are named first.
const MAX_HEADLINES: usize = 3;

/// The maximum number of changes that are drawn.
const MAX_CHANGES: usize = 300;

/// The maximum number of steps of a fight that are drawn.
const MAX_FLIPS: usize = 120;

/// Draws a history: first its fights, then its steps, then each field.
pub(super) fn history(store: &StateHandle, recorded: &Recorded, reading: &CaseReading) -> Html {
    let Some(history) = recorded.versions() else {
        return Html::default();
    };
    let sender = store.dispatcher();
    html! {
        <article class="history">
            { verdict(history) }
            { headlines(&history.fights) }
            { for history.returning.iter().map(|it| html! {
                <p><b>
                    { visible(&label::happened_returns(&it.field, &it.changes, &it.returns)).into_owned() }
                </b></p>
            }) }
            if !history.owned {
                <p class="says">{ label::happened_not_owned() }</p>
            }
            { steps(store, recorded) }
            { for history.fights.iter().map(|fight| of_fight(&sender, recorded, fight)) }
            if !history.changes.is_empty() {
                <details open={history.fights.is_empty()}>
                    <summary>{ label::happened_others(&history.changes.len()) }</summary>
                    { changes(&reading.case.id, history) }
                </details>
            }
        </article>
    }
}

/// The lanes, and the card of the step that is selected.
pub(super) fn steps(store: &StateHandle, recorded: &Recorded) -> Html {
    let selected = store.diagnose.selected_step();
    let selected = selected.filter(|step| step.source == recorded.source());
    let selected = selected.map(|step| step.row);
    html! {
        <div class="recorded-steps">
            <RecordedSteps history={recorded.clone()} {selected} sender={store.dispatcher()} />
            // Always one child, or the lanes would be drawn anew and lose the keyboard.
            { selected.map_or_else(Html::default, |row| step_card(store, recorded, row)) }
        </div>
    }
}

/// Draws the first answer: a line for each fight, with its managers and its field.
pub(super) fn headlines(fights: &[Fight]) -> Html {
    let more = fights.len().saturating_sub(MAX_HEADLINES);
    html! {
        <>
            { for fights.iter().take(MAX_HEADLINES).map(|fight| {
                let says = lanes::fight_title(fight);
                html! {
                    <p class="headline">
                        <b>{ visible(&says).into_owned() }</b>
                        { " " }
                        <span class="chip refused">{ label::happened_flips(&fight.flips) }</span>
                    </p>
                }
            }) }
            if more > 0 {
                <p class="says">{ label::fight_more(&more) }</p>
            }
            if fights.iter().any(|fight| !fight.remedies.is_empty()) {
                <p class="says">{ label::happened_fight_advice() }</p>
            }
        </>
    }
}

/// Returns the sentence for a history without a fight.
fn verdict(history: &ObservedHistory) -> Html {
    let Some(says) = without_fight(history) else {
        return Html::default();
    };
    let needs_more = history.problem.is_none() && history.versions.len() < 2;
    html! {
        <>
            <p class="says">{ visible(&says).into_owned() }</p>
            if needs_more {
                { command(label::happened_watch_command()) }
            }
        </>
    }
}

/// A field that managers fight over, with a link to each step of the fight.
pub(super) fn of_fight(sender: &Dispatcher, recorded: &Recorded, fight: &Fight) -> Html {
    let names = fight.managers.iter();
    let names = names.map(|it| messages::owner_beside(it, &fight.managers));
    let names: Vec<String> = names.collect();
    let all = recorded.changes().into_iter();
    let all: Vec<_> = all.filter(|(_, it)| it.field == fight.field).collect();
    let (Some((first, begin)), Some((last, _))) = (all.first(), all.last()) else {
        return Html::default();
    };
    let steps: Vec<usize> = all.iter().map(|(row, _)| *row).collect();
    let pace = recorded
        .lanes()
        .and_then(|lanes| Pace::measure(lanes, &steps));
    let more = all.len().saturating_sub(MAX_FLIPS);
    let known = recorded.manager_names();
    let before = recorded.row(*first).and_then(version_before);
    html! {
        <div class="fight">
            <h3>{ visible(&fight.field.to_string()).into_owned() }</h3>
            <p class="says">
                { label::fight_steps(&fight.flips, &(first + 1), &(last + 1)) }
                if let Some(pace) = pace {
                    { " " }
                    { visible(&lanes::fight_pace(&fight.field, pace)).into_owned() }
                }
            </p>
            <ol class="flips" aria-label={label::happened_chart(&names.join(", "))}>
                { flip(known, &fight.managers, begin.owner_before.as_ref(), begin.before.as_ref(), before, Html::default()) }
                { for all.iter().take(MAX_FLIPS).map(|(row, it)| flip(
                    known,
                    &fight.managers,
                    it.by.as_ref(),
                    it.after.as_ref(),
                    recorded.row(*row).and_then(version_after),
                    recorded.link(*row, sender),
                )) }
            </ol>
            if more > 0 {
                <p class="says">{ label::happened_more(&more) }</p>
            }
            <p class="says">{ visible(&lanes::fight_writers(fight)).into_owned() }</p>
            { ways_out(fight) }
        </div>
    }
}

/// The ways out that ended a fight when they were run.
fn ways_out(fight: &Fight) -> Html {
    let count = fight.remedies.len();
    if count == 0 {
        return Html::default();
    }
    html! {
        <>
            <h4>{ label::fight_outs(&count) }</h4>
            <ul class="findings">
                { for fight.remedies.iter().map(|it| html! {
                    <li>{ visible(&lanes::fight_remedy(it)).into_owned() }</li>
                }) }
            </ul>
            <p class="says">{ label::fight_ended(&count) }</p>
        </>
    }
}

/// One value of a field: in the colour and the pattern of its manager.
fn flip(
    known: &[String],
    beside: &[Manager],
    by: Option<&Manager>,
    value: Option<&Value>,
    version: Option<&str>,
    link: Html,
) -> Html {
    let number = by.and_then(|by| number_of(known, by));
    html! {
        <li class={classes!(number.map(look))}>
            { marked(known, beside, by) }
            <b>{ written(value) }</b>
            <span>
                if let Some(version) = version {
                    <span class="muted">{ visible(version).into_owned() }</span>
                    { " " }
                }
                { link }
            </span>
        </li>
    }
}

/// A manager with its mark, told apart from those beside it; who it was if that is known.
fn marked(known: &[String], beside: &[Manager], by: Option<&Manager>) -> Html {
    let Some(by) = by else {
        return html! {
            <span class="by" title={label::happened_unknown_hint()}>
                { label::happened_unknown_manager() }
            </span>
        };
    };
    html! {
        <span class="by">
            if let Some(number) = number_of(known, by) {
                <span class={classes!("owner", look(number))} />
            }
            { visible(&messages::owner_beside(by, beside)).into_owned() }
        </span>
    }
}

/// Every change, field by field.
fn changes(id: &ObjectId, history: &ObservedHistory) -> Html {
    let mut all: Vec<(&FieldChange, &Option<String>)> =
        history.changes.iter().zip(&history.times).collect();
    // Stable: the changes of one field stay in their order.
    let place = |field: &Path| history.changes.iter().position(|it| it.field == *field);
    all.sort_by_cached_key(|(change, _)| place(&change.field));
    let more = all.len().saturating_sub(MAX_CHANGES);
    let mut managers: Vec<Manager> = Vec::new();
    for by in all.iter().filter_map(|(change, _)| change.by.as_ref()) {
        if !managers.contains(by) {
            managers.push(by.clone());
        }
    }
    let row = |&(change, time): &(&FieldChange, &Option<String>)| {
        html! {
            <tr>
                <td class="code">{ visible(&change.field.to_string()).into_owned() }</td>
                <td>{ change.resource_version.clone() }</td>
                <td>{ time.clone().unwrap_or_default() }</td>
                <td>{ marked(&history.manager_names, &managers, change.by.as_ref()) }</td>
                <td class="code">
                    { written_change(change.before.as_ref(), change.after.as_ref()) }
                </td>
            </tr>
        }
    };
    html! {
        <div class="scroll" tabindex="0" role="region" aria-label={label::happened_to(id)}>
            <table class="case-table">
                <thead>
                    <tr>
                        <th scope="col">{ label::happened_field() }</th>
                        <th scope="col">{ label::happened_version() }</th>
                        <th scope="col">{ label::happened_time() }</th>
                        <th scope="col">{ label::happened_who() }</th>
                        <th scope="col">{ label::happened_value() }</th>
                    </tr>
                </thead>
                <tbody>{ for all.iter().take(MAX_CHANGES).map(row) }</tbody>
            </table>
            if more > 0 {
                <p class="says">{ label::happened_more(&more) }</p>
            }
        </div>
    }
}
