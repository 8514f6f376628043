//! The parts of a request (`k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`).

use std::sync::Arc;

use http::{Method, Request, header};

use super::body;
use super::kinds::metadata::{self, MAX_MANAGER_LENGTH};
use super::list_options::is_true;
use super::resource::{Definition, Resource};
use super::resources::Resources;
use super::scale::{self, SCALE};
use super::url::{decoded, read_query};
use super::view::View;
use crate::field::ErrorPath;
use crate::go;
use crate::object::GroupName;
use crate::patch::APPLY;
use crate::status::{FieldError, Refusal, Status};

/// A request to one resource or object.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    /// The action that it asks for.
    pub verb: Verb,
    /// The resource.
    pub resource: Arc<Resource>,
    /// The resource of the stored object, where the request sees only a view of it (`scale`).
    pub parent: Option<Arc<Resource>>,
    /// The namespace; empty for cluster-scoped resources.
    pub namespace: String,
    /// The object's name; empty for the whole collection.
    pub name: String,
    /// The subresource; empty for the main one.
    pub subresource: String,
    /// The options in the query.
    pub options: Options,
    /// The media type without parameters; empty if the request has no media type.
    pub content_type: String,
    /// The form in which the client wants the answer.
    pub view: View,
    /// The field manager: from the query, or the part of the User-Agent before the first slash.
    pub manager: String,
    /// The query, decoded, in its order.
    pub query: Vec<(String, String)>,
}

/// The action of a request, in the words of the API (`requestInfo.Verb`). A request for a
/// collection can list, watch, create or delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Read an object.
    Get,
    /// Read a collection.
    List,
    /// Follow the changes of a collection.
    Watch,
    /// Create an object.
    Create,
    /// Replace an object.
    Update,
    /// Change an object.
    Patch,
    /// Delete an object or a collection.
    Delete,
}

/// The parts of a path to a resource; empty where the path does not have them.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourcePath<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The version of the group.
    pub version: &'a str,
    /// `true` if it asks for a watch in the old way.
    pub watch: bool,
    /// The namespace; empty for none.
    pub namespace: &'a str,
    /// The resource, in the plural.
    pub plural: &'a str,
    /// The name of one object; empty for the collection.
    pub name: &'a str,
    /// The subresource; empty for the object itself.
    pub subresource: &'a str,
}

impl<'a> ResourcePath<'a> {
    /// Takes a path apart, also if no resource is served there. It may end with slashes.
    ///
    /// # Errors
    /// 404 for a path outside the API, or with too many parts.
    pub fn parse(path: &'a str) -> Result<Self, Refusal> {
        let parts: Vec<&str> = path.trim_end_matches('/').split('/').skip(1).collect();
        let (group, version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return Err(Status::page_not_found()),
        };
        let (watch, rest) = match rest {
            ["watch", rest @ ..] if !rest.is_empty() => (true, rest),
            rest => (false, rest),
        };
        let (namespace, rest) = match rest {
            // A namespace has subresources of its own, which are not resources in it.
            ["namespaces", _, "status" | "finalize"] => ("", rest),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
            rest => ("", rest),
        };
        let (plural, name, subresource) = match rest {
            [] => ("", "", ""),
            [plural] => (*plural, "", ""),
            [plural, name] => (*plural, *name, ""),
            [plural, name, subresource] => (*plural, *name, *subresource),
            _ => return Err(Status::no_such_resource()),
        };
        Ok(Self {
            group,
            version,
            watch,
            namespace,
            plural,
            name,
            subresource,
        })
    }
}

/// The options of a write (`metav1.CreateOptions`, `UpdateOptions`, `PatchOptions`).
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The request is a dry run.
    pub dry_run: bool,
    /// The field manager as asked for.
    pub field_manager: String,
    /// The treatment of unknown and duplicate fields.
    pub field_validation: FieldValidation,
    /// `true` if an apply takes ownership of fields of other managers.
    pub force: bool,
}

