//! Requests that store nothing of their own: some ask the server to act on an object (`eviction`,
//! `binding`, `token`), some ask it a question (reviews), and some reach into a cluster (`log`,
//! `exec`, `proxy`).

mod binding;
mod eviction;
mod reviews;
mod streams;
mod tokens;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use http::{Method, Request, Response, StatusCode};
use serde_json::Value;

use super::body::{self, DraftObject};
use super::kinds::Rules;
use super::request::ResourcePath;
use super::resource::{Definition, Endpoint, Generation, Names, Resource};
use super::write::{endpoint, normalize_namespace};
use super::{ApiServer, RequestInfo, Trace, respond};
use crate::apply::Set;
use crate::object::{GroupVersion, Metadata};
use crate::schema::requested;
use crate::status::{Refusal, Status};

/// A function that answers the object which a request carries.
type PerformAction = fn(&mut ApiServer, &RequestInfo, Value, &mut Trace) -> Result<Value, Refusal>;

/// A path that takes an object and stores none.
struct ObjectAction {
    group: &'static str,
    plural: &'static str,
    /// The subresource; empty for a resource of its own.
    subresource: &'static str,
    namespaced: bool,
    /// The kinds of object that it takes, the usual one first.
    takes: &'static [(&'static str, &'static str)],
    perform: PerformAction,
}

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";
const EVICTIONS: &[(&str, &str)] = &[("policy/v1", "Eviction"), ("policy/v1beta1", "Eviction")];
const BINDINGS: &[(&str, &str)] = &[("v1", "Binding")];

static ACTIONS: [ObjectAction; 10] = [
    on("pods", "eviction", EVICTIONS, eviction::evict),
    on("pods", "binding", BINDINGS, binding::bind),
    ObjectAction {
        subresource: "",
        ..on("bindings", "", BINDINGS, binding::bind)
    },
    on(
        "serviceaccounts",
        "token",
        &[("authentication.k8s.io/v1", "TokenRequest")],
        tokens::issue,
    ),
    question(
        AUTHENTICATION,
        "tokenreviews",
        &[("authentication.k8s.io/v1", "TokenReview")],
        tokens::review,
    ),
    question(
        AUTHENTICATION,
        "selfsubjectreviews",
        &[("authentication.k8s.io/v1", "SelfSubjectReview")],
        reviews::who,
    ),
    question(
        AUTHORIZATION,
        "subjectaccessreviews",
        &[("authorization.k8s.io/v1", "SubjectAccessReview")],
        reviews::access,
    ),
    question(
        AUTHORIZATION,
        "selfsubjectaccessreviews",
        &[("authorization.k8s.io/v1", "SelfSubjectAccessReview")],
        reviews::access,
    ),
    question(
        AUTHORIZATION,
        "selfsubjectrulesreviews",
        &[("authorization.k8s.io/v1", "SelfSubjectRulesReview")],
        reviews::rules,
    ),
    ObjectAction {
        namespaced: true,
        ..question(
            AUTHORIZATION,
            "localsubjectaccessreviews",
            &[("authorization.k8s.io/v1", "LocalSubjectAccessReview")],
            reviews::access,
        )
    },
];

/// An action on an object of the core group.
const fn on(
    plural: &'static str,
    subresource: &'static str,
    takes: &'static [(&'static str, &'static str)],
    perform: PerformAction,
) -> ObjectAction {
    ObjectAction {
        group: "",
        plural,
        subresource,
        namespaced: true,
        takes,
        perform,
    }
}

/// A question, which is not about a namespace.
const fn question(
    group: &'static str,
    plural: &'static str,
    takes: &'static [(&'static str, &'static str)],
    perform: PerformAction,
) -> ObjectAction {
    ObjectAction {
        group,
        namespaced: false,
        ..on(plural, "", takes, perform)
    }
}

