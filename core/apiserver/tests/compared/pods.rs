//! Pods, what is asked about them, and their templates.

use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

use super::{APPS, CORE, change, make, pod, send, template, workload, wrong};

/// `setPodNodeAndMetadata` of `pkg/registry/core/pod/storage`, and the plugin PodTopologyLabels.
#[test]
fn a_bound_pod_gets_labels_of_its_binding_and_its_node() {
    let server = &mut ApiServer::default();
    let zone = "topology.kubernetes.io/zone";
    let node = json!({"metadata": {"name": "n", "labels": {zone: "z"}}});
    make(server, "/api/v1/nodes", &node);
    let pods = format!("{CORE}/pods");
    make(server, &pods, &pod(&json!({})));
    let nominated = json!({"status": {"nominatedNodeName": "n"}});
    change(server, &format!("{pods}/x/status"), &nominated);
    let binding = json!({"target": {"kind": "Node", "name": "n"},
        "metadata": {"name": "x", "labels": {"a": "b", zone: "other"}, "annotations": {"c": "d"}}});
    make(server, &format!("{pods}/x/binding"), &binding);
    let bound = send(server, "GET", &format!("{pods}/x"), &Value::Null).body;
    assert_eq!(bound["metadata"]["labels"], json!({"a": "b", zone: "z"}));
    assert_eq!(bound["metadata"]["annotations"], json!({"c": "d"}));
    assert_eq!(bound["status"].get("nominatedNodeName"), None);
    // A pod that is made for a node gets them, too.
    let mut direct = pod(&json!({"nodeName": "n"}));
    direct["metadata"]["name"] = "direct".into();
    let direct = make(server, &pods, &direct).body;
    assert_eq!(direct["metadata"]["labels"], json!({zone: "z"}));
}

/// `checkAndDecrement` of `pkg/registry/core/pod/storage/eviction.go`.
#[test]
fn a_budget_says_why_it_allows_no_eviction() {
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let said = |healthy: i64, condition: Value| {
        let server = &mut ApiServer::default();
        let pods = format!("{CORE}/pods");
        make(server, &pods, &pod(&json!({"nodeName": "n"})));
        let running =
            json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
        change(
            server,
            &format!("{pods}/x/status"),
            &json!({"status": running}),
        );
        // An empty selector of this group selects all pods.
        let budget = json!({"metadata": {"name": "b"}, "spec": {"selector": {}}});
        make(server, budgets, &budget);
        let condition = json!([{"type": "DisruptionAllowed", "reason": "R",
            "lastTransitionTime": "2026-01-01T00:00:00Z", "status": condition["status"],
            "message": condition["message"]}]);
        let status = json!({"observedGeneration": 1, "disruptionsAllowed": 0,
            "currentHealthy": healthy, "desiredHealthy": 2, "expectedPods": 2,
            "conditions": condition});
        change(
            server,
            &format!("{budgets}/b/status"),
            &json!({"status": status}),
        );
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction",
            "metadata": {"name": "x"}});
        let refused = send(server, "POST", &format!("{pods}/x/eviction"), &eviction);
        assert_eq!(refused.code, 429);
        refused.body["details"]["causes"][0]["message"].clone()
    };
    let (of, full) = (
        |status, message| json!({"status": status, "message": message}),
        3,
    );
    let start = "The disruption budget b does not allow evicting pods currently";
    assert_eq!(
        said(2, of("False", "m")),
        "The disruption budget b needs 2 healthy pods and has 2 currently"
    );
    assert_eq!(said(full, of("False", "m")), format!("{start} (R): m"));
    assert_eq!(said(full, of("False", "")), start);
    assert_eq!(said(full, of("True", "m")), start);
}