/// The treatment of unknown and duplicate fields (`fieldValidation`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FieldValidation {
    /// Drop them silently.
    Ignore,
    /// Drop them and warn.
    #[default]
    Warn,
    /// Refuse the request.
    Strict,
}

impl RequestInfo {
    /// Reads the method, path, query and headers.
    ///
    /// # Errors
    /// 404 or 405 where nothing serves the path, 422 for options that are not valid.
    pub fn parse(request: &Request<Vec<u8>>, resources: &Resources) -> Result<Self, Refusal> {
        let decoded = decoded(request.uri().path());
        let path = ResourcePath::parse(&decoded)
            .map_err(|refusal| unrouted(request, &ResourcePath::default(), refusal))?;
        let resource = served(&path, request.method(), resources)
            .map_err(|refusal| unrouted(request, &path, refusal))?;
        Self::at(request, &path, resource)
    }

    /// Reads the method, query and headers of a request to a resource.
    ///
    /// # Errors
    /// 405 for a method that no resource knows, 422 for options that are not valid.
    pub(super) fn at(
        request: &Request<Vec<u8>>,
        path: &ResourcePath<'_>,
        resource: &Arc<Resource>,
    ) -> Result<Self, Refusal> {
        let query = read_query(request);
        let verb = verb_of(path, request.method(), &query)?;
        check_time_limit(verb, path.subresource, &query)?;
        let header = |name| {
            let value = request.headers().get(name)?;
            value.to_str().ok()
        };
        let content_type = media_type(header(header::CONTENT_TYPE).unwrap_or_default(), verb);
        let content_type = content_type.as_str();
        let changes = matches!(verb, Verb::Patch | Verb::Update);
        let unnamed = changes && path.name.is_empty();
        let again = verb == Verb::Create && !path.name.is_empty() && path.subresource.is_empty();
        // No route of a built-in kind takes a change of a collection, or makes what has a name in the path.
        if (unnamed || again) && resource.is_builtin() {
            return Err(Status::method_not_allowed());
        }
        if verb == Verb::Patch {
            resource.check_patch_type(content_type)?;
        }
        if unnamed {
            return Err(Status::bad_request("name must be provided"));
        }
        let include = query.iter().find(|(name, _)| name == "includeObject");
        let include = include.map(|(_, value)| value.as_str());
        let streams = path.name.is_empty() && request.method() == Method::GET;
        let view = View::read(request.headers(), include, resource, streams)?;
        // Only an update is asked for its type after its options (`createHandler`, `UpdateResource`).
        if verb == Verb::Create {
            body::check_media_type(content_type)?;
        }
        let options = Options::parse(&query, verb, content_type)?;
        let manager = match options.field_manager.as_str() {
            "" => manager_of_agent(header(header::USER_AGENT).unwrap_or_default()),
            named => named.to_owned(),
        };
        let (resource, parent) = match scale::resource() {
            Some(view) if path.subresource == SCALE => (view, Some(Arc::clone(resource))),
            _ => (resource, None),
        };
        Ok(Self {
            verb,
            resource: Arc::clone(resource),
            parent,
            namespace: path.namespace.to_owned(),
            // The handler of a custom resource makes what the body names (`customresource_handler.go`).
            name: if again { "" } else { path.name }.to_owned(),
            subresource: path.subresource.to_owned(),
            options,
            content_type: content_type.to_owned(),
            view,
            manager,
            query,
        })
    }

