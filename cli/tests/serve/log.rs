//! The log that `--log` keeps.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{PATIENCE, Program};
use crate::{MAPS, map, place};

/// The file of a log, and the program over it.
struct Logged {
    file: PathBuf,
}

impl Logged {
    fn new(name: &str) -> Self {
        Self {
            file: place(name).join("log"),
        }
    }

    fn arguments(&self) -> [&str; 3] {
        ["--insecure-http", "--log", self.file.to_str().unwrap()]
    }

    fn start(&self) -> Program {
        Program::start(&self.arguments())
    }

    /// A log in which some objects were made, and one of them was changed and one deleted.
    fn with_objects(name: &str) -> Self {
        let logged = Self::new(name);
        let program = logged.start();
        for name in ["a", "b", "c"] {
            assert_eq!(program.json("POST", MAPS, &map(name)).0, 201);
        }
        let change = json!({"data": {"a": "2"}});
        assert_eq!(program.json("PATCH", &format!("{MAPS}/a"), &change).0, 200);
        assert_eq!(
            program.json("DELETE", &format!("{MAPS}/b"), &Value::Null).0,
            200
        );
        assert_eq!(program.json("POST", MAPS, &map("last")).0, 201);
        program.kill();
        logged
    }
}

/// The answered creates of one client, until the server ends. It tells when the first one is answered.
fn creates(program: &Program, client: usize, begun: &Sender<()>) -> Vec<Value> {
    let mut connection = program.connect();
    let host = format!("Host: {}", program.authority());
    let headers = [host.as_str(), "Content-Type: application/json"];
    let mut answered = Vec::new();
    for number in 0.. {
        let body = map(&format!("m-{client}-{number}")).to_string();
        let Some((code, made)) = connection.try_send("POST", MAPS, &headers, body.as_bytes())
        else {
            break;
        };
        assert_eq!(code, 201, "{made}");
        answered.push(serde_json::from_str(&made).unwrap());
        if number == 0 {
            begun.send(()).unwrap();
        }
    }
    answered
}

#[test]
fn everything_that_was_answered_is_there_after_a_kill_in_the_middle_of_writes() {
    let logged = Logged::new("killed");
    let mut all: Vec<Value> = Vec::new();
    for round in 0..3 {
        let program = logged.start();
        let answered = thread::scope(|scope| {
            let program = &program;
            let (begun, begins) = channel();
            let clients: Vec<_> = (0..4)
                .map(|client| {
                    let begun = begun.clone();
                    scope.spawn(move || creates(program, round * 4 + client, &begun))
                })
                .collect();
            drop(begun);
            // Each client is in the middle of its writes, or has failed.
            begins.iter().take(4).for_each(drop);
            thread::sleep(Duration::from_millis(150));
            program.signal("KILL");
            let answered = clients.into_iter().map(|client| client.join().unwrap());
            answered.flatten().collect::<Vec<_>>()
        });
        assert!(answered.len() >= 4);
        all.extend(answered);
    }
    let program = logged.start();
    let (code, list) = program.json("GET", MAPS, &Value::Null);
    assert_eq!(code, 200);
    let stored = list["items"].as_array().unwrap();
    for made in &all {
        let found = stored.iter().find(|it| it["metadata"] == made["metadata"]);
        assert!(found.is_some(), "{made} is lost");
    }
    let version = |object: &Value| {
        let version = object["metadata"]["resourceVersion"].as_str();
        version.unwrap().parse::<u64>().unwrap()
    };
    let newest = all.iter().map(version).max().unwrap();
    let next = program.json("POST", MAPS, &map("next")).1;
    assert!(version(&next) > newest, "versions are not given twice");
}

#[test]
fn changes_and_deletions_are_there_again_and_files_are_not_loaded_twice() {
    let logged = Logged::with_objects("again");
    let objects = logged.file.with_file_name("objects.yaml");
    fs::write(
        &objects,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n",
    )
    .unwrap();
    let mut arguments = logged.arguments().to_vec();
    arguments.extend(["--objects", objects.to_str().unwrap()]);
    let program = Program::start(&arguments);
    let get = |name: &str| program.json("GET", &format!("{MAPS}/{name}"), &Value::Null);
    assert_eq!(get("a").1["data"]["a"], "2");
    assert_eq!(get("b").0, 404);
    assert_eq!(get("more").0, 404);
    program.signal("TERM");
    let (code, _, errors) = program.ended();
    assert_eq!(code, Some(0));
    assert!(
        errors.contains("--objects and --crds are not loaded again"),
        "{errors}"
    );
}

