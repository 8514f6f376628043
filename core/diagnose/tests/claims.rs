//! The truth of claims: what is claimed from a message alone is never contradicted by an object that
//! fits the message. Random objects are written by random clients until an apply is refused. The
//! message of that refusal alone is read, and what is claimed of it is compared with what happens to the
//! real object. And what a row says is what happens when its requests are performed in Play.
//!
//! `OPTIMIST_CLAIMS` sets how many refusals are tried.

use optimist_apiserver::apply::{Set, field_set, to_fields_v1};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::schema::{builtin, fill_defaults};
use optimist_client::{Preset, annotated};
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::completions::{CompletedChange, Settling, Then};
use optimist_diagnose::message::reported_errors;
use optimist_diagnose::scene::{GivenParts, Scene};
use optimist_diagnose::ways::{
    ChangeTable, FieldEffect, FieldOutcome, OnOwned, ReleaseMethod, Row, WantedChange, Way,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

/// A manifest, and who writes it.
#[derive(Clone, Debug)]
struct Written {
    way: Way,
    manager: &'static str,
    manifest: Value,
}

/// The clients that write before.
const WRITERS: [Preset; 8] = [
    Preset::KubectlApply,
    Preset::KubectlApplyServerSide,
    Preset::Helm3,
    Preset::Helm4,
    Preset::Flux,
    Preset::Terraform,
    Preset::Update,
    Preset::MergeFrom,
];

/// The clients whose messages are read.
const REFUSED: [Preset; 3] = [
    Preset::KubectlApplyServerSide,
    Preset::Helm4,
    Preset::Terraform,
];

fn deployment() -> impl Strategy<Value = Value> {
    let image = prop_oneof![Just("example:1"), Just("example:2"), Just("example:3")];
    let replicas = proptest::option::of(1..4u8);
    let paused = proptest::option::weighted(0.3, any::<bool>());
    let label = proptest::option::weighted(0.3, 0..3u8);
    let env = proptest::option::weighted(0.3, 0..3u8);
    let sidecar = proptest::bool::weighted(0.2);
    (image, replicas, paused, label, env, sidecar).prop_map(
        |(image, replicas, paused, label, env, sidecar)| {
            let mut containers = vec![json!({"name": "app", "image": image})];
            if let Some(env) = env {
                containers[0]["env"] = json!([{"name": "A", "value": env.to_string()}]);
            }
            if sidecar {
                containers.push(json!({"name": "sidecar", "image": image}));
            }
            let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "web", "namespace": "shop"},
                "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
                    "metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}}}});
            if let Some(replicas) = replicas {
                object["spec"]["replicas"] = replicas.into();
            }
            if let Some(paused) = paused {
                object["spec"]["paused"] = paused.into();
            }
            if let Some(label) = label {
                object["metadata"]["labels"] = json!({"team": label.to_string()});
            }
            object
        },
    )
}

fn config_map() -> impl Strategy<Value = Value> {
    let keys = proptest::collection::btree_map(0..4u8, 0..3u8, 1..4);
    keys.prop_map(|keys| {
        let data = keys
            .into_iter()
            .map(|(key, value)| (format!("k{key}"), json!(value.to_string())));
        let data: serde_json::Map<String, Value> = data.collect();
        json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "web", "namespace": "shop"}, "data": data})
    })
}

fn written(
    manifest: impl Strategy<Value = Value>,
    clients: &'static [Preset],
) -> impl Strategy<Value = Written> {
    let manager = prop_oneof![Just(""), Just("ci"), Just("operator")];
    let client = proptest::sample::select(clients);
    let force = proptest::bool::weighted(0.5);
    (manifest, manager, client, force).prop_map(|(manifest, manager, preset, force)| Written {
        way: Way::Client(
            preset,
            if force {
                OnOwned::Force
            } else {
                OnOwned::Usual
            },
        ),
        manager,
        manifest,
    })
}

/// What is written, one after the other, and what is refused then.
fn histories() -> impl Strategy<Value = (Vec<Written>, Written)> {
    let of = |manifest: BoxedStrategy<Value>| {
        let before = proptest::collection::vec(written(manifest.clone(), &WRITERS), 1..5);
        (before, written(manifest, &REFUSED))
    };
    prop_oneof![of(deployment().boxed()), of(config_map().boxed())]
}

