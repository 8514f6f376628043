//! Bodies that the server does not take, and their order among the other checks of a request.

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

use super::{APPS, CORE, make, pod, send, template, workload};

/// Sends a body of another media type.
fn send_as(server: &mut ApiServer, method: &str, path: &str, media_type: &str) -> (u16, String) {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", media_type);
    let answer = server.handle(request.body(b"{}".to_vec()).unwrap());
    let body: Value = serde_json::from_slice(answer.body()).unwrap();
    let message = body["message"].as_str().unwrap_or_default().to_owned();
    (answer.status().as_u16(), message)
}

/// `ValidateConfigMapUpdate` and `ValidateSecretUpdate` of `pkg/apis/core/validation` compare by
/// `reflect.DeepEqual`. `SetDefaults_ConfigMap` makes absent data an empty map.
#[test]
fn an_empty_map_in_the_place_of_an_absent_one_changes_what_is_immutable() {
    for (plural, fields) in [
        ("configmaps", ["binaryData"].as_slice()),
        ("secrets", &["data"]),
    ] {
        let server = &mut ApiServer::default();
        let path = format!("{CORE}/{plural}");
        let object = json!({"metadata": {"name": "x"}, "immutable": true});
        make(server, &path, &object);
        for field in fields {
            let patch = json!({ *field: {} });
            assert_eq!(
                send(server, "PATCH", &format!("{path}/x"), &patch).causes(),
                [format!(
                    "{field}: Forbidden: field is immutable when `immutable` is set"
                )]
            );
        }
        let mut label = json!({"metadata": {"labels": {"a": "b"}, "annotations": {}}});
        if plural == "configmaps" {
            label["data"] = json!({});
        }
        let answer = send(server, "PATCH", &format!("{path}/x"), &label);
        assert_eq!(answer.code, 200, "{}", answer.body);
    }
}

/// `PatchResource`, `createHandler` and `UpdateResource` of `pkg/endpoints/handlers`.
#[test]
fn only_an_update_reads_its_options_before_the_media_type() {
    let server = &mut ApiServer::default();
    let odd = "fieldValidation=Bogus";
    let (code, message) = send_as(
        server,
        "PATCH",
        &format!("{CORE}/configmaps/x?{odd}"),
        "text/plain",
    );
    assert_eq!(
        (code, message.as_str()),
        (415, "415: Unsupported Media Type")
    );
    let path = format!("{CORE}/configmaps?{odd}");
    let (code, message) = send_as(server, "POST", &path, "text/plain");
    assert_eq!(code, 415, "{message}");
    let path = format!("{CORE}/configmaps/x?{odd}");
    let (code, message) = send_as(server, "PUT", &path, "text/plain");
    assert_eq!(code, 422, "{message}");
}

/// No route takes a change of a collection; a custom resource looks for the name after the media type
/// (`PatchResource`).
#[test]
fn a_collection_is_not_changed() {
    let server = &mut ApiServer::default();
    for method in ["PATCH", "PUT"] {
        for media_type in ["text/plain", "application/merge-patch+json"] {
            let path = format!("{CORE}/configmaps?fieldValidation=Bogus");
            let (code, _) = send_as(server, method, &path, media_type);
            assert_eq!(code, 405, "{method} {media_type}");
        }
    }
}

/// `Scheme.New` of `apimachinery/pkg/runtime`: all registered kinds decode, and few convert.
#[test]
fn registered_kinds_do_not_convert_to_others() {
    let server = &mut ApiServer::default();
    let mut said = |version: &str, kind: &str| {
        let body = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "x"}});
        let answer = send(server, "POST", &format!("{CORE}/configmaps"), &body);
        assert_eq!(answer.code, 400);
        let (_, error) = answer.message().split_once(": ").unwrap();
        error.split(" in scheme").next().unwrap().to_owned()
    };
    for (version, kind, from) in [
        ("v9", "Status", "v1.Status"),
        ("storage.k8s.io/v1", "StorageClass", "v1.StorageClass"),
        ("rbac.authorization.k8s.io/v1beta1", "Role", "v1beta1.Role"),
        ("apps/v1beta1", "ListOptions", "v1.ListOptions"),
    ] {
        assert_eq!(
            said(version, kind),
            format!("converting ({from}) to (core.ConfigMap): unknown conversion")
        );
    }
    assert_eq!(
        said("v9", "ListOptions"),
        "no kind \"ListOptions\" is registered for version \"v9\""
    );
}

