//! The three copies of the object that the cards show, aligned.

use std::collections::BTreeMap;
use std::sync::Arc;

use optimist_apiserver::server::Resource;
use optimist_client::{AlignedRow, AlignedRows, COPIES, ValueChange};
use optimist_simulation::{ActorId, World};
use serde_json::Value;

use crate::State;

/// The objects in the cards, from left to right.
#[derive(Clone, Debug)]
pub struct CardObjects {
    objects: [Option<Arc<Value>>; 3],
    resource: Arc<Resource>,
}

impl PartialEq for CardObjects {
    /// Returns whether both have the same objects, by their addresses in memory alone.
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
    /// Reads the objects from a world. `right` is the actor of the right lane.
    pub(crate) fn new(world: &World, right: ActorId) -> Self {
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
    AlignedRows::new(copies, &cards.resource.root)
}

/// Returns the rows that show another value than the present one, and the characters that it needs, by the
/// keys of the rows. `marks` are the changes in each copy.
pub fn rows_of_changes(
    aligned: &AlignedRows,
    marks: &[Vec<ValueChange>; COPIES],
) -> BTreeMap<String, usize> {
    // What every write changes is not said.
    let is_bookkeeping =
        |row: &AlignedRow| row.key.starts_with("/metadata/") && row.key.matches('/').count() == 2;
    let rows = aligned.rows.iter();
    let rows = rows.filter(|row| row.height == 1 && !is_bookkeeping(row));
    rows.filter_map(|row| Some((row.key.clone(), characters(aligned, row, marks)?)))
        .collect()
}

/// The characters of the longest cell of a row; `None` if nothing in it differs.
fn characters(
    aligned: &AlignedRows,
    row: &AlignedRow,
    marks: &[Vec<ValueChange>; COPIES],
) -> Option<usize> {
    /// `was `, `now `, and the spaces before them.
    const WORD: usize = 5;
    let lines = (0..COPIES).filter_map(|copy| Some((copy, aligned.line(row, copy)?)));
    let (_, line) = lines.clone().find(|(_, line)| line.below == 0)?;
    let mut values: Vec<String> = Vec::new();
    for (copy, line) in lines {
        let token = line.value.as_ref().filter(|token| token.scalar);
        values.extend(token.map(|token| token.plain.clone()));
        let mark = marks.get(copy).into_iter().flatten();
        let mut mark = mark.filter(|change| change.pointer == line.pointer);
        values.extend(mark.next().and_then(|change| match &change.before {
            Some(Value::String(text)) => Some(text.clone()),
            before => before.as_ref().map(Value::to_string),
        }));
    }
    values.sort_unstable();
    values.dedup();
    let name = line.indent + line.key.as_ref().map_or(0, |key| key.len() + 2);
    let lengths = values.iter().map(|value| value.chars().count() + WORD);
    (values.len() > 1).then(|| name + lengths.sum::<usize>() - WORD)
}

impl State {
    /// Returns the objects in the cards.
    pub fn card_objects(&self) -> CardObjects {
        CardObjects::new(self.world(), self.view.right)
    }
}
