//! The requests of each client, written down once: every request of every way of writing, for real
//! objects and for changes of each kind. A model of a client that is written anew sends the same.
//!
//! `OPTIMIST_RECORD=1` writes the lists again.

use std::fmt::Write as _;
use std::path::Path;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_client::{Preset, bare};
use optimist_diagnose::case::{Case, Installed, MadeUpIdentity};
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::ways::{ChangeTable, ReleaseMethod, Row, WantedChange, Way};
use optimist_simulation::{ObjectRef, World};
use serde_json::{Value, json};

use crate::live::LIVE;

/// The tools that get a conflict.
const REFUSED: [Preset; 3] = [
    Preset::KubectlApplyServerSide,
    Preset::Helm4,
    Preset::Terraform,
];

/// A table of a change of an object.
fn table(live: &str, change: impl Fn(&Value) -> WantedChange) -> ChangeTable {
    let Ok(Input::Live(object)) = detect(live) else {
        panic!("it is a live object");
    };
    let installed = Case::about(object).install().expect("it is installed");
    let stored = installed.object().expect("it is stored").clone();
    ChangeTable::new(&installed, change(&stored))
}

/// The object with a label, without another one, and with other values in its first level.
fn edited(object: &Value) -> Value {
    let mut edited = object.clone();
    let labels = object.pointer("/metadata/labels").cloned();
    let mut labels = labels.unwrap_or_else(|| json!({}));
    labels["example.com/edited"] = "yes".into();
    edited.set_meta("labels", labels);
    for pointer in [
        "/spec/replicas",
        "/spec/minReadySeconds",
        "/spec/maxReplicas",
    ] {
        if let Some(value) = edited.pointer_mut(pointer) {
            *value = (value.as_i64().unwrap_or_default() + 1).into();
        }
    }
    let image = "/spec/template/spec/containers/0/image";
    if let Some(value) = edited.pointer_mut(image) {
        *value = "example:2".into();
    }
    if let Some(Value::Object(data)) = edited.get_mut("data") {
        data.insert("edited".to_owned(), "eWVz".into());
    }
    edited
}

/// A manifest of the edited object.
fn manifest(object: &Value) -> Value {
    let mut manifest = bare(&edited(object));
    let annotations = manifest.pointer_mut("/metadata/annotations");
    if let Some(Value::Object(annotations)) = annotations {
        annotations.retain(|name, _| !name.contains("last-applied"));
    }
    manifest
}

/// One line, the same on every machine, for a text that would be too long.
fn digest(text: &str) -> String {
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    format!("{} bytes {hash:016x}", text.len())
}

fn told(row: Option<&Row>) -> String {
    let Some(row) = row else {
        return "  cannot carry it\n".to_owned();
    };
    let mut lines = String::new();
    for exchange in &row.requests {
        let body = exchange.sent.to_string();
        let body = match body.len() {
            0..=300 => body,
            _ => digest(&body),
        };
        let (method, target, code) = (&exchange.method, &exchange.target, exchange.code);
        let (media_type, agent) = (&exchange.content_type, &exchange.manager);
        let _ = writeln!(lines, "  {method} {target} {media_type} by {agent}: {code}");
        let _ = writeln!(lines, "    {body}");
    }
    let again = row.second_run.as_ref();
    let again = again.map(|again| (again.code, again.changes));
    let after = digest(&row.after.to_string());
    let _ = writeln!(lines, "  after: {after}; again: {again:?}");
    lines
}

/// The requests of every way, compared with the list that is kept.
fn compare(name: &str, table: &ChangeTable) {
    let mut all = String::new();
    for way in Way::all() {
        let _ = writeln!(all, "{way:?}");
        all.push_str(&told(table.row(way).as_ref()));
    }
    for preset in REFUSED {
        for out in table.remedies(preset) {
            let _ = writeln!(all, "{:?} of a conflict of {preset:?}", out.kind);
            all.push_str(&told(Some(&out.row)));
        }
    }
    let at = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/requests/{name}.txt"));
    if std::env::var_os("OPTIMIST_RECORD").is_some() {
        std::fs::write(&at, &all).expect("the list is written");
    }
    let kept = std::fs::read_to_string(&at).expect("the list is there");
    assert!(
        kept == all,
        "{name} differs; git diff shows it after OPTIMIST_RECORD=1"
    );
}

