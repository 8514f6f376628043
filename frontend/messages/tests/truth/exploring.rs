//! Explore: what it says of a state and of a step is checked in the same history of Play, over what
//! was sent, answered and stored there.

use optimist_apiserver::object::Metadata;
use optimist_client::WriteMethod;
use optimist_messages::explore as said_of;
use optimist_simulation::explore::{
    ExplorePreset, PRESETS, Plan, Scenario, Search, SearchStatus, ThirdActor, replayed,
};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{ActorId, HistoryTree, World};

use super::caption::Condition;
use super::edits_named::{begins, brief, is_edit};
use super::judge::Gone;
use super::moment::{Moment, actor_of, version};
use super::random::Random;
use super::said::Said;

pub const SEARCH: &[(&str, Condition)] = &[
    ("progress_not_read", |said, at| {
        Some(at.world().copy(actor(said, at)?).read().is_none())
    }),
    ("progress_current", |said, at| {
        Some(at.copy_version(actor(said, at)?)? == at.version().to_string())
    }),
    ("progress_stale", |said, at| {
        Some(at.copy_version(actor(said, at)?)? != at.version().to_string())
    }),
    ("progress_done", |said, at| Some(last_code(said, at)? < 400)),
    ("progress_gave_up", |said, at| {
        Some(last_code(said, at)? >= 400)
    }),
    ("stored_nothing", |_, at| Some(at.stored().is_none())),
    ("stored_values", |said, at| {
        let stored = super::judge::leaves(at.stored()?);
        let values = said.text("values");
        let holds = |part: &str| {
            let Some((field, value)) = part.rsplit_once(' ') else {
                return true;
            };
            match value {
                // Two fields may have one name.
                "absent" => {
                    let named = format!("{field} ");
                    let mut others = values.split(", ").filter(|other| **other != *part);
                    others.any(|other| other.starts_with(&named))
                        || !stored
                            .keys()
                            .any(|place| place.last().is_some_and(|it| it == field))
                }
                "present" => stored
                    .keys()
                    .any(|place| super::judge::names(place).iter().any(|it| it == field)),
                _ => {
                    stored.iter().any(|(place, found)| {
                        super::judge::names(place).iter().any(|it| it == field)
                            && begins(&brief(found), value)
                    }) || value.contains(['[', ']', '{', '…'])
                }
            }
        };
        Some(values.split(", ").all(holds))
    }),
    ("reads_deleted", |said, at| {
        let code = at.exchange()?.code == said.number("code")? as u16;
        Some(
            code && code_is(at, |code| code >= 400)
                && at.stored().is_none()
                && by(said, "actor", at)?,
        )
    }),
    ("reads", |said, at| {
        Some(at.exchange()?.method == "GET" && at.accepted() && by(said, "actor", at)?)
    }),
    ("gives_up", refuses),
    ("tries_again", refuses),
    ("accepted", |said, at| {
        Some(at.accepted() && sends(said, "actor", at)?)
    }),
    ("accepted_stale", |said, at| {
        let before = at.last()?.before;
        let copy = before
            .copy(actor(said, at)?)
            .read()?
            .resource_version()
            .to_owned();
        let stale = at
            .stored_before()
            .map(version)
            .unwrap_or_default()
            .to_string()
            != copy;
        Some(at.accepted() && stale && sends(said, "actor", at)?)
    }),
    ("search_recreated", |said, at| {
        took(said, at, |gone| gone.place.is_empty() && !gone.shown)
    }),
    ("search_recreated_knowingly", |said, at| {
        took(said, at, |gone| gone.place.is_empty() && gone.shown)
    }),
    ("search_overwrote", |said, at| took_edit(said, at, false)),
    ("search_deleted", |said, at| took_edit(said, at, false)),
    ("search_undid", |said, at| took_edit(said, at, false)),
    ("search_replaced", |said, at| took_edit(said, at, true)),
    ("search_replaced_delete", |said, at| {
        took_edit(said, at, true)
    }),
    ("search_replaced_retry", |said, at| {
        let by = at.named(&said.text("by"))?;
        let mut steps = at.so_far.iter().map(|it| it.step);
        let refused = steps.any(|step| {
            let code = step.exchange.as_ref().map(|sent| sent.code);
            actor_of(&step.operation) == Some(by) && code == Some(409)
        });
        Some(refused && took_edit(said, at, true)?)
    }),
    ("search_refused", |said, at| {
        let who = actor(said, at)?;
        let how = said.inner("how")?.name();
        let mut answers = at
            .so_far
            .iter()
            .filter(|it| actor_of(&it.step.operation) == Some(who));
        Some(answers.any(|it| {
            let code = it.step.exchange.as_ref().map_or(0, |sent| sent.code);
            match how {
                "refusal_conflict" => code == 409,
                "refusal_gone" => code == 404,
                _ => code >= 400,
            }
        }))
    }),
    ("refusal_conflict", |_, at| {
        Some(any_answer(at, |code| code == 409))
    }),
    ("refusal_gone", |_, at| {
        Some(any_answer(at, |code| code == 404))
    }),
    ("refusal_not_possible", |_, at| {
        Some(any_answer(at, |code| {
            code >= 400 && code != 409 && code != 404
        }))
    }),
    ("not_told", |_, at| {
        Some(at.accepted() && at.judge().gone().iter().any(|gone| !gone.shown))
    }),
];

