//! The releases of the libraries of a controller, and their differences.

use optimist_apiserver::server::ApiServer;
use optimist_client::ListMode;
use serde::{Deserialize, Serialize};

use crate::controller::{Controller, UnknownKind};
use crate::program::Program;

/// The release of the libraries of a controller, by the Kubernetes release of its client-go. A
/// history keeps the one with which it was begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ClientRelease {
    /// A cache begins with a list, and then opens its watch. The queue is that of client-go.
    #[default]
    #[serde(rename = "1.34")]
    V1_34,
    /// A cache begins with a watch that first sends the existing objects
    /// (`k8s.io/client-go/features/known_features.go` WatchListClient, on by default since v1.35).
    /// The queue is that of controller-runtime v0.24, with priorities.
    #[serde(rename = "1.36")]
    V1_36,
}

impl ClientRelease {
    /// A controller with these libraries that has not started, for the objects of a namespace.
    ///
    /// # Errors
    /// If the program watches a kind that the server does not have.
    pub fn controller(
        self,
        program: Program,
        server: &ApiServer,
        namespace: &str,
    ) -> Result<Controller, UnknownKind> {
        match self {
            Self::V1_34 => Controller::new(program, server, namespace, ListMode::List),
            Self::V1_36 => Controller::new(program, server, namespace, ListMode::WatchList)
                .map(Controller::with_priorities),
        }
    }

    /// Returns whether it is the release that a history has which does not say it.
    pub fn is_first(&self) -> bool {
        *self == Self::default()
    }
}
