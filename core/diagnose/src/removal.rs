//! Takes an object away from a server.

use http::{Request, header};
use optimist_apiserver::server::ApiServer;
use optimist_client::Strategy;
use serde_json::json;

/// Removes an object at once: without its finalizers, and without a grace period. The server can refuse
/// either, and then the object stays.
pub(crate) fn remove_object(server: &mut ApiServer, path: &str) {
    let free = json!({"metadata": {"finalizers": null}});
    let now = json!({"gracePeriodSeconds": 0});
    for (method, media, body) in [
        ("PATCH", Strategy::MergePatch.media_type(), free),
        ("DELETE", "application/json", now),
    ] {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::CONTENT_TYPE, media);
        let request = request.header(header::USER_AGENT, "optimist");
        if let Ok(request) = request.body(body.to_string().into_bytes()) {
            server.handle(request);
        }
    }
}
