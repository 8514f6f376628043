//! Explains a step of a history: the event, its cause, and a next step that helps. It gives data, without
//! sentences; the page's catalogue of messages has the sentences.
//!
//! [`HistoryTree::explain`] explains the current step, [`Step::edit_results`] lists the effects of a step
//! on the edits of actors, and [`Step::reason`] gives the reason for the result of a watch's step.

mod edit_result;
mod reading;
mod refusal;
mod session;
mod watching;
mod writing;

use std::sync::Arc;

use serde_json::Value;

use super::{
    ActorId, ControllerEvent, ControllerOperation, HistoryTree, Operation, Outcome, Step, World,
};
use crate::verdict::{Edit, Loss};
use optimist_apiserver::storage::Revision;
use optimist_client::RequestKind;

pub use edit_result::{EditResult, LeftOutReason};
pub use session::FirstSteps;
pub use watching::WatchReason;

/// The explanation of the current step of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The event and its cause.
    pub kind: ExplanationKind,
    /// The effects of the step on the edits of actors.
    pub results: Vec<EditResult>,
    /// The other actors whose copies are stale after this write, with the versions of the copies.
    pub stale: Vec<(ActorId, String)>,
    /// The edits in the object, if the write kept the edits of at least two actors.
    pub kept: Vec<Arc<Edit>>,
    /// The next step that would help, or that is worth trying.
    pub next: Option<Suggestion>,
}

/// The change that a delete made to the mark of an object for its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionMark {
    /// The object got it.
    New,
    /// It has a shorter grace period.
    Sooner,
    /// The object has other finalizers, for another propagation policy.
    OfFinalizers,
}

/// The server's check of the version that a write carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionCheck {
    /// The write carried the stored version.
    Matched,
    /// The write carried no version.
    NotSent,
    /// The server noted no comparison.
    Unknown,
}

/// The event of a step and its cause.
#[derive(Clone, Debug, PartialEq)]
pub enum ExplanationKind {
    /// No step was taken yet.
    Start {
        /// The stored version.
        version: Revision,
    },
    /// An actor read, and the actors of both lanes now have the same version.
    BothRead {
        /// The version.
        version: Revision,
    },
    /// An actor read the object.
    Read {
        /// The actor that read.
        actor: ActorId,
        /// The version that was read.
        version: Revision,
        /// `true` if an unsent edit was redone on the new copy.
        redone: bool,
    },
    /// The server accepted a write and left its edits out; the object did not change.
    NotApplied,
    /// The server accepted a write whose result equals the stored object.
    Unchanged {
        /// The actor that wrote.
        actor: ActorId,
        /// The stored version.
        version: Revision,
    },
    /// The server accepted a delete of an object that was marked for deletion before.
    StillTerminating {
        /// The stored version.
        version: Revision,
    },
    /// The request was a dry run.
    DryRun,
    /// A request by hand was accepted; it was not about the object that is shown.
    OtherObject {
        /// The actor that sent it.
        actor: ActorId,
    },
    /// A write took away an edit that its writer had not read.
    Lost {
        /// The actor that wrote.
        actor: ActorId,
        /// The first edit that was lost.
        loss: Loss<ActorId>,
        /// The kind of the request.
        request: RequestKind,
        /// `true` if it was an apply with force.
        forced: bool,
    },
    /// The object was deleted.
    Deleted {
        /// The actor that sent the request.
        actor: ActorId,
        /// The last version of the object.
        version: Revision,
        /// `true` if the request took the last finalizer off, and was no delete.
        by_finalizer: bool,
    },
    /// The object was marked for deletion.
    Terminating {
        /// The actor that sent the delete.
        actor: ActorId,
        /// The version that has the mark.
        version: Revision,
        /// The change of the mark.
        mark: DeletionMark,
        /// `true` if the object has finalizers.
        finalizers: bool,
        /// The seconds of its grace period; 0 without a grace period.
        grace: i64,
    },
    /// The object was created.
    Created {
        /// The actor that created it.
        actor: ActorId,
        /// Its first version.
        version: Revision,
    },
    /// The object was written.
    Stored {
        /// The actor that wrote.
        actor: ActorId,
        /// The version that was replaced.
        before: Revision,
        /// The new version.
        after: Revision,
        /// The kind of the request.
        request: RequestKind,
        /// The check of the version.
        check: VersionCheck,
    },
    /// The write carried another version than the stored one.
    Conflict {
        /// The actor that wrote.
        actor: ActorId,
        /// The version that the write carried.
        sent: Revision,
        /// The stored version.
        stored: Revision,
        /// `true` if the actors of both lanes read the version that was sent, and another actor than
        /// this one replaced it.
        both_read: bool,
        /// `true` if that version is the one of the actor's working copy.
        from_copy: bool,
    },
    /// A `test` of a JSON patch found another value.
    TestFailed {
        /// The path of the test, a JSON pointer (RFC 6901).
        path: String,
        /// The value that the patch wanted.
        wanted: Value,
        /// The value that is stored.
        found: Option<Value>,
        /// `true` if the patch names the resourceVersion too, so that every change makes it fail.
        names_version: bool,
    },
    /// The apply would have changed a field that another manager owns, or the same one by its Updates.
    OwnedByOther {
        /// The actor that applied, if every such field belongs to the Updates of its own manager.
        own_updates: Option<ActorId>,
    },
    /// The object does not exist.
    NotFound,
    /// The server refused the request for another reason.
    Refused {
        /// The actor that sent it.
        actor: ActorId,
        /// The reason.
        reason: RefusalReason,
        /// `true` if the server answered 200, and ended the watch with an error.
        ends_watch: bool,
    },
    /// The watcher's connection was dropped.
    ConnectionDropped {
        /// The last version that the watcher saw; empty if it saw none.
        seen: String,
    },
    /// The watcher listed.
    Listed {
        /// The version of the list.
        version: Revision,
    },
    /// The watcher watches again, from the version of a list.
    WatchesAfterList {
        /// The version of the list.
        seen: String,
    },
    /// The watcher watches again, from the last version that it saw.
    Resumed {
        /// The number of events that it had missed.
        missed: usize,
    },
    /// The watcher opened a watch.
    WatchOpened {
        /// The version at which the watch begins; `None` for one that begins with the objects that exist.
        from: Option<String>,
    },
    /// etcd was compacted.
    Compacted {
        /// Versions before this one are gone.
        version: Revision,
        /// `true` if the API server was restarted too.
        restart: bool,
    },
    /// The clock went on.
    Waited {
        /// The seconds that passed.
        seconds: u32,
    },
    /// A controller did something, or something happened to it.
    Controlled {
        /// The controller.
        actor: ActorId,
        /// The operation.
        operation: ControllerOperation,
        /// The event in the controller.
        event: Option<Arc<ControllerEvent>>,
        /// The number of the last steps that can repeat for ever, if a search found such a cycle.
        repeatable: Option<usize>,
    },
    /// The version that a watch was to begin after is too old.
    Expired,
    /// The server refused a watch or a list.
    WatchRefused,
}

