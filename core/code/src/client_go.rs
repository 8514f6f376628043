//! A request as Go code that sends it with `k8s.io/client-go`.

mod controller_runtime;
mod decoded;
mod fields;
mod imports;
mod literal;
mod options;
mod watch;

use std::sync::Arc;

use serde_json::Value;

use super::call::{ClientRequest, ParsedRequest, Snippet, json};
use super::edits::{Assignment, edits};
pub use controller_runtime::{ControllerRuntimeMethod, controller_runtime};
use imports::Imports;
use literal::{literal, raw};
use optimist_apiserver::go::quote;
use optimist_apiserver::object::{Metadata, text};
use optimist_client::{OnConflict, RequestKind};

/// A Go function that sends a request: with the typed client for built-in kinds, with the dynamic
/// one for others.
pub fn client_go(call: &ClientRequest<'_>) -> Snippet {
    let request = call.read();
    let mut go = Go::new(call, &request);
    let code = match request.verb {
        RequestKind::Other => go.other(),
        _ => go.function().unwrap_or_else(|| go.other()),
    };
    Snippet {
        imports: go.imports.render(),
        code,
    }
}

struct Go<'a> {
    call: &'a ClientRequest<'a>,
    request: &'a ParsedRequest<'a>,
    imports: Imports,
    /// `true` if the request is sent by its path, as no client has a method for it.
    by_path: bool,
}

impl<'a> Go<'a> {
    fn new(call: &'a ClientRequest<'a>, request: &'a ParsedRequest<'a>) -> Self {
        Self {
            call,
            request,
            imports: Imports::default(),
            by_path: false,
        }
    }
}

