//! Lists other ways to do what the solution of a task does: other requests, another editor, an
//! action less.

use super::fields::{KnownKeys, LessonResult, items, word};
use super::script::{STRATEGIES, ScriptAction, ScriptActionKind};
use optimist_client::{Declares, OnConflict, Strategy, Subresource, Write};
use optimist_simulation::{Action, ActorId, Operation};

/// A further difference of another way of writing, besides its strategy, version, force, tests and
/// retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variation {
    /// Another field manager.
    OtherManager,
    /// The other editor does all of it.
    OtherEditor,
    /// A dry run, which stores nothing.
    DryRun,
    /// The request goes to the subresource `status`.
    Status,
    /// An apply declares the edits alone instead of the manifest, or the manifest instead of them.
    OtherDeclaration,
    /// After a conflict, the same body is sent again.
    Resend,
}

impl Variation {
    /// The names that a lesson uses.
    const WORDS: [(&'static str, Self); 6] = [
        ("other manager", Self::OtherManager),
        ("other editor", Self::OtherEditor),
        ("dry run", Self::DryRun),
        ("status", Self::Status),
        ("other declaration", Self::OtherDeclaration),
        ("resend", Self::Resend),
    ];

    /// Those that change one request.
    const OF_REQUESTS: [Self; 5] = [
        Self::OtherManager,
        Self::DryRun,
        Self::Status,
        Self::OtherDeclaration,
        Self::Resend,
    ];

    /// Reads the list `with` of a reason.
    pub(super) fn read_all(fields: &KnownKeys<'_>) -> LessonResult<Vec<Self>> {
        let names = fields.get("with").map_or(Ok(&[][..]), items)?.iter();
        names.map(|name| word(name, &Self::WORDS)).collect()
    }

    fn word(self) -> &'static str {
        let known = Self::WORDS.iter().find(|(_, known)| *known == self);
        known.map_or("", |(word, _)| word)
    }

    /// Changes a request; `None` if the request has it already, or cannot have it.
    fn change(self, write: &Write) -> Option<Write> {
        let mut changed = write.clone();
        match self {
            Self::OtherManager => changed.manager = Some("someone-else".to_owned()),
            Self::OtherEditor => return None,
            Self::DryRun => changed.dry_run = true,
            Self::Status => changed.subresource = Some(Subresource::Status),
            Self::OtherDeclaration if write.strategy == Strategy::Apply => {
                changed.declares = match write.declares {
                    Declares::Edits => Declares::Manifest,
                    Declares::Manifest => Declares::Edits,
                };
            }
            Self::OtherDeclaration => return None,
            Self::Resend => changed.on_conflict = OnConflict::Resend(5),
        }
        (changed != *write).then_some(changed)
    }
}

/// A way of writing that is tried instead of that of the solution.
#[derive(Clone, Debug)]
pub(super) struct OtherWrite {
    pub(super) write: Write,
    pub(super) variation: Option<Variation>,
}

impl OtherWrite {
    /// Describes it in the words of a lesson, for a report.
    pub(super) fn describe(&self) -> String {
        let write = &self.write;
        let word = STRATEGIES
            .iter()
            .find(|(_, known)| *known == write.strategy);
        let mut told = word.map_or("", |(word, _)| word).to_owned();
        for (on, option) in [
            (write.send_resource_version, "version"),
            (write.force, "force"),
            (write.test_values, "test"),
            (write.on_conflict != OnConflict::GiveUp, "retry"),
        ] {
            if on {
                told.push_str(", ");
                told.push_str(option);
            }
        }
        if let Some(variation) = self.variation {
            told.push_str(", with ");
            told.push_str(variation.word());
        }
        told
    }
}

/// Every way of writing that a card offers, to the same part of the object as a request.
pub(super) fn writes(like: &Write) -> Vec<Write> {
    let mut all = Vec::new();
    for strategy in Strategy::ALL {
        let (applies, tests) = (strategy == Strategy::Apply, strategy == Strategy::JsonPatch);
        let options = [false, true];
        for send_resource_version in options {
            for force in options.into_iter().filter(|force| applies || !force) {
                for test_values in options.into_iter().filter(|test| tests || !test) {
                    for on_conflict in [OnConflict::GiveUp, OnConflict::ReadAgain(5)] {
                        all.push(Write {
                            strategy,
                            send_resource_version,
                            force,
                            test_values,
                            on_conflict,
                            ..like.clone()
                        });
                    }
                }
            }
        }
    }
    all
}

/// Every way of writing instead of a request, and each usual one with each variation.
pub(super) fn other_writes(like: &Write) -> Vec<OtherWrite> {
    let plain = writes(like).into_iter().map(|write| OtherWrite {
        write,
        variation: None,
    });
    let mut all: Vec<OtherWrite> = plain.collect();
    let usual = Strategy::ALL.map(|strategy| Write {
        subresource: like.subresource,
        declares: like.declares,
        manager: like.manager.clone(),
        ..Write::usual(strategy)
    });
    for write in std::iter::once(like).chain(&usual) {
        for variation in Variation::OF_REQUESTS {
            all.extend(variation.change(write).map(|write| OtherWrite {
                write,
                variation: Some(variation),
            }));
        }
    }
    all
}

/// The request of an action, if its body is made from the actor's edits.
pub(super) fn sent(action: &ScriptAction) -> Option<&Write> {
    match &action.what {
        ScriptActionKind::Do(Operation::Act(_, Action::Send(write))) => {
            Some(write).filter(|write| write.body.is_none())
        }
        _ => None,
    }
}

/// A way to a goal in which some requests are sent otherwise: each by its own manager and to its own
/// part of the object, unless that is the variation.
pub(super) fn sending(way: &[ScriptAction], at: &[usize], other: &OtherWrite) -> Vec<ScriptAction> {
    let mut way = way.to_vec();
    for index in at {
        if let Some(ScriptActionKind::Do(Operation::Act(_, Action::Send(sent)))) =
            way.get_mut(*index).map(|action| &mut action.what)
        {
            let write = Write {
                subresource: sent.subresource,
                declares: sent.declares,
                manager: sent.manager.clone(),
                dry_run: sent.dry_run,
                ..other.write.clone()
            };
            let varied = other.variation.and_then(|it| it.change(&write));
            *sent = varied.unwrap_or(write);
        }
    }
    way
}

/// A way to a goal in which A does what B does, and B what A does.
pub(super) fn by_the_other_editor(way: &[ScriptAction]) -> Vec<ScriptAction> {
    let other = |actor: &mut ActorId| match *actor {
        ActorId::A => *actor = ActorId::B,
        ActorId::B => *actor = ActorId::A,
        _ => {}
    };
    let mut way = way.to_vec();
    for action in &mut way {
        match &mut action.what {
            ScriptActionKind::Edit(actor, _)
            | ScriptActionKind::Discard(actor)
            | ScriptActionKind::Choose(actor, _)
            | ScriptActionKind::Do(Operation::Act(actor, _)) => other(actor),
            ScriptActionKind::Look { .. }
            | ScriptActionKind::Do(_)
            | ScriptActionKind::Control(_) => {}
        }
    }
    way
}
