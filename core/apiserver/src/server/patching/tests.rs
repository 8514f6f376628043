use http::Request;
use serde_json::{Value, json};

use super::{APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH};
use crate::server::ApiServer;

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments";

fn server() -> ApiServer {
    let mut server = ApiServer::default();
    let deployment = json!({
        "metadata": {"name": "web", "labels": {"a": "1"}, "finalizers": ["example.com/f"]},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "app", "image": "app:1"}]},
            },
        },
    });
    let request = Request::post(DEPLOYMENT)
        .header("content-type", "application/json")
        .body(deployment.to_string().into_bytes());
    assert_eq!(server.handle(request.unwrap()).status(), 201);
    server
}

/// The status, the answer and the warnings.
fn send(
    server: &mut ApiServer,
    media: &str,
    query: &str,
    body: &[u8],
) -> (u16, Value, Vec<String>) {
    let request = Request::patch(format!("{DEPLOYMENT}/web?{query}"))
        .header("content-type", media)
        .body(body.to_vec());
    let response = server.handle(request.unwrap());
    let warnings = response.headers().get_all("warning");
    let warnings = warnings
        .iter()
        .map(|value| value.to_str().unwrap().to_owned())
        .collect();
    let answer = serde_json::from_slice(response.body()).unwrap();
    (response.status().as_u16(), answer, warnings)
}

fn said(media: &str, query: &str, body: &str) -> (u16, String) {
    let (code, answer, _) = send(&mut server(), media, query, body.as_bytes());
    let message = answer["message"].as_str().unwrap_or_default();
    (code, message.to_owned())
}

#[test]
fn a_type_is_accepted_with_parameters_and_others_are_not_routed() {
    let replicas = r#"{"spec": {"replicas": 2}}"#;
    let with_charset = format!("{MERGE_PATCH}; charset=utf-8");
    assert_eq!(said(&with_charset, "", replicas).0, 200);
    for media in ["application/json", "text/plain", ""] {
        let expected = (415, "415: Unsupported Media Type".to_owned());
        assert_eq!(said(media, "", replicas), expected, "{media}");
    }
}

#[test]
fn each_type_tells_of_a_body_that_is_no_patch_in_its_own_way() {
    for (media, query, body, message) in [
        (MERGE_PATCH, "", "null", "Invalid JSON Patch"),
        (
            MERGE_PATCH,
            "",
            "[]",
            "error decoding patch: json: cannot unmarshal array into Go value of type \
             map[string]interface {}",
        ),
        (
            MERGE_PATCH,
            "fieldValidation=Ignore",
            "{",
            "Invalid JSON Patch",
        ),
        (
            MERGE_PATCH,
            "fieldValidation=Ignore",
            "1",
            "Invalid JSON Patch",
        ),
        (
            JSON_PATCH,
            "fieldValidation=Ignore",
            "{}",
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        ),
        (
            STRATEGIC_MERGE_PATCH,
            "",
            "{",
            "unexpected end of JSON input",
        ),
        (
            APPLY,
            "fieldManager=m",
            "5",
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot \
             unmarshal number into Go value of type map[string]interface {}",
        ),
    ] {
        assert_eq!(
            said(media, query, body),
            (400, message.to_owned()),
            "{body}"
        );
    }
    assert_eq!(said(JSON_PATCH, "", "null").0, 200);
    assert_eq!(said(STRATEGIC_MERGE_PATCH, "", "null").0, 200);
}

#[test]
fn a_json_patch_has_so_many_operations_and_no_more() {
    let test = r#"{"op": "test", "path": "/spec/replicas", "value": 1}"#;
    let patch = |n: usize| format!("[{}]", vec![test; n].join(","));
    assert_eq!(said(JSON_PATCH, "", &patch(10_000)).0, 200);
    let message = "Request entity too large: The allowed maximum operations in a JSON patch is \
                   10000, got 10001";
    let refused = (413, message.to_owned());
    assert_eq!(said(JSON_PATCH, "", &patch(10_001)), refused);
}

#[test]
fn complaints_of_the_patch_come_before_those_of_its_result() {
    let patch = r#"[{"op": "add", "path": "/spec/bogus", "value": 1, "extra": 2}]"#;
    let (code, _, warnings) = send(&mut server(), JSON_PATCH, "", patch.as_bytes());
    assert_eq!(code, 200);
    assert_eq!(
        warnings,
        [
            r#"299 - "json patch unknown field \"[0].extra\"""#,
            r#"299 - "unknown field \"spec.bogus\"""#
        ]
    );
    let (code, message) = said(JSON_PATCH, "fieldValidation=Strict", patch);
    assert_eq!(code, 422);
    let end = "strict decoding error: json patch unknown field \"[0].extra\", \
               unknown field \"spec.bogus\"";
    assert!(message.ends_with(end), "{message}");
}

