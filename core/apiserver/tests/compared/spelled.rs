//! Numbers whose text matters, and objects of another version or kind than that of the path.

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

use super::{APPS, CORE, make};

const AUTOSCALERS: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

fn send(
    server: &mut ApiServer,
    method: &str,
    path: &str,
    media: &str,
    body: &str,
) -> (u16, Value, usize) {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", format!("application/{media}"));
    let answer = server.handle(request.body(body.as_bytes().to_vec()).unwrap());
    let warnings = answer.headers().get_all("warning").iter().count();
    let body = serde_json::from_slice(answer.body()).unwrap();
    (answer.status().as_u16(), body, warnings)
}

/// A server with a PodDisruptionBudget `x`.
fn with_budget() -> ApiServer {
    let mut server = ApiServer::default();
    let budget = json!({"metadata": {"name": "x"}, "spec": {}});
    make(&mut server, BUDGETS, &budget);
    server
}

/// What a message says after the object that it shows.
fn said(answer: &Value) -> &str {
    let message = answer["message"].as_str().unwrap_or_default();
    message
        .rsplit_once("}\": ")
        .map_or(message, |(_, said)| said)
}

/// `literalStore` of `sigs.k8s.io/json`, and `UnmarshalJSON` of `IntOrString`.
#[test]
fn an_error_shows_a_number_as_the_body_spells_it() {
    let server = &mut with_budget();
    for number in ["1e2", "1.50", "99999999999999999999", "-1E+2", "1.0"] {
        let body = format!(r#"{{"metadata": {{"name": "y"}}, "spec": {{"replicas": {number}}}}}"#);
        let path = format!("{APPS}/deployments");
        let (code, answer, _) = send(server, "POST", &path, "json", &body);
        let expected = format!(
            "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal \
             number {number} into Go struct field DeploymentSpec.spec.replicas of type int32"
        );
        assert_eq!((code, said(&answer)), (400, expected.as_str()));

        let patch = format!(r#"{{"spec": {{"minAvailable": {number}}}}}"#);
        let path = format!("{BUDGETS}/x");
        let (code, answer, _) = send(server, "PATCH", &path, "merge-patch+json", &patch);
        let expected = format!(
            "json: cannot unmarshal number {number} into Go struct field \
             PodDisruptionBudgetSpec.spec.minAvailable of type int32"
        );
        assert_eq!((code, said(&answer)), (422, expected.as_str()));
    }
    // YAML becomes JSON as Go writes it.
    let body = "metadata: {name: web}\nspec: {replicas: 99999999999999999999}";
    let (_, answer, _) = send(server, "POST", &format!("{APPS}/deployments"), "yaml", body);
    let expected = "cannot unmarshal number 100000000000000000000 into";
    assert!(said(&answer).contains(expected), "{answer}");
}

/// `UnmarshalJSON` of `Quantity` reads the text of a number, whose form stays.
#[test]
fn a_quantity_has_the_form_in_which_its_number_is_spelled() {
    for (number, quantity) in [
        ("5e-2", "50e-3"),
        ("1e3", "1e3"),
        ("1.5E9", "1500e6"),
        ("1.50", "1500m"),
        ("12345678901234567", "12345678901234567"),
    ] {
        let body = format!(
            r#"{{"metadata": {{"name": "x"}}, "spec": {{"accessModes": ["ReadWriteOnce"],
                "resources": {{"requests": {{"storage": {number}}}}}}}}}"#
        );
        let path = format!("{CORE}/persistentvolumeclaims");
        let (code, answer, _) = send(&mut ApiServer::default(), "POST", &path, "json", &body);
        assert_eq!(code, 201, "{answer}");
        assert_eq!(answer["spec"]["resources"]["requests"]["storage"], quantity);
    }
}

