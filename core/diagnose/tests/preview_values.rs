//! The values that a preview says an object has, wants and gets.

use crate::previewed::row;
use optimist_apiserver::server::Release;
use optimist_client::Preset;
use optimist_diagnose::preview::{
    Assumed, DeliveryTool, FieldChangeKind, Preview, PreviewInput, PreviewOutcome, Trouble,
};
use serde_json::{Value, json};

fn deployment(image: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": image}]}}}})
}

fn settings(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}})
}

fn live(mut object: Value, version: u32) -> Value {
    object["metadata"]["namespace"] = "shop".into();
    object["metadata"]["uid"] = format!("u{version}").into();
    object["metadata"]["resourceVersion"] = version.to_string().into();
    object
}

fn input(preset: Preset, live: Vec<Value>, next: Vec<Value>) -> PreviewInput {
    PreviewInput {
        left_out: Vec::new(),
        live,
        next,
        earlier: None,
        tool: DeliveryTool::new(preset),
        namespace: Some("shop".to_owned()),
        release: Release::default(),
    }
}

fn preview(preset: Preset, live: Vec<Value>, next: Vec<Value>) -> Preview {
    Preview::run(input(preset, live, next))
}

#[test]
fn a_manifest_wants_nothing_of_a_status_that_it_does_not_have() {
    let spec = |image: &str| {
        json!({"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "a", "image": image}]}}})
    };
    let daemon = |image: &str| json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"}, "spec": spec(image)});
    let mut running = live(daemon("b:1"), 701);
    running["status"] = json!({"currentNumberScheduled": 3, "desiredNumberScheduled": 3, "numberReady": 3,
        "numberMisscheduled": 1});
    let scaler = |max: u32| {
        json!({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"},
            "spec": {"maxReplicas": max, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}})
    };
    let mut scaling = live(scaler(5), 702);
    scaling["apiVersion"] = "autoscaling/v2".into();
    scaling["status"] = json!({"currentMetrics": null, "desiredReplicas": 3, "currentReplicas": 3});
    for preset in [
        Preset::KubectlApply,
        Preset::Helm3,
        Preset::Flux,
        Preset::ArgoCdServerSide,
    ] {
        let both = vec![running.clone(), scaling.clone()];
        let next = vec![daemon("b:2"), scaler(6)];
        let preview = preview(preset, both, next);
        for row in &preview.rows {
            assert_eq!(row.outcome, PreviewOutcome::Changed, "{row:#?}");
            assert!(!row.troubles.contains(&Trouble::NotReverted), "{row:#?}");
            let mut fields = row.fields.iter();
            assert!(
                fields.all(|it| !it.field.starts_with(".status")),
                "{row:#?}"
            );
        }
    }
}

#[test]
fn a_value_that_each_server_chooses_is_not_foretold() {
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let mut headless = service.clone();
    headless["metadata"]["name"] = "headless".into();
    headless["spec"]["clusterIP"] = "None".into();
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": {"spec":
        {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}}}});
    let next = vec![service, headless, job];
    let preview = preview(Preset::KubectlApply, Vec::new(), next);
    let after = |name: &str, field: &str| {
        let fields = &row(&preview, name).fields;
        let field = fields.iter().find(|it| it.field == field);
        let field = field.unwrap_or_else(|| panic!("{name} has no {field:?}: {fields:#?}"));
        assert_eq!(field.change, FieldChangeKind::Default);
        field.after.clone()
    };
    assert_eq!(after("s", ".spec.clusterIP"), None);
    assert_eq!(after("s", ".spec.clusterIPs"), None);
    assert_eq!(
        after("s", ".spec.ipFamilyPolicy"),
        Some("SingleStack".into())
    );
    assert_eq!(after("headless", ".spec.clusterIPs"), Some(json!(["None"])));
    assert_eq!(after("j", ".spec.selector"), None);
    assert_eq!(after("j", ".metadata.labels.controller-uid"), None);
    assert_eq!(after("j", ".metadata.labels.job-name"), Some("j".into()));
}

