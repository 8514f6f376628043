//! What happened to an object, from its versions: fights, and each change.

use optimist_apiserver::apply::{Manager, Path};
use optimist_client::visible;
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::observed::{FieldChange, Fight};
use optimist_messages::diagnose::{self as messages, written};
use optimist_messages::label;
use serde_json::Value;
use yew::{Html, classes, html};

use super::messages::command;
use super::owners::look;
use crate::state::ObservedHistory;

/// How many changes are drawn.
const MAX_CHANGES: usize = 300;

/// How many steps of a fight are drawn.
const MAX_FLIPS: usize = 120;

/// Draws a history.
pub(super) fn history(id: &ObjectId, history: &ObservedHistory) -> Html {
    let managers = history.managers();
    html! {
        <article class="history">
            { verdict(history) }
            { for history.returning.iter().map(|it| html! {
                <p><b>
                    { visible(&label::happened_returns(&it.field, &it.changes, &it.returns)).into_owned() }
                </b></p>
            }) }
            if !history.owned {
                <p class="says">{ label::happened_not_owned() }</p>
            }
            { for history.fights.iter().map(|fight| {
                of_fight(&history.changes, history.versions.first(), &managers, fight)
            }) }
            if !history.changes.is_empty() {
                <details open={history.fights.is_empty()}>
                    <summary>{ label::happened_others(&history.changes.len()) }</summary>
                    { changes(id, history, &managers) }
                </details>
            }
        </article>
    }
}

/// What is to be said where there is no fight.
fn verdict(history: &ObservedHistory) -> Html {
    let says = match &history.problem {
        Some(problem) => label::happened_managed_fields(problem),
        None if history.versions.len() < 2 => {
            return html! {
                <>
                    <p class="says">{ label::happened_one_version() }</p>
                    { command(label::happened_watch_command()) }
                </>
            };
        }
        None if history.changes.is_empty() => label::happened_nothing(),
        None if history.fights.is_empty() && history.returning.is_empty() && history.owned => {
            label::happened_no_fight()
        }
        None => return Html::default(),
    };
    html! { <p class="says">{ visible(&says).into_owned() }</p> }
}

/// A field that managers fight over. `first` is the version before the changes, if it is known.
pub(super) fn of_fight(
    changes: &[FieldChange],
    first: Option<&String>,
    managers: &[&Manager],
    fight: &Fight,
) -> Html {
    let names: Vec<String> = fight.managers.iter().map(messages::owner).collect();
    let all = || changes.iter().filter(|it| it.field == fight.field);
    let first = first
        .cloned()
        .or_else(|| all().next().map(|it| it.resource_version.clone()));
    let first = first.unwrap_or_default();
    let last = all().next_back().map(|it| it.resource_version.clone());
    let more = all().count().saturating_sub(MAX_FLIPS);
    html! {
        <div class="fight">
            <h3>
                { visible(&label::happened_fight(&messages::names(&names), &fight.field)).into_owned() }
                { " " }
                <span class="chip refused">{ label::happened_flips(&fight.flips) }</span>
            </h3>
            <p class="says">
                { label::happened_flips_text(
                    &fight.flips,
                    &first,
                    &last.unwrap_or_default(),
                ) }
            </p>
            <ol class="flips" aria-label={label::happened_chart(&names.join(", "))}>
                { begin(changes, &first, managers, fight) }
                { for all().take(MAX_FLIPS).map(|it| flip(
                    managers,
                    it.by.as_ref(),
                    it.after.as_ref(),
                    &it.resource_version,
                )) }
            </ol>
            if more > 0 {
                <p class="says">{ label::happened_more(&more) }</p>
            }
        </div>
    }
}

/// The value before the fight.
fn begin(changes: &[FieldChange], version: &str, managers: &[&Manager], fight: &Fight) -> Html {
    let begins = changes.iter().find(|it| it.field == fight.field);
    begins.map_or_else(Html::default, |change| {
        flip(
            managers,
            change.owner_before.as_ref(),
            change.before.as_ref(),
            version,
        )
    })
}

/// One value of a field: in the colour and the pattern of its manager.
fn flip(managers: &[&Manager], by: Option<&Manager>, value: Option<&Value>, version: &str) -> Html {
    let number = by.and_then(|by| managers.iter().position(|known| *known == by));
    html! {
        <li class={classes!(number.map(look))}>
            { marked(managers, by) }
            <b>{ written(value) }</b>
            <span class="muted">{ version.to_owned() }</span>
        </li>
    }
}

/// A manager with its mark; who it was if that is known.
pub(super) fn marked(managers: &[&Manager], by: Option<&Manager>) -> Html {
    let Some(by) = by else {
        return html! {
            <span class="by" title={label::happened_unknown_hint()}>
                { label::happened_unknown_manager() }
            </span>
        };
    };
    let number = managers.iter().position(|known| *known == by);
    html! {
        <span class="by">
            if let Some(number) = number {
                <span class={classes!("owner", look(number))} />
            }
            { visible(&messages::owner(by)).into_owned() }
        </span>
    }
}

/// Every change, field by field.
fn changes(id: &ObjectId, history: &ObservedHistory, managers: &[&Manager]) -> Html {
    let mut all: Vec<(&FieldChange, &Option<String>)> =
        history.changes.iter().zip(&history.times).collect();
    // Stable: the changes of one field stay in their order.
    let place = |field: &Path| history.changes.iter().position(|it| it.field == *field);
    all.sort_by_cached_key(|(change, _)| place(&change.field));
    let more = all.len().saturating_sub(MAX_CHANGES);
    let row = |&(change, time): &(&FieldChange, &Option<String>)| {
        html! {
            <tr>
                <td class="code">{ visible(&change.field.to_string()).into_owned() }</td>
                <td>{ change.resource_version.clone() }</td>
                <td>{ time.clone().unwrap_or_default() }</td>
                <td>{ marked(managers, change.by.as_ref()) }</td>
                <td class="code">
                    { written(change.before.as_ref()) }{ " → " }{ written(change.after.as_ref()) }
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