/// `fromUnstructured` of `apimachinery/pkg/runtime`: a type that reads its own JSON gets what Go writes, and a
/// float that is no integer of 64 bits becomes the smallest, of which an integer of 32 bits keeps the lower half.
#[test]
fn a_strategic_merge_patch_converts_floats_as_go_does() {
    let server = &mut with_budget();
    let media = "strategic-merge-patch+json";
    let mut set = |number: &str| {
        let patch = format!(r#"{{"spec": {{"minAvailable": {number}}}}}"#);
        send(server, "PATCH", &format!("{BUDGETS}/x"), media, &patch)
    };
    let (code, answer, _) = set("1e2");
    assert_eq!((code, &answer["spec"]["minAvailable"]), (200, &json!(100)));
    let (code, answer, _) = set("1e20");
    let expected = "cannot unmarshal number 100000000000000000000 into Go value of type int32";
    assert_eq!(code, 422);
    assert!(said(&answer).ends_with(expected), "{answer}");

    let scale = |number: &str| {
        let mut server = ApiServer::default();
        let template = json!({"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
        let path = format!("{APPS}/deployments");
        make(
            &mut server,
            &path,
            &json!({"metadata": {"name": "x"}, "spec": spec}),
        );
        let patch = format!(r#"{{"spec": {{"replicas": {number}}}}}"#);
        send(&mut server, "PATCH", &format!("{path}/x"), media, &patch).1["spec"]["replicas"]
            .clone()
    };
    assert_eq!(scale("99999999999999999999"), 0);
    assert_eq!(scale("4294967298.0"), 2);
}

/// `Decode` of `serializer/versioning` decodes into the type of the document, and then converts.
#[test]
fn an_object_of_another_kind_is_decoded_before_it_is_found_not_to_convert() {
    let server = &mut ApiServer::default();
    let config_map = r#"{"apiVersion": "v1", "kind": "ConfigMap", "data": 3}"#;
    let (code, answer, _) = send(server, "POST", AUTOSCALERS, "json", config_map);
    let expected = "ConfigMap in version \"v1\" cannot be handled as a HorizontalPodAutoscaler: json: \
                    cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string";
    assert_eq!((code, said(&answer)), (400, expected));
    let older = r#"{"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
        "spec": {"maxReplicas": "x"}}"#;
    let (code, answer, _) = send(server, "POST", AUTOSCALERS, "json", older);
    let expected = "HorizontalPodAutoscaler in version \"v1\" cannot be handled as a \
                    HorizontalPodAutoscaler: json: cannot unmarshal string into Go struct field \
                    HorizontalPodAutoscalerSpec.spec.maxReplicas of type int32";
    assert_eq!((code, said(&answer)), (400, expected));
}

/// The result of a patch is an object of the version that it names, which knows other fields.
#[test]
fn a_patch_of_the_version_loses_what_that_version_does_not_have() {
    let server = &mut ApiServer::default();
    let target = json!({"type": "Utilization", "averageUtilization": 10});
    let metric = json!({"type": "Resource", "resource": {"name": "memory", "target": target}});
    let scaled = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
    let spec = json!({"maxReplicas": 3, "scaleTargetRef": scaled, "metrics": [metric]});
    make(
        server,
        AUTOSCALERS,
        &json!({"metadata": {"name": "x"}, "spec": spec}),
    );
    let path = format!("{AUTOSCALERS}/x");
    let patch = r#"{"apiVersion": "autoscaling/v1"}"#;
    let (code, answer, warnings) = send(server, "PATCH", &path, "merge-patch+json", patch);
    // `spec.metrics` and `status.currentMetrics`.
    assert_eq!((code, warnings), (200, 2), "{answer}");
    assert_eq!(answer["apiVersion"], "autoscaling/v2");
    assert_eq!(answer["spec"]["metrics"][0]["resource"]["name"], "cpu");
    let patch = r#"{"apiVersion": "v1", "kind": "ConfigMap", "data": 3}"#;
    let (_, answer, _) = send(server, "PATCH", &path, "merge-patch+json", patch);
    let expected = "json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string";
    assert_eq!(said(&answer), expected);
}

/// `literalStore` and `convertNumber` of `sigs.k8s.io/json`: only where a number is stored it must fit.
#[test]
fn a_number_that_no_float_holds_is_refused_where_it_is_read() {
    let mut server = with_budget();
    let budgets = |name: &str| format!("{BUDGETS}/{name}");
    let mut message = |method: &str, path: &str, media: &str, body: &str| {
        let (code, answer, _) = send(&mut server, method, path, media, body);
        (code, said(&answer).to_owned())
    };
    let refused = |text: &str| {
        (
            400,
            format!("json: cannot unmarshal number 1e999 into {text}"),
        )
    };
    let path = format!("{APPS}/deployments");
    let body = r#"{"metadata": {"name": "d"}, "spec": {"replicas": 1e999}}"#;
    let (code, text) = message("POST", &path, "json", body);
    assert_eq!(code, 400);
    let field = "Go struct field DeploymentSpec.spec.replicas of type int32";
    assert!(text.ends_with(&refused(field).1), "{text}");
    // An unknown field is passed over.
    let body = r#"{"metadata": {"name": "c"}, "bogus": [1e999]}"#;
    assert_eq!(
        message("POST", &format!("{CORE}/configmaps"), "json", body).0,
        201
    );
    let float = "Go value of type float64";
    let body = r#"{"spec": {"minAvailable": 1e999}}"#;
    for (media, expected) in [
        (
            "merge-patch+json",
            (400, format!("error decoding patch: {}", refused(float).1)),
        ),
        ("strategic-merge-patch+json", refused(float)),
    ] {
        assert_eq!(message("PATCH", &budgets("x"), media, body), expected);
    }
    let body = r#"[{"op": "add", "path": "/spec/minAvailable", "value": {"a": 1e999}}]"#;
    let field = "Go struct field jsonPatchOp.value of type float64";
    assert_eq!(
        message("PATCH", &budgets("x"), "json-patch+json", body),
        (400, format!("error decoding patch: {}", refused(field).1))
    );
    let lenient = format!("{}?fieldValidation=Ignore", budgets("x"));
    let body = r#"[{"op": "add", "path": "/spec/minAvailable", "value": 1e999}]"#;
    assert_eq!(
        message("PATCH", &lenient, "json-patch+json", body),
        (
            422,
            refused("Go struct field PodDisruptionBudgetSpec.spec.minAvailable of type int32").1
        )
    );
    let body = r#"{"gracePeriodSeconds": 1e999}"#;
    let field = "Go struct field DeleteOptions.gracePeriodSeconds of type int64";
    assert_eq!(
        message("DELETE", &budgets("x"), "json", body),
        refused(field)
    );
}
