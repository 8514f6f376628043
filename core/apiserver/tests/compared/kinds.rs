//! Other kinds.

use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

use super::{APPS, CORE, change, make, send, template, workload, wrong};

/// `validatePriorityClass` of `plugin/pkg/admission/priority`.
#[test]
fn one_class_of_priority_is_the_default_one() {
    let server = &mut ApiServer::default();
    let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    let class = |name: &str| json!({"metadata": {"name": name}, "value": 1, "globalDefault": true});
    make(server, classes, &class("a"));
    let refused = send(server, "POST", classes, &class("b"));
    assert_eq!(refused.code, 403);
    let end = "PriorityClass a is already marked as default. Only one default can exist";
    assert!(refused.message().ends_with(end));
    change(
        server,
        &format!("{classes}/a"),
        &json!({"description": "d"}),
    );
    let mut odd = class("c");
    odd["globalDefault"] = false.into();
    odd["preemptionPolicy"] = "Odd".into();
    assert_eq!(
        wrong(classes, &odd),
        [
            "preemptionPolicy: Unsupported value: \"Odd\": supported values: \
             \"PreemptLowerPriority\", \"Never\""
        ]
    );
}

/// `DefaultLimitRangerActions.SupportsAttributes` of `plugin/pkg/admission/limitranger`.
#[test]
fn a_claim_that_is_being_deleted_has_no_limits() {
    let server = &mut ApiServer::default();
    let claims = format!("{CORE}/persistentvolumeclaims");
    let resources = json!({"requests": {"storage": "2Gi"}});
    let claim = json!({"metadata": {"name": "x", "finalizers": ["example.com/f"]},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources}});
    make(server, &claims, &claim);
    let limits = json!([{"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]);
    let range = json!({"metadata": {"name": "l"}, "spec": {"limits": limits}});
    make(server, &format!("{CORE}/limitranges"), &range);
    let path = format!("{claims}/x");
    let patch = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(send(server, "PATCH", &path, &patch).code, 403);
    send(server, "DELETE", &path, &Value::Null);
    change(server, &path, &patch);
}

/// `validatePodTemplateSpecForStatefulSet` of `pkg/apis/apps/validation`.
#[test]
fn a_stateful_set_names_pods_and_volumes_itself() {
    let sets = format!("{APPS}/statefulsets");
    let own = json!({"hostname": "Bad_H", "volumes": [{"name": "v", "nfs": {}}]});
    let claims = json!([{"metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}}}]);
    let set = workload(&template(&own), &json!({"volumeClaimTemplates": claims}));
    make(&mut ApiServer::default(), &sets, &set);
    let mut labelled = template(&json!({}));
    labelled["metadata"]["labels"]["bad key!"] = "x".into();
    let causes = wrong(&sets, &workload(&labelled, &json!({})));
    assert_eq!(causes.len(), 2, "{causes:?}");
    assert_eq!(causes[0], causes[1]);
}

/// `ValidateRollingUpdateDaemonSet` of `pkg/apis/apps/validation`.
#[test]
fn a_daemon_set_updates_at_most_all_pods_before_it_updates_none() {
    let rolling = json!({"maxUnavailable": "101%", "maxSurge": "101%"});
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
    let set = workload(&template(&json!({})), &json!({"updateStrategy": strategy}));
    let causes = wrong(&format!("{APPS}/daemonsets"), &set);
    assert_eq!(causes.len(), 3, "{causes:?}");
    let path = "spec.updateStrategy.rollingUpdate";
    assert!(causes[0].starts_with(&format!("{path}.maxUnavailable: ")));
    assert!(causes[1].starts_with(&format!("{path}.maxSurge: ")));
    assert!(
        causes[2].ends_with("may not be set when maxUnavailable is non-zero"),
        "{causes:?}"
    );
}

/// `ValidatePersistentVolume` of `pkg/volume/validation`, and `ValidatePersistentVolumeUpdate`.
#[test]
fn a_volume_of_a_driver_has_no_options_of_mounting() {
    let volumes = "/api/v1/persistentvolumes";
    let rule = |key: &str| json!({"key": key, "operator": "In", "values": ["z"]});
    let affinity =
        |key: &str| json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [rule(key)]}]}});
    let old = "failure-domain.beta.kubernetes.io/zone";
    let volume = |annotations: &Value| {
        json!({"metadata": {"name": "v", "annotations": annotations},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                "csi": {"driver": "a.b", "volumeHandle": "h"}, "nodeAffinity": affinity(old)}})
    };
    let options = json!({"volume.beta.kubernetes.io/mount-options": "ro"});
    assert_eq!(
        wrong(volumes, &volume(&options)),
        [
            "metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not \
             specify mount options for this volume type"
        ]
    );
    // The zone may get its new name, and nothing else may change.
    let server = &mut ApiServer::default();
    make(server, volumes, &volume(&json!({})));
    let path = format!("{volumes}/v");
    let zone = affinity("topology.kubernetes.io/zone");
    change(server, &path, &json!({"spec": {"nodeAffinity": zone}}));
    let other = json!({"spec": {"nodeAffinity": affinity("topology.kubernetes.io/region")}});
    let causes = send(server, "PATCH", &path, &other).causes();
    let end = "field is immutable, except for updating from beta label to GA";
    assert!(causes[0].ends_with(end), "{causes:?}");
}

