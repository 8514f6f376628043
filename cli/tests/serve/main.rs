//! `optimist serve`: the real program, spoken to through its socket.

mod log;
mod page;
mod program;
mod proxied;
mod replayed;
mod watches;

use std::path::Path;
use std::time::{Duration, Instant};

use program::{PATIENCE, Program};
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A file for one test, in a directory of its own.
fn place(name: &str) -> std::path::PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"a": "1"}})
}

#[test]
fn a_client_that_trusts_the_authority_of_the_kubeconfig_is_answered_over_tls() {
    let program = Program::start(&[]);
    assert!(program.url.starts_with("https://127.0.0.1:"));
    let (code, version) = program.json("GET", "/version", &Value::Null);
    assert_eq!((code, &version["gitVersion"]), (200, &json!("v1.36.3")));
    let (code, made) = program.json("POST", MAPS, &map("a"));
    assert_eq!(code, 201);
    let uid = made["metadata"]["uid"].as_str().unwrap();
    assert_eq!(program.json("POST", MAPS, &map("a")).0, 409);
    let other = Program::start(&[]);
    let made = other.json("POST", MAPS, &map("a")).1;
    assert_ne!(made["metadata"]["uid"], uid, "each run has its own uids");
    let namespaces = program.json("GET", "/api/v1/namespaces", &Value::Null).1;
    assert!(namespaces.to_string().contains("kube-system"));
}

#[test]
fn a_watch_streams_what_others_write_and_ends_with_the_program() {
    for signal in ["TERM", "INT"] {
        let program = Program::start(&[]);
        let mut watch = program.connect();
        let host = format!("Host: {}", program.authority());
        let target = format!("{MAPS}?watch=1&resourceVersion=0");
        assert_eq!(watch.begin("GET", &target, &[&host], b""), (200, None));
        program.json("POST", MAPS, &map("a"));
        let event: Value = serde_json::from_str(&watch.chunk().unwrap()).unwrap();
        assert_eq!(event["type"], "ADDED");
        assert_eq!(event["object"]["metadata"]["name"], "a");
        let kubeconfig = program.kubeconfig.clone();
        assert!(Path::new(&kubeconfig).exists());
        program.signal(signal);
        assert_eq!(watch.chunk(), None, "the stream has its end");
        assert_eq!(program.ended(), (Some(0), String::new(), String::new()));
        assert!(!Path::new(&kubeconfig).exists(), "it was temporary");
    }
}

#[test]
fn web_pages_are_refused_by_their_host_and_their_origin() {
    let program = Program::start(&["--host", "api.test"]);
    let port = program.authority().rsplit_once(':').unwrap().1;
    let get = |headers: &[String]| {
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        program.connect().send("GET", MAPS, &headers, b"")
    };
    for host in ["127.0.0.1", "localhost", "[::1]", "api.test", "API.test"] {
        let host = format!("{host}:{port}");
        let own = format!("Origin: https://{host}");
        let host = format!("Host: {host}");
        assert_eq!(get(std::slice::from_ref(&host)).0, 200, "{host}");
        assert_eq!(get(&[host.clone(), own]).0, 200, "{host}");
        for origin in ["https://evil.test", "null", "http://localhost:3000", ""] {
            let (code, body) = get(&[host.clone(), format!("Origin: {origin}")]);
            assert_eq!(code, 403, "{origin} {body}");
            assert!(body.contains(r#""reason":"Forbidden""#), "{body}");
        }
    }
    for host in ["evil.test", "127.0.0.1.evil.test", "user@evil.test", ""] {
        let (code, body) = get(&[format!("Host: {host}")]);
        assert!([400, 403].contains(&code), "{host} {body}");
    }
}

#[test]
fn a_body_that_is_too_large_is_refused_as_by_a_real_server() {
    let program = Program::start(&["--insecure-http"]);
    assert!(program.url.starts_with("http://"));
    let json = "Content-Type: application/json";
    let (code, body) = program.send("POST", MAPS, &[json], &" ".repeat(3 * 1024 * 1024 + 1));
    assert_eq!(code, 413);
    assert!(body.contains("Request entity too large: limit is 3145728"));
    let large = "x".repeat(500_000);
    let object = json!({"metadata": {"name": "large"}, "data": {"a": large}});
    assert_eq!(program.json("POST", MAPS, &object).0, 201);
}

#[test]
fn objects_and_definitions_are_there_from_the_start() {
    let place = place("start");
    let crds = place.join("crds");
    std::fs::create_dir(&crds).unwrap();
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open}}}}]},
    });
    std::fs::write(crds.join("widgets.json"), definition.to_string()).unwrap();
    std::fs::write(crds.join("readme.md"), "none").unwrap();
    let objects = place.join("objects.yaml");
    let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: example.com/v1\n  kind: Widget\n  \
                metadata: {name: w, namespace: shop}\n---\napiVersion: v1\nkind: ConfigMap\n\
                metadata: {name: old, uid: u-1, resourceVersion: \"77\"}\n";
    std::fs::write(&objects, text).unwrap();
    let kubeconfig = place.join("config");
    let [crds, objects, kubeconfig] =
        [crds, objects, kubeconfig].map(|it| it.to_str().unwrap().to_owned());
    let program = Program::start(&[
        "--crds",
        &crds,
        "--objects",
        &objects,
        "--kubeconfig",
        &kubeconfig,
        "--release",
        "1.36.2",
    ]);
    assert_eq!(program.kubeconfig, kubeconfig);
    let widget = "/apis/example.com/v1/namespaces/shop/widgets/w";
    assert_eq!(program.json("GET", widget, &Value::Null).0, 200);
    let old = program.json("GET", &format!("{MAPS}/old"), &Value::Null).1;
    assert_eq!(old["metadata"]["uid"], "u-1");
    let version = program.json("GET", "/version", &Value::Null).1;
    assert_eq!(version["gitVersion"], "v1.36.2");
    program.signal("TERM");
    assert_eq!(program.ended().0, Some(0));
    let again = Program::start(&["--kubeconfig", &kubeconfig]);
    assert_eq!(again.json("GET", "/version", &Value::Null).0, 200);
}

