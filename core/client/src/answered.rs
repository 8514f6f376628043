//! A request and its answer.

use http::{Request, Response};

/// A request with its answer, as they went over the wire. The answer to a watch has the events that
/// came before anybody took it, a line each: others come later.
#[derive(Clone, Debug)]
pub struct AnsweredRequest {
    /// The request.
    pub request: Request<Vec<u8>>,
    /// Its answer.
    pub response: Response<Vec<u8>>,
}
