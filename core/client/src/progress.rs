//! Where an editor is between its requests: the one definition of a retry after a conflict.

use super::OnConflict;

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

/// Where an editor is that reads, sends its edits, and does after a conflict what its write method
/// says (`retry.RetryOnConflict`). Each attempt is a request of its own, and others can come in
/// between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EditorProgress {
    next: NextRequest,
    attempts: u8,
}

impl EditorProgress {
    /// The beginning.
    pub fn new(reads_first: bool, on_conflict: OnConflict) -> Self {
        Self {
            next: match reads_first {
                true => NextRequest::Read,
                false => NextRequest::Send,
            },
            attempts: on_conflict.attempts(),
        }
    }

    /// Its next request.
    pub fn next(&self) -> NextRequest {
        self.next
    }

    /// The number of attempts that it has left, with the next one.
    pub fn attempts(&self) -> u8 {
        self.attempts
    }

    /// Goes on after an answer: whether the request was refused, and whether that was because of a
    /// conflict ([`is_conflict`](super::is_conflict)).
    pub fn answered(&mut self, on_conflict: OnConflict, refused: bool, conflict: bool) {
        self.next = match (self.next, on_conflict) {
            (NextRequest::Read, _) if !refused => NextRequest::Send,
            (NextRequest::Send, again) if conflict && self.attempts > 1 => {
                self.attempts -= 1;
                match again {
                    OnConflict::GiveUp => NextRequest::Nothing,
                    OnConflict::ReadAgain(_) => NextRequest::Read,
                    OnConflict::Resend(_) => NextRequest::Send,
                }
            }
            _ => NextRequest::Nothing,
        };
    }
}
