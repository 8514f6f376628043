//! A case of Diagnose in Explore: the writer in between, and the part of it that the tab keeps.

use optimist_apiserver::apply::Path;
use optimist_client::Write;
use optimist_diagnose::ways::concurrent_writer::{
    OtherEdit, OtherWriter, made_up, others, present, typed, usual_of, with_edit,
};
use optimist_links::Session;
use optimist_masking::masked;
use optimist_sessions::StorageArea;
use optimist_simulation::explore::Scenario;
use optimist_simulation::{ActorId, HistoryTree, World};
use serde_json::{Value, json};

use super::ExploreRequest;
use super::link::BETWEEN;
use crate::State;
use crate::address::Page;
use crate::effect::Effects;

/// The key of the case that Explore shows, in the tab's storage.
const EXPLORED: &str = "optimist.explored";

/// The key of the setup of that case, in the tab's storage.
const SETUP: &str = "optimist.explored.setup";

/// The most characters of a case that the tab keeps.
const MAX_KEPT: usize = 1_000_000;

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
        let mut tree = (*self.tree).clone();
        tree.go(self.node);
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
        self.keep_case_of_explore(fx);
        fx.go_to(Page::Explore.fragment());
    }

    /// Explores the case with another edit in between, in the same rows.
    pub(super) fn change_other(&mut self, choice: &OtherChoice, fx: &mut Effects<'_>) {
        let request = self.explore.request.as_ref();
        if let Some(tree) = request.and_then(|request| request.with_other(choice)) {
            let setup = self.explore.explored.0.clone();
            self.explore.ask(tree, setup);
            self.keep_case_of_explore(fx);
        }
    }

    /// Keeps the case in the tab, for after a reload; forgets it if something else is asked.
    pub(crate) fn keep_case_of_explore(&mut self, fx: &mut Effects<'_>) {
        let request = self.explore.request.as_ref();
        let request = request.filter(|request| request.between.is_some());
        let tree = request.map(|request| &*request.tree);
        let text = tree.map(|tree| Session::from_tree(tree).to_text());
        let text = text.filter(|text| text.len() <= MAX_KEPT);
        self.explore.keeps_case = text.is_some();
        fx.write(StorageArea::Tab, EXPLORED, text);
    }

    /// Keeps how the case is explored; forgets the case if something else is explored.
    pub(super) fn keep_explored(&mut self, fx: &mut Effects<'_>) {
        if !self.explore.keeps_case {
            return;
        }
        let setup = self
            .explore
            .is_of_case()
            .then(|| self.explore.explored.0.to_string());
        fx.write(StorageArea::Tab, SETUP, setup);
    }

    /// Explores the kept case again, when the page is opened.
    pub(crate) fn open_explore(&mut self, fx: &Effects<'_>) {
        if self.page != Page::Explore || self.explore.request.is_some() {
            return;
        }
        let kept = fx.read(StorageArea::Tab, EXPLORED);
        let setup = fx.read(StorageArea::Tab, SETUP);
        let (Some(kept), Some(setup)) = (kept, setup) else {
            return;
        };
        let setup = serde_json::from_str(&setup).unwrap_or_default();
        if let Ok(session) = Session::parse(&kept) {
            // Two reads: the installation takes longer.
            if let Ok(tree) = session.replay().finish() {
                self.explore.ask(tree, setup);
                self.explore.keeps_case = true;
            }
        }
    }
}
