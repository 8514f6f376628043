//! Processes that send requests, as state machines without a server: each has a next step, and takes the
//! answer. The caller who runs one decides when the answer comes and who sends something in between: a
//! person, a search, a table of all tools.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use optimist_apiserver::server::Release;

use super::answered::received;
use super::conflict::is_conflict_status;
use super::procedures::part::PartList;
use super::{
    AnsweredRequest, Edit, Editor, NextRequest, ObjectRef, ProcedurePart, SingleRequest, Tool,
};

/// The next step of a process.
#[derive(Clone, Debug)]
// It is taken apart at once, so its size costs nothing; a box would be one allocation a request.
#[allow(clippy::large_enum_variant)]
pub enum Next {
    /// It sends a request, and waits for the answer.
    Send(Request<Vec<u8>>),
    /// It waits before it sends the next request.
    Sleep(Duration),
    /// It is done.
    Done,
}

/// The part of a write that a network loses. A read that is lost, client-go sends again by itself
/// (`k8s.io/client-go/rest/request.go`, `isErrRetryableFunc`, v0.36); a write it does not, because it
/// cannot know whether the server did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Lost {
    /// The request: the server never sees it.
    Request,
    /// The answer: the server has done the work.
    Answer,
}

/// An answer as a client reads it.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Reply {
    /// The status code.
    pub code: u16,
    /// The body: an object, or a `metav1.Status`.
    pub body: Arc<Value>,
}

impl From<&AnsweredRequest> for Reply {
    fn from(answered: &AnsweredRequest) -> Self {
        Self {
            code: answered.response.status().as_u16(),
            body: Arc::clone(answered.received()),
        }
    }
}

impl From<&Response<Vec<u8>>> for Reply {
    fn from(response: &Response<Vec<u8>>) -> Self {
        Self {
            code: response.status().as_u16(),
            body: received(response),
        }
    }
}

impl Reply {
    /// Returns whether the server accepted the request.
    pub fn is_accepted(&self) -> bool {
        self.code < 300
    }

    /// Returns whether the object is not there.
    pub fn is_not_found(&self) -> bool {
        self.code == 404
    }

    /// Returns whether its reason is Conflict (`errors.IsConflict`).
    pub fn is_conflict(&self) -> bool {
        is_conflict_status(self.code, &self.body)
    }
}

/// A process: its place in its procedure, with everything that it has been shown. Cloning is cheap, and
/// two that are equal do the same from here on.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Procedure {
    /// It edits an object.
    Editor(Editor),
    /// It writes a change as a tool does.
    Tool(Box<Tool>),
    /// It sends one request.
    Single(SingleRequest),
}

impl Procedure {
    /// Returns its next step.
    pub fn next(&self) -> Next {
        match self {
            Self::Editor(editor) => editor.next(),
            Self::Tool(tool) => tool.next(),
            Self::Single(single) => single.next(),
        }
    }

    /// Returns whether it has nothing more to send.
    pub fn is_done(&self) -> bool {
        match self {
            Self::Editor(editor) => editor.is_done(),
            Self::Tool(tool) => tool.is_done(),
            Self::Single(single) => single.is_done(),
        }
    }

    /// Returns whether its next request writes.
    pub fn writes_next(&self) -> bool {
        match self {
            Self::Editor(editor) => editor.next_request() == NextRequest::Send,
            Self::Tool(tool) => tool.writes_next(),
            Self::Single(single) => single.writes_next(),
        }
    }

    /// Returns whether its next request is a dry run that belongs to its way of writing, as that of Flux does.
    pub fn dry_runs_next(&self) -> bool {
        matches!(self, Self::Tool(tool) if tool.dry_runs_next())
    }

    /// The object that it is about.
    pub fn object(&self) -> &ObjectRef {
        match self {
            Self::Editor(editor) => &editor.plan().object,
            Self::Tool(tool) => tool.object(),
            Self::Single(single) => single.object(),
        }
    }

    /// The parts that decide all its further steps. Two processes of the same plan with the same parts do the
    /// same from here on.
    pub fn parts(&self) -> Vec<ProcedurePart<'_>> {
        let mut parts = PartList::default();
        parts.plain(self.is_done());
        if !self.is_done() {
            match self {
                Self::Editor(editor) => parts.editor(editor),
                Self::Tool(tool) => tool.add_parts(&mut parts),
                Self::Single(single) => single.add_parts(&mut parts),
            }
        }
        parts.0
    }

    /// Sends nothing more, because its next request cannot be made.
    pub fn give_up(&mut self) {
        match self {
            Self::Editor(editor) => editor.give_up(),
            Self::Tool(tool) => tool.give_up(),
            Self::Single(single) => single.give_up(),
        }
    }

    /// Takes the answer to the request that [`next`](Self::next) gave.
    pub fn answered(&mut self, reply: &Reply) {
        match self {
            Self::Editor(editor) => editor.answered(reply),
            Self::Tool(tool) => tool.answered(reply),
            Self::Single(single) => single.answered(reply),
        }
    }

    /// Wakes up after a [`Next::Sleep`].
    pub fn wake(&mut self) {
        match self {
            Self::Editor(editor) => editor.wake(),
            Self::Tool(tool) => tool.wake(),
            Self::Single(_) => {}
        }
    }

    /// The edits that its next request means to make; empty for a read. `None` if it means whatever
    /// the request changes.
    pub fn meant(&self, release: Release) -> Option<Vec<Arc<Edit>>> {
        match self {
            Self::Editor(editor) => editor.meant(release),
            Self::Tool(tool) => tool.meant(release),
            Self::Single(_) => None,
        }
    }

    /// Returns whether it reads again after a conflict and repeats its edits, without looking at the new
    /// values.
    pub fn repeats_edits(&self) -> bool {
        match self {
            Self::Editor(editor) => editor.plan().write.on_conflict.reads_again(),
            Self::Tool(tool) => tool.repeats_edits(),
            Self::Single(_) => false,
        }
    }
}

impl From<Editor> for Procedure {
    fn from(editor: Editor) -> Self {
        Self::Editor(editor)
    }
}

impl From<Tool> for Procedure {
    fn from(tool: Tool) -> Self {
        Self::Tool(Box::new(tool))
    }
}

impl From<SingleRequest> for Procedure {
    fn from(single: SingleRequest) -> Self {
        Self::Single(single)
    }
}
