//! A case without its values gives the same answers, and none of the values is in it.

use std::collections::BTreeSet;
use std::mem::discriminant;

use optimist_apiserver::apply::Path;
use optimist_apiserver::object::Metadata;
use optimist_client::Preset;
use optimist_diagnose::anonymize::{
    CaseSettings, CaseValues, LeafValue, StayReason, ValueSearch, WithoutValues,
};
use optimist_diagnose::audit::AuditReader;
use optimist_diagnose::audit::recorded::RecordedHistory;
use optimist_diagnose::case::Case;
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::observed::{field_changes, fights};
use optimist_diagnose::scene::GivenParts;
use optimist_diagnose::ways::{ChangeTable, Row, WantedChange};
use optimist_diagnose::without_private::{PrivateSearch, WithoutPrivate};
use optimist_masking::masked_text;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::live;

const AUDIT: &str = include_str!("live/audit.log");
const FIGHT: &str = include_str!("fight.json");

fn settings() -> CaseSettings {
    CaseSettings {
        client: Preset::Helm4,
        manager: String::new(),
        given: GivenParts::default(),
    }
}

/// The case without values, and how often its answers were computed.
fn without(texts: &[String]) -> (WithoutValues, usize) {
    let mut search = ValueSearch::new(texts, &settings());
    while search.advance() {}
    (search.result().expect("it is done"), search.attempts())
}

/// The case without what looks private.
fn without_private(texts: &[String]) -> WithoutPrivate {
    let mut search = PrivateSearch::new(texts);
    while search.advance() {}
    search.result().expect("it is done").clone()
}

#[test]
fn nothing_of_what_was_recorded_looks_private_but_the_data_of_secrets() {
    for recorded in live::LIVE {
        let found = without_private(&[recorded.to_owned()]).private;
        let is_secret = recorded.contains("kind: Secret");
        let fields: Vec<&str> = found.iter().map(|it| it.field.as_str()).collect();
        assert!(is_secret || fields.is_empty(), "{found:?}\n{recorded}");
    }
    let found = without_private(&[AUDIT.to_owned(), FIGHT.to_owned()]).private;
    assert!(
        found.iter().all(|it| it.looks_like == "a user"),
        "{found:?}"
    );
    let mut count = 0;
    for recorded in [
        include_str!("messages/forms.json"),
        include_str!("messages/kubectl.json"),
        include_str!("messages/other_tools.json"),
    ] {
        let all: Vec<Value> = serde_json::from_str(recorded).unwrap();
        for one in all {
            let printed = ["stdout", "stderr", "text", "message", "output"];
            for text in printed.iter().filter_map(|name| one[*name].as_str()) {
                count += 1;
                let shown = masked_text(text);
                assert_eq!(shown, text);
            }
        }
    }
    assert!(count > 100, "{count}");
}

fn inputs(texts: &[String]) -> Vec<Input> {
    texts.iter().filter_map(|text| detect(text).ok()).collect()
}

/// The rows of every case that has a manifest.
fn rows(texts: &[String]) -> Vec<Row> {
    let cases = Case::all_of(&inputs(texts)).into_iter();
    let rows = cases.filter_map(|case| {
        let change = WantedChange {
            previous: case.previous_manifest.clone(),
            ..WantedChange::manifest(case.manifest.clone()?)
        };
        Some(ChangeTable::new(&case.install().ok()?, change).rows())
    });
    rows.flatten().collect()
}

/// A path without the values of sets.
fn plain(path: &Path) -> String {
    let path = path.to_string();
    path.split("=\"").next().unwrap_or_default().to_owned()
}

/// Returns the promises of a row.
fn promises(row: &Row) -> String {
    let mut fields: Vec<String> = row
        .fields
        .iter()
        .map(|field| {
            format!(
                "{} {:?} {:?} {:?} {:?}",
                plain(&field.field),
                field.effect,
                field.owners_before,
                field.owners_after,
                field.refused_by
            )
        })
        .collect();
    fields.sort();
    format!(
        "{:?} {:?} {:?} {fields:?}",
        row.way, row.code, row.second_run
    )
}

