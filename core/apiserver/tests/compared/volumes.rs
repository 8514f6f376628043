//! Volumes of pods and of templates (`ValidateVolumes` of `pkg/apis/core/validation`).

use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

use super::{APPS, CORE, change, make, pod, send, template, workload, wrong};

/// The causes why a pod with this volume, and perhaps more, is refused.
fn refused(mut volume: Value, container: &Value) -> Vec<String> {
    volume["name"] = "v".into();
    let mut pod = pod(&json!({"volumes": [volume]}));
    for (name, value) in container.as_object().unwrap() {
        pod["spec"]["containers"][0][name] = value.clone();
    }
    wrong(&format!("{CORE}/pods"), &pod)
}

/// `ValidateCSIDriverName`.
#[test]
fn a_driver_without_a_name_is_refused_for_that_only() {
    assert_eq!(
        refused(json!({"csi": {}}), &json!({})),
        ["spec.volumes[0].csi.driver: Required value"]
    );
}

/// `validateImageVolumeSource`.
#[test]
fn a_template_may_leave_the_image_of_a_volume_open() {
    let own = json!({"volumes": [{"name": "v", "image": {}}]});
    assert_eq!(
        wrong(&format!("{CORE}/pods"), &pod(&own)),
        ["spec.volumes[0].image.reference: Required value"]
    );
    let set = workload(&template(&own), &json!({}));
    make(
        &mut ApiServer::default(),
        &format!("{APPS}/deployments"),
        &set,
    );
}

