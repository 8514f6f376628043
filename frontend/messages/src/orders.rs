//! The search of every order of a controller's steps: its properties, and the result for each.

use optimist_checker::{FieldOf, Goal, Safety};
use optimist_client::Preset;
use optimist_lesson::example_controller_properties;
use optimist_masking::masked;
use optimist_simulation::explore::{ControllerWitness, Misfit, PropertyAnswer, ThirdActor};
use optimist_simulation::{ActorId, BrokenProperty, HistoryTree, World};

use crate::en;
use crate::explore::{number, third};

/// A safety property.
pub fn safety(property: &Safety) -> String {
    match property {
        Safety::AtMost(most, kind) => en::orders_at_most(most, &kind.kind),
        Safety::NotDeletedWhileOwnerLives(kind) => en::orders_owner_lives(&kind.kind),
        Safety::KeepsFinalizer(finalizer, _) => en::orders_keeps_finalizer(finalizer),
        Safety::NoEditLost => en::orders_no_edit_lost(),
    }
}

/// Says the goals of a program, in one line.
pub fn goals(always: &[Safety], at_rest: &[Goal]) -> String {
    let mut goals: Vec<String> = always.iter().map(safety).collect();
    goals.push(settles(at_rest));
    goals.join(". ") + "."
}

/// Says that every run comes to rest, and what must be true then.
pub fn settles(goals: &[Goal]) -> String {
    let goals: Vec<String> = goals.iter().map(goal).collect();
    match goals.is_empty() {
        true => en::orders_rests(),
        false => en::orders_rests_and(&goals.join(", ")),
    }
}

fn goal(goal: &Goal) -> String {
    match goal {
        Goal::Count(number, kind) => en::orders_wish_count(number, &kind.kind),
        Goal::CountIs(kind, number) => en::orders_wish_count_is(&kind.kind, &field(number)),
        Goal::Equal(place, value) => en::orders_wish_equal(&field(place), value),
        Goal::Same(a, b) | Goal::SameText(a, b) => en::orders_wish_same(&field(a), &field(b)),
        Goal::Contains(place, text) => en::orders_wish_contains(&field(place), text),
    }
}

/// A field with the kind of its object.
fn field(field: &FieldOf) -> String {
    let path = field.field.trim_start_matches('/').replace('/', ".");
    format!("{} {path}", field.kind.kind)
}

/// The actors beside a controller, by their names.
#[derive(Clone, Copy, Debug)]
pub struct OrderActors<'a> {
    /// The editors that send their edits.
    pub editors: &'a [&'a str],
    /// The number of controllers.
    pub controllers: usize,
    /// The editors that have none.
    pub without_edit: &'a [&'a str],
    /// One more actor, and what it does.
    pub third: Option<(&'a str, ThirdActor)>,
}

/// Says what was varied in the orders, and what was not.
pub fn varied(states: usize, actors: OrderActors<'_>, restarts: u8) -> String {
    let mut varied = vec![en::orders_varied_steps(&actors.controllers)];
    let editors = actors.editors.iter();
    varied.extend(editors.map(|name| en::orders_varied_edit(name)));
    varied.extend(actors.third.map(|(name, does)| varied_third(name, does)));
    if restarts > 0 {
        varied.push(en::orders_varied_restarts(&restarts, &actors.controllers));
    }
    let mut sentences = vec![
        en::orders_states(&number(states as u128)),
        varied.join("; ") + ".",
    ];
    let without = actors.without_edit.iter();
    sentences.extend(without.map(|name| en::orders_not_varied_edit(name)));
    sentences.push(en::orders_not_varied());
    sentences.join(" ")
}

fn varied_third(name: &str, does: ThirdActor) -> String {
    let said = third(does);
    match does {
        ThirdActor::Tool(Preset::KubectlScale | Preset::Autoscaler) => {
            en::orders_varied_scaling_tool(&said)
        }
        ThirdActor::Tool(Preset::KubectlEdit) => en::orders_varied_editing_tool(&said),
        ThirdActor::Tool(_) => en::orders_varied_tool(&said),
        _ => en::orders_varied_third(&name, &said),
    }
}