    /// The first value of a parameter.
    pub fn query(&self, name: &str) -> Option<&str> {
        let named = self.query.iter().find(|(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }

    /// All values of a parameter.
    pub fn queries<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.query.iter().filter(move |(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }

    /// `deployments.apps`, as messages name it.
    pub fn group_resource(&self) -> GroupName {
        self.stored_resource().group_resource()
    }

    /// The resource of the stored object.
    pub fn stored_resource(&self) -> &Arc<Resource> {
        self.parent.as_ref().unwrap_or(&self.resource)
    }
}

/// Reads the media type of a body. Where a body is no patch, letters count in any case, and parameters must have
/// values (`mime.ParseMediaType` in `NegotiateInputSerializer`); a header that is not one is kept as it is.
fn media_type(header: &str, verb: Verb) -> String {
    let (media_type, parameters) = header.split_once(';').unwrap_or((header, ""));
    if verb == Verb::Patch {
        return media_type.trim().to_owned();
    }
    if media_type.trim().is_empty() {
        return header.to_owned();
    }
    let parameters = parameters.trim().trim_end_matches(';');
    let has_value = |parameter: &str| {
        let named = parameter.split_once('=');
        named.is_some_and(|(name, value)| !name.trim().is_empty() && !value.trim().is_empty())
    };
    if !parameters.is_empty() && !parameters.split(';').all(has_value) {
        return header.to_owned();
    }
    media_type.trim().to_ascii_lowercase()
}

/// Refuses a time limit that is no duration (`parseTimeout` of the filter `WithRequestDeadline`). Requests that
/// last long have none.
fn check_time_limit(
    verb: Verb,
    subresource: &str,
    query: &[(String, String)],
) -> Result<(), Refusal> {
    const LASTING: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];
    if verb == Verb::Watch || LASTING.contains(&subresource) {
        return Ok(());
    }
    let limit = query.iter().find(|(name, _)| name == "timeout");
    let limit = limit.map(|(_, value)| value.as_str());
    match limit
        .filter(|limit| !limit.is_empty())
        .map(go::parse_duration)
    {
        Some(Err(error)) => Err(Status::bad_request(format!(
            "invalid timeout specified in the request URL - {error}"
        ))),
        _ => Ok(()),
    }
}

/// The refusal of a request without a route. Its time limit is read before a route is looked for.
#[cold]
fn unrouted(request: &Request<Vec<u8>>, path: &ResourcePath<'_>, refusal: Refusal) -> Refusal {
    let query = read_query(request);
    let verb = verb_of(path, request.method(), &query).unwrap_or(Verb::Get);
    let limit = check_time_limit(verb, path.subresource, &query);
    limit.err().unwrap_or(refusal)
}

/// The resource that a path asks for.
fn served<'a>(
    path: &ResourcePath<'_>,
    method: &Method,
    resources: &'a Resources,
) -> Result<&'a Arc<Resource>, Refusal> {
    let ResourcePath { group, version, .. } = *path;
    if path.plural.is_empty() && path.name.is_empty() && *method != Method::GET {
        let mut all = resources.iter();
        if all.any(|it| {
            it.group_version.group == group
                && it.group_version.version == version
                && it.is_builtin()
        }) {
            return Err(Status::method_not_allowed());
        }
    }
    let resource = resources
        .by_path(group, version, path.plural)
        .ok_or_else(|| nothing_there(group, resources))?;
    // Only lists and watches go across all namespaces.
    let across = path.namespace.is_empty() && path.name.is_empty();
    if resource.namespaced == path.namespace.is_empty() && !(resource.namespaced && across) {
        return Err(nothing_there(group, resources));
    }
    if across && resource.namespaced && *method != Method::GET {
        return Err(match resource.definition {
            Definition::Builtin(_) => Status::method_not_allowed(),
            Definition::Custom(_) => Status::page_not_found(),
        });
    }
    if path.watch && !path.subresource.is_empty() {
        return Err(nothing_there(group, resources));
    }
    if !path.subresource.is_empty() && !resource.serves(path.subresource) {
        return Err(match resource.definition {
            Definition::Builtin(_) => Status::no_such_resource(),
            Definition::Custom(_) => Status::not_found(&resource.group_resource(), path.name),
        });
    }
    if path.subresource.is_empty() {
        return Ok(resource);
    }
    match (&resource.definition, method.as_str()) {
        (Definition::Builtin(_), "DELETE" | "POST") => Err(Status::method_not_allowed()),
        (Definition::Custom(_), verb @ ("POST" | "DELETE")) => {
            let verb = if verb == "POST" { "create" } else { "delete" };
            Err(Status::method_not_supported(
                &resource.group_resource(),
                verb,
            ))
        }
        _ => Ok(resource),
    }
}

