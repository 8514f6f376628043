//! Options of requests and selectors, read as a kube-apiserver of v1.36.3 was seen to read them.

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

use super::{APPS, CORE, make, send};

fn config_map() -> Value {
    json!({"metadata": {"name": "c"}, "data": {"a": "1"}})
}

/// The code and the message of a request without a body to the ConfigMaps.
fn asked(method: &str, rest: &str) -> (u16, String) {
    let mut server = ApiServer::default();
    make(&mut server, &format!("{CORE}/configmaps"), &config_map());
    let path = format!("{CORE}/configmaps{rest}");
    let answer = send(&mut server, method, &path, &Value::Null);
    (answer.code, answer.message().to_owned())
}

/// `NewRequirement` of `apimachinery/pkg/labels`: the values are checked sorted, a key has no path.
#[test]
fn a_label_selector_has_keys_and_values_that_labels_can_have() {
    let part = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start \
                and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', \
                regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let label = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' \
                 or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or \
                 'my_value',  or '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let integer = "for 'Gt', 'Lt' operators, the value must be an integer";
    for (selector, why) in [
        ("-a", format!("<nil>: Invalid value: \"-a\": {part}")),
        ("!-a", format!("<nil>: Invalid value: \"-a\": {part}")),
        (
            "a=b/c",
            format!("values[0][a]: Invalid value: \"b/c\": {label}"),
        ),
        (
            "a in (z,b/c,b/c)",
            format!("values[0][a]: Invalid value: \"b/c\": {label}"),
        ),
        ("a>x", format!("values[0]: Invalid value: \"x\": {integer}")),
        (
            "a>-",
            format!(
                "[values[0]: Invalid value: \"-\": {integer}, values[0][a]: Invalid value: \"-\": {label}]"
            ),
        ),
    ] {
        let query: String = form_urlencoded::byte_serialize(selector.as_bytes()).collect();
        assert_eq!(
            asked("GET", &format!("?labelSelector={query}")),
            (400, format!("unable to parse requirement: {why}")),
            "{selector}"
        );
    }
    assert_eq!(asked("GET", "?labelSelector=a%3E1,a%3C5,b+in+(x,)").0, 200);
}

/// `parseSelector` of `apimachinery/pkg/fields`.
#[test]
fn the_terms_of_a_field_selector_are_looked_at_in_their_order_as_text() {
    let unknown =
        "\"spec.a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
    assert_eq!(
        asked("GET", "?fieldSelector=spec.b%3D1,spec.a%3D1"),
        (400, unknown.to_owned())
    );
    assert_eq!(
        asked("GET", "?fieldSelector=metadata.name%3Da%5C"),
        (
            400,
            "invalid field selector: invalid escape sequence: \\".to_owned()
        )
    );
}

/// `Convert_url_Values_To_v1_DeleteOptions`.
#[test]
fn a_deletion_reads_its_query() {
    for (query, problem) in [
        ("abc", "parsing \"abc\": invalid syntax"),
        ("", "parsing \"\": invalid syntax"),
        (
            "9223372036854775808",
            "parsing \"9223372036854775808\": value out of range",
        ),
    ] {
        assert_eq!(
            asked("DELETE", &format!("/c?gracePeriodSeconds={query}")),
            (400, format!("strconv.ParseInt: {problem}"))
        );
    }
    assert_eq!(asked("DELETE", "/c?resourceVersion=&uid=").0, 200);
    assert_eq!(asked("DELETE", "/c?uid=x").0, 409);
}

/// `Interpret` of `serializer/json/meta.go` decodes with Go's own package, which takes names in any case.
#[test]
fn a_kind_is_found_in_any_case_of_its_name() {
    let mut server = ApiServer::default();
    make(&mut server, &format!("{CORE}/configmaps"), &config_map());
    let pod = json!({"Kind": "Pod"});
    let answer = send(&mut server, "DELETE", &format!("{CORE}/configmaps/c"), &pod);
    assert_eq!(
        answer.message(),
        "no kind \"Pod\" is registered for version \"meta.k8s.io/v1\" in scheme \
         \"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\""
    );
    let pod = json!({"KIND": "Pod", "metadata": {"name": "x"}});
    let answer = send(&mut server, "POST", &format!("{CORE}/configmaps"), &pod);
    assert_eq!(
        answer.message(),
        "Pod in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Pod) to \
         (core.ConfigMap): unknown conversion"
    );
}

