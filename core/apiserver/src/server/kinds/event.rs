//! Event, of the core group and of its own (`pkg/registry/core/event`, `pkg/apis/core/validation/events.go`).

use serde_json::Value;

use super::{Collection, Rules, internal, metadata, names};
use crate::field::ErrorPath;
use crate::json::Node;
use crate::object::{Metadata, text};
use crate::schema::{
    self,
    kinds::{KindFacts, kinds},
};
use crate::status::FieldError;

pub(super) const RULES: Rules = Rules {
    validate: |event, _| validate(event),
    fields: &[
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ],
    collection: Collection::None,
    ..Rules::NONE
};

fn validate(event: &Value) -> Vec<FieldError> {
    validate_any(event, "reportingComponent")
}

/// `legacyValidateEvent`; `reporter` is how the version names who reports.
fn validate_any(event: &Value, reporter: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let namespace = event.namespace();
    let involved = text(&event["involvedObject"], "namespace");
    let modern = event.get("eventTime").is_some_and(|time| !time.is_null());
    let matches = match (involved, modern) {
        ("", false) => matches!(namespace, "" | "default"),
        ("", true) => matches!(namespace, "default" | "kube-system"),
        (involved, false) => involved == namespace,
        (_, true) => true,
    };
    if !matches {
        let detail = "does not match event.namespace";
        let field = "involvedObject.namespace";
        errors.push(FieldError::invalid(field, &involved.into(), detail));
    }
    if modern {
        let component = text(event, "reportingComponent");
        if component.is_empty() {
            errors.push(FieldError::required(reporter, ""));
        }
        let field = reporter;
        let reasons = names::qualified(component).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &component.into(), why)));
        for field in ["reportingInstance", "action", "reason"] {
            match text(event, field).len() {
                0 => errors.push(FieldError::required(field, "")),
                1..=128 => {}
                _ => errors.push(too_long(field, 128)),
            }
        }
        if text(event, "message").len() > 1024 {
            errors.push(too_long("message", 1024));
        }
    }
    let reasons = names::subdomain(namespace).into_iter();
    errors.extend(reasons.map(|why| FieldError::invalid("namespace", &namespace.into(), why)));
    errors
}

fn too_long(field: &str, most: usize) -> FieldError {
    let detail = format!("can have at most {most} characters");
    FieldError::invalid(field, &"".into(), detail)
}

/// The version of the core group, in which events are stored.
const CORE: &str = "v1";

/// The fields that have other names in `events.k8s.io/v1`.
const RENAMED: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// Writes an event in another version (`pkg/apis/events/v1/conversion.go`).
pub(super) fn convert(mut event: Value, api_version: &str) -> Value {
    if text(&event, "apiVersion") == api_version {
        return event;
    }
    if let Value::Object(members) = &mut event {
        members.insert("apiVersion".to_owned(), api_version.into());
        for (core, own) in RENAMED {
            let (from, to) = match api_version {
                CORE => (own, core),
                _ => (core, own),
            };
            if let Some(value) = members.remove(from) {
                members.insert(to.to_owned(), value);
            }
        }
    }
    // Fields that are never left out are there again, empty.
    let mut facts = kinds().iter();
    let facts = facts.find(|facts| facts.kind == "Event" && facts.api_version == api_version);
    let root = facts.and_then(KindFacts::root);
    match root.map(|root| schema::decode(Node::from(event.clone()), root)) {
        Some(Ok(decoded)) => decoded.value,
        _ => event,
    }
}

/// `ValidateEventCreate` and `ValidateEventUpdate` for `events.k8s.io/v1`.
pub(super) fn validate_in_own_group(event: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let event = &convert(event.clone(), CORE);
    let live = live.map(|live| convert(live.clone(), CORE));
    let mut errors = validate_any(event, "reportingController");
    match &live {
        None => {
            errors.extend(metadata::builtin(event, names::subdomain));
            errors.extend(series(&event["series"]));
            errors.extend(modern(event));
        }
        Some(live) => {
            errors.extend(metadata::builtin_update(event, live));
            if event["series"] != live["series"] {
                errors.extend(series(&event["series"]));
            }
            errors.extend(immutable_fields(event, live));
        }
    }
    errors
}

/// `validateV1EventSeries`.
fn series(series: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if series.is_null() {
        return errors;
    }
    if series["count"].as_i64().unwrap_or(0) < 2 {
        let detail = "should be at least 2";
        errors.push(FieldError::invalid("series.count", &"".into(), detail));
    }
    if series["lastObservedTime"].is_null() {
        errors.push(FieldError::required("series.lastObservedTime", ""));
    }
    errors
}

/// Checks an event of a new client, which sets none of the fields for old clients.
fn modern(event: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if event["eventTime"].is_null() {
        errors.push(FieldError::required("eventTime", ""));
    }
    let kind = text(event, "type");
    let mut refuse = |field: &str, detail: String| {
        errors.push(FieldError::invalid(field, &"".into(), detail));
    };
    if !matches!(kind, "Normal" | "Warning") {
        refuse("type", format!("has invalid value: {kind}"));
    }
    let source = &event["source"];
    let unset = [
        ("firstTimestamp", event["firstTimestamp"].is_null()),
        ("lastTimestamp", event["lastTimestamp"].is_null()),
        ("count", event["count"].as_i64().unwrap_or(0) == 0),
        (
            "source",
            text(source, "component").is_empty() && text(source, "host").is_empty(),
        ),
    ];
    for (field, unset) in unset {
        if !unset {
            refuse(field, "needs to be unset".to_owned());
        }
    }
    errors
}

/// Refuses changes to the fields of an event that must stay; the reason is looked at twice.
fn immutable_fields(event: &Value, live: &Value) -> Vec<FieldError> {
    let fields = [
        ("involvedObject", "involvedObject"),
        ("reason", "reason"),
        ("message", "message"),
        ("source", "source"),
        ("firstTimestamp", "firstTimestamp"),
        ("lastTimestamp", "lastTimestamp"),
        ("count", "count"),
        ("reason", "reason"),
        ("type", "type"),
        ("eventTime", "eventTime"),
        ("action", "action"),
        ("related", "related"),
        ("reportingComponent", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ];
    let changed = fields
        .into_iter()
        .filter(|(field, _)| event.get(field) != live.get(field));
    let error = |(field, shown): (&str, &str)| {
        // An absent text or number is its zero value.
        let value = match (&event[field], field) {
            (Value::Null, "count") => &Value::from(0),
            (Value::Null, "related" | "eventTime" | "firstTimestamp" | "lastTimestamp") => {
                &Value::Null
            }
            (Value::Null, _) => &Value::from(""),
            (value, _) => value,
        };
        let error = FieldError::invalid(shown, value, metadata::IMMUTABLE);
        if value.is_object() {
            let path = ErrorPath::new(field);
            return error.shown_as(internal::field(event, &path, value));
        }
        error
    };
    changed.map(error).collect()
}
