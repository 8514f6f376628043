//! Conclusions from a text that leaves questions open.
//!
//! A text can leave out the other fields of the object, its earlier writers or its values. Each
//! [`CompletionAnswer`] fills in one of these gaps in another way. A [`CompletedChange`] runs every way of writing
//! under each answer. Its claims about a way hold under all of them; anything else becomes an
//! [`OpenQuestion`], with the answer that decides it.

mod answers;
mod claims;
mod contradiction;

use std::collections::VecDeque;

use optimist_apiserver::apply::{ManagedFieldsOperation, Path};
use optimist_client::Preset;
use serde_json::Value;

use crate::case::Installed;
use crate::message::ReportedError;
use crate::scene::{GivenParts, Scene};
use crate::ways::{
    ChangeTable, FieldEffect, PartialRow, PartialWaysOut, Remedy, Row, RowProgress, WantedChange,
    Way,
};

pub(crate) use answers::{annotation, entry};
pub use claims::RemedyEffect;
pub use contradiction::{Contradiction, SameName};

/// An answer to a question that a text leaves open. It differs from what the first completion takes
/// for granted: the smallest object, that nobody wrote before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionAnswer {
    /// The object is of another kind.
    Kind {
        /// Its group and version.
        api_version: String,
        /// Its kind.
        kind: String,
    },
    /// The fields have other values.
    OtherValues,
    /// The object has more fields than the manifest, and another manager applied them.
    MoreFields,
    /// The writer applied the fields of its manifest before.
    AppliedBefore,
    /// This manager wrote the object with client-side apply: it owns the annotation
    /// `kubectl.kubernetes.io/last-applied-configuration`.
    ClientSideApply(String),
    /// No owners were recorded, so that the server names `before-first-apply`.
    Untracked,
    /// The manifest has only the fields that the message names.
    SmallManifest,
    /// Helm applied the last release server-side, so that it does not take over its former entries.
    ServerSideRelease,
    /// Another manager applied all fields of the object. It was printed without its owners.
    OwnedByApplier,
    /// `kubectl apply` without `--server-side` wrote the object. It was printed without its owners.
    OwnedByClientSideApply,
}

/// Something that is not the same under all answers.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenQuestion {
    /// The answer under which it is otherwise.
    pub answer: CompletionAnswer,
    /// The difference under that answer.
    pub then: Then,
}

/// A difference in the result under an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Then {
    /// The status code; `None` if nothing is sent.
    Code {
        /// Under the answers that the first completion gives.
        first: Option<u16>,
        /// Under the other one.
        other: Option<u16>,
    },
    /// Fields that the text names vanish.
    Vanish(Vec<Path>),
    /// Fields that the text names lose their value, and the server fills in its default.
    Reset(Vec<Path>),
    /// This becomes of fields that the text names.
    Effect(FieldEffect, Vec<Path>),
    /// Nothing becomes of fields that the text names.
    NoEffect(Vec<Path>),
    /// Fields vanish that the text does not name.
    OthersVanish,
    /// The object is written under one answer, and not under the other.
    Written {
        /// `true` if it is written under this one.
        changes: bool,
    },
    /// A second run changes the object under one answer, and not under the other.
    SecondRun {
        /// `true` if it does under this one.
        changes: bool,
    },
    /// The way out does not settle the conflict.
    DoesNotSettle,
    /// The way out settles the conflict.
    Settles,
    /// No values were found that the server takes, so nothing is known.
    NoValidValues,
}

/// The change under an answer.
#[derive(Clone, Debug)]
enum Completion {
    /// The same for every way of writing.
    Table(Box<ChangeTable>),
    /// The writer of the way had applied the object before.
    AppliedByWriter,
}

/// The input to which the answers belong.
#[derive(Clone, Debug)]
enum CompletedInput {
    /// An error message alone.
    Message(Box<(ReportedError, GivenParts)>),
    /// An object in the input, with the change and with the definitions in the input.
    Input(Box<(Installed, WantedChange, Vec<Value>)>),
}

/// A change of an object, under all answers to the questions that a text leaves open.
#[derive(Clone, Debug)]
pub struct CompletedChange {
    /// Under the answers that are the simplest.
    first: ChangeTable,
    /// Under another answer each.
    others: Vec<(CompletionAnswer, Completion)>,
    /// The answers that are not filled in yet.
    left: VecDeque<CompletionAnswer>,
    source: CompletedInput,
    /// The fields that the text names. There are no claims about others. `None` if the input has all
    /// fields.
    named: Option<Vec<Path>>,
    /// `true` if the manifest was brought.
    has_manifest: bool,
}

