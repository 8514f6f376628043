//! An editor with a working copy, beside controllers.

use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::server::ApiServer;
use optimist_client::{
    AnsweredRequest, Edit, EditorProgress, NextRequest, OnConflict, WorkingCopy, Write,
    get_request, is_conflict,
};
use optimist_ledger::{Intention, ObjectRef};

use crate::program::set_at;

/// What an editor does once, at any time: it reads the object or has read it, edits it, and sends
/// its edits by a write method. After a conflict it does what the method says.
#[derive(Clone, Debug)]
pub struct EditorStart {
    /// The object.
    pub object: ObjectRef,
    /// Its field manager, which it also sends as User-Agent.
    pub manager: Arc<str>,
    /// The copy that it has.
    pub copy: WorkingCopy,
    /// What it sets after its first read: members of objects, as JSON pointers, and their values;
    /// `None` to remove a field. `None` for an editor that sends the copy that it has.
    pub edits: Option<Vec<(String, Option<Value>)>>,
    /// How it writes.
    pub write: Write,
}

impl EditorStart {
    /// Where the editor begins.
    pub fn begin(&self) -> EditorProgress {
        EditorProgress::new(self.edits.is_some(), self.write.on_conflict)
    }

    /// The edits that it makes after its first read.
    pub fn edit(&self, copy: &mut WorkingCopy) {
        if let (Some(edits), Some(read)) = (&self.edits, copy.read()) {
            let mut object = Value::clone(read);
            for (pointer, value) in edits {
                set_at(&mut object, pointer, value.clone());
            }
            copy.edit(object);
        }
    }
}

/// An editor in a state of a search.
#[derive(Clone, Debug)]
pub(super) struct CopyEditor {
    pub(super) start: Arc<EditorStart>,
    pub(super) copy: WorkingCopy,
    pub(super) progress: EditorProgress,
}

/// A request of an editor with its answer, and what it was for.
pub(super) struct Sent {
    pub(super) answered: AnsweredRequest,
    pub(super) edits: Option<Vec<Arc<Edit>>>,
}

impl CopyEditor {
    pub(super) fn new(start: EditorStart) -> Self {
        Self {
            copy: start.copy.clone(),
            progress: start.begin(),
            start: Arc::new(start),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.progress.next() == NextRequest::Nothing
    }

    /// Sends the next request. `None` if there is nothing to send.
    pub(super) fn step(&mut self, server: &mut ApiServer) -> Option<Sent> {
        let (start, reads) = (&*self.start, self.progress.next() == NextRequest::Read);
        let resource = start.object.resource();
        let request = match self.progress.next() {
            NextRequest::Read => get_request(&start.object.path(), &start.manager),
            NextRequest::Send => start.write.request(resource, &self.copy, &start.manager),
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
                let write = &start.write;
                write.meant(resource, &self.copy, &start.manager, release)
            }
        };
        let response = server.handle(request.clone());
        let refused = !response.status().is_success();
        if reads && !refused {
            let first = self.copy.read().is_none();
            let object = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
            self.copy.refresh(Arc::new(object), &resource.root);
            if first {
                start.edit(&mut self.copy);
            }
        }
        let conflict = refused && is_conflict(&response);
        let on_conflict = start.write.on_conflict;
        self.progress.answered(on_conflict, refused, conflict);
        let answered = AnsweredRequest { request, response };
        Some(Sent { answered, edits })
    }

    /// What its write is for, but for the edits.
    pub(super) fn intention(&self) -> Intention<'_> {
        Intention {
            edits: None,
            retries: self.start.write.on_conflict.reads_again(),
            about: Some(&self.start.object),
        }
    }
}