fn actor(said: &Said, at: &Moment<'_>) -> Option<ActorId> {
    at.named(&said.text("actor"))
}

fn by(said: &Said, argument: &str, at: &Moment<'_>) -> Option<bool> {
    Some(at.actor()? == at.named(&said.text(argument))?)
}

fn code_is(at: &Moment<'_>, is: impl Fn(u16) -> bool) -> bool {
    at.exchange().is_some_and(|sent| is(sent.code))
}

fn any_answer(at: &Moment<'_>, is: impl Fn(u16) -> bool) -> bool {
    let mut answers = at.so_far.iter().filter_map(|it| it.step.exchange.as_ref());
    answers.any(|sent| is(sent.code))
}

/// Returns whether the last request is what an actor is said to send.
fn sends(said: &Said, argument: &str, at: &Moment<'_>) -> Option<bool> {
    let verb = said.text("verb");
    let method = at.exchange()?.method.as_str();
    let same = verb == method || (verb == "APPLY" && method == "PATCH");
    Some(same && by(said, argument, at)?)
}

fn refuses(said: &Said, at: &Moment<'_>) -> Option<bool> {
    let code = at.exchange()?.code == said.number("code")? as u16;
    Some(code && at.refused() && at.wrote_nothing() && sends(said, "actor", at)?)
}

/// The code of the last answer to an actor.
fn last_code(said: &Said, at: &Moment<'_>) -> Option<u16> {
    let who = actor(said, at)?;
    let mut steps = at.so_far.iter().rev().map(|it| it.step);
    let last = steps.find(|step| actor_of(&step.operation) == Some(who))?;
    Some(last.exchange.as_ref()?.code)
}

/// Returns whether some step of an actor took away an edit of its owner.
fn took(said: &Said, at: &Moment<'_>, is: impl Fn(&Gone) -> bool) -> Option<bool> {
    let (by, owner) = (at.named(&said.text("by"))?, at.named(&said.text("owner"))?);
    Some((1..=at.so_far.len()).any(|end| {
        let then = at.until(end);
        then.actor() == Some(by)
            && then
                .judge()
                .gone()
                .iter()
                .any(|gone| gone.owner == owner && is(gone))
    }))
}

fn took_edit(said: &Said, at: &Moment<'_>, shown: bool) -> Option<bool> {
    took(said, at, |gone| {
        gone.shown == shown && is_edit(said, "edit", &gone.place, gone.value.as_ref())
    })
}

/// Checks what Explore says of random states and steps of one scenario. `hear` gets each text with
/// the tree in which it can be seen whether it is true.
pub fn search(seed: u64, hear: &mut dyn FnMut(&HistoryTree, &str)) {
    let mut random = Random::new(seed);
    let Some((preset, scenario)) = scenario(&mut random) else {
        return;
    };
    let mut search = Search::new(scenario, 4000);
    if search.run() != SearchStatus::Done {
        return;
    }
    let start = HistoryTree::new(World::load(preset.manifest).expect("a preset loads").0);
    if let Some(end) = search.shortest(Verdict::Lost) {
        let path = search.path_to(end);
        let tree = replayed(&search, &path, search.deciding(&path), start.clone());
        let text = said_of::shortest_loss(&search);
        hear(&tree, &text.expect("an order loses an edit"));
    }
    for _ in 0..6 {
        let edge = random.below(search.edges().len());
        let transition = search.edges()[edge];
        let mut path = search.path_to(transition.from);
        path.push(edge);
        let tree = replayed(&search, &path, path.len(), start.clone());
        for text in said_of::transition(&search, &transition) {
            hear(&tree, &text);
        }
        let id = random.below(search.states());
        let path = search.path_to(id);
        let tree = replayed(&search, &path, path.len(), start.clone());
        hear(&tree, &said_of::because(&search, id));
        for text in said_of::state(&search, id, None) {
            hear(&tree, &text);
        }
    }
}

/// A random pair of edits and how they are written.
pub fn scenario(random: &mut Random) -> Option<(&'static ExplorePreset, Scenario)> {
    let preset = random.choose(&PRESETS);
    let mut scenario = preset.scenario().ok()?;
    if random.once_in(3) {
        scenario
            .plans
            .push(random.choose(&ThirdActor::EDITORS).plan(&scenario));
    }
    for plan in &mut scenario.plans {
        if random.once_in(4) {
            *plan = plan.clone().by_tool(*random.choose(&Plan::TOOLS));
        }
    }
    let ways: Vec<WriteMethod> = scenario
        .plans
        .iter()
        .map(|_| *random.choose(&WriteMethod::MATRIX))
        .collect();
    let scenario = scenario.in_ways(&ways, 3).ok()?;
    // The request that sets the owners is nobody's write: the judge here knows no such request.
    scenario.settling.is_none().then_some((preset, scenario))
}