/// `DeleteResource` of `pkg/endpoints/handlers/delete.go`: the version is that of the options.
#[test]
fn a_body_of_a_deletion_without_a_version_has_that_of_the_options() {
    let server = &mut ApiServer::default();
    let path = format!("{CORE}/configmaps/x");
    for (kind, error) in [
        (
            "Pod",
            "no kind \"Pod\" is registered for version \"meta.k8s.io/v1\" in scheme",
        ),
        (
            "PatchOptions",
            "converting (v1.PatchOptions) to (v1.DeleteOptions): unknown conversion",
        ),
    ] {
        let answer = send(server, "DELETE", &path, &json!({"kind": kind}));
        assert_eq!(answer.code, 400);
        assert!(answer.message().starts_with(error), "{}", answer.message());
    }
    let own = json!({"kind": "DeleteOptions"});
    assert_eq!(send(server, "DELETE", &path, &own).code, 404);
}

/// `decodeState.object` of `sigs.k8s.io/json`: the field and its type as Go names them.
#[test]
fn a_value_of_a_wrong_type_is_named_as_in_go() {
    let server = &mut ApiServer::default();
    let mut said = |path: &str, body: &Value| {
        let answer = send(server, "POST", path, body);
        assert_eq!(answer.code, 400);
        let (_, field) = answer.message().split_once("Go struct field ").unwrap();
        field.to_owned()
    };
    let pods = format!("{CORE}/pods");
    let volume = |volume: Value| pod(&json!({"volumes": [volume]}));
    let probed = |probe: Value| json!({"metadata": {"name": "x"}, "spec": {"containers": [{"livenessProbe": probe}]}});
    for (body, field) in [
        (
            volume(json!({"name": 5})),
            "Volume.spec.volumes.name of type string",
        ),
        (
            volume(json!({"secret": 5})),
            "Volume.spec.volumes.VolumeSource.secret of type v1.SecretVolumeSource",
        ),
        (
            volume(json!({"configMap": {"name": 5}})),
            "ConfigMapVolumeSource.spec.volumes.VolumeSource.configMap.LocalObjectReference.name \
             of type string",
        ),
        (
            probed(json!({"httpGet": {"path": 5}})),
            "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.path of type string",
        ),
        (
            probed(json!({"periodSeconds": "x"})),
            "Probe.spec.containers.livenessProbe.periodSeconds of type int32",
        ),
        (
            pod(&json!({"overhead": 5})),
            "PodSpec.spec.overhead of type v1.ResourceList",
        ),
    ] {
        assert_eq!(said(&pods, &body), field);
    }
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    assert_eq!(
        said(slices, &json!({"addressType": {}})),
        "EndpointSlice.addressType of type v1.AddressType"
    );
    let claims = format!("{CORE}/persistentvolumeclaims");
    for (modes, ty) in [
        (json!("x"), "[]v1.PersistentVolumeAccessMode"),
        (json!([5]), "v1.PersistentVolumeAccessMode"),
    ] {
        assert_eq!(
            said(&claims, &json!({"spec": {"accessModes": modes}})),
            format!("PersistentVolumeClaimSpec.spec.accessModes of type {ty}")
        );
    }
    let scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    assert_eq!(
        said(scalers, &json!({"spec": {"metrics": 5}})),
        "HorizontalPodAutoscalerSpec.spec.metrics of type []v2.MetricSpec"
    );
    assert_eq!(
        said(&format!("{APPS}/deployments"), &json!({"metadata": 5})),
        "Deployment.metadata of type v1.ObjectMeta"
    );
}

