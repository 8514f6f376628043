//! Conditions of the Why card: the reasons of an answer.

use optimist_apiserver::object::{Metadata, text};
use serde_json::Value;

use super::caption::Condition;
use super::edits_named::begins;
use super::judge::leaves;
use super::moment::{Moment, finalizers, is_apply, is_dry_run, is_marked, sent_version, version};
use super::said::Said;

pub const FACTS: &[(&str, Condition)] = &[
    ("fact_read_scale", |said, at| {
        let sent = at.exchange()?;
        let spec = sent.received["spec"].as_object()?;
        let is_version = sent.received.resource_version() == said.text("version");
        let shows_one = sent.received["kind"] == "Scale" && spec.keys().all(|it| it == "replicas");
        Some(sent.method == "GET" && at.accepted() && is_version && shows_one)
    }),
    ("fact_read", |said, at| {
        let sent = at.exchange()?;
        let version = said.text("version");
        let is_version = sent.received.resource_version() == version;
        Some(
            sent.method == "GET"
                && at.accepted()
                && is_version
                && sent.received["kind"] != "Scale"
                && sent.received.get("items").is_none(),
        )
    }),
    ("fact_listed", |said, at| {
        let sent = at.exchange()?;
        let is_version = sent.received.resource_version() == said.text("version");
        Some(
            sent.method == "GET"
                && at.accepted()
                && is_version
                && sent.received.get("items").is_some(),
        )
    }),
    ("fact_version_matched", |said, at| {
        let version = said.number("version")?;
        let carried = sent_version(at.exchange()?)? == version.to_string();
        Some(carried && super::moment::version(&at.addressed()?) == version)
    }),
    ("fact_version_differed", |said, at| {
        let carried = sent_version(at.exchange()?)? == said.text("sent");
        let differ = said.text("sent") != said.text("stored");
        Some(carried && differ && version(&at.addressed()?) == said.number("stored")?)
    }),
    ("fact_version_not_sent", carried_none),
    ("fact_version_taken_over", |said, at| {
        let patch = at.exchange()?.method == "PATCH";
        Some(patch && carried_none(said, at)?)
    }),
    ("fact_version_required", |said, at| {
        Some(carried_none(said, at)? && at.refused())
    }),
    ("fact_uid_differed", |said, at| {
        let stored = at.addressed()?.uid().to_owned();
        Some(sent_uid(at)? == said.text("sent") && stored == said.text("stored") && at.refused())
    }),
    ("fact_uid_without_object", |said, at| {
        Some(sent_uid(at)? == said.text("sent") && at.addressed().is_none())
    }),
    ("fact_owned", |said, at| {
        let (field, manager) = (said.text("field"), said.text("manager"));
        let manager = manager.trim_matches('"').to_owned();
        let causes = at.exchange()?.received["details"]["causes"].as_array()?;
        let told = causes.iter().any(|cause| {
            cause["field"] == *field
                && text(cause, "message").contains(manager.split('"').next().unwrap_or_default())
        });
        Some(told && at.wrote_nothing() && owns(at, &manager)?)
    }),
    ("fact_given_up", |said, at| {
        let field = said.text("field");
        let field = field.trim_start_matches('.');
        let has = |object: &Value| {
            leaves(object).keys().any(|place| {
                let place = place.join(".");
                place == field || place.starts_with(&format!("{field}."))
            })
        };
        let sent = at.exchange()?;
        // A path with the keys of an item has another form here.
        let gone = field.contains('[') || (has(&at.addressed()?) && !has(&sent.sent));
        Some(is_apply(sent) && gone)
    }),
    ("fact_emptied_kept", |said, at| emptied(said, at, true)),
    ("fact_emptied_null", |said, at| emptied(said, at, false)),
    ("fact_test_differed", |said, at| {
        let (wanted, found) = test_at(at, &said.text("path"))?;
        let found = found?;
        Some(
            begins(&wanted.to_string(), &said.text("wanted"))
                && begins(&found.to_string(), &said.text("found"))
                && wanted != found,
        )
    }),
    ("fact_test_cut", |said, at| {
        let (wanted, found) = test_at(at, &said.text("path"))?;
        Some(found.is_some() && found != Some(wanted))
    }),
    ("fact_test_absent", |said, at| {
        let (wanted, found) = test_at(at, &said.text("path"))?;
        Some(begins(&wanted.to_string(), &said.text("wanted")) && found.is_none())
    }),
    ("fact_no_operation", |said, at| {
        let operation = operation(said, at)?;
        Some(!operation.is_object() || text(operation, "op").is_empty())
    }),
    ("fact_operation_failed", |said, at| {
        let operation = operation(said, at)?;
        let path = said.text("path");
        let same = text(operation, "path") == path || said.inner("path").is_some();
        Some(same && text(operation, "op") == said.text("op") && at.refused())
    }),
    ("fact_none_done", |_, at| {
        let message = at.exchange()?.received["message"].as_str()?;
        Some(at.wrote_nothing() && at.refused() && !message.contains("operation 0"))
    }),
    ("fact_created", |said, at| {
        let answer = &at.exchange()?.received;
        let new = answer.resource_version() == said.text("version");
        let path = format!(
            "{}/{}",
            super::moment::path_of_object(&at.exchange()?.target),
            answer.name()
        );
        let is_new = match at.exchange()?.method == "POST" {
            true => at.got(at.last()?.before, &path).0 == 404,
            false => at.addressed().is_none(),
        };
        Some(is_new && new && at.exchange()?.code == 201)
    }),
    ("fact_stored", |said, at| {
        let after = at
            .got(
                at.last()?.after,
                &super::moment::path_of_object(&at.exchange()?.target),
            )
            .1;
        let versions = (version(&at.addressed()?), version(&after));
        Some(versions == (said.number("before")?, said.number("after")?))
    }),
    ("fact_unchanged", |said, at| {
        Some(at.wrote_nothing() && version(&at.addressed()?) == said.number("version")?)
    }),
    ("fact_terminating", |said, at| {
        let version = said.number("version")?;
        let mut log = at.world().server().store().log_after(version - 1);
        let object = log
            .next()
            .filter(|change| change.revision == version)?
            .after
            .as_deref()?;
        // Without a reason to wait it is deleted at once.
        let period = &object["metadata"]["deletionGracePeriodSeconds"];
        let waits = finalizers(object) > 0 || period.as_i64().unwrap_or_default() > 0;
        Some(
            is_marked(object) && (waits || log.next().is_some_and(|change| change.after.is_none())),
        )
    }),
    ("fact_deleted_each", |said, at| {
        let sent = at.exchange()?;
        let items = sent.received["items"].as_array()?;
        let deletes = sent.method == "DELETE" && at.accepted();
        Some(deletes && items.len() as u64 == said.number("count")?)
    }),
    ("fact_deleted", |said, at| {
        let path = super::moment::path_of_object(&at.exchange()?.target);
        let last = at.last()?;
        let gone = at.got(last.before, &path).0 == 200 && at.got(last.after, &path).0 == 404;
        Some(gone && last.after.server().store().revision() == said.number("revision")?)
    }),
    ("fact_dry_run", |_, at| {
        Some(is_dry_run(at.exchange()?) && at.wrote_nothing())
    }),
    ("fact_rule", |said, at| has_rule(at, &said.text("rule"))),
    ("card_rule", |said, at| has_rule(at, &said.text("rule"))),
    ("card_rules", |said, at| has_rule(at, &said.text("rule"))),
];

