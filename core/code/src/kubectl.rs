//! A request as a shell command that sends it.

use serde_json::Value;

use super::call::{ClientRequest, ParsedRequest, fits, json};
use crate::shell::{delimiter, quote, quote_always, without_nul};
use optimist_apiserver::object::text;
use optimist_apiserver::schema::{Struct, builtin};
use optimist_apiserver::server::{Definition, Resource};
use optimist_client::{RequestKind, to_yaml, with_renewed_annotation};

/// The kubectl command that sends a request. If no command sends exactly this request, the closest
/// command, with a comment about the difference.
pub fn kubectl(call: &ClientRequest<'_>) -> String {
    let request = read(call);
    let mut shell = Shell {
        call,
        request: &request,
        repeats: call.attempts > 1 && !call.reads_again,
        out: String::new(),
    };
    shell.render();
    without_nul(shell.out)
}

/// The same command with `--dry-run=server`: the server checks the write, and stores nothing. `None` if
/// the request writes nothing, or if its command has no such option.
pub fn kubectl_dry_run(call: &ClientRequest<'_>) -> Option<String> {
    let mut request = read(call);
    if request.verb == RequestKind::Get || is_raw(call, &request) || request.dry_run {
        return None;
    }
    request.dry_run = true;
    let mut shell = Shell {
        call: &ClientRequest {
            attempts: 1,
            ..*call
        },
        request: &request,
        repeats: false,
        out: String::new(),
    };
    shell.render();
    Some(without_nul(shell.out))
}

/// Returns whether a request is sent as it is (`--raw`, or curl for a PATCH), because kubectl has no command
/// that sends it.
pub(super) fn is_raw(call: &ClientRequest<'_>, request: &ParsedRequest<'_>) -> bool {
    match request.verb {
        RequestKind::Update => {
            call.version().is_empty() || is_scale(call) || changes_last_applied(call)
        }
        RequestKind::Create => changes_last_applied(call),
        RequestKind::Apply => is_scale(call),
        RequestKind::Delete => cascade(call.body).is_none(),
        RequestKind::Other => true,
        _ => false,
    }
}

/// Takes a request apart for kubectl: `kubectl patch` does not ask for strict validation
/// (`k8s.io/kubectl/pkg/cmd/patch/patch.go RunPatch`, v0.36), which refuses unknown fields. The operations of a JSON
/// patch do not say whether there is one.
pub(super) fn read<'a>(call: &ClientRequest<'a>) -> ParsedRequest<'a> {
    let request = call.read();
    let refuses = match request.verb {
        RequestKind::JsonPatch => request.strict,
        RequestKind::MergePatch | RequestKind::StrategicMergePatch => {
            request.strict && !is_known(call, &request)
        }
        _ => false,
    };
    match refuses {
        true => ParsedRequest {
            verb: RequestKind::Other,
            ..request
        },
        false => request,
    }
}

/// Returns whether the server knows each field of the body.
fn is_known(call: &ClientRequest<'_>, request: &ParsedRequest<'_>) -> bool {
    let has_directives = request.verb == RequestKind::StrategicMergePatch;
    let fits = |root: &Struct| fits(call.body, root, has_directives);
    call.resource
        .is_none_or(|resource| match request.target.subresource {
            "scale" => builtin("Scale").is_none_or(|scale| fits(scale)),
            _ => fits(&resource.root),
        })
}

/// By default the server warns about unknown fields; kubectl asks it to refuse them.
pub(super) fn validation_option(
    call: &ClientRequest<'_>,
    request: &ParsedRequest<'_>,
) -> &'static str {
    match request.strict || is_known(call, request) {
        true => "",
        false => "--validate=warn",
    }
}

struct Shell<'a> {
    call: &'a ClientRequest<'a>,
    request: &'a ParsedRequest<'a>,
    /// `true` if the command is in a loop that ends when it succeeds.
    repeats: bool,
    out: String,
}