/// The texts that are leaves of a document, also those in JSON.
fn leaves(value: &Value, found: &mut BTreeSet<String>, names: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            found.insert(text.clone());
            if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
                leaves(&inner, found, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found, names)),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            if let Some(("v", json)) = name.split_once(':')
                && let Ok(value) = serde_json::from_str(json)
            {
                leaves(&value, found, names);
            }
            names.insert(name.clone());
            leaves(member, found, names);
        }),
        _ => {}
    }
}

fn documents(text: &str) -> Vec<Value> {
    let json = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let json: Result<Vec<Value>, _> = json.collect();
    json.ok()
        .or_else(|| optimist_client::objects(text).ok())
        .unwrap_or_default()
}

/// Checks a case without its values, and gives what of it was kept for the sake of answers.
fn check(texts: &[String]) -> (WithoutValues, Vec<LeafValue>) {
    let (result, attempts) = without(texts);
    let before: Vec<String> = rows(texts).iter().map(promises).collect();
    let private = without_private(texts);
    let shared: Vec<String> = rows(&private.texts).iter().map(promises).collect();
    assert_eq!(before, shared, "without what looks private");
    let errors = |texts: &[String]| -> Vec<_> {
        let all = inputs(texts).into_iter();
        all.filter_map(|one| match one {
            Input::Errors(errors) => {
                let told = errors.iter().map(|it| (it.tool, discriminant(&it.error)));
                Some(told.collect::<Vec<_>>())
            }
            _ => None,
        })
        .collect()
    };
    assert_eq!(errors(texts), errors(&private.texts));
    let after: Vec<String> = rows(&result.texts).iter().map(promises).collect();
    assert_eq!(before, after);
    let values = CaseValues::read(texts);
    let (mut left, mut names) = (BTreeSet::new(), BTreeSet::new());
    for text in &result.texts {
        for document in documents(text) {
            leaves(&document, &mut left, &mut names);
        }
    }
    let whole = result.texts.join("\n");
    for value in values.values() {
        let LeafValue::Text(text) = value else {
            continue;
        };
        if result.stays.contains_key(value) {
            continue;
        }
        // managedFields keep their times.
        assert!(
            is_time(text) || !left.contains(text),
            "{text} is left\n{whole}"
        );
        // A long text is nowhere in it, unless in the name of a field or in a text that stays.
        let stays = |it: &LeafValue| matches!(it, LeafValue::Text(it) if it.contains(text));
        let named = names.iter().any(|name| name.contains(text.as_str()));
        if text.len() > 7 && !named && !result.stays.keys().any(stays) && !is_time(text) {
            assert!(!whole.contains(text.as_str()), "{text} is in\n{whole}");
        }
    }
    let kept = result.stays.iter();
    let kept = kept.filter(|(_, reason)| **reason == StayReason::Answer);
    let kept: Vec<LeafValue> = kept.map(|(value, _)| value.clone()).collect();
    println!(
        "{attempts} attempts, {} left out, kept {kept:?}",
        result.left_out
    );
    (result, kept)
}

fn is_time(text: &str) -> bool {
    text.ends_with('Z') && text.as_bytes().get(10) == Some(&b'T')
}

/// A manifest that changes an object here and there: the spec of the object, with other values.
fn manifest_of(object: &Value, changes: &[(usize, u8)]) -> Value {
    let mut manifest = object.clone();
    manifest.as_object_mut().unwrap().remove("status");
    let meta = manifest.metadata_mut();
    for name in [
        "managedFields",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
    ] {
        meta.remove(name);
    }
    let mut places = Vec::new();
    pointers(&manifest, "", &mut places);
    for (at, how) in changes {
        let Some(pointer) = places.get(at % places.len().max(1)) else {
            continue;
        };
        change(&mut manifest, pointer, *how);
    }
    manifest
}

fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.replace('~', "~0").replace('/', "~1"), member))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(i, it)| (i.to_string(), it))
            .collect(),
        _ => return,
    };
    for (name, member) in below {
        let pointer = format!("{at}/{name}");
        let fixed = [
            "/apiVersion",
            "/kind",
            "/metadata",
            "/metadata/name",
            "/metadata/namespace",
        ];
        if !fixed.contains(&pointer.as_str()) {
            found.push(pointer.clone());
        }
        pointers(member, &pointer, found);
    }
}

fn change(manifest: &mut Value, pointer: &str, how: u8) {
    let Some((above, name)) = pointer.rsplit_once('/') else {
        return;
    };
    if how == 0 {
        if let Some(Value::Object(members)) = manifest.pointer_mut(above) {
            members.remove(&name.replace("~1", "/").replace("~0", "~"));
        }
        return;
    }
    match manifest.pointer_mut(pointer) {
        Some(Value::Number(number)) => {
            let changed = number.as_i64().unwrap_or(0) + i64::from(how);
            *manifest.pointer_mut(pointer).unwrap() = changed.into();
        }
        Some(Value::String(text)) => *text = format!("{text}x"),
        Some(Value::Bool(on)) => *on = !*on,
        _ => {}
    }
}

fn texts_of(live: &str, changes: &[(usize, u8)]) -> Vec<String> {
    let object = documents(live).remove(0);
    vec![live.to_owned(), manifest_of(&object, changes).to_string()]
}

#[test]
fn every_live_object_with_a_manifest_gives_the_same_answers_without_values() {
    for live in live::LIVE {
        let texts = texts_of(live, &[(3, 1), (9, 1), (14, 0), (20, 2)]);
        let (result, _) = check(&texts);
        assert!(result.left_out > 0, "{live}");
    }
}

#[test]
fn a_watch_keeps_its_fight_without_values() {
    let texts = vec![FIGHT.to_owned()];
    let (result, kept) = check(&texts);
    assert_eq!(kept, []);
    let of = |texts: &[String]| {
        let case = Case::all_of(&inputs(texts)).remove(0);
        let root = case.install().unwrap().resource().root.clone();
        let changes = field_changes(&case.versions, &root).unwrap();
        let found = fights(&changes);
        let found = found
            .iter()
            .map(|it| (it.field.to_string(), it.flips, it.managers.clone()));
        (changes.len(), found.collect::<Vec<_>>())
    };
    assert_eq!(of(&texts), of(&result.texts));
    assert_eq!(of(&texts).1[0].1, 6);
}

#[test]
fn an_audit_log_is_predicted_without_values() {
    let texts = vec![AUDIT.to_owned()];
    let (result, kept) = check(&texts);
    assert_eq!(kept, []);
    let counts = |text: &str| {
        let log = AuditReader::new(text.into()).finish();
        let (object, _) = log.objects().remove(0);
        RecordedHistory::new(object, &[], Default::default())
            .finish(&log)
            .counts()
    };
    assert_eq!(counts(AUDIT), counts(&result.texts[0]));
    for address in ["sourceIPs", "system:masters"] {
        assert!(AUDIT.contains(address));
        assert!(!result.texts[0].contains(address), "{address}");
    }
}

