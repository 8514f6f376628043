//! Commands and code that send the same request as a step.

use std::io::Write as _;
use std::process::{Command, Stdio};

use optimist_apiserver::server::{ApiServer, Resource, Resources};
use optimist_apiserver::yaml;
use optimist_client::{ValueChange, annotated, changes};
use optimist_code::{ClientRequest, client_go, kube_rs, kubectl};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The requests of kubectl v1.36 to a real server for each of these commands, `managedFields` left
/// out.
const RECORDED: &str = include_str!("../../client/tests/kubectl/recorded.json");

/// The kind of backups that the real server had.
const BACKUPS: &str = include_str!("../../client/tests/kubectl/backups.json");

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";

/// A request, with the kind that its path is about.
struct Sent<'a> {
    method: &'a str,
    target: &'a str,
    content_type: &'a str,
    body: &'a Value,
}

impl Sent<'_> {
    fn with<T>(&self, resources: &Resources, read: impl FnOnce(&ClientRequest<'_>) -> T) -> T {
        let path = self.target.split('?').next().unwrap();
        let parts: Vec<&str> = path.split('/').collect();
        let resource: Option<&Resource> = match parts.as_slice() {
            ["", "apis", group, version, "namespaces", _, plural, ..] => {
                resources.by_path(group, version, plural)
            }
            ["", "api", version, "namespaces", _, plural, ..] => {
                resources.by_path("", version, plural)
            }
            _ => None,
        }
        .map(AsRef::as_ref);
        read(&ClientRequest {
            method: self.method,
            target: self.target,
            content_type: self.content_type,
            user_agent: "editor-a",
            body: self.body,
            resource,
            edits: None,
            attempts: 1,
            reads_again: false,
            migrates: false,
        })
    }

    fn kubectl(&self) -> String {
        self.with(&Resources::builtin(), kubectl)
    }
}

fn patch<'a>(kind: &'a str, body: &'a Value) -> Sent<'a> {
    Sent {
        method: "PATCH",
        target: DEPLOYMENT,
        content_type: kind,
        body,
    }
}

/// The server of the recordings, with its kind of backups.
fn recorded_server() -> ApiServer {
    let mut server = ApiServer::default();
    let request = http::Request::post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
        .body(BACKUPS.into())
        .unwrap();
    assert!(server.handle(request).status().is_success());
    server
}

