//! What is explored, as links carry it.

use optimist_simulation::explore::{PRESETS, ThirdActor};
use serde_json::{Value, json};

use super::model::{EditSource, ExploreModel, Setup, ThirdActorChoice};

/// The row in which the actors write in different ways.
const MIXED: &str = "mixed";

/// The selection of Explore and the selected row, without results.
pub(super) fn to_json(model: &ExploreModel) -> Value {
    let setup = &model.setup;
    let slug = |way: usize| model.ways.get(way).map_or("", |way| way.slug);
    let edits = match setup.subject {
        EditSource::Preset(ready) => PRESETS.get(ready).map(|ready| ready.slug),
        EditSource::Editors(..) => None,
    };
    let row = if model.chosen == model.mixed_row() {
        MIXED
    } else {
        slug(model.chosen)
    };
    let mixed = setup.mixed.iter();
    let mixed: Value = mixed
        .map(|(way, reads)| json!([slug(*way), reads]))
        .collect();
    let third = setup.third.map(ThirdActorChoice::slug);
    json!({
        "edits": edits,
        "third": third,
        "read": setup.reads_first,
        "tries": setup.tries,
        "inside": setup.micro_steps,
        "mixed": mixed,
        "row": row,
    })
}

/// A set-up and its row from a link. What is missing or makes no sense is as in `usual`.
pub(super) fn from_json(json: &Value, usual: &ExploreModel) -> (Setup, usize) {
    let mut setup = usual.setup.clone();
    let text = |key: &str| json.get(key).and_then(Value::as_str);
    let flag = |key: &str, usual: bool| json.get(key).and_then(Value::as_bool).unwrap_or(usual);
    let number = |key: &str| json.get(key).and_then(Value::as_u64);
    let ready =
        text("edits").and_then(|edits| PRESETS.iter().position(|ready| ready.slug == edits));
    if let Some(ready) = ready {
        setup.subject = EditSource::Preset(ready);
    }
    if !json.is_null() {
        setup.third = match text("third") {
            Some(slug) => ThirdActorChoice::named(slug),
            // So it was called where there was but one.
            None => (number("actors") == Some(3))
                .then_some(ThirdActorChoice::Preset(ThirdActor::Annotates)),
        };
    }
    if let Some(tries @ 2..=6) = number("tries").and_then(|tries| u8::try_from(tries).ok()) {
        setup.tries = tries;
    }
    setup.reads_first = flag("read", setup.reads_first);
    setup.micro_steps = flag("inside", setup.micro_steps);
    let way = |slug: &str| usual.ways.iter().position(|way| way.slug == slug);
    let mixed = json.get("mixed").and_then(Value::as_array);
    for (place, said) in setup.mixed.iter_mut().zip(mixed.into_iter().flatten()) {
        let known = said.get(0).and_then(Value::as_str).and_then(way);
        let reads = said.get(1).and_then(Value::as_bool);
        *place = (known.unwrap_or(place.0), reads.unwrap_or(place.1));
    }
    let row = match text("row") {
        Some(MIXED) => Some(usual.mixed_row()),
        row => row.and_then(way).filter(|row| *row < usual.mixed_row()),
    };
    (setup, row.unwrap_or(usual.chosen))
}