/// `ValidateFieldManager` and `ValidatePatchOptions` of `apimachinery/pkg/apis/meta/v1/validation`.
#[test]
fn a_field_manager_is_printable_and_its_problems_come_first() {
    let mut server = ApiServer::default();
    let path =
        format!("{CORE}/configmaps?dryRun=Some&fieldManager=a%E2%80%8B%01&fieldValidation=x");
    let answer = send(&mut server, "POST", &path, &config_map());
    assert_eq!(
        answer.message(),
        "CreateOptions.meta.k8s.io \"\" is invalid: [fieldManager: Invalid value: \"a\\u200b\\x01\": \
         invalid character U+200B (at position 1), fieldManager: Invalid value: \"a\\u200b\\x01\": \
         invalid character U+0001 (at position 4), dryRun: Unsupported value: [\"Some\"]: supported \
         values: \"All\", fieldValidation: Unsupported value: \"x\": supported values: \"\", \
         \"Ignore\", \"Strict\", \"Warn\"]"
    );
    let managers = json!([{"manager": "m".repeat(129), "operation": "Update", "apiVersion": "v1",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": null}}}]);
    let mut named = config_map();
    make(&mut server, &format!("{CORE}/configmaps"), &named);
    named["metadata"]["managedFields"] = managers;
    let answer = send(&mut server, "PUT", &format!("{CORE}/configmaps/c"), &named);
    assert_eq!(
        answer.message(),
        "ConfigMap \"c\" is invalid: metadata.managedFields[0].manager: Too long: may not be more \
         than 128 bytes"
    );
}

/// `parseTimeout` of the filter `WithRequestDeadline`.
#[test]
fn a_time_limit_is_a_duration() {
    for (limit, why) in [
        ("abc", "invalid duration \"abc\""),
        ("5", "missing unit in duration \"5\""),
        ("1x", "unknown unit \"x\" in duration \"1x\""),
    ] {
        let message = format!("invalid timeout specified in the request URL - time: {why}");
        assert_eq!(asked("GET", &format!("/c?timeout={limit}")), (400, message));
    }
    for limit in ["", "0", "1h2m3.5s", "-5s", "%2B.5ms"] {
        assert_eq!(
            asked("GET", &format!("/c?timeout={limit}")).0,
            200,
            "{limit}"
        );
    }
    let mut server = ApiServer::default();
    let path = format!("{APPS}/deployments?watch=1&timeout=abc");
    assert_eq!(send(&mut server, "GET", &path, &Value::Null).code, 200);
}

/// `mime.ParseMediaType` in `NegotiateInputSerializer`; a patch is compared as it is written.
#[test]
fn a_media_type_is_read_in_any_case_and_with_parameters() {
    let code = |method: &str, rest: &str, media: &str| {
        let mut server = ApiServer::default();
        let request = Request::builder()
            .method(method)
            .uri(format!("{CORE}/configmaps{rest}"));
        let request = request.header("content-type", media);
        let body = config_map().to_string().into_bytes();
        server.handle(request.body(body).unwrap()).status().as_u16()
    };
    assert_eq!(code("POST", "", "APPLICATION/Json; charset=utf-8"), 201);
    assert_eq!(code("POST", "", "application/json;"), 201);
    assert_eq!(code("POST", "", "application/json;x"), 415);
    assert_eq!(code("PATCH", "/c", "APPLICATION/MERGE-PATCH+JSON"), 415);
    assert_eq!(code("PATCH", "/c", "application/merge-patch+json;x"), 404);
}

/// `dedupOwnerReferences` of the handlers; `rest.BeforeCreate` for an apply.
#[test]
fn only_equal_owners_are_merged_and_a_link_to_itself_is_dropped() {
    let mut server = ApiServer::default();
    let owner = |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": "u"});
    let mut owned = config_map();
    owned["metadata"]["ownerReferences"] = json!([owner("a"), owner("b"), owner("a")]);
    owned["metadata"]["selfLink"] = "x".into();
    let answer = make(&mut server, &format!("{CORE}/configmaps"), &owned);
    assert_eq!(
        answer.body["metadata"]["ownerReferences"],
        json!([owner("a"), owner("b")])
    );
    assert_eq!(answer.warnings.len(), 1);
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d", "selfLink": "x"}});
    let request = Request::builder().method("PATCH");
    let request = request.uri(format!("{CORE}/configmaps/d?fieldManager=m"));
    let request = request.header("content-type", "application/apply-patch+yaml");
    let answer = server.handle(request.body(applied.to_string().into_bytes()).unwrap());
    assert_eq!(answer.status(), 201);
    let body: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(body["metadata"].get("selfLink"), None);
}

/// `registerResourceHandlers`: the path of a collection answers with streams too, no other path does.
#[test]
fn a_collection_names_the_types_of_streams_where_it_can_answer_with_none_that_is_asked_for() {
    let refused = |method: &str, rest: &str| {
        let mut server = ApiServer::default();
        let request = Request::builder().method(method);
        let request = request.uri(format!("{CORE}/configmaps{rest}"));
        let request = request.header("accept", "text/plain").body(Vec::new());
        let answer = server.handle(request.unwrap());
        assert_eq!(answer.status(), 406, "{method} {rest}");
        let body: Value = serde_json::from_slice(answer.body()).unwrap();
        body["message"].as_str().unwrap().to_owned()
    };
    let written = "406: Not Acceptable\n\nAvailable representations: application/json, \
                   application/yaml, application/vnd.kubernetes.protobuf";
    let streamed =
        ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
    assert_eq!(refused("GET", ""), format!("{written}{streamed}"));
    assert_eq!(refused("GET", "/c"), written);
    assert_eq!(refused("DELETE", ""), written);
}

/// `Unstructured.GetManagedFields` gives no entries where one has another form.
#[test]
fn an_apply_with_entries_of_another_form_is_refused_for_their_type() {
    let applied = |managed: Value| {
        let mut config = config_map();
        config["apiVersion"] = "v1".into();
        config["kind"] = "ConfigMap".into();
        config["metadata"]["managedFields"] = managed;
        let mut server = ApiServer::default();
        let request = Request::builder().method("PATCH");
        let request = request.uri(format!("{CORE}/configmaps/c?fieldManager=m"));
        let request = request.header("content-type", "application/apply-patch+yaml");
        let answer = server.handle(request.body(config.to_string().into_bytes()).unwrap());
        let body: Value = serde_json::from_slice(answer.body()).unwrap();
        let message = body["message"].as_str().unwrap_or_default().to_owned();
        (answer.status().as_u16(), message)
    };
    let untyped = |rest: &str| {
        let start = "failed to create typed patch object (/c; /v1, Kind=ConfigMap)";
        (500, format!("{start}: .metadata.managedFields[0]{rest}"))
    };
    assert_eq!(applied(json!([{}])).0, 400);
    assert_eq!(applied(json!([null])).0, 201);
    assert_eq!(applied(json!([1])), untyped(": expected map, got &{1}"));
    assert_eq!(
        applied(json!([{"manager": 1}])),
        untyped(".manager: expected string, got &value.valueUnstructured{Value:1}")
    );
}

/// `merge/update.go` of structured-merge-diff passes over the managers of a version that is not there, and a version
/// that cannot be read is an error, after which nobody owns a field (`UpdateNoErrors`).
#[test]
fn an_entry_of_a_version_that_is_not_there_goes_and_the_others_stay() {
    for (version, left) in [("bogus/v9", vec!["B"]), ("a/b/c", Vec::new())] {
        for plural in ["configmaps", "serviceaccounts"] {
            let mut server = ApiServer::default();
            let object = json!({"metadata": {"name": "c", "labels": {"a": "b"}}});
            let mut made = make(&mut server, &format!("{CORE}/{plural}"), &object).body;
            let mut second = made["metadata"]["managedFields"][0].clone();
            second["manager"] = "B".into();
            second["fieldsV1"] = json!({"f:metadata": {"f:annotations": {"f:x": {}}}});
            made["metadata"]["managedFields"][0]["apiVersion"] = version.into();
            let entries = made["metadata"]["managedFields"].as_array_mut().unwrap();
            entries.push(second);
            let path = format!("{CORE}/{plural}/c");
            let answer = send(&mut server, "PUT", &path, &made);
            assert_eq!(answer.code, 200, "{}", answer.body);
            let entries = answer.body["metadata"]["managedFields"].as_array();
            let managers = entries.into_iter().flatten();
            let managers: Vec<&Value> = managers.map(|entry| &entry["manager"]).collect();
            assert_eq!(managers, left, "{plural}");
        }
    }
}
