//! The core run beside a recorded request.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, header};
use optimist_apiserver::apply::Manager;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{ApiServer, Definition, Resource};
use optimist_client::Strategy;
use optimist_simulation::Exchange;
use serde_json::{Value, json};

use super::AuditEvent;
use super::allotted::NamedValues;
use super::recorded::{Compared, CoreAnswer, Difference, KnownObject, NotRun, is_whole};
use crate::observed::{FieldChange, ObservedVersion, field_changes};

/// The first second of every environment: 2026-01-01T00:00:00Z.
const START: u64 = 1_767_225_600;

/// Lets the clock of a server show the time of a request, if it is later than the present one.
pub(super) fn set_clock(server: &mut ApiServer, micros: u64) {
    let wanted = Duration::from_micros(micros.saturating_sub(START * 1_000_000));
    let now = server.environment().elapsed();
    server.environment_mut().advance(wanted.saturating_sub(now));
}

/// Runs a request on the core and compares its answer with the recorded one. `known` is the object before,
/// if it is known, with the source of that knowledge.
pub(super) fn predict(
    server: &ApiServer,
    event: &AuditEvent,
    resource: &Resource,
    known: Option<(&Value, KnownObject)>,
) -> CoreAnswer {
    let Some(code) = event.code else {
        return CoreAnswer::NotRun(NotRun::NoAnswer);
    };
    let Some(method) = method(&event.verb) else {
        return CoreAnswer::NotRun(NotRun::Verb);
    };
    let needs_body = matches!(event.verb.as_str(), "create" | "update" | "patch");
    if needs_body && event.request.is_none() {
        return CoreAnswer::NotRun(NotRun::NoBody);
    }
    let media = match event.verb.as_str() {
        "patch" => patch_types(event, resource),
        _ => vec!["application/json"],
    };
    let mut runs: Vec<(&'static str, Exchange, Vec<Difference>)> = Vec::new();
    for media in media {
        let mut server = server.clone();
        pass_over_others(&mut server, event);
        let Some(exchange) = send(&mut server, event, method, media) else {
            return CoreAnswer::NotRun(NotRun::Verb);
        };
        let differences = differences(event, code, &exchange, known);
        runs.push((media, exchange, differences));
    }
    let is_same = |(_, _, differences): &&(_, _, Vec<Difference>)| differences.is_empty();
    let same: Vec<&'static str> = runs.iter().filter(is_same).map(|run| run.0).collect();
    let at = runs.iter().position(|run| is_same(&run)).unwrap_or(0);
    let (_, exchange, differences) = runs.swap_remove(at);
    if same.is_empty() {
        return CoreAnswer::Other {
            exchange,
            differences,
        };
    }
    CoreAnswer::Same {
        exchange,
        compared: match event.response.is_some() && is_comparable(event) {
            true => Compared::Answer,
            false => Compared::Code,
        },
        patch_types: match event.verb.as_str() {
            "patch" => same,
            _ => Vec::new(),
        },
    }
}

/// Lets the writes of others pass that a log says by the version that a write got: what explains the answer names
/// versions, and those are of the server that was observed.
fn pass_over_others(server: &mut ApiServer, event: &AuditEvent) {
    let stored = event.response.as_ref().filter(|_| event.is_write());
    let version = stored.and_then(|object| object.resource_version().parse::<u64>().ok());
    if let Some(before) = version.and_then(|version| version.checked_sub(1)) {
        server.pass_over(before);
    }
}

/// The state of a server after a request: the same request, once more.
pub(super) fn carry_out(server: &mut ApiServer, event: &AuditEvent, exchange: &Exchange) {
    if let Some(method) = method(&event.verb) {
        send(server, event, method, &exchange.content_type);
    }
}

fn method(verb: &str) -> Option<&'static str> {
    Some(match verb {
        "get" | "list" | "watch" => "GET",
        "create" => "POST",
        "update" => "PUT",
        "patch" => "PATCH",
        "delete" => "DELETE",
        _ => return None,
    })
}

/// The log does not have the media type of a patch. A list is a JSON patch. `force` is an option of
/// apply only; an apply needs a manager and says its kind. The others are tried.
fn patch_types(event: &AuditEvent, resource: &Resource) -> Vec<&'static str> {
    let body = event.request.as_deref().unwrap_or(&Value::Null);
    if body.is_array() {
        return vec![Strategy::JsonPatch.media_type()];
    }
    let apply = Strategy::Apply.media_type();
    if event.query("force").is_some() {
        return vec![apply];
    }
    let mut types = Vec::new();
    let says_kind = !text(body, "apiVersion").is_empty() && !text(body, "kind").is_empty();
    if says_kind && event.query("fieldManager").is_some() {
        types.push(apply);
    }
    if matches!(resource.definition, Definition::Builtin(_)) {
        types.push(Strategy::StrategicMergePatch.media_type());
    }
    types.push(Strategy::MergePatch.media_type());
    types
}

fn send(server: &mut ApiServer, event: &AuditEvent, method: &str, media: &str) -> Option<Exchange> {
    let body = match &event.request {
        Some(body) if method != "GET" => body.to_string().into_bytes(),
        _ => Vec::new(),
    };
    let mut request = Request::builder()
        .method(method)
        .uri(&event.uri)
        .header(header::USER_AGENT, &event.agent);
    if !body.is_empty() {
        request = request.header(header::CONTENT_TYPE, media);
    }
    let request = request.body(body).ok()?;
    let response = server.handle(request.clone());
    Some(Exchange::new(&request, &response))
}

