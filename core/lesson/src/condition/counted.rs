//! Conditions that say how many of something a history has.

use std::fmt;

use optimist_apiserver::yaml::{Content, Located};
use optimist_client::RequestKind;
use optimist_simulation::Outcome;
use serde_json::Value;

use super::{Assertion, Condition, GoalLabel, Past, controller};
use crate::fields::{LessonError, LessonResult, number};

/// Something that can be counted in a history.
#[derive(Debug)]
pub(super) struct Countable {
    /// Its key in the text of a lesson.
    pub(super) key: &'static str,
    /// The counted things, in the plural.
    what: &'static str,
    /// The goal "there are none": the name of its message, and its text in English.
    none: Option<(&'static str, &'static str)>,
    /// `true` if the count can become smaller.
    falls: bool,
    count: fn(Past<'_>) -> usize,
}

/// Everything that can be counted.
pub(super) static ALL: &[Countable] = &[
    Countable {
        key: "requests",
        what: "requests",
        none: None,
        falls: false,
        count: |past| past.exchanges().count(),
    },
    // Writes that made a new version.
    Countable {
        key: "writes",
        what: "writes stored",
        none: None,
        falls: false,
        count: |past| past.count(|step| step.outcome() == Outcome::Written),
    },
    Countable {
        key: "refused",
        what: "requests refused",
        none: Some(("goal_none_refused", "no request is refused")),
        falls: false,
        count: |past| past.count(|step| step.outcome() == Outcome::Refused),
    },
    Countable {
        key: "conflicts",
        what: "conflicts",
        none: Some(("goal_no_conflict", "no conflict")),
        falls: false,
        count: |past| {
            let conflicts = past.exchanges().filter(|exchange| exchange.is_conflict());
            conflicts.count()
        },
    },
    // Acknowledged edits that vanished.
    Countable {
        key: "lost",
        what: "lost updates",
        none: Some(("goal_none_lost", "no update is lost")),
        falls: false,
        count: |past| past.steps().map(|step| step.losses.len()).sum(),
    },
    Countable {
        key: "forced",
        what: "applies with force",
        none: Some(("goal_none_forced", "nothing is forced")),
        falls: false,
        count: |past| past.forced(),
    },
    // Stored writes of any strategy that did not name the version they were made from.
    Countable {
        key: "unversioned",
        what: "writes without a version",
        none: Some(("goal_all_versioned", "every write says its version")),
        falls: false,
        count: |past| past.unversioned(|_| true),
    },
    Countable {
        key: "unversioned updates",
        what: "Updates without a version",
        none: Some(("goal_updates_versioned", "no Update without a version")),
        falls: false,
        count: |past| past.unversioned(|kind| kind == RequestKind::Update),
    },
    // They store nothing, whatever they would change.
    Countable {
        key: "dry runs",
        what: "dry runs",
        none: None,
        falls: false,
        count: |past| past.dry_runs(),
    },
    // Dropped watches and restarts.
    Countable {
        key: "interruptions",
        what: "interruptions of the controller",
        none: None,
        falls: false,
        count: controller::interruptions,
    },
    Countable {
        key: "runs",
        what: "runs of the controller",
        none: None,
        falls: false,
        count: controller::runs,
    },
    // What the handlers of the controller were told, except by the first list.
    Countable {
        key: "delivered",
        what: "events delivered",
        none: None,
        falls: false,
        count: controller::delivered,
    },
    Countable {
        key: "dropped",
        what: "events dropped by a predicate",
        none: None,
        falls: false,
        count: controller::dropped,
    },
    // Additions of a key that was queued already.
    Countable {
        key: "merged",
        what: "additions of a key that is queued already",
        none: None,
        falls: false,
        count: controller::merged,
    },
    Countable {
        key: "queued",
        what: "keys in the queue",
        none: None,
        falls: true,
        count: controller::queued,
    },
    Countable {
        key: "waiting",
        what: "keys that wait for their time",
        none: None,
        falls: true,
        count: controller::waiting,
    },
];

impl Countable {
    pub(super) fn condition(&'static self, value: &Located) -> LessonResult<Condition> {
        let count = Count::read(value)?;
        Ok(Condition::new(CountIs {
            counted: self,
            count,
        }))
    }
}

/// A count has a wanted value.
#[derive(Debug)]
struct CountIs {
    counted: &'static Countable,
    count: Count,
}

impl Assertion for CountIs {
    fn holds(&self, past: Past<'_>) -> bool {
        self.count.holds((self.counted.count)(past))
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some((self.counted.count)(past).to_string())
    }

    fn is_out_of_reach(&self, past: Past<'_>) -> bool {
        !self.counted.falls && self.count.is_exceeded_by((self.counted.count)(past))
    }

    fn denies(&self, past: Past<'_>) -> bool {
        self.count == Count::Exactly(0)
            && self.counted.none.is_some()
            && (self.counted.count)(past) > 0
    }

    fn label(&self) -> GoalLabel {
        match (self.count, self.counted.none) {
            (Count::Exactly(0), Some((message, english))) => GoalLabel {
                message,
                english,
                arguments: Vec::new(),
            },
            _ => GoalLabel::claim(self.to_string()),
        }
    }
}

impl fmt::Display for CountIs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, self.counted.what)
    }
}

/// A wanted count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// Exactly this number.
    Exactly(u64),
    /// This number or more.
    AtLeast(u64),
    /// This number or fewer.
    AtMost(u64),
}

impl Count {
    pub(super) fn holds(self, count: usize) -> bool {
        let count = count as u64;
        match self {
            Count::Exactly(n) => count == n,
            Count::AtLeast(n) => count >= n,
            Count::AtMost(n) => count <= n,
        }
    }

    /// Returns whether a count is too large. A count that never falls can then not be right again.
    pub(super) fn is_exceeded_by(self, count: usize) -> bool {
        match self {
            Count::Exactly(most) | Count::AtMost(most) => count as u64 > most,
            Count::AtLeast(_) => false,
        }
    }

    pub(super) fn read(located: &Located) -> LessonResult<Self> {
        if let Content::Scalar(Value::String(text), _) = &located.content {
            let bounded = |words: &str| text.strip_prefix(words)?.trim().parse().ok();
            if let Some(n) = bounded("at least ") {
                return Ok(Count::AtLeast(n));
            }
            if let Some(n) = bounded("at most ") {
                return Ok(Count::AtMost(n));
            }
            let message = "a number is needed here, or “at least 1”, or “at most 1”";
            return Err(LessonError::new(located.line, message));
        }
        number(located).map(Count::Exactly)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Exactly(0) => f.write_str("no"),
            Count::Exactly(n) => write!(f, "{n}"),
            Count::AtLeast(n) => write!(f, "at least {n}"),
            Count::AtMost(n) => write!(f, "at most {n}"),
        }
    }
}
