//! What a request asks for (`k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`).

use std::sync::Arc;

use http::{Method, Request, header};

use super::list_options::is_true;
use super::resource::{Definition, Resource, Resources};
use super::scale::{self, SCALE};
use super::view::View;
use crate::object::GroupName;
use crate::status::{FieldError, Refusal, Status};

/// A request to one resource or object.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`.
    pub verb: String,
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
    /// What the query asks for.
    pub options: Options,
    /// The media type without parameters; empty where there is none.
    pub content_type: String,
    /// How the client wants to see the answer.
    pub view: View,
    /// The field manager: from the query, or the part of the User-Agent before the first slash.
    pub manager: String,
    /// The query, decoded, in its order.
    pub query: Vec<(String, String)>,
}

/// The parts of a path to a resource; empty where the path does not have them.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourcePath<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The version of the group.
    pub version: &'a str,
    /// Whether it asks for a watch in the old way.
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
    /// Takes a path apart, whatever is served there.
    ///
    /// # Errors
    /// 404 for a path outside the API, or with too many parts.
    pub fn parse(path: &'a str) -> Result<Self, Refusal> {
        let parts: Vec<&str> = path.split('/').skip(1).collect();
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
    /// Only show what would happen.
    pub dry_run: bool,
    /// The field manager as asked for.
    pub field_manager: String,
    /// What to do about unknown and duplicate fields.
    pub field_validation: FieldValidation,
    /// Whether an apply takes ownership of fields of other managers.
    pub force: bool,
}

/// What to do about unknown and duplicate fields (`fieldValidation`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Drop them silently.
    Ignore,
    /// Drop them and warn.
    #[default]
    Warn,
    /// Refuse the request.
    Strict,
}

/// The longest name of a field manager.
const MAX_MANAGER_LENGTH: usize = 128;

impl RequestInfo {
    /// Reads the method, path, query and headers.
    ///
    /// # Errors
    /// 404 or 405 where nothing serves the path, 422 for options that are not valid.
    pub fn parse(request: &Request<Vec<u8>>, resources: &Resources) -> Result<Self, Refusal> {
        let ResourcePath {
            group,
            version,
            watch,
            namespace,
            plural,
            name,
            subresource,
        } = ResourcePath::parse(request.uri().path())?;
        let resource = resources
            .by_path(group, version, plural)
            .ok_or_else(|| nothing_there(group, version, resources))?;
        // Only lists and watches go across all namespaces.
        let across = namespace.is_empty() && name.is_empty();
        if resource.namespaced == namespace.is_empty() && !(resource.namespaced && across) {
            return Err(nothing_there(group, version, resources));
        }
        if across && resource.namespaced && *request.method() != Method::GET {
            return Err(match resource.definition {
                Definition::Builtin(_) => Status::method_not_allowed(),
                Definition::Custom(_) => Status::page_not_found(),
            });
        }
        if watch && !subresource.is_empty() {
            return Err(nothing_there(group, version, resources));
        }
        if !subresource.is_empty() && !resource.serves(subresource) {
            return Err(match resource.definition {
                Definition::Builtin(_) => Status::no_such_resource(),
                Definition::Custom(_) => Status::not_found(&resource.group_resource(), name),
            });
        }
        let verb = match *request.method() {
            Method::GET if watch => "watch",
            Method::GET if !name.is_empty() => "get",
            Method::GET => "list",
            _ if watch => return Err(Status::method_not_allowed()),
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE => "delete",
            _ => return Err(Status::method_not_allowed()),
        };
        let header = |name| {
            let value = request.headers().get(name)?;
            value.to_str().ok()
        };
        let content_type = header(header::CONTENT_TYPE).unwrap_or_default();
        let content_type = content_type.split(';').next().unwrap_or_default().trim();
        let query: Vec<(String, String)> =
            form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes())
                .into_owned()
                .collect();
        let asks = |query: &[(String, String)]| {
            let watch = query.iter().find(|(name, _)| name == "watch");
            watch.is_some_and(|(_, value)| is_true(value))
        };
        let verb = match verb {
            "list" if asks(&query) => "watch",
            verb => verb,
        };
        let include = query.iter().find(|(name, _)| name == "includeObject");
        let include = include.map(|(_, value)| value.as_str());
        let view = View::read(request.headers(), include, resource)?;
        let options = Options::parse(&query, verb, content_type)?;
        let agent = header(header::USER_AGENT).unwrap_or_default();
        let manager = if options.field_manager.is_empty() {
            manager_of_agent(agent)
        } else {
            options.field_manager.clone()
        };
        let (resource, parent) = match scale::resource() {
            Some(view) if subresource == SCALE => (view, Some(Arc::clone(resource))),
            _ => (resource, None),
        };
        Ok(Self {
            verb: verb.to_owned(),
            resource: Arc::clone(resource),
            parent,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: subresource.to_owned(),
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

/// What answers where no resource is: the handlers of a built-in group with a status, and where no
/// handler is, nor a definition of a custom resource, the last one with a text.
fn nothing_there(group: &str, version: &str, resources: &Resources) -> Refusal {
    let handled = resources.iter().any(|resource| {
        resource.group_version.group == group
            && resource.group_version.version == version
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
    for c in prefix.chars().filter(|c| !c.is_control()) {
        if name.len() + c.len_utf8() > MAX_MANAGER_LENGTH {
            break;
        }
        name.push(c);
    }
    name
}

impl Options {
    fn parse(query: &[(String, String)], verb: &str, content_type: &str) -> Result<Self, Refusal> {
        let mut options = Self::default();
        let mut errors = Vec::new();
        let mut has_force = false;
        for (key, value) in query {
            match key.as_str() {
                "dryRun" if value == "All" => options.dry_run = true,
                "dryRun" => errors.push(FieldError::not_supported(
                    "dryRun",
                    &serde_json::json!([value]),
                    &["All"],
                )),
                "fieldManager" => options.field_manager = value.clone(),
                "fieldValidation" => match value.as_str() {
                    "" | "Warn" => options.field_validation = FieldValidation::Warn,
                    "Ignore" => options.field_validation = FieldValidation::Ignore,
                    "Strict" => options.field_validation = FieldValidation::Strict,
                    _ => errors.push(FieldError::not_supported(
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
            "create" => "CreateOptions",
            "update" => "UpdateOptions",
            "patch" => "PatchOptions",
            _ => return Ok(options),
        };
        if verb == "patch" {
            let apply = content_type == "application/apply-patch+yaml";
            if apply && options.field_manager.is_empty() {
                let detail = "is required for apply patch";
                errors.insert(0, FieldError::required("fieldManager", detail));
            } else if !apply && has_force {
                let detail = "may not be specified for non-apply patch";
                errors.insert(0, FieldError::forbidden("force", detail));
            }
        }
        errors.extend(manager_errors(&options.field_manager));
        if errors.is_empty() {
            return Ok(options);
        }
        let kind = GroupName::new("meta.k8s.io", kind);
        Err(Status::invalid(&kind, "", &errors))
    }
}

fn manager_errors(manager: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if manager.len() > MAX_MANAGER_LENGTH {
        errors.push(FieldError::too_long("fieldManager", MAX_MANAGER_LENGTH));
    }
    let unprintable = manager.chars().enumerate().find(|(_, c)| c.is_control());
    if let Some((i, c)) = unprintable {
        let detail = format!("invalid character U+{:04X} (at position {i})", c as u32);
        errors.push(FieldError::invalid("fieldManager", &manager.into(), detail));
    }
    errors
}
