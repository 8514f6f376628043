//! Conditions of the watch, of compactions and of the clock.

use optimist_apiserver::object::Metadata;
use optimist_simulation::{Operation, WatchAction};

use super::caption::Condition;
use super::moment::Moment;
use super::said::Said;

pub const WATCH: &[(&str, Condition)] = &[
    ("missed_none", |_, at| Some(missed(at) == 0)),
    ("missed", |said, at| {
        Some(missed(at) as u64 == said.number("count")?)
    }),
    ("watch_none", |_, at| Some(!at.hears().unwrap_or(false))),
    ("watch_open_now", |said, at| {
        Some(at.hears().unwrap_or(true) && has_seen(said, at))
    }),
    ("watch_open", |said, at| {
        // What is asked to begin later than now begins later.
        let from = said.text("from");
        let later = from.parse::<u64>().is_ok_and(|from| from > revision(at));
        Some((later || at.hears().unwrap_or(true)) && has_seen(said, at))
    }),
    ("watch_dropped", |said, at| {
        Some(!at.hears().unwrap_or(false) && has_seen(said, at))
    }),
    ("watch_closed", |said, at| {
        let ends = |it: &super::moment::Happened<'_>| {
            matches!(
                it.step.operation,
                Operation::Compact { restart: true } | Operation::Wait(_)
            )
        };
        Some(!at.hears().unwrap_or(false) && has_seen(said, at) && at.so_far.iter().any(ends))
    }),
    ("watch_expired", |_, at| {
        Some(!at.hears().unwrap_or(false) && last_watch_code(at)? == 410)
    }),
    ("watch_failed", |said, at| {
        Some(!at.hears().unwrap_or(false) && last_watch_code(at)? == said.number("code")?)
    }),
    ("watch_listed", |said, at| {
        Some(!at.hears().unwrap_or(false) && has_seen(said, at))
    }),
    ("dropped_title", |_, at| Some(!at.hears().unwrap_or(false))),
    ("dropped_text", |said, at| Some(has_seen(said, at))),
    ("listed_title", |said, at| {
        let list = &at.exchange()?.received;
        Some(list.resource_version() == said.text("version") && at.accepted())
    }),
    ("listed_text", |_, at| {
        Some(at.last()?.step.arrived.is_empty() && !at.hears().unwrap_or(false))
    }),
    ("after_list_title", |said, at| {
        Some(asked_from(at)? == said.text("seen"))
    }),
    ("after_list_text", |_, at| {
        let list = at.so_far.iter().rev().nth(1)?.step;
        let version = list.exchange.as_ref()?.received.resource_version();
        Some(version == asked_from(at)? && brought_every_change(at)?)
    }),
    ("resumed_none_title", |_, at| {
        Some(at.accepted() && brought(at).is_empty() && brought_every_change(at)?)
    }),
    ("resumed_title", |said, at| {
        Some(brought(at).len() as u64 == said.number("count")? && brought_every_change(at)?)
    }),
    ("resumed_text", |_, at| brought_every_change(at)),
    ("opened_now_title", |_, at| brings_what_exists(at)),
    ("opened_now_text", |_, at| brings_what_exists(at)),
    ("opened_title", |said, at| {
        Some(at.accepted() && asked_from(at)? == said.text("from"))
    }),
    ("opened_text", |said, at| {
        Some(asked_from(at)? == said.text("from") && brought_every_change(at)?)
    }),
    ("compacted_title", compacted_at),
    ("pill_compacted", compacted_at),
    ("compacted_restart_text", |said, at| {
        let version = said.number("version")?;
        let ended = !at.hears().unwrap_or(false);
        let before = Moment::watch_from(at.world(), &version.checked_sub(1)?.to_string())?;
        let from = Moment::watch_from(at.world(), &version.to_string())?;
        Some(compacted_at(said, at)? && ended && before == 410 && from == 200)
    }),
    ("compacted_text", |said, at| {
        Some(compacted_at(said, at)? && serves_as_before(at)?)
    }),
    ("waited_title", |said, at| {
        let last = at.last()?;
        let time = |world: &optimist_simulation::World| world.server().environment().elapsed();
        Some((time(last.after) - time(last.before)).as_secs() == said.number("seconds")?)
    }),
    ("waited_text", |_, at| {
        let last = at.last()?;
        let open = |world: &optimist_simulation::World| world.watcher().connection().clone();
        let same = open(last.before) == open(last.after) && last.step.arrived.is_empty();
        Some(last.step.exchange.is_none() && at.wrote_nothing() && same)
    }),
    ("expired_title", |_, at| {
        Some(at.stream_error()?["code"] == 410)
    }),
    ("expired_text", |_, at| {
        Some(
            at.exchange()?.code == 200
                && brought(at).is_empty()
                && at.last()?.step.arrived.len() == 1,
        )
    }),
    ("watch_refused_title", |_, at| {
        Some(at.refused() && !at.hears().unwrap_or(false))
    }),
    ("watch_refused_text", |_, at| {
        let says = |status: &serde_json::Value| {
            status["message"].as_str().is_some_and(|it| !it.is_empty())
        };
        Some(
            at.refused() && (says(&at.exchange()?.received) || at.stream_error().is_some_and(says)),
        )
    }),
    ("why_client_knows", |_, at| {
        Some(at.last()?.step.operation == Operation::Watch(WatchAction::Drop))
    }),
    ("why_not_older", |_, at| {
        let asked = asked_from(at)?.parse::<u64>().unwrap_or_default();
        Some(
            at.accepted()
                && at
                    .exchange()?
                    .received
                    .resource_version()
                    .parse::<u64>()
                    .ok()?
                    >= asked,
        )
    }),
    ("why_existing_first", |_, at| brings_what_exists(at)),
    ("why_no_gap", |_, at| brought_every_change(at)),
    ("why_gap", |_, at| {
        let from = asked_from(at)?.parse().ok()?;
        let oldest = at
            .world()
            .server()
            .watch_cache(at.object.resource())?
            .watchable_from();
        let ended = at.last()?.step.arrived.len() == 1 && !at.hears().unwrap_or(false);
        Some(at.stream_error()?["code"] == 410 && ended && oldest > from)
    }),
    ("why_compacted_restart", |_, at| {
        Some(at.last()?.step.operation == Operation::Compact { restart: true })
    }),
    ("why_watch_cache", |_, at| serves_as_before(at)),
];

