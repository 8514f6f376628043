//! The classes that styles know actors and verdicts by.

use optimist_simulation::ActorId;
use optimist_simulation::verdict::Verdict;

/// The class of an actor.
pub(super) fn slug(actor: ActorId) -> &'static str {
    match actor {
        ActorId::A => "a",
        ActorId::B => "b",
        ActorId::C => "c",
        ActorId::D => "d",
        ActorId::E => "e",
        ActorId::F => "f",
    }
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
