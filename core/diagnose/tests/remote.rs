//! What is asked of a real API server, what is kept of its answers, and what is predicted.

use http::{Method, Request};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_client::{OnOwned, Preset, WantedChange, Way};
use optimist_diagnose::case::Case;
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::remote::{
    Following, NotAllowed, NotAnswered, NotPredicted, ProxyCommand, RemoteAnswer, RemoteKind,
    RemotePrediction, RemoteRequest, RemoteVersion, kinds,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::live::LIVE;

const APPLY: &str = "application/apply-patch+yaml";

fn request(method: &str, target: &str, body: &str) -> Request<Vec<u8>> {
    let request = Request::builder().method(method).uri(target);
    let request = request.header("Content-Type", "application/json");
    request.body(body.as_bytes().to_vec()).unwrap()
}

fn allowed(method: &str, target: &str, body: &str) -> Result<(), NotAllowed> {
    RemoteRequest::try_from(request(method, target, body)).map(drop)
}

/// A server that is real for a test: the core, with an answer that `alter` changes.
fn ask(
    server: &mut ApiServer,
    request: &RemoteRequest,
    alter: impl Fn(&mut Value),
) -> RemoteAnswer {
    let response = server.handle(request.request().clone());
    let mut body: Value = serde_json::from_slice(response.body()).unwrap();
    alter(&mut body);
    let warnings = response.headers().get_all("Warning").iter();
    let warnings: Vec<&str> = warnings.map(|it| it.to_str().unwrap()).collect();
    RemoteAnswer {
        code: response.status().as_u16(),
        warning: warnings.join(", "),
        body: body.to_string(),
    }
}

fn document(request: &RemoteRequest) -> Value {
    let answer = ask(&mut ApiServer::default(), request, |_| ());
    answer.document().unwrap()
}

fn all_kinds() -> Vec<RemoteKind> {
    let [core, groups] = RemoteRequest::discovery().unwrap();
    kinds(&[document(&core), document(&groups)])
}

fn kind(name: &str) -> RemoteKind {
    let mut all = all_kinds().into_iter();
    all.find(|it| it.kind == name).expect("it is listed")
}

#[test]
fn a_write_that_is_no_dry_run_cannot_be_made() {
    let web = "/apis/apps/v1/namespaces/shop/deployments/web";
    let all = "/apis/apps/v1/namespaces/shop/deployments";
    for (method, path) in [("PUT", web), ("PATCH", web), ("DELETE", web), ("POST", all)] {
        let with = |query: &str| allowed(method, &format!("{path}{query}"), "");
        for query in [
            "",
            "?dryRun=",
            "?dryRun=None",
            "?dryrun=All",
            "?dryRun=all",
            "?x=dryRun%3DAll",
            "?dryRun=All&dryRun=None",
            "?dryRun=All&dryRun=",
        ] {
            assert_eq!(
                with(query),
                Err(NotAllowed::NotADryRun),
                "{method} {query:?}"
            );
        }
        assert_eq!(with("?dryRun=All"), Ok(()));
        assert_eq!(with("?fieldManager=a&dryRun=%41ll"), Ok(()));
    }
}

#[test]
fn the_options_of_a_delete_are_those_of_its_body() {
    let target = "/api/v1/namespaces/a/configmaps/c?dryRun=All";
    let refused = Err(NotAllowed::NotADryRun);
    assert_eq!(allowed("DELETE", target, "{}"), refused);
    assert_eq!(allowed("DELETE", target, "dryRun: [All]"), refused);
    let options = r#"{"dryRun": ["All"], "preconditions": {"uid": "u"}}"#;
    assert_eq!(allowed("DELETE", target, options), Ok(()));
    let some = request("DELETE", target, r#"{"preconditions": {"uid": "u"}}"#);
    let made = RemoteRequest::dry_run(some).unwrap();
    let body: Value = serde_json::from_str(made.body().unwrap()).unwrap();
    assert_eq!(
        body,
        json!({"dryRun": ["All"], "preconditions": {"uid": "u"}})
    );
}

#[test]
fn what_does_something_at_a_get_and_other_origins_are_refused() {
    for path in [
        "/api/v1/namespaces/a/pods/p/exec",
        "/api/v1/namespaces/a/pods/p/proxy",
        "/api/v1/namespaces/a/services/s/proxy/x",
        "/api/v1/nodes/n/proxy",
        "/api/v1/proxy/namespaces/a",
        "/api/v1/namespaces/a/pods/p/eviction",
        "/api/v1/namespaces/a/pods//p",
        "/api/v1/namespaces/../pods",
        "/api/v1/namespaces/a/pods/p%2Fexec",
        "//evil.test/api/v1/pods",
        "/logs",
        "/",
    ] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let target = format!("{path}?dryRun=All");
            assert!(
                allowed(method, &target, "").is_err(),
                "{method} {path} is allowed"
            );
        }
    }
    assert_eq!(
        allowed("GET", "http://evil.test/api/v1/pods", ""),
        Err(NotAllowed::Path)
    );
    let collection = "/api/v1/namespaces/a/pods?dryRun=All";
    assert_eq!(
        allowed("DELETE", collection, ""),
        Err(NotAllowed::Path),
        "all of them"
    );
    for method in ["CONNECT", "OPTIONS", "TRACE", "HEAD"] {
        assert_eq!(allowed(method, collection, ""), Err(NotAllowed::Method));
    }
    for target in [
        "/version",
        "/apis",
        "/api/v1/namespaces/a",
        "/api/v1/nodes/n/status",
        "/api/v1/namespaces/a/replicationcontrollers/r/scale",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node",
    ] {
        assert_eq!(allowed("GET", target, ""), Ok(()), "{target}");
    }
}

