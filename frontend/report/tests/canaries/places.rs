//! Places of Diagnose where a text with a secret can be.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use optimist_client::to_yaml;
use serde_json::{Value, json};

use super::carriers::carriers;
use super::secrets::Secrets;

/// A place of Diagnose: the texts that are brought.
type CasePlace = fn(&mut Secrets) -> Vec<String>;

pub fn of_diagnose() -> Vec<(&'static str, CasePlace)> {
    vec![
        ("files in a ConfigMap", files),
        ("annotations", annotations),
        ("the last-applied annotation", last_applied),
        ("arguments and variables of containers", containers),
        ("a custom resource", custom),
        ("a Secret", secret),
        ("conditions", conditions),
        ("text around a message", around_message),
        ("the patch in a message of kubectl", patch_in_message),
        ("refused values", refused_values),
        ("a refused manifest", refused_manifest),
        ("a text that is not recognized", unknown),
        ("the log of a controller", controller_log),
        ("an audit log", audit_log),
        ("a watch", watch),
        ("keys of managedFields", owned_paths),
        ("an object in a file of a ConfigMap", object_in_file),
        ("what a terminal prints around an object", in_a_terminal),
        ("a comment in a manifest", comments),
        ("binary data", binary),
    ]
}

/// Texts as the data of a ConfigMap, under names that say nothing.
pub fn data(texts: &[String]) -> Value {
    let data = texts.iter().enumerate();
    data.map(|(at, text)| (format!("file-{at}"), Value::from(text.as_str())))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// A ConfigMap.
pub fn config(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "shop"}, "data": data})
}

/// An object as a cluster has it: `fields` are those of another manager.
fn live(mut object: Value, fields: Value) -> Value {
    let api_version = object["apiVersion"].clone();
    let metadata = &mut object["metadata"];
    metadata["uid"] = "7d5f7e7e-52aa-4a5f-a9c8-1b0b4c9a8d7e".into();
    metadata["resourceVersion"] = "7".into();
    metadata["managedFields"] = json!([{"manager": "helm", "operation": "Apply",
        "apiVersion": api_version, "time": "2026-11-22T06:01:59Z", "fieldsType": "FieldsV1",
        "fieldsV1": fields}]);
    object
}

fn files(secrets: &mut Secrets) -> Vec<String> {
    let texts = carriers(secrets);
    let object = config(data(&texts));
    let mut wanted = object.clone();
    wanted["data"]["file-0"] = format!("db.password={}", secrets.word()).into();
    vec![
        to_yaml(&live(
            object,
            json!({"f:data": {"f:file-0": {}, "f:file-1": {}}}),
        )),
        to_yaml(&wanted),
    ]
}

fn annotations(secrets: &mut Secrets) -> Vec<String> {
    let texts = carriers(secrets);
    let mut object = config(json!({"a": "b"}));
    object["metadata"]["annotations"] = data(&texts);
    vec![live(object, json!({"f:data": {"f:a": {}}})).to_string()]
}

fn last_applied(secrets: &mut Secrets) -> Vec<String> {
    let mut applied = config(data(&carriers(secrets)));
    let mut object = config(json!({"a": "b"}));
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    object["metadata"]["annotations"][annotation] = format!("{applied}\n").into();
    applied["metadata"]["name"] = "other".into();
    vec![to_yaml(&live(object, json!({"f:data": {"f:a": {}}})))]
}