#[test]
fn a_strategic_patch_is_shown_as_what_is_left_of_it() {
    let patch = r#"{"spec": {"template": {"spec": {
        "$setElementOrder/containers": [{"name": "app"}],
        "containers": [{"name": "app", "image": "app:2"}], "bogus": 1}}}}"#;
    let (code, message) = said(STRATEGIC_MERGE_PATCH, "fieldValidation=Strict", patch);
    let expected = " \"\" is invalid: patch: Invalid value: \
                    \"map[spec:map[template:map[spec:map[bogus:1]]]]\": strict decoding error: \
                    unknown field \"spec.template.spec.bogus\"";
    assert_eq!((code, message), (422, expected.to_owned()));
}

#[test]
fn a_result_that_is_refused_is_shown_in_the_order_in_which_the_patch_left_it() {
    // Recorded: `json_patch_ops`, `merge_patch_deployment`, lease-1012.
    let entry = r#"\"managedFields\":[{\"manager\":\"unknown\",\"operation\":\"Update\",\"apiVersion\":\"apps/v1\",\"time\":\""#;
    let shown = |media, patch| {
        let (code, message) = said(media, "", patch);
        assert_eq!(code, 422, "{message}");
        assert!(message.contains(entry), "{message}");
        message
    };
    // What no patch opens is in the order of the struct, and what it opens is sorted.
    let as_stored = r#"\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\",\"namespace\":\"default\",\"uid\""#;
    let opened = r#"\"metadata\":{\"creationTimestamp\""#;
    let from_patch = r#"\"labels\":{\"b\":{\"z\":1,\"y\":2}}"#;
    let sorted = r#"\"labels\":{\"a\":\"1\",\"b\":{\"y\":2,\"z\":1}}"#;
    for (media, patch, part) in [
        (MERGE_PATCH, r#"{"spec": {"replicas": "x"}}"#, as_stored),
        (
            JSON_PATCH,
            r#"[{"op": "add", "path": "/spec/replicas", "value": "x"}]"#,
            as_stored,
        ),
        (
            MERGE_PATCH,
            r#"{"metadata": {"labels": {"b": {"z": 1, "y": 2}}}}"#,
            opened,
        ),
        (
            MERGE_PATCH,
            r#"{"metadata": {"labels": {"b": {"z": 1, "y": 2}}}}"#,
            sorted,
        ),
        (
            JSON_PATCH,
            r#"[{"op": "replace", "path": "/metadata/labels", "value": {"b": {"z": 1, "y": 2}}}]"#,
            from_patch,
        ),
        (
            JSON_PATCH,
            r#"[{"op": "test", "path": "/metadata/labels", "value": {"a": "1"}},
                {"op": "copy", "from": "/metadata", "path": "/metadata/labels/x"}]"#,
            r#"\"labels\":{\"a\":\"1\",\"x\":{\"creationTimestamp\""#,
        ),
    ] {
        let message = shown(media, patch);
        assert!(message.contains(part), "{patch}: {message}");
    }
}

