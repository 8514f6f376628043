//! The search of every order of a controller's steps: its properties, and what was found of each.

use optimist_controller::search::{FieldOf, Safety, Wish};
use optimist_simulation::explore::{ControllerWitness, PropertyAnswer};

use crate::en;

/// A safety property.
pub fn safety(property: &Safety) -> String {
    match property {
        Safety::AtMost(most, kind) => en::orders_at_most(most, &kind.kind),
        Safety::NotDeletedWhileOwnerLives(kind) => en::orders_owner_lives(&kind.kind),
        Safety::KeepsFinalizer(finalizer, _) => en::orders_keeps_finalizer(finalizer),
        Safety::NoEditLost => en::orders_no_edit_lost(),
    }
}

/// That every run comes to rest, and what must be true then.
pub fn settles(wishes: &[Wish]) -> String {
    let wishes: Vec<String> = wishes.iter().map(wish).collect();
    match wishes.is_empty() {
        true => en::orders_rests(),
        false => en::orders_rests_and(&wishes.join(", ")),
    }
}

fn wish(wish: &Wish) -> String {
    match wish {
        Wish::Count(number, kind) => en::orders_wish_count(number, &kind.kind),
        Wish::CountIs(kind, number) => en::orders_wish_count_is(&kind.kind, &field(number)),
        Wish::Equal(place, value) => en::orders_wish_equal(&field(place), value),
        Wish::Same(a, b) | Wish::SameText(a, b) => en::orders_wish_same(&field(a), &field(b)),
        Wish::Contains(place, text) => en::orders_wish_contains(&field(place), text),
    }
}

/// A field with the kind of its object.
fn field(field: &FieldOf) -> String {
    let path = field.field.trim_start_matches('/').replace('/', ".");
    format!("{} {path}", field.kind.kind)
}

/// What was found of a property.
pub fn answer(answer: &PropertyAnswer) -> String {
    let witness = match answer {
        PropertyAnswer::Holds => return en::orders_holds(),
        PropertyAnswer::Unknown => return en::orders_unknown(),
        PropertyAnswer::Broken(witness) => witness,
    };
    let steps = witness.run().len();
    match witness {
        ControllerWitness::Unsafe(..) => en::orders_unsafe(&steps),
        ControllerWitness::NeverRests(..) => en::orders_never_rests(&steps),
        ControllerWitness::RestsWrong(_) => en::orders_rests_wrong(&steps),
    }
}
