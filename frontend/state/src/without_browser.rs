//! A case of *Diagnose* in a program without a page: the texts are brought, and everything runs to its end.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_sessions::{StorageArea, StorageContents};

use crate::diagnose::{DiagnoseMsg, DiagnoseState};
use crate::effect::{BrowserEffect, Platform, run};
use crate::jobs::JobQueue;
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
    // Nothing is shared here.
    let jobs = RefCell::new(JobQueue::new(|_, _| String::new()));
    let perform = |effect: &BrowserEffect| {
        match effect {
            BrowserEffect::StartJob(id, request) => {
                jobs.borrow_mut().start(*id, (**request).clone(), 0.0);
            }
            BrowserEffect::CancelJob(id) => jobs.borrow_mut().cancel(*id),
            _ => {}
        }
        true
    };
    let (mut state, effects) = State::open("#/diagnose", 1, &NoBrowser);
    run(&mut state, effects, &NoBrowser, &perform);
    let mut send = |msg: Msg| {
        let effects = state.update(msg, &NoBrowser);
        run(&mut state, effects, &NoBrowser, &perform);
        state.is_working()
    };
    let mut works = false;
    for text in texts {
        works = send(DiagnoseMsg::Bring(text).into());
    }
    while works {
        works = send(Msg::Work);
        jobs.borrow_mut().advance(0.0, &|| 0.0);
        let report = jobs.borrow_mut().take_report();
        if let Some((id, report)) = report {
            works = send(Msg::Job(id, report));
        }
    }
    state.diagnose
}