#[test]
fn the_lines_of_a_message_that_say_nothing_are_left_out() {
    let text = "connecting to db.internal.example with password hunter22\n\
                token=ghp_0123456789abcdefghijklmnopqrstuvwxyz Error: UPGRADE FAILED: \
                conflict occurred while applying object live/web apps/v1, \
                Kind=Deployment: Apply failed with 1 conflict: conflict with \
                \"kube-controller-manager\" with subresource \"scale\" using apps/v1: .spec.replicas\n\
                done in 3 s\n";
    let (result, _) = check(&[text.to_owned(), "what is this?".to_owned()]);
    assert_eq!(result.texts.len(), 1);
    assert_eq!(result.undetected, 1);
    assert!(result.texts[0].contains("Apply failed with 1 conflict"));
    for left_out in ["hunter22", "db.internal", "done in", "ghp_"] {
        assert!(!result.texts[0].contains(left_out), "{left_out}");
    }
    assert_eq!(detect(&result.texts[0]), detect(text));
}

#[test]
fn equal_values_have_equal_stand_ins_and_types_stay() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login",
        "namespace": "live", "uid": "u", "resourceVersion": "7",
        "annotations": {"word": "hunter2", "at": "2026-11-22T06:01:59Z"}},
        "data": {"word": "aHVudGVyMg=="}});
    let manifest = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "login", "namespace": "live"}, "stringData": {"word": "hunter2"}});
    let (result, _) = check(&[secret.to_string(), manifest.to_string()]);
    let live = documents(&result.texts[0]).remove(0);
    let manifest = documents(&result.texts[1]).remove(0);
    let word = live["metadata"]["annotations"]["word"].as_str().unwrap();
    assert!(word.starts_with("value-"), "{word}");
    assert_eq!(manifest["stringData"]["word"], word);
    assert!(!result.texts.join("").contains("aHVudGVyMg"));
    let at = live["metadata"]["annotations"]["at"].as_str().unwrap();
    assert_eq!(at.len(), 20);
    assert!(at.starts_with("1970-"), "{at}");
}

#[test]
fn a_value_whose_stand_in_is_refused_stays_and_is_named() {
    let texts = texts_of(live::LIVE[4], &[]);
    let mut manifest: Value = serde_json::from_str(&texts[1]).unwrap();
    manifest["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = "Never".into();
    let (_, kept) = check(&[texts[0].clone(), manifest.to_string()]);
    assert!(
        kept.contains(&LeafValue::Text("Never".to_owned())),
        "{kept:?}"
    );
}

#[test]
fn the_values_of_a_set_have_their_stand_ins_in_the_paths_of_their_owners() {
    let definition = include_str!("anonymize/tags.yaml");
    let live = json!({"apiVersion": "demo.dev/v1", "kind": "Tagged", "metadata": {"name": "one",
        "namespace": "live", "uid": "u", "resourceVersion": "7", "generation": 1,
        "managedFields": [
            {"manager": "helm", "operation": "Apply", "apiVersion": "demo.dev/v1",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:tags": {
                    "v:\"payments\"": {}, "v:\"internal\"": {}}}}},
            {"manager": "ops", "operation": "Apply", "apiVersion": "demo.dev/v1",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:size": {},
                    "f:tags": {"v:\"payments\"": {}}}}}]},
        "spec": {"size": 40, "tags": ["payments", "internal"]}});
    let manifest = json!({"apiVersion": "demo.dev/v1", "kind": "Tagged",
        "metadata": {"name": "one", "namespace": "live"},
        "spec": {"size": 70, "tags": ["payments", "external"]}});
    let texts = [
        definition.to_owned(),
        live.to_string(),
        manifest.to_string(),
    ];
    let (result, kept) = check(&texts);
    assert_eq!(kept, []);
    assert_eq!((result.definitions, result.same), (1, true));
    let whole = result.texts[1..].join("");
    for value in ["payments", "internal", "external", "40", "70"] {
        assert!(!whole.contains(value), "{value}\n{whole}");
    }
    let live = documents(&result.texts[1]).remove(0);
    let tag = live["spec"]["tags"][0].as_str().unwrap();
    let path = format!("v:\"{tag}\"");
    for entry in 0..2 {
        let tags = &live["metadata"]["managedFields"][entry]["fieldsV1"]["f:spec"]["f:tags"];
        assert!(tags.get(&path).is_some(), "{tags}");
    }
    // Whole numbers keep their order.
    let manifest = documents(&result.texts[2]).remove(0);
    let sizes = (&live["spec"]["size"], &manifest["spec"]["size"]);
    assert!(sizes.0.as_i64() < sizes.1.as_i64(), "{sizes:?}");
}

