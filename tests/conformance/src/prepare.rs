//! The server that every replay starts with.

use std::collections::BTreeMap;
use std::time::Duration;

use http::Response;
use optimist_apiserver::environment::Environment;
use optimist_apiserver::server::{ApiServer, Release};
use serde_json::Value;

use super::panics;
use super::recording::Call;
use super::subject::ObjectRef;
use super::wire;

/// Recordings use small numbers as versions that never existed; those of the server start above.
pub(super) const FIRST_VERSION: u64 = 1001;

/// The path of definitions of custom resources.
pub(super) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The custom resources that recordings use.
pub(super) const CUSTOM_RESOURCES: [&str; 5] = [
    include_str!("../crds/backups.demo.example.com.json"),
    include_str!("../crds/crates.demo.example.com.json"),
    include_str!("../crds/gadgets.demo.example.com.json"),
    include_str!("../crds/ledgers.demo.example.com.json"),
    include_str!("../crds/widgets.demo.example.com.json"),
];

thread_local! {
    /// A server with the custom resources; every replay starts with a copy.
    static PREPARED: Result<ApiServer, String> = prepared_server();
}

/// Replays begin on the day after the one of the recordings, 2026-11-22: times of installed objects
/// are in the past, and ages are those that were recorded.
const UNTIL_RECORDED: Duration = Duration::from_secs(326 * 24 * 60 * 60);

/// A server of this release, or of the default one, with the custom resources and nothing else
/// that a recording could see.
pub fn fresh_server(release: Option<&str>) -> Result<ApiServer, String> {
    let mut server = PREPARED.with(Clone::clone)?;
    if let Some(release) = release {
        server.set_release(release.parse::<Release>()?);
    }
    Ok(server)
}

fn prepared_server() -> Result<ApiServer, String> {
    let mut environment = Environment::default();
    environment.advance(UNTIL_RECORDED);
    let mut server = ApiServer::new(environment, FIRST_VERSION);
    for definition in CUSTOM_RESOURCES {
        post(&mut server, DEFINITIONS, definition)?;
    }
    // Every write raises the version; a server that shows none cannot be raised.
    for i in 0..FIRST_VERSION {
        let answer = create_namespace(&mut server, &format!("earlier-{i}"))?;
        let version = serde_json::from_slice::<Value>(answer.body())
            .ok()
            .and_then(|namespace| {
                namespace
                    .pointer("/metadata/resourceVersion")
                    .and_then(|version| version.as_str()?.parse::<u64>().ok())
            });
        if version.is_none_or(|version| version >= FIRST_VERSION) {
            break;
        }
    }
    Ok(server)
}

/// Creates a namespace, as recordings expect one to be there.
pub(super) fn create_namespace(
    server: &mut impl ObjectRef,
    name: &str,
) -> Result<Response<Vec<u8>>, String> {
    let body =
        format!(r#"{{"apiVersion": "v1", "kind": "Namespace", "metadata": {{"name": "{name}"}}}}"#);
    post(server, "/api/v1/namespaces", &body)
}

fn post(server: &mut impl ObjectRef, path: &str, body: &str) -> Result<Response<Vec<u8>>, String> {
    let call = Call {
        actor: "setup".to_owned(),
        method: "POST".to_owned(),
        path: path.to_owned(),
        query: Vec::new(),
        content_type: Some("application/json".to_owned()),
        headers: BTreeMap::new(),
        body: None,
    };
    let request = wire::request(&call, &call.actor, path, body.to_owned())?;
    panics::catch(|| server.handle(request))
}