fn containers(secrets: &mut Secrets) -> Vec<String> {
    let variable = |name: &str, value: &str| json!({"name": name, "value": value});
    let mut env: Vec<Value> = carriers(secrets)
        .iter()
        .enumerate()
        .map(|(at, text)| variable(&format!("V{at}"), text))
        .collect();
    for name in [
        "DB_PASSWORD",
        "PGPASS",
        "API_TOKEN",
        "SENTRY_DSN",
        "DB_PASS",
    ] {
        env.push(variable(name, &secrets.word()));
        env.push(variable(&format!("{name}_2"), &secrets.random()));
    }
    let mut container = json!({"name": "web", "image": "example/web:1.2.3", "env": env,
        "command": ["mysql", "-h", "db", "-p", secrets.word()],
        "args": ["--password", secrets.word(), format!("--db-password={}", secrets.signs()),
            format!("-p{}", secrets.word()), format!("--token={}", secrets.random())]});
    container["livenessProbe"] = json!({"httpGet": {"path": "/", "port": 80, "httpHeaders": [
        {"name": "Authorization", "value": format!("Bearer {}", secrets.random())}]}});
    let sidecar = json!({"name": "side", "image": "example/side:1",
        "command": ["sh", "-c", format!("mysql -p {} app", secrets.word())]});
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [container, sidecar]}}}});
    let mut wanted = object.clone();
    wanted["spec"]["replicas"] = 3.into();
    let args = format!("--db-password={}", secrets.word());
    wanted["spec"]["template"]["spec"]["containers"][0]["args"] = json!([args]);
    wanted["spec"]["template"]["spec"]["containers"][0]["image"] = "example/web:1.3.0".into();
    let owned = json!({"f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {
        "k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:image": {}, "f:args": {}}}}}}});
    vec![to_yaml(&live(object, owned)), to_yaml(&wanted)]
}

fn custom(secrets: &mut Secrets) -> Vec<String> {
    let object = json!({"apiVersion": "example.com/v1", "kind": "Database",
        "metadata": {"name": "db", "namespace": "shop"},
        "spec": {"lines": carriers(secrets), "adminPassword": secrets.word(), "pin": 7,
            "auth": {"token": secrets.signs(), "passwords": [secrets.word(), secrets.random()]},
            "rootPassword": 918_273_645}});
    vec![live(object, json!({"f:spec": {"f:lines": {}}})).to_string()]
}

fn secret(secrets: &mut Secrets) -> Vec<String> {
    let texts = carriers(secrets);
    let encoded: Vec<String> = texts.iter().map(|text| STANDARD.encode(text)).collect();
    let mut object = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "login", "namespace": "shop"}, "data": data(&encoded)});
    object["data"]["plain"] = STANDARD.encode(secrets.word()).into();
    object["data"]["short"] = STANDARD.encode("ab1").into();
    let mut applied = object.clone();
    applied["stringData"] = json!({"word": secrets.signs()});
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    object["metadata"]["annotations"][annotation] = applied.to_string().into();
    let wanted = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "login", "namespace": "shop"},
        "stringData": {"plain": secrets.signs(), "file-0": secrets.word()}});
    vec![
        to_yaml(&live(
            object,
            json!({"f:data": {"f:plain": {}, "f:file-0": {}}}),
        )),
        to_yaml(&wanted),
    ]
}

fn conditions(secrets: &mut Secrets) -> Vec<String> {
    let conditions: Vec<Value> = carriers(secrets)
        .iter()
        .map(|text| json!({"type": "Ready", "status": "False", "reason": "Error", "message": text}))
        .collect();
    let object = json!({"apiVersion": "example.com/v1", "kind": "Database",
        "metadata": {"name": "db", "namespace": "shop"}, "spec": {"size": 3},
        "status": {"conditions": conditions}});
    vec![to_yaml(&live(object, json!({"f:spec": {"f:size": {}}})))]
}

const CONFLICT: &str = "error: Apply failed with 1 conflict: conflict with \"kubectl\" with subresource \
    \"scale\" using apps/v1: .spec.replicas";

fn around_message(secrets: &mut Secrets) -> Vec<String> {
    let before = carriers(secrets).join("\n");
    let behind = carriers(secrets).join("\n");
    vec![
        format!("{before}\n{CONFLICT}\n{behind}\n"),
        format!("--db-password={} {CONFLICT}", secrets.word()),
        format!("{CONFLICT} (Authorization: Bearer {})", secrets.word()),
    ]
}