#[test]
fn every_message_of_the_server_gives_the_same_scene_without_values() {
    let recorded: Value = serde_json::from_str(include_str!("messages/kubectl.json")).unwrap();
    let mut texts = BTreeSet::new();
    leaves(&recorded, &mut texts, &mut BTreeSet::new());
    let is_message = |text: &String| matches!(detect(text), Ok(Input::Errors(_)));
    let mut read = 0;
    for message in texts.into_iter().filter(is_message) {
        let (result, _) = check(std::slice::from_ref(&message));
        assert!(result.same, "{message}");
        let kinds = |text: &str| match detect(text) {
            Ok(Input::Errors(errors)) => errors
                .iter()
                .map(|one| {
                    (
                        one.tool,
                        one.object.clone(),
                        std::mem::discriminant(&one.error),
                    )
                })
                .collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        assert_eq!(kinds(&result.texts[0]), kinds(&message));
        read += 1;
    }
    assert!(read > 10, "{read}");
}

/// A ConfigMap with so many values.
fn large(values: usize) -> String {
    let text = |i: usize| {
        (
            format!("key-{i}"),
            json!(format!("some text number {i} of many")),
        )
    };
    let data: serde_json::Map<String, Value> = (0..values).map(text).collect();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large",
        "namespace": "live", "uid": "u", "resourceVersion": "7"}, "data": data})
    .to_string()
}

#[test]
fn the_work_for_a_large_object_grows_with_its_values_and_not_faster() {
    // Allocations are the same in every run, on every machine. At a power of two, what grows by doubling has doubled.
    const FEW: usize = 1_024;
    const RATIO: f64 = 2.3;
    let cost = |values: usize| {
        let texts = [large(values)];
        let mut found = None;
        let info = allocation_counter::measure(|| found = Some(without(&texts)));
        let (result, attempts) = found.expect("it is measured");
        assert_eq!((result.left_out, attempts), (values, 1));
        (info.count_total as f64, info.bytes_total as f64)
    };
    let (few, many) = (cost(FEW), cost(2 * FEW));
    let (counts, bytes) = (many.0 / few.0, many.1 / few.1);
    assert!(
        counts <= RATIO && bytes <= RATIO,
        "{counts:.2} times the {} allocations, {bytes:.2} times the {} bytes",
        few.0,
        few.1
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_too_odd(
        which in 0..4_usize,
        cuts in prop::collection::vec((0_usize..60_000, prop::sample::select(vec![
            "", "{", "}", "\"", "v:", "k:{", "é", "\u{0}", "\n", "---\n", ": ", "2026-11-22T06:01:59Z",
            "value-1", "%", "9223372036854775807", "-9223372036854775808", "1e400", "=", ",",
        ])), 1..6),
    ) {
        let mut text = [live::LIVE[4], live::LIVE[8], FIGHT, AUDIT][which].to_owned();
        for (at, part) in cuts {
            let at = (0..=at % text.len()).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            text.insert_str(at, part);
        }
        let values = CaseValues::read(std::slice::from_ref(&text));
        let kept = BTreeSet::new();
        let stand_ins = values.stand_ins(&kept);
        let rewritten = values.rewritten(&stand_ins);
        prop_assert_eq!(rewritten.is_empty(), detect(&text).is_err());
    }

    #[test]
    fn any_change_of_any_live_object_gives_the_same_answers_without_values(
        which in 0..live::LIVE.len(),
        changes in prop::collection::vec((0_usize..200, 0_u8..4), 0..6),
    ) {
        check(&texts_of(live::LIVE[which], &changes));
    }
}
