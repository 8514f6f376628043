//! What the page says in its own words.

use optimist_apiserver::apply::{Path, PathElement};
use optimist_client::Strategy;
use optimist_simulation::explore::{
    EditEffect, Intent, Search, StateId, Tally, Transition, TransitionId, TransitionKind,
    WriteMethod,
};
use optimist_simulation::verdict::{Loss, RefusalKind, Replaced, Verdict};
use serde_json::Value;

use super::model::{ExploreModel, RowState, StopReason};
use optimist_messages::{edit, field, value as brief};

/// The letter of an actor.
pub(super) fn letter(actor: usize) -> &'static str {
    ["A", "B", "C"].get(actor).copied().unwrap_or("?")
}

/// The class of an actor.
pub(super) fn slug(actor: usize) -> &'static str {
    ["a", "b", "c"].get(actor).copied().unwrap_or("c")
}

/// The class of a verdict.
pub(super) fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::InObject => "kept",
        Verdict::Replaced => "replaced",
        Verdict::LeftOut => "left-out",
        Verdict::Refused => "refused",
        Verdict::Lost => "lost",
    }
}

/// What a way of writing is called by itself.
pub(super) fn way(way: &WriteMethod) -> String {
    match way.name.strip_prefix("… + ") {
        Some(rest) => format!("Update with resourceVersion + {rest}"),
        None => way.name.to_owned(),
    }
}

/// What a verdict is called at the end of a count.
pub(super) fn ending(verdict: Verdict, actors: usize) -> &'static str {
    match verdict {
        Verdict::InObject if actors == 2 => "have both edits in the object",
        Verdict::InObject => "have all edits in the object",
        Verdict::Replaced => "replace an edit knowingly",
        Verdict::LeftOut => "leave an edit out",
        Verdict::Refused => "refuse somebody",
        Verdict::Lost => "lose an update",
    }
}

/// The same for one history.
pub(super) fn ending_of_one(verdict: Verdict, actors: usize) -> &'static str {
    match verdict {
        Verdict::InObject if actors == 2 => "has both edits in the object",
        Verdict::InObject => "has all edits in the object",
        Verdict::Replaced => "replaces an edit knowingly",
        Verdict::LeftOut => "leaves an edit out",
        Verdict::Refused => "refuses somebody",
        Verdict::Lost => "loses an update",
    }
}

/// A count that people can read: `12,698,730`, `8.4·10¹⁸`. What cannot be counted any more is
/// `more than` that.
pub(super) fn number(count: u128) -> String {
    const MOST_DIGITS: u32 = 12;
    if count >= 10u128.pow(MOST_DIGITS) {
        let digits = count.ilog10();
        let lead = count / 10u128.pow(digits - 1);
        let power: String = digits
            .to_string()
            .chars()
            .filter_map(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit.to_digit(10)? as usize))
            .collect();
        let more = if count == u128::MAX { "more than " } else { "" };
        return format!("{more}{}.{}·10{power}", lead / 10, lead % 10);
    }
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn histories(count: u128) -> String {
    match count {
        1 => "1 history".to_owned(),
        count => format!("{} histories", number(count)),
    }
}

pub(super) fn heading(model: &ExploreModel) -> String {
    let actors = if model.setup.actors() == 2 {
        "two"
    } else {
        "three"
    };
    format!("Same {actors} edits, every possible order")
}

/// What the search came to, for those who hear the page.
pub(super) fn announcement(model: &ExploreModel) -> String {
    if model.turn.is_running() {
        return String::new();
    }
    model.chosen_row().map_or_else(String::new, |row| {
        format!(
            "{}: {}",
            model.name(model.chosen),
            summary(&row.tally, model.setup.actors())
        )
    })
}

/// `6 histories · 4 lose an update`.
pub(super) fn summary(tally: &Tally, actors: usize) -> String {
    let total = tally.total();
    let mut parts = vec![histories(total)];
    for verdict in Verdict::ALL.into_iter().rev() {
        let count = tally.of(verdict);
        if count == 0 {
            continue;
        }
        parts.push(if count == total && total > 1 {
            format!("all {}", ending(verdict, actors))
        } else if count == 1 {
            format!("1 {}", ending_of_one(verdict, actors))
        } else {
            format!("{} {}", number(count), ending(verdict, actors))
        });
    }
    parts.join(" · ")
}

