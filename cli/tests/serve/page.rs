//! The page beside the server, and what it is told.

use std::fs;

use serde_json::{Value, json};

use crate::program::Program;
use crate::{MAPS, map, place};

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
    let mut events = program.connect_to_page();
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
