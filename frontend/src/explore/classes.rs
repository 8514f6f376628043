//! The classes that styles know actors and verdicts by.

use optimist_simulation::ActorId;
use optimist_simulation::verdict::Verdict;

use crate::state::Lane;

/// The class of an actor: that of its lane in Play.
pub(super) fn slug(actor: ActorId) -> &'static str {
    Lane::Editor(actor).slug()
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