/// What the steps inside a request show.
pub(super) fn inside(model: &ExploreModel) -> Option<&'static str> {
    use Strategy::{Apply, JsonPatch, MergePatch, StrategicMergePatch, Update};
    let way = model.chosen_way().filter(|_| model.setup.micro_steps)?;
    Some(
        match (way.write.strategy, way.write.send_resource_version) {
            (Update, true) => {
                "Inside a request the server reads the object, compares the version that was sent, \
             validates, and puts only if nothing has changed since it read. If something has, it \
             reads again, and then the version sent is an old one: 409."
            }
            (Update, false) => {
                "Inside a request the server reads the object, validates, and puts only if nothing has \
             changed since it read. If something has, it reads again and puts the same body over \
             that: no version was sent to object."
            }
            (_, true) => {
                "Inside a request the server reads the object, applies the patch, compares the version \
             in it, and puts only if nothing has changed since it read. If something has, it reads \
             again, and then the version in the patch is an old one: 409."
            }
            (MergePatch | StrategicMergePatch | JsonPatch | Apply, false) => {
                "Inside a request the server reads the object, applies the patch, validates, and puts \
             only if nothing has changed since it read. If something has, it reads again and \
             applies the patch anew: a patch says what to change, so the server can retry it. An \
             Update with a version it cannot."
            }
        },
    )
}

/// Why a search stopped.
pub(super) fn stopped(state: &RowState, states: usize) -> Option<String> {
    Some(match state {
        RowState::Stopped(StopReason::States, _) => {
            format!("Stopped at {} states", number(states as u128))
        }
        RowState::Stopped(StopReason::Time, _) => "Stopped after 10 seconds".to_owned(),
        RowState::Cancelled => "Cancelled".to_owned(),
        RowState::Impossible(why) => format!("Cannot begin so: {why}"),
        _ => return None,
    })
}

/// The verb that an actor's write is seen as.
pub(super) fn verb(search: &Search, actor: usize) -> &'static str {
    let plan = search.scenario().plans.get(actor);
    plan.map_or("", |plan| match (&plan.intent, plan.write.strategy) {
        (Intent::Delete, _) => "DELETE",
        (_, Strategy::Update) => "PUT",
        (_, Strategy::Apply) => "APPLY",
        _ => "PATCH",
    })
}

/// A step on the map: `GET`, `PUT 409`.
pub(super) fn step(search: &Search, edge: &Transition) -> String {
    let verb = verb(search, edge.actor);
    match edge.what {
        TransitionKind::Read if edge.code >= 400 => format!("GET {}", edge.code),
        TransitionKind::Read => "GET".to_owned(),
        TransitionKind::ServerReads => format!("{verb}: server reads"),
        TransitionKind::ServerReadsAgain => "server reads again".to_owned(),
        TransitionKind::Write if edge.code >= 400 => format!("{verb} {}", edge.code),
        TransitionKind::Write => verb.to_owned(),
    }
}

/// The same where there is little room; of a step inside a request only what the server does.
pub(super) fn label(search: &Search, edge: &Transition) -> String {
    match edge.what {
        TransitionKind::ServerReads => "reads".to_owned(),
        TransitionKind::ServerReadsAgain => "again".to_owned(),
        TransitionKind::Write if search.scenario().micro_steps && edge.code < 400 => {
            "puts".to_owned()
        }
        _ => step(search, edge),
    }
}

/// The steps of a history: `A GET · B GET · A PUT · B PUT`.
pub(super) fn steps(search: &Search, path: &[TransitionId]) -> String {
    let edges = path.iter().filter_map(|id| search.edges().get(*id));
    let steps = edges.map(|edge| format!("{} {}", letter(edge.actor), step(search, edge)));
    steps.collect::<Vec<_>>().join(" · ")
}

