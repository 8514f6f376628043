//! The classes that styles know actors and verdicts by.

use optimist_simulation::verdict::Verdict;

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
