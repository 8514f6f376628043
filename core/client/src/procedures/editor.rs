//! An editor: it reads an object, edits it, and sends its edits. Its reaction to a conflict is defined
//! here, and only here.

use std::sync::Arc;

use serde_json::Value;
use std::time::Duration;

use http::Request;

use optimist_apiserver::server::Release;

use crate::{
    Call, Edit, Intent, Next, ObjectRef, OnConflict, Preconditions, Reply, Sender, WorkingCopy,
    Write, get_request,
};

/// The time that client-go waits before the next attempt (`retry.DefaultRetry` in
/// `k8s.io/client-go/util/retry/util.go`, v0.36: 10 ms each time, and up to a tenth more by chance).
pub(super) const BACKOFF: Duration = Duration::from_millis(10);

/// The plan of an editor: it reads the object or has read it, edits it, and sends its edits by a write
/// method, once. A status writer has a method for the subresource, a deleter the intent to delete.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct EditorPlan {
    /// The object.
    pub object: ObjectRef,
    /// Its field manager, which it also sends as User-Agent.
    pub manager: Arc<str>,
    /// The copy that it has when it begins.
    pub copy: WorkingCopy,
    /// Its intent for the object that it reads. `None` for an editor that sends the copy that it has.
    pub intent: Option<Intent>,
    /// Its way of writing, and its reaction to a conflict. A deletion carries a precondition if the
    /// method sends the version.
    pub write: Write,
}

impl EditorPlan {
    /// Returns whether it begins with a read: it means to do something, and has not read the object.
    pub fn reads_first(&self) -> bool {
        self.intent.is_some() && self.copy.read().is_none()
    }

    /// Edits the copy, as the intent demands.
    pub fn edit(&self, copy: &mut WorkingCopy) {
        if let (Some(intent), Some(read)) = (&self.intent, copy.read().cloned()) {
            intent.edit(copy, &read);
        }
    }

    /// The preconditions of its deletion, if it means to delete.
    pub fn preconditions(&self) -> Preconditions {
        Preconditions {
            uid: false,
            resource_version: self.write.send_resource_version,
        }
    }

    /// The request that sends the edits of a copy. `None` if nothing was read, or a name makes no
    /// path.
    pub fn request(&self, copy: &WorkingCopy) -> Option<Request<Vec<u8>>> {
        let resource = self.object.resource();
        if self.intent != Some(Intent::Delete) {
            return self.write.request(resource, copy, &self.manager);
        }
        let call = Call::Delete {
            object: Arc::clone(copy.read()?),
            preconditions: self.preconditions(),
            in_background: false,
        };
        call.request(resource, Sender::new(&self.manager))
    }

    /// The edits that the request means to make. `None` if it means whatever it changes.
    pub fn meant(&self, copy: &WorkingCopy, release: Release) -> Option<Vec<Arc<Edit>>> {
        if self.intent == Some(Intent::Delete) {
            return Some(vec![Edit::deletion()]);
        }
        let resource = self.object.resource();
        self.write.meant(resource, copy, &self.manager, release)
    }
}

/// The next request of an editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NextRequest {
    /// It reads the object.
    Read,
    /// It sends its edits.
    Send,
    /// It is done.
    Nothing,
}

/// An editor at some place in its plan: it reads, sends its edits, and reacts to a conflict as its write
/// method demands (`retry.RetryOnConflict`). Each attempt is a request of its own, and others can come
/// in between.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Editor {
    plan: Arc<EditorPlan>,
    copy: WorkingCopy,
    next: NextRequest,
    /// The number of attempts that it has left, with the next one.
    attempts: u8,
    /// `true` if it waits before the next attempt.
    sleeps: bool,
}

