//! The words of tools around a message: they show the object.

use optimist_apiserver::server::ResourcePath;

use super::ObjectHint;
use super::kubectl::{kubectl_apply, kubectl_diff, kubectl_drain, kubectl_edit};

/// Returns the part of a text that still belongs to the message before it.
pub(super) fn beginning(text: &str) -> &str {
    let lines = text
        .match_indices('\n')
        .nth(20)
        .map_or(text.len(), |(at, _)| at);
    let end = lines.min(4096);
    let end = (0..=end).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// A text without escapes of quotes and line breaks.
pub(super) fn without_escapes(text: &str) -> String {
    let mut text = text.to_owned();
    while text.contains("\\\"") {
        text = text.replace("\\\\", "\\").replace("\\\"", "\"");
    }
    text
}

/// The object that is named before or behind a message.
pub(super) fn object(before: &str) -> ObjectHint {
    // Only the line of the message and the nearest ones before it speak of it.
    let before = &without_escapes(last_lines(before, 8));
    let mut object = ObjectHint::default();
    for read in [
        url,
        pulumi,
        kubectl_apply,
        kubectl_diff,
        kubectl_drain,
        kubectl_edit,
        terraform,
        flux,
        kapp,
        helm,
        argo_cd,
        reflector,
        decoded,
    ] {
        read(before, &mut object);
    }
    object
}

/// Adds the namespace that the line of a log names: that of the object that a controller works on.
pub(super) fn add_logged_namespace(before: &str, behind: &str, object: &mut ObjectHint) {
    if object.namespace.is_some() || object.is_cluster_scoped() {
        return;
    }
    let line = &without_escapes(last_lines(before, 1));
    let behind = behind.lines().next().unwrap_or_default();
    let behind = &without_escapes(beginning(behind));
    object.namespace =
        logged_namespace(line, behind).or_else(|| namespace_of_name(line, behind, object));
    let is_of_run = object.namespace.is_some();
    object.is_namespace_of_run = is_of_run && !names_object(line, behind, object);
}

/// Returns the namespace before the name of the object, where a log has both as a value: `key="shop/web"`,
/// `pod="shop/web-0"`, `sync "shop/web" failed with`. A kind before the name is no namespace.
fn namespace_of_name(line: &str, behind: &str, object: &ObjectHint) -> Option<String> {
    let end = format!("/{}\"", object.name.as_ref()?);
    let resource = object.resource.as_deref().unwrap_or_default();
    let plural = resource.split(['.', '/']).next().unwrap_or_default();
    let kind = object.kind.as_deref().unwrap_or_default();
    let is_kind = |word: &str| {
        word == plural || word.eq_ignore_ascii_case(kind) || plural.strip_suffix('s') == Some(word)
    };
    [line, behind].into_iter().find_map(|text| {
        let mut places = text.match_indices(&end).map(|(at, _)| &text[..at]);
        places.find_map(|before| {
            let (before, namespace) = before.rsplit_once('"')?;
            let is_value = before.ends_with(['=', ':', ' ']);
            let is_label = namespace
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-');
            let is_namespace = is_value && is_label && !namespace.is_empty() && !is_kind(namespace);
            is_namespace.then(|| namespace.to_owned())
        })
    })
}

/// Returns whether the line of a log names the same object as its message: `"name": "web"`, `name=web`,
/// `default/web`.
fn names_object(line: &str, behind: &str, object: &ObjectHint) -> bool {
    let (Some(namespace), Some(name)) = (&object.namespace, &object.name) else {
        return false;
    };
    let forms = [
        format!("\"name\":\"{name}\""),
        format!("\"name\": \"{name}\""),
        format!("\"name\"=\"{name}\""),
        format!("name=\"{name}\""),
        format!("\"Request.Name\":\"{name}\""),
        format!("\"{namespace}/{name}\""),
        format!(" {namespace}/{name}:"),
    ];
    let bare = |text: &str| text.split(' ').any(|word| word == format!("name={name}"));
    let says = |text: &str| bare(text) || forms.iter().any(|form| text.contains(form));
    says(line) || says(behind)
}

pub(super) fn last_lines(text: &str, count: usize) -> &str {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    let ends: Vec<usize> = ends.collect();
    let first = ends.len().checked_sub(count).map_or(0, |at| ends[at]);
    &text[first..]
}

/// Returns the text between two others, the last time that they stand in this order.
pub(super) fn between<'a>(text: &'a str, left: &str, right: &str) -> Option<&'a str> {
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
pub(super) fn set_kind(text: &str, object: &mut ObjectHint) {
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
    if let Some((_, patched)) = text.rsplit_once("cannot patch \"")
        && let Some((name, kind)) = patched.split_once("\" with kind ")
        && !kind.contains(' ')
    {
        object.name = Some(name.to_owned());
        object.kind = Some(kind.to_owned());
        return;
    }
    let applied = text.rsplit_once("while applying object ");
    let applied = applied.or_else(|| text.rsplit_once("server-side apply failed for object "));
    let Some((_, text)) = applied else {
        return;
    };
    if let Some((name, kind)) = text.split_once(' ') {
        set_name(name, object);
        set_kind(kind, object);
    }
}