/// The kinds of object that actions take, by version and kind.
static TAKEN: LazyLock<BTreeMap<(&str, &str), Arc<Resource>>> = LazyLock::new(|| {
    // Of several paths for a kind, the first one says what it is.
    let all = ACTIONS.iter().rev().flat_map(|action| {
        let kinds = action.takes.iter();
        kinds.filter_map(|(version, kind)| Some(((*version, *kind), action.taken(version, kind)?)))
    });
    all.collect()
});

/// A kind that an action takes.
pub(super) fn taken(version: &str, kind: &str) -> Option<&'static Arc<Resource>> {
    let mut all = TAKEN.iter();
    all.find_map(|((v, k), taken)| (*v == version && *k == kind).then_some(taken))
}

/// Answers a request to a path that stores nothing; `None` for all other requests.
pub(super) fn answer(
    server: &mut ApiServer,
    request: &Request<Vec<u8>>,
    trace: &mut Trace,
) -> Option<Result<Response<Vec<u8>>, Refusal>> {
    if let Some(answer) = streams::answer(server, request) {
        return Some(answer);
    }
    let path = ResourcePath::parse(request.uri().path()).ok()?;
    let action = ACTIONS.iter().find(|action| action.is_at(&path))?;
    Some(action.answer(server, request, &path, trace))
}

impl ObjectAction {
    fn is_at(&self, path: &ResourcePath<'_>) -> bool {
        (self.group, "v1", self.plural, self.subresource)
            == (path.group, path.version, path.plural, path.subresource)
            && self.subresource.is_empty() == path.name.is_empty()
            && self.namespaced != path.namespace.is_empty()
            && !path.watch
    }

    /// A kind that it takes, as a resource.
    fn taken(&self, version: &str, kind: &'static str) -> Option<Arc<Resource>> {
        Some(Arc::new(Resource {
            group_version: GroupVersion::parse(version)?,
            kind: kind.to_owned(),
            plural: self.plural.to_owned(),
            namespaced: self.namespaced,
            names: Names::default(),
            root: requested(kind)?.into(),
            versions: None,
            storage_prefix: String::new(),
            unconditional_update: true,
            create_on_update: false,
            generation: Generation::None,
            endpoints: ["", self.subresource]
                .map(|name| Endpoint {
                    name,
                    reset_fields: Set::default(),
                })
                .into(),
            definition: Definition::Builtin(Rules::NONE),
        }))
    }

    fn answer(
        &self,
        server: &mut ApiServer,
        request: &Request<Vec<u8>>,
        path: &ResourcePath<'_>,
        trace: &mut Trace,
    ) -> Result<Response<Vec<u8>>, Refusal> {
        if *request.method() != Method::POST {
            return Err(Status::method_not_allowed());
        }
        let says = |version: &str| {
            let text = String::from_utf8_lossy(request.body());
            text.contains(&format!("\"{version}\""))
        };
        let (version, kind) = match self.takes {
            [first, others @ ..] => others
                .iter()
                .find(|(version, _)| says(version))
                .unwrap_or(first),
            [] => return Err(Status::no_such_resource()),
        };
        let resource = taken(version, kind).ok_or_else(Status::no_such_resource)?;
        let info = RequestInfo::at(request, path, resource)?;
        let DraftObject {
            mut object,
            warnings,
            ..
        } = body::decode_object(&info, request.body())?;
        trace.warnings.extend(warnings);
        normalize_namespace(&info, &mut object)?;
        server.manager(&info, endpoint(&info)?).update(
            &server.nothing(&info),
            &mut object,
            &info.manager,
        );
        if self.group != AUTHORIZATION {
            server.check_namespace(&info, object.name())?;
        }
        info.resource.before_storing(&mut object, None);
        let answer = (self.perform)(server, &info, object, trace)?;
        Ok(respond(
            info.view.format,
            StatusCode::CREATED,
            &answer,
            &server.resources,
        ))
    }
}

/// Returns the answer of an action that has nothing to show.
fn done() -> Value {
    serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201,
    })
}
