//! The steps inside a request, and the pairs of edits of Explore: each is checked on the server's store.

use std::collections::BTreeMap;

use optimist_client::WriteMethod;
use optimist_messages::explore as said_of;
use optimist_simulation::explore::{
    ExplorePreset, PRESETS, Search, SearchStatus, TransitionId, TransitionKind, replayed,
};
use optimist_simulation::{HistoryTree, World};
use serde_json::{Value, json};

use super::hearing::{ConditionOf, Conditions, Hearing};
use super::judge::{Leaves, leaves};
use super::random::Random;

/// A step of a search: the revision before and after it, and at the actor's last read in the server.
pub struct Inside {
    before: u64,
    after: u64,
    read: Option<u64>,
}

pub const INSIDE: &[(&str, ConditionOf<Inside>)] = &[
    ("server_reads", |_, at| Some(at.before == at.after)),
    ("server_reads_again", |_, at| {
        Some(at.before == at.after && at.read.is_some_and(|read| read < at.before))
    }),
    ("stores", |_, at| {
        // What changes nothing is stored without a new version.
        Some(at.read == Some(at.before) && at.after >= at.before)
    }),
];

/// Says the steps inside the requests of random scenarios.
pub fn steps(seed: u64, hearing: &mut Hearing) -> Option<()> {
    let mut random = Random::new(seed);
    let preset = random.choose(&PRESETS);
    let mut scenario = preset.scenario().ok()?;
    let chosen: Vec<WriteMethod> = scenario
        .plans
        .iter()
        .map(|_| *random.choose(&WriteMethod::MATRIX))
        .collect();
    scenario = scenario.in_ways(&chosen, 2).ok()?;
    scenario.micro_steps = true;
    if scenario.settling.is_some() {
        return None;
    }
    let mut search = Search::new(scenario, 4000);
    if search.run() != SearchStatus::Done {
        return None;
    }
    let start = HistoryTree::new(World::load(preset.manifest).ok()?.0);
    let revision = |path: &[TransitionId]| {
        let tree = replayed(&search, path, path.len(), start.clone());
        tree.world().server().store().revision()
    };
    let conditions: Conditions<Inside> = INSIDE.iter().copied().collect();
    for _ in 0..12 {
        let edge = random.below(search.edges().len());
        let transition = search.edges()[edge];
        let mut path = search.path_to(transition.from);
        let reads = path.iter().rposition(|at| {
            let one = search.edges()[*at];
            let inside = matches!(
                one.what,
                TransitionKind::ServerReads | TransitionKind::ServerReadsAgain
            );
            one.actor == transition.actor && inside
        });
        let read = reads.map(|at| revision(&path[..at]));
        let before = revision(&path);
        path.push(edge);
        let about = Inside {
            before,
            after: revision(&path),
            read,
        };
        for text in said_of::transition(&search, &transition) {
            hearing.hear(&text, &conditions, &about, &|| {
                format!("   {} in scenario {seed}", preset.slug)
            });
        }
    }
    Some(())
}

/// The changes of each actor of a pair when it is alone: before and after.
pub struct Pair {
    of: BTreeMap<usize, (Leaves, Option<Leaves>)>,
}

impl Pair {
    fn new(preset: &ExplorePreset) -> Option<Self> {
        let scenario = preset.scenario().ok()?;
        let ways: Vec<WriteMethod> = scenario.plans.iter().map(|_| WriteMethod::Update).collect();
        let scenario = scenario.in_ways(&ways, 2).ok()?;
        let actors = scenario.plans.len();
        let mut search = Search::new(scenario, 4000);
        search.run();
        let tree = HistoryTree::new(World::load(preset.manifest).ok()?.0);
        let of = (0..actors).map(|actor| {
            let mut path = Vec::new();
            let mut at = 0;
            while let Some(edge) = search
                .view(at)?
                .edges()
                .find(|edge| search.edges()[*edge].actor == actor)
            {
                path.push(edge);
                at = search.edges()[edge].to;
            }
            let after = replayed(&search, &path, path.len(), tree.clone());
            let stored = |world: &World| world.stored().map(|(_, object)| leaves(object));
            Some((actor, (stored(tree.world())?, stored(after.world()))))
        });
        Some(Self {
            of: of.collect::<Option<_>>()?,
        })
    }