/// `listReflect.EqualsUsing` of `sigs.k8s.io/structured-merge-diff/value`: a list that is owned as a whole is
/// compared as Go holds it, with `reflect.DeepEqual`.
#[test]
fn an_empty_list_in_an_atomic_list_is_a_change_of_it() {
    let server = &mut ApiServer::default();
    let rule = |more: Value| {
        let mut rule = json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]});
        for (name, value) in more.as_object().unwrap() {
            rule[name] = value.clone();
        }
        json!({"metadata": {"name": "x"}, "rules": [rule]})
    };
    let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    let made = make(server, roles, &rule(json!({})));
    let path = format!("{roles}/x?fieldManager=b");
    let version = |answer: &super::Answer| answer.body["metadata"]["resourceVersion"].clone();
    let owners = |answer: &super::Answer| {
        let managers = answer.body["metadata"]["managedFields"].as_array().unwrap();
        let names = managers
            .iter()
            .map(|entry| entry["manager"].as_str().unwrap());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let same = send(server, "PUT", &path, &rule(json!({})));
    assert_eq!(version(&same), version(&made));
    let empty = rule(json!({"resourceNames": []}));
    let changed = send(server, "PUT", &path, &empty);
    assert_ne!(version(&changed), version(&made));
    assert_eq!(owners(&changed), ["b"]);
    assert_eq!(changed.body["rules"], made.body["rules"]);
    let again = send(server, "PUT", &path, &empty);
    assert_eq!(version(&again), version(&changed));

    let limits = |min: &str| {
        let limit =
            json!({"type": "Container", "min": {"cpu": min}, "defaultRequest": {"cpu": "1"}});
        json!({"metadata": {"name": "x"}, "spec": {"limits": [limit]}})
    };
    let ranges = format!("{CORE}/limitranges");
    let made = make(server, &ranges, &limits("50m"));
    let path = format!("{ranges}/x?fieldManager=b");
    let same = send(server, "PUT", &path, &limits("50m"));
    assert_eq!(version(&same), version(&made));
    let respelled = send(server, "PUT", &path, &limits("0.05"));
    assert_eq!(owners(&respelled), ["b"]);
    assert_eq!(respelled.body["spec"], made.body["spec"]);

    // A list with a key is compared by its fields, where an empty list is none.
    let deployment = |spec: &Value| super::workload(&super::template(spec), &json!({}));
    let deployments = format!("{APPS}/deployments");
    let made = make(server, &deployments, &deployment(&json!({})));
    let empty = deployment(&json!({"tolerations": [], "imagePullSecrets": []}));
    let same = send(
        server,
        "PUT",
        &format!("{deployments}/x?fieldManager=b"),
        &empty,
    );
    assert_eq!(version(&same), version(&made));
}

/// `ValidateScale` of `pkg/apis/autoscaling/validation`.
#[test]
fn a_scale_has_valid_metadata() {
    let server = &mut ApiServer::default();
    let deployments = format!("{APPS}/deployments");
    let deployment = super::workload(&super::template(&json!({})), &json!({}));
    make(server, &deployments, &deployment);
    let patch = json!({"metadata": {"labels": {"a": "-"}}, "spec": {"replicas": -1}});
    let causes = send(server, "PATCH", &format!("{deployments}/x/scale"), &patch).causes();
    assert_eq!(causes.len(), 2, "{causes:?}");
    assert!(causes[0].starts_with("metadata.labels: "));
    assert!(causes[1].starts_with("spec.replicas: "));
}