#[test]
fn every_way_sends_what_it_sent_for_each_real_object() {
    for live in LIVE {
        let whole = table(live, |object| WantedChange::edited(edited(object)));
        let kind = whole.rows()[0].before["kind"]
            .as_str()
            .map(str::to_lowercase);
        let kind = kind.expect("it has a kind");
        compare(&format!("{kind}_edited"), &whole);
        let declared = table(live, |object| WantedChange::manifest(manifest(object)));
        compare(&format!("{kind}_manifest"), &declared);
    }
}

#[test]
fn every_way_sends_what_it_sent_with_options() {
    let options = table(LIVE[4], |object| WantedChange {
        manager: Some("mine".to_owned()),
        previous: Some(bare(object)),
        last_release: ReleaseMethod::ServerSide,
        refused: Some((Preset::Helm4, "helm-controller".to_owned())),
        ..WantedChange::manifest(manifest(object))
    });
    compare("deployment_options", &options);
    let unchanged = table(LIVE[4], |object| WantedChange::edited(object.clone()));
    compare("deployment_unchanged", &unchanged);
}

#[test]
fn every_way_sends_what_it_sent_where_fields_cannot_change() {
    let selector = table(LIVE[4], |object| {
        let mut manifest = manifest(object);
        manifest["spec"]["selector"] = json!({"matchLabels": {"app": "other"}});
        manifest["spec"]["template"]["metadata"]["labels"] = json!({"app": "other"});
        manifest.set_meta(
            "annotations",
            json!({"kustomize.toolkit.fluxcd.io/force": "enabled"}),
        );
        WantedChange::manifest(manifest)
    });
    compare("deployment_immutable", &selector);
}

/// A ConfigMap that kubectl applied in the client, and Helm by Update.
fn applied_in_the_client() -> String {
    let last = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "gone": "1"},
        "metadata": {"name": "a", "namespace": "shop", "annotations": {}}});
    let name = "kubectl.kubernetes.io/last-applied-configuration";
    let entry = |manager: &str, fields: Value| {
        json!({"manager": manager, "operation": "Update", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": fields})
    };
    let by_kubectl = json!({"f:data": {".": {}, "f:a": {}, "f:gone": {}}, "f:metadata": {
        "f:annotations": {".": {}, format!("f:{name}"): {}}}});
    let by_helm = json!({"f:data": {"f:b": {}}, "f:metadata": {"f:annotations": {
        "f:meta.helm.sh/release-name": {}, "f:meta.helm.sh/release-namespace": {}}}});
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
        "namespace": "shop", "uid": "u", "resourceVersion": "500",
        "annotations": {name: format!("{last}\n"), "meta.helm.sh/release-name": "web",
            "meta.helm.sh/release-namespace": "shop"},
        "managedFields": [entry("kubectl-client-side-apply", by_kubectl), entry("helm", by_helm)]},
        "data": {"a": "1", "b": "2", "gone": "1"}});
    object.to_string()
}

#[test]
fn every_way_sends_what_it_sent_after_a_client_side_apply() {
    let live = applied_in_the_client();
    let applied = table(&live, |_| {
        WantedChange::manifest(json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a"}, "data": {"a": "3", "b": "4"}}))
    });
    compare("applied_manifest", &applied);
    compare(
        "applied_edited",
        &table(&live, |it| WantedChange::edited(edited(it))),
    );
}

#[test]
fn every_way_sends_what_it_sent_for_an_object_that_is_not_there() {
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "new", "namespace": "shop"}, "data": {"a": "1"}});
    let server = ApiServer::default();
    let resource = server.resources().by_kind("v1", "ConfigMap").cloned();
    let subject = ObjectRef::new(&resource.expect("it is built in"), &manifest);
    let installed = Installed {
        world: World::on_server(server, subject),
        notes: Vec::new(),
        made_up: MadeUpIdentity::default(),
    };
    let table = ChangeTable::new(&installed, WantedChange::manifest(manifest));
    compare("new_manifest", &table);
}