impl Shell<'_> {
    fn render(&mut self) {
        let call = self.call;
        if self.repeats {
            let attempts: String = (1..=call.attempts).map(|i| format!(" {i}")).collect();
            self.out = format!("for attempt in{attempts}; do\n");
        }
        match self.request.verb {
            RequestKind::Get => {
                let object = self.object();
                self.command("kubectl get", &[&object, &self.subresource(), "-o yaml"]);
            }
            RequestKind::Update if call.version().is_empty() => {
                self.comment(
                    "kubectl replace would first read the version that is stored and send that. \
                     With --raw the body goes as it is, and nothing is compared.",
                );
                self.raw("kubectl replace --raw");
            }
            RequestKind::Update | RequestKind::Apply if is_scale(call) => {
                self.comment(
                    "kubectl reads no file with a Scale: the API serves it as a subresource alone.",
                );
                self.other();
            }
            RequestKind::Create | RequestKind::Update if changes_last_applied(call) => {
                self.comment(
                    "From a file, kubectl would put the text of this object into the annotation of \
                     client-side apply. With --raw the body goes as it is.",
                );
                self.other();
            }
            RequestKind::Create => self.manifest("kubectl create", &[]),
            RequestKind::Update => self.manifest("kubectl replace", &[&self.subresource()]),
            RequestKind::MergePatch => self.patch("merge"),
            RequestKind::StrategicMergePatch => self.patch("strategic"),
            RequestKind::JsonPatch => self.patch("json"),
            RequestKind::Apply => self.apply(),
            RequestKind::Delete => self.delete(),
            RequestKind::Other => self.other(),
        }
        if self.repeats {
            self.out.push_str("done\n");
        } else if call.attempts > 1 {
            self.comment(
                "kubectl does not try again after a conflict: read, edit and send again by hand.",
            );
        }
    }

    /// One line of arguments, without empty ones.
    fn command(&mut self, command: &str, arguments: &[&str]) {
        self.out.push_str(command);
        for argument in arguments.iter().filter(|argument| !argument.is_empty()) {
            self.out.push(' ');
            self.out.push_str(argument);
        }
        self.out
            .push_str(if self.repeats { " && break\n" } else { "\n" });
    }

    /// A comment, broken into lines.
    fn comment(&mut self, text: &str) {
        let mut width = 0;
        for word in text.split(' ') {
            self.out.push_str(match width {
                0 => "# ",
                1..70 => " ",
                _ => "\n# ",
            });
            width = if width < 70 { width } else { 0 } + word.len() + 1;
            self.out.push_str(word);
        }
        self.out.push('\n');
    }

    /// `deployment nginx-deployment`, `backups.demo.example.com nightly`.
    fn object(&self) -> String {
        let target = &self.request.target;
        let kind = match self.call.resource {
            Some(resource) => kind_of(resource),
            None => format!("{}.{}", target.plural, target.group),
        };
        object_of(&kind, target.namespace, target.name)
    }

    fn subresource(&self) -> String {
        match self.request.target.subresource {
            "" => String::new(),
            name => quote(&format!("--subresource={name}")),
        }
    }

    fn manager(&self) -> String {
        match self.request.manager.as_str() {
            "" => String::new(),
            manager => quote(&format!("--field-manager={manager}")),
        }
    }

    fn dry_run(&self) -> &'static str {
        if self.request.dry_run {
            "--dry-run=server"
        } else {
            ""
        }
    }

    fn manifest(&mut self, command: &str, arguments: &[&str]) {
        let body = self.call.body;
        let namespace = namespace_option(self.request.target.namespace);
        let (manager, dry_run, validate) = (
            self.manager(),
            self.dry_run(),
            validation_option(self.call, self.request),
        );
        let mut all = arguments.to_vec();
        all.extend([namespace.trim_start(), &*manager, dry_run, validate, "-f -"]);
        let text = to_yaml(body);
        self.with_input(command, &all, &text);
    }

    fn patch(&mut self, kind: &str) {
        let patch = format!("-p {}", quote_always(&json(self.call.body)));
        let (object, subresource) = (self.object(), self.subresource());
        let (kind, manager) = (format!("--type={kind}"), self.manager());
        let arguments = [
            &*object,
            &*subresource,
            &*kind,
            &*manager,
            self.dry_run(),
            &*patch,
        ];
        self.command("kubectl patch", &arguments);
    }

    fn apply(&mut self) {
        if self.call.migrates {
            self.comment(
                "With more requests, kubectl then moves the fields of client-side apply to this manager.",
            );
        }
        let force = match self.request.force {
            true => "--force-conflicts",
            false => "",
        };
        let subresource = self.subresource();
        self.manifest("kubectl apply --server-side", &[force, &subresource]);
    }

    fn delete(&mut self) {
        let object = self.object();
        if self.call.body.is_null() {
            self.comment("kubectl also sends propagationPolicy: Background.");
        }
        let Some(cascade) = cascade(self.call.body) else {
            let why = match self.call.body.get("preconditions") {
                Some(_) => "kubectl delete has no flag for preconditions; --raw sends them.",
                None => "--raw sends these options as they are.",
            };
            self.comment(why);
            self.raw("kubectl delete --raw");
            return;
        };
        let dry_run = self.dry_run();
        self.command(
            "kubectl delete",
            &[&object, cascade, dry_run, "--wait=false"],
        );
    }

    fn other(&mut self) {
        match self.call.method {
            "GET" => self.raw("kubectl get --raw"),
            "POST" => self.raw("kubectl create --raw"),
            "PUT" => self.raw("kubectl replace --raw"),
            "DELETE" => self.raw("kubectl delete --raw"),
            method => {
                self.comment(match RequestKind::from_request(method, self.call.content_type) {
                    RequestKind::JsonPatch
                    | RequestKind::MergePatch
                    | RequestKind::StrategicMergePatch
                        if self.request.strict =>
                    {
                        "kubectl patch does not ask the server to refuse unknown fields. Through kubectl's proxy:"
                    }
                    _ => "kubectl has no command that sends this. Through its proxy:",
                });
                self.out.push_str("kubectl proxy --port=8001 &\n");
                let url = format!("http://127.0.0.1:8001{}", self.call.target);
                let header = format!("Content-Type: {}", self.call.content_type);
                let command = format!("curl -X {} {}", quote(method), quote(&url));
                let agent = format!("-A {}", quote(self.call.user_agent));
                let header = format!("-H {}", quote(&header));
                let text = format!("{:#}\n", self.call.body);
                self.with_input(&command, &[&agent, &header, "--data-binary @-"], &text);
            }
        }
    }

    /// A request to a path, with the body as it is.
    fn raw(&mut self, command: &str) {
        let target = quote(&self.call.target_as(&self.request.manager));
        if self.call.body.is_null() {
            self.command(command, &[&target]);
        } else {
            let text = format!("{:#}\n", self.call.body);
            self.with_input(command, &[&target, "-f -"], &text);
        }
    }

    /// A command with its input.
    fn with_input(&mut self, command: &str, arguments: &[&str], text: &str) {
        let end = delimiter(text, "EOF");
        let input = format!("<<'{end}'");
        let mut arguments = arguments.to_vec();
        arguments.push(&input);
        self.command(command, &arguments);
        self.out.push_str(text);
        self.out.push_str(&end);
        self.out.push('\n');
    }
}

