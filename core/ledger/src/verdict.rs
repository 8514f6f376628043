//! The terms of a verdict: the fates of edits, refusals, and the verdict of a history.

use std::sync::Arc;

use optimist_apiserver::storage::Revision;
use optimist_client::Edit;

/// A lost edit: the server acknowledged it, and it is no longer in the object.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss<Id> {
    /// The author of the edit.
    pub owner: Id,
    /// The edit, with the value that was lost.
    pub edit: Arc<Edit>,
    /// The actor whose write removed the edit, without having been shown it.
    pub culprit: Id,
    /// `true` if the culprit meant to set the same field: a *blind overwrite*. If `false`, the
    /// culprit did not mean to change that field.
    pub blind: bool,
}

/// An edit that another actor replaced after it had been shown the edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Replaced<Id> {
    /// The author of the edit.
    pub owner: Id,
    /// The edit, with the value that was replaced.
    pub edit: Arc<Edit>,
    /// The author of the later write.
    pub by: Id,
    /// `true` if it was a retry after a conflict. A retry repeats its edit on the latest object,
    /// whatever its values.
    pub retry: bool,
}

/// The verdict of a history, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// An acknowledged edit was lost, and no client got an error.
    Lost,
    /// An actor was refused and gave up. No edit was lost.
    Refused,
    /// An actor got a 2xx, and the answer shows that the server did not store the edit.
    LeftOut,
    /// An acknowledged edit is not in the object, because an actor that had been shown it replaced
    /// it.
    Replaced,
    /// Every acknowledged edit is in the object.
    InObject,
}

impl Verdict {
    /// All of them, the best first.
    pub const ALL: [Verdict; 5] = [
        Verdict::InObject,
        Verdict::Replaced,
        Verdict::LeftOut,
        Verdict::Refused,
        Verdict::Lost,
    ];
}

/// The kind of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefusalKind {
    /// 409: the stored version or the owner of a field is not the expected one.
    Conflict,
    /// 404: the object is gone.
    Gone,
    /// 415, 422 and all other codes: this request is not possible for this object.
    NotPossible,
}

impl RefusalKind {
    /// All of them.
    pub const ALL: [RefusalKind; 3] = [
        RefusalKind::Conflict,
        RefusalKind::Gone,
        RefusalKind::NotPossible,
    ];

    /// The kind of refusal for a status code.
    pub fn from_code(code: u16) -> Self {
        match code {
            409 => RefusalKind::Conflict,
            404 | 410 => RefusalKind::Gone,
            _ => RefusalKind::NotPossible,
        }
    }
}

/// An acknowledged edit that is still in the object.
#[derive(Clone, Debug, PartialEq)]
pub struct Acknowledged<Id> {
    /// The author of the edit.
    pub owner: Id,
    /// The edit.
    pub edit: Arc<Edit>,
    /// The actors that have been shown it.
    pub readers: Vec<Id>,
    /// The version that the object had once the edit was made; the largest number for a deletion,
    /// which has none.
    pub since: Revision,
}

impl<Id: PartialEq> Acknowledged<Id> {
    pub(super) fn read_by(&mut self, who: Id) {
        if !self.readers.contains(&who) {
            self.readers.push(who);
        }
    }
}

/// The change of the set of edits by an accepted write.
#[derive(Clone, Debug, PartialEq)]
pub struct Done<Id> {
    /// The edits of other actors that it removed and that its writer had not been shown.
    pub losses: Vec<Loss<Id>>,
    /// The edits of other actors that it removed and that its writer had been shown.
    pub replaced: Vec<Replaced<Id>>,
    /// The edits of its writer that the server did not store.
    pub left_out: Vec<Arc<Edit>>,
    /// `true` if the object had an edit of another actor, which the write could remove.
    pub contested: bool,
}

impl<Id> Default for Done<Id> {
    fn default() -> Self {
        Self {
            losses: Vec::new(),
            replaced: Vec::new(),
            left_out: Vec::new(),
            contested: false,
        }
    }
}

impl<Id> Done<Id> {
    pub(super) fn append(&mut self, more: Self) {
        self.losses.extend(more.losses);
        self.replaced.extend(more.replaced);
        self.left_out.extend(more.left_out);
        self.contested |= more.contested;
    }
}