impl CompletedChange {
    /// The refused write of an error message, of which nothing else is known. `None` if no apply was
    /// refused.
    pub fn of_scene(scene: &Scene, error: &ReportedError, given: &GivenParts) -> Option<Self> {
        let change = scene.change.clone()?;
        let root = &scene.installed.resource().root;
        // What is claimed holds also of the objects that fit the message without the manifest: nobody knows in what else
        // the object differs from it.
        let given = given.without_manifest();
        let others = match scene.has_manifest() {
            true => {
                let plain = Scene::rebuild(error, &given).ok()?;
                let table = ChangeTable::new(&plain.installed, plain.change?);
                vec![(
                    CompletionAnswer::OtherValues,
                    Completion::Table(Box::new(table)),
                )]
            }
            false => Vec::new(),
        };
        let source = (error.clone(), given);
        Some(Self {
            named: Some(answers::named_fields(error, root)),
            left: answers::of_scene(scene, error).into(),
            source: CompletedInput::Message(Box::new(source)),
            has_manifest: scene.has_manifest(),
            first: ChangeTable::new(&scene.installed, change),
            others,
        })
    }

    /// The refused write of an error message, on an object of the input. `None` as for
    /// [`Installed::refused_write`].
    pub fn of_message(
        installed: &Installed,
        definitions: &[Value],
        error: &ReportedError,
    ) -> Option<Self> {
        let change = installed.refused_write(error)?;
        let mut completed = Self::of_input(installed, definitions, change);
        let named = answers::named_fields(error, &installed.resource().root);
        completed.named = Some(named);
        completed.has_manifest = false;
        // Helm was refused, so it had not taken over its former entries.
        completed
            .left
            .retain(|answer| *answer != CompletionAnswer::ServerSideRelease);
        completed.left.push_front(CompletionAnswer::SmallManifest);
        Some(completed)
    }

    /// A change in the input of an object in the input, with the definitions of custom resources in the
    /// input.
    pub fn of_input(installed: &Installed, definitions: &[Value], change: WantedChange) -> Self {
        let mut left = answers::of_owners(installed);
        left.extend(answers::of_release(installed));
        let source = (installed.clone(), change.clone(), definitions.to_vec());
        Self {
            named: None,
            left: left.into(),
            source: CompletedInput::Input(Box::new(source)),
            has_manifest: true,
            first: ChangeTable::new(installed, change),
            others: Vec::new(),
        }
    }

    /// The change under the simplest answers, which is the one that is shown step by step.
    pub fn first(&self) -> &ChangeTable {
        &self.first
    }

    /// Returns whether values and other fields are made up.
    pub fn is_made_up(&self) -> bool {
        self.named.is_some()
    }

    /// Returns whether the instructions of a way have values of the manifest alone, which was brought: no code that
    /// reads the object first.
    pub fn knows_values_of(&self, way: Way) -> bool {
        let reads = |preset: Preset| {
            matches!(
                preset,
                Preset::Update
                    | Preset::MergeFrom
                    | Preset::CreateOrUpdate
                    | Preset::ControllerApply
                    | Preset::Autoscaler
            )
        };
        let is_made_up = self.is_made_up();
        !is_made_up || self.has_manifest && matches!(way, Way::Client(preset, _) if !reads(preset))
    }

    /// Fills in the next answer. Returns whether there is more.
    pub fn complete_next(&mut self) -> bool {
        let Some(answer) = self.left.pop_front() else {
            return false;
        };
        let of_writer = answer == CompletionAnswer::AppliedBefore && !self.is_made_up();
        let completion = if of_writer {
            Some(Completion::AppliedByWriter)
        } else {
            // An answer under which the server does not say the message is none.
            let table = answers::table(&self.source, self.named.as_deref(), &answer);
            table.map(|table| Completion::Table(Box::new(table)))
        };
        self.others
            .extend(completion.map(|completion| (answer, completion)));
        !self.left.is_empty()
    }

    /// Fills in all answers.
    pub fn complete(&mut self) {
        while self.complete_next() {}
    }

    /// The answers that are filled in.
    pub fn answers(&self) -> impl Iterator<Item = &CompletionAnswer> {
        self.others.iter().map(|(answer, _)| answer)
    }

