//! A request as Rust code that sends it with the `kube` crate.

mod fields;
mod literal;
mod params;

use optimist_client::RequestKind;
use serde_json::Value;

use super::call::{ClientRequest, ParsedRequest, Snippet};
use super::edits::{Assignment, edits};
use literal::{literal, string};
use params::params;

/// An async Rust function that sends a request: with the types of `k8s-openapi` for built-in
/// kinds, with `DynamicObject` for others.
pub fn kube_rs(call: &ClientRequest<'_>) -> Snippet {
    let request = call.read();
    let rust = Rust {
        call,
        request: &request,
    };
    let code = match request.verb {
        RequestKind::Other => rust.other(),
        _ => rust.function().unwrap_or_else(|| rust.other()),
    };
    Snippet {
        imports: rust.imports(&code),
        code,
    }
}

struct Rust<'a> {
    call: &'a ClientRequest<'a>,
    request: &'a ParsedRequest<'a>,
}

/// The parts of a function.
#[derive(Default)]
struct RustFunction {
    /// A comment above it.
    comment: String,
    /// The object that it takes as a parameter, or reads in a retry loop, and whether it changes
    /// it.
    object: Option<(String, bool)>,
    /// The statements before the request.
    before: String,
    /// The expression that sends the request, to be awaited.
    send: String,
}

/// A function that prints the events of a watch, until the server ends it.
fn watch(request: &str) -> String {
    let body = format!(
        "{request}let events = client.request_events::<DynamicObject>(request).await?;\n\
         let mut events = std::pin::pin!(events);\n\
         while let Some(event) = events.try_next().await? {{\n    println!(\"{{event:?}}\");\n}}\nOk(())\n"
    );
    format!(
        "async fn watch(client: Client) -> {RESULT} {{\n{}}}\n",
        indent(&body)
    )
}

/// The return type of a function.
const RESULT: &str = "Result<(), Box<dyn std::error::Error>>";

