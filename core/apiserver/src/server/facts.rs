//! Why a request was answered as it was: noted where the decision is made.

use std::fmt;

use serde_json::Value;

use crate::patch::FailedOperation;
use crate::storage::Revision;

/// One thing that the server found on the way to its answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// The object was read at this version.
    Read(Revision),
    /// The write carried the version that is stored.
    VersionMatched(Revision),
    /// The write carried another version than the stored one: refused.
    VersionDiffered {
        /// What the write carried.
        sent: Revision,
        /// What is stored.
        stored: Revision,
    },
    /// The write carried no version, and the kind allows that.
    VersionNotSent(Revision),
    /// The patch carried no version and was done on this one, the one that is stored.
    VersionTakenOver(Revision),
    /// The write carried no version, and the kind demands one: refused.
    VersionRequired(Revision),
    /// The write carried another uid: refused.
    UidDiffered {
        /// What the write carried.
        sent: String,
        /// What is stored.
        stored: String,
    },
    /// A field that the apply would change belongs to someone else.
    OwnedByOther {
        /// The field's path.
        field: String,
        /// Who owns it, as messages name them.
        manager: String,
    },
    /// The apply took the last member of a map, struct or list that stays, of which releases make
    /// different things.
    Emptied {
        /// The field's path.
        field: String,
        /// Whether it stays, empty, as on v1.36.0 to v1.36.2.
        kept: bool,
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
    /// The request asked only to see what would happen.
    DryRun,
    /// A validation rule of the definition, which could not be evaluated here.
    RuleNotEvaluated(String),
    /// What only this kind refuses was not looked at: the core has no rules of its own for it.
    NotThorough(String),
}

impl Fact {
    /// Whether it can be why a request was refused.
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

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Read(version) => write!(
                f,
                "The store holds version {version}. Reading locks nothing: anyone may write right after."
            ),
            Fact::VersionMatched(version) => write!(
                f,
                "The write carried resourceVersion {version}, and the store holds {version}: nobody wrote in between."
            ),
            Fact::VersionDiffered { sent, stored } => write!(
                f,
                "The write carried resourceVersion {sent}, but the store holds {stored}. \
                 The compare failed and nothing was stored. The server did not look at which fields differ."
            ),
            Fact::VersionNotSent(stored) => write!(
                f,
                "The write carried no resourceVersion, so there was nothing to compare with the stored {stored}."
            ),
            Fact::VersionTakenOver(stored) => write!(
                f,
                "The patch carried no resourceVersion. It was done on {stored}, which is stored, whoever wrote that."
            ),
            Fact::VersionRequired(stored) => write!(
                f,
                "The write carried no resourceVersion. This kind accepts no update without one; the store holds {stored}."
            ),
            Fact::UidDiffered { sent, stored } => write!(
                f,
                "The write carried uid {sent}, but the stored object is {stored}: another object of the same name."
            ),
            Fact::OwnedByOther { field, manager } => {
                write!(f, "The apply would change {field}, which {manager} owns.")
            }
            Fact::Emptied { field, kept: true } => write!(
                f,
                "The apply took the last member of {field}, which stayed, empty: v1.36.0 to v1.36.2 do that. \
                 From v1.36.3 on it becomes null."
            ),
            Fact::Emptied { field, kept: false } => write!(
                f,
                "The apply took the last member of {field}, which became null. \
                 On v1.36.0 to v1.36.2 it stays, empty."
            ),
            Fact::OperationFailed(failed) => operation_failed(f, failed),
            Fact::Created(version) => write!(f, "The object is new, stored as version {version}."),
            Fact::Stored { before, after } => {
                write!(
                    f,
                    "The new object replaced version {before} and is version {after}."
                )
            }
            Fact::Unchanged(version) => write!(
                f,
                "The result equals what is stored, so nothing was written and the version stays {version}."
            ),
            Fact::Terminating(version) => write!(
                f,
                "The object is marked for deletion as version {version}; it goes when its finalizers are gone and its time is up."
            ),
            Fact::Deleted(revision) => {
                write!(
                    f,
                    "The object is gone; the deletion took revision {revision}."
                )
            }
            Fact::DryRun => write!(f, "It was a dry run: nothing was stored."),
            Fact::RuleNotEvaluated(rule) => write!(
                f,
                "The validation rule {rule:?} was not evaluated: a real server may refuse what this one accepts."
            ),
            Fact::NotThorough(kind) => write!(
                f,
                "Only the general rules were checked: this server does not know what a real one refuses of a {kind} in particular."
            ),
        }
    }
}

fn operation_failed(f: &mut fmt::Formatter<'_>, failed: &FailedOperation) -> fmt::Result {
    let FailedOperation {
        position,
        op,
        path,
        differed,
    } = failed;
    let path = if path.is_empty() { "the object" } else { path };
    match differed {
        Some((wanted, Some(found))) => write!(
            f,
            "The patch tested whether {path} is {}, and it is {}.",
            brief(wanted),
            brief(found)
        ),
        Some((wanted, None)) => write!(
            f,
            "The patch tested whether {path} is {}, and there is none.",
            brief(wanted)
        ),
        None if op.is_empty() => write!(f, "Item {} of the patch is no operation.", position + 1),
        None => write!(
            f,
            "Operation {} of the patch, {op} {path}, cannot be done on what is stored.",
            position + 1
        ),
    }?;
    write!(
        f,
        " So none of its operations was done, and the answer does not say which failed."
    )
}

/// A value as JSON, cut where it is long.
fn brief(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
