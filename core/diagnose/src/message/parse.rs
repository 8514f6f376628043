//! The texts of the errors themselves, as the server makes them (`k8s.io/apimachinery`:
//! `pkg/api/errors`, `pkg/util/managedfields/internal/conflict.go`; v1.36) and as kubectl does.

use std::sync::Arc;

use optimist_apiserver::server::{Resource, Resources};

use super::conflicts::apply;
use super::escapes::unquoted;
use super::forms;
use super::invalid::invalid;
use super::request_problem;
use super::tool_problem;
use super::{ObjectHint, Precondition, PrintedError};

/// An error in a text.
pub(super) struct TextPlace {
    /// The position at which its message begins, in bytes.
    pub start: usize,
    /// The position from which the search for the next one goes on.
    pub end: usize,
    pub object: ObjectHint,
    pub error: PrintedError,
}

/// The content of a message.
pub(super) type Said = (ObjectHint, PrintedError);

/// A function that reads the text behind the beginning of a message. `None` if it is another message.
type Read = fn(&str) -> Option<Said>;

const EXISTS: &str = "already exists";
const NOT_FOUND: &str = "\" not found";
/// The words of `kubectl edit` for it (`k8s.io/kubectl/pkg/cmd/util/editor/editoptions.go addError`, v0.36).
const EDITED_NOT_FOUND: &str = "\" could not be found on the server";
pub(super) const INVALID: &str = " is invalid:";
const FORBIDDEN: &str = " is forbidden: ";
/// The word before the name of an object that Terraform does not create because it is there.
const TERRAFORM: &str = "resource";
/// The beginning of a line in which kubectl prints one of several causes.
pub(super) const CAUSE: &str = "* ";
/// The message about a version, where a tool leaves out which object it is about.
const MODIFIED: &str = "he object has been modified; please apply your changes";
const NO_VERSION: &str = "metadata.resourceVersion: Invalid value: ";
const STORED: &str = "StorageError: invalid object, Code: 4, Key: ";
/// The words before the user whose right to a path is missing.
const RIGHTS: &str = "forbidden: ";
const FORCED: &str = "forceConflicts enabled when serverSideApply disabled";

/// The beginnings of messages.
const BEGINNINGS: [(&str, Read); 46] = [
    ("Apply failed with ", apply),
    ("Operation cannot be fulfilled on ", not_fulfilled),
    (
        "the server rejected our request due to an error in our request",
        |_| {
            let error = PrintedError::PatchRefused { is_json: true };
            Some((ObjectHint::default(), error))
        },
    ),
    ("metadata.managedFields must be nil", |_| {
        Some((ObjectHint::default(), PrintedError::ManagedFieldsSent))
    }),
    ("error: Expected ", expected),
    ("error: '", not_overwritten),
    ("Unable to continue with ", not_of_release),
    ("unable to continue with ", not_of_release),
    (EXISTS, |_| None),
    (INVALID, |_| None),
    (FORBIDDEN, |_| None),
    (MODIFIED, |_| {
        Some((ObjectHint::default(), PrintedError::Modified))
    }),
    (NO_VERSION, no_version),
    ("failed to create typed patch object", forms::sent_object),
    ("failed to create typed live object", forms::stored_object),
    (
        "resourceVersion should not be set on objects to be created",
        |_| Some((ObjectHint::default(), PrintedError::VersionOnCreate)),
    ),
    (
        "the server could not find the requested resource",
        forms::not_served,
    ),
    (STORED, forms::storage),
    ("esting value ", forms::test),
    (RIGHTS, forms::rights),
    (FORCED, |_| {
        Some((ObjectHint::default(), PrintedError::ForceWithoutServerSide))
    }),
    ("admission webhook ", request_problem::webhook),
    (request_problem::CALLING, request_problem::webhook_failed),
    (NOT_FOUND, |_| None),
    (EDITED_NOT_FOUND, |_| None),
    (
        "Cannot evict pod as it would violate the pod's disruption budget",
        request_problem::budget,
    ),
    (request_problem::INTERNAL, request_problem::internal),
    ("too old resource version: ", request_problem::old_version),
    (
        "The resourceVersion for the provided ",
        request_problem::old_read,
    ),
    (
        "The provided continue parameter is too old",
        request_problem::old_token,
    ),
    (
        "Too many requests, please try again later",
        request_problem::too_many,
    ),
    (
        "the server has received too many requests",
        request_problem::too_many,
    ),
    ("Waited ", request_problem::held_back),
    (request_problem::NOT_SENT, request_problem::not_sent),
    (request_problem::TIMED_OUT, request_problem::timed_out),
    (
        "the server was unable to return a response in the time allotted",
        request_problem::timed_out,
    ),
    (request_problem::DEADLINE, |_| None),
    ("strict decoding error: ", request_problem::strict),
    ("(409 Conflict) for url (", request_problem::conflict_alone),
    (
        "another operation (install/upgrade/rollback) is in progress",
        tool_problem::release_pending,
    ),
    (
        "\" has no deployed releases",
        tool_problem::no_deployed_release,
    ),
    (
        "cannot re-use a name that is still in use",
        tool_problem::release_name_in_use,
    ),
    (
        "cannot reuse a name that is still in use",
        tool_problem::release_name_in_use,
    ),
    ("release: already exists", tool_problem::revision_exists),
    ("Error acquiring the state lock", tool_problem::state_locked),
    (
        "Provider produced inconsistent result after apply",
        tool_problem::other_than_planned,
    ),
];

