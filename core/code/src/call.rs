//! A request with its intention, from which commands and code are made.

use serde_json::Value;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::schema::{Struct, Type};
use optimist_apiserver::server::{Resource, ResourcePath, is_true};
use optimist_client::{RequestKind, ValueChange, client_side_managers};
use optimist_simulation::{ObjectRef, Step, World};

/// A request, with the objects that its client knew.
#[derive(Clone, Copy, Debug)]
pub struct ClientRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// The body's media type; empty for none.
    pub content_type: &'a str,
    /// The User-Agent.
    pub user_agent: &'a str,
    /// The body; `null` for none.
    pub body: &'a Value,
    /// The kind of the path, if the server has it.
    pub resource: Option<&'a Resource>,
    /// The difference between the body and the object that was read; `None` if the body was not
    /// made from it.
    pub edits: Option<&'a [ValueChange]>,
    /// The maximum number of attempts while the answer is a conflict.
    pub attempts: u8,
    /// `true` if each retry reads the object again before it writes.
    pub reads_again: bool,
    /// `true` if the object has fields of client-side apply. After a server-side apply, kubectl sends more requests that
    /// move them to the applier (`k8s.io/kubectl/pkg/cmd/apply/apply.go migrateToSSAIfNecessary`, v0.36).
    pub migrates: bool,
}

/// Code with its imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// Imports.
    pub imports: String,
    /// The code itself.
    pub code: String,
}

/// A request, taken apart.
#[derive(Clone, Debug)]
pub(super) struct ParsedRequest<'a> {
    pub(super) verb: RequestKind,
    pub(super) target: ResourcePath<'a>,
    pub(super) manager: String,
    pub(super) force: bool,
    pub(super) dry_run: bool,
    pub(super) strict: bool,
    /// `true` if it asks for events.
    pub(super) watches: bool,
}

impl<'a> ClientRequest<'a> {
    /// The request of a step in a world, with what its client knew; `None` if the step sent no
    /// request, or one with a body that no JSON value says (`Step::sent_text`).
    pub fn of_step(world: &'a World, step: &'a Step) -> Option<Self> {
        let exchange = step.exchange.as_ref()?;
        if step.sent_text().is_some() {
            return None;
        }
        let of_its_kind = |subject: &&ObjectRef| is_of_kind(&exchange.target, subject.resource());
        Some(ClientRequest {
            method: exchange.method.as_str(),
            target: &exchange.target,
            content_type: &exchange.content_type,
            user_agent: &exchange.manager,
            body: &exchange.sent,
            resource: world
                .subjects()
                .find(of_its_kind)
                .map(|subject| &**subject.resource()),
            edits: (step.is_send() && !step.is_by_hand()).then_some(&*step.edits),
            attempts: 1,
            reads_again: false,
            migrates: !client_side_managers(&exchange.received).is_empty(),
        })
    }