impl Rust<'_> {
    /// The imports of the code.
    fn imports(&self, code: &str) -> String {
        let mut lines = Vec::new();
        if let Some(resource) = self.call.typed() {
            let group = match resource.group_version.group.split('.').next() {
                Some("") | None => "core",
                Some(group) => group,
            };
            let (version, kind) = (&resource.group_version.version, &resource.kind);
            if code.contains(&format!("Api<{kind}>")) {
                lines.push(format!(
                    "use k8s_openapi::api::{group}::{version}::{kind};\n"
                ));
            }
        }
        let used = |from: &str, names: &[(&str, &str)]| {
            let names = names.iter().filter(|(_, use_of)| code.contains(use_of));
            let mut names: Vec<&str> = names.map(|(name, _)| *name).collect();
            names.dedup();
            match names.as_slice() {
                [] => String::new(),
                [one] => format!("use {from}::{one};\n"),
                many => format!("use {from}::{{{}}};\n", many.join(", ")),
            }
        };
        lines.push(used(
            "kube::api",
            &[
                ("Api", "Api<"),
                ("ApiResource", "ApiResource::"),
                ("DeleteParams", "= DeleteParams"),
                ("DynamicObject", "DynamicObject"),
                ("GroupVersionKind", "GroupVersionKind::"),
                ("Patch", "&Patch::"),
                ("PatchParams", "= PatchParams"),
                ("PostParams", "= PostParams"),
                ("Preconditions", "Preconditions {"),
                ("PropagationPolicy", "PropagationPolicy::"),
                ("ValidationDirective", "ValidationDirective::"),
            ],
        ));
        lines.push("use kube::Client;\n".to_owned());
        if code.contains(".try_next()") {
            lines.insert(0, "use futures::TryStreamExt;\n".to_owned());
        }
        lines.push(used(
            "serde_json",
            &[
                ("json", "json!("),
                ("Value", ": Value ="),
                ("Value", "::<Value>"),
            ],
        ));
        lines.concat()
    }

    fn function(&self) -> Option<String> {
        let request = self.request;
        if request.target.subresource == "scale" && request.verb == RequestKind::Create {
            return None;
        }
        if request.strict && matches!(request.verb, RequestKind::Create | RequestKind::Update) {
            // `PostParams` has no `fieldValidation`.
            return None;
        }
        let body = match request.verb {
            RequestKind::Get => return Some(self.get()),
            RequestKind::Create => self.create(),
            RequestKind::Update => self.update(),
            RequestKind::Delete => self.delete(),
            _ => self.patch(),
        };
        let name = match request.verb {
            RequestKind::Create => "create",
            RequestKind::Update => "update",
            RequestKind::Delete => "delete",
            RequestKind::Apply => "apply",
            _ => "patch",
        };
        Some(self.wrap(name, &self.api(), &body))
    }

    /// A function around the statements, with the retry loop.
    fn wrap(&self, name: &str, api: &str, body: &RustFunction) -> String {
        let attempts = self.call.attempts;
        let mut parameters = "client: Client".to_owned();
        let mut read = String::new();
        if let Some((variable, changed)) = &body.object {
            let mutable = if *changed { "mut " } else { "" };
            if attempts > 1 && self.call.reads_again {
                let object = string(self.request.target.name);
                read = format!("let {mutable}{variable} = api.get({object}).await?;\n");
            } else {
                parameters.push_str(&format!(", {mutable}{variable}: {}", self.object_type()));
            }
        }
        let mut statements = api.to_owned();
        if attempts <= 1 {
            statements.push_str(&body.before);
            statements.push_str(&format!("{}.await?;\nOk(())\n", body.send));
        } else {
            let mut inner = read.clone();
            if read.is_empty() {
                statements.push_str(&body.before);
            } else {
                inner.push_str(&body.before);
            }
            inner.push_str(&format!(
                "match {}.await {{\n    \
                 Err(kube::Error::Api(status)) if status.is_conflict() && attempt < {attempts} => attempt += 1,\n    \
                 answer => return answer.map(drop).map_err(Into::into),\n}}\n\
                 tokio::time::sleep(std::time::Duration::from_millis(10)).await;\n",
                body.send
            ));
            statements.push_str("let mut attempt = 1;\n");
            statements.push_str(&format!("loop {{\n{}}}\n", indent(&inner)));
        }
        format!(
            "{}async fn {name}({parameters}) -> {RESULT} {{\n{}}}\n",
            body.comment,
            indent(&statements)
        )
    }

    fn get(&self) -> String {
        let name = string(self.request.target.name);
        let object = self.object_type();
        let (returns, method) = match self.request.target.subresource {
            "scale" => ("k8s_openapi::api::autoscaling::v1::Scale", "get_scale"),
            "status" => (&*object, "get_status"),
            _ => (&*object, "get"),
        };
        format!(
            "async fn get(client: Client) -> kube::Result<{returns}> {{\n{}}}\n",
            indent(&format!("{}api.{method}({name}).await\n", self.api()))
        )
    }

    fn create(&self) -> RustFunction {
        RustFunction {
            before: format!("{}let object = {};\n", self.post_params(), self.decoded()),
            send: "api.create(&params, &object)".to_owned(),
            ..RustFunction::default()
        }
    }

    fn update(&self) -> RustFunction {
        let name = string(self.request.target.name);
        let params = self.post_params();
        let method = match self.request.target.subresource {
            "" => "replace",
            "status" => "replace_status",
            _ => "replace_scale",
        };
        let variable = self.variable();
        let Some(mut before) = self.statements(&variable) else {
            return RustFunction {
                before: format!("{params}let object = {};\n", self.decoded()),
                send: format!("api.{method}({name}, &params, &object)"),
                ..RustFunction::default()
            };
        };
        if self.call.version().is_empty() {
            before.push_str(&format!(
                "{variable}.metadata.resource_version = None; // so nothing is compared\n"
            ));
        }
        let changed = !before.is_empty();
        let comment = if self.call.attempts > 1 && self.call.reads_again {
            String::new()
        } else {
            let version = self.call.at_version();
            format!("/// `{variable}` is what `Api::get` returned{version}.\n")
        };
        before.push_str(&params);
        RustFunction {
            comment,
            before,
            send: format!("api.{method}({name}, &params, &{variable})"),
            object: Some((variable, changed)),
        }
    }

    /// The edits as statements; `None` if the body was not made from an object that was read, or
    /// its type has no field for one of them.
    fn statements(&self, variable: &str) -> Option<String> {
        if self.request.target.subresource == "scale" {
            return None;
        }
        let edits = edits(self.call.edits?, self.call.body);
        let assign = |edit| match self.call.typed() {
            Some(resource) => fields::assign(variable, &resource.root, edit),
            None => self.assign_dynamic(variable, edit),
        };
        edits.iter().map(assign).collect()
    }

    fn assign_dynamic(&self, variable: &str, edit: &Assignment) -> Option<String> {
        if let [first, rest @ ..] = edit.path.as_slice()
            && first == "metadata"
        {
            let meta = optimist_apiserver::schema::builtin("ObjectMeta")?;
            let edit = Assignment {
                path: rest.to_vec(),
                value: edit.value.clone(),
                adds: false,
            };
            return fields::assign(&format!("{variable}.metadata"), meta, &edit);
        }
        let mut at = self.call.body;
        let mut place = format!("{variable}.data");
        let (last, parents) = edit.path.split_last()?;
        for part in parents {
            place.push_str(&index(at, part));
            at = at.get(part).unwrap_or(&Value::Null);
        }
        let Some(value) = &edit.value else {
            let key = string(last);
            return Some(format!(
                "if let Some(object) = {place}.as_object_mut() {{\n    object.remove({key});\n}}\n"
            ));
        };
        let last = index(at, last);
        Some(format!("{place}{last} = {};\n", literal(value)))
    }

    fn patch(&self) -> RustFunction {
        let reads = self.call.attempts > 1 && self.call.reads_again;
        let conditional = reads && !self.call.version().is_empty();
        let mut before = self.patch_params();
        let patch = match self.request.verb {
            RequestKind::MergePatch => "Patch::Merge(&patch)",
            RequestKind::StrategicMergePatch => "Patch::Strategic(&patch)",
            RequestKind::Apply => "Patch::Apply(&patch)",
            _ if self.call.attempts > 1 => {
                "Patch::Json::<()>(serde_json::from_value(patch.clone())?)"
            }
            _ => "Patch::Json::<()>(serde_json::from_value(patch)?)",
        };
        let body = literal(self.call.body);
        if conditional {
            before.push_str(&format!(
                "let mut patch: Value = {body};\n\
                 patch[\"metadata\"][\"resourceVersion\"] = current.metadata.resource_version.into();\n"
            ));
        } else {
            before.push_str(&format!("let patch: Value = {body};\n"));
        }
        let name = string(self.request.target.name);
        let method = match self.request.target.subresource {
            "" => "patch",
            "status" => "patch_status",
            _ => "patch_scale",
        };
        RustFunction {
            before,
            send: format!("api.{method}({name}, &params, &{patch})"),
            object: conditional.then(|| ("current".to_owned(), false)),
            ..RustFunction::default()
        }
    }

    fn delete(&self) -> RustFunction {
        let mut members = Vec::new();
        let body = self.call.body;
        let conditions: Vec<String> = [("uid", "uid"), ("resourceVersion", "resource_version")]
            .into_iter()
            .filter_map(|(field, name)| {
                let value = body.get("preconditions")?.get(field)?.as_str()?;
                Some(format!("{name}: Some({}.into())", string(value)))
            })
            .collect();
        match conditions.len() {
            0 => {}
            2 => members.push(format!(
                "preconditions: Some(Preconditions {{ {} }})",
                conditions.join(", ")
            )),
            _ => members.push(format!(
                "preconditions: Some(Preconditions {{ {}, ..Default::default() }})",
                conditions.join(", ")
            )),
        }
        if let Some(seconds) = body.get("gracePeriodSeconds").and_then(Value::as_u64) {
            members.push(format!("grace_period_seconds: Some({seconds})"));
        }
        if let Some(policy @ ("Background" | "Foreground" | "Orphan")) =
            body.get("propagationPolicy").and_then(Value::as_str)
        {
            members.push(format!(
                "propagation_policy: Some(PropagationPolicy::{policy})"
            ));
        }
        if self.request.dry_run {
            members.push("dry_run: true".to_owned());
        }
        let name = string(self.request.target.name);
        RustFunction {
            before: params("DeleteParams", &members),
            send: format!("api.delete({name}, &params)"),
            ..RustFunction::default()
        }
    }

    /// A request that `Api` has no method for, by its path.
    fn other(&self) -> String {
        let call = self.call;
        let target = call.target_as(&self.request.manager);
        let (method, target) = (string(call.method), string(&target));
        let mut before =
            format!("let request = http::Request::builder().method({method}).uri({target})");
        if !call.content_type.is_empty() {
            let kind = string(call.content_type);
            before.push_str(&format!(".header(\"content-type\", {kind})"));
        }
        before.push_str(&match call.body {
            Value::Null => ".body(Vec::new())?;\n".to_owned(),
            body => format!(".body({}.to_string().into_bytes())?;\n", literal(body)),
        });
        if self.request.watches {
            return watch(&before);
        }
        let send = if call.attempts > 1 {
            "client.request_text(request.clone())"
        } else {
            "client.request_text(request)"
        };
        let body = RustFunction {
            before,
            send: send.to_owned(),
            ..RustFunction::default()
        };
        self.wrap("send", "", &body)
    }

    /// `let api: Api<Deployment> = Api::namespaced(client, "default");`
    fn api(&self) -> String {
        let target = &self.request.target;
        let namespace = string(target.namespace);
        match self.call.typed() {
            Some(resource) if resource.namespaced => format!(
                "let api: Api<{}> = Api::namespaced(client, {namespace});\n",
                resource.kind
            ),
            Some(resource) => format!("let api: Api<{}> = Api::all(client);\n", resource.kind),
            None => {
                let kind = self.call.resource.map_or("", |resource| &*resource.kind);
                let gvk = [target.group, target.version, kind].map(string).join(", ");
                let plural = string(target.plural);
                let resource = format!(
                    "let gvk = GroupVersionKind::gvk({gvk});\n\
                     let resource = ApiResource::from_gvk_with_plural(&gvk, {plural});\n"
                );
                let api = if target.namespace.is_empty() {
                    "Api::all_with(client, &resource)".to_owned()
                } else {
                    format!("Api::namespaced_with(client, {namespace}, &resource)")
                };
                format!("{resource}let api: Api<DynamicObject> = {api};\n")
            }
        }
    }

    fn object_type(&self) -> String {
        let kind = self.call.typed().map(|resource| resource.kind.clone());
        kind.unwrap_or_else(|| "DynamicObject".to_owned())
    }

    /// `config_map`.
    fn variable(&self) -> String {
        match self.call.typed() {
            Some(resource) => {
                let kind = &resource.kind;
                let (first, rest) = kind.split_at(kind.len().min(1));
                fields::snake(&(first.to_ascii_lowercase() + rest))
            }
            None => "object".to_owned(),
        }
    }

    /// The body as an object, with an inferred type.
    fn decoded(&self) -> String {
        format!("serde_json::from_value({})?", literal(self.call.body))
    }
}

/// `["replicas"]`, `[0]`.
fn index(of: &Value, part: &str) -> String {
    if of.is_array() {
        format!("[{part}]")
    } else {
        format!("[{}]", string(part))
    }
}

fn indent(code: &str) -> String {
    code.lines()
        .map(|line| {
            if line.is_empty() {
                "\n".to_owned()
            } else {
                format!("    {line}\n")
            }
        })
        .collect()
}