/// Adds the places of one of the beginnings. Returns whether there are more beginnings; once there are none, the
/// places are in the order of the text.
pub(super) fn find(text: &str, which: usize, found: &mut Vec<(usize, usize)>) -> bool {
    let Some((beginning, _)) = BEGINNINGS.get(which) else {
        found.sort_unstable();
        return false;
    };
    found.extend(text.match_indices(beginning).map(|(at, _)| (at, which)));
    true
}

/// Reads the message that begins at a place; `None` if it is none, or part of another one.
pub(super) fn place(text: &str, start: usize, which: usize) -> Option<TextPlace> {
    let (beginning, read) = BEGINNINGS[which];
    let before = end_of(&text[..start]);
    let inner = [MODIFIED, NO_VERSION, STORED].contains(&beginning);
    if beginning == RIGHTS && before.ends_with("is ") {
        return None;
    }
    if inner && is_inside(before)
        || is_told_again(before, &text[start..])
        || request_problem::quotes_others(before)
        || beginning != request_problem::CALLING && request_problem::is_reason_inside(before)
    {
        return None;
    }
    // One string may hold several messages: the next begins behind this beginning.
    let end = start + beginning.len();
    let (object, error) = if beginning == EXISTS {
        already_exists(before)?
    } else if [NOT_FOUND, EDITED_NOT_FOUND].contains(&beginning) {
        not_found(end_of(&text[..=start]))?
    } else if beginning == request_problem::DEADLINE {
        request_problem::deadline(before)?
    } else if [INVALID, FORBIDDEN].contains(&beginning) {
        let before = end_of(&text[..start]);
        let (begin, read): (usize, Read) = match named_before(before) {
            Some((begin, _, _)) if beginning == INVALID => (begin, invalid),
            Some((begin, _, _)) => (begin, forbidden),
            None if beginning == INVALID => return None,
            None => (forms::resource_before(before)?, forms::rights_to_resource),
        };
        let from = start - before.len() + begin;
        read(&unquoted(beginning_of(&text[from..])))?
    } else {
        read(&unquoted(beginning_of(&text[end..])))?
    };
    Some(TextPlace {
        start,
        end,
        object,
        error,
    })
}