#[test]
fn bad_input_ends_with_code_2_and_names_file_and_line() {
    let place = place("bad");
    let objects = place.join("bad.yaml");
    let file = objects.to_str().unwrap();
    for (text, expected) in [
        ("a: [\n", "bad.yaml:2:1:"),
        (
            "kind: ConfigMap\n",
            "bad.yaml:1: the object has no apiVersion",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\n\
             kind: ConfigMap\nmetadata: {name: NOT}\n",
            "bad.yaml:5: ConfigMap \"NOT\" is invalid: metadata.name:",
        ),
        (
            "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n",
            "bad.yaml:1: no kind Widget of example.com/v1 is served",
        ),
    ] {
        std::fs::write(&objects, text).unwrap();
        let (code, errors) = Program::refused(&["--objects", file]);
        assert_eq!(code, 2);
        assert!(errors.contains(expected), "{errors}");
    }
    let own = place.join("config");
    std::fs::write(&own, "apiVersion: v1\nkind: Config\n").unwrap();
    let (code, errors) = Program::refused(&["--kubeconfig", own.to_str().unwrap()]);
    assert_eq!(code, 2);
    assert!(errors.contains("is not overwritten"), "{errors}");
    assert!(
        std::fs::read_to_string(&own)
            .unwrap()
            .starts_with("apiVersion")
    );
    assert_eq!(Program::refused(&["--crds", "nowhere"]).0, 2);
    assert_eq!(Program::refused(&["--release", "1.20"]).0, 2);
    let first = Program::start(&[]);
    let port = first.authority().rsplit_once(':').unwrap().1;
    let (code, errors) = Program::refused(&["--port", port]);
    assert_eq!(code, 2);
    assert!(errors.contains(port), "{errors}");
}

#[test]
fn the_file_of_the_container_starts_the_program_with_arguments_that_it_takes() {
    let file = include_str!("../../../clients/Containerfile");
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    let instructions: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(' ')).collect();
    let names: Vec<&str> = instructions.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["FROM", "COPY", "COPY", "USER", "ENTRYPOINT", "CMD"]);
    let list = |at: usize| serde_json::from_str::<Vec<String>>(instructions[at].1).unwrap();
    assert_eq!(list(4), ["optimist"]);
    let arguments = list(5);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // The port may be taken on this machine.
    let ["serve", rest @ .., "--port", "6443"] = arguments.as_slice() else {
        panic!("{arguments:?}")
    };
    let program = Program::start(rest);
    assert_eq!(program.json("GET", "/version", &Value::Null).0, 200);
}

/// Asks until the server answers so; the controllers work beside it.
fn wait_until(program: &Program, target: &str, is_so: impl Fn(u16, &Value) -> bool) {
    let start = Instant::now();
    loop {
        let (code, object) = program.json("GET", target, &Value::Null);
        if is_so(code, &object) {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{target} stays as it is");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn controllers_run_by_choice_and_the_log_has_what_they_write() {
    let path = place("controllers").join("log");
    let log = ["--log", path.to_str().unwrap()];
    let program = Program::start(&[&log[..], &["--controllers", "gc,namespace"]].concat());
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    wait_until(&program, account, |code, _| code == 200);
    let owner = program.json("POST", MAPS, &map("owner")).1;
    let mut owned = map("owned");
    owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap",
        "name": "owner", "uid": owner["metadata"]["uid"]}]);
    assert_eq!(program.json("POST", MAPS, &owned).0, 201);
    let code = program
        .json("DELETE", &format!("{MAPS}/owner"), &Value::Null)
        .0;
    assert_eq!(code, 200);
    wait_until(&program, &format!("{MAPS}/owned"), |code, _| code == 404);
    program.kill();
    let bare = Program::start(&log);
    assert_eq!(bare.json("GET", account, &Value::Null).0, 200);
    let owned = format!("{MAPS}/owned");
    assert_eq!(bare.json("GET", &owned, &Value::Null).0, 404);
}