/// A loss: `B's PUT undid A's replicas = 5, unread`.
pub(super) fn loss(search: &Search, loss: &Loss<u8>) -> String {
    let (owner, culprit) = (usize::from(loss.owner), usize::from(loss.culprit));
    let did = if loss.edit.path.0.is_empty() {
        "made anew what"
    } else if loss.blind {
        "overwrote blindly"
    } else {
        "undid"
    };
    if loss.edit.path.0.is_empty() {
        return format!(
            "{}'s {} {did} {} had deleted",
            letter(culprit),
            verb(search, culprit),
            letter(owner)
        );
    }
    format!(
        "{}'s {} {did} {}'s {}",
        letter(culprit),
        verb(search, culprit),
        letter(owner),
        edit(&loss.edit)
    )
}

/// How somebody was refused.
pub(super) fn refusal(how: RefusalKind) -> &'static str {
    match how {
        RefusalKind::Conflict => "409 Conflict",
        RefusalKind::Gone => "404, the object is gone",
        RefusalKind::NotPossible => "415 or 422, not possible so",
    }
}

/// How many were refused in which way: `2 by 409 Conflict, 1 by 404, the object is gone`.
pub(super) fn refusals(tally: &Tally) -> String {
    let counts = RefusalKind::ALL.map(|how| (how, tally.refused_by(how)));
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let parts: Vec<String> = counts
        .map(|(how, count)| format!("{} by {}", number(count), refusal(how)))
        .collect();
    parts.join("; ")
}

/// What was replaced by one who had been shown it: `B's retry did not look at A's replicas = 5`.
fn replaced(search: &Search, replaced: &Replaced<u8>) -> String {
    let (owner, by) = (usize::from(replaced.owner), usize::from(replaced.by));
    let (owner, by, verb) = (letter(owner), letter(by), verb(search, by));
    if replaced.edit.path.0.is_empty() {
        return format!("{by}'s {verb} made anew what {owner} had deleted, and {by} knew");
    }
    let edit = edit(&replaced.edit);
    if replaced.retry {
        format!("replaced: {by}'s retry did not look at {owner}'s {edit}")
    } else if verb == "DELETE" {
        format!("{by} had read {owner}'s {edit}, and deleted the object")
    } else {
        format!("{by} had read {owner}'s {edit}, and replaced it")
    }
}

/// What an ending came to, beyond its verdict.
pub(super) fn because(search: &Search, end: StateId) -> String {
    let Some(moment) = search.moment(end) else {
        return String::new();
    };
    let mut parts: Vec<String> = Vec::new();
    for found in moment.losses() {
        let text = loss(search, found);
        if !parts.contains(&text) {
            parts.push(text);
        }
    }
    for found in moment.replaced() {
        let text = replaced(search, found);
        if !parts.contains(&text) {
            parts.push(text);
        }
    }
    let mut refused: Vec<(usize, RefusalKind)> = moment
        .refused()
        .iter()
        .map(|(who, how)| (usize::from(*who), *how))
        .collect();
    refused.sort_unstable();
    for (who, how) in refused {
        parts.push(format!("{} was refused: {}", letter(who), refusal(how)));
    }
    parts.join("; ")
}

/// A state, for those who look at it.
pub(super) fn state(search: &Search, id: StateId, outlook: Option<&Tally>) -> Vec<String> {
    let Some(moment) = search.moment(id) else {
        return Vec::new();
    };
    let mut text = Vec::new();
    let actors = search.scenario().plans.len();
    let people: Vec<String> = (0..actors)
        .map(|actor| {
            let who = letter(actor);
            if moment.is_done(actor) {
                let refused = moment
                    .refused()
                    .iter()
                    .any(|(i, _)| usize::from(*i) == actor);
                return if refused {
                    format!("{who} gave up")
                } else {
                    format!("{who} is done")
                };
            }
            match moment.copy(actor) {
                None => format!("{who} has not read"),
                Some((_, true)) => format!("{who}'s copy is current"),
                Some((_, false)) => format!("{who}'s copy is stale"),
            }
        })
        .collect();
    text.push(format!("{}.", people.join(", ")));
    let values = contested(search);
    let stored = match moment.stored() {
        None => "Stored: nothing, the object is deleted.".to_owned(),
        Some(object) => {
            let values: Vec<String> = values
                .iter()
                .map(|path| format!("{} {}", field(path), found(path, object)))
                .collect();
            format!("Stored: {}.", values.join(", "))
        }
    };
    text.push(stored);
    let why = because(search, id);
    if !why.is_empty() {
        text.push(format!("{why}."));
    }
    if let Some(outlook) = outlook.filter(|_| !moment.is_end()) {
        let through = moment.histories().saturating_mul(outlook.total());
        let verdicts = Verdict::ALL
            .into_iter()
            .filter(|verdict| outlook.of(*verdict) > 0);
        let ends: Vec<String> = verdicts
            .map(|verdict| {
                let count = moment.histories().saturating_mul(outlook.of(verdict));
                if count == 1 {
                    format!("1 {}", ending_of_one(verdict, actors))
                } else {
                    format!("{} {}", number(count), ending(verdict, actors))
                }
            })
            .collect();
        text.push(format!(
            "{} of {} pass here: {}.",
            number(through),
            histories(search.tally().total()),
            ends.join(", ")
        ));
    } else if moment.is_end() {
        text.push(format!(
            "{} of {} end here.",
            number(moment.histories()),
            histories(search.tally().total())
        ));
    }
    text
}

