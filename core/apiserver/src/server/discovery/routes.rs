//! The routes of discovery, and what each refuses before it answers.

use http::{Method, Request, Response, StatusCode};

use super::entries;
use crate::object::GroupVersion;
use crate::server::resources::Resources;
use crate::server::view::{self, STREAMED, WRITTEN};
use crate::status::{Refusal, Status};

/// The part of a server that answers a path of discovery.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// A route of a web service: it has only the method GET, writes these media types, and may end with slashes
    /// (`k8s.io/apiserver/pkg/endpoints/discovery/legacy.go`, `version.go`, v1.36).
    Service(String),
    /// A handler that does not look at the method (`root.go`, `group.go` there, `pkg/server/routes` and
    /// `apiextensions-apiserver/pkg/apiserver/customresource_discovery.go`, v1.36).
    Handler,
}

impl Route {
    /// Finds the route of a path; `None` if it is none of discovery.
    pub(super) fn find(path: &str, parts: &[&str], resources: &Resources) -> Option<Self> {
        let ends = path.len() > 1 && path.ends_with('/');
        Some(match parts {
            ["version"] | [".well-known", "openid-configuration"] => {
                Self::Service("application/json".to_owned())
            }
            ["api"] | ["api", "v1"] => Self::Service(WRITTEN.to_owned()),
            ["api", "v1", "componentstatuses"] => Self::Service(format!("{WRITTEN}, {STREAMED}")),
            ["api", "v1", "componentstatuses", _] => Self::Service(WRITTEN.to_owned()),
            ["apis"] | ["apis", _] => Self::Handler,
            ["apis", group, version] => {
                let mut all = resources.iter();
                let is_custom = all.any(|resource| {
                    !resource.is_builtin() && resource.group_version.group == *group
                });
                match is_custom {
                    true => Self::Handler,
                    false if is_served(group, version, resources) => {
                        Self::Service(WRITTEN.to_owned())
                    }
                    false => return None,
                }
            }
            // The multiplexer of these knows whole paths only.
            [] | [""] if path == "/" => Self::Handler,
            ["healthz" | "livez" | "readyz" | "openapi", ..] if !ends => Self::Handler,
            ["openapi", "v3"] => Self::Handler,
            _ => return None,
        })
    }

    /// Refuses a method that the route does not have, and an `Accept` header that its service cannot answer.
    pub(super) fn check(&self, request: &Request<Vec<u8>>) -> Result<(), Refusal> {
        let Self::Service(written) = self else {
            return Ok(());
        };
        if request.method() != Method::GET {
            return Err(Status::method_not_allowed());
        }
        match view::is_routable(view::accept(request.headers()), written) {
            true => Ok(()),
            false => Err(Status::unroutable_accept(written)),
        }
    }
}

/// Returns whether a version of a group that is built in has resources here.
fn is_served(group: &str, version: &str, resources: &Resources) -> bool {
    !entries(&GroupVersion::new(group, version), resources).is_empty()
}

/// The answer where there is no document of a schema: it says nothing
/// (`kube-openapi/pkg/handler3/handler.go OpenAPIService.HandleGroupVersion`, v1.36).
pub(super) fn nothing() -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}
