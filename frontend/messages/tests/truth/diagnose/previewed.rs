//! What the headline of a preview says of an object that the server finds invalid.

use http::Request;
use optimist_apiserver::server::{ApiServer, Release};
use optimist_client::Preset;
use optimist_diagnose::preview::{DeliveryTool, Preview, PreviewInput};
use optimist_messages::preview::{headline, preview_headline};
use serde_json::{Value, json};

use crate::hearing::{ConditionOf, Conditions, Hearing};
use crate::random::Random;

/// A manifest, and what a server answers to a create of it.
struct CreatedAlone {
    manifest: Value,
    code: u16,
    message: String,
}

/// The conditions of the headline of a preview of one manifest.
const PREVIEWED: &[(&str, ConditionOf<CreatedAlone>)] = &[
    ("upgrade_other_namespace", |said, it| {
        let id = |namespace: &str| {
            let (kind, name) = (
                it.manifest["kind"].as_str()?,
                it.manifest["metadata"]["name"].as_str()?,
            );
            Some(format!("{kind} {namespace}/{name}"))
        };
        Some(said.text("left") == id("other")? && said.text("written") == id("shop")?)
    }),
    ("headline_invalid_object", |said, it| {
        let (kind, name) = (
            it.manifest["kind"].as_str()?,
            it.manifest["metadata"]["name"].as_str()?,
        );
        let (_, why) = it.message.split_once(" is invalid: ")?;
        Some(
            it.code == 422
                && said.text("object") == format!("{kind} shop/{name}")
                && said.text("message") == why.replace('\n', " "),
        )
    }),
];

/// The messages that have a condition here.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PREVIEWED.iter().map(|(name, _)| *name)
}

/// Hears the headlines of previews of random manifests, whole and invalid.
pub(super) fn hear(hearing: &mut Hearing, random: &mut Random, times: u64) {
    let conditions: Conditions<CreatedAlone> = PREVIEWED.iter().copied().collect();
    let tools = [
        Preset::Helm3,
        Preset::Helm4,
        Preset::Flux,
        Preset::KubectlApply,
        Preset::KubectlApplyServerSide,
        Preset::Terraform,
    ];
    for _ in 0..times {
        let it = created(manifest(random));
        let told = || format!("   {}\n   {} {}", it.manifest, it.code, it.message);
        for tool in tools {
            let preview = Preview::run(PreviewInput {
                left_out: Vec::new(),
                live: Vec::new(),
                next: vec![it.manifest.clone()],
                earlier: None,
                tool: DeliveryTool::new(tool),
                namespace: Some("shop".to_owned()),
                release: Release::default(),
            });
            for text in headline(&beside_another(&it.manifest, tool), tool).1 {
                hearing.hear(&text, &conditions, &it, &told);
            }
            match preview_headline(&preview, tool) {
                Some(text) => hearing.hear(&text, &conditions, &it, &told),
                None if it.code == 422 => hearing.unsaid("headline_invalid_object", told()),
                None => {}
            }
        }
    }
}

/// A preview of a manifest beside an object of the same kind and name in another namespace.
fn beside_another(manifest: &Value, tool: Preset) -> Preview {
    let mut live = manifest.clone();
    live["metadata"]["namespace"] = "other".into();
    live["metadata"]["uid"] = "1".into();
    live["metadata"]["resourceVersion"] = "5".into();
    Preview::run(PreviewInput {
        left_out: Vec::new(),
        live: vec![live],
        next: vec![manifest.clone()],
        earlier: None,
        tool: DeliveryTool::new(tool),
        namespace: Some("shop".to_owned()),
        release: Release::default(),
    })
}

/// Creates a manifest on a server of its own.
fn created(manifest: Value) -> CreatedAlone {
    let mut server = ApiServer::default();
    let mut post = |path: &str, body: &Value| {
        let request = Request::post(path).header("content-type", "application/json");
        let request = request.body(body.to_string().into_bytes());
        let response = server.handle(request.expect("it is a request"));
        let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        let message = answer["message"].as_str().unwrap_or_default();
        (response.status().as_u16(), message.to_owned())
    };
    post("/api/v1/namespaces", &json!({"metadata": {"name": "shop"}}));
    let path = match manifest["kind"].as_str() {
        Some("Deployment") => "/apis/apps/v1/namespaces/shop/deployments",
        Some("Service") => "/api/v1/namespaces/shop/services",
        _ => "/api/v1/namespaces/shop/configmaps",
    };
    let (code, message) = post(path, &manifest);
    CreatedAlone {
        manifest,
        code,
        message,
    }
}

fn manifest(random: &mut Random) -> Value {
    let name = random.choose(&["web", "Web", "a.b", "a_b"]);
    let mut manifest = match random.below(3) {
        0 => json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "1"}}),
        1 => {
            let ports = [json!([]), json!([{"port": 80}]), json!([{"port": 0}])];
            json!({"apiVersion": "v1", "kind": "Service", "spec": {"ports": random.choose(&ports)}})
        }
        _ => json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {
            "replicas": random.choose(&[1, -1]),
            "selector": {"matchLabels": {"app": random.choose(&["web", "other"])}},
            "template": {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx"}]}}}}),
    };
    manifest["metadata"] = json!({"name": name});
    if random.once_in(4) {
        manifest["metadata"]["labels"] = json!({"a b": ""});
    }
    if manifest["kind"] == "ConfigMap" && random.once_in(2) {
        manifest["data"]["a/b"] = "2".into();
    }
    manifest
}