#[test]
fn a_result_without_a_version_has_nothing_in_it() {
    let (code, message) = said(MERGE_PATCH, "", r#"{"apiVersion": null}"#);
    assert_eq!(code, 400);
    assert!(message.contains("undeterminable"), "{message}");
    assert_eq!(said(MERGE_PATCH, "", r#"{"kind": null}"#).0, 200);
}

#[test]
fn no_body_however_odd_is_too_odd() {
    let deep = "{\"a\":".repeat(100) + "1" + &"}".repeat(100);
    let deeper = "[".repeat(100_000);
    let long = format!("[{}]", vec!["null"; 50_000].join(","));
    let bodies = [
        "",
        " ",
        "null",
        "[null]",
        "[{}]",
        "{}",
        "1e999",
        "\"\\ud800\"",
        r#"[{"op": "add", "path": "", "value": 1}]"#,
        r#"[{"op": "replace", "path": ""}]"#,
        r#"[{"op": "replace", "path": "", "value": null}]"#,
        r#"[{"op": "replace", "path": "", "value": []}, {"op": "add", "path": "/-", "value": 1}]"#,
        r#"[{"op": "remove", "path": "/spec/template/spec/containers/-9223372036854775808"}]"#,
        r#"[{"op": "add", "path": "/spec/template/spec/containers/99999999999", "value": 1}]"#,
        r#"[{"op": "move", "from": "/spec", "path": "/spec/x"}]"#,
        r#"[{"op": "remove", "path": "/metadata"}]"#,
        r#"[{"op": "test", "path": ""}]"#,
        r#"{"$patch": 5}"#,
        r#"{"$retainKeys": [[1]]}"#,
        r#"{"$retainKeys": []}"#,
        r#"{"metadata": {"$setElementOrder/finalizers": [{}, 1, null]}}"#,
        r#"{"metadata": {"$setElementOrder/": []}}"#,
        r#"{"metadata": {"$deleteFromPrimitiveList/": [1]}}"#,
        r#"{"metadata": {"$deleteFromPrimitiveList": [1]}}"#,
        r#"{"metadata": {"$deleteFromPrimitiveList/labels": {"a": 1}}}"#,
        r#"{"metadata": {"finalizers": [null, {}, []]}}"#,
        r#"{"metadata": {"finalizers": [{}]}}"#,
        r#"{"metadata": 5, "spec": [], "status": "x"}"#,
        r#"{"metadata": {"creationTimestamp": {}, "generation": 1e300, "managedFields": {}}}"#,
        r#"{"spec": {"template": {"spec": {"containers": [{"name": {}}, {"name": {}}]}}}}"#,
        r#"{"spec": {"template": {"spec": {"containers": [{"name": null, "$patch": "delete"}]}}}}"#,
        r#"{"spec": {"strategy": {"rollingUpdate": {"maxSurge": {}}}}}"#,
        "{{x}}: 1",
        "&a [*a]",
        &deep,
        &deeper,
        &long,
    ];
    let mut server = server();
    for media in [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY] {
        for validation in ["Ignore", "Warn", "Strict"] {
            for body in bodies {
                let query = format!("dryRun=All&fieldManager=m&fieldValidation={validation}");
                let (code, answer, _) = send(&mut server, media, &query, body.as_bytes());
                let shown: String = body.chars().take(80).collect();
                assert!((200..600).contains(&code), "{media} {shown}: {answer}");
            }
            let bytes = b"{\"metadata\": {\"labels\": {\"\xff\": \"\xfe\"}}}";
            send(&mut server, media, "dryRun=All&fieldManager=m", bytes);
        }
    }
}

#[test]
fn what_becomes_of_a_map_without_its_last_member_is_told_where_releases_differ() {
    use crate::server::{Fact, Facts, Release};
    let emptied = |release: Release| {
        let mut server = ApiServer::default();
        server.set_release(release);
        let apply = |server: &mut ApiServer, context: Value| {
            let mut config = json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "c", "image": "i"}]}}},
            });
            config["spec"]["template"]["spec"]["securityContext"] = context;
            let path = "/apis/apps/v1/namespaces/default/deployments/web?fieldManager=m";
            let request = Request::patch(path).header("content-type", APPLY);
            let body = config.to_string().into_bytes();
            let response = server.handle(request.body(body).unwrap());
            assert!(response.status().is_success());
            response.extensions().get::<Facts>().unwrap().0.clone()
        };
        apply(&mut server, json!({"seLinuxOptions": {"level": "s0"}}));
        let facts = apply(&mut server, json!({"seLinuxOptions": {}}));
        facts
            .into_iter()
            .find(|fact| matches!(fact, Fact::Emptied { .. }))
    };
    let field = ".spec.template.spec.securityContext.seLinuxOptions".to_owned();
    let told = |kept| {
        Some(Fact::Emptied {
            field: field.clone(),
            kept,
        })
    };
    assert_eq!(emptied(Release::V1_36_2), told(true));
    assert_eq!(emptied(Release::V1_36_3), told(false));
}

#[test]
fn force_is_true_unless_it_is_0_or_false_and_the_first_one_counts() {
    let body = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:2"}]}}},
    });
    let code = |force: &str| said(APPLY, &format!("fieldManager=m{force}"), &body.to_string()).0;
    for forced in [
        "&force=true",
        "&force=1",
        "&force=yes",
        "&force=",
        "&force=true&force=false",
    ] {
        assert_eq!(code(forced), 200, "{forced}");
    }
    for unforced in [
        "",
        "&force=0",
        "&force=false",
        "&force=False",
        "&force=false&force=true",
    ] {
        assert_eq!(code(unforced), 409, "{unforced}");
    }
}