fn change(written: &Written) -> WantedChange {
    let manager = Some(written.manager.to_owned()).filter(|name| !name.is_empty());
    WantedChange {
        manager,
        // Else the message would be about a former entry of Helm's own.
        last_release: ReleaseMethod::ServerSide,
        ..WantedChange::manifest(written.manifest.clone())
    }
}

/// The object as its first writer created it.
fn created(first: &Written) -> Option<Value> {
    let mut object = first.manifest.clone();
    let root = builtin(object["kind"].as_str()?)?;
    let mut entries = Vec::new();
    if let Way::Client(preset, _) = first.way
        && preset != Preset::MergeFrom
    {
        let client_side = preset == Preset::KubectlApply;
        if client_side {
            object = annotated(&object);
        }
        let mut own = object.clone();
        for field in ["name", "namespace"] {
            own.metadata_mut().remove(field);
        }
        fill_defaults(&mut own, root);
        let mut fields = field_set(&own, root);
        fields.subtract(&Set::of_fields(&[
            &["apiVersion"],
            &["kind"],
            &["metadata"],
        ]));
        let (manager, operation) = match preset {
            Preset::KubectlApply => ("kubectl-client-side-apply", "Update"),
            Preset::Helm3 => ("helm", "Update"),
            Preset::Helm4 => ("helm", "Apply"),
            Preset::Update => ("operator", "Update"),
            _ => ("ci", "Apply"),
        };
        entries.push(json!({"manager": manager, "operation": operation,
            "apiVersion": object["apiVersion"], "fieldsType": "FieldsV1",
            "fieldsV1": to_fields_v1(&fields), "time": "2026-01-01T00:00:00Z"}));
    }
    object.set_meta("uid", "00000000-0000-4000-8000-00000000000a");
    object.set_meta("resourceVersion", "500");
    object.set_meta("managedFields", Value::Array(entries));
    Some(object)
}

/// The object after all writes, on a server of its own.
fn object_of(writes: &[Written]) -> Option<Installed> {
    let object = created(writes.first()?)?;
    let mut installed = Case::about(object).install().ok()?;
    for written in writes {
        let row = ChangeTable::new(&installed, change(written)).row(written.way)?;
        if row.after.is_object() {
            installed = Case::about((*row.after).clone()).install().ok()?;
        }
    }
    Some(installed)
}

/// What a tool prints of a refusal.
fn printed(preset: Preset, message: &str, object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or_default();
    let version = object["apiVersion"].as_str().unwrap_or_default();
    match preset {
        Preset::Helm4 => format!(
            "Error: UPGRADE FAILED: conflict occurred while applying object shop/web {version}, \
             Kind={kind}: {message}"
        ),
        Preset::Terraform => {
            format!(
                "Error: There was a field manager conflict when trying to apply the manifest for \"shop/web\"\n\n{message}"
            )
        }
        _ => format!("error: {message}\nPlease review the fields above"),
    }
}

/// How often something was checked.
#[derive(Debug, Default)]
struct Counts {
    refusals: usize,
    without_scene: usize,
    rows: usize,
    open: usize,
    claims: usize,
    outs: usize,
    settling: usize,
}

#[test]
fn no_claim_from_a_message_is_contradicted_by_an_object_that_fits_it() {
    let set = std::env::var("OPTIMIST_CLAIMS").ok();
    let wanted: usize = set.and_then(|set| set.parse().ok()).unwrap_or(10);
    let seed = std::env::var("OPTIMIST_CLAIMS_SEED").ok();
    let seed: u64 = seed.and_then(|seed| seed.parse().ok()).unwrap_or(26);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut counts = Counts::default();
    let mut tried = 0;
    while counts.refusals < wanted && tried < wanted * 60 {
        tried += 1;
        let history = histories().new_tree(&mut runner).expect("it is made");
        let (before, last) = history.current();
        check(&before, &last, &mut counts);
    }
    println!("{tried} histories: {counts:?}");
    assert!(counts.claims > counts.refusals * 10, "{counts:?}");
}

