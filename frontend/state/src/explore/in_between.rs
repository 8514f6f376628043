//! A case of Diagnose in Explore: the writer in between.

use optimist_apiserver::apply::Path;
use optimist_client::Write;
use optimist_diagnose::ways::concurrent_writer::{
    OtherEdit, OtherWriter, made_up, others, present, typed, usual_of, with_edit,
};
use optimist_masking::masked;
use optimist_simulation::explore::Scenario;
use optimist_simulation::{ActorId, HistoryTree, World};
use serde_json::{Value, json};

use super::ExploreRequest;
use super::link::BETWEEN;
use crate::State;
use crate::address::Page;
use crate::effect::Effects;

/// The writers that may write between the read and the write of a case's change.
#[derive(Clone, Debug, PartialEq)]
pub struct WritersInBetween {
    /// The writer of the change, by its field manager.
    pub name: String,
    /// The write method of the change.
    pub write: Write,
    /// The fields that the change means to change.
    pub fields: Vec<Path>,
    /// The other writers.
    pub others: Vec<OtherWriter>,
    /// The edit that one of them makes in between. Its value is made up.
    pub edit: OtherEdit,
    /// The value that the field has now; masked if it looks private.
    pub now: Option<Value>,
}

/// Another edit of the one who writes in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherChoice {
    /// By the writer at this position.
    Writer(usize),
    /// Of the field at this position among those of the writer.
    Field(usize),
    /// To this value, as it was typed.
    Value(String),
}

impl WritersInBetween {
    /// Reads the writers from a world in which both editors have edits; `None` if B's edit is not that of a
    /// case.
    pub(super) fn from_world(world: &World) -> Option<Self> {
        let (_, object) = world.stored()?;
        let edit = present(world)?;
        let scenario = Scenario::of_copies(world)?;
        let actor = world.actor(ActorId::A);
        let changed = Scenario {
            plans: scenario.plans.iter().take(1).cloned().collect(),
            ..scenario
        };
        Some(Self {
            name: actor.name.to_string(),
            write: actor.write(),
            fields: changed.changed_fields(),
            others: others(world),
            now: edit.field.find(&masked(object)).cloned(),
            edit,
        })
    }

    /// The writer.
    pub fn writer(&self) -> Option<&OtherWriter> {
        self.others.get(self.edit.writer)
    }

    /// The edit that people choose; `None` if there is none.
    fn chosen(&self, world: &World, choice: &OtherChoice) -> Option<OtherEdit> {
        let now = &self.edit;
        match choice {
            OtherChoice::Writer(at) => usual_of(world, *at, &now.field),
            OtherChoice::Field(at) => made_up(world, now.writer, self.writer()?.fields.get(*at)?),
            OtherChoice::Value(text) => Some(OtherEdit {
                value: typed(world, &now.field, text)?,
                ..now.clone()
            }),
        }
    }
}

impl ExploreRequest {
    /// The same case with another edit in between.
    fn with_other(&self, choice: &OtherChoice) -> Option<HistoryTree> {
        let tree = self.tree_at_node();
        let edit = self.between.as_ref()?.chosen(tree.world(), choice)?;
        with_edit(&tree, &edit)
    }
}

impl State {
    /// Opens Explore with a case of Diagnose: both actors have edits and have sent nothing.
    pub(crate) fn explore_case(&mut self, tree: HistoryTree, fx: &mut Effects<'_>) {
        // Who explores a real case needs all of Play afterwards.
        self.view.show_all_controls(fx);
        let setup = json!({BETWEEN: true, "read": true, "row": "own"});
        self.explore.ask(tree, setup);
        self.keep_edits_of_explore(fx);
        fx.go_to(Page::Explore.fragment());
    }

    /// Explores the case with another edit in between, in the same rows.
    pub(super) fn change_other(&mut self, choice: &OtherChoice, fx: &mut Effects<'_>) {
        let request = self.explore.request.as_ref();
        if let Some(tree) = request.and_then(|request| request.with_other(choice)) {
            let setup = self.explore.explored.0.clone();
            self.explore.ask(tree, setup);
            self.keep_edits_of_explore(fx);
        }
    }
}