/// Returns whether the following text is a part of a message that names its object.
fn is_inside(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let since = |mark: &str| line.rfind(mark).map(|at| &line[at..]);
    // Between them stands the name of the object, in quotes.
    let fulfilled = since("cannot be fulfilled on ")
        .is_some_and(|it| it.trim_end_matches(['t', 'T']).ends_with(": "));
    let invalid = since(INVALID).is_some_and(|it| it.len() <= INVALID.len() + 2);
    fulfilled || invalid || line == CAUSE
}

/// Returns whether kube-rs prints the message once more, in the fields of its error: `ApiError: MESSAGE: Conflict
/// (ErrorResponse { status: "Failure", message: "MESSAGE", …`. That one ends where its string ends, so it
/// is the one that is read (`kube-core/src/response.rs`, v4.2).
fn is_told_again(before: &str, from: &str) -> bool {
    let line = from.split('\n').next().unwrap_or_default();
    let outer = before.rsplit('\n').next().unwrap_or_default();
    let fields = ["(ErrorResponse {", "(Status {"];
    outer.contains("ApiError: ")
        && !fields.iter().any(|it| outer.contains(it))
        && fields.iter().any(|it| line.contains(it))
}

/// `0x0: must be specified for an update`, behind the name of the field alone.
fn no_version(text: &str) -> Option<Said> {
    let line = text.lines().next()?;
    let missing = line.contains(": must be specified for an update");
    missing.then(|| (ObjectHint::default(), PrintedError::VersionMissing))
}

/// The longest message that is read, in bytes, and how far around it the text speaks of its object.
/// More would let a large text take long.
const MAX_MESSAGE: usize = 16 * 1024;

/// Returns the end of a text, long enough for words about an object.
pub(super) fn end_of(text: &str) -> &str {
    let from = text.len().saturating_sub(MAX_MESSAGE / 8);
    &text[(from..).find(|at| text.is_char_boundary(*at)).unwrap_or(0)..]
}

/// The beginning of a text that is long enough for a message.
pub(super) fn beginning_of(text: &str) -> &str {
    let to = text.len().min(MAX_MESSAGE);
    &text[..(0..=to)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)]
}

/// Reads a string in quotes, as Go prints it, and returns the text behind it.
pub(super) fn string(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut end = 0;
    loop {
        end += inner[end..].find('"')?;
        if !inner[..end].ends_with('\\') {
            break;
        }
        end += 1;
    }
    let quoted = &text[..end + 2];
    let plain = serde_json::from_str(quoted).unwrap_or_else(|_| inner[..end].to_owned());
    Some((plain, &inner[end + 1..]))
}

/// `deployments.apps "web": the object has been modified`, and other reasons.
fn not_fulfilled(text: &str) -> Option<Said> {
    let (of, text) = text.split_once(' ')?;
    let (name, text) = string(text)?;
    let text = text.strip_prefix(": ")?;
    let mut object = named(of, &name);
    let error = if text.starts_with("the object has been modified") {
        PrintedError::Modified
    } else if let Some(text) = text.strip_prefix(STORED) {
        object.namespace = namespace_of(text.split_once(',')?.0, of);
        other_uid(text).or_else(|| other_version(text))?
    } else if let Some(text) = text.strip_prefix("uid mismatch: the provided object specified uid ")
    {
        PrintedError::OtherUid {
            sent: text.split_once(',')?.0.to_owned(),
            stored: String::new(),
            key: String::new(),
        }
    } else if let Some(text) = text.strip_prefix("the UID in the precondition ") {
        precondition(Precondition::Uid, text)?
    } else if let Some(text) = text.strip_prefix("the ResourceVersion in the precondition ") {
        precondition(Precondition::ResourceVersion, text)?
    } else {
        let reason = text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_end()
            .to_owned();
        PrintedError::OtherConflict { reason }
    };
    Some((object, error))
}