fn patch_in_message(secrets: &mut Secrets) -> Vec<String> {
    let manifest = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "login", "namespace": "shop"},
        "data": {"word": STANDARD.encode(secrets.word())}, "stringData": {"more": secrets.signs()}});
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    let patch = json!({"data": {"word": STANDARD.encode(secrets.word())},
        "metadata": {"annotations": {annotation: format!("{manifest}\n")}},
        "stringData": {"more": secrets.random()}});
    let whole = format!(
        "Error from server (Conflict): error when applying patch:\n{patch}\nto:\n\
         Resource: \"/v1, Resource=secrets\", GroupVersionKind: \"/v1, Kind=Secret\"\n\
         Name: \"login\", Namespace: \"shop\"\n\
         for: \"secret.yaml\": error when patching \"secret.yaml\": Operation cannot be fulfilled on \
         secrets \"login\": the object has been modified; please apply your changes to the latest \
         version and try again\n"
    );
    let bad = format!(
        "Error from server (BadRequest): error when creating \"s.yaml\": Secret in version \"v1\" cannot \
         be handled as a Secret: illegal base64 data at input byte 4, error found in #10 byte of \
         ...|:\"Secret\",\"data\":{{\"word\":\"{}\"}},\"met|..., bigger context ...|\
         \"kind\":\"Secret\",\"data\":{{\"word\":\"{}\",\"other\":\"{}\n{CONFLICT}\n",
        secrets.word(),
        secrets.word(),
        secrets.random()
    );
    vec![whole, bad]
}

fn refused_values(secrets: &mut Secrets) -> Vec<String> {
    vec![
        format!(
            "The Deployment \"web\" is invalid: spec.template.spec.containers[0].env\
             [name=\"DB_PASSWORD\"].value: Invalid value: \"{}\": must be valid\n",
            secrets.word()
        ),
        format!(
            "The Secret \"login\" is invalid: data[word]: Invalid value: \"{}\": a valid config key\n",
            secrets.word()
        ),
        format!(
            "Database.example.com \"db\" is invalid: spec.adminPassword: Invalid value: \"{}\": \
             spec.adminPassword in body should match '^a'\n",
            secrets.word()
        ),
        format!(
            "{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"Database \
             \\\"db\\\" is invalid: spec.adminPassword: Invalid value: \\\"{}\\\": bad\",\"reason\":\
             \"Invalid\",\"details\":{{\"name\":\"db\",\"kind\":\"Database\",\"causes\":[{{\"reason\":\
             \"FieldValueInvalid\",\"message\":\"Invalid value: \\\"x\\\": bad\",\"field\":\
             \"spec.adminPassword\"}}]}},\"code\":422}}",
            secrets.word()
        ),
    ]
}

fn refused_manifest(secrets: &mut Secrets) -> Vec<String> {
    let message =
        "error: Apply failed with 1 conflict: conflict with \"kubectl-edit\" using v1: .data.plain";
    let texts = carriers(secrets);
    let encoded: Vec<String> = texts.iter().map(|text| STANDARD.encode(text)).collect();
    let mut object = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "login", "namespace": "shop"}, "data": data(&encoded)});
    object["data"]["plain"] = STANDARD.encode(secrets.word()).into();
    vec![message.to_owned(), to_yaml(&object)]
}

fn unknown(secrets: &mut Secrets) -> Vec<String> {
    let texts = carriers(secrets);
    vec![
        format!("Remember the word {} for the new cluster.", secrets.word()),
        texts.join("\n\n"),
        format!(
            "{{\"half\": \"a document\", \"password\": \"{}\"",
            secrets.word()
        ),
        to_yaml(&config(json!({"a": "b"}))),
    ]
}