fn verb_of(
    path: &ResourcePath<'_>,
    method: &Method,
    query: &[(String, String)],
) -> Result<Verb, Refusal> {
    let asks_to_watch = || {
        let watch = query.iter().find(|(name, _)| name == "watch");
        watch.is_some_and(|(_, value)| is_true(value))
    };
    Ok(match *method {
        Method::GET if path.watch => Verb::Watch,
        Method::GET if !path.name.is_empty() => Verb::Get,
        Method::GET if asks_to_watch() => Verb::Watch,
        Method::GET => Verb::List,
        _ if path.watch => return Err(Status::method_not_allowed()),
        Method::POST => Verb::Create,
        Method::PUT => Verb::Update,
        Method::PATCH => Verb::Patch,
        Method::DELETE => Verb::Delete,
        _ => return Err(Status::method_not_allowed()),
    })
}

/// Returns the refusal for a path without a resource. The handlers of a built-in group answer with
/// a status; without a handler or a definition of a custom resource, the last handler answers with
/// a text.
fn nothing_there(group: &str, resources: &Resources) -> Refusal {
    let handled = resources.iter().any(|resource| {
        resource.group_version.group == group
            && matches!(resource.definition, Definition::Builtin(_))
    });
    if handled {
        Status::no_such_resource()
    } else {
        Status::page_not_found()
    }
}

/// `managerOrUserAgent` of the handlers: printable characters before the first slash.
fn manager_of_agent(agent: &str) -> String {
    let prefix = agent.split('/').next().unwrap_or_default();
    let mut name = String::new();
    for c in prefix.chars().filter(|c| go::is_printable(*c)) {
        if name.len() + c.len_utf8() > MAX_MANAGER_LENGTH {
            break;
        }
        name.push(c);
    }
    name
}

impl Options {
    fn parse(query: &[(String, String)], verb: Verb, content_type: &str) -> Result<Self, Refusal> {
        let mut options = Self::default();
        let (mut of_dry_run, mut of_validation) = (Vec::new(), Vec::new());
        let mut has_force = false;
        for (key, value) in query {
            match key.as_str() {
                "dryRun" if value == "All" => options.dry_run = true,
                "dryRun" => of_dry_run.push(FieldError::not_supported(
                    "dryRun",
                    &serde_json::json!([value]),
                    &["All"],
                )),
                "fieldManager" => options.field_manager = value.clone(),
                "fieldValidation" => match value.as_str() {
                    "" | "Warn" => options.field_validation = FieldValidation::Warn,
                    "Ignore" => options.field_validation = FieldValidation::Ignore,
                    "Strict" => options.field_validation = FieldValidation::Strict,
                    _ => of_validation.push(FieldError::not_supported(
                        "fieldValidation",
                        &value.as_str().into(),
                        &["", "Ignore", "Strict", "Warn"],
                    )),
                },
                // The first of several values counts (`Convert_Slice_string_To_Pointer_bool`).
                "force" if !has_force => {
                    has_force = true;
                    options.force = is_true(value);
                }
                _ => {}
            }
        }
        let kind = match verb {
            Verb::Create => "CreateOptions",
            Verb::Update => "UpdateOptions",
            Verb::Patch => "PatchOptions",
            _ => return Ok(options),
        };
        // The order of `ValidatePatchOptions`.
        let mut errors = Vec::new();
        if verb == Verb::Patch {
            let apply = content_type == APPLY;
            if apply && options.field_manager.is_empty() {
                let detail = "is required for apply patch";
                errors.push(FieldError::required("fieldManager", detail));
            } else if !apply && has_force {
                let detail = "may not be specified for non-apply patch";
                errors.push(FieldError::forbidden("force", detail));
            }
        }
        let path = ErrorPath::new("fieldManager");
        errors.extend(metadata::manager_name(&options.field_manager, &path));
        errors.append(&mut of_dry_run);
        errors.append(&mut of_validation);
        if errors.is_empty() {
            return Ok(options);
        }
        let kind = GroupName::new("meta.k8s.io", kind);
        Err(Status::invalid(&kind, "", &errors))
    }
}
