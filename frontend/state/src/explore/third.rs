//! The task of a third actor and the way of writing of each one, as people choose them.

use optimist_client::Preset;
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
        match ThirdActor::named(slug) {
            Some(third) => Some(ThirdActorChoice::Preset(third)),
            None => Some(ThirdActorChoice::OfPlay).filter(|it| it.slug() == slug),
        }
    }
}

/// The way of writing of an actor in the mixed row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MixedWay {
    /// A write method, by its position.
    Method(u8),
    /// A tool, which reads as it does.
    Tool(Preset),
}