/// Returns the arguments and the input that a shell gives to a command.
fn run(script: &str) -> (Vec<String>, String) {
    let spy = "kubectl() { printf '%s\\0' \"$@\"; printf '\\001'; case \"$*\" in *'-f -') cat;; esac; }\n";
    let mut shell = Command::new("sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = shell.stdin.take().unwrap();
    input
        .write_all((spy.to_owned() + script).as_bytes())
        .unwrap();
    drop(input);
    let output = shell.wait_with_output().unwrap();
    assert!(output.status.success(), "{script}");
    let output = String::from_utf8(output.stdout).unwrap();
    let (arguments, input) = output.split_once('\u{1}').unwrap();
    let arguments = arguments.split_terminator('\0').map(str::to_owned);
    (arguments.collect(), input.to_owned())
}

#[test]
fn a_request_of_kubectl_gives_the_command_that_sent_it() {
    let recorded: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
    let server = recorded_server();
    let mut compared = Vec::new();
    for case in &recorded {
        let command = case["command"].as_str().unwrap();
        let words: Vec<&str> = command.split(' ').collect();
        let (verb, method) = match words[1] {
            "patch" => ("patch", "PATCH"),
            "replace" if !words.contains(&"--force") => ("replace", "PUT"),
            "create" => ("create", "POST"),
            "delete" => ("delete", "DELETE"),
            "get" => ("get", "GET"),
            "apply" if words.contains(&"--server-side") => ("apply", "PATCH"),
            _ => continue,
        };
        let mut requests = case["requests"].as_array().unwrap().iter();
        let Some(request) = requests.find(|request| request["method"] == method) else {
            continue;
        };
        let body = &request["body"];
        if method == "PUT" && body["metadata"].get("resourceVersion").is_none() {
            // Of an object that is not there: kubectl found no version to put in.
            continue;
        }
        let sent = Sent {
            method,
            target: request["target"].as_str().unwrap(),
            content_type: request["content_type"].as_str().unwrap_or_default(),
            body,
        };
        let rendered = sent.with(server.resources(), kubectl);
        let (arguments, input) = run(&rendered);
        let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
        assert_eq!(arguments[0], verb, "{command}\n{rendered}");
        for flag in [
            "--server-side",
            "--force-conflicts",
            "--type=merge",
            "--type=json",
        ] {
            assert_eq!(has(flag), words.contains(&flag), "{command}\n{rendered}");
        }
        if let Some((_, manager)) = sent.target.split_once("fieldManager=") {
            let manager = manager.split('&').next().unwrap();
            assert!(has(&format!("--field-manager={manager}")), "{rendered}");
        }
        if verb == "patch" {
            let sent: Value = serde_json::from_str(arguments.last().unwrap()).unwrap();
            assert_eq!(sent, *body, "{command}");
        }
        if has("-f") {
            let sent = Value::from(yaml::parse(&input).unwrap().node);
            assert_eq!(sent, *body, "{command}");
        }
        compared.push(verb);
    }
    compared.sort_unstable();
    compared.dedup();
    assert_eq!(
        compared,
        ["apply", "create", "delete", "get", "patch", "replace"]
    );
}

#[test]
fn commands_read_as_people_paste_them() {
    let body = json!({"spec": {"replicas": 5}});
    let merge = "application/merge-patch+json";
    assert_eq!(
        patch(merge, &body).kubectl(),
        "kubectl patch deployment web -n default --type=merge --field-manager=editor-a \
         -p '{\"spec\":{\"replicas\":5}}'\n"
    );
    let status = format!("{DEPLOYMENT}/status").replace("default", "prod");
    let sent = Sent {
        target: &status,
        ..patch(merge, &body)
    };
    assert!(
        sent.kubectl()
            .starts_with("kubectl patch deployment web -n prod --subresource=status --type=merge")
    );
    let applied = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 5},
    });
    for (force, forced) in [
        ("1", true),
        ("yes", true),
        ("", true),
        ("0", false),
        ("False", false),
    ] {
        let target = format!("{DEPLOYMENT}?fieldManager=editor-a&force={force}");
        let command = Sent {
            target: &target,
            ..patch("application/apply-patch+yaml", &applied)
        }
        .kubectl();
        assert_eq!(command.contains("--force-conflicts"), forced, "{force}");
    }
    let target = format!("{DEPLOYMENT}?fieldManager=editor-a&force=true");
    let sent = Sent {
        target: &target,
        ..patch("application/apply-patch+yaml", &applied)
    };
    assert_eq!(
        sent.kubectl(),
        "kubectl apply --server-side --force-conflicts -n default --field-manager=editor-a -f - <<'EOF'\n\
         apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: default\n\
         spec:\n  replicas: 5\nEOF\n"
    );
}

#[test]
fn an_apply_says_that_kubectl_then_moves_the_fields_of_client_side_apply() {
    let object =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}});
    let apply = patch("application/apply-patch+yaml", &object);
    let says = |migrates| {
        let command = apply.with(&Resources::builtin(), |call| {
            kubectl(&ClientRequest { migrates, ..*call })
        });
        command.starts_with("# With more requests, kubectl then moves")
    };
    assert!(says(true) && !says(false));
}