fn carried_none(said: &Said, at: &Moment<'_>) -> Option<bool> {
    let none = sent_version(at.exchange()?).is_none();
    Some(none && version(&at.addressed()?) == said.number("stored")?)
}

/// The uid that the last request carried as a precondition.
fn sent_uid(at: &Moment<'_>) -> Option<String> {
    let body = &at.exchange()?.sent;
    let of = |value: &Value| value["uid"].as_str().map(str::to_owned);
    of(&body["preconditions"]).or_else(|| of(&body["metadata"]))
}

/// Returns whether a manager has an entry in the object.
fn owns(at: &Moment<'_>, manager: &str) -> Option<bool> {
    let object = at.addressed()?;
    let mut entries = object["metadata"]["managedFields"].as_array()?.iter();
    Some(entries.any(|entry| manager.starts_with(text(entry, "manager"))))
}

/// Returns whether the last apply took the last member of what a field has.
fn emptied(said: &Said, at: &Moment<'_>, kept: bool) -> Option<bool> {
    let field = said.text("field");
    let place = format!("/{}", field.trim_start_matches('.').replace('.', "/"));
    let before = at.addressed()?;
    let had = before.pointer(&place).is_some_and(|value| match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    });
    if at.refused() || !at.accepted() || field.contains('[') {
        return Some(is_apply(at.exchange()?));
    }
    let answer = &at.exchange()?.received;
    let is = answer.pointer(&place);
    let empty =
        is.is_some_and(|value| *value == serde_json::json!({}) || *value == serde_json::json!([]));
    // The server may fill in what is null by a default, or leave it out.
    Some(is_apply(at.exchange()?) && had && (empty == kept || is != before.pointer(&place)))
}

/// Returns the value that a test at a path wants, and the value that is there.
fn test_at(at: &Moment<'_>, path: &str) -> Option<(Value, Option<Value>)> {
    let object = at.addressed()?;
    let mut tests = at
        .exchange()?
        .sent
        .as_array()?
        .iter()
        .filter(|it| it["op"] == "test");
    let test = tests.find(|it| text(it, "path") == path || text(it, "path").is_empty())?;
    let found = object.pointer(text(test, "path")).cloned();
    Some((test["value"].clone(), found))
}

fn operation<'a>(said: &Said, at: &'a Moment<'_>) -> Option<&'a Value> {
    let position = said.number("position")?.checked_sub(1)?;
    at.exchange()?.sent.as_array()?.get(position as usize)
}

/// Returns whether the definition of the object has a rule.
fn has_rule(at: &Moment<'_>, rule: &str) -> Option<bool> {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let (_, list) = at.got(at.world(), path);
    let rule = rule.trim_matches('"');
    Some(list.to_string().contains(rule))
}