fn controller_log(secrets: &mut Secrets) -> Vec<String> {
    let mut lines: Vec<String> = carriers(secrets)
        .iter()
        .map(|text| {
            json!({"level": "info", "ts": "2026-11-22T06:01:59Z", "msg": "reconciling", "text": text})
                .to_string()
        })
        .collect();
    lines.push(
        json!({"level": "error", "ts": "2026-11-22T06:01:59Z", "msg": "Reconciler error",
            "controller": "web", "token": secrets.word(),
            "error": format!("{CONFLICT}; last response: {{\"password\":\"{}\"}}", secrets.word())})
        .to_string(),
    );
    let klog = format!(
        "E1122 06:01:59.000000       1 controller.go:1] \"Unhandled Error\" err=\"Operation cannot be \
         fulfilled on deployments.apps \\\"web\\\": the object has been modified; please apply your \
         changes to the latest version and try again\" password=\"{}\" bearer=\"Bearer {}\"",
        secrets.word(),
        secrets.random()
    );
    vec![lines.join("\n"), klog]
}

fn audit_log(secrets: &mut Secrets) -> Vec<String> {
    let event =
        |at: usize, user: &str, address: &str, version: usize, object: &Value, more: Value| {
            let mut event = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1",
            "level": "RequestResponse", "auditID": format!("a43c32f3-a54c-4643-b28e-{at:012}"),
            "stage": "ResponseComplete", "verb": "update",
            "requestURI": "/api/v1/namespaces/shop/configmaps/settings",
            "user": {"username": user, "groups": ["system:authenticated"],
                "extra": {"authentication.kubernetes.io/credential-id": [more["id"]]}},
            "impersonatedUser": {"username": more["as"]},
            "sourceIPs": [address], "userAgent": "kubectl/v1.36.2 (linux/amd64) kubernetes/0123abc",
            "objectRef": {"resource": "configmaps", "namespace": "shop", "name": "settings",
                "apiVersion": "v1"},
            "responseStatus": {"metadata": {}, "code": 200},
            "requestReceivedTimestamp": format!("2026-11-22T06:05:{at:02}.000000Z"),
            "stageTimestamp": format!("2026-11-22T06:05:{at:02}.100000Z"),
            "annotations": {"authorization.k8s.io/decision": "allow",
                "authorization.k8s.io/reason": format!("allowed to User \"{user}\"")}});
            let mut object = object.clone();
            event["requestObject"] = object.clone();
            object["metadata"]["resourceVersion"] = version.to_string().into();
            event["responseObject"] = object;
            event
        };
    let texts = carriers(secrets);
    let (first, last) = texts.split_at(texts.len() / 2);
    let mut one = config(data(first));
    one["metadata"]["uid"] = "7d5f7e7e-52aa-4a5f-a9c8-1b0b4c9a8d7e".into();
    let mut other = one.clone();
    other["data"] = data(last);
    let person = format!("{}@example.com", secrets.word());
    let address = "203.0.113.77";
    let more = |secrets: &mut Secrets| json!({"id": secrets.random(), "as": secrets.word()});
    let mut refused = event(3, &person, address, 3, &one, more(secrets));
    refused["responseStatus"] = json!({"metadata": {}, "status": "Failure", "reason": "Invalid",
        "message": format!("data.password: Invalid value: \"{}\": bad", secrets.word()), "code": 422});
    refused["responseObject"] = refused["responseStatus"].clone();
    refused["responseObject"]["kind"] = "Status".into();
    refused["requestURI"] = format!(
        "/api/v1/namespaces/shop/configmaps/settings?token={}",
        secrets.word()
    )
    .into();
    let patch = json!({"data": {"file-1": format!("password={}", secrets.word())}});
    let mut patched = event(
        4,
        "system:serviceaccount:shop:web",
        address,
        4,
        &other,
        more(secrets),
    );
    patched["verb"] = "patch".into();
    patched["requestObject"] = patch;
    let mut of_secret = event(5, &person, address, 5, &one, more(secrets));
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login",
        "namespace": "shop"}, "stringData": {"word": secrets.word()},
        "data": {"b": STANDARD.encode(secrets.signs())}});
    of_secret["requestObject"] = secret.clone();
    of_secret["responseObject"] = secret;
    of_secret["objectRef"] = json!({"resource": "secrets", "namespace": "shop", "name": "login",
        "apiVersion": "v1"});
    of_secret["requestURI"] = "/api/v1/namespaces/shop/secrets/login".into();
    let events = [
        event(1, &person, address, 1, &one, more(secrets)),
        event(2, "jane", "2001:db8::77", 2, &other, more(secrets)),
        refused,
        patched,
        of_secret,
    ];
    secrets.also(address);
    secrets.also("2001:db8::77");
    secrets.also("jane");
    vec![events.map(|event| event.to_string()).join("\n")]
}