proptest! {
    /// Whatever is sent, a server that takes it for what it is stores nothing.
    #[test]
    fn no_request_that_can_be_made_writes(
        method in prop::sample::select(vec!["GET", "POST", "PUT", "PATCH", "DELETE"]),
        path in prop::sample::select(vec!["configmaps", "configmaps/c", "configmaps/d"]),
        query in "(dryRun=(All|None|)&?|fieldManager=a&|force=true&){0,3}",
        body in prop::sample::select(vec![
            "", "{}", r#"{"dryRun":["All"]}"#, r#"{"dryRun":[]}"#,
            r#"{"metadata":{"name":"c"},"data":{"a":"2"}}"#,
        ]),
    ) {
        let mut server = ApiServer::default();
        let made = request("POST", "/api/v1/namespaces/default/configmaps", r#"{"metadata":{"name":"c"}}"#);
        prop_assert_eq!(server.handle(made).status(), 201);
        let before = server.store().revision();
        let target = format!("/api/v1/namespaces/default/{path}?{query}");
        let Ok(sent) = RemoteRequest::dry_run(request(method, &target, body)) else { return Ok(()); };
        server.handle(sent.request().clone());
        prop_assert_eq!(server.store().revision(), before, "{} {}", method, target);
    }
}

#[test]
fn the_kinds_are_those_of_aggregated_discovery_in_the_preferred_version() {
    let deployment = kind("Deployment");
    assert_eq!(deployment.resource(), "deployments.apps");
    assert_eq!(
        deployment.path("shop", "web"),
        "/apis/apps/v1/namespaces/shop/deployments/web"
    );
    assert!(deployment.is_namespaced && deployment.is_built_in() && !deployment.is_secret());
    assert_eq!(kind("Namespace").path("shop", ""), "/api/v1/namespaces");
    assert_eq!(
        kind("HorizontalPodAutoscaler").api_version(),
        "autoscaling/v2"
    );
    assert!(kind("Secret").is_secret());
    assert!(
        all_kinds()
            .iter()
            .all(|it| it.kind != "SubjectAccessReview")
    );
    assert_eq!(kinds(&[json!({"kind": "APIVersions"})]), []);
}

#[test]
fn the_release_says_whether_a_dry_run_is_one() {
    let version = document(&RemoteRequest::version().unwrap());
    let version = RemoteVersion::read(&version).unwrap();
    assert_eq!(version.name, "v1.36.3");
    assert!(version.has_dry_run() && version.release().is_some());
    let of = |minor: &str| {
        let version = json!({"gitVersion": "v1.x", "major": "1", "minor": minor});
        RemoteVersion::read(&version).unwrap()
    };
    assert!(of("30+").has_dry_run() && of("30").release().is_none());
    assert!(!of("18").has_dry_run() && !of("").has_dry_run());
    assert_eq!(RemoteVersion::read(&json!({"kind": "Status"})), None);
}

fn accepted(document: &Value) -> RemoteAnswer {
    RemoteAnswer {
        code: 200,
        warning: String::new(),
        body: document.to_string(),
    }
}

#[test]
fn values_of_secrets_are_left_out_unless_they_are_asked_for() {
    let applied = json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"p": "hunter2"}});
    let secret = json!({
        "metadata": {"name": "s", "namespace": "a", "uid": "u",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()}},
        "data": {"p": "aHVudGVyMg=="}, "type": "Opaque",
    });
    let list = json!({"kind": "SecretList", "apiVersion": "v1", "metadata": {}, "items": [secret]});
    let kind = kind("Secret");
    let kept = accepted(&list).objects(&kind, false).unwrap();
    let text = kept[0].to_string();
    assert!(
        !text.contains("hunter2") && !text.contains("aHVudGVyMg"),
        "{text}"
    );
    assert_eq!(kept[0]["kind"], "Secret");
    assert!(kept[0]["data"].get("p").is_some(), "the key is no secret");
    let asked = accepted(&list).objects(&kind, true).unwrap();
    assert_eq!(asked[0]["data"], secret["data"]);
    let mut object = secret.clone();
    object["apiVersion"] = "v1".into();
    object["kind"] = "Secret".into();
    object.set_meta("resourceVersion", "7");
    let mut following = Following::new(&kind, &kept[0], false);
    let event = json!({"type": "MODIFIED", "object": object}).to_string();
    let part = following.read(format!("{event}\n").as_bytes());
    assert!(!part.lines.contains("aHVudGVyMg"), "{}", part.lines);
    assert_eq!(part.lines.lines().count(), 1);
    let installed = Case::about(kept[0].clone()).install();
    assert!(installed.is_ok(), "Diagnose reads it: {installed:?}");
}

