//! The output of kubectl after it has sent a request.
//!
//! Source: `k8s.io/kubectl` v1.36, `pkg/cmd/util/helpers.go` `checkErr`, `StandardErrorMessage`,
//! `AddSourceToErr` and `MultilineError`; `pkg/cmd/{replace,patch,create,delete,apply}`; `k8s.io/cli-runtime`
//! `pkg/printers/name.go`. Compared with recordings of kubectl v1.36 in `tests/snippets.rs`.

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::status::causes;
use optimist_client::{RequestKind, to_yaml};
use optimist_simulation::Exchange;
use serde_json::Value;

use super::call::{ClientRequest, ParsedRequest};
use super::kubectl::is_raw;

/// The text that the terminal shows after a command of [`kubectl`](super::kubectl::kubectl).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubectlOutput {
    /// Standard error, then standard output.
    pub text: String,
    /// `true` if kubectl then prints advice on how to resolve an apply conflict. `text` does not
    /// have it.
    pub advice: bool,
    /// `true` if the text is the object of the answer.
    pub is_object: bool,
}

impl KubectlOutput {
    pub(super) fn message(text: String) -> Self {
        Self {
            text,
            advice: false,
            is_object: false,
        }
    }

    fn object(text: String) -> Self {
        Self {
            text,
            advice: false,
            is_object: true,
        }
    }
}

/// Returns the output of kubectl for the answer to a request.
pub fn kubectl_output(call: &ClientRequest<'_>, exchange: &Exchange) -> KubectlOutput {
    let request = super::kubectl::read(call);
    let answer = &*exchange.received;
    let mut output = if exchange.code < 400 {
        success(call, &request, exchange)
    } else {
        refusal(call, &request, exchange.code, answer)
    };
    for warning in exchange.warnings.iter().rev() {
        output.text.insert_str(0, &format!("Warning: {warning}\n"));
    }
    output
}

fn success(
    call: &ClientRequest<'_>,
    request: &ParsedRequest<'_>,
    exchange: &Exchange,
) -> KubectlOutput {
    let answer = &*exchange.received;
    if is_raw(call, request) {
        return match answer {
            Value::Null => KubectlOutput::default(),
            // A path such as /healthz answers with a text.
            Value::String(text) => KubectlOutput::message(text.clone()),
            // A watch prints a line for each event.
            Value::Array(events) => {
                let lines = events.iter().map(|event| format!("{event}\n"));
                KubectlOutput::object(lines.collect())
            }
            answer => KubectlOutput::object(format!("{answer}\n")),
        };
    }
    let operation = match request.verb {
        RequestKind::Get => return KubectlOutput::object(to_yaml(&printed(answer))),
        RequestKind::Delete => return deleted(call, request),
        RequestKind::Create => "created",
        RequestKind::Update => "replaced",
        RequestKind::Apply => "serverside-applied",
        // kubectl compares the answer with what it read just before.
        _ if exchange.is_unchanged() => "patched (no change)",
        _ => "patched",
    };
    let name = qualified(text(answer, "kind"), text(answer, "apiVersion"));
    let dry_run = dry_run(request);
    KubectlOutput::message(format!("{name}/{} {operation}{dry_run}\n", answer.name()))
}

fn dry_run(request: &ParsedRequest<'_>) -> &'static str {
    if request.dry_run {
        " (server dry run)"
    } else {
        ""
    }
}

/// `deployment.apps`; `configmap` for the group without a name.
pub(super) fn qualified(kind: &str, api_version: &str) -> String {
    let kind = kind.to_lowercase();
    match api_version.split_once('/') {
        Some((group, _)) => format!("{kind}.{group}"),
        None => kind,
    }
}

fn deleted(call: &ClientRequest<'_>, request: &ParsedRequest<'_>) -> KubectlOutput {
    let target = &request.target;
    let kind = call.resource.map_or_else(String::new, |resource| {
        let group = &resource.group_version.group;
        let kind = resource.kind.to_lowercase();
        if group.is_empty() {
            kind
        } else {
            format!("{kind}.{group}")
        }
    });
    let from = match target.namespace {
        "" => String::new(),
        namespace => format!(" from {namespace} namespace"),
    };
    let text = format!(
        "{kind} {:?} deleted{from}{}\n",
        target.name,
        dry_run(request)
    );
    KubectlOutput::message(text)
}

fn refusal(
    call: &ClientRequest<'_>,
    request: &ParsedRequest<'_>,
    code: u16,
    answer: &Value,
) -> KubectlOutput {
    let with_curl = !["GET", "POST", "PUT", "DELETE"].contains(&call.method);
    let raw = is_raw(call, request);
    if raw && with_curl {
        // curl prints the body, whatever the answer is.
        return KubectlOutput::object(format!("{answer}\n"));
    }
    let (reason, message) = (text(answer, "reason"), text(answer, "message"));
    if reason == "Invalid" {
        return KubectlOutput::message(invalid(answer));
    }
    let media_type = code == 415;
    let message = match request.verb {
        _ if raw => message.to_owned(),
        RequestKind::Apply if reason == "Conflict" => {
            return KubectlOutput {
                text: format!("error: {message}\n"),
                advice: true,
                is_object: false,
            };
        }
        RequestKind::Apply if media_type => {
            let text =
                format!("error: Server-side apply not available on the server: ({message})\n");
            return KubectlOutput::message(text);
        }
        RequestKind::Create => format!("error when creating \"STDIN\": {message}"),
        RequestKind::Update => format!("error when replacing \"STDIN\": {message}"),
        RequestKind::MergePatch | RequestKind::StrategicMergePatch | RequestKind::JsonPatch
            if media_type =>
        {
            return KubectlOutput::message(format!("error: {}\n", not_supported(call, message)));
        }
        _ => message.to_owned(),
    };
    let text = match reason {
        "" => format!("Error from server: {message}\n"),
        reason => format!("Error from server ({reason}): {message}\n"),
    };
    KubectlOutput::message(text)
}

/// A kind that has no strategic merge patch.
fn not_supported(call: &ClientRequest<'_>, message: &str) -> String {
    let kind = call.resource.map_or_else(String::new, |resource| {
        format!("{}, Kind={}", resource.group_version, resource.kind)
    });
    format!(
        "{} is not supported by {kind}: {message}",
        call.content_type
    )
}

/// An answer with the reason Invalid.
pub(super) fn invalid(answer: &Value) -> String {
    let message = text(answer, "message");
    let Some(details) = answer.get("details") else {
        return format!("The request is invalid: {message}\n");
    };
    let mut errors: Vec<String> = Vec::new();
    for cause in causes(answer) {
        let error = format!("{}: {}", text(cause, "field"), text(cause, "message"));
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
    let (kind, name) = (text(details, "kind"), text(details, "name"));
    let mut head = "The request is invalid".to_owned();
    if !kind.is_empty() || !name.is_empty() {
        head = format!("The {kind} {name:?} is invalid");
    } else if !message.is_empty() && errors.is_empty() {
        head = format!("{head}: {message}");
    }
    match errors.as_slice() {
        [] => format!("{head}\n"),
        [one] => format!("{head}: {one}\n"),
        more => {
            let lines: String = more.iter().map(|error| format!("* {error}\n")).collect();
            format!("{head}: \n{lines}")
        }
    }
}

/// An object as `-o yaml` prints it: without `managedFields`.
fn printed(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}
