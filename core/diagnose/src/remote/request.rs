//! The requests that can be sent to a real API server.

use std::fmt;

use http::{Method, Request, header};
use serde_json::Value;

use super::{RemoteKind, WatchReading};

/// The document that lists all kinds (`apidiscovery.k8s.io/v2`).
const DISCOVERY: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// Objects without their content.
const ONLY_METADATA: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// The most objects of a list.
const LIMIT: usize = 500;

/// The times after which the server ends a watch, in seconds: one that is read while it comes, and one that is
/// read as a whole. What happens later is asked for again.
const STREAM_SECONDS: usize = 300;
const WHOLE_SECONDS: usize = 5;

/// The subresources that can be read and written. `exec`, `proxy` and others do something at a GET, or take
/// no dry run.
const SUBRESOURCES: [&str; 2] = ["status", "scale"];

/// A request that changes nothing: a GET, or a write with `dryRun=All`.
#[derive(Clone, Debug)]
pub struct RemoteRequest {
    request: Request<Vec<u8>>,
}

/// The reason why a request cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAllowed {
    /// The method is none that reads or takes a dry run.
    Method,
    /// The path is none of an object, a collection, the version or discovery.
    Path,
    /// A subresource that is not known to change nothing.
    Subresource,
    /// A write without `dryRun=All`, or with another value beside it.
    NotADryRun,
}

impl fmt::Display for NotAllowed {
    /// In English, for tests and command lines. The page takes its words from its catalogue.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Method => "the method is not allowed",
            Self::Path => "the path is not that of an object or a collection",
            Self::Subresource => "the subresource is not allowed",
            Self::NotADryRun => "the write is not a dry run",
        })
    }
}

impl std::error::Error for NotAllowed {}

/// The place that a path names.
enum Place<'a> {
    /// The version, or discovery.
    Server,
    /// A collection.
    Collection,
    /// An object.
    Object,
    /// A subresource of an object.
    Subresource(&'a str),
}

impl TryFrom<Request<Vec<u8>>> for RemoteRequest {
    type Error = NotAllowed;

    /// The only way to a request.
    fn try_from(request: Request<Vec<u8>>) -> Result<Self, NotAllowed> {
        let uri = request.uri();
        if uri.scheme().is_some() || uri.authority().is_some() {
            return Err(NotAllowed::Path);
        }
        let place = place(uri.path()).ok_or(NotAllowed::Path)?;
        let is_known = match place {
            Place::Subresource(name) => SUBRESOURCES.contains(&name),
            _ => true,
        };
        if !is_known {
            return Err(NotAllowed::Subresource);
        }
        let takes = match (request.method(), place) {
            (&Method::GET, _) => return Ok(Self { request }),
            (&Method::POST, place) => matches!(place, Place::Collection),
            (&Method::PUT | &Method::PATCH, place) => {
                matches!(place, Place::Object | Place::Subresource(_))
            }
            (&Method::DELETE, place) => matches!(place, Place::Object),
            _ => return Err(NotAllowed::Method),
        };
        if !takes {
            return Err(NotAllowed::Path);
        }
        if !is_dry_run(&request) {
            return Err(NotAllowed::NotADryRun);
        }
        Ok(Self { request })
    }
}

/// Returns whether the server stores nothing. The options of a DELETE are in its body, if it has one; then
/// the query has no effect (`k8s.io/apiserver/pkg/endpoints/handlers/delete.go DeleteResource`, v1.36).
fn is_dry_run(request: &Request<Vec<u8>>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let options = form_urlencoded::parse(query.as_bytes());
    let mut dry_run = options.filter(|(name, _)| name == "dryRun").peekable();
    let by_query = dry_run.peek().is_some() && dry_run.all(|(_, value)| value == "All");
    if request.method() != Method::DELETE || request.body().is_empty() {
        return by_query;
    }
    let body: Option<Value> = serde_json::from_slice(request.body()).ok();
    let options = body
        .as_ref()
        .and_then(|body| body.get("dryRun")?.as_array());
    options.is_some_and(|all| !all.is_empty() && all.iter().all(|one| one == "All"))
}

/// The place of a path (`k8s.io/apiserver/pkg/endpoints/request/requestinfo.go NewRequestInfo`, v1.36).
fn place(path: &str) -> Option<Place<'_>> {
    let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    if !parts.iter().all(|part| is_plain(part)) {
        return None;
    }
    let rest = match parts.as_slice() {
        ["version" | "api" | "apis"] => return Some(Place::Server),
        ["api", _, rest @ ..] | ["apis", _, _, rest @ ..] => rest,
        _ => return None,
    };
    let rest = match rest {
        // These are subresources of the namespace.
        ["namespaces", _, "status" | "finalize"] => rest,
        ["namespaces", _, rest @ ..] if !rest.is_empty() => rest,
        rest => rest,
    };
    match rest {
        ["watch" | "proxy" | "redirect", ..] => None,
        [_] => Some(Place::Collection),
        [_, _] => Some(Place::Object),
        [_, _, name] => Some(Place::Subresource(name)),
        _ => None,
    }
}