/// Why the server refused a request, beside its version, the owners of its fields, and a `test`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// The request carried another uid than the stored object has.
    UidDiffered,
    /// The request carried no version, and this kind demands one.
    VersionRequired,
    /// An object with the name of a create is stored.
    AlreadyExists,
    /// The server does not take this content type for the request.
    UnsupportedMediaType {
        /// The content type that was sent.
        content_type: String,
    },
    /// It was a GET, which stores nothing in any case. The answer says the reason.
    OfRead,
    /// Another reason, which the answer says.
    Other,
}

/// A next step that would help, or that is worth trying. Its actor is the one to take it.
#[derive(Clone, Debug, PartialEq)]
pub enum Suggestion {
    /// Step forward, or begin another history.
    StepForward,
    /// Get as this actor.
    Get(ActorId),
    /// Get as this actor too.
    GetToo(ActorId),
    /// Get, to see the stored object.
    GetToSee(ActorId),
    /// Get, which redoes the edit, and send again.
    GetAndSendAgain(ActorId),
    /// Change the same value in both copies.
    ChangeBoth(ActorId),
    /// Send the edits of A and of this actor.
    SendBoth(ActorId),
    /// Send.
    Send(ActorId),
    /// Send the edit that was redone on this version.
    SendRedone(ActorId, Revision),
    /// Send again.
    SendAgain(ActorId),
    /// Send, and see the server compare versions.
    SendStale(ActorId),
    /// Send the copy of a deleted object.
    SendDeleted(ActorId),
    /// Change a value, and send.
    Change(ActorId),
    /// Change a value, and send again.
    ChangeAgain(ActorId),
    /// Change a value in a stale copy, and send it.
    ChangeStale(ActorId),
    /// Change another value, or send the edit to another part of the object.
    ChangeOther(ActorId),
    /// Send without force, or read first.
    WithoutForce(ActorId),
    /// Send with the version, so that the server compares.
    Compare(ActorId),
    /// Send with the version, or as an apply, in which the server compares owners.
    CompareOrApply(ActorId),
    /// Send in another order.
    OtherOrder,
    /// Force the apply, or undo the edit.
    Force(ActorId),
    /// Force the apply that was written by hand, or leave the field out.
    ForceRequest(ActorId),
    /// Step back to before the delete, or create the object.
    Create,
    /// Fix the request.
    Fix(ActorId),
    /// Send the edit as a merge patch.
    MergePatch(ActorId),
    /// Change the object twice, then resume the watch.
    ChangeThenResume,
    /// Resume the watch from the version of the list.
    ResumeFromList,
    /// Change the object, and see that the stream goes on.
    ChangeForStream,
    /// Make the watch too old to resume.
    MakeExpired,
    /// Change the object, or drop the connection.
    ChangeOrDrop,
    /// Open a watch from a version before this one.
    OpenBefore(Revision),
    /// Open a watch from an old version, then compact with a restart.
    OpenThenRestart,
    /// Choose another version to watch from.
    OtherVersion,
    /// List again.
    ListAgain,
}

