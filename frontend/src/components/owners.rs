//! The owners of fields: each line of the stored object with its managers, and the fields that the
//! current editor would take from them.

use optimist_apiserver::apply::{Manager, Owners};
use optimist_client::{Line, lines};
use optimist_messages::{cards, label};
use optimist_simulation::ActorId;
use yew::{Html, classes, html};

use super::fold::{holds, is_quiet};
use crate::state::{Lane, StateHandle};

/// Each manager has a colour and a pattern. The patterns repeat after this number.
const PATTERNS: usize = 6;

/// More lines than this take long to draw.
const MAX_LINES: usize = 500;

/// The look of a manager: an editor has the colour of its lane.
fn look(store: &StateHandle, number: usize, manager: &Manager) -> String {
    let editor = ActorId::ALL
        .into_iter()
        .find(|id| *store.world().actor(*id).manager == *manager.name);
    let tone = editor.map_or("other", |id| Lane::Editor(id).slug());
    format!("owner {tone} pattern-{}", number % PATTERNS)
}

/// The stored object, a mark per owner beside each line.
pub(crate) fn owners(store: &StateHandle) -> Html {
    let none = cards::no_owners(store.world());
    let Some((_, object)) = store.world().stored().filter(|_| none.is_empty()) else {
        return html! {
            <div class="yaml blank">{ for none.into_iter().map(|text| html! { <p>{ text }</p> }) }</div>
        };
    };
    let owners = Owners::read(object, &store.world().resource().root);
    let all = lines(object);
    let own = |line: &&Line| !holds("/metadata/managedFields", &line.pointer);
    let shown = all.iter().filter(own);
    let shown: Vec<&Line> = shown.filter(|line| !is_quiet(&line.pointer)).collect();
    let more = shown.len().saturating_sub(MAX_LINES);
    let rows = shown.iter().take(MAX_LINES);
    let rows = rows.map(|line| row(store, &owners, line));
    html! {
        <div class="yaml owners" role="region" tabindex="0" aria-label="Owners of the stored object">
            <ul class="owner-legend">
                { for owners.managers().iter().enumerate().map(|(number, manager)| html! {
                    <li><span class={look(store, number, manager)} />{ cards::manager(manager) }</li>
                }) }
            </ul>
            { for rows }
            if more > 0 {
                <p class="muted">{ format!("{more} more lines are not shown.") }</p>
            }
        </div>
    }
}

fn row(store: &StateHandle, owners: &Owners, line: &Line) -> Html {
    let managers: Vec<(usize, &Manager)> = owners
        .at(&line.pointer)
        .into_iter()
        .filter_map(|number| Some((number, owners.managers().get(number)?)))
        .collect();
    let owning: Vec<&Manager> = managers.iter().map(|(_, manager)| *manager).collect();
    let names = cards::managers(&owning);
    let key = line.key.clone().map(|key| format!("{key}:"));
    html! {
        <div class="line owned" style={format!("--indent:{}ch", line.indent)}>
            <span class="owned-by" title={names.clone()}>
                { for managers.iter().map(|(number, manager)| html! {
                    <span class={look(store, *number, manager)} />
                }) }
            </span>
            <span class="dashes">{ line.dashes.clone() }</span>
            <span class="key">{ key.unwrap_or_default() }</span>
            if let Some(token) = &line.value {
                { " " }<span class="value">{ token.text.chars().take(80).collect::<String>() }</span>
            }
            if !names.is_empty() {
                <span class="owner-names">{ names }</span>
            }
        </div>
    }
}

/// Says which fields an apply of the current editor would take from others and remove, before it is
/// sent.
pub(crate) fn apply_preview(store: &StateHandle) -> Html {
    let id = store.view.focus;
    let name = store.name(id);
    let slug = Lane::Editor(id).slug();
    let Some(text) = cards::foresight(store.world(), id) else {
        return html! {
            <p class="last-write">{ label::foresight_none(&name) }</p>
        };
    };
    html! {
        <p class={classes!("last-write", "foresight")}>
            { label::foresight_before() }{ " " }<b class={slug}>{ name.to_owned() }</b>{ " " }{ text }
        </p>
    }
}