/// Returns whether the body of an answer says something that the core can know: not for collections, which
/// have other objects too, and not if the client asked for another form of it, which the log does not say.
fn is_comparable(event: &AuditEvent) -> bool {
    let whole = event.response.as_deref().is_none_or(is_whole);
    whole && !matches!(event.verb.as_str(), "list" | "watch")
}

/// Returns the differences between the answers. Values that no server can foresee are left out: times, the
/// uid of a new object, the version of a new one, and what a server chooses for a Service.
fn differences(
    event: &AuditEvent,
    code: u16,
    exchange: &Exchange,
    known: Option<(&Value, KnownObject)>,
) -> Vec<Difference> {
    let mut found = Vec::new();
    if exchange.code != code {
        found.push(Difference {
            pointer: String::new(),
            recorded: Some(json!(code)),
            core: Some(json!(exchange.code)),
        });
    }
    let Some(response) = event.response.as_deref().filter(|_| is_comparable(event)) else {
        return found;
    };
    let recorded = known.filter(|(_, known)| matches!(known, KnownObject::Recorded));
    let before = recorded.map(|(object, _)| object);
    let named = NamedValues::new(before, event.request.as_deref());
    let mut core = Arc::clone(&exchange.received);
    let has_owners = |object: &Value| object.managed_fields().is_some();
    let resets = event.request.as_deref().is_some_and(has_owners);
    if !has_owners(response) && !resets && has_owners(&core) {
        // The policy leaves them out of the log (`omitManagedFields`).
        Arc::make_mut(&mut core)
            .metadata_mut()
            .remove("managedFields");
    }
    found.extend(body_differences(response, &core, known, &named));
    found
}

/// Returns the differences between the bodies of two answers: a recorded one, and the core's. Of the addresses and
/// ports of a Service, those are compared that are named.
pub(crate) fn body_differences(
    recorded: &Value,
    core: &Value,
    known: Option<(&Value, KnownObject)>,
    named: &NamedValues,
) -> Vec<Difference> {
    let [recorded, core] = [recorded, core].map(|answer| {
        let mut answer = comparable(answer, known);
        named.hide_others(&mut answer);
        answer
    });
    let mut found: Vec<Difference> = Vec::new();
    for change in optimist_client::changes(&recorded, &core) {
        found.push(Difference {
            pointer: change.pointer,
            recorded: change.before,
            core: change.after,
        });
    }
    // `changes` leaves out what every write changes.
    for field in ["resourceVersion", "generation", "managedFields"] {
        let of = |object: &Value| object.metadata().and_then(|meta| meta.get(field)).cloned();
        let (recorded, core) = (of(&recorded), of(&core));
        let pointer = format!("/metadata/{field}");
        if recorded != core && found.iter().all(|it| !it.pointer.starts_with(&pointer)) {
            found.push(Difference {
                pointer,
                recorded,
                core,
            });
        }
    }
    found
}

/// Returns an answer without values that no server can foresee: neither times, nor a uid and a version
/// that the core made up because the log does not have them.
fn comparable(answer: &Value, known: Option<(&Value, KnownObject)>) -> Value {
    let mut answer = answer.clone();
    if text(&answer, "kind") == "Status" {
        if let Some(Value::Array(causes)) = answer.pointer_mut("/details/causes") {
            causes.sort_by_key(Value::to_string);
        }
        return answer;
    }
    if !answer.get("metadata").is_some_and(Value::is_object) {
        return answer;
    }
    if text(&answer, "kind") == "Scale"
        && let Some(Value::Object(status)) = answer.get_mut("status")
    {
        // A controller counts them, and its write need not be in the log.
        status.remove("replicas");
    }
    let version = known.map(|(object, from)| from.version_of(Some(object)));
    let is_same = version.flatten() == Some(answer.resource_version());
    let is_recorded = matches!(known, Some((_, KnownObject::Recorded)));
    let meta = answer.metadata_mut();
    if version == Some(None) {
        meta.remove("resourceVersion");
    } else {
        let version = if is_same { "the same" } else { "a new one" };
        meta.insert("resourceVersion".to_owned(), version.into());
    }
    meta.remove("creationTimestamp");
    if let Some(time) = meta.get_mut("deletionTimestamp") {
        *time = "a time".into();
    }
    if !is_recorded {
        meta.remove("uid");
    }
    if let Some(Value::Array(entries)) = meta.get_mut("managedFields") {
        for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
            entry.remove("time");
        }
        // Their order depends on the times.
        entries.sort_by_key(Value::to_string);
    }
    answer
}

/// The object of a successful answer, if the answer has it.
pub(super) fn object_of(event: &AuditEvent) -> Option<Arc<Value>> {
    let response = event.response.as_ref()?;
    let whole = !response.uid().is_empty() && !matches!(text(response, "kind"), "Status" | "Scale");
    let whole = whole && is_whole(response);
    whole.then(|| Arc::clone(response))
}

/// Returns the fields that a write changed, with its manager.
pub(super) fn changes(
    before: &Arc<Value>,
    after: &Arc<Value>,
    resource: &Resource,
    manager: Option<&Manager>,
) -> Vec<FieldChange> {
    let version = |object: &Arc<Value>| ObservedVersion {
        event: None,
        object: Arc::clone(object),
    };
    let versions = [version(before), version(after)];
    let mut changes = field_changes(&versions, &resource.root).unwrap_or_default();
    for change in &mut changes {
        change.by = manager.cloned();
    }
    changes
}
