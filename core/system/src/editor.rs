//! An editor with a working copy.

use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::server::ApiServer;
use optimist_client::{
    AnsweredRequest, Edit, EditorProgress, Intent, NextRequest, OnConflict, WorkingCopy, Write,
    get_request, is_conflict,
};
use optimist_ledger::{Intention, ObjectRef};

/// What an editor does once, at any time: it reads the object or has read it, edits it, and sends
/// its edits by a write method. After a conflict it does what the method says.
#[derive(Clone, Debug, PartialEq)]
pub struct EditorPlan {
    /// The object.
    pub object: ObjectRef,
    /// Its field manager, which it also sends as User-Agent.
    pub manager: Arc<str>,
    /// The copy that it has.
    pub copy: WorkingCopy,
    /// What it means to do, after it has read the object. `None` for an editor that sends the copy
    /// that it has.
    pub intent: Option<Intent>,
    /// How it writes.
    pub write: Write,
}

impl EditorPlan {
    /// Where the editor begins.
    pub fn begin(&self) -> EditorProgress {
        EditorProgress::new(self.intent.is_some(), self.write.on_conflict)
    }

    /// The edits that it makes after its first read.
    pub fn edit(&self, copy: &mut WorkingCopy) {
        if let (Some(intent), Some(read)) = (&self.intent, copy.read().cloned()) {
            intent.edit(copy, &read);
        }
    }
}

/// An editor that is somewhere in its plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Editor {
    plan: Arc<EditorPlan>,
    copy: WorkingCopy,
    progress: EditorProgress,
}

/// A request of an editor with its answer, and the edits that it means to make; `None` if it means
/// whatever it changes.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) answered: AnsweredRequest,
    pub(super) edits: Option<Vec<Arc<Edit>>>,
}

impl From<EditorPlan> for Editor {
    fn from(plan: EditorPlan) -> Self {
        Self {
            copy: plan.copy.clone(),
            progress: plan.begin(),
            plan: Arc::new(plan),
        }
    }
}

impl Editor {
    /// Its plan.
    pub fn plan(&self) -> &EditorPlan {
        &self.plan
    }

    /// The copy that it has now.
    pub fn copy(&self) -> &WorkingCopy {
        &self.copy
    }

    /// Where it is between its requests.
    pub fn progress(&self) -> EditorProgress {
        self.progress
    }

    /// Whether it has nothing more to send.
    pub fn is_done(&self) -> bool {
        self.progress.next() == NextRequest::Nothing
    }

    /// Sends the next request. `None` if there is nothing to send.
    pub(super) fn send(&mut self, server: &mut ApiServer) -> Option<Sent> {
        let (plan, reads) = (&*self.plan, self.progress.next() == NextRequest::Read);
        let resource = plan.object.resource();
        let request = match self.progress.next() {
            NextRequest::Read => get_request(&plan.object.path(), &plan.manager),
            NextRequest::Send => plan.write.request(resource, &self.copy, &plan.manager),
            NextRequest::Nothing => None,
        };
        let Some(request) = request else {
            self.progress.answered(OnConflict::GiveUp, true, false);
            return None;
        };
        let edits = match reads {
            true => Some(Vec::new()),
            false => {
                let release = server.release();
                let write = &plan.write;
                write.meant(resource, &self.copy, &plan.manager, release)
            }
        };
        let response = server.handle(request.clone());
        let refused = !response.status().is_success();
        if reads && !refused {
            let first = self.copy.read().is_none();
            let object = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
            self.copy.refresh(Arc::new(object), &resource.root);
            if first {
                plan.edit(&mut self.copy);
            }
        }
        let conflict = refused && is_conflict(&response);
        let on_conflict = plan.write.on_conflict;
        self.progress.answered(on_conflict, refused, conflict);
        let answered = AnsweredRequest { request, response };
        Some(Sent { answered, edits })
    }

    /// What its write is for, but for the edits.
    pub(super) fn intention(&self) -> Intention<'_> {
        Intention {
            edits: None,
            retries: self.plan.write.on_conflict.reads_again(),
            about: Some(&self.plan.object),
        }
    }
}
