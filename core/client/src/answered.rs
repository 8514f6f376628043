//! A request and its answer.

use http::{Request, Response};

/// A request with its answer, as they went over the wire. The answer to a watch that was opened is
/// empty: its events come later.
#[derive(Clone, Debug)]
pub struct AnsweredRequest {
    /// The request.
    pub request: Request<Vec<u8>>,
    /// Its answer.
    pub response: Response<Vec<u8>>,
}