    /// The table under an answer, and under the simplest ones at 0. `None` behind the last one. `own` is
    /// the one of the writer.
    fn table<'a>(
        &'a self,
        at: usize,
        own: Option<&'a ChangeTable>,
    ) -> Option<Option<&'a ChangeTable>> {
        let Some(other) = at.checked_sub(1) else {
            return Some(Some(&self.first));
        };
        let (_, completion) = self.others.get(other)?;
        Some(match completion {
            Completion::Table(table) => Some(table),
            Completion::AppliedByWriter => own,
        })
    }

    /// The table for a writer that had written the object before in its way.
    fn own_table(&self, way: Way, writer: &str) -> Option<Box<ChangeTable>> {
        let is_own = |completion: &Completion| matches!(completion, Completion::AppliedByWriter);
        let writer = match way {
            // Who finds nothing to do shows no name.
            Way::Client(preset, _) if writer.is_empty() => preset.manager().unwrap_or_default(),
            _ => writer,
        };
        let operation = match way {
            // It takes its last manifest for what it owns, and does not apply to the server.
            Way::Client(Preset::Helm3, _) => ManagedFieldsOperation::Update,
            _ => ManagedFieldsOperation::Apply,
        };
        let wanted = self.others.iter().any(|(_, of)| is_own(of)) && !writer.is_empty();
        let table = wanted.then(|| answers::written_by(&self.source, writer, operation));
        table.flatten().map(Box::new)
    }

    /// Returns the claims about a way of writing; `None` if it cannot carry the change.
    pub fn row(&self, way: Way) -> Option<Row> {
        let mut partial = self.begin_claims(way);
        loop {
            match self.advance(partial) {
                ClaimProgress::More(more) => partial = *more,
                ClaimProgress::Done(row) => return row.map(|row| *row),
            }
        }
    }

    /// Begins the claims about a way, to be run in parts with [`advance`](Self::advance).
    pub fn begin_claims(&self, way: Way) -> PartialClaims {
        PartialClaims {
            way,
            runs: Vec::new(),
            part: Some(self.first.begin_row(way)),
            own: None,
        }
    }

    /// Runs the next part of a way.
    pub fn advance(&self, mut partial: PartialClaims) -> ClaimProgress {
        // What Helm 3 sends depends on its last manifest, which no refused apply tells.
        if self.is_made_up() && matches!(partial.way, Way::Client(Preset::Helm3, _)) {
            return ClaimProgress::Done(None);
        }
        let at = partial.runs.len();
        let Some(table) = self.table(at, partial.own.as_deref()) else {
            let row = self.claimed(partial.runs);
            return ClaimProgress::Done(row.map(Box::new));
        };
        let Some(table) = table else {
            partial.runs.push(None);
            return ClaimProgress::More(Box::new(partial));
        };
        let part = partial.part.take();
        match table.advance(part.unwrap_or_else(|| table.begin_row(partial.way))) {
            RowProgress::More(part) => partial.part = Some(*part),
            RowProgress::Done(row) => {
                // The first run shows by which manager the way writes.
                if let Some(row) = row.as_ref().filter(|_| partial.runs.is_empty()) {
                    partial.own = self.own_table(partial.way, &row.writer);
                }
                partial.runs.push(row.map(|row| *row));
            }
        }
        ClaimProgress::More(Box::new(partial))
    }

    /// Returns the claims about the ways out of a conflict that a client gets.
    pub fn remedies(&self, preset: Preset) -> Vec<Remedy> {
        let mut partial = self.begin_ways_out(preset);
        while self.advance_ways_out(&mut partial) {}
        partial.outs
    }

    /// The ways out, to be run in parts with [`advance_ways_out`](Self::advance_ways_out).
    pub fn begin_ways_out(&self, preset: Preset) -> PartialClaimsOut {
        PartialClaimsOut {
            preset,
            runs: Vec::new(),
            part: Some(self.first.begin_ways_out(preset)),
            outs: Vec::new(),
        }
    }

    /// Runs the next part of the ways out. Returns whether there is more.
    pub fn advance_ways_out(&self, partial: &mut PartialClaimsOut) -> bool {
        let Some(table) = self.table(partial.runs.len(), None) else {
            partial.outs = self.claimed_out(std::mem::take(&mut partial.runs));
            return false;
        };
        let Some(table) = table else {
            // Who applied the fields gets no conflict.
            partial.runs.push(Vec::new());
            return true;
        };
        let preset = partial.preset;
        let part = partial.part.take();
        let mut part = part.unwrap_or_else(|| table.begin_ways_out(preset));
        if table.advance_ways_out(&mut part) {
            partial.part = Some(part);
        } else {
            partial.runs.push(part.outs);
        }
        true
    }
}

/// The claims about a way of writing, while it is run under each answer.
#[derive(Clone, Debug)]
pub struct PartialClaims {
    way: Way,
    /// The rows so far: first the one under the simplest answers.
    runs: Vec<Option<Row>>,
    part: Option<PartialRow>,
    /// The table for a writer that had applied the object before.
    own: Option<Box<ChangeTable>>,
}

/// The progress of the claims about a way.
#[derive(Clone, Debug)]
pub enum ClaimProgress {
    /// A part is left.
    More(Box<PartialClaims>),
    /// It is done. `None` if the way cannot carry the change.
    Done(Option<Box<Row>>),
}

/// The claims about the ways out, while they are run under each answer.
#[derive(Clone, Debug)]
pub struct PartialClaimsOut {
    preset: Preset,
    runs: Vec<Vec<Remedy>>,
    part: Option<PartialWaysOut>,
    /// The ways out, once all is run.
    pub outs: Vec<Remedy>,
}