/// `validateObjectFieldSelector`, and `ConvertDownwardAPIFieldLabel` of `pkg/apis/core/pods`.
#[test]
fn a_variable_shows_some_fields_of_the_pod() {
    let said = |reference: Value| {
        let env = json!([{"name": "A", "valueFrom": {"fieldRef": reference}}]);
        refused(json!({"emptyDir": {}}), &json!({"env": env}))
    };
    let field = "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath";
    assert_eq!(
        said(json!({"fieldPath": "metadata.name", "apiVersion": "v2"})),
        [format!(
            "{field}: Invalid value: \"metadata.name\": error converting fieldPath: unsupported \
             pod version: v2"
        )]
    );
    let phase = said(json!({"fieldPath": "status.phase"}));
    let begin = format!("{field}: Unsupported value: \"status.phase\": supported values: ");
    assert!(
        matches!(&phase[..], [one] if one.starts_with(&begin)),
        "{phase:?}"
    );
    assert_eq!(
        said(json!({"fieldPath": "['a']"})),
        [format!(
            "{field}: Invalid value: \"['a']\": error converting fieldPath: field label not \
             supported: ['a']"
        )]
    );
    // The old name of the node.
    let env = json!([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.host"}}}]);
    let mut pod = pod(&json!({}));
    pod["spec"]["containers"][0]["env"] = env;
    make(&mut ApiServer::default(), &format!("{CORE}/pods"), &pod);
}

/// `GetVolumeMountMap` and `GetVolumeDeviceMap`.
#[test]
fn a_device_is_compared_with_the_last_mount_of_a_volume() {
    let mounts = json!([{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]);
    let claim = json!({"persistentVolumeClaim": {"claimName": "c"}});
    let said = |path: &str| {
        let devices = json!([{"name": "w", "devicePath": path}]);
        refused(
            claim.clone(),
            &json!({"volumeMounts": mounts, "volumeDevices": devices}),
        )
    };
    let device = "spec.containers[0].volumeDevices[0]";
    let absent = format!("{device}.name: Not found: \"w\"");
    let repeated = format!(
        "{device}.devicePath: Invalid value: \"/b\": must not already exist as a path in \
         volumeMounts"
    );
    let mount = "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/b\": must not \
         already exist as a path in volumeDevices";
    assert_eq!(said("/b"), [mount, &absent, &repeated]);
    let first = "spec.containers[0].volumeMounts[0].mountPath: Invalid value: \"/a\": must not \
         already exist as a path in volumeDevices";
    assert_eq!(said("/a"), [first, &absent]);
}

/// `DropDisabledPodFields` and `DropDisabledTemplateFields` of `pkg/api/pod`.
#[test]
fn fields_of_features_that_are_off_are_dropped_from_pods_and_templates() {
    let bundle = json!({"clusterTrustBundle": {"name": "b", "path": "p"}});
    let certificate = json!({"podCertificate": {"signerName": "Odd", "keyType": "Odd"}});
    let projected = json!({"sources": [bundle, certificate]});
    let mut own = json!({"volumes": [{"name": "v", "projected": projected}],
        "schedulingGroup": {"podGroupName": "g"}});
    let stop = json!({"lifecycle": {"stopSignal": "SIGODD"}, "name": "c", "image": "i"});
    own["containers"] = json!([stop]);
    let check = |spec: &Value| {
        let sources = &spec["volumes"][0]["projected"]["sources"];
        assert_eq!(*sources, json!([{}, {}]));
        assert_eq!(spec.get("schedulingGroup"), None);
        assert_eq!(spec["containers"][0].get("lifecycle"), None);
    };
    let server = &mut ApiServer::default();
    let made = make(server, &format!("{CORE}/pods"), &pod(&own)).body;
    check(&made["spec"]);
    let with_template = workload(&template(&own), &json!({}));
    for plural in ["deployments", "replicasets", "statefulsets", "daemonsets"] {
        let made = make(server, &format!("{APPS}/{plural}"), &with_template).body;
        check(&made["spec"]["template"]["spec"]);
    }
    let plain = workload(&template(&json!({})), &json!({}));
    let sets = format!("{APPS}/statefulsets");
    let mut other = plain.clone();
    other["metadata"]["name"] = "y".into();
    make(server, &sets, &other);
    let patch = json!({"spec": {"template": {"spec": own}}});
    let path = format!("{sets}/y");
    change(server, &path, &patch);
    let changed = send(server, "GET", &path, &Value::Null).body;
    check(&changed["spec"]["template"]["spec"]);
    own["restartPolicy"] = "Never".into();
    let batch = "/apis/batch/v1/namespaces/default";
    let job = json!({"metadata": {"name": "x"}, "spec": {"template": {"spec": own}}});
    let made = make(server, &format!("{batch}/jobs"), &job).body;
    check(&made["spec"]["template"]["spec"]);
    let cron = json!({"metadata": {"name": "x"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job["spec"]}}});
    let made = make(server, &format!("{batch}/cronjobs"), &cron).body;
    check(&made["spec"]["jobTemplate"]["spec"]["template"]["spec"]);
    let kept = json!({"metadata": {"name": "x"}, "template": job["spec"]["template"]});
    let made = make(server, &format!("{CORE}/podtemplates"), &kept).body;
    check(&made["template"]["spec"]);
}

/// `persistentvolumeStatusStrategy.PrepareForUpdate`.
#[test]
fn the_time_of_the_phase_of_a_volume_stays_if_a_status_does_not_name_it() {
    let mut server = ApiServer::default();
    let volume = json!({"metadata": {"name": "v"}, "spec": {"capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}}});
    let made = make(&mut server, "/api/v1/persistentvolumes", &volume).body;
    let path = "/api/v1/persistentvolumes/v/status";
    let status = json!({"status": {"lastPhaseTransitionTime": null, "reason": "r"}});
    let answer = change(&mut server, path, &status).body;
    let since = "lastPhaseTransitionTime";
    assert!(made["status"][since].is_string());
    assert_eq!(answer["status"][since], made["status"][since]);
}

/// `ValidatePersistentVolumeClaimSpec` and `validateDataSourceRef`.
#[test]
fn a_source_in_another_namespace_stands_alone() {
    let mut server = ApiServer::default();
    let source = json!({"apiGroup": "example.com", "kind": "K", "name": "n"});
    let claim = json!({"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}, "dataSourceRef": source}});
    let path = format!("{CORE}/persistentvolumeclaims");
    make(&mut server, &path, &claim);
    let elsewhere = json!({"spec": {"dataSourceRef": {"namespace": "A"}}});
    let causes = send(&mut server, "PATCH", &format!("{path}/c"), &elsewhere).causes();
    let alone =
        "spec: Invalid value: {}: may not be specified when dataSourceRef.namespace is specified";
    assert!(
        causes[0].starts_with("spec.dataSourceRef.namespace: Invalid value: \"A\": a lowercase")
    );
    assert_eq!(causes[1], alone);
}
