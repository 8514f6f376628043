use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Annotator, ChildMaker, Cleaner, Copier, FieldOwner, FinalizerKeeper, Scaler, StatusWriter,
};
use crate::client::Source;
use crate::program::{ControllerOptions, Kind, Program};

/// A ready program with its switches. With no switch on, the program has its flaw.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadyProgram {
    /// The program.
    pub name: ReadyProgramName,
    /// The kind of the object that it works for, or of the parent; by default, the kind of
    /// [`ReadyProgram::widget`].
    #[serde(default = "ReadyProgram::widget")]
    pub parent: Kind,
    /// The kind of the children, if it has children; by default ConfigMap.
    #[serde(default = "ReadyProgram::config_map")]
    pub child: Kind,
    /// The switches that are on. A switch that the program does not have changes nothing.
    #[serde(default)]
    pub switches: BTreeSet<Switch>,
}

/// The name of a ready program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReadyProgramName {
    /// [`ChildMaker`].
    ChildMaker,
    /// [`StatusWriter`].
    StatusWriter,
    /// [`Scaler`].
    Scaler,
    /// [`FinalizerKeeper`], with the finalizer `example.com/cleanup`.
    FinalizerKeeper,
    /// [`Cleaner`].
    Cleaner,
    /// [`FieldOwner`], which keeps `spec.size` at 3.
    FieldOwner,
    /// [`Annotator`].
    Annotator,
    /// [`Copier`].
    Copier,
}

/// Something that a ready program does or does not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Switch {
    /// The name of the child is made from the parent's name; else the server generates it.
    DerivedName,
    /// The children are listed live, from the server; else from the cache.
    LiveList,
    /// The controller waits for the events of its creations and deletions (expectations).
    Expectations,
    /// AlreadyExists is taken to mean that the child is there; else it is an error.
    IgnoreAlreadyExists,
    /// A run fails until the caches have the writes of earlier runs
    /// ([`ControllerOptions::wait_for_own_version`]).
    WaitForOwnVersion,
    /// Cached reads wait for the client's own writes ([`ControllerOptions::read_your_own_writes`]).
    ReadYourOwnWrites,
    /// The status follows from the objects that were read; else it has the time of the write.
    NoClock,
    /// The controller compares before it writes.
    Compare,
    /// Only changes of the generation wake the controller (`GenerationChangedPredicate`).
    GenerationChanged,
    /// The controller changes a copy; else it changes the cached object in place.
    DeepCopy,
    /// The patch has the resourceVersion (`MergeFromWithOptimisticLock`).
    OptimisticLock,
    /// The parent is read live, from the server; else from the cache.
    LiveParent,
    /// The deletion has the uid as a precondition.
    UidPrecondition,
    /// The event of an owner queues the keys of its children; else the key of its own name.
    FindsChildren,
}

impl ReadyProgramName {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::ChildMaker,
        Self::StatusWriter,
        Self::Scaler,
        Self::FinalizerKeeper,
        Self::Cleaner,
        Self::FieldOwner,
        Self::Annotator,
        Self::Copier,
    ];

    /// The switches that a program has.
    pub fn switches(self) -> &'static [Switch] {
        use Switch as S;
        match self {
            Self::ChildMaker => &[
                S::DerivedName,
                S::IgnoreAlreadyExists,
                S::LiveList,
                S::Expectations,
                S::WaitForOwnVersion,
                S::ReadYourOwnWrites,
            ],
            Self::StatusWriter => &[S::NoClock, S::Compare, S::GenerationChanged, S::DeepCopy],
            Self::Scaler => &[S::Expectations, S::WaitForOwnVersion, S::ReadYourOwnWrites],
            Self::FinalizerKeeper | Self::FieldOwner => &[S::OptimisticLock],
            Self::Cleaner => &[S::LiveParent, S::UidPrecondition, S::FindsChildren],
            Self::Annotator => &[S::DeepCopy],
            Self::Copier => &[S::GenerationChanged, S::WaitForOwnVersion],
        }
    }

    /// Returns whether a program works with a kind of children.
    pub fn has_children(self) -> bool {
        matches!(
            self,
            Self::ChildMaker | Self::Scaler | Self::Cleaner | Self::Copier
        )
    }
}

