//! The other programs of a cluster that write objects, by choice: a bare API server has none of them.
//!
//! Each controller looks at the objects and sends ordinary requests, when the caller says so. There are no
//! caches, queues, threads or timers, so the same server always gets the same requests.
//!
//! ```
//! use optimist_apiserver::server::ApiServer;
//! use optimist_cluster::{Controllers, Switches};
//!
//! let mut server = ApiServer::default();
//! let controllers = Controllers::new(Switches { namespaces: true, ..Switches::default() });
//! assert_eq!(controllers.run(&mut server), 1); // the service account of the namespace `default`
//! assert_eq!(controllers.run(&mut server), 0);
//! ```

#![forbid(unsafe_code)]

mod deployments;
mod garbage;
mod namespace_conditions;
mod namespaces;
mod pods;
mod requests;

use http::{Request, Response};
use optimist_apiserver::server::ApiServer;

use self::requests::ApiAccess;

/// The most passes of one run. A chain of owners needs a pass for each of them.
const MOST_PASSES: usize = 1_000;

/// A function that sends a request to a server, and returns its answer.
pub type Perform<'a> = dyn FnMut(&mut ApiServer, Request<Vec<u8>>) -> Response<Vec<u8>> + 'a;

/// The controllers that run; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// The garbage collector: it handles an object when its owners go (`background`, `foreground`, `orphan`).
    pub garbage_collector: bool,
    /// The namespace controller, and the service account `default` of each namespace.
    pub namespaces: bool,
    /// Each pod becomes ready, and goes when it is deleted, as if a scheduler and a kubelet were quick. No
    /// node is chosen.
    pub pods: bool,
    /// The status of each Deployment says that its pods are ready. No ReplicaSet is made.
    pub deployments: bool,
}

/// The controllers that run beside a server.
#[derive(Clone, Debug, Default)]
pub struct Controllers {
    on: Switches,
    root_ca: Option<String>,
}

impl Controllers {
    /// These controllers.
    pub fn new(on: Switches) -> Self {
        Self { on, root_ca: None }
    }

    /// With the certificates, as PEM, by which pods trust the server: each namespace gets the ConfigMap
    /// `kube-root-ca.crt` with them, if the namespace controller runs.
    #[must_use]
    pub fn with_root_ca(mut self, pem: String) -> Self {
        self.root_ca = Some(pem);
        self
    }

    /// Lets each controller look at everything once. Says whether anything was written.
    pub fn step(&self, server: &mut ApiServer) -> bool {
        self.look(server, &mut ApiServer::handle)
    }

    /// Lets the controllers look again until they have nothing to write. Says how many passes wrote something.
    pub fn run(&self, server: &mut ApiServer) -> usize {
        self.run_by(server, &mut ApiServer::handle)
    }

    /// Runs as [`run`](Self::run). `write` answers each request of a controller that can change something, and can
    /// note it. What the controllers read does not come there: a real controller reads from its cache.
    ///
    /// ```
    /// use optimist_apiserver::server::ApiServer;
    /// use optimist_cluster::{Controllers, Switches};
    ///
    /// let mut server = ApiServer::default();
    /// let controllers = Controllers::new(Switches { namespaces: true, ..Switches::default() });
    /// let mut written = Vec::new();
    /// controllers.run_by(&mut server, &mut |server, request| {
    ///     written.push(request.uri().path().to_owned());
    ///     server.handle(request)
    /// });
    /// assert_eq!(written, ["/api/v1/namespaces/default/serviceaccounts"]);
    /// ```
    pub fn run_by(&self, server: &mut ApiServer, write: &mut Perform<'_>) -> usize {
        let passes = 0..MOST_PASSES;
        passes.take_while(|_| self.look(server, write)).count()
    }

    fn look(&self, server: &mut ApiServer, write: &mut Perform<'_>) -> bool {
        let before = server.store().revision();
        let access = &mut ApiAccess { server, write };
        if self.on.namespaces {
            namespaces::look(access, self.root_ca.as_deref());
        }
        if self.on.deployments {
            deployments::look(access);
        }
        if self.on.pods {
            pods::look(access);
        }
        if self.on.garbage_collector {
            garbage::look(access);
        }
        access.server.store().revision() != before
    }
}