impl From<EditorPlan> for Editor {
    fn from(plan: EditorPlan) -> Self {
        let mut copy = plan.copy.clone();
        plan.edit(&mut copy);
        Self {
            copy,
            next: match plan.reads_first() {
                true => NextRequest::Read,
                false => NextRequest::Send,
            },
            attempts: plan.write.on_conflict.attempts(),
            sleeps: false,
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

    /// Its next request.
    pub fn next_request(&self) -> NextRequest {
        self.next
    }

    /// Returns whether it reads the Scale and not the object: it reads again what it has read.
    pub fn reads_scale(&self) -> bool {
        match self.copy.read() {
            Some(_) => self.copy.is_scale(),
            None => self.plan.write.reads_scale(),
        }
    }

    /// The number of attempts that it has left, with the next one.
    pub fn attempts(&self) -> u8 {
        self.attempts
    }

    /// Returns whether it has nothing more to send.
    pub fn is_done(&self) -> bool {
        self.next == NextRequest::Nothing
    }

    /// Returns its next step. It waits before it reads again after a conflict, as
    /// `retry.RetryOnConflict` does.
    pub fn next(&self) -> Next {
        if self.sleeps {
            return Next::Sleep(BACKOFF);
        }
        let request = match self.next {
            NextRequest::Read if self.reads_scale() => {
                let sender = self.plan.write.sender(&self.plan.manager);
                get_request(&self.plan.object.scale_path(), sender.user_agent)
            }
            NextRequest::Read => get_request(&self.plan.object.path(), &self.plan.manager),
            NextRequest::Send => self.plan.request(&self.copy),
            NextRequest::Nothing => None,
        };
        request.into()
    }

    /// Takes the answer to its request. An object that it reads again it edits again: by its intent, or
    /// else by the edits of its copy.
    pub fn answered(&mut self, reply: &Reply) {
        self.answered_like(reply, None);
    }

    /// The same, where another editor may have read the same object before, and made the same of it.
    pub fn answered_like(&mut self, reply: &Reply, other: Option<&Self>) {
        let reads = self.next == NextRequest::Read;
        if reads && reply.is_accepted() {
            let object = Arc::clone(&reply.body);
            if let Some(other) = other.filter(|other| self.has_made_the_same(other, &object)) {
                self.copy.clone_from(&other.copy);
            } else if self.plan.intent.is_some() {
                self.copy.settle(object);
                self.plan.edit(&mut self.copy);
            } else {
                let resource = self.plan.object.resource();
                self.copy.refresh(object, &resource.root);
            }
        }
        let on_conflict = self.plan.write.on_conflict;
        self.next = match (self.next, on_conflict) {
            (NextRequest::Read, _) if reply.is_accepted() => NextRequest::Send,
            (NextRequest::Send, again) if reply.is_conflict() && self.attempts > 1 => {
                self.attempts -= 1;
                match again {
                    OnConflict::GiveUp => NextRequest::Nothing,
                    OnConflict::ReadAgain(_) => NextRequest::Read,
                    OnConflict::Resend(_) => NextRequest::Send,
                }
            }
            _ => NextRequest::Nothing,
        };
        self.sleeps = !reads && on_conflict.reads_again() && !self.is_done();
    }

    /// Returns whether another editor has the copy that this one has after it has read an object: it has read
    /// this very object by the same plan, and did not begin with it.
    fn has_made_the_same(&self, other: &Self, object: &Arc<Value>) -> bool {
        let is_it = |copy: &WorkingCopy| copy.read().is_some_and(|read| Arc::ptr_eq(read, object));
        self.plan.intent.is_some()
            && Arc::ptr_eq(&self.plan, &other.plan)
            && is_it(&other.copy)
            && !is_it(&self.plan.copy)
    }

    /// Returns whether its next request, and what it means, are those of another editor, which may have
    /// another number of attempts left.
    pub fn sends_the_same(&self, other: &Self) -> bool {
        self.next == other.next
            && self.copy == other.copy
            && (Arc::ptr_eq(&self.plan, &other.plan) || self.plan == other.plan)
    }

    /// Sends nothing more.
    pub fn give_up(&mut self) {
        self.next = NextRequest::Nothing;
    }

    /// Wakes up before the next attempt.
    pub fn wake(&mut self) {
        self.sleeps = false;
    }

    /// The edits that its next request means to make; empty for a read. `None` if it means whatever
    /// the request changes.
    pub fn meant(&self, release: Release) -> Option<Vec<Arc<Edit>>> {
        match self.next {
            NextRequest::Send => self.plan.meant(&self.copy, release),
            NextRequest::Read | NextRequest::Nothing => Some(Vec::new()),
        }
    }
}
