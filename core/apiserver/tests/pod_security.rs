//! Refusals and warnings by the labels of a namespace (Pod Security), by the source of v1.36.

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Map, Value, json};

struct Answer {
    code: u16,
    body: Value,
    warnings: Vec<String>,
}

impl Answer {
    fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }
}

fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    if method == "PATCH" {
        request = request.header("content-type", "application/merge-patch+json");
    }
    let response = server.handle(request.body(body.to_string().into_bytes()).unwrap());
    let headers = response.headers().get_all("warning").iter();
    let warnings = headers.map(|warning| {
        let quoted = warning.to_str().unwrap().strip_prefix("299 - ").unwrap();
        serde_json::from_str(quoted).unwrap()
    });
    Answer {
        code: response.status().as_u16(),
        warnings: warnings.collect(),
        body: serde_json::from_slice(response.body()).unwrap(),
    }
}

fn labels(pairs: &[(&str, &str)]) -> Value {
    let pairs = pairs.iter().map(|(mode, value)| {
        let name = format!("pod-security.kubernetes.io/{mode}");
        (name, Value::from(*value))
    });
    Value::Object(pairs.collect::<Map<_, _>>())
}

fn with_namespace(pairs: &[(&str, &str)]) -> ApiServer {
    let mut server = ApiServer::default();
    let namespace = json!({"metadata": {"name": "n", "labels": labels(pairs)}});
    let answer = send(&mut server, "POST", "/api/v1/namespaces", &namespace);
    assert_eq!(answer.code, 201, "{}", answer.body);
    server
}

const PODS: &str = "/api/v1/namespaces/n/pods";

/// Lays one value over another, as a merge patch does.
fn lay_over(value: &mut Value, patch: &Value) {
    match patch {
        Value::Object(members) => {
            for (name, member) in members {
                lay_over(&mut value[name], member);
            }
        }
        other => *value = other.clone(),
    }
}