#[test]
fn what_the_server_filled_in_was_in_no_earlier_manifest() {
    let fields = json!({"f:spec": {"f:selector": {}, "f:replicas": {}, "f:template": {"f:metadata": {"f:labels": {
        ".": {}, "f:app": {}}}, "f:spec": {"f:dnsPolicy": {}, "f:securityContext": {}, "f:containers": {
        "k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:image": {}, "f:imagePullPolicy": {}, "f:resources": {}}}}}}});
    let mut web = live(deployment("nginx:1.26"), 700);
    web["metadata"]["managedFields"] = json!([{"manager": "helm", "operation": "Update", "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1", "fieldsV1": fields}]);
    web["spec"]["replicas"] = 1.into();
    let pod = &mut web["spec"]["template"]["spec"];
    (pod["dnsPolicy"], pod["securityContext"]) = ("ClusterFirst".into(), json!({}));
    let container = &mut pod["containers"][0];
    (container["imagePullPolicy"], container["resources"]) = ("IfNotPresent".into(), json!({}));
    for preset in [Preset::Helm3, Preset::Helm4] {
        let preview = preview(preset, vec![web.clone()], vec![deployment("nginx:1.27")]);
        let row = row(&preview, "web");
        assert_eq!(row.outcome, PreviewOutcome::Changed, "{row:#?}");
        assert_eq!(row.troubles, [], "{row:#?}");
    }
}

#[test]
fn manifests_of_the_last_release_that_were_brought_are_not_said_to_be_missing() {
    let mut known = live(settings("known"), 701);
    known["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "Helm"});
    let brought = PreviewInput {
        earlier: Some(vec![settings("known")]),
        ..input(
            Preset::Helm3,
            vec![known.clone()],
            vec![settings("known"), settings("new")],
        )
    };
    let missing = PreviewInput {
        earlier: None,
        ..brought.clone()
    };
    let is_assumed = |input: PreviewInput| {
        Preview::run(input)
            .assumed_of_tool()
            .contains(&&Assumed::PreviousRelease)
    };
    assert!(!is_assumed(brought));
    assert!(is_assumed(missing.clone()));
    // A new object has no earlier manifest.
    let new = PreviewInput {
        live: Vec::new(),
        next: vec![settings("new")],
        ..missing
    };
    assert!(!is_assumed(new));
}

#[test]
fn helm_does_not_write_what_it_created_from_another_manifest() {
    let twice = vec![settings("a"), settings("a")];
    let mut own = live(settings("own"), 701);
    own["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "Helm"});
    own["metadata"]["annotations"] =
        json!({"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop"});
    let found = |preset: Preset, live: Vec<Value>| {
        let mut next = twice.clone();
        next.extend(live.iter().map(|_| settings("own")));
        let rows = preview(preset, live, next).rows.into_iter();
        let rows = rows.filter(|row| row.object.name == "a");
        rows.map(|row| (row.outcome, row.message))
            .collect::<Vec<_>>()
    };
    let refused = |message: &str| (PreviewOutcome::Refused, message.to_owned());
    let created = (PreviewOutcome::Created, String::new());
    let exists = refused("configmaps \"a\" already exists");
    for (preset, live, why) in [
        (Preset::Helm4, Vec::new(), &exists),
        (Preset::Helm3, Vec::new(), &exists),
        (
            Preset::Helm4,
            vec![own.clone()],
            &refused("original object ConfigMap with the name \"a\" not found"),
        ),
        (
            Preset::Helm3,
            vec![own],
            &refused("no ConfigMap with the name \"a\" found"),
        ),
    ] {
        assert_eq!(found(preset, live), [why.clone(), created.clone()]);
    }
    // kubectl goes on and changes what it created.
    let outcomes: Vec<_> = found(Preset::KubectlApply, Vec::new());
    assert!(
        outcomes
            .iter()
            .all(|(outcome, _)| *outcome != PreviewOutcome::Refused)
    );
}

#[test]
fn a_value_that_looks_private_is_masked_wherever_it_is_written_again() {
    let config = |note: &str| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
            "data": {"password": "canary-4711", "note": note}})
    };
    let before = live(config("it is canary-4711"), 700);
    let next = config("it was canary-4711");
    let preview = preview(Preset::Helm4, vec![before], vec![next]);
    let shown = format!("{:?}", preview.rows);
    assert!(
        shown.contains("it was") && !shown.contains("canary-4711"),
        "{shown}"
    );
}