/// `ValidatePersistentVolumeClaimUpdate` of `pkg/apis/core/validation`.
#[test]
fn a_claim_keeps_a_class_of_attributes_that_is_applied() {
    let server = &mut ApiServer::default();
    let claims = format!("{CORE}/persistentvolumeclaims");
    let resources = json!({"requests": {"storage": "2Gi"}});
    let claim = json!({"metadata": {"name": "x"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": resources, "volumeAttributesClassName": "fast"}});
    make(server, &claims, &claim);
    let path = format!("{claims}/x");
    let status = json!({"phase": "Bound", "currentVolumeAttributesClassName": "fast"});
    change(
        server,
        &format!("{path}/status"),
        &json!({"status": status}),
    );
    let none = json!({"spec": {"volumeAttributesClassName": null}});
    assert_eq!(
        send(server, "PATCH", &path, &none).causes(),
        [
            "spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when \
             status.currentVolumeAttributesClassName is not nil"
        ]
    );
}

/// `validateNodeSwapStatus` and `validateNodeDeclaredFeatures` of `pkg/apis/core/validation`.
#[test]
fn a_node_declares_features_in_order_and_swaps_to_some_space() {
    let nodes = "/api/v1/nodes";
    let node = |status: Value| json!({"metadata": {"name": "n"}, "status": status});
    let features = json!({"declaredFeatures": ["B", "A", "A", "bad"]});
    let causes = wrong(nodes, &node(features));
    assert_eq!(
        causes[..2],
        [
            "status.declaredFeatures[1]: Invalid value: \"A\": list must be sorted alphabetically",
            "status.declaredFeatures[2]: Duplicate value: \"A\"",
        ]
    );
    let begin = "status.declaredFeatures[3]: Invalid value: \"bad\": invalid feature name";
    assert!(causes[2].starts_with(begin), "{causes:?}");
    assert_eq!(
        wrong(nodes, &node(json!({"nodeInfo": {"swap": {"capacity": 0}}}))),
        ["metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero"]
    );
}

/// `validateEndpoints` of `pkg/apis/discovery/validation`.
#[test]
fn an_address_of_a_slice_is_written_in_its_only_form() {
    let slice = json!({"metadata": {"name": "x"}, "addressType": "IPv6",
        "endpoints": [{"addresses": ["2001:DB8::1"]}]});
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    assert_eq!(
        wrong(slices, &slice),
        [
            "endpoints[0].addresses[0]: Invalid value: \"2001:DB8::1\": must be in canonical form \
             (\"2001:db8::1\")"
        ]
    );
}

/// `validateCommonFields` of `k8s.io/apiserver/pkg/registry/rest`, then `ValidateNamespace` and
/// `ValidateNamespaceUpdate` of `pkg/apis/core/validation`.
#[test]
fn the_labels_of_a_namespace_are_looked_at_four_times_in_an_update() {
    let server = &mut ApiServer::default();
    let path = "/api/v1/namespaces/x";
    make(
        server,
        "/api/v1/namespaces",
        &json!({"metadata": {"name": "x"}}),
    );
    let patch = json!({"metadata": {"labels": {"a": "bad value!"}}});
    let causes = send(server, "PATCH", path, &patch).causes();
    assert_eq!(causes.len(), 4, "{causes:?}");
    assert!(causes.iter().all(|cause| *cause == causes[0]));
    // `/finalize` looks once, and says which of the finalizers is wrong.
    let mut namespace = send(server, "GET", path, &Value::Null).body;
    namespace["spec"]["finalizers"] = json!(["kubernetes", "none"]);
    assert_eq!(
        send(server, "PUT", &format!("{path}/finalize"), &namespace).causes(),
        [
            "spec.finalizers[1]: Invalid value: \"none\": name is neither a standard finalizer name \
             nor is it fully qualified"
        ]
    );
}

/// `ValidateAPIService` of `k8s.io/kube-aggregator/pkg/apis/apiregistration/validation`.
#[test]
fn the_name_of_an_api_service_cannot_be_generated() {
    let service = json!({"metadata": {"generateName": "gen-"}, "spec": {"group": "a.example.com",
        "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}});
    let causes = wrong("/apis/apiregistration.k8s.io/v1/apiservices", &service);
    assert_eq!(causes.len(), 2, "{causes:?}");
    assert!(
        causes[0].starts_with("metadata.generateName: Invalid value: \"gen-\": must be `spec.")
    );
    assert!(causes[1].starts_with("metadata.name: Invalid value: \"gen-"));
}

/// `WarningsForStaticSuffix` of `pkg/apis/admissionregistration`, and the strategies of statuses.
#[test]
fn reserved_names_and_written_addresses_are_warned_of() {
    let server = &mut ApiServer::default();
    let configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let configuration = json!({"metadata": {"name": "a.static.k8s.io"}});
    let warnings = make(server, configurations, &configuration).warnings;
    let begin = "metadata.name: names ending with \".static.k8s.io\" are reserved";
    assert!(
        matches!(&warnings[..], [one] if one.starts_with(begin)),
        "{warnings:?}"
    );
    let ingresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    let ingress = json!({"metadata": {"name": "x"}, "spec": {"defaultBackend": backend}});
    make(server, ingresses, &ingress);
    let status = json!({"status": {"loadBalancer": {"ingress": [{"ip": "2001:DB8::1"}]}}});
    let warnings = change(server, &format!("{ingresses}/x/status"), &status).warnings;
    assert_eq!(
        warnings,
        [
            "status.loadBalancer.ingress[0]: IPv6 address \"2001:DB8::1\" should be in RFC 5952 \
             canonical format (\"2001:db8::1\")"
        ]
    );
}

/// `validateValidatingAdmissionPolicySpec` of `pkg/apis/admissionregistration/validation`.
#[test]
fn an_expression_of_a_policy_sees_what_the_policy_has() {
    let policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
        "resources": ["pods"]});
    let policy = |validation: Value| {
        json!({"metadata": {"name": "p"}, "spec": {"validations": [validation],
            "matchConstraints": {"resourceRules": [rule]}}})
    };
    let causes = wrong(policies, &policy(json!({"expression": "variables.a == 1"})));
    assert!(
        causes[0].contains("undeclared reference to 'variables'"),
        "{causes:?}"
    );
    let message = "authorizer.path('/x').check('get').allowed() ? 'a' : 'b'";
    let said = policy(json!({"expression": "true", "messageExpression": message}));
    let causes = wrong(policies, &said);
    assert!(
        causes[0].contains("undeclared reference to 'authorizer'"),
        "{causes:?}"
    );
}

/// `validateTolerations` of `pkg/apis/node/validation`, and `validateValidatingWebhookConfiguration`.
#[test]
fn what_is_named_twice_is_refused() {
    let toleration = |seconds: i64| json!({"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
    let class = json!({"metadata": {"name": "r"}, "handler": "h",
        "scheduling": {"tolerations": [toleration(1), toleration(2)]}});
    let causes = wrong("/apis/node.k8s.io/v1/runtimeclasses", &class);
    let begin = "scheduling.tolerations[1]: Duplicate value: {\"Key\":\"a\"";
    assert!(
        matches!(&causes[..], [one] if one.starts_with(begin)),
        "{causes:?}"
    );
    let webhook = json!({"name": "a.b.c", "sideEffects": "", "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://x.example.com"}});
    let configuration = json!({"metadata": {"name": "x"}, "webhooks": [webhook, webhook]});
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let causes = wrong(path, &configuration);
    let unsupported = |i: usize| {
        format!(
            "webhooks[{i}].sideEffects: Unsupported value: \"\": supported values: \"None\", \"NoneOnDryRun\""
        )
    };
    assert_eq!(
        causes,
        [
            unsupported(0),
            unsupported(1),
            "webhooks[1].name: Duplicate value: \"a.b.c\"".to_owned(),
        ]
    );
}

/// `IsStandardResourceName` of `pkg/apis/core/helper`.
#[test]
fn a_quota_limits_requests_of_huge_pages() {
    let hard = json!({"requests.hugepages-2Mi": "4Mi", "requests.example.com/gpu": "1"});
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}});
    let quotas = format!("{CORE}/resourcequotas");
    make(&mut ApiServer::default(), &quotas, &quota);
    let limit = json!({"type": "Pod", "max": {"requests.hugepages-2Mi": "4Mi"}});
    let range = json!({"metadata": {"name": "l"}, "spec": {"limits": [limit]}});
    let causes = wrong(&format!("{CORE}/limitranges"), &range);
    assert_eq!(
        causes,
        [
            "spec.limits[0].max[requests.hugepages-2Mi]: Invalid value: \"requests.hugepages-2Mi\": \
             must be a standard resource for containers"
        ]
    );
}

/// `IsExtendedResourceName` of `pkg/apis/core/helper`.
#[test]
fn the_name_of_an_extended_resource_has_room_for_what_quotas_add() {
    let long = format!("example.com/{}", "a".repeat(63));
    let domain = format!("{}.com/x", vec!["a".repeat(60); 4].join("."));
    let limits = |name: &str| {
        let limit = json!({"type": "Pod", "max": {name: "1"}});
        json!({"metadata": {"name": "l"}, "spec": {"limits": [limit]}})
    };
    let ranges = format!("{CORE}/limitranges");
    make(&mut ApiServer::default(), &ranges, &limits(&long));
    let causes = wrong(&ranges, &limits(&domain));
    assert_eq!(causes.len(), 1, "{causes:?}");
    let end = "doesn't follow extended resource name standard";
    assert!(causes[0].ends_with(end), "{causes:?}");
}

/// `validateLabelSelectorAttributes` of `pkg/apis/authorization/validation`, and
/// `BuildEvaluationError` of `pkg/registry/authorization/util`.
#[test]
fn a_review_passes_over_selectors_that_cannot_be_used() {
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let review = |labels: Value, fields: Value| {
        let attributes = json!({"verb": "list", "resource": "pods", "labelSelector": labels,
            "fieldSelector": fields});
        json!({"spec": {"resourceAttributes": attributes}})
    };
    let asked = |labels: Value, fields: Value| {
        let answer = make(&mut ApiServer::default(), reviews, &review(labels, fields)).body;
        assert_eq!(answer["status"]["allowed"], true);
        answer["status"].get("evaluationError").cloned()
    };
    let one =
        |operator: &str, values: Value| json!({"key": "a", "operator": operator, "values": values});
    let of = |all: Value| json!({"requirements": all});
    let fine = of(json!([one("In", json!(["b"]))]));
    assert_eq!(
        asked(json!({"rawSelector": "a in (b)"}), fine.clone()),
        None
    );
    let later = of(json!([one("In", json!(["b"])), one("Near", json!([]))]));
    let two = of(json!([one("NotIn", json!(["b", "c"]))]));
    assert_eq!(
        asked(later, two),
        Some(Value::from(
            "spec.resourceAttributes.fieldSelector ignored due to parse error; \
             spec.resourceAttributes.labelSelector partially ignored due to parse error"
        ))
    );
    assert_eq!(
        asked(json!({"rawSelector": "a in ("}), fine.clone()),
        Some(Value::from(
            "spec.resourceAttributes.labelSelector ignored due to parse error"
        ))
    );
    // The keys and the values of labels are labels.
    let odd = of(json!([{"key": "bad key!", "operator": "In", "values": ["not valid!"]}]));
    let causes = wrong(reviews, &review(odd, fine));
    let item = "spec.resourceAttributes.labelSelector.requirements[0]";
    assert_eq!(causes.len(), 2, "{causes:?}");
    assert!(causes[0].starts_with(&format!("{item}.key: Invalid value: \"bad key!\"")));
    assert!(causes[1].starts_with(&format!("{item}.values[0]: Invalid value: \"not valid!\"")));
}

/// `resourcequotaStrategy.WarningsOnCreate` of `pkg/registry/core/resourcequota`.
#[test]
fn a_new_quota_whose_request_exceeds_its_limit_is_warned_of() {
    let server = &mut ApiServer::default();
    let quotas = format!("{CORE}/resourcequotas");
    let hard = |hard: Value| json!({"metadata": {"name": "a"}, "spec": {"hard": hard}});
    let both = hard(
        json!({"cpu": "2", "limits.cpu": "1500m", "requests.memory": "1Gi", "memory": "3Gi",
        "limits.memory": "2Gi", "requests.ephemeral-storage": "2Gi", "limits.ephemeral-storage": "1Gi"}),
    );
    assert_eq!(
        make(server, &quotas, &both).warnings,
        [
            "ResourceQuota cpu (2) should be less than limits.cpu (1500m)",
            "ResourceQuota requests.ephemeral-storage (2Gi) should be less than limits.ephemeral-storage (1Gi)"
        ]
    );
    let update = json!({"spec": {"hard": {"cpu": "3"}}});
    let warnings = change(server, &format!("{quotas}/a"), &update).warnings;
    assert!(warnings.is_empty(), "{warnings:?}");
}

/// `limitrangeStrategy.PrepareForCreate` of `pkg/registry/core/limitrange`.
#[test]
fn a_limit_range_without_a_name_is_named_by_a_uid() {
    let server = &mut ApiServer::default();
    let ranges = format!("{CORE}/limitranges");
    let range = json!({"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}});
    let made = make(server, &ranges, &range).body;
    let (name, uid) = (&made["metadata"]["name"], &made["metadata"]["uid"]);
    assert_eq!(name.as_str().unwrap().len(), uid.as_str().unwrap().len());
    assert_ne!(name, uid);
    assert_eq!(
        wrong(&format!("{CORE}/configmaps"), &json!({})),
        ["metadata.name: Required value: name or generateName is required"]
    );
}

/// `warningsForSecret` of `pkg/registry/core/secret`, and `X509KeyPair` of Go's `crypto/tls`.
#[test]
fn a_tls_secret_that_is_no_pair_of_pem_gets_a_warning() {
    let block = |label: &str, content: &str| {
        format!("-----BEGIN {label}-----\n{content}\n-----END {label}-----\n")
    };
    // A sequence of ASN.1 that begins with another one.
    let certificate = block("CERTIFICATE", "MAIwAA==");
    let key = block("EC PRIVATE KEY", "MAA=");
    let other = block("NOTE", "MAA=");
    let malformed = block("CERTIFICATE", "AQI=");
    let switched = "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM \
                    inputs may have been switched";
    let no_certificate = "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks \
                          of the following types: [NOTE EC PRIVATE KEY]";
    let no_key = "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM \
                  blocks of the following types: [NOTE]";
    for (certificate, key, warning) in [
        (&certificate, &key, ""),
        (
            &format!("{other}{certificate}"),
            &format!("{other}{key}"),
            "",
        ),
        (
            &"none".to_owned(),
            &key,
            "tls: failed to find any PEM data in certificate input",
        ),
        (&key, &certificate, switched),
        (&format!("{other}{key}"), &key, no_certificate),
        (
            &block("CERTIFICATE", "AQI="),
            &key,
            "x509: malformed certificate",
        ),
        (
            &certificate,
            &"none".to_owned(),
            "tls: failed to find any PEM data in key input",
        ),
        (
            &certificate,
            &certificate,
            "tls: found a certificate rather than a key in the PEM for the private key",
        ),
        (&certificate, &other, no_key),
        (&malformed, &other, no_key),
        (
            &block("CERTIFICATE", "MAMCAQA="),
            &key,
            "x509: malformed tbs certificate",
        ),
    ] {
        let secret = json!({"metadata": {"name": "pair"}, "type": "kubernetes.io/tls",
            "stringData": {"tls.crt": certificate, "tls.key": key}});
        let server = &mut ApiServer::default();
        let answer = send(server, "POST", &format!("{CORE}/secrets"), &secret);
        assert_eq!(answer.code, 201);
        let expected: Vec<&str> = [warning].into_iter().filter(|it| !it.is_empty()).collect();
        assert_eq!(answer.warnings, expected, "{certificate}{key}");
    }
}

/// `SetDefaults_DaemonSet` of `pkg/apis/apps/v1`: the defaults are those of one type.
#[test]
fn a_daemon_set_without_a_rolling_update_has_no_default_numbers() {
    let strategy = json!({"type": "OnDelete", "rollingUpdate": {"maxSurge": 1}});
    let set = workload(&template(&json!({})), &json!({"updateStrategy": strategy}));
    let made = make(
        &mut ApiServer::default(),
        &format!("{APPS}/daemonsets"),
        &set,
    );
    let rolling = &made.body["spec"]["updateStrategy"]["rollingUpdate"];
    assert_eq!(rolling, &json!({"maxUnavailable": 0, "maxSurge": 1}));
}

/// `ValidateImmutableField` of `pkg/apis/core/validation` shows a map or a pointer that is not there as null.
#[test]
fn an_absent_value_of_an_immutable_field_is_null() {
    let server = &mut ApiServer::default();
    let classes = "/apis/storage.k8s.io/v1/storageclasses";
    let class = json!({"metadata": {"name": "x"}, "provisioner": "p", "parameters": {"a": "b"}});
    make(server, classes, &class);
    let without = json!({"metadata": {"name": "x"}});
    let mut causes = send(server, "PUT", &format!("{classes}/x"), &without).causes();
    causes.retain(|cause| cause.ends_with("field is immutable"));
    assert_eq!(
        causes,
        [
            "parameters: Invalid value: null: field is immutable",
            "provisioner: Invalid value: \"\": field is immutable"
        ]
    );
}

/// `csrStatusStrategy.PrepareForUpdate` of `pkg/registry/certificates/certificates`.
#[test]
fn a_status_without_conditions_stays_without_them() {
    let server = &mut ApiServer::default();
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let spec = json!({"request": crate::limited::OF_MASTERS, "signerName": "example.com/s", "usages": ["client auth"]});
    let object = json!({"metadata": {"name": "x"}, "spec": spec});
    let made = make(server, requests, &object);
    let same = send(server, "PUT", &format!("{requests}/x/status"), &made.body);
    assert_eq!(same.body, made.body);
}

/// `ValidatePersistentVolumeClaimUpdate` of `pkg/apis/core/validation` checks the metadata once as a change and
/// once as a whole, `ValidateRuntimeClassUpdate` of `pkg/apis/node/validation` by the rules of any kind, and
/// `cronJobStatusStrategy` of `pkg/registry/batch/cronjob` not at all; each after `rest.BeforeUpdate`.
#[test]
fn metadata_is_checked_as_often_as_the_strategy_does() {
    let label = json!({"metadata": {"labels": {"a": "bad value!"}}});
    let finalizer = json!({"metadata": {"finalizers": ["x"]}});
    let server = &mut ApiServer::default();
    let claims = format!("{CORE}/persistentvolumeclaims");
    let resources = json!({"requests": {"storage": "1Gi"}});
    let claim = json!({"metadata": {"name": "x"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": resources}});
    make(server, &claims, &claim);
    let changed = send(server, "PATCH", &format!("{claims}/x"), &label);
    assert_eq!(changed.causes().len(), 4);

    let classes = "/apis/node.k8s.io/v1/runtimeclasses";
    make(
        server,
        classes,
        &json!({"metadata": {"name": "x"}, "handler": "h"}),
    );
    change(server, &format!("{classes}/x"), &finalizer);

    let crons = "/apis/batch/v1/namespaces/default/cronjobs";
    let job = json!({"spec": {"template": template(&json!({"restartPolicy": "Never"}))}});
    let cron = json!({"metadata": {"name": "x"}, "spec": {"schedule": "* * * * *",
        "jobTemplate": job}});
    make(server, crons, &cron);
    let changed = send(server, "PATCH", &format!("{crons}/x"), &finalizer);
    assert_eq!(changed.code, 422);
    change(server, &format!("{crons}/x/status"), &finalizer);
}

/// `validatingWebhookConfigurationStrategy.PrepareForUpdate` compares by `reflect.DeepEqual`.
#[test]
fn an_empty_list_in_a_webhook_is_a_new_generation() {
    let server = &mut ApiServer::default();
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let webhook = json!({"name": "w.example.com", "clientConfig": {"url": "https://x.example.com"},
        "sideEffects": "None", "admissionReviewVersions": ["v1"]});
    let mut object = json!({"metadata": {"name": "x"}, "webhooks": [webhook]});
    let made = make(server, path, &object);
    object["metadata"]["resourceVersion"] = made.body["metadata"]["resourceVersion"].clone();
    let path = format!("{path}/x");
    let same = send(server, "PUT", &path, &object);
    assert_eq!(same.body["metadata"]["generation"], 1);
    object["webhooks"][0]["matchConditions"] = json!([]);
    let changed = send(server, "PUT", &path, &object);
    assert_eq!(changed.body["metadata"]["generation"], 2);
    assert_eq!(changed.body["webhooks"], made.body["webhooks"]);
}

/// `SetDefaults_Job` runs when a stored job is read; what the creation gave the template came later.
#[test]
fn a_job_without_labels_shows_those_of_its_template_and_the_next_write_stores_them() {
    let mut server = ApiServer::default();
    let path = "/apis/batch/v1/namespaces/default/jobs";
    let job = json!({"metadata": {"name": "j"}, "spec": {"template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}});
    let made = make(&mut server, path, &job).body;
    let labels = &made["metadata"]["labels"];
    assert_eq!(*labels, made["spec"]["template"]["metadata"]["labels"]);
    assert_eq!(labels["job-name"], "j");
    let path = format!("{path}/j");
    let again = change(&mut server, &path, &json!({})).body;
    assert_ne!(
        again["metadata"]["resourceVersion"],
        made["metadata"]["resourceVersion"]
    );
    let third = change(&mut server, &path, &json!({})).body;
    assert_eq!(
        third["metadata"]["resourceVersion"],
        again["metadata"]["resourceVersion"]
    );
}

/// `ValidateCertificateSigningRequestCreate`: `ErrorBody` writes bytes as JSON does.
#[test]
fn a_request_that_is_no_certificate_request_is_shown_as_base64() {
    let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let request = |request: &str| {
        wrong(
            path,
            &json!({"metadata": {"name": "c"}, "spec": {
            "request": request, "signerName": "a.example.com/b", "usages": ["any"]}}),
        )
    };
    assert_eq!(
        request("LS0tLS0="),
        ["spec.request: Invalid value: \"LS0tLS0=\": PEM block type must be CERTIFICATE REQUEST"]
    );
}

/// `networkPolicyStrategy.PrepareForUpdate` compares by `reflect.DeepEqual`, in which a map that is empty is not one
/// that is absent.
#[test]
fn an_empty_map_in_a_network_policy_counts_as_a_change_unless_a_default_replaces_it() {
    let mut server = ApiServer::default();
    let path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
    let policy = json!({"metadata": {"name": "n"}, "spec": {"podSelector": {}}});
    make(&mut server, path, &policy);
    let path = format!("{path}/n");
    let mut generation = |spec: Value| {
        let answer = change(&mut server, &path, &json!({ "spec": spec }));
        answer.body["metadata"]["generation"].clone()
    };
    assert_eq!(generation(json!({"podSelector": {}})), 1);
    assert_eq!(generation(json!({"policyTypes": []})), 1);
    assert_eq!(generation(json!({"podSelector": {"matchLabels": {}}})), 2);
}

/// `SetDefaults_NamespaceStatus`.
#[test]
fn a_namespace_without_a_phase_is_active() {
    let mut server = ApiServer::default();
    let path = "/api/v1/namespaces/default";
    let mut found = send(&mut server, "GET", path, &Value::Null).body;
    found["status"] = json!({});
    let answer = send(&mut server, "PUT", &format!("{path}/status"), &found);
    assert_eq!(
        (answer.code, &answer.body["status"]["phase"]),
        (200, &json!("Active"))
    );
}

/// The encoding for etcd does not tell absent bytes from empty ones.
#[test]
fn absent_bytes_in_a_map_are_stored_as_empty_ones() {
    let mut server = ApiServer::default();
    for (plural, field) in [("secrets", "data"), ("configmaps", "binaryData")] {
        let object = json!({"metadata": {"name": "x"}, field: {"a": null}});
        let answer = make(&mut server, &format!("{CORE}/{plural}"), &object);
        assert_eq!(answer.body[field], json!({"a": ""}));
    }
}

/// `nodeStatusStrategy.PrepareForUpdate`.
#[test]
fn the_status_of_a_node_gets_no_configuration() {
    let mut server = ApiServer::default();
    make(
        &mut server,
        "/api/v1/nodes",
        &json!({"metadata": {"name": "n"}}),
    );
    let status = json!({"status": {"config": {"active": {}}, "phase": "Running"}});
    let answer = change(&mut server, "/api/v1/nodes/n/status", &status);
    assert_eq!(answer.body["status"].get("config"), None);
    assert_eq!(answer.body["status"]["phase"], "Running");
}

/// `apiequality.Semantic.DeepEqual` and `json.Marshal` of a `PodTemplateSpec` of the server.
#[test]
fn a_template_that_may_not_change_is_shown_in_the_order_of_its_structs() {
    let mut server = ApiServer::default();
    let path = "/apis/batch/v1/namespaces/default/jobs";
    let job = json!({"metadata": {"name": "j"}, "spec": {
        "podFailurePolicy": {"rules": []},
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}});
    make(&mut server, path, &job);
    let path = format!("{path}/j");
    let same = json!({"spec": {"podFailurePolicy": {"rules": null}}});
    let same = change(&mut server, &path, &same).body;
    assert_eq!(same["metadata"]["generation"], 1);
    let template = json!({"metadata": {"name": "x", "annotations": {"a": "b"}}});
    let causes = send(
        &mut server,
        "PATCH",
        &path,
        &json!({"spec": {"template": template}}),
    )
    .causes();
    let shown = "spec.template: Invalid value: {\"name\":\"x\",\"labels\":{\"batch.kubernetes.io/controller-uid\":";
    assert!(
        causes.iter().any(|cause| cause.starts_with(shown)),
        "{causes:?}"
    );
    let after = "\"job-name\":\"j\"},\"annotations\":{\"a\":\"b\"},\"Spec\":{\"Volumes\":null,";
    assert!(
        causes.iter().any(|cause| cause.contains(after)),
        "{causes:?}"
    );
}

/// `scaleFromRC`: a replication controller selects by a map of labels.
#[test]
fn the_scale_of_a_replication_controller_has_its_selector() {
    let mut server = ApiServer::default();
    let path = format!("{CORE}/replicationcontrollers");
    let template = template(&json!({"containers": [{"name": "c", "image": "i"}]}));
    let labels = template["metadata"]["labels"].clone();
    let spec = json!({"selector": labels, "template": template});
    let object = json!({"metadata": {"name": "r"}, "spec": spec});
    make(&mut server, &path, &object);
    let scale = send(&mut server, "GET", &format!("{path}/r/scale"), &Value::Null);
    let (key, value) = labels.as_object().unwrap().iter().next().unwrap();
    let selector = format!("{key}={}", value.as_str().unwrap());
    assert_eq!(scale.body["status"]["selector"], selector);
}