/// `Deployment in version "v1" cannot be handled as a Deployment: `
/// (`k8s.io/apiserver/pkg/endpoints/handlers/create.go transformDecodeError`, v0.36). The group is not printed.
fn decoded(before: &str, object: &mut ObjectHint) {
    let kind = before.strip_suffix(": ");
    let kind = kind.and_then(|text| text.rsplit_once(" cannot be handled as a "));
    if let Some((_, kind)) = kind
        && !kind.contains(char::is_whitespace)
    {
        object.kind = Some(kind.to_owned());
    }
}

/// `Ingress/shop/web dry-run failed (Conflict): `
fn flux(before: &str, object: &mut ObjectHint) {
    let failed = before.rsplit_once(" dry-run failed");
    let applied = || before.rsplit_once(" apply failed: ");
    // Older releases print it so.
    let earlier = || before.rsplit_once(" apply failed, error: ");
    let Some((text, _)) = failed.or_else(applied).or_else(earlier) else {
        return;
    };
    let text = text.rsplit([' ', '\n', '"']).next().unwrap_or(text);
    if let Some((kind, name)) = text.split_once('/') {
        object.kind = Some(kind.to_owned());
        set_name(name, object);
    }
}

/// Returns whether a patch that failed behind this text was made from a manifest: `error when patching "web.yaml": `,
/// `cannot patch "web" with kind Deployment: `.
pub(super) fn patches_manifest(before: &str) -> bool {
    let line = last_lines(before, 1);
    ["error when patching ", "cannot patch "]
        .iter()
        .any(|it| line.contains(it))
}

/// `error running server side apply in dryrun mode for resource Deployment/web: `
/// (`github.com/argoproj/argo-cd/gitops-engine/pkg/diff/diff.go serverSideDiff`, v3.5)
fn argo_cd(before: &str, object: &mut ObjectHint) {
    let named = between(last_lines(before, 1), "in dryrun mode for resource ", ": ");
    if let Some((kind, name)) = named.and_then(|named| named.split_once('/')) {
        object.kind = Some(kind.to_owned());
        object.name = Some(name.to_owned());
    }
}

/// `watch of *v1.Pod ended with: `, `failed to list *v1.Pod: `: the type in Go, whose package does not say the group
/// (`k8s.io/client-go/tools/cache/reflector.go`, v0.36).
fn reflector(before: &str, object: &mut ObjectHint) {
    let line = last_lines(before, 1);
    let begins = ["watch of *", "list *", "watch *"];
    let typed = begins
        .iter()
        .find_map(|begin| Some(&line[line.rfind(begin)? + begin.len()..]));
    let Some((package, kind)) = typed.and_then(|typed| typed.split_once('.')) else {
        return;
    };
    let kind = &kind[..kind
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(kind.len())];
    let is_version = package.starts_with('v') && package.chars().all(|c| c.is_ascii_alphanumeric());
    if is_version && !kind.is_empty() {
        object.kind = Some(kind.to_owned());
    }
}

/// `Updating resource deployment/web (apps/v1) namespace: shop:`
/// (`carvel.dev/kapp/pkg/kapp/resources/resource.go Description`, v0.64).
fn kapp(before: &str, object: &mut ObjectHint) {
    let Some(described) = between(before, " resource ", ":\n") else {
        return;
    };
    let parts: Vec<&str> = described.split(' ').collect();
    if let [_, version, "namespace:", namespace] = parts[..]
        && version.starts_with('(')
    {
        object.namespace = Some(namespace.to_owned());
    }
}

/// `apply the manifest for "shop/web"`, or `Error: shop/web failed to run apply: `
fn terraform(before: &str, object: &mut ObjectHint) {
    let manifest = between(before, "apply the manifest for \"", "\"");
    if let Some(name) = manifest.or_else(|| between(before, "Error: ", " failed to run apply")) {
        set_name(name, object);
    }
}

/// `kubernetes:apps/v1:Deployment (web):`, `urn:pulumi:dev::shop::kubernetes:apps/v1:Deployment::web`, whose name is
/// that of the resource in the program, `reported that "shop/web"`, and `resource shop/web was not successfully created
/// by the Kubernetes API server : `
fn pulumi(before: &str, object: &mut ObjectHint) {
    let named = between(before, "reported that \"", "\"");
    let named = named.or_else(|| between(before, "resource ", " was not successfully "));
    if let Some(name) = named.filter(|name| !name.contains(char::is_whitespace)) {
        set_name(name, object);
    }
    let ends = [" (", "::"].map(|end| between(before, "kubernetes:", end));
    let Some(of) = ends.into_iter().flatten().min_by_key(|of| of.len()) else {
        return;
    };
    if let Some((version, kind)) = of.split_once(':')
        && !of.contains(char::is_whitespace)
    {
        object.api_version = Some(version.to_owned());
        object.kind = Some(kind.to_owned());
    }
}

