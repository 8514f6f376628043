//! The page beside the server, and what it is told.

use std::fs;

use optimist_apiserver::server::{ApiServer, Release};
use optimist_diagnose::audit::AuditReader;
use optimist_diagnose::audit::recorded::RecordedHistory;
use serde_json::{Value, json};

use crate::program::Program;
use crate::{MAPS, map, place, wait_until};

/// A directory with a small page.
fn page(name: &str) -> std::path::PathBuf {
    let page = place(name).join("dist");
    fs::create_dir_all(page.join("parts")).unwrap();
    fs::write(page.join("index.html"), "<html><head></head>page</html>").unwrap();
    fs::write(page.join("parts/a.js"), "js").unwrap();
    page
}

#[test]
fn a_page_has_its_files_and_is_told_each_request_in_order() {
    let directory = page("page");
    let arguments = ["--insecure-http", "--page", directory.to_str().unwrap()];
    let program = Program::start(&arguments);
    let host = format!("Host: {}", program.page_authority());
    let (code, index) = program.connect_to_page().send("GET", "/", &[&host], b"");
    assert_eq!(code, 200);
    assert!(
        index.contains(r#"<meta name="optimist-live" content="optimist/events">"#),
        "{index}"
    );
    let get = |path: &str, host: &str| program.connect_to_page().send("GET", path, &[host], b"").0;
    assert_eq!(get("/parts/a.js", &host), 200);
    assert_eq!(get("/../Cargo.toml", &host), 404);
    assert_eq!(get("/api/v1/namespaces", &host), 404);
    assert_eq!(get("/", "Host: evil.test"), 403);
    let answer = program.connect_to_page().send("POST", "/", &[&host], b"");
    assert_eq!(answer.0, 405);

    let mut events = program.connect_to_page();
    assert_eq!(
        events.begin("GET", "/optimist/events", &[&host], b""),
        (200, None)
    );
    let begin = events.chunk().unwrap();
    let run = begin.strip_prefix("retry: 1000\n\nevent: run\ndata: ");
    let run = run.expect("the run of the server").trim();
    let path = format!("{MAPS}/a");
    program.json("POST", MAPS, &map("a"));
    let read = program.json("GET", &path, &Value::Null).1;
    assert_eq!(program.json("PUT", &path, &read).0, 200);
    program.json("PATCH", &path, &json!({"data": {"a": "2"}}));
    assert_eq!(program.json("PUT", &path, &read).0, 409);
    let mut told = String::new();
    while told.matches("id: ").count() < 5 {
        told += &events.chunk().unwrap();
    }
    let all: Vec<Value> = told
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let verbs: Vec<String> = all
        .iter()
        .map(|it| {
            format!(
                "{} {}",
                it["verb"].as_str().unwrap(),
                it["responseStatus"]["code"]
            )
        })
        .collect();
    assert_eq!(
        verbs,
        [
            "create 201",
            "get 200",
            "update 200",
            "patch 200",
            "update 409"
        ]
    );
    assert_eq!(all[4]["responseStatus"]["reason"], "Conflict");

    let mut again = program.connect_to_page();
    let last = format!("Last-Event-ID: {run}-4");
    let began = again.begin("GET", "/optimist/events", &[&host, &last], b"");
    assert_eq!(began, (200, None));
    let first = again.chunk().unwrap();
    assert!(
        first.contains(&format!("id: {run}-5\n")) && first.matches("id: ").count() == 1,
        "{first}"
    );
    // What another server told is none of its events.
    let mut other = program.connect_to_page();
    let began = other.begin(
        "GET",
        "/optimist/events",
        &[&host, "Last-Event-ID: 1-4"],
        b"",
    );
    assert_eq!(began, (200, None));
    assert_eq!(other.chunk().unwrap().matches("id: ").count(), 5);
    program.signal("TERM");
    assert_eq!(again.chunk(), None, "the stream has its end");
    assert_eq!(program.ended().0, Some(0));
}

#[test]
fn a_page_that_may_write_passes_on_its_own_requests_and_those_of_no_other_page() {
    let directory = page("page-writes");
    let arguments = ["--page", directory.to_str().unwrap(), "--page-writes"];
    let program = Program::start(&arguments);
    let host = format!("Host: {}", program.page_authority());
    let own = format!("Origin: http://{}", program.page_authority());
    let json = "Content-Type: application/json";
    let anna = "Optimist-Client: anna";
    let (_, index) = program.connect_to_page().send("GET", "/", &[&host], b"");
    let told = format!(
        r#"data-requests="optimist/server" data-server="{}""#,
        program.url
    );
    assert!(index.contains(&told), "{index}");
    let send = |method: &str, path: &str, headers: &[&str], body: &[u8]| {
        let headers = [&[host.as_str()], headers].concat();
        let path = format!("/optimist/server{path}");
        program
            .connect_to_page()
            .send(method, &path, &headers, body)
    };
    let made = map("a").to_string();
    let fetched = "Sec-Fetch-Site: same-origin";
    let (code, body) = send("POST", MAPS, &[json, anna, &own, fetched], made.as_bytes());
    assert_eq!(code, 201, "{body}");
    // Its client has its name, as that of any other client, and is told of like any other.
    let path = format!("{MAPS}/a");
    let read = program.json("GET", &path, &Value::Null).1;
    assert_eq!(read["metadata"]["managedFields"][0]["manager"], "anna");
    let ben = "Optimist-Client: ben";
    let (code, body) = send("PUT", &path, &[json, ben], read.to_string().as_bytes());
    assert_eq!(code, 200, "{body}");
    assert_eq!(
        program.json("PATCH", &path, &json!({"data": {"a": "2"}})).0,
        200
    );
    let (code, body) = send("PUT", &path, &[json, ben], read.to_string().as_bytes());
    assert_eq!(code, 409, "{body}");
    assert!(body.contains("the object has been modified"), "{body}");
    let mut events = program.connect_to_page();
    assert_eq!(
        events.begin("GET", "/optimist/events", &[&host], b""),
        (200, None)
    );
    let mut told = String::new();
    while told.matches("id: ").count() < 5 {
        told += &events.chunk().unwrap();
    }
    assert_eq!(told.matches(r#""userAgent":"ben""#).count(), 2, "{told}");
    // Other pages, forms, and what is no request for an object.
    for headers in [
        &[json][..],
        &[json, "Optimist-Client: "],
        &[json, anna, "Origin: http://evil.test"],
        &[json, anna, "Origin: null"],
        &[json, anna, "Sec-Fetch-Site: cross-site"],
        &[json, anna, "Sec-Fetch-Site: same-site"],
    ] {
        let (code, body) = send("DELETE", &path, headers, b"");
        assert_eq!(code, 403, "{headers:?} {body}");
    }
    assert_eq!(
        program.json("GET", &path, &Value::Null).0,
        200,
        "it is still there"
    );
    let other = ["Host: evil.test", anna];
    let target = format!("/optimist/server{path}");
    let answer = program
        .connect_to_page()
        .send("DELETE", &target, &other, b"");
    assert_eq!(answer.0, 403);
    let (code, body) = send("GET", &format!("{MAPS}?watch=1"), &[anna], b"");
    assert!(code == 400 && body.contains("no watch"), "{code} {body}");
    assert_eq!(send("POST", "/../api/v1", &[json, anna], b"{}").0, 405);
    assert_eq!(send("GET", "/version", &[anna], b"").0, 404);
    let large = vec![b' '; 3 * 1024 * 1024 + 1];
    assert_eq!(send("POST", MAPS, &[json, anna], &large).0, 413);
}

#[test]
fn a_page_writes_only_if_that_is_asked_for() {
    let directory = page("page-reads");
    let program = Program::start(&["--page", directory.to_str().unwrap()]);
    let host = format!("Host: {}", program.page_authority());
    let (_, index) = program.connect_to_page().send("GET", "/", &[&host], b"");
    assert!(!index.contains("data-requests"), "{index}");
    let headers = [
        &host,
        "Optimist-Client: anna",
        "Content-Type: application/json",
    ];
    let target = format!("/optimist/server{MAPS}");
    let made = map("a").to_string();
    let answer = program
        .connect_to_page()
        .send("POST", &target, &headers, made.as_bytes());
    assert_eq!(answer.0, 405);
    assert_eq!(
        program
            .connect_to_page()
            .send("GET", &target, &headers, b"")
            .0,
        404
    );
    let (code, errors) = Program::refused(&["--page-writes"]);
    assert!(code == 2 && errors.contains("--page"), "{errors}");
}

#[test]
fn a_directory_without_a_page_is_refused() {
    let directory = place("no-page");
    let (code, errors) = Program::refused(&["--page", directory.to_str().unwrap()]);
    assert_eq!(code, 2);
    assert!(errors.contains("there is no index.html"), "{errors}");
}

#[test]
fn an_audit_log_has_each_request_and_no_secret() {
    let file = place("audit").join("audit.log");
    let log = place("audit-kept").join("log");
    let arguments = [
        "--audit-log",
        file.to_str().unwrap(),
        "--log",
        log.to_str().unwrap(),
    ];
    let program = Program::start(&arguments);
    program.json("POST", MAPS, &map("a"));
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"k": "hidden"}});
    assert_eq!(
        program
            .json("POST", "/api/v1/namespaces/default/secrets", &secret)
            .0,
        201
    );
    program.signal("TERM");
    assert_eq!(program.ended().0, Some(0));
    let text = fs::read_to_string(&file).unwrap();
    let events: Vec<Value> = text
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(events.len(), 2);
    assert_eq!(events[0]["responseObject"]["metadata"]["name"], "a");
    assert!(
        !text.contains("hidden") && !text.contains("aGlkZGVu"),
        "{text}"
    );
}