fn watch(secrets: &mut Secrets) -> Vec<String> {
    let texts = carriers(secrets);
    let events = (0..3).map(|at| {
        let mut object = live(config(data(&texts)), json!({"f:data": {"f:file-0": {}}}));
        object["metadata"]["resourceVersion"] = (at + 7).to_string().into();
        object["data"]["count"] = at.to_string().into();
        object["data"]["db.password"] = secrets.word().into();
        json!({"type": "MODIFIED", "object": object}).to_string()
    });
    let events: Vec<String> = events.collect();
    vec![events.join("\n")]
}

fn owned_paths(secrets: &mut Secrets) -> Vec<String> {
    let args = [
        format!("--db-password={}", secrets.word()),
        format!("--token={}", secrets.random()),
        format!("postgres://app:{}@db/app", secrets.word()),
        secrets.random(),
    ];
    let set: serde_json::Map<String, Value> = args
        .iter()
        .map(|arg| (format!("v:{}", json!(arg)), json!({})))
        .collect();
    let key = format!("k:{}", json!({"name": "DB", "token": secrets.word()}));
    let object = json!({"apiVersion": "example.com/v1", "kind": "Database",
        "metadata": {"name": "db", "namespace": "shop"}, "spec": {"size": 1}});
    vec![to_yaml(&live(
        object,
        json!({"f:spec": {"f:args": set, "f:list": {key: {"f:x": {}}}}}),
    ))]
}

fn object_in_file(secrets: &mut Secrets) -> Vec<String> {
    let inner = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"},
        "data": {"word": STANDARD.encode(secrets.word())}, "stringData": {"b": secrets.signs()}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {
        "containers": [{"name": "a", "image": "b", "env": [
            {"name": "TOKEN", "value": secrets.word()}]}]}});
    let deep = config(json!({"deeper.json": inner.to_string()}));
    let files = json!({"a.yaml": format!("{}---\n{}", to_yaml(&inner), to_yaml(&pod)),
        "a.json": inner.to_string(), "deep.yaml": to_yaml(&deep),
        "b64": STANDARD.encode(to_yaml(&inner))});
    vec![to_yaml(&live(
        config(files),
        json!({"f:data": {"f:a.yaml": {}}}),
    ))]
}

fn in_a_terminal(secrets: &mut Secrets) -> Vec<String> {
    let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login",
        "namespace": "shop", "uid": "u", "resourceVersion": "7"},
        "data": {"word": STANDARD.encode(secrets.word())}, "type": "Opaque"});
    let yaml = to_yaml(&object);
    let framed: String = yaml.lines().map(|line| format!("│ {line}\n")).collect();
    vec![
        format!("$ kubectl get secret login -o yaml\n{yaml}"),
        framed,
        format!("```yaml\n{yaml}```\n"),
    ]
}

fn comments(secrets: &mut Secrets) -> Vec<String> {
    let yaml = to_yaml(&config(json!({"color": "blue"})));
    vec![format!(
        "# password: {}\n{yaml}# token={}\n",
        secrets.word(),
        secrets.word()
    )]
}

fn binary(secrets: &mut Secrets) -> Vec<String> {
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(secrets.word().as_bytes(), 6);
    let mut store = vec![0xfe, 0xed, 0xfe, 0xed];
    store.extend(secrets.word().bytes());
    let mut object = config(json!({"packed": STANDARD.encode(packed)}));
    object["binaryData"] = json!({"store": STANDARD.encode(store),
        "text": STANDARD.encode(format!("password={}", secrets.word()))});
    vec![to_yaml(&live(object, json!({"f:data": {"f:packed": {}}})))]
}