/// The current step, the world after it, and whose lanes are shown.
#[derive(Clone, Copy)]
struct StepScene<'a> {
    tree: &'a HistoryTree,
    step: &'a Step,
    /// The actor of the step.
    me: ActorId,
    /// The actor in the other lane.
    them: ActorId,
}

impl HistoryTree {
    /// Explains the current step. `right` is the actor whose lane is shown beside that of [`ActorId::A`].
    pub fn explain(&self, right: ActorId) -> Explanation {
        let Some(step) = self.step(self.current()) else {
            let version = self.world().stored().map_or(0, |(version, _)| version);
            let more = self.current_path().len() > 1;
            let next = more.then_some(Suggestion::StepForward);
            return Explanation::new(ExplanationKind::Start { version }, next);
        };
        let me = match &step.operation {
            Operation::Act(actor, _) => *actor,
            Operation::Watch(action) => return watching::watched(self, step, action),
            Operation::Compact { restart } => return watching::compacted(self, step, *restart),
            Operation::Control(actor, operation) => {
                let kind = ExplanationKind::Controlled {
                    actor: *actor,
                    operation: *operation,
                    event: step.controller.clone(),
                    repeatable: self.repeatable_steps(),
                };
                return Explanation::new(kind, None);
            }
            Operation::Wait(seconds) => {
                let seconds = *seconds;
                return Explanation::new(ExplanationKind::Waited { seconds }, None);
            }
        };
        let them = if me == ActorId::A { right } else { ActorId::A };
        let scene = StepScene {
            tree: self,
            step,
            me,
            them,
        };
        match step.outcome() {
            Outcome::Read | Outcome::Done => reading::explain(scene, right),
            Outcome::Written => writing::written(scene),
            Outcome::Unchanged => writing::unchanged(scene),
            Outcome::Refused => refusal::explain(scene, right),
        }
    }
}

impl Explanation {
    fn new(kind: ExplanationKind, next: impl Into<Option<Suggestion>>) -> Self {
        Self {
            kind,
            results: Vec::new(),
            stale: Vec::new(),
            kept: Vec::new(),
            next: next.into(),
        }
    }
}

impl<'a> StepScene<'a> {
    /// Returns whether an actor is a controller: it reads and writes by its program, and no person does it
    /// on its card.
    fn is_controller(self, actor: ActorId) -> bool {
        self.world().controller(actor).is_some()
    }

    fn world(self) -> &'a World {
        self.tree.world()
    }

    /// The world before the step.
    fn world_before(self) -> Option<&'a World> {
        self.tree.world_at(self.tree.parent(self.tree.current())?)
    }

    fn read_version(self, actor: ActorId) -> Option<&'a str> {
        self.world().copy(actor).resource_version()
    }

    fn is_edited(self, actor: ActorId) -> bool {
        self.world().copy(actor).is_edited()
    }
}

impl Step {
    /// Returns the kind of the step's request.
    pub fn request_kind(&self) -> RequestKind {
        let sent = self.exchange.as_ref();
        sent.map_or(RequestKind::Get, |sent| {
            RequestKind::from_request(sent.method.as_str(), &sent.content_type)
        })
    }

    /// Returns whether the request had the method DELETE, also by hand.
    fn asks_to_delete(&self) -> bool {
        let exchange = self.exchange.as_ref();
        exchange.is_some_and(|exchange| exchange.method == http::Method::DELETE)
    }
}
