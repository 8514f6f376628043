//! The watch: the state of its connection, and the results of its steps.

use optimist_simulation::{
    Connection, ExplanationKind as Kind, Operation, Outcome, Received, Step, WatchAction,
    WatchReason, World,
};

use crate::caption::Caption;
use crate::en;

/// Returns the sentence of the stream before there is anything in it.
pub fn empty() -> String {
    en::watch_empty()
}

/// Returns `rv 101`, or the name of an error.
pub fn version(received: &Received) -> String {
    let status = received.status_line();
    status.unwrap_or_else(|| en::version(&received.version))
}

/// An event in a line: `MODIFIED · rv 101`.
pub fn event(received: &Received) -> String {
    en::event(&received.event.event_type, &version(received))
}

/// A version that was seen, or a word for none.
fn seen_version(seen: &str) -> String {
    match seen {
        "" => en::nothing(),
        seen => seen.to_owned(),
    }
}

/// Says the state of the watcher's connection.
pub fn connection(world: &World) -> String {
    let watcher = world.watcher();
    let seen = seen_version(watcher.last_version());
    let missed = || match world.missed() {
        0 => en::missed_none(),
        missed => en::missed(&missed),
    };
    match watcher.connection() {
        Connection::None => en::watch_none(),
        Connection::Open { from } if from.is_empty() => en::watch_open_now(&seen),
        Connection::Open { from } => en::watch_open(from, &seen),
        Connection::Dropped => en::watch_dropped(&seen, &missed()),
        Connection::Closed => en::watch_closed(&seen, &missed()),
        Connection::Failed { code: 410, .. } => en::watch_expired(),
        Connection::Failed { code, message } => en::watch_failed(code, message),
        Connection::Listed => en::watch_listed(&seen),
    }
}

/// Captions an operation of the watcher, a compaction or the clock.
pub(crate) fn caption(kind: &Kind) -> Caption {
    let (title, text) = match kind {
        Kind::ConnectionDropped { seen } => {
            (en::dropped_title(), en::dropped_text(&seen_version(seen)))
        }
        Kind::Listed { version } => (en::listed_title(version), en::listed_text()),
        Kind::WatchesAfterList { seen } => (
            en::after_list_title(&seen_version(seen)),
            en::after_list_text(),
        ),
        Kind::Resumed { missed: 0 } => (en::resumed_none_title(), en::resumed_text()),
        Kind::Resumed { missed } => (en::resumed_title(missed), en::resumed_text()),
        Kind::WatchOpened { from: None } => (en::opened_now_title(), en::opened_now_text()),
        Kind::WatchOpened { from: Some(from) } => (en::opened_title(from), en::opened_text(from)),
        Kind::Compacted {
            version,
            restart: true,
        } => (
            en::compacted_title(version),
            en::compacted_restart_text(version),
        ),
        Kind::Compacted { version, .. } => {
            (en::compacted_title(version), en::compacted_text(version))
        }
        Kind::Waited { seconds } => (en::waited_title(seconds), en::waited_text()),
        Kind::Expired => (en::expired_title(), en::expired_text()),
        Kind::WatchRefused => (en::watch_refused_title(), en::watch_refused_text()),
        _ => return Caption::default(),
    };
    Caption::new(title, [text])
}

/// Says the reason for the result of a watch's step.
pub fn reason(reason: WatchReason) -> String {
    match reason {
        WatchReason::ClientKnows => en::why_client_knows(),
        WatchReason::NotOlder => en::why_not_older(),
        WatchReason::ExistingFirst => en::why_existing_first(),
        WatchReason::NoGap => en::why_no_gap(),
        WatchReason::Gap => en::why_gap(),
        WatchReason::CompactedWithRestart => en::why_compacted_restart(),
        WatchReason::WatchCache => en::why_watch_cache(),
    }
}

/// Says the answer in the timeline.
pub(crate) fn answer(step: &Step) -> String {
    let line = step.status_line();
    match (&step.operation, step.outcome()) {
        (_, Outcome::Refused) => line,
        (Operation::Watch(WatchAction::List), _) => {
            let listed = step
                .exchange
                .as_ref()
                .and_then(|exchange| exchange.answered_version());
            match listed {
                Some(version) => en::answer_version(&line, &version),
                None => line,
            }
        }
        (Operation::Watch(WatchAction::Open(_) | WatchAction::Resume), _) => {
            en::answer_stream(&line)
        }
        _ => String::new(),
    }
}

/// Says the events that a step brought the watcher, for those who hear the page.
pub(crate) fn spoken(step: &Step) -> String {
    const MAX_EVENTS: usize = 5;
    let events = step.arrived.iter().take(MAX_EVENTS);
    let mut spoken: String = events
        .map(|received| en::spoken_received(&event(received)))
        .collect();
    if step.arrived.len() > MAX_EVENTS {
        spoken.push_str(&en::spoken_more(&(step.arrived.len() - MAX_EVENTS)));
    }
    spoken
}
