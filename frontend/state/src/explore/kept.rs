//! The question of Explore that the tab keeps, for after a reload: the edits, and the setup with the property that
//! somebody wrote.

use optimist_links::Session;
use optimist_sessions::StorageArea;
use optimist_simulation::HistoryTree;
use serde_json::Value;

use super::link;
use crate::State;
use crate::address::Page;
use crate::effect::Effects;
use crate::persistence::UnreadableData;

/// The key of the edits that Explore shows, in the tab's storage.
const EXPLORED: &str = "optimist.explored";

/// The key of the setup, in the tab's storage.
const SETUP: &str = "optimist.explored.setup";

/// The most characters of edits that the tab keeps.
const MAX_KEPT: usize = 1_000_000;

impl State {
    /// Keeps the edits that Explore was asked for. A preset has none.
    pub(crate) fn keep_edits_of_explore(&mut self, fx: &mut Effects<'_>) {
        let request = self.explore.request.as_ref();
        let request = request.filter(|request| !link::is_preset(&request.setup));
        let text = request.map(|request| Session::from_tree(&request.tree_at_node()).to_text());
        let text = text.filter(|text| text.len() <= MAX_KEPT);
        fx.write(StorageArea::Tab, EXPLORED, text);
    }

    /// Keeps how the edits are explored.
    pub(super) fn keep_setup_of_explore(&self, fx: &mut Effects<'_>) {
        let setup = self.explore.explored.0.to_string();
        fx.write(StorageArea::Tab, SETUP, Some(setup));
    }

    /// Asks the kept question again, when the page is opened. What cannot be read is kept as it is, beside the
    /// sessions.
    pub(crate) fn open_explore(&mut self, fx: &mut Effects<'_>) {
        let is_explored = self.explore.request.is_some() || !self.explore.explored.0.is_null();
        if self.page != Page::Explore || is_explored {
            return;
        }
        let Some(setup) = fx.read(StorageArea::Tab, SETUP) else {
            return;
        };
        let read = serde_json::from_str(&setup).ok().filter(Value::is_object);
        if read.is_none() {
            self.explore_unreadable(&setup, fx);
        }
        let edits = match fx.read(StorageArea::Tab, EXPLORED) {
            Some(text) if !read.as_ref().is_some_and(link::is_preset) => {
                let tree = kept_tree(&text);
                if tree.is_none() {
                    self.explore_unreadable(&text, fx);
                }
                tree
            }
            _ => None,
        };
        let tree = edits.or_else(|| read.is_some().then(link::tree_of_presets).flatten());
        if let Some(tree) = tree {
            self.explore.ask(tree, read.unwrap_or_default());
        }
    }

    /// Says that a kept text is no question of Explore, and keeps it.
    fn explore_unreadable(&mut self, text: &str, fx: &mut Effects<'_>) {
        let unreadable = &mut self.persistence.unreadable;
        if !unreadable.contains(&UnreadableData::Explored) {
            unreadable.push(UnreadableData::Explored);
        }
        self.keep_unopened("A question of Explore", text, fx);
    }
}

/// The histories of kept edits.
fn kept_tree(text: &str) -> Option<HistoryTree> {
    Session::parse(text).ok()?.replay().finish().ok()
}