#[test]
fn where_kubectl_would_send_something_else_the_body_goes_raw() {
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 5},
    });
    let put = Sent {
        method: "PUT",
        content_type: "application/json",
        ..patch("", &object)
    };
    let unconditional = put.kubectl();
    assert!(
        unconditional.starts_with("# kubectl replace would first read"),
        "{unconditional}"
    );
    let (arguments, input) = run(&unconditional);
    assert_eq!(
        arguments[..3],
        [
            "replace",
            "--raw",
            &format!("{DEPLOYMENT}?fieldManager=editor-a")
        ]
    );
    assert_eq!(serde_json::from_str::<Value>(&input).unwrap(), object);

    // From a file, kubectl replaces the text of the annotation of client-side apply.
    let mut applied = annotated(&object);
    applied["metadata"]["resourceVersion"] = "100".into();
    let put = Sent {
        body: &applied,
        ..put
    };
    assert_eq!(run(&put.kubectl()).0[..2], ["replace", "--raw"]);
    let same = annotated(&applied);
    let put = Sent { body: &same, ..put };
    assert_eq!(run(&put.kubectl()).0[0], "replace");
    assert_ne!(run(&put.kubectl()).0[1], "--raw");

    let options = json!({"preconditions": {"resourceVersion": "100"}});
    let delete = Sent {
        method: "DELETE",
        ..patch("application/json", &options)
    };
    assert_eq!(
        run(&delete.kubectl()).0[..3],
        ["delete", "--raw", DEPLOYMENT]
    );
    let odd = patch("text/plain", &options).kubectl();
    assert!(
        odd.contains("kubectl proxy --port=8001 &\ncurl -X PATCH"),
        "{odd}"
    );
    // kubectl patch asks for no validation: it warns, where the server was asked to refuse.
    let strictly = |kind: &'static str, body: &Value| {
        let target = format!("{DEPLOYMENT}?fieldValidation=Strict");
        Sent {
            target: &target,
            ..patch(kind, body)
        }
        .kubectl()
    };
    let (merge, strategic) = (
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
    );
    let known = json!({"spec": {"replicas": 4}});
    assert!(strictly(merge, &known).starts_with("kubectl patch"));
    let directive = json!({"spec": {"template": {"spec": {"$setElementOrder/containers": []}}}});
    assert!(strictly(strategic, &directive).starts_with("kubectl patch"));
    let unknown = json!({"spec": {"replica": 4}});
    for refused in [
        strictly(merge, &unknown),
        strictly(strategic, &unknown),
        strictly(merge, &directive),
    ] {
        assert!(
            refused.contains("does not ask the server to refuse"),
            "{refused}"
        );
        assert!(refused.contains("?fieldValidation=Strict"), "{refused}");
    }
    let list = Sent {
        method: "GET",
        target: "/api/v1/namespaces/default/configmaps?limit=5",
        ..patch("", &Value::Null)
    };
    assert_eq!(
        list.kubectl(),
        "kubectl get --raw '/api/v1/namespaces/default/configmaps?limit=5'\n"
    );
}

#[test]
fn a_field_that_the_kind_does_not_have_is_sent_with_a_warning_as_the_step_was() {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "resourceVersion": "1"}, "spec": {"replicas": 5},
    });
    let put = |object: &Value| {
        let sent = Sent {
            method: "PUT",
            content_type: "application/json",
            ..patch("", object)
        };
        sent.kubectl()
    };
    assert!(!put(&object).contains("--validate"));
    object["spec"]["bogus"] = 1.into();
    assert!(put(&object).contains(" --validate=warn "));
}

fn edited() -> (Value, Vec<ValueChange>) {
    let before = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "resourceVersion": "100"},
        "spec": {"replicas": 3, "paused": true,
            "template": {"spec": {"containers": [{"name": "nginx", "image": "nginx:1"}]}}},
    });
    let mut after = before.clone();
    after["spec"]["replicas"] = 5.into();
    after["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:2".into();
    after["spec"].as_object_mut().unwrap().remove("paused");
    let changes = changes(&before, &after);
    (after, changes)
}

fn update(attempts: u8, reads_again: bool) -> (String, String) {
    let (body, changes) = edited();
    let sent = Sent {
        method: "PUT",
        content_type: "application/json",
        ..patch("", &body)
    };
    sent.with(&Resources::builtin(), |call| {
        let call = ClientRequest {
            edits: Some(&changes),
            attempts,
            reads_again,
            ..*call
        };
        (client_go(&call).code, kube_rs(&call).code)
    })
}

