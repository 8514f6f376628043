//! The API server: from an HTTP request to an HTTP response.

use http::{Request, Response};

/// One API server over one store. Cloning is cheap: clones share what they have in common.
#[derive(Clone, Debug, Default)]
pub struct ApiServer {}

impl ApiServer {
    /// Answers one request as kube-apiserver v1.36 would.
    pub fn handle(&mut self, _request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        Response::new(Vec::new())
    }
}
