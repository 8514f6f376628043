//! The task of a third actor, as people choose it.

use optimist_simulation::explore::ThirdActor;

/// The task of a third actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThirdActorChoice {
    /// A preset.
    Preset(ThirdActor),
    /// The intents of the working copies of the other actors in Play.
    OfPlay,
}

impl ThirdActorChoice {
    /// Its name in links and lists.
    pub fn slug(self) -> &'static str {
        match self {
            ThirdActorChoice::Preset(third) => third.slug(),
            ThirdActorChoice::OfPlay => "play",
        }
    }

    /// The third actor with this name.
    pub fn named(slug: &str) -> Option<Self> {
        let presets = ThirdActor::EDITORS.into_iter().chain(ThirdActor::TOOLS);
        let presets = presets.map(ThirdActorChoice::Preset);
        presets
            .chain([ThirdActorChoice::OfPlay])
            .find(|third| third.slug() == slug)
    }
}