impl Go<'_> {
    fn function(&mut self) -> Option<String> {
        let verb = self.request.verb;
        let scale = self.request.target.subresource == "scale";
        let patches = matches!(
            verb,
            RequestKind::MergePatch
                | RequestKind::StrategicMergePatch
                | RequestKind::JsonPatch
                | RequestKind::Apply
        );
        let is_typed = self.call.typed().is_some();
        if scale && (patches && is_typed || verb == RequestKind::Update && !is_typed) {
            // The typed client would read the answer as the object.
            return None;
        }
        if is_typed && !self.has_typed_method() {
            return None;
        }
        let body = match verb {
            RequestKind::Get => return Some(self.get()),
            RequestKind::Create => self.create(),
            RequestKind::Update => self.update(),
            RequestKind::Delete => self.delete(),
            _ => self.patch(),
        };
        let name = match verb {
            RequestKind::Create => "create",
            RequestKind::Update => "update",
            RequestKind::Delete => "remove",
            RequestKind::Apply => "apply",
            _ => "patch",
        };
        Some(self.wrap(name, &body))
    }

    /// Returns whether the typed client has a method for the subresource: for a scale that the kind has, and to
    /// write a status (`k8s.io/code-generator/cmd/client-gen/types/tags.go`, the verbs of `+genclient`).
    fn has_typed_method(&self) -> bool {
        let subresource = self.request.target.subresource;
        let mut endpoints = self.call.resource.iter().flat_map(|it| &it.endpoints);
        let is_served = endpoints.any(|endpoint| endpoint.name == subresource);
        is_served && (subresource != "status" || self.request.verb != RequestKind::Get)
    }

    /// A function around the statements, with the retry loop.
    fn wrap(&mut self, name: &str, body: &GoFunction) -> String {
        self.imports.add("context");
        let client = self.client_type();
        let mut parameters = format!("ctx context.Context, client {client}");
        let retries = self.call.attempts > 1;
        let reads = retries && self.call.reads_again && !body.object.is_empty();
        let mut outer = String::new();
        if !body.object.is_empty() && !reads {
            parameters.push_str(&format!(", {} {}", body.object, self.object_type()));
        }
        let mut inner = String::new();
        if reads {
            let variable = &body.object;
            let get = self.call_of("Get", "");
            inner.push_str(&format!(
                "{variable}, err := {get}\nif err != nil {{\n\treturn err\n}}\n"
            ));
        }
        let once = if reads { &mut inner } else { &mut outer };
        once.push_str(&body.before);
        let assign = if reads { "=" } else { ":=" };
        inner.push_str(&match body.answers {
            true => format!("_, err {assign} {}\nreturn err\n", body.send),
            false => format!("return {}\n", body.send),
        });
        if retries {
            self.imports.add("k8s.io/client-go/util/retry");
            let backoff = self.backoff();
            let inner = indent(&inner);
            outer.push_str(&format!(
                "return retry.RetryOnConflict({backoff}, func() error {{\n{inner}}})\n"
            ));
        } else {
            outer.push_str(&inner);
        }
        let comment = &body.comment;
        let statements = indent(&outer);
        format!("{comment}func {name}({parameters}) error {{\n{statements}}}\n")
    }

    fn backoff(&mut self) -> String {
        if self.call.attempts == OnConflict::DEFAULT_ATTEMPTS {
            return "retry.DefaultRetry".to_owned();
        }
        self.imports.add("k8s.io/apimachinery/pkg/util/wait");
        self.imports.add("time");
        let steps = self.call.attempts;
        format!(
            "wait.Backoff{{Steps: {steps}, Duration: 10 * time.Millisecond, Factor: 1.0, Jitter: 0.1}}"
        )
    }

    fn get(&mut self) -> String {
        self.imports.add("context");
        let client = self.client_type();
        let (returns, get) =
            if self.request.target.subresource == "scale" && self.call.typed().is_some() {
                let scale = format!("*{}.Scale", self.imports.package_of("Scale"));
                let name = quote(self.request.target.name);
                let options = format!("{}.GetOptions{{}}", self.imports.meta());
                (
                    scale,
                    format!("{}.GetScale(ctx, {name}, {options})", self.objects()),
                )
            } else {
                (self.object_type(), self.call_of("Get", ""))
            };
        format!(
            "func get(ctx context.Context, client {client}) ({returns}, error) {{\n\treturn {get}\n}}\n"
        )
    }

    fn create(&mut self) -> GoFunction {
        let (declare, variable) = self.decoded();
        let options = self.options("CreateOptions");
        GoFunction {
            before: declare,
            send: format!("{}.Create(ctx, {variable}, {options})", self.objects()),
            answers: true,
            ..GoFunction::default()
        }
    }

    fn update(&mut self) -> GoFunction {
        let options = self.options("UpdateOptions");
        let objects = self.objects();
        if self.request.target.subresource == "scale" {
            let (declare, variable) = self.decoded_as("Scale");
            let name = quote(self.request.target.name);
            return GoFunction {
                before: declare,
                send: format!("{objects}.UpdateScale(ctx, {name}, {variable}, {options})"),
                answers: true,
                ..GoFunction::default()
            };
        }
        let verb = match self.request.target.subresource {
            "status" => "UpdateStatus",
            _ => "Update",
        };
        let variable = self.variable();
        let Some(mut before) = self.statements(&variable) else {
            let (declare, variable) = self.decoded();
            return GoFunction {
                before: declare,
                send: format!("{objects}.{verb}(ctx, {variable}, {options})"),
                answers: true,
                ..GoFunction::default()
            };
        };
        if self.call.version().is_empty() {
            let clear = match self.call.typed() {
                Some(_) => format!("{variable}.ResourceVersion = \"\""),
                None => format!("{variable}.SetResourceVersion(\"\")"),
            };
            before.push_str(&format!("{clear} // so nothing is compared\n"));
        }
        let comment = if self.call.attempts > 1 && self.call.reads_again {
            String::new()
        } else {
            format!(
                "// {variable} is what Get returned{}.\n",
                self.call.at_version()
            )
        };
        GoFunction {
            comment,
            send: format!("{objects}.{verb}(ctx, {variable}, {options})"),
            object: variable,
            before,
            answers: true,
        }
    }

    /// The edits as statements; `None` if the body was not made from an object that was read, or
    /// its type has no field for one of them.
    fn statements(&mut self, variable: &str) -> Option<String> {
        let edits = edits(self.call.edits?, self.call.body);
        let root = self.call.typed().map(|resource| Arc::clone(&resource.root));
        let assign = |edit: &Assignment| match &root {
            Some(root) => fields::assign(variable, root, edit, &mut self.imports),
            None => Some(self.set_nested(variable, edit)),
        };
        edits.iter().map(assign).collect()
    }

    fn set_nested(&mut self, variable: &str, edit: &Assignment) -> String {
        self.imports
            .add("k8s.io/apimachinery/pkg/apis/meta/v1/unstructured");
        // The helper functions follow maps only, so a list is set as a whole.
        let mut at = self.call.body;
        let mut fields = Vec::new();
        let mut value = edit.value.as_ref();
        for part in &edit.path {
            if at.is_array() {
                value = Some(at);
                break;
            }
            fields.push(quote(part));
            at = at.get(part).unwrap_or(&Value::Null);
        }
        let fields = fields.join(", ");
        match value {
            Some(value) => format!(
                "if err := unstructured.SetNestedField({variable}.Object, {}, {fields}); err != nil {{\n\
                 \treturn err\n}}\n",
                literal(value)
            ),
            None => format!("unstructured.RemoveNestedField({variable}.Object, {fields})\n"),
        }
    }

    fn patch(&mut self) -> GoFunction {
        self.imports.add("k8s.io/apimachinery/pkg/types");
        let kind = match self.request.verb {
            RequestKind::MergePatch => "types.MergePatchType",
            RequestKind::StrategicMergePatch => "types.StrategicMergePatchType",
            RequestKind::JsonPatch => "types.JSONPatchType",
            _ => "types.ApplyPatchType",
        };
        let reads = self.call.attempts > 1 && self.call.reads_again;
        let conditional = !self.call.version().is_empty();
        let (before, object) = if reads && conditional {
            const VERSION: &str = "\u{1}";
            let mut body = self.call.body.clone();
            body.set_meta("resourceVersion", VERSION);
            let text = json(&body).replace('%', "%%");
            let text = text.replace(&Value::from(VERSION).to_string(), "%q");
            self.imports.add("fmt");
            let body = raw(&text);
            (
                format!("body := fmt.Appendf(nil, {body}, current.ResourceVersion)\n"),
                "current".to_owned(),
            )
        } else {
            let body = raw(&json(self.call.body));
            (format!("body := []byte({body})\n"), String::new())
        };
        let options = self.options("PatchOptions");
        let name = quote(self.request.target.name);
        let mut send = format!(
            "{}.Patch(ctx, {name}, {kind}, body, {options}",
            self.objects()
        );
        if !self.request.target.subresource.is_empty() {
            send.push_str(", ");
            send.push_str(&quote(self.request.target.subresource));
        }
        send.push(')');
        let mut body = GoFunction {
            before,
            send,
            answers: true,
            object,
            ..GoFunction::default()
        };
        if body.object == "current" && self.call.typed().is_none() {
            body.before = body
                .before
                .replace("current.ResourceVersion", "current.GetResourceVersion()");
        }
        body
    }

    fn delete(&mut self) -> GoFunction {
        let options = self.options("DeleteOptions");
        let name = quote(self.request.target.name);
        GoFunction {
            send: format!("{}.Delete(ctx, {name}, {options})", self.objects()),
            ..GoFunction::default()
        }
    }

    /// A request that the clients have no method for, by its path.
    fn other(&mut self) -> String {
        self.imports = Imports::default();
        self.imports.add("k8s.io/client-go/kubernetes");
        self.by_path = true;
        let call = self.call;
        let target = quote(&call.target_as(&self.request.manager));
        let method = quote(call.method);
        let mut send =
            format!("client.Discovery().RESTClient().Verb({method}).RequestURI({target})");
        if !call.body.is_null() {
            if !call.content_type.is_empty() {
                let kind = quote(call.content_type);
                send.push_str(&format!(".\n\tSetHeader(\"Content-Type\", {kind})"));
            }
            send.push_str(&format!(".\n\tBody([]byte({}))", raw(&json(call.body))));
        }
        if self.request.watches {
            return self.watch(&send);
        }
        if call.method == "GET" {
            self.imports.add("context");
            return format!(
                "func get(ctx context.Context, client kubernetes.Interface) ([]byte, error) {{\n\
                 {}}}\n",
                indent(&format!("return {send}.DoRaw(ctx)\n"))
            );
        }
        send.push_str(".\n\tDo(ctx).Error()");
        let body = GoFunction {
            send,
            ..GoFunction::default()
        };
        self.wrap("send", &body)
    }

    /// `client.AppsV1().Deployments("default")`.
    fn objects(&mut self) -> String {
        let target = &self.request.target;
        let namespace = quote(target.namespace);
        match self.call.typed() {
            Some(resource) => {
                let group = match resource.group_version.group.split('.').next() {
                    Some("") | None => "core",
                    Some(group) => group,
                };
                let group = capital(group) + &capital(&resource.group_version.version);
                let namespace = if resource.namespaced { &*namespace } else { "" };
                format!("client.{group}().{}s({namespace})", resource.kind)
            }
            None => {
                self.imports.add("k8s.io/apimachinery/pkg/runtime/schema");
                let (group, version) = (quote(target.group), quote(target.version));
                let plural = quote(target.plural);
                let of = format!(
                    "client.Resource(schema.GroupVersionResource{{Group: {group}, Version: {version}, Resource: {plural}}})"
                );
                if target.namespace.is_empty() {
                    of
                } else {
                    format!("{of}.\n\tNamespace({namespace})")
                }
            }
        }
    }

    fn call_of(&mut self, verb: &str, extra: &str) -> String {
        let name = quote(self.request.target.name);
        let options = format!("{}.{verb}Options{{}}", self.imports.meta());
        let subresource = match (self.call.typed(), self.request.target.subresource) {
            (Some(_), _) | (_, "") => String::new(),
            (None, subresource) => format!(", {}", quote(subresource)),
        };
        format!(
            "{}.{verb}(ctx, {name}, {options}{extra}{subresource})",
            self.objects()
        )
    }

    fn client_type(&mut self) -> &'static str {
        if self.by_path || self.call.typed().is_some() {
            self.imports.add("k8s.io/client-go/kubernetes");
            "kubernetes.Interface"
        } else {
            self.imports.add("k8s.io/client-go/dynamic");
            "dynamic.Interface"
        }
    }

    fn object_type(&mut self) -> String {
        match self.call.typed() {
            Some(resource) => {
                let kind = resource.kind.clone();
                format!("*{}.{kind}", self.imports.package_of(&kind))
            }
            None => {
                self.imports
                    .add("k8s.io/apimachinery/pkg/apis/meta/v1/unstructured");
                "*unstructured.Unstructured".to_owned()
            }
        }
    }

    /// `configMap`.
    fn variable(&self) -> String {
        let kind = text(self.call.body, "kind");
        let mut letters = kind.chars();
        let first = letters.next().map(|c| c.to_ascii_lowercase());
        let name: String = first
            .into_iter()
            .chain(letters)
            .filter(char::is_ascii_alphanumeric)
            .collect();
        if self.call.typed().is_some() {
            name
        } else {
            "object".to_owned()
        }
    }
}

/// The parts of a function.
#[derive(Default)]
struct GoFunction {
    /// A comment above it.
    comment: String,
    /// The object that it takes as a parameter, or reads in a retry loop.
    object: String,
    /// The statements before the request.
    before: String,
    /// The expression that sends the request.
    send: String,
    /// `true` if the code also returns the answer.
    answers: bool,
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Indents code by one level, also in raw strings: they contain JSON, where spaces do not matter.
fn indent(code: &str) -> String {
    code.lines().map(|line| format!("\t{line}\n")).collect()
}
