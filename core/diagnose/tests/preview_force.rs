//! Previews of a tool that deletes an object to create it again.

use crate::previewed::row;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::Release;
use optimist_client::Preset;
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::preview::{DeliveryTool, Preview, PreviewInput, PreviewOutcome, Trouble};
use optimist_diagnose::ways::{
    ChangeTable, InstructionLanguage, InstructionWarning, OnOwned, WantedChange, Way,
};
use serde_json::{Value, json};

fn run(tool: DeliveryTool, live: Value, next: Value) -> Preview {
    Preview::run(PreviewInput {
        left_out: Vec::new(),
        live: vec![live],
        next: vec![next],
        earlier: None,
        tool,
        namespace: Some("shop".to_owned()),
        release: Release::default(),
    })
}

/// A claim, whose spec cannot change.
fn claim(size: &str, annotations: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "files", "namespace": "shop", "annotations": annotations},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}},
            "storageClassName": "fast", "volumeMode": "Filesystem"}})
}

/// Every claim has this finalizer (`plugin/pkg/admission/storage/persistentvolume/pvcprotection`, v1.36).
fn bound(finalizers: &Value) -> Value {
    let mut live = claim("5Gi", &json!({}));
    live["metadata"]["uid"] = "u9".into();
    live["metadata"]["resourceVersion"] = "700".into();
    live["metadata"]["finalizers"] = finalizers.clone();
    live["spec"]["volumeName"] = "pv1".into();
    live["status"] =
        json!({"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "5Gi"}});
    live
}

fn tool(preset: Preset, force: bool) -> DeliveryTool {
    DeliveryTool {
        force,
        ..DeliveryTool::new(preset)
    }
}

const FORCE_OF_ARGO_CD: &str = "argocd.argoproj.io/sync-options";
const FORCE_OF_FLUX: &str = "kustomize.toolkit.fluxcd.io/force";

#[test]
fn an_object_that_a_finalizer_holds_is_deleted_and_none_of_its_fields_stays() {
    let cases = [
        (tool(Preset::ArgoCdClientSide, true), json!({})),
        (
            tool(Preset::ArgoCdClientSide, false),
            json!({FORCE_OF_ARGO_CD: "Force=true"}),
        ),
        (tool(Preset::Flux, false), json!({FORCE_OF_FLUX: "enabled"})),
    ];
    for (tool, annotations) in cases {
        let held = bound(&json!(["kubernetes.io/pvc-protection"]));
        let preview = run(tool.clone(), held, claim("3Gi", &annotations));
        let held = row(&preview, "files");
        assert_eq!(held.outcome, PreviewOutcome::Deleted, "{tool:?}");
        assert_eq!(held.finalizers, ["kubernetes.io/pvc-protection"]);
        assert_eq!(held.troubles, [Trouble::Deleted]);
        assert!(held.fields.is_empty(), "{:?}", held.fields);

        let free = run(tool, bound(&json!([])), claim("3Gi", &annotations));
        let free = row(&free, "files");
        assert_eq!(free.outcome, PreviewOutcome::Changed);
        assert!(free.troubles.contains(&Trouble::CreatedAgain));
    }
}

#[test]
fn the_force_of_flux_is_that_of_its_kustomization_and_argo_cd_without_server_side_apply_has_its_own()
 {
    let of = |preset, annotations: Value| {
        let free = bound(&json!([]));
        let preview = run(tool(preset, true), free, claim("3Gi", &annotations));
        let row = row(&preview, "files");
        (row.outcome, row.troubles.contains(&Trouble::CreatedAgain))
    };
    let again = (PreviewOutcome::Changed, true);
    assert_eq!(of(Preset::Flux, json!({})), again);
    assert_eq!(of(Preset::ArgoCdClientSide, json!({})), again);
    // `--force` is none of a server-side apply.
    let refused = (PreviewOutcome::Invalid, false);
    assert_eq!(of(Preset::ArgoCdServerSide, json!({})), refused);
    let in_the_client = json!({FORCE_OF_ARGO_CD: "ServerSideApply=false"});
    assert_eq!(of(Preset::ArgoCdServerSide, in_the_client), again);
}

#[test]
fn the_row_of_argo_cd_alone_does_what_its_annotation_says() {
    let installed = Case::about(bound(&json!([]))).install().expect("installed");
    let row = |live: &Installed, options: &str| {
        let annotations = json!({FORCE_OF_ARGO_CD: options});
        let change = WantedChange::manifest(claim("3Gi", &annotations));
        let way = Way::Client(Preset::ArgoCdClientSide, OnOwned::Usual);
        let row = ChangeTable::new(live, change).row(way).expect("a row");
        (row.code, row.before.uid() != row.after.uid())
    };
    assert_eq!(
        row(&installed, "Validate=false, Force=true"),
        (Some(201), true)
    );
    assert_eq!(row(&installed, "Force=false"), (Some(422), false));
    let mut live = bound(&json!([]));
    live["metadata"]["annotations"] = json!({FORCE_OF_ARGO_CD: "Force=true"});
    let told = Case::about(live).install().expect("installed");
    assert_eq!(row(&told, ""), (Some(201), true));
}

/// A Secret that a client-side apply wrote, with an annotation that nobody owns.
fn secret() -> (Value, Value) {
    let last = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "d", "namespace": "shop"},
        "data": {"password": "b25l", "size": "MQ=="}});
    let live = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "d", "namespace": "shop", "uid": "u1", "resourceVersion": "700",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": last.to_string()},
            "managedFields": [{"manager": "vault", "operation": "Update", "apiVersion": "v1",
                "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z",
                "fieldsV1": {"f:data": {"f:password": {}, "f:size": {}}}}]},
        "data": {"password": "cm90", "size": "OQ=="}});
    let next = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "d", "namespace": "shop"},
        "data": {"password": "dHdv", "size": "Mg=="}});
    (live, next)
}