    /// The kind, if code for it can use the typed clients. For kinds that are only in
    /// `kinds.schema`, the names and optional fields of client types are not known here. Code for
    /// them uses the dynamic client, like code for a custom resource; so does code for an object with a
    /// field that its type does not have, which the typed client would drop.
    pub(super) fn typed(&self) -> Option<&'a Resource> {
        self.resource.filter(|resource| {
            let known = resource.has_builtin_schema();
            let is_decoded = matches!(self.method, "POST" | "PUT");
            let is_object = is_decoded && text(self.body, "kind") == resource.kind;
            known
                && resource.group_version.group != "apiextensions.k8s.io"
                && (!is_object || fits(self.body, &resource.root, false))
        })
    }

    pub(super) fn read(&self) -> ParsedRequest<'a> {
        let (path, query) = self.target.split_once('?').unwrap_or((self.target, ""));
        let target = ResourcePath::parse(path).ok();
        let manager = self.user_agent.split('/').next().unwrap_or_default();
        let mut request = ParsedRequest {
            verb: target.map_or(RequestKind::Other, |target| self.verb(&target)),
            target: target.unwrap_or_default(),
            manager: manager.to_owned(),
            force: false,
            dry_run: false,
            strict: false,
            watches: target.is_some_and(|target| target.watch),
        };
        let mut has_force = false;
        for (option, value) in form_urlencoded::parse(query.as_bytes()) {
            match (&*option, &*value) {
                ("fieldManager", manager) => request.manager = manager.to_owned(),
                ("force", value) if request.verb == RequestKind::Apply && !has_force => {
                    has_force = true;
                    request.force = is_true(value);
                }
                ("dryRun", "All") => request.dry_run = true,
                ("fieldValidation", "Strict") => request.strict = true,
                ("fieldValidation", "Warn") => {}
                ("watch", value) if self.method == "GET" => {
                    request.watches = is_true(value);
                    request.verb = RequestKind::Other;
                }
                _ => request.verb = RequestKind::Other,
            }
        }
        request
    }

    /// Path and query, with the manager from the User-Agent.
    pub(super) fn target_as(&self, manager: &str) -> String {
        let mut target = self.target.to_owned();
        let told = target.contains("fieldManager=") || manager.is_empty();
        if !told && !["GET", "DELETE"].contains(&self.method) {
            let manager: String = form_urlencoded::byte_serialize(manager.as_bytes()).collect();
            let separator = if target.contains('?') { '&' } else { '?' };
            target.push_str(&format!("{separator}fieldManager={manager}"));
        }
        target
    }

    fn verb(&self, target: &ResourcePath<'_>) -> RequestKind {
        let known = ["", "status", "scale"].contains(&target.subresource);
        if !known || target.watch || self.resource.is_none() {
            return RequestKind::Other;
        }
        let named = !target.name.is_empty();
        // kubectl would parse such a name as an option.
        let option = |text: &str| text.starts_with('-');
        if option(target.name) || option(target.namespace) {
            return RequestKind::Other;
        }
        let kind = RequestKind::from_request(self.method, self.content_type);
        let is_possible = match kind {
            RequestKind::Get => named,
            RequestKind::Create => !named && self.is_manifest(target),
            RequestKind::Update => named && self.is_manifest(target),
            RequestKind::Delete => named && target.subresource.is_empty(),
            RequestKind::Apply => self.is_manifest(target),
            RequestKind::MergePatch | RequestKind::StrategicMergePatch => self.body.is_object(),
            RequestKind::JsonPatch => self.body.is_array(),
            RequestKind::Other => false,
        };
        if is_possible {
            kind
        } else {
            RequestKind::Other
        }
    }

    /// Returns whether the body is an object with the kind, name and namespace of the target.
    fn is_manifest(&self, target: &ResourcePath<'_>) -> bool {
        let is = |stated: &str, wanted: &str| wanted.is_empty() || stated == wanted;
        !text(self.body, "apiVersion").is_empty()
            && !text(self.body, "kind").is_empty()
            && !self.body.name().is_empty()
            && is(self.body.name(), target.name)
            && (self.body.namespace().is_empty() || is(self.body.namespace(), target.namespace))
    }

    /// `, at version 100` if the body has a version.
    pub(super) fn at_version(&self) -> String {
        match self.version() {
            "" => String::new(),
            version => format!(", at version {version}"),
        }
    }

    /// The resourceVersion in the body, which makes a write conditional.
    pub(super) fn version(&self) -> &'a str {
        let body: &'a Value = self.body;
        body.resource_version()
    }
}

/// Returns whether a request concerns a kind: its collection, an object, or a subresource.
pub fn is_of_kind(target: &str, resource: &Resource) -> bool {
    let path = target.split('?').next().unwrap_or_default();
    let gv = &resource.group_version;
    ResourcePath::parse(path).is_ok_and(|path| {
        (path.group, path.version, path.plural) == (&*gv.group, &*gv.version, &*resource.plural)
    })
}

/// JSON on one line if it is short, otherwise indented. Each item of a list has its own line.
pub(super) fn json(value: &Value) -> String {
    let text = value.to_string();
    match value {
        _ if text.len() <= 72 => text,
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| format!("  {item}")).collect();
            format!("[\n{}\n]", items.join(",\n"))
        }
        _ => format!("{value:#}"),
    }
}

/// Returns whether a type has every field of a value, beside the directives of a strategic merge patch.
pub(super) fn fits(value: &Value, root: &Struct, has_directives: bool) -> bool {
    let fits_type = |member: &Value, ty: &Type| fits_type(member, ty, has_directives);
    let members = value.as_object().into_iter().flatten();
    members
        .filter(|(name, _)| !(has_directives && name.starts_with('$')))
        .all(|(name, member)| root.member(name).is_some_and(|ty| fits_type(member, ty)))
}

fn fits_type(value: &Value, ty: &Type, has_directives: bool) -> bool {
    match (ty, value) {
        (Type::Struct(inner), value) => fits(value, inner, has_directives),
        (Type::Map(inner), Value::Object(members)) => members
            .values()
            .all(|member| fits_type(member, &inner.value, has_directives)),
        (Type::List(inner), Value::Array(items)) => items
            .iter()
            .all(|item| fits_type(item, &inner.item, has_directives)),
        _ => true,
    }
}
