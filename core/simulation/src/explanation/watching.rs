//! Explanations of the watcher's steps, of compactions and of the clock.

use super::{Explanation, ExplanationKind, Suggestion};
use crate::{HistoryTree, Operation, Outcome, Step, WatchAction};
use optimist_apiserver::storage::Revision;

/// The reason for the result of a watch's step, or of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchReason {
    /// Only the client of a watch knows how far it came.
    ClientKnows,
    /// A list that is not older than the version last seen.
    NotOlder,
    /// A watch without a version begins with the objects that exist.
    ExistingFirst,
    /// The server has every change after the version.
    NoGap,
    /// The server no longer has every change after the version: it answered 410.
    Gap,
    /// A compaction, after which the server filled its watch cache with a new list.
    CompactedWithRestart,
    /// Watches are served from the watch cache, which compaction does not change.
    WatchCache,
}

/// Explains a step of the watcher.
pub(super) fn watched(tree: &HistoryTree, step: &Step, action: &WatchAction) -> Explanation {
    use ExplanationKind as Kind;
    if step.outcome() == Outcome::Refused {
        return refused(step);
    }
    let seen = || tree.world().watcher().last_version().to_owned();
    let asked = step.asked_version();
    let (kind, next) = match action {
        WatchAction::Drop => (
            Kind::ConnectionDropped { seen: seen() },
            Suggestion::ChangeThenResume,
        ),
        WatchAction::List => {
            let exchange = step.exchange.as_ref();
            let listed = exchange.and_then(|exchange| exchange.answered_version()?.parse().ok());
            let version = listed.unwrap_or_default();
            (Kind::Listed { version }, Suggestion::ResumeFromList)
        }
        // A watcher that saw nothing has no version to resume from.
        WatchAction::Resume if begins_with_what_exists(asked) => {
            (Kind::WatchOpened { from: None }, Suggestion::ChangeOrDrop)
        }
        WatchAction::Resume if follows_list(tree) => (
            Kind::WatchesAfterList {
                seen: asked.to_owned(),
            },
            Suggestion::ChangeForStream,
        ),
        WatchAction::Resume => {
            let missed = step.arrived.len();
            (Kind::Resumed { missed }, Suggestion::MakeExpired)
        }
        WatchAction::Open(from) => {
            let from = (!begins_with_what_exists(from)).then(|| from.clone());
            (Kind::WatchOpened { from }, Suggestion::ChangeOrDrop)
        }
    };
    // A version that does not exist yet: the stream begins with a change that is still to come.
    let later = asked
        .parse()
        .is_ok_and(|asked: Revision| asked > step.revision);
    let next = if later {
        Suggestion::OtherVersion
    } else {
        next
    };
    Explanation::new(kind, next)
}

/// Explains that etcd was compacted.
pub(super) fn compacted(tree: &HistoryTree, step: &Step, restart: bool) -> Explanation {
    let version = step.revision;
    let world = tree.world();
    let cache = world.server().watch_cache(world.resource());
    let oldest = cache.map_or(version, |cache| cache.watchable_from());
    let next = match world.revisions().next() {
        Some(first) if first >= oldest && first < version => Suggestion::OpenThenRestart,
        _ => Suggestion::OpenBefore(oldest),
    };
    Explanation::new(ExplanationKind::Compacted { version, restart }, next)
}

fn refused(step: &Step) -> Explanation {
    let mut arrived = step.arrived.iter();
    if arrived.any(|received| received.is_expired()) {
        return Explanation::new(ExplanationKind::Expired, Suggestion::ListAgain);
    }
    Explanation::new(ExplanationKind::WatchRefused, Suggestion::OtherVersion)
}

/// A watch from no version, or from `0`, begins with an ADDED for each object.
fn begins_with_what_exists(from: &str) -> bool {
    from.is_empty() || from == "0"
}

/// Returns whether the step before the current one got a list.
fn follows_list(tree: &HistoryTree) -> bool {
    let before = tree.position().checked_sub(1);
    let before = before.and_then(|before| tree.current_path().get(before).copied());
    before.and_then(|node| tree.step(node)).is_some_and(|step| {
        step.operation == Operation::Watch(WatchAction::List) && step.outcome() == Outcome::Read
    })
}

impl Step {
    /// The version that a watch or a list asked for; empty for none.
    fn asked_version(&self) -> &str {
        let exchange = self.exchange.as_ref();
        exchange.map_or("", |exchange| exchange.asked_version())
    }

    /// Returns the reason for the result of a step that no actor took. `None` for steps of actors
    /// and of the clock, and if the server refused the step for another reason than an old version.
    pub fn reason(&self) -> Option<WatchReason> {
        if self.outcome() == Outcome::Refused {
            let mut arrived = self.arrived.iter();
            let expired = arrived.any(|received| received.is_expired());
            return expired.then_some(WatchReason::Gap);
        }
        Some(match &self.operation {
            Operation::Watch(WatchAction::Drop) => WatchReason::ClientKnows,
            Operation::Watch(WatchAction::List) => WatchReason::NotOlder,
            Operation::Watch(_) if begins_with_what_exists(self.asked_version()) => {
                WatchReason::ExistingFirst
            }
            Operation::Watch(_) => WatchReason::NoGap,
            Operation::Compact { restart: true } => WatchReason::CompactedWithRestart,
            Operation::Compact { restart: false } => WatchReason::WatchCache,
            Operation::Act(..) | Operation::Wait(_) | Operation::Control(..) => return None,
        })
    }
}