/// `/registry/pods/shop/web, …: UID in precondition: 1, UID in object meta: 2`.
pub(super) fn other_uid(text: &str) -> Option<PrintedError> {
    let (key, text) = text.split_once(',')?;
    let (_, text) = text.split_once("UID in precondition: ")?;
    let (sent, text) = text.split_once(", UID in object meta: ")?;
    let (sent, stored, key) = (sent.to_owned(), first_word(text), key.to_owned());
    Some(PrintedError::OtherUid { sent, stored, key })
}

/// `/pods/shop/web, …: ResourceVersion in precondition: 1, ResourceVersion in object meta: 2`
/// (`k8s.io/apiserver/pkg/storage/interfaces.go Check`, v0.36).
fn other_version(text: &str) -> Option<PrintedError> {
    let (_, text) = text.split_once("ResourceVersion in precondition: ")?;
    let (sent, text) = text.split_once(", ResourceVersion in object meta: ")?;
    let (sent, stored) = (sent.to_owned(), first_word(text));
    let of = Precondition::ResourceVersion;
    (!stored.is_empty()).then_some(PrintedError::Precondition { of, sent, stored })
}

/// `(1) does not match the UID in record (2).`
fn precondition(of: Precondition, text: &str) -> Option<PrintedError> {
    let (sent, text) = text.strip_prefix('(')?.split_once(')')?;
    let (_, stored) = text.split_once("in record (")?;
    let (sent, stored) = (sent.to_owned(), stored.split_once(')')?.0.to_owned());
    Some(PrintedError::Precondition { of, sent, stored })
}

/// `deployments.apps` and `web`. A DELETE names the kind instead: `Deployment.apps`.
pub(super) fn named(of: &str, name: &str) -> ObjectHint {
    let mut object = ObjectHint {
        name: Some(name.to_owned()),
        ..ObjectHint::default()
    };
    if of.starts_with(|c: char| c.is_ascii_uppercase()) {
        let (kind, group) = of.split_once('.').unwrap_or((of, ""));
        let is_it = |one: &&Arc<Resource>| one.kind == kind && one.group_version.group == group;
        let built_in = Resources::builtin().iter().any(|one| is_it(&one));
        object.kind = Some(kind.to_owned());
        object.group = (!built_in && !group.is_empty()).then(|| group.to_owned());
    } else {
        object.resource = Some(of.to_owned());
    }
    object
}

/// The namespace in `/registry/deployments/shop/web` or `/registry/GROUP/backups/shop/b1`.
fn namespace_of(key: &str, resource: &str) -> Option<String> {
    let plural = resource.split('.').next()?;
    let mut parts = key.split('/').skip_while(|part| *part != plural).skip(1);
    let namespace = parts.next()?;
    parts.next()?;
    Some(namespace.to_owned())
}

fn first_word(text: &str) -> String {
    let end = text.find(|c: char| c.is_whitespace() || c == '"');
    text[..end.unwrap_or(text.len())].to_owned()
}

/// `RESOURCE "NAME" already exists`, which is read from its end: the text before `already exists`.
fn already_exists(before: &str) -> Option<Said> {
    let before = before.strip_suffix(' ')?;
    let (begin, resource, name) = named_before(before)?;
    let terminating = before[..begin]
        .trim_end()
        .ends_with("object is being deleted:");
    let error = PrintedError::AlreadyExists { terminating };
    let object = match resource {
        // Terraform's `kubernetes_manifest` reads the object itself, and does not print its kind.
        TERRAFORM => {
            let (namespace, name) = name.split_once('/')?;
            ObjectHint {
                namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
                name: Some(name.to_owned()),
                ..ObjectHint::default()
            }
        }
        _ => named(resource, name),
    };
    Some((object, error))
}