#[test]
fn a_last_write_that_is_not_whole_is_cut_off_and_that_is_said() {
    let logged = Logged::with_objects("torn");
    let whole = fs::read(&logged.file).unwrap();
    let last = whole[..whole.len() - 1]
        .iter()
        .rposition(|it| *it == b'\n')
        .unwrap()
        + 1;
    for length in [last + 1, last + 30, whole.len() - 2] {
        fs::write(&logged.file, &whole[..length]).unwrap();
        let program = logged.start();
        let get = |name: &str| {
            program
                .json("GET", &format!("{MAPS}/{name}"), &Value::Null)
                .0
        };
        assert_eq!((get("c"), get("last")), (200, 404));
        assert_eq!(program.json("POST", MAPS, &map("after")).0, 201);
        program.signal("TERM");
        let errors = program.ended().2;
        let expected = format!(
            "the last {} bytes are no whole write and are cut off",
            length - last
        );
        assert!(errors.contains(&expected), "{errors}");
        let again = logged.start();
        assert_eq!(
            again.json("GET", &format!("{MAPS}/after"), &Value::Null).0,
            200
        );
    }
    // Only the end of the line is missing: the write is whole.
    fs::write(&logged.file, &whole[..whole.len() - 1]).unwrap();
    let program = logged.start();
    assert_eq!(
        program.json("GET", &format!("{MAPS}/last"), &Value::Null).0,
        200
    );
    assert_eq!(program.json("POST", MAPS, &map("after")).0, 201);
    program.kill();
    let again = logged.start();
    assert_eq!(
        again.json("GET", &format!("{MAPS}/after"), &Value::Null).0,
        200
    );
}

#[test]
fn a_damaged_log_is_not_continued_and_the_line_is_named() {
    let logged = Logged::with_objects("damaged");
    let whole = fs::read(&logged.file).unwrap();
    let mut begin = 0;
    for (index, line) in whole.split_inclusive(|it| *it == b'\n').enumerate() {
        let mut damaged = whole.clone();
        damaged[begin + line.len() / 2] ^= 1;
        begin += line.len();
        fs::write(&logged.file, &damaged).unwrap();
        let (code, errors) = Program::refused(&logged.arguments());
        assert_eq!(code, 2);
        let expected = format!("log:{}: ", index + 1);
        assert!(errors.contains(&expected), "{errors}");
        assert_eq!(
            fs::read(&logged.file).unwrap(),
            damaged,
            "nothing is changed"
        );
    }
    fs::write(&logged.file, "my notes").unwrap();
    let (code, errors) = Program::refused(&logged.arguments());
    assert_eq!(code, 2);
    assert!(
        errors.contains("this is no log of optimist serve"),
        "{errors}"
    );
    assert_eq!(fs::read(&logged.file).unwrap(), b"my notes");
    // A start that was killed before the first line was whole.
    fs::write(&logged.file, &whole[..10]).unwrap();
    assert_eq!(logged.start().json("POST", MAPS, &map("a")).0, 201);
}

#[test]
fn a_write_that_the_log_does_not_get_is_not_done() {
    let logged = Logged::with_objects("taken");
    let program = logged.start();
    fs::write(&logged.file, "another program").unwrap();
    let (code, answer) = program.json("POST", MAPS, &map("lost"));
    assert_eq!(code, 500);
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .contains("the log cannot be written")
    );
    assert_eq!(
        program.json("GET", &format!("{MAPS}/lost"), &Value::Null).0,
        404
    );
    assert_eq!(
        program.json("GET", &format!("{MAPS}/a"), &Value::Null).0,
        200
    );
}

#[test]
fn a_log_gets_shorter_while_the_server_runs_and_has_everything_that_is_there() {
    let logged = Logged::new("shortened");
    let mut arguments = logged.arguments().to_vec();
    arguments.extend(["--compaction-interval", "1"]);
    let program = Program::start(&arguments);
    let change = |n: u32| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
            "data": {"large": "x".repeat(20_000), "n": n.to_string()}})
    };
    assert_eq!(program.json("POST", MAPS, &change(0)).0, 201);
    let length = || fs::metadata(&logged.file).unwrap().len();
    let (start, target) = (Instant::now(), format!("{MAPS}/a"));
    // However few writes there are between two looks at the log, it gets long enough to be shortened.
    let (mut longest, mut last) = (0, 0);
    while length() > longest / 2 {
        longest = longest.max(length());
        last += 1;
        assert_eq!(program.json("PUT", &target, &change(last)).0, 200);
        assert!(start.elapsed() < PATIENCE, "{longest} bytes, {}", length());
    }
    assert_eq!(program.json("POST", MAPS, &map("after")).0, 201);
    program.kill();
    let again = logged.start();
    let get = |name: &str| again.json("GET", &format!("{MAPS}/{name}"), &Value::Null);
    assert_eq!(get("a").1["data"]["n"], last.to_string());
    assert_eq!(get("after").0, 200);
}