fn found(path: &Path, object: &Value) -> String {
    match path.find(object) {
        None => "absent".to_owned(),
        Some(Value::Object(_)) if matches!(path.0.last(), Some(PathElement::Key(_))) => {
            "there".to_owned()
        }
        Some(_) if matches!(path.0.last(), Some(PathElement::Value(_))) => "there".to_owned(),
        value => brief(value),
    }
}

/// The fields that are changed by anybody, each once.
fn contested(search: &Search) -> Vec<Path> {
    let mut paths: Vec<Path> = Vec::new();
    for plan in &search.scenario().plans {
        let Intent::Change(changes) = &plan.intent else {
            continue;
        };
        for change in changes {
            if !paths.contains(&change.path) {
                paths.push(change.path.clone());
            }
        }
    }
    paths
}

/// A step, for those who look at it.
pub(super) fn edge(search: &Search, edge: &Transition) -> Vec<String> {
    let who = letter(edge.actor);
    let verb = verb(search, edge.actor);
    let version = search
        .moment(edge.from)
        .and_then(|moment| moment.copy(edge.actor));
    let stale = matches!(version, Some((_, false)));
    let mut text = vec![match (edge.what, edge.effect) {
        (TransitionKind::Read, EditEffect::GivesUp) => {
            format!(
                "{who} reads: {}, the object is gone. {who} gives up.",
                edge.code
            )
        }
        (TransitionKind::Read, _) => format!("{who} reads the object. That locks nothing."),
        (TransitionKind::ServerReads, _) => format!(
            "The server takes in {who}'s {verb}: it reads the object, works out the new one and \
             validates it. Nothing is put yet."
        ),
        (TransitionKind::ServerReadsAgain, _) => format!(
            "The object changed while {who}'s {verb} was at work, so the compare fails. \
             The server reads again and works it out anew; {who} never hears of it."
        ),
        (TransitionKind::Write, EditEffect::GivesUp) => {
            format!(
                "{who}'s {verb} is refused with {}, and {who} gives up.",
                edge.code
            )
        }
        (TransitionKind::Write, EditEffect::Refused) => {
            format!(
                "{who}'s {verb} is refused with {}, and {who} tries again.",
                edge.code
            )
        }
        (TransitionKind::Write, _) if search.scenario().micro_steps => format!(
            "The object is still as the server read it for {who}'s {verb}: the compare holds, \
             and it puts."
        ),
        (TransitionKind::Write, _) if stale => {
            format!("{who}'s {verb} is accepted, though {who}'s copy is stale.")
        }
        (TransitionKind::Write, _) => format!("{who}'s {verb} is accepted."),
    }];
    if edge.effect == EditEffect::Loses {
        let known = search
            .moment(edge.from)
            .map_or(0, |moment| moment.losses().len());
        let lost = search.moment(edge.to).map(|moment| moment.losses());
        for found in lost.unwrap_or_default().iter().skip(known) {
            text.push(format!("{}. Nobody is told.", loss(search, found)));
        }
    }
    text
}
