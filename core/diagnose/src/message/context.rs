//! What tools print around a message: which tool it is, and which object it speaks of.

use super::{ObjectHint, Tool};

/// What only one tool prints. The first that is found decides, because some print what kubectl prints.
const MARKS: [(&str, Tool); 16] = [
    ("conflict occurred while applying object", Tool::Helm),
    ("UPGRADE FAILED", Tool::Helm),
    ("trying to apply the manifest for", Tool::Terraform),
    ("failed to run apply:", Tool::Terraform),
    ("in resource \"kubernetes_", Tool::Terraform),
    ("pulumi", Tool::Pulumi),
    ("FAILED! =>", Tool::Ansible),
    ("dry-run failed", Tool::Flux),
    ("argoproj.io", Tool::ArgoCd),
    ("Reconciler error", Tool::ControllerRuntime),
    ("\"reconcileID\"", Tool::ControllerRuntime),
    ("_controller.go:", Tool::KubeControllerManager),
    ("Please review the fields above", Tool::Kubectl),
    ("Error from server", Tool::Kubectl),
    ("error: ", Tool::Kubectl),
    ("The request is invalid: ", Tool::Kubectl),
];

/// The tool that prints so.
pub(super) fn tool(text: &str) -> Option<Tool> {
    let mark = MARKS.iter().find(|(mark, _)| text.contains(mark));
    mark.map(|(_, tool)| *tool)
}

/// The object that is named before or behind a message.
pub(super) fn object(before: &str, behind: &str) -> ObjectHint {
    // Only the line of the message and the nearest ones before it speak of it.
    let before = last_lines(before, 8);
    let line = before.rsplit('\n').next().unwrap_or(before);
    let mut object = ObjectHint::default();
    for read in [pulumi, kubectl_apply, kubectl_diff, terraform, flux, helm] {
        read(before, &mut object);
    }
    if object.namespace.is_none() {
        object.namespace = logged_namespace(line, behind);
    }
    object
}

fn last_lines(text: &str, count: usize) -> &str {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    let ends: Vec<usize> = ends.collect();
    let first = ends.len().checked_sub(count).map_or(0, |at| ends[at]);
    &text[first..]
}

/// What is between two texts, the last time that they stand so.
fn between<'a>(text: &'a str, left: &str, right: &str) -> Option<&'a str> {
    let behind = &text[text.rfind(left)? + left.len()..];
    Some(&behind[..behind.find(right)?])
}

/// `shop/web` or `web`. A part that was left out by hand (`...`) says nothing.
fn set_name(text: &str, object: &mut ObjectHint) {
    let told = |part: &str| (!part.is_empty() && part != "...").then(|| part.to_owned());
    match text.rsplit_once('/') {
        Some((namespace, name)) => {
            object.namespace = told(namespace);
            object.name = told(name);
        }
        None => object.name = told(text),
    }
}

/// `apps/v1, Kind=Deployment`; the core group is empty: `/v1, Kind=Secret`.
fn set_kind(text: &str, object: &mut ObjectHint) {
    match text.split_once(", Kind=") {
        Some((version, kind)) => {
            object.api_version = Some(version.trim_start_matches('/').to_owned());
            object.kind = Some(kind.to_owned());
        }
        None if !text.is_empty() => object.kind = Some(text.to_owned()),
        None => {}
    }
}

/// `conflict occurred while applying object shop/web apps/v1, Kind=Deployment: `
fn helm(before: &str, object: &mut ObjectHint) {
    let text = before.trim_end().trim_end_matches(':');
    let Some((_, text)) = text.rsplit_once("while applying object ") else {
        return;
    };
    if let Some((name, kind)) = text.split_once(' ') {
        set_name(name, object);
        set_kind(kind, object);
    }
}

/// `Ingress/shop/web dry-run failed (Conflict): `
fn flux(before: &str, object: &mut ObjectHint) {
    let Some((text, _)) = before.rsplit_once(" dry-run failed") else {
        return;
    };
    let text = text.rsplit([' ', '\n', '"']).next().unwrap_or(text);
    if let Some((kind, name)) = text.split_once('/') {
        object.kind = Some(kind.to_owned());
        set_name(name, object);
    }
}

/// `apply the manifest for "shop/web"`, or `Error: shop/web failed to run apply: `
fn terraform(before: &str, object: &mut ObjectHint) {
    let manifest = between(before, "apply the manifest for \"", "\"");
    if let Some(name) = manifest.or_else(|| between(before, "Error: ", " failed to run apply")) {
        set_name(name, object);
    }
}

/// `kubernetes:apps/v1:Deployment (web):` and `reported that "shop/web"`
fn pulumi(before: &str, object: &mut ObjectHint) {
    let Some(urn) = between(before, "kubernetes:", " (") else {
        return;
    };
    if let Some((version, kind)) = urn.split_once(':') {
        object.api_version = Some(version.to_owned());
        object.kind = Some(kind.to_owned());
    }
    if let Some(name) = between(before, "reported that \"", "\"") {
        set_name(name, object);
    }
}

/// What `kubectl apply` prints when its patch is refused.
fn kubectl_apply(before: &str, object: &mut ObjectHint) {
    let Some(kind) = between(before, "GroupVersionKind: \"", "\"") else {
        return;
    };
    set_kind(kind, object);
    object.name = between(before, "Name: \"", "\"").map(str::to_owned);
    let namespace = between(before, "Namespace: \"", "\"").filter(|name| !name.is_empty());
    object.namespace = namespace.map(str::to_owned);
}

/// `Object (apps/v1, Kind=Deployment: web) keeps changing, diffing without lock`
fn kubectl_diff(before: &str, object: &mut ObjectHint) {
    let Some(text) = between(before, "Object (", ") keeps changing") else {
        return;
    };
    if let Some((kind, name)) = text.split_once(": ") {
        set_kind(kind, object);
        object.name = Some(name.to_owned());
    }
}

/// The namespace of the object that a controller works on: its children are in the same one.
fn logged_namespace(line: &str, behind: &str) -> Option<String> {
    let member = |text: &str, name: &str| {
        let (_, value) = text.split_once(&format!("\"{name}\":"))?;
        let value = value.trim_start().strip_prefix('"')?;
        Some(value[..value.find('"')?].to_owned())
    };
    let behind = behind.lines().next().unwrap_or_default();
    let key = || {
        let request = member(line, "request");
        let word = |text: &str| text.trim_matches(['"', ':']).to_owned();
        let syncing = between(line, "Error syncing ", ": ").and_then(|text| text.split(' ').nth(1));
        let logged =
            between(line, "Error syncing ", "err=").and_then(|text| between(text, "=\"", "\""));
        request
            .or_else(|| syncing.map(word))
            .or_else(|| logged.map(word))
    };
    let named = member(line, "namespace").or_else(|| member(behind, "namespace"));
    named.or_else(|| Some(key()?.split_once('/')?.0.to_owned()))
}
