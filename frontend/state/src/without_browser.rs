//! A case of *Diagnose* in a program without a page: the texts are brought, and everything runs to its end.

use std::rc::Rc;

use optimist_sessions::{StorageArea, StorageContents};

use crate::diagnose::{DiagnoseMsg, DiagnoseState};
use crate::effect::{BrowserEffect, Platform, run};
use crate::{Msg, State};

/// No browser: its clock stands still, and it stores nothing.
struct NoBrowser;

impl Platform for NoBrowser {
    fn now(&self) -> f64 {
        0.0
    }

    fn read(&self, _: StorageArea, _: &str) -> Option<String> {
        None
    }

    fn storages(&self) -> StorageContents {
        StorageContents::default()
    }
}

/// Returns the case of these texts, with everything that *Diagnose* says of them. A text that
/// `optimist_diagnose::input::detect` does not know is left out.
pub fn diagnosed(texts: impl IntoIterator<Item = String>) -> Rc<DiagnoseState> {
    let nothing = |_: &BrowserEffect| true;
    let (mut state, effects) = State::open("#/diagnose", 1, &NoBrowser);
    run(&mut state, effects, &NoBrowser, &nothing);
    for text in texts {
        let effects = state.update(Msg::from(DiagnoseMsg::Bring(text)), &NoBrowser);
        run(&mut state, effects, &NoBrowser, &nothing);
    }
    while state.works_in_slices() {
        let effects = state.update(Msg::Work, &NoBrowser);
        run(&mut state, effects, &NoBrowser, &nothing);
    }
    state.diagnose
}