fn check(before: &[Written], last: &Written, counts: &mut Counts) {
    let Way::Client(preset, _) = last.way else {
        return;
    };
    let Some(installed) = object_of(before) else {
        return;
    };
    let real = ChangeTable::new(&installed, change(last));
    let refused = real.row(Way::Client(preset, OnOwned::Usual));
    let refused = refused.filter(|row| row.with(FieldEffect::Refused).next().is_some());
    let Some(refused) = refused else {
        return;
    };
    counts.refusals += 1;
    let text = printed(preset, &refused.message, &refused.before);
    let errors = reported_errors(&text);
    let [error] = &errors[..] else {
        panic!("{text}");
    };
    let given = GivenParts {
        kind: refused.before["kind"].as_str().map(str::to_owned),
        manager: Some(refused.writer.clone()),
        ..GivenParts::default()
    };
    let Ok(scene) = Scene::of(error, &given) else {
        counts.without_scene += 1;
        return;
    };
    let Some(mut claimed) = CompletedChange::of_scene(&scene, error, &given) else {
        return;
    };
    claimed.complete();
    // The rows are of the same writer.
    let mut of_writer = change(last);
    of_writer.manager = Some(refused.writer.clone());
    of_writer.refused = Some((preset, refused.writer.clone()));
    let real = ChangeTable::new(&installed, of_writer);
    let label = || format!("{text}\n{}\n{}", refused.before, last.manifest);
    for way in Way::all() {
        let (Some(claim), Some(real)) = (claimed.row(way), real.row(way)) else {
            continue;
        };
        counts.rows += 1;
        counts.open += usize::from(!claim.open.is_empty());
        counts.claims += holds(&claim, &real, &label);
    }
    let outs = real.ways_out(preset);
    for claim in claimed.ways_out(preset) {
        let real = outs.iter().find(|out| out.kind == claim.kind);
        let Some(real) = real.filter(|real| real.row.code != Some(422)) else {
            continue;
        };
        counts.outs += 1;
        match claim.settling() {
            Settling::Settles => {
                counts.settling += 1;
                assert!(real.settles, "{:?} settles\n{}", claim.kind, label());
            }
            Settling::Depends => {}
            Settling::DoesNotSettle => {
                assert!(
                    !real.settles,
                    "{:?} does not settle\n{}",
                    claim.kind,
                    label()
                );
            }
        }
        counts.claims += holds(&claim.row, &real.row, &label);
    }
}

/// Whether what is claimed of a way holds in a run of it. How many claims there are.
fn holds(claim: &Row, real: &Row, label: &dyn Fn() -> String) -> usize {
    // Values that the server does not take are said to be taken for granted.
    if real.code == Some(422) {
        return 0;
    }
    let is_open = |of: fn(&Then) -> bool| claim.open.iter().any(|one| of(&one.then));
    if is_open(|then| matches!(then, Then::Code { .. } | Then::NoValidValues)) {
        return 0;
    }
    let way = claim.way;
    assert_eq!(
        claim.code,
        real.code,
        "{way:?} {}\n{}",
        real.message,
        label()
    );
    let mut claims = 1;
    if !is_open(|then| *then == Then::Written) {
        assert_eq!(
            claim.is_written(),
            real.is_written(),
            "{way:?} writes\n{}",
            label()
        );
        claims += 1;
    }
    if let Some(again) = &claim.second_run {
        let real = real.second_run.as_ref();
        assert_eq!(
            Some(again.changes),
            real.map(|again| again.changes),
            "{way:?} again\n{}",
            label()
        );
        claims += 1;
    }
    for field in &claim.fields {
        let mut fields = real.fields.iter();
        let found = fields.find(|it| it.field == field.field);
        let found = found.map(kind_of);
        assert_eq!(
            found,
            Some(kind_of(field)),
            "{way:?} {}\n{}",
            field.field,
            label()
        );
        claims += 1;
    }
    for back in &claim.taken_back {
        assert!(
            real.taken_back.contains(back),
            "{way:?} {}\n{}",
            back.field,
            label()
        );
        claims += 1;
    }
    claims
}

/// What became of a value, and whether it is the stored one or that of the manifest.
fn kind_of(field: &FieldOutcome) -> (FieldEffect, bool, bool) {
    let effect = match field.effect {
        FieldEffect::TakenOver => FieldEffect::Changed,
        effect => effect,
    };
    let stays = field.before == field.after;
    (effect, field.after.is_some(), stays)
}