    /// Returns whether an actor changes a value, named by the end of its place, from one to another.
    fn changes(&self, actor: usize, name: &str, from: Value, to: Value) -> bool {
        let Some((before, Some(after))) = self.of.get(&actor) else {
            return false;
        };
        let value = |leaves: &Leaves| {
            let place = leaves
                .keys()
                .find(|place| place.last().is_some_and(|it| it == name));
            place
                .and_then(|place| leaves.get(place).cloned())
                .unwrap_or_default()
        };
        value(before) == from && value(after) == to
    }

    /// Returns whether an actor adds something at a place with a word in it.
    fn adds(&self, actor: usize, word: &str) -> bool {
        let Some((before, Some(after))) = self.of.get(&actor) else {
            return false;
        };
        let has = |(place, value): (&Vec<String>, &Value)| {
            place.join("/").contains(word) || value.to_string().contains(word)
        };
        !before.iter().any(has) && after.iter().any(has)
    }

    fn replicas(&self, actor: usize, to: u64) -> bool {
        self.changes(actor, "replicas", 3.into(), to.into())
    }
}

pub const PAIRS: &[(&str, ConditionOf<Pair>)] = &[
    ("pair_different_fields_says", |_, it| {
        let image = it.changes(1, "image", json!("nginx:1.14.2"), json!("nginx:1.25"));
        Some(it.replicas(0, 5) && image)
    }),
    ("pair_same_field_says", |_, it| {
        Some(it.replicas(0, 5) && it.replicas(1, 2))
    }),
    ("pair_same_value_says", |_, it| {
        Some(it.replicas(0, 5) && it.replicas(1, 5))
    }),
    ("pair_two_items_says", |_, it| {
        Some(it.adds(0, "sidecar") && it.adds(1, "proxy"))
    }),
    ("pair_list_without_keys_says", |_, it| {
        Some(it.adds(0, "--verbose") && it.adds(1, "--debug"))
    }),
    ("pair_same_item_says", |_, it| {
        let changed = |actor: usize, name: &str| {
            let (before, after) = it.of.get(&actor)?;
            let after = after.as_ref()?;
            let mut places = after
                .iter()
                .filter(|(place, value)| before.get(*place) != Some(value));
            Some(places.any(|(place, _)| place.last().is_some_and(|it| it == name)))
        };
        Some(changed(0, "image")? && changed(1, "imagePullPolicy")?)
    }),
    ("pair_delete_and_edit_says", |_, it| {
        let (_, after) = it.of.get(&1)?;
        Some(it.replicas(0, 5) && after.is_none())
    }),
    ("pair_spec_and_status_says", |_, it| {
        let (before, after) = it.of.get(&1)?;
        let ready = after.as_ref()?.iter().any(|(place, value)| {
            place.first().is_some_and(|it| it == "status")
                && *value == 3
                && before.get(place) != Some(value)
        });
        Some(it.replicas(0, 5) && ready)
    }),
];

/// Says each pair.
pub fn pairs(hearing: &mut Hearing) {
    let conditions: Conditions<Pair> = PAIRS.iter().copied().collect();
    for preset in &PRESETS {
        let about = Pair::new(preset).expect("the pair can be tried");
        let (_, says) = said_of::pair(preset).expect("the pair has messages");
        hearing.hear(&says, &conditions, &about, &|| {
            format!("   {}", preset.slug)
        });
    }
}

/// The names of all messages that have a condition here.
pub fn names() -> Vec<&'static str> {
    let inside = INSIDE.iter().map(|(name, _)| *name);
    inside.chain(PAIRS.iter().map(|(name, _)| *name)).collect()
}