#[test]
fn an_update_is_an_assignment_in_go_and_in_rust() {
    let (go, rust) = update(1, false);
    assert_eq!(
        go,
        "// deployment is what Get returned, at version 100.\n\
         func update(ctx context.Context, client kubernetes.Interface, deployment *appsv1.Deployment) error {\n\
         \tdeployment.Spec.Paused = false\n\
         \tdeployment.Spec.Replicas = ptr.To[int32](5)\n\
         \tdeployment.Spec.Template.Spec.Containers[0].Image = \"nginx:2\"\n\
         \t_, err := client.AppsV1().Deployments(\"default\").Update(ctx, deployment, \
         metav1.UpdateOptions{FieldManager: \"editor-a\"})\n\
         \treturn err\n}\n"
    );
    assert!(rust.contains("deployment.spec.get_or_insert_default().replicas = Some(5);"));
    assert!(rust.contains("api.replace(\"web\", &params, &deployment).await?;"));
}

#[test]
fn who_reads_again_after_a_conflict_does_so_in_a_loop() {
    let (go, rust) = update(5, true);
    let retry = go.find("retry.RetryOnConflict(retry.DefaultRetry").unwrap();
    let get = go.find(".Get(ctx, \"web\"").unwrap();
    let assign = go.find("deployment.Spec.Replicas =").unwrap();
    assert!(retry < get && get < assign, "{go}");
    assert!(rust.contains("let mut deployment = api.get(\"web\").await?;"));
    assert!(rust.contains("status.is_conflict() && attempt < 5"));
    // A client that only resends does not read.
    let (go, _) = update(3, false);
    assert!(go.contains("Steps: 3") && !go.contains(".Get("), "{go}");
}

#[test]
fn go_makes_a_map_before_it_sets_the_first_member() {
    let body = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "annotations": {"a": "1"}}, "spec": {"replicas": 5},
    });
    let target = "/apis/apps/v1/namespaces/default/deployments/web";
    let sent = Sent {
        method: "PUT",
        target,
        content_type: "application/json",
        body: &body,
    };
    let go = |before: Option<Value>| {
        let change = ValueChange {
            pointer: "/metadata/annotations/a".to_owned(),
            before,
            after: Some("1".into()),
        };
        sent.with(&Resources::builtin(), |call| {
            client_go(&ClientRequest {
                edits: Some(std::slice::from_ref(&change)),
                ..*call
            })
            .code
        })
    };
    let made = "if deployment.Annotations == nil {\n";
    let set = "deployment.Annotations[\"a\"] = \"1\"\n";
    let (new, known) = (go(None), go(Some("0".into())));
    assert!(new.contains(made) && new.contains(set), "{new}");
    assert!(!known.contains(made) && known.contains(set), "{known}");
}

#[test]
fn custom_kinds_go_through_the_dynamic_clients() {
    let server = recorded_server();
    let body = json!({
        "apiVersion": "demo.example.com/v1", "kind": "Backup",
        "metadata": {"name": "nightly", "resourceVersion": "1"}, "spec": {"days": 7},
    });
    let sent = Sent {
        method: "PUT",
        target: "/apis/demo.example.com/v1/namespaces/default/backups/nightly",
        content_type: "application/json",
        body: &body,
    };
    let changes = [ValueChange {
        pointer: "/spec/days".to_owned(),
        before: Some(5.into()),
        after: Some(7.into()),
    }];
    let (go, rust) = sent.with(server.resources(), |call| {
        let call = ClientRequest {
            edits: Some(&changes),
            ..*call
        };
        (client_go(&call), kube_rs(&call))
    });
    assert!(go.imports.contains("\"k8s.io/client-go/dynamic\""));
    assert!(
        go.code
            .contains("SetNestedField(object.Object, int64(7), \"spec\", \"days\")")
    );
    assert!(
        rust.code
            .contains("object.data[\"spec\"][\"days\"] = json!(7);")
    );
    assert!(
        rust.code
            .contains("ApiResource::from_gvk_with_plural(&gvk, \"backups\")")
    );
}