/// `TokenREST.Create` of `pkg/registry/core/serviceaccount/storage/token.go`.
#[test]
fn a_token_for_another_account_of_the_name_is_refused() {
    let server = &mut ApiServer::default();
    let accounts = format!("{CORE}/serviceaccounts");
    make(server, &accounts, &json!({"metadata": {"name": "a"}}));
    let request = json!({"metadata": {"uid": "u"}, "spec": {"audiences": ["x"]}});
    let refused = send(server, "POST", &format!("{accounts}/a/token"), &request);
    assert_eq!(refused.code, 409);
    let begin = "the UID in the token request (u) does not match";
    assert!(refused.message().contains(begin), "{}", refused.message());
}

/// `ValidatePodSpec` of `pkg/apis/core/validation`.
#[test]
fn the_runtime_class_of_a_template_is_not_empty() {
    let set = workload(&template(&json!({"runtimeClassName": ""})), &json!({}));
    let causes = wrong(&format!("{APPS}/deployments"), &set);
    let begin = "spec.template.spec.runtimeClassName: Invalid value: \"\": a lowercase RFC 1123";
    assert!(
        matches!(&causes[..], [one] if one.starts_with(begin)),
        "{causes:?}"
    );
}

/// `RuntimeClass.prepareObjects` of `plugin/pkg/admission/runtimeclass`.
#[test]
fn a_runtime_class_without_a_name_cannot_be_asked_for() {
    let pod = pod(&json!({"runtimeClassName": ""}));
    let server = &mut ApiServer::default();
    let refused = send(server, "POST", &format!("{CORE}/pods"), &pod);
    assert_eq!(refused.code, 500);
    assert_eq!(refused.message(), "resource name may not be empty");
    assert_eq!(refused.body.get("reason"), None);
}

/// `MergeTolerations` of `pkg/util/tolerations`.
#[test]
fn a_runtime_class_widens_tolerations() {
    let server = &mut ApiServer::default();
    let wide = json!({"key": "a", "operator": "Exists"});
    let class = json!({"metadata": {"name": "r"}, "handler": "h",
        "scheduling": {"tolerations": [wide]}});
    make(server, "/apis/node.k8s.io/v1/runtimeclasses", &class);
    let narrow = json!({"key": "a", "operator": "Equal", "value": "v", "effect": "NoSchedule"});
    let other = json!({"key": "b", "operator": "Exists", "effect": "NoSchedule"});
    let pod = pod(&json!({"runtimeClassName": "r", "tolerations": [narrow, other]}));
    let made = make(server, &format!("{CORE}/pods"), &pod).body;
    let tolerations = made["spec"]["tolerations"].as_array().unwrap();
    assert!(!tolerations.contains(&narrow));
    assert_eq!(tolerations[0], other);
    assert_eq!(tolerations.last(), Some(&wide));
}

/// `ValidatePodResize` and `ValidatePodEphemeralContainersUpdate` of `pkg/apis/core/validation`.
#[test]
fn parts_of_a_pod_that_may_not_change_are_named() {
    let server = &mut ApiServer::default();
    let pods = format!("{CORE}/pods");
    make(server, &pods, &pod(&json!({})));
    let path = format!("{pods}/x");
    let container =
        |image: &str| json!({"spec": {"ephemeralContainers": [{"name": "e", "image": image}]}});
    let debug = format!("{path}/ephemeralcontainers");
    change(server, &debug, &container("a"));
    let causes = send(server, "PATCH", &debug, &container("b")).causes();
    assert!(
        causes[0].contains("\"e\" may not be changed\n"),
        "{causes:?}"
    );
    assert!(
        causes[0].contains("\n- \"Image\": \"a\",\n+ \"Image\": \"b\",\n"),
        "{causes:?}"
    );
    let limits = json!({"cpu": "1", "example.com/x": "1"});
    let resources = json!({"limits": limits, "requests": limits});
    let containers = json!([{"name": "c", "image": "i", "resources": resources}]);
    let causes = send(
        server,
        "PATCH",
        &format!("{path}/resize"),
        &json!({"spec": {"containers": containers}}),
    );
    let causes = causes.causes();
    let last = "spec: Forbidden: only cpu and memory resources are mutable";
    assert_eq!(causes.last().map(String::as_str), Some(last), "{causes:?}");
}