/// `deployments.apps "web"`, before ` not found` (`k8s.io/apimachinery/pkg/api/errors/errors.go NewNotFound`, v0.36).
/// Programs use these words of much else, so it has to be a resource, and not within another message.
fn not_found(before: &str) -> Option<Said> {
    let (begin, resource, name) = named_before(before)?;
    let line = before[..begin].rsplit('\n').next().unwrap_or_default();
    let outer = [INVALID, FORBIDDEN, "cannot be fulfilled on "];
    if outer.iter().any(|it| line.contains(it)) {
        return None;
    }
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    let is_it = |one: &&Arc<Resource>| one.plural == plural && one.group_version.group == group;
    let is_resource = group.contains('.') || Resources::builtin().iter().any(|one| is_it(&one));
    is_resource.then(|| (named(resource, name), PrintedError::NotFound))
}

/// The resource or the kind, and the name, with which a text ends, and where they begin:
/// `deployments.apps "web"`.
fn named_before(text: &str) -> Option<(usize, &str, &str)> {
    let text = text.strip_suffix('"')?.trim_end_matches('\\');
    let (before, name) = text.rsplit_once('"')?;
    let before = before.trim_end_matches('\\').strip_suffix(' ')?;
    let ends_word = |c: char| c.is_whitespace() || c == '"';
    let begin = before.trim_end_matches(|c| !ends_word(c)).len();
    let resource = &before[begin..];
    let is_resource = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    let is_named = !resource.is_empty() && resource.chars().all(is_resource);
    is_named.then_some((begin, resource, name))
}

/// `pods "web" is forbidden: exceeded quota: …` (`k8s.io/apimachinery/pkg/api/errors/errors.go NewForbidden`,
/// v1.36).
fn forbidden(text: &str) -> Option<Said> {
    let (of, text) = text.split_once(' ')?;
    let (name, text) = string(text)?;
    let text = text.strip_prefix(FORBIDDEN)?;
    if let Some((right, error)) = forms::rights(text) {
        let mut object = named(of, &name);
        (object.namespace, object.subresource) = (right.namespace, right.subresource);
        return Some((object, error));
    }
    let reason = text.lines().next()?.trim_end().to_owned();
    let mut object = named(of, &name);
    // `k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go Admit`, v0.36.
    let namespace = reason.strip_prefix("unable to create new content in namespace ");
    let namespace = namespace.and_then(|it| it.strip_suffix(" because it is being terminated"));
    object.namespace = namespace.map(str::to_owned);
    (!reason.is_empty()).then_some((object, PrintedError::Forbidden { reason }))
}

/// `update: Deployment "web" in namespace "shop" exists and cannot be imported into the current
/// release` (`helm.sh/helm/v4/pkg/action/validate.go existingResourceConflict`, v4.2).
fn not_of_release(text: &str) -> Option<Said> {
    let (_, text) = text.split_once(": ")?;
    let (kind, text) = text.split_once(' ')?;
    let (name, text) = string(text)?;
    let (namespace, text) = string(text.strip_prefix(" in namespace ")?)?;
    text.strip_prefix(" exists and cannot be imported into the current release")?;
    let mut object = named(kind, &name);
    object.namespace = (!namespace.is_empty()).then_some(namespace);
    Some((object, PrintedError::NotOfRelease))
}

/// `replicas to be 99, was 5` (`k8s.io/kubectl/pkg/scale/scale.go`).
fn expected(text: &str) -> Option<Said> {
    let (what, text) = text.split_once(" to be ")?;
    let (expected, found) = text.split_once(", was ")?;
    let error = PrintedError::OtherThanExpected {
        what: what.to_owned(),
        expected: expected.to_owned(),
        found: first_word(found),
    };
    Some((ObjectHint::default(), error))
}

/// `tier' already has a value (front), and --overwrite is false` (`k8s.io/kubectl/pkg/cmd/label`).
fn not_overwritten(text: &str) -> Option<Said> {
    let (key, text) = text.split_once("' already has a value (")?;
    let (value, _) = text.split_once("), and --overwrite is false")?;
    let (key, value) = (key.to_owned(), value.to_owned());
    Some((
        ObjectHint::default(),
        PrintedError::NotOverwritten { key, value },
    ))
}
