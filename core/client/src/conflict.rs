//! Tells a conflict from other answers. For the reaction of clients, see [`Editor`](super::Editor).

use http::{Response, StatusCode};
use serde_json::Value;

use optimist_apiserver::object::text;

/// Returns whether the reason of a response is Conflict (`errors.IsConflict`). Not every 409 has this
/// reason.
pub fn is_conflict(response: &Response<Vec<u8>>) -> bool {
    let code = response.status();
    code == StatusCode::CONFLICT
        && serde_json::from_slice(response.body())
            .is_ok_and(|status| is_conflict_status(code.as_u16(), &status))
}

/// Decides like [`is_conflict`], for an answer that is already read.
pub fn is_conflict_status(code: u16, status: &Value) -> bool {
    code == 409 && text(status, "reason") == "Conflict"
}