/// `StatusREST.Update` of `pkg/registry/admissionregistration/validatingadmissionpolicy/storage`.
#[test]
fn a_missing_policy_is_created_by_its_status_without_a_spec() {
    let server = &mut ApiServer::default();
    let version = "admissionregistration.k8s.io/v1";
    let body = json!({"apiVersion": version, "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "x"}, "status": {"observedGeneration": 1}});
    let path = format!("/apis/{version}/validatingadmissionpolicies/x/status?fieldManager=m");
    let request = Request::builder().method("PATCH").uri(path);
    let request = request.header("content-type", "application/apply-patch+yaml");
    let answer = server.handle(request.body(body.to_string().into_bytes()).unwrap());
    let answer: Value = serde_json::from_slice(answer.body()).unwrap();
    let causes = answer["details"]["causes"].as_array().unwrap();
    assert_eq!(causes.len(), 3, "{answer}");
}

/// `csrStatusStrategy.PrepareForUpdate` of `pkg/registry/certificates/certificates`, and
/// `endpointSliceStrategy.PrepareForUpdate` of `pkg/registry/discovery/endpointslice`.
#[test]
fn what_is_absent_stays_absent() {
    let server = &mut ApiServer::default();
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let slice = json!({"metadata": {"name": "x"}, "addressType": "IPv4", "endpoints": [],
        "ports": []});
    let made = make(server, slices, &slice);
    let same = send(server, "PUT", &format!("{slices}/x"), &slice);
    assert_eq!(same.body["metadata"], made.body["metadata"]);
}

/// `ScaleStatus` of `k8s.io/api/extensions/v1beta1`, and the scheme of the scales of custom resources, which has no
/// internal version.
#[test]
fn a_scale_of_an_older_version_has_a_map_for_a_selector() {
    let mut server = ApiServer::default();
    let path = format!("{APPS}/deployments");
    make(
        &mut server,
        &path,
        &workload(&template(&json!({})), &json!({})),
    );
    let path = format!("{path}/x/scale");
    for version in ["extensions/v1beta1", "apps/v1beta1", "apps/v1beta2"] {
        let patch = json!({"apiVersion": version, "spec": {"replicas": 2}});
        let causes = send(&mut server, "PATCH", &path, &patch).causes();
        let why = "json: cannot unmarshal string into Go struct field ScaleStatus.status.selector of \
                   type map[string]string";
        assert!(
            matches!(&causes[..], [one] if one.ends_with(why)),
            "{causes:?}"
        );
    }
}

/// `JSONSchemaProps` of `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1`, and the decoders of `marshal.go`.
#[test]
fn a_member_of_the_schema_of_a_definition_has_a_type_and_a_name_that_is_known() {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = |schema: Value| {
        let version = json!({"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": schema}});
        json!({"metadata": {"name": "things.example.com"}, "spec": {
            "group": "example.com", "scope": "Namespaced", "versions": [version],
            "names": {"plural": "things", "kind": "Thing"}}})
    };
    let inside = |member: Value| json!({"type": "object", "properties": {"a": {"items": member}}});
    let error = |what: &str, owner: &str, field: &str, ty: &str| {
        let place = "spec.versions.schema.openAPIV3Schema";
        format!(
            "json: cannot unmarshal {what} into Go struct field {owner}.{place}.{field} of type {ty}"
        )
    };
    let schema = "JSONSchemaProps";
    for (given, why) in [
        (
            json!({"properties": []}),
            error(
                "array",
                schema,
                "properties",
                "map[string]v1.JSONSchemaProps",
            ),
        ),
        (
            json!({"properties": {"a": 1}}),
            error("number", schema, "properties", "v1.JSONSchemaProps"),
        ),
        (
            inside(json!({"enum": true, "bogus": 1})),
            error("bool", schema, "properties.items.enum", "[]v1.JSON"),
        ),
        (
            json!({"required": [{}]}),
            error("object", schema, "required", "string"),
        ),
        (
            json!({"x-kubernetes-validations": [{"rule": []}]}),
            error(
                "array",
                "ValidationRule",
                "x-kubernetes-validations.rule",
                "string",
            ),
        ),
        (
            json!({"type": 1, "additionalProperties": []}),
            "boolean or JSON schema expected".to_owned(),
        ),
    ] {
        let answer = send(&mut ApiServer::default(), "POST", path, &definition(given));
        let message = answer.message();
        assert_eq!(answer.code, 400, "{message}");
        assert!(message.ends_with(&why), "{message}");
    }
    let known = json!({"type": "object", "bogus": 1, "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"status": null}});
    let answer = send(&mut ApiServer::default(), "POST", path, &definition(known));
    assert_eq!(
        answer.causes(),
        [
            "spec.validation.openAPIV3Schema.properties[status].type: Required value: must not be empty \
             for specified object fields"
        ]
    );
    assert_eq!(
        answer_to(&definition(json!({"type": "object", "bogus": 1}))).warnings,
        ["unknown field \"spec.versions[0].schema.openAPIV3Schema.bogus\""]
    );
}

fn answer_to(definition: &Value) -> super::Answer {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    make(&mut ApiServer::default(), path, definition)
}