/// Returns whether a part of a path is what it looks like, for every server in between.
fn is_plain(part: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte);
    !part.is_empty() && part != "." && part != ".." && part.bytes().all(plain)
}

impl RemoteRequest {
    /// A GET. `None` if its path has a name that no path takes.
    fn read(target: &str, accept: &str) -> Option<Self> {
        let request = Request::get(target).header(header::ACCEPT, accept);
        Self::try_from(request.body(Vec::new()).ok()?).ok()
    }

    /// A write as a dry run, whether it was one or not.
    ///
    /// # Errors
    /// If it cannot be one.
    pub fn dry_run(mut request: Request<Vec<u8>>) -> Result<Self, NotAllowed> {
        if !is_dry_run(&request) {
            let target = request.uri().path_and_query();
            let target = target.map_or("", |it| it.as_str());
            let mark = if target.contains('?') { '&' } else { '?' };
            let uri = format!("{target}{mark}dryRun=All").parse();
            *request.uri_mut() = uri.map_err(|_| NotAllowed::Path)?;
            if request.method() == Method::DELETE && !request.body().is_empty() {
                let body = serde_json::from_slice(request.body());
                let mut body: Value = body.map_err(|_| NotAllowed::NotADryRun)?;
                let options = body.as_object_mut().ok_or(NotAllowed::NotADryRun)?;
                options.insert("dryRun".to_owned(), vec!["All"].into());
                *request.body_mut() = body.to_string().into_bytes();
            }
        }
        Self::try_from(request)
    }

    /// Asks for the release of the server.
    pub fn version() -> Option<Self> {
        Self::read("/version", "application/json")
    }

    /// Asks for all kinds: those of the core group, and those of all other groups.
    pub fn discovery() -> Option<[Self; 2]> {
        Some([
            Self::read("/api", DISCOVERY)?,
            Self::read("/apis", DISCOVERY)?,
        ])
    }

    /// Asks for the names of the objects of a kind, without their content.
    pub fn names(kind: &RemoteKind, namespace: &str) -> Option<Self> {
        let target = format!("{}?limit={LIMIT}", kind.path(namespace, ""));
        Self::read(&target, ONLY_METADATA)
    }

    /// Asks for the objects of a kind.
    pub fn objects(kind: &RemoteKind, namespace: &str) -> Option<Self> {
        let target = format!("{}?limit={LIMIT}", kind.path(namespace, ""));
        Self::read(&target, "application/json")
    }

    /// Asks for an object.
    pub fn object(kind: &RemoteKind, namespace: &str, name: &str) -> Option<Self> {
        if name.is_empty() {
            return None;
        }
        Self::read(&kind.path(namespace, name), "application/json")
    }

    /// Asks for the definition of a custom resource.
    pub fn definition(kind: &RemoteKind) -> Option<Self> {
        Self::read(&kind.definition_path(), "application/json")
    }

    /// Asks for the object of a name in a list, which has the version of the whole server.
    pub(super) fn named(kind: &RemoteKind, namespace: &str, name: &str) -> Option<Self> {
        if !is_plain(name) {
            return None;
        }
        let collection = kind.path(namespace, "");
        let target = format!("{collection}?fieldSelector=metadata.name%3D{name}");
        Self::read(&target, "application/json")
    }

    /// Asks for the versions of an object after a version. With bookmarks, the server says from time to time which
    /// version it has come to, so that one without changes does not become too old.
    pub(super) fn watch(
        kind: &RemoteKind,
        namespace: &str,
        name: &str,
        after: &str,
        reading: WatchReading,
    ) -> Option<Self> {
        if !is_plain(name) || !is_plain(after) {
            return None;
        }
        let seconds = match reading {
            WatchReading::Stream => STREAM_SECONDS,
            WatchReading::Whole => WHOLE_SECONDS,
        };
        let target = format!(
            "{}?watch=true&allowWatchBookmarks=true&fieldSelector=metadata.name%3D{name}&resourceVersion={after}&timeoutSeconds={seconds}",
            kind.path(namespace, "")
        );
        Self::read(&target, "application/json")
    }

    /// The method.
    pub fn method(&self) -> &str {
        self.request.method().as_str()
    }

    /// Path and query.
    pub fn target(&self) -> &str {
        let target = self.request.uri().path_and_query();
        target.map_or("/", |target| target.as_str())
    }

    /// The headers that are sent: what is accepted, and the type of the body.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let headers = [
            ("Accept", header::ACCEPT),
            ("Content-Type", header::CONTENT_TYPE),
        ];
        headers.into_iter().filter_map(|(name, header)| {
            let value = self.request.headers().get(header)?;
            Some((name, value.to_str().ok()?))
        })
    }

    /// The body; `None` for none.
    pub fn body(&self) -> Option<&str> {
        let body = std::str::from_utf8(self.request.body()).ok()?;
        (!body.is_empty()).then_some(body)
    }

    /// The request as it is.
    pub fn request(&self) -> &Request<Vec<u8>> {
        &self.request
    }
}
