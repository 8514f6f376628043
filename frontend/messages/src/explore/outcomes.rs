//! Sentences about what became of the edits in a search: lost, replaced and refused.

use optimist_masking::masked;
use optimist_simulation::explore::{Search, StateId};
use optimist_simulation::verdict::{Edit, Loss, Replaced, Verdict};
use serde_json::json;

use super::{letter, path, refusal, verb};
use crate::edits::edit;
use crate::en;

/// Says the shortest order that loses an update, up to the step that loses it, and what became of the
/// edits there. `None` if no order is known to lose one.
pub fn shortest_loss(search: &Search) -> Option<String> {
    let steps = search.path_to(search.shortest(Verdict::Lost)?);
    let shown = steps.get(..search.deciding(&steps))?;
    let last = search.edges().get(*shown.last()?)?;
    let (order, why) = (path(search, shown), because(search, last.to));
    Some(format!("{order}. {why}."))
}

/// An edit; of a value that looks private only that it is one.
fn edit_without_private_value(search: &Search, of: &Edit) -> String {
    let Some(value) = &of.value else {
        return edit(of);
    };
    // What a value is, its field and its kind say.
    let mut object = json!({"kind": search.scenario().resource.kind});
    of.path.put(&mut object, value.clone());
    let found = of.path.find(&masked(&object)).cloned();
    edit(&Edit {
        path: of.path.clone(),
        value: Some(found.unwrap_or_else(|| value.clone())),
    })
}

/// The verb by which a client that writes with another verb creates an object. An apply and an Update can
/// both create one.
fn creating_verb(verb: &'static str) -> &'static str {
    match verb {
        "PATCH" => "POST",
        verb => verb,
    }
}

/// A loss: `B's PUT undid A's replicas = 5`.
pub(super) fn loss(search: &Search, loss: &Loss<u8>) -> String {
    let (owner, by) = (usize::from(loss.owner), usize::from(loss.culprit));
    let (owner, by, verb) = (
        &letter(search, owner),
        &letter(search, by),
        &verb(search, by),
    );
    if loss.edit.path.0.is_empty() {
        en::search_recreated(by, &creating_verb(verb), owner)
    } else if *verb == "DELETE" {
        en::search_deleted(by, owner, &edit_without_private_value(search, &loss.edit))
    } else if loss.blind {
        en::search_overwrote(
            by,
            verb,
            owner,
            &edit_without_private_value(search, &loss.edit),
        )
    } else {
        en::search_undid(
            by,
            verb,
            owner,
            &edit_without_private_value(search, &loss.edit),
        )
    }
}

/// Says that an actor replaced an edit which it had been shown.
fn replaced(search: &Search, replaced: &Replaced<u8>) -> String {
    let (owner, by) = (usize::from(replaced.owner), usize::from(replaced.by));
    let (owner, by, verb) = (
        &letter(search, owner),
        &letter(search, by),
        verb(search, by),
    );
    if replaced.edit.path.0.is_empty() {
        return en::search_recreated_knowingly(by, &creating_verb(verb), owner);
    }
    let edit = edit_without_private_value(search, &replaced.edit);
    // Also a retry deletes what it has read again.
    if verb == "DELETE" {
        en::search_replaced_delete(by, owner, &edit)
    } else if replaced.retry {
        en::search_replaced_retry(by, owner, &edit)
    } else {
        en::search_replaced(by, owner, &edit)
    }
}

/// The results of the edits on the way to a state, beyond its verdict.
pub fn because(search: &Search, end: StateId) -> String {
    let Some(state) = search.view(end) else {
        return String::new();
    };
    let losses = state.losses().iter();
    let losses = losses.map(|found| loss(search, found));
    let replacements = state.replaced();
    let replacements = replacements.map(|found| replaced(search, found));
    let refusals = state.refusals().into_iter();
    let refusals = refusals.map(|(who, how)| {
        let (actor, how) = (letter(search, who), refusal(how));
        match state.had_lost_acceptance(who) {
            true => en::search_refused_again(&actor, &how),
            false => en::search_refused(&actor, &how),
        }
    });
    let mut parts: Vec<String> = losses.chain(replacements).chain(refusals).collect();
    // Several actors can replace the same edit: it is said once.
    let mut seen = std::collections::BTreeSet::new();
    parts.retain(|part| seen.insert(part.clone()));
    parts.join("; ")
}