#[test]
fn a_stand_in_is_no_line_of_a_manifest() {
    let (live, next) = secret();
    for preset in [
        Preset::KubectlApplyServerSide,
        Preset::Helm4,
        Preset::Terraform,
    ] {
        let preview = run(tool(preset, false), live.clone(), next.clone());
        let row = row(&preview, "d");
        assert_eq!(row.outcome, PreviewOutcome::Conflict);
        let steps = row.hand_overs.iter().flat_map(|it| &it.steps);
        let lines = steps.filter(|it| it.language == InstructionLanguage::Lines);
        let lines: Vec<&str> = lines.map(|it| it.text.as_str()).collect();
        assert_eq!(
            lines,
            ["- data:\n-   password: ••••••\n-   size: ••••••\n"],
            "{preset:?}"
        );
    }
}

#[test]
fn a_command_names_the_manager_of_the_tool_and_not_the_one_of_an_annotation() {
    let (live, next) = secret();
    let preview = run(
        tool(Preset::KubectlApplyServerSide, false),
        live.clone(),
        next.clone(),
    );
    let steps = row(&preview, "d").hand_overs.iter();
    let texts: Vec<&str> = steps
        .flat_map(|it| &it.steps)
        .map(|it| it.text.as_str())
        .collect();
    assert!(
        texts
            .iter()
            .any(|it| it.contains("--field-manager=kubectl -f")),
        "{texts:?}"
    );
    assert!(
        !texts.iter().any(|it| it.contains("last-applied")),
        "{texts:?}"
    );
    let forced = run(tool(Preset::KubectlApplyServerSide, true), live, next);
    assert_eq!(row(&forced, "d").writer, "kubectl");
}

#[test]
fn flux_forces_nothing_that_is_not_there() {
    let new = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a b": ""},
        "metadata": {"name": "new", "namespace": "shop", "annotations": {FORCE_OF_FLUX: "enabled"}}});
    let preview = run(tool(Preset::Flux, true), bound(&json!([])), new);
    let new = row(&preview, "new");
    assert_eq!(
        (new.outcome, new.code),
        (PreviewOutcome::Invalid, Some(422))
    );
}

/// What a new object needs of the fields that `LeaveOut` takes out of a manifest.
fn needed(live: Value, next: Value) -> Vec<String> {
    let name = next["metadata"]["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    let preview = run(tool(Preset::Helm4, false), live, next);
    let steps = row(&preview, &name)
        .hand_overs
        .iter()
        .flat_map(|it| &it.steps);
    let needed = steps.flat_map(|it| &it.warnings).filter_map(|it| match it {
        InstructionWarning::NeededToCreate(fields) => Some(fields.clone()),
        _ => None,
    });
    needed.flatten().collect()
}

#[test]
fn a_new_object_needs_fields_that_are_left_out_and_each_is_named_once() {
    let fields = json!({"f:spec": {"f:resources": {"f:requests": {"f:storage": {}}}}});
    let mut live = bound(&json!([]));
    live["metadata"]["managedFields"] = json!([{"manager": "ops", "operation": "Update", "apiVersion": "v1",
        "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z", "fieldsV1": fields}]);
    let next = claim("3Gi", &json!({}));
    assert_eq!(needed(live, next), ["spec.resources.requests.storage"]);

    let scaler = |most: u32| {
        json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"maxReplicas": most, "minReplicas": 1,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}})
    };
    let mut live = scaler(9);
    live["metadata"]["uid"] = "u2".into();
    live["metadata"]["resourceVersion"] = "701".into();
    live["metadata"]["managedFields"] = json!([{"manager": "ops", "operation": "Update",
        "apiVersion": "autoscaling/v2", "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z",
        "fieldsV1": {"f:spec": {"f:maxReplicas": {}}}}]);
    assert_eq!(needed(live, scaler(3)), ["spec.maxReplicas"]);

    let set = |size: &str| {
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "pg", "namespace": "shop"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}, "serviceName": "pg",
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "pg", "image": "pg:1",
                    "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}},
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": size}}}}]}})
    };
    let mut live = set("5Gi");
    live["metadata"]["uid"] = "u3".into();
    live["metadata"]["resourceVersion"] = "702".into();
    live["metadata"]["managedFields"] = json!([{"manager": "ops", "operation": "Update", "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z",
        "fieldsV1": {"f:spec": {"f:volumeClaimTemplates": {}}}}]);
    assert_eq!(needed(live, set("3Gi")), ["spec.volumeClaimTemplates"]);
}