/// Returns whether `kubectl create` and `kubectl replace` would change the annotation of client-side apply.
fn changes_last_applied(call: &ClientRequest<'_>) -> bool {
    with_renewed_annotation(call.body).is_some_and(|sent| sent != *call.body)
}

/// Returns whether the body is a Scale. kubectl maps the kind of a file to a resource, and no
/// resource has this kind.
fn is_scale(call: &ClientRequest<'_>) -> bool {
    text(call.body, "kind") == "Scale"
}

/// An object as commands of kubectl name it: `deployment web -n shop`, `backups.demo.example.com nightly`.
/// `None` if kubectl would take the name for an option.
pub fn kubectl_object(resource: &Resource, namespace: &str, name: &str) -> Option<String> {
    let option = name.starts_with('-') || namespace.starts_with('-');
    (!option).then(|| object_of(&kind_of(resource), namespace, name))
}

fn kind_of(resource: &Resource) -> String {
    match resource.definition {
        Definition::Builtin(_) => resource.kind.to_ascii_lowercase(),
        Definition::Custom(_) => format!("{}.{}", resource.plural, resource.group_version.group),
    }
}

fn object_of(kind: &str, namespace: &str, name: &str) -> String {
    let namespace = namespace_option(namespace);
    format!("{} {}{namespace}", quote(kind), quote(name))
}

/// The option that names a namespace, also for `default`: the context of who runs the command may have
/// another one.
pub fn namespace_option(namespace: &str) -> String {
    match namespace {
        "" => String::new(),
        namespace => format!(" -n {}", quote(namespace)),
    }
}

/// The option of `kubectl delete` for the options of a delete; empty for its default. `None` if it
/// has no such option.
pub(super) fn cascade(options: &Value) -> Option<&'static str> {
    let policy = options.get("propagationPolicy").and_then(Value::as_str);
    match (options, policy) {
        (Value::Null, _) => Some(""),
        (Value::Object(options), Some(policy)) if options.len() == 1 => match policy {
            "Background" => Some(""),
            "Foreground" => Some("--cascade=foreground"),
            "Orphan" => Some("--cascade=orphan"),
            _ => None,
        },
        _ => None,
    }
}
