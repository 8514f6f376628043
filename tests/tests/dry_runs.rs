//! A difference between a dry run and the core, saved as a recording: the replayer finds it again.

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_client::{OnOwned, Preset, WantedChange, Way};
use optimist_diagnose::case::Case;
use optimist_diagnose::remote::{RemoteAnswer, RemoteKind, RemotePrediction};
use optimist_tests::conformance::replay::Problem;
use optimist_tests::conformance::{Exceptions, Outcome, Recording, replay_with};
use serde_json::{Value, json};

/// A Deployment in a namespace, on the core as a real server.
fn server_with_web() -> (ApiServer, Value) {
    let mut server = ApiServer::default();
    let labels = json!({"app": "web"});
    let web = json!({
        "metadata": {"name": "web", "annotations": {"note": "default"}},
        "spec": {"selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]}}},
    });
    let request =
        http::Request::post("/apis/apps/v1/namespaces/default/deployments?fieldManager=ci");
    let request = request.header("Content-Type", "application/json");
    let response = server.handle(request.body(web.to_string().into_bytes()).unwrap());
    assert_eq!(response.status(), 201);
    let live = serde_json::from_slice(response.body()).unwrap();
    (server, live)
}

fn predicted(live: &Value, preset: Preset, on_owned: OnOwned) -> RemotePrediction {
    let kind = RemoteKind {
        kind: "Deployment".to_owned(),
        group: "apps".to_owned(),
        version: "v1".to_owned(),
        plural: "deployments".to_owned(),
        is_namespaced: true,
    };
    let mut manifest = live.clone();
    let meta = manifest.metadata_mut();
    meta.retain(|name, _| matches!(name.as_str(), "name" | "namespace"));
    manifest["spec"]["replicas"] = 3.into();
    manifest.as_object_mut().unwrap().remove("status");
    let change = WantedChange::manifest(manifest);
    let way = Way::Client(preset, on_owned);
    RemotePrediction::new(&Case::about(live.clone()), &kind, change, way, false).unwrap()
}

fn answered(server: &mut ApiServer, prediction: &RemotePrediction) -> RemoteAnswer {
    let response = server.handle(prediction.request().request().clone());
    RemoteAnswer {
        code: response.status().as_u16(),
        warning: String::new(),
        body: String::from_utf8(response.body().clone()).unwrap(),
    }
}

/// The pointers at which a replay of a recording differs.
fn replayed(recording: &str) -> Vec<String> {
    let recording: Recording = serde_json::from_str(recording).expect(recording);
    match replay_with(&recording, &Exceptions::default()).outcome {
        Outcome::Passed { .. } => Vec::new(),
        Outcome::Failed(failures) => {
            let pointers = failures
                .into_iter()
                .flat_map(|failure| match failure.problem {
                    Problem::Different { differences, .. } => differences
                        .into_iter()
                        .map(|it| format!("{}{}", failure.step, it.pointer))
                        .collect(),
                    other => vec![format!("{}: {other:?}", failure.step)],
                });
            pointers.collect()
        }
        skipped => panic!("{skipped:?}"),
    }
}

#[test]
fn a_recording_of_an_answer_like_the_core_s_passes() {
    for (preset, on_owned) in [
        (Preset::KubectlApplyServerSide, OnOwned::Force),
        (Preset::KubectlApplyServerSide, OnOwned::Usual),
        (Preset::KubectlReplace, OnOwned::Usual),
        (Preset::KubectlApply, OnOwned::Usual),
        (Preset::MergeFrom, OnOwned::Usual),
        (Preset::Update, OnOwned::Usual),
    ] {
        let (mut server, live) = server_with_web();
        let prediction = predicted(&live, preset, on_owned);
        let answer = answered(&mut server, &prediction);
        assert_eq!(prediction.differences(&answer), [], "{preset:?}");
        let recording = prediction.recording("web", &answer);
        assert_eq!(
            replayed(&recording),
            Vec::<String>::new(),
            "{preset:?} {recording}"
        );
    }
}

#[test]
fn a_difference_is_found_again_where_it_was() {
    let (mut server, live) = server_with_web();
    let prediction = predicted(&live, Preset::KubectlApplyServerSide, OnOwned::Force);
    let right = answered(&mut server, &prediction);
    let mut wrong = right.clone();
    wrong.body = right.body.replace(r#""replicas":3"#, r#""replicas":2"#);
    let found = prediction.differences(&wrong);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].pointer, "/response/spec/replicas");
    let recording = prediction.recording("web", &wrong);
    assert!(!recording.contains(live.uid()), "{recording}");
    assert_eq!(replayed(&recording), ["1/response/spec/replicas"]);
    let refused = RemoteAnswer { code: 409, ..right };
    assert_eq!(
        replayed(&prediction.recording("web", &refused)),
        ["1/status"]
    );
}

