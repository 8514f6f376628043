//! The reasons of an answer, recorded where the decision is made. The catalogue of
//! messages (`frontend/messages`) has the sentences.

use crate::patch::FailedOperation;
use crate::storage::Revision;

/// One reason of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// The object was read at this version.
    Read(Revision),
    /// The Scale of the object was read at this version.
    ReadScale(Revision),
    /// The objects of a collection were listed as they were at this version.
    Listed(Revision),
    /// The write carried the version that is stored.
    VersionMatched(Revision),
    /// The write carried another version than the stored one: refused.
    VersionDiffered {
        /// The version that the write carried.
        sent: Revision,
        /// The stored version.
        stored: Revision,
    },
    /// The write carried no version, and the kind allows that.
    VersionNotSent(Revision),
    /// The patch carried no version and was applied to the stored version, which is this one.
    VersionTakenOver(Revision),
    /// The write carried no version, and the kind demands one: refused.
    VersionRequired(Revision),
    /// The write carried a uid, and the stored object does not have it: refused.
    UidDiffered {
        /// The uid that the write carried.
        sent: String,
        /// The stored uid; `None` if there is no object.
        stored: Option<String>,
    },
    /// Another manager owns a field that the apply would change: refused.
    OwnedByOther {
        /// The field's path.
        field: String,
        /// The manager that owns it, as messages name it.
        manager: String,
    },
    /// The apply removed the last member of a map, struct or list that stays. Releases differ in
    /// the result.
    Emptied {
        /// The field's path.
        field: String,
        /// `true` if it stays, empty, as on v1.36.0 to v1.36.2.
        kept: bool,
    },
    /// The apply no longer has a field that its manager had applied, and nobody else owns it: it was
    /// removed, and gets its default if it has one.
    GivenUp {
        /// The field's path.
        field: String,
    },
    /// An operation of the JSON patch failed: refused.
    OperationFailed(FailedOperation),
    /// The object was made.
    Created(Revision),
    /// The object was written.
    Stored {
        /// The version replaced.
        before: Revision,
        /// The new version.
        after: Revision,
    },
    /// The write would have changed nothing, so nothing was written.
    Unchanged(Revision),
    /// The object was marked for deletion and waits for its finalizers or its time.
    Terminating(Revision),
    /// The object was deleted, by this revision.
    Deleted(Revision),
    /// The request was a dry run.
    DryRun,
    /// A validation rule of the definition that could not be evaluated here.
    RuleNotEvaluated(String),
}

impl Fact {
    /// Returns whether it can be why a request was refused.
    pub fn refuses(&self) -> bool {
        matches!(
            self,
            Fact::VersionDiffered { .. }
                | Fact::VersionRequired(_)
                | Fact::UidDiffered { .. }
                | Fact::OwnedByOther { .. }
                | Fact::Emptied { kept: false, .. }
                | Fact::OperationFailed(_)
        )
    }
}

/// The facts of one answer, in the order in which they were found; an extension of the response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts(pub Vec<Fact>);