/// A pod of one container that every level allows, with changes of its spec and of the container.
fn pod(spec: &Value, container: &Value) -> Value {
    let mut pod = json!({
        "metadata": {"name": "p"},
        "spec": {"securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}}},
    });
    lay_over(&mut pod["spec"], spec);
    let mut only = json!({"name": "c", "image": "i", "securityContext": {
        "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}});
    lay_over(&mut only, container);
    pod["spec"]["containers"] = json!([only]);
    pod
}

/// The violations of a pod in a namespace that enforces a level as it was in a release; empty if the
/// namespace allows it.
fn violations_of(pod: &Value, level: &str, version: &str) -> String {
    let mut server = with_namespace(&[("enforce", level), ("enforce-version", version)]);
    let answer = send(&mut server, "POST", PODS, pod);
    if answer.code == 201 {
        return String::new();
    }
    assert_eq!(answer.code, 403, "{}", answer.body);
    assert_eq!(answer.body["reason"], "Forbidden");
    assert_eq!(answer.body["details"], json!({"name": "p", "kind": "pods"}));
    let start = format!("pods \"p\" is forbidden: violates PodSecurity \"{level}:{version}\": ");
    answer.message().strip_prefix(&start).unwrap().to_owned()
}

fn violations(level: &str, spec: &Value, container: &Value) -> String {
    violations_of(&pod(spec, container), level, "latest")
}

fn none() -> Value {
    json!({})
}

#[test]
fn baseline_refuses_what_reaches_the_host() {
    let host = json!({"hostNetwork": true, "hostPID": true, "hostIPC": true});
    assert_eq!(
        violations("baseline", &host, &none()),
        "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)"
    );
    let volumes = json!({"volumes": [
        {"name": "a", "hostPath": {"path": "/a"}}, {"name": "b", "emptyDir": {}},
        {"name": "d", "hostPath": {"path": "/d"}},
    ]});
    assert_eq!(
        violations("baseline", &volumes, &none()),
        "hostPath volumes (volumes \"a\", \"d\")"
    );
    let ports = json!({"ports": [{"containerPort": 1, "hostPort": 80}, {"containerPort": 2},
        {"containerPort": 3, "hostPort": 443}]});
    assert_eq!(
        violations("baseline", &none(), &ports),
        "hostPort (container \"c\" uses hostPorts 443, 80)"
    );
    let probes = json!({
        "livenessProbe": {"httpGet": {"host": "b.example.com", "port": 1}},
        "lifecycle": {"preStop": {"tcpSocket": {"host": "a.example.com", "port": 1}}},
    });
    assert_eq!(
        violations("baseline", &none(), &probes),
        "probe or lifecycle host (container \"c\" uses probe or lifecycle hosts \
         \"a.example.com\", \"b.example.com\")"
    );
    assert_eq!(
        violations_of(&pod(&none(), &probes), "baseline", "v1.33"),
        ""
    );
}

#[test]
fn baseline_refuses_contexts_that_weaken_a_container() {
    let context = |context: Value| json!({"securityContext": context});
    let of_container = |given: Value| violations("baseline", &none(), &context(given));
    assert_eq!(
        of_container(json!({"privileged": true, "allowPrivilegeEscalation": true})),
        "privileged (container \"c\" must not set securityContext.privileged=true)"
    );
    assert_eq!(
        of_container(json!({"capabilities": {"add": ["NET_RAW", "KILL", "BPF"]}})),
        "non-default capabilities (container \"c\" must not include \"BPF\", \"NET_RAW\" in \
         securityContext.capabilities.add)"
    );
    assert_eq!(
        of_container(json!({"seLinuxOptions": {"type": "t", "user": "u", "role": "r"}})),
        "seLinuxOptions (container \"c\" set forbidden securityContext.seLinuxOptions: type \"t\"; \
         user may not be set; role may not be set)"
    );
    let profile = json!({"appArmorProfile": {"type": "Unconfined"}});
    assert_eq!(
        of_container(profile.clone()),
        "forbidden AppArmor profile (container \"c\" must not set AppArmor profile type to \
         \"Unconfined\")"
    );
    assert_eq!(
        violations("baseline", &context(profile.clone()), &context(profile)),
        "forbidden AppArmor profile (pod and container \"c\" must not set AppArmor profile type to \
         \"Unconfined\")"
    );
    assert_eq!(
        of_container(json!({"seccompProfile": {"type": "Unconfined"}})),
        "seccompProfile (container \"c\" must not set securityContext.seccompProfile.type to \
         \"Unconfined\")"
    );
    let sysctls = json!({"sysctls": [{"name": "kernel.msgmax", "value": "1"},
        {"name": "net.ipv4.tcp_rmem", "value": "1"}]});
    let spec = context(sysctls);
    assert_eq!(
        violations("baseline", &spec, &none()),
        "forbidden sysctls (kernel.msgmax)"
    );
    assert_eq!(
        violations_of(&pod(&spec, &none()), "baseline", "v1.31"),
        "forbidden sysctls (kernel.msgmax, net.ipv4.tcp_rmem)"
    );
}

#[test]
fn a_type_of_se_linux_is_allowed_from_its_release_on() {
    let options = json!({"securityContext": {"seLinuxOptions": {"type": "container_engine_t"}}});
    let pod = pod(&options, &none());
    assert_eq!(violations_of(&pod, "baseline", "v1.31"), "");
    assert_eq!(
        violations_of(&pod, "baseline", "v1.30"),
        "seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type \
         \"container_engine_t\")"
    );
}

#[test]
fn an_unmasked_proc_is_refused_but_for_pods_with_users_of_their_own_since_1_35() {
    let unmasked = json!({"securityContext": {"procMount": "Unmasked"}});
    let pod = pod(&json!({"hostUsers": false}), &unmasked);
    let why = "procMount (container \"c\" must not set securityContext.procMount to \"Unmasked\")";
    assert_eq!(violations_of(&pod, "baseline", "v1.34"), why);
    assert_eq!(violations_of(&pod, "baseline", "v1.35"), "");
    assert_eq!(violations_of(&pod, "restricted", "v1.35"), why);
}

#[test]
fn old_releases_read_the_profile_of_seccomp_from_annotations() {
    let mut pod = pod(&none(), &none());
    pod["metadata"]["annotations"] =
        json!({"container.seccomp.security.alpha.kubernetes.io/c": "unconfined"});
    assert_eq!(
        violations_of(&pod, "baseline", "v1.18"),
        "seccompProfile (forbidden annotation \
         container.seccomp.security.alpha.kubernetes.io/c=\"unconfined\")"
    );
    assert_eq!(violations_of(&pod, "baseline", "v1.19"), "");
}

#[test]
fn a_process_of_a_windows_host_is_refused() {
    let of_host = json!({"windowsOptions": {"hostProcess": true}});
    let spec = json!({"os": {"name": "windows"}, "hostNetwork": true, "securityContext": of_host});
    let mut pod = json!({"metadata": {"name": "p"}, "spec": spec});
    pod["spec"]["containers"] = json!([{"name": "c", "image": "i"}]);
    assert_eq!(
        violations_of(&pod, "baseline", "latest"),
        "host namespaces (hostNetwork=true), hostProcess (pod must not set \
         securityContext.windowsOptions.hostProcess=true)"
    );
}

#[test]
fn restricted_wants_every_safeguard() {
    let bare = json!({"metadata": {"name": "p"}, "spec": {"containers": [
        {"name": "a", "image": "i"}, {"name": "b", "image": "i"}]}});
    assert_eq!(
        violations_of(&bare, "restricted", "latest"),
        "allowPrivilegeEscalation != false (containers \"a\", \"b\" must set \
         securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (containers \
         \"a\", \"b\" must set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true \
         (pod or containers \"a\", \"b\" must set securityContext.runAsNonRoot=true), \
         seccompProfile (pod or containers \"a\", \"b\" must set \
         securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")"
    );
    assert_eq!(violations_of(&bare, "baseline", "latest"), "");
    assert_eq!(
        violations_of(&bare, "restricted", "v1.7"),
        "runAsNonRoot != true (pod or containers \"a\", \"b\" must set \
         securityContext.runAsNonRoot=true)"
    );
    assert_eq!(violations("restricted", &none(), &none()), "");
}

#[test]
fn restricted_refuses_single_settings() {
    let context = |context: Value| json!({"securityContext": context});
    let of_container = |given: Value| violations("restricted", &none(), &context(given));
    assert_eq!(
        of_container(json!({"capabilities": {"add": ["NET_BIND_SERVICE", "CHOWN"]}})),
        "unrestricted capabilities (container \"c\" must not include \"CHOWN\" in \
         securityContext.capabilities.add)"
    );
    assert_eq!(
        of_container(json!({"runAsNonRoot": false})),
        "runAsNonRoot != true (container \"c\" must not set securityContext.runAsNonRoot=false)"
    );
    assert_eq!(
        of_container(json!({"seccompProfile": {"type": "Unconfined"}})),
        "seccompProfile (container \"c\" must not set securityContext.seccompProfile.type to \
         \"Unconfined\")"
    );
    let root = json!({"securityContext": {"runAsUser": 0}, "hostUsers": true});
    assert_eq!(
        violations("restricted", &root, &none()),
        "runAsUser=0 (pod must not set runAsUser=0)"
    );
    let root =
        json!({"securityContext": {"runAsUser": 0, "runAsNonRoot": false}, "hostUsers": false});
    assert_eq!(violations("restricted", &root, &none()), "");
    let volumes = json!({"volumes": [
        {"name": "a", "nfs": {"server": "s", "path": "/"}}, {"name": "b", "emptyDir": {}},
        {"name": "d", "hostPath": {"path": "/d"}},
    ]});
    assert_eq!(
        violations("restricted", &volumes, &none()),
        "restricted volume types (volumes \"a\", \"d\" use restricted volume types \"hostPath\", \
         \"nfs\")"
    );
}

#[test]
fn a_template_is_warned_of_and_stored_and_a_pod_without_a_name_is_refused_by_the_one_it_got() {
    let mut server = with_namespace(&[("enforce", "baseline"), ("enforce-version", "v1.30")]);
    let mut template = pod(&json!({"hostPID": true}), &none());
    template["metadata"] = json!({"labels": {"app": "x"}});
    let spec = json!({"selector": {"matchLabels": {"app": "x"}}, "template": template});
    let deployment = json!({"metadata": {"name": "d"}, "spec": spec});
    let path = "/apis/apps/v1/namespaces/n/deployments";
    let answer = send(&mut server, "POST", path, &deployment);
    assert_eq!(answer.code, 201, "{}", answer.body);
    let warning = "would violate PodSecurity \"baseline:v1.30\": host namespaces (hostPID=true)";
    assert_eq!(answer.warnings, [warning]);
    let scale = json!({"spec": {"replicas": 2}});
    let answer = send(&mut server, "PATCH", &format!("{path}/d/scale"), &scale);
    assert_eq!((answer.code, answer.warnings), (200, vec![]));
    let answer = send(&mut server, "PATCH", &format!("{path}/d"), &scale);
    assert_eq!(
        (answer.code, answer.warnings),
        (200, vec![warning.to_owned()])
    );

    let mut pod = pod(&json!({"hostPID": true}), &none());
    pod["metadata"] = json!({"generateName": "p-"});
    let answer = send(&mut server, "POST", PODS, &pod);
    assert_eq!(answer.code, 403);
    assert!(answer.message().starts_with("pods \"p-"), "{}", answer.body);
    assert!(
        !answer.message().starts_with("pods \"p-\""),
        "{}",
        answer.body
    );
}

#[test]
fn modes_are_apart_and_a_changed_image_is_asked_about() {
    let mut server = with_namespace(&[("warn", "restricted"), ("audit", "restricted")]);
    let bad = pod(&json!({"hostPID": true}), &none());
    let answer = send(&mut server, "POST", PODS, &bad);
    let warning = "would violate PodSecurity \"restricted:latest\": host namespaces (hostPID=true)";
    assert_eq!(
        (answer.code, answer.warnings),
        (201, vec![warning.to_owned()])
    );

    let path = format!("{PODS}/p");
    let metadata = json!({"metadata": {"labels": {"a": "b"}}});
    let answer = send(&mut server, "PATCH", &path, &metadata);
    assert_eq!((answer.code, answer.warnings), (200, vec![]));

    let stricter = json!({"metadata": {"labels": labels(&[("enforce", "baseline")])}});
    let answer = send(&mut server, "PATCH", "/api/v1/namespaces/n", &stricter);
    assert_eq!(answer.code, 200, "{}", answer.body);
    assert_eq!(
        answer.warnings,
        [
            "existing pods in namespace \"n\" violate the new PodSecurity enforce level \
             \"baseline:latest\"",
            "p: host namespaces"
        ]
    );
    let live = send(&mut server, "GET", &path, &Value::Null).body;
    let mut changed = live.clone();
    changed["spec"]["containers"][0]["image"] = "other".into();
    let answer = send(&mut server, "PUT", &path, &changed);
    assert_eq!(answer.code, 403, "{}", answer.body);
    let answer = send(&mut server, "PUT", &path, &live);
    assert_eq!(answer.code, 200, "{}", answer.body);
}

#[test]
fn pods_that_a_stricter_level_would_refuse_are_counted_by_their_violations() {
    let mut server = with_namespace(&[]);
    for name in ["p3", "p1", "p2", "q"] {
        let spec = match name {
            "q" => {
                json!({"hostIPC": true, "securityContext": {"seccompProfile": {"type": "Unconfined"}}})
            }
            _ => json!({"hostPID": true}),
        };
        let mut pod = pod(&spec, &none());
        pod["metadata"]["name"] = name.into();
        let answer = send(&mut server, "POST", PODS, &pod);
        assert_eq!((answer.code, answer.warnings), (201, vec![]));
    }
    let stricter = json!({"metadata": {"labels": labels(&[("enforce", "baseline"), ("enforce-version", "v1.36")])}});
    let answer = send(&mut server, "PATCH", "/api/v1/namespaces/n", &stricter);
    assert_eq!(
        answer.warnings,
        [
            "existing pods in namespace \"n\" violate the new PodSecurity enforce level \
             \"baseline:v1.36\"",
            "p1 (and 2 other pods): host namespaces",
            "q: host namespaces, seccompProfile"
        ]
    );
    let relaxed = json!({"metadata": {"labels": labels(&[("enforce", "privileged")])}});
    let answer = send(&mut server, "PATCH", "/api/v1/namespaces/n", &relaxed);
    assert_eq!((answer.code, answer.warnings), (200, vec![]));
}

#[test]
fn labels_that_say_nothing_are_refused() {
    let mut server = ApiServer::default();
    let bad = labels(&[
        ("enforce", "strict"),
        ("warn-version", "v1.08"),
        ("audit-version", "1.30"),
    ]);
    let namespace = json!({"metadata": {"name": "n", "labels": bad}});
    let answer = send(&mut server, "POST", "/api/v1/namespaces", &namespace);
    assert_eq!(answer.code, 422);
    assert_eq!(
        answer.message(),
        "Namespace \"n\" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid \
         value: \"strict\": must be one of privileged, baseline, restricted, \
         metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: \"1.30\": must \
         be \"latest\" or \"v1.x\", metadata.labels[pod-security.kubernetes.io/warn-version]: \
         Invalid value: \"v1.08\": must be \"latest\" or \"v1.x\"]"
    );
}
