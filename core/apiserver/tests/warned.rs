//! Warnings by kinds that the recordings of a real server do not show, by its source (v1.36).

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

/// The texts of the warnings for a new object, which is accepted.
fn warned(path: &str, object: &Value) -> Vec<String> {
    let request = Request::builder().method("POST").uri(path);
    let request = request.body(object.to_string().into_bytes()).unwrap();
    let answer = ApiServer::default().handle(request);
    let body = String::from_utf8_lossy(answer.body());
    assert_eq!(answer.status(), 201, "{body}");
    let headers = answer.headers().get_all("warning").iter();
    let texts = headers.map(|warning| {
        let warning = warning.to_str().unwrap();
        let quoted = warning.strip_prefix("299 - ").unwrap();
        serde_json::from_str(quoted).unwrap()
    });
    texts.collect()
}

fn of_spec(path: &str, spec: &Value) -> Vec<String> {
    warned(path, &json!({"metadata": {"name": "x"}, "spec": spec}))
}

#[test]
fn a_job_with_very_many_indexes_at_once_is_warned_of() {
    let job = |parallelism: i64| {
        json!({
            "completionMode": "Indexed", "completions": 200_000, "parallelism": parallelism,
            "template": {"spec": {"restartPolicy": "Never",
                "containers": [{"name": "c", "image": "i"}]}},
        })
    };
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    assert_eq!(of_spec(jobs, &job(10_000)), [""; 0]);
    let many = of_spec(jobs, &job(10_001));
    assert!(matches!(&many[..], [one] if one.starts_with("spec: In Indexed Jobs")));
    let template = json!({"spec": job(10_001)});
    let spec = json!({"schedule": "@daily", "jobTemplate": template});
    let many = of_spec("/apis/batch/v1/namespaces/default/cronjobs", &spec);
    assert!(matches!(&many[..], [one] if one.starts_with("spec.jobTemplate.spec: In Indexed")));
}

#[test]
fn labels_of_nodes_that_were_renamed_are_warned_of() {
    let rule = json!({"key": "failure-domain.beta.kubernetes.io/zone", "values": ["a"]});
    let class = json!({"metadata": {"name": "x"}, "provisioner": "example.com/p",
        "allowedTopologies": [{"matchLabelExpressions": [rule]}]});
    assert_eq!(
        warned("/apis/storage.k8s.io/v1/storageclasses", &class),
        [
            "allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use \
            \"topology.kubernetes.io/zone\" instead"
        ]
    );
    let class = json!({"metadata": {"name": "x"}, "handler": "h",
        "scheduling": {"nodeSelector": {"beta.kubernetes.io/os": "linux"}}});
    assert_eq!(
        warned("/apis/node.k8s.io/v1/runtimeclasses", &class),
        ["scheduling.nodeSelector: deprecated since v1.14; use \"kubernetes.io/os\" instead"]
    );
}

#[test]
fn addresses_in_a_form_that_is_not_canonical_are_warned_of() {
    let spec =
        json!({"podSelector": {}, "egress": [{"to": [{"ipBlock": {"cidr": "2001:db8:0::/64"}}]}]});
    assert_eq!(
        of_spec(
            "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
            &spec
        ),
        [
            "spec.egress[0].to[0].ipBlock.cidr: IPv6 CIDR value \"2001:db8:0::/64\" should be in RFC \
             5952 canonical format (\"2001:db8::/64\")"
        ]
    );
    let endpoints = |labels: Value| {
        json!({"metadata": {"name": "x", "labels": labels},
            "subsets": [{"notReadyAddresses": [{"ip": "2001:DB8::1"}], "ports": [{"port": 80}]}]})
    };
    let path = "/api/v1/namespaces/default/endpoints";
    let warnings = warned(path, &endpoints(json!({})));
    assert_eq!(
        warnings[1..],
        [
            "subsets[0].notReadyAddresses[0].ip: IPv6 address \"2001:DB8::1\" should be in RFC 5952 \
             canonical format (\"2001:db8::1\")"
        ]
    );
    let label = json!({"endpoints.kubernetes.io/managed-by": "endpoint-controller"});
    assert_eq!(warned(path, &endpoints(label)).len(), 1);
}

#[test]
fn old_fields_of_nodes_and_parts_of_bytes_are_warned_of() {
    assert_eq!(
        of_spec("/api/v1/nodes", &json!({"externalID": "x"})),
        ["spec.externalID: this field is deprecated, and is unused by Kubernetes"]
    );
    let resources = json!({"requests": {"storage": "1Gi"}, "limits": {"storage": "1.5"}});
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": resources});
    assert_eq!(
        of_spec("/api/v1/namespaces/default/persistentvolumeclaims", &spec),
        [
            "spec.resources.limits[storage]: fractional byte value \"1500m\" is invalid, must be an \
            integer"
        ]
    );
}