#[test]
fn a_refusal_and_a_page_are_no_objects() {
    let kind = kind("ConfigMap");
    let status = json!({"kind": "Status", "message": "configmaps is forbidden"});
    let refused = RemoteAnswer {
        code: 403,
        ..accepted(&status)
    };
    assert_eq!(
        refused.objects(&kind, false),
        Err(NotAnswered::Refused {
            code: 403,
            message: "configmaps is forbidden".to_owned()
        })
    );
    let page = RemoteAnswer {
        body: "<!DOCTYPE html>".to_owned(),
        ..accepted(&status)
    };
    assert_eq!(page.objects(&kind, false), Err(NotAnswered::NotAnApiServer));
    assert_eq!(page.names(), Err(NotAnswered::NotAnApiServer));
}

#[test]
fn the_command_lets_through_what_is_asked_and_nothing_else() {
    let mut command = ProxyCommand::new();
    command.add_kind(&kind("Deployment"), "shop", "web");
    let paths = r"^/apis/apps/v1/namespaces/shop/deployments(/web)?$,^/apis?$,^/version$";
    assert_eq!(command.accept_paths(), paths);
    assert_eq!(command.reject_methods(), "^(POST|PUT|PATCH|DELETE)$");
    command.add_dry_runs(&kind("Deployment"), "shop", "web");
    assert_eq!(command.reject_methods(), "^(POST|DELETE)$");
    let text = command.text("dist", "/static/");
    assert!(
        text.starts_with("kubectl proxy --www='dist' --www-prefix='/static/' --api-prefix=/ "),
        "{text}"
    );
    let widget = RemoteKind {
        kind: "Widget".to_owned(),
        group: "example.com".to_owned(),
        version: "v1".to_owned(),
        plural: "widgets".to_owned(),
        is_namespaced: true,
    };
    let mut command = ProxyCommand::default();
    command.add_kind(&widget, "shop", "");
    let paths = r"^/apis/apiextensions\.k8s\.io/v1/customresourcedefinitions/widgets\.example\.com$,^/apis/example\.com/v1/namespaces/shop/widgets(/[^/]+)?$";
    assert_eq!(command.accept_paths(), paths);
}

/// A live object with a change of a label, to be written.
fn labelled(text: &str) -> (Case, RemoteKind, WantedChange) {
    let Ok(Input::Live(live)) = detect(text) else {
        panic!("it is a live object: {text}");
    };
    let manifest = json!({
        "apiVersion": live["apiVersion"], "kind": live["kind"],
        "metadata": {"name": live.name(), "namespace": live.namespace(), "labels": {"app": "other"}},
    });
    let all = all_kinds();
    let kind = all.into_iter().find(|it| live["kind"] == it.kind.as_str());
    let kind = kind.unwrap_or_else(|| RemoteKind {
        kind: "Backup".to_owned(),
        group: "demo.example.com".to_owned(),
        version: "v1".to_owned(),
        plural: "backups".to_owned(),
        is_namespaced: true,
    });
    (Case::about(live), kind, WantedChange::manifest(manifest))
}

#[test]
fn a_server_that_answers_like_the_core_differs_in_nothing() {
    let mut predicted = 0;
    for text in LIVE {
        let (case, kind, change) = labelled(text);
        if !kind.is_built_in() {
            continue;
        }
        let installed = case.install().unwrap();
        for way in Way::all() {
            let made = RemotePrediction::new(&case, &kind, change.clone(), way, true);
            let prediction = match made {
                Ok(prediction) => prediction,
                Err(NotPredicted::Unable | NotPredicted::NothingSent) => continue,
                Err(why) => panic!("{way:?}: {why}"),
            };
            let mut server = installed.world.server().clone();
            let before = server.store().revision();
            let answer = ask(&mut server, prediction.request(), |_| ());
            assert_eq!(server.store().revision(), before, "{way:?} stores nothing");
            assert_eq!(prediction.differences(&answer), [], "{way:?}");
            predicted += 1;
        }
    }
    assert!(predicted > 50, "{predicted}");
}

