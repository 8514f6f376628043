//! A manifest that is typed or read from a file, to begin a session with.

use std::rc::Rc;

use optimist_apiserver::object::Metadata;
use optimist_simulation::{HistoryTree, LeftOut, LoadError, NGINX, Start, World};

use crate::State;
use crate::effect::Effects;
use crate::learn::LearnProblem;
use crate::view::Dialog;

/// The result of loading a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The kind and name of the object.
    pub object: String,
    /// Its resourceVersion.
    pub version: u64,
    /// The number of other objects in it.
    pub others: usize,
    /// Fields that were dropped.
    pub dropped: Vec<String>,
    /// Documents that were left out.
    pub left_out: Vec<LeftOut>,
}

/// A manifest that the user types, and the result of the last one.
#[derive(Clone, Debug, Default)]
pub struct ManifestState {
    /// The text that is being typed.
    pub text: String,
    /// The error in the manifest.
    pub problem: Option<LoadError>,
    /// The result of loading the last manifest, until the user dismisses it.
    pub loaded: Option<Loaded>,
}

/// A message about the manifest.
#[derive(Clone, Debug)]
pub enum ManifestMsg {
    /// The text as it is typed.
    Text(String),
    /// Reports that a file cannot be loaded.
    Unreadable(LoadError),
    /// Loads it.
    Load,
    /// Begins a session with the Deployment that the page opens with.
    Begin,
    /// Dismisses the result of the last manifest.
    DismissLoaded,
}

impl State {
    pub(crate) fn update_manifest(&mut self, msg: ManifestMsg, fx: &mut Effects<'_>) {
        match msg {
            ManifestMsg::Text(text) => {
                self.manifest.text = text;
                self.manifest.problem = None;
            }
            ManifestMsg::Unreadable(problem) => self.unreadable(problem),
            ManifestMsg::Load => self.load(fx),
            ManifestMsg::Begin => {
                self.manifest.text = NGINX.to_owned();
                self.load(fx);
                // What it is loaded from is no manifest of the user's.
                self.manifest.loaded = None;
            }
            ManifestMsg::DismissLoaded => self.manifest.loaded = None,
        }
    }

    fn load(&mut self, fx: &mut Effects<'_>) {
        let release = self.world().server().release();
        let loaded = Start::loadable(&self.manifest.text).and_then(|mut loadable| {
            loadable.start.release = release;
            let (world, _) = World::from_start(loadable.start.into())?;
            Ok((world, loadable.dropped, loadable.left_out))
        });
        let (world, dropped, left_out) = match loaded {
            Ok(loaded) => loaded,
            Err(problem) => {
                self.manifest.problem = Some(problem);
                return;
            }
        };
        self.manifest = ManifestState {
            loaded: world.stored().map(|(version, object)| Loaded {
                object: format!("{} {}", world.resource().kind, object.name()),
                version,
                others: world.subjects().count().saturating_sub(1),
                dropped,
                left_out,
            }),
            ..ManifestState::default()
        };
        // What was there is not lost: the header leads back to it.
        self.archive_shown(true, fx);
        self.enter(Rc::new(HistoryTree::new(world)));
        self.view.dialog = None;
    }

    /// Says that a file cannot be read, where it was chosen.
    fn unreadable(&mut self, problem: LoadError) {
        match self.view.dialog {
            Some(Dialog::Load) => self.manifest.problem = Some(problem),
            Some(Dialog::Share) => self.share.opening.problem = Some(problem.to_string()),
            _ => self.learn.problem = Some(LearnProblem::Unreadable(problem)),
        }
    }
}
