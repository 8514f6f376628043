//! The selection of Explore in links.

use optimist_simulation::explore::{PRESETS, Plan, ThirdActor};
use optimist_simulation::{HistoryTree, NGINX, World};
use serde_json::{Value, json};

use super::model::ways;
use super::{EditSource, ExploreModel, ExploreSetup, MixedWay, ThirdActorChoice};

/// The most characters of a property in a link.
const MOST_CHARACTERS: usize = 2_000;

/// Says that the edits are those of a case of Diagnose.
pub(super) const BETWEEN: &str = "between";

/// The row in which the actors write in different ways.
const MIXED: &str = "mixed";

/// The row in which each actor writes as in the case of Diagnose.
const OWN: &str = "own";

/// Returns whether a setup has the edits of a preset.
pub(super) fn is_preset(setup: &Value) -> bool {
    setup.get("edits").is_some_and(Value::is_string)
}

/// The histories in the link of a setup whose edits are those of a preset.
pub(super) fn tree_of_presets() -> Option<HistoryTree> {
    Some(HistoryTree::new(World::load(NGINX).ok()?.0))
}

impl ExploreModel {
    /// The selection of Explore and the selected row, without results.
    pub fn to_json(&self) -> Value {
        let setup = &self.setup;
        let slug = |way: usize| self.ways.get(way).map_or("", |way| way.slug());
        let edits = match setup.subject {
            EditSource::Preset(ready) => PRESETS.get(ready).map(|ready| ready.slug),
            EditSource::Editors(..) => None,
        };
        let row = self.way_of(self.chosen).map_or(MIXED, slug);
        // Three as in older links, if they are enough.
        let mixed = setup.mixed.iter().take(setup.actors().max(3));
        let mixed: Value = mixed
            .map(|(way, reads)| match way {
                MixedWay::Method(way) => json!([slug(usize::from(*way)), reads]),
                MixedWay::Tool(preset) => json!([preset.slug(), reads]),
            })
            .collect();
        let third = setup.third.map(ThirdActorChoice::slug);
        let mut json = json!({
            "edits": edits,
            "third": third,
            "read": setup.reads_first,
            "tries": setup.tries,
            "inside": setup.micro_steps,
            "lost": setup.loses_answer,
            "mixed": mixed,
            "row": row,
        });
        if setup.subject.between().is_some() {
            json[BETWEEN] = true.into();
        }
        if !setup.property.is_empty() {
            json["property"] = setup.property.as_str().into();
        }
        json
    }

    /// Reads the selection and the row of a link. Parts that are missing or not valid stay as they
    /// are here.
    pub(super) fn parse_link(&self, json: &Value) -> (ExploreSetup, usize) {
        let mut setup = self.setup.clone();
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
                // Older links have the number of actors: there was only one third actor.
                None => (number("actors") == Some(3))
                    .then_some(ThirdActorChoice::Preset(ThirdActor::Annotates)),
            };
            // Older links have none.
            let property = text("property").unwrap_or_default();
            setup.property = property.chars().take(MOST_CHARACTERS).collect();
        }
        if let Some(tries @ 2..=6) = number("tries").and_then(|tries| u8::try_from(tries).ok()) {
            setup.tries = tries;
        }
        setup.reads_first = flag("read", setup.reads_first);
        setup.micro_steps = flag("inside", setup.micro_steps);
        // Older links do not have it: no answer was lost.
        setup.loses_answer = flag("lost", json.is_null() && setup.loses_answer);
        // The request may be the first one of a case.
        let ways = ways(flag(BETWEEN, false));
        let way = |slug: &str| ways.iter().position(|way| way.slug() == slug);
        let mixed = json.get("mixed").and_then(Value::as_array);
        for (place, said) in setup.mixed.iter_mut().zip(mixed.into_iter().flatten()) {
            let known = said.get(0).and_then(Value::as_str).and_then(|slug| {
                let tool = || Plan::TOOLS.into_iter().find(|it| it.slug() == slug);
                let method = way(slug).and_then(|way| u8::try_from(way).ok());
                let method = method.map(MixedWay::Method);
                method.or_else(|| tool().map(MixedWay::Tool))
            });
            let reads = said.get(1).and_then(Value::as_bool);
            *place = (known.unwrap_or(place.0), reads.unwrap_or(place.1));
        }
        let mixed_row = self.mixed_row();
        let row = match text("row") {
            Some(MIXED) => Some(mixed_row),
            Some(OWN) => flag(BETWEEN, false).then_some(mixed_row + 1),
            row => row.and_then(way).filter(|row| *row < mixed_row),
        };
        (setup, row.unwrap_or(self.chosen))
    }
}
