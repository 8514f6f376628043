//! Random objects, each written by several clients, and one more write.

use std::io::Write as _;

use optimist_apiserver::apply::{Set, field_set, to_fields_v1};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::schema::{builtin, fill_defaults};
use optimist_client::{Preset, annotated};
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::ways::{ChangeTable, OnOwned, ReleaseMethod, WantedChange, Way};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

/// A manifest, and who writes it.
#[derive(Clone, Debug)]
pub struct Written {
    /// The way in which it is written.
    pub way: Way,
    /// The manager that people choose; empty for the usual one.
    pub manager: &'static str,
    /// The manifest that is written.
    pub manifest: Value,
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

/// Generates writes, one after the other, and a last one that is refused.
pub fn histories() -> impl Strategy<Value = (Vec<Written>, Written)> {
    let of = |manifest: BoxedStrategy<Value>| {
        let before = proptest::collection::vec(written(manifest.clone(), &WRITERS), 1..5);
        (before, written(manifest, &REFUSED))
    };
    prop_oneof![of(deployment().boxed()), of(config_map().boxed())]
}

pub fn change(written: &Written) -> WantedChange {
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
    // A server stores no object without its defaults.
    fill_defaults(&mut object, root);
    object.set_meta("uid", "00000000-0000-4000-8000-00000000000a");
    object.set_meta("resourceVersion", "500");
    object.set_meta("managedFields", Value::Array(entries));
    Some(object)
}

/// The object after all writes, on a server of its own.
pub fn object_of(writes: &[Written]) -> Option<Installed> {
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

/// Writes a count past the test runner, which keeps what a passing test prints: `cargo xtask test` ends
/// with it.
pub fn tell(what: &str, count: &str) {
    let _ = writeln!(std::io::stdout(), "counted: {what}: {count}");
}

/// Returns the output of a tool about a refusal.
#[allow(dead_code, reason = "not every test reads messages")]
pub fn printed(preset: Preset, message: &str, object: &Value) -> String {
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

/// A number that an environment variable sets.
pub fn number(name: &str, usual: usize) -> usize {
    let set = std::env::var(name).ok();
    set.and_then(|set| set.parse().ok()).unwrap_or(usual)
}

/// The source of random choices: `OPTIMIST_CLAIMS_SEED` sets another one.
pub fn runner() -> TestRunner {
    let seed = number("OPTIMIST_CLAIMS_SEED", 26);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&(seed as u64).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(Config::default(), rng)
}