/// The URL of the request, `https://10.0.0.1/apis/apps/v1/namespaces/shop/deployments/web/status?…`: fabric8's
/// client for Java prints it, and `kubectl -v 6`.
fn url(before: &str, object: &mut ObjectHint) {
    let line = before.rsplit('\n').next().unwrap_or_default();
    if let Some(requested) = requested(line).filter(|it| it.name.is_some()) {
        object.add(requested);
    }
}

/// The object or the collection of the last request to an API server that a line names.
pub(super) fn requested(line: &str) -> Option<ObjectHint> {
    let path = request_path(line)?.split('?').next()?;
    let path = ResourcePath::parse(path).ok()?;
    let told = |part: &str| (!part.is_empty()).then(|| part.to_owned());
    let of_group = |name: &str, joined: String| match path.group {
        "" => told(name),
        _ => Some(joined),
    };
    let (plural, group, version) = (path.plural, path.group, path.version);
    told(plural)?;
    Some(ObjectHint {
        resource: of_group(plural, format!("{plural}.{group}")),
        api_version: of_group(version, format!("{group}/{version}")),
        namespace: told(path.namespace),
        name: told(path.name),
        subresource: told(path.subresource),
        ..ObjectHint::default()
    })
}

/// The path with its query of the last request to an API server that a line names.
fn request_path(line: &str) -> Option<&str> {
    let url = &line[line.rfind("://")? + 3..];
    let path = &url[url.find("/api")?..];
    let end = path.find(|c: char| c.is_whitespace() || "\"')]>,".contains(c));
    let path = path[..end.unwrap_or(path.len())].trim_end_matches(['.', ':', ';']);
    (path.starts_with("/api/") || path.starts_with("/apis/")).then_some(path)
}

/// The field manager of the refused write: in the command above the message, in the URL of the request, or
/// as Pulumi names it.
pub(super) fn manager(before: &str) -> Option<String> {
    let before = &without_escapes(last_lines(before, 8));
    let name = |text: &str| {
        let text = text.trim_start_matches(['=', ' ', '"', '\'']);
        let end = text.find(|c: char| c.is_whitespace() || "\"'&\\)".contains(c));
        let name = &text[..end.unwrap_or(text.len())];
        (!name.is_empty()).then(|| name.to_owned())
    };
    if let Some(name) = between(before, "managed by field manager \"", "\"") {
        return Some(name.to_owned());
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    if let Some(path) = request_path(line)
        && let Some((_, query)) = path.split_once('?')
    {
        let mut options = form_urlencoded::parse(query.as_bytes());
        let found = options.find(|(name, _)| name == "fieldManager");
        return found.map(|(_, manager)| manager.into_owned());
    }
    let option = "--field-manager";
    name(&before[before.rfind(option)? + option.len()..])
}

/// The address that Terraform prints near its error: `with module.shop.kubernetes_manifest.web,`.
pub(super) fn address(before: &str, behind: &str) -> Option<String> {
    let mut lines = before.lines().rev().take(8).chain(behind.lines().take(12));
    lines.find_map(|line| {
        let address = line.trim().strip_prefix("with ")?.trim_end_matches(',');
        let parts: Vec<&str> = address.split('.').collect();
        let known = |part: &&str| part.starts_with("kubernetes_") || part.starts_with("kubectl_");
        let plain = !address.chars().any(|c| c.is_whitespace() || c.is_control());
        (plain && parts.len() > 1 && parts.iter().any(known)).then(|| address.to_owned())
    })
}

/// The namespace of the object that a controller works on: its children are in the same one.
fn logged_namespace(line: &str, behind: &str) -> Option<String> {
    let member = |text: &str, name: &str| {
        let (_, value) = text.split_once(&format!("\"{name}\":"))?;
        let value = value.trim_start().strip_prefix('"')?;
        Some(value[..value.find('"')?].to_owned())
    };
    // `namespace=shop`, `namespace="shop"`, `"namespace"="shop"`.
    let option = |text: &str| {
        let found = [" namespace=", " \"namespace\"="];
        let found = found.iter().find_map(|it| Some(text.rfind(it)? + it.len()));
        let value = &text[found?..];
        let value = value.trim_start_matches('"');
        let end = value.find(['"', ' ', ',']).unwrap_or(value.len());
        (end > 0).then(|| value[..end].to_owned())
    };
    let key = || {
        let request = member(line, "request").or_else(|| member(line, "knative.dev/key"));
        let word = |text: &str| text.trim_matches(['"', ':']).to_owned();
        let syncing = between(line, "Error syncing ", ": ").and_then(|text| text.split(' ').nth(1));
        let logged =
            between(line, "Error syncing ", "err=").and_then(|text| between(text, "=\"", "\""));
        request
            .or_else(|| syncing.map(word))
            .or_else(|| logged.map(word))
    };
    let named = member(line, "namespace").or_else(|| member(behind, "namespace"));
    let request = |text: &str| member(text, "Request.Namespace");
    let named = named.or_else(|| request(line)).or_else(|| request(behind));
    let named = named.or_else(|| option(line)).or_else(|| option(behind));
    named.or_else(|| Some(key()?.split_once('/')?.0.to_owned()))
}
