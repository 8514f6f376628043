//! The controllers that run beside the server, by choice.

use std::time::Duration;

use clap::ValueEnum;
use optimist_apiserver::server::ApiServer;
use optimist_cluster::{Controllers, Switches};

use super::connection::Connections;

/// The pause before the controllers look for changes again.
const PAUSE: Duration = Duration::from_millis(20);

/// A controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClusterController {
    /// The garbage collector: objects go with their owners.
    Gc,
    /// The namespace controller, and the service account `default` of each namespace.
    Namespace,
    /// Pods become ready at once, and go when they are deleted. No node is chosen.
    Pod,
    /// The status of a Deployment says that its pods are ready. No ReplicaSet is made.
    Deployment,
}

/// These controllers; `None` if there are none. Namespaces get the authority of the server.
pub fn chosen(chosen: &[ClusterController], authority: Option<&str>) -> Option<Controllers> {
    let has = |one: ClusterController| chosen.contains(&one);
    let controllers = Controllers::new(Switches {
        garbage_collector: has(ClusterController::Gc),
        namespaces: has(ClusterController::Namespace),
        pods: has(ClusterController::Pod),
        deployments: has(ClusterController::Deployment),
    });
    let controllers = match authority {
        Some(authority) => controllers.with_root_ca(authority.to_owned()),
        None => controllers,
    };
    (!chosen.is_empty()).then_some(controllers)
}

/// Runs the controllers after each change, and never ends. As in a cluster, a write is answered before
/// they see it.
pub async fn run(controllers: Option<Controllers>, connections: &Connections) {
    let Some(controllers) = controllers else {
        return std::future::pending().await;
    };
    let revision = |server: &mut ApiServer| server.store().revision();
    let mut seen = None;
    loop {
        if seen != Some(connections.look(revision)) {
            // What the log does not get is not done, and is tried again.
            let passes = connections.keep_told_writes(|server, perform| {
                controllers.run_by(server, perform);
                revision(server)
            });
            seen = passes.ok();
        }
        tokio::time::sleep(PAUSE).await;
    }
}