fn text() -> impl Strategy<Value = String> {
    "[ -~àß\\n\\t]{0,12}|EOF|'|\\$\\(x\\)"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_shell_takes_any_patch_and_any_manifest_literally(
        key in text(), value in text(), manager in "[a-z ']{1,8}"
    ) {
        let body = json!({"data": {key.clone(): value.clone()}});
        let target = format!("{DEPLOYMENT}?fieldManager={}", manager.replace(' ', "+"));
        let sent = Sent { target: &target, ..patch("application/merge-patch+json", &body) };
        let (arguments, _) = run(&sent.kubectl());
        let parsed: Value = serde_json::from_str(arguments.last().unwrap()).unwrap();
        prop_assert_eq!(parsed, body);
        let manager = format!("--field-manager={manager}");
        prop_assert!(arguments.contains(&manager));

        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "default"}, "data": {key: value},
        });
        let sent = Sent {
            target: "/api/v1/namespaces/default/configmaps/a?fieldManager=m",
            ..patch("application/apply-patch+yaml", &object)
        };
        let (_, input) = run(&sent.kubectl());
        prop_assert_eq!(Value::from(yaml::parse(&input).unwrap().node), object);
    }
}

#[test]
fn code_for_a_kind_without_rules_of_its_own_uses_the_dynamic_client() {
    let body = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "default", "resourceVersion": "100"},
        "spec": {"replicas": 5},
    });
    let update = Sent {
        method: "PUT",
        target: "/apis/apps/v1/namespaces/default/statefulsets/db",
        content_type: "application/json",
        body: &body,
    };
    let (rust, go) = update.with(&Resources::builtin(), |call| {
        (kube_rs(call), client_go(call))
    });
    assert!(rust.code.contains("Api<DynamicObject>"), "{}", rust.code);
    assert!(go.code.contains("client dynamic.Interface"), "{}", go.code);
    let mut body = body.clone();
    body["kind"] = "Deployment".into();
    let typed = Sent {
        target: "/apis/apps/v1/namespaces/default/deployments/db",
        body: &body,
        ..update
    };
    let rust = typed.with(&Resources::builtin(), kube_rs);
    assert!(rust.code.contains("Api<Deployment>"), "{}", rust.code);
}

/// Go for a request to a subresource of a custom resource: its imports and its code.
fn of_backup(method: &str, subresource: &str) -> (String, String) {
    let server = recorded_server();
    let body = match method {
        "GET" => Value::Null,
        _ => json!({"spec": {"replicas": 7}}),
    };
    let target =
        format!("/apis/demo.example.com/v1/namespaces/default/backups/nightly/{subresource}");
    let sent = Sent {
        method,
        target: &target,
        content_type: if body.is_null() {
            ""
        } else {
            "application/merge-patch+json"
        },
        body: &body,
    };
    let go = sent.with(server.resources(), client_go);
    (go.imports, go.code)
}

#[test]
fn the_scale_of_a_custom_resource_goes_through_the_dynamic_client() {
    let (imports, patch) = of_backup("PATCH", "scale");
    assert!(
        imports.contains("\"k8s.io/client-go/dynamic\""),
        "{imports}"
    );
    assert!(!imports.contains("kubernetes"), "{imports}");
    assert!(patch.contains("client dynamic.Interface"), "{patch}");
    assert!(patch.contains(", \"scale\")"), "{patch}");
    let (_, get) = of_backup("GET", "scale");
    assert!(get.contains("GetOptions{}, \"scale\")"), "{get}");
}

/// Every function of Go takes the client that it uses.
#[test]
fn a_request_by_its_path_takes_a_client_that_has_paths() {
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "nightly", "namespace": "default"}, "spec": {"replicas": 7}});
    let server = recorded_server();
    let sent = Sent {
        method: "PUT",
        target: "/apis/demo.example.com/v1/namespaces/default/backups/nightly/scale",
        content_type: "application/json",
        body: &scale,
    };
    let go = sent.with(server.resources(), client_go);
    assert!(go.code.contains("RequestURI("), "{}", go.code);
    assert!(
        go.code.contains("client kubernetes.Interface"),
        "{}",
        go.code
    );
    assert!(!go.imports.contains("dynamic"), "{}", go.imports);
}

