//! Messages that do not have their object in front of them: of rights, of a schema, of a store.

use super::conflicts;
use super::parse::{self, Said};
use super::{ObjectHint, PrintedError};

/// The words before the verb that a user must not use.
const USER: &str = "User ";

/// ` (shop/web; apps/v1, Kind=Deployment): .spec.b: field not declared in schema`, of a manifest
/// (`k8s.io/apimachinery/pkg/util/managedfields/internal/structuredmerge.go Apply`, v0.36). Several errors stand in
/// lines of their own, and the first is read.
pub(super) fn sent_object(text: &str) -> Option<Said> {
    of_schema(text, false)
}

/// The same of the object that is stored.
pub(super) fn stored_object(text: &str) -> Option<Said> {
    of_schema(text, true)
}

fn of_schema(text: &str, stored: bool) -> Option<Said> {
    let (object, text) = match text.strip_prefix(" (") {
        Some(text) => {
            let (of, text) = text.split_once("): ")?;
            (typed(of)?, text)
        }
        // Older servers do not name the object.
        None => (ObjectHint::default(), text.strip_prefix(": ")?),
    };
    let text = text.strip_prefix("errors:").unwrap_or(text);
    let (field, text) = conflicts::field(text)?;
    let field = field.trim_end_matches(':');
    let text = text.trim_start_matches(':').strip_prefix(' ')?;
    let line = text.lines().next()?;
    let error = PrintedError::NotOfSchema {
        field: field.to_owned(),
        problem: without_value(line)?.to_owned(),
        stored,
    };
    Some((object, error))
}

/// `shop/web; apps/v1, Kind=Deployment`.
fn typed(of: &str) -> Option<ObjectHint> {
    let (name, kind) = of.split_once("; ")?;
    let (namespace, name) = name.split_once('/')?;
    let (version, kind) = kind.split_once(", Kind=")?;
    let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Some(ObjectHint {
        api_version: said(version.trim_start_matches('/')),
        kind: said(kind),
        namespace: said(namespace),
        name: said(name),
        ..ObjectHint::default()
    })
}

/// The problem that a schema finds (`sigs.k8s.io/structured-merge-diff/v6/typed/validate.go`), without the value.
fn without_value(line: &str) -> Option<&str> {
    let known = [
        "field not declared in schema",
        "associative list with keys has an element that omits all key fields",
    ];
    if let Some(known) = known.into_iter().find(|known| line.starts_with(known)) {
        return Some(&line[..known.len()]);
    }
    if line.starts_with("duplicate entries for key [") {
        let quoted = line.find("\"]").map(|at| at + 2);
        let end = quoted.or_else(|| line.find(']').map(|at| at + 1))?;
        return Some(&line[..end]);
    }
    if let Some(rest) = line.strip_prefix("element ") {
        let (_, problem) = rest.split_once(": ")?;
        return without_value(problem);
    }
    let (expected, _) = line.split_once(", got ")?;
    expected.starts_with("expected ").then_some(expected)
}

/// `User "jane" cannot list resource "deployments" in API group "apps" in the namespace "shop"`, and the same of a path
/// (`k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go forbiddenMessage`, v0.36).
pub(super) fn rights(text: &str) -> Option<Said> {
    let (user, text) = parse::string(text.strip_prefix(USER)?)?;
    let (verb, text) = text.strip_prefix(" cannot ")?.split_once(' ')?;
    let mut object = ObjectHint::default();
    let of = match text.strip_prefix("path ") {
        Some(path) => parse::string(path)?.0,
        None => {
            let (resource, text) = parse::string(text.strip_prefix("resource ")?)?;
            let (group, text) = parse::string(text.strip_prefix(" in API group ")?)?;
            let namespace = text
                .strip_prefix(" in the namespace ")
                .and_then(parse::string);
            object.namespace = namespace.map(|(namespace, _)| namespace);
            let (plural, subresource) = match resource.split_once('/') {
                Some((plural, subresource)) => (plural, Some(subresource)),
                None => (&*resource, None),
            };
            let with_group = match &*group {
                "" => plural.to_owned(),
                group => format!("{plural}.{group}"),
            };
            object.subresource = subresource.map(str::to_owned);
            let of = match subresource {
                Some(subresource) => format!("{with_group}/{subresource}"),
                None => with_group.clone(),
            };
            object.resource = Some(with_group);
            of
        }
    };
    let verb = verb.to_owned();
    Some((object, PrintedError::NoRight { user, verb, of }))
}

/// `deployments.apps is forbidden: User "jane" cannot list …`, from the name of the resource on: a list or a create
/// names no object (`k8s.io/apimachinery/pkg/api/errors/errors.go NewForbidden`, v0.36).
pub(super) fn rights_to_resource(text: &str) -> Option<Said> {
    let (resource, text) = text.split_once(" is forbidden: ")?;
    let said = rights(text)?;
    (said.0.resource.as_deref() == Some(resource)).then_some(said)
}

/// Returns where the word begins with which a text ends, if it can be a resource.
pub(super) fn resource_before(text: &str) -> Option<usize> {
    let is_resource = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
    let begin = text.trim_end_matches(is_resource).len();
    (begin < text.len()).then_some(begin)
}

/// `/registry/pods/shop/web, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: 1, UID in
/// object meta: 2`, without the words in which a server names the object
/// (`k8s.io/apiserver/pkg/storage/errors.go NewInvalidObjError`, v0.36).
pub(super) fn storage(text: &str) -> Option<Said> {
    let error = parse::other_uid(text)?;
    let PrintedError::OtherUid { key, .. } = &error else {
        return None;
    };
    let mut object = ObjectHint::default();
    // A prefix, the group of a custom resource, the resource, the namespace, the name.
    if let [_, _, group, plural, namespace, name] = *key.split('/').collect::<Vec<_>>()
        && group.contains('.')
    {
        object.resource = Some(format!("{plural}.{group}"));
        (object.namespace, object.name) = (Some(namespace.to_owned()), Some(name.to_owned()));
    } else if let [_, _, _, namespace, name] = *key.split('/').collect::<Vec<_>>() {
        (object.namespace, object.name) = (Some(namespace.to_owned()), Some(name.to_owned()));
    }
    Some((object, error))
}

/// `/spec/replicas failed`, behind `testing value ` (`gopkg.in/evanphx/json-patch.v4/patch.go test`).
pub(super) fn test(text: &str) -> Option<Said> {
    let (path, _) = text.lines().next()?.split_once(" failed")?;
    let is_path = path.starts_with('/') && !path.contains(char::is_whitespace);
    let path = path.to_owned();
    is_path.then(|| (ObjectHint::default(), PrintedError::TestFailed { path }))
}

/// Nothing, or ` (get widgets.demo.example.com)`: client-go names the resource if the answer was no Status
/// (`errors.go NewGenericServerResponse`, v0.36).
pub(super) fn not_served(text: &str) -> Option<Said> {
    let mut object = ObjectHint::default();
    let inside = text
        .strip_prefix(" (")
        .and_then(|text| text.split_once(')'));
    let mut words = inside.map_or("", |(inside, _)| inside).split(' ').skip(1);
    object.resource = words.next().map(str::to_owned);
    object.name = words.next().map(str::to_owned);
    Some((object, PrintedError::NotServed))
}