#[test]
fn an_object_is_not_older_than_the_request_that_created_it() {
    let file = place("audit-times").join("audit.log");
    let program = Program::start(&["--audit-log", file.to_str().unwrap()]);
    // In each part of a second, so that the clocks are compared across its beginning.
    for number in 0..30 {
        let (code, _) = program.json("POST", MAPS, &map(&format!("m{number}")));
        assert_eq!(code, 201);
        std::thread::sleep(std::time::Duration::from_millis(40));
    }
    program.signal("TERM");
    assert_eq!(program.ended().0, Some(0));
    for line in fs::read_to_string(&file).unwrap().lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let received = event["requestReceivedTimestamp"].as_str().unwrap();
        let created = &event["responseObject"]["metadata"]["creationTimestamp"];
        let created = created.as_str().unwrap();
        assert!(
            created.trim_end_matches('Z') >= &received[..19],
            "{created} before {received}"
        );
    }
}

/// A pod as Go's clients send it.
fn pod_in_protobuf() -> Vec<u8> {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"},
        "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]},
    });
    ApiServer::default().written_as_protobuf(&pod).unwrap()
}

#[test]
fn an_audit_log_has_what_controllers_write_and_is_read_back_whatever_bodies_are_written_as() {
    let file = place("audit-controllers").join("audit.log");
    let arguments = [
        "--audit-log",
        file.to_str().unwrap(),
        "--controllers",
        "namespace,pod",
    ];
    let program = Program::start(&arguments);
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    wait_until(&program, account, |code, _| code == 200);
    let host = format!("Host: {}", program.authority());
    let protobuf = "application/vnd.kubernetes.protobuf";
    let headers = [
        &host[..],
        &format!("Accept: {protobuf}"),
        &format!("Content-Type: {protobuf}"),
        "User-Agent: go-client/v1",
    ];
    let pods = "/api/v1/namespaces/default/pods";
    let one = format!("{pods}/one");
    let created = (program.connect()).begin("POST", pods, &headers, &pod_in_protobuf());
    assert_eq!(created.0, 201);
    wait_until(&program, &one, |_, pod| pod["status"]["phase"] == "Running");
    // A list in protobuf shows the pod, too.
    let listed = program.connect().begin("GET", pods, &headers, b"");
    assert_eq!(listed.0, 200);
    assert_eq!(program.json("DELETE", &one, &Value::Null).0, 200);
    wait_until(&program, &one, |code, _| code == 404);
    program.signal("TERM");
    assert_eq!(program.ended().0, Some(0));

    let text = fs::read_to_string(&file).unwrap();
    let log = AuditReader::new(text.into()).finish();
    let objects = log.objects();
    let (object, _) = objects.iter().find(|it| it.0.name == "one").unwrap();
    let history = RecordedHistory::new(object.clone(), &[], Release::default()).finish(&log);
    let written = history.steps.iter().map(|step| &log.events[step.event]);
    let written = written.filter(|event| event.is_write());
    let written: Vec<(String, &str)> = written
        .map(|event| (event.manager(), &*event.verb))
        .collect();
    let told: Vec<(&str, &str)> = written.iter().map(|(who, verb)| (&**who, *verb)).collect();
    // It is deleted at once, because no node runs it.
    assert_eq!(
        told,
        [
            ("go-client", "create"),
            ("kubelet", "patch"),
            ("", "delete")
        ]
    );
    let (same, different, not_run) = history.counts();
    assert!(same > 3, "{same}");
    assert_eq!((different, not_run), (0, 0), "{:#?}", history.steps);
}