impl ReadyProgram {
    /// The finalizer of the finalizer keeper.
    pub const FINALIZER: &str = "example.com/cleanup";

    /// A ready program with its flaw, for a custom resource and ConfigMaps.
    pub fn new(name: ReadyProgramName) -> Self {
        Self {
            name,
            parent: Self::widget(),
            child: Self::config_map(),
            switches: BTreeSet::new(),
        }
    }

    /// The custom resource with which the ready programs work by default. It has `spec.size` and a
    /// status subresource.
    pub fn widget() -> Kind {
        Kind::new("demo.example.com/v1", "Widget")
    }

    /// The kind of the children by default.
    pub fn config_map() -> Kind {
        Kind::new("v1", "ConfigMap")
    }

    /// Returns whether a switch is on.
    pub fn is_on(&self, switch: Switch) -> bool {
        self.switches.contains(&switch)
    }

    /// The same with these switches on, and no others.
    #[must_use]
    pub fn with(mut self, switches: impl IntoIterator<Item = Switch>) -> Self {
        self.switches = switches.into_iter().collect();
        self
    }

    /// The program in data.
    pub fn program(&self) -> Program {
        let (parent, child) = (self.parent.clone(), self.child.clone());
        let on = |switch| self.is_on(switch);
        let from = |live| match on(live) {
            true => Source::Server,
            false => Source::Cache,
        };
        let options = ControllerOptions {
            wait_for_own_version: on(Switch::WaitForOwnVersion),
            read_your_own_writes: on(Switch::ReadYourOwnWrites),
            ..ControllerOptions::default()
        };
        match self.name {
            ReadyProgramName::ChildMaker => ChildMaker {
                parent,
                child,
                generated_name: !on(Switch::DerivedName),
                list_from: from(Switch::LiveList),
                expectations: on(Switch::Expectations),
                ignore_already_exists: on(Switch::IgnoreAlreadyExists),
                options,
            }
            .program(),
            ReadyProgramName::Scaler => Scaler {
                parent,
                child,
                expectations: on(Switch::Expectations),
                options,
            }
            .program(),
            ReadyProgramName::Cleaner => Cleaner {
                parent,
                child,
                parent_from: from(Switch::LiveParent),
                uid: on(Switch::UidPrecondition),
                finds_children: on(Switch::FindsChildren),
            }
            .program(),
            ReadyProgramName::Copier => Copier {
                parent,
                child,
                generation_changed: on(Switch::GenerationChanged),
                wait_for_own_version: on(Switch::WaitForOwnVersion),
            }
            .program(),
            _ => self.program_without_children(),
        }
    }

    fn program_without_children(&self) -> Program {
        let kind = self.parent.clone();
        let on = |switch| self.is_on(switch);
        match self.name {
            ReadyProgramName::StatusWriter => StatusWriter {
                kind,
                clock: !on(Switch::NoClock),
                compare: on(Switch::Compare),
                generation_changed: on(Switch::GenerationChanged),
                in_place: !on(Switch::DeepCopy),
            }
            .program(),
            ReadyProgramName::FinalizerKeeper => FinalizerKeeper {
                kind,
                finalizer: Self::FINALIZER.to_owned(),
                name: "finalizer-keeper".to_owned(),
                lock: on(Switch::OptimisticLock),
            }
            .program(),
            ReadyProgramName::FieldOwner => FieldOwner {
                name: "field-owner".to_owned(),
                kind,
                field: "/spec/size".to_owned(),
                value: 3.into(),
                lock: on(Switch::OptimisticLock),
            }
            .program(),
            _ => Annotator {
                kind,
                in_place: !on(Switch::DeepCopy),
            }
            .program(),
        }
    }
}