/// `daemonSetStrategy`, `rcStrategy` and `statefulSetStrategy`.
#[test]
fn an_update_warns_of_the_template_that_the_strategy_looks_at() {
    let server = &mut ApiServer::default();
    let old = json!({"nodeSelector": {"beta.kubernetes.io/os": "linux"}});
    let set = workload(&template(&old), &json!({}));
    let sets = format!("{APPS}/daemonsets");
    assert_eq!(make(server, &sets, &set).warnings.len(), 1);
    let path = format!("{sets}/x");
    let spec = json!({"spec": {"minReadySeconds": 1}});
    assert_eq!(change(server, &path, &spec).warnings, [""; 0]);
    // A ReplicationController warns of the template that it had.
    let controllers = format!("{CORE}/replicationcontrollers");
    let mut controller = workload(&template(&old), &json!({}));
    controller["spec"]["selector"] = json!({"app": "x"});
    assert_eq!(make(server, &controllers, &controller).warnings.len(), 1);
    let path = format!("{controllers}/x");
    let mended = json!({"spec": {"template": {"spec": {"nodeSelector": null}}}});
    let warnings = change(server, &path, &mended).warnings;
    assert_eq!(
        warnings,
        [
            "spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \
             \"kubernetes.io/os\" instead"
        ]
    );
}

/// `applyAppArmorVersionSkew` of `pkg/registry/core/pod`.
#[test]
fn an_annotation_for_app_armor_becomes_the_profile_of_its_container() {
    let server = &mut ApiServer::default();
    let annotation = "container.apparmor.security.beta.kubernetes.io/c";
    let mut pod = pod(&json!({}));
    pod["metadata"]["annotations"] = json!({annotation: "localhost/p"});
    let made = make(server, &format!("{CORE}/pods"), &pod);
    assert_eq!(
        made.warnings,
        [format!(
            "metadata.annotations[{annotation}]: deprecated since v1.30; use the \
             \"appArmorProfile\" field instead"
        )]
    );
    let context = &made.body["spec"]["containers"][0]["securityContext"];
    let profile = json!({"type": "Localhost", "localhostProfile": "p"});
    assert_eq!(context["appArmorProfile"], profile);
}

/// `validatePodResourceClaimStatuses` and `validatePodExtendedResourceClaimStatus` of
/// `pkg/apis/core/validation`.
#[test]
fn a_status_names_the_claims_of_its_pod() {
    let server = &mut ApiServer::default();
    let pods = format!("{CORE}/pods");
    let requests = json!({"example.com/gpu": "1"});
    let container = json!({"name": "c", "image": "i",
        "resources": {"requests": requests, "limits": requests}});
    let claims = json!([{"name": "gpu", "resourceClaimTemplateName": "t"}]);
    let spec = json!({"containers": [container], "resourceClaims": claims});
    make(server, &pods, &pod(&spec));
    let path = format!("{pods}/x/status");
    let none = json!({"name": "none", "resourceClaimName": "Bad"});
    let gpu = json!({"name": "gpu"});
    let mapping = |container: &str, resource: &str| json!({"containerName": container, "resourceName": resource, "requestName": "r"});
    let fine = mapping("c", "example.com/gpu");
    let extended = json!({"resourceClaimName": "", "requestMappings":
        [mapping("d", "e"), mapping("c", "e"), fine, fine]});
    let status = json!({"resourceClaimStatuses": [none, gpu],
        "extendedResourceClaimStatus": extended});
    let causes = send(server, "PATCH", &path, &json!({"status": status})).causes();
    let begins = [
        "status.extendedResourceClaimStatus.requestMappings[0].containerName: Invalid value: \"d\": must",
        "status.extendedResourceClaimStatus.requestMappings[1].resourceName: Invalid value: \"e\": must",
        "status.extendedResourceClaimStatus.requestMappings[3].containerName: Duplicate value: \"c\"",
        "status.extendedResourceClaimStatus.requestMappings[3].resourceName: Duplicate value",
        "status.extendedResourceClaimStatus.requestMappings[3].requestName: Duplicate value: \"r\"",
        "status.extendedResourceClaimStatus.resourceClaimName: Required value",
        "status.resourceClaimStatuses[0].name: Invalid value: \"none\": must match the name of an entry",
        "status.resourceClaimStatuses[0].resourceClaimName: Invalid value: \"Bad\": a lowercase",
    ];
    assert_eq!(causes.len(), begins.len(), "{causes:?}");
    for begin in begins {
        let said = causes.iter().any(|cause| cause.starts_with(begin));
        assert!(said, "{begin}: {causes:?}");
    }
    let status = json!({"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "x-gpu"}],
        "nodeAllocatableResourceClaimStatuses": [{"resourceClaimName": "x-gpu"}]});
    let written = change(server, &path, &json!({"status": status})).body;
    let dropped = written["status"].get("nodeAllocatableResourceClaimStatuses");
    assert_eq!(dropped, None);
}