/// Adds to each IP of the core's network and each port that it chooses: another server chooses others.
fn elsewhere(answer: &RemoteAnswer) -> RemoteAnswer {
    RemoteAnswer {
        body: answer
            .body
            .replace("10.0.0.17", "10.96.201.7")
            .replace("30086", "31234"),
        ..answer.clone()
    }
}

fn service(spec: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec})
}

/// The Service as a real server with another network has it.
fn service_elsewhere(spec: &Value) -> Value {
    let mut server = ApiServer::default();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    for (path, object) in [
        ("/api/v1/namespaces", namespace),
        ("/api/v1/namespaces/shop/services", service(spec)),
    ] {
        let request = http::Request::post(format!("{path}?fieldManager=ci"));
        let request = request.header("Content-Type", "application/json");
        let response = server.handle(request.body(object.to_string().into_bytes()).unwrap());
        assert_eq!(response.status(), 201);
        if path.ends_with("services") {
            let body = String::from_utf8(response.body().clone()).unwrap();
            let answer = elsewhere(&RemoteAnswer {
                code: 201,
                warning: String::new(),
                body,
            });
            return serde_json::from_str(&answer.body).unwrap();
        }
    }
    unreachable!("the last one is the Service");
}

fn predicted_service(live: &Value, wanted: &Value) -> RemotePrediction {
    let kind = RemoteKind {
        kind: "Service".to_owned(),
        group: String::new(),
        version: "v1".to_owned(),
        plural: "services".to_owned(),
        is_namespaced: true,
    };
    let change = WantedChange::manifest(service(wanted));
    let way = Way::Client(Preset::KubectlApplyServerSide, OnOwned::Force);
    RemotePrediction::new(&Case::about(live.clone()), &kind, change, way, false).unwrap()
}

#[test]
fn a_service_replays_with_the_addresses_and_ports_that_it_was_recorded_with() {
    let ports = json!([{"port": 80}]);
    let inside = json!({"ports": ports, "selector": {"app": "web"}});
    let outside = json!({"type": "NodePort", "ports": ports, "selector": {"app": "web"}});
    let asked = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30099}]});
    let other = json!({"type": "NodePort", "ports": ports, "selector": {"app": "other"}});
    for (before, wanted, chosen) in [
        // It keeps what it has.
        (
            &inside,
            json!({"ports": ports, "selector": {"app": "other"}}),
            &[][..],
        ),
        (&outside, other, &[]),
        // The server chooses a port.
        (&inside, outside.clone(), &["<nodePort>"]),
        // The manifest names a port.
        (&inside, asked, &[]),
    ] {
        let live = service_elsewhere(before);
        assert_eq!(live["spec"]["clusterIP"], "10.96.201.7");
        let prediction = predicted_service(&live, &wanted);
        let mut server = Case::about(live.clone())
            .install()
            .unwrap()
            .world
            .server()
            .clone();
        let answer = elsewhere(&answered(&mut server, &prediction));
        assert_eq!(answer.code, 200, "{}", answer.body);
        assert_eq!(prediction.differences(&answer), [], "{wanted}");
        let recording = prediction.recording("web", &answer);
        for chosen in chosen {
            assert!(recording.contains(chosen), "{recording}");
        }
        assert_eq!(
            recording.matches("<nodePort>").count(),
            chosen.len(),
            "{recording}"
        );
        assert!(!recording.contains("<clusterIP>"), "{recording}");
        assert_eq!(replayed(&recording), Vec::<String>::new(), "{recording}");
        // Another address than the one that it had is wrong.
        let mut wrong = answer.clone();
        wrong.body = answer.body.replace("10.96.201.7", "10.96.201.8");
        let found = prediction.differences(&wrong);
        let found: Vec<&str> = found.iter().map(|it| it.pointer.as_str()).collect();
        assert_eq!(
            found,
            ["/response/spec/clusterIP", "/response/spec/clusterIPs/0"]
        );
    }
}