/// Says that not all states were searched, and how far the search came.
pub fn incomplete(explored_steps: Option<usize>) -> String {
    let steps = explored_steps.map(|steps| en::orders_up_to(&steps));
    let sentences = [Some(en::orders_incomplete()), steps];
    sentences
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Says what a property that somebody writes can be about.
pub fn own_property_hint(world: &World) -> String {
    en::orders_own_hint(&world.resource().kind, &world.subject().name())
}

/// Returns properties to begin with.
pub fn examples(world: &World) -> Vec<String> {
    example_controller_properties(world, masked)
}

/// Says which properties of a controller's program are broken at the current step. Of a history that never
/// comes to rest, no controller does what it is for.
pub fn broken_of_controller(tree: &HistoryTree, id: ActorId) -> Vec<String> {
    let properties = tree.world().broken_properties(id);
    let said = properties.iter().map(broken);
    said.chain(tree.repeatable_steps().map(repeatable))
        .collect()
}

/// Says which properties of the controllers' programs are broken: among several controllers, with their
/// names. `repeatable_steps` is the number of the last steps that can repeat for ever.
pub fn all_broken(world: &World, repeatable_steps: Option<usize>) -> Vec<String> {
    let controllers = || world.controllers().map(|(id, _)| id);
    let mut found: Vec<(BrokenProperty, Vec<ActorId>)> = Vec::new();
    for id in controllers() {
        for property in world.broken_properties(id) {
            match found.iter_mut().find(|(known, _)| *known == property) {
                Some((_, ids)) => ids.push(id),
                None => found.push((property, vec![id])),
            }
        }
    }
    let said = |(property, ids): (BrokenProperty, Vec<ActorId>)| {
        let text = broken(&property);
        match controllers().count() {
            1 => text,
            _ => {
                let names: Vec<&str> = ids.iter().map(|id| &*world.actor(*id).name).collect();
                en::of_controller(&names.join(", "), &text)
            }
        }
    };
    let properties = found.into_iter().map(said);
    properties.chain(repeatable_steps.map(repeatable)).collect()
}

/// Says why a program has no goal, and its orders are not searched.
pub fn misfit(misfit: &Misfit) -> String {
    match misfit {
        Misfit::Parents { kind, count } => en::misfit_parents(kind, count),
        Misfit::Deleting(name) => en::misfit_deleting(name),
        Misfit::OtherChild(kind) => en::misfit_child(kind),
        Misfit::Size => en::misfit_size(),
    }
}

/// Says that a history never comes to rest, and how many of its last steps can repeat.
pub fn repeatable(steps: usize) -> String {
    en::broken_never_rests(&steps)
}

/// Says that a property of a controller's program is broken.
pub fn broken(property: &BrokenProperty) -> String {
    match property {
        BrokenProperty::TooMany { kind, found, most } => {
            en::broken_too_many(found, &kind.kind, most)
        }
        BrokenProperty::DeletedWhileOwnerLives(kind) => en::broken_owner_lives(&kind.kind),
        BrokenProperty::AtRest(goals_hold) => en::broken_at_rest(&goal(goals_hold)),
    }
}

/// Says the result for a property; `None` stands for the property that every run comes to rest, and for one
/// that somebody wrote.
pub fn answer(property: Option<&Safety>, answer: &PropertyAnswer) -> String {
    let witness = match answer {
        PropertyAnswer::Holds => return en::orders_holds(),
        PropertyAnswer::Untried => {
            return match property {
                Some(Safety::NoEditLost) => en::orders_untried_edit(),
                _ => en::orders_untried(),
            };
        }
        PropertyAnswer::Unknown => return en::orders_unknown(),
        PropertyAnswer::Broken(witness) => witness,
    };
    let steps = witness.run().len();
    match witness {
        ControllerWitness::Unsafe(..) | ControllerWitness::RestsWrong(_) if steps == 0 => {
            en::orders_broken_now()
        }
        // One that somebody wrote.
        ControllerWitness::Unsafe(..) if property.is_none() => en::orders_breaks(&steps),
        ControllerWitness::Unsafe(..) => en::orders_unsafe(&steps),
        ControllerWitness::NeverRests(_, cycle) => en::orders_never_rests(&steps, &cycle.len()),
        ControllerWitness::RestsWrong(_) => en::orders_rests_wrong(&steps),
    }
}
