//! The three copies of the object that the cards show, aligned.

use std::collections::BTreeMap;
use std::sync::Arc;

use optimist_apiserver::server::Resource;
use optimist_client::{AlignedRow, AlignedRows, COPIES, STORED, ValueChange};
use optimist_simulation::{ActorId, World};
use serde_json::Value;

use crate::State;

/// What the cards show, from left to right.
#[derive(Clone, Debug)]
pub struct CardObjects {
    objects: [Option<Arc<Value>>; 3],
    resource: Arc<Resource>,
}

impl PartialEq for CardObjects {
    /// Whether they are the same objects, without looking into them.
    fn eq(&self, other: &Self) -> bool {
        let mut both = self.objects.iter().zip(&other.objects);
        let same = both.all(|both| match both {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        });
        same && Arc::ptr_eq(&self.resource, &other.resource)
    }
}

impl CardObjects {
    pub(crate) fn of(world: &World, right: ActorId) -> Self {
        let edited = |actor: ActorId| world.copy(actor).edited().cloned();
        Self {
            objects: [
                edited(ActorId::A),
                world.stored().map(|(_, object)| Arc::clone(object)),
                edited(right),
            ],
            resource: Arc::clone(world.resource()),
        }
    }
}

/// The rows of the cards.
pub fn aligned_rows(cards: &CardObjects) -> AlignedRows {
    let [left, stored, right] = &cards.objects;
    let copies = [left.as_deref(), stored.as_deref(), right.as_deref()];
    AlignedRows::of(copies, &cards.resource.root)
}

/// The rows that say of a value what it was or what it is elsewhere, and how many characters that needs, by
/// the keys of the rows. `stored` is what the last write changed in the stored object.
pub fn rows_of_changes(aligned: &AlignedRows, stored: &[ValueChange]) -> BTreeMap<String, usize> {
    let rows = aligned.rows.iter().filter(|row| row.height == 1);
    rows.filter_map(|row| Some((row.key.clone(), characters(aligned, row, stored)?)))
        .collect()
}

/// The characters of the longest cell of a row; `None` if nothing in it differs.
fn characters(aligned: &AlignedRows, row: &AlignedRow, stored: &[ValueChange]) -> Option<usize> {
    /// `was `, `now `, and the spaces before them.
    const WORD: usize = 5;
    let lines = (0..COPIES).filter_map(|copy| aligned.line(row, copy));
    let line = lines.clone().find(|line| line.below == 0)?;
    let tokens = lines.filter_map(|line| line.value.as_ref().filter(|token| token.scalar));
    let mut values: Vec<String> = tokens.map(|token| token.plain.clone()).collect();
    let pointer = aligned.line(row, STORED).map(|line| &line.pointer);
    let mark = stored
        .iter()
        .find(|change| Some(&change.pointer) == pointer);
    values.extend(mark.and_then(|change| match &change.before {
        Some(Value::String(text)) => Some(text.clone()),
        before => before.as_ref().map(Value::to_string),
    }));
    values.sort_unstable();
    values.dedup();
    let name = line.indent + line.key.as_ref().map_or(0, |key| key.len() + 2);
    let lengths = values.iter().map(|value| value.chars().count() + WORD);
    (values.len() > 1).then(|| name + lengths.sum::<usize>() - WORD)
}

impl State {
    /// What the cards show.
    pub fn card_objects(&self) -> CardObjects {
        CardObjects::of(self.world(), self.view.right)
    }
}