fn revision(at: &Moment<'_>) -> u64 {
    at.world().server().store().revision()
}

/// Returns how many changes of the object came after what its watcher saw last.
fn missed(at: &Moment<'_>) -> usize {
    let seen = at
        .world()
        .watcher()
        .last_version()
        .parse()
        .unwrap_or(u64::MAX - 1);
    let key = at.world().subject().key();
    let log = at.world().server().store().log_after(seen);
    log.filter(|change| *change.key == *key).count()
}

/// Returns whether the version that is named is the one that the watcher got last: of an event, of
/// a list, or the one that it asked for.
fn has_seen(said: &Said, at: &Moment<'_>) -> bool {
    let seen = match said.inner("seen") {
        Some(nothing) => {
            return nothing.name() == "nothing" && at.world().watcher().last_version().is_empty();
        }
        None => said.text("seen"),
    };
    if at.world().subjects().count() > 1 {
        return at.world().watcher().last_version() == seen;
    }
    let mut last = String::new();
    for it in &at.so_far {
        if let (Operation::Watch(action), Some(sent)) = (&it.step.operation, &it.step.exchange) {
            match action {
                WatchAction::List if sent.code < 300 => {
                    last = sent.received.resource_version().to_owned();
                }
                WatchAction::Open(version) => last.clone_from(version),
                _ => {}
            }
        }
        for event in &it.step.arrived {
            let version = event.event.object.resource_version();
            if !version.is_empty() {
                last = version.to_owned();
            }
        }
    }
    last == seen
}

/// The code of the last watch or list of the watcher: that of the stream, if it began with one.
fn last_watch_code(at: &Moment<'_>) -> Option<u64> {
    let mut steps = at.so_far.iter().rev().map(|it| it.step);
    let last = steps
        .find(|step| matches!(step.operation, Operation::Watch(_)) && step.exchange.is_some())?;
    let error = last
        .arrived
        .iter()
        .find_map(|it| it.event.object["code"].as_u64());
    error.or(last.exchange.as_ref().map(|sent| sent.code.into()))
}

/// The version that the last watch or list named; empty for none.
fn asked_from(at: &Moment<'_>) -> Option<String> {
    let (_, query) = at.exchange()?.target.split_once('?')?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let version = pairs.find(|(name, _)| *name == "resourceVersion");
    Some(
        version
            .map(|(_, version)| version.to_owned())
            .unwrap_or_default(),
    )
}

/// The versions of the events that the last step brought.
fn brought(at: &Moment<'_>) -> Vec<u64> {
    let arrived = at.last().map_or(&[][..], |last| &last.step.arrived);
    let versions = arrived.iter().filter(|it| it.version != 0);
    versions.map(|it| it.version).collect()
}

/// Returns whether the last watch brought each change after the version that it named, and no
/// other.
fn brought_every_change(at: &Moment<'_>) -> Option<bool> {
    let from: u64 = asked_from(at)?.parse().ok()?;
    let key = at.object.key();
    let log = at.world().server().store().log_after(from);
    let changes = log.filter(|change| *change.key == *key);
    let changes: Vec<u64> = changes.map(|change| change.revision).collect();
    Some(!at.refused() && brought(at) == changes)
}

/// Returns whether the last watch began with an ADDED for the object, if there is one.
fn brings_what_exists(at: &Moment<'_>) -> Option<bool> {
    let last = at.last()?;
    let kinds = last
        .step
        .arrived
        .iter()
        .map(|it| it.event.event_type.to_string());
    let stored = at.object_in(last.after).map(|_| "ADDED".to_owned());
    let named = asked_from(at)?;
    Some(kinds.eq(stored) && (named.is_empty() || named == "0") && at.accepted())
}

/// Returns whether etcd has no version before the one that is named, and the one that it had then.
fn compacted_at(said: &Said, at: &Moment<'_>) -> Option<bool> {
    let store = at.world().server().store();
    Some(store.compacted() == said.number("version")?)
}

/// Returns whether watches begin after the last step as they began before it.
fn serves_as_before(at: &Moment<'_>) -> Option<bool> {
    let last = at.last()?;
    let mut same = true;
    for version in at.changes_after(0) {
        let from = version.to_string();
        same &= Moment::watch_from(last.before, &from) == Moment::watch_from(last.after, &from);
    }
    Some(same)
}