#[test]
fn why_a_field_that_is_given_up_gets_its_default_is_told() {
    use crate::server::{Fact, Facts};
    let mut server = ApiServer::default();
    let mut apply = |replicas: Option<i64>| {
        let mut config = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]}}},
        });
        if let Some(replicas) = replicas {
            config["spec"]["replicas"] = replicas.into();
        }
        let path = "/apis/apps/v1/namespaces/default/deployments/web?fieldManager=m";
        let request = Request::patch(path).header("content-type", APPLY);
        let response = server.handle(request.body(config.to_string().into_bytes()).unwrap());
        let stored: Value = serde_json::from_slice(response.body()).unwrap();
        let facts = response.extensions().get::<Facts>().unwrap().0.clone();
        let given_up = facts.into_iter().filter_map(|fact| match fact {
            Fact::GivenUp { field } => Some(field),
            _ => None,
        });
        (
            stored["spec"]["replicas"].clone(),
            given_up.collect::<Vec<_>>(),
        )
    };
    assert_eq!(apply(Some(5)), (json!(5), vec![]));
    let gone = vec![".spec.replicas".to_owned()];
    assert_eq!(apply(None), (json!(1), gone));
    assert_eq!(apply(None), (json!(1), vec![]));
}

#[test]
fn a_patch_can_read_and_write_managers() {
    let first = |server: &mut ApiServer, media, patch: &str| {
        let (code, answer, _) = send(server, media, "fieldManager=m", patch.as_bytes());
        (code, answer["metadata"]["managedFields"].clone())
    };
    // A copy of the metadata has the managers, and a test of the metadata compares them.
    for (patch, code) in [
        (
            r#"[{"op": "test", "path": "/metadata/managedFields/0/operation", "value": "Update"}]"#,
            200,
        ),
        (
            r#"[{"op": "test", "path": "/metadata", "value": {"name": "web"}}]"#,
            422,
        ),
        (
            r#"[{"op": "copy", "from": "/metadata/managedFields/0/manager",
            "path": "/metadata/annotations", "value": {}},
            {"op": "remove", "path": "/metadata/annotations"}]"#,
            200,
        ),
        (
            r#"[{"op": "test", "path": "/metadata/managedFields", "value": null}]"#,
            422,
        ),
        (r#"[{"op": "test", "path": "", "value": {}}]"#, 422),
    ] {
        assert_eq!(first(&mut server(), JSON_PATCH, patch).0, code, "{patch}");
    }
    // An empty list resets the managers, in whatever spelling of its name; null leaves them.
    let stored = first(&mut server(), MERGE_PATCH, "{}").1;
    assert!(stored.is_array());
    for (media, patch, reset) in [
        (
            MERGE_PATCH,
            r#"{"metadata": {"managedFields": [{}]}}"#,
            true,
        ),
        (
            MERGE_PATCH,
            r#"{"metadata": {"managed\u0046ields": [{}]}}"#,
            true,
        ),
        (
            STRATEGIC_MERGE_PATCH,
            r#"{"metadata": {"managedFields": []}}"#,
            true,
        ),
        (
            MERGE_PATCH,
            r#"{"metadata": {"managedFields": null}}"#,
            false,
        ),
    ] {
        let now = first(&mut server(), media, patch).1;
        let expected = if reset { &Value::Null } else { &stored };
        assert_eq!(&now, expected, "{patch}");
    }
}

#[test]
fn a_refusal_of_a_patch_shows_the_whole_object() {
    for patch in [r#"{"spec": {"replicas": "x"}}"#, r#"{"spec": 1}"#] {
        let (code, message) = said(MERGE_PATCH, "", patch);
        assert_eq!(code, 422);
        assert!(message.contains("managedFields"), "{message}");
    }
}

#[test]
fn a_refusal_has_the_media_type_that_was_asked_for() {
    let mut server = ApiServer::default();
    let mut refused = |method: &str, accept: &str| {
        let request = Request::builder()
            .method(method)
            .uri("/api/v1/namespaces/default/configmaps/none")
            .header("accept", accept);
        let response = server.handle(request.body(Vec::new()).unwrap());
        assert_eq!(response.status(), 404);
        let text = String::from_utf8(response.body().clone()).unwrap();
        (
            response.headers()["content-type"]
                .to_str()
                .unwrap()
                .to_owned(),
            text,
        )
    };
    let yaml = "apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n  name: none\n\
        kind: Status\nmessage: configmaps \"none\" not found\nmetadata: {}\nreason: NotFound\n\
        status: Failure\n";
    for method in ["GET", "DELETE"] {
        let expected = ("application/yaml".to_owned(), yaml.to_owned());
        assert_eq!(refused(method, "application/yaml"), expected);
    }
    for json in [
        "application/json",
        "*/*",
        "application/json, application/yaml",
        "application/yaml;as=Table;v=v1;g=meta.k8s.io",
    ] {
        assert_eq!(refused("DELETE", json).0, "application/json", "{json}");
    }
}