#[test]
fn a_subresource_for_which_the_typed_client_has_no_method_is_read_by_its_path() {
    let read = |target: &str| {
        let sent = Sent {
            method: "GET",
            target,
            content_type: "",
            body: &Value::Null,
        };
        sent.with(&Resources::builtin(), client_go).code
    };
    let of = |path: &str, code: &str| {
        let read = read(path);
        assert!(read.contains(code), "{path}: {read}");
    };
    of(
        "/api/v1/namespaces/default/services/web/scale",
        "RequestURI(",
    );
    of(&format!("{DEPLOYMENT}/status"), "RequestURI(");
    of(&format!("{DEPLOYMENT}/scale"), ".GetScale(ctx, \"web\"");
    of(DEPLOYMENT, ".Get(ctx, \"web\"");
}

#[test]
fn strict_validation_is_asked_for_in_rust_too() {
    let rust = |method: &str, content_type: &str, body: &Value| {
        let target = match method {
            "POST" => {
                "/apis/apps/v1/namespaces/default/deployments?fieldValidation=Strict".to_owned()
            }
            _ => format!("{DEPLOYMENT}?fieldManager=me&fieldValidation=Strict"),
        };
        let sent = Sent {
            method,
            target: &target,
            content_type,
            body,
        };
        let rust = sent.with(&Resources::builtin(), kube_rs);
        rust.imports + &rust.code
    };
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 5}});
    let merge = rust(
        "PATCH",
        "application/merge-patch+json",
        &json!({"spec": {"replicas": 5}}),
    );
    assert!(
        merge.contains("field_validation: Some(ValidationDirective::Strict)"),
        "{merge}"
    );
    assert!(
        merge.contains("PatchParams, ValidationDirective}"),
        "{merge}"
    );
    let apply = rust("PATCH", "application/apply-patch+yaml", &object);
    assert!(apply.contains(".validation_strict()"), "{apply}");
    for method in ["POST", "PUT"] {
        let written = rust(method, "application/json", &object);
        assert!(written.contains("fieldValidation=Strict"), "{written}");
    }
}

#[test]
fn a_field_that_the_type_does_not_have_is_in_the_code_too() {
    let body = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"}, "spec": {"bogus": 1},
    });
    let create = Sent {
        method: "POST",
        target: "/apis/apps/v1/namespaces/default/deployments",
        content_type: "application/json",
        body: &body,
    };
    let (go, rust) = create.with(&Resources::builtin(), |call| {
        (client_go(call), kube_rs(call))
    });
    assert!(go.code.contains("unstructured.Unstructured"), "{}", go.code);
    assert!(rust.code.contains("Api<DynamicObject>"), "{}", rust.code);
}

#[test]
fn options_of_a_delete_go_raw_and_only_preconditions_are_called_so() {
    let delete = |body: Value| {
        let sent = Sent {
            method: "DELETE",
            target: DEPLOYMENT,
            content_type: "application/json",
            body: &body,
        };
        sent.kubectl()
    };
    let grace = delete(json!({"gracePeriodSeconds": 0, "propagationPolicy": "Foreground"}));
    assert!(
        grace.contains("--raw") && !grace.contains("preconditions;"),
        "{grace}"
    );
    let uid = delete(json!({"preconditions": {"uid": "a"}}));
    assert!(uid.contains("no flag for preconditions"), "{uid}");
}

#[test]
fn code_of_a_watch_takes_each_event_when_it_comes() {
    let sent = Sent {
        method: "GET",
        target: "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=100",
        ..patch("", &Value::Null)
    };
    let resources = Resources::builtin();
    let go = sent.with(&resources, client_go).code;
    assert!(go.contains(".Stream(ctx)"), "{go}");
    assert!(
        go.contains("events.Decode(&event)") && !go.contains("DoRaw"),
        "{go}"
    );
    let rust = sent.with(&resources, kube_rs).code;
    assert!(
        rust.contains("client.request_events::<DynamicObject>(request)"),
        "{rust}"
    );
    assert!(!rust.contains("request_text"), "{rust}");
}