fn server_side(text: &str) -> (Case, RemotePrediction) {
    let (case, kind, change) = labelled(text);
    let way = Way::Client(Preset::KubectlApplyServerSide, OnOwned::Force);
    let prediction = RemotePrediction::new(&case, &kind, change, way, false).unwrap();
    (case, prediction)
}

#[test]
fn a_server_that_is_wrong_is_caught_and_its_times_are_not() {
    let (case, prediction) = server_side(LIVE[4]);
    let server = case.install().unwrap().world.server().clone();
    let found = |alter: &dyn Fn(&mut Value)| {
        let answer = ask(&mut server.clone(), prediction.request(), alter);
        let found = prediction.differences(&answer);
        let pointers: Vec<String> = found.into_iter().map(|it| it.pointer).collect();
        pointers
    };
    let default = found(&|body| {
        body["spec"]
            .as_object_mut()
            .unwrap()
            .remove("progressDeadlineSeconds");
    });
    assert_eq!(default, ["/response/spec/progressDeadlineSeconds"]);
    let owner = found(&|body| {
        let entries = body["metadata"]["managedFields"].as_array_mut().unwrap();
        entries[0]["manager"] = "another".into();
    });
    assert_eq!(owner.len(), 1, "{owner:?}");
    assert!(
        owner[0].starts_with("/response/metadata/managedFields"),
        "{owner:?}"
    );
    let version = found(&|body| body.set_meta("resourceVersion", "99999999"));
    assert_eq!(
        version,
        ["/response/metadata/resourceVersion"],
        "a dry run makes none"
    );
    let times = found(&|body| {
        body.set_meta("creationTimestamp", "2020-01-01T00:00:00Z");
        let entries = body["metadata"]["managedFields"].as_array_mut().unwrap();
        entries
            .iter_mut()
            .for_each(|it| it["time"] = "2020-01-01T00:00:00Z".into());
        entries.reverse();
    });
    assert_eq!(times, Vec::<String>::new());
    let mut answer = ask(&mut server.clone(), prediction.request(), |_| ());
    answer.warning = r#"299 - "a, b", 299 - "c""#.to_owned();
    let warned = prediction.differences(&answer);
    assert_eq!(warned[0].pointer, "/warnings");
    assert_eq!(warned[0].recorded, Some(json!(["a, b", "c"])));
    let forbidden = RemoteAnswer {
        code: 403,
        ..accepted(&json!({"kind": "Status", "reason": "Forbidden", "message": "no"}))
    };
    let refused = prediction.differences(&forbidden);
    let refused: Vec<&str> = refused.iter().map(|it| it.pointer.as_str()).collect();
    assert_eq!(
        refused,
        ["/status", "/response/reason", "/response/message"]
    );
}

#[test]
fn a_prediction_names_its_manager_because_a_browser_names_itself() {
    for (at, preset) in [(1, Preset::KubectlApply), (4, Preset::Helm3)] {
        let (case, kind, change) = labelled(LIVE[at]);
        let way = Way::Client(preset, OnOwned::Usual);
        let prediction = RemotePrediction::new(&case, &kind, change, way, false).unwrap();
        let target = prediction.request().target();
        assert!(target.contains("fieldManager="), "{target}");
        assert!(target.contains("dryRun=All"), "{target}");
    }
}

#[test]
fn secrets_without_values_and_kinds_of_other_servers_are_not_predicted() {
    let way = Way::Client(Preset::KubectlApplyServerSide, OnOwned::Usual);
    let of = |kind_name: &str| {
        let is_it = |text: &&&str| text.contains(&format!("\nkind: {kind_name}\n"));
        labelled(LIVE.iter().find(is_it).expect("there is one"))
    };
    let (case, secret, change) = of("Secret");
    let made = RemotePrediction::new(&case, &secret, change, way, false);
    assert_eq!(made.err(), Some(NotPredicted::Secret));
    let (case, backup, change) = of("Backup");
    let made = RemotePrediction::new(&case, &backup, change, way, false);
    assert_eq!(made.err(), Some(NotPredicted::UnknownKind));
}

#[test]
fn every_request_of_a_prediction_is_a_write_with_a_known_type() {
    let (_, prediction) = server_side(LIVE[1]);
    let request = prediction.request();
    assert_eq!(request.request().method(), Method::PATCH);
    let headers: Vec<_> = request.headers().collect();
    assert_eq!(headers, [("Content-Type", APPLY)]);
    assert!(request.body().is_some());
}