/// `validateContainerStatusAllocatedResourcesStatus` of `pkg/apis/core/validation`.
#[test]
fn the_devices_of_a_container_are_among_those_that_it_asked_for() {
    let server = &mut ApiServer::default();
    let pods = format!("{CORE}/pods");
    let resources = json!({"claims": [{"name": "gpu", "request": "one"}]});
    let container = json!({"name": "c", "image": "i", "resources": resources});
    let claims = json!([{"name": "gpu", "resourceClaimTemplateName": "t"}]);
    let spec = json!({"containers": [container], "resourceClaims": claims});
    make(server, &pods, &pod(&spec));
    let path = format!("{pods}/x/status");
    let status = |name: &str, health: &str| {
        let device = json!({"resourceID": "a", "health": health});
        let allocated = json!([{"name": name, "resources": [device]}]);
        let container = json!({"name": "c", "ready": true, "restartCount": 0, "image": "i",
            "imageID": "", "allocatedResourcesStatus": allocated});
        json!({"status": {"containerStatuses": [container]}})
    };
    change(server, &path, &status("claim:gpu/one", "Healthy"));
    let field = "status.containerStatuses[0].allocatedResourcesStatus[0]";
    assert_eq!(
        send(server, "PATCH", &path, &status("claim:gpu", "Ill")).causes(),
        [
            format!(
                "{field}.name: Invalid value: \"claim:gpu\": must match one of the container's \
                 resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if \
                 request is empty"
            ),
            format!(
                "{field}.resources[0].health: Unsupported value: \"Ill\": supported values: \
                 \"Healthy\", \"Unhealthy\", \"Unknown\""
            ),
        ]
    );
}

/// `validateOS`, `validatePodResources` and `validatePodDNSConfig`.
#[test]
fn a_pod_names_its_system_its_claims_and_where_its_names_are_looked_up() {
    let mut odd = pod(&json!({}));
    odd["spec"]["os"] = json!({});
    odd["spec"]["resources"] = json!({"claims": [{"name": "a"}]});
    odd["spec"]["dnsConfig"] = json!({"searches": ["A"]});
    let causes = wrong(&format!("{CORE}/pods"), &odd);
    for cause in [
        "spec.os.name: Required value",
        "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level",
        "spec.resources.claims[0]: Not found: \"a\": must be one of the names in \
         pod.spec.resourceClaims which is empty",
    ] {
        assert!(
            causes.iter().any(|found| found == cause),
            "{cause}: {causes:?}"
        );
    }
    let searches = "characters, '_', '-' or '.', and must start and end";
    assert!(
        causes.iter().any(|found| found.contains(searches)),
        "{causes:?}"
    );
}

/// `validatePodResources`: the server tells an empty list from an absent one as long as it holds the object.
#[test]
fn a_new_pod_has_no_claims_of_its_own_not_even_none() {
    let empty = pod(&json!({"resources": {"claims": []}}));
    assert_eq!(
        wrong(&format!("{CORE}/pods"), &empty),
        ["spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level"]
    );
}
